/* The command queue: order inside and between streams, events, copies, host functions, faults, a
 * host that waits for memory. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/queue_rig.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static struct rt_stream *null_stream;
static struct rt_module *module;
static struct rt_kernel *scale, *wild, *spin, *ask;

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
         "mov.u64 %rd1, 16; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1; ret;\n}\n"
         ".visible .entry spin(.param .u32 times)\n{\n.reg .b32 %r<3>; .reg .pred %p;\n"
         "ld.param.u32 %r1, [times];\nLOOP: sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra "
         "LOOP;\nret;\n}\n"
         /* waits for flag[0], then sets flag[1] */
         ".visible .entry ask(.param .u64 flag)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred "
         "%p;\nld.param.u64 %rd1, [flag];\n"
         "LOOP: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra LOOP;\n"
         "add.u32 %r1, %r1, 1; st.volatile.global.u32 [%rd1+4], %r1;\nret;\n}\n";

static int build(const char *name)
{
    if (device_open(name) < 0 || rt_module_load(rt, &module, "test.ptx", text, strlen(text)) < 0 ||
        rt_kernel_get(module, &scale, "scale") < 0 || rt_kernel_get(module, &wild, "wild") < 0 ||
        rt_kernel_get(module, &spin, "spin") < 0 || rt_kernel_get(module, &ask, "ask") < 0) {
        print_error("%s\n", error_text());
        return -1;
    }
    null_stream = rt_stream_default(rt);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return build("gtx780");
}

static int setup_k20(void **state)
{
    (void)state;
    return build("k20");
}

static void launch_scale(struct rt_stream *stream, uint64_t data, uint32_t factor)
{
    const void *args[] = {&data, &factor};
    struct rt_launch launch = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .arg_count = 2};
    assert_int_equal(rt_enqueue_launch(stream, scale, &launch), 0);
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

static void launch_spin(struct rt_stream *stream, uint32_t ctas, uint32_t times)
{
    const void *args[] = {&times};
    struct rt_launch launch = {
        .grid = {ctas, 1, 1}, .block = {64, 1, 1}, .args = args, .arg_count = 1};
    assert_int_equal(rt_enqueue_launch(stream, spin, &launch), 0);
}

static struct rt_event *event_in(struct rt_stream *stream)
{
    struct rt_event *event;
    assert_int_equal(rt_event_create(rt, &event, 0), 0);
    assert_int_equal(rt_event_record(event, stream), 0);
    return event;
}

static int64_t between(struct rt_event *begin, struct rt_event *end)
{
    int64_t ps;
    assert_int_equal(rt_event_sync(begin), 0);
    assert_int_equal(rt_event_sync(end), 0);
    assert_int_equal(rt_event_elapsed(&ps, begin, end), 0);
    return ps;
}

static void forget(struct rt_event *event)
{
    assert_int_equal(rt_event_destroy(event), 0);
}

enum { LARGE = 6000000 };
static uint8_t large[LARGE];

static void copies_take_the_time_of_the_link(void **state)
{
    (void)state;
    uint64_t data = take(LARGE);
    struct rt_stream *stream = stream_of(0, 0);
    struct rt_copy pinned = copy_of(large, data, LARGE, true), pageable = pinned;
    pageable.src.pinned = false;
    struct rt_event *begin = event_in(stream);
    assert_int_equal(rt_enqueue_copy(stream, &pinned), 0);
    struct rt_event *middle = event_in(stream);
    assert_int_equal(rt_enqueue_copy(stream, &pageable), 0);
    struct rt_event *end = event_in(stream);
    /* 12 GB/s and 6 GB/s, and 1500 ns each */
    assert_int_equal(between(begin, middle), 500000000 + 1500000);
    assert_int_equal(between(middle, end), 1000000000 + 1500000);
    forget(begin);
    forget(middle);
    forget(end);
}

/* The two directions: how long both take together. */
static int64_t both_ways(void)
{
    uint64_t data = take(2 * LARGE);
    struct rt_stream *down = stream_of(0, 0), *up = stream_of(0, 0);
    struct rt_copy to = copy_of(large, data, LARGE, true);
    struct rt_copy from = copy_of(large, data + LARGE, LARGE, false);
    struct rt_event *begin = event_in(down);
    assert_int_equal(rt_enqueue_copy(down, &to), 0);
    assert_int_equal(rt_enqueue_copy(up, &from), 0);
    struct rt_event *end = event_in(up);
    int64_t ps = between(begin, end);
    forget(begin);
    forget(end);
    return ps;
}

