/*
 * First come, first served: data pass in the order of arrival. Banks that no older request waits
 * for are prepared meanwhile.
 */
#include "mem/dram/channel.h"

static struct dram_entry *fifo_next(const struct mem_dram *dram, const struct dram_bank *bank)
{
    struct dram_entry *oldest = bank->first;
    (void)dram;
    for (struct dram_entry *e = oldest->next; e; e = e->next) {
        oldest = dram_is_older(e, oldest) ? e : oldest;
    }
    return oldest;
}

const struct dram_sched_ops dram_sched_FIFO = {.next = fifo_next, .in_order = true};
