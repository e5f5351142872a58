/*
 * Drawing a cache. Sizes are no powers of two by preference, ways go from 1 to 128, every index
 * function and replacement policy of the simulator comes up, and sets may be unequal.
 *
 * Indices spread consecutive lines evenly: bits above the line's own, and maps of two rounds, where
 * the ways are a multiple of the lines that come to a set in a row or round. So an array of the
 * size of a cache with equal sets fits it.
 */
#include <string.h>

#include "blind.h"
#include "mem/spec.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

uint32_t draw_below(struct rng *rng, uint32_t bound)
{
    return (uint32_t)rng_below(rng, bound);
}

static bool power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static uint32_t log2_of(uint32_t n)
{
    uint32_t bits = 0;
    while (n > 1) {
        n /= 2;
        bits++;
    }
    return bits;
}

uint64_t geometry_bytes(const struct geometry *g)
{
    return (uint64_t)g->line * g->sets * g->ways * g->slices;
}

void draw_counts(struct geometry *g, struct rng *rng, uint64_t least, uint64_t most)
{
    do {
        g->ways = draw_below(rng, 3) ? UINT32_C(1) << draw_below(rng, 8) : 1 + draw_below(rng, 24);
        g->sets = draw_below(rng, 2) ? UINT32_C(1) << draw_below(rng, 9) : 1 + draw_below(rng, 150);
    } while (geometry_bytes(g) < least || geometry_bytes(g) > most);
}

/* A tree wants ways that are a power of two. A cache that keeps lru_late's state from launch to
 * launch is not told yet (CHANGELOG.md, known weaknesses), so trials leave it out. */
static bool is_drawn(const char *policy, const struct geometry *g)
{
    return strcmp(policy, "lru_late") != 0 &&
           (strcmp(policy, "plru") != 0 || power_of_two(g->ways));
}

void put_policy(struct strbuf *out, struct rng *rng, const struct geometry *g)
{
    static const char *const policies[] = {
#define POLICY(id, name, doc) name,
#include "infer/policy/policies.def"
        "random", "biased", "biased_alternating"};
    const char *policy;
    do {
        policy = policies[draw_below(rng, COUNT(policies))];
    } while (!is_drawn(policy, g));
    bool biased = strncmp(policy, "biased", 6) == 0 && !g->unequal;
    if (strncmp(policy, "biased", 6) == 0 && g->unequal) {
        policy = "random";
    }
    strbuf_printf(out, "  replacement: {policy: %s, seed: %u", policy,
                  1 + draw_below(rng, 1000000));
    /* One way three times as likely as each other. */
    uint32_t favourite = draw_below(rng, g->ways);
    for (uint32_t i = 0; biased && i < g->ways; i++) {
        strbuf_printf(out, "%s%u/%u", i ? ", " : ", victim_probability: [", i == favourite ? 3 : 1,
                      g->ways + 2);
    }
    strbuf_append(out, biased ? "]}\n" : "}\n");
}

/* Set bits above `skip` bits that choose a line of the set's own; each mask with more bits if
 * folded. */
static void put_masks(struct strbuf *out, struct rng *rng, const struct geometry *g, bool folded)
{
    uint32_t bits = log2_of(g->sets);
    uint32_t lowest =
        log2_of(g->line) + (!g->unequal && !folded && g->ways % 4 == 0 ? draw_below(rng, 3) : 0);
    strbuf_printf(out, "  index: {kind: %s, %s: [", folded ? "xor" : "bits",
                  folded ? "masks" : "bits");
    for (uint32_t i = 0; i < bits; i++) {
        if (!folded) {
            strbuf_printf(out, "%s%u", i ? ", " : "", lowest + i);
            continue;
        }
        uint64_t mask = UINT64_C(1) << (lowest + i);
        for (uint32_t k = 0; k < 3; k++) {
            mask ^= draw_below(rng, 2) ? UINT64_C(1) << (lowest + bits + draw_below(rng, 8)) : 0;
        }
        strbuf_printf(out, "%s0x%llx", i ? ", " : "", (unsigned long long)mask);
    }
    strbuf_append(out, "]}\n");
}

