// Branches, barriers, texts and codes: what waits for itself more than for memory.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" {
__global__ void empty(void) {}

// Lanes take one of `ways` paths of different arithmetic.
__global__ void ladder(unsigned *to, unsigned ways, unsigned rounds)
{
    unsigned v = AT, way = threadIdx.x % ways;
    for (unsigned i = 0; i < rounds; i++) {
#define STEP(k) case k: for (int j = 0; j < 4; j++) { v = (v ^ (k * 77 + 3)) * (k * 2 + 12345) + (v >> (k % 13 + 1)); } break;
        switch (way) {
            STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
            STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
            STEP(16) STEP(17) STEP(18) STEP(19) STEP(20) STEP(21) STEP(22) STEP(23)
            STEP(24) STEP(25) STEP(26) STEP(27) STEP(28) STEP(29) STEP(30) STEP(31)
        }
#undef STEP
    }
    to[AT] = v;
}

// Each lane goes round as often as its number of a list says.
__global__ void uneven(unsigned *to, const unsigned *__restrict__ rounds)
{
    unsigned v = AT;
    for (unsigned i = 0, last = rounds[AT]; i < last; i++) {
        v = v * 1664525u + 1013904223u;
        v ^= v >> 11;
    }
    to[AT] = v;
}

__global__ void collatz(unsigned *steps)
{
    unsigned long long n = AT + 1;
    unsigned count = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        count++;
    }
    steps[AT] = count;
}

__global__ void barriers(unsigned *to, unsigned rounds)
{
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, v = t;
    for (unsigned i = 0; i < rounds; i++) {
        s[t] = v;
        __syncthreads();
        v += s[(t + 33) % blockDim.x];
        __syncthreads();
    }
    to[AT] = v;
}

// Where a pattern of eight letters begins in a text.
__global__ void match(unsigned *count, const unsigned char *__restrict__ text, const unsigned char *__restrict__ pattern, unsigned n)
{
    unsigned i = AT;
    if (i + 8 <= n) {
        unsigned k = 0;
        while (k < 8 && text[i + k] == pattern[k]) {
            k++;
        }
        if (k >= 4) {
            atomicAdd(&count[k], 1);
        }
    }
}

// Each thread's 64 bytes into a sum, by a table in shared memory.
__global__ void crc(unsigned *sums, const uint4 *__restrict__ from)
{
    __shared__ unsigned table[256];
    unsigned v = threadIdx.x;
    for (int k = 0; k < 8; k++) {
        v = v & 1 ? v >> 1 ^ 0xedb88320u : v >> 1;
    }
    table[threadIdx.x] = v;
    __syncthreads();
    unsigned sum = ~0u;
    for (int q = 0; q < 4; q++) {
        uint4 w = from[AT * 4 + q];
        const unsigned words[4] = {w.x, w.y, w.z, w.w};
        for (int i = 0; i < 4; i++) {
            for (int b = 0; b < 32; b += 8) {
                sum = table[(sum ^ words[i] >> b) & 255] ^ sum >> 8;
            }
        }
    }
    sums[AT] = ~sum;
}

// 64 rounds of additions and rotations.
__global__ void digest(unsigned *to, unsigned rounds)
{
    unsigned a = 0x67452301u + AT, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
    for (unsigned i = 0; i < rounds; i++) {
        unsigned f = (b & c) | (~b & d), g = a + f + i * 0x5bd1e995u;
        a = d, d = c, c = b;
        b += g << 7 | g >> 25;
    }
    to[AT] = a ^ b ^ c ^ d;
}

// Edit distance of 64 letters of two texts a CTA, a diagonal at a time.
__global__ void edit_distance(unsigned *distances, const unsigned char *__restrict__ a, const unsigned char *__restrict__ b)
{
    __shared__ unsigned s[3][65];
    unsigned t = threadIdx.x + 1;
    unsigned char mine = a[AT];
    for (unsigned d = 0; d <= 128; d++) {
        unsigned *now = s[d % 3], *last = s[(d + 2) % 3], *older = s[(d + 1) % 3];
        if (t == 1) {
            now[0] = d;
        }
        if (t == d) {
            now[t] = d;
        } else if (t < d && d - t <= 64) {
            unsigned j = d - t;
            unsigned change = older[t - 1] + (mine != b[blockIdx.x * 64 + j - 1]);
            now[t] = min(change, min(last[t - 1], last[t]) + 1);
        }
        __syncthreads();
    }
    if (t == 64) {
        distances[blockIdx.x] = s[128 % 3][64];
    }
}

// Chains of one operation, four a thread.
#define CHAIN(name, type, start, step)                                                             \
    __global__ void name(type *to, type x, unsigned rounds)                                        \
    {                                                                                              \
        type a = start, b = a + 1, c = a + 2, d = a + 3;                                           \
        for (unsigned i = 0; i < rounds; i++) {                                                    \
            _Pragma("unroll") for (int k = 0; k < 4; k++)                                          \
            {                                                                                      \
                step(a) step(b) step(c) step(d)                                                    \
            }                                                                                      \
        }                                                                                          \
        to[AT] = a + b + c + d;                                                                    \
    }
#define FMA32(v) v = fmaf(v, x, 0.5f);
#define FMA64(v) v = fma(v, x, 0.5);
#define MAD(v) v = v * x + 7;
#define LOGIC(v) v = (v ^ x) + (v >> 3);
#define SINE(v) v = __sinf(v) + x;
#define DIVIDE(v) v = x / (v | 1) + v;
#define ROOT(v) v = sqrtf(v) + x;
CHAIN(chain_fma, float, (float)threadIdx.x, FMA32)
CHAIN(chain_double, double, (double)threadIdx.x, FMA64)
CHAIN(chain_mad, unsigned, threadIdx.x, MAD)
CHAIN(chain_logic, unsigned, threadIdx.x, LOGIC)
CHAIN(chain_sine, float, (float)threadIdx.x, SINE)
CHAIN(chain_divide, unsigned, threadIdx.x, DIVIDE)
CHAIN(chain_root, float, (float)threadIdx.x, ROOT)

// Shared memory at a stride of words, each load waiting for the last.
__global__ void shared_stride(unsigned *to, unsigned stride, unsigned rounds)
{
    __shared__ unsigned s[4096];
    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) {
        s[i] = i & 31;
    }
    __syncthreads();
    unsigned at = threadIdx.x, v = 0;
    for (unsigned i = 0; i < rounds; i++) {
        v += s[at * stride & 4095];
        at += (v & 1024) + 1;
    }
    to[AT] = v;
}

__global__ void shuffles(unsigned *to, unsigned rounds)
{
    unsigned v = AT;
    for (unsigned i = 0; i < rounds; i++) {
        v = __shfl_xor_sync(0xffffffffu, v, i & 31) * 3 + 1;
        v ^= __shfl_sync(0xffffffffu, v, v & 31);
    }
    to[AT] = v;
}
}
