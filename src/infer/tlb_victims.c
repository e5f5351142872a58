/*
 * A level of translation whose single records can be told apart, at one set: which rule its victims
 * follow, or how they are drawn.
 *
 * What is walked are the set's pages, one more than it has entries, and as many others beside them
 * as keep the level in front from having them all. Where that has a page nevertheless, the load is
 * fast, and the level in question was not asked: such visits are left out. So the rule is looked
 * for among visits in any order (policy.c), from their recorded beginning on, with a part of them
 * to forget in what state the set was.
 *
 * Where no rule fits, victims are counted as a cache's are (victims.c): of the set's pages one is
 * always outside; it misses, and the page that misses next is the one that went for it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/policy.h"
#include "infer/tlb.h"
#include "infer/victims.h"
#include "util/error.h"

#define ROUNDS 3           /* of the pages in a ring, each in an order of its own */
#define ROUNDS_BEHIND 2    /* behind another level, where there are more pages */
#define LINES_APART 2      /* units from visit to visit of a page */
#define FORGOTTEN 4        /* one in so many visits: they forget the state */
#define RINGS 16           /* recorded, where a window holds them */
#define QUIET_MISFIT 0.005 /* of the misses */
#define NOISY_MISFIT 0.03
#define BESIDE 8     /* pages beyond twice what the level in front holds */
#define MANY_WAYS 20 /* a record in doubt was hardly a miss */
#define WANTED 6000  /* victims */
#define FEWEST 300   /* the same */
#define MOST_LOADS 1500000
#define UNDECIDED_CONFIDENCE 0.7
#define ATTEMPTS 3 /* in other orders: a beginning that is not known may last in some */
#define MUCH 6     /* standard deviations: no accident */
#define REPEATS 3  /* windows, all of which repeat: a rule */

/* The pages of a walk: first those of the set. */
struct visits {
    struct tlb_lab *tl;
    const struct tlb_level *level;
    uint32_t *page; /* owned */
    size_t count, own;
    struct rng rng;
};

static bool is_own(const struct tlb_level *level, uint32_t page)
{
    bool own = false;
    for (size_t i = 0; i < level->set_count; i++) {
        own = own || level->set[i] == page;
    }
    return own;
}

/* The least period of the set among the pages up to its last; 0: there is none. */
static size_t period_of(const bool *in, size_t pages)
{
    for (size_t period = 1; period < pages; period++) {
        bool good = true;
        for (size_t i = period; good && i < pages; i++) {
            good = in[i] == in[i - period];
        }
        if (good) {
            return period;
        }
    }
    return 0;
}

/*
 * Further pages of the set, where those known repeat: twice as many as it has entries leave nothing
 * of its beginning, and tell policies apart that differ only in what they do with misses. (If what
 * lies beyond does not go on like that, no rule will foretell it.)
 */
static int add_further(struct visits *v)
{
    const struct tlb_level *level = v->level;
    size_t last = 0, limit = (size_t)(v->tl->limit_bytes / level->page);
    for (size_t i = 0; i < level->set_count; i++) {
        last = level->set[i] > last ? level->set[i] : last;
    }
    bool *in = calloc(last + 1, sizeof *in);
    if (!in) {
        return error_memory();
    }
    for (size_t i = 0; i < level->set_count; i++) {
        in[level->set[i]] = true;
    }
    size_t period = period_of(in, last + 1);
    for (size_t i = last + 1; period && v->count < 2 * level->set_count && i < limit; i++) {
        if (in[i % period]) {
            v->page[v->count++] = (uint32_t)i;
        }
    }
    v->own = v->count;
    free(in);
    return 0;
}

/* `further`: the set's pages are twice as many, if that is possible. */
static int visits_create(struct visits *out, struct tlb_lab *tl, const struct tlb_level *level,
                         bool further, unsigned attempt)
{
    size_t wanted = level->in_front ? 2 * level->in_front + BESIDE : 0, all = level->fits + 1;
    *out = (struct visits){.tl = tl, .level = level, .own = level->set_count};
    out->page = malloc((2 * level->set_count + wanted + all) * sizeof *out->page);
    if (!out->page) {
        return error_memory();
    }
    memcpy(out->page, level->set, level->set_count * sizeof *out->page);
    out->count = level->set_count;
    int rc = further ? add_further(out) : 0;
    for (uint32_t i = 0; i < all && out->count < wanted; i++) {
        if (!is_own(level, i)) {
            out->page[out->count++] = i;
        }
    }
    rng_seed(&out->rng, 99 + attempt);
    return rc;
}

