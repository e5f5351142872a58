/*
 * What follows from a specification alone: how lines are divided into sets, which policies a number
 * of ways cannot tell apart, what banks of shared memory conflict. Nothing of inference is used.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blind.h"
#include "core/memory/banks.h"
#include "mem/cache/replacement/replacement.h"
#include "mem/mem.h"

uint64_t truth_lines(const struct cache_spec *spec)
{
    uint64_t lines = spec->unequal_count ? 0 : (uint64_t)spec->sets * spec->ways;
    for (uint32_t i = 0; i < spec->unequal_count; i++) {
        lines += spec->ways_per_set[i];
    }
    return lines;
}

bool truth_unequal(const struct cache_spec *spec)
{
    for (uint32_t i = 1; i < spec->unequal_count; i++) {
        if (spec->ways_per_set[i] != spec->ways_per_set[0]) {
            return true;
        }
    }
    return false;
}

/* ---- set index ---- */

/*
 * The probes' buffers mostly begin on a page of 2 MiB, so below that the bits of an offset are
 * those of the address. Where pages are short, the driver aligns them less: then an offset's bit
 * may carry into the bits above. Where the number of a line counts, the buffer may begin anywhere
 * in a period. Constants reach no farther than a bank of them, and begin where a bank does.
 */
#define REACH (UINT64_C(2) << 20)
#define CONSTANT_REACH 65536
#define SAMPLES 8192
#define ALIGNED_PAGES 256 /* of a buffer's beginning, at most (rt/vmem.c) */
#define TRIES 32          /* lines for each set: drawn ones reach all */
#define MAX_CARRY 13      /* bits that carry: memory of 8 GiB */

struct division {
    const struct cache_spec *spec;
    uint32_t slices;
    const struct index_spec *slice_index;
};

static uint32_t true_set(const struct division *d, uint64_t line)
{
    const struct cache_spec *spec = d->spec;
    uint64_t address = line * spec->line_bytes;
    uint32_t slice =
        d->slice_index ? mem_index_set(d->slice_index, d->slices, spec->line_bytes, address) : 0;
    return slice * spec->sets + mem_index_set(&spec->index, spec->sets, spec->line_bytes, address);
}

/* What a dissection says: a number for each line, alike for those of one set. */
struct found_index {
    uint64_t masks[64], modulus, limit_bytes;
    size_t mask_count;
    json_t *map;
    bool linear;
};

static bool read_found(struct found_index *found, json_t *index)
{
    const char *kind = json_string_value(json_object_get(index, "kind"));
    json_t *masks = json_object_get(index, "masks"), *mask;
    json_int_t below = json_integer_value(json_object_get(index, "bits_below"));
    size_t i;
    *found = (struct found_index){.limit_bytes = REACH, .map = json_object_get(index, "map")};
    if (!kind || strcmp(kind, "unknown") == 0) {
        return false;
    }
    if (below > 0 && below < 21) {
        found->limit_bytes = UINT64_C(1) << below;
    }
    found->modulus = (uint64_t)json_integer_value(json_object_get(index, "modulus"));
    json_array_foreach(masks, i, mask)
    {
        if (json_is_string(mask) && found->mask_count < 64) {
            found->masks[found->mask_count++] = strtoull(json_string_value(mask), NULL, 0);
        }
    }
    found->linear = strcmp(kind, "bits") == 0 || strcmp(kind, "xor") == 0;
    return strcmp(kind, "none") == 0 || (found->linear && found->mask_count > 0) ||
           (strcmp(kind, "modulo") == 0 && found->modulus > 0) ||
           (strcmp(kind, "map") == 0 && json_array_size(found->map) > 0);
}

static uint64_t found_set(const struct found_index *found, uint64_t line, uint32_t line_bytes)
{
    uint64_t set = 0, address = line * line_bytes;
    for (size_t i = 0; found->linear && i < found->mask_count; i++) {
        set |= (uint64_t)__builtin_parityll(address & found->masks[i]) << i;
    }
    if (json_array_size(found->map) > 0) {
        set = (uint64_t)json_integer_value(
            json_array_get(found->map, line % json_array_size(found->map)));
    } else if (!found->linear && found->modulus > 0) {
        set = line % found->modulus;
    }
    return set;
}

