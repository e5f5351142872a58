/* Growing a pool: each chunk is as many objects as fit into about 16 KiB, at least 16; the first is
 * 16, for an SM's pools are many, and most of them never need more. */
#include "mem/pool.h"

#include <stdlib.h>

#include "util/error.h"

struct pool_chunk {
    struct pool_chunk *next;
    max_align_t objects[];
};

void pool_init(struct pool *pool, size_t object_bytes)
{
    size_t unit = sizeof(max_align_t);
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
}

int pool_grow(struct pool *pool)
{
    size_t count = 16384 / pool->object_bytes;
    count = count < 16 || !pool->chunks ? 16 : count;
    struct pool_chunk *chunk = calloc(1, sizeof *chunk + count * pool->object_bytes);
    if (!chunk) {
        return error_memory();
    }
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    char *objects = (char *)chunk->objects;
    for (size_t i = count; i-- > 0;) {
        pool_put(pool, objects + i * pool->object_bytes);
    }
    return 0;
}
