/*
 * Walks over pages. A load goes past L1 (op=cg) to a line that L2 holds; what it takes depends on
 * the line, whose part of L2 may be near or far, and on its translation. So each line is measured
 * twice: among few others, where every level of translation has its page, and in the walk in
 * question. The difference is the line's excess. Where no two lines differ, one number serves all.
 *
 * On an H200 lines differ by 60 cycles and a miss of the first level costs 10: without the
 * difference it does not show. A device that drifts is followed by four lines of a single page,
 * which are measured with each walk.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/ask/follow.h"
#include "infer/ask/sort.h"
#include "infer/ask/stats.h"
#include "infer/tlb/tlb.h"
#include "util/error.h"

#define BLOCKS 16 /* of a page whose lines are used */

#define GROUP 8 /* lines that are measured among themselves, in as many pages */
#define REFERENCE_LINES 4
/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs), and an H200 (lines that
 * differ by 60 cycles). */
static const struct {
    unsigned group_records, stray_windows, stray_cycles, different_cycles, warm_passes, warm_long,
        quiet_passes, noisy_passes, most_windows;
    double noise_quantile, misses_apart;
} limits = {
    .group_records = 16,    /* records of each line of a group */
    .stray_windows = 4,     /* windows in which strays are looked for */
    .stray_cycles = 12,     /* cycles above the reference: a stray */
    .different_cycles = 6,  /* cycles: lines that differ by more are nearer and farther */
    .noise_quantile = 0.95, /* quantile of the excess that counts as noise */
    .warm_passes = 6,       /* passes before a window */
    .warm_long = 3,         /* the same of more pages than 1024 */
    .quiet_passes = 6,      /* passes that are recorded */
    .noisy_passes = 14,     /* the same with noise */
    .most_windows = 8,      /* windows of a walk with noise */
    .misses_apart = 1.1,    /* times the noise of a record: a miss */
};
#define REFERENCE_RECORDS 128
#define SAMPLED 24 /* places looked at to see whether lines differ */

#define MOST_PASSES 64

struct tlb_base {
    uint32_t unit; /* UINT32_MAX: free */
    float cycles;
};

uint32_t tlb_place(uint64_t stride, size_t i, size_t turn)
{
    uint64_t line = i % TLB_LINES, block = i / TLB_LINES % BLOCKS;
    uint64_t blocks = stride / TLB_UNIT_BYTES / TLB_BLOCK_UNITS;
    block = blocks ? block % blocks : 0;
    uint64_t start = i * (stride / TLB_UNIT_BYTES) + block * TLB_BLOCK_UNITS + TLB_FIRST_LINE;
    return (uint32_t)(start + (line + turn) % TLB_LINES);
}

int tlb_ring_of_pages(struct tlb_ring *out, uint64_t stride, size_t pages, uint64_t companion)
{
    size_t each = companion ? 2 : 1;
    out->count = pages * each;
    out->unit = malloc(out->count * sizeof *out->unit);
    if (!out->unit) {
        return error_memory();
    }
    for (size_t i = 0; i < pages; i++) {
        uint32_t unit = tlb_place(stride, i, 0);
        out->unit[each * i] = unit;
        if (companion) {
            out->unit[2 * i + 1] = unit + (uint32_t)(companion / TLB_UNIT_BYTES);
        }
    }
    return 0;
}

/* ---- one request ---- */

struct plan {
    const uint32_t *unit;
    size_t count;
    uint64_t warm;
    uint32_t window, windows;
    bool persist; /* only the first window is warmed */
};

static int build_request(struct trace_request *request, const struct tlb_lab *tl,
                         const struct plan *plan)
{
    trace_request_init(request, "chase");
    request->ring = plan->unit;
    request->ring_count = plan->count;
    int rc = trace_request_set_text(request, "op", "cg");
    rc = rc || !tl->mapped ? rc : trace_request_set_text(request, "pages", "mapped");
    rc = rc ? rc : trace_request_set_u64(request, "scale", TLB_UNIT_BYTES);
    rc = rc ? rc : trace_request_set_u64(request, "warm", plan->warm);
    rc = rc ? rc : trace_request_set_u64(request, "window", plan->window);
    rc = rc ? rc : trace_request_set_u64(request, "windows", plan->windows);
    rc = rc || !plan->persist ? rc : trace_request_set_u64(request, "persist", 1);
    return rc || !tl->run ? rc : trace_request_set_u64(request, "run", tl->run);
}

