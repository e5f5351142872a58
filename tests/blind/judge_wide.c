/*
 * Scores a dissection of any machine. What can be told follows from the model file: what an
 * observer could find out who times whatever loads, of any addresses and any SMs, as often as he
 * likes. An attribute that follows from another one is scored once: of paths that go through one
 * cache the first, of a TLB the entries and not the coverage.
 *
 * Left out: the set index of caches that the file hashes, and of those whose sets together reach
 * over more than half a page of 2 MiB, for truth.c has no words for them; latencies of a network of
 * flits, which follow from no sum.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blind.h"
#include "blind_wide.h"
#include "support/expected_latency.h"
#include "util/glue/json_glue.h"

struct wide {
    struct judge judge;
    const struct blind_noise *noise; /* NULL: none */
    const struct model *model;
    json_t *root;
    struct cache_spec l1; /* as carved */
    bool flits;
};

struct seen {
    const char *id;
    unsigned owner;
    const struct cache_spec *spec;
    uint32_t slices, count; /* count: of such caches; 0: nobody can tell */
    double hit, miss, hit_spread, miss_spread;
    bool coarse; /* only every 128th byte is reached: no line, no sets, no index */
};

static double number(json_t *owner, const char *name)
{
    return json_number_value(json_object_get(json_object_get(owner, name), "value"));
}

/* The median of loads that take so long without noise. */
static double heard(const struct wide *w, double cycles)
{
    return w->noise ? cycles + blind_noise_median(w->noise, cycles) : cycles;
}

/* The division of L1 and shared memory that holds what the dissection asked for. */
static void carve(struct wide *w)
{
    const struct carveout_spec *carveout = &w->model->carveout;
    double asked =
        number(json_find_id(json_object_get(w->root, "caches"), "l1_data"), "carveout_shared");
    uint32_t best = carveout->initial;
    uint64_t shared;
    w->l1 = w->model->l1_data;
    for (uint32_t i = 0; carveout->follows_preference && i < carveout->count; i++) {
        uint64_t bytes = carveout->choice[i].shared_bytes;
        bool holds = (double)carveout->choice[best].shared_bytes >= asked;
        if ((double)bytes >= asked && (!holds || bytes < carveout->choice[best].shared_bytes)) {
            best = i;
        }
    }
    if (carveout->count) {
        model_carve(&w->l1, &shared, w->model, best);
    }
}

static bool index_can_be_told(const struct seen *s, const struct model *model)
{
    bool is_l2 = s->owner == OWNER_l2;
    uint64_t reach = (uint64_t)s->spec->sets * s->slices * s->spec->line_bytes;
    return s->spec->index.kind != INDEX_HASH && reach <= UINT64_C(1) << 20 &&
           !(is_l2 && (model->l2_parts.count > 1 || model->l2_slice_index.kind == INDEX_HASH));
}

static void judge_structure(struct wide *w, json_t *cache, const struct seen *s)
{
    struct judge *j = &w->judge;
    const struct cache_spec *spec = s->spec;
    bool unequal = truth_unequal(spec), fine = !s->coarse;
    const struct index_spec *slice = s->slices > 1 ? &w->model->l2_slice_index : NULL;
    double sets = (double)truth_reached_sets(spec, s->slices, slice);
    double share = sets / ((double)spec->sets * s->slices);
    double size = (double)truth_lines(spec) * spec->line_bytes * s->slices * share;
    /* Where data are less than the tags reach, either is the size. */
    double found = number(cache, "size"), data = (double)spec->data_bytes;
    judge_value(j, cache, SCORE_size, data > 0 && found == data ? data : size, 0, true);
    judge_value(j, cache, SCORE_ways, unequal ? NAN : spec->ways, 0, !unequal);
    if (fine) {
        judge_value(j, cache, SCORE_fetch_granularity, spec->sector_bytes, 0, true);
        judge_value(j, cache, SCORE_line, spec->line_bytes, 0, true);
        judge_value(j, cache, SCORE_sets, sets, 0, true);
    }
    if (unequal) {
        judge_ways(j, cache, SCORE_ways_per_set, spec, true);
    }
    if (fine && index_can_be_told(s, w->model)) {
        judge_index(j, cache, spec, s->slices, slice, true);
    }
    judge_policy(j, cache, spec, true);
}

