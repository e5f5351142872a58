/*
 * The sections of a model that describe caches of an SM. The geometry that was measured is written
 * whole, with what follows from it; a cache whose geometry is not known keeps the base's.
 */
#include <inttypes.h>
#include <string.h>

#include "export/sonde/geometry.h"
#include "util/glue/json_glue.h"

/* A cache of an SM: its section's beginning. `base` is the base's. */
static void begin_cache(struct model_text *t, const char *section, const json_t *cache,
                        const struct cache_spec *base)
{
    struct geometry g;
    geometry_read(&g, cache, base->line_bytes);
    geometry_guess(&g, cache);
    geometry_of_ways(&g, cache, base, 1);
    model_line(t, 0, "", "%s:", section);
    model_line(t, 1, "", "enabled: true");
    if (g.is_known) {
        geometry_lines(t, cache, &g, 1, g.is_ways && base->index.kind == INDEX_HASH, base);
        if (!g.data && !g.is_ways && strcmp(section, "l1_data") == 0 &&
            t->base->l1_data.data_bytes) {
            model_line(t, 1, "all that its tags reach", "data: 0 B");
        }
    } else {
        uint64_t fetched = 0;
        model_line(t, 1, "", "# its geometry was not measured: that of the base");
        if (saved_u64(&fetched, cache, "fetch_granularity") && fetched != base->sector_bytes &&
            fetched > 0 && base->line_bytes % fetched == 0) {
            model_line(t, 1, "measured", "sector: %" PRIu64 " B", fetched);
        }
        if (tells_victims(cache, base)) {
            model_replacement(t, cache, base->ways, &base->replacement);
        }
    }
}

static void hit_line(struct model_text *t, const json_t *cache, const char *what, uint32_t cycles)
{
    struct saved_value value;
    char comment[MODEL_COMMENT_BYTES];
    if (saved_value(&value, cache, "hit_latency")) {
        model_line(t, 1, model_sum(comment, what, &value), "hit_latency: %" PRIu32 " cycles",
                   cycles);
    }
}

/* What a cache adds to a miss, cut in two; the way behind it has the rest. */
static void through_lines(struct model_text *t, const char *comment, uint32_t cycles,
                          const struct cache_spec *base)
{
    struct halves halves = way_halves(cycles, base->miss_cycles, base->fill_cycles);
    model_line(t, 1, comment, "miss_latency: %" PRIu32 " cycles", halves.first);
    model_line(t, 1, "the rest of it", "fill_latency: %" PRIu32 " cycles", halves.second);
}

#define OF_A_MISS "of what a miss adds to L2's latency"

static void l1_section(struct model_text *t, const struct latency_plan *plan)
{
    const json_t *l1 = saved_cache(t->root, "l1_data");
    const json_t *any = l1 ? l1 : saved_cache(t->root, "local_l1");
    if (!any) {
        if (saved_is_absent(t->root, "l1_data")) {
            model_line(t, 0, "", "l1_data:");
            model_line(t, 1, "measured", "enabled: false");
        }
        return;
    }
    begin_cache(t, "l1_data", any, &t->base->l1_data);
    hit_line(t, any, "with sm.lsu.latency", plan->l1_hit);
    through_lines(t, OF_A_MISS, plan->l1_through, &t->base->l1_data);
    model_mshr(t);
}

static void texture_section(struct model_text *t, const struct latency_plan *plan)
{
    const json_t *texture = saved_cache(t->root, "texture_l1");
    if (plan->texture_by_l1) {
        model_line(t, 0, "", "texture_l1:");
        model_line(t, 1, "measured: it is l1_data", "enabled: false");
        return;
    }
    if (!texture) {
        if (saved_is_absent(t->root, "texture_l1")) {
            model_line(t, 0, "", "texture_l1:");
            model_line(t, 1, "measured", "enabled: false");
        }
        return;
    }
    begin_cache(t, "texture_l1", texture, &t->base->texture_l1);
    hit_line(t, texture, "with sm.texture", plan->texture_fifo);
    const struct cache_spec *base = &t->base->texture_l1;
    if (plan->texture_through != base->miss_cycles + base->fill_cycles) {
        through_lines(t, OF_A_MISS, plan->texture_through, base);
    }
}

