/* The division of L1 and shared memory that a launch gets on an H200's model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "rt/queue/queue.h"
#include "util/error.h"

static struct model *model;
static struct rt *rt;
static struct rt_kernel *spin;

static const char *const text =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry spin(.param .u32 times)\n{\n.reg .b32 %r<3>; .reg .pred %p;\n"
    "ld.param.u32 %r1, [times];\nLOOP: sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra "
    "LOOP;\nret;\n}\n";

static int setup(void **state)
{
    (void)state;
    struct rt_module *module;
    if (model_load(&model, "h200") < 0 || rt_create(&rt, model) < 0 ||
        rt_module_load(rt, &module, "test.ptx", text, strlen(text)) < 0 ||
        rt_kernel_get(module, &spin, "spin") < 0) {
        print_error("%s\n", error_text());
        return -1;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static void enqueue(struct rt_stream *stream, uint32_t ctas, uint32_t times, uint64_t shared_bytes)
{
    const void *args[] = {&times};
    struct rt_launch launch = {.grid = {ctas, 1, 1},
                               .block = {64, 1, 1},
                               .dynamic_shared_bytes = shared_bytes,
                               .args = args,
                               .arg_count = 1};
    assert_int_equal(rt_enqueue_launch(stream, spin, &launch), 0);
}

static struct rt_stream *stream_of(unsigned flags)
{
    struct rt_stream *stream;
    assert_int_equal(rt_stream_create(rt, &stream, flags, 0), 0);
    return stream;
}

static uint64_t shared_of_launch(uint64_t dynamic_shared_bytes)
{
    struct rt_stream *stream = stream_of(0);
    enqueue(stream, 1, 10, dynamic_shared_bytes);
    assert_int_equal(rt_stream_sync(stream), 0);
    return model->carveout.choice[gpu_carveout_in_force(rt_gpu(rt))].shared_bytes;
}

/* Blocks of 64 threads: 32 fit an SM. */
static void shared_memory_bounds_no_occupancy_unless_a_carve_out_is_preferred(void **state)
{
    (void)state;
    uint32_t blocks;
    uint64_t l1_bytes;
    assert_int_equal(shared_of_launch(0), 8 << 10);
    assert_int_equal(shared_of_launch(1024), 32 << 10);
    assert_int_equal(shared_of_launch(4224), 132 << 10);
    assert_int_equal(shared_of_launch(100000), 196 << 10);
    assert_int_equal(rt_occupancy(rt, &blocks, spin, 64, 4224), 0);
    assert_int_equal(blocks, 32);
    assert_int_equal(rt_set_carveout(rt, 8 << 10, &l1_bytes), 0);
    assert_int_equal(shared_of_launch(4224), 8 << 10);
    assert_int_equal(rt_occupancy(rt, &blocks, spin, 64, 4224), 0);
    assert_int_equal(blocks, 1);
    rt_drop_carveout(rt);
    assert_int_equal(shared_of_launch(4224), 132 << 10);
}

/* The second needs more to have all its blocks beside each other, but one fits what is there. */
static void who_finds_others_there_takes_their_carve_out(void **state)
{
    (void)state;
    struct rt_stream *stream = stream_of(RT_STREAM_NONBLOCKING);
    enqueue(stream, 2, 100000, 0);
    assert_int_equal(rt_stream_query(stream), RT_BUSY);
    assert_int_equal(shared_of_launch(4224), 8 << 10);
    assert_int_equal(rt_stream_query(stream), RT_BUSY);
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(shared_of_launch(4224), 132 << 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            shared_memory_bounds_no_occupancy_unless_a_carve_out_is_preferred, setup, teardown),
        cmocka_unit_test_setup_teardown(who_finds_others_there_takes_their_carve_out, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
