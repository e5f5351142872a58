/*
 * Merging of reads of different warps (inter-warp coalescing: Bakhoda et al., ISPASS 2009, sections
 * 2.2.3 and 4.8). A table holds the reads that the load/store unit has sent and that are not
 * answered; a later one whose bytes lie in one of them is not sent, but answered with it. It takes
 * its turn to be sent all the same: only traffic is saved. A read that finds the table full is sent
 * and not remembered.
 */
#ifndef SONDE_CORE_MEMORY_MERGE_H
#define SONDE_CORE_MEMORY_MERGE_H

#include <stdbool.h>
#include <stdint.h>

struct sm;
struct lsu_request;

#define MERGE_BUCKETS 64

struct merge_entry {
    struct lsu_request *sent, *joined, **end; /* those that wait for it, in order */
    struct merge_entry *next;                 /* in a bucket, or in the list of free ones */
};

struct merge_table {
    struct merge_entry *entries, *free; /* NULL: there is no table */
    struct merge_entry *bucket[MERGE_BUCKETS];
};

int merge_init(struct sm *sm); /* SONDE_ENOMEM */
void merge_free(struct sm *sm);
/*
 * A request that is about to be sent: true if it waits for another one's answer instead. Else it is
 * remembered as one that others may join, if there is a place; where the port refuses it, it must
 * be forgotten again.
 */
bool merge_join(struct sm *sm, struct lsu_request *request);
void merge_forget(struct sm *sm, struct lsu_request *request);

#endif
