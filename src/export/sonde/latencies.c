/*
 * How measured latencies divide over parameters. A load's latency is a sum along its way
 * (models/README.md, "Latencies"), of which a measurement gives the total and the base gives the
 * terms. One term of each sum, the one that is known least, takes what is left:
 *     L1 hit       lsu + L1 hit
 *     L2 hit       lsu + request + L2 hit + reply + what the network adds for more than a cycle
 *     memory       the same with L2 miss + DRAM + L2 fill instead of L2 hit; the controller's rest
 *     L1 miss      L2 hit + L1 miss + L1 fill
 *     texture      address + FIFO + filter; a miss instead of the FIFO: miss + L2's way + fill
 *     constants    address + L1; or address + L1 miss + L1.5 + L1 fill; or on to L2
 *     TLB          miss + second TLB + fill; a walk: what it costs more than the second TLB
 */
#include <math.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

/* Above this difference of a timed load and an untimed one, in cycles, the record has issues of its
 * own; both are medians or averages of hundreds of loads. A simulated record has two, or none; one
 * on an H200 has one (ADR 0002), and a scheduler that issues two in a cycle would show none. */
#define RECORD_SHOWS 0.5

/* Cycles that a class of L2's hits may spread over and still stand for one latency: rounding. */
#define NARROW 1.0

/* The share of a class in which no median of some hundred lies. Chosen. */
#define RARE 0.25

static void plan_issue(struct issue_plan *plan, const struct model_text *t)
{
    struct saved_value timed, untimed;
    const struct sm_spec *sm = &t->base->sm;
    const json_t *l1 = saved_cache(t->root, "l1_data"), *l2 = saved_cache(t->root, "l2");
    const json_t *cache = l1 ? l1 : l2;
    *plan = (struct issue_plan){.per_scheduler = sm->issue_per_scheduler,
                                .interval = sm->issue_interval ? sm->issue_interval : 1};
    if (saved_value(&timed, cache, "hit_latency") &&
        saved_value(&untimed, cache, "load_to_use_latency")) {
        double record = class_mean(cache, timed.value) - untimed.value;
        plan->is_measured = true;
        if (record < RECORD_SHOWS) {
            plan->per_scheduler = plan->per_scheduler > 1 ? plan->per_scheduler : 2;
            plan->interval = 1;
        } else {
            plan->per_scheduler = 1;
            plan->interval = record < 2 ? 1 : (uint32_t)round(record / 2);
        }
    }
    plan->record_cycles = plan->per_scheduler > 1 ? 0 : 2 * plan->interval;
}

/* A measured latency without what its record added. */
static bool latency(double *cycles, const struct latency_plan *plan, const json_t *owner,
                    const char *key)
{
    struct saved_value value;
    uint32_t record = plan->issue.record_cycles;
    if (!saved_value(&value, owner, key) || value.value <= record) {
        return false;
    }
    *cycles = value.value - record;
    return true;
}

/* Of a hit: where an untimed load was measured too, the middle of what both say. */
static bool hit_latency(double *cycles, const struct latency_plan *plan, const json_t *cache)
{
    struct saved_value untimed;
    bool is_there = latency(cycles, plan, cache, "hit_latency");
    if (is_there && saved_value(&untimed, cache, "load_to_use_latency")) {
        *cycles = (*cycles + untimed.value) / 2;
    }
    return is_there;
}

/* What a miss of a cache fetches, and `otherwise` where that was not measured. */
static uint32_t fetched_bytes(const json_t *cache, uint32_t otherwise)
{
    uint64_t bytes = otherwise;
    saved_u64(&bytes, cache, "fetch_granularity");
    return (uint32_t)bytes;
}

/* A term that may not be negative. */
static uint32_t rest(double whole, double terms)
{
    double left = round(whole - terms);
    return left > 0 ? (uint32_t)left : 0;
}

/* The network: what is left of a load that hits L2, and half of it each way. Where the base's L2
 * alone takes longer, it takes half of that. */
