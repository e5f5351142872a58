/*
 * The sections of a model that describe caches. The geometry that was measured is written whole,
 * with what follows from it; a cache whose geometry is not known keeps the base's.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/bits.h"
#include "util/glue/json_glue.h"

/* What of a cache's geometry is known: the size is lines of all sets. */
struct geometry {
    uint64_t line, sector, sets, ways;
    uint64_t lines; /* in all */
    uint64_t data;  /* bytes that fit, where they are less; else 0 */
    const json_t *ways_per_set;
    bool is_known;
    bool is_guess;  /* the size alone was told */
    bool is_ways;   /* the ways alone: as many lines as the base */
    bool is_hashed; /* its index, in slices that a hash chooses, whatever was told of the whole */
};

/* Thresholds. Fixed by: the sizes of sim:a100 and sim:v100. */
static const struct {
    double sure_size;
    double half_share;   /* from a half */
    double narrow;       /* cycles of a class of hits: rounding */
    uint64_t asked_sets; /* the most whose index is asked for: MAX_INDEX_BITS of infer/geometry */
} limits = {
    .sure_size = 0.5, /* confidence of a size that sets are counted by: an edge between samples, of
                         hashed sets that are filled unevenly, has less */
    .half_share = 0.05, /* of some thousand lines, shared out by a hash: sim:a100 has 0.009 */
    .narrow = 2,
    .asked_sets = 4096,
};

/* Line and ways alone, with a size, give the sets. What is missing leaves it unknown. */
static void geometry_read(struct geometry *g, const json_t *cache, uint64_t line_else)
{
    uint64_t size = 0;
    *g = (struct geometry){.line = line_else};
    saved_u64(&g->line, cache, "line");
    g->sector = g->line;
    saved_u64(&g->sector, cache, "fetch_granularity");
    if (g->sector == 0 || g->sector > g->line || g->line % g->sector != 0) {
        g->sector = g->line;
    }
    bool has_size = saved_u64(&size, cache, "size"), has_sets = saved_u64(&g->sets, cache, "sets");
    bool has_ways = saved_u64(&g->ways, cache, "ways");
    g->ways_per_set = json_object_get(cache, "ways_per_set");
    if (json_array_size(g->ways_per_set) && json_array_size(g->ways_per_set) == g->sets) {
        for (size_t i = 0; i < g->sets; i++) {
            uint64_t ways = (uint64_t)json_integer_value(json_array_get(g->ways_per_set, i));
            g->lines += ways;
            g->ways = i == 0 || ways > g->ways ? ways : g->ways;
        }
        g->is_known = g->lines > 0;
        return;
    }
    g->ways_per_set = NULL;
    struct saved_value told = {0};
    bool is_sure = saved_value(&told, cache, "size") && told.confidence >= limits.sure_size;
    if (!has_sets && has_size && is_sure && has_ways && g->line && g->ways) {
        g->sets = size / (g->line * g->ways);
    } else if (!has_ways && has_size && is_sure && has_sets && g->line && g->sets) {
        g->ways = size / (g->line * g->sets);
    }
    g->lines = g->sets * g->ways;
    g->is_known = g->lines > 0 && g->sets <= 1048576 && g->ways <= MEM_MAX_WAYS;
    if (has_size && has_sets && has_ways && size < g->lines * g->line && size >= g->line) {
        g->data = size / g->line * g->line;
    }
}

/* Of a size alone: as few sets as its lines can be shared out over, of the base's lines if they
 * divide it. What a cache of the size holds is told then, if not which lines conflict. */
