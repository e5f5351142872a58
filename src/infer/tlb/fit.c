/*
 * Do these pages fit into a level of translation together? They are walked in a circle. Whatever
 * the policy, too many pages for a set miss at least once in every pass, and a pass without a miss
 * proves the fit: nothing that is there will go. So where single records can be told apart, more
 * warming is tried until a pass is clean, or the misses do not get fewer.
 *
 * Where they cannot, a page misses when the median of its records does, twice: noise does not fall
 * on the same pages again.
 */
#include <stdlib.h>

#include "infer/tlb/tlb.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    double clear_share, fewer;
    unsigned few_pages, longer, longest, hide_times;
} limits = {
    .clear_share = 0.4, /* share of the records: misses beyond doubt */
    .few_pages = 512,   /* pages, of which long warming is cheap */
    .longer = 3,        /* times the patience of the first walk */
    .longest = 20,      /* times the same, at most */
    .hide_times =
        2, /* times the entries in front: orders that are drawn find few of so many pages there */
    .fewer = 0.6, /* times the misses before: they are on their way out */
};

static int fits_by_records(struct tlb_lab *tl, bool *fits, const struct tlb_ring *ring,
                           const struct tlb_level *level)
{
    const unsigned ladder[] = {1, limits.longer, limits.longest};
    double before = 1;
    *fits = false;
    for (size_t k = 0; k < sizeof ladder / sizeof *ladder && !*fits; k++) {
        struct tlb_view view;
        int rc = tlb_view(tl, &view, ring, level, ladder[k]);
        if (rc) {
            return rc;
        }
        *fits = view.clean || view.miss_share == 0;
        bool settled =
            view.miss_share > limits.clear_share && view.miss_share > limits.fewer * before;
        bool thrashes = view.always && view.slow_count > 1;
        before = view.miss_share;
        tlb_view_free(&view);
        if (settled || thrashes || (k == 1 && ring->count > limits.few_pages)) {
            break;
        }
    }
    return 0;
}

/* Pages that are slow in both views. */
static size_t slow_twice(const struct tlb_view *a, const struct tlb_view *b)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        count += a->slow[i] && b->slow[i];
    }
    return count;
}

static int fits_by_medians(struct tlb_lab *tl, bool *fits, const struct tlb_ring *ring,
                           const struct tlb_level *level)
{
    struct tlb_view first, again;
    int rc = tlb_view(tl, &first, ring, level, 1);
    if (rc) {
        return rc;
    }
    *fits = first.slow_count == 0;
    if (!*fits && (double)first.slow_count < limits.clear_share * (double)first.count) {
        rc = tlb_view(tl, &again, ring, level, limits.longer);
        if (rc == 0) {
            *fits = slow_twice(&first, &again) < 2;
            tlb_view_free(&again);
        }
    }
    tlb_view_free(&first);
    return rc;
}

int tlb_fits(struct tlb_lab *tl, bool *fits, const struct tlb_ring *ring,
             const struct tlb_level *level)
{
    return tlb_is_reliable(tl, level) ? fits_by_records(tl, fits, ring, level)
                                      : fits_by_medians(tl, fits, ring, level);
}

static int pages_fit(struct tlb_lab *tl, bool *fits, size_t pages, const struct tlb_level *level)
{
    struct tlb_ring ring;
    if (tlb_can_count(tl, level, pages)) {
        return tlb_count_fits(tl, fits, level, NULL, pages);
    }
    int rc = tlb_ring_of_pages(tl, &ring, level->page, pages, 0);
    rc = rc ? rc : tlb_fits(tl, fits, &ring, level);
    free(ring.unit);
    return rc;
}

/* Looked for around `guess`; as many as memory or a walk holds if they all fit. */
int tlb_find_fits(struct tlb_lab *tl, struct tlb_level *level, size_t guess)
{
    size_t most = (size_t)(tl->limit_bytes / level->page), fails = guess > 1 ? guess : 2;
    bool fits = true;
    most = most > TLB_MOST_PAGES ? TLB_MOST_PAGES : most;
    level->fits = 1;
    while (fits && level->fits < most) {
        fails = fails > most ? most : fails;
        int rc = pages_fit(tl, &fits, fails, level);
        if (rc) {
            return rc;
        }
        if (fits) {
            level->fits = fails;
            fails *= 2;
        }
    }
    while (!fits && fails - level->fits > 1) {
        size_t middle = level->fits + (fails - level->fits) / 2;
        bool here;
        int rc = pages_fit(tl, &here, middle, level);
        if (rc) {
            return rc;
        }
        *(here ? &level->fits : &fails) = middle;
    }
    return fits ? lab_undecided(tl->lab, "all the %zu pages that were walked fit", most) : 0;
}

bool tlb_may_hide(const struct tlb_lab *tl, const struct tlb_level *level)
{
    return level->page > level->front_page && level->fits < limits.hide_times * level->in_front &&
           !tlb_can_count(tl, level, level->fits + 1);
}

static int spread_fits(struct tlb_lab *tl, bool *fits, size_t pages, const struct tlb_level *level)
{
    size_t lines = tlb_parts(level, pages); /* of each page */
    struct tlb_ring ring = {.count = pages * lines};
    ring.unit = malloc(ring.count * sizeof *ring.unit);
    if (!ring.unit) {
        return error_memory();
    }
    for (size_t i = 0; i < ring.count; i++) { /* a line of each page, then the next of each */
        uint64_t apart = i / pages * (level->page / lines) / TLB_UNIT_BYTES;
        uint64_t start = i % pages * (level->page / TLB_UNIT_BYTES);
        ring.unit[i] = (uint32_t)(apart + (tl->narrow ? tlb_place(tl, level->page, i % pages, 0)
                                                      : start + tlb_line(level->page / lines, i)));
    }
    bool learnt;
    int rc = tlb_learn_data(tl, ring.count, &learnt);
    rc = rc ? rc : tlb_fits(tl, fits, &ring, level);
    free(ring.unit);
    return rc;
}

int tlb_find_spread_fits(struct tlb_lab *tl, const struct tlb_level *level, size_t *entries)
{
    size_t fails = level->fits + 1;
    *entries = 0;
    while (fails - *entries > 1) {
        size_t middle = *entries + (fails - *entries) / 2;
        bool here = false;
        int rc = spread_fits(tl, &here, middle, level);
        if (rc) {
            return rc;
        }
        *(here ? entries : &fails) = middle;
    }
    return *entries * tlb_parts(level, *entries) > level->in_front
               ? 0
               : lab_undecided(tl->lab, "the level before holds as many pages as this one may have "
                                        "entries, so these do not show");
}
