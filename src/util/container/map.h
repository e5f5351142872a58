/*
 * Hash maps with keys of text (struct map) and of 64-bit numbers (struct u64_map). Entries lie in a
 * plain array in the order of their insertion, which is the order to iterate in:
 *
 *     for (size_t i = 0; i < map.count; i++) use(map.entries[i].key, map.entries[i].value);
 *
 * Removal is not offered: nothing in Sonde needs it, and without it the order costs nothing. A map
 * starts as {0}. Text keys are copied; values are the caller's.
 */
#ifndef SONDE_UTIL_MAP_H
#define SONDE_UTIL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    char *key;
    void *value;
};

struct map {
    struct map_entry *entries;
    size_t count, capacity;
    uint32_t *slots;   /* open addressing; index into entries plus 1, 0 is empty */
    size_t slot_count; /* a power of two, or 0 */
};

/* Inserts or replaces. 0 or SONDE_ENOMEM. */
int map_put(struct map *map, const char *key, void *value);
int map_put_n(struct map *map, const char *key, size_t key_length, void *value);
/* The value, or NULL when the key is absent (map_find tells a stored NULL from absence). */
void *map_get(const struct map *map, const char *key);
void *map_get_n(const struct map *map, const char *key, size_t key_length);
/* The entry, borrowed until the next put, or NULL. */
struct map_entry *map_find(const struct map *map, const char *key);
void map_free(struct map *map);

/* The value of an entry is a number or a pointer, as its owner likes. */
struct u64_map_entry {
    uint64_t key;
    union {
        uint64_t value;
        void *pointer;
    };
};

struct u64_map {
    struct u64_map_entry *entries;
    size_t count, capacity;
    uint32_t *slots;
    size_t slot_count;
};

int u64_map_put(struct u64_map *map, uint64_t key, uint64_t value);
int u64_map_put_pointer(struct u64_map *map, uint64_t key, void *pointer);
/* The entry, borrowed until the next put, or NULL when the key is absent. */
struct u64_map_entry *u64_map_find(const struct u64_map *map, uint64_t key);
/* True and *value when the key is there. */
bool u64_map_get(uint64_t *value, const struct u64_map *map, uint64_t key);
void *u64_map_get_pointer(const struct u64_map *map, uint64_t key);
void u64_map_clear(struct u64_map *map); /* keeps the memory */
void u64_map_free(struct u64_map *map);

#endif
