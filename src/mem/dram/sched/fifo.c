/* First come, first served. */
#include "mem/dram/channel.h"

static uint32_t fifo_pick(const struct mem_dram *dram, uint64_t now_ps)
{
    for (uint32_t i = 0; i < dram->count; i++) {
        if (dram->queue[i].arrive_ps <= now_ps) {
            return i;
        }
    }
    return dram->count;
}

const struct dram_sched_ops dram_sched_FIFO = {.pick = fifo_pick};
