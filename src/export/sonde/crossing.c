/*
 * The way between parts of L2. Loads of memory that hit the TLB take two times where L2 has two
 * parts: of lines at home, and of lines behind the other one, there and back, with what L2 adds to
 * a miss there. Where they all take the same, and so do hits, nothing crosses: the base's parts are
 * not the device's, if it was not told how many it has. What section `l2` says of its parts is
 * written here, too: how many, which are near, what copies and distances take.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

/* Chosen, where a member does not say what fixed it. */
static const struct {
    double least_group, same_cycles, most_crossing, errors;
    unsigned fewest;
} limits = {
    .least_group = 0.25,  /* of all loads: lines go to two parts by a hash, half of 32 to each */
    .errors = 2,          /* standard ones, of a mean of slices near and far */
    .same_cycles = 2,     /* of a way there and back: no other than the base's */
    .most_crossing = 1e5, /* cycles: l2.crossing.latency's limit */
    .fewest = 16,         /* loads of which one would cross: 32 are made */
};

enum { MOST_KINDS = 16 };

/* Kinds of loads of an op that go to memory and hit the TLB, in order of what they take. */
struct kinds {
    size_t count;
    double cycles[MOST_KINDS], loads[MOST_KINDS], all_loads;
};

static void kinds_of_memory(struct kinds *kinds, const json_t *root, const char *op)
{
    size_t i;
    json_t *row;
    *kinds = (struct kinds){0};
    json_array_foreach(json_object_get(root, "latency_patterns"), i, row)
    {
        struct saved_value value;
        if (saved_kind(&value, row, "P4", op) && kinds->count < MOST_KINDS) {
            kinds->cycles[kinds->count] = value.value;
            kinds->loads[kinds->count] = json_number_of(row, "loads");
            kinds->all_loads += kinds->loads[kinds->count++];
        }
    }
}

/* What the kinds from `first` on take more than those before in the mean, where both are many and
 * neither spreads over more than half of what lies between the two; else negative. */
static double far_more(const struct kinds *kinds, size_t first)
{
    size_t last = kinds->count - 1;
    double sum[2] = {0}, loads[2] = {0};
    for (size_t i = 0; i < kinds->count; i++) {
        sum[i >= first] += kinds->cycles[i] * kinds->loads[i];
        loads[i >= first] += kinds->loads[i];
    }
    double gap = kinds->cycles[first] - kinds->cycles[first - 1];
    double spread = fmax(kinds->cycles[first - 1] - kinds->cycles[0],
                         kinds->cycles[last] - kinds->cycles[first]);
    bool are_many = fmin(loads[0], loads[1]) >= limits.least_group * kinds->all_loads;
    return are_many && 2 * spread <= gap ? sum[1] / loads[1] - sum[0] / loads[0] : -1;
}

/* The first kind behind the widest gap; 0: there are no two. */
static size_t widest_gap(const struct kinds *kinds)
{
    size_t widest = kinds->count >= 2;
    for (size_t i = 2; i < kinds->count; i++) {
        double gap = kinds->cycles[i] - kinds->cycles[i - 1];
        widest = gap > kinds->cycles[widest] - kinds->cycles[widest - 1] ? i : widest;
    }
    return widest;
}

/* How much longer the later of the two groups that lie farthest apart takes. Loads past L1 show
 * it, or else loads through L1, of which there are more: a few that waited for something else hide
 * the groups of the former. The latter are asked where all hits of L2 are told to be one class,
 * since slices that lie apart would make kinds of their own. Negative: there are no two groups.
 * `kinds`: those that showed it. */
static double more_across(struct kinds *kinds, const json_t *root)
{
    static const char *const ops[] = {"cg", "ca"};
    bool is_one = json_array_size(json_object_get(saved_cache(root, "l2"), "hit_latencies")) == 1;
    size_t most = is_one ? sizeof(ops) / sizeof(*ops) : 1;
    double more = -1;
    for (size_t i = 0; i < most && more <= 0; i++) {
        kinds_of_memory(kinds, root, ops[i]);
        size_t widest = widest_gap(kinds);
        more = widest > 0 ? far_more(kinds, widest) : -1;
    }
    return more;
}

/* The error of the difference between the two groups' means, in cycles: slices lie near and far,
 * and few of the loads went to some of them. */
static double chance_of(const struct kinds *kinds, const json_t *root)
{
    size_t widest = widest_gap(kinds);
    double loads[2] = {0};
    for (size_t i = 0; i < kinds->count; i++) {
        loads[i >= widest] += kinds->loads[i];
    }
    double one = class_span(saved_cache(root, "l2")) / 2;
    return loads[0] > 0 && loads[1] > 0 ? limits.errors * one * sqrt(1 / loads[0] + 1 / loads[1])
                                        : 0;
}

bool model_kinds_in_parts(double *more, double *share, const json_t *root)
{
    struct kinds kinds;
    if (more_across(&kinds, root) <= 0 || kinds.count != 4 || widest_gap(&kinds) != 2) {
        return false;
    }
    double near = kinds.cycles[1] - kinds.cycles[0], far = kinds.cycles[3] - kinds.cycles[2];
    *more = (near + far) / 2;
    *share = (kinds.loads[1] + kinds.loads[3]) / kinds.all_loads;
    return fabs(near - far) <= limits.same_cycles;
}

