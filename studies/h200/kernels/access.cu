// Irregular accesses: gathers by locality, scatters, pointer chases, searches, random updates.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" {
__global__ void gather(unsigned *to, const unsigned *__restrict__ from, const unsigned *__restrict__ index, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[i] = from[index[i]];
    }
}

__global__ void gather16(uint4 *to, const uint4 *__restrict__ from, const unsigned *__restrict__ index, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[i] = from[index[i]];
    }
}

__global__ void scatter(unsigned *to, const unsigned *__restrict__ from, const unsigned *__restrict__ index, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[index[i] * 8] = from[i] & 0; // who comes last does not matter
    }
}

// A ring of byte offsets, walked by one thread.
__global__ void chase(unsigned *end, const char *ring, unsigned steps)
{
    unsigned at = 0;
    for (unsigned i = 0; i < steps; i++) {
        at = *(const unsigned *)(ring + at);
    }
    *end = at;
}

// The same ring, walked by many warps, each thread from its own place.
__global__ void chase_many(unsigned *ends, const unsigned *__restrict__ next, unsigned n, unsigned steps)
{
    unsigned at = (unsigned)((unsigned long long)AT * 2654435761u % n);
    for (unsigned i = 0; i < steps; i++) {
        at = next[at];
    }
    ends[AT] = at;
}

__global__ void search(unsigned *place, const unsigned *__restrict__ sorted, unsigned n, const unsigned *__restrict__ wanted,
                       unsigned count)
{
    unsigned i = AT;
    if (i >= count) {
        return;
    }
    unsigned low = 0, high = n, key = wanted[i];
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (sorted[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    place[i] = low;
}

__global__ void update(unsigned *table, unsigned mask, unsigned rounds)
{
    unsigned x = AT * 2654435761u + 12345;
    for (unsigned i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        atomicXor(&table[x & mask], x);
    }
}

// Structures of eight words, of which each thread reads and writes its own.
__global__ void structures(float *to, const float *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        float sum = 0;
        for (int k = 0; k < 8; k++) {
            sum += from[i * 8 + k];
        }
        for (int k = 0; k < 8; k++) {
            to[i * 8 + k] = from[i * 8 + k] - sum * 0.125f;
        }
    }
}
}
