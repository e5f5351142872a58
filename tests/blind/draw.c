/*
 * Drawing a hierarchy. Sizes are no powers of two by preference, ways go from 1 to 128, every index
 * function and replacement policy of the simulator comes up, and sets may be unequal.
 *
 * A geometry is regular when an array of the cache's size fits it and no longer one does, so that
 * size, sets and ways are what a dissection can tell: every set gets as many of consecutive lines
 * as another. Bits above the line's own, and maps of two rounds, do so where the ways are a
 * multiple of the lines that come to a set in a row or round. Otherwise, and with sets of different
 * ways, no single number is right, and none is asked for.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blind.h"
#include "mem/spec.h"
#include "util/error.h"
#include "util/rng.h"
#include "util/strbuf.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct geometry {
    uint32_t line, sector, sets, ways, slices;
    bool regular, unequal;
};

static uint32_t below(struct rng *rng, uint32_t bound)
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

static uint64_t bytes_of(const struct geometry *g)
{
    return (uint64_t)g->line * g->sets * g->ways * g->slices;
}

static void draw_counts(struct geometry *g, struct rng *rng, uint64_t least, uint64_t most)
{
    do {
        g->ways = below(rng, 3) ? UINT32_C(1) << below(rng, 8) : 1 + below(rng, 24);
        g->sets = below(rng, 2) ? UINT32_C(1) << below(rng, 9) : 1 + below(rng, 150);
    } while (bytes_of(g) < least || bytes_of(g) > most);
}

static void put_policy(struct strbuf *out, struct rng *rng, const struct geometry *g)
{
    static const char *const policies[] = {"lru",   "fifo",   "nru",    "plru",
                                           "srrip", "random", "biased", "biased_alternating"};
    const char *policy;
    do {
        policy = policies[below(rng, COUNT(policies))];
    } while (strcmp(policy, "plru") == 0 && !power_of_two(g->ways));
    bool biased = strncmp(policy, "biased", 6) == 0 && !g->unequal;
    if (strncmp(policy, "biased", 6) == 0 && g->unequal) {
        policy = "random";
    }
    strbuf_printf(out, "  replacement: {policy: %s, seed: %u", policy, 1 + below(rng, 1000000));
    /* One way three times as likely as each other. */
    uint32_t favourite = below(rng, g->ways);
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
        log2_of(g->line) + (g->regular && !folded && g->ways % 4 == 0 ? below(rng, 3) : 0);
    strbuf_printf(out, "  index: {kind: %s, %s: [", folded ? "xor" : "bits",
                  folded ? "masks" : "bits");
    for (uint32_t i = 0; i < bits; i++) {
        if (!folded) {
            strbuf_printf(out, "%s%u", i ? ", " : "", lowest + i);
            continue;
        }
        uint64_t mask = UINT64_C(1) << (lowest + i);
        for (uint32_t k = 0; k < 3; k++) {
            mask ^= below(rng, 2) ? UINT64_C(1) << (lowest + bits + below(rng, 8)) : 0;
        }
        strbuf_printf(out, "%s0x%llx", i ? ", " : "", (unsigned long long)mask);
    }
    strbuf_append(out, "]}\n");
}

static void put_map(struct strbuf *out, struct rng *rng, const struct geometry *g)
{
    uint32_t rounds = g->ways % 2 == 0 && g->sets <= 64 ? 1 + below(rng, 2) : 1;
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
    uint32_t kind = below(rng, 4);
    bool linear = power_of_two(g->sets) && power_of_two(g->line) && g->slices == 1 && g->sets > 1;
    if (kind < 2 && linear) {
        put_masks(out, rng, g, kind == 1);
    } else if (kind == 2 && g->sets <= 128 && g->slices == 1) {
        put_map(out, rng, g);
    } else {
        strbuf_printf(out, "  index: {kind: modulo, unit: %u B}\n", g->line * g->slices);
    }
}

static void put_unequal(struct strbuf *out, struct rng *rng, struct geometry *g)
{
    uint32_t more = 1 + below(rng, 8);
    g->ways += more;
    g->regular = false;
    strbuf_append(out, "  ways_per_set: [");
    for (uint32_t i = 0; i < g->sets; i++) {
        strbuf_printf(out, "%s%u", i ? ", " : "", i == 0 ? g->ways : g->ways - more);
    }
    strbuf_append(out, "]\n");
}