static void one_copy_engine_copies_one_way_at_a_time(void **state)
{
    (void)state;
    assert_int_equal(both_ways(), 2 * (500000000 + 1500000));
}

static void two_copy_engines_copy_both_ways_at_once(void **state)
{
    (void)state;
    assert_int_equal(both_ways(), 1000000000 + 1500000); /* a K20's link is half as fast */
}

static void the_default_stream_waits_for_blocking_streams_only(void **state)
{
    (void)state;
    uint64_t data = take(LARGE);
    struct rt_stream *blocking = stream_of(0, 0);
    struct rt_stream *apart = stream_of(RT_STREAM_NONBLOCKING, 0);
    struct rt_copy copy = copy_of(large, data, LARGE, true);
    struct rt_event *begin = event_in(null_stream);
    assert_int_equal(rt_enqueue_copy(apart, &copy), 0);
    struct rt_event *before = event_in(null_stream);
    assert_int_equal(between(begin, before), 0);
    assert_int_equal(rt_sync(rt), 0);
    struct rt_event *again = event_in(null_stream);
    assert_int_equal(rt_enqueue_copy(blocking, &copy), 0);
    struct rt_event *behind = event_in(null_stream);
    assert_int_equal(between(again, behind), 500000000 + 1500000);
    /* And a blocking stream waits for the default one, another does not. */
    struct rt_event *start = event_in(null_stream);
    assert_int_equal(rt_enqueue_copy(null_stream, &copy), 0);
    struct rt_event *later = event_in(blocking), *at_once = event_in(apart);
    assert_int_equal(between(start, later), 500000000 + 1500000);
    assert_int_equal(between(start, at_once), 0);
    struct rt_event *all[] = {begin, before, again, behind, start, later, at_once};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        forget(all[i]);
    }
}

static void a_stream_waits_for_the_record_that_the_event_had_then(void **state)
{
    (void)state;
    uint32_t out[32] = {0};
    uint64_t data = take(sizeof out);
    struct rt_memset zero = {data, 0, 0, 4, 32, 1};
    struct rt_stream *a = stream_of(0, 0), *b = stream_of(0, 0);
    assert_int_equal(rt_enqueue_memset(a, &zero), 0);
    launch_spin(a, 1, 2000);
    launch_scale(a, data, 1); /* 1 */
    struct rt_event *event = event_in(a);
    assert_int_equal(rt_stream_wait(b, event), 0);
    launch_scale(b, data, 10); /* 11 */
    launch_spin(a, 1, 20000);
    assert_int_equal(rt_event_record(event, a), 0); /* another record: b does not wait for it */
    struct rt_copy up = copy_of(out, data, sizeof out, false);
    assert_int_equal(rt_enqueue_copy(b, &up), 0);
    struct rt_event *end = event_in(b);
    assert_true(between(end, event) > 0);
    assert_int_equal(out[0], 11);
    forget(event);
    forget(end);
}

struct told {
    uint32_t count, shared;
    uint64_t begin_ps[64], end_ps[64], cycles, stream[64];
    int status;
};

static void tell(void *ctx, const struct rt_done *launch)
{
    struct told *told = ctx;
    told->begin_ps[told->count] = launch->begin_ps;
    told->stream[told->count] = launch->stream_id;
    told->end_ps[told->count++] = launch->end_ps;
    told->shared += launch->shared;
    told->cycles += launch->cycles;
    told->status = launch->status;
}

static void kernels_of_two_streams_run_side_by_side(void **state)
{
    (void)state;
    struct told told = {0};
    rt_set_done(rt, tell, &told);
    struct rt_stream *a = stream_of(0, 0), *b = stream_of(0, 0);
    launch_spin(a, 3, 5000);
    launch_spin(b, 3, 5000);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.shared, 2);
    assert_int_equal(told.begin_ps[0], told.begin_ps[1]);
    launch_spin(a, 3, 5000);
    launch_spin(a, 3, 5000);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(told.count, 4);
    assert_int_equal(told.shared, 2);
    assert_true(told.begin_ps[3] >= told.end_ps[2]);
}

