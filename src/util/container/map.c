/*
 * Hash maps: an array of entries in insertion order, and beside it a table of slots (open
 * addressing, linear probing, at most 3/4 full) that holds indices into the array. Hash functions:
 * FNV-1a for text, the splitmix64 finaliser for numbers. They are fixed, as results must not depend
 * on a seed; a hostile file can make lookups slow within its size limit, never wrong.
 */
#include "util/container/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/hash.h"
#include "util/container/vec.h"

static uint64_t hash_u64(uint64_t key)
{
    key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
    return key ^ (key >> 31);
}

static uint64_t hash_text(const char *key, size_t length)
{
    return hash_u64(hash_bytes(HASH_BEGIN, key, length));
}

/* The first empty slot for a hash in a table that has one. */
static size_t slot_empty(const uint32_t *slots, size_t slot_count, uint64_t hash)
{
    size_t slot = hash & (slot_count - 1);
    while (slots[slot] != 0) {
        slot = (slot + 1) & (slot_count - 1);
    }
    return slot;
}

/* The size of a slot table that takes one more entry; 0 when it would not fit 32-bit indices. */
static size_t slots_wanted(size_t slot_count, size_t count)
{
    if (count >= UINT32_MAX / 2) {
        return 0;
    }
    if ((count + 1) * 4 <= slot_count * 3) {
        return slot_count;
    }
    return slot_count ? slot_count * 2 : 16;
}

static size_t map_slot(const struct map *map, const char *key, size_t length)
{
    size_t slot = hash_text(key, length) & (map->slot_count - 1);
    while (map->slots[slot] != 0) {
        const char *found = map->entries[map->slots[slot] - 1].key;
        if (strncmp(found, key, length) == 0 && found[length] == '\0') {
            break;
        }
        slot = (slot + 1) & (map->slot_count - 1);
    }
    return slot;
}

static struct map_entry *map_find_n(const struct map *map, const char *key, size_t length)
{
    if (map->count == 0) {
        return NULL;
    }
    uint32_t index = map->slots[map_slot(map, key, length)];
    return index ? &map->entries[index - 1] : NULL;
}

/* The slots of so many entries, whose hashes `hash` knows: more of them when they are too full. */
static int slots_prepare(uint32_t **slots, size_t *slot_count, size_t count, const void *entries,
                         uint64_t (*hash)(const void *entries, size_t i))
{
    size_t wanted = slots_wanted(*slot_count, count);
    if (wanted == *slot_count && wanted > 0) {
        return SONDE_OK;
    }
    uint32_t *made = wanted > 0 ? calloc(wanted, sizeof(*made)) : NULL;
    if (!made) {
        return error_memory();
    }
    for (size_t i = 0; i < count; i++) {
        made[slot_empty(made, wanted, hash(entries, i))] = (uint32_t)i + 1;
    }
    free(*slots);
    *slots = made;
    *slot_count = wanted;
    return SONDE_OK;
}

static uint64_t hash_of_entry(const void *entries, size_t i)
{
    const char *key = ((const struct map_entry *)entries)[i].key;
    return hash_text(key, strlen(key));
}

static int map_prepare(struct map *map)
{
    if (vec_grow((void **)&map->entries, &map->capacity, map->count + 1, sizeof(*map->entries)) <
        0) {
        return error_memory();
    }
    return slots_prepare(&map->slots, &map->slot_count, map->count, map->entries, hash_of_entry);
}

int map_put_n(struct map *map, const char *key, size_t key_length, void *value)
{
    key_length = strnlen(key, key_length);
    struct map_entry *entry = map_find_n(map, key, key_length);
    if (entry) {
        entry->value = value;
        return SONDE_OK;
    }
    if (map_prepare(map) < 0) {
        return SONDE_ENOMEM;
    }
    char *copy = malloc(key_length + 1);
    if (!copy) {
        return error_memory();
    }
    memcpy(copy, key, key_length);
    copy[key_length] = '\0';
    assert(map->entries && map->slots); /* by map_prepare() */
    size_t slot = slot_empty(map->slots, map->slot_count, hash_text(key, key_length));
    map->entries[map->count++] = (struct map_entry){.key = copy, .value = value};
    map->slots[slot] = (uint32_t)map->count;
    return SONDE_OK;
}

