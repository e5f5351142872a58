/*
 * The search for a level: loads go past L1 to lines that L2 holds, one a page, and more and more
 * pages are walked in a circle, until loads take longer than the same loads do among few: then a
 * level has fewer entries than the walk has pages. The walk begins 2 MiB apart; what an entry
 * reaches is found afterwards (tlb/page.c).
 *
 * Memory is taken in pages that are mapped one by one where the device can do that, so that no
 * driver's large pages make the reach longer, and grows until both levels have shown or it ends.
 */
#include "infer/tlb/search.h"
#include "infer/tlb/walk/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs), and an H200 (a miss of 10
 * cycles). */
static const struct {
    unsigned search_pages, page_walks, few_elements, few_pages, inside_run, near_cycles,
        close_cycles;
    double hit_quantile, share_quiet, share_noisy, near_hits, low_quantile, close, believed, within,
        data_share, stray, more, apart, same, many;
} limits = {
    .search_pages = 4096, /* pages of a walk; beyond, their distance grows */
    .page_walks = 4, /* walks that show a level and not its page, each half as long again. Chosen */
    .few_elements = 24, /* of the walk that shows the first level: lines were measured among as many
                           as it may hold. Chosen */
    .few_pages = 12, /* of the same walk, where its elements lie closer: half as many again as lines
                        are measured in. Chosen */
    .inside_run = 500000, /* requests: more than all others; probes count to a million. Chosen */
    .hit_quantile = 0.98, /* quantile of the hits' excess that counts as noise */
    .share_quiet = 0.01,  /* share of the elements that must be slow */
    .share_noisy = 0.03,  /* the same with noise, or where lines differ */
    .near_hits = 0.4, /* part of the way from hits to the cheapest misses: the threshold, for misses
                         differ */
    .near_cycles = 10,   /* cycles above the hits, the same at most */
    .close_cycles = 5,   /* cycles beside noise, where noise is the greater danger */
    .low_quantile = 0.1, /* quantile of the misses' excess: the cheapest */
    .close = 0.75,   /* part of the way to the cheapest misses where noise is the greater danger */
    .believed = 1.5, /* times the penalty: what was slow was not the level's doing. Chosen */
    .within = 2,     /* times the noise of a record: misses that medians alone can tell. Chosen */
    .data_share =
        0.02,     /* share of the records that take as long as missing data: worth a question */
    .stray = 0.3, /* share of the elements that are slow again: fewer are slow by accident */
    .more = 1.5,  /* times the noise that is allowed for in a step */
    .apart = 1.2, /* times the noise: how far a level's misses are from hits */
    .same = 0.6,  /* share of the elements that are slow again */
    .many = 0.15, /* share of all elements: no accident, whichever they are */
};

static void report_reach(const struct lab *lab, uint64_t reach)
{
    if (lab->options->progress) {
        char what[64];
        snprintf(what, sizeof what, "translation of %llu MiB", (unsigned long long)(reach >> 20));
        lab->options->progress(lab->options->progress_ctx, lab->done, what);
    }
}

bool tlb_is_within_noise(const struct tlb_lab *tl, double penalty)
{
    return tl->noisy && penalty < limits.within * tl->record_noise;
}

/* What is slow in both views. */
static void compare_views(const struct tlb_lab *tl, struct tlb_search *search,
                          const struct tlb_view *a, struct tlb_view *b)
{
    size_t same = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->slow[i] && b->slow[i]) {
            b->excess[same++] = a->excess[i];
        }
    }
    b->count = same;
    search->slow = same;
    search->median = a->miss_excess;
    search->low = same ? tlb_view_quantile(b, limits.low_quantile) : 0;
    search->low_record = a->miss_low;
    search->high_record = a->miss_high;
    if (!tl->lines_differ && same && tlb_is_within_noise(tl, search->median - search->before)) {
        search->median = tlb_view_quantile(b, 0.5);
    }
    search->far = tl->rough && a->far;
    if (search->far) { /* a policy that draws misses too rarely for medians */
        search->low = fmax(search->low, a->miss_low);
    }
}