static void judge_cache(struct wide *w, const struct seen *s)
{
    struct judge *j = &w->judge;
    json_t *cache = json_find_id(json_object_get(w->root, "caches"), s->id);
    bool there = s->spec->enabled, said = json_is_true(json_object_get(cache, "present"));
    const char *status = json_string_value(json_object_get(cache, "status"));
    bool absent = cache && !said && status && strcmp(status, "absent") == 0;
    j->owner = s->owner;
    /* What is not measured is neither. */
    judge_other(j, SCORE_present, said || absent ? JUDGE_NO_NUMBER : -1, there ? said : absent,
                true, there ? "true" : "false",
                said     ? "present"
                : absent ? "absent"
                         : "not measured");
    if (!there && !said) {
        return;
    }
    judge_structure(w, cache, s);
    if (!w->flits) {
        /* Noise that comes with slow loads alone may come with the farthest hits and not with
         * others. */
        double low = heard(w, s->hit - s->hit_spread), high = heard(w, s->hit + s->hit_spread);
        judge_value(j, cache, SCORE_hit_latency, (low + high) / 2,
                    judge_tolerance(s->hit) + (high - low) / 2, there);
        judge_value(j, cache, SCORE_miss_penalty, heard(w, s->miss) - heard(w, s->hit),
                    judge_tolerance(s->miss) + s->hit_spread + s->miss_spread, there);
    }
    if (s->count) {
        judge_value(j, cache, SCORE_count, s->count, 0, there);
    }
}

static void judge_sharing(struct wide *w, const char *id, unsigned owner, bool there,
                          const char *with)
{
    json_t *cache = json_find_id(json_object_get(w->root, "caches"), id);
    json_t *list = json_object_get(cache, "shared_with"), *each;
    bool found = false;
    size_t i;
    if (!there) {
        return;
    }
    json_array_foreach(list, i, each)
    {
        const char *name = json_string_value(each);
        found = found || (name && with && strcmp(name, with) == 0);
    }
    bool given = json_is_array(list);
    bool right = with ? found : json_array_size(list) == 0;
    w->judge.owner = owner;
    judge_other(&w->judge, SCORE_shared_with, given ? JUDGE_NO_NUMBER : -1, given && right, true,
                with ? with : "nothing", given ? (right ? "" : "others") : "nothing said");
}

/* ---- the paths ---- */

/* What lies behind the caches in front of L2, from their side: L2, or memory where there is none.
 */
static double way_behind(const struct model *model, uint32_t bytes)
{
    return model->l2.enabled ? l2_way_cycles(model, bytes)
                             : network_cycles(model, bytes) + dram_cycles(model, bytes);
}

/* Between two loads of a walk: what timing one takes where a scheduler issues one at a time. */
static double issue_spread(const struct model *model)
{
    return model->sm.issue_per_scheduler > 1 ? 0 : 2.0 * model->sm.issue_interval;
}

/* From the nearest slice of the own part to the farthest of another. */
static double slice_spread(const struct model *model)
{
    double most = 0;
    for (uint32_t i = 0; i < model->l2_parts.slice_cycles.count; i++) {
        most = fmax(most, model->l2_parts.slice_cycles.number[i]);
    }
    return most + (model->l2_parts.count > 1
                       ? 2.0 * model->l2_parts.crossing_cycles + model->l2_parts.copy_cycles
                       : 0);
}

/* Of a bank with a row open, which may have to be closed, or is the right one. */
static double memory_spread(const struct model *model)
{
    const struct dram_spec *dram = &model->dram;
    double clocks = dram->t_rp + dram->t_rcd;
    return dram->closed_page ? 0 : clocks * (double)dram->period_ps / (double)model->core_period_ps;
}

