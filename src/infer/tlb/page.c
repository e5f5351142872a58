/*
 * How much memory one entry of a level translates. In a walk that is too long for the level, an
 * element misses when its page was not that of the element before it. So while elements lie closer
 * together than a page only some of them miss, and at a page's distance all do. From there
 * downwards a second line is put behind each element, at half the distance, a quarter and so on,
 * until it hits: then it shares its element's page.
 *
 * This asks nothing of how pages are dealt out to sets. A page is taken for a power of two.
 */
#include <stdlib.h>

#include "infer/tlb/tlb.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    double all_share, second_share, alone_share;
    unsigned front_times, longest, again_run;
} limits = {
    .all_share = 0.7,    /* share of the elements: they all miss */
    .second_share = 0.5, /* share of the elements' share: the second lines miss too */
    .alone_share = 0.3,  /* share of the elements that are slow: no few by accident. Chosen */
    .longest =
        3, /* times the walk that shows the level: beyond, what misses is also data. Chosen */
    .again_run = 650000, /* requests: apart from those of all other walks. Chosen */
    .front_times = 2, /* times the entries in front: a walk of so many elements finds none there */
};

static int slow_shares(struct tlb_lab *tl, double *elements, double *second_share,
                       struct tlb_level *level, uint64_t stride, size_t count, uint64_t distance)
{
    struct tlb_ring ring;
    struct tlb_view view;
    size_t slow[2] = {0, 0}, each = distance ? 2 : 1;
    int rc = tlb_ring_of_pages(tl, &ring, stride, count, distance);
    rc = rc ? rc : tlb_view(tl, &view, &ring, level, 1);
    free(ring.unit);
    if (rc) {
        return rc;
    }
    for (size_t i = 0; i < view.count; i++) {
        slow[i % each] += view.slow[i];
    }
    /* A longer walk than that which showed the level may miss the next one, too. */
    if (!distance && stride * count <= level->reach) {
        double median;
        level->seen = tlb_view_quantile(&view, 0.5);
        rc = tlb_view_slow(&view, &median);
        bool enough = (double)slow[0] >= limits.alone_share * (double)count;
        if (rc == 0 && enough && (level->alone <= 0 || median < level->alone)) {
            level->alone = median;
        }
    }
    tlb_view_free(&view);
    *elements = (double)slow[0] / (double)count;
    *second_share = (double)slow[1] / (double)count;
    return rc;
}

/* Elements of a walk of `reach` bytes. More where the level in front holds as many, for what it has
 * never asks this level; 0: memory has no room for these. */
static size_t elements_of(const struct tlb_lab *tl, const struct tlb_level *level, uint64_t reach,
                          uint64_t stride)
{
    size_t count = (size_t)(reach / stride), most = (size_t)(tl->limit_bytes / stride);
    size_t least = level->in_front ? limits.front_times * level->in_front : 2;
    return count > level->in_front && count >= 2 ? count : least <= most ? least : 0;
}

/* The least stride, from the one that was walked upwards, at which all miss. */
static int widen(struct tlb_lab *tl, struct tlb_level *level, uint64_t *stride, uint64_t reach,
                 double *share)
{
    double none;
    for (;; *stride *= 2) {
        size_t count = *stride <= reach ? elements_of(tl, level, reach, *stride) : 0;
        if (count == 0) {
            return lab_undecided(tl->lab, "no distance of pages makes them all miss");
        }
        int rc = slow_shares(tl, share, &none, level, *stride, count, 0);
        if (rc || *share >= limits.all_share) {
            return rc;
        }
    }
}

/*
 * `from` to `to` times as many elements as were walked: a policy that draws its victims lets some
 * hit in a walk that is hardly too long. The longer walks may be the first whose lines L2 does not
 * hold.
 */
