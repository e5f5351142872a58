/*
 * The sets of a level of translation. One page more than fits makes one set overflow. Under a
 * policy that thrashes (LRU, FIFO) all of its pages then miss, one more than it has entries, and
 * page after page more makes set after set overflow: the pages that newly miss are the next set's.
 * Where sets may be alike, half of them and all of them are made to overflow at once, and every
 * page must miss.
 *
 * Under another policy some of a set's pages go on hitting. Then its pages are found by leaving
 * out: a page belongs to the set that is too full exactly if the walk fits without it. With one of
 * them left out for good, the next page over shows the next set.
 *
 * (Where single records can be told apart, tlb/counted.c does that instead, by counting.)
 *
 * When the sets found so add up to what fits, they are all there, equal or not; otherwise nothing
 * is said.
 */
#include "infer/tlb/tlb.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned max_more, most_sizes, most_slack, many_alike, most_loads, most_left_out, most_members,
        hidden;
} limits = {
    .max_more = 80,        /* pages beyond those that fit */
    .most_sizes = 2,       /* different sizes of sets, where these are in no order */
    .most_slack = 8,       /* pages that may fit beside the sets */
    .many_alike = 100,     /* pages, of which one may be off */
    .most_loads = 4000000, /* loads that leaving pages out may cost */
    .most_left_out = 1024, /* pages: beyond, leaving out takes too long */
    .most_members = 50000, /* pages times those of a set: beyond, only a few are left out. Chosen */
    .hidden = 2,           /* times the entries in front: so long must a walk be */
};
#define SLACK_WALKS 7

struct sets {
    struct tlb_lab *tl;
    struct tlb_result *out;
    struct tlb_level *level;
    size_t in_front, entries;
    bool counted; /* found by tlb/counted.c */
    bool turns;   /* found by tlb/turns.c */
    size_t slack; /* pages that fit beside the sets */
    bool always;  /* what misses when a page is too many misses in every pass */
    bool *missed; /* per page, so far; owned */
    uint32_t *of; /* per page, the set that it was found in, from 1; 0: none yet; owned */
    size_t room;
};

static int view_pages(struct tlb_lab *tl, struct tlb_view *view, const struct tlb_level *level,
                      size_t pages)
{
    struct tlb_ring ring;
    int rc = tlb_ring_of_pages(tl, &ring, level->page, pages, 0);
    rc = rc ? rc : tlb_view(tl, view, &ring, level, 2);
    free(ring.unit);
    return rc;
}

static void add_step(struct tlb_result *out, size_t pages, size_t missed)
{
    if (out->step_count < INFER_MAX_TLB_STEPS) {
        out->steps[out->step_count++] = (struct tlb_step){(uint32_t)pages, (uint32_t)missed};
    }
}

static int count_slow(struct sets *sets, size_t *slow, size_t pages)
{
    struct tlb_view view;
    int rc = view_pages(sets->tl, &view, sets->level, pages);
    if (rc == 0) {
        *slow = view.slow_count;
        tlb_view_free(&view);
        add_step(sets->out, pages, *slow);
    }
    return rc;
}

static int keep_set(struct tlb_level *level, const bool *slow, size_t pages)
{
    level->set_count = 0;
    free(level->set);
    level->set = malloc(pages * sizeof *level->set);
    for (size_t i = 0; level->set && i < pages; i++) {
        if (slow[i]) {
            level->set[level->set_count++] = (uint32_t)i;
        }
    }
    return level->set ? 0 : error_memory();
}

/* Does the walk of the `pages` first pages fit without those of [from, to) and without what is left
 * out? */
static int fits_without(struct sets *sets, bool *fits, const uint32_t *page, size_t count,
                        size_t from, size_t to)
{
    struct tlb_ring ring = {.unit = malloc(count * sizeof *ring.unit)};
    if (!ring.unit) {
        return error_memory();
    }
    for (size_t i = 0; i < count; i++) {
        if (i < from || i >= to) {
            ring.unit[ring.count++] = tlb_place(sets->tl, sets->level->page, page[i], 0);
        }
    }
    int rc = tlb_fits(sets->tl, fits, &ring, sets->level);
    free(ring.unit);
    return rc;
}

/* ---- leaving out ---- */

struct members {
    struct sets *sets;
    const uint32_t *page;
    size_t count;
    uint32_t *found; /* indices into page */
    size_t found_count;
    uint64_t start;
};

