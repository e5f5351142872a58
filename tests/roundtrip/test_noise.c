/*
 * Inference on measurements that say nothing: every latency is real, and stands in a random place
 * of its trace. Unlike a shuffled recording, this source answers every question. A structure found
 * in it would be made up. And on measurements in whose way other work came.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "device/device.h"
#include "infer/infer.h"
#include "permute.h"
#include "probe/probe.h"

struct noise {
    struct trace_source live;
    struct traceset *set;
    struct rng rng;
};

static int noise_get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct noise *noise = ctx;
    char key[TRACE_KEY_MAX];
    trace_request_key(request, key);
    *out = traceset_find(noise->set, key);
    if (*out) {
        return 0;
    }
    const struct trace *trace;
    struct trace permuted;
    int rc = trace_get(&noise->live, &trace, request);
    rc = rc < 0 ? rc : permuted_trace(&permuted, trace, &noise->rng);
    return rc < 0 ? rc : traceset_add(noise->set, &permuted, out);
}

static void dissect_noise(struct dissection *result, const char *spec, uint64_t seed)
{
    struct device *device;
    struct traceset *measured;
    struct probe_live *live;
    struct noise noise;
    assert_int_equal(device_open(&device, spec), 0);
    assert_int_equal(traceset_create(&measured), 0);
    assert_int_equal(traceset_create(&noise.set), 0);
    assert_int_equal(probe_live_create(&live, device, measured), 0);
    noise.live = probe_live_source(live);
    rng_seed(&noise.rng, seed);
    struct trace_source source = {.get = noise_get, .ctx = &noise};
    struct infer_options options = {
        /* What says nothing of a cache's structure, and the cache that is left out below. */
        .skip = "local_l1,outstanding,memory,copy,residents,patterns,shared,tlbs,count,sharing,mei,"
                "average",
        .seed = 1,
        .max_window = probe_live_max_window(live),
        .max_footprint_bytes = probe_live_max_footprint(live),
    };
    assert_int_equal(infer_dissect(result, &source, &options), 0);
    probe_live_destroy(live);
    traceset_destroy(noise.set);
    traceset_destroy(measured);
    device_close(device);
}

/*
 * A cache that the model has is not measured: neither a value nor absent. One that it does not have
 * is absent in any order, for its path knows one latency alone.
 */
static void no_structure_is_found(const struct dissection *result, const char *missing)
{
    for (size_t i = 0; i < result->cache_count; i++) {
        const struct cache_result *cache = &result->caches[i];
        enum attribute_status status =
            strcmp(cache->id, missing) == 0 ? ATTRIBUTE_ABSENT : ATTRIBUTE_NOT_MEASURED;
        if (strcmp(cache->id, "local_l1") == 0) {
            continue; /* one word a line: that all of them hit, or miss, is the same in any order */
        }
        if (cache->size.status != status) {
            print_message("%s: %s\n", cache->id, cache->size.reason);
        }
        assert_int_equal(cache->size.status, status);
        assert_int_equal(cache->line.status, status);
        assert_int_equal(cache->sets.status, status);
        assert_int_equal(cache->ways.status, status);
        assert_int_equal(cache->fetch_granularity.status, status);
        assert_true(cache->size.reason[0] != '\0');
    }
}

static void nothing_is_made_of_latencies_in_random_places(void **state)
{
    static const struct {
        const char *spec, *missing; /* a cache of a path of its own that the model does not have */
    } devices[] = {
        {"sim:gtx560ti", ""},
        {"sim:" SONDE_SOURCE_DIR "/tests/models/sectored.yaml", "texture_l1"},
        {"sim:" SONDE_SOURCE_DIR "/tests/models/tiny_direct.yaml", "texture_l1"},
        {"sim:" SONDE_SOURCE_DIR "/tests/models/liar.yaml", ""},
    };
    static struct dissection result;
    (void)state;
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        for (uint64_t seed = 1; seed <= 2; seed++) {
            dissect_noise(&result, devices[i].spec, seed);
            no_structure_is_found(&result, devices[i].missing);
        }
    }
}

/* Other work is in the way of the first loads of an operator; the same asked again is not. */
static int burst_get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct noise *noise = ctx;
    char key[TRACE_KEY_MAX];
    trace_request_key(request, key);
    const char *run = strstr(key, " run="), *op = trace_request_text(request, "op");
    *out = traceset_find(noise->set, key);
    int rc = *out ? 0 : trace_get(&noise->live, out, request);
    if (rc < 0 || run || !op || strcmp(op, "ca") != 0 || traceset_find(noise->set, key)) {
        return rc;
    }
    struct trace slow;
    rc = permuted_trace(&slow, *out, &noise->rng);
    for (size_t c = 0; rc == 0 && c < slow.column_count; c++) {
        uint32_t *latency = (uint32_t *)(void *)slow.columns[c].data;
        bool is_latency = strcmp(slow.columns[c].name, "latency") == 0;
        for (size_t i = 0; is_latency && i < slow.columns[c].count; i++) {
            latency[i] += 20;
        }
    }
    return rc < 0 ? rc : traceset_add(noise->set, &slow, out);
}

static void other_work_in_the_way_makes_no_way_longer(void **state)
{
    static struct dissection result;
    struct device *device;
    struct traceset *measured;
    struct probe_live *live;
    struct noise noise;
    (void)state;
    assert_int_equal(device_open(&device, "sim:gtx780"), 0);
    assert_int_equal(traceset_create(&measured), 0);
    assert_int_equal(traceset_create(&noise.set), 0);
    assert_int_equal(probe_live_create(&live, device, measured), 0);
    noise.live = probe_live_source(live);
    rng_seed(&noise.rng, 1);
    struct trace_source source = {.get = burst_get, .ctx = &noise};
    struct infer_options options = {
        .only = "reference,l1_data",
        .seed = 1,
        .max_window = probe_live_max_window(live),
        .max_footprint_bytes = probe_live_max_footprint(live),
    };
    assert_int_equal(infer_dissect(&result, &source, &options), 0);
    assert_string_equal(result.caches[0].id, "l1_data");
    assert_int_equal(result.caches[0].absence.status, ATTRIBUTE_ABSENT);
    probe_live_destroy(live);
    traceset_destroy(noise.set);
    traceset_destroy(measured);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_made_of_latencies_in_random_places),
        cmocka_unit_test(other_work_in_the_way_makes_no_way_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
