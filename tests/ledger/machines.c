/* See machines.h and README.md. Small, so that each takes a fraction of a second. */
#include "ledger/machines.h"

#include <stdio.h>
#include <string.h>

#include "util/rng.h"

/* Of the rows: line, sector, sets, ways, policy, index, extra ways, hit cycles. */
#define CACHE(...)                                                                                 \
    {                                                                                              \
        true, __VA_ARGS__                                                                          \
    }

#define ORDINARY                                                                                   \
    {                                                                                              \
        .max_footprint_bytes = UINT64_C(4) << 20, .max_window = 4096                               \
    }

static const struct {
    char name[32];
    struct toy_config config;
    struct infer_options options;
} named[] = {
    {"plain",
     {.l1 = CACHE(128, 128, 8, 4, TOY_LRU, TOY_MODULO, 0, 30),
      .l2 = CACHE(128, 32, 16, 8, TOY_LRU, TOY_MODULO, 0, 200),
      .memory_cycles = 500,
      .unified = true,
      .seed = 1},
     ORDINARY},
    {"noisy",
     {.l1 = CACHE(64, 64, 16, 4, TOY_PLRU, TOY_XOR, 0, 45),
      .l2 = CACHE(64, 32, 32, 8, TOY_NRU, TOY_XOR, 0, 190),
      .memory_cycles = 520,
      .noise = {.jitter_cycles = 6, .outlier_share = 0.001},
      .seed = 2},
     ORDINARY},
    {"unequal",
     {.l1 = CACHE(128, 32, 6, 5, TOY_FIFO, TOY_MODULO, 3, 60),
      .l2 = CACHE(96, 96, 12, 7, TOY_LRU, TOY_MODULO, 2, 230),
      .memory_cycles = 610,
      .keeps_l1 = true,
      .seed = 3},
     ORDINARY},
    {"mapped",
     {.l1 = CACHE(128, 128, 4, 6, TOY_LRU, TOY_MAP, 0, 33),
      .l2 = CACHE(128, 64, 5, 24, TOY_NRU, TOY_PERMUTED, 0, 240),
      .memory_cycles = 600,
      .seed = 4},
     ORDINARY},
    {"hashed",
     {.l1 = CACHE(64, 64, 8, 6, TOY_LRU, TOY_HASH, 0, 38),
      .l2 = CACHE(128, 128, 24, 6, TOY_LRU, TOY_HASH, 0, 210),
      .memory_cycles = 480,
      .seed = 5},
     ORDINARY},
    {"random",
     {.l1 = CACHE(128, 128, 4, 4, TOY_BIASED, TOY_MODULO, 0, 80),
      .l2 = CACHE(64, 64, 16, 4, TOY_RANDOM, TOY_MODULO, 0, 260),
      .memory_cycles = 530,
      .far_cycles = 40,
      .seed = 6},
     ORDINARY},
    {"resisting",
     {.l1 = CACHE(128, 32, 8, 4, TOY_SRRIP, TOY_MODULO, 0, 70),
      .l2 = CACHE(128, 128, 16, 6, TOY_LRU_LATE, TOY_FAR, 0, 250),
      .memory_cycles = 540,
      .seed = 7},
     ORDINARY},
    {"translated",
     {.l1 = CACHE(128, 128, 8, 4, TOY_LRU, TOY_MODULO, 0, 35),
      .l2 = CACHE(128, 128, 64, 8, TOY_LRU, TOY_MODULO, 0, 220),
      .memory_cycles = 480,
      .l1_tlb = {.page_bytes = 65536, .sets = 1, .entries_per_set = 8, .miss_cycles = 90},
      .l2_tlb = {.page_bytes = 65536,
                 .sets = 4,
                 .entries_per_set = 6,
                 .extra_entries = 2,
                 .miss_cycles = 200},
      .seed = 8},
     {.max_footprint_bytes = UINT64_C(16) << 20, .max_window = 4096}},
    {"constants",
     {.l2 = CACHE(128, 32, 32, 8, TOY_LRU, TOY_MODULO, 0, 210),
      .constant_l1 = CACHE(64, 64, 4, 4, TOY_LRU, TOY_MODULO, 0, 30),
      .constant_l15 = CACHE(128, 128, 8, 6, TOY_LRU, TOY_MODULO, 0, 90),
      .memory_cycles = 480,
      .seed = 9},
     {.max_footprint_bytes = UINT64_C(4) << 20,
      .max_window = 4096,
      .only = "constant_l1,constant_l15"}},
    {"constants-resisting",
     {.l2 = CACHE(128, 32, 32, 8, TOY_LRU, TOY_MODULO, 0, 210),
      .constant_l1 = CACHE(64, 32, 2, 4, TOY_NRU, TOY_MODULO, 0, 30),
      .constant_l15 = CACHE(128, 32, 5, 8, TOY_SRRIP, TOY_MODULO, 0, 90),
      .memory_cycles = 480,
      .noise = {.jitter_cycles = 3},
      .seed = 10},
     {.max_footprint_bytes = UINT64_C(4) << 20,
      .max_window = 4096,
      .only = "constant_l1,constant_l15"}},
    {"large",
     {.l1 = CACHE(128, 128, 16, 4, TOY_LRU, TOY_MODULO, 0, 35),
      .l2 = CACHE(128, 128, 512, 4, TOY_LRU, TOY_MODULO, 0, 220),
      .memory_cycles = 480,
      .seed = 11},
     {.max_footprint_bytes = UINT64_C(2) << 20,
      .max_window = 1024,
      .max_cache_loads = 2000000,
      .only = "l2"}},
};

