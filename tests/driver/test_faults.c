/* Assertions and the heap's faults; a context is spoilt after one. */
#include "bench.h"

static void assertions_tell_each_thread_of_the_warp_that_fails(bool functional)
{
    struct bench bench;
    uint32_t limit = 30;
    bench_open(&bench, "assert.ptx", functional);
    bench_run(&bench, "small_enough", 1, 30, ARGS(&limit));
    assert_int_equal(bench_try(&bench, "small_enough", 1, 32, ARGS(&limit)), SONDE_EFAULT);
    assert_string_equal(
        error_text(),
        "assert.cu:8: void small_enough(unsigned int): block: [0,0,0], thread: [30,0,0] Assertion "
        "`threadIdx.x < limit && \"thread is small\"` failed.\n"
        "assert.cu:8: void small_enough(unsigned int): block: [0,0,0], thread: [31,0,0] Assertion "
        "`threadIdx.x < limit && \"thread is small\"` failed.");
    bench_close(&bench);
}
IN_BOTH_MODES(assertions_tell_each_thread_of_the_warp_that_fails)

static void a_fault_spoils_the_context(bool functional)
{
    struct bench bench;
    uint32_t limit = 0, word = 0;
    uint64_t address;
    bench_open(&bench, "assert.ptx", functional);
    uint64_t before = bench_alloc(&bench, 4);
    assert_int_equal(bench_try(&bench, "small_enough", 1, 1, ARGS(&limit)), SONDE_EFAULT);
    limit = 100;
    assert_int_equal(bench_try(&bench, "small_enough", 1, 1, ARGS(&limit)), SONDE_EFAULT);
    assert_error_has("after an earlier fault: assert.cu:8:");
    assert_int_equal(rt_mem_alloc(bench.rt, &address, 4), SONDE_EFAULT);
    assert_int_equal(rt_copy_to_device(bench.rt, before, &word, 4), SONDE_EFAULT);
    assert_int_equal(rt_copy_from_device(bench.rt, &word, before, 4), SONDE_EFAULT);
    assert_int_equal(rt_memset(bench.rt, before, 0, 4), SONDE_EFAULT);
    assert_error_has("after an earlier fault: assert.cu:8:");
    bench_close(&bench);
}
IN_BOTH_MODES(a_fault_spoils_the_context)

/* 256 threads of one warp's worth of failures each: the text ends in time and says so. */
static void a_long_list_of_failures_is_cut(bool functional)
{
    struct bench bench;
    uint32_t limit = 0;
    bench_open(&bench, "assert.ptx", functional);
    assert_int_equal(bench_try(&bench, "small_enough", 1, 256, ARGS(&limit)), SONDE_EFAULT);
    assert_error_has("more threads of this warp)");
    assert_true(strlen(error_text()) < ERROR_TEXT_MAX - 4);
    bench_close(&bench);
}
IN_BOTH_MODES(a_long_list_of_failures_is_cut)

static void a_heap_that_is_freed_twice_is_a_fault(bool functional)
{
    struct bench bench;
    bench_open(&bench, "heap.ptx", functional);
    uint64_t out = bench_alloc(&bench, 64), bytes = 100, got[2];
    bench_run(&bench, "take", 1, 2, ARGS(&out, &bytes));
    bench_get(&bench, got, out, sizeof got);
    bench_run(&bench, "give", 1, 2, ARGS(&out));
    assert_int_equal(bench_try(&bench, "give", 1, 2, ARGS(&out)), SONDE_EFAULT);
    char want[64];
    snprintf(want, sizeof want, "free of 0x%llx, which is no allocation of the device's heap",
             (unsigned long long)got[0]);
    assert_error_has(want);
    assert_error_has("heap.ptx:");
    assert_error_has("thread (0,0,0)");
    bench_close(&bench);
}
IN_BOTH_MODES(a_heap_that_is_freed_twice_is_a_fault)

static void freeing_what_malloc_did_not_give_is_a_fault(bool functional)
{
    uint64_t strange[3] = {16, 0, 0};
    for (int i = 0; i < 3; i++) {
        struct bench bench;
        bench_open(&bench, "heap.ptx", functional);
        uint64_t out = bench_alloc(&bench, 64), bytes = 100, inside;
        bench_run(&bench, "take", 1, 1, ARGS(&out, &bytes));
        bench_get(&bench, &inside, out, 8);
        strange[1] = inside + 16;
        strange[2] = out;
        bench_put(&bench, out, &strange[i], 8);
        assert_int_equal(bench_try(&bench, "give", 1, 1, ARGS(&out)), SONDE_EFAULT);
        assert_error_has("which is no allocation of the device's heap");
        bench_close(&bench);
    }
}
IN_BOTH_MODES(freeing_what_malloc_did_not_give_is_a_fault)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_MODES(assertions_tell_each_thread_of_the_warp_that_fails),
        BOTH_MODES(a_fault_spoils_the_context),
        BOTH_MODES(a_long_list_of_failures_is_cut),
        BOTH_MODES(a_heap_that_is_freed_twice_is_a_fault),
        BOTH_MODES(freeing_what_malloc_did_not_give_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
