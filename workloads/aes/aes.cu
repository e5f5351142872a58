// AES-128, encryption: a thread a column of four bytes, a block 1 KiB, as Manavski (ICSPC 2007) divides the work. The
// tables of a round (SubBytes and MixColumns in one) come from constant memory and are copied to shared memory,
// where the columns of a state are exchanged too; the round keys are a texture.

#define COLUMNS 256

__constant__ unsigned tables[4 * COLUMNS];

// Row r of the state's next column is in the column r to the right.
__device__ static unsigned neighbour(const unsigned *state, unsigned thread, unsigned row)
{
    return state[(thread & ~3u) | ((thread + row) & 3)] >> (8 * row) & 255;
}

// A column's bytes, without what MixColumns makes of them: table 0 holds each at its second place.
__device__ static unsigned substituted(const unsigned *table, unsigned byte)
{
    return table[byte] >> 8 & 255;
}

extern "C" __global__ void aes_encrypt(unsigned *out, const unsigned *in, cudaTextureObject_t keys)
{
    __shared__ unsigned table[4 * COLUMNS], state[2 * COLUMNS];
    unsigned thread = threadIdx.x, column = thread & 3, at = blockIdx.x * COLUMNS + thread;
    for (unsigned row = 0; row < 4; row++)
        table[row * COLUMNS + thread] = tables[row * COLUMNS + thread];
    state[thread] = in[at] ^ tex1Dfetch<unsigned>(keys, column);
    __syncthreads();
    for (unsigned round = 1; round < 10; round++) {
        const unsigned *now = state + ((round - 1) & 1) * COLUMNS;
        state[(round & 1) * COLUMNS + thread] =
            table[neighbour(now, thread, 0)] ^ table[COLUMNS + neighbour(now, thread, 1)] ^
            table[2 * COLUMNS + neighbour(now, thread, 2)] ^
            table[3 * COLUMNS + neighbour(now, thread, 3)] ^
            tex1Dfetch<unsigned>(keys, 4 * round + column);
        __syncthreads();
    }
    const unsigned *last = state + COLUMNS;
    unsigned bytes = substituted(table, neighbour(last, thread, 0)) |
                     substituted(table, neighbour(last, thread, 1)) << 8 |
                     substituted(table, neighbour(last, thread, 2)) << 16 |
                     substituted(table, neighbour(last, thread, 3)) << 24;
    out[at] = bytes ^ tex1Dfetch<unsigned>(keys, 40 + column);
}
