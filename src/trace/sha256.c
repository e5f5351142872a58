/*
 * SHA-256 as FIPS 180-4 section 6.2 gives it: 64 rounds over blocks of 64 bytes.
 */
#include "trace/sha256.h"

#include <stdio.h>
#include <string.h>

/* Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
 * primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void schedule(uint32_t w[64], const unsigned char *block)
{
    for (int t = 0; t < 16; t++, block += 4) {
        w[t] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               block[3];
    }
    for (int t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[t - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void add_block(struct sha256 *hash, const unsigned char *block)
{
    uint32_t w[64], s[8];
    schedule(w, block);
    memcpy(s, hash->state, sizeof(s));
    for (int t = 0; t < 64; t++) {
        uint32_t a = s[0], e = s[4];
        uint32_t choose = (e & s[5]) ^ (~e & s[6]);
        uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
        uint32_t t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose +
                      round_constants[t] + w[t];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
        memmove(&s[1], &s[0], 7 * sizeof(s[0]));
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) {
        hash->state[i] += s[i];
    }
}

void sha256_start(struct sha256 *hash)
{
    *hash = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                      0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    while (size > 0) {
        size_t used = hash->length % sizeof(hash->block);
        size_t part = sizeof(hash->block) - used < size ? sizeof(hash->block) - used : size;
        memcpy(hash->block + used, bytes, part);
        hash->length += part;
        bytes += part;
        size -= part;
        if (used + part == sizeof(hash->block)) {
            add_block(hash, hash->block);
        }
    }
}

void sha256_end(struct sha256 *hash, unsigned char digest[SHA256_BYTES])
{
    uint64_t bits = hash->length * 8;
    unsigned char padding[72] = {0x80};
    size_t used = hash->length % sizeof(hash->block);
    size_t zeros = (used < 56 ? 56 : 120) - used;
    for (int i = 0; i < 8; i++) {
        padding[zeros + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    sha256_add(hash, padding, zeros + 8);
    for (int i = 0; i < SHA256_BYTES; i++) {
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void sha256_hex(char hex[2 * SHA256_BYTES + 1], const void *data, size_t size)
{
    struct sha256 hash;
    unsigned char digest[SHA256_BYTES];
    sha256_start(&hash);
    sha256_add(&hash, data, size);
    sha256_end(&hash, digest);
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
}
