/*
 * Instructions from the times of loops alone. The times are made here, from an SM whose units are
 * plain numbers: each line of a chain waits for the one before, a unit takes a line of a warp in so
 * many cycles, a sub-core issues so many.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/infer.h"
#include "support/toy_source.h"
#include "util/error.h"

enum { AROUND = 30, LINES = 32 }; /* cycles around a loop, lines of one */

struct sm {
    double latency, interval;         /* of a line; between two warps' lines of the unit */
    uint32_t sub_cores;               /* warps are dealt to them in turn */
    double issue;                     /* instructions a cycle of a sub-core */
    double disturbance;               /* cycles that the shorter loop of eight warps takes more */
    const char *refused, *unrecorded; /* kinds */
    bool lacks_column;
    struct traceset *set;
};

/* A line of every warp: bound by a chain, by the unit, or by the sub-core with most warps. */
static double line_cycles(const struct sm *sm, const struct trace_request *request)
{
    uint64_t warps = toy_number(request, "warps", 1);
    uint64_t active = toy_number(request, "active", warps == 32 ? UINT32_MAX : (1u << warps) - 1);
    uint64_t all = 0, most = 0, on[32] = {0};
    bool is_mix = strcmp(trace_request_text(request, "op"), "mix") == 0;
    for (uint64_t i = 0; i < warps; i++) {
        bool runs = active >> i & 1;
        all += runs;
        on[i % sm->sub_cores] += runs;
        most = on[i % sm->sub_cores] > most ? on[i % sm->sub_cores] : most;
    }
    double chain = sm->latency / (double)toy_number(request, "chains", 1);
    double unit = is_mix ? 0 : sm->interval * (double)all;
    return fmax(chain, fmax(unit, (double)most * (is_mix ? 2 : 1) / sm->issue));
}

static int answer(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct sm *sm = ctx;
    struct trace trace;
    char key[TRACE_KEY_MAX];
    const char *op = trace_request_text(request, "op");
    if (strcmp(request->probe, "instruction") != 0 ||
        (sm->unrecorded && strcmp(op, sm->unrecorded) == 0)) {
        return error_set(SONDE_ENOTRECORDED, "not recorded");
    }
    trace_request_key(request, key);
    *out = traceset_find(sm->set, key);
    if (*out) {
        return 0;
    }
    assert_int_equal(trace_init(&trace, request), 0);
    if (sm->refused && strcmp(op, sm->refused) == 0) {
        trace.status = SONDE_EUNSUPPORTED;
        strcpy(trace.reason, "no such unit");
        return traceset_add(sm->set, &trace, out);
    }
    double lines = (double)toy_number(request, "lines", LINES), each = line_cycles(sm, request);
    double shorter = AROUND + lines * each, longer = AROUND + 2 * lines * each;
    shorter += toy_number(request, "warps", 1) == 8 ? sm->disturbance : 0;
    assert_int_equal(trace_add_column(&trace, "shorter", TRACE_F64, &shorter, 1), 0);
    if (!sm->lacks_column) {
        assert_int_equal(trace_add_column(&trace, "longer", TRACE_F64, &longer, 1), 0);
    }
    assert_int_equal(trace_add_column(&trace, "lines", TRACE_F64, &lines, 1), 0);
    return traceset_add(sm->set, &trace, out);
}

static const struct sm_result *dissect_only(struct sm sm, const char *only)
{
    static struct dissection found;
    struct trace_source source = {.get = answer, .ctx = &sm};
    struct infer_options options = {.only = only, .max_window = 1024};
    assert_int_equal(traceset_create(&sm.set), 0);
    if (infer_dissect(&found, &source, &options) != 0) {
        fail_msg("%s", error_text());
    }
    traceset_destroy(sm.set);
    return &found.sm;
}

static const struct instruction_result *instruction(const struct sm_result *found, const char *op)
{
    for (size_t i = 0; i < found->instruction_count; i++) {
        if (strcmp(found->instructions[i].op, op) == 0) {
            return &found->instructions[i];
        }
    }
    fail_msg("no instruction %s", op);
    return NULL;
}

static void assert_is(const struct attribute *attribute, double expected, double share)
{
    if (attribute->status != ATTRIBUTE_MEASURED) {
        fail_msg("%s", attribute->reason);
    }
    if (!(fabs(attribute->value - expected) <= share * expected)) {
        fail_msg("%g, expected %g", attribute->value, expected);
    }
}

static const struct sm plain = {.latency = 6, .interval = 0.5, .sub_cores = 4, .issue = 1};

