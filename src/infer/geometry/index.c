/*
 * From address to set. One smallest conflicting set is enough to ask of any lines whether they
 * share its set (members.c). What is asked is first whether lines the same distance apart do
 * (modulo). Otherwise the index is taken for linear over the address bits: the differences that
 * stay in the set then form a vector space, its orthogonal complement is spanned by the masks of
 * the index bits, and that space is all that can be known of them (any set of masks that spans it
 * numbers the sets alike, in another order). The space is found bit by bit: B are bits that are
 * independent so far; if some sum of bits of B, added to the next bit, stays in the set, one walk
 * past all those sums shows it, and halving finds which. At last, a map of residues
 * (index_map.c).
 *
 * None of these is believed that does not predict lines drawn at random, for this set and for
 * others, which are built by its own rule.
 */
#include "infer/experiments.h"
#include "infer/geometry/geometry.h"
#include "infer/geometry/index_check.h"
#include "infer/geometry/index_each.h"
#include "infer/geometry/index_map.h"
#include "infer/geometry/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"
#include "util/error.h"

#define MAX_INDEX_BITS 12 /* sets up to 4096 */
/* Thresholds. Fixed by: blind trials (tests/blind), and an H200 (hashed sets). */
static const struct {
    unsigned least_bit_count, near_bits;
} limits = {
    .least_bit_count = 3, /* bits beyond those that number the lines of the cache */
    .near_bits = 21,      /* bits of an offset in a page of 2 MiB */
};

/* Offsets are tested up to some bits beyond the size of the cache, and up to those of the
 * conflicting lines, as far as memory goes. */
static uint32_t bit_limit(const struct eviction_set *eviction)
{
    const struct level *level = eviction->level;
    uint64_t size = level->fit.count * level->fit.stride;
    uint64_t last = eviction->member[eviction->ways - 1] * level->line.bytes;
    uint32_t bits = limits.least_bit_count;
    while ((UINT64_C(1) << (bits - limits.least_bit_count)) < size) {
        bits++;
    }
    while (last >> bits) {
        bits++;
    }
    while (bits > 1 && UINT64_C(1) << bits > line_limit(level) * level->line.bytes) {
        bits--;
    }
    return bits;
}

/*
 * Where far lines take long for another reason than the cache, as translation is, bits up to those
 * of a page and of the conflicting lines may still be told.
 */
static uint32_t near_limit(const struct eviction_set *eviction)
{
    uint32_t last = eviction->member[eviction->ways - 1], bits = limits.near_bits;
    while ((uint64_t)last * eviction->level->line.bytes >> bits) {
        bits++;
    }
    return bits;
}

static void name_evidence(struct level *level, const char *text)
{
    struct index_result *out = &level->result->index;
    *out = (struct index_result){.confidence = 0}; /* what an earlier search told */
    lab_evidence(level->lab, out->evidence, level->info->id,
                 "chase op=%s: lines walked past %zu that fill a set: %s; that %s drawn lines "
                 "of up to %d sets",
                 level->info->op, level->conflict.count - 1, text,
                 level->map.untested ? "is not tested by" : "predicted", INDEX_CLASSES);
    out->confidence = level->map.untested ? 0.5 : level->timing.false_slow > 0 ? 0.95 : 0.97;
}

/* ---- modulo ---- */

/* The distance from the set's line to the next one in its set. */
static int first_member(const struct eviction_set *eviction, uint32_t *distance)
{
    uint32_t low = 0, high = eviction->member[0] - eviction->extra;
    uint32_t *lines = malloc((high + 1) * sizeof *lines);
    int rc = 0;
    if (!lines) {
        return error_memory();
    }
    while (rc == 0 && high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        for (uint32_t i = low; i < middle; i++) {
            lines[i - low] = eviction->extra + 1 + i;
        }
        bool in = false;
        rc = eviction_set_any(eviction, &in, lines, middle - low);
        low = in ? low : middle;
        high = in ? middle : high;
    }
    free(lines);
    *distance = high;
    return rc;
}

