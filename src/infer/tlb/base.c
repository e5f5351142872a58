/*
 * Walks over pages, and what lines take where every translation is at hand. A load goes past L1
 * (op=cg) to a line that L2 holds. What it takes depends on the line, whose part of L2 may be near
 * or far, and on its translation. So each line is measured twice: among few others, where every
 * level of translation has its page, and in the walk in question (view.c). The difference is the
 * line's excess. Where no two lines differ, one number serves all.
 *
 * On an H200 lines differ by 60 cycles and a miss of the first level costs 10: it is detected only
 * in the difference. A device that drifts is followed by four lines of a single page, the reference
 * lines, which are measured with each walk.
 *
 * L2 has to hold the lines of a walk. So they follow each other through all of a page: of the lines
 * of 64 KiB alone a walk of 474 pages has more in one set than an L2 of 512 KiB and four ways
 * holds. (Where lines differ behind noise, as on an H200, those of 64 KiB are used: recordings have
 * these.)
 */
#include "infer/tlb/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/ask/follow.h"
#include "util/error.h"
#include "util/sort.h"

#define GROUP 8 /* lines that are measured among themselves, in as many pages */

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned blocks, turn_lines;
    size_t held, more_pages, few_group;
    uint32_t settle_run, later_run;
    unsigned most_waits;
    double soon, quiet, busy_cycles;
} limits = {
    .blocks = 16, /* blocks of 4 KiB of a page whose lines are used: 64 KiB, the least large page */
    .turn_lines = 313, /* lines from one turn to the next, where all blocks are used: odd, so that
                          no two turns of few pages meet in a set of L2. Chosen */
    .held = 6,         /* times the pages that fit, which are walked for the policy */
    .few_group = 3,    /* lines of a group where a level may have few entries. Chosen */
    .more_pages = 256, /* pages beyond these, walked to find sets */
    .settle_run = 980000, /* requests: apart from those of all other walks. Chosen */
    .later_run = 400000,  /* the same, of what is measured when other work rests. Chosen */
    .most_waits = 24,     /* measurements of the reference lines until it does. Chosen */
    .quiet = 0.25,        /* quantile of many such measurements: other work rests. Chosen */
    .soon = 0.1,      /* quantile of a line's records, which other work adds little to. Chosen */
    .busy_cycles = 2, /* by which the median then lies farther above these than usual. Chosen */
};

struct tlb_base {
    uint32_t unit; /* UINT32_MAX: free */
    float cycles;
};

/* The block that a line of a page is in, in units from the page's beginning. */
static uint64_t block_of(uint64_t stride, size_t line)
{
    uint64_t block = line / TLB_LINES % limits.blocks;
    uint64_t blocks = stride / TLB_UNIT_BYTES / TLB_BLOCK_UNITS;
    return (blocks ? block % blocks : 0) * TLB_BLOCK_UNITS + TLB_FIRST_LINE;
}

/* One line of several blocks is left out: a number without many factors does not come round with
 * the sets of an L2 whose slices have factors of three. */
uint64_t tlb_line(uint64_t stride, size_t line)
{
    uint64_t blocks = stride / TLB_UNIT_BYTES / TLB_BLOCK_UNITS;
    uint64_t lines = blocks > 1 ? blocks * TLB_LINES - 1 : TLB_LINES, at = line % lines;
    return at / TLB_LINES * TLB_BLOCK_UNITS + TLB_FIRST_LINE + at % TLB_LINES;
}

uint32_t tlb_place(const struct tlb_lab *tl, uint64_t stride, size_t i, size_t turn)
{
    if (!tl->narrow) {
        uint64_t line = tlb_line(stride, i + turn * limits.turn_lines);
        return (uint32_t)(i * (stride / TLB_UNIT_BYTES) + line);
    }
    uint64_t start = i * (stride / TLB_UNIT_BYTES) + block_of(stride, i);
    return (uint32_t)(start + (i % TLB_LINES + turn) % TLB_LINES);
}

uint32_t tlb_near(uint32_t unit, size_t further)
{
    uint32_t line = unit % TLB_BLOCK_UNITS - TLB_FIRST_LINE;
    return unit - line + (uint32_t)((line + further) % TLB_LINES);
}

/*
 * Line number `line`, or the same line, in the other half of the `2 * distance` bytes that the
 * place is in: a page that has both is hit. Of less than 4 KiB: another one of these.
 */
