/*
 * Drawing a cache or TLB of a wide machine: of a given size, with sets that need be no power of
 * two, every index function (hashed ones over address bits up to 30) and every policy; sets may
 * differ.
 */
#include <string.h>

#include "blind.h"
#include "blind_wide.h"
#include "mem/spec.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t log2_of(uint32_t n)
{
    return 31 - (uint32_t)__builtin_clz(n);
}

static bool power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

void wide_draw(struct wide_cache *c, uint64_t bytes)
{
    static const uint32_t ways[] = {2, 4, 4, 4, 6, 8, 8, 12, 16, 16, 20, 24, 32, 64, 96};
    uint64_t lines = bytes / c->line > 0 ? bytes / c->line : 1;
    c->slices = c->slices ? c->slices : 1;
    do {
        c->ways = ways[draw_below(c->rng, COUNT(ways))];
        c->ways = draw_below(c->rng, 12) == 0 ? 1 + draw_below(c->rng, 40) : c->ways;
    } while (c->ways > lines);
    uint64_t sets = lines / c->ways;
    c->sets = (uint32_t)sets;
    if (draw_below(c->rng, 4)) { /* most often a power of two */
        c->sets = UINT32_C(1) << log2_of((uint32_t)sets);
    }
    c->unequal = !c->large && c->sets > 1 && c->sets <= 128 && draw_below(c->rng, 16) == 0;
}

static void put_wide_policy(struct strbuf *out, const struct wide_cache *c)
{
    static const char *const policies[] = {"lru",
                                           "lru",
                                           "lru",
                                           "lru",
                                           "fifo",
                                           "plru",
                                           "nru",
                                           "srrip",
                                           "random",
                                           "biased",
                                           "biased_alternating",
                                           "lru_late"};
    const char *policy;
    do {
        policy = policies[draw_below(c->rng, COUNT(policies))];
    } while ((strcmp(policy, "plru") == 0 && !power_of_two(c->ways)) ||
             (strncmp(policy, "biased", 6) == 0 && (c->unequal || c->ways < 2)));
    bool biased = strncmp(policy, "biased", 6) == 0;
    strbuf_printf(out, "  replacement: {policy: %s, seed: %u", policy,
                  1 + draw_below(c->rng, 1000000));
    /* Some ways thrice as likely as others: one, or a third of them. */
    uint32_t favourite = draw_below(c->rng, c->ways), sum = 0;
    uint32_t apart = draw_below(c->rng, 2) && c->ways > 3 ? 3 : c->ways;
    for (int pass = 0; pass < 2 && biased; pass++) {
        for (uint32_t i = 0; i < c->ways; i++) {
            uint32_t share = i % apart == favourite % apart ? 3 : 1;
            if (pass == 0) {
                sum += share;
            } else {
                strbuf_printf(out, "%s%u/%u", i ? ", " : ", victim_probability: [", share, sum);
            }
        }
    }
    strbuf_append(out, biased ? "]}\n" : "}\n");
}

/* Of the bits above the line; each with bits from anywhere above where hashed. */
static void put_wide_masks(struct strbuf *out, const struct wide_cache *c, bool folded)
{
    uint32_t bits = log2_of(c->sets), lowest = log2_of(c->line);
    uint32_t highest = draw_below(c->rng, 2) ? 30 : lowest + bits + 4;
    strbuf_printf(out, "  index: {kind: %s, %s: [", folded ? "xor" : "bits",
                  folded ? "masks" : "bits");
    for (uint32_t i = 0; i < bits; i++) {
        uint64_t mask = UINT64_C(1) << (lowest + i);
        for (uint32_t k = lowest + bits; folded && k < highest; k++) {
            mask |= draw_below(c->rng, 2) ? UINT64_C(1) << k : 0;
        }
        if (folded) {
            strbuf_printf(out, "%s0x%llx", i ? ", " : "", (unsigned long long)mask);
        } else {
            strbuf_printf(out, "%s%u", i ? ", " : "", lowest + i);
        }
    }
    strbuf_append(out, "]}\n");
}

