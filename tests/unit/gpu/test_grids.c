/* Several grids on the GPU at once: they overlap, in order of priority, the same on any number of
 * host threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"

/* Each thread adds 1 to its word so often; the second kernel has more registers and shared memory.
 */
static const char *const text =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry small(.param .u64 buffer, .param .u32 times)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [buffer]; ld.param.u32 %r1, [times];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r2, %r2, %r3, %r4; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "LOOP: ld.global.cg.u32 %r5, [%rd1]; add.u32 %r5, %r5, 1; st.global.u32 [%rd1], %r5;\n"
    "sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra LOOP;\nret;\n}\n"
    ".visible .entry large(.param .u64 buffer, .param .u32 times)\n{\n"
    ".reg .b32 %r<64>; .reg .b64 %rd<8>; .reg .pred %p;\n.shared .align 16 .b8 mem[9000];\n"
    "ld.param.u64 %rd1, [buffer]; ld.param.u32 %r1, [times];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r2, %r2, %r3, %r4; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r5, [%rd1]; mul.lo.u32 %r8, %r4, 4; mov.u32 %r9, mem; add.u32 %r8, %r8, %r9;\n"
    "mov.u32 %r10, 1; mov.u32 %r11, 2; mov.u32 %r12, 3; mov.u32 %r13, 4; mov.u32 %r14, 5;\n"
    "LOOP: st.shared.u32 [%r8], %r5; bar.sync 0; ld.shared.u32 %r6, [%r8]; add.u32 %r5, %r6, 3;\n"
    "xor.b32 %r10, %r10, %r11; xor.b32 %r11, %r11, %r12; xor.b32 %r12, %r12, %r13;\n"
    "xor.b32 %r13, %r13, %r14; xor.b32 %r14, %r14, %r10;\n"
    "sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra LOOP;\n"
    "xor.b32 %r10, %r10, %r10; and.b32 %r15, %r11, %r12; and.b32 %r15, %r15, %r13;\n"
    "and.b32 %r15, %r15, %r14; and.b32 %r15, %r15, %r10; add.u32 %r5, %r5, %r15;\n"
    "st.global.u32 [%rd1], %r5;\nret;\n}\n"
    /* One word after another of memory that no cache holds; block 0 counts instead. */
    ".visible .entry far(.param .u64 buffer, .param .u32 times)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;\n.shared .align 16 .b8 mem[40000];\n"
    "ld.param.u64 %rd1, [buffer]; ld.param.u32 %r1, [times];\n"
    "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p, %r2, 0; @%p bra READS;\n"
    "COUNTS: sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra COUNTS;\nret;\n"
    "READS: mov.u32 %r1, 30; mul.wide.u32 %rd2, %r2, 16384; add.u64 %rd1, %rd1, %rd2;\n"
    "LOOP: ld.global.cg.u32 %r5, [%rd1]; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd1, %rd1, 512;\n"
    "add.u64 %rd1, %rd1, %rd2; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra LOOP;\n"
    "ret;\n}\n"
    ".visible .entry stuck(.param .u64 buffer, .param .u32 times)\n{\n"
    "LOOP: bra LOOP;\n}\n";

struct test_grid {
    struct exec_program *program;
    struct gpu_grid *grid;
    struct exec_launch launch;
    struct {
        uint64_t buffer;
        uint32_t times;
    } params;
    struct gpu_grid_result result;
};

static struct gpu_bench g;
static struct ptx_module *module;
static struct test_grid first, second;

static void build(const char *model, uint32_t threads)
{
    assert_true(gpu_bench_load(&g, model));
    assert_true(gpu_bench_build(&g));
    assert_int_equal(gpu_set_threads(g.gpu, threads), 0);
    assert_int_equal(ptx_parse(&module, "test.ptx", text, strlen(text)), 0);
}

static int teardown(void **state)
{
    (void)state;
    exec_program_destroy(first.program);
    exec_program_destroy(second.program);
    first.program = second.program = NULL;
    ptx_module_destroy(module);
    gpu_bench_free(&g);
    return 0;
}

static void prepare(struct test_grid *t, const char *kernel, uint32_t word, uint32_t ctas,
                    uint32_t threads, uint32_t times)
{
    int rc = exec_program_create(&t->program, module, ptx_find_func(module, kernel), NULL);
    if (rc < 0) {
        print_error("%s\n", error_text());
    }
    assert_int_equal(rc, 0);
    t->params.buffer = (uintptr_t)(g.buffer + word);
    t->params.times = times;
    t->launch = (struct exec_launch){.program = t->program,
                                     .memory = g.memory,
                                     .params = (const uint8_t *)&t->params,
                                     .param_bytes = 12,
                                     .grid = {ctas, 1, 1},
                                     .block = {threads, 1, 1}};
}

