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
 * A request that lies in several units has an entry for each. With banks_abreast so many banks take
 * units in turn until their rows are full, then as many others do:
 *
 *      bank = unit / subchannels % abreast + (full rows before it) % (banks / abreast) * abreast
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
#define DRAM_MAX_BANKS 1024

struct dram_entry;
struct dram_bank;
struct dram_subchannel;
struct dram_group;

/* A bank that has entries: which of them it serves next, with which command, and when as far as the
 * bank itself is concerned. What all banks share (buses, windows, groups) comes on top. */
struct dram_busy {
    struct dram_bank *bank;
    struct dram_subchannel *sub;
    const struct dram_group *group;
    struct dram_entry *next; /* NULL: the bank has none */
    enum mem_dram_command_kind kind;
    uint64_t own;                     /* clock */
    uint64_t arrive, order;           /* of `next` */
    struct dram_busy *before, *after; /* in the subchannel's list of this kind, by `order` */
    bool coming;                      /* in the channel's list of those */
};

/* What decides between commands where none may be overtaken: the clock, then that the row is open,
 * then the order of sending; the latter two in one word. */
struct dram_rank {
    uint64_t clock, order;
};
#define DRAM_ROW_COMMAND (UINT64_C(1) << 63)

struct dram_bank {
    uint64_t row;                         /* open, or DRAM_NO_ROW */
    uint64_t column, precharge, activate; /* the earliest next command of each kind */
    struct dram_entry *first, *last;      /* that wait for it, in the order of sending */
    uint32_t hits;                        /* those of them that want the open row */
    uint32_t place;                       /* in the list of banks that have any */
    uint32_t subchannel, group;
    struct dram_busy busy;
};

/* The earliest command of each kind but a refresh. */
struct dram_group {
    uint64_t earliest[MEM_DRAM_REFRESH]; /* MEM_DRAM_PRECHARGE: 0 */
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
    uint64_t earliest[MEM_DRAM_REFRESH]; /* of each kind, by all of these: dram_sum_up() */
    struct dram_busy *first[MEM_DRAM_REFRESH], *last[MEM_DRAM_REFRESH]; /* whose next is that */
    /* What comes first of all of its commands, as far as `settled`. What a bank waits for only gets
     * later but by a look at it, so this stays so until its own clock does. */
    bool settled;
    struct dram_busy *best; /* NULL: there is none */
    struct dram_rank rank;
};

/* What waits in the queue: a request, or what one wants of one unit. Its request's arrive_ps is
 * when it came. */
struct dram_entry {
    struct mem_request *request;
    struct dram_bank *at;
    struct dram_entry *next;          /* of the bank; or in the list of free ones */
    struct dram_entry *older, *newer; /* of the channel */
    struct dram_entry *beside;        /* what else waits of its request, in a ring; NULL: nothing */
    uint64_t end;                     /* of the data of what was beside it; clock */
    uint64_t order;                   /* of sending, counted */
    uint64_t arrive;                  /* not before */
    uint64_t row;
    uint16_t subchannel, bank;
    uint16_t bursts; /* left to transfer */
    uint16_t reads;  /* the first of them, for a write: of bursts that it covers in part */
    bool write, activated;
};

static inline bool dram_writes_next(const struct dram_entry *entry)
{
    return entry->write && entry->reads == 0;
}

/* A command for an entry (a refresh: for none), and the clock at which it may be given. */
struct dram_choice {
    struct dram_entry *entry;
    enum mem_dram_command_kind kind;
    uint64_t clock; /* UINT64_MAX: there is nothing to do */
};

/* The specification in full: what was 0 for something else is resolved. */
struct dram_timing {
    uint32_t subchannels, groups, burst;
    uint32_t cl, wl, rcd, rp, ras, rc, rrd, rrd_l, faw, ccd_s, ccd_l, ccd_wr, rtp, wr, wtr, rtw;
    uint32_t refi, rfc;
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
    uint32_t refresh_bank;        /* by bank: which is the next */
    uint64_t pending_until_ps;    /* counted as pending so far */
    uint64_t sent_until;          /* data were on a bus, as far as counted; clock */

    uint32_t count;
    struct dram_entry *entries, *free;  /* queue_entries of them */
    struct dram_entry *oldest, *newest; /* of those in the queue */
    struct dram_busy **busy;            /* banks that have entries, in no order */
    uint32_t busy_count;
    uint64_t arrived;          /* from this clock on, what the banks serve next has come */
    struct dram_busy **coming; /* all whose next had not come when it was looked at; others, too */
    uint32_t coming_count;
    uint64_t sent;
    struct waiters space;
    bool refused;            /* a request, for want of places, since some became free */
    struct dram_choice next; /* what will be done, if nothing comes in between */
    uint64_t event_ps;       /* when; ENGINE_NEVER: nothing is scheduled */
    uint64_t old_event_ps;   /* of another event that is on its way, from before a change of mind */