/* Does the trace follow the ring? Record k of window w read element (w * window + k) % count. */
static bool follows(const struct trace *trace, const struct plan *plan, const uint32_t **latency)
{
    struct chase_columns columns;
    const struct walk_shape ring = {.ring = plan->unit, .count = plan->count};
    bool good = chase_columns(&columns, trace, plan->windows, plan->window);
    *latency = columns.latency;
    for (size_t w = 0; good && w < plan->windows; w++) {
        size_t first = w * plan->window % plan->count;
        good = columns.start[w] == plan->unit[first] && chase_follows(&columns, w, &ring, first);
    }
    return good;
}

static int measure(struct tlb_lab *tl, const uint32_t **latency, const struct plan *plan)
{
    struct trace_request request;
    const struct trace *trace;
    int rc = build_request(&request, tl, plan);
    rc = rc ? rc : lab_measure(tl->lab, &trace, &request);
    if (rc) {
        return rc;
    }
    tl->lab->loads +=
        plan->warm * (plan->persist ? 1 : plan->windows) + (uint64_t)plan->window * plan->windows;
    return follows(trace, plan, latency)
               ? 0
               : lab_undecided(tl->lab, "a trace does not follow its ring of pages");
}

uint32_t tlb_most_window(const struct tlb_lab *tl)
{
    return tl->lab->options->max_window ? tl->lab->options->max_window : 1024;
}

static double quantile(double *values, size_t count, double q)
{
    sort_double(values, count);
    return count ? values[(size_t)(q * (double)(count - 1) + 0.5)] : 0;
}

/* The median of each element's records, at most MOST_PASSES of them. */
static void medians(double *out, const uint32_t *latency, size_t records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double of[MOST_PASSES] = {0};
        size_t seen = 0;
        for (size_t k = i; k < records && seen < MOST_PASSES; k += count) {
            of[seen++] = latency[k];
        }
        out[i] = quantile(of, seen, 0.5);
    }
}

/* ---- what lines take where all hits ---- */

/* Four lines of the first page. */
static int measure_reference(struct tlb_lab *tl, double *median, double *above)
{
    static const uint32_t units[REFERENCE_LINES] = {TLB_FIRST_LINE, TLB_FIRST_LINE + 2,
                                                    TLB_FIRST_LINE + 4, TLB_FIRST_LINE + 6};
    const uint32_t *latency;
    struct plan plan = {units, REFERENCE_LINES, REFERENCE_RECORDS, REFERENCE_RECORDS, 1, false};
    tl->run++;
    int rc = measure(tl, &latency, &plan);
    if (rc) {
        return rc;
    }
    double of[REFERENCE_LINES], late[REFERENCE_RECORDS], sum = 0;
    medians(of, latency, REFERENCE_RECORDS, REFERENCE_LINES);
    for (size_t i = 0; i < REFERENCE_RECORDS; i++) {
        late[i] = fmax(0, latency[i] - of[i % REFERENCE_LINES]);
    }
    for (size_t i = 0; i < REFERENCE_LINES; i++) {
        sum += of[i];
    }
    *median = sum / REFERENCE_LINES;
    *above = quantile(late, REFERENCE_RECORDS, 0.98);
    return 0;
}

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

/* Places in the first pages, 68 KiB apart. */
static uint32_t sampled_unit(size_t i)
{
    return (uint32_t)(i * (17 * TLB_BLOCK_UNITS) + TLB_FIRST_LINE);
}

static int measure_group(struct tlb_lab *tl, const uint32_t *units, size_t count, double shift)
{
    const uint32_t *latency;
    struct plan plan = {units, count, 4 * count, (uint32_t)(limits.group_records * count),
                        1,     false};
    double of[GROUP];
    int rc = measure(tl, &latency, &plan);
    if (rc) {
        return rc;
    }
    medians(of, latency, plan.window, count);
    for (size_t i = 0; i < count; i++) {
        struct tlb_base *base = &tl->base[slot_of(tl, units[i])];
        tl->base_count += base->unit == UINT32_MAX;
        *base = (struct tlb_base){units[i], (float)(of[i] - shift)};
    }
    return 0;
}