static void geometry_guess(struct geometry *g, const json_t *cache)
{
    uint64_t size = 0, told;
    if (g->is_known || !g->line || !saved_u64(&size, cache, "size")) {
        return;
    }
    bool is_sector = !saved_u64(&told, cache, "line") && size % g->line != 0;
    uint64_t line = is_sector ? g->sector : g->line;
    if (size < line || size % line != 0) {
        return;
    }
    uint64_t lines = size / line, sets = 1;
    while (lines / sets > MEM_MAX_WAYS && lines % (2 * sets) == 0) {
        sets *= 2;
    }
    if (lines / sets <= MEM_MAX_WAYS) {
        g->line = line;
        g->sets = sets;
        g->ways = lines / sets;
        g->lines = lines;
        g->is_known = g->is_guess = true;
    }
}

/* Of ways alone: as many sets of them as the base's lines fill, the same in each of its slices.
 * Whom a full set evicts, and when it is full, is told then, if not how much the cache holds. */
static void geometry_of_ways(struct geometry *g, const json_t *cache, const struct cache_spec *base,
                             uint64_t slices)
{
    uint64_t ways, lines = (uint64_t)base->sets * base->ways * slices;
    if (g->is_known || !g->line || !saved_u64(&ways, cache, "ways") || ways == 0 ||
        ways > MEM_MAX_WAYS || base->unequal_count || lines < ways * slices || ways == base->ways) {
        return;
    }
    g->ways = ways;
    g->sets = lines / (ways * slices) * slices;
    g->lines = g->sets * ways;
    g->is_known = g->is_ways = true;
}

static void geometry_lines(struct model_text *t, const json_t *cache, const struct geometry *g,
                           uint64_t slices, bool is_base_hash, const struct cache_spec *base)
{
    char comment[MODEL_COMMENT_BYTES] = "";
    struct saved_value value;
    const char *size = g->is_ways ? "not measured: as the base's lines" : "";
    bool has_size = !g->is_ways && saved_value(&value, cache, "size");
    model_line(t, 1, has_size ? model_measured(comment, &value) : size, "size: %" PRIu64 " B",
               g->lines * g->line / slices);
    if (g->data && slices == 1) {
        model_line(t, 1, "measured: fits, though its tags reach farther", "data: %" PRIu64 " B",
                   g->data);
    }
    model_line(t, 1,
               saved_value(&value, cache, "line") ? model_measured(comment, &value)
                                                  : "not measured: as the base",
               "line: %" PRIu64 " B", g->line);
    model_line(t, 1,
               saved_value(&value, cache, "fetch_granularity") ? model_measured(comment, &value)
                                                               : "not measured: the line",
               "sector: %" PRIu64 " B", g->sector);
    const char *none = g->is_guess ? "not measured: a guess, of the size" : "";
    model_line(t, 1, saved_value(&value, cache, "sets") ? model_measured(comment, &value) : none,
               "sets: %" PRIu64, g->sets / slices);
    model_line(t, 1, saved_value(&value, cache, "ways") ? model_measured(comment, &value) : none,
               "ways: %" PRIu64, g->ways);
    if (g->ways_per_set) {
        char *list = json_dumps(g->ways_per_set, 0);
        model_line(t, 1, "measured", "ways_per_set: %s", list ? list : "[]");
        free(list);
    } else {
        model_line(t, 1, "", "ways_per_set: []");
    }
    struct strbuf index = {0};
    struct index_plan plan = {.line = g->line,
                              .sets = g->sets,
                              .slices = slices,
                              .is_base_hash = is_base_hash,
                              .is_hashed = g->is_hashed};
    bool is_told = index_text(&index, cache, &plan);
    const json_t *found = json_object_get(cache, "set_index");
    value = (struct saved_value){.confidence = json_number_of(found, "confidence"),
                                 .evidence = saved_text(found, "evidence", "")};
    is_told = is_told && !g->is_guess;
    model_line(t, 1, is_told ? model_measured(comment, &value) : "not measured: a guess",
               "index: %s", strbuf_text(&index));
    strbuf_free(&index);
    model_replacement(t, cache, g->ways, &base->replacement);
}

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