#define FOUND_MAX 65536

/* One set of the one is one set of the other, over lines drawn below the reach. */
static bool divides_alike(const struct found_index *found, const struct division *d, uint64_t shift)
{
    uint32_t sets = d->spec->sets * d->slices;
    uint64_t lines = found->limit_bytes / d->spec->line_bytes;
    uint32_t *to_found = calloc(sets, sizeof(*to_found));
    uint32_t *to_true = calloc(FOUND_MAX, sizeof(*to_true));
    bool alike = to_found && to_true && lines >= 2 * (uint64_t)sets;
    struct rng rng;
    rng_seed(&rng, 1);
    for (uint32_t i = 0; i < SAMPLES && alike; i++) {
        uint64_t line = rng_below(&rng, lines);
        uint32_t set = true_set(d, line + shift);
        uint64_t said = found_set(found, line, d->spec->line_bytes);
        alike = said < FOUND_MAX && (to_found[set] == 0 || to_found[set] == said + 1) &&
                (to_true[said] == 0 || to_true[said] == set + 1);
        if (alike) {
            to_found[set] = (uint32_t)said + 1;
            to_true[said] = set + 1;
        }
    }
    free(to_found);
    free(to_true);
    return alike;
}

uint64_t truth_reached_sets(const struct cache_spec *spec, uint32_t slices,
                            const struct index_spec *slice_index)
{
    const struct division d = {spec, slices, slice_index};
    uint64_t all = (uint64_t)spec->sets * slices, reached = 0;
    uint8_t *seen = slices > 1 && slice_index && spec->line_bytes < slice_index->unit_bytes
                        ? calloc(all, 1)
                        : NULL;
    for (uint64_t line = 0; seen && line < TRIES * all; line++) {
        uint32_t set = true_set(&d, line);
        reached += !seen[set];
        seen[set] = 1;
    }
    free(seen);
    return reached ? reached : all;
}

/* From the beginnings that a driver may give a buffer, which carry into so many bits. */
static bool agrees_unaligned(const struct found_index *found, const struct division *d,
                             uint64_t page_bytes)
{
    uint64_t aligned = page_bytes * ALIGNED_PAGES;
    for (uint32_t carry = 1; aligned < found->limit_bytes && carry <= MAX_CARRY; carry++) {
        uint64_t begins = ((UINT64_C(1) << carry) - 1) * aligned;
        if (divides_alike(found, d, begins / d->spec->line_bytes)) {
            return true;
        }
    }
    return false;
}

bool truth_index_agrees(json_t *index, const struct cache_spec *spec, uint32_t slices,
                        const struct index_spec *slice_index, bool is_constant, uint64_t page_bytes)
{
    struct found_index found;
    struct division d = {spec, slices, slices > 1 ? slice_index : NULL};
    if (!read_found(&found, index)) {
        return false;
    }
    if (is_constant && found.limit_bytes > CONSTANT_REACH) {
        found.limit_bytes = CONSTANT_REACH;
    }
    uint32_t shifts = spec->index.kind == INDEX_MAP ? spec->index.map_count : 1;
    for (uint32_t shift = 0; shift < shifts; shift++) {
        if (divides_alike(&found, &d, shift)) {
            return true;
        }
    }
    return !is_constant && agrees_unaligned(&found, &d, page_bytes);
}

/* ---- policies ---- */

/* One set of a cache, of lines with small numbers. */
struct one_set {
    struct replacement replacement;
    struct replacement_spec spec;
    void *state;
    uint32_t ways, used, line[MEM_MAX_WAYS];
};

static bool set_create(struct one_set *set, enum replacement_kind kind, uint32_t ways)
{
    *set = (struct one_set){.spec = {.kind = kind, .seed = 1}, .ways = ways};
    replacement_init(&set->replacement, &set->spec);
    const struct replacement_ops *ops = set->replacement.ops;
    if (!ops) {
        return false;
    }
    set->state = calloc(1, ops->state_bytes(ways) + 1);
    if (set->state) {
        ops->init(set->state, ways);
    }
    return set->state;
}