static void plan_l2(struct latency_plan *plan, const struct model_text *t, double l2_hit)
{
    const struct model *base = t->base;
    const json_t *l2 = saved_cache(t->root, "l2");
    bool is_class = plan->parts.count > 1 || plan->parts.is_apart;
    if (is_class && json_array_size(json_object_get(l2, "hit_latencies"))) {
        l2_hit = class_nearest(l2, &plan->parts) - plan->issue.record_cycles;
    }
    double before = plan->lsu + way_network_extra(base, way_load_bytes(base));
    uint32_t left = rest(l2_hit, before);
    plan->l2_hit = left < plan->l2_hit ? left / 2 : plan->l2_hit;
    uint32_t both = rest(l2_hit, before + plan->l2_hit);
    struct halves halves = way_halves(both, base->noc.reply_cycles, base->noc.request_cycles);
    plan->reply = halves.first;
    plan->request = halves.second;
}

static void plan_memory(struct latency_plan *plan, const struct model_text *t, double l2_hit)
{
    struct saved_value memory;
    if (!saved_value(&memory, json_object_get(t->root, "memory"), "latency") &&
        !saved_pattern(&memory.value, t->root, "P4")) {
        return;
    }
    const struct model *base = t->base;
    const struct cache_spec *l2 = &base->l2;
    double soonest;
    if (t->bandwidth.row_bytes && saved_pattern(&soonest, t->root, "P4")) {
        memory.value = fmin(memory.value, soonest); /* of loads that find a row open, and others */
    }
    double whole = memory.value - plan->issue.record_cycles;
    uint32_t asked = way_load_bytes(base);
    if (!way_has_l2(t)) {
        double network = plan->request + plan->reply + way_network_extra(base, asked);
        plan->dram_fixed = rest(whole, plan->lsu + network + way_dram(t, asked));
        return;
    }
    uint32_t fetched = fetched_bytes(saved_cache(t->root, "l2"), l2->sector_bytes);
    /* Where there are two parts the latency is that of lines at home, of which a walk that starts
     * from one of them has the most; where kinds of access were told, they say it. */
    const struct parts_plan *parts = &plan->parts;
    double across =
        2 * base->l2_parts.crossing_cycles + model_taken_there(base, t->root, parts->copy_cycles);
    double beyond = whole - l2_hit;
    if (parts->count == 1) {
        class_beyond(&beyond, saved_cache(t->root, "l2"));
    } else {
        plan->memory_of_kinds = kinds_beyond_l2(&beyond, t, parts, across);
    }
    plan->dram_fixed =
        rest(beyond + plan->l2_hit, l2->miss_cycles + l2->fill_cycles + way_dram(t, fetched));
}

/*
 * What a load takes that hits L2, of those that a cache's misses were. Of two parts L2 has
 * two classes of hits, and a median of misses lies in one or the other where chance puts it: the
 * farthest that leaves the rest something. Classes that are broad do not tell which, and no median
 * lies in one that is rare: hits that missed translation.
 */
static double class_of(double whole, const struct latency_plan *plan, const struct model_text *t,
                       double l2_hit)
{
    const json_t *classes = json_object_get(saved_cache(t->root, "l2"), "hit_latencies");
    size_t i;
    json_t *one;
    double best = 0;
    if (json_array_size(classes) != 2) {
        return l2_hit; /* a median of many lies where theirs does */
    }
    json_array_foreach(classes, i, one)
    {
        double broad = json_number_of(one, "high") - json_number_of(one, "low");
        if (json_number_of(one, "share") < RARE) {
            return l2_hit;
        }
        double cycles = json_number_of(one, "cycles") - plan->issue.record_cycles;
        if (broad > NARROW) {
            return l2_hit;
        }
        best = cycles <= whole && cycles > best ? cycles : best;
    }
    return best > 0 ? best : l2_hit;
}