bool model_has_parts(const struct model *base, const json_t *root)
{
    uint64_t count = base->l2_parts.count;
    saved_u64(&count, saved_cache(root, "l2"), "count");
    return count > 1 && !saved_is_absent(root, "l2");
}

/* Loads of memory take one time, hits as well, give or take less than copies of the base's parts
 * are late, and nobody told of several parts. */
static bool shows_one_part(const struct kinds *kinds, const struct l2_parts_spec *parts,
                           const json_t *root)
{
    const json_t *l2 = saved_cache(root, "l2");
    uint64_t told;
    bool are_copies_apart = parts->copy_cycles == 0 || class_breadth(l2) < parts->copy_cycles;
    return l2 && !saved_u64(&told, l2, "count") && kinds->count == 1 &&
           kinds->all_loads >= limits.fewest && are_copies_apart &&
           json_array_size(json_object_get(l2, "hit_latencies")) == 1;
}

bool model_is_in_parts(const struct bandwidth_plan *plan, const struct model *base,
                       const json_t *root)
{
    return !plan->has_one_part && model_has_parts(base, root);
}

double model_taken_there(const struct model *base, const json_t *root, uint32_t copy_cycles)
{
    uint64_t own = base->l2.sector_bytes, fetched = own;
    saved_u64(&fetched, saved_cache(root, "l2"), "fetch_granularity");
    double port =
        way_l2_port(root, base, (uint32_t)fetched) - way_l2_port(root, base, (uint32_t)own);
    return base->l2.miss_cycles + base->l2.fill_cycles + copy_cycles + fmax(0, ceil(port));
}

void model_take_crossing(struct bandwidth_plan *plan, struct model *base, const json_t *root)
{
    struct l2_parts_spec *parts = &base->l2_parts;
    struct kinds kinds;
    kinds_of_memory(&kinds, root, "cg");
    plan->has_one_part = parts->count > 1 && shows_one_part(&kinds, parts, root);
    bool has_copies =
        parts->count > 1 && class_shows_copies(saved_cache(root, "l2"), parts->copy_cycles);
    double more = more_across(&kinds, root);
    double both_ways =
        fmax(0, more - model_taken_there(base, root, has_copies ? parts->copy_cycles : 0));
    bool is_other = parts->count == 1 ? both_ways >= limits.same_cycles
                                      : fabs(both_ways - 2.0 * parts->crossing_cycles) >
                                            fmax(limits.same_cycles, chance_of(&kinds, root));
    if (model_has_parts(base, root) && more > 0 && is_other &&
        both_ways / 2 <= limits.most_crossing) {
        parts->crossing_cycles = (uint32_t)round(both_ways / 2);
        plan->has_crossing = true;
    }
}

bool model_tells_crossing(const struct model_text *t, const struct parts_plan *parts)
{
    return t->bandwidth.has_crossing && parts->count > 1;
}

void model_crossing_line(struct model_text *t, const struct parts_plan *parts)
{
    if (model_tells_crossing(t, parts)) {
        model_line(t, 1, "measured: two kinds of loads of memory",
                   "crossing: {latency: %" PRIu32 " cycles}", t->base->l2_parts.crossing_cycles);
    }
}

/* ---- parts of L2, one or several ---- */

void model_copy_line(struct model_text *t, const struct parts_plan *parts)
{
    const struct l2_parts_spec *base = &t->base->l2_parts;
    if (parts->count == base->count && parts->copy_cycles != base->copy_cycles) {
        model_line(t, 1,
                   saved_cache(t->root, "l2") ? "measured: no class of hits is another's copies"
                                              : "not measured: misses of L1 are told by one number",
                   "copy_latency: %" PRIu32 " cycles", parts->copy_cycles);
    }
}

static const char *why_single(const struct model_text *t)
{
    uint64_t count;
    if (saved_u64(&count, saved_cache(t->root, "l2"), "count") && count == 1) {
        return "measured";
    }
    return saved_is_absent(t->root, "l2")                ? "there is none"
           : t->bandwidth.has_one_part                   ? "measured: loads all take the same"
           : model_clusters(t) < t->base->l2_parts.count ? "there are fewer clusters than parts"
                                                         : "not found";
}

void model_single_lines(struct model_text *t)
{
    if (t->base->l2_parts.count > 1) {
        model_line(t, 1, why_single(t), "parts: 1");
        model_line(t, 1, "", "part_of_cluster: []");
    }
}

void model_level_lines(struct model_text *t)
{
    if (t->base->l2_parts.slice_cycles.count) {
        model_line(t, 1, "", "slice_latency: []");
    }
}

/* Which of them is near to an SM was not written down. */
void model_cut_lines(struct model_text *t, const struct parts_plan *parts)
{
    model_line(t, 1, "measured", "parts: %" PRIu32, parts->count);
    model_line(t, 1, "not measured: in turn", "part_of_cluster: []");
    model_crossing_line(t, parts);
    model_line(t, 1,
               parts->copy_cycles ? "measured: two classes of hits, l2.hit_latencies"
                                  : "not told apart from how far slices lie",
               "copy_latency: %" PRIu32 " cycles", parts->copy_cycles);
}