/* Rounds of the pages in orders of their own; `which` gets each element's index. */
static int draw_ring(struct visits *v, struct tlb_ring *ring, uint32_t *which, uint32_t rounds)
{
    ring->count = v->count * rounds;
    ring->unit = malloc((ring->count + 1) * sizeof *ring->unit);
    if (!ring->unit) {
        return error_memory();
    }
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t *index = which + round * v->count;
        rng_permutation(index, &v->rng, (uint32_t)v->count);
        for (size_t i = 0; i < v->count; i++) {
            ring->unit[round * v->count + i] =
                tlb_place(v->level->page, v->page[index[i]], round * LINES_APART);
        }
    }
    /* What tells policies apart is what comes twice before another once. */
    for (size_t i = ring->count; rounds > 1 && !v->level->in_front && i-- > 1;) {
        size_t j = (size_t)rng_below(&v->rng, i + 1);
        uint32_t unit = ring->unit[i], index = which[i];
        ring->unit[i] = ring->unit[j];
        which[i] = which[j];
        ring->unit[j] = unit;
        which[j] = index;
    }
    return 0;
}

/* A walk: what is seen of each record, and the page's index. Both have room for a window. */
static int record(struct visits *v, enum tlb_sight *sight, uint32_t *index, size_t *window,
                  uint32_t rounds, uint64_t warm_rounds)
{
    size_t length = v->count * rounds, most = tlb_most_window(v->tl);
    struct tlb_ring ring = {0};
    uint32_t *which = calloc(length + 1, sizeof *which);
    double *excess = malloc(most * sizeof *excess);
    if (!which || !excess) {
        free(which);
        free(excess);
        return error_memory();
    }
    int rc = draw_ring(v, &ring, which, rounds);
    uint64_t warm = (warm_rounds + rounds - 1) / rounds;
    *window = *window < most ? *window : most;
    rc = rc ? rc : tlb_records(v->tl, excess, &ring, warm, (uint32_t)*window, 1);
    for (size_t i = 0; rc == 0 && i < *window; i++) {
        sight[i] = tlb_see(v->tl, v->level, excess[i]);
        index[i] = which[i % length];
    }
    free(ring.unit);
    free(excess);
    free(which);
    return rc;
}

/* ---- a rule ---- */

/*
 * As an order whose round is all of it: what comes before the record, as if the level were asked
 * each time, then the record, of which a part is forgotten where that is not sure.
 */
static int take_order(struct visits *v, struct policy_order *order)
{
    uint32_t rounds = v->level->in_front ? ROUNDS_BEHIND : ROUNDS;
    size_t before = POLICY_WARM_ROUNDS * v->count, length = rounds * v->count;
    size_t window = RINGS * length, most = tlb_most_window(v->tl);
    window = window < most ? window : most;
    size_t forgotten = before + (v->level->in_front ? window / FORGOTTEN : 0);
    enum tlb_sight *sight = calloc(window + 1, sizeof *sight);
    if (!sight) {
        return error_memory();
    }
    int rc = policy_order_create(order, before + window, before + window);
    rc = rc ? rc : record(v, sight, order->line + before, &window, rounds, POLICY_WARM_ROUNDS);
    for (size_t i = 0; rc == 0 && i < window; i++) {
        if (before + i >= forgotten) {
            order->hit[before + i - forgotten] = sight[i] != TLB_MISS;
        }
    }
    for (size_t i = 0; rc == 0 && i < before; i++) { /* rounds of the ring */
        order->line[i] = order->line[before + i % length];
    }
    for (size_t i = 0; rc == 0 && i < before + window; i++) {
        bool hidden = i >= before && sight[i - before] == TLB_HIDDEN;
        order->line[i] = order->line[i] < v->own && !hidden ? order->line[i] : POLICY_OTHER;
    }
    order->warm = order->first = forgotten;
    order->records = before + window - forgotten;
    free(sight);
    return rc;
}

