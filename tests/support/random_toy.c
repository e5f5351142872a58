/*
 * Draws geometries without a preference for powers of two, each policy and index kind, sectored and
 * unsectored lines, unequal sets, and knows what can be told of each: a cache whose sets are
 * unequal has the ways of each set instead of a single number, one that is filled unevenly by a
 * hash neither; everything else has the values it was configured with.
 */
#include "support/random_toy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/rng.h"

static uint32_t pick(struct rng *rng, const uint32_t *values, size_t count)
{
    return values[rng_below(rng, count)];
}
#define PICK(rng, ...)                                                                             \
    pick(rng, (const uint32_t[]){__VA_ARGS__},                                                     \
         sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static bool power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static void draw_shape(struct toy_cache *c, struct rng *rng, uint64_t least_bytes,
                       uint64_t most_bytes)
{
    do {
        c->line_bytes = PICK(rng, 32, 64, 96, 128, 128, 128, 160, 192, 256);
        c->sector_bytes = rng_below(rng, 2) && c->line_bytes % 32 == 0 ? 32 : c->line_bytes;
        c->ways = rng_below(rng, 3) ? PICK(rng, 1, 2, 4, 8, 16, 32, 64, 128)
                                    : 1 + (uint32_t)rng_below(rng, 24);
        c->sets = rng_below(rng, 2) ? PICK(rng, 1, 2, 4, 8, 16, 32, 64, 128, 256)
                                    : 1 + (uint32_t)rng_below(rng, 150);
    } while ((uint64_t)c->line_bytes * c->ways * c->sets < least_bytes ||
             (uint64_t)c->line_bytes * c->ways * c->sets > most_bytes);
}

static void draw_cache(struct toy_cache *c, struct rng *rng, uint64_t least_bytes,
                       uint64_t most_bytes)
{
    c->present = true;
    draw_shape(c, rng, least_bytes, most_bytes);
    do {
        c->policy = (enum toy_policy)rng_below(rng, TOY_POLICIES);
    } while (c->policy == TOY_PLRU && (!power_of_two(c->ways) || c->ways > 64));
    c->index = TOY_MODULO;
    uint64_t kind = rng_below(rng, 10);
    if (kind < 3 && power_of_two(c->sets)) {
        c->index = TOY_XOR;
    } else if (kind == 3 && c->sets > 4) {
        c->index = TOY_HASH;
    } else if (kind == 4 && c->sets > 1 && c->policy != TOY_PLRU) {
        c->extra_ways = 1 + (uint32_t)rng_below(rng, 8);
    }
}

void random_toy(struct toy_config *out, uint64_t seed, bool noisy)
{
    struct rng rng;
    rng_seed(&rng, seed);
    *out = (struct toy_config){.seed = seed * 2 + 1};
    draw_cache(&out->l1, &rng, 2048, 49152);
    out->l1.present = rng_below(&rng, 8) != 0;
    uint64_t l1_bytes = (uint64_t)out->l1.line_bytes * out->l1.ways * out->l1.sets;
    draw_cache(&out->l2, &rng, l1_bytes * 4 < 16384 ? 16384 : l1_bytes * 4, 262144);
    out->l1.hit_cycles = 20 + (uint32_t)rng_below(&rng, 120);
    out->l2.hit_cycles = out->l1.hit_cycles * 3 / 2 + 40 + (uint32_t)rng_below(&rng, 200);
    out->memory_cycles = out->l2.hit_cycles * 3 / 2 + (uint32_t)rng_below(&rng, 500);
    out->far_cycles = rng_below(&rng, 3) == 0 ? (out->memory_cycles - out->l2.hit_cycles) / 3 : 0;
    out->keeps_l1 = rng_below(&rng, 4) == 0;
    if (noisy) {
        out->noise = (struct toy_noise){.jitter_cycles = (uint32_t)rng_below(&rng, 12),
                                        .outlier_share = rng_double(&rng) * 0.002,
                                        .drift = rng_double(&rng) * 0.01};
    }
}

struct judge {
    struct verdicts *sum;
    uint64_t seed;
    bool loud;
    const char *cache;
};

static void judge_value(const struct judge *j, const char *name, const struct attribute *a,
                        double truth, double tolerance, bool identifiable)
{
    bool given = a->status == ATTRIBUTE_MEASURED;
    bool right =
        given && fabs(a->value - truth) <= (tolerance > 0 ? fmax(tolerance * truth, 1) : 0);
    if (identifiable) {
        j->sum->right += right;
        j->sum->missing += !given;
        j->sum->wrong += given && !right;
    }
    j->sum->sure += given && a->confidence > 0.9;
    j->sum->surely_wrong += given && !right && a->confidence > 0.9;
    if (j->loud && ((identifiable && !right) || (given && !right && a->confidence > 0.9))) {
        printf("seed %llu: %s %s is %g, found %g (confidence %.2f) %s\n",
               (unsigned long long)j->seed, j->cache, name, truth, a->value, a->confidence,
               a->reason);
    }
}

/* Sets that differ: one of all has `extra_ways` more. */
static void judge_unequal(const struct judge *j, const struct cache_result *r,
                          const struct toy_cache *c, bool ruled)
{
    size_t longer = 0, plain = 0;
    for (size_t i = 0; i < r->ways_per_set_count; i++) {
        plain += r->ways_per_set[i] == c->ways;
        longer += r->ways_per_set[i] == c->ways + c->extra_ways;
    }
    bool unequal = ruled && c->extra_ways > 0;
    bool right = unequal && longer == 1 && plain + longer == c->sets;
    j->sum->right += right;
    j->sum->wrong += r->ways_per_set_count > 0 && !right;
    j->sum->missing += unequal && r->ways_per_set_count == 0;
    if (j->loud && r->ways_per_set_count > 0 && !right) {
        printf("seed %llu: %s ways of each set\n", (unsigned long long)j->seed, j->cache);
    }
}

static void judge_cache(struct judge *j, const struct cache_result *r, const struct toy_cache *c,
                        const struct toy_config *config, double miss_cycles, double exact)
{
    j->cache = r->id;
    if (!c->present) {
        j->sum->wrong += r->present;
        return;
    }
    bool even = c->index != TOY_HASH && c->extra_ways == 0;
    double lines = (double)c->sets * c->ways + c->extra_ways;
    double jitter = 0.125 * (config->noise.jitter_cycles ? config->noise.jitter_cycles + 1 : 0);
    double far = strcmp(r->id, "l2") == 0 ? config->far_cycles : 0;
    bool ruled = c->index != TOY_HASH;
    judge_value(j, "size", &r->size, lines * c->line_bytes, 0, ruled);
    judge_value(j, "line", &r->line, c->line_bytes, 0, ruled);
    judge_value(j, "fetch", &r->fetch_granularity, c->sector_bytes, 0, true);
    judge_value(j, "sets", &r->sets, c->sets, 0, ruled);
    judge_value(j, "ways", &r->ways, c->ways, 0, even);
    judge_unequal(j, r, c, ruled);
    judge_value(j, "hit latency", &r->hit_latency, c->hit_cycles + jitter + far / 2,
                exact + far / 2 / c->hit_cycles, true);
    double penalty = miss_cycles - c->hit_cycles;
    judge_value(j, "miss penalty", &r->miss_penalty, penalty,
                2 * exact + config->far_cycles / penalty, true);
}

static bool settles_late(const struct toy_cache *c)
{
    return c->present &&
           (c->policy == TOY_RANDOM || c->policy == TOY_BIASED || c->policy == TOY_SRRIP);
}

bool random_toy_settles_late(const struct toy_config *config)
{
    return settles_late(&config->l2) || (config->keeps_l1 && settles_late(&config->l1));
}

void random_toy_judge(struct verdicts *sum, const struct toy_config *config, uint64_t seed,
                      bool loud)
{
    static struct dissection d;
    struct toy_gpu *toy = toy_create(config);
    struct trace_source source = toy_source(toy);
    struct infer_options options = {.max_footprint_bytes = UINT64_C(16) << 20,
                                    .max_window = 6000,
                                    .skip = "policy"}; /* test_structure.c has these */
    int rc = infer_dissect(&d, &source, &options);
    struct judge judge = {.sum = sum, .seed = seed, .loud = loud};
    double exact = config->noise.jitter_cycles || config->noise.drift > 0 ? 0.02 : 0;
    if (rc || d.cache_count < 2) {
        printf("seed %llu: error %d %s\n", (unsigned long long)seed, rc, error_text());
        sum->wrong++;
    } else {
        judge_cache(&judge, &d.caches[0], &config->l1, config, config->l2.hit_cycles, exact);
        judge_cache(&judge, &d.caches[d.cache_count - 1], &config->l2, config,
                    config->memory_cycles, exact);
    }
    toy_destroy(toy);
}
