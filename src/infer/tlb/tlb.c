/*
 * The levels of address translation, one after the other: each is searched for (tlb/search.c), held
 * against what else may be slow, and measured.
 *
 * What shows is the time, not the place; data that L2 does not hold are told from translation by
 * tlb/data.c. A level whose entries are all in the level before it is not seen.
 */
#include "infer/experiments.h"
#include "infer/tlb/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/policy/policy.h"
#include "infer/policy/rule.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs), and an H200 (a miss of 10
 * cycles). */
static const struct {
    uint64_t first_stride;
    unsigned searches;
    double least_excess, drift, sure, unchecked, unexplained, denied, least_behind, first_part,
        as_lines;
} limits = {
    .first_stride = UINT64_C(2) << 20, /* bytes from page to page of the first walks */
    .searches = 3,                     /* for the level behind another, at most. Chosen */
    .least_excess = 1.5,               /* cycles: less is no level's miss */
    .drift = 0.012,                    /* share of a miss that clocks may drift by. Chosen */
    .sure = 0.8,                       /* confidence of a policy that holds the sets up */
    .unchecked =
        0.45, /* confidence until the sets add up: pages beside each other may share a set
                 before all entries are taken. Of drawn machines less than half were right */
    .unexplained = 0.85, /* confidence where no policy fits the sets */
    .denied = 1.5,       /* times the entries: so many pages would miss in any walk. Chosen */
    .least_behind = 0.1, /* of what a miss of the level before takes: less is noise. Chosen */
    .as_lines = 0.5,   /* of a miss of L2: a walk's lines that take less did not miss it. Chosen */
    .first_part = 0.5, /* of the work that is left: for the sets and policy of the first. Chosen */
};

static bool is_sure_rule(const struct policy_result *policy)
{
    bool is = strcmp(policy->name, "none") == 0 || policy_named(policy->name) != POLICY_COUNT;
    return is && policy->confidence >= limits.sure;
}

static void lessen(struct attribute *attribute)
{
    attribute->confidence = fmin(attribute->confidence, limits.unexplained);
}

/*
 * A level of which what is too much misses in every pass follows a rule. Where none is found, it is
 * the sets that are not what they seemed, and they are sought by counting. Sets whose victims
 * nothing explains are not sure.
 */
static int structure(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                     size_t in_front)
{
    int rc = tlb_sets(tl, out, level, in_front);
    if (rc) {
        return rc;
    }
    rc = tlb_policy(tl, out, level, in_front);
    bool open = rc == INFER_UNDECIDED || (rc == 0 && !is_sure_rule(&out->policy));
    if (open && level->thrashes && tlb_can_count(tl, level, 2 * level->fits)) {
        level->by_counting = true;
        out->policy = (struct policy_result){0};
        out->sets = (struct attribute){0};
        out->entries.confidence = out->coverage.confidence = limits.unchecked;
        rc = tlb_sets(tl, out, level, in_front);
        rc = rc ? rc : tlb_policy(tl, out, level, in_front);
    }
    if (rc == INFER_UNDECIDED) {
        lessen(&out->sets);
        lessen(&out->entries);
        lessen(&out->coverage);
    }
    return rc;
}

#define HIDDEN_SETS "the level before holds as many pages, and hides which of these share a set"

static void set_entries(struct tlb_result *out, const struct tlb_level *level, size_t entries,
                        const char *id)
{
    double bytes = (double)entries * (double)level->page;
    attribute_set(&out->entries, (double)entries, "entries", limits.unchecked, id);
    attribute_set(&out->coverage, bytes, "B", limits.unchecked, id);
}

static void withdraw_structure(struct tlb_result *out)
{
    out->entries = out->coverage = out->sets = (struct attribute){0};
    out->set_count = out->step_count = 0;
    out->policy = (struct policy_result){0};
}

/* Sets that do not add up to as many entries as several lines a page show are none. */
static int take_spread(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level,
                       size_t entries)
{
    char id[24];
    lab_evidence(tl->lab, id, out->id,
                 "chase op=cg over several lines a page, more than the level before holds: %zu "
                 "pages of %llu KiB fit, one more does not",
                 entries, (unsigned long long)level->page / 1024);
    withdraw_structure(out);
    set_entries(out, level, entries, id);
    return lab_undecided(tl->lab, HIDDEN_SETS);
}

/*
 * The last walk before the one that showed the level is a measurement that the entries do not come
 * from: it had pages of which nearly none missed. Far fewer entries than it had pages would have
 * made most of them miss, whatever the sets and the policy.
 */
