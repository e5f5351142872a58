/*
 * The levels of address translation. Loads go past L1 (op=cg) to lines that L2 holds, one a page,
 * so nothing but the translation differs from walk to walk. When more pages are visited in a circle
 * than a level has entries, some loads take longer; how many pages fit is found by bisection, as a
 * cache's lines are. The page is found from outside: elements closer together than a page
 * share entries, so the number that fits grows when the stride falls below the page.
 *
 * The element of a page lies at one of 32 places in it, so that the lines do not meet in few sets
 * of L2. What shows is the time, not the place: a level whose miss costs less than the distance to
 * L2 varies is not seen, and whom a level serves (an SM, all of them) is not asked.
 */
#include "infer/tlb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/stats.h"
#include "infer/walk.h"
#include "util/error.h"

#define PLACES 32
#define FIRST_PAGE (UINT64_C(2) << 20) /* stride of the search; the page is found afterwards */
#define LEAST_PAGE (UINT64_C(4) << 10)
#define MOST_PAGE (UINT64_C(1) << 30)
#define MAX_PAGES 8192
#define PASSES 8 /* recorded, where they fit a window */
#define WARM_PASSES 6
#define GROWTH 1.18 /* of what fits: less is no change */
#define TWICE 1.7

/* Offset of the element of page i, in units: never the first lines of a page, where tables begin
 * that translation itself reads. */
static uint32_t offset_in(uint64_t stride, size_t page, size_t place)
{
    uint64_t room = stride >= UINT64_C(65536) ? 65536 : stride;
    uint64_t within = 640 + (place % 8) * 4096 + (place / 8 % 4) * 1024;
    return (uint32_t)((page * stride + within % room) / TLB_UNIT_BYTES);
}

uint32_t tlb_place(uint64_t stride, size_t i)
{
    return offset_in(stride, i, i);
}

static int judge_records(struct page_walk *out, const struct walk *walk)
{
    uint32_t *count = calloc(out->pages, sizeof *count);
    if (!count) {
        return error_memory();
    }
    struct sample all = {0};
    int rc = sample_create(&all, walk->latency, walk->count);
    if (rc == 0) {
        size_t slow = 0, passes = walk->count / walk->shape.count;
        for (size_t i = 0; i < walk->count; i++) {
            bool above = walk->latency[i] > out->threshold;
            count[walk_element(walk, i) % out->pages] += above;
            slow += above;
        }
        out->slow_count = 0;
        for (size_t i = 0; i < out->pages; i++) {
            out->slow[i] = count[i] > (passes >= 4 ? 1u : 0u);
            out->slow_count += out->slow[i];
        }
        out->slow_share = (double)slow / (double)walk->count;
        out->low = sample_quantile(&all, 0.01);
        out->median = sample_quantile(&all, 0.5);
        out->high = sample_quantile(&all, 0.99);
    }
    sample_free(&all);
    free(count);
    return rc;
}

int page_walk_run(struct lab *lab, struct page_walk *out)
{
    uint32_t most = lab->options->max_window ? lab->options->max_window : 1024;
    size_t elements = out->twice ? 2 * out->pages : out->pages;
    uint32_t *ring = malloc(elements * sizeof *ring);
    out->slow = calloc(out->pages, sizeof *out->slow);
    if (!ring || !out->slow) {
        free(ring);
        page_walk_free(out);
        return error_memory();
    }
    for (size_t i = 0; i < elements; i++) { /* a page's second place is never its first: odd */
        size_t page = i % out->pages;
        ring[i] = offset_in(out->stride, page, i < out->pages ? page : page + (out->pages | 1));
    }
    struct walk_plan plan = {.op = "cg",
                             .shape = {.ring = ring, .count = elements},
                             .warm = WARM_PASSES * elements,
                             .windows = 1,
                             .scale = TLB_UNIT_BYTES};
    size_t passes = most / elements;
    passes = passes > PASSES ? PASSES : passes;
    plan.window = (uint32_t)(passes ? passes * elements : most);
    struct walk walk;
    int rc = walk_run(lab, &walk, &plan);
    if (rc == 0) {
        rc = judge_records(out, &walk);
        walk_free(&walk);
    }
    free(ring);
    if (rc) {
        page_walk_free(out);
    }
    return rc;
}

