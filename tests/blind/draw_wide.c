/*
 * Drawing a whole machine, from Tesla to a little beyond Hopper: DRAW.md says what with what
 * weight. A generation bounds what is drawn; an odd machine is bounded by what the simulator can be
 * alone. Nothing is left out because it is hard to tell. What the loader refuses is drawn again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blind.h"
#include "blind_wide.h"
#include "util/error.h"

enum { KIB = 1024, TRIES = 200 };

/* Ranges, both ends included. `l1` and `l2` in KiB. */
static const struct generation {
    const char *name;
    uint32_t weight, sms[2], l1[2], l2[2], l1_hit[2], l2_way[2], memory[2], compute;
    bool l1_global, texture, sectors, hashed, parts;
} generations[] = {
    {"tesla", 1, {1, 30}, {0, 0}, {64, 256}, {0, 0}, {90, 260}, {100, 300}, 1, .texture = true},
    {"fermi",
     2,
     {1, 16},
     {16, 48},
     {128, 768},
     {30, 110},
     {90, 300},
     {60, 350},
     2,
     .l1_global = true,
     .texture = true},
    {"kepler",
     2,
     {1, 15},
     {16, 48},
     {256, 1536},
     {30, 110},
     {90, 260},
     {60, 250},
     3,
     .texture = true},
    {"maxwell",
     1,
     {2, 24},
     {12, 48},
     {512, 3072},
     {40, 100},
     {100, 250},
     {60, 250},
     5,
     .l1_global = true,
     .sectors = true,
     .hashed = true},
    {"pascal",
     1,
     {3, 60},
     {16, 64},
     {1024, 4096},
     {30, 100},
     {100, 250},
     {60, 300},
     6,
     .l1_global = true,
     .sectors = true,
     .hashed = true},
    {"volta",
     2,
     {20, 84},
     {32, 128},
     {3072, 6144},
     {20, 60},
     {120, 250},
     {80, 400},
     7,
     .l1_global = true,
     .sectors = true,
     .hashed = true},
    {"ampere",
     2,
     {28, 128},
     {64, 192},
     {4096, 49152},
     {20, 60},
     {120, 300},
     {80, 400},
     8,
     .l1_global = true,
     .sectors = true,
     .hashed = true,
     .parts = true},
    {"hopper",
     2,
     {60, 144},
     {128, 256},
     {24576, 65536},
     {20, 60},
     {150, 320},
     {100, 500},
     9,
     .l1_global = true,
     .sectors = true,
     .hashed = true,
     .parts = true},
    {"odd",
     4,
     {1, 144},
     {1, 256},
     {64, 65536},
     {6, 150},
     {12, 400},
     {10, 600},
     7,
     .l1_global = true,
     .texture = true,
     .sectors = true,
     .hashed = true,
     .parts = true},
};
enum { GENERATIONS = sizeof(generations) / sizeof(generations[0]) };

/* A machine in the making. */
struct making {
    struct strbuf *out;
    struct rng *rng;
    const struct generation *of;
    uint32_t sms, clusters, l1_line, l1_sector, l2_line, l2_sector, l1_hit, l2_hit, way;
    bool l1, texture, odd;
};

static uint32_t between(struct making *m, const uint32_t range[2])
{
    return range[0] + draw_below(m->rng, range[1] - range[0] + 1);
}

/* As many octaves apart as one likes. */
static uint64_t by_octave(struct making *m, uint64_t least, uint64_t most)
{
    uint64_t top = least;
    uint32_t octaves = 1;
    while (top * 2 <= most) {
        top *= 2;
        octaves++;
    }
    uint64_t from = least << draw_below(m->rng, octaves);
    uint64_t to = from * 2 - 1 < most ? from * 2 - 1 : most;
    return draw_below(m->rng, 2) ? from : from + rng_below(m->rng, to - from + 1);
}

static uint32_t one_of(struct making *m, const uint32_t *list, uint32_t count)
{
    return list[draw_below(m->rng, count)];
}