static bool set_read(struct one_set *set, uint32_t line)
{
    const struct replacement_ops *ops = set->replacement.ops;
    for (uint32_t way = 0; way < set->used; way++) {
        if (set->line[way] == line) {
            ops->on_hit(set->state, set->ways, way);
            return true;
        }
    }
    uint32_t way =
        set->used < set->ways ? set->used++ : ops->victim(&set->replacement, set->state, set->ways);
    set->line[way] = line;
    ops->on_fill(set->state, set->ways, way);
    return false;
}

bool truth_policies_alike(enum replacement_kind a, enum replacement_kind b, uint32_t ways)
{
    struct one_set one = {0}, other = {0};
    bool alike = set_create(&one, a, ways) && set_create(&other, b, ways);
    struct rng rng;
    rng_seed(&rng, 2);
    for (uint32_t i = 0; i < 2000 + 200 * ways && alike; i++) {
        uint32_t line = (uint32_t)rng_below(&rng, ways + 1 + i / 50 % 3);
        alike = set_read(&one, line) == set_read(&other, line);
    }
    free(one.state);
    free(other.state);
    return alike;
}

bool truth_policy_named(enum replacement_kind *kind, const char *name)
{
    static const struct {
        const char *name;
        enum replacement_kind kind;
    } rules[] = {
#define POLICY(id, name, doc) {name, REPLACE_##id},
#include "infer/policy/policies.def"
    };
    for (size_t i = 0; name && i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (strcmp(rules[i].name, name) == 0) {
            *kind = rules[i].kind;
            return true;
        }
    }
    return false;
}

/* ---- banks ---- */

/* How often a warp's load is repeated at each stride of words of 4 bytes, from 0 for the least to 1
 * for the most: what latencies can show of it. */
static void repeats(double out[TRUTH_STRIDES], const struct shared_spec *spec)
{
    double least = INFINITY, most = 0;
    for (uint32_t stride = 0; stride < TRUTH_STRIDES; stride++) {
        out[stride] = truth_bank_passes(spec, stride);
        least = fmin(least, out[stride]);
        most = fmax(most, out[stride]);
    }
    for (uint32_t stride = 0; stride < TRUTH_STRIDES; stride++) {
        out[stride] = most > least ? (out[stride] - least) / (most - least) : 0;
    }
}

uint32_t truth_bank_passes(const struct shared_spec *spec, uint32_t stride)
{
    struct exec_access access = {
        .mask = UINT32_MAX, .kind = ACCESS_LOAD, .space = SPACE_SHARED, .bytes = 4, .vec = 1};
    for (uint32_t lane = 0; lane < 32; lane++) {
        access.address[lane] = (uint64_t)lane * stride * 4;
    }
    return banks_passes(spec, &access);
}

static bool look_alike(const double a[TRUTH_STRIDES], const double b[TRUTH_STRIDES])
{
    for (uint32_t stride = 0; stride < TRUTH_STRIDES; stride++) {
        if (fabs(a[stride] - b[stride]) > 1e-9) {
            return false;
        }
    }
    return true;
}

static uint32_t word_of(const struct shared_spec *spec)
{
    return spec->word_bytes ? spec->word_bytes : spec->bank_bytes;
}

bool truth_banks_show(const struct shared_spec *spec)
{
    double own[TRUTH_STRIDES], other[TRUTH_STRIDES];
    repeats(own, spec);
    for (uint32_t banks = 1; banks <= BANKS_MAX && spec->conflict_cycles > 0; banks++) {
        for (uint32_t width = 4; width <= 16; width *= 2) {
            for (uint32_t word = 4; word <= width; word *= 2) {
                struct shared_spec like = {.banks = banks, .bank_bytes = width, .word_bytes = word};
                repeats(other, &like);
                if ((banks != spec->banks || word != word_of(spec)) && look_alike(own, other)) {
                    return false;
                }
            }
        }
    }
    return spec->conflict_cycles > 0;
}
