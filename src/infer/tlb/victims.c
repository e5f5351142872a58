/*
 * A level of translation whose single records can be told apart, at one set: which rule its victims
 * follow (tlb/rule.c), or how they are drawn.
 *
 * Where no rule fits, victims are counted as a cache's are (victims.c): of the set's pages one is
 * always outside; it misses, and the page that misses next is the one that went for it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/tlb/visits.h"
#include "infer/policy/victims.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned many_ways, most_ways, wanted, fewest, most_loads, few_differ, repeats;
    double sure;
} limits = {
    .many_ways = 20,       /* ways of which a record in doubt was hardly a miss */
    .most_ways = 128,      /* ways whose shares that many victims tell. Chosen */
    .wanted = 6000,        /* victims, for a share known to 0.013 */
    .fewest = 300,         /* victims: fewer tell nothing */
    .most_loads = 1500000, /* loads that they may cost */
    .few_differ = 8,       /* one miss in so many may be noise */
    .sure = 0.8,           /* confidence: less may be for lack of victims */
    .repeats = 3,          /* windows, all of which repeat: a rule */
};

struct drawing {
    struct visits *v;
    struct victim_tally tally;
    struct victim_sums sums;
    uint32_t *holds; /* the way that each page of the set lies in */
    enum tlb_sight *sight;
    uint32_t *index;
    size_t window;
    uint32_t *place; /* of each page of the set in the order of the walk */
};

/* From the miss at `from`, whose page lies nowhere, as far as ways can be followed; returns where
 * that ends. */
static size_t follow(struct drawing *d, size_t from)
{
    struct victim_tally *tally = &d->tally;
    size_t own = d->v->own, lost = d->index[from], before = SIZE_MAX, i = from + 1;
    for (size_t k = 0, way = 0; k < own; k++) {
        d->holds[k] = k == lost ? 0 : (uint32_t)way++;
    }
    for (; i < d->window; i++) {
        size_t page = d->index[i];
        if (page >= own || d->sight[i] == TLB_HIT || d->sight[i] == TLB_HIDDEN ||
            (d->sight[i] == TLB_DOUBT && tally->ways >= limits.many_ways)) {
            continue;
        }
        if (d->sight[i] == TLB_DOUBT || page == lost) {
            break;
        }
        uint32_t way = d->holds[page];
        size_t gap = d->place[page] + own - d->place[lost];
        d->sums.gap[gap < own ? gap : gap - own]++;
        d->holds[lost] = way;
        victims_count(tally, way, &before);
        lost = page;
    }
    return i;
}

static void sum_window(struct drawing *d)
{
    for (uint32_t i = 0, next = 0; i < d->v->count; i++) {
        if (d->index[i] < d->v->own) {
            d->place[d->index[i]] = next++;
        }
    }
    for (size_t at = 0; at < d->window;) {
        if (d->index[at] >= d->v->own || d->sight[at] != TLB_MISS) {
            at++;
            continue;
        }
        victims_clear(&d->tally);
        at = follow(d, at);
        victims_sum(&d->sums, &d->tally);
    }
}

/* Some whole number of rounds on, everything is as it was, but for noise. */
static bool is_periodic(const struct drawing *d)
{
    size_t round = d->v->count, half = d->window / 2, misses = 0;
    for (size_t i = 0; i < half; i++) {
        misses += d->sight[i] == TLB_MISS;
    }
    if (misses < limits.few_differ) {
        return false;
    }
    size_t allowed = d->v->tl->noisy ? misses / limits.few_differ : 0;
    for (size_t shift = round; shift <= half; shift += round) {
        size_t differing = 0;
        for (size_t i = 0; i < half && differing <= allowed; i++) {
            differing += (d->sight[i] == TLB_MISS) != (d->sight[i + shift] == TLB_MISS);
        }
        if (differing <= allowed) {
            return true;
        }
    }
    return false;
}

/* Before each window what the launch itself brought into the set must have gone again. */
static int count_victims(struct drawing *d)
{
    struct lab *lab = d->v->tl->lab;
    uint64_t start = lab->loads;
    size_t periodic = 0, ways = d->tally.ways;
    for (size_t k = 0; d->sums.victims < limits.wanted && lab->loads - start < limits.most_loads;
         k++) {
        d->window = tlb_most_window(d->v->tl);
        int rc = visits_record(d->v, d->sight, d->index, &d->window, 1, 10 + 5 * ways / 2);
        if (rc) {
            return rc;
        }
        periodic += is_periodic(d);
        if (k + 1 == limits.repeats && periodic == limits.repeats && ways > 2) {
            return lab_undecided(lab, "victims follow a rule that repeats, but none that is known");
        }
        sum_window(d);
    }
    return d->sums.victims < limits.fewest
               ? lab_undecided(lab,
                               "no known policy predicts which pages miss, and only %llu "
                               "victims show",
                               (unsigned long long)d->sums.victims)
               : 0;
}

static int judge(struct drawing *d, struct tlb_result *out)
{
    struct level_info info = {.id = out->id, .op = "cg"};
    struct level level = {.lab = d->v->tl->lab, .info = &info};
    return victims_judge(&level, &out->policy, &d->sums, d->tally.ways);
}

static int match_drawn(struct visits *v, struct tlb_result *out)
{
    size_t most = tlb_most_window(v->tl), ways = v->own - 1;
    if (ways > limits.most_ways) {
        return lab_undecided(v->tl->lab,
                             "no known policy predicts which pages miss, and victims of %zu ways "
                             "are too many to be counted",
                             ways);
    }
    struct drawing d = {.v = v, .tally.ways = ways, .sums.noisy = v->tl->noisy};
    d.tally.count = calloc(ways, sizeof *d.tally.count);
    d.tally.pair = calloc(ways * ways, sizeof *d.tally.pair);
    d.holds = calloc(v->own, sizeof *d.holds);
    d.sight = malloc(most * sizeof *d.sight);
    d.index = malloc(most * sizeof *d.index);
    d.place = calloc(v->own, sizeof *d.place);
    bool room = d.place && d.tally.count && d.tally.pair && d.holds && d.sight && d.index;
    int rc = room ? 0 : error_memory();
    if (room) {
        rc = count_victims(&d);
        rc = rc ? rc : judge(&d, out);
    }
    free(d.tally.count);
    free(d.tally.pair);
    free(d.holds);
    free(d.place);
    free(d.sight);
    free(d.index);
    return rc;
}

static int try_drawn(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level,
                     enum visits_kind kind)
{
    struct visits v;
    int rc = visits_create(&v, tl, level, kind, 0);
    rc = rc ? rc : match_drawn(&v, out);
    visits_free(&v);
    return rc;
}

/* The level in front may hold some pages for good among few: then among all. */
int tlb_visits_policy(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level)
{
    bool matched = false;
    int rc = tlb_match_rule(tl, out, &matched, level);
    if (rc || matched) {
        return rc;
    }
    rc = try_drawn(tl, out, level, VISITS_FULL);
    bool open = rc == INFER_UNDECIDED || (rc == 0 && out->policy.confidence < limits.sure);
    if (open && level->in_front && tlb_can_count(tl, level, level->fits + 1)) {
        out->policy = (struct policy_result){0};
        rc = try_drawn(tl, out, level, VISITS_AMONG_ALL);
    }
    return rc;
}