static void set_threshold(const struct tlb_lab *tl, struct tlb_level *level,
                          struct tlb_search *search)
{
    level->before = search->before;
    level->like_data = search->like_data;
    search->like_data = false;
    level->penalty = search->median - search->before;
    /* Where few pages miss, their walks find entries in caches, and a miss costs less. */
    double near = fmin(limits.near_hits * (search->low - search->before),
                       fmax(limits.near_cycles, 3 * search->noise));
    level->threshold = search->before + fmax(search->noise, near);
    level->least = level->threshold;
    level->most = INFINITY;
    if (search->far) {
        double half = (search->low_record - search->before) / 2;
        level->threshold =
            fmax(level->threshold, search->before + fmin(half, 2 * tl->record_noise));
    }
    if (tl->noisy && !tl->lines_differ &&
        !tlb_is_within_noise(tl, search->median - search->before)) {
        /* Noise makes no miss sooner: the threshold may lie close to them. */
        double close = limits.close * (search->low_record - search->before);
        double wide = fmin(close, 2 * tl->record_noise + limits.close_cycles);
        level->threshold = fmax(level->threshold, search->before + wide);
        level->least = fmax(level->threshold, search->before + close);
        level->most =
            search->high_record + tl->record_noise + 0.02 * (tl->reference + search->high_record);
    }
    level->page = search->stride;
    level->reach = search->reach;
}

/* What elements exceed hits by, but for a few: those of which L2 misses the line tell nothing of
 * that. */
static double high_of(const struct tlb_lab *tl, const struct tlb_view *view,
                      const struct tlb_level *trial)
{
    struct tlb_view rest = *view;
    rest.count = 0;
    for (size_t i = 0; i < view->count; i++) {
        if (!tlb_is_data(tl, trial, view->excess[i])) {
            rest.excess[rest.count++] = view->excess[i];
        }
    }
    return rest.count ? tlb_view_quantile(&rest, limits.hit_quantile) - trial->before + 1 : 0;
}

/* Twice the same elements are slow, enough of them, and enough slower. */
static int look_twice(struct tlb_lab *tl, struct tlb_search *search, bool *found,
                      const struct tlb_ring *ring, const struct tlb_level *trial)
{
    struct tlb_view view = {0}, again = {0};
    double share = tl->noisy || tl->rough ? limits.share_noisy : limits.share_quiet;
    size_t enough = (size_t)fmax(2, share * (double)ring->count);
    bool stray = true; /* what is slow is so by accident */
    *found = false;
    int rc = tlb_view(tl, &view, ring, trial, 1);
    search->data_share = view.data_share;
    if (rc == 0 && view.slow_count >= enough) {
        rc = tlb_doubt(tl, ring, &view);
        rc = rc ? rc : tlb_view(tl, &again, ring, trial, 1);
        if (rc == 0) {
            compare_views(tl, search, &view, &again);
            search->low = search->slow ? search->low : view.miss_low;
            stray = (double)search->slow < limits.stray * (double)view.slow_count;
        }
        /* A policy that draws makes others miss each time; noise, not that many. */
        bool all = !tl->rough && view.far_share > limits.many && again.far_share > limits.many;
        bool same =
            search->slow >= enough && (double)search->slow > limits.same * (double)view.slow_count;
        *found = rc == 0 && (same || all) &&
                 search->median - search->before > limits.apart * search->noise;
    }
    if (rc == 0 && !*found) {
        search->high = high_of(tl, &view, trial);
        search->stray = stray;
    }
    tlb_view_free(&view);
    tlb_view_free(&again);
    return rc;
}

/* The walk's elements but those that take as long as missing data; then all, if it is not that. */
static int look(struct tlb_lab *tl, struct tlb_search *search, bool *found,
                const struct tlb_ring *ring)
{
    struct tlb_level trial = {.before = search->before,
                              .threshold = search->before + search->noise};
    struct tlb_search first = *search;
    int rc = look_twice(tl, &first, found, ring, &trial);
    bool learnt = false;
    rc = rc || !*found ? rc : tlb_learn_data(tl, ring->count, &learnt);
    if (rc == 0 && learnt) {
        first = *search;
        rc = look_twice(tl, &first, found, ring, &trial);
    }
    if (rc == 0 && first.data_share > limits.data_share) {
        bool data;
        trial.like_data = true;
        rc = tlb_ask_second_lines(tl, &data, &trial, search->stride, ring->count);
        if (rc == 0 && !data) {
            first = *search;
            rc = look_twice(tl, &first, found, ring, &trial);
            first.like_data = *found;
        }
    }
    *search = first;
    if (rc == 0 && !*found) {
        search->noise = search->stray
                            ? fmax(search->noise, fmin(search->high, limits.more * search->noise))
                            : search->noise;
        search->pages = ring->count;
    }
    return rc;
}