/* Sets of an L2 were told, and not which lines share one. */
static bool has_sets_alone(const json_t *l2, const struct geometry *g)
{
    uint64_t sets;
    const char *kind = saved_text(json_object_get(l2, "set_index"), "kind", "unknown");
    return strcmp(kind, "unknown") == 0 && !g->is_guess && !g->is_ways && !g->data &&
           !g->ways_per_set && saved_u64(&sets, l2, "sets");
}

/* Of so many sets a modulus is not asked for where it shows by their number, as lines in a row that
 * come again. One that was asked for and not found is none: lines come to sets by chance. */
static bool is_scattered(const json_t *l2, const struct geometry *g)
{
    const char *status = saved_text(json_object_get(l2, "set_index"), "status", "");
    return has_sets_alone(l2, g) && g->sets > limits.asked_sets &&
           strcmp(status, "not measured") == 0 &&
           json_number_of(json_object_get(l2, "sets"), "high") <= 0;
}

/* The same, filled evenly. */
static bool is_even(const json_t *l2, const struct geometry *g)
{
    return has_sets_alone(l2, g) && !is_scattered(l2, g);
}

/* A modulus would have been found of so few sets: the slices are not in turn, where the base
 * hashes. */
static bool has_hashed_slices(const struct model_text *t, const json_t *l2,
                              const struct geometry *g)
{
    return t->base->l2.index.kind == INDEX_HASH && is_even(l2, g) && g->sets <= limits.asked_sets;
}

/* What an SM asks for at once, by the loads that were told and by L1's misses. */
static uint64_t widest_request(const struct model_text *t)
{
    const json_t *l1 = saved_cache(t->root, "l1_data"), *local = saved_cache(t->root, "local_l1");
    uint64_t segment = way_segment(t->root, t->base);
    struct geometry g;
    geometry_read(&g, l1 ? l1 : local, t->base->l1_data.line_bytes);
    return (l1 || local) && g.sector > segment ? g.sector : segment;
}

/* Of ways alone, and where lines come to sets by chance, slices are chosen as the base chooses
 * them, where it tears no request apart. */
static bool keeps_slices(const struct model_text *t, const json_t *l2, const struct geometry *g)
{
    const struct index_spec *index = &t->base->l2_slice_index;
    bool by_chance = t->base->l2.index.kind == INDEX_HASH && is_scattered(l2, g);
    return (g->is_ways || by_chance) && index->kind == INDEX_HASH &&
           index->unit_bytes % g->line == 0 && index->unit_bytes % widest_request(t) == 0;
}

/*
 * How many slices the L2 that was measured as a whole is cut into: as many as the base has, if that
 * many give the same whole: sets in turn under modulo, or the lowest bits of a set's number.
 */
static uint64_t slice_count(const struct model_text *t, const json_t *l2, const struct geometry *g)
{
    const json_t *index = json_object_get(l2, "set_index");
    const char *kind = saved_text(index, "kind", "unknown");
    uint64_t slices = t->base->l2_slices;
    if (g->is_guess || g->ways_per_set || strcmp(kind, "map") == 0) {
        return 1;
    }
    if (index_has_masks(l2, g->sets)) {
        while (!is_power_of_two(slices)) {
            slices &= slices - 1;
        }
        return g->sets % slices == 0 && g->sets > slices ? slices : 1;
    }
    if (keeps_slices(t, l2, g)) {
        while (g->sets % slices != 0) {
            slices--;
        }
        return slices;
    }
    if (g->line % widest_request(t) != 0) { /* it would be torn apart */
        return 1;
    }
    bool is_power = has_hashed_slices(t, l2, g);
    while (slices > 1 && (g->sets % slices != 0 || (is_power && !is_power_of_two(slices)))) {
        slices--;
    }
    return slices;
}