void page_walk_free(struct page_walk *walk)
{
    free(walk->slow);
    walk->slow = NULL;
}

/* A walk of which only the numbers are wanted. */
static int look(struct lab *lab, struct page_walk *walk, uint64_t stride, size_t pages,
                double threshold)
{
    *walk = (struct page_walk){.stride = stride, .pages = pages, .threshold = threshold};
    int rc = page_walk_run(lab, walk);
    page_walk_free(walk);
    return rc;
}

static size_t most_pages(const struct lab *lab, uint64_t stride)
{
    uint64_t pages = lab->options->max_footprint_bytes / stride;
    return pages > MAX_PAGES ? MAX_PAGES : (size_t)(pages > 1 ? pages - 1 : 1);
}

/* Between `fits` and `fails` pages. */
static int bisect(struct lab *lab, size_t *fits, size_t fails, uint64_t stride, double threshold)
{
    while (fails - *fits > 1) {
        size_t middle = *fits + (fails - *fits) / 2;
        struct page_walk walk;
        int rc = look(lab, &walk, stride, middle, threshold);
        if (rc) {
            return rc;
        }
        if (walk.slow_count == 0) {
            *fits = middle;
        } else {
            fails = middle;
        }
    }
    return 0;
}

/* The most pages that fit, looked for around `guess`; all that memory holds if they do. */
static int find_fits(struct lab *lab, size_t *fits, size_t guess, uint64_t stride, double threshold)
{
    size_t most = most_pages(lab, stride), fails = guess > 1 ? guess : 2;
    *fits = 1;
    for (;;) {
        struct page_walk walk;
        fails = fails > most ? most : fails;
        int rc = look(lab, &walk, stride, fails, threshold);
        if (rc) {
            return rc;
        }
        if (walk.slow_count) {
            return bisect(lab, fits, fails, stride, threshold);
        }
        *fits = fails;
        if (fails == most) {
            return 0;
        }
        fails *= 2;
    }
}

/*
 * As many lines again in pages that fit: if these take longer too, it is the data that L2 does not
 * hold, and nothing is told of translation.
 */
static int check_data(struct lab *lab, const struct page_walk *fits, double threshold)
{
    struct page_walk walk = {
        .stride = FIRST_PAGE, .pages = fits->pages, .twice = true, .threshold = threshold};
    int rc = page_walk_run(lab, &walk);
    page_walk_free(&walk);
    if (rc == 0 && walk.slow_share > 0.02) {
        rc = lab_undecided(lab, "L2 does not hold a line each of so many pages");
    }
    return rc;
}

/*
 * The next level's threshold, near the hits, since misses may differ among themselves: grow the
 * circle until a good part of the loads takes longer than anything did before. `before` is the last
 * walk without.
 */
static int find_level(struct lab *lab, struct tlb_level *level, struct page_walk *before,
                      struct page_walk *after)
{
    size_t most = most_pages(lab, FIRST_PAGE);
    double margin = fmax(2, (before->high - before->low) * 0.5);
    for (size_t pages = before->pages + before->pages / 2 + 1; pages <= most; pages += pages / 2) {
        int rc = look(lab, after, FIRST_PAGE, pages, before->high + margin);
        if (rc) {
            return rc;
        }
        if (after->slow_share > 0.5) {
            level->threshold =
                before->high +
                fmax(margin, fmin(0.25 * (after->median - before->high), 0.1 * before->high));
            level->fits = before->pages;
            rc = check_data(lab, before, level->threshold);
            return rc ? rc : find_fits(lab, &level->fits, pages, FIRST_PAGE, level->threshold);
        }
        if (after->slow_share < 0.01) {
            before->pages = pages;
        }
    }
    return lab_undecided(lab,
                         "no more than %zu pages were walked, and no level of translation "
                         "showed beyond these",
                         most);
}

/*
 * At the stride that is the page, about as many fit as at one and a half times it, and more at
 * three quarters. At a smaller stride elements share pages, so at one and a half times it fewer
 * fit; at a larger one, three quarters bring nothing, or, where such strides met only every other
 * set, one and a half times the stride brings twice as many.
 */
