/* The command queue: order inside and between streams, events, copies, host functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rt/queue/queue.h"
#include "util/error.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static struct model *model;
static struct rt *rt;
static struct rt_stream *null_stream;
static struct rt_kernel *scale;

/* data[i] = data[i] * factor + 1 */
static const char *const text =
    HEAD ".visible .entry scale(.param .u64 data, .param .u32 factor)\n{\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [factor];\n"
         "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
         "mad.lo.u32 %r2, %r2, %r3, %r4; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;\n"
         "ld.global.u32 %r5, [%rd1]; mad.lo.u32 %r5, %r5, %r1, 1; st.global.u32 [%rd1], %r5;\n"
         "ret;\n}\n"
         ".visible .entry wild()\n{\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
         "mov.u64 %rd1, 16; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1; ret;\n}\n";

static int setup(void **state)
{
    (void)state;
    struct rt_module *module;
    if (model_load(&model, "gtx780") < 0 || rt_create(&rt, model) < 0 ||
        rt_module_load(rt, &module, "test.ptx", text, strlen(text)) < 0 ||
        rt_kernel_get(module, &scale, "scale") < 0) {
        return -1;
    }
    null_stream = rt_stream_default(rt);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static struct rt_stream *stream_of(unsigned flags, int priority)
{
    struct rt_stream *stream;
    assert_int_equal(rt_stream_create(rt, &stream, flags, priority), 0);
    return stream;
}

static uint64_t take(uint64_t bytes)
{
    uint64_t address;
    assert_int_equal(rt_mem_alloc(rt, &address, bytes), 0);
    return address;
}

static void launch_scale(struct rt_stream *stream, uint64_t data, uint32_t factor)
{
    const void *args[] = {&data, &factor};
    struct rt_launch launch = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .arg_count = 2};
    assert_int_equal(rt_enqueue_launch(stream, scale, &launch), 0);
}

static struct rt_copy copy_of(void *host, uint64_t device, uint64_t bytes, bool to_device)
{
    struct rt_end h = {.kind = RT_END_HOST, .host = host, .pinned = true};
    struct rt_end d = {.kind = RT_END_DEVICE, .device = device};
    return (struct rt_copy){.dst = to_device ? d : h,
                            .src = to_device ? h : d,
                            .width_bytes = bytes,
                            .height = 1,
                            .depth = 1};
}

static void work_of_one_stream_happens_in_order(void **state)
{
    (void)state;
    struct rt_stream *stream = stream_of(0, 0);
    uint32_t in[32], out[32] = {0};
    for (uint32_t i = 0; i < 32; i++) {
        in[i] = i;
    }
    uint64_t data = take(sizeof in);
    struct rt_copy down = copy_of(in, data, sizeof in, true);
    struct rt_copy up = copy_of(out, data, sizeof out, false);
    assert_int_equal(rt_enqueue_copy(stream, &down), 0);
    launch_scale(stream, data, 3);
    launch_scale(stream, data, 5);
    assert_int_equal(rt_enqueue_copy(stream, &up), 0);
    assert_int_equal(rt_stream_sync(stream), 0);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[i], (i * 3 + 1) * 5 + 1);
    }
    assert_int_equal(rt_stream_query(stream), 0);
    assert_int_equal(rt_stream_destroy(stream), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(work_of_one_stream_happens_in_order, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