static void judge_l1(struct wide *w)
{
    const struct model *model = w->model;
    bool global = model->sm.l1_caches_global && w->l1.enabled;
    double spread = issue_spread(model);
    struct cache_spec none = {.enabled = false}, l1 = w->l1;
    uint32_t bytes = model->l1_data.sector_bytes;
    struct seen data = {.id = "l1_data",
                        .owner = OWNER_l1_data,
                        .slices = 1,
                        .count = model->sms,
                        .spec = global ? &l1 : &none,
                        .hit = l1_hit_cycles(model),
                        .miss = l1_miss_cycles(model) - l2_way_cycles(model, bytes) +
                                way_behind(model, bytes),
                        .hit_spread = spread,
                        .miss_spread = slice_spread(model)};
    judge_cache(w, &data);
    if (!global) {
        struct seen local = data;
        local.id = "local_l1";
        local.owner = OWNER_local_l1;
        local.spec = &l1;
        local.count = 0;
        local.coarse = true;
        local.hit += model->sm.lsu_local_cycles
                         ? (double)model->sm.lsu_local_cycles - model->sm.lsu_cycles
                         : 0;
        judge_cache(w, &local);
    }
    judge_sharing(w, "local_l1", OWNER_local_l1, w->l1.enabled, global ? "l1_data" : NULL);
}

static void judge_texture(struct wide *w)
{
    const struct model *model = w->model;
    uint32_t bytes = model->texture_l1.sector_bytes;
    double missing = way_behind(model, bytes) - l2_way_cycles(model, bytes);
    struct seen texture = {.id = "texture_l1",
                           .owner = OWNER_texture_l1,
                           .slices = 1,
                           .count = model->sms,
                           .spec = &model->texture_l1,
                           .hit = texture_hit_cycles(model),
                           .miss = texture_miss_cycles(model) + missing,
                           .hit_spread = issue_spread(model),
                           .miss_spread = slice_spread(model)};
    bool new_enough = model->driver.compute_major > 3 ||
                      (model->driver.compute_major == 3 && model->driver.compute_minor >= 2);
    bool global = model->sm.l1_caches_global && w->l1.enabled;
    const char *of = model->sm.readonly == READONLY_TEXTURE && model->texture_l1.enabled
                         ? "texture_l1"
                     : model->sm.readonly == READONLY_L1 && global ? "l1_data"
                                                                   : NULL;
    if (!model->sm.texture.by_l1) {
        judge_cache(w, &texture);
    }
    judge_sharing(w, "readonly_l1", OWNER_readonly_l1, new_enough && of, of);
}

static void judge_constants(struct wide *w)
{
    const struct model *model = w->model;
    const struct cache_spec *l1 = &model->constant_l1, *l15 = &model->constant_l15;
    double past = model->sm.constant.address_cycles + l1->miss_cycles + l1->fill_cycles;
    uint32_t bytes = l15->enabled ? l15->sector_bytes : l1->sector_bytes;
    bool of_cluster = l15->enabled && model->constant_l15_scope == TLB_PER_CLUSTER;
    /* What a cluster's cache fetches takes nothing of an SM's port for replies (gpu/constants.c).
     */
    double way = way_behind(model, bytes) - (of_cluster ? reply_port_cycles(model, bytes) : 0);
    double back = of_cluster ? model->constant_l15_return_cycles : 0, spread = issue_spread(model);
    struct seen first = {.id = "constant_l1",
                         .owner = OWNER_constant_l1,
                         .spec = l1,
                         .slices = 1,
                         .count = model->sms,
                         .hit = constant_hit_cycles(model),
                         .miss = past + (l15->enabled ? l15->hit_cycles + back : way),
                         .hit_spread = spread,
                         .miss_spread = l15->enabled ? 0 : slice_spread(model)};
    struct seen second = {.id = "constant_l15",
                          .owner = OWNER_constant_l15,
                          .spec = l15,
                          .slices = 1,
                          .count = of_cluster ? model->clusters : model->sms,
                          .hit = past + l15->hit_cycles + back,
                          .miss = past + l15->miss_cycles + way + l15->fill_cycles + back,
                          .hit_spread = spread,
                          .miss_spread = slice_spread(model)};
    if (l1->enabled) { /* else all loads of constants take as long as if they hit */
        judge_cache(w, &first);
        judge_cache(w, &second);
    }
}