static void plan_l1(struct latency_plan *plan, const struct model_text *t, double l2_hit)
{
    const json_t *l1 = saved_cache(t->root, "l1_data");
    l1 = l1 ? l1 : saved_cache(t->root, "local_l1");
    struct saved_value penalty;
    double hit;
    if (!hit_latency(&hit, plan, l1)) {
        return;
    }
    hit = round(hit);
    if (hit <= plan->lsu + 1) {
        plan->lsu = (uint32_t)hit / 2;
    }
    plan->l1_hit = rest(hit, plan->lsu);
    if (saved_value(&penalty, l1, "miss_penalty")) {
        uint32_t fetched = fetched_bytes(l1, t->base->l1_data.line_bytes);
        double whole = hit + penalty.value - way_more(t, fetched, true);
        plan->l1_through = rest(whole, class_of(whole, plan, t, l2_hit));
    }
}

/* Local and read-only loads that the same cache serves as others, and later or sooner. */
static uint32_t path_of(const struct latency_plan *plan, const struct model_text *t, const char *id)
{
    double hit, plain;
    if (!saved_cache(t->root, "l1_data") || !saved_shares(t->root, id, "l1_data") ||
        !latency(&hit, plan, saved_cache(t->root, id), "hit_latency") ||
        !latency(&plain, plan, saved_cache(t->root, "l1_data"), "hit_latency") || hit == plain) {
        return 0;
    }
    return rest(hit, plan->l1_hit);
}

/* What lies before and behind the cache of a fetch. */
static void texture_ends(struct latency_plan *plan, const struct model_text *t, uint32_t ends)
{
    const struct texture_spec *base = &t->base->sm.texture;
    struct halves halves = way_halves(ends, base->filter_cycles, base->address_cycles);
    plan->texture_filter = halves.first;
    plan->texture_address = halves.second;
}

/* Fetches that look in L1: what a hit takes beside it, before and behind. */
static void plan_texture_in_l1(struct latency_plan *plan, const struct model_text *t)
{
    double hit;
    plan->texture_by_l1 =
        saved_shares(t->root, "texture_l1", "l1_data") && !saved_is_absent(t->root, "l1_data");
    if (plan->texture_by_l1 &&
        latency(&hit, plan, saved_cache(t->root, "texture_l1"), "hit_latency")) {
        texture_ends(plan, t, rest(hit, plan->l1_hit));
    }
}

/* Address and filter take what the way through L2 leaves of a miss; the FIFO what a hit leaves.
 * What does not fit between the two is the cache's own. */
static void plan_texture(struct latency_plan *plan, const struct model_text *t, double l2_hit)
{
    const json_t *texture = saved_cache(t->root, "texture_l1");
    struct saved_value penalty;
    double hit;
    if (!latency(&hit, plan, texture, "hit_latency")) {
        return;
    }
    if (saved_value(&penalty, texture, "miss_penalty")) {
        uint32_t fetched = fetched_bytes(texture, t->base->texture_l1.sector_bytes);
        double whole = hit + penalty.value - way_more(t, fetched, true);
        double way = class_of(whole + plan->lsu, plan, t, l2_hit) - plan->lsu;
        uint32_t ends = rest(whole, way + plan->texture_through);
        ends = ends < hit ? ends : (uint32_t)hit;
        texture_ends(plan, t, ends);
        plan->texture_through = rest(whole, way + ends);
    }
    plan->texture_fifo = rest(hit, plan->texture_address + plan->texture_filter);
}

/* What a cache of constants adds to a miss that goes on to L2, or to memory. */
static uint32_t constants_through(const struct latency_plan *plan, const struct model_text *t,
                                  double whole, double l2_hit)
{
    return rest(whole, class_of(whole + plan->lsu, plan, t, l2_hit) - plan->lsu);
}

/* A way that takes longer than what was measured: less of it lies before the first cache, which
 * then takes so much more of a hit. */
static void advance_constants(struct latency_plan *plan, double too_long)
{
    uint32_t more = rest(too_long, 0);
    uint32_t moved = more < plan->constant_address ? more : plan->constant_address;
    plan->constant_address -= moved;
    plan->constant_l1_hit += moved;
}

/* What the way there and back takes at least may be more than a miss took: the way back from a
 * cluster's cache gives way first, then what the first cache adds, then what lies before it. */
