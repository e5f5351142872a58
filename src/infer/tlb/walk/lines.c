/*
 * What lines take where every translation is at hand. Each line is measured twice: among few
 * others, where every level of translation has its page, and in the walk in question (view.c). The
 * difference is the line's excess. Where no two lines differ, one number serves all.
 *
 * On an H200 lines differ by 60 cycles, some being in a part of L2 that is near and some in one
 * that is far, and a miss of the first level costs 10: it is detected only in the difference.
 */
#include "infer/tlb/walk/base.h"

#include <stdlib.h>

#include "util/error.h"

#define GROUP 8 /* lines that are measured among themselves, in as many pages */

/* Thresholds. Chosen. */
static const struct {
    size_t few_group;
} limits = {
    .few_group = 3, /* lines of a group where a level may have few entries */
};

struct tlb_base {
    uint32_t unit; /* UINT32_MAX: free */
    float cycles;
};

static size_t slot_of(const struct tlb_lab *tl, uint32_t unit)
{
    size_t at = (size_t)(unit * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (tl->base_room - 1);
    while (tl->base[at].unit != UINT32_MAX && tl->base[at].unit != unit) {
        at = (at + 1) & (tl->base_room - 1);
    }
    return at;
}

static int make_room(struct tlb_lab *tl, size_t more)
{
    if (2 * (tl->base_count + more) <= tl->base_room) {
        return 0;
    }
    struct tlb_lab grown = *tl;
    grown.base_room = tl->base_room ? tl->base_room : 1024;
    while (grown.base_room < 2 * (tl->base_count + more)) {
        grown.base_room *= 2;
    }
    grown.base = malloc(grown.base_room * sizeof *grown.base);
    if (!grown.base) {
        return error_memory();
    }
    for (size_t i = 0; i < grown.base_room; i++) {
        grown.base[i].unit = UINT32_MAX;
    }
    for (size_t i = 0; i < tl->base_room; i++) {
        if (tl->base[i].unit != UINT32_MAX) {
            grown.base[slot_of(&grown, tl->base[i].unit)] = tl->base[i];
        }
    }
    free(tl->base);
    tl->base = grown.base;
    tl->base_room = grown.base_room;
    return 0;
}

static int measure_group(struct tlb_lab *tl, const uint32_t *units, size_t count, double shift)
{
    const uint32_t *latency;
    struct tlb_plan plan = {units, count, 4 * count, (uint32_t)(TLB_GROUP_RECORDS * count),
                            1,     false};
    double of[GROUP];
    int rc = tlb_measure(tl, &latency, &plan);
    if (rc) {
        return rc;
    }
    tlb_medians(of, latency, plan.window, count);
    for (size_t i = 0; i < count; i++) {
        struct tlb_base *base = &tl->base[slot_of(tl, units[i])];
        tl->base_count += base->unit == UINT32_MAX;
        *base = (struct tlb_base){units[i], (float)(of[i] - shift)};
    }
    return 0;
}

/* A first level of so few entries misses in groups that are larger. */
static size_t group_of(const struct tlb_lab *tl)
{
    return tl->few ? limits.few_group : GROUP;
}

void tlb_forget_lines(struct tlb_lab *tl)
{
    free(tl->base);
    tl->base = NULL;
    tl->base_count = tl->base_room = 0;
}

/* Measures the lines of a ring that were not yet, and the drift now and then. */
int tlb_learn_lines(struct tlb_lab *tl, const struct tlb_ring *ring)
{
    enum { GROUPS_A_DRIFT = 64 };
    uint32_t units[GROUP];
    size_t count = 0, groups = 0;
    double shift = 0;
    bool busy;
    int rc = tl->lines_differ ? make_room(tl, ring->count) : 0;
    for (size_t i = 0; tl->lines_differ && i < ring->count && rc == 0; i++) {
        if (tl->base[slot_of(tl, ring->unit[i])].unit == UINT32_MAX) {
            units[count++] = ring->unit[i];
        }
        if (count == 0 || (count < group_of(tl) && i + 1 < ring->count)) {
            continue;
        }
        if (groups++ % GROUPS_A_DRIFT == 0) {
            rc = tlb_measure_now(tl, &shift, &busy);
            shift -= tl->reference;
        }
        rc = rc ? rc : measure_group(tl, units, count, shift);
        count = 0;
    }
    return rc;
}

/* Measures the lines of slow elements again, in another group: if it was their first measurement
 * that was off, they are slow no longer. */
int tlb_doubt(struct tlb_lab *tl, const struct tlb_ring *ring, const struct tlb_view *view)
{
    uint32_t units[GROUP - 1];
    size_t count = 0;
    double shift = 0;
    bool busy;
    int rc = tl->lines_differ ? tlb_measure_now(tl, &shift, &busy) : 0;
    shift -= tl->reference;
    for (size_t i = 0; tl->lines_differ && i < ring->count && rc == 0; i++) {
        if (view->slow[i]) {
            units[count++] = ring->unit[i];
        }
        if (count == group_of(tl) - 1 || (count && i + 1 == ring->count)) {
            rc = measure_group(tl, units, count, shift);
            count = 0;
        }
    }
    return rc;
}

static double base_of(const struct tlb_lab *tl, uint32_t unit)
{
    return tl->lines_differ ? (double)tl->base[slot_of(tl, unit)].cycles : tl->reference;
}

/*
 * Of a load's cycles, while the reference lines take `now`. Clocks that drift make all of it longer
 * in proportion; lines of which some are nearer were measured with what the drift then added.
 */
double tlb_excess_of(const struct tlb_lab *tl, double cycles, uint32_t unit, double now)
{
    return tl->lines_differ ? cycles - base_of(tl, unit) - (now - tl->reference)
                            : cycles * (tl->reference / now) - tl->reference;
}
