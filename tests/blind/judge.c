/*
 * Scores a dissection. Structure is right when it is exact, a latency within 2 % (a penalty: of the
 * miss's latency), and never more than a cycle is asked for. An attribute that the hierarchy does
 * not have (a cache that loads pass by), or that cannot be told, is right when nothing is given.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blind.h"
#include "support/expected_latency.h"

#define LATENCY_SHARE 0.02
#define SURE 0.9

const double blind_bin_edges[BLIND_BINS + 1] = {0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0001};

struct judge {
    struct blind_tally *tally;
    uint64_t seed;
    bool noisy, loud;
    double added_cycles; /* what noise adds to the median */
    const char *owner;
};

static size_t bin_of(double confidence)
{
    size_t bin = 0;
    while (bin + 1 < BLIND_BINS && confidence >= blind_bin_edges[bin + 1]) {
        bin++;
    }
    return bin;
}

static void count_given(struct blind_tally *t, double confidence, bool right)
{
    t->bin_given[bin_of(confidence)]++;
    t->bin_right[bin_of(confidence)] += right;
    t->sure += confidence > SURE;
    t->surely_wrong += confidence > SURE && !right;
}

static void report(const struct judge *j, const char *name, double truth, bool identifiable,
                   json_t *attribute, bool right)
{
    json_t *value = json_object_get(attribute, "value");
    const char *reason = json_string_value(json_object_get(attribute, "reason"));
    bool fine = right || (!identifiable && !value);
    if (fine && !j->loud) {
        return;
    }
    printf("%s seed %llu%s: %s.%s is %g%s", fine ? "     " : "WRONG", (unsigned long long)j->seed,
           j->noisy ? " (noisy)" : "", j->owner, name, truth, identifiable ? "" : " (untold)");
    if (value) {
        printf(", found %g (confidence %.2f)\n", json_number_value(value),
               json_number_value(json_object_get(attribute, "confidence")));
    } else {
        printf(", not measured: %s\n", reason ? reason : "?");
    }
}

static void judge_value(const struct judge *j, json_t *owner, const char *name, double truth,
                        double tolerance, bool identifiable)
{
    struct blind_tally *t = j->tally;
    json_t *attribute = json_object_get(owner, name);
    json_t *value = json_object_get(attribute, "value");
    bool given = json_is_number(value);
    bool right = given && fabs(json_number_value(value) - truth) <= tolerance;
    if (identifiable) {
        t->right += right;
        t->wrong += given && !right;
        t->missing += !given;
    } else {
        t->told += given && !right;
        t->untold += !given || right;
    }
    if (given) {
        count_given(t, json_number_value(json_object_get(attribute, "confidence")), right);
    }
    report(j, name, truth, identifiable, attribute, right);
}

static json_t *find_cache(json_t *root, const char *id)
{
    size_t i;
    json_t *cache;
    json_array_foreach(json_object_get(root, "caches"), i, cache)
    {
        const char *name = json_string_value(json_object_get(cache, "id"));
        if (name && strcmp(name, id) == 0) {
            return cache;
        }
    }
    return NULL;
}

static double tolerance_of(double cycles)
{
    return fmax(LATENCY_SHARE * cycles, 1);
}

static void judge_structure(const struct judge *j, json_t *cache, const struct cache_spec *spec,
                            uint32_t slices, bool regular, bool there)
{
    judge_value(j, cache, "fetch_granularity", spec->sector_bytes, 0, there);
    judge_value(j, cache, "line", spec->line_bytes, 0, there && regular);
    judge_value(j, cache, "size", (double)spec->size_bytes * slices, 0, there && regular);
    judge_value(j, cache, "sets", (double)spec->sets * slices, 0, there && regular);
    judge_value(j, cache, "ways", spec->ways, 0, there && regular);
}

static void judge_latencies(const struct judge *j, json_t *cache, double hit, double miss,
                            bool there)
{
    double added = j->added_cycles;
    judge_value(j, cache, "hit_latency", hit + added, tolerance_of(hit), there);
    judge_value(j, cache, "miss_penalty", miss - hit, tolerance_of(miss), there);
}

static void judge_l1(struct judge *j, const struct blind_hierarchy *h, json_t *root)
{
    const struct model *model = h->model;
    bool there = model->sm.l1_caches_global;
    json_t *cache = find_cache(root, "l1_data");
    bool right = json_is_true(json_object_get(cache, "present")) == there;
    j->owner = "l1_data";
    j->tally->right += right;
    j->tally->wrong += !right;
    if (!right) {
        printf("WRONG seed %llu: l1_data.present is %d\n", (unsigned long long)j->seed, there);
    }
    judge_structure(j, cache, &model->l1_data, 1, h->l1_regular, there);
    judge_latencies(j, cache, l1_hit_cycles(model), l1_miss_cycles(model), there);
}

static void judge_l2(struct judge *j, const struct blind_hierarchy *h, json_t *root)
{
    const struct model *model = h->model;
    json_t *cache = find_cache(root, "l2");
    double miss = memory_cycles(model);
    j->owner = "l2";
    judge_structure(j, cache, &model->l2, model->l2_slices, h->l2_regular, true);
    judge_latencies(j, cache, l2_hit_cycles(model), miss, true);
    j->owner = "memory";
    judge_value(j, json_object_get(root, "memory"), "latency", miss + j->added_cycles,
                tolerance_of(miss), true);
}

void blind_judge(struct blind_tally *tally, const struct blind_hierarchy *hierarchy,
                 const struct blind_noise *noise, json_t *dissection, uint64_t seed, bool loud)
{
    struct judge judge = {.tally = tally, .seed = seed, .noisy = noise != NULL, .loud = loud};
    /* The median of u^3 for u in [0, 1) is 1/8. */
    judge.added_cycles = noise ? noise->jitter_cycles / 8 : 0;
    judge_l1(&judge, hierarchy, dissection);
    judge_l2(&judge, hierarchy, dissection);
}

void blind_add(struct blind_tally *sum, const struct blind_tally *more)
{
    const uint64_t *from = (const uint64_t *)more;
    uint64_t *to = (uint64_t *)sum;
    for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++) {
        to[i] += from[i];
    }
}
