/*
 * Views: what a walk in a circle shows of each element, judged by the level in question. See
 * lines.c for what an excess is.
 */
#include "infer/tlb/walk/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned warm_passes, warm_long, quiet_passes, noisy_passes, most_windows;
    double misses_apart, far_apart, far_share, tolerance, drift, kind_cycles, kind_share, of_kinds;
} limits = {
    .warm_passes = 6,    /* passes before a window */
    .warm_long = 3,      /* the same of more pages than 1024 */
    .quiet_passes = 6,   /* passes that are recorded */
    .noisy_passes = 14,  /* the same with noise */
    .most_windows = 8,   /* windows of a walk with noise */
    .misses_apart = 1.1, /* times the noise of a record: a miss */
    .far_apart = 3,      /* the same where some lines are nearer than others: a miss beyond doubt */
    .far_share = 0.1,    /* share of the records that are such: no strays */
    .tolerance = 3,      /* cycles, beside noise: an excess is as long as missing data's */
    .drift = 0.006,      /* share of the cycles, from one measurement to another */
    .kind_cycles = 1.5,  /* cycles that records of one kind differ by, without noise. Chosen */
    .kind_share = 0.005, /* share of the slow records that makes a kind. Chosen */
    .of_kinds = 0.99,    /* share of them that is of some kind, where kinds are all. Chosen */
};

void tlb_view_free(struct tlb_view *view)
{
    free(view->excess);
    free(view->slow);
    free(view->ever);
    view->excess = NULL;
    view->slow = view->ever = NULL;
}

double tlb_view_quantile(const struct tlb_view *view, double q)
{
    double *copy = malloc(view->count * sizeof *copy), value = 0;
    if (copy) {
        memcpy(copy, view->excess, view->count * sizeof *copy);
        value = tlb_quantile(copy, view->count, q);
        free(copy);
    }
    return value;
}

int tlb_view_slow(const struct tlb_view *view, double *median)
{
    double *slow = malloc((view->count + 1) * sizeof *slow);
    size_t count = 0;
    if (!slow) {
        return error_memory();
    }
    for (size_t i = 0; i < view->count; i++) {
        if (view->slow[i]) {
            slow[count++] = view->excess[i];
        }
    }
    *median = tlb_quantile(slow, count, 0.5);
    free(slow);
    return 0;
}

static void plan_view(struct tlb_plan *plan, const struct tlb_lab *tl, const struct tlb_ring *ring,
                      unsigned patience)
{
    size_t n = ring->count, most = tlb_most_window(tl);
    size_t passes = (tl->noisy ? limits.noisy_passes : limits.quiet_passes) * patience;
    passes = passes < TLB_MOST_PASSES ? passes : TLB_MOST_PASSES;
    *plan = (struct tlb_plan){.unit = ring->unit, .count = n};
    plan->warm = n * (n > 1024 ? limits.warm_long : limits.warm_passes) * patience;
    size_t at_once = most / n;
    if (at_once == 0) {
        plan->window = (uint32_t)most;
        plan->windows = (uint32_t)((n * (tl->noisy ? 3 : 1) + most - 1) / most);
    } else {
        at_once = at_once < passes ? at_once : passes;
        plan->window = (uint32_t)(at_once * n);
        plan->windows = (uint32_t)((passes + at_once - 1) / at_once);
    }
    uint32_t limit = tl->noisy ? limits.most_windows : 1 + (at_once == 0);
    plan->windows = at_once && plan->windows > limit ? limit : plan->windows;
}

static bool takes_as_data(const struct tlb_lab *tl, double excess, double tolerance)
{
    for (size_t i = 0; i < tl->data_kind_count; i++) {
        if (fabs(excess - tl->data_kinds[i]) <= limits.kind_cycles) {
            return true;
        }
    }
    if (tl->data_kind_count) {
        return false;
    }
    return excess >= tl->data_cycles - tolerance && excess <= tl->data_most + tolerance;
}

