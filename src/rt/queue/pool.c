/*
 * Memory in the order of streams. An address is known at once, so memory is taken when it is asked
 * for; it is given back when its stream comes to that, to its pool, which keeps as much as its
 * threshold says and gives the rest back to the device while no kernel runs. Memory that is kept
 * goes to the first request that it is large enough for, and back to the device when that has not
 * enough for another request.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/queue/state.h"
#include "util/error.h"

int rt_pool_create(struct rt *rt, struct rt_pool **out)
{
    struct rt_pool *pool = *out = calloc(1, sizeof *pool);
    if (!pool) {
        return error_memory();
    }
    rt_lock(rt);
    pool->rt = rt;
    pool->next = rt->queue->pools;
    rt->queue->pools = pool;
    rt_unlock(rt);
    return 0;
}

void pool_free(struct rt_pool *pool)
{
    vec_free(&pool->taken);
    vec_free(&pool->kept);
    free(pool);
}

/* Memory goes back when no kernel runs. */
static int give_back(struct rt_pool *pool, size_t place)
{
    struct vmem_range range = pool->kept.data[place];
    if (vec_push(&pool->rt->queue->frees, range.address) < 0) {
        return error_memory();
    }
    pool->kept.data[place] = pool->kept.data[--pool->kept.count];
    pool->info.reserved_bytes -= range.bytes;
    return 0;
}

static int trim(struct rt_pool *pool, uint64_t keep_bytes)
{
    int rc = 0;
    while (rc == 0 && pool->kept.count > 0 && pool->info.reserved_bytes > keep_bytes) {
        rc = give_back(pool, pool->kept.count - 1);
    }
    return rc;
}

int rt_pool_trim(struct rt_pool *pool, uint64_t keep_bytes)
{
    struct rt *rt = pool->rt;
    rt_lock(rt);
    int rc = trim(pool, keep_bytes);
    rt_unlock(rt);
    return rc;
}

bool pools_trim(struct queue *queue)
{
    bool some = false;
    for (struct rt_pool *pool = queue->pools; pool; pool = pool->next) {
        some |= pool->kept.count > 0;
        if (trim(pool, 0) < 0) {
            return false;
        }
    }
    return some;
}

int rt_pool_destroy(struct rt_pool *pool)
{
    struct rt *rt = pool->rt;
    rt_lock(rt);
    pool->gone = true;
    pool->info.threshold = 0;
    int rc = trim(pool, 0);
    rt_unlock(rt);
    return rc; /* itself goes with the queue: what is taken from it may outlive it */
}

struct rt_pool *rt_pool_default(struct rt *rt)
{
    rt_lock(rt);
    struct rt_pool *pool = rt->queue->default_pool;
    if (!pool && rt_pool_create(rt, &pool) == 0) {
        rt->queue->default_pool = pool;
    }
    rt_unlock(rt);
    return pool;
}

void rt_pool_set_threshold(struct rt_pool *pool, uint64_t bytes)
{
    rt_lock(pool->rt);
    pool->info.threshold = bytes;
    rt_unlock(pool->rt);
}

void rt_pool_info(const struct rt_pool *pool, struct rt_pool_info *out)
{
    rt_lock(pool->rt);
    *out = pool->info;
    rt_unlock(pool->rt);
}

void rt_pool_reset_high(struct rt_pool *pool)
{
    rt_lock(pool->rt);
    pool->info.used_high = pool->info.used_bytes;
    pool->info.reserved_high = pool->info.reserved_bytes;
    rt_unlock(pool->rt);
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int take(struct rt_pool *pool, struct vmem_range *out, uint64_t bytes)
{
    for (size_t i = 0; i < pool->kept.count; i++) {
        if (pool->kept.data[i].bytes >= bytes) {
            *out = pool->kept.data[i];
            pool->kept.data[i] = pool->kept.data[--pool->kept.count];
            return 0;
        }
    }
    out->bytes = (bytes + RT_ALIGN_BYTES - 1) / RT_ALIGN_BYTES * RT_ALIGN_BYTES;
    int rc = memory_take(pool->rt, &out->address, out->bytes, 1);
    pool->info.reserved_bytes += rc == 0 ? out->bytes : 0;
    pool->info.reserved_high = most(pool->info.reserved_high, pool->info.reserved_bytes);
    return rc;
}

int pool_take(struct rt_pool *pool, uint64_t *address, uint64_t bytes)
{
    struct vmem_range range;
    if (bytes == 0) {
        return error_set(SONDE_EINPUT, "an allocation of no bytes");
    }
    if (vec_reserve(&pool->taken, pool->taken.count + 1) < 0 ||
        vec_reserve(&pool->kept, pool->kept.count + pool->taken.count + 1) < 0) {
        return error_memory();
    }
    int rc = take(pool, &range, bytes);
    if (rc == 0) {
        pool->taken.data[pool->taken.count++] = range;
        pool->info.used_bytes += range.bytes;
        pool->info.used_high = most(pool->info.used_high, pool->info.used_bytes);
        *address = range.address;
        checking_pooled(pool->rt, range.address, bytes);
    }
    return rc;
}

bool pool_give(struct queue *queue, uint64_t address)
{
    for (struct rt_pool *pool = queue->pools; pool; pool = pool->next) {
        for (size_t i = 0; i < pool->taken.count; i++) {
            struct vmem_range range = pool->taken.data[i];
            if (range.address == address) {
                pool->taken.data[i] = pool->taken.data[--pool->taken.count];
                pool->info.used_bytes -= range.bytes;
                pool->kept.data[pool->kept.count++] = range;
                checking_freed(pool->rt, address, 0);
                /* What a checker watches is kept by nobody: late accesses are to be seen. */
                uint64_t keep = pool->rt->check ? 0 : pool->info.threshold;
                trim(pool, most(keep, pool->info.used_bytes));
                return true;
            }
        }
    }
    return false;
}

bool pool_keeps(const struct queue *queue, uint64_t address)
{
    for (const struct rt_pool *pool = queue->pools; pool; pool = pool->next) {
        for (size_t i = 0; i < pool->kept.count; i++) {
            if (pool->kept.data[i].address == address) {
                return true;
            }
        }
    }
    return false;
}
