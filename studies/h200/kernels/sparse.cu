// Sparse matrices and graphs in rows of unequal length.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define FULL 0xffffffffu

extern "C" {
__global__ void spmv_scalar(float *y, const unsigned *__restrict__ rows, const unsigned *__restrict__ columns,
                            const float *__restrict__ values, const float *__restrict__ x, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        float sum = 0;
        for (unsigned k = rows[i]; k < rows[i + 1]; k++) {
            sum = fmaf(values[k], x[columns[k]], sum);
        }
        y[i] = sum;
    }
}

__global__ void spmv_vector(float *y, const unsigned *__restrict__ rows, const unsigned *__restrict__ columns,
                            const float *__restrict__ values, const float *__restrict__ x, unsigned n)
{
    unsigned i = AT / 32, lane = AT % 32;
    if (i < n) {
        float sum = 0;
        for (unsigned k = rows[i] + lane; k < rows[i + 1]; k += 32) {
            sum = fmaf(values[k], x[columns[k]], sum);
        }
        for (int k = 16; k > 0; k /= 2) {
            sum += __shfl_down_sync(FULL, sum, k);
        }
        if (lane == 0) {
            y[i] = sum;
        }
    }
}

// Rows of equal length, column after column.
__global__ void spmv_ell(float *y, const unsigned *__restrict__ columns, const float *__restrict__ values,
                         const float *__restrict__ x, unsigned n, unsigned width)
{
    unsigned i = AT;
    if (i < n) {
        float sum = 0;
        for (unsigned k = 0; k < width; k++) {
            sum = fmaf(values[k * n + i], x[columns[k * n + i]], sum);
        }
        y[i] = sum;
    }
}

// One step of a breadth-first search: nodes of level 1 give their neighbours level 2.
__global__ void bfs_step(unsigned *level, const unsigned *__restrict__ rows, const unsigned *__restrict__ edges, unsigned n)
{
    unsigned i = AT;
    if (i < n && level[i] == 1) {
        for (unsigned k = rows[i]; k < rows[i + 1]; k++) {
            if (level[edges[k]] == 0) {
                level[edges[k]] = 2;
            }
        }
    }
}

__global__ void pagerank(float *next, const unsigned *__restrict__ rows, const unsigned *__restrict__ edges,
                         const float *__restrict__ rank, const unsigned *__restrict__ degree, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        float sum = 0;
        for (unsigned k = rows[i]; k < rows[i + 1]; k++) {
            unsigned j = edges[k];
            sum += rank[j] / (float)(degree[j] + 1);
        }
        next[i] = 0.15f + 0.85f * sum;
    }
}
}
