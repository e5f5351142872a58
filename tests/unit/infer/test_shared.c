/*
 * Banks of shared memory from the times of strides alone. The times are made here, from banks that
 * are counted in the plainest way: who asks which bank for which row.
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
#include "util/error.h"

enum { LANES = 32, CLOCKS = 22 };

struct banks {
    uint32_t count, word_bytes, words_per_row;
    double latency, pass_cycles;
    uint32_t longest; /* accesses that were recorded in one launch; 0: any */
    struct traceset *set;
};

static uint32_t repetitions(const struct banks *banks, uint32_t stride)
{
    uint32_t at_once = banks->count * banks->word_bytes * banks->words_per_row / 4, passes = 0;
    at_once = at_once < LANES ? at_once : LANES;
    for (uint32_t first = 0; first < LANES; first += at_once) {
        uint32_t most = 0;
        for (uint32_t bank = 0; bank < banks->count; bank++) {
            bool asked[LANES * 64] = {false};
            uint32_t rows = 0;
            for (uint32_t lane = first; lane < first + at_once && lane < LANES; lane++) {
                uint32_t word = lane * stride * 4 / banks->word_bytes;
                uint32_t row = word / (banks->count * banks->words_per_row);
                bool here = word % banks->count == bank;
                rows += here && !asked[row];
                asked[row] = asked[row] || here;
            }
            most = rows > most ? rows : most;
        }
        passes += most;
    }
    return passes;
}

static int answer(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct banks *banks = ctx;
    struct trace trace;
    uint64_t stride = 0, accesses = 64;
    char key[TRACE_KEY_MAX];
    if (strcmp(request->probe, "shared") != 0) {
        return error_set(SONDE_ENOTRECORDED, "not recorded");
    }
    trace_request_key(request, key);
    *out = traceset_find(banks->set, key);
    if (*out) {
        return 0;
    }
    trace_request_u64(request, "stride", &stride);
    trace_request_u64(request, "accesses", &accesses);
    if (banks->longest && accesses > banks->longest) {
        return error_set(SONDE_ENOTRECORDED, "not recorded");
    }
    double loads = (double)accesses;
    double each = banks->latency + (repetitions(banks, (uint32_t)stride) - 1) * banks->pass_cycles;
    double cycles = CLOCKS + loads * each;
    assert_int_equal(trace_init(&trace, request), 0);
    assert_int_equal(trace_add_column(&trace, "cycles", TRACE_F64, &cycles, 1), 0);
    assert_int_equal(trace_add_column(&trace, "loads", TRACE_F64, &loads, 1), 0);
    return traceset_add(banks->set, &trace, out);
}

static struct shared_result dissect(struct banks banks)
{
    static struct dissection found;
    struct trace_source source = {.get = answer, .ctx = &banks};
    struct infer_options options = {.only = "shared", .max_window = 1024};
    assert_int_equal(traceset_create(&banks.set), 0);
    assert_int_equal(infer_dissect(&found, &source, &options), 0);
    traceset_destroy(banks.set);
    return found.shared;
}

static void expect(struct banks banks)
{
    struct shared_result found = dissect(banks);
    assert_int_equal(found.banks.status, ATTRIBUTE_MEASURED);
    assert_int_equal((int)found.banks.value, (int)banks.count);
    assert_int_equal((int)found.bank_width.value, (int)banks.word_bytes);
    double stride0 = banks.latency + (repetitions(&banks, 0) - 1) * banks.pass_cycles;
    assert_true(fabs(found.latency.value - stride0) < 1e-6);
}

static void any_number_and_width_of_banks_is_found(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {8, 12, 16, 20, 24, 32, 48, 64};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        expect((struct banks){numbers[i], 4, 1, .latency = 26, .pass_cycles = 2});
    }
    expect((struct banks){32, 8, 1, .latency = 26, .pass_cycles = 2});
    expect((struct banks){32, 4, 2, .latency = 47, .pass_cycles = 35}); /* Kepler's default */
    expect((struct banks){16, 8, 1, .latency = 26, .pass_cycles = 4});
}

static void without_conflicts_there_are_no_banks_to_count(void **state)
{
    (void)state;
    struct shared_result found = dissect((struct banks){32, 4, 1, .latency = 30});
    assert_int_equal(found.banks.status, ATTRIBUTE_NOT_MEASURED);
    assert_int_equal(found.bank_width.status, ATTRIBUTE_NOT_MEASURED);
    assert_true(found.banks.reason[0]);
    assert_true(fabs(found.latency.value - 30) < 1e-6);
}

static void an_old_recording_gives_the_latency_with_its_share_of_the_clocks(void **state)
{
    (void)state;
    struct banks old = {32, 4, 1, .latency = 26, .pass_cycles = 2, .longest = 64};
    struct shared_result found = dissect(old);
    assert_int_equal((int)found.banks.value, 32);
    assert_true(fabs(found.latency.value - (26 + CLOCKS / 64.0)) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_and_width_of_banks_is_found),
        cmocka_unit_test(without_conflicts_there_are_no_banks_to_count),
        cmocka_unit_test(an_old_recording_gives_the_latency_with_its_share_of_the_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