static void a_kernel_and_a_copy_overlap(void **state)
{
    (void)state;
    uint64_t data = take(LARGE);
    struct rt_stream *a = stream_of(0, 0), *b = stream_of(0, 0);
    struct rt_copy copy = copy_of(large, data, LARGE, true);
    struct rt_event *begin = event_in(a);
    launch_spin(a, 3, 10000); /* about 200 us */
    struct rt_event *kernel = event_in(a);
    assert_int_equal(rt_enqueue_copy(b, &copy), 0);
    launch_spin(b, 3, 100); /* it begins behind the copy, to the cycle */
    struct rt_event *end = event_in(b);
    struct told told = {0};
    rt_set_done(rt, tell, &told);
    int64_t all = between(begin, end);
    assert_in_range(all, 501500000, 501500000 + 20000000);
    assert_true(between(begin, kernel) > 100000000 && between(kernel, end) > 0);
    assert_in_range(told.begin_ps[1], 501500000, 501500000 + model->core_period_ps);
    forget(begin);
    forget(kernel);
    forget(end);
}

static void work_of_higher_priority_goes_first(void **state)
{
    (void)state;
    int least, greatest;
    rt_stream_priorities(rt, &least, &greatest);
    assert_true(greatest < least);
    struct told told = {0};
    rt_set_done(rt, tell, &told);
    struct rt_stream *low = stream_of(0, least), *high = stream_of(0, greatest);
    for (int i = 0; i < 3; i++) {
        launch_spin(low, 3000, 20);
    }
    launch_spin(high, 3000, 20);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(told.count, 4);
    assert_int_equal(told.stream[0], rt_stream_id(high));
}

struct seen {
    int order[16], count, refused, status;
};
static struct seen seen;

static void note(void *ctx)
{
    seen.order[seen.count++] = (int)(intptr_t)ctx;
    seen.refused = rt_stream_sync(null_stream);
}

static void note_status(void *ctx, int status)
{
    (void)ctx;
    seen.count++;
    seen.status = status;
}

static void host_functions_run_in_order_and_may_not_call_the_device(void **state)
{
    (void)state;
    seen = (struct seen){0};
    struct rt_stream *stream = stream_of(0, 0);
    assert_int_equal(rt_enqueue_host(stream, note, (void *)1), 0);
    launch_spin(stream, 1, 100);
    assert_int_equal(rt_enqueue_host(stream, note, (void *)2), 0);
    assert_int_equal(rt_enqueue_callback(stream, note_status, NULL), 0);
    assert_int_equal(seen.count, 0);
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.order[0], 1);
    assert_int_equal(seen.order[1], 2);
    assert_int_equal(seen.refused, SONDE_EUSAGE);
    assert_int_equal(seen.status, 0);
}

static void a_fault_sticks_and_callbacks_are_told(void **state)
{
    (void)state;
    seen = (struct seen){0};
    uint64_t data = take(128);
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct rt_stream *stream = stream_of(0, 0), *other;
    assert_int_equal(rt_enqueue_launch(stream, wild, &launch), 0);
    assert_int_equal(rt_enqueue_host(stream, note, NULL), 0);
    assert_int_equal(rt_enqueue_callback(stream, note_status, NULL), 0);
    assert_int_equal(rt_stream_sync(stream), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "wild"));
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.status, SONDE_EFAULT);
    struct rt_memset zero = {data, 0, 0, 1, 128, 1};
    assert_int_equal(rt_enqueue_memset(stream, &zero), SONDE_EFAULT);
    assert_int_equal(rt_sync(rt), SONDE_EFAULT);
    assert_int_equal(rt_stream_create(rt, &other, 0, 0), SONDE_EFAULT);
    rt_recover(rt);
    assert_int_equal(rt_enqueue_memset(stream, &zero), 0);
    assert_int_equal(rt_sync(rt), 0);
}

static void what_is_wrong_is_told_at_the_call(void **state)
{
    (void)state;
    uint64_t data = take(1024);
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    assert_int_equal(rt_enqueue_launch(null_stream, spin, &launch), SONDE_EINPUT); /* arguments */
    uint32_t times = 1;
    const void *args[] = {&times};
    launch.args = args;
    launch.arg_count = 1;
    launch.block[0] = 2048;
    assert_int_equal(rt_enqueue_launch(null_stream, spin, &launch), SONDE_EINPUT);
    launch.block[0] = 32;
    launch.dynamic_shared_bytes = 1 << 20;
    assert_int_equal(rt_enqueue_launch(null_stream, spin, &launch), SONDE_EINPUT);
    launch.dynamic_shared_bytes = 0;
    launch.cooperative = true;
    launch.grid[0] = 100000;
    assert_int_equal(rt_enqueue_launch(null_stream, spin, &launch), SONDE_EINPUT);
    struct rt_copy copy = copy_of(large, data, 2048, true);
    assert_int_equal(rt_enqueue_copy(null_stream, &copy), SONDE_EINPUT);
    copy.width_bytes = 32;
    copy.height = 3;
    copy.dst.row_bytes = 16;
    assert_int_equal(rt_enqueue_copy(null_stream, &copy), SONDE_EINPUT);
    struct rt_memset set = {data, 0, 1, 3, 8, 1};
    assert_int_equal(rt_enqueue_memset(null_stream, &set), SONDE_EINPUT);
    assert_int_equal(rt_sync(rt), 0);
}

