// Reductions and scans: through shared memory, by shuffles, by atomics.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL (gridDim.x * blockDim.x)
#define FULL 0xffffffffu

__device__ unsigned warp_sum(unsigned v)
{
    for (int k = 16; k > 0; k /= 2) {
        v += __shfl_xor_sync(FULL, v, k);
    }
    return v;
}

extern "C" {
// Neighbours first: lanes part and banks collide.
__global__ void reduce_interleaved(unsigned *sums, const unsigned *__restrict__ from)
{
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x;
    s[t] = from[AT];
    __syncthreads();
    for (unsigned k = 1; k < 256; k *= 2) {
        unsigned i = 2 * k * t;
        if (i < 256) {
            s[i] += s[i + k];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = s[0];
    }
}

__global__ void reduce_halves(unsigned *sums, const unsigned *__restrict__ from)
{
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x;
    s[t] = from[AT];
    __syncthreads();
    for (unsigned k = 128; k > 0; k /= 2) {
        if (t < k) {
            s[t] += s[t + k];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = s[0];
    }
}

__global__ void reduce_shuffle(unsigned *sum, const unsigned *__restrict__ from, unsigned n)
{
    __shared__ unsigned s[32];
    unsigned v = 0, t = threadIdx.x;
    for (unsigned i = AT; i < n; i += ALL) {
        v += from[i];
    }
    v = warp_sum(v);
    if (t % 32 == 0) {
        s[t / 32] = v;
    }
    __syncthreads();
    if (t < 32) {
        v = warp_sum(t < blockDim.x / 32 ? s[t] : 0);
        if (t == 0) {
            atomicAdd(sum, v);
        }
    }
}

__global__ void reduce_atomic(unsigned *sum, const unsigned *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        atomicMax(sum, from[i]);
    }
}

__global__ void dot_double(double *sums, const double *__restrict__ a, const double *__restrict__ b, unsigned n)
{
    double sum = 0;
    for (unsigned i = AT; i < n; i += ALL) {
        sum = fma(a[i], b[i], sum);
    }
    for (int k = 16; k > 0; k /= 2) {
        sum += __shfl_down_sync(FULL, sum, k);
    }
    if (threadIdx.x % 32 == 0) {
        sums[AT / 32] = sum;
    }
}

// Prefix sums of each CTA's 512 words, up and down a tree in shared memory.
__global__ void scan_tree(unsigned *to, const unsigned *__restrict__ from)
{
    __shared__ unsigned s[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512, step = 1;
    s[2 * t] = from[base + 2 * t];
    s[2 * t + 1] = from[base + 2 * t + 1];
    for (unsigned d = 256; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) {
            s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
        }
        step *= 2;
    }
    if (t == 0) {
        s[511] = 0;
    }
    for (unsigned d = 1; d < 512; d *= 2) {
        step /= 2;
        __syncthreads();
        if (t < d) {
            unsigned a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1, v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    to[base + 2 * t] = s[2 * t];
    to[base + 2 * t + 1] = s[2 * t + 1];
}

__global__ void scan_shuffle(unsigned *to, const unsigned *__restrict__ from)
{
    __shared__ unsigned s[32];
    unsigned t = threadIdx.x, lane = t % 32, v = from[AT];
    for (unsigned k = 1; k < 32; k *= 2) {
        unsigned u = __shfl_up_sync(FULL, v, k);
        v += lane >= k ? u : 0;
    }
    if (lane == 31) {
        s[t / 32] = v;
    }
    __syncthreads();
    if (t < 32) {
        unsigned w = t < blockDim.x / 32 ? s[t] : 0;
        for (unsigned k = 1; k < 32; k *= 2) {
            unsigned u = __shfl_up_sync(FULL, w, k);
            w += lane >= k ? u : 0;
        }
        s[t] = w;
    }
    __syncthreads();
    to[AT] = v + (t >= 32 ? s[t / 32 - 1] : 0);
}

// Who has an odd word keeps it; a warp asks for its places together.
__global__ void compact(unsigned *to, unsigned *count, const unsigned *__restrict__ from)
{
    unsigned v = from[AT], lane = threadIdx.x % 32, at = 0;
    unsigned keep = __ballot_sync(FULL, v & 1);
    if (lane == 0) {
        at = atomicAdd(count, __popc(keep));
    }
    at = __shfl_sync(FULL, at, 0);
    if (v & 1) {
        to[at + __popc(keep & ((1u << lane) - 1))] = v;
    }
}
}
