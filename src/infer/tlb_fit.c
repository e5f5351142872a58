/*
 * Do these pages fit into a level of translation together? They are walked in a circle: a page that
 * misses in more than stray records is too many. What seems to miss is looked at again with more
 * warming before it counts, for noise does not fall on the same pages twice, and a level that gives
 * up entries at random takes some passes to let go of what it held before.
 */
#include <stdlib.h>

#include "infer/tlb.h"

#define CLEAR_SHARE 0.4 /* of the pages: beyond doubt */
#define FEW_SHARE 0.3   /* fewer may still be on their way in */
#define FEW_PAGES 512   /* of which long warming is cheap */
#define LONGER 3
#define LONGEST 16

/* Pages that are slow in both views. */
static size_t slow_twice(const struct tlb_view *a, const struct tlb_view *b)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        count += a->slow[i] && b->slow[i];
    }
    return count;
}

/* Of a walk that showed slow pages once. */
static int look_again(struct tlb_lab *tl, bool *fits, const struct tlb_ring *ring,
                      const struct tlb_level *level, const struct tlb_view *first)
{
    size_t enough = tl->noisy ? 2 : 1;
    *fits = false;
    for (unsigned patience = LONGER; !*fits && patience <= LONGEST; patience = LONGEST) {
        struct tlb_view view;
        int rc = tlb_view(tl, &view, ring, level, patience);
        if (rc) {
            return rc;
        }
        size_t again = slow_twice(first, &view);
        double share = (double)view.slow_count / (double)view.count;
        tlb_view_free(&view);
        *fits = again < enough;
        if (patience == LONGEST || share > FEW_SHARE || ring->count > FEW_PAGES) {
            break;
        }
    }
    return 0;
}

int tlb_fits(struct tlb_lab *tl, bool *fits, const struct tlb_ring *ring,
             const struct tlb_level *level)
{
    struct tlb_view view;
    int rc = tlb_view(tl, &view, ring, level, 1);
    if (rc) {
        return rc;
    }
    *fits = view.slow_count == 0;
    if (!*fits && (double)view.slow_count < CLEAR_SHARE * (double)view.count) {
        rc = look_again(tl, fits, ring, level, &view);
    }
    tlb_view_free(&view);
    return rc;
}

static int pages_fit(struct tlb_lab *tl, bool *fits, size_t pages, const struct tlb_level *level)
{
    struct tlb_ring ring;
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