/* Slices that are no hash of the base's. */
static void slice_index_line(struct model_text *t, const json_t *l2, const struct geometry *g,
                             uint64_t slices)
{
    if (slices > 1 && index_has_masks(l2, g->sets)) {
        struct strbuf text = {0};
        index_of_slices(&text, l2, slices);
        model_line(t, 1, "the lowest bits of the set's number", "slice_index: %s",
                   strbuf_text(&text));
        strbuf_free(&text);
    } else if (slices > 1 && has_hashed_slices(t, l2, g)) {
        model_line(t, 1, "not measured: no modulus, and sets that are filled evenly",
                   "slice_index: {kind: hash, unit: %" PRIu64 " B, seed: 1}", g->line);
    } else {
        model_line(t, 1, "lines in turn", "slice_index: {kind: modulo, unit: %" PRIu64 " B}",
                   g->line);
    }
}

static void slice_lines(struct model_text *t, const json_t *l2, const struct geometry *g,
                        uint64_t slices)
{
    bool keeps = keeps_slices(t, l2, g);
    if (!keeps || slices != t->base->l2_slices) {
        model_line(t, 1, "as far as the base's slices divide the sets", "slices: %" PRIu64, slices);
    }
    if (!keeps) {
        slice_index_line(t, l2, g, slices);
    }
}

/* Which clusters a part is near to is the base's word on its own number of them. */
static bool forgets_clusters(const struct model_text *t)
{
    return t->base->l2_parts.of_cluster.count && model_clusters(t) != t->base->clusters;
}

/* Beside parts that the base has as well. */
static void near_lines(struct model_text *t, const struct parts_plan *parts)
{
    if (forgets_clusters(t)) {
        model_line(t, 1, "not measured: in turn", "part_of_cluster: []");
    }
    model_crossing_line(t, parts);
}

/* Classes of hits differ by more than what copies take, or one is as broad, where the base has
 * parts or the model. */
static bool classes_lie_apart(const struct model_text *t, const json_t *l2,
                              const struct parts_plan *parts)
{
    bool any_parts = parts->count > 1 || t->base->l2_parts.count > 1;
    double least = 2.0 * parts->copy_cycles;
    return any_parts && (class_span(l2) > least || class_breadth(l2) > least + limits.narrow);
}

/* Whether the base's L2, which has one part, can be cut into so many: its slices are shared out by
 * a hash or in rounds, which do not mind how many there are, and its parts by a hash or by as many
 * parities. */
static bool can_be_cut(const struct model_text *t, uint64_t count)
{
    const struct model *base = t->base;
    const struct cache_spec *l2 = &base->l2;
    const struct index_spec *index = &base->l2_parts.index;
    return l2->enabled && l2->write == WRITE_BACK && l2->mshr_entries >= 2 &&
           l2->mshr_mergers >= 1 &&
           (base->l2_slice_index.kind == INDEX_HASH || base->l2_slice_index.kind == INDEX_ROUNDS) &&
           (index->kind == INDEX_HASH || UINT64_C(1) << index->mask_count == count) &&
           base->l2_slices % count == 0 && base->l2_parts.slice_cycles.count == 0 &&
           count <= model_clusters(t);
}

/* Whether slices of such a part share its measured sets evenly. */
static bool fits_cut(const struct model_text *t, const struct geometry *g, uint64_t count)
{
    uint64_t slices = t->base->l2_slices / count;
    return t->base->l2.index.kind == INDEX_HASH && g->sets >= slices && g->sets % slices == 0;
}

/*
 * The most slices of a part, of as many as the base has, that share its sets out, where just so
 * many sets were told and not which lines share one: evenly, or by chance. Of few sets a modulus
 * would have been found: those are hashed. 0: none do, or the base's own tell it better.
 */
