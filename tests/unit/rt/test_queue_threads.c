/* The queue with several host threads: the watchdog, and threads that put work in while another
 * one's kernels run. Nothing here is a race of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rt/queue/queue.h"
#include "util/error.h"

enum { THREADS = 4, ROUNDS = 20, WORDS = 64 };

static struct model *model;
static struct rt *rt;
static struct rt_kernel *add;
static atomic_int reached;

/* data[i] += value, after some hundred cycles */
static const char *const text =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 data, .param .u32 value)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [value];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r2, %r2, %r3, %r4; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r6, 50;\nLOOP: sub.u32 %r6, %r6, 1; setp.ne.u32 %p, %r6, 0; @%p bra LOOP;\n"
    "ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r1; st.global.u32 [%rd1], %r5;\nret;\n}\n";

static int setup(void **state)
{
    (void)state;
    struct rt_module *module;
    atomic_store(&reached, 0);
    if (model_load(&model, "gtx780") < 0 || rt_create(&rt, model) < 0 ||
        rt_set_threads(rt, 2) < 0 ||
        rt_module_load(rt, &module, "test.ptx", text, strlen(text)) < 0) {
        return -1;
    }
    return rt_kernel_get(module, &add, "add");
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static int put_add(struct rt_stream *stream, uint64_t data, uint32_t value)
{
    const void *args[] = {&data, &value};
    struct rt_launch launch = {
        .grid = {2, 1, 1}, .block = {WORDS / 2, 1, 1}, .args = args, .arg_count = 2};
    return rt_enqueue_launch(stream, add, &launch);
}

static int take_zeroed(uint64_t *address, struct rt_stream *stream)
{
    rt_lock(rt);
    int rc = rt_mem_alloc(rt, address, WORDS * 4);
    rt_unlock(rt);
    struct rt_memset zero = {*address, 0, 0, 4, WORDS, 1};
    return rc < 0 ? rc : rt_enqueue_memset(stream, &zero);
}

static void say_reached(void *ctx)
{
    atomic_fetch_add(&reached, *(int *)ctx);
}

static void work_goes_on_when_the_host_calls_nothing(void **state)
{
    (void)state;
    uint64_t data;
    int one = 1;
    struct rt_stream *stream;
    assert_int_equal(rt_stream_create(rt, &stream, 0, 0), 0);
    assert_int_equal(take_zeroed(&data, stream), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(put_add(stream, data, 2), 0);
        assert_int_equal(rt_enqueue_host(stream, say_reached, &one), 0);
    }
    while (atomic_load(&reached) < 3) {
    }
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(*(uint32_t *)(uintptr_t)data, 6);
}

static void with_the_watchdog_off_nothing_does(void **state)
{
    (void)state;
    int one = 1;
    rt_set_watchdog(rt, 0);
    assert_int_equal(rt_enqueue_host(rt_stream_default(rt), say_reached, &one), 0);
    struct timespec wait = {.tv_nsec = 60000000};
    nanosleep(&wait, NULL);
    assert_int_equal(atomic_load(&reached), 0);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(atomic_load(&reached), 1);
}

/* One thread's program: its own stream, its own memory. */
static void *work(void *ctx)
{
    int *rc = ctx;
    struct rt_stream *stream;
    struct rt_event *event;
    uint64_t data = 0;
    uint32_t sum = 0, out[WORDS];
    struct rt_copy up = {.dst = {.kind = RT_END_HOST, .host = out},
                         .width_bytes = sizeof out,
                         .height = 1,
                         .depth = 1};
    *rc = rt_stream_create(rt, &stream, RT_STREAM_NONBLOCKING, 0);
    if (*rc < 0) {
        return NULL;
    }
    *rc = rt_event_create(rt, &event, 0);
    *rc = *rc < 0 ? *rc : take_zeroed(&data, stream);
    up.src = (struct rt_end){.kind = RT_END_DEVICE, .device = data};
    for (uint32_t i = 0; *rc >= 0 && i < ROUNDS; i++) {
        *rc = put_add(stream, data, i);
        sum += i;
        if (*rc == 0 && i % 3 == 0) {
            *rc = rt_event_record(event, stream);
            *rc = *rc < 0 ? *rc : rt_event_sync(event);
        } else if (*rc == 0 && i % 3 == 1) {
            *rc = rt_enqueue_copy(stream, &up); /* waits */
            *rc = *rc == 0 && out[WORDS - 1] != sum ? SONDE_EINTERNAL : *rc;
        } else if (*rc == 0) {
            *rc = rt_stream_query(stream);
        }
    }
    *rc = *rc < 0 ? *rc : rt_stream_sync(stream);
    *rc = *rc < 0 ? *rc : rt_enqueue_copy(stream, &up);
    *rc = *rc == 0 && out[0] != sum ? SONDE_EINTERNAL : *rc;
    rt_event_destroy(event);
    rt_stream_destroy(stream);
    return NULL;
}

static void threads_have_streams_of_their_own(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    int rc[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, work, &rc[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(rc[i], 0);
    }
}

/* Work is left when the device goes. */
static void a_device_may_be_destroyed_while_the_watchdog_works(void **state)
{
    (void)state;
    uint64_t data;
    int one = 1;
    struct rt_stream *stream;
    assert_int_equal(rt_stream_create(rt, &stream, 0, 0), 0);
    assert_int_equal(take_zeroed(&data, stream), 0);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(put_add(stream, data, 1), 0);
        assert_int_equal(rt_enqueue_host(stream, say_reached, &one), 0);
    }
    while (atomic_load(&reached) == 0) {
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(work_goes_on_when_the_host_calls_nothing),
        TEST(with_the_watchdog_off_nothing_does),
        TEST(threads_have_streams_of_their_own),
        TEST(a_device_may_be_destroyed_while_the_watchdog_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