static int walk_reach(struct tlb_lab *tl, struct tlb_search *search, bool *found,
                      struct tlb_level *level)
{
    struct tlb_ring ring;
    size_t pages = (size_t)(search->reach / search->stride);
    int rc = tlb_ring_of_pages(tl, &ring, search->stride, pages, 0);
    rc = rc ? rc : look(tl, search, found, &ring);
    if (rc == 0 && *found) {
        set_threshold(tl, level, search);
    }
    free(ring.unit);
    return rc;
}

/* The next reach, and the stride at which a walk of it is not too long. */
static int grow(struct tlb_lab *tl, struct tlb_search *search)
{
    uint64_t next =
        search->reach / search->stride < 3 ? search->reach + search->stride : search->reach / 2 * 3;
    if (search->reach + search->stride > tl->limit_bytes) {
        return lab_absent(tl->lab,
                          "no more than %llu MiB were walked, and no level of translation "
                          "showed beyond these",
                          (unsigned long long)(search->reach >> 20));
    }
    search->reach = next < tl->limit_bytes ? next : tl->limit_bytes;
    while (search->reach / search->stride > limits.search_pages) {
        search->stride *= 2;
        search->pages = search->pages > 1 ? search->pages / 2 : 1;
    }
    search->reach -= search->reach % search->stride;
    report_reach(tl->lab, search->reach);
    return 0;
}

/* Grows the circle until a good part of its loads take longer than before. */
static int find_level(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level)
{
    bool found = false;
    int rc = 0;
    while (rc == 0 && !found) {
        rc = grow(tl, search);
        rc = rc ? rc : walk_reach(tl, search, &found, level);
    }
    return rc;
}

void tlb_believe(const struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level,
                 double low, double middle, double high)
{
    uint64_t page = level->page;
    search->median = middle;
    search->low = search->low_record = low;
    search->high_record = high;
    search->like_data = level->like_data;
    set_threshold(tl, level, search);
    level->page = page;
    level->believed = true;
}

/*
 * Where nearly all elements of the walk that tells the page miss, their median says better what a
 * miss takes than the few did that showed the level, and were not told from noise.
 *
 * Where pages are longer than the distance of the walk that showed the level, that had several
 * lines of each, more than L2 may hold: what took so long were misses of both. Fewer lines of the
 * same pages tell what the level's takes.
 */
static void believe_pages(const struct tlb_lab *tl, struct tlb_search *search,
                          struct tlb_level *level)
{
    double seen = level->seen - level->before;
    /* Of the last walk, where most miss in it. */
    double alone = level->seen > level->threshold ? level->seen : level->alone;
    if (tl->noisy && seen > limits.believed * level->penalty) {
        tlb_believe(tl, search, level, level->seen, level->seen, level->seen);
    } else if ((tl->noisy || tl->data_cycles > 0) && level->page > search->stride &&
               alone > level->threshold &&
               level->penalty > limits.believed * (alone - level->before)) {
        tlb_believe(tl, search, level, alone, alone, alone);
    }
}

static int find_its_page(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level)
{
    int rc = tlb_page(tl, level, search->reach);
    if (rc == 0) {
        believe_pages(tl, search, level);
    }
    return rc;
}

/*
 * A level, and its page. Where sets are hardly too full, and victims drawn, too few miss to tell
 * the page; more pages are walked then.
 */
static int find_paged(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level)
{
    struct refusal first = {0};
    int rc = INFER_UNDECIDED;
    for (unsigned i = 0; rc == INFER_UNDECIDED && i < limits.page_walks; i++) {
        const struct tlb_search before = *search;
        rc = find_level(tl, search, level);
        if (rc) {
            *search = before;
            break;
        }
        rc = find_its_page(tl, search, level);
        if (rc == INFER_UNDECIDED && i == 0) {
            first = tl->lab->why;
        }
        if (rc == INFER_UNDECIDED) {
            tl->lab->why = (struct refusal){0};
        }
    }
    if (rc == INFER_UNDECIDED && first.reason[0]) {
        tl->lab->why = first;
    }
    return rc;
}

/*
 * A level with its page. At distances of several pages only every so many sets are used, and a
 * level may hide behind the next; so the search begins again with the page as its stride.
 */
int tlb_find_page(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level)
{
    struct tlb_search start = *search;
    int rc = find_paged(tl, search, level);
    if (rc) {
        return rc;
    }
    struct tlb_search first = *search;
    struct tlb_level coarse = *level;
    if (level->page >= first.stride) {
        return 0;
    }
    start.reach -= start.reach % level->page;
    /* A reach of one long page is many short ones, too many for both levels perhaps. */
    start.reach = start.reach && level->in_front ? start.reach : level->page;
    start.stride = level->page;
    start.pages = (size_t)(start.reach / start.stride);
    start.noise = first.noise;
    *search = start;
    coarse.page = level->page;
    rc = find_level(tl, search, level);
    if (rc == INFER_UNDECIDED) { /* then as it was found */
        tl->lab->why.status = ATTRIBUTE_NOT_MEASURED;
        *search = first;
        *level = coarse;
        return 0;
    }
    return rc ? rc : find_its_page(tl, search, level);
}

