/* FNV-1a, 64 bits: for tables and for knowing things again, where nobody forges what is hashed. */
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

/* The same for numbers, each taken as a whole. */
static inline uint64_t hash_words(uint64_t hash, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
        hash ^= hash >> 32; /* a product's upper half reaches the lower one */
    }
    return hash;
}

#endif
