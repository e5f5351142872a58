/*
 * First ready, first come, first served (Rixner et al., ISCA 2000): the command that may be given
 * first; of equals one of a request whose row is open, then that of the oldest. A row stays open as
 * long as a request in the queue wants it, and those that want it are served in order. So that a
 * stream of row hits cannot keep a request waiting for ever (threads that spin on a word, say),
 * only so many later ones go before it.
 */
#include "mem/dram/channel.h"

static struct dram_entry *fr_fcfs_next(const struct mem_dram *dram, const struct dram_bank *bank)
{
    struct dram_entry *next = NULL;
    for (struct dram_entry *e = bank->first; e; e = e->next) {
        if (bank->hits > 0 && bank->row != e->row) {
            continue;
        }
        if (e->arrive <= dram->now) {
            return dram_may_not_overtake(dram, e, bank->first) ? bank->first : e;
        }
        next = next ? next : e;
    }
    return next;
}

const struct dram_sched_ops dram_sched_FR_FCFS = {.next = fr_fcfs_next};