static void judge_l2(struct wide *w)
{
    const struct model *model = w->model;
    double spread = slice_spread(model) / 2;
    struct seen l2 = {.id = "l2",
                      .owner = OWNER_l2,
                      .spec = &model->l2,
                      .slices = model->l2_slices / model->l2_parts.count,
                      .count = model->l2_parts.count,
                      .hit = l2_hit_cycles(model) + spread,
                      .miss = memory_cycles(model) + spread,
                      .hit_spread = spread + issue_spread(model),
                      .miss_spread = memory_spread(model)};
    judge_cache(w, &l2);
    w->judge.owner = OWNER_memory;
    if (!w->flits) {
        judge_value(&w->judge, json_object_get(w->root, "memory"), SCORE_latency, heard(w, l2.miss),
                    judge_tolerance(l2.miss) + l2.hit_spread + l2.miss_spread, true);
    }
}

/* ---- translation ---- */

static void judge_tlb(struct wide *w, const char *id, unsigned owner, const struct tlb_spec *of,
                      double least, double most)
{
    static const char *const scopes[] = {"sm", "cluster", "gpu"};
    struct judge *j = &w->judge;
    const struct cache_spec *spec = of ? &of->entries : NULL;
    json_t *tlb = json_find_id(json_object_get(w->root, "tlbs"), id);
    bool there = of != NULL, said = json_is_true(json_object_get(tlb, "present"));
    const char *scope = json_string_value(json_object_get(tlb, "scope"));
    j->owner = owner;
    /* Nothing is said of one that no walk reached: that is no absence. */
    bool absent = !there && w->root && !said;
    judge_other(j, SCORE_present, said || absent ? JUDGE_NO_NUMBER : -1, there ? said : absent,
                true, there ? "true" : "false",
                said     ? "present"
                : absent ? "absent"
                         : "not measured");
    if (!there && !said) {
        return;
    }
    struct cache_spec none = {0};
    double entries = there ? (double)truth_lines(spec) : NAN;
    judge_value(j, tlb, SCORE_page, there ? spec->line_bytes : NAN, 0, there);
    judge_value(j, tlb, SCORE_entries, entries, 0, there);
    judge_value(j, tlb, SCORE_sets, there ? spec->sets : NAN, 0, there);
    /* Noise that comes with slow loads alone may come with the dearest walks and not with others.
     */
    double hit = l2_hit_cycles(w->model);
    double low = heard(w, hit + least) - heard(w, hit), high = heard(w, hit + most) - heard(w, hit);
    low = w->flits ? fmin(low, least) : low; /* how slow a hit is is not known */
    judge_value(j, tlb, SCORE_miss_penalty, there ? (low + high) / 2 : NAN,
                judge_tolerance((low + high) / 2) + (high - low) / 2 + 0.02 * hit, there);
    if (!there) {
        return;
    }
    judge_ways(j, tlb, SCORE_entries_per_set, spec ? spec : &none, true);
    judge_policy(j, tlb, spec, true);
    bool alone = w->model->sms == 1, whole = w->model->clusters == 1;
    bool alike = scope && (strcmp(scope, scopes[of->scope]) == 0 || alone ||
                           (whole && strcmp(scope, "sm") != 0 && of->scope != TLB_PER_SM));
    judge_other(j, SCORE_scope, scope ? JUDGE_NO_NUMBER : -1, alike, !alone, scopes[of->scope],
                scope ? scope : "nothing said");
}

/* With one TLB, whichever it is, that is the first. */
static void judge_translation(struct wide *w)
{
    const struct model *model = w->model;
    const struct tlb_spec *first = model->tlb_l1.entries.enabled ? &model->tlb_l1 : NULL;
    const struct tlb_spec *second = model->tlb_l2.entries.enabled ? &model->tlb_l2 : NULL;
    first = first ? first : second;
    second = first == second ? NULL : second;
    double reads = model->walker.levels, walk = model->walker.latency_cycles;
    double least = walk + reads * model->l2.hit_cycles;
    double most = walk +
                  reads * (model->l2.miss_cycles + dram_cycles(model, 32) + model->l2.fill_cycles +
                           memory_spread(model) + slice_spread(model)) +
                  (model->walker.window_bytes ? model->walker.switch_cycles : 0);
    double own = first ? first->entries.miss_cycles + first->entries.fill_cycles : 0;
    double hit = second ? second->entries.hit_cycles : 0;
    double more = second ? second->entries.miss_cycles + second->entries.fill_cycles - hit : 0;
    judge_tlb(w, "l1_tlb", OWNER_l1_tlb, first, own + (second ? hit : least),
              own + (second ? hit : most));
    judge_tlb(w, "l2_tlb", OWNER_l2_tlb, second, more + least, more + most);
}

