// Atomics by contention, locks, a hash table.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL (gridDim.x * blockDim.x)

extern "C" {
__global__ void histogram_shared(unsigned *bins, const unsigned *__restrict__ from, unsigned n)
{
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = AT; i < n; i += ALL) {
        atomicAdd(&s[from[i] & 255], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

__global__ void histogram_global(unsigned *bins, const unsigned *__restrict__ from, unsigned mask, unsigned n)
{
    for (unsigned i = AT; i < n; i += ALL) {
        atomicAdd(&bins[from[i] & mask], 1);
    }
}

// Each access waits for the one before.
__global__ void atomic_chain(unsigned *counters, unsigned *ends, unsigned rounds)
{
    unsigned v = 0;
    for (unsigned i = 0; i < rounds; i++) {
        v = atomicAdd(&counters[(AT + (v & 0)) & 1023], 1);
    }
    ends[AT] = v & 0;
}

__global__ void float_max(unsigned *best, const unsigned *__restrict__ from, unsigned mask)
{
    unsigned i = AT, mine = from[i] & 0x7fffffff, *place = &best[i & mask], seen = *(volatile unsigned *)place;
    while (seen < mine) {
        unsigned was = atomicCAS(place, seen, mine);
        if (was == seen) {
            break;
        }
        seen = was;
    }
}

// One thread of each CTA takes the lock, adds, gives it back.
__global__ void spin_lock(unsigned *lock, unsigned *sum, unsigned rounds)
{
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < rounds; i++) {
            while (atomicCAS(lock, 0, 1) != 0) {
            }
            __threadfence();
            *(volatile unsigned *)sum = *(volatile unsigned *)sum + 1;
            __threadfence();
            atomicExch(lock, 0);
        }
    }
}

__global__ void ticket_lock(unsigned *next, unsigned *serving, unsigned *sum)
{
    if (threadIdx.x == 0) {
        unsigned mine = atomicAdd(next, 1);
        while (*(volatile unsigned *)serving != mine) {
        }
        __threadfence();
        *(volatile unsigned *)sum = *(volatile unsigned *)sum + mine;
        __threadfence();
        *(volatile unsigned *)serving = mine + 1;
    }
}

// Open addressing; keys are never 0. How often each key came is counted beside it.
__global__ void hash_insert(unsigned *keys, unsigned *counts, const unsigned *__restrict__ from, unsigned mask)
{
    unsigned key = from[AT] | 1, at = key * 2654435761u >> 7 & mask;
    for (;;) {
        unsigned was = atomicCAS(&keys[at], 0, key);
        if (was == 0 || was == key) {
            break;
        }
        at = (at + 1) & mask;
    }
    atomicAdd(&counts[key & 255], 1);
}
}
