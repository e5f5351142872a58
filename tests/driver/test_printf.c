/*
 * Device printf. The host's own printf says what the text should be; the results are the numbers of
 * arguments, as the CUDA C++ Programming Guide has it ("Formatted Output").
 */
#include <math.h>

#include "bench.h"

#define FORMATS 16

static void append_32(struct strbuf *want)
{
    for (int i = 1; i <= 32; i++)
        strbuf_printf(want, "%d ", i);
}

static void expected(struct strbuf *want)
{
    strbuf_printf(want, "plain 100%%\n");
    strbuf_printf(want, "%d %i %u %o %x %X\n", -7, 42, 4000000000u, 8u, 0xbeefu, 0xbeefu);
    strbuf_printf(want, "[%5d] [%-5d] [%05d] [%+d] [% d] [%#x] [%#o]\n", 42, 42, 42, 42, 42, 42u,
                  42u);
    strbuf_printf(want, "-5000000000 -6000000000 7000000000 123456789abc %hd %hhd\n", (short)4464,
                  (signed char)44);
    strbuf_printf(want, "%f %.2f %10.3f %-10.1f| %e %E %g %G %a %A\n", 1.5, 2.345, 3.14159, 2.5,
                  12345.678, 0.00012, 1e-10, 1e20, 1.0, 0.5);
    strbuf_printf(want, "abc [  d] [e  ]\n");
    strbuf_printf(want, "text [   right] [left    ] [cu]\n");
    strbuf_printf(want, "%p %p\n", (void *)0x1234, (void *)0);
    strbuf_printf(want, "[     1] [2     ] [1.235]\n");
    strbuf_printf(want, "from the host (null)\n");
    strbuf_printf(want, "%f %f %f\n", (double)INFINITY, -(double)INFINITY, 3.0);
    strbuf_printf(want, "1 %%q 2%%\n");
    append_32(want);
    strbuf_printf(want, "%%d\n");
}

static void every_format_prints_as_on_the_host(bool functional)
{
    static const int results[FORMATS] = {0, 6, 7, 6, 10, 5, 4, 2, 6, 2, 3, 2, -1, -2, 32, 0};
    static const char text[] = "from the host";
    struct bench bench;
    struct strbuf want = {0};
    int got[FORMATS];
    bench_open(&bench, "printf.ptx", functional);
    uint64_t out = bench_alloc(&bench, sizeof got), place = bench_alloc(&bench, sizeof text);
    bench_put(&bench, place, text, sizeof text);
    bench_run(&bench, "formats", 1, 32, ARGS(&out, &place));
    expected(&want);
    assert_string_equal(strbuf_text(&bench.printed), strbuf_text(&want));
    bench_get(&bench, got, out, sizeof got);
    for (int i = 0; i < FORMATS; i++)
        if (got[i] != results[i])
            fail_msg("printf number %d gave %d, not %d", i, got[i], results[i]);
    strbuf_free(&want);
    bench_close(&bench);
}
IN_BOTH_MODES(every_format_prints_as_on_the_host)

static int count_of(const char *text, const char *part)
{
    /* strstr() under the sanitizers measures all that is left of the text at each call. */
    size_t length = strlen(part), left = strlen(text);
    int count = 0;
    while (left >= length) {
        bool here = memcmp(text, part, length) == 0;
        size_t step = here ? length : 1;
        count += here;
        text += step;
        left -= step;
    }
    return count;
}

static void each_thread_prints_once_and_a_warp_in_order_of_its_lanes(bool functional)
{
    struct bench bench;
    char line[64];
    bench_open(&bench, "printf.ptx", functional);
    bench_run(&bench, "everyone", 3, 70, NULL);
    const char *text = strbuf_text(&bench.printed);
    assert_int_equal(count_of(text, "\n"), 3 * 24);
    for (int block = 0; block < 3; block++)
        for (int thread = 0; thread < 70; thread++) {
            snprintf(line, sizeof line, "block %d thread %d\n", block, thread);
            assert_int_equal(count_of(text, line), thread % 3 == 0);
        }
    assert_non_null(strstr(text, "block 2 thread 0\nblock 2 thread 3\nblock 2 thread 6\n"));
    bench_close(&bench);
}
IN_BOTH_MODES(each_thread_prints_once_and_a_warp_in_order_of_its_lanes)

static void runs_repeat(bool functional)
{
    struct bench first, second;
    bench_open(&first, "printf.ptx", functional);
    bench_open(&second, "printf.ptx", functional);
    bench_run(&first, "everyone", 40, 256, NULL);
    bench_run(&second, "everyone", 40, 256, NULL);
    assert_string_equal(strbuf_text(&first.printed), strbuf_text(&second.printed));
    bench_close(&first);
    bench_close(&second);
}
IN_BOTH_MODES(runs_repeat)