static void put_wide_index(struct strbuf *out, const struct wide_cache *c)
{
    bool linear = c->sets > 1 && power_of_two(c->sets) && power_of_two(c->line) && !c->modulo;
    uint32_t kind = draw_below(c->rng, 10);
    if (linear && kind < 8) {
        put_wide_masks(out, c, c->hashed ? kind < 6 : kind < 2);
    } else if (kind == 8 && c->sets > 1 && c->sets <= 128 && !c->modulo) {
        uint32_t order[MEM_MAX_MAP];
        strbuf_append(out, "  index: {kind: map, map: [");
        rng_permutation(order, c->rng, c->sets);
        for (uint32_t i = 0; i < c->sets; i++) {
            strbuf_printf(out, "%s%u", i ? ", " : "", order[i]);
        }
        strbuf_append(out, "]}\n");
    } else if (kind == 9 && c->sets > 1) {
        strbuf_printf(out, "  index: {kind: hash, seed: %u}\n", draw_below(c->rng, 65536));
    } else {
        strbuf_printf(out, "  index: {kind: modulo, unit: %u B}\n", c->line * c->slices);
    }
}

static uint32_t put_wide_ways(struct strbuf *out, struct wide_cache *c)
{
    uint32_t lines = 0, least = c->ways, most = c->ways;
    strbuf_append(out, "  ways_per_set: [");
    for (uint32_t i = 0; i < c->sets; i++) {
        uint32_t ways = least + draw_below(c->rng, 5) * (i == 0 || draw_below(c->rng, 2));
        lines += ways;
        most = ways > most ? ways : most;
        strbuf_printf(out, "%s%u", i ? ", " : "", ways);
    }
    strbuf_append(out, "]\n");
    c->ways = most;
    return lines;
}

void wide_put(struct strbuf *out, const struct wide_cache *drawn)
{
    struct wide_cache c = *drawn;
    uint64_t lines = (uint64_t)c.sets * c.ways;
    if (c.unequal) {
        lines = put_wide_ways(out, &c);
    }
    strbuf_printf(out, "  size: %llu B\n  line: %u B\n  sector: %u B\n  sets: %u\n  ways: %u\n",
                  (unsigned long long)lines * c.line, c.line, c.sector, c.sets, c.ways);
    put_wide_index(out, &c);
    put_wide_policy(out, &c);
}

/* Half of them fully associative; others have sets, which may differ. */
uint32_t wide_put_tlb(struct strbuf *out, struct rng *rng, const char *name, uint32_t page_log2,
                      uint32_t entries, const char *scope, uint32_t hit)
{
    struct wide_cache c = {.rng = rng, .sets = 1, .ways = entries, .modulo = true, .slices = 1};
    if (draw_below(rng, 2) || entries > 512) {
        uint32_t ways = 1 + draw_below(rng, 16);
        c.sets = entries / ways > 0 ? entries / ways : 1;
        c.ways = ways;
        c.unequal = c.sets > 1 && c.sets <= 64 && draw_below(rng, 4) == 0;
    }
    uint32_t all = c.sets * c.ways;
    strbuf_printf(out, "%s:\n  enabled: true\n  page: %llu B\n  scope: %s\n  sets: %u\n", name,
                  1ULL << page_log2, scope, c.sets);
    if (c.unequal) {
        all = put_wide_ways(out, &c);
    } else {
        strbuf_printf(out, "  ways: %u\n", c.ways);
    }
    put_wide_policy(out, &c);
    strbuf_printf(
        out, "  hit_latency: %u cycles\n  miss_latency: %u cycles\n  fill_latency: %u cycles\n",
        hit, 1 + draw_below(rng, 12), 1 + draw_below(rng, 12));
    return all;
}
