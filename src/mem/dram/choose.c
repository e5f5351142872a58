/*
 * Which command a channel gives next: the one that may be given first; of those of one clock that
 * of an open row, then that of the oldest request.
 *
 * Each subchannel knows what comes first of its own: all that a bank waits for only gets later,
 * until it is looked at again. So a command makes its own subchannel think and no other, and a
 * request is held against what came first before. Two cases are asked bank by bank for each
 * command: data that pass in order, and requests of which one is so late that it may not overtake
 * another. There "comes first" is no order any more, and which of three is first can depend on the
 * order of asking.
 */
#include <assert.h>

#include "mem/dram/channel.h"

/* Of two commands at one clock: that of an open row comes first, then that of the older entry. */
static inline bool wins_tie(const struct mem_dram *dram, enum mem_dram_command_kind a,
                            const struct dram_entry *of_a, enum mem_dram_command_kind b,
                            const struct dram_entry *of_b, bool older)
{
    bool column = dram_is_column(a);
    if (column == dram_is_column(b)) {
        return older;
    }
    return dram_may_not_overtake(dram, older ? of_b : of_a, older ? of_a : of_b) ? older : column;
}

/* Does the command come first? */
static bool is_better(const struct mem_dram *dram, const struct dram_choice *a,
                      const struct dram_choice *b)
{
    return a->clock != b->clock ? a->clock < b->clock
                                : wins_tie(dram, a->kind, a->entry, b->kind, b->entry,
                                           a->entry->order < b->entry->order);
}

static const struct dram_entry *oldest_of_all(const struct mem_dram *dram)
{
    const struct dram_entry *oldest = dram->busy[0]->next;
    for (uint32_t i = 1; i < dram->busy_count; i++) {
        const struct dram_entry *entry = dram->busy[i]->next;
        oldest = dram_is_older(entry, oldest) ? entry : oldest;
    }
    return oldest;
}

/* Most ties are of commands of one kind, which their order decides. */
static inline bool comes_first(const struct mem_dram *dram, const struct dram_busy *busy,
                               const struct dram_busy *best)
{
    bool older = busy->order < best->order;
    return busy->kind == best->kind
               ? older
               : wins_tie(dram, busy->kind, busy->next, best->kind, best->next, older);
}

/* The first of two that wait for a command; `best` may be none yet. */
static inline bool is_first(const struct mem_dram *dram, const struct dram_busy *busy,
                            uint64_t clock, const struct dram_busy *best, uint64_t best_clock)
{
    return clock < best_clock || (clock == best_clock && best && comes_first(dram, busy, best));
}

/* Of all banks, one after the other: what some serve next has not come yet, or data pass in order.
 * (Where one of equals has not come, which is first can depend on the order of asking.) */
static const struct dram_busy *first_of_all(struct mem_dram *dram, uint64_t *best_clock)
{
    const struct dram_busy *best = NULL;
    const struct dram_entry *oldest = dram->sched->in_order ? oldest_of_all(dram) : NULL;
    for (uint32_t i = 0; i < dram->busy_count; i++) {
        const struct dram_busy *busy = dram->busy[i];
        if (busy->arrive > dram->now) {
            dram_look(dram, busy->bank); /* another one may have come */
        }
        if (busy->own > *best_clock ||
            (oldest && busy->next != oldest && dram_is_column(busy->kind))) {
            continue;
        }
        uint64_t clock = dram_earliest(busy);
        if (is_first(dram, busy, clock, best, *best_clock)) {
            *best_clock = clock;
            best = busy;
        }
    }
    return best;
}

/* The same where all have come. A list has its oldest first: once one waits for nothing but what
 * its subchannel shares, none after it comes before it. */
static const struct dram_busy *first_of_lists(const struct mem_dram *dram, uint64_t *best_clock)
{
    const struct dram_busy *best = NULL;
    const struct dram_subchannel *end = dram->subchannels + dram->timing.subchannels;
    for (const struct dram_subchannel *sub = dram->subchannels; sub < end; sub++) {
        for (uint32_t kind = 0; kind < MEM_DRAM_REFRESH; kind++) {
            uint64_t clock = UINT64_MAX, earliest = sub->earliest[kind];
            const struct dram_busy *busy = earliest > *best_clock ? NULL : sub->first[kind];
            for (; busy && clock != earliest; busy = busy->after) {
                clock = dram_earliest(busy);
                if (is_first(dram, busy, clock, best, *best_clock)) {
                    *best_clock = clock;
                    best = busy;
                }
            }
        }
    }
    return best;
}

/* Of two entries that wait, may the later one have to wait for the earlier one's sake? Mostly not;
 * then what comes first is the same in whatever order banks are asked. */
static inline bool overtaking_ends(const struct mem_dram *dram)
{
    uint32_t most = dram->spec->overtakes;
    return most > 0 && dram->newest->order - dram->oldest->order > most;
}

static inline struct dram_rank rank_of(const struct dram_busy *busy, uint64_t clock)
{
    uint64_t order = dram_is_column(busy->kind) ? busy->order : busy->order | DRAM_ROW_COMMAND;
    return (struct dram_rank){clock, order};
}

static inline bool ranks_before(struct dram_rank a, struct dram_rank b)
{
    return ((unsigned __int128)a.clock << 64 | a.order) <
           ((unsigned __int128)b.clock << 64 | b.order);
}