/* A record of "line %d" is 24 bytes: 16 and one argument. */
static void a_full_buffer_loses_its_oldest_output(bool functional)
{
    struct bench bench;
    int count = 1000;
    bench_open(&bench, "printf.ptx", functional);
    assert_int_equal(rt_get_limit(bench.rt, RT_LIMIT_PRINTF_FIFO), 1 << 20);
    assert_int_equal(rt_set_limit(bench.rt, RT_LIMIT_PRINTF_FIFO, 2400), 0);
    bench_run(&bench, "many", 1, 1, ARGS(&count));
    assert_int_equal(strncmp(strbuf_text(&bench.printed), "line 900\n", 9), 0);
    assert_int_equal(count_of(strbuf_text(&bench.printed), "line"), 100);
    assert_int_equal(rt_print_lost(bench.rt), 900);
    strbuf_clear(&bench.printed);
    count = 100;
    bench_run(&bench, "many", 1, 1, ARGS(&count));
    assert_int_equal(count_of(strbuf_text(&bench.printed), "line"), 100);
    assert_int_equal(rt_print_lost(bench.rt), 900);
    assert_int_equal(rt_set_limit(bench.rt, RT_LIMIT_PRINTF_FIFO, 10), SONDE_EINPUT);
    bench_close(&bench);
}
IN_BOTH_MODES(a_full_buffer_loses_its_oldest_output)

static void calls_without_end_take_no_more_than_the_buffer(bool functional)
{
    struct bench bench;
    int count = functional ? 200000 : 60000;
    bench_open(&bench, "printf.ptx", functional);
    bench_run(&bench, "many", 1, 1, ARGS(&count));
    int kept = (1 << 20) / 24;
    assert_int_equal(count_of(strbuf_text(&bench.printed), "line"), kept);
    assert_int_equal(rt_print_lost(bench.rt), count - kept);
    bench_close(&bench);
}
IN_BOTH_MODES(calls_without_end_take_no_more_than_the_buffer)

static void a_text_prints_as_it_is_at_the_call(bool functional)
{
    struct bench bench;
    bench_open(&bench, "printf.ptx", functional);
    uint64_t text = bench_alloc(&bench, 16);
    bench_run(&bench, "changing", 1, 1, ARGS(&text));
    assert_string_equal(strbuf_text(&bench.printed), "a\nb\ns\n");
    bench_close(&bench);
}
IN_BOTH_MODES(a_text_prints_as_it_is_at_the_call)

static void a_text_of_another_warp_is_there_after_the_barrier(bool functional)
{
    struct bench bench;
    bench_open(&bench, "printf.ptx", functional);
    uint64_t text = bench_alloc(&bench, 64);
    bench_run(&bench, "across", 1, 64, ARGS(&text));
    assert_string_equal(strbuf_text(&bench.printed), "abcdefghijklmno\n");
    bench_close(&bench);
}
IN_BOTH_MODES(a_text_of_another_warp_is_there_after_the_barrier)