bool tlb_is_data(const struct tlb_lab *tl, const struct tlb_level *level, double excess)
{
    if (level->like_data) {
        return false;
    }
    double drift = tl->noisy && !tl->lines_differ ? limits.drift * (tl->reference + excess) : 0;
    double tolerance = limits.tolerance + tl->noise + (tl->noisy ? tl->record_noise : 0) + drift;
    return tl->data_cycles > 0 && (takes_as_data(tl, excess, tolerance) ||
                                   takes_as_data(tl, excess - level->before, tolerance));
}

static bool is_slow(const struct tlb_lab *tl, const struct tlb_level *level, double excess)
{
    return excess > level->threshold && !tlb_is_data(tl, level, excess);
}

/*
 * An element is slow when half of its records are, or when a few are and records are that reliable:
 * who evicts entries at random misses a page only now and then.
 */
static void judge_elements(struct tlb_view *view, const struct tlb_lab *tl,
                           const struct tlb_level *level, const double *excess, size_t records)
{
    bool reliable = tlb_is_reliable(tl, level);
    size_t enough = tl->noisy ? 3 : 2;
    view->always = true;
    for (size_t i = 0; i < view->count; i++) {
        size_t above = 0, seen = 0;
        for (size_t k = i; k < records; k += view->count) {
            above += is_slow(tl, level, excess[k]);
            seen++;
        }
        bool median = is_slow(tl, level, view->excess[i]);
        view->slow[i] = median || (reliable && above >= enough);
        view->slow_count += view->slow[i];
        view->ever[i] = above > 0;
        view->always =
            view->always && (!view->slow[i] || 10 * above >= 9 * seen || (!reliable && median));
    }
}

static size_t count_above(const double *excess, size_t count, double least)
{
    size_t above = 0;
    for (size_t i = 0; i < count; i++) {
        above += excess[i] > least;
    }
    return above;
}

static size_t keep_above(double *excess, size_t count, double least)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (excess[i] > least) {
            excess[kept++] = excess[i];
        }
    }
    return kept;
}

/* The kinds of what is slow, `slow` of them sorted, where hardly any are of none. */
static void find_kinds(struct tlb_view *view, const double *excess, size_t slow)
{
    size_t of_kinds = 0, count = 0;
    for (size_t i = 0, to; i < slow && count < TLB_MOST_KINDS; i = to) {
        for (to = i; to < slow && excess[to] <= excess[i] + limits.kind_cycles;) {
            to++;
        }
        if ((double)(to - i) >= limits.kind_share * (double)slow) {
            view->kinds[count++] = excess[i + (to - i) / 2];
            of_kinds += to - i;
        }
    }
    view->kind_count = (double)of_kinds >= limits.of_kinds * (double)slow ? count : 0;
}

/*
 * Passes count only inside of a window: the next one was warmed anew. On a quiet device its second
 * half must be clean: behind a level that evicts entries at random one pass may be by accident.
 */
static void judge_records(struct tlb_view *view, const struct tlb_lab *tl,
                          const struct tlb_level *level, double *excess,
                          const struct tlb_plan *plan)
{
    size_t run = 0, slow = 0, data = 0, records = (size_t)plan->window * plan->windows;
    size_t wanted = tl->noisy || plan->window / 2 < view->count ? view->count : plan->window / 2;
    for (size_t i = 0; i < records; i++) {
        bool is = is_slow(tl, level, excess[i]);
        data += !is && excess[i] > level->threshold;
        run = i % plan->window == 0 ? 0 : run;
        run = is ? 0 : run + 1;
        view->clean = view->clean || (run >= wanted && (tl->noisy || (i + 1) % plan->window == 0));
        if (is) {
            excess[slow++] = excess[i];
        }
    }
    view->miss_share = (double)slow / (double)records;
    view->data_share = (double)data / (double)records;
    if (!tl->noisy) {
        sort_double(excess, slow);
        find_kinds(view, excess, slow);
    }
    /* What noise alone may have made slow says nothing of what a miss takes. */
    double apart = tl->rough ? limits.far_apart : limits.misses_apart;
    double least = level->before + apart * tl->record_noise + 1;
    size_t misses = count_above(excess, slow, least);
    view->far_share = (double)misses / (double)records;
    view->far = !tl->rough || view->far_share > limits.far_share;
    slow = view->far && misses ? keep_above(excess, slow, least) : slow;
    /* The tail of noise lies far below their middle. */
    double middle = slow ? tlb_quantile(excess, slow, 0.5) : 0, from = (level->before + middle) / 2;
    size_t tail = 0;
    while (view->far && tail < slow && excess[tail] < from) {
        tail++;
    }
    excess += tail;
    slow -= tail;
    view->miss_excess = slow ? tlb_quantile(excess, slow, tl->data_cycles > 0 ? 0.1 : 0.5) : 0;
    view->miss_low = slow ? tlb_quantile(excess, slow, 0.1) : 0;
    view->miss_high = slow ? tlb_quantile(excess, slow, 0.95) : 0;
}

