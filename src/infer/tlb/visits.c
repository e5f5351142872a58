/*
 * Walks over the pages of one set of a level whose single records can be told apart.
 *
 * What is walked are the set's pages, one more than it has entries or twice as many, and as many
 * others beside them as keep the level in front from having them all. Where that has a page
 * nevertheless, the load is fast, and the level in question was not asked.
 *
 * A wash are still other pages of the set, four times as many as it has entries, read once in each
 * ring. Whatever the set held and remembered, they push it out: of prediction in two bits, which
 * forgets most slowly, no line outlasts three rounds of ageing.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/policy/policy.h"
#include "infer/tlb/visits.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned beside, alike;
    double many;
} limits = {
    .beside = 8,  /* pages beyond twice what the level in front holds */
    .many = 0.03, /* share of the records that make a kind */
    .alike = 5,   /* cycles beside noise that records of one kind differ by */
};

static bool is_own(const struct tlb_level *level, uint32_t page)
{
    bool own = false;
    for (size_t i = 0; i < level->set_count; i++) {
        own = own || level->set[i] == page;
    }
    return own;
}

static bool repeats(const bool *in, size_t pages, size_t period)
{
    for (size_t i = period; i < pages; i++) {
        if (in[i] != in[i - period]) {
            return false;
        }
    }
    return true;
}

/* The least period of the set that its pages up to the last show twice, else as many pages as the
 * level has entries, if it may be that; 0: there is none. */
static size_t period_of(const bool *in, size_t pages, size_t entries)
{
    for (size_t period = 1; period <= pages / 2; period++) {
        if (repeats(in, pages, period)) {
            return period;
        }
    }
    return entries < pages && repeats(in, pages, entries) ? entries : 0;
}

/*
 * Further pages of the set, where those known repeat: twice as many as it has entries tell policies
 * apart that differ only in what they do with misses. (If what lies beyond does not go on like
 * that, no rule will predict it.) Then those of the wash.
 */
static int add_further(struct visits *v, size_t wash)
{
    const struct tlb_level *level = v->level;
    size_t last = 0, limit = tlb_pages_held(v->tl, level);
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
    size_t period = period_of(in, last + 1, level->fits);
    for (size_t i = last + 1; period && v->wash_count < wash && i < limit; i++) {
        if (in[i % period]) {
            bool twice = v->count == 2 * level->set_count;
            *(twice ? &v->wash[v->wash_count++] : &v->page[v->count++]) = (uint32_t)i;
        }
    }
    v->own = v->count;
    free(in);
    return 0;
}

int visits_create(struct visits *out, struct tlb_lab *tl, const struct tlb_level *level,
                  enum visits_kind kind, unsigned attempt)
{
    size_t wanted = level->in_front ? 2 * level->in_front + limits.beside : 0,
           all = level->fits + 1;
    size_t wash = kind == VISITS_WASHED ? POLICY_WASHES * (level->set_count - 1) : 1;
    *out = (struct visits){.tl = tl, .level = level, .own = level->set_count};
    out->page = malloc((2 * level->set_count + wanted + all) * sizeof *out->page);
    out->wash = malloc((wash + 1) * sizeof *out->wash);
    if (!out->page || !out->wash) {
        return error_memory();
    }
    memcpy(out->page, level->set, level->set_count * sizeof *out->page);
    out->count = level->set_count;
    wanted = kind == VISITS_AMONG_ALL ? all : wanted;
    int rc = kind == VISITS_TWICE || kind == VISITS_WASHED ? add_further(out, wash) : 0;
    out->wash_count = kind == VISITS_WASHED ? out->wash_count : 0;
    for (uint32_t i = 0; i < all && out->count < wanted; i++) {
        if (!is_own(level, i)) {
            out->page[out->count++] = i;
        }
    }
    out->parts = tlb_parts(level, out->count);
    rng_seed(&out->rng, 99 + attempt);
    return rc;
}

void visits_free(struct visits *v)
{
    free(v->page);
    free(v->wash);
}

/* The wash, then rounds of the pages in orders of their own, or in one; `which` gets each element's
 * index. */