static int hold_against_walk(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                             const struct tlb_search *search)
{
    uint64_t same = search->stride < level->page ? level->page / search->stride : 1;
    size_t hit = search->pages / same;
    if (out->entries.status != ATTRIBUTE_MEASURED ||
        (double)hit < limits.denied * out->entries.value) {
        return 0;
    }
    double entries = out->entries.value;
    withdraw_structure(out);
    level->fits = hit; /* in front of the next level there are no fewer */
    return lab_undecided(tl->lab,
                         "a walk over %zu pages had hardly a miss, so the %.0f that seemed to fit "
                         "are not all entries",
                         hit, entries);
}

static int measure_structure(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                             const struct tlb_search *search, bool may_hide, size_t entries)
{
    const size_t in_front = level->in_front;
    /* The level behind is to be found as well. */
    double allowed = lab_allow_part(tl->lab, in_front ? 1 : limits.first_part);
    int rc = structure(tl, out, level, in_front);
    lab_allow(tl->lab, allowed);
    if (rc == 0 || rc == INFER_UNDECIDED) {
        int against = hold_against_walk(tl, out, level, search);
        if (against) {
            return against;
        }
    }
    return may_hide && (rc == 0 || rc == INFER_UNDECIDED) && out->entries.value != (double)entries
               ? take_spread(tl, out, level, entries)
               : rc;
}

static void report_fits(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level,
                        size_t entries)
{
    char id[24];
    lab_evidence(tl->lab, id, out->id,
                 "chase op=cg: %zu pages of %llu KiB fit, one more does not; in a walk that is too "
                 "long a load hits behind one half a page before it, and misses behind one a page "
                 "before",
                 entries, (unsigned long long)level->page / 1024);
    attribute_set(&out->page, (double)level->page, "B",
                  level->unchecked ? limits.unexplained : 0.95, id);
    set_entries(out, level, entries, id);
}

static int measure_found(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                         const struct tlb_search *search, size_t in_front,
                         struct tlb_penalties *penalties)
{
    struct lab *lab = tl->lab;
    char id[24];
    out->present = true;
    lab_evidence(lab, id, out->id,
                 "chase op=cg over one line a page%s: %zu pages %llu KiB apart take %.1f cycles "
                 "more than among few, %zu of %zu pages %.1f more",
                 tl->mapped ? ", pages mapped one by one" : "", search->pages,
                 (unsigned long long)(search->stride >> 10), search->before, search->slow,
                 (size_t)(search->reach / search->stride), search->median);
    attribute_set(&out->miss_penalty, level->penalty, "cycles",
                  tlb_penalty_confidence(tl, level, in_front), id);
    int rc = tlb_find_fits(tl, level, (size_t)(search->reach / level->page));
    rc = rc ? rc : tlb_penalty_again(tl, penalties, level, search->stride, search->reach);
    if (rc) {
        return rc;
    }
    bool may_hide = tlb_may_hide(tl, level), parts = tlb_parts(level, level->fits) > 1;
    size_t entries = level->fits;
    rc = may_hide ? tlb_find_spread_fits(tl, level, &entries) : 0;
    if (rc) {
        return rc;
    }
    if (!may_hide && !parts && level->fits <= level->in_front) {
        out->present = false;
        out->miss_penalty = (struct attribute){0};
        level->again = true;
        return lab_undecided(lab, "what is slow in longer walks is so among no more pages than the "
                                  "level before holds: it is that one again");
    }
    bool hidden = may_hide && level->fits <= level->in_front;
    report_fits(tl, out, level, hidden ? entries : level->fits);
    level->by_counting = parts && tlb_can_count(tl, level, level->fits + 1);
    rc = tlb_view_stretch(tl, level);
    rc = rc ? rc : tlb_scope(tl, out, level);
    if (rc || hidden) {
        return rc ? rc : lab_undecided(lab, HIDDEN_SETS);
    }
    return measure_structure(tl, out, level, search, may_hide, entries);
}

static int measure_level(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                         const struct tlb_search *search, size_t in_front)
{
    struct tlb_penalties penalties = {.of = {level->penalty}, .count = 1};
    int rc = measure_found(tl, out, level, search, in_front, &penalties);
    if (out->miss_penalty.status == ATTRIBUTE_MEASURED && (rc == 0 || rc == INFER_UNDECIDED)) {
        const struct refusal why = tl->lab->why;
        int again = tlb_penalty_again(tl, &penalties, level, search->stride, search->reach);
        again = again ? again : tlb_penalty_settle(tl, out, level, &penalties, search->reach);
        tl->lab->why = why;
        rc = again ? again : rc;
    }
    return rc;
}