/* A list has its oldest first: once one waits for nothing but what its subchannel shares, none
 * after it comes before it. */
static inline void settle_kind(struct dram_subchannel *sub, enum mem_dram_command_kind kind)
{
    uint64_t clock = UINT64_MAX, earliest = sub->earliest[kind];
    for (struct dram_busy *busy = sub->first[kind]; busy && clock != earliest; busy = busy->after) {
        if (!ranks_before(rank_of(busy, earliest), sub->rank)) {
            return;
        }
        clock = dram_earliest(busy);
        struct dram_rank rank = rank_of(busy, clock);
        if (ranks_before(rank, sub->rank)) {
            sub->rank = rank;
            sub->best = busy;
        }
    }
}

static void settle(const struct mem_dram *dram, struct dram_subchannel *sub)
{
    dram_sum_up(dram, sub);
    sub->settled = true;
    sub->best = NULL;
    sub->rank = (struct dram_rank){UINT64_MAX, UINT64_MAX};
    settle_kind(sub, MEM_DRAM_READ);
    settle_kind(sub, MEM_DRAM_WRITE);
    settle_kind(sub, MEM_DRAM_ACTIVATE);
    settle_kind(sub, MEM_DRAM_PRECHARGE);
}

/* Its best comes as early as it did, whatever another subchannel has put on a bus of both. */
static inline bool is_settled(const struct mem_dram *dram, const struct dram_subchannel *sub)
{
    if (!sub->settled || !sub->best) {
        return sub->settled;
    }
    uint64_t bus = dram_is_column(sub->best->kind) ? *sub->column_bus : *sub->row_bus;
    return sub->rank.clock >= bus && sub->rank.clock >= dram->now;
}

void dram_unsettle_all(struct mem_dram *dram)
{
    for (uint32_t i = 0; i < dram->timing.subchannels; i++) {
        dram->subchannels[i].settled = false;
    }
}

void dram_offer(const struct mem_dram *dram, struct dram_busy *busy)
{
    struct dram_subchannel *sub = busy->sub;
    if (!sub->settled) {
        return;
    }
    if (sub->best == busy || overtaking_ends(dram)) {
        sub->settled = false;
        return;
    }
    dram_sum_up(dram, sub);
    struct dram_rank rank = rank_of(busy, dram_earliest(busy));
    if (ranks_before(rank, sub->rank)) {
        sub->rank = rank;
        sub->best = busy;
    }
}

/* Of banks whose next has not come, another one may have. */
static void look_for_arrivals(struct mem_dram *dram)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < dram->coming_count; i++) {
        struct dram_busy *busy = dram->coming[i];
        bool waits = busy->next && busy->arrive > dram->now;
        if (waits && busy->bank->first != busy->bank->last && dram_look(dram, busy->bank)) {
            busy->sub->settled = false;
            waits = busy->arrive > dram->now;
        }
        busy->coming = waits;
        dram->coming[left] = busy;
        left += waits;
    }
    dram->coming_count = left;
}

/* One bank after the other, all of them: where data pass in order, or the order of asking counts.
 */
static struct dram_choice choose_anew(struct mem_dram *dram)
{
    for (uint32_t i = 0; i < dram->timing.subchannels; i++) {
        dram_sum_up(dram, &dram->subchannels[i]);
    }
    dram_unsettle_all(dram);
    bool one_by_one = dram->sched->in_order || dram->arrived > dram->now;
    uint64_t clock = UINT64_MAX;
    const struct dram_busy *best =
        one_by_one ? first_of_all(dram, &clock) : first_of_lists(dram, &clock);
    return best ? (struct dram_choice){best->next, best->kind, clock}
                : (struct dram_choice){.clock = UINT64_MAX};
}

struct dram_choice dram_choose(struct mem_dram *dram)
{
    if (dram->busy_count == 0) {
        return (struct dram_choice){.clock = UINT64_MAX};
    }
    if (dram->sched->in_order || overtaking_ends(dram)) {
        return choose_anew(dram);
    }
    if (dram->coming_count > 0) {
        look_for_arrivals(dram);
    }
    const struct dram_subchannel *first = dram->subchannels;
    const struct dram_subchannel *end = first + dram->timing.subchannels;
    for (struct dram_subchannel *sub = dram->subchannels; sub < end; sub++) {
        if (!is_settled(dram, sub)) {
            settle(dram, sub);
        }
        first = ranks_before(sub->rank, first->rank) ? sub : first;
    }
    const struct dram_busy *best = first->best;
    assert(best); /* a bank has entries */
    return (struct dram_choice){best->next, best->kind, first->rank.clock};
}

bool dram_changes_nothing(const struct mem_dram *dram, const struct dram_bank *bank)
{
    const struct dram_choice *next = &dram->next;
    const struct dram_busy *busy = &bank->busy;
    if (!next->entry || next->entry->arrive > dram->now) {
        return false;
    }
    if (next->entry->at == bank) {
        return next->entry == busy->next && next->kind == busy->kind;
    }
    dram_sum_up(dram, &dram->subchannels[bank->subchannel]);
    struct dram_choice other = {busy->next, busy->kind, dram_earliest(busy)};
    return !is_better(dram, &other, next);
}