static void constant_sections(struct model_text *t, const struct latency_plan *plan)
{
    const json_t *first = saved_cache(t->root, "constant_l1");
    const json_t *second = saved_cache(t->root, "constant_l15");
    if (first) {
        begin_cache(t, "constant_l1", first, &t->base->constant_l1);
        hit_line(t, first, "with sm.constant.address_latency", plan->constant_l1_hit);
        const struct cache_spec *base = &t->base->constant_l1;
        if (plan->constant_l1_through != base->miss_cycles + base->fill_cycles) {
            through_lines(t, second ? "as far as the second cache's hits have room" : OF_A_MISS,
                          plan->constant_l1_through, base);
        }
    }
    if (second) {
        begin_cache(t, "constant_l15", second, &t->base->constant_l15);
        bool is_shared = saved_is_of_cluster(second);
        if (is_shared || t->base->constant_l15_scope != TLB_PER_SM) {
            model_line(t, 1, "measured", "scope: %s", is_shared ? "cluster" : "sm");
        }
        if (is_shared && plan->constant_l15_return != t->base->constant_l15_return_cycles) {
            model_line(t, 1, "less than the base's, as misses come back so soon",
                       "return_latency: %" PRIu32 " cycles", plan->constant_l15_return);
        }
        struct saved_value told;
        if (saved_value(&told, second, "hit_latency") ||
            plan->constant_l15_hit == t->base->constant_l15.hit_cycles) {
            hit_line(t, second, "with the way through constant_l1", plan->constant_l15_hit);
        } else {
            model_line(t, 1, "misses of the first, as none of its hits were measured",
                       "hit_latency: %" PRIu32 " cycles", plan->constant_l15_hit);
        }
        through_lines(t, OF_A_MISS, plan->constant_l15_through, &t->base->constant_l15);
    } else if (saved_is_absent(t->root, "constant_l15")) {
        model_line(t, 0, "", "constant_l15:");
        model_line(t, 1, "measured", "enabled: false");
    } else if (first && !plan->constants_have_second) {
        model_line(t, 0, "", "constant_l15:");
        model_line(t, 1, "not shown: misses of the first go to L2", "enabled: false");
    } else if (first && plan->constant_l15_hit != t->base->constant_l15.hit_cycles) {
        model_line(t, 0, "", "constant_l15:");
        model_line(t, 1, "the base's: misses of the first come back so soon",
                   "hit_latency: %" PRIu32 " cycles", plan->constant_l15_hit);
    }
}

/* Which of the base's divisions was measured, where a kernel may choose one and L1's data array is
 * what bounds it; -1: none of them. */
static int measured_choice(struct geometry *g, const struct model_text *t)
{
    const struct carveout_spec *carveout = &t->base->carveout;
    const json_t *l1 = saved_cache(t->root, "l1_data");
    uint64_t shared = 0;
    geometry_read(g, l1, t->base->l1_data.line_bytes);
    const json_t *device = json_object_get(t->root, "device");
    bool is_told = g->is_known && g->data && saved_u64(&shared, l1, "carveout_shared") &&
                   shared + g->data >= saved_plain_u64(device, "shared_per_sm_bytes", 0);
    for (uint32_t i = 0; is_told && carveout->follows_preference && i < carveout->count; i++) {
        if (carveout->choice[i].shared_bytes == shared) {
            return (int)i;
        }
    }
    return -1;
}

bool model_has_choices(const struct model_text *t)
{
    struct geometry g;
    return measured_choice(&g, t) >= 0;
}

/* What shared memory leaves of the sum is whole lines, which the tags reach. */
static bool leaves_data(const struct geometry *g, uint64_t sum, uint64_t shared)
{
    return shared < sum && (sum - shared) % g->line == 0 && sum - shared <= g->lines * g->line;
}

/*
 * One division of L1 and shared memory was measured. Where the base has it among others, all that
 * fit have the measured tags, and L1's data are what shared memory leaves of the sum. Else it is
 * the only one.
 */
void model_carveout(struct model_text *t)
{
    const struct carveout_spec *carveout = &t->base->carveout;
    struct geometry g;
    int measured = measured_choice(&g, t);
    if (measured < 0) {
        model_line(t, 0, "one division was measured", "carveout: {choices: []}");
        return;
    }
    uint64_t sum = carveout->choice[measured].shared_bytes + g.data, whole = g.lines * g.line;
    int initial = 0;
    for (int i = 0; i < measured; i++) {
        initial += leaves_data(&g, sum, carveout->choice[i].shared_bytes);
    }
    model_line(t, 0, "", "carveout:");
    model_line(t, 1, "the one that was measured", "initial: %d", initial);
    model_line(t, 1, "the base's; data: what shared memory leaves", "choices:");
    for (uint32_t i = 0; i < carveout->count; i++) {
        uint64_t shared = carveout->choice[i].shared_bytes;
        if (!leaves_data(&g, sum, shared)) {
            continue;
        }
        model_line(t, 2, (int)i == measured ? "measured" : "",
                   "- {shared: %" PRIu64 " B, l1: %" PRIu64 " B, sets: %" PRIu64 ", ways: %" PRIu64
                   ", data: %" PRIu64 " B}",
                   shared, whole, g.sets, g.ways, sum - shared);
    }
}

uint64_t model_caches(struct model_text *t, const struct latency_plan *plan)
{
    l1_section(t, plan);
    texture_section(t, plan);
    constant_sections(t, plan);
    return model_l2(t, plan);
}