/* Measures the lines of a ring that were not yet, and the drift now and then. */
static int learn_lines(struct tlb_lab *tl, const struct tlb_ring *ring)
{
    enum { GROUPS_A_DRIFT = 64 };
    uint32_t units[GROUP];
    size_t count = 0, groups = 0;
    double shift = 0, above;
    int rc = tl->lines_differ ? make_room(tl, ring->count) : 0;
    for (size_t i = 0; tl->lines_differ && i < ring->count && rc == 0; i++) {
        if (tl->base[slot_of(tl, ring->unit[i])].unit == UINT32_MAX) {
            units[count++] = ring->unit[i];
        }
        if (count == 0 || (count < GROUP && i + 1 < ring->count)) {
            continue;
        }
        if (groups++ % GROUPS_A_DRIFT == 0) {
            rc = measure_reference(tl, &shift, &above);
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
    double shift = 0, above;
    int rc = tl->lines_differ ? measure_reference(tl, &shift, &above) : 0;
    shift -= tl->reference;
    for (size_t i = 0; tl->lines_differ && i < ring->count && rc == 0; i++) {
        if (view->slow[i]) {
            units[count++] = ring->unit[i];
        }
        if (count == GROUP - 1 || (count && i + 1 == ring->count)) {
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
static double excess_of(const struct tlb_lab *tl, double cycles, uint32_t unit, double now)
{
    return tl->lines_differ ? cycles - base_of(tl, unit) - (now - tl->reference)
                            : cycles * (tl->reference / now) - tl->reference;
}

/* Pairs of lines here and there, each pair in one page: are some nearer than others? */
static int compare_lines(struct tlb_lab *tl)
{
    double of[2 * SAMPLED];
    for (size_t i = 0; i < SAMPLED; i++) {
        uint32_t at = sampled_unit(i), units[2] = {at, at + 3};
        const uint32_t *latency;
        struct plan plan = {units, 2, 8, 2 * limits.group_records, 1, false};
        int rc = measure(tl, &latency, &plan);
        if (rc) {
            return rc;
        }
        medians(&of[2 * i], latency, plan.window, 2);
    }
    double low = quantile(of, 2 * SAMPLED, 0.1), high = quantile(of, 2 * SAMPLED, 0.9);
    tl->lines_differ = high - low > limits.different_cycles;
    return 0;
}

/*
 * What an excess is where everything hits: lines of one page in rings of several lengths, for what
 * a load takes may also depend on when it comes.
 */
static int measure_noise(struct tlb_lab *tl)
{
    static const size_t lengths[] = {SAMPLED, SAMPLED - 1, SAMPLED - 5, 7};
    uint32_t units[SAMPLED];
    tl->noise = 0;
    for (size_t i = 0; i < SAMPLED; i++) {
        units[i] = TLB_FIRST_LINE + (uint32_t)i;
    }
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        struct tlb_view view;
        int rc = tlb_view(tl, &view, &(struct tlb_ring){units, lengths[k]}, NULL, 1);
        if (rc) {
            return rc;
        }
        tl->noise = fmax(tl->noise, tlb_view_quantile(&view, limits.noise_quantile));
        tlb_view_free(&view);
    }
    return 0;
}

/*
 * A device whose records agree may still have a load now and then that takes long for no reason:
 * too few for a short record, enough to be taken for misses in a long one.
 */
static int look_for_strays(struct tlb_lab *tl)
{
    static const uint32_t units[REFERENCE_LINES] = {TLB_FIRST_LINE, TLB_FIRST_LINE + 2,
                                                    TLB_FIRST_LINE + 4, TLB_FIRST_LINE + 6};
    const uint32_t *latency;
    uint32_t window = tlb_most_window(tl) - tlb_most_window(tl) % REFERENCE_LINES;
    struct plan plan = {units,  REFERENCE_LINES,      REFERENCE_RECORDS,
                        window, limits.stray_windows, false};
    int rc = window ? measure(tl, &latency, &plan) : INFER_UNDECIDED;
    for (size_t i = 0; rc == 0 && i < (size_t)window * limits.stray_windows; i++) {
        tl->noisy = tl->noisy || latency[i] > tl->reference + limits.stray_cycles;
    }
    if (rc && lab_soft(rc)) { /* an older recording */
        tl->lab->why.reason[0] = '\0';
        rc = 0;
    }
    return rc;
}

int tlb_lab_begin(struct tlb_lab *tl, struct lab *lab)
{
    *tl = (struct tlb_lab){.lab = lab,
                           .mapped = lab->options->max_mapped_bytes > 0,
                           .limit_bytes = lab->options->max_mapped_bytes};
    int rc =
        tl->mapped ? measure_reference(tl, &tl->reference, &tl->record_noise) : INFER_UNDECIDED;
    if (rc == INFER_UNDECIDED) { /* a device whose memory is not mapped page by page */
        tl->mapped = false;
        tl->limit_bytes = lab->options->max_footprint_bytes;
        rc = measure_reference(tl, &tl->reference, &tl->record_noise);
    }
    tl->noisy = tl->record_noise > 1;
    rc = rc ? rc : compare_lines(tl);
    rc = rc || tl->noisy || tl->lines_differ ? rc : look_for_strays(tl);
    rc = rc ? rc : measure_noise(tl);
    return rc ? rc : tlb_measure_data(tl, 0);
}

void tlb_lab_end(struct tlb_lab *tl)
{
    free(tl->base);
    tl->base = NULL;
}

/* ---- views ---- */

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
        value = quantile(copy, view->count, q);
        free(copy);
    }
    return value;
}

static void plan_view(struct plan *plan, const struct tlb_lab *tl, const struct tlb_ring *ring,
                      unsigned patience)
{
    size_t n = ring->count, most = tlb_most_window(tl);
    size_t passes = (tl->noisy ? limits.noisy_passes : limits.quiet_passes) * patience;
    passes = passes < MOST_PASSES ? passes : MOST_PASSES;
    *plan = (struct plan){.unit = ring->unit, .count = n};
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

/*
 * Passes count only inside of a window: the next one was warmed anew. On a quiet device its second
 * half must be clean: behind a level that evicts entries at random one pass may be by accident.
 */
static void judge_records(struct tlb_view *view, const struct tlb_lab *tl,
                          const struct tlb_level *level, double *excess, const struct plan *plan)
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
    /* What noise alone may have made slow says nothing of what a miss takes. */
    double least = level->before + limits.misses_apart * tl->record_noise + 1;
    size_t misses = 0;
    for (size_t i = 0; i < slow && !tl->lines_differ; i++) {
        if (excess[i] > least) {
            excess[misses++] = excess[i];
        }
    }
    view->far_share = (double)misses / (double)records;
    slow = misses ? misses : slow;
    /* The tail of noise lies far below their middle. */
    double middle = slow ? quantile(excess, slow, 0.5) : 0, from = (level->before + middle) / 2;
    size_t tail = 0;
    while (!tl->lines_differ && tail < slow && excess[tail] < from) {
        tail++;
    }
    excess += tail;
    slow -= tail;
    view->miss_excess = slow ? quantile(excess, slow, tl->data_cycles > 0 ? 0.1 : 0.5) : 0;
    view->miss_low = slow ? quantile(excess, slow, 0.1) : 0;
    view->miss_high = slow ? quantile(excess, slow, 0.95) : 0;
}

bool tlb_is_reliable(const struct tlb_lab *tl, const struct tlb_level *level)
{
    /* A threshold with `most` lies close under the misses. */
    double share = level->most > 0 && !tl->lines_differ ? 0.85 : 0.6;
    return tl->record_noise < share * (level->threshold - level->before);
}

static int judge(struct tlb_view *view, const struct tlb_lab *tl, const struct tlb_ring *ring,
                 const struct tlb_level *level, const uint32_t *latency, const struct plan *plan,
                 double now)
{
    size_t records = (size_t)plan->window * plan->windows;
    double *excess = malloc(records * sizeof *excess);
    if (!excess) {
        return error_memory();
    }
    for (size_t i = 0; i < view->count; i++) {
        view->excess[i] = excess_of(tl, view->excess[i], ring->unit[i], now);
    }
    for (size_t i = 0; i < records; i++) {
        excess[i] = excess_of(tl, latency[i], ring->unit[i % view->count], now);
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
    struct plan plan;
    const uint32_t *latency;
    double now = tl->reference, above;
    *out = (struct tlb_view){.count = ring->count};
    out->excess = malloc(ring->count * sizeof *out->excess);
    out->slow = calloc(ring->count, sizeof *out->slow);
    out->ever = calloc(ring->count, sizeof *out->ever);
    if (!out->excess || !out->slow || !out->ever) {
        tlb_view_free(out);
        return error_memory();
    }
    int rc = learn_lines(tl, ring);
    plan_view(&plan, tl, ring, patience);
    tl->run++;
    rc = rc ? rc : measure(tl, &latency, &plan);
    if (rc == 0) {
        size_t records = (size_t)plan.window * plan.windows;
        medians(out->excess, latency, records, ring->count);
        rc = tl->noisy ? measure_reference(tl, &now, &above) : 0;
        rc = rc ? rc : judge(out, tl, ring, level, latency, &plan, now);
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
    double now = tl->reference, above;
    struct plan plan = {.unit = ring->unit,
                        .count = ring->count,
                        .warm = warm_passes * ring->count,
                        .window = window,
                        .windows = windows,
                        .persist = windows > 1};
    size_t records = (size_t)window * windows;
    int rc = learn_lines(tl, ring);
    tl->run++;
    rc = rc ? rc : measure(tl, &latency, &plan);
    for (size_t i = 0; rc == 0 && i < records; i++) {
        excess[i] = latency[i];
    }
    rc = rc || !tl->noisy ? rc : measure_reference(tl, &now, &above);
    for (size_t i = 0; rc == 0 && i < records; i++) {
        excess[i] = excess_of(tl, excess[i], ring->unit[i % ring->count], now);
    }
    return rc;
}
