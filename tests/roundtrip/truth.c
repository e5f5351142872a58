/*
 * truth MODEL FILE.json: holds a dissection against the model it was made of. What is expected is
 * computed from the model file, part by part along a load's way, and from nothing that was
 * measured. Structure must be exact and latencies right within a few cycles; "not measured" is
 * accepted only where the model has no such number (unequal sets, a cache that global loads do not
 * use).
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "support/expected_latency.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

#define HIT_TOLERANCE_CYCLES 3  /* of the issue that this tests */
#define MISS_TOLERANCE_CYCLES 5 /* DRAM's clock is another: roundings */

struct check {
    const struct model *model;
    const char *file;
    json_t *root;
    int failures;
};

/* ---- the dissection against it ---- */

static json_t *find_cache(json_t *root, const char *id)
{
    return json_find_id(json_object_get(root, "caches"), id);
}

static bool is_measured(json_t *attribute)
{
    return json_is_number(json_object_get(attribute, "value"));
}

static void expect(struct check *check, json_t *owner, const char *owner_name, const char *name,
                   double expected, double tolerance)
{
    json_t *attribute = json_object_get(owner, name);
    double value = json_number_value(json_object_get(attribute, "value"));
    if (!is_measured(attribute)) {
        printf("%s: %s.%s: not measured (%s), the model says %g\n", check->file, owner_name, name,
               json_string_value(json_object_get(attribute, "reason")), expected);
    } else if (!(fabs(value - expected) <= tolerance)) {
        printf("%s: %s.%s: %.17g, the model says %g (within %g)\n", check->file, owner_name, name,
               value, expected, tolerance);
    } else {
        return;
    }
    check->failures++;
}

static void expect_not_measured(struct check *check, json_t *owner, const char *owner_name,
                                const char *name)
{
    if (is_measured(json_object_get(owner, name))) {
        printf("%s: %s.%s: measured, and the model has no such number\n", check->file, owner_name,
               name);
        check->failures++;
    }
}

static uint64_t cache_lines(const struct cache_spec *spec)
{
    uint64_t lines = spec->unequal_count ? 0 : (uint64_t)spec->sets * spec->ways;
    for (uint32_t set = 0; set < spec->unequal_count; set++) {
        lines += spec->ways_per_set[set];
    }
    return lines;
}

/* As many sets of each number of ways, in whatever order. */
static void expect_ways_per_set(struct check *check, json_t *cache, const char *id,
                                const struct cache_spec *spec, uint32_t slices)
{
    json_t *list = json_object_get(cache, "ways_per_set");
    bool right = json_array_size(list) == (size_t)spec->unequal_count * slices;
    for (uint32_t set = 0; right && set < spec->unequal_count; set++) {
        size_t there = 0, found = 0, i;
        json_t *ways;
        for (uint32_t other = 0; other < spec->unequal_count; other++) {
            there += spec->ways_per_set[other] == spec->ways_per_set[set];
        }
        json_array_foreach(list, i, ways)
        {
            found += json_integer_value(ways) == spec->ways_per_set[set];
        }
        right = found == there * slices;
    }
    if (!right) {
        printf("%s: %s.ways_per_set: not those of the model\n", check->file, id);
        check->failures++;
    }
}

static void check_structure(struct check *check, json_t *cache, const char *id,
                            const struct cache_spec *spec, uint32_t slices)
{
    expect(check, cache, id, "size", (double)(slices * cache_lines(spec) * spec->line_bytes), 0);
    expect(check, cache, id, "line", spec->line_bytes, 0);
    expect(check, cache, id, "fetch_granularity", spec->sector_bytes, 0);
    expect(check, cache, id, "sets", (double)spec->sets * slices, 0);
    if (spec->unequal_count) {
        expect_not_measured(check, cache, id, "ways");
        expect_ways_per_set(check, cache, id, spec, slices);
    } else {
        expect(check, cache, id, "ways", spec->ways, 0);
    }
}