/* ---- SMs: what they may have outstanding ---- */

#define SM(...)                                                                                    \
    {                                                                                              \
        .latency_cycles = 400, .request_cycles = 1, .issue_cycles = 2, .overhead_cycles = 80,      \
        .seed = 1, __VA_ARGS__                                                                     \
    }

static const struct toy_sm_config sms[] = {
    SM(.structure = TOY_UNBOUNDED, .mergers = 8),
    SM(.structure = TOY_MSHR, .mergers = 8, .entries = 48, .loads_per_warp = 4),
    SM(.structure = TOY_MSHR, .mergers = 3, .entries = 40, .lanes_merge_there = true),
    SM(.structure = TOY_MSHR, .mergers = 16, .entries = 64,
       .noise = {.jitter_cycles = 6, .outlier_share = 0.002}),
    SM(.structure = TOY_PRT, .mergers = 8, .entries = 44),
    SM(.structure = TOY_PRT, .mergers = 8, .entries = 24, .loads_per_warp = 2),
    SM(.structure = TOY_REQUEST_LIMIT, .mergers = 8, .entries = 150, .slow_warp = 7,
       .slower_cycles = 30),
    SM(.structure = TOY_REQUEST_LIMIT, .mergers = 8, .entries = 96, .noise = {.jitter_cycles = 4}),
};

/* ---- recordings of an H200 ---- */

static const struct {
    const char *name, *path, *only;
} recordings[] = {
    {"h200", "h200/dissection.sonde", NULL},
    {"h200-outstanding", "h200-outstanding/outstanding.sonde", NULL},
    {"h200-instructions", "h200-instructions/instructions.sonde", "instructions,sm"},
};

/* ---- drawn ones ---- */

enum { NAMED = sizeof named / sizeof *named, DRAWN_DATA = 24, DRAWN_CONSTANTS = 12 };

static uint32_t between(struct rng *rng, uint32_t least, uint32_t most)
{
    return least + (uint32_t)rng_below(rng, most - least + 1);
}

static bool power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* Of every policy and index function, lines and sets of any number. */
static struct toy_cache draw(struct rng *rng, uint32_t most_sets, uint32_t hit_cycles)
{
    static const uint32_t lines[] = {32, 64, 96, 128, 128, 160, 256};
    struct toy_cache c = {.present = true, .hit_cycles = hit_cycles};
    c.line_bytes = lines[rng_below(rng, sizeof lines / sizeof *lines)];
    c.sector_bytes = rng_below(rng, 2) ? 32 : c.line_bytes;
    c.sets = rng_below(rng, 2) ? UINT32_C(1) << rng_below(rng, 5) : between(rng, 1, most_sets);
    c.ways = rng_below(rng, 2) ? UINT32_C(1) << rng_below(rng, 4) : between(rng, 2, 12);
    do {
        c.policy = (enum toy_policy)rng_below(rng, TOY_LRU_LATE + 1);
    } while (c.policy == TOY_POLICIES || (c.policy == TOY_PLRU && !power_of_two(c.ways)));
    uint64_t kind = rng_below(rng, 8);
    c.index = kind < 3 && power_of_two(c.sets) ? TOY_XOR
              : kind == 3 && c.sets > 4        ? TOY_HASH
                                               : TOY_MODULO;
    c.extra_ways = kind == 4 && c.sets > 1 && c.policy != TOY_PLRU ? between(rng, 1, 4) : 0;
    return c;
}

