// Matrix product C = A B of square matrices whose side is a multiple of TILE. Each block computes one
// tile of C; the tiles of A and B that it needs pass through shared memory one pair after the other.

#define TILE 16

extern "C" __global__ void matmul(float *c, const float *a, const float *b, unsigned side)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (unsigned first = 0; first < side; first += TILE) {
        tile_a[y][x] = a[row * side + first + x];
        tile_b[y][x] = b[(first + y) * side + column];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < TILE; k++)
            sum = fmaf(tile_a[y][k], tile_b[k][x], sum);
        __syncthreads();
    }
    c[row * side + column] = sum;
}