static int find_page(struct lab *lab, struct tlb_level *level)
{
    size_t guess = level->fits + 1;
    uint64_t page = FIRST_PAGE;
    for (unsigned tries = 0; tries < 20 && page >= LEAST_PAGE && page <= MOST_PAGE; tries++) {
        size_t here, wider, closer;
        int rc = find_fits(lab, &here, guess, page, level->threshold);
        rc = rc == 0 ? find_fits(lab, &wider, guess, page / 2 * 3, level->threshold) : rc;
        rc = rc == 0 ? find_fits(lab, &closer, guess, page / 4 * 3, level->threshold) : rc;
        if (rc) {
            return rc;
        }
        if ((double)wider * GROWTH < (double)here) {
            page *= 2;
        } else if ((double)closer < GROWTH * (double)here || (double)wider > TWICE * (double)here) {
            page /= 2;
        } else {
            level->page = page;
            level->fits = here;
            return 0;
        }
        guess = here;
    }
    return lab_undecided(lab, "no stride from %llu B on behaves like a page",
                         (unsigned long long)LEAST_PAGE);
}

static int measure_level(struct lab *lab, struct tlb_result *out, struct tlb_level *level,
                         const struct page_walk *before, const struct page_walk *after,
                         size_t in_front)
{
    char id[24];
    out->present = true;
    lab_evidence(lab, id, out->id,
                 "chase op=cg over one line a page: %zu pages 2 MiB apart in %.0f cycles, %zu in "
                 "%.0f; longer than %.0f cycles is a miss",
                 before->pages, before->median, after->pages, after->median, level->threshold);
    attribute_set(&out->miss_penalty, after->median - before->median, "cycles", 0.92, id);
    int rc = find_page(lab, level);
    if (rc) {
        return rc;
    }
    lab_evidence(lab, id, out->id,
                 "chase op=cg: %zu pages of %llu KiB fit, one more does not; at strides of 1.5 "
                 "pages about as many fit, at 0.75 pages more do",
                 level->fits, (unsigned long long)level->page / 1024);
    attribute_set(&out->page, (double)level->page, "B", 0.95, id);
    attribute_set(&out->entries, (double)level->fits, "entries", 0.9, id);
    attribute_set(&out->coverage, (double)level->fits * (double)level->page, "B", 0.93, id);
    rc = tlb_sets(lab, out, level);
    return rc ? rc : tlb_policy(lab, out, level, in_front);
}

int tlb_dissect(struct lab *lab)
{
    static const char *const ids[] = {"l1_tlb", "l2_tlb"};
    struct page_walk before, after = {0};
    size_t in_front = 0;
    /* Few pages: this latency is that of a hit everywhere. All places in a page are seen. */
    int rc = look(lab, &before, 4096, PLACES, 0);
    if (rc == 0) {
        before.pages = 1;
    }
    for (size_t i = 0; i < sizeof ids / sizeof *ids && rc == 0; i++) {
        struct tlb_result *out = &lab->out->tlbs[lab->out->tlb_count++];
        struct tlb_level level = {0};
        snprintf(out->id, sizeof out->id, "%s", ids[i]);
        tlb_refuse(lab->out, "");
        rc = find_level(lab, &level, &before, &after);
        if (rc == 0) {
            rc = measure_level(lab, out, &level, &before, &after, in_front);
            in_front = level.fits;
            rc = rc == INFER_UNDECIDED ? 0 : rc;
            before = after;
        }
        tlb_refuse(lab->out, lab->why);
        lab->why[0] = '\0';
    }
    return rc == INFER_UNDECIDED ? 0 : rc;
}

void tlb_refuse(struct dissection *out, const char *reason)
{
    for (size_t i = 0; i < out->tlb_count; i++) {
        struct tlb_result *tlb = &out->tlbs[i];
        struct {
            struct attribute *attribute;
            const char *unit;
        } all[] = {{&tlb->page, "B"},
                   {&tlb->coverage, "B"},
                   {&tlb->entries, "entries"},
                   {&tlb->sets, "1"},
                   {&tlb->miss_penalty, "cycles"}};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            if (all[k].attribute->status == ATTRIBUTE_NOT_MEASURED &&
                !all[k].attribute->reason[0]) {
                attribute_refuse(all[k].attribute, all[k].unit, reason);
            }
        }
        if (!tlb->policy.name[0] && !tlb->policy.reason[0]) {
            snprintf(tlb->policy.reason, sizeof tlb->policy.reason, "%.*s",
                     (int)sizeof tlb->policy.reason - 1, reason);
        }
    }
}