static uint32_t place_beside(const struct tlb_lab *tl, uint32_t unit, uint64_t distance,
                             size_t line)
{
    if (distance < TLB_LEAST_PAGE) {
        return tlb_near(unit, TLB_LINES / 2);
    }
    uint64_t units = distance / TLB_UNIT_BYTES;
    uint64_t beside = unit / units % 2 ? unit - units : unit + units;
    return (uint32_t)(tl->narrow ? beside : beside - beside % units + tlb_line(distance, line));
}

int tlb_ring_of_pages(const struct tlb_lab *tl, struct tlb_ring *out, uint64_t stride, size_t pages,
                      uint64_t distance)
{
    size_t each = distance ? 2 : 1;
    out->count = pages * each;
    out->unit = malloc(out->count * sizeof *out->unit);
    if (!out->unit) {
        return error_memory();
    }
    for (size_t i = 0; i < pages; i++) {
        uint32_t unit = tlb_place(tl, stride, i, 0);
        out->unit[each * i] = unit;
        if (distance) {
            out->unit[2 * i + 1] = place_beside(tl, unit, distance, pages + i);
        }
    }
    return 0;
}

/* ---- one request ---- */

static int build_request(struct trace_request *request, const struct tlb_lab *tl,
                         const struct tlb_plan *plan)
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
static bool follows(const struct trace *trace, const struct tlb_plan *plan,
                    const uint32_t **latency)
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

int tlb_measure(struct tlb_lab *tl, const uint32_t **latency, const struct tlb_plan *plan)
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

double tlb_quantile(double *values, size_t count, double q)
{
    sort_double(values, count);
    return count ? values[(size_t)(q * (double)(count - 1) + 0.5)] : 0;
}

/* The quantile of each element's records, at most TLB_MOST_PASSES of them. */
static void quantiles(double *out, const uint32_t *latency, size_t records, size_t count, double q)
{
    for (size_t i = 0; i < count; i++) {
        double of[TLB_MOST_PASSES] = {0};
        size_t seen = 0;
        for (size_t k = i; k < records && seen < TLB_MOST_PASSES; k += count) {
            of[seen++] = latency[k];
        }
        out[i] = tlb_quantile(of, seen, q);
    }
}

void tlb_medians(double *out, const uint32_t *latency, size_t records, size_t count)
{
    quantiles(out, latency, records, count, 0.5);
}

/* ---- what lines take where all hits ---- */

/* What each line takes: the quantile of its records, and of that the mean. */
static double mean_of(double of[TLB_REFERENCE_LINES], const uint32_t *latency, double q)
{
    double sum = 0;
    quantiles(of, latency, TLB_REFERENCE_RECORDS, TLB_REFERENCE_LINES, q);
    for (size_t i = 0; i < TLB_REFERENCE_LINES; i++) {
        sum += of[i];
    }
    return sum / TLB_REFERENCE_LINES;
}

static void judge_reference(struct tlb_reference *out, const uint32_t *latency)
{
    double of[TLB_REFERENCE_LINES], late[TLB_REFERENCE_RECORDS];
    out->soon = mean_of(of, latency, limits.soon);
    out->median = mean_of(of, latency, 0.5);
    for (size_t i = 0; i < TLB_REFERENCE_RECORDS; i++) {
        late[i] = fmax(0, latency[i] - of[i % TLB_REFERENCE_LINES]);
    }
    out->above = tlb_quantile(late, TLB_REFERENCE_RECORDS, 0.98);
}

/* Four lines of the first page. */
static const uint32_t reference_units[TLB_REFERENCE_LINES] = {
    TLB_FIRST_LINE, TLB_FIRST_LINE + 2, TLB_FIRST_LINE + 4, TLB_FIRST_LINE + 6};

int tlb_measure_reference(struct tlb_lab *tl, struct tlb_reference *out)
{
    const uint32_t *latency;
    struct tlb_plan plan = {reference_units,
                            TLB_REFERENCE_LINES,
                            TLB_REFERENCE_RECORDS,
                            TLB_REFERENCE_RECORDS,
                            1,
                            false};
    tl->run++;
    int rc = tlb_measure(tl, &latency, &plan);
    if (rc == 0) {
        judge_reference(out, latency);
    }
    return rc;
}

void tlb_take_reference(struct tlb_lab *tl, const struct tlb_reference *reference)
{
    tl->reference = reference->median;
    tl->soon = reference->soon;
    tl->usual = reference->median - reference->soon;
    tl->record_noise = reference->above;
}

