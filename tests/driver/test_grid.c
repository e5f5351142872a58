/* Cooperative launches: blocks that wait for each other. */
#include "bench.h"

#define BLOCKS 24
#define THREADS 64
#define CELLS (BLOCKS * THREADS)
#define ROUNDS 5

static int cooperate(struct bench *bench, const char *name, uint32_t grid_x, uint32_t grid_y,
                     uint32_t threads, const void *const *args)
{
    struct rt_kernel *kernel = bench_kernel(bench, name);
    struct rt_launch launch = {.grid = {grid_x, grid_y, 1},
                               .block = {threads, 1, 1},
                               .args = args,
                               .arg_count = rt_kernel_param_count(kernel),
                               .functional = bench->functional,
                               .cooperative = true};
    return rt_launch(bench->rt, kernel, &launch, NULL);
}

static void expected_rounds(uint32_t cells[CELLS])
{
    static uint32_t made[CELLS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CELLS; i++)
            made[i] = cells[i] + cells[(i + THREADS) % CELLS];
        memcpy(cells, made, sizeof made);
    }
}

/* Two launches, so that the second finds the workspace as the first left it. */
static void a_grid_waits_for_all_of_its_blocks(bool functional)
{
    static uint32_t want[CELLS], got[CELLS];
    struct bench bench;
    uint32_t rounds = ROUNDS;
    bench_open(&bench, "grid.ptx", functional);
    uint64_t cells = bench_alloc(&bench, 2 * sizeof got);
    for (int launch = 0; launch < 2; launch++) {
        for (uint32_t i = 0; i < CELLS; i++)
            want[i] = i * 2654435761u + (uint32_t)launch;
        bench_put(&bench, cells, want, sizeof want);
        expected_rounds(want);
        if (cooperate(&bench, "rounds", BLOCKS, 1, THREADS, ARGS(&cells, &rounds)) < 0)
            fail_msg("%s", error_text());
        bench_get(&bench, got, cells + (ROUNDS % 2) * sizeof got, sizeof got);
        assert_memory_equal(got, want, sizeof got);
    }
    bench_close(&bench);
}
IN_BOTH_MODES(a_grid_waits_for_all_of_its_blocks)

static void grids_of_two_dimensions_and_other_barriers_mix(bool functional)
{
    struct bench bench;
    uint32_t got[12];
    bench_open(&bench, "grid.ptx", functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    if (cooperate(&bench, "plane", 4, 3, 96, ARGS(&out)) < 0)
        fail_msg("%s", error_text());
    bench_get(&bench, got, out, sizeof got);
    for (int i = 0; i < 12; i++)
        assert_int_equal(got[i], 78);
    bench_close(&bench);
}
IN_BOTH_MODES(grids_of_two_dimensions_and_other_barriers_mix)

static void only_a_cooperative_launch_has_a_grid_to_wait_for(bool functional)
{
    struct bench bench;
    uint32_t got[3], rounds = 1;
    bench_open(&bench, "grid.ptx", functional);
    uint64_t out = bench_alloc(&bench, 2048);
    if (cooperate(&bench, "facts", 3, 1, 32, ARGS(&out)) < 0)
        fail_msg("%s", error_text());
    bench_get(&bench, got, out, sizeof got);
    assert_int_equal(got[0], 1);
    assert_int_equal(got[1], 96);
    assert_int_equal(got[2], 3);
    bench_run(&bench, "facts", 3, 32, ARGS(&out));
    bench_get(&bench, got, out, 4);
    assert_int_equal(got[0], 0);
    /* The compiler's code traps where there is no workspace. */
    assert_int_equal(bench_try(&bench, "rounds", 2, 32, ARGS(&out, &rounds)), SONDE_EFAULT);
    assert_error_has("trap");
    bench_close(&bench);
}
IN_BOTH_MODES(only_a_cooperative_launch_has_a_grid_to_wait_for)

/* sim:gtx780: 12 SMs with 16 blocks and 2048 threads each. */
static void a_grid_that_does_not_fit_is_refused(bool functional)
{
    struct bench bench;
    uint32_t rounds = 1;
    bench_open(&bench, "grid.ptx", functional);
    uint64_t cells = bench_alloc(&bench, 1 << 20);
    assert_int_equal(cooperate(&bench, "rounds", 12 * 16, 1, 32, ARGS(&cells, &rounds)), 0);
    assert_int_equal(cooperate(&bench, "rounds", 12 * 16 + 1, 1, 32, ARGS(&cells, &rounds)),
                     SONDE_EINPUT);
    assert_string_equal(error_text(),
                        "rounds: a cooperative launch of 193 blocks, but at most 192 can be "
                        "resident at once (limited by CTAs)");
    assert_int_equal(cooperate(&bench, "rounds", 25, 1, 1024, ARGS(&cells, &rounds)), SONDE_EINPUT);
    assert_error_has("at most 24 can be resident at once (limited by threads)");
    assert_int_equal(cooperate(&bench, "rounds", 24, 1, 1024, ARGS(&cells, &rounds)), 0);
    bench_close(&bench);
}
IN_BOTH_MODES(a_grid_that_does_not_fit_is_refused)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_MODES(a_grid_waits_for_all_of_its_blocks),
        BOTH_MODES(grids_of_two_dimensions_and_other_barriers_mix),
        BOTH_MODES(only_a_cooperative_launch_has_a_grid_to_wait_for),
        BOTH_MODES(a_grid_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