static bool chance(struct making *m, uint32_t percent)
{
    return draw_below(m->rng, 100) < percent;
}

/* ---- the SM ---- */

/* Clusters of unequal size: their SMs in turn, and what is over to some. */
static void put_clusters(struct making *m)
{
    m->clusters = m->sms < 4 ? 1 : 1 + draw_below(m->rng, m->sms / 2 < 12 ? m->sms / 2 : 12);
    strbuf_printf(m->out, "sms: %u\nclusters: %u\n", m->sms, m->clusters);
    if (m->clusters > 1 && chance(m, 60)) {
        strbuf_append(m->out, "cluster_of: [");
        for (uint32_t i = 0; i < m->sms; i++) {
            uint32_t of = i < m->clusters ? i : draw_below(m->rng, m->clusters);
            strbuf_printf(m->out, "%s%u", i ? ", " : "", of);
        }
        strbuf_append(m->out, "]\n");
    }
}

static void put_outstanding(struct making *m)
{
    uint32_t kind = draw_below(m->rng, 4), entries = 8 + draw_below(m->rng, 121);
    if (chance(m, 40)) {
        strbuf_printf(m->out, "  loads_per_warp: %u\n", 1 + draw_below(m->rng, 12));
    }
    if (kind >= 2) {
        strbuf_printf(m->out, "  outstanding: {structure: %s, entries: %u%s}\n",
                      kind == 2 ? "prt" : "request_limit", kind == 2 ? entries : 2 * entries,
                      kind == 3 && chance(m, 25) ? ", hold_instruction: true" : "");
    }
}

static void put_sm(struct making *m)
{
    static const uint32_t banks[] = {16, 32, 32, 32, 32, 20, 48}, parallel[] = {1, 1, 2, 4, 8, 32};
    uint32_t width = chance(m, 25) ? 8 : 4;
    strbuf_printf(m->out,
                  "sm:\n  issue_per_scheduler: %u\n  l1_caches_global: %s\n  lsu: {latency: %u "
                  "cycles, parallel: %u, request_interval: %u cycles}\n",
                  1 + draw_below(m->rng, 2), m->of->l1_global && m->l1 ? "true" : "false",
                  4 + draw_below(m->rng, 24), one_of(m, parallel, 6), 1 + draw_below(m->rng, 2));
    strbuf_printf(m->out, "  coalesce: {segment: %u B, sector: 32 B}\n",
                  m->of->compute >= 5 ? 128
                  : chance(m, 50)     ? 32
                                      : 128);
    strbuf_printf(m->out,
                  "  shared: {size: %u KiB, banks: %u, bank_width: %u B, word: 4 B, latency: %u "
                  "cycles, conflict_latency: %u cycles}\n",
                  m->of->compute == 1 ? 16 : 48, one_of(m, banks, m->odd ? 7 : 5), width,
                  18 + draw_below(m->rng, 40), 2 + draw_below(m->rng, 34));
    const char *readonly = "none";
    if (m->of->compute >= 3) {
        readonly = m->texture && chance(m, 60)                  ? "texture"
                   : m->l1 && m->of->l1_global && chance(m, 70) ? "l1"
                                                                : "none";
    }
    strbuf_printf(m->out,
                  "  readonly: %s\n  texture: {address_latency: %u cycles, filter_latency: "
                  "%u cycles%s}\n",
                  readonly, 4 + draw_below(m->rng, 40), 4 + draw_below(m->rng, 40),
                  !m->texture && m->l1 && m->of->compute >= 5 ? ", l1: true" : "");
    strbuf_printf(m->out, "  constant: {address_latency: %u cycles}\n", 4 + draw_below(m->rng, 20));
    put_outstanding(m);
}

/* ---- its caches ---- */