static void copies_and_memsets_have_rows_and_slices(void **state)
{
    (void)state;
    enum { W = 12, H = 3, D = 2 };
    uint8_t in[W * H * D], out[W * H * D] = {0};
    for (int i = 0; i < W * H * D; i++) {
        in[i] = (uint8_t)(i + 1);
    }
    uint64_t data = take(16384);
    struct rt_memset fill = {data, 0, 0xabcd, 2, 8192, 1};
    assert_int_equal(rt_enqueue_memset(null_stream, &fill), 0);
    struct rt_copy down = copy_of(in, data, W, true);
    down.height = H;
    down.depth = D;
    down.dst.row_bytes = 100;
    down.dst.slice_rows = 10;
    down.dst.x_bytes = 4;
    down.dst.y = 1;
    down.dst.z = 1;
    struct rt_copy up = down;
    up.src = down.dst;
    up.dst = down.src;
    up.dst.host = out;
    assert_int_equal(rt_enqueue_copy(null_stream, &down), 0);
    assert_int_equal(rt_enqueue_copy(null_stream, &up), 0);
    assert_int_equal(rt_sync(rt), 0);
    assert_memory_equal(in, out, sizeof in);
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)data;
    assert_int_equal(bytes[1000 + 100 + 4], 1);
    assert_int_equal(bytes[2000 + 300 + 4 + 11], W * H * D);
    assert_int_equal(bytes[2000 + 300 + 4 + 12], 0xcd);
    assert_int_equal(bytes[2000 + 300 + 4 + 13], 0xab);
    struct rt_memset rows = {data, 100, 7, 4, 2, 3};
    assert_int_equal(rt_enqueue_memset(null_stream, &rows), 0);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(bytes[204], 7);
    assert_int_equal(bytes[205], 0);
    assert_int_equal(bytes[208], 0xcd);
}

static void a_pageable_source_may_change_after_the_call(void **state)
{
    (void)state;
    uint32_t in[32], out[32];
    memset(in, 1, sizeof in);
    uint64_t data = take(sizeof in);
    struct rt_stream *stream = stream_of(0, 0);
    struct rt_copy down = copy_of(in, data, sizeof in, true);
    down.src.pinned = false;
    assert_int_equal(rt_enqueue_copy(stream, &down), 0);
    memset(in, 2, sizeof in);
    struct rt_copy up = copy_of(out, data, sizeof out, false);
    up.dst.pinned = false; /* waits */
    assert_int_equal(rt_enqueue_copy(stream, &up), 0);
    assert_int_equal(out[31], 0x01010101);
}

static void launch_ask(struct rt_stream *stream, uint64_t flag)
{
    const void *args[] = {&flag};
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .arg_count = 1};
    assert_int_equal(rt_enqueue_launch(stream, ask, &launch), 0);
}

/* Device memory is the host's: a host may watch it without calling anything. */
static void a_host_that_only_watches_memory_sees_work_go_on(void **state)
{
    (void)state;
    uint64_t address = take(8);
    volatile uint32_t *flag = (volatile uint32_t *)(uintptr_t)address;
    struct rt_stream *stream = stream_of(0, 0);
    launch_ask(stream, address);
    __atomic_store_n(&flag[0], 41, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&flag[1], __ATOMIC_SEQ_CST) != 42) {
    }
    assert_int_equal(rt_stream_sync(stream), 0);
}

/* The kernel runs for ever unless other work can be put in while it does. */
static void work_that_is_put_in_while_a_kernel_runs_begins(void **state)
{
    (void)state;
    uint64_t address = take(8);
    struct rt_stream *stream = stream_of(RT_STREAM_NONBLOCKING, 0);
    struct rt_stream *other = stream_of(RT_STREAM_NONBLOCKING, 0);
    launch_ask(stream, address);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(rt_stream_query(stream), RT_BUSY);
    }
    struct rt_memset set = {address, 0, 5, 4, 1, 1};
    assert_int_equal(rt_enqueue_memset(other, &set), 0);
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(((uint32_t *)(uintptr_t)address)[1], 6);
}