static void put_cache(struct strbuf *out, struct rng *rng, struct geometry *g)
{
    uint32_t lines = g->sets * g->ways;
    if (g->unequal) {
        uint32_t ways = g->ways;
        put_unequal(out, rng, g);
        lines += g->ways - ways;
    }
    strbuf_printf(out, "  size: %u B\n  line: %u B\n  sector: %u B\n  sets: %u\n  ways: %u\n",
                  lines * g->line, g->line, g->sector, g->sets, g->ways);
    put_index(out, rng, g);
    put_policy(out, rng, g);
}

static void draw_l1(struct geometry *g, struct rng *rng)
{
    static const uint32_t lines[] = {32, 64, 96, 128, 128, 128, 160, 192, 256};
    *g = (struct geometry){.line = lines[below(rng, COUNT(lines))], .slices = 1, .regular = true};
    g->sector = power_of_two(g->line) && below(rng, 2) ? g->line : 32;
    draw_counts(g, rng, 2048, 16384);
    g->unequal = g->sets > 1 && g->sets <= 128 && below(rng, 10) == 0;
}

static void draw_l2(struct geometry *g, struct rng *rng, const struct geometry *l1)
{
    static const uint32_t lines[] = {32, 64, 96, 128, 128, 128, 160, 192, 256};
    uint64_t least = 4 * bytes_of(l1) < 16384 ? 16384 : 4 * bytes_of(l1);
    *g = (struct geometry){.slices = 1, .regular = true};
    do { /* a request of L1 does not reach over two lines */
        g->line = lines[below(rng, COUNT(lines))];
    } while (g->line % l1->sector != 0);
    g->sector = below(rng, 2) ? 32 : g->line;
    g->slices = below(rng, 3) ? 1 : 2 + below(rng, 5);
    draw_counts(g, rng, least, 98304);
    g->unequal = g->slices == 1 && g->sets > 1 && g->sets <= 128 && below(rng, 12) == 0;
}

static void put_latencies(struct strbuf *out, struct rng *rng)
{
    uint32_t way = 20 + below(rng, 100);
    strbuf_printf(out, "noc: {request_latency: %u cycles, reply_latency: %u cycles}\n", way,
                  20 + below(rng, 60));
    strbuf_printf(out, "dram: {closed_page: true, fixed_latency: %u cycles}\n",
                  100 + below(rng, 500));
}

static void put_model(struct strbuf *out, struct rng *rng, struct blind_hierarchy *hierarchy)
{
    struct geometry l1, l2;
    bool no_l1 = below(rng, 8) == 0;
    draw_l1(&l1, rng);
    draw_l2(&l2, rng, &l1);
    strbuf_printf(out,
                  "name: blind\ndoc: drawn at random\nsm:\n  issue_per_scheduler: 2\n  lsu: "
                  "{latency: %u cycles}\n"
                  "  l1_caches_global: %s\n  shared: {size: 48 KiB}\n"
                  "  coalesce: {segment: 32 B}\nl1_data:\n",
                  4 + below(rng, 20), no_l1 ? "false" : "true");
    put_cache(out, rng, &l1);
    strbuf_printf(out, "  hit_latency: %u cycles\n  invalidate_on_launch: %s\nl2:\n",
                  10 + below(rng, 100), below(rng, 4) ? "true" : "false");
    put_cache(out, rng, &l2);
    strbuf_printf(out,
                  "  hit_latency: %u cycles\n  slices: %u\n"
                  "  slice_index: {kind: modulo, unit: %u B}\n",
                  20 + below(rng, 150), l2.slices, l2.line);
    put_latencies(out, rng);
    hierarchy->l1_regular = l1.regular;
    hierarchy->l2_regular = l2.regular;
}

bool blind_draw(struct blind_hierarchy *out, uint64_t seed)
{
    struct rng rng;
    struct strbuf yaml = {0};
    *out = (struct blind_hierarchy){0};
    rng_seed(&rng, seed);
    put_model(&yaml, &rng, out);
    out->yaml = strbuf_take(&yaml);
    if (!out->yaml) {
        error_memory();
        return false;
    }
    return model_parse(&out->model, "blind.yaml", out->yaml, strlen(out->yaml)) == 0;
}

void blind_forget(struct blind_hierarchy *hierarchy)
{
    free(hierarchy->yaml);
    model_destroy(hierarchy->model);
}

void blind_draw_noise(struct blind_noise *out, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed ^ UINT64_C(0x6e6f697365));
    *out = (struct blind_noise){.jitter_cycles = (double)below(&rng, 12),
                                .outlier_share = rng_double(&rng) * 0.002,
                                .drift = rng_double(&rng) * 0.01};
}
