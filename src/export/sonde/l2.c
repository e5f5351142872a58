/*
 * The section of a model that describes L2: its slices and parts, and the sets of each. Where what
 * was told is that of the whole, the base says how it is cut, as far as that gives the same whole.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/sonde/geometry.h"
#include "util/bits.h"
#include "util/glue/json_glue.h"

/* Thresholds. Fixed by: the sizes of sim:a100 and sim:v100. */
static const struct {
    double half_share;   /* from a half */
    double narrow;       /* cycles of a class of hits: rounding */
    uint64_t asked_sets; /* the most whose index is asked for: MAX_INDEX_BITS of infer/geometry */
} limits = {
    .half_share = 0.05, /* of some thousand lines, shared out by a hash: sim:a100 has 0.009 */
    .narrow = 2,
    .asked_sets = 4096,
};

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
    return has_sets_alone(l2, g) && !g->rows.slices && g->sets > limits.asked_sets &&
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
    return t->base->l2.index.kind == INDEX_HASH && is_even(l2, g) && !g->rows.slices &&
           g->sets <= limits.asked_sets;
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

/* What a slice serves of a row that slices share: at least what is asked for at once. */
static uint64_t row_unit(const struct model_text *t, const struct geometry *g)
{
    uint64_t asked = widest_request(t);
    return asked > g->line ? asked : g->line;
}