/* What may differ, as a share of the visits: a rule is told by whom it makes miss. */
static double misfit_allowed(const struct visits *v, const struct policy_order *orders)
{
    size_t misses = 0, visits = 0;
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        for (size_t k = 0; k < orders[i].records; k++) {
            bool own = orders[i].line[orders[i].first + k] != POLICY_OTHER;
            visits += own;
            misses += own && !orders[i].hit[k];
        }
    }
    double share = visits ? (double)misses / (double)visits : 0;
    return (v->tl->noisy ? NOISY_MISFIT : QUIET_MISFIT) * share;
}

/*
 * First in, first out has no beginning to be guessed: a page is there exactly if its last miss is
 * one of the set's last misses, as many as it has entries. Misses that tell nothing yet are left
 * out.
 */
static bool is_fifo(const struct visits *v, const struct policy_order *order, double allowed,
                    size_t *judged)
{
    size_t ways = v->level->set_count - 1, differing = 0, visits = 0, time = 0;
    size_t *last = calloc(v->own, sizeof *last); /* 0: none seen */
    for (size_t i = 0; last && i < order->records; i++) {
        uint32_t page = order->line[order->first + i];
        if (page == POLICY_OTHER) {
            continue;
        }
        if (last[page] > 0 && time >= ways) {
            differing += (time - last[page] < ways) != order->hit[i];
            visits++;
        }
        if (!order->hit[i]) {
            last[page] = ++time;
        }
    }
    bool fits = last && time > 2 * ways && (double)differing <= allowed * (double)visits;
    *judged += visits;
    free(last);
    return fits;
}

static bool match_fifo(const struct visits *v, struct tlb_result *out,
                       const struct policy_order *orders, double allowed)
{
    struct policy_result *policy = &out->policy;
    size_t judged = 0;
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        if (!is_fifo(v, &orders[i], allowed, &judged)) {
            return false;
        }
    }
    snprintf(policy->name, sizeof policy->name, "fifo");
    lab_evidence(v->tl->lab, policy->evidence, out->id,
                 "chase op=cg: of %zu visits of %zu pages of one set of %zu, those hit whose page "
                 "is one of the last %zu that missed",
                 judged, v->own, v->level->set_count - 1, v->level->set_count - 1);
    policy->confidence = v->tl->noisy ? 0.92 : 0.95;
    return true;
}

static int match_rule(struct visits *v, struct tlb_result *out, bool *matched)
{
    struct policy_order orders[POLICY_ORDERS] = {0};
    int rc = 0;
    for (size_t i = 0; i < POLICY_ORDERS && rc == 0; i++) {
        rc = take_order(v, &orders[i]);
    }
    struct policy_case of = {.lab = v->tl->lab,
                             .id = out->id,
                             .op = "cg",
                             .ways = (uint32_t)v->level->set_count - 1,
                             .allowed = rc ? 0 : misfit_allowed(v, orders)};
    bool many = v->own > v->level->set_count; /* pages: else misses in turn say little */
    *matched = rc == 0 && (policy_match(&of, &out->policy, orders) ||
                           (many && match_fifo(v, out, orders, of.allowed)));
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        policy_order_free(&orders[i]);
    }
    /* What is left beside the name was not ruled out, which is no proof that nothing can. */
    if (*matched && out->policy.equivalent_count > 0 && v->level->set_count > 3) {
        out->policy.confidence = fmin(out->policy.confidence, UNDECIDED_CONFIDENCE);
    }
    return rc;
}

/* ---- drawn ---- */

