/*
 * Drawing a hierarchy. The caches of plain loads and the latencies come from one stream of random
 * numbers, everything else from a second one: a change to how TLBs are drawn leaves the caches of a
 * seed as they were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blind.h"
#include "util/error.h"

/* What hits and misses take follows the distance: each level is at least MARGIN cycles farther. */
enum { MARGIN = 30 };

/* Hits in L1; the way to L2 and back with a hit there, without what L1 itself adds. */
struct latencies {
    uint32_t l1_hit, way;
};

static void put_caches(struct strbuf *out, struct rng *rng, struct geometry *l1,
                       struct geometry *l2, struct latencies *latencies)
{
    strbuf_append(out, "l1_data:\n");
    put_cache(out, rng, l1);
    latencies->l1_hit = 10 + draw_below(rng, 100);
    strbuf_printf(out, "  hit_latency: %u cycles\n  invalidate_on_launch: %s\nl2:\n",
                  latencies->l1_hit, draw_below(rng, 4) ? "true" : "false");
    put_cache(out, rng, l2);
    uint32_t hit = 20 + draw_below(rng, 150);
    strbuf_printf(out,
                  "  hit_latency: %u cycles\n  slices: %u\n"
                  "  slice_index: {kind: modulo, unit: %u B}\n",
                  hit, l2->slices, l2->line);
    uint32_t request = 20 + draw_below(rng, 100), reply = 20 + draw_below(rng, 60);
    latencies->way = request + reply + hit;
    if (latencies->way < latencies->l1_hit + MARGIN) {
        request += latencies->l1_hit + MARGIN - latencies->way;
        latencies->way = latencies->l1_hit + MARGIN;
    }
    strbuf_printf(out, "noc: {request_latency: %u cycles, reply_latency: %u cycles}\n", request,
                  reply);
    strbuf_printf(out, "dram: {closed_page: true, fixed_latency: %u cycles}\n",
                  hit + MARGIN + draw_below(rng, 500));
}

/* From `least` on, and nearer than L2 by the margin. */
static uint32_t draw_hit(struct rng *rng, const struct latencies *latencies, uint32_t least,
                         uint32_t spread)
{
    uint32_t hit = least + draw_below(rng, spread);
    uint32_t most = latencies->way > least + MARGIN ? latencies->way - MARGIN : least;
    return hit < most ? hit : most;
}

/* ---- the other paths ---- */

static void put_shared(struct strbuf *out, struct rng *rng)
{
    static const uint32_t numbers[] = {8, 12, 16, 16, 20, 24, 32, 32, 32, 32, 48, 64};
    uint32_t banks = numbers[draw_below(rng, 12)], width = draw_below(rng, 3) ? 4 : 8;
    uint32_t word = width == 8 && draw_below(rng, 2) ? 4 : width;
    strbuf_printf(out, "  shared: {size: 48 KiB, banks: %u, bank_width: %u B, word: %u B, ", banks,
                  width, word);
    strbuf_printf(out, "latency: %u cycles, conflict_latency: %u cycles}\n",
                  15 + draw_below(rng, 40), 2 + draw_below(rng, 4));
}

/* A sector that a request to L2 may have: it does not reach over two of its lines. */
static uint32_t draw_sector(struct rng *rng, uint32_t line, uint32_t least, uint32_t beneath)
{
    return beneath % line == 0 && line % least == 0 && draw_below(rng, 2) ? line : least;
}

static void put_small_cache(struct strbuf *out, struct rng *rng, const char *name,
                            struct geometry *g, uint32_t hit)
{
    strbuf_printf(out, "%s:\n  enabled: true\n", name);
    put_cache(out, rng, g);
    strbuf_printf(out, "  hit_latency: %u cycles\n", hit);
}

static void put_texture(struct strbuf *out, struct rng *rng, const struct geometry *l2,
                        const struct latencies *latencies)
{
    static const uint32_t lines[] = {32, 32, 64, 128, 128, 96, 160};
    struct geometry g = {.line = lines[draw_below(rng, 7)], .slices = 1};
    g.sector = draw_sector(rng, g.line, 32, l2->sector);
    draw_counts(&g, rng, 1024, geometry_bytes(l2) / 4 < 12288 ? geometry_bytes(l2) / 4 : 12288);
    put_small_cache(out, rng, "texture_l1", &g, draw_hit(rng, latencies, 20, 120));
}