static void put_data_caches(struct making *m)
{
    struct wide_cache l1 = {.rng = m->rng,
                            .hashed = m->of->hashed,
                            .line = m->l1_line,
                            .sector = m->l1_sector,
                            .keeps = chance(m, 10)};
    uint64_t bytes = m->l1 ? by_octave(m, m->of->l1[0], m->of->l1[1]) * KIB : 16 * KIB;
    uint32_t mshr = chance(m, 35) ? 16 + draw_below(m->rng, 240) : 4096;
    wide_draw(&l1, bytes);
    strbuf_printf(m->out, "l1_data:\n  enabled: %s\n", m->l1 ? "true" : "false");
    wide_put(m->out, &l1);
    if (l1.sets > 1 && !l1.unequal && m->of->compute >= 7 && chance(m, 40)) {
        uint64_t lines = (uint64_t)l1.sets * l1.ways;
        strbuf_printf(m->out, "  data: %llu B\n",
                      (unsigned long long)(lines - 1 - rng_below(m->rng, lines / 4)) * l1.line);
    }
    strbuf_printf(m->out,
                  "  hit_latency: %u cycles\n  invalidate_on_launch: %s\n  miss: {entries: %u, "
                  "mergers: %u, merger: %s}\n",
                  m->l1_hit, l1.keeps ? "false" : "true", mshr,
                  mshr < 4096 ? draw_below(m->rng, 17) : 4096, chance(m, 30) ? "lane" : "request");
}

static void put_readonly(struct making *m)
{
    static const uint32_t texture[] = {32, 32, 64, 128}, constant[] = {32, 64, 64, 128, 256};
    if (m->texture) {
        struct wide_cache t = {.rng = m->rng, .line = one_of(m, texture, 4), .sector = 32};
        t.sector = t.line <= m->l2_sector && chance(m, 50) ? t.line : 32;
        wide_draw(&t, by_octave(m, m->odd ? 512 : 5 * KIB, 48 * KIB));
        strbuf_append(m->out, "texture_l1:\n  enabled: true\n");
        wide_put(m->out, &t);
        strbuf_printf(m->out, "  hit_latency: %u cycles\n",
                      20 + draw_below(m->rng, m->way > 60 ? m->way - 30 : 20));
    }
    if (!chance(m, 85)) {
        return;
    }
    struct wide_cache c = {.rng = m->rng, .line = one_of(m, constant, 4)};
    c.sector = c.line <= m->l2_sector ? c.line : 32;
    wide_draw(&c, by_octave(m, 1 * KIB, 4 * KIB));
    uint32_t hit = 10 + draw_below(m->rng, 40);
    strbuf_append(m->out, "constant_l1:\n  enabled: true\n");
    wide_put(m->out, &c);
    strbuf_printf(m->out, "  hit_latency: %u cycles\n", hit);
    if (!chance(m, 75)) {
        return;
    }
    struct wide_cache d = {.rng = m->rng, .line = c.line << draw_below(m->rng, 3)};
    d.sector = d.line <= m->l2_sector && chance(m, 50) ? d.line : c.sector;
    wide_draw(&d, by_octave(m, 8 * KIB, 32 * KIB));
    strbuf_append(m->out, "constant_l15:\n  enabled: true\n");
    wide_put(m->out, &d);
    strbuf_printf(m->out, "  hit_latency: %u cycles\n  scope: %s\n",
                  hit + 5 + draw_below(m->rng, m->way > 40 ? m->way - 20 : 20),
                  m->clusters > 1 && chance(m, 30) ? "cluster" : "sm");
}

/* ---- L2, network, memory ---- */

static void put_slice_index(struct making *m, const char *key, uint32_t number, uint32_t unit)
{
    if (number > 1 && m->of->hashed && chance(m, 60)) {
        strbuf_printf(m->out, "  %s: {kind: hash, unit: %u B, seed: %u}\n", key, unit,
                      draw_below(m->rng, 65536));
    } else {
        strbuf_printf(m->out, "  %s: {kind: modulo, unit: %u B}\n", key, unit);
    }
}

