/*
 * The sets of a level of translation whose policy does not make all pages of a set that is too full
 * miss in every round, by counting (tlb/miss_counts.c). With one page more than fits, the pages
 * that miss now and then are those of that page's set. Walks in ever new orders go on until no more
 * of them show and those known have missed often.
 *
 * Some pages miss though everything fits: a launch reads a page of its own, which takes an entry of
 * some set, and until that is evicted again one of the set's pages is outside. So the same is done
 * with the pages that fit, and what misses then does not count.
 *
 * Where the sets may be alike, half of them and all of them are made to overflow. Otherwise page
 * after page is put beside those that fit, and shows its set.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/tlb/tlb.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned wanted, least_requests, times, most_requests, likely_requests, restless_requests, soon,
        most_passes, few_pages, sticky_warm, sticky_passes, few_shakes, shakes, most_rest, windows,
        most_loads, most_kept, most_sizes, most_unseen, most_beside;
    double rare, stray, stuck;
} limits = {
    .wanted = 25,           /* misses of each page that misses */
    .rare = 0.03,           /* share of the others' misses: fewer are none */
    .stray = 3e-4,          /* share of the records: noise that looks like a miss */
    .least_requests = 5,    /* requests without a new page, to be sure of them */
    .times = 4,             /* requests in which each page misses */
    .most_requests = 200,   /* requests for a set */
    .likely_requests = 1,   /* requests without a new page, of as many pages as other sets have */
    .restless_requests = 8, /* requests until a set that is never at rest is taken */
    .soon = 120,            /* rounds of warming, once a set is known */
    .most_passes = 64,      /* passes of a window */
    .few_pages = 100,       /* pages, of which any warming is cheap */
    .sticky_warm = 12,      /* rounds of warming where each state lasts */
    .sticky_passes = 16,    /* passes of a window, the same */
    .stuck = 0.7,     /* share of the rounds: a policy that draws lets no page miss that often */
    .few_shakes = 24, /* shakes, divided by the pages known */
    .shakes = 2,      /* shakes that detect no new page */
    .most_rest = 240, /* rounds until a shaken set is at rest */
    .windows = 2,     /* windows of a request */
    .most_loads = 4000000, /* loads for all sets */
    .most_kept = 2,        /* pages that a level in front may keep */
    .most_sizes = 2,       /* different sizes of sets */
    .most_unseen = 2,      /* pages of all sets that may stay unseen */
    .most_beside = 200,    /* pages that are put beside those that fit */
};

/* Who misses in a walk over some pages. */
struct shown {
    bool *who;       /* owned */
    double *rate;    /* misses of each in a round; owned */
    uint32_t *times; /* requests in which each missed, and its misses before the last; owned */
    uint32_t *before;
    size_t count, missing;
    uint64_t misses;      /* of those that do */
    double rounds;        /* counted so far */
    bool stuck;           /* in the last request a page missed nearly every time */
    size_t target, slack; /* so many are expected to miss, but for so many; 0: nobody knows */
    size_t likely;        /* a set that misses has as many pages, as others have; 0: nobody knows */
};

struct counted {
    struct tlb_lab *tl;
    struct tlb_result *out;
    struct tlb_level *level;
    struct shown rest; /* who misses where all fit */
    bool *known;       /* pages of the sets found; owned */
    size_t entries;
    uint64_t start;
};

static void shown_free(struct shown *shown)
{
    free(shown->who);
    free(shown->rate);
    free(shown->times);
    free(shown->before);
    *shown = (struct shown){0};
}

static int shown_create(struct shown *out, size_t count)
{
    *out = (struct shown){.count = count};
    out->who = calloc(count, sizeof *out->who);
    out->rate = calloc(count, sizeof *out->rate);
    out->times = calloc(count, sizeof *out->times);
    out->before = calloc(count, sizeof *out->before);
    if (!out->who || !out->rate || !out->times || !out->before) {
        shown_free(out);
        error_memory();
        return SONDE_ENOMEM;
    }
    return 0;
}

/* How many of a page's misses may be those that it has where all fit. */
static double restless(const struct counted *c, size_t page, double rounds)
{
    double rest = page < c->rest.count ? c->rest.rate[page] * rounds : 0;
    return rest > 0 ? 2 + 2.5 * rest + 4 * sqrt(rest) : 0;
}

