/*
 * Growing a pool: each chunk is as many objects as fit into about 16 KiB, at least 16; the first is
 * 16, for an SM's pools are many, and most of them never need more. Objects are touched when they
 * are taken for the first time, not before. One of a line of the host's cache or more begins with
 * one.
 */
#include "mem/pool.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

enum { HOST_LINE_BYTES = 64 };

struct pool_chunk {
    alignas(HOST_LINE_BYTES) struct pool_chunk *next;
    alignas(HOST_LINE_BYTES) unsigned char objects[];
};

void pool_init(struct pool *pool, size_t object_bytes)
{
    size_t unit = object_bytes < HOST_LINE_BYTES ? sizeof(max_align_t) : HOST_LINE_BYTES;
    *pool = (struct pool){.object_bytes = (object_bytes + unit - 1) / unit * unit};
}

void pool_free_all(struct pool *pool)
{
    while (pool->chunks) {
        struct pool_chunk *next = pool->chunks->next;
        free(pool->chunks);
        pool->chunks = next;
    }
    pool->free = NULL;
    pool->fresh = pool->end = NULL;
}

static bool pool_grow(struct pool *pool)
{
    size_t count = 16384 / pool->object_bytes;
    count = count < 16 || !pool->chunks ? 16 : count;
    size_t objects = count * pool->object_bytes, bytes = sizeof(struct pool_chunk) + objects;
    bytes = (bytes + HOST_LINE_BYTES - 1) / HOST_LINE_BYTES * HOST_LINE_BYTES;
    struct pool_chunk *chunk = aligned_alloc(HOST_LINE_BYTES, bytes);
    if (!chunk) {
        error_memory();
        return false;
    }
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    pool->fresh = chunk->objects;
    pool->end = chunk->objects + objects;
    return true;
}

void *pool_take_fresh(struct pool *pool)
{
    if (pool->fresh == pool->end && !pool_grow(pool)) {
        return NULL;
    }
    void *object = pool->fresh;
    pool->fresh += pool->object_bytes;
    return memset(object, 0, pool->object_bytes);
}