static void put_parts(struct making *m, uint32_t slices)
{
    strbuf_printf(m->out, "  parts: 2\n  crossing: {latency: %u cycles}\n",
                  10 + draw_below(m->rng, 120));
    put_slice_index(m, "part_index", 2, 4096);
    if (chance(m, 50)) {
        uint32_t spread = 1 + draw_below(m->rng, 50);
        strbuf_append(m->out, "  slice_latency: [");
        for (uint32_t i = 0; i < slices / 2; i++) {
            strbuf_printf(m->out, "%s%u", i ? ", " : "", draw_below(m->rng, spread));
        }
        strbuf_append(m->out, "]\n");
    }
}

static void put_l2(struct making *m)
{
    static const uint32_t channels[] = {1, 2, 4, 5, 6, 8, 10, 12, 16, 24, 32, 40};
    uint64_t bytes = by_octave(m, m->of->l2[0], m->of->l2[1]) * KIB;
    uint32_t most = bytes < 256 * KIB ? 4 : bytes < 4096 * KIB ? 8 : 12;
    uint32_t number = channels[draw_below(m->rng, most)], slices = number << draw_below(m->rng, 3);
    bool parts = m->of->parts && m->clusters > 1 && chance(m, 50);
    slices = parts && slices % 2 ? slices * 2 : slices;
    struct wide_cache c = {.rng = m->rng,
                           .hashed = m->of->hashed && slices == 1,
                           .modulo = slices > 1,
                           .line = m->l2_line,
                           .sector = m->l2_sector,
                           .slices = slices,
                           .keeps = true,
                           .large = true};
    wide_draw(&c, bytes / slices);
    uint32_t segment = m->l2_line > 128 ? m->l2_line : 128;
    strbuf_append(m->out, "l2:\n");
    wide_put(m->out, &c);
    strbuf_printf(m->out, "  hit_latency: %u cycles\n  slices: %u\n", m->l2_hit, slices);
    put_slice_index(m, "slice_index", slices, segment);
    if (parts) {
        put_parts(m, slices);
    }
    uint32_t request = m->way > m->l2_hit + 4 ? (m->way - m->l2_hit) / 2 : 2;
    if (chance(m, 8) && m->sms + slices <= 60) {
        strbuf_printf(m->out,
                      "noc: {kind: flits, topology: mesh, width: 8, height: 8, request_latency: "
                      "%u cycles, reply_latency: %u cycles}\n",
                      request / 2, request / 2);
    } else {
        strbuf_printf(m->out, "noc: {request_latency: %u cycles, reply_latency: %u cycles}\n",
                      request, request);
    }
    uint32_t memory = m->l2_hit + between(m, m->of->memory);
    strbuf_printf(m->out, "dram: {channels: %u, closed_page: %s, fixed_latency: %u cycles%s}\n",
                  number, chance(m, 60) ? "true" : "false", memory,
                  chance(m, 40) ? ", bank_hash: true" : "");
}

/* ---- translation ---- */

static void put_tlbs(struct making *m)
{
    static const uint32_t pages[] = {12, 16, 16, 17, 20, 21, 21, 21};
    static const char *const scopes[] = {"sm", "cluster", "gpu"};
    uint32_t page = one_of(m, pages, 8), scope = draw_below(m->rng, 3);
    uint32_t first = page + draw_below(m->rng, page >= 20 ? 4 : 2);
    uint32_t entries = 4 + draw_below(m->rng, chance(m, 60) ? 29 : 125);
    bool both = chance(m, 75);
    uint64_t memory = UINT64_C(8) << 30;
    if (chance(m, 88)) {
        uint32_t reached = wide_put_tlb(m->out, m->rng, "tlb_l1", first, entries, scopes[scope], 0);
        if (both) {
            uint32_t second = first + (page >= 20 ? draw_below(m->rng, 3) : 0);
            uint32_t more = (reached * (2 + draw_below(m->rng, 12)) >> (second - first)) + 8;
            scope += draw_below(m->rng, 3 - scope);
            reached = wide_put_tlb(m->out, m->rng, "tlb_l2", second, more, scopes[scope],
                                   4 + draw_below(m->rng, 40));
            first = second;
        }
        while ((uint64_t)reached << first > memory / 8) {
            memory *= 2;
        }
        uint32_t levels = chance(m, 40) ? 1 + draw_below(m->rng, 3) : 0;
        strbuf_printf(m->out, "walker: {levels: %u, latency: %u cycles", levels,
                      20 + draw_below(m->rng, 400));
        for (uint32_t i = 0; i < levels; i++) {
            uint32_t span = page + 9 * (levels - 1 - i);
            strbuf_printf(m->out, ", level%u: {span: %llu B, entry: 8 B}", i + 1,
                          1ULL << (span < 40 ? span : 40));
        }
        strbuf_append(m->out, "}\n");
    }
    strbuf_printf(m->out, "vm: {page: %llu B, memory: %llu GiB}\n", 1ULL << page,
                  (unsigned long long)(memory >> 30));
}

