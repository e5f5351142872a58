/*
 * Launches by kernels: what nvcc makes of child<<<>>>, in the queue; when a parent is over; errors;
 * functional and with timing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "rt/queue/queue.h"
#include "util/error.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define RUNTIME                                                                                    \
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f,\n"                \
    ".param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"                      \
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"      \
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError();\n"
/* child<<<1, block, 0, stream>>>(out, value); %r9: 0 where there is no buffer */
#define LAUNCH(label, child, block, stream, value)                                                 \
    "{\n.param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s;\n"     \
    ".param .b64 r; mov.u64 %rd2, " child "; st.param.b64 [f], %rd2; st.param.b32 [g], 1;\n"       \
    "st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [b], " block ";\n"                 \
    "st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;\n"                         \
    "call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %rd3, [r];\n}\n"     \
    "setp.ne.s64 %p1, %rd3, 0; mov.u32 %r9, 0; @!%p1 bra NONE" label ";\n"                         \
    "st.u64 [%rd3], %rd1; mov.u32 %r2, " value ";\n"                                               \
    "st.u32 [%rd3+8], %r2; mov.u32 %r9, 1;\n"                                                      \
    "{\n.param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %rd3;\n"                    \
    "st.param.b64 [s], " stream "; call.uni (r), __cudaCDP2LaunchDeviceV2, (p, s);\n"              \
    "ld.param.b32 %r3, [r];\n}\nNONE" label ":\n"
#define KERNEL(name)                                                                               \
    ".visible .entry " name "(.param .u64 out, .param .u32 value)\n{\n"                            \
    ".reg .b32 %r<12>; .reg .b64 %rd<6>; .reg .pred %p<4>;\n"                                      \
    "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value];\n"

static const char *const text = HEAD RUNTIME
    /* out[0] = out[0] * 10 + value */
    KERNEL("digit") "ld.global.u32 %r2, [%rd1]; mad.lo.u32 %r2, %r2, 10, %r1;\n"
                    "st.global.u32 [%rd1], %r2; ret;\n}\n"
    /* `value` more generations, and a digit behind each. */
    KERNEL("line") "setp.eq.u32 %p0, %r1, 0; @%p0 bra DONE; sub.u32 %r5, %r1, 1;\n" LAUNCH(
        "A", "line", "1", "0",
        "%r5") "DONE: st.global.u32 [%rd1+64], %r1; ret;\n}\n" KERNEL("ordered")
        LAUNCH("A", "digit", "1", "3", "5") LAUNCH("B", "digit", "1", "0", "1")
            LAUNCH("C", "digit", "1", "0", "2")
                LAUNCH("D", "digit", "1", "3",
                       "6") "st.global.u32 [%rd1+64], 77; ret;\n}\n" KERNEL("wrong")
                    LAUNCH("A", "digit", "2048", "0",
                           "1") "{\n.param .b32 r; call.uni (r), __cudaCDP2GetLastError, (); "
                                "ld.param.b32 %r4, [r];\n}\n"
                                "st.global.u32 [%rd1+4], %r4;\n"
                                "{\n.param .b32 r; call.uni (r), __cudaCDP2GetLastError, (); "
                                "ld.param.b32 %r4, [r];\n}\n"
                                "st.global.u32 [%rd1+8], %r4; st.global.u32 [%rd1+12], %r9; "
                                "ret;\n}\n" KERNEL(
                                    "wild") "mov.u64 %rd1, 64; st.global.u32 [%rd1], %r1; "
                                            "ret;\n}\n" KERNEL("bad_child")
                                                LAUNCH("A", "wild", "1", "0", "1")
                                                    LAUNCH("B", "digit", "1", "3", "1") "ret;\n}\n";

static struct model *model;
static struct rt *rt;
static struct rt_module *module;
static struct rt_stream *stream;
static uint64_t out;
static uint32_t words[32];

