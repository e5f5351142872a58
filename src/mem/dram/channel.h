/*
 * A DRAM channel's state, as its schedulers see it. Times are counted in clocks of the memory.
 *
 *      channel -- queue -+- subchannel 0 --+- bank 0 (group 0)
 *                        |   data bus      +- bank 1 (group 1) ...
 *                        +- subchannel 1 ...
 *
 *      unit       = channel address / (bank interleave, or row)
 *      subchannel = unit % subchannels,  bank = unit / subchannels % banks,  the rest is the row
 *
 * With bank_hash the bank is moved on by the row's number, so that addresses that are multiples of
 * a power of two apart do not all meet in one bank. The channel address is the physical address
 * with the other channels' shares taken out: (address / (interleave * channels)) * interleave +
 * address % interleave.
 */
#ifndef SONDE_MEM_DRAM_CHANNEL_H
#define SONDE_MEM_DRAM_CHANNEL_H

#include "mem/queue.h"

#define DRAM_NO_ROW UINT64_MAX
#define DRAM_FAW_ACTIVATES 4

struct dram_bank {
    uint64_t row;                         /* open, or DRAM_NO_ROW */
    uint64_t column, precharge, activate; /* the earliest next command of each kind */
    uint32_t hits;                        /* requests in the queue that want the open row */
    uint64_t seen;                        /* a scheduler's mark, see mem_dram.turn */
};

struct dram_group {
    uint64_t activate, column;
};

struct dram_subchannel {
    struct dram_bank *banks;
    struct dram_group *groups;
    uint64_t *row_bus, *column_bus;      /* free from here on; shared as the bus's kind says */
    uint64_t bus;                        /* its own */
    uint64_t activate, column;           /* of any bank */
    uint64_t read, write;                /* as the data bus and its turnaround allow */
    uint64_t window[DRAM_FAW_ACTIVATES]; /* the last activates, and t_faw */
    uint32_t oldest;
};

/* What waits in the queue, oldest first. Its request's arrive_ps is when it came. */
struct dram_entry {
    struct mem_request *request;
    struct dram_bank *at;
    uint64_t arrive; /* not before */
    uint64_t row;
    uint16_t subchannel, bank;
    uint16_t bursts; /* left to transfer */
    bool write, activated;
};

/* A command for an entry (for none: a refresh), and the clock at which it may be given. */
struct dram_choice {
    uint32_t entry; /* index in the queue; DRAM_NONE */
    enum mem_dram_command_kind kind;
    uint64_t clock; /* UINT64_MAX: there is nothing to do */
};

#define DRAM_NONE UINT32_MAX

/* The specification in full: what was 0 for something else is resolved. */
struct dram_timing {
    uint32_t subchannels, groups, burst;
    uint32_t cl, wl, rcd, rp, ras, rc, rrd, rrd_l, faw, ccd_s, ccd_l, rtp, wr, wtr, rtw, refi, rfc;
};

struct mem_dram {
    const struct dram_spec *spec;
    struct dram_timing timing;
    struct engine *engine;
    const struct engine_clock *core_clock;
    struct engine_clock clock; /* of memory commands */
    uint32_t source;
    const struct dram_sched_ops *sched;
    struct mem_dram_stats stats;

    struct dram_subchannel *subchannels;
    uint64_t row_bus, column_bus; /* of a SPLIT one */
    uint64_t now;                 /* no command before */
    uint64_t refresh;             /* when the next is due, UINT64_MAX: never */
    uint64_t pending_until_ps;    /* counted as pending so far */

    uint32_t count;
    struct dram_entry *queue;
    uint64_t turn; /* of choosing, counted: what tells this turn's marks from older ones */
    struct waiters space;
    struct dram_choice next; /* what will be done, if nothing comes in between */
    uint64_t event_ps;       /* when; ENGINE_NEVER: nothing is scheduled */
    uint64_t old_event_ps;   /* of another event that is on its way, from before a change of mind */

    void (*note)(void *ctx, const struct mem_dram_command *command);
    void *note_ctx;
};

struct dram_sched_ops {
    /* Of the commands that entries of the queue need next, the one to give, and when. It may mark
     * banks with the turn. */
    struct dram_choice (*pick)(struct mem_dram *dram);
};

static inline bool dram_is_column(enum mem_dram_command_kind kind)
{
    return kind == MEM_DRAM_READ || kind == MEM_DRAM_WRITE;
}

/* timing.c: the constraints between commands */
int dram_banks_create(struct mem_dram *dram); /* SONDE_ENOMEM */
void dram_banks_destroy(struct mem_dram *dram);
/* The command that the entry needs next, and the earliest clock for it; `entry` is left open. */
struct dram_choice dram_command_of(const struct mem_dram *dram, const struct dram_entry *entry);
/* Gives it. Returns, for a column command, the clock at which its data end. */
uint64_t dram_give(struct mem_dram *dram, const struct dram_entry *entry,
                   enum mem_dram_command_kind kind, uint64_t clock);
void dram_close_page(struct mem_dram *dram, const struct dram_entry *entry);
void dram_refresh(struct mem_dram *dram, uint64_t clock);

#define DRAM_SCHED(id, text, doc) extern const struct dram_sched_ops dram_sched_##id;
#include "mem/dram/sched/sched.def"
#undef DRAM_SCHED

#endif
