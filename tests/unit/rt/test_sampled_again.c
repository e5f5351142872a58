/* Launches that are sampled and do again what one before did are known without being watched. What
 * they leave in memory, and what they are counted as, is what it is where each is watched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "rt/queue/queue.h"
#include "sample/sampler.h"
#include "util/error.h"

#define ROWS 256
#define VALUES 4096
#define LAUNCHES 60

static const char *const text =
    ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .u32 limit;\n"
    /* value[i] += the sum of value[row[i]] to value[row[i + 1] - 1], and of as many as factor says
     */
    ".visible .entry rows(.param .u64 value, .param .u64 row, .param .u32 factor)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %a<5>; .reg .pred %q;\n"
    "ld.param.u64 %a1, [value]; ld.param.u64 %a2, [row]; ld.param.u32 %r7, [factor];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mad.wide.u32 %a2, %r1, 4, %a2;\n"
    "ld.global.u32 %r2, [%a2]; ld.global.u32 %r3, [%a2+4]; mov.u32 %r4, %r7;\n"
    "L: setp.ge.u32 %q, %r2, %r3; @%q bra E; mad.wide.u32 %a3, %r2, 4, %a1;\n"
    "ld.global.u32 %r5, [%a3]; add.u32 %r4, %r4, %r5; add.u32 %r2, %r2, 1; bra L;\n"
    "E: mad.wide.u32 %a3, %r1, 4, %a1; ld.global.u32 %r5, [%a3]; add.u32 %r5, %r5, %r4;\n"
    "st.global.u32 [%a3], %r5;\nret;\n}\n"
    /* as often as a constant says */
    ".visible .entry limited(.param .u64 value, .param .u64 row, .param .u32 factor)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %a; .reg .pred %q;\nld.param.u64 %a, [value];\n"
    "ld.const.u32 %r1, [limit]; mov.u32 %r2, 0;\n"
    "L: add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, %r1; @%q bra L;\n"
    "st.global.u32 [%a], %r2;\nret;\n}\n"
    /* adds a constant, which steers nothing */
    ".visible .entry adds(.param .u64 value, .param .u64 row, .param .u32 factor)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %a;\nld.param.u64 %a, [value];\n"
    "ld.const.u32 %r1, [limit]; st.global.u32 [%a], %r1;\nret;\n}\n"
    /* as often as is read where it has just been written, in a line that has steered before: twice
     * value[128] */
    ".visible .entry own(.param .u64 value, .param .u64 row, .param .u32 factor)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %a; .reg .pred %q;\nld.param.u64 %a, [value];\n"
    "ld.global.u32 %r1, [%a+12]; setp.eq.u32 %q, %r1, 77; @%q bra E;\n"
    "ld.global.u32 %r3, [%a+512]; add.u32 %r3, %r3, %r3; st.global.u32 [%a+8], %r3;\n"
    "ld.global.u32 %r1, [%a+8]; mov.u32 %r2, 0;\n"
    "L: add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, %r1; @%q bra L;\n"
    "E: st.global.u32 [%a], %r2;\nret;\n}\n";

struct world {
    struct model *model;
    struct rt *rt;
    struct rt_module *module;
    struct rt_kernel *rows, *limited, *adds, *own;
    uint64_t value, row, limit;
};

/* Where blocks of long launches may be left out, at 6 %, every launch is watched. */
static void open_world(struct world *w, double error)
{
    const struct sampler_spec spec = {.error = error, .seed = 1};
    uint64_t bytes;
    assert_int_equal(model_load(&w->model, "gtx780"), 0);
    assert_int_equal(rt_create(&w->rt, w->model), 0);
    assert_int_equal(rt_module_load(w->rt, &w->module, "test.ptx", text, strlen(text)), 0);
    assert_int_equal(rt_kernel_get(w->module, &w->rows, "rows"), 0);
    assert_int_equal(rt_kernel_get(w->module, &w->limited, "limited"), 0);
    assert_int_equal(rt_kernel_get(w->module, &w->adds, "adds"), 0);
    assert_int_equal(rt_kernel_get(w->module, &w->own, "own"), 0);
    assert_int_equal(rt_global_get(w->module, "limit", &w->limit, &bytes), 0);
    assert_int_equal(rt_mem_alloc(w->rt, &w->value, 4 * VALUES), 0);
    assert_int_equal(rt_mem_alloc(w->rt, &w->row, 4 * (ROWS + 1)), 0);
    assert_int_equal(rt_sample(w->rt, &spec), 0);
    rt_set_watchdog(w->rt, 0);
}

static void close_world(struct world *w)
{
    rt_destroy(w->rt);
    model_destroy(w->model);
}

static void put(struct world *w, struct rt_kernel *kernel, uint32_t blocks, uint32_t factor)
{
    const void *args[] = {&w->value, &w->row, &factor};
    struct rt_launch launch = {
        .grid = {blocks, 1, 1}, .block = {128, 1, 1}, .args = args, .arg_count = 3};
    assert_int_equal(rt_enqueue_launch(rt_stream_default(w->rt), kernel, &launch), 0);
    assert_int_equal(rt_sync(w->rt), 0);
}

