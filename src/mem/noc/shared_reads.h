/*
 * Reads that go as one: sources of a group that ask for the same bytes while one of them already
 * has them under way wait for its answer. Only that one travels on. What is under way is kept from
 * its begin until its answer is there.
 */
#ifndef SONDE_MEM_NOC_SHARED_READS_H
#define SONDE_MEM_NOC_SHARED_READS_H

#include "mem/mem.h"
#include "mem/pool.h"
#include "mem/queue.h"

struct shared_read {
    struct shared_read *next; /* of the bucket */
    uint64_t paddr;
    uint32_t bytes;
    uint32_t requests; /* that have gone as one */
    uint64_t done_ps;  /* ENGINE_NEVER: that is not known yet */
    enum mem_level served_at;
    struct request_list waiting;
};

struct shared_reads {
    struct shared_read **bucket; /* of all groups, one group after the other */
    uint32_t most;               /* requests that may go as one; 0: any number */
    struct pool pool;
};

/* `groups` > 0. SONDE_ENOMEM. To be freed also after an error. */
int shared_reads_init(struct shared_reads *reads, uint32_t groups, uint32_t most);
void shared_reads_free(struct shared_reads *reads);

/* One whose answer is not there yet at `at_ps`, and that one more may join. NULL: there is none. */
struct shared_read *shared_reads_find(struct shared_reads *reads, uint32_t group,
                                      const struct mem_request *request, uint64_t at_ps);
/* The request is the first. NULL: memory is out. */
struct shared_read *shared_reads_begin(struct shared_reads *reads, uint32_t group,
                                       const struct mem_request *request);

#endif
