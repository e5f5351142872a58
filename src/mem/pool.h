/*
 * Objects of one size, taken and given back in any order. Memory grows in chunks that stay until
 * the end, so pointers are stable and the steady state allocates nothing. An object that is taken
 * again has the bytes with which it was put back, but for the first word.
 */
#ifndef SONDE_MEM_POOL_H
#define SONDE_MEM_POOL_H

#include <stddef.h>

struct pool_chunk;

struct pool {
    size_t object_bytes;
    void *free; /* each free object's first word points at the next */
    struct pool_chunk *chunks;
};

void pool_init(struct pool *pool, size_t object_bytes);
void pool_free_all(struct pool *pool);

/* Adds a chunk to the free objects; SONDE_ENOMEM. */
int pool_grow(struct pool *pool);

/* NULL when memory is out. */
static inline void *pool_take(struct pool *pool)
{
    if (!pool->free && pool_grow(pool) < 0) {
        return NULL;
    }
    void *object = pool->free;
    pool->free = *(void **)object;
    return object;
}

static inline void pool_put(struct pool *pool, void *object)
{
    *(void **)object = pool->free;
    pool->free = object;
}

#endif