/* The second one at least four times as large as the first, and half of what constants reach. */
static void put_constants(struct strbuf *out, struct rng *rng, const struct geometry *l2,
                          const struct latencies *latencies)
{
    static const uint32_t lines[] = {32, 64, 64, 128};
    struct geometry l1 = {.line = lines[draw_below(rng, 4)], .slices = 1}, l15 = {.slices = 1};
    l1.sector = draw_sector(rng, l1.line, 32, l2->sector);
    draw_counts(&l1, rng, 512, 2048);
    uint32_t hit = 5 + draw_below(rng, 15);
    put_small_cache(out, rng, "constant_l1", &l1, hit);
    if (draw_below(rng, 3) == 0) {
        return;
    }
    l15.line = l1.line << draw_below(rng, 2);
    l15.sector = draw_sector(rng, l15.line, l1.sector, l2->sector);
    draw_counts(&l15, rng, 4 * geometry_bytes(&l1), 16384);
    put_small_cache(out, rng, "constant_l15", &l15, draw_hit(rng, latencies, hit + 15, 80));
}

/* ---- translation ---- */

struct tlb {
    uint32_t sets, ways, entries;
    bool unequal;
};

static void draw_tlb(struct tlb *tlb, struct rng *rng, uint32_t least, uint32_t most)
{
    do {
        tlb->sets = draw_below(rng, 2) ? 1 : 2 + draw_below(rng, 15);
        tlb->ways = 1 + draw_below(rng, draw_below(rng, 2) ? 16 : 64);
        tlb->entries = tlb->sets * tlb->ways;
    } while (tlb->entries < least || tlb->entries > most);
    tlb->unequal = tlb->sets > 2 && draw_below(rng, 4) == 0;
}

/* An unequal TLB is indexed by a map that gives each set as many residues as it has entries, so
 * that as many consecutive pages fit as there are entries. */
static void put_unequal_tlb(struct strbuf *out, struct rng *rng, struct tlb *tlb)
{
    uint32_t more = 1 + draw_below(rng, 9), of[4096], order[4096], count = 0;
    strbuf_append(out, "  ways_per_set: [");
    for (uint32_t i = 0; i < tlb->sets; i++) {
        uint32_t ways = tlb->ways + (i == 0 ? more : 0);
        strbuf_printf(out, "%s%u", i ? ", " : "", ways);
        for (uint32_t k = 0; k < ways; k++) {
            of[count++] = i;
        }
    }
    strbuf_append(out, "]\n  index: {kind: map, map: [");
    rng_permutation(order, rng, count);
    for (uint32_t i = 0; i < count; i++) {
        strbuf_printf(out, "%s%u", i ? ", " : "", of[order[i]]);
    }
    strbuf_append(out, "]}\n");
    tlb->ways += more;
    tlb->entries = count;
}

static void put_tlb(struct strbuf *out, struct rng *rng, const char *name, struct tlb *tlb,
                    uint32_t page_log2, uint32_t hit)
{
    strbuf_printf(out, "%s:\n  enabled: true\n  page: %llu B\n  sets: %u\n", name,
                  1ULL << page_log2, tlb->sets);
    if (tlb->unequal) {
        put_unequal_tlb(out, rng, tlb);
    } else {
        strbuf_printf(out, "  ways: %u\n", tlb->ways);
    }
    struct geometry g = {.ways = tlb->ways, .sets = tlb->sets, .unequal = tlb->unequal};
    put_policy(out, rng, &g);
    strbuf_printf(out, "  hit_latency: %u cycles\n  miss_latency: %u cycles\n", hit,
                  2 + draw_below(rng, 9));
    strbuf_printf(out, "  fill_latency: %u cycles\n", 2 + draw_below(rng, 9));
}

/*
 * L2 holds a line each of four times as many pages as are translated, so that it need not miss; and
 * what is translated is larger than the caches, so that their walks hit the TLBs. The first
 * level's misses take as long as the distance of hits in L2 to be seen.
 */