struct drawing {
    struct visits *v;
    struct victim_tally tally;
    struct victim_sums sums;
    uint32_t *holds; /* the way that each page of the set lies in */
    enum tlb_sight *sight;
    uint32_t *index;
    size_t window;
    uint32_t *place; /* of each page of the set in the order of the walk */
    uint64_t *gaps;  /* from a miss to the next: so many of the set's pages on */
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
            (d->sight[i] == TLB_DOUBT && tally->ways >= MANY_WAYS)) {
            continue;
        }
        if (d->sight[i] == TLB_DOUBT || page == lost) {
            break;
        }
        uint32_t way = d->holds[page];
        size_t gap = d->place[page] + own - d->place[lost];
        d->gaps[gap < own ? gap : gap - own]++;
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
    size_t round = d->v->count, half = d->window / 2, allowed = d->v->tl->noisy ? half / 50 : 0;
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
    for (size_t k = 0; d->sums.victims < WANTED && lab->loads - start < MOST_LOADS; k++) {
        d->window = tlb_most_window(d->v->tl);
        int rc = record(d->v, d->sight, d->index, &d->window, 1, 10 + 5 * ways / 2);
        if (rc) {
            return rc;
        }
        periodic += is_periodic(d);
        if (k + 1 == REPEATS && periodic == REPEATS && ways > 2) {
            return lab_undecided(lab, "victims follow a rule that repeats, but none that is known");
        }
        sum_window(d);
    }
    return d->sums.victims < FEWEST
               ? lab_undecided(lab,
                               "no known policy foretells which pages miss, and only %llu "
                               "victims show",
                               (unsigned long long)d->sums.victims)
               : 0;
}

/*
 * Who draws does not ask when a page was used last: the next to miss lies anywhere. A rule prefers
 * what was used long ago, which comes soon, or the contrary.
 */
static bool asks_for_use(const struct drawing *d)
{
    double ways = (double)d->tally.ways, all = 0, x = 0;
    for (size_t i = 1; i <= d->tally.ways; i++) {
        all += (double)d->gaps[i];
    }
    for (size_t i = 1; i <= d->tally.ways; i++) {
        double differs = (double)d->gaps[i] - all / ways;
        x += differs * differs / (all / ways);
    }
    return x > ways + MUCH * sqrt(2 * ways) + MUCH * MUCH;
}

static int judge(struct drawing *d, struct tlb_result *out)
{
    if (d->tally.ways > 2 && asks_for_use(d)) {
        return lab_undecided(d->v->tl->lab, "victims depend on what was used last: a rule, but "
                                            "none that is known");
    }
    struct level_info info = {.id = out->id, .op = "cg"};
    struct level level = {.lab = d->v->tl->lab, .info = &info};
    return victims_judge(&level, &out->policy, &d->sums, d->tally.ways);
}

static int match_drawn(struct visits *v, struct tlb_result *out)
{
    size_t most = tlb_most_window(v->tl), ways = v->own - 1;
    struct drawing d = {.v = v, .tally.ways = ways, .sums.noisy = v->tl->noisy};
    d.tally.count = calloc(ways, sizeof *d.tally.count);
    d.tally.pair = calloc(ways * ways, sizeof *d.tally.pair);
    d.holds = calloc(v->own, sizeof *d.holds);
    d.sight = malloc(most * sizeof *d.sight);
    d.index = malloc(most * sizeof *d.index);
    d.place = calloc(v->own, sizeof *d.place);
    d.gaps = calloc(v->own, sizeof *d.gaps);
    bool room = d.place && d.gaps && d.tally.count && d.tally.pair && d.holds && d.sight && d.index;
    int rc = room ? 0 : error_memory();
    if (room) {
        rc = count_victims(&d);
        rc = rc ? rc : judge(&d, out);
    }
    free(d.tally.count);
    free(d.tally.pair);
    free(d.holds);
    free(d.place);
    free(d.gaps);
    free(d.sight);
    free(d.index);
    return rc;
}

int tlb_visits_policy(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level)
{
    struct visits v;
    bool matched = false;
    for (unsigned attempt = 0; attempt < ATTEMPTS && !matched; attempt++) {
        int rc = visits_create(&v, tl, level, attempt != 1, attempt);
        rc = rc ? rc : match_rule(&v, out, &matched);
        free(v.page);
        if (rc) {
            return rc;
        }
    }
    if (matched) {
        return 0;
    }
    int rc = visits_create(&v, tl, level, false, 0);
    rc = rc ? rc : match_drawn(&v, out);
    free(v.page);
    return rc;
}