static int begin(struct test_grid *t, int priority)
{
    struct gpu_grid_options options = {.priority = priority, .shares = true};
    return gpu_grid_begin(g.gpu, &t->grid, &t->launch, &options);
}

static void finish(struct test_grid *t)
{
    while (!gpu_grid_is_over(t->grid)) {
        assert_int_equal(gpu_run(g.gpu, ENGINE_NEVER), 0);
    }
    gpu_grid_end(t->grid, &t->result);
}

static uint64_t cycles_of(const struct test_grid *t)
{
    return (t->result.end_ps - t->result.begin_ps) / g.model->core_period_ps;
}

static void check_words(uint32_t word, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(g.buffer[word + i], value);
    }
}

/* Small grids leave most SMs empty: two take as long as one. */
static void grids_that_leave_room_run_side_by_side(void **state)
{
    (void)state;
    build("gtx780", 1);
    prepare(&first, "small", 0, 4, 64, 50);
    prepare(&second, "large", 4096, 5, 96, 200);
    assert_int_equal(begin(&first, 0), 0);
    finish(&first);
    uint64_t alone_first = cycles_of(&first);
    assert_int_equal(begin(&second, 0), 0);
    finish(&second);
    uint64_t alone_second = cycles_of(&second);
    memset(g.buffer, 0, 32768);
    assert_int_equal(begin(&first, 0), 0);
    assert_int_equal(begin(&second, 0), 0);
    finish(&first);
    finish(&second);
    assert_true(first.result.shared && second.result.shared);
    assert_int_equal(first.result.begin_ps, second.result.begin_ps);
    assert_in_range(cycles_of(&first), alone_first * 9 / 10, alone_first * 11 / 10);
    assert_in_range(cycles_of(&second), alone_second * 9 / 10, alone_second * 11 / 10);
    /* Each grid's instructions are its own: 8 before the loop, 6 in it, one behind. */
    assert_int_equal(first.result.warp_insns, 8 * (8 + 50 * 6 + 1));
    assert_int_equal(first.result.thread_insns, 32 * first.result.warp_insns);
    check_words(0, 4 * 64, 50);
    check_words(4096, 5 * 96, 600);
    struct gpu_stats stats;
    gpu_stats(g.gpu, &stats);
    assert_int_equal(stats.launches, 4);
    uint64_t longer =
        cycles_of(&first) > cycles_of(&second) ? cycles_of(&first) : cycles_of(&second);
    assert_int_equal(stats.cycles, alone_first + alone_second + longer);
}

/* One that comes in the middle, with more registers and shared memory than the one before. */
static void run_late(uint32_t threads, uint64_t out[4], const char *model)
{
    build(model, threads);
    prepare(&first, "small", 0, 60, 128, 20);
    prepare(&second, "large", 65536, 20, 256, 30);
    assert_int_equal(begin(&first, 0), 0);
    uint64_t until_ps = gpu_now_ps(g.gpu) + 5000 * g.model->core_period_ps;
    assert_int_equal(gpu_run(g.gpu, until_ps), 0);
    assert_false(gpu_grid_is_over(first.grid));
    assert_in_range(gpu_now_ps(g.gpu), until_ps - 1000 * g.model->core_period_ps,
                    until_ps + 1000 * g.model->core_period_ps);
    assert_int_equal(begin(&second, 0), 0);
    finish(&first);
    finish(&second);
    check_words(0, 60 * 128, 20);
    check_words(65536, 20 * 256, 90);
    out[0] = first.result.begin_ps;
    out[1] = first.result.end_ps;
    out[2] = second.result.begin_ps;
    out[3] = second.result.end_ps;
}

static void a_grid_that_comes_later_is_the_same_on_two_host_threads(void **state)
{
    static const char *const models[] = {"gtx780", "gtx560ti", "gtx280"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        uint64_t one[4], two[4];
        run_late(1, one, models[i]);
        teardown(state);
        run_late(2, two, models[i]);
        assert_memory_equal(one, two, sizeof one);
        assert_true(one[2] < one[1]); /* they overlap */
        if (i + 1 < sizeof models / sizeof *models) {
            teardown(state);
        }
    }
}