static void put_tlbs(struct strbuf *out, struct rng *rng, const struct geometry *l2)
{
    uint32_t lines = (uint32_t)(geometry_bytes(l2) / l2->line), most = lines / 4;
    uint32_t most_l1 = most / 3 < 64 ? most / 3 : 64, page_log2 = 16 + draw_below(rng, 6);
    struct tlb l1, l2_tlb;
    if (most_l1 < 8) {
        return;
    }
    draw_tlb(&l1, rng, 4, most_l1);
    while (((uint64_t)l1.entries << page_log2) < (UINT64_C(4) << 20)) {
        page_log2++;
    }
    put_tlb(out, rng, "tlb_l1", &l1, page_log2, 0);
    uint32_t least = 2 * l1.entries + 8, latency = 60 + draw_below(rng, 500);
    most = most < 512 ? most : 512;
    bool second = draw_below(rng, 3) && most > least + 16;
    if (second) {
        draw_tlb(&l2_tlb, rng, least, most);
        put_tlb(out, rng, "tlb_l2", &l2_tlb, page_log2, 10 + draw_below(rng, 40));
    }
    strbuf_printf(out, "walker: {levels: 0, latency: %u cycles}\n", latency);
}

/* ---- the whole ---- */

static void put_model(struct strbuf *out, struct rng *rng, struct rng *others)
{
    static const char *const readonly[] = {"none", "l1", "texture"};
    struct geometry l1, l2;
    struct latencies latencies;
    bool no_l1 = draw_below(rng, 8) == 0, texture = draw_below(others, 3) == 0;
    draw_l1(&l1, rng);
    draw_l2(&l2, rng, &l1);
    strbuf_printf(out,
                  "name: blind\ndoc: drawn at random\nsm:\n  issue_per_scheduler: 2\n  lsu: "
                  "{latency: %u cycles}\n"
                  "  l1_caches_global: %s\n  coalesce: {segment: 32 B}\n",
                  4 + draw_below(rng, 20), no_l1 ? "false" : "true");
    put_shared(out, others);
    strbuf_printf(out, "  readonly: %s\n", readonly[draw_below(others, texture ? 3 : 2)]);
    strbuf_printf(out, "  texture: {address_latency: %u cycles, filter_latency: %u cycles}\n",
                  4 + draw_below(others, 20), 4 + draw_below(others, 20));
    strbuf_printf(out, "  constant: {address_latency: %u cycles}\n", 4 + draw_below(others, 20));
    put_caches(out, rng, &l1, &l2, &latencies);
    if (texture) {
        put_texture(out, others, &l2, &latencies);
    }
    if (draw_below(others, 3) == 0) {
        put_constants(out, others, &l2, &latencies);
    }
    if (draw_below(others, 2)) {
        put_tlbs(out, others, &l2);
    }
    /* Memory in which the farthest page of a walk over twice what the TLBs reach lies; a compute
     * capability of which fetches need no moves of their handle. */
    strbuf_append(out, "vm: {memory: 8 GiB}\ndriver: {compute_major: 7, compute_minor: 0}\n");
}

bool blind_draw(struct blind_hierarchy *out, uint64_t seed)
{
    struct rng rng, others;
    struct strbuf yaml = {0};
    *out = (struct blind_hierarchy){0};
    rng_seed(&rng, seed);
    rng_seed(&others, seed ^ UINT64_C(0x6f7468657273));
    put_model(&yaml, &rng, &others);
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
    *out = (struct blind_noise){.jitter_cycles = (double)draw_below(&rng, 12),
                                .outlier_share = rng_double(&rng) * 0.002,
                                .drift = rng_double(&rng) * 0.01};
}

int blind_write_model(char path[256], const char *yaml)
{
    const char *folder = getenv("TMPDIR");
    int length =
        snprintf(path, 256, "%s/sonde-blind-XXXXXX.yaml", folder && folder[0] ? folder : "/tmp");
    int file = yaml && length < 256 ? mkstemps(path, 5) : -1;
    if (file < 0) {
        path[0] = '\0';
        return error_set(SONDE_EIO, "cannot write a model");
    }
    ssize_t written = write(file, yaml, strlen(yaml));
    close(file);
    return written == (ssize_t)strlen(yaml) ? 0 : error_set(SONDE_EIO, "cannot write %s", path);
}