static void put_machine(struct making *m)
{
    static const uint32_t lines[] = {128, 128, 128, 64, 32, 256};
    m->sms = (uint32_t)by_octave(m, m->of->sms[0], m->of->sms[1]);
    m->l1 = m->of->l1[1] > 0 && (!m->odd || chance(m, 85));
    m->texture = m->of->texture && (!m->odd || chance(m, 40));
    m->l1_line = m->odd ? one_of(m, lines, 6) : 128;
    m->l2_line = m->odd ? one_of(m, lines, 6) : m->of->compute < 3 && chance(m, 50) ? 64 : 128;
    m->l2_line = m->l2_line < m->l1_line && m->l1 && !m->of->sectors ? m->l1_line : m->l2_line;
    m->l1_sector = m->of->sectors && chance(m, 70) ? 32 : m->l1_line;
    m->l1_sector = m->l1_sector > m->l2_line ? 32 : m->l1_sector;
    m->l2_sector = chance(m, 60) ? 32 : m->l2_line;
    m->l1_hit = m->l1 ? between(m, m->of->l1_hit) : 20;
    m->way = between(m, m->of->l2_way);
    m->way = m->way < m->l1_hit + 5 && m->l1 ? m->l1_hit + 5 + draw_below(m->rng, 60) : m->way;
    m->l2_hit = 4 + draw_below(m->rng, m->way / 2);
    strbuf_printf(m->out, "name: blind\ndoc: drawn at random, %s\n", m->of->name);
    put_clusters(m);
    put_sm(m);
    put_data_caches(m);
    put_readonly(m);
    put_l2(m);
    put_tlbs(m);
    strbuf_printf(m->out, "driver: {compute_major: %u, compute_minor: %u}\n", m->of->compute,
                  m->of->compute == 3 ? 5 : 0);
}

static const struct generation *draw_generation(struct rng *rng)
{
    uint32_t sum = 0, at = 0;
    for (size_t i = 0; i < GENERATIONS; i++) {
        sum += generations[i].weight;
    }
    uint32_t drawn = draw_below(rng, sum);
    while (drawn >= generations[at].weight) {
        drawn -= generations[at++].weight;
    }
    return &generations[at];
}

bool blind_draw_wide(struct blind_hierarchy *out, uint64_t seed)
{
    struct rng rng;
    *out = (struct blind_hierarchy){0};
    rng_seed(&rng, seed ^ UINT64_C(0x77696465));
    const struct generation *of = draw_generation(&rng);
    for (int i = 0; i < TRIES; i++) {
        struct strbuf yaml = {0};
        struct making m = {.out = &yaml, .rng = &rng, .of = of};
        m.odd = strcmp(of->name, "odd") == 0;
        put_machine(&m);
        free(out->yaml);
        out->yaml = strbuf_take(&yaml);
        if (!out->yaml) {
            error_memory();
            return false;
        }
        if (model_parse(&out->model, "blind.yaml", out->yaml, strlen(out->yaml)) == 0) {
            return true;
        }
        if (getenv("BLIND_REFUSED")) {
            printf("refused: %s\n", error_text());
        }
    }
    return false;
}
