// Sorts: bitonic in shared and in global memory, a pass of a radix sort in two kernels.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define FULL 0xffffffffu

extern "C" {
__global__ void bitonic_shared(unsigned *to, const unsigned *__restrict__ from)
{
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, base = blockIdx.x * 1024;
    s[t] = from[base + t];
    s[t + 512] = from[base + t + 512];
    for (unsigned size = 2; size <= 1024; size *= 2) {
        for (unsigned step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            unsigned a = 2 * t - (t & (step - 1)), b = a + step;
            unsigned low = s[a], high = s[b];
            if ((low > high) == ((a & size) == 0)) {
                s[a] = high;
                s[b] = low;
            }
        }
    }
    __syncthreads();
    to[base + t] = s[t];
    to[base + t + 512] = s[t + 512];
}

__global__ void bitonic_step(unsigned *keys, unsigned size, unsigned step)
{
    unsigned t = AT, a = 2 * t - (t & (step - 1)), b = a + step;
    unsigned low = keys[a], high = keys[b];
    if ((low > high) == ((a & size) == 0)) {
        keys[a] = high;
        keys[b] = low;
    }
}

__global__ void bitonic_warp(unsigned *to, const unsigned *__restrict__ from)
{
    unsigned v = from[AT], lane = threadIdx.x % 32;
    for (unsigned size = 2; size <= 32; size *= 2) {
        for (unsigned step = size / 2; step > 0; step /= 2) {
            unsigned other = __shfl_xor_sync(FULL, v, step);
            bool up = (lane & size) == 0, first = (lane & step) == 0;
            v = up == first ? min(v, other) : max(v, other);
        }
    }
    to[AT] = v;
}

// How many keys of each CTA have each digit of 4 bits.
__global__ void radix_count(unsigned *counts, const unsigned *__restrict__ keys, unsigned shift)
{
    __shared__ unsigned s[16];
    if (threadIdx.x < 16) {
        s[threadIdx.x] = 0;
    }
    __syncthreads();
    for (unsigned k = 0; k < 4; k++) {
        atomicAdd(&s[keys[blockIdx.x * 1024 + k * 256 + threadIdx.x] >> shift & 15], 1);
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        counts[threadIdx.x * gridDim.x + blockIdx.x] = s[threadIdx.x];
    }
}

// Keys of a CTA in the order of a digit, bit by bit, by ranks that warps find with votes.
__global__ void radix_order(unsigned *to, const unsigned *__restrict__ from, unsigned shift)
{
    __shared__ unsigned s[256], zeros[8];
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32, key = from[AT];
    for (unsigned bit = shift; bit < shift + 4; bit++) {
        unsigned one = key >> bit & 1, ones = __ballot_sync(FULL, one);
        if (lane == 0) {
            zeros[warp] = 32 - __popc(ones);
        }
        __syncthreads();
        unsigned before = 0, all = 0;
        for (unsigned w = 0; w < 8; w++) {
            before += w < warp ? zeros[w] : 0;
            all += zeros[w];
        }
        unsigned ones_before = __popc(ones & ((1u << lane) - 1));
        unsigned at = one ? all + (warp * 32 - before) + ones_before : before + lane - ones_before;
        s[at] = key;
        __syncthreads();
        key = s[t];
        __syncthreads();
    }
    to[AT] = key;
}
}