static void shorten_constants(struct latency_plan *plan, double too_long)
{
    uint32_t more = rest(too_long, 0);
    uint32_t back = more < plan->constant_l15_return ? more : plan->constant_l15_return;
    plan->constant_l15_return -= back;
    more -= back;
    uint32_t through = more < plan->constant_l1_through ? more : plan->constant_l1_through;
    plan->constant_l1_through -= through;
    advance_constants(plan, more - through);
}

static void plan_second_constants(struct latency_plan *plan, const struct model_text *t,
                                  const json_t *l15, double second, double l2_hit)
{
    struct saved_value penalty;
    bool is_shared = saved_is_of_cluster(l15);
    uint32_t *back = &plan->constant_l15_return;
    *back = is_shared ? *back : 0;
    *back = *back < second - plan->constant_address ? *back : 0;
    double around = plan->constant_address + *back;
    if (second < around + plan->constant_l1_through) {
        plan->constant_l1_through = rest(second, around);
    }
    if (saved_value(&penalty, l15, "miss_penalty")) {
        uint32_t fetched = fetched_bytes(l15, t->base->constant_l15.sector_bytes);
        /* What a cluster fetches takes nothing of an SM's port. */
        double taken = second + penalty.value - way_more(t, fetched, !is_shared);
        double whole = taken - plan->constant_address;
        double behind = class_of(whole + plan->lsu, plan, t, l2_hit) - plan->lsu;
        shorten_constants(plan, *back + plan->constant_l1_through + behind - whole);
        whole = taken - plan->constant_address - *back - plan->constant_l1_through;
        plan->constant_l15_through = constants_through(plan, t, whole, l2_hit);
    }
    plan->constant_l15_hit =
        rest(second, plan->constant_address + *back + plan->constant_l1_through);
}

/*
 * No second cache was shown, and the first one's misses go to L2; where they come back too soon for
 * that, they hit the base's second cache, which was not shown to be absent. A second cache whose
 * hits were not measured is what the first one's misses hit.
 */
static void plan_only_constants(struct latency_plan *plan, const struct model_text *t, double miss,
                                double l2_hit)
{
    uint32_t fetched =
        fetched_bytes(saved_cache(t->root, "constant_l1"), t->base->constant_l1.sector_bytes);
    double whole = miss - plan->constant_address;
    double left = whole - way_more(t, fetched, true), way = l2_hit - plan->lsu;
    const json_t *own = saved_cache(t->root, "constant_l15");
    bool is_shared = own ? saved_is_of_cluster(own) : t->base->constant_l15_scope != TLB_PER_SM;
    bool is_absent = saved_is_absent(t->root, "constant_l15");
    plan->constants_have_second =
        own || (t->base->constant_l15.enabled && !is_absent && left < way);
    if (plan->constants_have_second) {
        uint32_t back = is_shared ? plan->constant_l15_return : 0;
        plan->constant_l15_hit = rest(whole, back + plan->constant_l1_through);
        return;
    }
    plan->constant_l1_through = constants_through(plan, t, left, l2_hit);
    if (plan->constant_l1_through == 0) {
        advance_constants(plan, class_of(left + plan->lsu, plan, t, l2_hit) - plan->lsu - left);
    }
}

static void plan_constants(struct latency_plan *plan, const struct model_text *t, double l2_hit)
{
    const json_t *l1 = saved_cache(t->root, "constant_l1");
    const json_t *l15 = saved_cache(t->root, "constant_l15");
    struct saved_value penalty;
    double first, second;
    if (!latency(&first, plan, l1, "hit_latency")) {
        return;
    }
    if (first <= plan->constant_address) {
        plan->constant_address = (uint32_t)first / 2;
    }
    plan->constant_l1_hit = rest(first, plan->constant_address);
    if (latency(&second, plan, l15, "hit_latency")) {
        plan_second_constants(plan, t, l15, second, l2_hit);
    } else if (saved_value(&penalty, l1, "miss_penalty")) {
        plan_only_constants(plan, t, first + penalty.value, l2_hit);
    }
}

