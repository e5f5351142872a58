/*
 * The table of merge.h: found by the segment of the coalescer, in which a request always lies. The
 * answer to a request that others have joined passes by here, before it takes its usual way.
 */
#include "core/memory/merge.h"

#include <stdlib.h>

#include "core/state.h"
#include "util/error.h"

int merge_init(struct sm *sm)
{
    struct merge_table *table = &sm->lsu.merge;
    uint32_t entries = sm->spec->coalesce.inter_warp_entries;
    if (entries == 0) {
        return 0;
    }
    table->entries = calloc(entries, sizeof *table->entries);
    if (!table->entries) {
        return error_memory();
    }
    for (uint32_t i = entries; i-- > 0;) {
        table->entries[i].next = table->free;
        table->free = &table->entries[i];
    }
    return 0;
}

void merge_free(struct sm *sm)
{
    free(sm->lsu.merge.entries);
}

static struct merge_entry **bucket_of(struct sm *sm, const struct lsu_request *request)
{
    uint64_t segment = request->mem.vaddr / sm->spec->coalesce.segment_bytes;
    uint64_t mixed = segment * UINT64_C(0x9e3779b97f4a7c15);
    return &sm->lsu.merge.bucket[mixed >> 32 & (MERGE_BUCKETS - 1)];
}

/* Plain reads of the load/store unit: who asks for the newest value wants a request of his own. */
static bool is_mergeable(const struct lsu_request *request)
{
    const struct lsu_access *access = request->owner;
    return access->pipe == PIPE_LSU && request->mem.kind == MEM_READ &&
           !access->detail->access.is_volatile && !access->info->acquires;
}

/* The one that has this request as its own; it is in its bucket. */
static struct merge_entry *take_out(struct sm *sm, const struct lsu_request *request)
{
    struct merge_entry **link = bucket_of(sm, request);
    while ((*link)->sent != request) {
        link = &(*link)->next;
    }
    struct merge_entry *entry = *link;
    *link = entry->next;
    entry->next = sm->lsu.merge.free;
    sm->lsu.merge.free = entry;
    return entry;
}

static void on_reply(void *ctx, uint64_t arg)
{
    const struct lsu_access *access = ctx;
    struct lsu_request *sent = (struct lsu_request *)(uintptr_t)arg;
    struct lsu_request *joined = take_out(access->sm, sent)->joined;
    access->completion->reply(ctx, arg);
    while (joined) {
        struct lsu_request *next = joined->next_joined; /* the reply frees it */
        joined->owner->completion->reply(joined->owner, (uintptr_t)joined);
        joined = next;
    }
}

static void remember(struct sm *sm, struct lsu_request *request)
{
    struct merge_entry *entry = sm->lsu.merge.free;
    if (entry) {
        sm->lsu.merge.free = entry->next;
        struct merge_entry **bucket = bucket_of(sm, request);
        *entry = (struct merge_entry){.sent = request, .next = *bucket};
        entry->end = &entry->joined;
        *bucket = entry;
        request->mem.reply = on_reply;
    }
}

bool merge_join(struct sm *sm, struct lsu_request *request)
{
    if (!is_mergeable(request)) {
        return false;
    }
    uint64_t first = request->mem.vaddr, end = first + request->mem.bytes;
    for (struct merge_entry *e = *bucket_of(sm, request); e; e = e->next) {
        const struct mem_request *sent = &e->sent->mem;
        if (sent->vaddr <= first && end <= sent->vaddr + sent->bytes) {
            request->next_joined = NULL;
            *e->end = request;
            e->end = &request->next_joined;
            sm->stats.merged_requests++;
            return true;
        }
    }
    remember(sm, request);
    return false;
}

void merge_forget(struct sm *sm, struct lsu_request *request)
{
    if (request->mem.reply == on_reply) {
        take_out(sm, request);
    }
}
