/*
 * First come, first served: data pass in the order of arrival. Banks that no older request waits
 * for are prepared meanwhile.
 */
#include "mem/dram/channel.h"

/* By arrival: some are sent ahead. */
static bool is_older(const struct mem_dram *dram, uint32_t a, uint32_t b)
{
    uint64_t a_ps = dram->queue[a].request->arrive_ps;
    uint64_t b_ps = dram->queue[b].request->arrive_ps;
    return a_ps < b_ps || (a_ps == b_ps && a < b);
}

/* Does an older request wait for the bank? */
static bool taken(const struct mem_dram *dram, uint32_t index)
{
    const struct dram_entry *entry = &dram->queue[index];
    for (uint32_t i = 0; i < dram->count; i++) {
        if (dram->queue[i].at == entry->at && is_older(dram, i, index)) {
            return true;
        }
    }
    return false;
}

static struct dram_choice fifo_pick(struct mem_dram *dram)
{
    struct dram_choice best = {.entry = DRAM_NONE, .clock = UINT64_MAX};
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < dram->count; i++) {
        oldest = is_older(dram, i, oldest) ? i : oldest;
    }
    for (uint32_t i = 0; i < dram->count; i++) {
        struct dram_choice choice = dram_command_of(dram, &dram->queue[i]);
        bool allowed = i == oldest || (!dram_is_column(choice.kind) && !taken(dram, i));
        if (allowed && (choice.clock < best.clock || (choice.clock == best.clock && i == oldest))) {
            best = choice;
            best.entry = i;
        }
    }
    return best;
}

const struct dram_sched_ops dram_sched_FIFO = {.pick = fifo_pick};