/* The division of L1 and shared memory that holds what the dissection says it asked for. */
static void carve(struct cache_spec *l1, const struct check *check, json_t *cache)
{
    const struct carveout_spec *carveout = &check->model->carveout;
    double asked =
        json_number_value(json_object_get(json_object_get(cache, "carveout_shared"), "value"));
    *l1 = check->model->l1_data;
    uint32_t best = carveout->initial;
    if (carveout->count == 0) {
        return;
    }
    for (uint32_t i = 0; carveout->follows_preference && i < carveout->count; i++) {
        uint64_t shared = carveout->choice[i].shared_bytes;
        bool holds_best = (double)carveout->choice[best].shared_bytes >= asked;
        if ((double)shared >= asked &&
            (!holds_best || shared < carveout->choice[best].shared_bytes)) {
            best = i;
        }
    }
    uint64_t shared_bytes;
    model_carve(l1, &shared_bytes, check->model, best);
}

static void check_presence(struct check *check, json_t *cache, const char *id, bool there)
{
    if (json_is_true(json_object_get(cache, "present")) != there) {
        printf("%s: %s.present is wrong\n", check->file, id);
        check->failures++;
    }
}

static void expect_nothing(struct check *check, json_t *cache, const char *id)
{
    static const char *const attributes[] = {
        "size", "line", "sets", "ways", "fetch_granularity", "hit_latency", "miss_penalty"};
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        expect_not_measured(check, cache, id, attributes[i]);
    }
}

static void check_latencies(struct check *check, json_t *cache, const char *id, double hit,
                            double miss)
{
    expect(check, cache, id, "hit_latency", hit, HIT_TOLERANCE_CYCLES);
    expect(check, cache, id, "miss_penalty", miss - hit, MISS_TOLERANCE_CYCLES);
}

/* L1 as plain or read-only loads see it. */
static void check_l1(struct check *check, const char *id, bool there)
{
    const struct model *model = check->model;
    json_t *cache = find_cache(check->root, id);
    check_presence(check, cache, id, there);
    if (!there) {
        expect_nothing(check, cache, id);
        return;
    }
    struct cache_spec l1;
    double hit = l1_hit_cycles(model);
    carve(&l1, check, cache);
    check_structure(check, cache, id, &l1, 1);
    check_latencies(check, cache, id, hit, l1_miss_cycles(model));
    if (strcmp(id, "l1_data") == 0) {
        expect(check, cache, id, "load_to_use_latency", hit, HIT_TOLERANCE_CYCLES);
    }
}

/* L1 as one thread's local words see it: 128 B apart, so that what is smaller cannot be told. */
static void check_local(struct check *check)
{
    const struct model *model = check->model;
    json_t *cache = find_cache(check->root, "local_l1");
    check_presence(check, cache, "local_l1", model->l1_data.enabled);
    struct cache_spec l1;
    carve(&l1, check, cache);
    if (!model->l1_data.enabled) {
        expect_nothing(check, cache, "local_l1");
        return;
    }
    check_latencies(check, cache, "local_l1", l1_hit_cycles(model), l1_miss_cycles(model));
    expect(check, cache, "local_l1", "size", (double)(cache_lines(&l1) * l1.line_bytes), 0);
    expect_not_measured(check, cache, "local_l1", "fetch_granularity");
    if (!l1.unequal_count && l1.index.kind != INDEX_XOR) {
        expect(check, cache, "local_l1", "ways", l1.ways, 0);
    }
    /* Unless other loads have shown the same cache. */
    bool shown = is_measured(json_object_get(cache, "line")) &&
                 (model->sm.l1_caches_global || model->sm.readonly == READONLY_L1);
    if (shown) {
        expect(check, cache, "local_l1", "line", l1.line_bytes, 0);
        expect(check, cache, "local_l1", "sets", l1.sets, 0);
    } else if (l1.line_bytes <= 128) {
        expect_not_measured(check, cache, "local_l1", "line");
        expect_not_measured(check, cache, "local_l1", "sets");
    }
}

static void check_texture(struct check *check, const char *id, bool there)
{
    const struct model *model = check->model;
    json_t *cache = find_cache(check->root, id);
    check_presence(check, cache, id, there);
    if (there) {
        check_structure(check, cache, id, &model->texture_l1, 1);
        check_latencies(check, cache, id, texture_hit_cycles(model), texture_miss_cycles(model));
    } else {
        expect_nothing(check, cache, id);
    }
}

/* Where lines are many enough to give SMs some each. */
static bool is_countable(json_t *cache)
{
    double size = json_number_value(json_object_get(json_object_get(cache, "size"), "value"));
    double line = json_number_value(json_object_get(json_object_get(cache, "line"), "value"));
    return size > 0 && line > 0 && size >= 6 * line;
}

