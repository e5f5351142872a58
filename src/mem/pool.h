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
    void *free;                 /* each free object's first word points at the next */
    unsigned char *fresh, *end; /* of the last chunk: never taken yet */
    struct pool_chunk *chunks;
};

void pool_init(struct pool *pool, size_t object_bytes);
void pool_free_all(struct pool *pool);

/* One that was never taken, all its bytes 0; NULL when memory is out. */
void *pool_take_fresh(struct pool *pool);

/* NULL when memory is out. */
static inline void *pool_take(struct pool *pool)
{
    void *object = pool->free;
    if (!object) {
        return pool_take_fresh(pool);
    }
    pool->free = *(void **)object;
    return object;
}

static inline void pool_put(struct pool *pool, void *object)
{
    *(void **)object = pool->free;
    pool->free = object;
}

#endif