static void latency_and_rate_come_without_what_surrounds_the_lines(void **state)
{
    (void)state;
    const struct sm_result *found = dissect_only(plain, "instructions");
    const struct instruction_result *ffma = instruction(found, "ffma");
    assert_is(&ffma->latency, 6, 1e-9);
    assert_is(&ffma->rate, 32 / 0.5, 1e-9);
    assert_true(ffma->rate.low <= ffma->rate.value && ffma->rate.value <= ffma->rate.high);
}

static void a_rate_is_bound_by_what_the_sub_cores_issue(void **state)
{
    (void)state;
    struct sm sm = plain;
    sm.interval = 0.01;
    assert_is(&instruction(dissect_only(sm, "instructions"), "iadd")->rate, 32 * 4, 1e-9);
}

static void a_disturbed_shorter_loop_makes_no_unit_faster(void **state)
{
    (void)state;
    struct sm sm = plain;
    sm.disturbance = 80;
    double rate = instruction(dissect_only(sm, "instructions"), "ffma")->rate.value;
    assert_true(rate <= 64 * 1.001 && rate > 64 * 0.8);
}

static void sub_cores_are_the_distance_of_warps_that_share_one(void **state)
{
    (void)state;
    for (uint32_t sub_cores = 1; sub_cores <= 8; sub_cores++) {
        for (unsigned halves = 1; halves <= 4; halves *= 2) {
            struct sm sm = plain;
            double issue = 0.5 * halves;
            sm.sub_cores = sub_cores;
            sm.issue = issue;
            const struct sm_result *found = dissect_only(sm, "sm");
            assert_is(&found->sub_cores, sub_cores, 0);
            assert_is(&found->issue_per_sub_core, issue, 1e-9);
        }
    }
}

static void as_many_warps_saturate_as_a_latency_takes(void **state)
{
    (void)state;
    assert_is(&dissect_only(plain, "sm")->warps_to_saturate, 12, 0); /* 6 / 0.5 */
    struct sm never = plain;
    never.latency = 600;
    assert_int_equal(dissect_only(never, "sm")->warps_to_saturate.status, ATTRIBUTE_NOT_MEASURED);
}

static void what_the_device_refuses_and_what_no_recording_has_stays_unmeasured(void **state)
{
    (void)state;
    struct sm sm = plain;
    sm.refused = "hmma16";
    sm.unrecorded = "dadd";
    const struct sm_result *found = dissect_only(sm, "instructions");
    assert_int_equal(instruction(found, "hmma16")->latency.status, ATTRIBUTE_NOT_MEASURED);
    assert_non_null(strstr(instruction(found, "hmma16")->rate.reason, "no such unit"));
    assert_int_equal(instruction(found, "dadd")->latency.status, ATTRIBUTE_NOT_RECORDED);
    assert_int_equal(instruction(found, "dadd")->rate.status, ATTRIBUTE_NOT_RECORDED);
    assert_is(&instruction(found, "dfma")->latency, 6, 1e-9);
    assert_int_equal(instruction(found, "stg4")->latency.status, ATTRIBUTE_ABSENT);
}

static void traces_without_their_columns_decide_nothing(void **state)
{
    (void)state;
    struct sm sm = plain;
    sm.lacks_column = true;
    const struct sm_result *found = dissect_only(sm, "instructions,sm");
    assert_int_equal(instruction(found, "ffma")->latency.status, ATTRIBUTE_NOT_MEASURED);
    assert_int_equal(found->sub_cores.status, ATTRIBUTE_NOT_MEASURED);
}

static void nobody_asks_for_them_unless_they_are_named(void **state)
{
    (void)state;
    assert_false(dissect_only(plain, NULL)->asked);
    assert_false(dissect_only(plain, "all")->asked);
    const struct sm_result *found = dissect_only(plain, "all,sm");
    assert_true(found->asked);
    assert_int_equal(found->instruction_count, 0);
    assert_is(&found->sub_cores, 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_and_rate_come_without_what_surrounds_the_lines),
        cmocka_unit_test(a_rate_is_bound_by_what_the_sub_cores_issue),
        cmocka_unit_test(a_disturbed_shorter_loop_makes_no_unit_faster),
        cmocka_unit_test(sub_cores_are_the_distance_of_warps_that_share_one),
        cmocka_unit_test(as_many_warps_saturate_as_a_latency_takes),
        cmocka_unit_test(what_the_device_refuses_and_what_no_recording_has_stays_unmeasured),
        cmocka_unit_test(traces_without_their_columns_decide_nothing),
        cmocka_unit_test(nobody_asks_for_them_unless_they_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
