/* Device malloc: what it gives, what is left, how long it lives. */
#include "bench.h"

#define THREADS 64
#define LENGTH 20

static void lists_live_from_launch_to_launch(bool functional)
{
    struct bench bench;
    uint32_t length = LENGTH, sums[THREADS];
    uint64_t got[THREADS];
    bench_open(&bench, "heap.ptx", functional);
    uint64_t heads = bench_alloc(&bench, THREADS * 8), out = bench_alloc(&bench, THREADS * 4);
    for (int round = 0; round < 3; round++) {
        bench_run(&bench, "build", 2, THREADS / 2, ARGS(&heads, &length));
        bench_get(&bench, got, heads, sizeof got);
        bench_run(&bench, "sum", 2, THREADS / 2, ARGS(&heads, &out));
        bench_get(&bench, sums, out, sizeof sums);
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_true(got[i] && got[i] % 16 == 0);
            assert_int_equal(sums[i], LENGTH * i * 1000 + LENGTH * (LENGTH - 1) / 2);
        }
    }
    bench_close(&bench);
}
IN_BOTH_MODES(lists_live_from_launch_to_launch)

static void objects_are_made_and_deleted(bool functional)
{
    struct bench bench;
    uint32_t got[128];
    bench_open(&bench, "heap.ptx", functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    bench_run(&bench, "objects", 1, 128, ARGS(&out));
    bench_get(&bench, got, out, sizeof got);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(got[i], i + 7);
    bench_close(&bench);
}
IN_BOTH_MODES(objects_are_made_and_deleted)

static void allocations_do_not_overlap(const uint64_t *got, int count, uint64_t bytes)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (got[i] && got[k])
                assert_true(got[i] + bytes <= got[k] || got[k] + bytes <= got[i]);
}

static void null_when_nothing_is_left_and_all_again_when_it_is_freed(bool functional)
{
    struct bench bench;
    uint64_t got[32], bytes = 1 << 20, none = 0;
    bench_open(&bench, "heap.ptx", functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    assert_int_equal(rt_get_limit(bench.rt, RT_LIMIT_MALLOC_HEAP), 8 << 20);
    for (int round = 0; round < 3; round++) {
        int given = 0;
        bench_run(&bench, "take", 1, 32, ARGS(&out, &bytes));
        bench_get(&bench, got, out, sizeof got);
        for (int i = 0; i < 32; i++)
            given += got[i] != 0;
        assert_int_equal(given, 8);
        allocations_do_not_overlap(got, 32, bytes);
        bench_run(&bench, "give", 1, 32, ARGS(&out));
    }
    bench_run(&bench, "take", 1, 1, ARGS(&out, &none));
    bench_get(&bench, got, out, 8);
    assert_int_equal(got[0], 0);
    bytes = UINT64_MAX;
    bench_run(&bench, "take", 1, 1, ARGS(&out, &bytes));
    bench_get(&bench, got, out, 8);
    assert_int_equal(got[0], 0);
    bench_close(&bench);
}
IN_BOTH_MODES(null_when_nothing_is_left_and_all_again_when_it_is_freed)

static void alignments_are_kept(bool functional)
{
    struct bench bench;
    uint64_t got[32], bytes = 24;
    bench_open(&bench, "heap.ptx", functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    for (uint64_t align = 1; align <= 4096; align *= 2) {
        bench_run(&bench, "aligned", 1, 32, ARGS(&out, &bytes, &align));
        bench_get(&bench, got, out, sizeof got);
        allocations_do_not_overlap(got, 32, bytes);
        for (int i = 0; i < 32; i++)
            assert_true(got[i] && got[i] % (align < 16 ? 16 : align) == 0);
    }
    uint64_t crooked = 24;
    bench_run(&bench, "aligned", 1, 1, ARGS(&out, &bytes, &crooked));
    bench_get(&bench, got, out, 8);
    assert_int_equal(got[0], 0);
    bench_close(&bench);
}
IN_BOTH_MODES(alignments_are_kept)

static void the_heap_has_the_size_that_was_set_before_its_first_use(bool functional)
{
    struct bench bench;
    uint64_t got[8], bytes = 4096;
    bench_open(&bench, "heap.ptx", functional);
    assert_int_equal(rt_set_limit(bench.rt, RT_LIMIT_MALLOC_HEAP, 3 * 4096), 0);
    uint64_t out = bench_alloc(&bench, sizeof got);
    bench_run(&bench, "take", 1, 8, ARGS(&out, &bytes));
    bench_get(&bench, got, out, sizeof got);
    assert_true(got[2] != 0 && got[3] == 0);
    assert_int_equal(rt_set_limit(bench.rt, RT_LIMIT_MALLOC_HEAP, 1 << 20), SONDE_EINPUT);
    /* What a kernel took is not the host's to free, even where the heap itself begins. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(rt_mem_free(bench.rt, got[i]), SONDE_EINPUT);
    bench_close(&bench);
}
IN_BOTH_MODES(the_heap_has_the_size_that_was_set_before_its_first_use)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_MODES(lists_live_from_launch_to_launch),
        BOTH_MODES(objects_are_made_and_deleted),
        BOTH_MODES(null_when_nothing_is_left_and_all_again_when_it_is_freed),
        BOTH_MODES(alignments_are_kept),
        BOTH_MODES(the_heap_has_the_size_that_was_set_before_its_first_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