static uint32_t sharing_slices(bool *is_even_out, const struct model_text *t, uint32_t most)
{
    const json_t *l2 = saved_cache(t->root, "l2");
    bool is_estimate = json_number_of(json_object_get(l2, "sets"), "high") > 0;
    struct geometry g;
    geometry_read(&g, l2, t->base->l2.line_bytes);
    bool by_chance = is_scattered(l2, &g), is_sure = g.is_known && !is_estimate;
    bool is_whole = by_chance || (is_even(l2, &g) && g.line % widest_request(t) == 0);
    uint32_t slices = is_sure && is_whole ? most : 0;
    while (slices > 0 &&
           (g.sets % slices != 0 || (has_hashed_slices(t, l2, &g) && !is_power_of_two(slices)))) {
        slices--;
    }
    *is_even_out = slices > 0 && !by_chance;
    return slices;
}

/* Two classes of equal shares are lines at home and copies; of others none says which they are, and
 * slices that lie apart bring them about as well. */
static uint32_t copy_cycles(const json_t *l2)
{
    const json_t *classes = json_object_get(l2, "hit_latencies");
    double share = json_number_of(json_array_get(classes, 0), "share");
    bool are_halves = json_array_size(classes) == 2 && fabs(share - 0.5) <= limits.half_share;
    return are_halves ? (uint32_t)(class_span(l2) + 0.5) : 0;
}

static void told_parts(struct parts_plan *parts, const struct model_text *t)
{
    const json_t *l2 = saved_cache(t->root, "l2");
    const struct l2_parts_spec *base = &t->base->l2_parts;
    struct geometry g;
    uint64_t count;
    *parts = (struct parts_plan){.count = base->count, .copy_cycles = base->copy_cycles};
    geometry_read(&g, l2, t->base->l2.line_bytes);
    bool has_misses = saved_cache(t->root, "l1_data") || saved_cache(t->root, "local_l1");
    if (base->count > 1 && (l2 ? !class_shows_copies(l2, base->copy_cycles) : has_misses)) {
        parts->copy_cycles = 0; /* L1's misses are told by one number */
    }
    if (t->bandwidth.has_one_part) {
        count = 1;
    } else if (!saved_u64(&count, l2, "count") || count == base->count) {
        return;
    }
    if (count == 1) {
        *parts = (struct parts_plan){.count = 1};
    } else if (base->count == 1 && can_be_cut(t, count) &&
               (!g.is_known || fits_cut(t, &g, count))) {
        parts->count = (uint32_t)count;
        parts->copy_cycles = copy_cycles(l2);
    }
}

void model_parts(struct parts_plan *parts, const struct model_text *t)
{
    told_parts(parts, t);
    if (parts->count > model_clusters(t)) { /* a part has clusters that it is near to */
        *parts = (struct parts_plan){.count = 1};
    }
    parts->slices = t->base->l2_slices / parts->count;
    bool is_base = parts->count > 1 && parts->count == t->base->l2_parts.count;
    uint32_t slices = is_base ? sharing_slices(&parts->is_even, t, parts->slices) : 0;
    parts->slices = slices > 0 ? slices : parts->slices;
}

/* Lines that are kept though written in part only: the base's word on lines of its length. */
static void partial_line(struct model_text *t, const struct geometry *g, uint64_t slices)
{
    if (t->base->l2.dirty_lines && g->data && slices == 1) {
        model_line(t, 1, "not measured of data that its tags reach beyond",
                   "written: {piece: 0 B, dirty_lines: 0, partial_lines: 0}");
    } else if (t->base->l2.partial_lines && g->line != t->base->l2.line_bytes) {
        model_line(t, 1, "not measured of such lines", "written: {partial_lines: 0}");
    }
}

/*
 * L2 as the parts that were found, each of the measured geometry: the base's slices are kept, and
 * each takes its share of the sets, within what the measurement leaves open. False: the base has no
 * such parts, and cannot be cut into them.
 */