/*
 * Judges the counts so far: who misses more often than noise makes it seem, and much more often
 * than where all fit. Returns how many there are that were not among them before.
 */
static size_t judge(struct shown *shown, const struct tlb_miss_counts *counts,
                    const struct counted *c)
{
    double stray = c->tl->noisy ? limits.stray * counts->rounds : 0;
    double least = c->tl->noisy ? 3 + stray + 4 * sqrt(stray) : 2, sum = 0, squares = 0;
    for (size_t i = 0; i < counts->count; i++) {
        sum += counts->misses[i];
        squares += (double)counts->misses[i] * counts->misses[i];
    }
    least = sum > 0 ? fmax(least, limits.rare * squares / sum) : least;
    size_t fresh = 0;
    shown->missing = 0;
    shown->misses = 0;
    shown->stuck = false;
    for (size_t i = 0; i < counts->count; i++) {
        bool is = counts->misses[i] >= fmax(least, restless(c, i, counts->rounds));
        fresh += is && !shown->who[i];
        shown->who[i] = is;
        shown->missing += is;
        shown->misses += is ? counts->misses[i] : 0;
        shown->rate[i] = counts->misses[i] / counts->rounds;
        uint32_t more = counts->misses[i] - shown->before[i];
        shown->stuck = shown->stuck || more >= limits.stuck * (counts->rounds - shown->rounds);
        shown->times[i] += more > 0;
        shown->before[i] = counts->misses[i];
    }
    shown->rounds = counts->rounds;
    return fresh;
}

/* Few pages can be warmed until any policy is at rest. */
static struct tlb_count_plan plan_counting(const struct counted *c, size_t count, bool first)
{
    size_t passes = tlb_most_window(c->tl) / count, most = 3 * count + 20;
    bool few = count <= limits.few_pages;
    /* Sets found tell how soon the others are at rest. */
    most = c->out->set_count > 1 && first && most > limits.soon ? limits.soon : most;
    passes = passes < limits.most_passes ? passes : limits.most_passes;
    return (struct tlb_count_plan){.warm = (uint32_t)(few     ? most
                                                      : first ? 40
                                                              : 8),
                                   .passes = (uint32_t)passes,
                                   .skip = few ? 0 : (uint32_t)passes / 4,
                                   .rounds = c->level->in_front ? 1 : 4,
                                   .windows = few ? 1 : limits.windows};
}

/* Of the pages that miss, those that are known to be of a set. */
static size_t count_known(const struct counted *c, const struct shown *shown)
{
    size_t known = 0;
    for (size_t i = 0; i < shown->count && i < c->level->fits; i++) {
        known += shown->who[i] && c->known[i];
    }
    return known;
}

/* Does a page of a set that is known already miss? Then nothing new will show. */
static bool is_known(const struct counted *c, const struct shown *shown)
{
    return count_known(c, shown) >= 2;
}

/*
 * Is half of what misses, the page beside them aside, known to be of a set? No page is of two. A
 * set of one entry shows one page alone, so for it is_known() is never true.
 */
static bool is_counted(const struct counted *c, const struct shown *shown)
{
    size_t known = count_known(c, shown);
    return known > 0 && 2 * known + 1 >= shown->missing;
}

/* Has each page that misses done so in several orders? Then there is hardly one that never did. */
static bool often(const struct shown *shown)
{
    bool all = true;
    for (size_t i = 0; i < shown->count; i++) {
        all = all && (!shown->who[i] || shown->times[i] >= limits.times);
    }
    return all;
}

/*
 * Some policies let two pages fight for one entry for ever and keep the others. Half as many pages
 * more, walked a few times, leave every set in another state.
 */
static int shake(struct counted *c)
{
    struct tlb_miss_counts counts;
    size_t count = c->level->fits + c->level->fits / 2 + 2;
    struct tlb_count_plan plan = {.warm = 2, .passes = 1, .rounds = 1, .windows = 1};
    int rc = tlb_miss_counts_create(&counts, c->tl, count);
    rc = rc ? rc : tlb_count_misses(c->tl, &counts, c->level, NULL, &plan);
    tlb_miss_counts_free(&counts);
    return rc;
}