int map_put(struct map *map, const char *key, void *value)
{
    return map_put_n(map, key, strlen(key), value);
}

struct map_entry *map_find(const struct map *map, const char *key)
{
    return map_find_n(map, key, strlen(key));
}

void *map_get(const struct map *map, const char *key)
{
    return map_get_n(map, key, strlen(key));
}

void *map_get_n(const struct map *map, const char *key, size_t key_length)
{
    struct map_entry *entry = map_find_n(map, key, strnlen(key, key_length));
    return entry ? entry->value : NULL;
}

void map_free(struct map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        free(map->entries[i].key);
    }
    free(map->entries);
    free(map->slots);
    *map = (struct map){0};
}

struct u64_map_entry *u64_map_find(const struct u64_map *map, uint64_t key)
{
    if (map->count == 0) {
        return NULL;
    }
    size_t slot = hash_u64(key) & (map->slot_count - 1);
    for (; map->slots[slot] != 0; slot = (slot + 1) & (map->slot_count - 1)) {
        struct u64_map_entry *entry = &map->entries[map->slots[slot] - 1];
        if (entry->key == key) {
            return entry;
        }
    }
    return NULL;
}

static uint64_t hash_of_u64_entry(const void *entries, size_t i)
{
    return hash_u64(((const struct u64_map_entry *)entries)[i].key);
}

static int u64_map_prepare(struct u64_map *map)
{
    if (vec_grow((void **)&map->entries, &map->capacity, map->count + 1, sizeof(*map->entries)) <
        0) {
        return error_memory();
    }
    return slots_prepare(&map->slots, &map->slot_count, map->count, map->entries,
                         hash_of_u64_entry);
}

/* The entry of a key, made when absent; NULL when memory is out. */
static struct u64_map_entry *u64_map_entry_of(struct u64_map *map, uint64_t key)
{
    struct u64_map_entry *entry = u64_map_find(map, key);
    if (entry) {
        return entry;
    }
    if (u64_map_prepare(map) < 0) {
        return NULL;
    }
    assert(map->entries && map->slots); /* by u64_map_prepare() */
    size_t slot = slot_empty(map->slots, map->slot_count, hash_u64(key));
    entry = &map->entries[map->count++];
    *entry = (struct u64_map_entry){.key = key};
    map->slots[slot] = (uint32_t)map->count;
    return entry;
}

int u64_map_put(struct u64_map *map, uint64_t key, uint64_t value)
{
    struct u64_map_entry *entry = u64_map_entry_of(map, key);
    if (!entry) {
        return SONDE_ENOMEM;
    }
    entry->value = value;
    return SONDE_OK;
}

int u64_map_put_pointer(struct u64_map *map, uint64_t key, void *pointer)
{
    struct u64_map_entry *entry = u64_map_entry_of(map, key);
    if (!entry) {
        return SONDE_ENOMEM;
    }
    entry->pointer = pointer;
    return SONDE_OK;
}

bool u64_map_get(uint64_t *value, const struct u64_map *map, uint64_t key)
{
    struct u64_map_entry *entry = u64_map_find(map, key);
    if (entry) {
        *value = entry->value;
    }
    return entry != NULL;
}

void *u64_map_get_pointer(const struct u64_map *map, uint64_t key)
{
    struct u64_map_entry *entry = u64_map_find(map, key);
    return entry ? entry->pointer : NULL;
}

void u64_map_clear(struct u64_map *map)
{
    map->count = 0;
    if (map->slots) {
        memset(map->slots, 0, map->slot_count * sizeof(*map->slots));
    }
}

void u64_map_free(struct u64_map *map)
{
    free(map->entries);
    free(map->slots);
    *map = (struct u64_map){0};
}