static bool part_lines(struct model_text *t, const json_t *l2, const struct geometry *g,
                       const struct parts_plan *parts)
{
    const struct model *base = t->base;
    const json_t *sets = json_object_get(l2, "sets");
    bool is_cut = base->l2_parts.count == 1 && parts->count > 1;
    uint64_t count = 1, slices = parts->slices;
    saved_u64(&count, l2, "count");
    double low = json_number_of(sets, "low");
    double high = json_number_of(sets, "high");
    uint64_t each = (g->sets + slices / 2) / slices, all = each * slices;
    bool is_torn = base->l2_parts.index.unit_bytes % g->line != 0 ||
                   base->l2_slice_index.unit_bytes % g->line != 0;
    if (parts->count < 2 || g->ways_per_set || is_torn ||
        base->l2_slice_index.unit_bytes % widest_request(t) != 0 ||
        (!is_cut && count != base->l2_parts.count) || each == 0 ||
        base->l2.index.kind != INDEX_HASH ||
        (all != g->sets && ((double)all < low || (double)all > high))) {
        return false;
    }
    struct geometry part = *g;
    part.sets = all;
    part.lines = all * g->ways;
    part.data = 0;
    model_line(t, 0, "", "l2:");
    if (is_cut) {
        model_cut_lines(t, parts);
    } else {
        model_line(t, 1, "measured", "parts: %" PRIu64, count);
        near_lines(t, parts);
    }
    model_line(t, 1,
               parts->is_even ? "as far as the base's divide the sets"
                              : "the base's, which share the sets",
               "slices: %" PRIu64, slices * count);
    if (parts->is_even) {
        slice_index_line(t, l2, g, slices);
    }
    part.is_hashed = !parts->is_even;
    geometry_lines(t, l2, &part, slices, !parts->is_even, &base->l2);
    partial_line(t, g, slices);
    return true;
}

bool model_widen_line(struct model *base, const json_t *root)
{
    struct cache_spec *l2 = &base->l2;
    const json_t *told = saved_cache(root, "l2");
    struct geometry g;
    uint64_t fetched = 0, unit = base->l2_slice_index.unit_bytes;
    geometry_read(&g, told, l2->line_bytes);
    if (!l2->enabled || g.is_known || !saved_u64(&fetched, told, "fetch_granularity") ||
        fetched <= l2->line_bytes || fetched > unit || !is_power_of_two(fetched) ||
        l2->unequal_count || l2->index.kind != INDEX_HASH) {
        return false;
    }
    uint32_t times = (uint32_t)fetched / l2->line_bytes;
    if (l2->sets % times != 0) {
        return false;
    }
    l2->line_bytes = l2->sector_bytes = (uint32_t)fetched;
    l2->sets /= times;
    return true;
}

/* An L2 whose geometry is the base's: what was told beside it. */
static void unknown_lines(struct model_text *t, const json_t *l2, const struct geometry *g,
                          const struct parts_plan *parts)
{
    const struct cache_spec *base = &t->base->l2;
    uint64_t fetched = 0;
    uint32_t base_parts = t->base->l2_parts.count;
    model_line(t, 0, "", "# The geometry of L2 was not measured: that of the base.");
    bool is_apart = l2 && classes_lie_apart(t, l2, parts), is_new = l2 && !base->enabled;
    bool has_sector = saved_u64(&fetched, l2, "fetch_granularity") && fetched == g->sector &&
                      fetched != base->sector_bytes && base->line_bytes % fetched == 0;
    bool is_kept = parts->count == base_parts && !forgets_clusters(t) && !t->bandwidth.is_open &&
                   !model_tells_crossing(t, parts) && !t->has_wide_line &&
                   parts->copy_cycles == t->base->l2_parts.copy_cycles;
    bool has_policy = l2 && tells_victims(l2, base);
    if (!is_apart && !is_new && !has_sector && !has_policy && is_kept) {
        return;
    }
    model_line(t, 0, "", "l2:");
    model_open_l2(t);
    if (is_new) {
        model_line(t, 1, "measured", "enabled: true");
        model_line(t, 1, "not measured: in turn",
                   "slice_index: {kind: modulo, unit: %" PRIu32 " B}", base->line_bytes);
        model_line(t, 1, "not measured: in turn", "index: {kind: modulo, unit: %" PRIu64 " B}",
                   (uint64_t)base->line_bytes * t->base->l2_slices);
    }
    if (has_sector) {
        model_line(t, 1, "measured", "sector: %" PRIu64 " B", fetched);
    } else if (t->has_wide_line) {
        model_line(t, 1, "not measured: what a miss fetches, at least", "line: %" PRIu32 " B",
                   base->line_bytes);
        model_line(t, 1, "measured", "sector: %" PRIu32 " B", base->sector_bytes);
        model_line(t, 1, "not measured: of the base's size", "sets: %" PRIu32, base->sets);
    }
    if (has_policy) {
        model_replacement(t, l2, base->ways, &base->replacement);
    }
    if (parts->count > base_parts) {
        model_cut_lines(t, parts);
    } else if (parts->count < base_parts) {
        model_single_lines(t);
    } else {
        near_lines(t, parts);
        model_copy_line(t, parts);
    }
    if (is_apart) {
        model_distances(t, l2, parts);
    } else if (parts->count != base_parts) {
        model_level_lines(t);
    }
}