bool tlb_is_reliable(const struct tlb_lab *tl, const struct tlb_level *level)
{
    /* A threshold with `most` lies close under the misses. */
    double share = level->most > 0 && !tl->lines_differ ? 0.85 : 0.6;
    return tl->record_noise < share * (level->threshold - level->before);
}

static int judge(struct tlb_view *view, const struct tlb_lab *tl, const struct tlb_ring *ring,
                 const struct tlb_level *level, const uint32_t *latency,
                 const struct tlb_plan *plan, double now)
{
    size_t records = (size_t)plan->window * plan->windows;
    double *excess = malloc(records * sizeof *excess);
    if (!excess) {
        return error_memory();
    }
    for (size_t i = 0; i < view->count; i++) {
        view->excess[i] = tlb_excess_of(tl, view->excess[i], ring->unit[i], now);
    }
    for (size_t i = 0; i < records; i++) {
        excess[i] = tlb_excess_of(tl, latency[i], ring->unit[i % view->count], now);
    }
    if (level) {
        judge_elements(view, tl, level, excess, records);
        judge_records(view, tl, level, excess, plan);
    }
    free(excess);
    return 0;
}

int tlb_view(struct tlb_lab *tl, struct tlb_view *out, const struct tlb_ring *ring,
             const struct tlb_level *level, unsigned patience)
{
    struct tlb_plan plan;
    const uint32_t *latency;
    double now;
    *out = (struct tlb_view){.count = ring->count};
    out->excess = malloc(ring->count * sizeof *out->excess);
    out->slow = calloc(ring->count, sizeof *out->slow);
    out->ever = calloc(ring->count, sizeof *out->ever);
    if (!out->excess || !out->slow || !out->ever) {
        tlb_view_free(out);
        return error_memory();
    }
    int rc = tlb_learn_lines(tl, ring);
    plan_view(&plan, tl, ring, patience);
    rc = rc ? rc : tlb_measure_quiet(tl, &latency, &now, &plan);
    if (rc == 0) {
        size_t records = (size_t)plan.window * plan.windows;
        tlb_medians(out->excess, latency, records, ring->count);
        rc = judge(out, tl, ring, level, latency, &plan, now);
    }
    if (rc) {
        tlb_view_free(out);
    }
    return rc;
}

int tlb_records(struct tlb_lab *tl, double *excess, const struct tlb_ring *ring,
                uint64_t warm_passes, uint32_t window, uint32_t windows)
{
    const uint32_t *latency;
    double now;
    struct tlb_plan plan = {.unit = ring->unit,
                            .count = ring->count,
                            .warm = warm_passes * ring->count,
                            .window = window,
                            .windows = windows,
                            .persist = windows > 1};
    size_t records = (size_t)window * windows;
    int rc = tlb_learn_lines(tl, ring);
    rc = rc ? rc : tlb_measure_quiet(tl, &latency, &now, &plan);
    for (size_t i = 0; rc == 0 && i < records; i++) {
        excess[i] = tlb_excess_of(tl, latency[i], ring->unit[i % ring->count], now);
    }
    return rc;
}

int tlb_view_stretch(struct tlb_lab *tl, const struct tlb_level *level)
{
    uint32_t units[2] = {tlb_place(tl, level->page, 0, 0),
                         tlb_place(tl, level->page, tlb_pages_held(tl, level) - 1, 0)};
    struct tlb_view view = {0};
    int rc = tl->rough ? 0 : tlb_view(tl, &view, &(struct tlb_ring){units, 2}, NULL, 1);
    tlb_view_free(&view);
    return rc;
}
