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
#include <stdlib.h>
#include <string.h>

#include "infer/policy.h"
#include "infer/tlb.h"
#include "infer/victims.h"
#include "util/error.h"

#define ROUNDS 3          /* of the pages in a ring, each in an order of its own */
#define LINES_APART 2     /* units from visit to visit of a page */
#define FORGOTTEN 4       /* one in so many visits: they forget the state */
#define RINGS 16          /* recorded, where a window holds them */
#define QUIET_MISFIT 0.03 /* of the misses */
#define NOISY_MISFIT 0.1
#define BESIDE 8     /* pages beyond twice what the level in front holds */
#define MANY_WAYS 20 /* a record in doubt was hardly a miss */
#define WANTED 6000  /* victims */
#define FEWEST 300   /* the same */
#define MOST_LOADS 1500000
#define REPEATS 3 /* windows, all of which repeat: a rule */

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

static int visits_create(struct visits *out, struct tlb_lab *tl, const struct tlb_level *level)
{
    size_t wanted = level->in_front ? 2 * level->in_front + BESIDE : 0, all = level->fits + 1;
    *out = (struct visits){.tl = tl, .level = level, .own = level->set_count};
    wanted = wanted > level->set_count ? wanted : level->set_count;
    out->page = malloc((wanted + all) * sizeof *out->page);
    if (!out->page) {
        return error_memory();
    }
    memcpy(out->page, level->set, level->set_count * sizeof *out->page);
    out->count = level->set_count;
    for (uint32_t i = 0; i < all && out->count < wanted; i++) {
        if (!is_own(level, i)) {
            out->page[out->count++] = i;
        }
    }
    rng_seed(&out->rng, 99);
    return 0;
}

/* Rounds of the pages in orders of their own; `which` gets each element's index. */
static int draw_ring(struct visits *v, struct tlb_ring *ring, uint32_t *which, uint32_t rounds)
{
    ring->count = v->count * rounds;
    ring->unit = malloc(ring->count * sizeof *ring->unit);
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
    uint32_t *which = malloc(length * sizeof *which);
    double *excess = malloc(most * sizeof *excess);
    int rc = which && excess ? draw_ring(v, &ring, which, rounds) : error_memory();
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
    size_t before = POLICY_WARM_ROUNDS * v->count, length = ROUNDS * v->count;
    size_t window = RINGS * length, most = tlb_most_window(v->tl);
    window = window < most ? window : most;
    size_t forgotten = before + (v->level->in_front ? window / FORGOTTEN : 0);
    enum tlb_sight *sight = malloc(window * sizeof *sight);
    int rc = policy_order_create(order, before + window, before + window);
    rc = rc || sight ? rc : error_memory();
    rc = rc ? rc : record(v, sight, order->line + before, &window, ROUNDS, POLICY_WARM_ROUNDS);
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
                             .ways = (uint32_t)v->own - 1,
                             .allowed = rc ? 0 : misfit_allowed(v, orders)};
    *matched = rc == 0 && policy_match(&of, &out->policy, orders);
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        policy_order_free(&orders[i]);
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
};

static void clear_tally(struct victim_tally *tally)
{
    memset(tally->count, 0, tally->ways * sizeof *tally->count);
    memset(tally->pair, 0, tally->ways * tally->ways * sizeof *tally->pair);
    tally->victims = tally->pairs = 0;
}

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
        d->holds[lost] = way;
        tally->count[way]++;
        tally->victims++;
        if (before != SIZE_MAX) {
            tally->pair[before * tally->ways + way]++;
            tally->pairs++;
        }
        before = way;
        lost = page;
    }
    return i;
}

static void sum_window(struct drawing *d)
{
    for (size_t at = 0; at < d->window;) {
        if (d->index[at] >= d->v->own || d->sight[at] != TLB_MISS) {
            at++;
            continue;
        }
        clear_tally(&d->tally);
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

static int judge(struct drawing *d, struct tlb_result *out)
{
    struct level_info info = {.id = out->id, .op = "cg"};
    struct level level = {.lab = d->v->tl->lab, .info = &info};
    return victims_judge(&level, &out->policy, &d->sums, d->tally.ways);
}

static int match_drawn(struct visits *v, struct tlb_result *out)
{
    size_t most = tlb_most_window(v->tl), ways = v->own - 1;
    struct drawing d = {.v = v, .tally.ways = ways};
    d.tally.count = calloc(ways, sizeof *d.tally.count);
    d.tally.pair = calloc(ways * ways, sizeof *d.tally.pair);
    d.holds = calloc(v->own, sizeof *d.holds);
    d.sight = malloc(most * sizeof *d.sight);
    d.index = malloc(most * sizeof *d.index);
    bool room = d.tally.count && d.tally.pair && d.holds && d.sight && d.index;
    int rc = room ? count_victims(&d) : error_memory();
    rc = rc ? rc : judge(&d, out);
    free(d.tally.count);
    free(d.tally.pair);
    free(d.holds);
    free(d.sight);
    free(d.index);
    return rc;
}

int tlb_visits_policy(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level)
{
    struct visits v;
    bool matched = false;
    int rc = visits_create(&v, tl, level);
    rc = rc ? rc : match_rule(&v, out, &matched);
    rc = rc || matched ? rc : match_drawn(&v, out);
    free(v.page);
    return rc;
}
