/*
 * From address to set. One smallest conflicting set {a0 .. aw} is enough of an oracle: an address x
 * lies in its set exactly if {x, a1 .. aw} does not fit. What is asked is first whether addresses
 * the same number of lines apart share the set (modulo). Otherwise the index is taken for linear
 * over the address bits: the differences that stay in the set then form a vector space, its
 * orthogonal complement is spanned by the masks of the index bits, and that space is all that can
 * be known of them (any set of masks that spans it numbers the sets alike, in another order).
 *
 * The space is found bit by bit, by group testing: B are bits that are independent so far; if some
 * sum of bits of B, added to the next bit, stays in the set, a single walk over all those sums
 * shows it (they lie in different sets, so nothing else can overflow), and bisection finds which.
 * Neither answer is believed without addresses drawn at random that it must foretell.
 */
#include "infer/level.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/rng.h"

#define MAX_INDEX_BITS 12 /* sets up to 4096 */
#define MAX_BIT 24        /* offsets below 32 MiB */
#define LEAST_BIT_COUNT 3 /* bits beyond those that number the lines of the cache */
#define CHECKS 24         /* drawn addresses that a finding must foretell */
#define LINEAR_BUDGET 4000000

struct probe_set {
    struct level *level;
    uint32_t home; /* a0 */
    uint64_t start;
};

static int compare_offsets(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Is one of these in the set? They must lie in different sets. */
static int any_in_set(struct probe_set *p, bool *in, const uint32_t *offsets, size_t count)
{
    struct level *level = p->level;
    size_t members = level->conflict_count - 1;
    for (size_t i = 0; i < count * members; i++) {
        if (level->conflict[1 + i / count] == offsets[i % count]) {
            *in = true; /* a member belongs by definition */
            return 0;
        }
    }
    size_t n = members + count;
    uint32_t *ring = malloc(n * sizeof *ring);
    if (!ring) {
        return error_memory();
    }
    memcpy(ring, level->conflict + 1, members * sizeof *ring);
    memcpy(ring + members, offsets, count * sizeof *ring);
    enum fit_verdict verdict = FIT_UNKNOWN;
    qsort(ring, n, sizeof *ring, compare_offsets);
    int rc = fit_verdict(level, &verdict, &(struct walk_shape){.ring = ring, .count = n});
    free(ring);
    if (rc == 0 && verdict == FIT_UNKNOWN) {
        return lab_undecided(level->lab, "noise hides which addresses share a set");
    }
    if (rc == 0 && level->lab->loads - p->start > LINEAR_BUDGET) {
        return lab_undecided(level->lab, "the set index took more than %d loads", LINEAR_BUDGET);
    }
    *in = verdict == FIT_NO;
    return rc;
}

static int in_set(struct probe_set *p, bool *in, uint32_t offset)
{
    return any_in_set(p, in, &offset, 1);
}

static void name_evidence(struct level *level, const char *text)
{
    struct index_result *out = &level->result->index;
    lab_evidence(level->lab, out->evidence, level->info->id,
                 "chase op=%s: addresses put in the place of %u in a conflicting set of %zu: %s; "
                 "foretold %d of %d drawn ones",
                 level->info->op, level->conflict[0], level->conflict_count, text, CHECKS, CHECKS);
    out->confidence = level->false_slow > 0 ? 0.9 : 0.96;
}

/* ---- modulo ---- */

static uint64_t limit_bytes(const struct level *level)
{
    uint64_t limit = level->lab->options->max_footprint_bytes, most = UINT64_C(1) << (MAX_BIT + 1);
    return limit < most ? limit : most;
}

/* Do exactly the lines a multiple of `sets` away share the set? */
static int check_modulo(struct probe_set *p, bool *holds, uint64_t sets, struct rng *rng)
{
    const struct level *level = p->level;
    uint64_t line = level->line_bytes, span = 8 * sets * level->conflict_count;
    span =
        span * line > limit_bytes(level) - p->home ? (limit_bytes(level) - p->home) / line : span;
    *holds = true;
    for (size_t i = 0; i < CHECKS && *holds; i++) {
        uint64_t away = 1 + rng_below(rng, span - 1);
        away = i % 2 ? away / sets * sets : away;
        bool in = false;
        int rc = in_set(p, &in, (uint32_t)(p->home + away * line));
        if (rc) {
            return rc;
        }
        *holds = in == (away % sets == 0);
    }
    return 0;
}

/* The distance of the next line in the set after the first, if the index may repeat by it. */
static int try_modulo(struct probe_set *p, bool *found, struct rng *rng)
{
    struct level *level = p->level;
    uint64_t sets = level->conflict_count > 1
                        ? (level->conflict[1] - level->conflict[0]) / level->line_bytes
                        : 0;
    *found = false;
    if (sets < 2) {
        return 0;
    }
    int rc = check_modulo(p, found, sets, rng);
    if (rc || !*found) {
        return rc;
    }
    struct index_result *out = &level->result->index;
    char text[80];
    snprintf(text, sizeof text, "those a multiple of %llu lines away share its set",
             (unsigned long long)sets);
    name_evidence(level, text);
    bool power = (sets & (sets - 1)) == 0 && (level->line_bytes & (level->line_bytes - 1)) == 0;
    snprintf(out->kind, sizeof out->kind, power ? "bits" : "modulo");
    out->modulus = power ? 0 : sets;
    for (uint64_t bit = 1; power && bit < sets; bit *= 2) {
        out->masks[out->mask_count++] = bit * level->line_bytes;
    }
    return 0;
}

/* ---- linear ---- */

struct space {
    uint32_t independent[MAX_INDEX_BITS]; /* single bits; no sum of them stays in the set */
    size_t rank;
    uint32_t stays[32]; /* differences that stay in the set, each with a bit of its own */
    size_t stay_count;
};

static uint32_t sum_of(const struct space *space, uint32_t choice)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < space->rank; i++) {
        sum ^= choice & (1u << i) ? space->independent[i] : 0;
    }
    return sum;
}

