/*
 * Host side of AES-128. Size: bytes of a picture behind its header of 54 bytes; what is left of the
 * last KiB holds the plaintext of FIPS 197, appendix C.1, whose published ciphertext must come out.
 * The reference goes by the standard's steps, byte by byte, and has no tables but its own S-box,
 * computed from inverses in GF(2^8).
 */
#include "workloads/workload.h"

#include <string.h>

#include "isa/image.h"
#include "util/error.h"

#define BLOCK_BYTES 1024 /* of a CTA of 256 threads */
#define STATE_BYTES 16
#define HEADER_BYTES 54
#define ROUNDS 10
#define KEY_BYTES ((ROUNDS + 1) * STATE_BYTES)
#define SIZE_LIMIT (1u << 26)

static const uint8_t published[STATE_BYTES] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                               0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};

static uint8_t multiply(uint8_t a, uint8_t b)
{
    uint8_t product = 0;
    for (; b; b >>= 1) {
        product ^= b & 1 ? a : 0;
        a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
    }
    return product;
}

static void make_sbox(uint8_t sbox[256])
{
    for (unsigned x = 0; x < 256; x++) {
        uint8_t inverse = 0;
        for (unsigned y = 1; x && y < 256 && !inverse; y++) {
            inverse = multiply((uint8_t)x, (uint8_t)y) == 1 ? (uint8_t)y : 0;
        }
        uint8_t value = 0x63;
        for (unsigned turn = 0; turn < 5; turn++) {
            value ^= (uint8_t)(inverse << turn | inverse >> (8 - turn));
        }
        sbox[x] = value;
    }
}

static void expand_key(uint8_t keys[KEY_BYTES], const uint8_t *sbox)
{
    uint8_t constant = 1;
    for (unsigned i = 0; i < STATE_BYTES; i++) {
        keys[i] = (uint8_t)i; /* the key of appendix C.1 */
    }
    for (unsigned at = STATE_BYTES; at < KEY_BYTES; at += 4) {
        uint8_t word[4];
        memcpy(word, keys + at - 4, sizeof word);
        if (at % STATE_BYTES == 0) {
            const uint8_t first = word[0];
            word[0] = sbox[word[1]] ^ constant;
            word[1] = sbox[word[2]];
            word[2] = sbox[word[3]];
            word[3] = sbox[first];
            constant = multiply(constant, 2);
        }
        for (unsigned i = 0; i < 4; i++) {
            keys[at + i] = keys[at + i - STATE_BYTES] ^ word[i];
        }
    }
}

/* One state by the steps of the standard: SubBytes, ShiftRows, MixColumns, AddRoundKey. */
static void encrypt(uint8_t *state, const uint8_t *keys, const uint8_t *sbox)
{
    uint8_t from[STATE_BYTES];
    for (unsigned i = 0; i < STATE_BYTES; i++) {
        state[i] ^= keys[i];
    }
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < STATE_BYTES; i++) {
            from[i] = sbox[state[(i + 4 * (i % 4)) % STATE_BYTES]];
        }
        for (unsigned i = 0; i < STATE_BYTES; i++) {
            const uint8_t *column = from + i / 4 * 4;
            unsigned row = i % 4;
            uint8_t mixed = multiply(column[row], 2) ^ multiply(column[(row + 1) % 4], 3) ^
                            column[(row + 2) % 4] ^ column[(row + 3) % 4];
            state[i] = (round < ROUNDS ? mixed : from[i]) ^ keys[round * STATE_BYTES + i];
        }
    }
}

/* What the kernel looks up: of a byte in row r, the four bytes of its share in a column. */
static void make_tables(uint32_t tables[4][256], const uint8_t *sbox)
{
    for (unsigned x = 0; x < 256; x++) {
        uint32_t s = sbox[x], twice = multiply(sbox[x], 2);
        uint32_t word = twice | s << 8 | s << 16 | (twice ^ s) << 24;
        for (unsigned row = 0; row < 4; row++) {
            tables[row][x] = word;
            word = word << 8 | word >> 24;
        }
    }
}

/* Waves with a little noise, behind a bitmap's header of zeros; the appendix's plaintext at the
 * end. */
static void draw(struct workbench *bench, uint8_t *picture, size_t bytes)
{
    for (size_t i = HEADER_BYTES; i < HEADER_BYTES + (size_t)bench->size; i++) {
        size_t x = (i - HEADER_BYTES) % 512, y = (i - HEADER_BYTES) / 512;
        picture[i] = (uint8_t)((x * x / 64 + y * y / 32 + rng_below(&bench->rng, 8)) & 255);
    }
    for (unsigned i = 0; i < STATE_BYTES; i++) {
        picture[bytes - STATE_BYTES + i] = (uint8_t)(i * 0x11);
    }
}

static int run(struct workbench *bench, const uint8_t *sbox, const uint8_t *keys, uint8_t *picture,
               size_t bytes)
{
    uint32_t tables[4][256];
    uint64_t in, out, at_keys, texture = 0;
    make_tables(tables, sbox);
    int rc = workbench_upload(bench, &in, picture, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &out, NULL, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_keys, keys, KEY_BYTES);
    rc = rc < 0 ? rc : workbench_symbol(bench, "tables", tables, sizeof tables);
    const struct image_spec spec = {.shape = IMAGE_BUFFER,
                                    .format = {TEXEL_UNSIGNED, 32, 1},
                                    .width = KEY_BYTES / 4,
                                    .address = rc < 0 ? 0 : at_keys};
    rc = rc < 0 ? rc : workbench_texture(bench, &texture, &spec, NULL);
    struct workbench_shape shape = {{(uint32_t)(bytes / BLOCK_BYTES), 1, 1}, {256, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "aes_encrypt", shape, &out, &in, &texture);
    return rc < 0 ? rc : workbench_download(bench, picture, out, bytes);
}

int workload_aes(struct workbench *bench)
{
    uint8_t sbox[256], keys[KEY_BYTES];
    if (bench->size > SIZE_LIMIT) {
        return error_set(SONDE_EINPUT, "%u bytes, %u at most", bench->size, SIZE_LIMIT);
    }
    size_t used = HEADER_BYTES + (size_t)bench->size + STATE_BYTES;
    size_t bytes = (used + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    uint8_t *picture = workbench_array(bench, bytes, 1), *wanted = workbench_array(bench, bytes, 1);
    if (!picture || !wanted) {
        return SONDE_ENOMEM;
    }
    make_sbox(sbox);
    expand_key(keys, sbox);
    draw(bench, picture, bytes);
    memcpy(wanted, picture, bytes);
    for (size_t at = 0; at < bytes; at += STATE_BYTES) {
        encrypt(wanted + at, keys, sbox);
    }
    int rc = run(bench, sbox, keys, picture, bytes);
    if (rc == 0 && memcmp(picture + bytes - STATE_BYTES, published, STATE_BYTES) != 0) {
        rc = error_set(SONDE_EINTERNAL, "the plaintext of FIPS 197, C.1 is encrypted wrongly");
    }
    return rc < 0 ? rc
                  : workbench_expect_words((const uint32_t *)(const void *)picture,
                                           (const uint32_t *)(const void *)wanted, bytes / 4);
}
