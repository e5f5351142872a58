/*
 * A pending request table: each warp memory instruction takes one entry before its first request
 * and gives it back when all have been answered, however many there are (Nyland et al., US patent
 * 8,392,669, as Lashgar et al., HEART 2015, section 2.2, describe it). Loads, stores and atomics
 * alike.
 */
#include "core/pending/pending.h"

static bool prt_begin(struct pending *table, uint32_t requests)
{
    (void)requests;
    if (table->used >= table->spec->entries) {
        return false;
    }
    table->used++;
    return true;
}

static bool prt_leave(struct pending *table)
{
    (void)table;
    return true;
}

static void prt_answered(struct pending *table)
{
    (void)table;
}

static void prt_end(struct pending *table, uint32_t requests)
{
    (void)requests;
    table->used--;
}

const struct pending_ops pending_PRT = {
    .begin = prt_begin, .leave = prt_leave, .answered = prt_answered, .end = prt_end};