static void fill(struct world *w, uint32_t seed)
{
    static uint32_t value[VALUES];
    for (uint32_t i = 0; i < VALUES; i++) {
        value[i] = i * seed;
    }
    assert_int_equal(rt_copy_to_device(w->rt, w->value, value, sizeof value), 0);
}

static void fill_rows(struct world *w, uint32_t length)
{
    uint32_t row[ROWS + 1];
    for (uint32_t i = 0; i <= ROWS; i++) {
        row[i] = i * length;
    }
    assert_int_equal(rt_copy_to_device(w->rt, w->row, row, sizeof row), 0);
}

typedef void program(struct world *w, uint32_t launch);

/* The program under both; the same must come of it. */
static void expect_alike(program *one)
{
    static uint32_t watched[VALUES], known[VALUES];
    struct world a = {0}, b = {0};
    struct sampler_total all_watched, all_known;
    open_world(&a, 0.06);
    open_world(&b, 0.03);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        one(&a, i);
        one(&b, i);
        assert_int_equal(rt_copy_from_device(a.rt, watched, a.value, sizeof watched), 0);
        assert_int_equal(rt_copy_from_device(b.rt, known, b.value, sizeof known), 0);
        assert_memory_equal(watched, known, sizeof known);
    }
    sampler_all(rt_sampler(a.rt), &all_watched);
    sampler_all(rt_sampler(b.rt), &all_known);
    assert_int_equal(all_known.launches, LAUNCHES);
    assert_true(all_known.timed < LAUNCHES);
    assert_int_equal(all_known.warp_insns, all_watched.warp_insns);
    assert_int_equal(all_known.strata, all_watched.strata);
    close_world(&a);
    close_world(&b);
}

static void new_values(struct world *w, uint32_t launch)
{
    if (launch == 0) {
        fill_rows(w, 4);
    }
    fill(w, launch);
    put(w, w->rows, ROWS / 128, launch);
}

static void values_that_do_not_steer_may_be_new(void **state)
{
    (void)state;
    expect_alike(new_values);
}

static void changed_rows(struct world *w, uint32_t launch)
{
    fill_rows(w, launch < 20 ? 4 : launch < 40 ? 7 : 4);
    fill(w, 1);
    put(w, w->rows, ROWS / 128, 1);
}

static void those_that_steer_are_noticed(void **state)
{
    (void)state;
    expect_alike(changed_rows);
}

static void same_values(struct world *w, uint32_t launch)
{
    if (launch == 0) {
        fill_rows(w, 4);
    }
    fill(w, launch == 30 ? 2 : 1);
    put(w, w->rows, ROWS / 128, launch < 40 ? 1 : 5);
}

static void results_are_repeated_where_all_is_the_same(void **state)
{
    (void)state;
    expect_alike(same_values);
}

static void changed_constant(struct world *w, uint32_t launch)
{
    uint32_t limit = launch < 30 ? 3 : 50;
    assert_int_equal(rt_copy_to_device(w->rt, w->limit, &limit, sizeof limit), 0);
    put(w, w->limited, 2, 1);
}

static void a_constant_that_steers_is_noticed(void **state)
{
    (void)state;
    expect_alike(changed_constant);
}

static void added_constant(struct world *w, uint32_t launch)
{
    uint32_t limit = launch < 30 ? 3 : 50;
    assert_int_equal(rt_copy_to_device(w->rt, w->limit, &limit, sizeof limit), 0);
    put(w, w->adds, 2, 1);
}

static void a_constant_that_is_a_result_is_noticed(void **state)
{
    (void)state;
    expect_alike(added_constant);
}

static void own_words(struct world *w, uint32_t launch)
{
    const uint32_t less = 20;
    if (launch == 0) {
        fill(w, 1);
    }
    if (launch >= 30) {
        assert_int_equal(rt_copy_to_device(w->rt, w->value + 512, &less, sizeof less), 0);
    }
    put(w, w->own, 2, 1);
}

static void what_a_launch_has_written_itself_may_steer_it(void **state)
{
    (void)state;
    expect_alike(own_words);
}

/* Results are not put where nothing is allocated any more. */
static void memory_that_was_freed_is_a_fault(void **state)
{
    struct world w = {0};
    uint32_t factor = 1;
    (void)state;
    open_world(&w, 0.03);
    fill_rows(&w, 4);
    for (int i = 0; i < 20; i++) {
        fill(&w, 1);
        put(&w, w.rows, ROWS / 128, 1);
    }
    const void *args[] = {&w.value, &w.row, &factor};
    struct rt_launch launch = {
        .grid = {ROWS / 128, 1, 1}, .block = {128, 1, 1}, .args = args, .arg_count = 3};
    assert_int_equal(rt_mem_free(w.rt, w.value), 0);
    assert_int_equal(rt_enqueue_launch(rt_stream_default(w.rt), w.rows, &launch), 0);
    assert_int_equal(rt_sync(w.rt), SONDE_EFAULT);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_do_not_steer_may_be_new),
        cmocka_unit_test(those_that_steer_are_noticed),
        cmocka_unit_test(results_are_repeated_where_all_is_the_same),
        cmocka_unit_test(a_constant_that_steers_is_noticed),
        cmocka_unit_test(a_constant_that_is_a_result_is_noticed),
        cmocka_unit_test(what_a_launch_has_written_itself_may_steer_it),
        cmocka_unit_test(memory_that_was_freed_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