static void plan_translation(struct latency_plan *plan, const struct model_text *t)
{
    struct saved_value first, second;
    const struct cache_spec *l2 = &t->base->tlb_l2.entries;
    bool is_kept = model_keeps_second_tlb(t);
    if (!is_kept) {
        walks_plan(plan, t);
    }
    if (!saved_value(&first, saved_tlb(t->root, "l1_tlb"), "miss_penalty")) {
        return;
    }
    if (first.value < plan->tlb_l1_miss + plan->tlb_l1_fill) {
        plan->tlb_l1_miss = plan->tlb_l1_fill = (uint32_t)first.value / 3;
    }
    plan->tlb_l2_hit = rest(first.value, plan->tlb_l1_miss + plan->tlb_l1_fill);
    bool has_second = saved_value(&second, saved_tlb(t->root, "l2_tlb"), "miss_penalty");
    if (is_kept) {
        return; /* nothing was walked */
    }
    double walk = plan->tlb_l2_hit;
    walk += has_second ? second.value - l2->miss_cycles - l2->fill_cycles : 0;
    /* Reads that L2 alone would take longer for were no reads. */
    while (plan->walker_levels > 0 && walk < (double)plan->walker_levels * plan->l2_hit) {
        plan->walker_levels--;
        memset(plan->walker_span, 0, sizeof(plan->walker_span));
    }
    plan->walker = rest(walk, (double)plan->walker_levels * plan->l2_hit);
}

/* What a miss of a cache of constants or of textures takes, as if it were a load's; 0: not told. */
static double taken_by(const struct latency_plan *plan, const struct model_text *t,
                       const json_t *cache, uint32_t sector, bool by_port)
{
    struct saved_value penalty;
    double hit;
    bool is_told =
        latency(&hit, plan, cache, "hit_latency") && saved_value(&penalty, cache, "miss_penalty");
    return is_told ? hit + penalty.value - way_more(t, fetched_bytes(cache, sector), by_port) : 0;
}

/* The outermost cache of constants, whose misses go to L2; NULL: not known. */
static const json_t *outer_constants(const struct model_text *t)
{
    const json_t *second = saved_cache(t->root, "constant_l15");
    return second                                     ? second
           : saved_is_absent(t->root, "constant_l15") ? saved_cache(t->root, "constant_l1")
                                                      : NULL;
}

/* What a miss of it takes. What a cluster fetches takes nothing of an SM's port. */
static double taken_by_constants(const struct latency_plan *plan, const struct model_text *t)
{
    const json_t *second = saved_cache(t->root, "constant_l15");
    uint32_t sector =
        second ? t->base->constant_l15.sector_bytes : t->base->constant_l1.sector_bytes;
    return taken_by(plan, t, outer_constants(t), sector, !saved_is_of_cluster(second));
}

/* What the misses of constants leave of the way to L2; 0: not told. */
static double way_of_constants(const struct latency_plan *plan, const struct model_text *t)
{
    const json_t *second = saved_cache(t->root, "constant_l15");
    bool is_shared = saved_is_of_cluster(second);
    double taken = way_has_l2(t) ? taken_by_constants(plan, t) : 0;
    double own = plan->constant_address + plan->constant_l1_through;
    own += second ? plan->constant_l15_through + (is_shared ? plan->constant_l15_return : 0) : 0;
    return taken > 0 ? taken - own : 0;
}

/*
 * Constants and textures that come back from L2 sooner than loads do without the load/store unit
 * have the same way behind it: that unit takes more of a load, where a hit of L1 is long enough for
 * it. Which of several slices they hit is not told.
 */