/* Both fill the GPU several times over. */
static void the_grid_of_higher_priority_takes_the_places_that_become_free(void **state)
{
    (void)state;
    build("gtx780", 1);
    prepare(&first, "small", 0, 500, 256, 3);
    prepare(&second, "small", 1 << 20, 200, 256, 3);
    assert_int_equal(begin(&first, 0), 0);
    assert_int_equal(begin(&second, 0), 0);
    finish(&first);
    finish(&second);
    assert_true(second.result.end_ps > first.result.end_ps);
    assert_int_equal(begin(&first, 0), 0);
    assert_int_equal(gpu_run(g.gpu, gpu_now_ps(g.gpu) + 1000 * g.model->core_period_ps), 0);
    assert_int_equal(begin(&second, -1), 0);
    finish(&second);
    assert_false(gpu_grid_is_over(first.grid));
    finish(&first);
    assert_true(second.result.end_ps < first.result.end_ps);
    check_words(0, 500 * 256, 6);
    check_words(1 << 20, 200 * 256, 6);
}

/* The first grid's last block waits for a place; when it has one, the second grid's blocks find
 * room beside blocks that wait for memory, on SMs that have nothing to do before. */
static void blocks_that_come_to_a_sleeping_sm_wake_it(void **state)
{
    for (uint32_t times = 10; times <= 40; times += 10) {
        build("gtx780", 1 + times / 10 % 2);
        prepare(&first, "far", 0, 13, 32, times); /* one an SM at a time */
        prepare(&second, "small", 1 << 19, 12, 64, 1);
        assert_int_equal(begin(&first, 0), 0);
        assert_int_equal(begin(&second, 0), 0);
        finish(&second);
        assert_false(gpu_grid_is_over(first.grid));
        finish(&first);
        check_words(1 << 19, 12 * 64, 1);
        assert_true(cycles_of(&second) * 4 < cycles_of(&first));
        teardown(state);
    }
}

static void one_that_never_ends_is_stopped_and_takes_the_others_with_it(void **state)
{
    (void)state;
    build("gtx780", 1);
    prepare(&first, "stuck", 0, 1, 32, 1);
    prepare(&second, "small", 0, 300, 256, 100);
    struct gpu_grid_options options = {.shares = true, .max_cycles = 3000};
    assert_int_equal(gpu_grid_begin(g.gpu, &first.grid, &first.launch, &options), 0);
    assert_int_equal(begin(&second, 0), 0);
    assert_int_equal(gpu_run(g.gpu, ENGINE_NEVER), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "3000 cycles"));
    assert_true(gpu_grid_is_over(first.grid) && gpu_grid_is_over(second.grid));
    gpu_grid_end(first.grid, &first.result);
    gpu_grid_end(second.grid, &second.result);
    assert_in_range(cycles_of(&first), 2900, 4000);
    assert_true(gpu_is_idle(g.gpu));
    memset(g.buffer, 0, 300 * 256 * 4);
    second.params.times = 3;
    assert_int_equal(begin(&second, 0), 0);
    finish(&second);
    check_words(0, 300 * 256, 3);
}

static void one_that_never_ends_nor_asks_memory_is_told_with_its_cycles(void **state)
{
    (void)state;
    build("gtx780", 1);
    prepare(&first, "stuck", 0, 2, 32, 1);
    struct gpu_grid_options options = {.shares = true, .max_cycles = 3000};
    assert_int_equal(gpu_grid_begin(g.gpu, &first.grid, &first.launch, &options), 0);
    assert_int_equal(gpu_run(g.gpu, ENGINE_NEVER), SONDE_EFAULT);
    gpu_grid_end(first.grid, &first.result);
    assert_in_range(cycles_of(&first), 2900, 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(grids_that_leave_room_run_side_by_side, teardown),
        cmocka_unit_test_teardown(a_grid_that_comes_later_is_the_same_on_two_host_threads,
                                  teardown),
        cmocka_unit_test_teardown(the_grid_of_higher_priority_takes_the_places_that_become_free,
                                  teardown),
        cmocka_unit_test(blocks_that_come_to_a_sleeping_sm_wake_it),
        cmocka_unit_test_teardown(one_that_never_ends_is_stopped_and_takes_the_others_with_it,
                                  teardown),
        cmocka_unit_test_teardown(one_that_never_ends_nor_asks_memory_is_told_with_its_cycles,
                                  teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
