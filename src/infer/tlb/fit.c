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

#define CLEAR_SHARE 0.4 /* of the records: beyond doubt */
#define FEW_PAGES 512   /* of which long warming is cheap */
#define LONGER 3
#define LONGEST 20
#define FEWER 0.6 /* of the misses before: they are on their way out */

static int fits_by_records(struct tlb_lab *tl, bool *fits, const struct tlb_ring *ring,
                           const struct tlb_level *level)
{
    static const unsigned ladder[] = {1, LONGER, LONGEST};
    double before = 1;
    *fits = false;
    for (size_t k = 0; k < sizeof ladder / sizeof *ladder && !*fits; k++) {
        struct tlb_view view;
        int rc = tlb_view(tl, &view, ring, level, ladder[k]);
        if (rc) {
            return rc;
        }
        *fits = view.clean || view.miss_share == 0;
        bool settled = view.miss_share > CLEAR_SHARE && view.miss_share > FEWER * before;
        bool thrashes = view.always && view.slow_count > 1;
        before = view.miss_share;
        tlb_view_free(&view);
        if (settled || thrashes || (k == 1 && ring->count > FEW_PAGES)) {
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
    if (!*fits && (double)first.slow_count < CLEAR_SHARE * (double)first.count) {
        rc = tlb_view(tl, &again, ring, level, LONGER);
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
    if (tlb_counts(tl, level, pages)) {
        return tlb_census_fits(tl, fits, level, NULL, pages);
    }
    int rc = tlb_ring_of_pages(&ring, level->page, pages, 0);
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
