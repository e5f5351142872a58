/* Reads under way by their bytes, a table of chains for each group. */
#include "mem/noc/shared_reads.h"

#include <stdlib.h>

#include "util/error.h"

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS };

int shared_reads_init(struct shared_reads *reads, uint32_t groups, uint32_t most)
{
    *reads = (struct shared_reads){.most = most};
    pool_init(&reads->pool, sizeof(struct shared_read));
    reads->bucket = calloc((size_t)groups * BUCKETS, sizeof(struct shared_read *));
    return reads->bucket ? 0 : error_memory();
}

void shared_reads_free(struct shared_reads *reads)
{
    free(reads->bucket);
    pool_free_all(&reads->pool);
}

static struct shared_read **bucket_of(const struct shared_reads *reads, uint32_t group,
                                      const struct mem_request *request)
{
    uint64_t mixed = request->paddr / NOC_SECTOR_BYTES * UINT64_C(0x9E3779B97F4A7C15);
    return &reads->bucket[(size_t)group * BUCKETS + (mixed >> (64 - BUCKET_BITS))];
}

/* On its way it takes out what is over. */
struct shared_read *shared_reads_find(struct shared_reads *reads, uint32_t group,
                                      const struct mem_request *request, uint64_t at_ps)
{
    struct shared_read **link = bucket_of(reads, group, request), *found = NULL;
    while (*link) {
        struct shared_read *read = *link;
        if (read->done_ps <= at_ps) {
            *link = read->next;
            pool_put(&reads->pool, read);
            continue;
        }
        bool is_same = read->paddr == request->paddr && read->bytes == request->bytes;
        found = is_same && (reads->most == 0 || read->requests < reads->most) ? read : found;
        link = &read->next;
    }
    return found;
}

struct shared_read *shared_reads_begin(struct shared_reads *reads, uint32_t group,
                                       const struct mem_request *request)
{
    struct shared_read **first = bucket_of(reads, group, request);
    struct shared_read *read = pool_take(&reads->pool);
    if (read) {
        *read = (struct shared_read){.next = *first,
                                     .paddr = request->paddr,
                                     .bytes = request->bytes,
                                     .requests = 1,
                                     .done_ps = ENGINE_NEVER};
        *first = read;
    }
    return read;
}