static void modulo_map(struct set_map *map, uint32_t sets)
{
    *map = (struct set_map){.sets = sets, .period = sets};
    for (uint32_t i = 0; i < sets; i++) {
        map->class_of[i] = (uint16_t)i;
    }
}

static void write_modulo(struct level *level)
{
    struct index_result *out = &level->result->index;
    uint64_t sets = level->map.sets;
    char text[80];
    bool power = is_power_of_two(sets) && is_power_of_two(level->line.bytes);
    snprintf(text, sizeof text, "those a multiple of %llu lines away share its set",
             (unsigned long long)sets);
    name_evidence(level, text);
    snprintf(out->kind, sizeof out->kind, sets == 1 ? "none" : power ? "bits" : "modulo");
    out->modulus = power || sets == 1 ? 0 : sets;
    for (uint64_t bit = 1; power && bit < sets; bit *= 2) {
        out->masks[out->mask_count++] = bit * level->line.bytes;
    }
}

static int try_modulo(const struct eviction_set *eviction, bool *found, struct rng *rng)
{
    struct level *level = eviction->level;
    uint32_t distance = 0;
    *found = false;
    int rc = first_member(eviction, &distance);
    if (rc || distance > SETMAP_MAX_SETS) {
        return rc;
    }
    modulo_map(&level->map, distance);
    rc = index_check(eviction, found, &level->map, rng);
    if (rc == 0 && *found) {
        write_modulo(level);
    }
    return rc;
}

/* ---- linear ---- */

/* Of line numbers. */
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
static int group_stays(const struct eviction_set *eviction, bool *in, const struct space *space,
                       uint32_t bit, uint32_t from, uint32_t to)
{
    uint32_t *lines = malloc((to - from) * sizeof *lines);
    if (!lines) {
        return error_memory();
    }
    for (uint32_t i = from; i < to; i++) {
        lines[i - from] = eviction->extra ^ bit ^ sum_of(space, i);
    }
    int rc = eviction_set_any(eviction, in, lines, to - from);
    free(lines);
    return rc;
}

static int take_bit(const struct eviction_set *eviction, struct space *space, uint32_t bit)
{
    uint32_t from = 0, to = 1u << space->rank;
    bool in = false;
    int rc =
        group_stays(eviction, &in, space, bit, 0, 1); /* most often the bit itself plays no part */
    if (rc == 0 && in) {
        to = 1;
    } else if (rc == 0 && to > 1) {
        rc = group_stays(eviction, &in, space, bit, from, to);
    }
    while (rc == 0 && in && to - from > 1) {
        uint32_t middle = from + (to - from) / 2;
        bool lower = false;
        rc = group_stays(eviction, &lower, space, bit, from, middle);
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
        return lab_undecided(eviction->level->lab, "more than %d index bits", MAX_INDEX_BITS);
    }
    space->independent[space->rank++] = bit;
    return 0;
}

/* Of a linear index the sum of two differences that stay in the set stays there too. */
static int may_be_linear(const struct eviction_set *eviction, bool *may)
{
    int rc = 0;
    *may = is_power_of_two(eviction->level->line.bytes) && eviction->level->line.phase == 0;
    for (size_t i = 0; rc == 0 && *may && i + 1 < eviction->ways && i < 6; i++) {
        uint32_t line = eviction->extra ^ eviction->member[i] ^ eviction->member[i + 1];
        if (line != eviction->extra && line < line_limit(eviction->level)) {
            rc = eviction_set_any(eviction, may, &line, 1);
        }
    }
    return rc;
}

/*
 * One mask per independent bit: that bit, and every bit whose difference that stays contains it.
 */
static bool linear_map(struct set_map *map, const struct space *space)
{
    bool single = true;
    uint32_t all = 0;
    *map = (struct set_map){
        .linear = true, .sets = (size_t)1 << space->rank, .mask_count = (uint32_t)space->rank};
    for (size_t i = 0; i < space->rank; i++) {
        all |= space->independent[i];
    }
    for (size_t i = 0; i < space->rank; i++) {
        map->masks[i] = space->independent[i];
        for (size_t k = 0; k < space->stay_count; k++) {
            if (space->stays[k] & space->independent[i]) {
                map->masks[i] |= space->stays[k] & ~all;
                single = false;
            }
        }
    }
    return single;
}