static int search_members(struct members *m, size_t from, size_t to)
{
    bool fits = false;
    if (m->sets->tl->lab->loads - m->start > limits.most_loads) {
        return lab_undecided(m->sets->tl->lab, "the pages of a set were not found in %d loads",
                             limits.most_loads);
    }
    int rc = fits_without(m->sets, &fits, m->page, m->count, from, to);
    if (rc || !fits) {
        return rc;
    }
    if (to - from == 1) {
        m->found[m->found_count++] = (uint32_t)from;
        return 0;
    }
    size_t middle = from + (to - from) / 2;
    rc = search_members(m, from, middle);
    return rc ? rc : search_members(m, middle, to);
}

/* The pages of the set that is too full, from quarters: what remains must be seen. */
static int find_members(struct members *m)
{
    size_t quarter = (m->count + 3) / 4;
    int rc = 0;
    m->found_count = 0;
    for (size_t from = 0; rc == 0 && from < m->count; from += quarter) {
        rc = search_members(m, from, from + quarter < m->count ? from + quarter : m->count);
    }
    return rc;
}

/* Two of the set's pages and one other: does the walk fit without them exactly as it should? */
static int try_members(struct members *m, bool *good)
{
    const struct tlb_level *level = m->sets->level;
    size_t other = 0;
    *good = true;
    while (other < m->count && m->sets->missed[other]) {
        other++;
    }
    for (size_t i = 0; *good && i < 3; i++) {
        bool fits = i < 2;
        size_t out = i < 2 ? level->set[i ? level->set_count - 1 : 0] : other;
        int rc = out < m->count ? fits_without(m->sets, &fits, m->page, m->count, out, out + 1) : 0;
        if (rc) {
            return rc;
        }
        *good = fits == (i < 2) || out == m->count;
    }
    return 0;
}

/* Do half of the set's pages that are walked still miss, where pages from `from` to `to` are left
 * out that are of the set, or those that are not? */
static int set_misses(struct sets *sets, bool *misses, size_t from, size_t to, bool of_set)
{
    const size_t pages = sets->level->fits + 1, units = sets->level->page / TLB_UNIT_BYTES;
    struct tlb_ring ring = {.unit = malloc(pages * sizeof *ring.unit)};
    struct tlb_view view = {0};
    size_t own = 0, slow = 0;
    if (!ring.unit) {
        return error_memory();
    }
    for (size_t i = 0; i < pages; i++) {
        if (i < from || i >= to || sets->missed[i] != of_set) {
            ring.unit[ring.count++] = tlb_place(sets->tl, sets->level->page, i, 0);
        }
    }
    int rc = tlb_view(sets->tl, &view, &ring, sets->level, 1);
    for (size_t i = 0; rc == 0 && i < ring.count; i++) {
        bool is_own = sets->missed[ring.unit[i] / units];
        own += is_own;
        slow += is_own && view.slow[i];
    }
    *misses = slow > 0 && 2 * slow >= own;
    tlb_view_free(&view);
    free(ring.unit);
    return rc;
}

/*
 * The same of few walks, for noise, which makes each of them long and now and then one of many
 * wrong: the set's pages, which all miss, do so no longer without any one of them, and still do
 * without others, of which a quarter is left out at a time.
 */
static int confirm_set(struct sets *sets, bool *good)
{
    const size_t pages = sets->level->fits + 1, quarter = (pages + 3) / 4;
    bool misses = true;
    int rc = 0;
    for (size_t from = 0; rc == 0 && misses && from < pages; from += quarter) {
        rc = set_misses(sets, &misses, from, from + quarter, false);
    }
    *good = rc == 0 && misses;
    for (size_t i = 0; rc == 0 && *good && i < pages; i++) {
        if (sets->missed[i]) {
            rc = set_misses(sets, &misses, i, i + 1, true);
            *good = !misses;
        }
    }
    return rc;
}

/*
 * Is what missed the whole set? A policy may let some of its pages hit for ever: then leaving out
 * finds more. In long walks two of the pages are tried, and another.
 */
