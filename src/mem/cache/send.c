/* What a cache sends on: requests wait here, in their order, while downstream refuses them. */
#include "mem/cache/state.h"

static void on_space_downstream(void *ctx, uint64_t arg);

static void flush_out(struct mem_cache *cache)
{
    struct mem_request *head;
    while ((head = cache->out.head)) {
        struct mem_request *next = head->next; /* belongs to whoever accepts it */
        if (!cache->downstream.send(cache->downstream.self, head)) {
            cache->downstream.when_space(cache->downstream.self, on_space_downstream, cache, 0);
            return;
        }
        cache->out.head = next;
    }
}

static void on_space_downstream(void *ctx, uint64_t arg)
{
    struct mem_cache *cache = ctx;
    (void)arg;
    flush_out(cache);
    if (!cache->out.head) {
        cache->resume(cache);
    }
}

void cache_send_out(struct mem_cache *cache, struct mem_request *request, uint64_t leave_ps)
{
    bool waiting = cache->out.head != NULL;
    request->arrive_ps = leave_ps;
    request_list_push(&cache->out, request);
    if (!waiting) {
        flush_out(cache);
    }
}