static void put_map(struct strbuf *out, struct rng *rng, const struct geometry *g)
{
    uint32_t rounds = g->ways % 2 == 0 && g->sets <= 64 ? 1 + draw_below(rng, 2) : 1;
    uint32_t order[MEM_MAX_MAP];
    strbuf_append(out, "  index: {kind: map, map: [");
    rng_permutation(order, rng, g->sets * rounds);
    for (uint32_t i = 0; i < g->sets * rounds; i++) {
        strbuf_printf(out, "%s%u", i ? ", " : "", order[i] % g->sets);
    }
    strbuf_append(out, "]}\n");
}

static void put_index(struct strbuf *out, struct rng *rng, const struct geometry *g)
{
    uint32_t kind = draw_below(rng, 4);
    bool linear = power_of_two(g->sets) && power_of_two(g->line) && g->slices == 1 && g->sets > 1;
    if (kind < 2 && linear) {
        put_masks(out, rng, g, kind == 1);
    } else if (kind == 2 && g->sets <= 128 && g->slices == 1) {
        put_map(out, rng, g);
    } else {
        strbuf_printf(out, "  index: {kind: modulo, unit: %u B}\n", g->line * g->slices);
    }
}

/* One set larger than the others, or each with its own number of ways. Returns the lines in all. */
static uint32_t put_unequal(struct strbuf *out, struct rng *rng, struct geometry *g)
{
    uint32_t more = 1 + draw_below(rng, 8), least = g->ways, lines = 0;
    struct rng own; /* what else is drawn does not depend on how many sets there are */
    rng_seed(&own, ((uint64_t)more << 32) + g->sets);
    bool each = draw_below(&own, 2);
    g->ways = least + more;
    strbuf_append(out, "  ways_per_set: [");
    for (uint32_t i = 0; i < g->sets; i++) {
        uint32_t extra = i == 0 ? more : each ? draw_below(&own, more + 1) : 0;
        lines += least + extra;
        strbuf_printf(out, "%s%u", i ? ", " : "", least + extra);
    }
    strbuf_append(out, "]\n");
    return lines;
}

void put_cache(struct strbuf *out, struct rng *rng, struct geometry *g)
{
    uint32_t lines = g->sets * g->ways;
    if (g->unequal) {
        lines = put_unequal(out, rng, g);
    }
    strbuf_printf(out, "  size: %u B\n  line: %u B\n  sector: %u B\n  sets: %u\n  ways: %u\n",
                  lines * g->line, g->line, g->sector, g->sets, g->ways);
    put_index(out, rng, g);
    put_policy(out, rng, g);
}

void draw_l1(struct geometry *g, struct rng *rng)
{
    static const uint32_t lines[] = {32, 64, 96, 128, 128, 128, 160, 192, 256};
    *g = (struct geometry){.line = lines[draw_below(rng, COUNT(lines))], .slices = 1};
    g->sector = power_of_two(g->line) && draw_below(rng, 2) ? g->line : 32;
    draw_counts(g, rng, 2048, 16384);
    g->unequal = g->sets > 1 && g->sets <= 128 && draw_below(rng, 10) == 0;
}

void draw_l2(struct geometry *g, struct rng *rng, const struct geometry *l1)
{
    static const uint32_t lines[] = {32, 64, 96, 128, 128, 128, 160, 192, 256};
    uint64_t least = 4 * geometry_bytes(l1) < 16384 ? 16384 : 4 * geometry_bytes(l1);
    *g = (struct geometry){.slices = 1};
    do { /* a request of L1 does not reach over two lines */
        g->line = lines[draw_below(rng, COUNT(lines))];
    } while (g->line % l1->sector != 0);
    g->sector = draw_below(rng, 2) ? 32 : g->line;
    g->slices = draw_below(rng, 3) ? 1 : 2 + draw_below(rng, 5);
    draw_counts(g, rng, least, 98304);
    g->unequal = g->slices == 1 && g->sets > 1 && g->sets <= 128 && draw_below(rng, 12) == 0;
}
