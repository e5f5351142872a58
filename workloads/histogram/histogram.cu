// Histogram of 64 bins, of bytes by their upper six bits. Each of a block's 64 threads has counters of eight bits of its
// own in shared memory, laid out so that the four of a word belong to four threads of different words' banks; a
// block takes few enough bytes that none overflows. A second launch adds the blocks' histograms.

#define BINS 64
#define BLOCK 64
#define WORDS 63 // of four bytes, for each thread: at most 252 of a bin

extern "C" __global__ void histogram_block(unsigned *partial, const unsigned *data, unsigned words)
{
    __shared__ unsigned char counters[BINS * BLOCK];
    unsigned thread = threadIdx.x, first = blockIdx.x * BLOCK * WORDS;
    // Sixteen threads' columns go four to a word; the bank is then the lower four bits of the thread.
    unsigned column = (thread & 15) << 2 | thread >> 4;
    for (unsigned i = thread; i < BINS * BLOCK / 4; i += BLOCK)
        ((unsigned *)counters)[i] = 0;
    __syncthreads();
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned at = first + i * BLOCK + thread;
        if (at < words) {
            unsigned word = data[at];
            counters[(word >> 2 & 63) * BLOCK + column]++;
            counters[(word >> 10 & 63) * BLOCK + column]++;
            counters[(word >> 18 & 63) * BLOCK + column]++;
            counters[(word >> 26 & 63) * BLOCK + column]++;
        }
    }
    __syncthreads();
    // A thread adds up a bin, each beginning at another column.
    unsigned sum = 0;
    for (unsigned i = 0; i < BLOCK; i++)
        sum += counters[thread * BLOCK + (i + 4 * thread) % BLOCK];
    partial[blockIdx.x * BINS + thread] = sum;
}

extern "C" __global__ void histogram_merge(unsigned *bins, const unsigned *partial, unsigned blocks)
{
    __shared__ unsigned sums[256];
    unsigned thread = threadIdx.x, sum = 0;
    for (unsigned i = thread; i < blocks; i += 256)
        sum += partial[i * BINS + blockIdx.x];
    sums[thread] = sum;
    for (unsigned half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half)
            sums[thread] += sums[thread + half];
    }
    if (thread == 0)
        bins[blockIdx.x] = sums[0];
}
