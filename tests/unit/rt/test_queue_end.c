/* How the queue ends with work in it: at the end of the program, and when the device goes while
 * other threads use it. And launches without timing that wait for what comes later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "rt/queue/queue.h"
#include "util/error.h"

static struct model *model;
static struct rt *rt;
static struct rt_kernel *until_set, *count;
static uint64_t flag;

static const char *const text =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry until_set(.param .u64 p)\n{\n"
    ".reg .b32 %r; .reg .b64 %a; .reg .pred %q;\nld.param.u64 %a, [p];\n"
    "L: ld.volatile.global.u32 %r, [%a]; setp.eq.u32 %q, %r, 0; @%q bra L;\nret;\n}\n"
    ".visible .entry count(.param .u64 p)\n{\n.reg .b32 %r; .reg .b64 %a;\n"
    "ld.param.u64 %a, [p]; atom.global.add.u32 %r, [%a], 1;\nret;\n}\n";

static int setup(void **state)
{
    (void)state;
    struct rt_module *module;
    if (model_load(&model, "gtx780") < 0 || rt_create(&rt, model) < 0 ||
        rt_module_load(rt, &module, "test.ptx", text, strlen(text)) < 0 ||
        rt_kernel_get(module, &until_set, "until_set") < 0 || rt_mem_alloc(rt, &flag, 4) < 0 ||
        rt_memset(rt, flag, 0, 4) < 0) {
        return -1;
    }
    rt_set_watchdog(rt, 0);
    return rt_kernel_get(module, &count, "count");
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static int put(struct rt_stream *stream, struct rt_kernel *kernel, bool functional)
{
    const void *args[] = {&flag};
    struct rt_launch launch = {.grid = {2, 1, 1},
                               .block = {32, 1, 1},
                               .args = args,
                               .arg_count = 1,
                               .functional = functional};
    return rt_enqueue_launch(stream, kernel, &launch);
}

static struct rt_stream *other_stream(void)
{
    struct rt_stream *stream = NULL;
    assert_int_equal(rt_stream_create(rt, &stream, RT_STREAM_NONBLOCKING, 0), 0);
    return stream;
}

static void set_flag(struct rt_stream *stream)
{
    struct rt_memset one = {flag, 0, 1, 4, 1, 1};
    assert_int_equal(rt_enqueue_memset(stream, &one), 0);
}

static void an_endless_kernel_ends_with_the_program(void **state)
{
    bool functional = *(bool *)*state;
    assert_int_equal(put(rt_stream_default(rt), until_set, functional), 0);
    assert_int_equal(put(rt_stream_default(rt), count, functional), 0);
    assert_int_equal(rt_finish(rt), SONDE_EINTERRUPTED);
    assert_int_equal(*(uint32_t *)(uintptr_t)flag, 0);
    assert_int_equal(put(rt_stream_default(rt), count, functional), SONDE_EINTERRUPTED);
    assert_int_equal(rt_finish(rt), SONDE_EINTERRUPTED);
}

static void what_is_over_soon_is_complete_at_the_end(void **state)
{
    bool functional = *(bool *)*state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(put(rt_stream_default(rt), count, functional), 0);
    }
    assert_int_equal(rt_finish(rt), 0);
    assert_int_equal(*(uint32_t *)(uintptr_t)flag, 3 * 64);
}

static void a_kernel_may_wait_for_work_of_another_stream(void **state)
{
    bool functional = *(bool *)*state;
    struct rt_stream *stream = other_stream();
    assert_int_equal(put(rt_stream_default(rt), until_set, functional), 0);
    assert_int_equal(put(stream, count, functional), 0);
    assert_int_equal(rt_sync(rt), 0);
}

static void a_poll_comes_back_from_an_endless_kernel(void **state)
{
    bool functional = *(bool *)*state;
    struct rt_stream *stream = other_stream();
    assert_int_equal(put(stream, until_set, functional), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rt_stream_query(stream), RT_BUSY);
    }
    set_flag(rt_stream_default(rt));
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(rt_stream_query(stream), 0);
}

/* Its memory is not taken from under a kernel that a poll has begun. */
static void memory_that_is_freed_stays_until_the_kernel_is_over(void **state)
{
    bool functional = *(bool *)*state;
    struct rt_stream *stream = other_stream();
    uint64_t old = flag, new;
    assert_int_equal(put(stream, until_set, functional), 0);
    assert_int_equal(rt_stream_query(stream), RT_BUSY);
    rt_lock(rt);
    assert_int_equal(rt_mem_free(rt, flag), 0);
    rt_unlock(rt);
    assert_int_equal(rt_stream_query(stream), RT_BUSY);
    *(volatile uint32_t *)(uintptr_t)flag = 1;
    assert_int_equal(rt_sync(rt), 0);
    rt_lock(rt);
    assert_int_equal(rt_mem_alloc(rt, &new, 4), 0);
    rt_unlock(rt);
    assert_int_equal(new, old);
}

static void *wait_for_all(void *ctx)
{
    *(int *)ctx = rt_sync(rt);
    return NULL;
}

static void who_waits_is_told_that_the_device_goes(void **state)
{
    bool functional = *(bool *)*state;
    pthread_t thread[2];
    int rc[2] = {0, 0};
    assert_int_equal(put(rt_stream_default(rt), until_set, functional), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, wait_for_all, &rc[i]), 0);
    }
    rt_close(rt);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(rc[i], SONDE_EDEVICE);
    }
    assert_int_equal(put(rt_stream_default(rt), count, functional), SONDE_EDEVICE);
}

static bool timed = false, without_timing = true;
#define TEST(name)                                                                                 \
    {#name, name, setup_timed, teardown, NULL},                                                    \
    {                                                                                              \
#name ", functional", name, setup_functional, teardown, NULL                               \
    }

static int setup_timed(void **state)
{
    *state = &timed;
    return setup(state);
}

static int setup_functional(void **state)
{
    *state = &without_timing;
    return setup(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_endless_kernel_ends_with_the_program),
        TEST(what_is_over_soon_is_complete_at_the_end),
        TEST(a_kernel_may_wait_for_work_of_another_stream),
        TEST(a_poll_comes_back_from_an_endless_kernel),
        TEST(memory_that_is_freed_stays_until_the_kernel_is_over),
        TEST(who_waits_is_told_that_the_device_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