static int check_set(struct sets *sets, bool *good)
{
    const struct tlb_level *level = sets->level;
    size_t pages = level->fits + 1;
    uint32_t *page = malloc(pages * sizeof *page), *found = malloc(pages * sizeof *found);
    if (!page || !found) {
        free(page);
        free(found);
        return error_memory();
    }
    for (size_t i = 0; i < pages; i++) {
        page[i] = (uint32_t)i;
    }
    struct members m = {
        .sets = sets, .page = page, .count = pages, .found = found, .start = sets->tl->lab->loads};
    int rc;
    bool all = pages <= limits.most_left_out && pages >= 2 * limits.hidden * sets->in_front &&
               pages * level->set_count <= limits.most_members;
    if (all && sets->tl->noisy && !sets->tl->lines_differ) {
        rc = confirm_set(sets, good);
    } else if (all) {
        rc = find_members(&m);
        *good = rc == 0 && m.found_count == level->set_count;
    } else {
        rc = try_members(&m, good);
    }
    free(page);
    free(found);
    return rc;
}

/* ---- a policy that thrashes ---- */

static int first_set(struct sets *sets, bool *good)
{
    struct tlb_level *level = sets->level;
    struct tlb_view view;
    size_t pages = level->fits + 1;
    int rc = view_pages(sets->tl, &view, level, pages);
    if (rc) {
        return rc;
    }
    add_step(sets->out, pages, view.slow_count);
    memcpy(sets->missed, view.slow, pages * sizeof *view.slow);
    rc = keep_set(level, view.slow, pages);
    sets->always = view.always && level->set_count >= 2;
    tlb_view_free(&view);
    *good = sets->always;
    return rc || !*good ? rc : check_set(sets, good);
}

/* Counts of slow pages; a noisy device may be off by some of many. Among few that would let sets
 * pass that are not alike. */
static bool agree(const struct tlb_lab *tl, size_t slow, size_t expected)
{
    size_t apart = slow > expected ? slow - expected : expected - slow;
    return tl->noisy ? apart <= expected / limits.many_alike : apart == 0;
}

/* Does each of `count` sets of so many entries overflow when it should: half of them, all? */
static int check_alike(struct sets *sets, bool *alike, size_t entries, size_t ways)
{
    size_t count = entries / ways, half = count / 2, slow = 0;
    *alike = entries % ways == 0 && count <= INFER_MAX_TLB_SETS &&
             (entries + count + 1) * sets->level->page <= sets->tl->limit_bytes;
    if (*alike && half > 1) {
        int rc = count_slow(sets, &slow, entries + half);
        *alike = rc == 0 && agree(sets->tl, slow, half * (ways + 1));
        if (rc) {
            return rc;
        }
    }
    if (*alike && count > 1) {
        int rc = count_slow(sets, &slow, entries + count);
        *alike = rc == 0 && agree(sets->tl, slow, entries + count);
        if (rc) {
            return rc;
        }
    }
    for (size_t i = 0; *alike && i < count; i++) {
        sets->out->entries_per_set[sets->out->set_count++] = (uint32_t)ways;
        sets->entries += ways;
    }
    return 0;
}

/* The increment that comes most often, if every other one is that or nothing. */
static size_t common_step(const size_t slow[SLACK_WALKS])
{
    size_t step = 0, times = 0, none = 0;
    for (size_t i = 1; i < SLACK_WALKS; i++) {
        size_t more = slow[i] > slow[i - 1] ? slow[i] - slow[i - 1] : 0;
        none += more == 0;
        step = more ? more : step;
    }
    for (size_t i = 1; i < SLACK_WALKS; i++) {
        times += slow[i] == slow[i - 1] + step;
    }
    return times + none == SLACK_WALKS - 1 && times > none ? step : 0;
}

/*
 * Pages may fill the sets not quite evenly, and some more may fit than the sets hold, kept for a
 * while by something beside them that serves all. What a page more makes miss are still as many as
 * a set has entries, and one; and the sets are alike if half of them and all of them overflow when
 * they should.
 */
static int try_slack(struct sets *sets, bool *alike)
{
    struct tlb_level *level = sets->level;
    size_t slow[SLACK_WALKS];
    sets->out->step_count = sets->out->set_count = 0;
    sets->entries = 0;
    for (size_t i = 0; i < SLACK_WALKS; i++) {
        int rc = count_slow(sets, &slow[i], level->fits + 1 + i);
        if (rc) {
            return rc;
        }
    }
    size_t step = common_step(slow), ways = step > 1 ? step - 1 : 0;
    size_t entries = ways ? (level->fits + ways / 2) / ways * ways : 0;
    size_t apart = entries > level->fits ? entries - level->fits : level->fits - entries;
    *alike = ways > 0 && apart <= limits.most_slack && entries >= ways;
    int rc = *alike ? check_alike(sets, alike, entries, ways) : 0;
    if (rc == 0 && *alike) {
        sets->slack = level->fits > entries ? apart : 0;
        level->fits = entries;
        level->set_count = 0; /* which page misses is not the set's doing alone */
    }
    return rc;
}

