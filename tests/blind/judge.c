/*
 * Scores a dissection. Structure is right when it is exact, a latency within 2 % (a penalty: of the
 * miss's latency), and never more than a cycle is asked for. An attribute that the hierarchy does
 * not have (a cache that loads pass by), or that cannot be told, is right when nothing is given.
 *
 * What can be told follows from the specification: whatever a cache shows of itself to loads, for
 * the drawing puts none behind a larger one. Sets of different ways have no number of ways, but
 * ways_per_set; of policies that a number of ways cannot tell apart, any stands for all.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blind.h"
#include "support/expected_latency.h"
#include "util/glue/json_glue.h"

#define LATENCY_SHARE 0.02

/* A part of the GPU as loads on some path see it. */
struct seen_cache {
    const char *id;
    unsigned owner;
    bool there;
    bool ever_hits; /* nothing is there, but loads behave as if all of them hit a cache */
    const struct cache_spec *spec;
    uint32_t slices;
    const struct index_spec *slice_index;
    double hit_cycles, miss_cycles;
};

double judge_tolerance(double cycles)
{
    return fmax(LATENCY_SHARE * cycles, 1);
}

static void count(struct judge *j, unsigned score, bool given, bool right, bool can_be_told)
{
    struct blind_tally *t = j->tally;
    if (can_be_told) {
        t->right[j->owner][score] += right;
        t->wrong[j->owner][score] += given && !right;
        t->missing[j->owner][score] += !given && !right;
        j->all++;
        j->right += right;
    } else {
        t->told += given && !right;
        t->untold += !given || right;
    }
}

static bool is_to_print(const struct judge *j, bool given, bool right, bool can_be_told)
{
    bool fine = right || (!can_be_told && !given);
    if (!fine || j->loud) {
        printf("%s seed %llu%s: %s.", fine ? "     " : "WRONG", (unsigned long long)j->seed,
               j->noisy ? " (noisy)" : "", blind_owner_name(j->owner));
    }
    return !fine || j->loud;
}

void judge_value(struct judge *j, json_t *owner, unsigned score, double truth, double tolerance,
                 bool can_be_told)
{
    json_t *attribute = json_object_get(owner, blind_score_name(score));
    json_t *value = json_object_get(attribute, "value");
    const char *reason = json_string_value(json_object_get(attribute, "reason"));
    double confidence = json_number_value(json_object_get(attribute, "confidence"));
    bool given = json_is_number(value);
    bool right = given && fabs(json_number_value(value) - truth) <= tolerance;
    count(j, score, given, right, can_be_told);
    if (given) {
        blind_count_given(j->tally, confidence, right);
    }
    if (is_to_print(j, given, right, can_be_told)) {
        printf("%s is %g%s, ", blind_score_name(score), truth, can_be_told ? "" : " (untold)");
        if (given) {
            printf("found %g (confidence %.2f)\n", json_number_value(value), confidence);
        } else {
            printf("not measured: %s\n", reason ? reason : "?");
        }
    }
}

void judge_other(struct judge *j, unsigned score, double confidence, bool right, bool can_be_told,
                 const char *truth, const char *found)
{
    bool given = confidence >= 0, numbered = confidence < JUDGE_NO_NUMBER;
    count(j, score, given, right, can_be_told);
    if (given && numbered) {
        blind_count_given(j->tally, confidence, right);
    }
    if (is_to_print(j, given, right, can_be_told)) {
        printf("%s is %s%s, ", blind_score_name(score), truth, can_be_told ? "" : " (untold)");
        if (given && numbered) {
            printf("found %s (confidence %.2f)\n", found, confidence);
        } else if (given) {
            printf("found %s\n", found);
        } else {
            printf("not measured: %s\n", found);
        }
    }
}

static void judge_structure(struct judge *j, json_t *cache, const struct seen_cache *seen)
{
    const struct cache_spec *spec = seen->spec;
    bool unequal = truth_unequal(spec);
    double size = (double)truth_lines(spec) * spec->line_bytes * seen->slices;
    judge_value(j, cache, SCORE_fetch_granularity, spec->sector_bytes, 0, seen->there);
    judge_value(j, cache, SCORE_line, spec->line_bytes, 0, seen->there);
    judge_value(j, cache, SCORE_size, size, 0, seen->there);
    judge_value(j, cache, SCORE_sets, (double)spec->sets * seen->slices, 0, seen->there);
    judge_value(j, cache, SCORE_ways, unequal ? NAN : spec->ways, 0, seen->there && !unequal);
    if (unequal) {
        judge_ways(j, cache, SCORE_ways_per_set, spec, seen->there);
    }
    judge_index(j, cache, spec, seen->slices, seen->slice_index, seen->there);
    judge_policy(j, cache, spec, seen->there);
}

static void judge_cache(struct judge *j, const struct seen_cache *seen, json_t *root)
{
    json_t *cache = json_find_id(json_object_get(root, "caches"), seen->id);
    json_t *present = json_object_get(cache, "present");
    bool right = present && json_is_true(present) == seen->there;
    j->owner = seen->owner;
    judge_other(j, SCORE_present, -1, right, !seen->ever_hits, seen->there ? "true" : "false",
                !present      ? "nothing is said"
                : right       ? ""
                : seen->there ? "absent"
                              : "present");
    if (!seen->there && !json_is_true(present)) {
        return; /* nothing is given of it, and nothing is right */
    }
    judge_structure(j, cache, seen);
    judge_value(j, cache, SCORE_hit_latency, seen->hit_cycles + j->added_cycles,
                judge_tolerance(seen->hit_cycles), seen->there);
    judge_value(j, cache, SCORE_miss_penalty, seen->miss_cycles - seen->hit_cycles,
                judge_tolerance(seen->miss_cycles), seen->there);
}

