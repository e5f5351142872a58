/* Confidence from outcomes: who is told otherwise than the experiment said, and who is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/dissection.h"
#include "infer/outcomes.h"

/* A size told with such a confidence, and what becomes of it. */
static double told(struct dissection *out, double confidence, enum attribute_status status)
{
    memset(out, 0, sizeof *out);
    out->cache_count = 1;
    out->caches[0].size =
        (struct attribute){.status = status, .value = 1024, .confidence = confidence};
    outcomes_apply(out);
    return out->caches[0].size.confidence;
}

static void low_confidence_follows_what_was_right(void **state)
{
    struct dissection *out = *state;
    assert_float_equal(told(out, 0.45, ATTRIBUTE_MEASURED), 0.37, 1e-9);
    assert_float_equal(told(out, 0.6, ATTRIBUTE_MEASURED), 0.83, 1e-9);
}

static void what_was_below_nine_tenths_stays_below(void **state)
{
    struct dissection *out = *state;
    double before = 0;
    for (double raw = 0.3; raw < 0.995; raw += 0.01) {
        double now = told(out, raw, ATTRIBUTE_MEASURED);
        assert_true(now >= before - 0.011); /* nearly in the same order */
        assert_true((now >= 0.9) == (raw >= 0.9 - 1e-9));
        before = now;
    }
}

static void what_is_told_with_nine_tenths_stays(void **state)
{
    struct dissection *out = *state;
    assert_float_equal(told(out, 0.93, ATTRIBUTE_MEASURED), 0.93, 1e-9);
    assert_float_equal(told(out, 0.97, ATTRIBUTE_MEASURED), 0.97, 1e-9);
    assert_float_equal(told(out, 0.99, ATTRIBUTE_MEASURED), 0.99, 1e-9);
}

static void what_was_not_measured_has_none(void **state)
{
    struct dissection *out = *state;
    assert_float_equal(told(out, 0, ATTRIBUTE_NOT_MEASURED), 0, 1e-9);
    assert_float_equal(told(out, 0.6, ATTRIBUTE_ABSENT), 0.6, 1e-9);
}

static void bandwidths_keep_what_their_experiment_says(void **state)
{
    struct dissection *out = *state;
    memset(out, 0, sizeof *out);
    out->memory.read_bandwidth =
        (struct attribute){.status = ATTRIBUTE_MEASURED, .value = 1e9, .confidence = 0.8};
    outcomes_apply(out);
    assert_float_equal(out->memory.read_bandwidth.confidence, 0.8, 1e-9);
}

static int set_up(void **state)
{
    *state = malloc(sizeof(struct dissection));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_confidence_follows_what_was_right),
        cmocka_unit_test(what_was_below_nine_tenths_stays_below),
        cmocka_unit_test(what_is_told_with_nine_tenths_stays),
        cmocka_unit_test(what_was_not_measured_has_none),
        cmocka_unit_test(bandwidths_keep_what_their_experiment_says),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
