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
    assert_float_equal(told(out, 0.45, ATTRIBUTE_MEASURED), 0.28, 1e-9);
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

static void high_confidence_follows_what_was_right_and_is_never_whole(void **state)
{
    struct dissection *out = *state;
    assert_float_equal(told(out, 0.93, ATTRIBUTE_MEASURED), 0.97, 1e-9);
    assert_float_equal(told(out, 0.98, ATTRIBUTE_MEASURED), 0.98, 1e-9);
    assert_float_equal(told(out, 1, ATTRIBUTE_MEASURED), 0.99, 1e-9);
}

/* Of the same attribute, as who it is of was right more or less often. */
static void an_owner_with_outcomes_of_its_own_is_told_by_them(void **state)
{
    struct dissection *out = *state;
    for (size_t i = 0; i < 2; i++) {
        memset(out, 0, sizeof *out);
        out->cache_count = 1;
        strcpy(out->caches[0].id, i ? "l2" : "l1_data");
        out->caches[0].size =
            (struct attribute){.status = ATTRIBUTE_MEASURED, .value = 1024, .confidence = 0.93};
        outcomes_apply(out);
        assert_float_equal(out->caches[0].size.confidence, i ? 0.93 : 0.97, 1e-9);
    }
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
        cmocka_unit_test(high_confidence_follows_what_was_right_and_is_never_whole),
        cmocka_unit_test(an_owner_with_outcomes_of_its_own_is_told_by_them),
        cmocka_unit_test(what_was_not_measured_has_none),
        cmocka_unit_test(bandwidths_keep_what_their_experiment_says),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