static int lengthen(struct tlb_lab *tl, struct tlb_level *level, uint64_t *reach, double *share,
                    uint64_t from, uint64_t to)
{
    uint64_t first = *reach;
    double none;
    *share = 0;
    for (uint64_t times = from; !tl->rough && times <= to && *share < limits.all_share; times++) {
        if (times * first > tl->limit_bytes) {
            break;
        }
        *reach = times * first;
        size_t count = (size_t)(*reach / level->page);
        bool learnt;
        int rc = times > 1 ? tlb_learn_data(tl, count, &learnt) : 0;
        rc = rc ? rc : slow_shares(tl, share, &none, level, level->page, count, 0);
        if (rc) {
            return rc;
        }
    }
    return *share >= limits.all_share ? 0 : INFER_UNDECIDED;
}

/*
 * Other work may have made a walk slow in which half of the elements hit. So where fewer miss in
 * the next one, it comes once more, numbered apart: all miss in that, too, or a recording lacks it.
 */
static int miss_again(struct tlb_lab *tl, struct tlb_level *level, bool *all, uint64_t stride,
                      uint64_t reach)
{
    const uint32_t run = tl->run;
    double share = 0, none;
    bool lacks;
    tl->run += limits.again_run;
    int rc =
        slow_shares(tl, &share, &none, level, stride, elements_of(tl, level, reach, stride), 0);
    rc = tlb_end_apart(tl, &lacks, run, rc);
    *all = lacks || share >= limits.all_share;
    return rc;
}

/* A distance of elements at which all miss, in a walk of `longer` bytes. */
static int find_stride(struct tlb_lab *tl, struct tlb_level *level, uint64_t *found,
                       uint64_t *walked, uint64_t reach)
{
    double share;
    uint64_t longer = reach, stride = level->page;
    /* Behind another level pages may be so long that few of many elements miss: a walk that is
     * longer has more lines than L2 holds before all do. */
    const uint64_t first = level->in_front ? 1 : limits.longest;
    int rc = lengthen(tl, level, &longer, &share, 1, first);
    if (rc == INFER_UNDECIDED) {
        longer = reach;
        rc = widen(tl, level, &stride, longer, &share);
    }
    if (rc == INFER_UNDECIDED && first < limits.longest) {
        stride = level->page;
        longer = reach;
        rc = lengthen(tl, level, &longer, &share, first + 1, limits.longest);
    }
    if (rc == INFER_UNDECIDED) {
        longer = reach < tl->limit_bytes / 2 ? 2 * reach : tl->limit_bytes;
        stride = level->page;
        rc = widen(tl, level, &stride, longer, &share);
    }
    *found = stride;
    *walked = longer;
    return rc;
}

/* `page` comes in as the stride of a walk of `reach` bytes that shows misses. */
int tlb_page(struct tlb_lab *tl, struct tlb_level *level, uint64_t reach)
{
    double share, second_share = 0;
    uint64_t longer, stride;
    level->alone = 0;
    int rc = find_stride(tl, level, &stride, &longer, reach);
    if (rc) {
        return rc;
    }
    uint64_t page = stride;
    bool all = !tl->noisy || tl->rough;
    while (page >= TLB_LEAST_PAGE) {
        size_t count = elements_of(tl, level, longer, stride);
        rc = slow_shares(tl, &share, &second_share, level, stride, count, page / 2);
        bool fewer = rc == 0 && !all && share < limits.all_share;
        rc = fewer ? miss_again(tl, level, &all, stride, longer) : rc;
        bool wider = fewer && rc == 0 && !all;
        if (wider) {
            stride *= 2;
            rc = widen(tl, level, &stride, longer, &share);
            page = stride;
        }
        if (rc) {
            return rc;
        }
        if (wider) {
            continue;
        }
        if (!tl->rough && share < limits.all_share / 2) {
            return lab_undecided(tl->lab, "pages that missed do so no longer");
        }
        if (second_share < limits.second_share * share) {
            level->page = page;
            return 0;
        }
        page /= 2;
    }
    return lab_undecided(tl->lab, "pages are smaller than %llu bytes",
                         (unsigned long long)TLB_LEAST_PAGE);
}
