// Transpose of a square matrix by tiles in shared memory, whose rows have a word more than the tile so that columns are
// read without bank conflicts: rows are read and rows are written.

#define TILE 16

extern "C" __global__ void transpose(float *out, const float *in, unsigned side)
{
    __shared__ float tile[TILE][TILE + 1];
    unsigned x = blockIdx.x * TILE, y = blockIdx.y * TILE, tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(y + ty) * side + x + tx];
    __syncthreads();
    out[(x + ty) * side + y + tx] = tile[tx][ty];
}
