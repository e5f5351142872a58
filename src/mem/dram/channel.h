/*
 * A DRAM channel's state, as its schedulers see it.
 *
 *      row chunk = channel address / row_bytes         successive chunks lie in successive banks
 *      bank = chunk % banks,  row = chunk / banks,  column = channel address % row_bytes
 *
 * The channel address is the physical address with the other channels' shares taken out:
 * (address / (interleave * channels)) * interleave + address % interleave.
 */
#ifndef SONDE_MEM_DRAM_CHANNEL_H
#define SONDE_MEM_DRAM_CHANNEL_H

#include "mem/queue.h"
#include "mem/timeline.h"

#define DRAM_NO_ROW UINT64_MAX

struct dram_bank {
    uint64_t row;          /* open, or DRAM_NO_ROW */
    uint64_t column_ps;    /* earliest next read or write of the open row */
    uint64_t precharge_ps; /* earliest next precharge */
    uint64_t activate_ps;  /* earliest next activate */
};

/* What waits in the queue, oldest first. */
struct dram_entry {
    struct mem_request *request;
    uint64_t arrive_ps;
    uint64_t row;
    uint32_t bank;
};

struct mem_dram {
    const struct dram_spec *spec;
    struct engine *engine;
    const struct engine_clock *core_clock;
    struct engine_clock clock; /* of memory commands */
    uint32_t source;
    const struct dram_sched_ops *sched;
    struct mem_dram_stats stats;

    struct dram_bank *banks;
    uint64_t rank_activate_ps; /* earliest next activate in any bank (tRRD) */
    uint64_t bus_free_ps;
    uint64_t pending_until_ps; /* counted as pending so far */

    uint32_t count;
    struct dram_entry *queue;
    struct waiters space;
    uint64_t decide_ps;  /* when the next decision is scheduled; ENGINE_NEVER: none */
    uint64_t decided_ps; /* no further decision before */
};

struct dram_sched_ops {
    /*
     * The index in the queue of the entry to serve next, among those that have arrived; count if
     * none.
     */
    uint32_t (*pick)(const struct mem_dram *dram, uint64_t now_ps);
};

/* When the data of an entry would start on the bus if it was decided now, the bus left aside. */
uint64_t dram_data_ready_ps(const struct mem_dram *dram, const struct dram_entry *entry,
                            uint64_t now_ps);

#define DRAM_SCHED(id, text, doc) extern const struct dram_sched_ops dram_sched_##id;
#include "mem/dram/sched/sched.def"
#undef DRAM_SCHED

#endif
