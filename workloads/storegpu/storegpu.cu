// MD5 (RFC 1321) of every window of 20 bytes of a file, as a store that looks for known pieces of it computes: a thread
// hashes the four windows that begin in its word. A block's words, each thread's padded message and all hashes lie in
// shared memory, so that a block writes its hashes one beside the other; it takes nearly all of a core's 16 KiB. The 64
// steps are unrolled. The last two words of a message are its length, which is the same for all.

#define BLOCK 128
#define WINDOW 20
#define MESSAGE 14 // words that lie in shared memory
#define HASH 4     // words
#define WORD(i) ((i) == 14 ? 8 * WINDOW : (i) == 15 ? 0 : message[(i) * BLOCK])

__device__ static unsigned rotated(unsigned value, unsigned by)
{
    return value << by | value >> (32 - by);
}

#define F(b, c, d) (d ^ (b & (c ^ d)))
#define G(b, c, d) (c ^ (d & (b ^ c)))
#define H(b, c, d) (b ^ c ^ d)
#define I(b, c, d) (c ^ (b | ~d))
#define STEP(f, a, b, c, d, word, constant, by) a = b + rotated(a + f(b, c, d) + WORD(word) + constant, by)
#define ROUND(f, k0, k1, k2, k3, w0, w1, w2, w3, s0, s1, s2, s3)                                                       \
    STEP(f, a, b, c, d, w0, k0, s0);                                                                                   \
    STEP(f, d, a, b, c, w1, k1, s1);                                                                                   \
    STEP(f, c, d, a, b, w2, k2, s2);                                                                                   \
    STEP(f, b, c, d, a, w3, k3, s3)

__device__ static uint4 md5(const unsigned *message)
{
    unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    ROUND(F, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0, 1, 2, 3, 7, 12, 17, 22);
    ROUND(F, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 4, 5, 6, 7, 7, 12, 17, 22);
    ROUND(F, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 8, 9, 10, 11, 7, 12, 17, 22);
    ROUND(F, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 12, 13, 14, 15, 7, 12, 17, 22);
    ROUND(G, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 1, 6, 11, 0, 5, 9, 14, 20);
    ROUND(G, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8, 5, 10, 15, 4, 5, 9, 14, 20);
    ROUND(G, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 9, 14, 3, 8, 5, 9, 14, 20);
    ROUND(G, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 13, 2, 7, 12, 5, 9, 14, 20);
    ROUND(H, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 5, 8, 11, 14, 4, 11, 16, 23);
    ROUND(H, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 1, 4, 7, 10, 4, 11, 16, 23);
    ROUND(H, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 13, 0, 3, 6, 4, 11, 16, 23);
    ROUND(H, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 9, 12, 15, 2, 4, 11, 16, 23);
    ROUND(I, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0, 7, 14, 5, 6, 10, 15, 21);
    ROUND(I, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1, 12, 3, 10, 1, 6, 10, 15, 21);
    ROUND(I, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 8, 15, 6, 13, 6, 10, 15, 21);
    ROUND(I, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391, 4, 11, 2, 9, 6, 10, 15, 21);
    return make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}

extern "C" __global__ void storegpu(unsigned *out, const unsigned *file)
{
    // Word w of hash 4 t + s is at [4 s + w][t]; rows are a word longer, for the banks.
    __shared__ unsigned words[BLOCK + WINDOW / 4], messages[MESSAGE * BLOCK], hashes[4 * HASH][BLOCK + 1];
    unsigned thread = threadIdx.x, at = blockIdx.x * BLOCK + thread;
    unsigned *message = messages + thread;
    words[thread] = file[at];
    if (thread < WINDOW / 4)
        words[BLOCK + thread] = file[at + BLOCK];
    __syncthreads();
    for (unsigned i = WINDOW / 4; i < MESSAGE; i++)
        message[i * BLOCK] = i == WINDOW / 4 ? 0x80 : 0;
    // Left as a loop: a hash is long enough.
#pragma unroll 1
    for (unsigned shift = 0; shift < 4; shift++) {
        for (unsigned i = 0; i < WINDOW / 4; i++)
            message[i * BLOCK] = __funnelshift_r(words[thread + i], words[thread + i + 1], 8 * shift);
        uint4 hash = md5(message);
        hashes[HASH * shift][thread] = hash.x;
        hashes[HASH * shift + 1][thread] = hash.y;
        hashes[HASH * shift + 2][thread] = hash.z;
        hashes[HASH * shift + 3][thread] = hash.w;
    }
    __syncthreads();
    out += blockIdx.x * 4 * HASH * BLOCK;
    for (unsigned i = thread; i < 4 * HASH * BLOCK; i += BLOCK)
        out[i] = hashes[i % (4 * HASH)][i / (4 * HASH)];
}
