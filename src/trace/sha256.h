/*
 * SHA-256 (FIPS 180-4), which names the kernels of a recording and guards its bytes.
 */
#ifndef SONDE_TRACE_SHA256_H
#define SONDE_TRACE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

struct sha256 {
    uint32_t state[8];
    uint64_t length;         /* bytes so far */
    unsigned char block[64]; /* the part of a block that waits for the rest */
};

void sha256_start(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t size);
void sha256_end(struct sha256 *hash, unsigned char digest[SHA256_BYTES]);

/* All at once, as 64 hexadecimal digits. */
void sha256_hex(char hex[2 * SHA256_BYTES + 1], const void *data, size_t size);

#endif