    void (*note)(void *ctx, const struct mem_dram_command *command);
    void *note_ctx;
};

struct dram_sched_ops {
    /* Which of a bank's entries it serves next; there is one. What arrives after dram->now is
     * not known yet, but may be all there is. */
    struct dram_entry *(*next)(const struct mem_dram *dram, const struct dram_bank *bank);
    bool in_order; /* data pass in the order of arrival */
};

/* Has `late` come so much later than `early` that it must not go before it any more? */
static inline bool dram_may_not_overtake(const struct mem_dram *dram, const struct dram_entry *late,
                                         const struct dram_entry *early)
{
    uint32_t most = dram->spec->overtakes;
    return most > 0 && early->arrive <= dram->now && late->order > early->order + most;
}

/* By arrival: some are sent ahead. */
static inline bool dram_is_older(const struct dram_entry *a, const struct dram_entry *b)
{
    uint64_t a_ps = a->request->arrive_ps, b_ps = b->request->arrive_ps;
    return a_ps < b_ps || (a_ps == b_ps && a->order < b->order);
}

static inline bool dram_is_column(enum mem_dram_command_kind kind)
{
    return kind == MEM_DRAM_READ || kind == MEM_DRAM_WRITE;
}

static inline void dram_hold(uint64_t *earliest, uint64_t clock)
{
    *earliest = *earliest < clock ? clock : *earliest;
}

/* What all banks of a subchannel share, for the commands that come next. */
static inline void dram_sum_up(const struct mem_dram *dram, struct dram_subchannel *sub)
{
    uint64_t row = *sub->row_bus, column = *sub->column_bus;
    dram_hold(&row, dram->now);
    dram_hold(&column, dram->now);
    dram_hold(&column, sub->column);
    uint64_t activate = row;
    dram_hold(&activate, sub->activate);
    dram_hold(&activate, sub->window[sub->oldest]);
    sub->earliest[MEM_DRAM_PRECHARGE] = row;
    sub->earliest[MEM_DRAM_ACTIVATE] = activate;
    sub->earliest[MEM_DRAM_READ] = sub->earliest[MEM_DRAM_WRITE] = column;
    dram_hold(&sub->earliest[MEM_DRAM_READ], sub->read);
    dram_hold(&sub->earliest[MEM_DRAM_WRITE], sub->write);
}

/* The earliest clock for what a bank does next: asked of many banks for each command, when their
 * subchannels have been summed up. */
static inline uint64_t dram_earliest(const struct dram_busy *busy)
{
    uint64_t clock = busy->own;
    dram_hold(&clock, busy->sub->earliest[busy->kind]);
    dram_hold(&clock, busy->group->earliest[busy->kind]);
    return clock;
}

/* timing.c: the constraints between commands */
int dram_banks_create(struct mem_dram *dram); /* SONDE_ENOMEM */
void dram_banks_destroy(struct mem_dram *dram);
/* Looks at a bank again, whose entries or state have changed. False: it serves next what it did,
 * and waits for as much. */
bool dram_look(struct mem_dram *dram, struct dram_bank *bank);
/* Takes a bank that has no entries any more out of its subchannel's lists. */
void dram_rest(struct dram_bank *bank);
/* Gives it. Returns, for a column command, the clock at which its data end. */
uint64_t dram_give(struct mem_dram *dram, const struct dram_entry *entry,
                   enum mem_dram_command_kind kind, uint64_t clock);
void dram_close_page(struct mem_dram *dram, const struct dram_entry *entry);
void dram_refresh(struct mem_dram *dram, uint64_t clock);

/* choose.c: which command comes next */
struct dram_choice dram_choose(struct mem_dram *dram);
/* What was chosen stays so, now that a bank has been looked at again: it is another, and not
 * sooner. */
bool dram_changes_nothing(const struct mem_dram *dram, const struct dram_bank *bank);
/* A bank serves something else next, for a request that was sent to it. */
void dram_offer(const struct mem_dram *dram, struct dram_busy *busy);
/* What all banks wait for may be sooner or later than it was. */
void dram_unsettle_all(struct mem_dram *dram);

#define DRAM_SCHED(id, text, doc) extern const struct dram_sched_ops dram_sched_##id;
#include "mem/dram/sched/sched.def"
#undef DRAM_SCHED

#endif
