/*
 * Hashes of 64 bits, for tables and for knowing things again, where nobody forges what is hashed.
 * Of bytes it is FNV-1a.
 */
#ifndef SONDE_UTIL_HASH_H
#define SONDE_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Goes on from `hash`, HASH_BEGIN at first. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size_bytes)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size_bytes; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Goes on with a number, taken as a whole. A bijection of the hash for each number: sequences that
 * differ in one of them alone never meet. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32; /* a product's upper half reaches the lower one */
}

static inline uint64_t hash_words(uint64_t hash, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = hash_word(hash, words[i]);
    }
    return hash;
}

#endif
