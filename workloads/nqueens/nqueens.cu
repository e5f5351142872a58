// Ways to place N queens, by backtracking: a thread completes the placements that the host has begun, row after row, with
// the columns and diagonals under attack as bits. Its rows' states are in shared memory, so that a core holds one
// block. A block adds up what its threads have found. There are few beginnings and a fixed, large grid: most threads
// find nothing to do but to add.

#define BLOCK 96
#define ROWS 10

struct beginning {
    unsigned columns, left, right, weight;
};

extern "C" __global__ void nqueens(unsigned *sums, const struct beginning *beginnings, unsigned count, unsigned all,
                                   unsigned rows)
{
    __shared__ unsigned columns[ROWS][BLOCK], left[ROWS][BLOCK], right[ROWS][BLOCK], open[ROWS][BLOCK];
    __shared__ unsigned found[BLOCK];
    unsigned thread = threadIdx.x, at = blockIdx.x * BLOCK + thread;
    found[thread] = 0;
    if (at < count) {
        unsigned solutions = 0;
        int row = 0;
        columns[0][thread] = beginnings[at].columns;
        left[0][thread] = beginnings[at].left;
        right[0][thread] = beginnings[at].right;
        open[0][thread] = all & ~(columns[0][thread] | left[0][thread] | right[0][thread]);
        while (row >= 0) {
            unsigned places = open[row][thread];
            if (places == 0) {
                row--;
                continue;
            }
            unsigned place = places & -places;
            open[row][thread] = places ^ place;
            if (row + 1 == rows) {
                solutions++;
                continue;
            }
            unsigned c = columns[row][thread] | place, l = (left[row][thread] | place) << 1;
            unsigned r = (right[row][thread] | place) >> 1;
            row++;
            columns[row][thread] = c;
            left[row][thread] = l;
            right[row][thread] = r;
            open[row][thread] = all & ~(c | l | r);
        }
        found[thread] = solutions * beginnings[at].weight;
    }
    __syncthreads();
    // 96 threads: three quarters, then halves.
    if (thread < 32)
        found[thread] += found[thread + 32] + found[thread + 64];
    __syncthreads();
    for (unsigned half = 16; half > 0; half /= 2) {
        if (thread < half)
            found[thread] += found[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        sums[blockIdx.x] = found[0];
}