static void *set_flag(void *ctx)
{
    struct rt_stream *stream = stream_of(RT_STREAM_NONBLOCKING, 0);
    struct rt_memset set = {*(uint64_t *)ctx, 0, 8, 4, 1, 1};
    assert_int_equal(rt_enqueue_memset(stream, &set), 0);
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(rt_stream_destroy(stream), 0);
    return NULL;
}

static void another_thread_gets_its_work_in_while_one_waits(void **state)
{
    (void)state;
    uint64_t address = take(8);
    struct rt_stream *stream = stream_of(RT_STREAM_NONBLOCKING, 0);
    launch_ask(stream, address);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, set_flag, &address), 0);
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(((uint32_t *)(uintptr_t)address)[1], 9);
}

static volatile int cancel;

static void *cancel_later(void *ctx)
{
    struct timespec wait = {.tv_nsec = 50000000};
    nanosleep(&wait, NULL);
    __atomic_store_n(&cancel, 1, __ATOMIC_SEQ_CST);
    return ctx;
}

static void an_interruption_stops_in_the_middle_of_a_kernel(void **state)
{
    (void)state;
    struct told told = {0};
    cancel = 0;
    rt_set_done(rt, tell, &told);
    rt_set_cancel(rt, &cancel);
    launch_ask(null_stream, take(8)); /* for ever */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_later, NULL), 0);
    assert_int_equal(rt_sync(rt), SONDE_EINTERRUPTED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.status, SONDE_EINTERRUPTED);
    assert_true(told.cycles > 0);
    assert_int_equal(rt_sync(rt), SONDE_EINTERRUPTED);
    rt_set_cancel(rt, NULL);
}

static void a_launch_ends_after_its_most_cycles(void **state)
{
    (void)state;
    uint64_t flag = take(8);
    const void *args[] = {&flag};
    struct rt_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .arg_count = 1, .max_cycles = 50000};
    assert_int_equal(rt_enqueue_launch(null_stream, ask, &launch), 0);
    assert_int_equal(rt_sync(rt), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "50000 cycles"));
}

static void functional_launches_keep_the_order(void **state)
{
    (void)state;
    uint32_t out[32];
    uint64_t data = take(sizeof out), in = data;
    uint32_t factor = 3;
    const void *args[] = {&in, &factor};
    struct rt_launch launch = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .arg_count = 2, .functional = true};
    struct rt_memset one = {data, 0, 1, 4, 32, 1};
    struct rt_copy up = copy_of(out, data, sizeof out, false);
    struct told told = {0};
    rt_set_done(rt, tell, &told);
    assert_int_equal(rt_enqueue_memset(null_stream, &one), 0);
    assert_int_equal(rt_enqueue_launch(null_stream, scale, &launch), 0); /* 4 */
    launch_scale(null_stream, data, 10);                                 /* 41, timed */
    factor = 2;
    assert_int_equal(rt_enqueue_launch(null_stream, scale, &launch), 0); /* 83 */
    assert_int_equal(rt_enqueue_copy(null_stream, &up), 0);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(out[7], 83);
    assert_int_equal(told.count, 3); /* those without timing are told of too, and take none */
    assert_true(told.end_ps[0] == told.begin_ps[0] && told.end_ps[1] > told.begin_ps[1]);
}

static void events_tell_what_they_are_not(void **state)
{
    (void)state;
    struct rt_event *untimed, *never;
    int64_t ps;
    assert_int_equal(rt_event_create(rt, &untimed, RT_EVENT_NO_TIMING), 0);
    assert_int_equal(rt_event_create(rt, &never, 0), 0);
    assert_int_equal(rt_event_query(never), 0);
    assert_int_equal(rt_event_sync(never), 0);
    struct rt_event *event = event_in(null_stream);
    assert_int_equal(rt_event_record(untimed, null_stream), 0);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(rt_event_elapsed(&ps, event, never), SONDE_EUSAGE);
    assert_int_equal(rt_event_elapsed(&ps, untimed, event), SONDE_EUSAGE);
    launch_spin(null_stream, 1, 100000);
    assert_int_equal(rt_event_record(event, null_stream), 0);
    assert_int_equal(rt_event_elapsed(&ps, event, event), RT_BUSY);
    assert_int_equal(rt_event_query(event), RT_BUSY);
    int polls = 0;
    while (rt_event_query(event) == RT_BUSY) { /* each makes it go on a little */
        polls++;
    }
    assert_in_range(polls, 10, 1000);
    forget(untimed);
    forget(never);
    forget(event);
}