static int setup(void **state)
{
    (void)state;
    if (model_load(&model, "gtx780") < 0 || rt_create(&rt, model) < 0 ||
        rt_module_load(rt, &module, "children.ptx", text, strlen(text)) < 0) {
        print_error("%s\n", error_text());
        return -1;
    }
    stream = rt_stream_default(rt);
    return rt_mem_alloc(rt, &out, sizeof words);
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static void enqueue(const char *name, uint32_t value, bool functional)
{
    struct rt_kernel *kernel;
    const void *args[] = {&out, &value};
    struct rt_launch launch = {.grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .args = args,
                               .arg_count = 2,
                               .functional = functional};
    if (rt_kernel_get(module, &kernel, name) < 0) {
        fail_msg("%s", error_text());
    }
    assert_int_equal(rt_enqueue_launch(stream, kernel, &launch), 0);
}

static void fetch(void)
{
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(rt_copy_from_device(rt, words, out, sizeof words), 0);
}

static void clear(void)
{
    assert_int_equal(rt_memset(rt, out, 0, sizeof words), 0);
}

static void what_follows_a_parent_waits_for_its_descendants(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        clear();
        enqueue("line", 6, functional);
        enqueue("digit", 4, functional);
        fetch();
        assert_int_equal(words[16], 0); /* the youngest was the last */
        assert_int_equal(words[0], 4);
    }
}

static void streams_and_tails_keep_their_order(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        clear();
        enqueue("ordered", 0, functional);
        enqueue("digit", 9, functional);
        fetch();
        assert_int_equal(words[0], 12569);
        assert_int_equal(words[16], 77);
    }
}

/* The latency of a launch by a kernel is the model's; seven generations have six. */
static void generations_take_the_models_time(void **state)
{
    (void)state;
    int64_t took_ps[2];
    for (int i = 0; i < 2; i++) {
        struct rt_event *begin, *end;
        if (i == 1) {
            teardown(NULL);
            const char *slow = "inherits: gtx780\ndevice_launch_latency: 25000 cycles\n";
            assert_int_equal(model_parse(&model, "m.yaml", slow, strlen(slow)), 0);
            assert_int_equal(rt_create(&rt, model), 0);
            assert_int_equal(rt_module_load(rt, &module, "c.ptx", text, strlen(text)), 0);
            stream = rt_stream_default(rt);
            assert_int_equal(rt_mem_alloc(rt, &out, sizeof words), 0);
        }
        assert_int_equal(rt_event_create(rt, &begin, 0), 0);
        assert_int_equal(rt_event_create(rt, &end, 0), 0);
        assert_int_equal(rt_event_record(begin, stream), 0);
        enqueue("line", 6, false);
        assert_int_equal(rt_event_record(end, stream), 0);
        fetch();
        assert_int_equal(rt_event_elapsed(&took_ps[i], begin, end), 0);
        assert_int_equal(rt_event_destroy(begin), 0);
        assert_int_equal(rt_event_destroy(end), 0);
    }
    int64_t more_ps = 6 * 20000 * (int64_t)model->core_period_ps;
    assert_in_range(took_ps[1] - took_ps[0], more_ps - more_ps / 100, more_ps + more_ps / 100);
}

static void too_large_a_block_is_the_threads_error(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        clear();
        enqueue("wrong", 0, functional);
        fetch();
        const uint32_t wanted[4] = {0, 9, 0, 0}; /* cudaErrorInvalidConfiguration, once */
        assert_memory_equal(words, wanted, sizeof wanted);
    }
}

static void a_childs_fault_spoils_the_context(void **state)
{
    (void)state;
    enqueue("bad_child", 0, false);
    assert_int_equal(rt_stream_sync(stream), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "kernel 'wild'"));
}

/* Tails that have not begun go with the context. */
static void a_parent_may_be_left_behind(void **state)
{
    (void)state;
    enqueue("ordered", 0, false);
    enqueue("line", 6, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_follows_a_parent_waits_for_its_descendants, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(streams_and_tails_keep_their_order, setup, teardown),
        cmocka_unit_test_setup_teardown(generations_take_the_models_time, setup, teardown),
        cmocka_unit_test_setup_teardown(too_large_a_block_is_the_threads_error, setup, teardown),
        cmocka_unit_test_setup_teardown(a_childs_fault_spoils_the_context, setup, teardown),
        cmocka_unit_test_setup_teardown(a_parent_may_be_left_behind, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
