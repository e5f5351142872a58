/*
 * What is the data's own. A walk over pages wants a line of each in L2; where L2 is small, some of
 * them fall into sets that are too full, and loads take longer for a reason that is not
 * translation. So more lines than a small L2 has are walked in four pages first: if they are slow,
 * this is what missing data cost, and an excess of just that is no miss of a level.
 *
 * Unless a miss of a level happens to cost the same. Then each line is walked just behind another
 * one of its page: it finds its translation at hand, and is slow for its data alone. (The other
 * line would not do in its place: it lies in another set of L2, which may not be too full.)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/tlb/tlb.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned pages, blocks, least_cycles, second_lines, own_run;
    double share, second_share, alone_share, alone_most, first_share, alike;
} limits = {
    .pages = 4,         /* pages of the walk: every level of translation holds so few */
    .blocks = 16,       /* blocks of 4 KiB of a page that are used: 64 KiB */
    .least_cycles = 20, /* cycles: less is not missing data */
    .share =
        0.1, /* share of the loads: more than noise; where a line is long most find it just read */
    .own_run = 600000,   /* requests: apart from those of all other walks. Chosen */
    .second_lines = 3,   /* lines from an element to the one before it */
    .second_share = 0.2, /* share of the slow elements: so many may be slow for their data */
    .alone_share = 0.5,  /* share of what showed: so many second lines are slow as well. Chosen */
    .alone_most = 1.5,   /* the same: more are slow because the walk has twice the lines. Chosen */
    .first_share = 0.4,  /* the same: fewer first lines are dearer. A level's misses that come on
                            top of those of L2, drawn alike, make it 0.75 at least */
    .alike = 0.25,       /* share of what a miss takes, by which two kinds of rows differ. Chosen */
};

/* So many lines, or the fewest more that fill blocks of all pages. */
int tlb_measure_data(struct tlb_lab *tl, size_t lines)
{
    size_t blocks = (lines + limits.pages * TLB_LINES - 1) / (limits.pages * TLB_LINES);
    blocks = blocks > limits.blocks ? blocks : limits.blocks;
    struct tlb_ring ring = {.count = limits.pages * blocks * TLB_LINES};
    struct tlb_view view;
    struct tlb_level level = {.threshold = fmax(limits.least_cycles, 4 * tl->noise)};
    ring.unit = malloc(ring.count * sizeof *ring.unit);
    if (!ring.unit) {
        return error_memory();
    }
    for (size_t i = 0; i < ring.count; i++) { /* line by line, page by page */
        size_t line = i / limits.pages;
        ring.unit[i] =
            (uint32_t)(i % limits.pages * blocks * TLB_BLOCK_UNITS +
                       line / TLB_LINES * TLB_BLOCK_UNITS + TLB_FIRST_LINE + line % TLB_LINES);
    }
    int rc = tlb_view(tl, &view, &ring, &level, 1);
    if (rc == 0) {
        tl->data_lines = ring.count;
        bool misses = view.miss_share > limits.share;
        double noise = tl->noisy ? tl->record_noise : 0; /* is in the dearest, not in the median */
        tl->data_cycles = !misses ? 0 : tl->noisy ? view.miss_excess : view.miss_low;
        tl->data_most = misses ? fmax(tl->data_cycles, view.miss_high - noise) : 0;
        tl->data_kind_count = misses && !tl->narrow ? view.kind_count : 0;
        memcpy(tl->data_kinds, view.kinds, sizeof tl->data_kinds);
        tlb_view_free(&view);
    }
    free(ring.unit);
    return rc;
}

void tlb_take_for_data(struct tlb_lab *tl, double cycles, double most)
{
    tl->data_cycles = cycles;
    tl->data_most = most;
    tl->data_kind_count = 0;
}

int tlb_learn_data(struct tlb_lab *tl, size_t lines, bool *learnt)
{
    *learnt = !tl->rough && tl->data_cycles <= 0 && 2 * lines > tl->data_lines;
    return *learnt ? tlb_measure_data(tl, 2 * lines) : 0;
}