static void lengthen_lsu(struct latency_plan *plan, const struct model_text *t, double l2_hit)
{
    if (!way_has_l2(t) ||
        json_array_size(json_object_get(saved_cache(t->root, "l2"), "hit_latencies")) > 1) {
        return;
    }
    const json_t *l1 = saved_cache(t->root, "l1_data");
    const json_t *texture = saved_cache(t->root, "texture_l1");
    const double taken[] = {taken_by_constants(plan, t),
                            taken_by(plan, t, texture, t->base->texture_l1.sector_bytes, true)};
    double hit, least = plan->lsu;
    for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
        least = taken[i] > 0 ? fmax(least, ceil(l2_hit - taken[i])) : least;
    }
    bool has_hit = hit_latency(&hit, plan, l1 ? l1 : saved_cache(t->root, "local_l1"));
    if (least + 1 < (has_hit ? round(hit) : l2_hit)) {
        plan->lsu = (uint32_t)least;
    }
}

/* What the misses of L1 leave of a load that hits L2, at least a hit of L1; 0: not told. */
static double way_of_l1(const struct latency_plan *plan, const struct model_text *t,
                        const json_t *l1)
{
    struct saved_value penalty;
    double hit;
    uint32_t fetched = fetched_bytes(l1, t->base->l1_data.sector_bytes);
    if (!hit_latency(&hit, plan, l1) || !saved_value(&penalty, l1, "miss_penalty")) {
        return 0;
    }
    return fmax(hit, hit + penalty.value - way_more(t, fetched, true) - plan->l1_through);
}

/* What most hits of L2 lost to translation: those of the few that are sooner by just that had it at
 * hand. 0: they did not. */
static double translation_of_hits(double hit, const struct latency_plan *plan,
                                  const struct model_text *t)
{
    const json_t *classes = json_object_get(saved_cache(t->root, "l2"), "hit_latencies");
    struct saved_value penalty;
    double soonest = json_number_of(json_array_get(classes, 0), "cycles");
    soonest -= plan->issue.record_cycles;
    bool is_late = json_array_size(classes) == 2 &&
                   saved_value(&penalty, saved_tlb(t->root, "l1_tlb"), "miss_penalty") &&
                   penalty.value > NARROW && fabs(hit - soonest - penalty.value) <= NARROW;
    return is_late ? penalty.value : 0;
}

/* L2's hits as they were measured, or else as the kinds of access have them, or untimed loads. */
static bool l2_hit_of_loads(double *l2_hit, const struct latency_plan *plan,
                            const struct model_text *t)
{
    const json_t *l2 = saved_cache(t->root, "l2");
    struct saved_value untimed;
    double kind;
    if (latency(l2_hit, plan, l2, "hit_latency")) {
        return true;
    }
    if (l2 && saved_pattern(&kind, t->root, "P1") && kind > plan->issue.record_cycles) {
        *l2_hit = kind - plan->issue.record_cycles;
        return true;
    }
    bool is_told = saved_value(&untimed, l2, "load_to_use_latency");
    *l2_hit = is_told ? untimed.value : *l2_hit;
    return is_told;
}

/* Where L2's hits were not measured, they are what the misses of L1, or else of local memory or of
 * constants, leave beside the base's terms: nothing comes back sooner than the shorter of both. */
static void l2_hit_of_misses(double *l2_hit, const struct latency_plan *plan,
                             const struct model_text *t)
{
    double way = way_of_l1(plan, t, saved_cache(t->root, "l1_data"));
    if (way <= 0) {
        double local = way_of_l1(plan, t, saved_cache(t->root, "local_l1"));
        double constants = way_of_constants(plan, t);
        constants += constants > 0 ? plan->lsu : 0;
        way = local > 0 && (constants <= 0 || local < constants) ? local : constants;
    }
    *l2_hit = way > 0 ? way : *l2_hit;
}

/*
 * Where there is no L2 and memory was not measured, the way to it is what the misses of constants
 * or of textures leave, the shorter of both; the network has what DRAM leaves of it.
 */