/* What misses for the first time is a set; of sets that differ the largest is kept, for its policy.
 */
static int keep_larger(struct sets *sets, const bool *slow, size_t pages)
{
    struct tlb_level *level = sets->level;
    size_t fresh = 0;
    for (size_t i = 0; i < pages; i++) {
        fresh += slow[i] && !sets->missed[i];
    }
    if (fresh <= level->set_count || !tlb_can_count(sets->tl, level, fresh)) {
        return 0;
    }
    uint32_t *set = malloc(fresh * sizeof *set);
    if (!set) {
        return error_memory();
    }
    level->set_count = 0;
    free(level->set);
    level->set = set;
    for (size_t i = 0; i < pages; i++) {
        if (slow[i] && !sets->missed[i]) {
            set[level->set_count++] = (uint32_t)i;
        }
    }
    return 0;
}

static int add_page(struct sets *sets, bool *good, size_t pages)
{
    struct tlb_result *out = sets->out;
    struct tlb_view view;
    int rc = view_pages(sets->tl, &view, sets->level, pages);
    if (rc) {
        return rc;
    }
    size_t fresh = 0, quiet = 0;
    rc = keep_larger(sets, view.slow, pages);
    for (size_t i = 0; i < pages; i++) {
        bool first = view.slow[i] && !sets->missed[i];
        sets->of[i] = first ? (uint32_t)out->set_count + 1 : sets->of[i];
        fresh += view.slow[i] && !sets->missed[i];
        quiet += !view.slow[i] && sets->missed[i];
        sets->missed[i] = sets->missed[i] || view.slow[i];
    }
    add_step(out, pages, view.slow_count);
    bool always = view.always;
    tlb_view_free(&view);
    *good = quiet == 0 && always;
    if (fresh > 1 && out->set_count < INFER_MAX_TLB_SETS) {
        out->entries_per_set[out->set_count++] = (uint32_t)(fresh - 1);
        sets->entries += fresh - 1;
    }
    return rc;
}

/* How many sizes there are among the sets. Sets of many sizes are parts of sets. */
static size_t count_sizes(const struct tlb_result *out)
{
    size_t sizes = 0;
    for (size_t i = 0; i < out->set_count; i++) {
        size_t k = 0;
        while (out->entries_per_set[k] != out->entries_per_set[i]) {
            k++;
        }
        sizes += k == i;
    }
    return sizes;
}

/* Are the pages that fit all of sets that were found? Sets of different sizes may have as many
 * entries as pages fit before all of them are too full. */
static bool all_missed(const struct sets *sets)
{
    size_t count = 0;
    for (size_t i = 0; i < sets->level->fits; i++) {
        count += sets->missed[i];
    }
    return count == sets->level->fits;
}

/* Sets of many sizes are believed where the number of sets tells which pages are of one. */
static bool are_in_turn(const struct sets *sets)
{
    size_t count = sets->out->set_count;
    for (size_t i = count; i < sets->level->fits; i++) {
        if (sets->of[i] != sets->of[i % count]) {
            return false;
        }
    }
    return count > 1;
}

/*
 * Fresh walks of nothing but what was found: a set has one page more than entries, and must not fit
 * alone. Parts of a set would, that its policy made miss one after the other. Behind another level
 * so few pages tell nothing.
 */
static int check_alone(struct sets *sets, bool *good)
{
    size_t pages = sets->level->fits + limits.max_more + 1, count = 0;
    uint32_t *page = malloc(pages * sizeof *page);
    int rc = 0;
    if (!page) {
        return error_memory();
    }
    for (uint32_t set = 1; rc == 0 && *good && set <= sets->out->set_count; set++) {
        count = 0;
        for (size_t i = 0; i < pages && i < sets->room; i++) {
            if (sets->of[i] == set) {
                page[count++] = (uint32_t)i;
            }
        }
        if (count > limits.hidden * sets->in_front) {
            bool fits = false;
            rc = fits_without(sets, &fits, page, count, 0, 0);
            *good = !fits;
        }
    }
    free(page);
    return rc;
}