static int draw_ring(struct visits *v, struct tlb_ring *ring, uint32_t *which, uint32_t rounds,
                     bool alike)
{
    size_t visits = v->count * rounds;
    ring->count = v->wash_count + visits;
    ring->unit = malloc((ring->count + 1) * sizeof *ring->unit);
    if (!ring->unit) {
        return error_memory();
    }
    for (size_t i = 0; i < v->wash_count; i++) {
        ring->unit[i] = tlb_place(v->tl, v->level->page, v->wash[i], 0);
        which[i] = (uint32_t)(v->count + i);
    }
    uint32_t *units = ring->unit + v->wash_count;
    which += v->wash_count;
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t *index = which + round * v->count;
        if (round == 0 || !alike) {
            rng_permutation(index, &v->rng, (uint32_t)v->count);
        } else {
            memcpy(index, which, v->count * sizeof *index);
        }
        for (size_t i = 0; i < v->count; i++) {
            units[round * v->count + i] =
                tlb_place_in_part(v->tl, v->level, v->parts, v->page[index[i]], round);
        }
    }
    /* What tells policies apart is what comes twice before another once. */
    bool mixed = rounds > 1 && !alike && (!v->level->in_front || v->wash_count);
    for (size_t i = visits; mixed && i-- > 1;) {
        size_t j = (size_t)rng_below(&v->rng, i + 1);
        uint32_t unit = units[i], index = which[i];
        units[i] = units[j];
        which[i] = which[j];
        units[j] = unit;
        which[j] = index;
    }
    return 0;
}

/*
 * What takes longer than a miss of this level may be one of the next level, too. Noise stands
 * alone; where many records take about as long, they are misses.
 */
static int settle_doubts(const struct visits *v, enum tlb_sight *sight, const double *excess,
                         size_t window)
{
    double *doubt = malloc((window + 1) * sizeof *doubt),
           within = v->tl->record_noise + limits.alike;
    size_t count = 0;
    if (!doubt) {
        return error_memory();
    }
    for (size_t i = 0; i < window; i++) {
        if (sight[i] == TLB_DOUBT) {
            doubt[count++] = excess[i];
        }
    }
    sort_double(doubt, count);
    for (size_t i = 0; i < window && count > 0; i++) {
        size_t from = 0, to;
        while (sight[i] == TLB_DOUBT && from < count && doubt[from] < excess[i] - within) {
            from++;
        }
        for (to = from; sight[i] == TLB_DOUBT && to < count && doubt[to] <= excess[i] + within;) {
            to++;
        }
        sight[i] = (double)(to - from) > limits.many * (double)window ? TLB_MISS : sight[i];
    }
    free(doubt);
    return 0;
}

int visits_record(struct visits *v, enum tlb_sight *sight, uint32_t *index, size_t *window,
                  uint32_t rounds, uint64_t warm_rounds)
{
    const bool alike = rounds == 1;
    uint64_t warm = (warm_rounds + rounds - 1) / rounds;
    rounds = alike ? (uint32_t)v->parts : rounds;
    warm = alike ? (warm + v->parts - 1) / v->parts : warm;
    size_t length = v->wash_count + v->count * rounds, most = tlb_most_window(v->tl);
    struct tlb_ring ring = {0};
    uint32_t *which = calloc(length + 1, sizeof *which);
    double *excess = malloc(most * sizeof *excess);
    if (!which || !excess) {
        free(which);
        free(excess);
        return error_memory();
    }
    int rc = draw_ring(v, &ring, which, rounds, alike);
    *window = *window < most ? *window : most;
    rc = rc ? rc : tlb_records(v->tl, excess, &ring, warm, (uint32_t)*window, 1);
    for (size_t i = 0; rc == 0 && i < *window; i++) {
        sight[i] = tlb_see(v->tl, v->level, excess[i]);
        index[i] = which[i % length];
    }
    rc = rc ? rc : settle_doubts(v, sight, excess, *window);
    free(ring.unit);
    free(excess);
    free(which);
    return rc;
}