/* Is `bit` plus some sum with number [from, to) a difference that stays in the set? */
static int group_stays(struct probe_set *p, bool *in, const struct space *space, uint32_t bit,
                       uint32_t from, uint32_t to)
{
    uint32_t *offsets = malloc((to - from) * sizeof *offsets);
    if (!offsets) {
        return error_memory();
    }
    for (uint32_t i = from; i < to; i++) {
        offsets[i - from] = p->home ^ bit ^ sum_of(space, i);
    }
    int rc = any_in_set(p, in, offsets, to - from);
    free(offsets);
    return rc;
}

static int take_bit(struct probe_set *p, struct space *space, uint32_t bit)
{
    uint32_t from = 0, to = 1u << space->rank;
    bool in = false;
    int rc = group_stays(p, &in, space, bit, 0, 1); /* most often the bit itself plays no part */
    if (rc == 0 && in) {
        to = 1;
    } else if (rc == 0 && to > 1) {
        rc = group_stays(p, &in, space, bit, from, to);
    }
    while (rc == 0 && in && to - from > 1) {
        uint32_t middle = from + (to - from) / 2;
        bool lower = false;
        rc = group_stays(p, &lower, space, bit, from, middle);
        from = lower ? from : middle;
        to = lower ? middle : to;
    }
    if (rc) {
        return rc;
    }
    if (in) {
        space->stays[space->stay_count++] = bit ^ sum_of(space, from);
        return 0;
    }
    if (space->rank == MAX_INDEX_BITS) {
        return lab_undecided(p->level->lab, "more than %d index bits", MAX_INDEX_BITS);
    }
    space->independent[space->rank++] = bit;
    return 0;
}

/* Drawn differences that stay, and drawn ones that do not. */
static int check_linear(struct probe_set *p, bool *holds, const struct space *space, uint32_t bits,
                        struct rng *rng)
{
    uint32_t line = (uint32_t)p->level->line_bytes, all = (UINT32_C(1) << bits) - line;
    *holds = true;
    for (size_t i = 0; i < CHECKS && *holds; i++) {
        uint32_t difference = 0;
        for (size_t k = 0; k < space->stay_count; k++) {
            difference ^= rng_below(rng, 2) ? space->stays[k] : 0;
        }
        uint32_t other = i % 2 || space->rank == 0
                             ? 0
                             : sum_of(space, 1 + (uint32_t)rng_below(rng, (1u << space->rank) - 1));
        bool in = false;
        if ((difference ^ other) == 0 || ((difference ^ other) & ~all)) {
            continue;
        }
        int rc = in_set(p, &in, p->home ^ difference ^ other);
        if (rc) {
            return rc;
        }
        *holds = in == (other == 0);
    }
    return 0;
}

/*
 * One mask per independent bit: that bit, and every bit whose difference that stays contains it.
 */
static void write_masks(struct index_result *out, const struct space *space)
{
    bool single = true;
    for (size_t i = 0; i < space->rank; i++) {
        uint64_t mask = space->independent[i];
        for (size_t k = 0; k < space->stay_count; k++) {
            if (space->stays[k] & space->independent[i]) {
                uint32_t own = space->stays[k];
                for (size_t j = 0; j < space->rank; j++) {
                    own &= ~space->independent[j];
                }
                mask |= own;
                single = false;
            }
        }
        out->masks[out->mask_count++] = mask;
    }
    snprintf(out->kind, sizeof out->kind, single ? "bits" : "xor");
}

/* Offsets are tested up to some bits beyond the size of the cache, as far as memory goes. */
static uint32_t bit_limit(const struct level *level)
{
    uint64_t size = level->fit_count * level->fit_stride;
    uint32_t bits = LEAST_BIT_COUNT;
    while ((UINT64_C(1) << (bits - LEAST_BIT_COUNT)) < size) {
        bits++;
    }
    while (bits > 1 && UINT64_C(1) << bits > limit_bytes(level)) {
        bits--;
    }
    return bits;
}

static int try_linear(struct probe_set *p, struct rng *rng)
{
    struct level *level = p->level;
    struct space space = {0};
    uint32_t bits = bit_limit(level);
    int rc = 0;
    for (uint32_t bit = (uint32_t)level->line_bytes; rc == 0 && bit < UINT32_C(1) << bits;
         bit *= 2) {
        rc = take_bit(p, &space, bit);
    }
    bool holds = false;
    rc = rc ? rc : check_linear(p, &holds, &space, bits, rng);
    if (rc) {
        return rc;
    }
    if (!holds) {
        return lab_undecided(level->lab, "neither a modulus nor address bits foretell which lines "
                                         "share a set");
    }
    struct index_result *out = &level->result->index;
    char text[96];
    snprintf(text, sizeof text, "%zu differences of address bits below bit %u stay in its set",
             space.stay_count, bits);
    name_evidence(level, text);
    out->bit_limit = bits;
    if (space.rank == 0) {
        snprintf(out->kind, sizeof out->kind, "none");
    } else {
        write_masks(out, &space);
    }
    return 0;
}

int level_index(struct level *level)
{
    struct probe_set p = {level, level->conflict[0], level->lab->loads};
    struct rng rng;
    bool found = false;
    rng_seed(&rng, 4711);
    int rc = try_modulo(&p, &found, &rng);
    if (rc || found) {
        return rc;
    }
    if (level->line_bytes & (level->line_bytes - 1)) {
        return lab_undecided(level->lab, "lines are no power of two, and no modulus fits");
    }
    return try_linear(&p, &rng);
}
