/*
 * Drawing a change: a shipped model of which one parameter is another, as somebody makes it who
 * studies what the parameter does. What the loader refuses is drawn again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blind.h"
#include "blind_wide.h"
#include "util/error.h"

enum { TRIES = 100 };

static const char *const bases[] = {"gtx280", "gtx480", "gtx560ti", "gtx560ti-48k",
                                    "gtx780", "k20",    "m2070",    "bakhoda2009"};

/* One line of YAML; a number drawn evenly from `least` to `most` in steps. */
static const struct change {
    const char *text;
    uint32_t least, most, step;
} changes[] = {
    {"sms: %u", 4, 40, 1},
    {"sm: {lsu: {latency: %u cycles}}", 4, 40, 1},
    {"sm: {lsu: {parallel: %u}}", 1, 32, 1},
    {"sm: {loads_per_warp: %u}", 1, 12, 1},
    {"sm: {issue_interval: %u cycles}", 1, 4, 1},
    {"sm: {outstanding: {structure: prt, entries: %u}}", 8, 128, 1},
    {"sm: {outstanding: {structure: request_limit, entries: %u}}", 16, 256, 1},
    {"sm: {shared: {latency: %u cycles}}", 15, 60, 1},
    {"sm: {registers: %u}", 16384, 65536, 8192},
    {"noc: {request_latency: %u cycles}", 5, 200, 1},
    {"l2: {hit_latency: %u cycles}", 5, 200, 1},
    {"l2: {sector: %u B}", 32, 128, 32},
    {"dram: {fixed_latency: %u cycles}", 20, 500, 1},
    {"vm: {page: 65536 B}\ntlb_l1: {page: 65536 B}\ntlb_l2: {page: %u B}", 65536, 65536, 1},
    {"vm: {page: 4096 B}\ntlb_l1: {page: 4096 B}\ntlb_l2: {page: %u B}", 4096, 4096, 1},
    {"tlb_l1: {scope: sm, ways: %u}", 4, 60, 1},
    {"tlb_l1: {enabled: false, ways: %u}", 16, 16, 1},
    {"tlb_l2: {enabled: false}\nwalker: {latency: %u cycles}", 50, 400, 1},
    {"walker: {latency: %u cycles}", 0, 500, 1},
    {"constant_l15: {hit_latency: %u cycles}", 20, 150, 1},
    {"constant_l1: {hit_latency: %u cycles}", 5, 60, 1},
    {"l1_data: {hit_latency: %u cycles}", 10, 150, 1},
    {"l1_data: {miss: {mergers: %u}}", 0, 16, 1},
    {"l1_data: {miss: {entries: %u}}", 16, 200, 1},
    {"l2: {replacement: {policy: lru_late, seed: %u}}", 1, 9, 1},
    {"l2: {replacement: {policy: fifo, seed: %u}}", 1, 9, 1},
    {"l2: {replacement: {policy: srrip, seed: %u}}", 1, 9, 1},
    {"l2: {replacement: {policy: random, seed: %u}}", 1, 9, 1},
    {"texture_l1: {replacement: {policy: random, seed: %u}}", 1, 9, 1},
    {"constant_l1: {replacement: {policy: fifo, seed: %u}}", 1, 9, 1},
};
enum { BASES = sizeof(bases) / sizeof(bases[0]), CHANGES = sizeof(changes) / sizeof(changes[0]) };

bool blind_draw_changed(struct blind_hierarchy *out, uint64_t seed)
{
    struct rng rng;
    *out = (struct blind_hierarchy){0};
    rng_seed(&rng, seed ^ UINT64_C(0x6368616e6765));
    for (int i = 0; i < TRIES; i++) {
        struct strbuf yaml = {0};
        const char *base = bases[draw_below(&rng, BASES)];
        const struct change *c = &changes[draw_below(&rng, CHANGES)];
        uint32_t steps = (c->most - c->least) / c->step + 1;
        uint32_t value = c->least + draw_below(&rng, steps) * c->step;
        strbuf_printf(&yaml, "inherits: %s\nname: blind\n", base);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        strbuf_printf(&yaml, c->text, value); /* of the table above */
#pragma GCC diagnostic pop
        strbuf_append(&yaml, "\n");
        free(out->yaml);
        out->yaml = strbuf_take(&yaml);
        if (out->yaml &&
            model_parse(&out->model, "blind.yaml", out->yaml, strlen(out->yaml)) == 0) {
            return true;
        }
    }
    return false;
}