/* ---- the paths ---- */

static struct seen_cache see_l1(const struct model *model, const char *id, unsigned owner,
                                bool there)
{
    return (struct seen_cache){.id = id,
                               .owner = owner,
                               .there = there && model->l1_data.enabled,
                               .spec = &model->l1_data,
                               .slices = 1,
                               .hit_cycles = l1_hit_cycles(model),
                               .miss_cycles = l1_miss_cycles(model)};
}

static struct seen_cache see_texture(const struct model *model, const char *id, unsigned owner)
{
    const struct cache_spec *spec = &model->texture_l1;
    double around = model->sm.texture.address_cycles + model->sm.texture.filter_cycles;
    return (struct seen_cache){.id = id,
                               .owner = owner,
                               .there = spec->enabled,
                               .spec = spec,
                               .slices = 1,
                               .hit_cycles = around + spec->hit_cycles,
                               .miss_cycles = around + spec->miss_cycles +
                                              l2_way_cycles(model, spec->sector_bytes) +
                                              spec->fill_cycles};
}

static void judge_texture(struct judge *j, const struct model *model, json_t *root)
{
    struct seen_cache texture = see_texture(model, "texture_l1", OWNER_texture_l1);
    struct seen_cache readonly =
        model->sm.readonly == READONLY_TEXTURE
            ? see_texture(model, "readonly_l1", OWNER_readonly_l1)
            : see_l1(model, "readonly_l1", OWNER_readonly_l1,
                     model->sm.l1_caches_global || model->sm.readonly == READONLY_L1);
    judge_cache(j, &texture, root);
    judge_cache(j, &readonly, root);
}

static void judge_constants(struct judge *j, const struct model *model, json_t *root)
{
    const struct cache_spec *l1 = &model->constant_l1, *l15 = &model->constant_l15;
    double before = model->sm.constant.address_cycles;
    double past = before + l1->miss_cycles + l1->fill_cycles; /* of what misses the first */
    double way = l2_way_cycles(model, l15->enabled ? l15->sector_bytes : l1->sector_bytes);
    struct seen_cache first = {.id = "constant_l1",
                               .owner = OWNER_constant_l1,
                               .there = l1->enabled,
                               .ever_hits = !l1->enabled,
                               .spec = l1,
                               .slices = 1,
                               .hit_cycles = l1->enabled ? before + l1->hit_cycles
                                                         : model->sm.const_hit_cycles,
                               .miss_cycles = past + (l15->enabled ? l15->hit_cycles : way)};
    struct seen_cache second = {.id = "constant_l15",
                                .owner = OWNER_constant_l15,
                                .there = l15->enabled,
                                .spec = l15,
                                .slices = 1,
                                .hit_cycles = past + l15->hit_cycles,
                                .miss_cycles = past + l15->miss_cycles + way + l15->fill_cycles};
    judge_cache(j, &first, root);
    judge_cache(j, &second, root);
}

static void judge_l2(struct judge *j, const struct model *model, json_t *root)
{
    double miss = memory_cycles(model);
    struct seen_cache l2 = {.id = "l2",
                            .owner = OWNER_l2,
                            .there = true,
                            .spec = &model->l2,
                            .slices = model->l2_slices,
                            .slice_index = &model->l2_slice_index,
                            .hit_cycles = l2_hit_cycles(model),
                            .miss_cycles = miss};
    judge_cache(j, &l2, root);
    j->owner = OWNER_memory;
    judge_value(j, json_object_get(root, "memory"), SCORE_latency, miss + j->added_cycles,
                judge_tolerance(miss), true);
}

void blind_judge(struct blind_tally *tally, const struct blind_hierarchy *hierarchy,
                 const struct blind_noise *noise, json_t *dissection, uint64_t seed, bool loud)
{
    const struct model *model = hierarchy->model;
    struct judge j = {.tally = tally,
                      .seed = seed,
                      .noisy = noise != NULL,
                      .loud = loud,
                      .page_bytes = model->vm.page_bytes};
    /* Of u^3 for u in [0, 1) the median is 1/8 and the mean 1/4. */
    j.added_cycles = noise ? noise->jitter_cycles / 8 : 0;
    j.added_to_sums = noise ? noise->jitter_cycles / 4 : 0;
    struct seen_cache l1 = see_l1(model, "l1_data", OWNER_l1_data, model->sm.l1_caches_global);
    judge_cache(&j, &l1, dissection);
    judge_texture(&j, model, dissection);
    judge_constants(&j, model, dissection);
    judge_l2(&j, model, dissection);
    judge_tlbs(&j, model, dissection);
    judge_shared(&j, model, dissection);
    tally->whole_trials += j.right == j.all;
    tally->square_all += j.all * j.all;
    tally->square_right += j.right * j.right;
    tally->cross += j.all * j.right;
}