/* Each SM has its own; L2 is one, whatever it consists of. */
static void check_counts(struct check *check)
{
    static const char *const own[] = {"l1_data", "texture_l1", "constant_l1", "constant_l15"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        json_t *cache = find_cache(check->root, own[i]);
        if (is_countable(cache)) {
            expect(check, cache, own[i], "count", check->model->sms, 0);
        }
    }
    expect(check, find_cache(check->root, "l2"), "l2", "count", 1, 0);
}

/* Read-only loads go where the model says, if the generation has them (PTX: from 3.2 on). */
static void check_readonly(struct check *check)
{
    const struct model *model = check->model;
    bool known = model->driver.compute_major * 10 + model->driver.compute_minor >= 32;
    enum readonly_path path = model->sm.readonly;
    bool by_l1 = path == READONLY_L1 || (path == READONLY_NONE && model->sm.l1_caches_global);
    if (known && path == READONLY_TEXTURE && model->texture_l1.enabled) {
        check_texture(check, "readonly_l1", true);
    } else {
        check_l1(check, "readonly_l1", known && by_l1 && model->l1_data.enabled);
    }
}

static void check_constants(struct check *check)
{
    const struct model *model = check->model;
    json_t *first = find_cache(check->root, "constant_l1");
    json_t *second = find_cache(check->root, "constant_l15");
    if (!model->constant_l1.enabled) {
        expect_not_measured(check, first, "constant_l1", "size");
        expect_nothing(check, second, "constant_l15");
        return;
    }
    double hit = constant_hit_cycles(model), next = constant_l15_hit_cycles(model);
    check_presence(check, first, "constant_l1", true);
    check_structure(check, first, "constant_l1", &model->constant_l1, 1);
    expect(check, first, "constant_l1", "hit_latency", hit, HIT_TOLERANCE_CYCLES);
    /* The simulator's port takes an address a cycle: core/memory/path.c. */
    expect(check, first, "constant_l1", "address_penalty", 1, 0.1);
    if (!model->constant_l15.enabled) {
        expect_nothing(check, second, "constant_l15");
        return;
    }
    expect(check, first, "constant_l1", "miss_penalty", next - hit, MISS_TOLERANCE_CYCLES);
    check_presence(check, second, "constant_l15", true);
    check_structure(check, second, "constant_l15", &model->constant_l15, 1);
    check_latencies(check, second, "constant_l15", next, constant_l15_miss_cycles(model));
}

static void check_l2(struct check *check)
{
    const struct model *model = check->model;
    json_t *cache = find_cache(check->root, "l2");
    double hit = l2_hit_cycles(model);
    check_structure(check, cache, "l2", &model->l2, model->l2_slices);
    expect(check, cache, "l2", "hit_latency", hit, HIT_TOLERANCE_CYCLES);
    expect(check, cache, "l2", "load_to_use_latency", hit, HIT_TOLERANCE_CYCLES);
    expect(check, cache, "l2", "miss_penalty", memory_cycles(model) - hit, MISS_TOLERANCE_CYCLES);
    expect(check, json_object_get(check->root, "memory"), "memory", "latency", memory_cycles(model),
           MISS_TOLERANCE_CYCLES);
}

int main(int argc, char **argv)
{
    json_error_t error;
    struct model *model = NULL;
    if (argc != 3) {
        fputs("truth MODEL FILE.json\n", stderr);
        return 2;
    }
    if (model_load(&model, argv[1]) < 0) {
        fprintf(stderr, "truth: %s\n", error_text());
        return 2;
    }
    struct check check = {.model = model, .file = argv[2]};
    check.root = json_load_file(argv[2], JSON_REJECT_DUPLICATES, &error);
    if (!check.root) {
        fprintf(stderr, "truth: %s: %s\n", argv[2], error.text);
        model_destroy(model);
        return 2;
    }
    check_l1(&check, "l1_data", model->l1_data.enabled && model->sm.l1_caches_global);
    check_texture(&check, "texture_l1", model->texture_l1.enabled);
    check_readonly(&check);
    check_local(&check);
    check_constants(&check);
    check_l2(&check);
    check_counts(&check);
    json_decref(check.root);
    model_destroy(model);
    return check.failures > 0;
}