/*
 * A level and its page; where it costs what a miss of L2 does, also what drawn places of so many
 * pages take. If these find all that is wanted, it was lines that L2 missed in a long walk: they
 * count as missing data from here on, and the search begins again.
 */
static int find_level_behind(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level,
                             struct tlb_drawn *drawn)
{
    const struct tlb_search start = *search;
    const struct tlb_level none = *level;
    for (;;) {
        int rc = tlb_find_page(tl, search, level);
        if (rc || !tlb_costs_as_data(tl, level)) {
            return rc;
        }
        rc = tlb_ask_drawn(tl, drawn, level, search->reach, search->slow);
        if (rc || !drawn->asked || drawn->misses || tl->data_cycles > 0) {
            return rc;
        }
        tlb_take_for_data(tl, search->low_record - search->before,
                          search->high_record - search->before);
        *search = start;
        *level = none;
    }
}

/* What a level behind another predicts: no shorter pages than the level before has, to begin with.
 * `data`: what is slow is so for its lines, which L2 misses. */
static int hold_behind(struct tlb_lab *tl, bool *data, const struct tlb_level *level,
                       const struct tlb_search *search)
{
    bool holds = true;
    *data = tl->data_cycles <= 0 && level->page < level->front_page;
    if (*data) {
        return 0;
    }
    int rc = tlb_is_translation(tl, &holds, level, search->reach);
    if (rc == 0 && !holds) {
        return lab_undecided(tl->lab, "what is slow in longer walks is so for its data, too: lines "
                                      "whose translation is at hand are as slow");
    }
    rc = rc ? rc : tlb_page_holds(tl, &holds, level, search->reach);
    if (rc || holds) {
        return rc;
    }
    rc = tlb_is_missing_lines(tl, data, level, search->reach);
    return rc || *data ? rc
                       : lab_undecided(tl->lab, "pages that miss do not at other places of them: "
                                                "they are shorter, or no level's");
}

/* A level behind another, with its page, which no other explanation fits as well. */
static int find_behind_once(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level,
                            bool *data)
{
    struct tlb_drawn drawn = {0};
    int rc = find_level_behind(tl, search, level, &drawn);
    *data = false;
    if (rc == 0 && tl->noisy && level->penalty < limits.least_behind * level->before) {
        return lab_undecided(tl->lab,
                             "loads of more pages take %.0f cycles longer than the %.0f that a "
                             "miss of the level before takes: clocks and noise do as much",
                             level->penalty, level->before);
    }
    if (rc == 0 && drawn.misses) {
        /* Walks that find the page are long, and in them L2 may miss lines, too. */
        tlb_believe(tl, search, level, drawn.low, drawn.middle, drawn.high);
    } else if (rc == 0 && tlb_costs_as_tables(tl, level)) {
        return tlb_refuse_tables(tl, level);
    }
    return rc ? rc : hold_behind(tl, data, level, search);
}

/* Lines that L2 misses hide what is behind them: once they are known the search begins again. */
static int find_behind(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level)
{
    const struct tlb_search start = *search;
    const struct tlb_level none = *level;
    bool data;
    int rc = find_behind_once(tl, search, level, &data);
    if (rc == 0 && data) {
        tlb_take_for_data(tl, search->low_record - search->before,
                          search->high_record - search->before);
        *search = start;
        *level = none;
        rc = find_behind_once(tl, search, level, &data);
    }
    return rc;
}

/* The level behind has no shorter pages: a line in each is enough, where L2 does not hold more. */
static void begin_behind(const struct tlb_lab *tl, struct tlb_search *search,
                         const struct tlb_level *level)
{
    if (tl->data_cycles > 0 && level->page > search->stride) {
        search->stride = level->page;
    }
    search->reach -= search->reach % search->stride;
    search->reach = search->reach ? search->reach : search->stride;
    search->pages = (size_t)(search->reach / search->stride);
    search->noise += tl->noisy ? limits.drift * search->before : 0;
    if (tlb_is_within_noise(tl, level->penalty)) { /* so much more it may take at other pages */
        search->noise = fmax(search->noise, tl->record_noise);
    }
}

/*
 * The level behind another, measured. Where it was the one in front that showed again, by noise or
 * by few misses of both, longer walks are searched on from there. `found`: a level's page was.
 */
static int measure_behind(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                          struct tlb_search *search, bool *found)
{
    const struct tlb_level none = *level;
    int rc = INFER_UNDECIDED;
    for (unsigned i = 0; i == 0 || (i < limits.searches && level->again); i++) {
        tl->lab->why = (struct refusal){0};
        *level = none;
        rc = find_behind(tl, search, level);
        *found = rc == 0;
        search->penalty = level->penalty;
        rc = rc ? rc : measure_level(tl, out, level, search, level->in_front);
    }
    if (*found && (rc == 0 || rc == INFER_UNDECIDED)) {
        rc = tlb_withdraw_unconfirmed(tl, out, level) ? INFER_UNDECIDED : rc;
    }
    return rc;
}