/* Of all parts: what a quarter of them takes less than, and what their records lie above it in the
 * middle. */
static void settle_reference(struct tlb_lab *tl, const uint32_t *latency, size_t parts)
{
    double median[TLB_REFERENCE_PARTS], soon[TLB_REFERENCE_PARTS], above[TLB_REFERENCE_PARTS];
    for (size_t i = 0; i < parts; i++) {
        struct tlb_reference part;
        judge_reference(&part, latency + i * TLB_REFERENCE_RECORDS);
        median[i] = part.median;
        soon[i] = part.soon;
        above[i] = part.above;
    }
    tlb_take_reference(tl,
                       &(struct tlb_reference){.median = tlb_quantile(median, parts, limits.quiet),
                                               .soon = tlb_quantile(soon, parts, limits.quiet),
                                               .above = tlb_quantile(above, parts, 0.5)});
}

int tlb_settle_reference(struct tlb_lab *tl)
{
    const uint32_t run = tl->run, *latency;
    const uint32_t all = TLB_REFERENCE_PARTS * TLB_REFERENCE_RECORDS;
    uint32_t most = tlb_most_window(tl) < all ? tlb_most_window(tl) : all;
    uint32_t window = most - most % TLB_REFERENCE_RECORDS, windows = window ? all / window : 0;
    struct tlb_plan plan = {
        reference_units, TLB_REFERENCE_LINES, TLB_REFERENCE_RECORDS, window, windows, false};
    if (windows == 0) {
        return 0;
    }
    tl->run += limits.settle_run;
    int rc = tlb_measure(tl, &latency, &plan);
    if (rc == 0) {
        settle_reference(tl, latency, (size_t)window * windows / TLB_REFERENCE_RECORDS);
    }
    bool lacks;
    return tlb_end_apart(tl, &lacks, run, rc);
}

int tlb_measure_now(struct tlb_lab *tl, double *now, bool *busy)
{
    struct tlb_reference reference;
    int rc = tlb_measure_reference(tl, &reference);
    if (rc) {
        return rc;
    }
    *busy = tl->noisy && reference.median - reference.soon > tl->usual + limits.busy_cycles;
    *now = *busy ? tl->reference * (reference.soon / tl->soon) : reference.median;
    return 0;
}

/* The walk once more, when other work rests; what was measured stays where it does not, or a
 * recording has no such walk. */
static int measure_later(struct tlb_lab *tl, const uint32_t **latency, double *now,
                         const struct tlb_plan *plan)
{
    const uint32_t run = tl->run, *later;
    double then;
    bool busy = true, lacks;
    int rc = 0;
    tl->run = limits.later_run + tl->waits;
    for (unsigned i = 0; rc == 0 && busy && i < limits.most_waits; i++) {
        rc = tlb_measure_now(tl, &then, &busy);
    }
    if (rc == 0 && !busy) {
        tl->run++;
        rc = tlb_measure(tl, &later, plan);
        rc = rc ? rc : tlb_measure_now(tl, &then, &busy);
        if (rc == 0 && !busy) {
            *latency = later;
            *now = then;
        }
    }
    tl->waits = tl->run - limits.later_run;
    return tlb_end_apart(tl, &lacks, run, rc);
}

int tlb_measure_quiet(struct tlb_lab *tl, const uint32_t **latency, double *now,
                      const struct tlb_plan *plan)
{
    bool busy = false;
    tl->run++;
    int rc = tlb_measure(tl, latency, plan);
    *now = tl->reference;
    rc = rc || !tl->noisy ? rc : tlb_measure_now(tl, now, &busy);
    return rc || !busy ? rc : measure_later(tl, latency, now, plan);
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

int tlb_end_apart(struct tlb_lab *tl, bool *lacks, uint32_t run, int rc)
{
    tl->run = run;
    *lacks = rc && lab_soft(rc);
    if (*lacks) {
        tl->lab->why = (struct refusal){0};
    }
    return *lacks ? 0 : rc;
}

void tlb_lab_end(struct tlb_lab *tl)
{
    tlb_forget_lines(tl);
}

size_t tlb_pages_held(const struct tlb_lab *tl, const struct tlb_level *level)
{
    uint64_t pages = limits.held * level->fits + limits.more_pages,
             most = tl->limit_bytes / level->page;
    return (size_t)(pages < most ? pages : most);
}