/* As many rounds as a policy that draws needs to be at rest after that. */
static uint32_t rounds_to_rest(const struct counted *c, const struct shown *shown)
{
    size_t pages = c->out->set_count ? c->out->entries_per_set[0] + 1 : shown->missing;
    pages = pages < shown->missing ? pages : shown->missing;
    return (uint32_t)(8 * pages < limits.most_rest ? 8 * pages : limits.most_rest) + 8;
}

/* The fewer pages are known, the sooner two of them may come again by accident. */
static size_t shakes_wanted(const struct counted *c, const struct shown *shown)
{
    return shown->missing && c->rest.count ? limits.shakes + limits.few_shakes / shown->missing : 0;
}

static int count_once(struct counted *c, struct tlb_miss_counts *counts, const struct shown *shown,
                      const uint32_t *page, bool first, bool shaken, bool sticky)
{
    struct tlb_count_plan plan = plan_counting(c, shown->count, first);
    int rc = shaken ? shake(c) : 0;
    plan.windows = sticky ? 1 : plan.windows;
    plan.passes = sticky && plan.passes > limits.sticky_passes ? limits.sticky_passes : plan.passes;
    plan.warm = sticky ? limits.sticky_warm : shaken ? rounds_to_rest(c, shown) : plan.warm;
    rc = rc ? rc : tlb_count_misses(c->tl, counts, c->level, page, &plan);
    if (rc == 0 && c->tl->lab->loads - c->start > limits.most_loads) {
        rc = lab_undecided(c->tl->lab, "the pages of a set were not found in %d loads",
                           limits.most_loads);
    }
    return rc;
}

static size_t missing_beside(const struct counted *c, const struct shown *shown)
{
    size_t missing = 0;
    for (size_t i = 0; i < shown->count; i++) {
        missing += shown->who[i] && !(i < c->rest.count && c->rest.who[i]);
    }
    return missing;
}

/* Are there as many as expected, and no more for a while? */
static bool reached(const struct counted *c, const struct shown *shown, size_t quiet)
{
    size_t missing = missing_beside(c, shown) + c->rest.missing;
    return shown->target && missing + shown->slack >= shown->target &&
           (quiet >= limits.least_requests || shown->target >= shown->count);
}

/*
 * The set that is not at rest where all fit may be the one that is too full now: then the page that
 * came last misses, and beside it none that did not before.
 */
static bool is_restless_set(const struct counted *c, const struct shown *shown)
{
    bool last = shown->who[shown->count - 1] && shown->count > c->rest.count;
    return c->rest.missing >= 2 && last && missing_beside(c, shown) == 1 && shown->missing >= 2;
}

static void take_restless(const struct counted *c, struct shown *shown)
{
    for (size_t i = 0; i < c->rest.count; i++) {
        shown->who[i] = c->rest.who[i];
    }
    shown->missing = c->rest.missing + 1;
}

/* Is it a set like those found before? */
static bool is_likely(const struct shown *shown, size_t quiet)
{
    return shown->likely && shown->missing == shown->likely && quiet >= limits.likely_requests &&
           (double)shown->misses >= limits.wanted * (double)shown->missing;
}

/* `stop`: as soon as it is a known set's. */
static int who_misses(struct counted *c, struct shown *shown, const uint32_t *page, bool stop)
{
    struct tlb_miss_counts counts;
    size_t quiet = 0, shakes = 0;
    bool sticky = false; /* shaking shows others */
    int rc = tlb_miss_counts_create(&counts, c->tl, shown->count);
    memset(shown->times, 0, shown->count * sizeof *shown->times);
    memset(shown->before, 0, shown->count * sizeof *shown->before);
    shown->rounds = 0;
    for (size_t k = 0; rc == 0 && k < limits.most_requests; k++) {
        rc = count_once(c, &counts, shown, page, k == 0, shakes > 0, sticky);
        quiet = judge(shown, &counts, c) ? 0 : quiet + 1;
        bool enough =
            (double)shown->misses >= limits.wanted * (double)shown->missing && often(shown);
        if (shown->missing == shown->count || (stop && is_known(c, shown)) ||
            reached(c, shown, quiet) || is_likely(shown, quiet)) {
            break;
        }
        if (stop && k + 1 >= limits.restless_requests && is_restless_set(c, shown)) {
            take_restless(c, shown);
            break;
        }
        if (c->rest.count && !sticky && ((shakes > 0 && quiet == 0) || (k > 0 && shown->stuck))) {
            memset(shown->times, 0, shown->count * sizeof *shown->times);
            sticky = true; /* from now on only what is shaken counts */
            shakes = 1;
        } else if (shakes > 0 && quiet == 0) {
            shakes = 1;
        } else if (quiet >= limits.least_requests && enough &&
                   shakes++ >= shakes_wanted(c, shown)) {
            break;
        }
    }
    tlb_miss_counts_free(&counts);
    return rc;
}

