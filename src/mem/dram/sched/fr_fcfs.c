/*
 * First ready, first come, first served (Rixner et al., ISCA 2000): the oldest request to an open
 * row; if there is none, the one whose bank can have its row open first; of equals the oldest.
 * Nothing bounds how long row hits may keep another request waiting but the queue's own length of
 * rows.
 */
#include "mem/dram/channel.h"

static uint32_t fr_fcfs_pick(const struct mem_dram *dram, uint64_t now_ps)
{
    uint32_t best = dram->count;
    uint64_t best_ps = UINT64_MAX;
    for (uint32_t i = 0; i < dram->count; i++) {
        const struct dram_entry *entry = &dram->queue[i];
        if (entry->arrive_ps > now_ps) {
            continue;
        }
        if (dram->banks[entry->bank].row == entry->row) {
            return i;
        }
        uint64_t ready_ps = dram_data_ready_ps(dram, entry, now_ps);
        if (ready_ps < best_ps) {
            best = i;
            best_ps = ready_ps;
        }
    }
    return best;
}

const struct dram_sched_ops dram_sched_FR_FCFS = {.pick = fr_fcfs_pick};