static void way_of_misses(double *beyond, struct latency_plan *plan, const struct model_text *t)
{
    const struct {
        const char *id;
        double terms;
        uint32_t sector;
    } caches[] = {
        {"constant_l1", plan->constant_address + plan->constant_l1_through,
         t->base->constant_l1.sector_bytes},
        {"texture_l1", plan->texture_address + plan->texture_filter + plan->texture_through,
         t->base->texture_l1.sector_bytes},
    };
    double way = 0;
    for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
        const json_t *cache = saved_cache(t->root, caches[i].id);
        bool is_outermost = i > 0 || !saved_cache(t->root, "constant_l15");
        double taken = is_outermost ? taken_by(plan, t, cache, caches[i].sector, true) : 0;
        double left = taken - caches[i].terms;
        way = left > 0 && (way == 0 || left < way) ? left : way;
    }
    uint32_t asked = way_load_bytes(t->base);
    double memory = way_network_extra(t->base, asked) + way_dram(t, asked);
    if (way <= memory) {
        return;
    }
    *beyond = way + plan->lsu;
    uint32_t left = rest(way, memory);
    plan->dram_fixed = plan->dram_fixed < left ? plan->dram_fixed : left;
    plan->request = (left - plan->dram_fixed) / 2;
    plan->reply = left - plan->dram_fixed - plan->request;
}

void latencies_plan(struct latency_plan *plan, const struct model_text *t)
{
    const struct model *base = t->base;
    *plan = (struct latency_plan){
        .lsu = base->sm.lsu_cycles,
        .request = base->noc.request_cycles,
        .reply = base->noc.reply_cycles,
        .l2_hit = base->l2.hit_cycles,
        .l1_hit = base->l1_data.hit_cycles,
        .l1_through = base->l1_data.miss_cycles + base->l1_data.fill_cycles,
        .dram_fixed = base->dram.fixed_cycles,
        .texture_address = base->sm.texture.address_cycles,
        .texture_filter = base->sm.texture.filter_cycles,
        .texture_fifo = base->texture_l1.hit_cycles,
        .texture_through = base->texture_l1.miss_cycles + base->texture_l1.fill_cycles,
        .constant_address = base->sm.constant.address_cycles,
        .constant_l1_hit = base->constant_l1.hit_cycles,
        .constant_l1_through = base->constant_l1.miss_cycles + base->constant_l1.fill_cycles,
        .constant_l15_hit = base->constant_l15.hit_cycles,
        .constant_l15_return = base->constant_l15_return_cycles,
        .constants_have_second = base->constant_l15.enabled,
        .constant_l15_through = base->constant_l15.miss_cycles + base->constant_l15.fill_cycles,
        .tlb_l1_miss = base->tlb_l1.entries.miss_cycles,
        .tlb_l1_fill = base->tlb_l1.entries.fill_cycles,
        .tlb_l2_hit = base->tlb_l2.entries.hit_cycles,
        .walker = base->walker.latency_cycles,
        .walker_levels = base->walker.levels,
        .window_switch = base->walker.switch_cycles,
    };
    double l2_hit = plan->lsu + plan->request + base->l2.hit_cycles + plan->reply +
                    way_network_extra(base, way_load_bytes(base));
    plan_issue(&plan->issue, t);
    model_parts(&plan->parts, t);
    plan->parts.record_cycles = plan->issue.record_cycles;
    if (!l2_hit_of_loads(&l2_hit, plan, t)) {
        l2_hit_of_misses(&l2_hit, plan, t);
    }
    double timed = l2_hit; /* memory's walks miss translation as those of hits do */
    l2_hit -= translation_of_hits(l2_hit, plan, t);
    lengthen_lsu(plan, t, l2_hit);
    plan_l1(plan, t, l2_hit);
    plan_l2(plan, t, l2_hit);
    plan_memory(plan, t, timed); /* without L2 it is behind what the two leave of the way */
    /* What misses the caches of textures and constants goes where there is no L2 to memory. */
    double beyond = l2_hit;
    if (!way_has_l2(t) && !latency(&beyond, plan, json_object_get(t->root, "memory"), "latency")) {
        way_of_misses(&beyond, plan, t);
    }
    plan_texture(plan, t, beyond);
    plan_texture_in_l1(plan, t);
    plan->lsu_local = path_of(plan, t, "local_l1");
    plan->lsu_readonly = path_of(plan, t, "readonly_l1");
    plan_constants(plan, t, beyond);
    plan_translation(plan, t);
}
