/*
 * The buffer is a hash table of blocks of 128 bytes, each with a bit for every byte that was
 * stored. It is made for some ten stores between two publications, of a warp each: the blocks lie
 * in one array in the order of their first store, and only the table's used places are wiped.
 */
#include "exec/memory/stores.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define BLOCK_BYTES 128u
#define FIRST_BLOCKS 64u
#define NO_BLOCK UINT32_MAX

struct block {
    uint64_t base; /* address of the first byte */
    uint64_t stored[BLOCK_BYTES / 64];
    uint8_t bytes[BLOCK_BYTES];
};

struct exec_stores {
    uint64_t low, high; /* all stores lie in [low, high) */
    struct block *blocks;
    uint32_t count, capacity; /* the table has twice as many places */
    uint32_t *table;          /* indexes of blocks */
};

static int reserve(struct exec_stores *stores, uint32_t capacity);

int exec_stores_create(struct exec_stores **out)
{
    *out = NULL;
    struct exec_stores *stores = calloc(1, sizeof *stores);
    if (!stores)
        return error_memory();
    stores->low = UINT64_MAX;
    if (reserve(stores, FIRST_BLOCKS) < 0) {
        exec_stores_destroy(stores);
        return SONDE_ENOMEM;
    }
    *out = stores;
    return SONDE_OK;
}

void exec_stores_destroy(struct exec_stores *stores)
{
    if (stores) {
        free(stores->blocks);
        free(stores->table);
        free(stores);
    }
}

/* The place of a block in the table, or the empty one where it belongs. */
static uint32_t *find(const struct exec_stores *stores, uint64_t base)
{
    uint32_t mask = stores->capacity * 2 - 1;
    uint32_t at = (uint32_t)((base / BLOCK_BYTES * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (stores->table[at] != NO_BLOCK && stores->blocks[stores->table[at]].base != base)
        at = (at + 1) & mask;
    return &stores->table[at];
}

/* `capacity`: a power of two. */
static int reserve(struct exec_stores *stores, uint32_t capacity)
{
    struct block *blocks = realloc(stores->blocks, capacity * sizeof *blocks);
    if (!blocks)
        return error_memory();
    stores->blocks = blocks;
    uint32_t *table = malloc(2 * (size_t)capacity * sizeof *table);
    if (!table)
        return error_memory();
    free(stores->table);
    stores->table = table;
    stores->capacity = capacity;
    memset(table, 0xff, 2 * (size_t)capacity * sizeof *table);
    for (uint32_t i = 0; i < stores->count; i++)
        *find(stores, blocks[i].base) = i;
    return SONDE_OK;
}

/* NULL when memory is out. */
static struct block *block_of(struct exec_stores *stores, uint64_t base)
{
    uint32_t *place = find(stores, base);
    if (*place != NO_BLOCK)
        return &stores->blocks[*place];
    if (stores->count == stores->capacity) {
        if (reserve(stores, stores->capacity * 2) < 0)
            return NULL;
        place = find(stores, base);
    }
    struct block *block = &stores->blocks[ *place = stores->count++];
    block->base = base;
    memset(block->stored, 0, sizeof block->stored);
    return block;
}

/* `count` bits from bit `first` on; count is 1 to 64 - first. */
static uint64_t bits(uint32_t first, uint32_t count)
{
    return (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << first;
}

static void mark(struct block *block, uint32_t offset, uint32_t count)
{
    for (uint32_t left = count; left > 0;) {
        uint32_t first = offset % 64, now = left < 64 - first ? left : 64 - first;
        block->stored[offset / 64] |= bits(first, now);
        offset += now;
        left -= now;
    }
}

int exec_stores_put(struct exec_stores *stores, uint64_t address, const void *bytes, uint32_t count)
{
    const uint8_t *from = bytes;
    stores->low = address < stores->low ? address : stores->low;
    stores->high = address + count > stores->high ? address + count : stores->high;
    while (count > 0) {
        uint32_t offset = (uint32_t)(address % BLOCK_BYTES);
        uint32_t now = count < BLOCK_BYTES - offset ? count : BLOCK_BYTES - offset;
        struct block *block = block_of(stores, address - offset);
        if (!block)
            return SONDE_ENOMEM;
        memcpy(block->bytes + offset, from, now);
        mark(block, offset, now);
        from += now;
        address += now;
        count -= now;
    }
    return SONDE_OK;
}

bool exec_stores_empty(const struct exec_stores *stores)
{
    return stores->count == 0;
}

bool exec_stores_may_hold(const struct exec_stores *stores, uint64_t address, uint32_t count)
{
    return address < stores->high && address + count > stores->low;
}

/* Copies the bytes that `which` names of 64, a run of neighbours at a time. */
static void copy_runs(uint8_t *to, const uint8_t *from, uint64_t which)
{
    while (which) {
        uint32_t first = (uint32_t)__builtin_ctzll(which);
        uint64_t gaps = ~(which >> first);
        uint32_t length = gaps ? (uint32_t)__builtin_ctzll(gaps) : 64;
        if (length == 4)
            memcpy(to + first, from + first, 4);
        else
            memcpy(to + first, from + first, length);
        which &= ~bits(first, length);
    }
}

/* Copies those bytes of [first, first + count) of the block that were stored. */
static void copy_stored(uint8_t *to, const struct block *block, uint32_t first, uint32_t count)
{
    if (count == BLOCK_BYTES && (block->stored[0] & block->stored[1]) == UINT64_MAX) {
        memcpy(to, block->bytes, BLOCK_BYTES);
        return;
    }
    for (uint32_t word = first / 64; word * 64 < first + count; word++) {
        uint32_t low = word * 64 > first ? 0 : first % 64, from = word * 64 + low;
        uint32_t left = first + count - word * 64, high = left < 64 ? left : 64;
        copy_runs(to + (from - first), block->bytes + from,
                  block->stored[word] >> low & bits(0, high - low));
    }
}

void exec_stores_patch(const struct exec_stores *stores, uint64_t address, void *bytes,
                       uint32_t count)
{
    uint8_t *to = bytes;
    while (count > 0) {
        uint32_t offset = (uint32_t)(address % BLOCK_BYTES);
        uint32_t now = count < BLOCK_BYTES - offset ? count : BLOCK_BYTES - offset;
        uint32_t block = *find(stores, address - offset);
        if (block != NO_BLOCK)
            copy_stored(to, &stores->blocks[block], offset, now);
        to += now;
        address += now;
        count -= now;
    }
}

void exec_stores_publish(struct exec_stores *stores)
{
    for (uint32_t i = 0; i < stores->count; i++)
        copy_stored((uint8_t *)(uintptr_t)stores->blocks[i].base, &stores->blocks[i], 0,
                    BLOCK_BYTES);
    exec_stores_clear(stores);
}

void exec_stores_clear(struct exec_stores *stores)
{
    if (stores->count > stores->capacity / 8)
        memset(stores->table, 0xff, 2 * (size_t)stores->capacity * sizeof *stores->table);
    else
        for (uint32_t i = stores->count; i-- > 0;)
            *find(stores, stores->blocks[i].base) = NO_BLOCK;
    stores->count = 0;
    stores->low = UINT64_MAX;
    stores->high = 0;
}
