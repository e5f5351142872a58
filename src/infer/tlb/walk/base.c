/*
 * Walks over pages: where the lines of a walk lie, and what is asked for and comes back. A load
 * goes past L1 (op=cg) to a line that L2 holds. What it takes depends on the line (lines.c), on
 * what else goes on (reference.c), and on its translation.
 *
 * L2 has to hold the lines of a walk. So they follow each other through all of a page: of the lines
 * of 64 KiB alone a walk of 474 pages has more in one set than an L2 of 512 KiB and four ways
 * holds. (Where lines differ behind noise, as on an H200, those of 64 KiB are used: recordings have
 * these.)
 */
#include "infer/tlb/walk/base.h"

#include <stdlib.h>

#include "infer/ask/follow.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned blocks, turn_lines;
    size_t held, more_pages;
} limits = {
    .blocks = 16, /* blocks of 4 KiB of a page whose lines are used: 64 KiB, the least large page */
    .turn_lines = 313, /* lines from one turn to the next, where all blocks are used: odd, so that
                          no two turns of few pages meet in a set of L2. Chosen */
    .held = 6,         /* times the pages that fit, which are walked for the policy */
    .more_pages = 256, /* pages beyond these, walked to find sets */
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

void tlb_quantiles(double *out, const uint32_t *latency, size_t records, size_t count, double q)
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
    tlb_quantiles(out, latency, records, count, 0.5);
}

int tlb_end_apart(struct tlb_lab *tl, bool *lacks, uint32_t run, int rc)
{
    const bool soft = rc && lab_soft(rc);
    tl->run = run;
    if (soft) {
        tl->lab->why = (struct refusal){0};
    }
    if (lacks) {
        *lacks = soft;
    }
    return soft ? 0 : rc;
}

size_t tlb_pages_held(const struct tlb_lab *tl, const struct tlb_level *level)
{
    uint64_t pages = limits.held * level->fits + limits.more_pages,
             most = tl->limit_bytes / level->page;
    return (size_t)(pages < most ? pages : most);
}