/* Pages that are walked by two lines each: how many lines are slow. */
struct pairs {
    size_t first, second;
    double takes;  /* slow second lines, the median */
    size_t dearer; /* pages whose first line takes longer than the second, by half a miss */
};

static double median_of_second(struct tlb_view *view, double least)
{
    size_t count = 0;
    for (size_t i = 1; i < view->count; i += 2) {
        if (view->excess[i] > least) {
            view->excess[count++] = view->excess[i];
        }
    }
    view->count = count;
    return count ? tlb_view_quantile(view, 0.5) : 0;
}

static int count_slow(struct tlb_lab *tl, struct pairs *out, const struct tlb_level *level,
                      uint64_t stride, size_t pages)
{
    struct tlb_ring ring = {.count = 2 * pages};
    struct tlb_view view;
    *out = (struct pairs){0};
    ring.unit = malloc(ring.count * sizeof *ring.unit);
    if (!ring.unit) {
        return error_memory();
    }
    for (size_t i = 0; i < ring.count; i++) {
        uint32_t unit = tlb_place(tl, stride, i / 2, 0);
        ring.unit[i] = i % 2 ? unit : tlb_near(unit, limits.second_lines);
    }
    int rc = tlb_view(tl, &view, &ring, level, 1);
    free(ring.unit);
    if (rc) {
        return rc;
    }
    /* The second one's translation is at hand in the first level. */
    double half = (tl->data_cycles > 0 ? tl->data_cycles : level->penalty) / 2;
    for (size_t i = 0; i < view.count; i++) {
        out->first += i % 2 == 0 && view.slow[i];
        out->second += i % 2 == 1 && view.excess[i] > half;
        out->dearer += i % 2 == 1 && view.excess[i - 1] - view.excess[i] > half;
    }
    out->takes = median_of_second(&view, half);
    tlb_view_free(&view);
    return 0;
}

int tlb_ask_second_lines(struct tlb_lab *tl, bool *data, const struct tlb_level *level,
                         uint64_t stride, size_t pages)
{
    struct pairs slow;
    int rc = count_slow(tl, &slow, level, stride, pages);
    *data = rc || slow.first < 2 || (double)slow.second > limits.second_share * (double)slow.first;
    return rc;
}

/* The same, numbered apart; nothing is slow in what a recording lacks. */
static int count_apart(struct tlb_lab *tl, struct pairs *out, const struct tlb_level *level,
                       uint64_t stride, uint64_t reach)
{
    const uint32_t run = tl->run;
    bool lacks;
    tl->run += limits.own_run;
    int rc = count_slow(tl, out, level, stride, (size_t)(reach / stride));
    rc = tlb_end_apart(tl, &lacks, run, rc);
    if (lacks) {
        *out = (struct pairs){0};
    }
    return rc;
}

int tlb_is_missing_lines(struct tlb_lab *tl, bool *data, const struct tlb_level *level,
                         uint64_t reach)
{
    struct pairs slow = {0};
    bool asked = tl->data_cycles <= 0 && !tl->rough;
    int rc = asked ? count_apart(tl, &slow, level, level->page, reach) : 0;
    /* Where nothing is slow this time, nothing is missing. */
    *data = rc == 0 && (double)slow.second > limits.second_share * fmax(2, (double)slow.first);
    return rc;
}

int tlb_is_lines_alone(struct tlb_lab *tl, bool *data, const struct tlb_level *level,
                       uint64_t stride, uint64_t reach, size_t shown)
{
    struct pairs slow = {0};
    int rc = tl->rough ? 0 : count_apart(tl, &slow, level, stride, reach);
    double slow_lines = (double)slow.second, showed = fmax(2, (double)shown);
    double differ = limits.alike * level->penalty + tl->record_noise;
    *data = rc == 0 && slow_lines > limits.alone_share * showed &&
            slow_lines < limits.alone_most * showed &&
            (double)slow.dearer < limits.first_share * showed &&
            fabs(slow.takes - level->penalty) <= differ;
    return rc;
}