static int page_by_page(struct sets *sets, bool *good)
{
    const struct tlb_level *level = sets->level;
    size_t limit = (size_t)(sets->tl->limit_bytes / level->page);
    int rc = 0;
    sets->out->step_count = 0;
    memset(sets->missed, 0, sets->room * sizeof *sets->missed);
    for (size_t more = 1; rc == 0 && *good && more <= limits.max_more &&
                          level->fits + more < limit && !all_missed(sets);
         more++) {
        rc = add_page(sets, good, level->fits + more);
    }
    *good = *good && all_missed(sets) && sets->entries >= level->fits &&
            (count_sizes(sets->out) <= limits.most_sizes || are_in_turn(sets));
    return rc ? rc : check_alone(sets, good);
}

/* ---- any policy ---- */

/* How many of the pages found belonged to a set before. */
static size_t count_known(const struct members *m, const bool *known)
{
    size_t count = 0;
    for (size_t i = 0; i < m->found_count; i++) {
        count += known[m->page[m->found[i]]];
    }
    return count;
}

static int take_set(struct sets *sets, struct members *m)
{
    struct tlb_result *out = sets->out;
    if (out->set_count == 0) {
        sets->level->set_count = 0;
        free(sets->level->set);
        sets->level->set = malloc(m->found_count * sizeof *sets->level->set);
        for (size_t i = 0; sets->level->set && i < m->found_count; i++) {
            sets->level->set[sets->level->set_count++] = m->page[m->found[i]];
        }
    }
    for (size_t i = 0; i < m->found_count; i++) {
        sets->missed[m->page[m->found[i]]] = true;
    }
    out->entries_per_set[out->set_count++] = (uint32_t)m->found_count - 1;
    sets->entries += m->found_count - 1;
    return sets->level->set ? 0 : error_memory();
}

/* Pages in a row that may fall into sets that are known, if the others are as large as these and
 * pages fall anywhere: that many do by chance of one in some 3000. */
static size_t most_in_vain(const struct sets *sets)
{
    enum { TIMES = 8 };
    size_t count = sets->out->set_count, fits = sets->level->fits;
    size_t left = fits > sets->entries ? fits - sets->entries : 1;
    size_t others = sets->entries ? (left * count + sets->entries - 1) / sets->entries : 1;
    return TIMES * (count + others) / others;
}

/* Adds page after page; from a set that is too full one of its pages goes. */
static int leave_out(struct sets *sets, uint32_t *page, uint32_t *found)
{
    const struct tlb_level *level = sets->level;
    struct members m = {.sets = sets, .page = page, .found = found, .start = sets->tl->lab->loads};
    size_t limit = (size_t)(sets->tl->limit_bytes / level->page);
    size_t in_vain = 0;
    m.count = level->fits;
    for (size_t next = level->fits; next < sets->room && next < limit; next++) {
        bool fits = false;
        page[m.count++] = (uint32_t)next;
        int rc = fits_without(sets, &fits, page, m.count, 0, 0);
        rc = rc || fits ? rc : find_members(&m);
        if (rc) {
            return rc;
        }
        if (fits || m.found_count < 2 || sets->out->set_count == INFER_MAX_TLB_SETS) {
            return lab_undecided(sets->tl->lab, "which pages share a set does not show");
        }
        /* The page that came last goes if its set is known, else another. */
        size_t known = count_known(&m, sets->missed);
        in_vain = known ? in_vain + 1 : 0;
        if (in_vain > most_in_vain(sets)) {
            return lab_undecided(sets->tl->lab, "pages beyond those that fit show no other set");
        }
        size_t gone = m.found[known ? m.found_count - 1 : 0];
        rc = known ? 0 : take_set(sets, &m);
        memmove(&page[gone], &page[gone + 1], (m.count - gone - 1) * sizeof *page);
        m.count--;
        if (rc || sets->entries >= level->fits) {
            return rc;
        }
    }
    return 0;
}