static void streams_and_events_may_be_destroyed_with_work_left(void **state)
{
    (void)state;
    uint32_t out[32];
    uint64_t data = take(sizeof out);
    struct rt_stream *stream = stream_of(0, 0);
    struct rt_memset one = {data, 0, 1, 4, 32, 1};
    assert_int_equal(rt_enqueue_memset(stream, &one), 0);
    launch_scale(stream, data, 10);
    struct rt_event *event = event_in(stream);
    forget(event);
    assert_int_equal(rt_stream_destroy(stream), 0);
    struct rt_copy up = copy_of(out, data, sizeof out, false);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(rt_enqueue_copy(null_stream, &up), 0);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(out[0], 11);
}

static void memory_that_is_freed_while_a_kernel_runs_goes_afterwards(void **state)
{
    (void)state;
    struct rt_stream *stream = stream_of(0, 0);
    uint64_t data = take(4096);
    struct rt_memset set = {data, 0, 5, 4, 1, 1};
    launch_spin(stream, 2, 30000);
    assert_int_equal(rt_stream_query(stream), RT_BUSY); /* it is on the GPU */
    assert_int_equal(rt_mem_free(rt, data), 0);
    assert_int_equal(rt_mem_free(rt, data + 1), SONDE_EINPUT);
    assert_int_equal(rt_memset(rt, data, 1, 4096), 0); /* it is still there */
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(rt_enqueue_memset(stream, &set), SONDE_EINPUT);
}

static void occupancy_is_the_models(void **state)
{
    (void)state;
    uint32_t blocks, threads, grid;
    assert_int_equal(rt_occupancy(rt, &blocks, spin, 64, 0), 0);
    assert_int_equal(blocks, 16); /* CTAs of an SM */
    assert_int_equal(rt_occupancy(rt, &blocks, spin, 1024, 0), 0);
    assert_int_equal(blocks, 2); /* threads */
    assert_int_equal(rt_occupancy(rt, &blocks, spin, 64, 20000), 0);
    assert_int_equal(blocks, 2); /* 48 KiB of shared memory */
    assert_int_equal(rt_occupancy(rt, &blocks, spin, 64, 60000), 0);
    assert_int_equal(blocks, 0);
    assert_int_equal(rt_occupancy_best(rt, &threads, &grid, spin, NULL, NULL, 0), 0);
    assert_int_equal(threads, 1024);
    assert_int_equal(grid, 2 * 12);
    assert_int_equal(rt_occupancy_best(rt, &threads, &grid, spin, NULL, NULL, 100), 0);
    assert_int_equal(threads, 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, device_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(work_of_one_stream_happens_in_order),
        TEST(copies_take_the_time_of_the_link),
        TEST(one_copy_engine_copies_one_way_at_a_time),
        cmocka_unit_test_setup_teardown(two_copy_engines_copy_both_ways_at_once, setup_k20,
                                        device_close),
        TEST(the_default_stream_waits_for_blocking_streams_only),
        TEST(a_stream_waits_for_the_record_that_the_event_had_then),
        TEST(kernels_of_two_streams_run_side_by_side),
        TEST(a_kernel_and_a_copy_overlap),
        TEST(work_of_higher_priority_goes_first),
        TEST(host_functions_run_in_order_and_may_not_call_the_device),
        TEST(a_fault_sticks_and_callbacks_are_told),
        TEST(what_is_wrong_is_told_at_the_call),
        TEST(copies_and_memsets_have_rows_and_slices),
        TEST(a_pageable_source_may_change_after_the_call),
        TEST(a_host_that_only_watches_memory_sees_work_go_on),
        TEST(work_that_is_put_in_while_a_kernel_runs_begins),
        TEST(another_thread_gets_its_work_in_while_one_waits),
        TEST(an_interruption_stops_in_the_middle_of_a_kernel),
        TEST(a_launch_ends_after_its_most_cycles),
        TEST(functional_launches_keep_the_order),
        TEST(events_tell_what_they_are_not),
        TEST(streams_and_events_may_be_destroyed_with_work_left),
        TEST(memory_that_is_freed_while_a_kernel_runs_goes_afterwards),
        TEST(occupancy_is_the_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