/* The slices that the model has then. */
static uint64_t l2_section(struct model_text *t, const struct latency_plan *plan)
{
    const json_t *l2 = saved_cache(t->root, "l2");
    const struct parts_plan *parts = &plan->parts;
    struct geometry g;
    if (saved_is_absent(t->root, "l2")) {
        model_line(t, 0, "", "l2:");
        model_line(t, 1, "measured", "enabled: false");
        model_single_lines(t);
        model_level_lines(t);
        return t->base->l2_slices;
    }
    geometry_read(&g, l2, t->base->l2.line_bytes);
    if (l2 && !t->base->l2.enabled) {
        geometry_guess(&g, l2); /* the base has none to keep */
    } else if (l2 && t->base->l2_parts.count == 1 && parts->count == 1) {
        geometry_of_ways(&g, l2, &t->base->l2, t->base->l2_slices);
    }
    if (!l2 || !g.is_known) {
        unknown_lines(t, l2, &g, parts);
        return t->base->l2_slices;
    }
    if (part_lines(t, l2, &g, parts)) {
        model_copy_line(t, parts);
        model_open_l2(t);
        bool has_classes = json_array_size(json_object_get(l2, "hit_latencies")) > 0;
        if (has_classes && classes_lie_apart(t, l2, parts)) { /* else copies explain them */
            model_distances(t, l2, parts);
        } else if (has_classes || parts->is_even) {
            model_level_lines(t);
        }
        return (uint64_t)parts->slices * parts->count;
    }
    uint64_t slices = slice_count(t, l2, &g);
    model_line(t, 0, "", "l2:");
    if (!t->base->l2.enabled) {
        model_line(t, 1, "measured", "enabled: true");
    }
    model_single_lines(t);
    model_level_lines(t);
    model_open_l2(t);
    slice_lines(t, l2, &g, slices);
    geometry_lines(t, l2, &g, slices, t->base->l2.index.kind == INDEX_HASH && !is_even(l2, &g),
                   &t->base->l2);
    partial_line(t, &g, slices);
    return slices;
}

/* Which of the base's divisions was measured, where a kernel may choose one and L1's data array is
 * what bounds it; -1: none of them. */
static int measured_choice(struct geometry *g, const struct model_text *t)
{
    const struct carveout_spec *carveout = &t->base->carveout;
    const json_t *l1 = saved_cache(t->root, "l1_data");
    uint64_t shared = 0;
    geometry_read(g, l1, t->base->l1_data.line_bytes);
    bool is_told = g->is_known && g->data && saved_u64(&shared, l1, "carveout_shared");
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
    return l2_section(t, plan);
}