/* The set of page `beside`, as a last element behind those that fit. */
static int find_set(struct counted *c, struct shown *shown, uint32_t *page, uint32_t beside)
{
    size_t fits = c->level->fits;
    memset(shown->who, 0, shown->count * sizeof *shown->who);
    for (size_t i = 0; i < fits; i++) {
        page[i] = (uint32_t)i;
    }
    page[fits] = beside;
    int rc = who_misses(c, shown, page, true);
    if (rc == 0 && shown->missing == 1 && shown->who[fits]) { /* it is the set not at rest */
        take_restless(c, shown);
    }
    return rc;
}

/* The largest one is kept, for its policy. */
static int take_set(struct counted *c, const struct shown *shown, const uint32_t *page)
{
    struct tlb_level *level = c->level;
    size_t fits = level->fits;
    if (c->out->set_count == 0 || shown->missing > level->set_count) {
        level->set_count = 0;
        free(level->set);
        level->set = malloc(shown->missing * sizeof *level->set);
        for (size_t i = 0; level->set && i < shown->count; i++) {
            if (shown->who[i]) {
                level->set[level->set_count++] = page[i];
            }
        }
    }
    for (size_t i = 0; i < fits; i++) {
        c->known[i] = c->known[i] || shown->who[i];
    }
    c->out->entries_per_set[c->out->set_count++] = (uint32_t)shown->missing - 1;
    c->entries += shown->missing - 1;
    return level->set ? 0 : error_memory();
}

/* Pages that miss in a walk over the first `pages`, but for those that do where all fit. */
static int count_missing(struct counted *c, size_t *missing, size_t pages, size_t target,
                         size_t slack)
{
    struct shown shown;
    int rc = shown_create(&shown, pages);
    shown.target = target;
    shown.slack = slack;
    rc = rc ? rc : who_misses(c, &shown, NULL, false);
    *missing = rc ? 0 : missing_beside(c, &shown);
    shown_free(&shown);
    return rc;
}

/* Some pages may never have shown; a set that does not overflow would leave more out. */
static bool near(size_t missing, size_t expected, size_t slack)
{
    return missing + slack >= expected && missing <= expected + 1;
}

/* Would `count` sets alike overflow when they should: half of them, all? */
static int check_count(struct counted *c, bool *alike, size_t ways, size_t count)
{
    size_t missing = 0, half = count / 2, slack = ways > 2 ? ways / 2 : 0, all = count * ways;
    *alike =
        count <= INFER_MAX_TLB_SETS && (all + count + 1) * c->level->page <= c->tl->limit_bytes;
    if (*alike && half > 1) {
        int rc = count_missing(c, &missing, all + half, half * (ways + 1), slack);
        if (rc) {
            return rc;
        }
        *alike = near(missing, half * (ways + 1), slack) ||
                 near(missing + c->rest.missing, half * (ways + 1), slack);
    }
    if (*alike && count > 1) {
        int rc = count_missing(c, &missing, all + count, all + count, slack);
        if (rc) {
            return rc;
        }
        *alike = near(missing + c->rest.missing, all + count, slack);
    }
    return 0;
}

/* Behind a level that keeps pages to itself one or two more may seem to fit. */
static int check_alike(struct counted *c, bool *alike)
{
    size_t ways = c->out->entries_per_set[0], kept = c->level->in_front ? limits.most_kept : 0;
    *alike = false;
    for (size_t less = 0; less <= kept && !*alike && less < c->level->fits; less++) {
        size_t entries = c->level->fits - less;
        if (entries % ways == 0) {
            int rc = check_count(c, alike, ways, entries / ways);
            if (rc) {
                return rc;
            }
        }
        c->level->fits = *alike ? entries : c->level->fits;
    }
    for (size_t i = 1; *alike && i < c->level->fits / ways; i++) {
        c->out->entries_per_set[c->out->set_count++] = (uint32_t)ways;
        c->entries += ways;
    }
    return 0;
}