/* The bits from `from` to `to` (of offsets). */
static int take_bits(const struct eviction_set *eviction, struct space *space, uint32_t from,
                     uint32_t to)
{
    int rc = 0;
    uint64_t line_bytes = eviction->level->line.bytes;
    for (uint32_t bit = 1; rc == 0 && bit * line_bytes < UINT64_C(1) << to; bit *= 2) {
        rc = bit * line_bytes < UINT64_C(1) << from ? 0 : take_bit(eviction, space, bit);
    }
    return rc;
}

static int check_space(const struct eviction_set *eviction, bool *found, const struct space *space,
                       uint32_t bits, struct rng *rng)
{
    struct level *level = eviction->level;
    bool single = linear_map(&level->map, space);
    level->map.limit = (uint32_t)((UINT64_C(1) << bits) / level->line.bytes);
    int rc = index_check(eviction, found, &level->map, rng);
    if (rc || !*found) {
        return rc;
    }
    struct index_result *out = &level->result->index;
    char text[96];
    snprintf(text, sizeof text, "%zu differences of address bits below bit %u stay in its set",
             space->stay_count, bits);
    name_evidence(level, text);
    out->bit_limit = bits;
    snprintf(out->kind, sizeof out->kind, space->rank == 0 ? "none" : single ? "bits" : "xor");
    for (size_t i = 0; i < space->rank; i++) {
        out->masks[out->mask_count++] = level->map.masks[i] * (uint64_t)level->line.bytes;
    }
    return 0;
}

/*
 * A set may leave out bits in the middle, so that a walk that fits ends far below the cache's size.
 * So bits are asked until limits.least_bit_count in a row are none of the index's, as far as memory
 * goes; what cannot be asked is left.
 */
static int take_more(const struct eviction_set *eviction, struct space *space, uint32_t *bits)
{
    uint64_t line_bytes = eviction->level->line.bytes;
    uint64_t memory = line_limit(eviction->level) * line_bytes;
    struct space more = *space;
    int rc = 0;
    while (rc == 0 && more.rank > 0 && UINT64_C(2) << *bits <= memory &&
           more.independent[more.rank - 1] * line_bytes >> (*bits - limits.least_bit_count)) {
        rc = take_bits(eviction, &more, *bits, *bits + 1);
        *space = rc ? *space : more;
        *bits += rc == 0;
    }
    if (lab_soft(rc)) { /* what is known stands */
        eviction->level->lab->why = (struct refusal){0};
        rc = 0;
    }
    return rc;
}

static int try_linear(const struct eviction_set *eviction, bool *found, struct rng *rng)
{
    struct space near = {0};
    uint32_t bits = bit_limit(eviction), near_bits = near_limit(eviction);
    near_bits = near_bits < bits ? near_bits : bits;
    int rc = may_be_linear(eviction, found);
    if (rc || !*found) {
        return rc;
    }
    rc = take_bits(eviction, &near, 0, near_bits);
    struct space whole = near;
    int further = rc ? rc : take_bits(eviction, &whole, near_bits, bits);
    further = rc || further ? further : take_more(eviction, &whole, &bits);
    *found = false;
    if (rc == 0 && further == 0) {
        further = check_space(eviction, found, &whole, bits, rng);
    }
    if (rc || *found || near_bits == bits || (further && further != INFER_UNDECIDED)) {
        return rc ? rc : further;
    }
    return check_space(eviction, found, &near, near_bits, rng);
}

/* ---- map ---- */