static int by_leaving_out(struct sets *sets)
{
    size_t fits = sets->level->fits;
    uint32_t *page = malloc((fits + 1) * sizeof *page), *found = malloc((fits + 1) * sizeof *found);
    int rc = 0;
    if (!page || !found) {
        free(page);
        free(found);
        return error_memory();
    }
    for (size_t i = 0; i < fits; i++) {
        page[i] = (uint32_t)i;
    }
    memset(sets->missed, 0, sets->room * sizeof *sets->missed);
    sets->out->set_count = sets->out->step_count = 0;
    sets->entries = 0;
    if (fits > limits.most_left_out) {
        rc = lab_undecided(sets->tl->lab, "which of %zu pages share a set does not show", fits);
    } else if (fits < 4 * limits.hidden * sets->in_front / 3) {
        rc = lab_undecided(sets->tl->lab, "the level in front hides which pages share a set");
    }
    rc = rc ? rc : leave_out(sets, page, found);
    free(page);
    free(found);
    return rc;
}

static int find_sets(struct sets *sets)
{
    bool thrashes = false, good = false;
    int rc = sets->level->by_counting ? 0 : first_set(sets, &thrashes);
    if (rc == 0 && thrashes) {
        rc = check_alike(sets, &good, sets->level->fits, sets->level->set_count - 1);
    }
    /* Page after page tells more, but takes long where pages are many. */
    if (rc == 0 && thrashes && !good && sets->level->fits <= limits.most_left_out) {
        good = true;
        rc = page_by_page(sets, &good);
    }
    if (rc == 0 && !good && sets->always) {
        rc = try_slack(sets, &good);
    }
    sets->level->thrashes = good;
    if (rc == 0 && !good) {
        rc = tlb_sets_in_turn(sets->tl, sets->out, sets->level, &sets->entries, &sets->turns);
        sets->level->by_turns = sets->turns;
    }
    if (rc == 0 && !good && !sets->turns) {
        sets->counted = tlb_can_count(sets->tl, sets->level, 2 * sets->level->fits);
        rc = sets->counted ? tlb_counted_sets(sets->tl, sets->out, sets->level, &sets->entries)
                           : by_leaving_out(sets);
    }
    if (rc == 0 && !good && !sets->turns && sets->entries != sets->level->fits) {
        rc = lab_undecided(sets->tl->lab,
                           "the pages that miss together do not add up to those that fit");
    }
    return rc;
}

/* ---- the result ---- */

static void report(struct sets *sets)
{
    struct tlb_result *out = sets->out;
    char id[24], list[80] = "", more[64] = "";
    for (size_t i = 0, at = 0; i < out->set_count && at < sizeof list - 8; i++) {
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%u", i ? ", " : "",
                               out->entries_per_set[i]);
    }
    if (sets->slack) {
        snprintf(more, sizeof more, "; %zu more fit beside them", sets->slack);
    }
    lab_evidence(
        sets->tl->lab, id, out->id,
        "chase op=cg: beyond %zu pages, %zu sets of %.60s%s entries overflow, found by %s; "
        "together they are all entries%s",
        sets->level->fits, out->set_count, list, out->set_count > 12 ? " ..." : "",
        sets->level->thrashes ? "who misses"
        : sets->turns         ? "pages in turn"
        : sets->counted       ? "who misses at times"
                              : "leaving pages out",
        more);
    /* Where single records tell nothing, a page that misses now and then passes for one that fits.
     */
    bool reliable = tlb_is_reliable(sets->tl, sets->level);
    double confidence = sets->slack ? 0.85 : sets->level->thrashes ? 0.96 : reliable ? 0.93 : 0.5;
    attribute_set(&out->sets, (double)out->set_count, "1", confidence, id);
    attribute_set(&out->entries, (double)sets->entries, "entries", confidence, id);
    attribute_set(&out->coverage, (double)sets->entries * (double)sets->level->page, "B",
                  confidence, id);
}

int tlb_sets(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level, size_t in_front)
{
    struct sets sets = {.tl = tl, .out = out, .level = level, .in_front = in_front};
    sets.room = level->fits + INFER_MAX_TLB_SETS + limits.max_more + 2;
    sets.missed = calloc(sets.room, sizeof(bool));
    sets.of = calloc(sets.room, sizeof(uint32_t));
    int rc = sets.missed && sets.of ? find_sets(&sets) : error_memory();
    free(sets.missed);
    free(sets.of);
    if (rc == 0) {
        report(&sets);
    } else {
        out->set_count = 0;
        level->set_count = 0;
    }
    return rc;
}