/* What takes far less than a miss of L2 is none; where that is not known, anything may be. */
static bool may_be_lines(const struct tlb_lab *tl, const struct tlb_level *level)
{
    const struct dissection *out = tl->lab->out;
    const struct attribute *miss =
        out->cache_count ? &out->caches[out->cache_count - 1].miss_penalty : NULL;
    return !miss || miss->status != ATTRIBUTE_MEASURED ||
           level->penalty > limits.as_lines * miss->value;
}

/*
 * The first level, with its page. Where it was lines that L2 misses, these count as missing data
 * from here on, and the search begins again; so it does where such lines have no page. Where L2 was
 * seen before to miss lines, no such line passes for a level.
 */
static int find_first(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level)
{
    const struct tlb_search start = *search;
    const struct tlb_level none = *level;
    const bool known = tl->data_cycles > 0;
    bool data = false;
    int rc = tlb_find_first(tl, search, level);
    bool shown = rc == 0 || (rc == INFER_UNDECIDED && tl->lab->why.status != ATTRIBUTE_ABSENT);
    if (known || !shown || search->slow == 0 || !may_be_lines(tl, level)) {
        return rc;
    }
    const struct refusal why = tl->lab->why;
    int asked = tlb_is_lines_alone(tl, &data, level, search->stride, search->reach, search->slow);
    tl->lab->why = why;
    if (asked || !data) {
        return asked ? asked : rc;
    }
    if (tl->data_cycles <= 0) {
        tlb_take_for_data(tl, search->low_record, search->high_record);
    }
    tl->lab->why = (struct refusal){0};
    *search = start;
    *level = none;
    return tlb_find_first(tl, search, level);
}

static int measure_first(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                         struct tlb_search *search, bool *found)
{
    int rc = find_first(tl, search, level);
    *found = rc == 0;
    search->penalty = level->penalty;
    return rc ? rc : measure_level(tl, out, level, search, 0);
}

static int dissect_levels(struct tlb_lab *tl, struct tlb_search *search)
{
    static const char *const ids[] = {"l1_tlb", "l2_tlb"};
    struct lab *lab = tl->lab;
    size_t in_front = 0;
    uint64_t front_page = 0;
    int rc = 0;
    for (size_t i = 0; i < sizeof ids / sizeof *ids && rc == 0; i++) {
        struct tlb_result *out = &lab->out->tlbs[lab->out->tlb_count++];
        struct tlb_level level = {.in_front = in_front, .front_page = front_page};
        bool found = false;
        snprintf(out->id, sizeof out->id, "%s", ids[i]);
        tlb_refuse(lab->out, &(struct refusal){0});
        tl->twice = false;
        rc = i == 0 ? measure_first(tl, out, &level, search, &found)
                    : measure_behind(tl, out, &level, search, &found);
        if (found) { /* what no page explains is no level */
            policy_doubt_choice(&out->policy, level.set_count > 0 ? level.set_count - 1 : 0, true);
            in_front = level.fits;
            front_page = level.page;
            search->median += level.penalty - search->penalty;
            search->before = search->median;
            begin_behind(tl, search, &level);
            rc = rc == INFER_UNDECIDED ? 0 : rc;
        }
        free(level.set);
        tlb_refuse(lab->out, &lab->why);
        lab->why = (struct refusal){0};
    }
    return rc;
}

int tlb_dissect(struct lab *lab)
{
    struct tlb_lab tl;
    int rc = tlb_lab_begin(&tl, lab);
    if (rc == 0) {
        uint64_t stride = limits.first_stride;
        while (stride > TLB_LEAST_PAGE && tl.limit_bytes / stride < 256) {
            stride /= 2;
        }
        struct tlb_search search = {
            .noise = fmax(limits.least_excess, tl.noise + 1), .stride = stride, .reach = stride};
        search.pages = 1;
        rc = dissect_levels(&tl, &search);
    } else if (lab->out->tlb_count == 0) {
        snprintf(lab->out->tlbs[lab->out->tlb_count++].id, sizeof lab->out->tlbs[0].id, "l1_tlb");
        const struct refusal why = lab_refusal(lab);
        tlb_refuse(lab->out, &why);
    }
    tlb_lab_end(&tl);
    return rc == INFER_UNDECIDED ? 0 : rc;
}