static int try_map(const struct eviction_set *eviction, bool *found, struct rng *rng)
{
    struct level *level = eviction->level;
    int rc = index_find_map(eviction, found, rng);
    if (rc || !*found) {
        return rc;
    }
    if (level->map.sets == level->map.period) {
        write_modulo(level);
        return 0;
    }
    struct index_result *out = &level->result->index;
    char text[96];
    snprintf(text, sizeof text, "%zu sets share the residues modulo %u lines", level->map.sets,
             level->map.period);
    name_evidence(level, text);
    snprintf(out->kind, sizeof out->kind, "map");
    out->modulus = out->map_count = level->map.period;
    memcpy(out->map, level->map.class_of, level->map.period * sizeof *out->map);
    return 0;
}

bool index_applies(const struct level *level)
{
    bool is_hidden = level->info->behind[0] && !level->filler;
    if (is_hidden) {
        lab_undecided(level->lab, "the lines of a set stay in the cache in front when they are "
                                  "walked alone");
    }
    return !is_hidden;
}

/* Where nothing predicts the set of a line, those of the first lines are known one by one. */
static int find_each(struct level *level, size_t ways, struct rng *rng)
{
    bool found = false;
    int rc = level->front ? 0 : index_find_each(level, &found, ways, rng);
    if (!found) {
        level->map.sets = 0;
        return rc && lab_soft(rc) ? 0 : rc;
    }
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: %u lines put into %zu sets one by one; that predicted lines drawn "
                 "among them of up to %d sets",
                 level->info->op, level->map.limit, level->map.sets, INDEX_CLASSES);
    return 0;
}

int level_index(struct level *level)
{
    static int (*const methods[])(const struct eviction_set *, bool *,
                                  struct rng *) = {try_modulo, try_linear, try_map};
    struct eviction_set eviction;
    struct rng rng;
    bool found = false;
    rng_seed(&rng, 4711);
    int rc = eviction_set_of_conflict(&eviction, level);
    for (size_t i = 0; i < sizeof methods / sizeof *methods && !found; i++) {
        if (rc && rc != INFER_UNDECIDED) {
            return rc;
        }
        rc = methods[i](&eviction, &found, &rng);
    }
    if (!found) {
        level->map.sets = 0;
    }
    if (rc == 0 && !found) {
        rc = find_each(level, eviction.ways, &rng);
        return rc ? rc
                  : lab_undecided(level->lab,
                                  "neither a modulus nor address bits nor a map of residues "
                                  "predict which lines share a set");
    }
    return rc;
}

/*
 * The number of sets is known, by the rows of their lines (rows.c), or 0: it is not. A known one is
 * asked as a modulus first, for a search of the next line of the set would take as many loads as
 * there are sets. What the index predicts confirms the number.
 */
int level_index_of_sets(struct level *level, size_t sets)
{
    struct eviction_set eviction;
    struct rng rng;
    bool found = false;
    const struct level_fit fit = level->fit;
    if (sets > SETMAP_MAX_SETS) {
        lab_undecided(level->lab, "the index of more than %d sets is not asked", SETMAP_MAX_SETS);
        level->lab->why.status = ATTRIBUTE_NOT_ASKED;
        return INFER_UNDECIDED;
    }
    rng_seed(&rng, 4711);
    int rc = eviction_set_of_conflict(&eviction, level);
    if (rc == 0 && sets) {
        modulo_map(&level->map, (uint32_t)sets);
        rc = index_check(&eviction, &found, &level->map, &rng);
    }
    if (rc == 0 && found) {
        write_modulo(level);
    } else if (rc == 0 && (sets == 0 || is_power_of_two(sets))) {
        uint64_t lines = level->timing.missed_bytes / level->line.bytes;
        level->fit =
            (struct level_fit){level->line.bytes, sets ? sets * eviction.ways : lines, false, 0, 0};
        rc = try_linear(&eviction, &found, &rng);
        found = found && (sets == 0 || level->map.sets == sets);
        level->fit = fit;
    }
    if (!found) {
        level->map.sets = 0;
        level->result->index = (struct index_result){.confidence = 0};
    }
    return rc || found ? rc
                       : lab_undecided(level->lab, "neither a modulus nor address bits predict "
                                                   "which lines share a set");
}
