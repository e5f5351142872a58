/*
 * How many sets a simulated L2 with hashed slices and sets has, from what it holds of lines drawn
 * at random (infer/large/occupancy.c), the number of ways being known. A whole dissection asks that
 * only of caches too large to simulate it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "device/device.h"
#include "infer/level.h"
#include "infer/large/occupancy.h"
#include "probe/probe.h"

enum { SETS = 512, WAYS = 16, LINE = 128 };

/* What is told of sets, where evict told so many ways. */
static int ask_for_sets(struct attribute *sets, unsigned ways)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "", 0, 6144, ""};
    struct device *device;
    struct traceset *set;
    struct probe_live *live;
    struct dissection *d = calloc(1, sizeof *d);
    assert_non_null(d);
    assert_int_equal(device_open(&device, "sim:" SONDE_SOURCE_DIR "/tests/models/hashed_l2.yaml"),
                     0);
    assert_int_equal(traceset_create(&set), 0);
    assert_int_equal(probe_live_create(&live, device, set), 0);
    struct trace_source source = probe_live_source(live);
    struct infer_options options = {.max_footprint_bytes = UINT64_C(64) << 20};
    struct level_summary summary = {.info = &info, .known = true, .timing.threshold = 1000};
    struct lab lab = {
        .source = &source, .options = &options, .out = d, .levels = &summary, .level_count = 1};
    d->cache_count = 1;
    d->caches[0].present = true;
    attribute_set(&d->caches[0].ways, ways, "1", 0.9, "x");
    attribute_set(&d->caches[0].line, LINE, "B", 0.9, "x");
    attribute_set(&d->caches[0].count, 1, "1", 0.9, "x");
    int rc = occupancy_dissect(&lab);
    *sets = d->caches[0].sets;
    probe_live_destroy(live);
    traceset_destroy(set);
    device_close(device);
    free(d);
    return rc;
}

static void hashed_sets_lie_within_the_bounds(void **state)
{
    (void)state;
    struct attribute sets;
    assert_int_equal(ask_for_sets(&sets, WAYS), 0);
    assert_true(sets.status == ATTRIBUTE_MEASURED && sets.confidence >= 0.9);
    print_message("%.0f sets, %.0f to %.0f\n", sets.value, sets.low, sets.high);
    assert_true(sets.low <= SETS && SETS <= sets.high);
    assert_true(sets.high - sets.low < 0.1 * SETS);
}

/* Ways that are wrong by half make another knee: nothing that sounds certain comes of it. */
static void wrong_ways_are_not_believed(void **state)
{
    (void)state;
    struct attribute sets;
    int rc = ask_for_sets(&sets, WAYS / 4);
    assert_true(rc == INFER_UNDECIDED || sets.confidence < 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashed_sets_lie_within_the_bounds),
        cmocka_unit_test(wrong_ways_are_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