/* L2's, with the slices that rows have shown: several, of whole requests. */
static void l2_geometry(struct geometry *g, const struct model_text *t, const json_t *l2)
{
    geometry_read(g, l2, t->base->l2.line_bytes);
    bool has_rows = has_sets_alone(l2, g) && rows_read(&g->rows, l2, g->line, g->sets);
    if (!has_rows || g->rows.slices == 1 || g->rows.bytes % row_unit(t, g) != 0) {
        g->rows = (struct row_plan){0};
    }
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
 * How many slices the L2 that was measured as a whole is cut into: as many as its hits show, or
 * else the base has, if that many give the same whole: sets in turn under modulo, or the lowest
 * bits of a set's number.
 */
static uint64_t slice_count(const struct model_text *t, const json_t *l2, const struct geometry *g)
{
    const json_t *index = json_object_get(l2, "set_index");
    const char *kind = saved_text(index, "kind", "unknown");
    uint64_t shown = class_slices(l2), slices = shown ? shown : t->base->l2_slices;
    if (g->is_guess || g->ways_per_set || strcmp(kind, "map") == 0) {
        return 1;
    }
    if (g->rows.slices) {
        return g->rows.slices;
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
    } else if (g->rows.slices && !(g->rows.is_turn && row_unit(t, g) == g->line)) {
        model_line(t, 1, "measured: which slice a line of a row is in is hashed",
                   "slice_index: {kind: hash, unit: %" PRIu64 " B, seed: 1}", row_unit(t, g));
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
        model_line(t, 1,
                   g->rows.slices               ? "measured: a row's lines"
                   : slices == class_slices(l2) ? "measured: the classes of hits"
                                                : "as far as the base's slices divide the sets",
                   "slices: %" PRIu64, slices);
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

/* Two classes of which the later one has missed translation. */
static bool are_translated(const struct model_text *t, const json_t *l2)
{
    struct saved_value penalty;
    return json_array_size(json_object_get(l2, "hit_latencies")) == 2 &&
           saved_value(&penalty, saved_tlb(t->root, "l1_tlb"), "miss_penalty") &&
           fabs(class_span(l2) - penalty.value) <= limits.narrow;
}

/* Classes of hits differ by more than what copies take, or one is as broad, where the base has
 * parts or the model; where neither has, there are several that translation does not explain. */
static bool classes_lie_apart(const struct model_text *t, const json_t *l2,
                              const struct parts_plan *parts)
{
    bool any_parts = parts->count > 1 || t->base->l2_parts.count > 1;
    double least = any_parts ? 2.0 * parts->copy_cycles : limits.narrow;
    return parts->slices > 1 && !are_translated(t, l2) &&
           (class_span(l2) > least || (any_parts && class_breadth(l2) > least + limits.narrow));
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
    return g->rows.slices ||
           (t->base->l2.index.kind == INDEX_HASH && g->sets >= slices && g->sets % slices == 0);
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
    l2_geometry(&g, t, l2);
    if (g.rows.slices) {
        *is_even_out = true;
        return (uint32_t)g.rows.slices;
    }
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
    l2_geometry(&g, t, l2);
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

/* L2 as one part: what of its geometry is known, or stands for it. */
static void whole_geometry(struct geometry *g, const struct model_text *t, const json_t *l2,
                           const struct parts_plan *parts)
{
    l2_geometry(g, t, l2);
    if (l2 && !t->base->l2.enabled) {
        geometry_guess(g, l2); /* the base has none to keep */
    } else if (l2 && t->base->l2_parts.count == 1 && parts->count == 1) {
        geometry_of_ways(g, l2, &t->base->l2, t->base->l2_slices);
    }
}

/* How many slices a part will have. */
static uint32_t slices_of_part(struct parts_plan *parts, const struct model_text *t)
{
    struct geometry g;
    const json_t *l2 = saved_cache(t->root, "l2");
    uint32_t own = t->base->l2_slices / parts->count;
    whole_geometry(&g, t, l2, parts);
    if (parts->count == 1) {
        return l2 && g.is_known ? (uint32_t)slice_count(t, l2, &g) : own;
    }
    bool is_base = parts->count == t->base->l2_parts.count;
    uint32_t sharing = is_base || g.rows.slices ? sharing_slices(&parts->is_even, t, own) : 0;
    return sharing > 0 ? sharing : own;
}

void model_parts(struct parts_plan *parts, const struct model_text *t)
{
    told_parts(parts, t);
    if (parts->count > model_clusters(t)) { /* a part has clusters that it is near to */
        *parts = (struct parts_plan){.count = 1};
    }
    const json_t *l2 = saved_cache(t->root, "l2");
    parts->slices = slices_of_part(parts, t);
    parts->is_apart = l2 && classes_lie_apart(t, l2, parts);
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
    const struct index_spec *slice = &base->l2_slice_index;
    bool is_torn = base->l2_parts.index.unit_bytes % g->line != 0 ||
                   (!g->rows.slices && (slice->unit_bytes % g->line != 0 ||
                                        slice->unit_bytes % widest_request(t) != 0 ||
                                        base->l2.index.kind != INDEX_HASH));
    if (parts->count < 2 || g->ways_per_set || is_torn ||
        (!is_cut && count != base->l2_parts.count) || each == 0 ||
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
               g->rows.slices   ? "measured: a row's lines"
               : parts->is_even ? "as far as the base's divide the sets"
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

/* The line that was told though no geometry was, else what a miss fetches, if that is more than the
 * base's; else the base's. */
static uint64_t line_of(const json_t *told, const struct cache_spec *l2)
{
    uint64_t line = 0, fetched = 0;
    if (saved_u64(&line, told, "line")) {
        return line;
    }
    saved_u64(&fetched, told, "fetch_granularity");
    return fetched > l2->line_bytes ? fetched : l2->line_bytes;
}

/* The ways that were told, else the base's. */
static uint64_t ways_of(const struct model *base, const json_t *told)
{
    uint64_t ways = 0;
    bool is_told = saved_u64(&ways, told, "ways") && ways > 0 && ways <= MEM_MAX_WAYS;
    return is_told ? ways : base->l2.ways;
}

bool model_take_shape(struct model *base, const json_t *root)
{
    struct cache_spec *l2 = &base->l2;
    const json_t *told = saved_cache(root, "l2");
    struct geometry g;
    uint64_t line = line_of(told, l2), ways = ways_of(base, told);
    uint64_t bytes = (uint64_t)l2->sets * l2->ways * l2->line_bytes;
    geometry_read(&g, told, l2->line_bytes);
    bool is_own = line == l2->line_bytes && ways == l2->ways;
    bool is_by_ways = !model_has_parts(base, root) && ways != l2->ways; /* geometry_of_ways */
    if (is_own || is_by_ways || !l2->enabled || g.is_known || !is_power_of_two(line) ||
        line < way_load_bytes(base) || line > base->l2_slice_index.unit_bytes ||
        bytes < line * ways || l2->unequal_count || l2->index.kind != INDEX_HASH) {
        return false;
    }
    if (line != l2->line_bytes) {
        l2->dirty_lines = (uint32_t)(l2->dirty_lines * (uint64_t)l2->line_bytes / line);
        l2->partial_lines = 0; /* the base's word on its own */
    }
    uint64_t fetched;
    if (line != l2->line_bytes || saved_u64(&fetched, told, "fetch_granularity")) {
        l2->sector_bytes = (uint32_t)(g.line == line ? g.sector : line);
    }
    l2->line_bytes = (uint32_t)line;
    l2->ways = (uint32_t)ways;
    l2->sets = (uint32_t)(bytes / (line * ways));
    return true;
}

/* Lines and ways of an L2 whose geometry is else the base's, and as many sets as keep its size. */
static void shape_lines(struct model_text *t, const json_t *l2)
{
    const struct cache_spec *base = &t->base->l2;
    struct saved_value told;
    char comment[MODEL_COMMENT_BYTES];
    bool is_told = saved_value(&told, l2, "line");
    uint64_t bytes = (uint64_t)base->line_bytes * base->ways * base->sets;
    model_line(t, 1, "not measured: the base's", "size: %" PRIu64 " B", bytes);
    model_line(t, 1,
               is_told ? model_measured(comment, &told)
                       : "not measured: what a miss fetches, at least",
               "line: %" PRIu32 " B", base->line_bytes);
    bool has_fetched = saved_value(&told, l2, "fetch_granularity");
    model_line(t, 1, has_fetched ? model_measured(comment, &told) : "not measured",
               "sector: %" PRIu32 " B", base->sector_bytes);
    model_line(t, 1, "not measured: of the base's size", "sets: %" PRIu32, base->sets);
    is_told = saved_value(&told, l2, "ways") && told.value == base->ways;
    model_line(t, 1, is_told ? model_measured(comment, &told) : "not measured: the base's",
               "ways: %" PRIu32, base->ways);
    if (base->dirty_lines) {
        model_line(t, 1, "the base's, in such lines",
                   "written: {dirty_lines: %" PRIu32 ", partial_lines: %" PRIu32 "}",
                   base->dirty_lines, base->partial_lines);
    }
}

static void hit_line(struct model_text *t, const struct latency_plan *plan)
{
    if (plan->l2_hit != t->base->l2.hit_cycles) {
        model_line(t, 1, "half of what a load that hits it leaves",
                   "hit_latency: %" PRIu32 " cycles", plan->l2_hit);
    }
}

/* An L2 whose geometry is the base's: what was told beside it. */
static void unknown_lines(struct model_text *t, const json_t *l2, const struct geometry *g,
                          const struct latency_plan *plan)
{
    const struct parts_plan *parts = &plan->parts;
    const struct cache_spec *base = &t->base->l2;
    uint64_t fetched = 0;
    uint32_t base_parts = t->base->l2_parts.count;
    model_line(t, 0, "", "# The geometry of L2 was not measured: that of the base.");
    bool is_apart = parts->is_apart, is_new = l2 && !base->enabled;
    bool has_sector = saved_u64(&fetched, l2, "fetch_granularity") && fetched == g->sector &&
                      fetched != base->sector_bytes && base->line_bytes % fetched == 0;
    bool is_kept = parts->count == base_parts && !forgets_clusters(t) && !t->bandwidth.is_open &&
                   !model_tells_crossing(t, parts) && !t->has_other_shape &&
                   parts->copy_cycles == t->base->l2_parts.copy_cycles &&
                   plan->l2_hit == base->hit_cycles;
    bool has_policy = l2 && tells_victims(l2, base);
    if (!is_apart && !is_new && !has_sector && !has_policy && is_kept) {
        return;
    }
    model_line(t, 0, "", "l2:");
    hit_line(t, plan);
    model_open_l2(t);
    if (is_new) {
        model_line(t, 1, "measured", "enabled: true");
        model_line(t, 1, "not measured: in turn",
                   "slice_index: {kind: modulo, unit: %" PRIu32 " B}", base->line_bytes);
        model_line(t, 1, "not measured: in turn", "index: {kind: modulo, unit: %" PRIu64 " B}",
                   (uint64_t)base->line_bytes * t->base->l2_slices);
    }
    if (t->has_other_shape) {
        shape_lines(t, l2);
    } else if (has_sector) {
        model_line(t, 1, "measured", "sector: %" PRIu64 " B", fetched);
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

uint64_t model_l2(struct model_text *t, const struct latency_plan *plan)
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
    whole_geometry(&g, t, l2, parts);
    if (!l2 || !g.is_known) {
        unknown_lines(t, l2, &g, plan);
        return t->base->l2_slices;
    }
    if (part_lines(t, l2, &g, parts)) {
        hit_line(t, plan);
        model_copy_line(t, parts);
        model_open_l2(t);
        bool has_classes = json_array_size(json_object_get(l2, "hit_latencies")) > 0;
        if (parts->is_apart) { /* else copies explain them */
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
    hit_line(t, plan);
    model_single_lines(t);
    if (parts->is_apart && parts->slices == slices) {
        model_distances(t, l2, parts);
    } else {
        model_level_lines(t);
    }
    model_open_l2(t);
    slice_lines(t, l2, &g, slices);
    geometry_lines(t, l2, &g, slices, t->base->l2.index.kind == INDEX_HASH && !is_even(l2, &g),
                   &t->base->l2);
    partial_line(t, &g, slices);
    return slices;
}
