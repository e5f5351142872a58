/*
 * Host side of the sliding hashes. Size: bytes of the file, a multiple of 512; windows that begin
 * in its last bytes reach into what follows it. The reference goes by RFC 1321's text, its
 * constants from sines; the RFC's own "message digest" is hashed by it first.
 */
#include "workloads/workload.h"

#include <math.h>
#include <string.h>

#include "util/error.h"

#define BLOCK 128
#define WINDOW 20
#define HASH_WORDS 4
#define SIZE_LIMIT (1u << 24)

/* MD5 of fewer than 56 bytes: one message of 64. */
static void reference(uint32_t out[HASH_WORDS], const uint8_t *bytes, size_t count)
{
    static const uint32_t begin[HASH_WORDS] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    static const uint8_t turns[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    static const uint8_t factor[4] = {1, 5, 3, 7}, offset[4] = {0, 1, 5, 0};
    uint8_t message[64] = {0};
    uint32_t v[HASH_WORDS];
    memcpy(message, bytes, count);
    message[count] = 0x80;
    message[56] = (uint8_t)(8 * count);
    message[57] = (uint8_t)(8 * count >> 8);
    memcpy(v, begin, sizeof v);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t round = i / 16, b = v[1], c = v[2], d = v[3], word, turn = turns[round][i % 4];
        uint32_t f = round == 0   ? (b & c) | (~b & d)
                     : round == 1 ? (b & d) | (c & ~d)
                     : round == 2 ? b ^ c ^ d
                                  : c ^ (b | ~d);
        const uint8_t *at = message + 4 * ((factor[round] * i + offset[round]) % 16);
        word = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        uint32_t sum = v[0] + f + word + (uint32_t)floor(fabs(sin(i + 1.0)) * 4294967296.0);
        v[0] = d;
        v[3] = c;
        v[2] = b;
        v[1] = b + (sum << turn | sum >> (32 - turn));
    }
    for (int i = 0; i < HASH_WORDS; i++) {
        out[i] = v[i] + begin[i];
    }
}

/* "f96b697d7cb7938d525a2f31aaf161d0", RFC 1321, A.5. */
static bool reference_is_right(void)
{
    static const uint32_t published[HASH_WORDS] = {0x7d696bf9, 0x8d93b77c, 0x312f5a52, 0xd061f1aa};
    uint32_t got[HASH_WORDS];
    reference(got, (const uint8_t *)"message digest", 14);
    return memcmp(got, published, sizeof got) == 0;
}

int workload_storegpu(struct workbench *bench)
{
    uint32_t bytes = bench->size;
    if (bytes % (4 * BLOCK) || bytes > SIZE_LIMIT) {
        return error_set(SONDE_EINPUT, "%u bytes: a multiple of %d, %u at most", bytes, 4 * BLOCK,
                         SIZE_LIMIT);
    }
    size_t count = (size_t)bytes * HASH_WORDS;
    uint8_t *file = workbench_array(bench, bytes + WINDOW + 4, 1);
    uint32_t *got = workbench_array(bench, count, sizeof *got);
    uint32_t *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t at, hashes;
    if (!file || !got || !wanted) {
        return SONDE_ENOMEM;
    }
    if (!reference_is_right()) {
        return error_set(SONDE_EINTERNAL,
                         "the reference's MD5 of \"message digest\" is not RFC 1321's");
    }
    for (uint32_t i = 0; i < bytes + WINDOW; i++) {
        file[i] = (uint8_t)rng_below(&bench->rng, 256);
    }
    for (uint32_t i = 0; i < bytes; i++) {
        reference(wanted + (size_t)HASH_WORDS * i, file + i, WINDOW);
    }
    int rc = workbench_upload(bench, &at, file, bytes + WINDOW + 4);
    rc = rc < 0 ? rc : workbench_upload(bench, &hashes, NULL, count * sizeof *got);
    struct workbench_shape shape = {{bytes / (4 * BLOCK), 1, 1}, {BLOCK, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "storegpu", shape, &hashes, &at);
    rc = rc < 0 ? rc : workbench_download(bench, got, hashes, count * sizeof *got);
    return rc < 0 ? rc : workbench_expect_words(got, wanted, count);
}