/*
 * Does a walk inside the pages of the first level that showed take longer than among few? The level
 * holds these pages; then what misses is another one, of smaller pages, which did not show by
 * itself: in walks over the longer pages both missed at once. `stride` becomes the least at which
 * it shows; 0: none does. Its requests are numbered apart, so that all others stay those of
 * recordings.
 */
static int look_inside(struct tlb_lab *tl, const struct tlb_search *start,
                       const struct tlb_search *outer, const struct tlb_level *level,
                       uint64_t *stride)
{
    size_t count = outer->pages * 2 < limits.search_pages ? outer->pages * 2 : limits.search_pages;
    const uint32_t run = tl->run;
    bool found = true;
    int rc = 0;
    *stride = 0;
    tl->run += limits.inside_run;
    for (uint64_t at = level->page / 2; rc == 0 && found && at >= TLB_LEAST_PAGE; at /= 2) {
        struct tlb_search inner = *start;
        struct tlb_level within = {0};
        inner.stride = at;
        inner.reach = at * count;
        inner.noise = outer->noise;
        rc = walk_reach(tl, &inner, &found, &within);
        *stride = rc == 0 && found ? at : *stride;
    }
    return tlb_end_apart(tl, NULL, run, rc);
}

/* Was the first level shown by a walk of so few pages that it may have fewer entries than the lines
 * that are measured together have pages? */
static bool may_have_few(const struct tlb_lab *tl, const struct tlb_search *search,
                         const struct tlb_level *level)
{
    uint64_t apart = level->page > search->stride ? level->page : search->stride;
    return tl->lines_differ && !tl->few &&
           (search->reach / search->stride <= limits.few_elements ||
            search->reach / apart <= limits.few_pages);
}

/*
 * Where some lines are nearer than others each is measured among few; a level of fewer entries than
 * these misses there, too, and its misses pass for what the lines take.
 */
static int find_first_page(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level)
{
    const struct tlb_search start = *search;
    const struct tlb_level none = *level;
    int rc = tlb_find_page(tl, search, level);
    if (rc == 0 && may_have_few(tl, search, level)) {
        tl->few = true;
        tlb_forget_lines(tl);
        *search = start;
        *level = none;
        rc = tlb_find_page(tl, search, level);
    }
    return rc;
}

/*
 * At a distance of several pages only some sets are used, and pages of that distance seem to be
 * what misses. Then other places of them do not, and the search begins again at half of it.
 */
static int find_held_page(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level)
{
    const struct tlb_search start = *search;
    const struct tlb_level none = *level;
    bool holds = false;
    int rc = find_first_page(tl, search, level);
    for (uint64_t stride = 0; rc == 0;) {
        rc = tlb_page_holds(tl, &holds, level, search->reach);
        if (rc == INFER_UNDECIDED) { /* what a walk was too dear for is not sure */
            tl->lab->why = (struct refusal){0};
            level->unchecked = true;
            return 0;
        }
        if (rc || holds) {
            return rc;
        }
        uint64_t half = level->page / 2;
        stride = stride && stride / 2 < half ? stride / 2 : half;
        if (stride < TLB_LEAST_PAGE) {
            return lab_undecided(tl->lab, "pages that miss do not at other places of them");
        }
        *search = start;
        search->stride = search->reach = stride;
        *level = none;
        rc = find_first_page(tl, search, level);
    }
    return rc;
}

/* The first level and its page: of the smallest pages that show. */
int tlb_find_first(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level)
{
    const struct tlb_search start = *search;
    uint64_t inside = 0;
    int rc = find_held_page(tl, search, level);
    while (rc == 0) {
        rc = look_inside(tl, &start, search, level, &inside);
        if (rc || inside == 0) {
            return rc;
        }
        struct tlb_search outer = *search;
        struct tlb_level longer = *level;
        *search = start;
        search->stride = search->reach = inside;
        search->noise = outer.noise;
        rc = tlb_find_page(tl, search, level);
        if (rc == INFER_UNDECIDED || (rc == 0 && level->page >= longer.page)) {
            tl->lab->why = (struct refusal){0};
            *search = outer;
            *level = longer;
            return 0;
        }
    }
    return rc;
}
