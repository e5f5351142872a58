/*
 * First ready, first come, first served (Rixner et al., ISCA 2000): the command that may be given
 * first; of equals one of a request whose row is open, then that of the oldest. A row stays open as
 * long as a request in the queue wants it, and those that want it are served in order. Nothing
 * bounds how long row hits may keep another request waiting but the queue's own length of rows.
 */
#include "mem/dram/channel.h"

/* Only the oldest of those that a bank could serve next has a say: it marks the bank. */
static struct dram_choice fr_fcfs_pick(struct mem_dram *dram)
{
    struct dram_choice best = {.entry = DRAM_NONE, .clock = UINT64_MAX};
    for (uint32_t i = 0; i < dram->count; i++) {
        const struct dram_entry *entry = &dram->queue[i];
        struct dram_bank *bank = entry->at;
        if (bank->seen == dram->turn || (bank->hits > 0 && bank->row != entry->row)) {
            continue;
        }
        if (entry->arrive <= dram->now) {
            bank->seen = dram->turn;
        }
        struct dram_choice choice = dram_command_of(dram, entry);
        if (choice.clock < best.clock ||
            (choice.clock == best.clock && dram_is_column(choice.kind) &&
             !dram_is_column(best.kind))) {
            best = choice;
            best.entry = i;
        }
    }
    return best;
}

const struct dram_sched_ops dram_sched_FR_FCFS = {.pick = fr_fcfs_pick};