static void what_cannot_be_read_is_a_fault(bool functional)
{
    static const struct {
        const char *format; /* NULL: address 64 */
        uint64_t list;
        const char *error;
    } cases[] = {
        {NULL, 0, "printf cannot read the format at 0x40, which is out of bounds"},
        {"%d\n", 64, "printf cannot read the text of %s at 0x40, which is out of bounds"},
        {"unterminated", 0, "printf cannot read the format at"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench bench;
        bench_open(&bench, "printf.ptx", functional);
        uint64_t format = 64;
        if (cases[i].format) {
            size_t bytes = strlen(cases[i].format) + (i < 2);
            format = bench_alloc(&bench, bytes);
            bench_put(&bench, format, cases[i].format, bytes);
        }
        assert_int_equal(bench_try(&bench, "from_anywhere", 1, 1, ARGS(&format, &cases[i].list)),
                         SONDE_EFAULT);
        assert_error_has(cases[i].error);
        assert_error_has("printf.ptx:");
        assert_error_has("kernel 'from_anywhere'");
        bench_close(&bench);
    }
}
IN_BOTH_MODES(what_cannot_be_read_is_a_fault)

static void what_was_printed_before_a_fault_is_shown(bool functional)
{
    struct bench bench;
    bench_open(&bench, "assert.ptx", functional);
    uint32_t limit = 2;
    assert_int_equal(bench_try(&bench, "small_enough", 1, 3, ARGS(&limit)), SONDE_EFAULT);
    assert_string_equal(strbuf_text(&bench.printed), "thread 0\nthread 1\nthread 2\n");
    bench_close(&bench);
}
IN_BOTH_MODES(what_was_printed_before_a_fault_is_shown)

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define CALL(declaration, call)                                                                    \
    HEAD ".extern .func " declaration ";\n"                                                        \
         ".visible .entry k()\n{\n.reg .b32 %r; .reg .b64 %rd;\n.param .b64 a; .param .b64 b;\n"   \
         ".param .b32 c;\nmov.u64 %rd, 0; st.param.b64 [a], %rd; st.param.b64 [b], %rd;\n" call    \
         ";\nret;\n}\n"

static void a_declaration_that_is_not_the_systems_is_refused_at_load(void **state)
{
    (void)state;
    static const struct {
        const char *ptx, *error;
    } cases[] = {
        {CALL("(.param .b32 r) vprintf (.param .b64 x)", "call (c), vprintf, (a)"),
         "'vprintf' is not declared as the system has it"},
        {CALL("vprintf (.param .b64 x, .param .b64 y)", "call vprintf, (a, b)"),
         "'vprintf' is not declared as the system has it"},
        {CALL("(.param .b32 r) malloc (.param .b64 x)", "call (c), malloc, (a)"),
         "parameter 'r' of the system's 'malloc' has 8 bytes"},
        {CALL("(.param .b64 r) malloc (.param .b64 x)", "mov.u64 %rd, malloc"),
         "the address of the system's function 'malloc' is not implemented"},
        {CALL("(.param .b64 r) not_there (.param .b64 x)", "call (b), not_there, (a)"),
         "'not_there'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model *model;
        struct rt *rt;
        struct rt_module *module;
        struct rt_kernel *kernel;
        assert_int_equal(model_load(&model, "gtx780"), 0);
        assert_int_equal(rt_create(&rt, model), 0);
        int rc = rt_module_load(rt, &module, "test.ptx", cases[i].ptx, strlen(cases[i].ptx));
        rc = rc < 0 ? rc : rt_kernel_get(module, &kernel, "k");
        assert_true(rc == SONDE_EUNSUPPORTED || rc == SONDE_EINPUT);
        assert_error_has(cases[i].error);
        assert_error_has("test.ptx:");
        rt_destroy(rt);
        model_destroy(model);
    }
}

/* Registers instead of .param variables, constants as arguments, a predicate. */
static void arguments_may_be_registers_and_constants(bool functional)
{
    struct bench bench;
    bench_open_text(&bench,
                    HEAD ".extern .func (.reg .b32 %r) vprintf (.reg .b64 %x, .reg .b64 %y);\n"
                         ".const .align 1 .b8 text[4] = {104, 105, 10, 0};\n"
                         ".visible .entry k(.param .u64 out)\n{\n"
                         ".reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .pred %p;\n"
                         "mov.u32 %r0, %tid.x; setp.gt.u32 %p, %r0, 1; mov.u32 %r1, 77;\n"
                         "mov.u64 %rd0, text; cvta.const.u64 %rd0, %rd0; ld.param.u64 %rd1, "
                         "[out];\n"
                         "@%p call (%r1), vprintf, (%rd0, 0);\n"
                         "mad.wide.u32 %rd1, %r0, 4, %rd1; st.global.u32 [%rd1], %r1; ret;\n}\n",
                    functional);
    uint64_t out = bench_alloc(&bench, 16);
    uint32_t got[4];
    bench_run(&bench, "k", 1, 4, ARGS(&out));
    assert_string_equal(strbuf_text(&bench.printed), "hi\nhi\n");
    bench_get(&bench, got, out, sizeof got);
    assert_int_equal(got[0], 77);
    assert_int_equal(got[1], 77);
    assert_int_equal(got[2], 0);
    assert_int_equal(got[3], 0);
    bench_close(&bench);
}
IN_BOTH_MODES(arguments_may_be_registers_and_constants)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_MODES(every_format_prints_as_on_the_host),
        BOTH_MODES(each_thread_prints_once_and_a_warp_in_order_of_its_lanes),
        BOTH_MODES(runs_repeat),
        BOTH_MODES(a_full_buffer_loses_its_oldest_output),
        BOTH_MODES(calls_without_end_take_no_more_than_the_buffer),
        BOTH_MODES(a_text_prints_as_it_is_at_the_call),
        BOTH_MODES(a_text_of_another_warp_is_there_after_the_barrier),
        BOTH_MODES(what_cannot_be_read_is_a_fault),
        BOTH_MODES(what_was_printed_before_a_fault_is_shown),
        cmocka_unit_test(a_declaration_that_is_not_the_systems_is_refused_at_load),
        BOTH_MODES(arguments_may_be_registers_and_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