/* ---- loads in flight ---- */

/*
 * A structure shows if what fills it leaves in less than a round trip: the last answer of those
 * before is then awaited.
 */
static void judge_outstanding(struct wide *w)
{
    const struct model *model = w->model;
    json_t *o = json_object_get(w->root, "outstanding");
    const struct cache_spec *l1 = &w->l1;
    bool global = model->sm.l1_caches_global && l1->enabled;
    bool pending = model->sm.pending.kind != PENDING_NONE;
    bool prt = model->sm.pending.kind == PENDING_PRT;
    /* Full warps fill a table of misses first, lone lanes one of instructions. */
    bool table = global && l1->mshr_entries < 1024 &&
                 (!pending || l1->mshr_entries < model->sm.pending.entries);
    pending = pending && !table;
    double round = global ? l1_miss_cycles(model) : l2_hit_cycles(model);
    double turn = fmax(1, (double)model->sm.lanes.request_cycles / model->sm.lanes.parallel);
    double entries = pending ? model->sm.pending.entries : l1->mshr_entries;
    uint32_t own = model->sm.loads_per_warp;
    bool shows = (table || pending) && entries * fmax(turn, prt ? 2.5 : 1) < 0.95 * round &&
                 !(global && pending && l1->mshr_entries < (prt ? 32 * entries : entries));
    const char *truth = table ? "mshr" : !pending ? "" : prt ? "prt" : "request_limit";
    const char *structure = json_string_value(json_object_get(o, "structure"));
    bool given = structure && strcmp(structure, "unknown") != 0;
    w->judge.owner = OWNER_outstanding;
    judge_other(&w->judge, SCORE_structure,
                given ? json_number_value(json_object_get(o, "confidence")) : -1,
                given && strcmp(structure, truth) == 0, shows, truth,
                given ? structure : "unknown");
    judge_value(&w->judge, o, SCORE_entries, table || pending ? entries : NAN, 0, shows);
    if (table && shows) {
        judge_value(&w->judge, o, SCORE_mergers, l1->mshr_mergers, 0, true);
    }
    judge_value(&w->judge, o, SCORE_loads_per_warp, own > 0 ? own : NAN, 0,
                own > 0 && own < 12 && (!shows || entries > 2 * own));
}

void blind_judge_wide(struct blind_tally *tally, const struct blind_hierarchy *hierarchy,
                      const struct blind_noise *noise, json_t *dissection, uint64_t seed, bool loud)
{
    struct wide w = {.model = hierarchy->model, .root = dissection, .noise = noise};
    struct judge *j = &w.judge;
    *j = (struct judge){.tally = tally,
                        .seed = seed,
                        .noisy = noise != NULL,
                        .loud = loud,
                        .page_bytes = w.model->vm.page_bytes};
    j->added_to_sums =
        noise ? noise->jitter_cycles / 4 + noise->hump_share * noise->hump_cycles : 0;
    w.flits = w.model->noc.kind == NOC_FLITS;
    carve(&w);
    judge_l1(&w);
    judge_texture(&w);
    judge_constants(&w);
    judge_l2(&w);
    judge_translation(&w);
    if (w.model->sm.issue_interval == 1) { /* else a conflict's turns follow from no sum */
        judge_shared(j, w.model, dissection);
    }
    judge_outstanding(&w);
    tally->whole_trials += j->right == j->all;
    tally->square_all += j->all * j->all;
    tally->square_right += j->right * j->right;
    tally->cross += j->all * j->right;
}
