// Separable convolution of a picture with a filter of 17 taps, which is in constant memory: rows, then columns. A block
// loads its tile with an apron into shared memory; what lies outside the picture is zero.

#define RADIUS 8
#define ROW_TILE 128
#define COLUMN_X 16
#define COLUMN_Y 48
#define COLUMN_THREADS 8

__constant__ float taps[2 * RADIUS + 1];

extern "C" __global__ void convolution_rows(float *out, const float *in, unsigned side)
{
    __shared__ float row[ROW_TILE + 2 * RADIUS];
    unsigned first = blockIdx.x * ROW_TILE, line = blockIdx.y * side;
    for (unsigned i = threadIdx.x; i < ROW_TILE + 2 * RADIUS; i += ROW_TILE) {
        unsigned x = first + i - RADIUS;
        row[i] = x < side ? in[line + x] : 0;
    }
    __syncthreads();
    if (first + threadIdx.x >= side)
        return;
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k <= 2 * RADIUS; k++)
        sum = fmaf(taps[k], row[threadIdx.x + k], sum);
    out[line + first + threadIdx.x] = sum;
}

extern "C" __global__ void convolution_columns(float *out, const float *in, unsigned side)
{
    __shared__ float tile[COLUMN_Y + 2 * RADIUS][COLUMN_X];
    unsigned tx = threadIdx.x, x = blockIdx.x * COLUMN_X + tx, first = blockIdx.y * COLUMN_Y;
    for (unsigned i = threadIdx.y; i < COLUMN_Y + 2 * RADIUS; i += COLUMN_THREADS) {
        unsigned y = first + i - RADIUS;
        tile[i][tx] = y < side && x < side ? in[y * side + x] : 0;
    }
    __syncthreads();
    for (unsigned i = threadIdx.y; i < COLUMN_Y && first + i < side && x < side; i += COLUMN_THREADS) {
        float sum = 0;
#pragma unroll
        for (unsigned k = 0; k <= 2 * RADIUS; k++)
            sum = fmaf(taps[k], tile[i + k][tx], sum);
        out[(first + i) * side + x] = sum;
    }
}