/* Sets of many sizes are parts of sets, or more than one. */
static size_t sizes(const struct tlb_result *out)
{
    size_t count = 0;
    for (size_t i = 0; i < out->set_count; i++) {
        size_t k = 0;
        while (out->entries_per_set[k] != out->entries_per_set[i]) {
            k++;
        }
        count += k == i;
    }
    return count;
}

/* Of the sets found most are of one size? So many pages make one too full. */
static size_t likely_pages(const struct tlb_result *out)
{
    for (size_t i = 0; i < out->set_count; i++) {
        size_t same = 0;
        for (size_t k = 0; k < out->set_count; k++) {
            same += out->entries_per_set[k] == out->entries_per_set[i];
        }
        if (same >= 3 && 2 * same > out->set_count) {
            return out->entries_per_set[i] + 1;
        }
    }
    return 0;
}

/* As many sets as are entries, by the size that most of them have? Then a page or two of the others
 * never missed. */
static void even_out(struct counted *c)
{
    struct tlb_result *out = c->out;
    size_t pages = likely_pages(out), ways = pages ? pages - 1 : 0, larger = 0;
    for (size_t i = 0; i < out->set_count; i++) {
        larger += out->entries_per_set[i] > ways;
    }
    if (larger > 0 || out->set_count * ways != c->level->fits ||
        c->entries + limits.most_unseen < c->level->fits) {
        return;
    }
    for (size_t i = 0; i < out->set_count; i++) {
        out->entries_per_set[i] = (uint32_t)ways;
    }
    c->entries = c->level->fits;
}

static int one_by_one(struct counted *c, struct shown *shown, uint32_t *page)
{
    const struct tlb_level *level = c->level;
    size_t limit = (size_t)(c->tl->limit_bytes / level->page);
    for (size_t more = 1; sizes(c->out) <= limits.most_sizes && more < limits.most_beside &&
                          c->entries < level->fits;
         more++) {
        if (level->fits + more >= limit || c->out->set_count == INFER_MAX_TLB_SETS) {
            break;
        }
        shown->likely = likely_pages(c->out);
        int rc = find_set(c, shown, page, (uint32_t)(level->fits + more));
        if (rc) {
            return rc;
        }
        if (shown->missing >= 2 && !is_known(c, shown) && !is_counted(c, shown)) {
            rc = take_set(c, shown, page);
        }
        if (rc) {
            return rc;
        }
        even_out(c);
    }
    return sizes(c->out) > limits.most_sizes
               ? lab_undecided(c->tl->lab, "the pages that miss together are no whole sets")
               : 0;
}

static int find_all(struct counted *c, struct shown *shown, uint32_t *page)
{
    bool alike = false;
    struct shown rest;
    int rc = shown_create(&rest, c->level->fits);
    rc = rc ? rc : who_misses(c, &rest, NULL, false);
    c->rest = rest;
    rc = rc ? rc : find_set(c, shown, page, (uint32_t)c->level->fits);
    if (rc == 0 && shown->missing < 2) {
        rc = lab_undecided(c->tl->lab, "which pages share a set does not show");
    }
    rc = rc ? rc : take_set(c, shown, page);
    rc = rc ? rc : check_alike(c, &alike);
    return rc || alike ? rc : one_by_one(c, shown, page);
}

int tlb_counted_sets(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                     size_t *entries)
{
    struct counted c = {.tl = tl, .out = out, .level = level, .start = tl->lab->loads};
    struct shown shown = {0};
    size_t fits = level->fits;
    out->set_count = out->step_count = 0;
    c.known = calloc(fits + 1, sizeof *c.known);
    uint32_t *page = malloc((fits + 1) * sizeof *page);
    int rc = shown_create(&shown, fits + 1);
    if (rc == 0 && (!c.known || !page)) {
        rc = error_memory();
    } else if (rc == 0) {
        rc = find_all(&c, &shown, page);
    }
    *entries = c.entries;
    shown_free(&shown);
    shown_free(&c.rest);
    free(c.known);
    free(page);
    return rc;
}