static void draw_noise(struct toy_config *c, struct rng *rng)
{
    if (rng_below(rng, 2)) {
        c->noise = (struct toy_noise){.jitter_cycles = between(rng, 0, 10),
                                      .outlier_share = (double)rng_below(rng, 3) / 1000};
    }
}

static void draw_data(struct machine *out, struct rng *rng)
{
    struct toy_config *c = &out->config;
    uint32_t hit = between(rng, 20, 120), next = hit * 3 / 2 + between(rng, 40, 200);
    do {
        c->l1 = draw(rng, 12, hit);
        c->l2 = draw(rng, 40, next);
    } while (c->l2.line_bytes * c->l2.sets * c->l2.ways <
             4 * c->l1.line_bytes * c->l1.sets * c->l1.ways);
    c->l1.present = rng_below(rng, 8) != 0;
    c->memory_cycles = next * 3 / 2 + between(rng, 0, 400);
    c->far_cycles = rng_below(rng, 4) ? 0 : (c->memory_cycles - next) / 3;
    c->keeps_l1 = rng_below(rng, 4) == 0;
    c->unified = rng_below(rng, 4) == 0;
    if (rng_below(rng, 3) == 0) {
        c->l1_tlb = (struct toy_tlb){.page_bytes = 16384,
                                     .sets = between(rng, 1, 3),
                                     .entries_per_set = between(rng, 2, 8),
                                     .extra_entries = between(rng, 0, 2),
                                     .miss_cycles = between(rng, 40, 200)};
    }
    draw_noise(c, rng);
    out->options = (struct infer_options)ORDINARY;
    out->options.max_cache_loads = rng_below(rng, 3) ? 0 : 300000;
    out->options.max_window = rng_below(rng, 2) ? 4096 : 900;
}

static void draw_constants(struct machine *out, struct rng *rng)
{
    struct toy_config *c = &out->config;
    c->l2 = (struct toy_cache)CACHE(128, 32, 64, 8, TOY_LRU, TOY_MODULO, 0, between(rng, 150, 260));
    c->memory_cycles = 520;
    do {
        c->constant_l1 = draw(rng, 8, between(rng, 20, 50));
        c->constant_l15 = draw(rng, 24, between(rng, 70, 140));
    } while (c->constant_l15.line_bytes * c->constant_l15.sets * c->constant_l15.ways <
                 4 * c->constant_l1.line_bytes * c->constant_l1.sets * c->constant_l1.ways ||
             c->constant_l15.line_bytes * c->constant_l15.sets * c->constant_l15.ways > 30000);
    draw_noise(c, rng);
    out->options = (struct infer_options)ORDINARY;
    out->options.only = "constant_l1,constant_l15";
}

static void take_sm(struct machine *out, size_t i)
{
    snprintf(out->name, sizeof out->name, "sm-%zu", i + 1);
    out->sm = &sms[i];
    out->options = (struct infer_options){.only = "outstanding", .seed = 1};
}

static void take_recording(struct machine *out, size_t i)
{
    snprintf(out->name, sizeof out->name, "%s", recordings[i].name);
    out->recording = recordings[i].path;
    out->options.only = recordings[i].only;
}

static void draw_machine(struct machine *out, size_t i, bool constants)
{
    struct rng rng;
    rng_seed(&rng, 1000 + i);
    out->config.seed = i;
    if (constants) {
        snprintf(out->name, sizeof out->name, "drawn-constants-%zu", i - DRAWN_DATA + 1);
        draw_constants(out, &rng);
    } else {
        snprintf(out->name, sizeof out->name, "drawn-%zu", i + 1);
        draw_data(out, &rng);
    }
}

bool machine_at(struct machine *out, size_t i)
{
    memset(out, 0, sizeof *out);
    if (i < NAMED) {
        memcpy(out->name, named[i].name, sizeof out->name);
        out->config = named[i].config;
        out->options = named[i].options;
    } else if ((i -= NAMED) < DRAWN_DATA + DRAWN_CONSTANTS) {
        draw_machine(out, i, i >= DRAWN_DATA);
    } else if ((i -= DRAWN_DATA + DRAWN_CONSTANTS) < sizeof sms / sizeof *sms) {
        take_sm(out, i);
    } else if ((i -= sizeof sms / sizeof *sms) < sizeof recordings / sizeof *recordings) {
        take_recording(out, i);
    }
    return out->name[0] != '\0';
}
