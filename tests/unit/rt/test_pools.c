/* Pools of memory: what they keep, what they give again, and what makes room for more. */
#include "support/queue_rig.h"

static void pools_give_the_same_memory_again(void **state)
{
    (void)state;
    struct rt_pool *pool = rt_pool_default(rt);
    struct rt_pool_info info;
    struct rt_stream *stream = stream_of(0, 0);
    uint64_t first, again, wrong = 0;
    rt_pool_set_threshold(pool, UINT64_MAX);
    assert_int_equal(rt_enqueue_alloc(stream, pool, &first, 1000), 0);
    struct rt_memset one = {first, 0, 1, 4, 250, 1};
    assert_int_equal(rt_enqueue_memset(stream, &one), 0);
    assert_int_equal(rt_enqueue_free(stream, first), 0);
    assert_int_equal(rt_enqueue_free(stream, wrong), SONDE_EINPUT);
    assert_int_equal(rt_stream_sync(stream), 0);
    rt_pool_info(pool, &info);
    assert_int_equal(info.used_bytes, 0);
    assert_int_equal(info.reserved_bytes, 1024);
    assert_int_equal(rt_enqueue_alloc(stream, pool, &again, 900), 0);
    assert_int_equal(again, first);
    assert_int_equal(rt_enqueue_free(stream, again), 0);
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(rt_pool_trim(pool, 0), 0);
    assert_int_equal(rt_sync(rt), 0);
    rt_pool_info(pool, &info);
    assert_int_equal(info.reserved_bytes, 0);
    assert_int_equal(info.used_high, 1024);
    assert_int_equal(rt_enqueue_memset(stream, &one), SONDE_EINPUT); /* it is the device's again */
}

/* 3 GiB in all. */
static void memory_that_streams_free_and_pools_keep_makes_room_for_more(void **state)
{
    (void)state;
    struct rt_pool *pool = rt_pool_default(rt);
    struct rt_stream *stream = stream_of(0, 0);
    const uint64_t bytes = UINT64_C(2) << 30;
    uint64_t data, more;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rt_enqueue_alloc(stream, pool, &data, bytes), 0);
        struct rt_memset one = {data, 0, 1, 4, 32, 1};
        assert_int_equal(rt_enqueue_memset(stream, &one), 0);
        assert_int_equal(rt_enqueue_free(stream, data), 0);
    }
    rt_pool_set_threshold(pool, UINT64_MAX);
    assert_int_equal(rt_stream_sync(stream), 0); /* the last one is kept */
    assert_int_equal(rt_mem_alloc(rt, &data, bytes), 0);
    assert_int_equal(rt_enqueue_alloc(stream, pool, &more, bytes), SONDE_ENOMEM);
    assert_int_equal(rt_mem_free(rt, data), 0);
    assert_int_equal(rt_enqueue_alloc(stream, pool, &more, bytes), 0);
    assert_int_equal(rt_mem_alloc(rt, &data, bytes), SONDE_ENOMEM); /* it is in use */
}

/* A stream that waits for the host may wait on. */
static void room_is_made_by_streams_that_free_alone(void **state)
{
    (void)state;
    struct rt_stream *stream = stream_of(RT_STREAM_NONBLOCKING, 0),
                     *held = stream_of(RT_STREAM_NONBLOCKING, 0);
    struct rt_value value = {.what = RT_VALUE_WAIT_EQ, .value = 1, .bytes = 4};
    uint64_t data, more;
    assert_int_equal(rt_mem_alloc(rt, &value.address, 4), 0);
    assert_int_equal(rt_enqueue_value(held, &value), 0);
    assert_int_equal(rt_enqueue_alloc(stream, rt_pool_default(rt), &data, UINT64_C(2) << 30), 0);
    assert_int_equal(rt_enqueue_free(stream, data), 0);
    assert_int_equal(rt_mem_alloc(rt, &more, UINT64_C(2) << 30), 0);
    assert_int_equal(rt_stream_query(held), RT_BUSY);
    value.what = RT_VALUE_WRITE;
    assert_int_equal(rt_enqueue_value(stream, &value), 0);
    assert_int_equal(rt_sync(rt), 0);
}

static void take_much(void *ctx)
{
    uint64_t data;
    *(int *)ctx = rt_mem_alloc(rt, &data, UINT64_C(2) << 30);
}

/* It would wait for the function itself. */
static void a_host_function_waits_for_no_memory_of_a_pool(void **state)
{
    (void)state;
    struct rt_pool *pool = rt_pool_default(rt);
    struct rt_stream *stream = stream_of(0, 0);
    uint64_t data;
    int got = 0;
    rt_pool_set_threshold(pool, UINT64_MAX);
    assert_int_equal(rt_enqueue_alloc(stream, pool, &data, UINT64_C(2) << 30), 0);
    assert_int_equal(rt_enqueue_free(stream, data), 0);
    assert_int_equal(rt_enqueue_host(stream, take_much, &got), 0);
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(got, SONDE_ENOMEM);
}

/* What can never fit leaves pools what they keep. */
static void more_than_the_device_has_makes_no_room(void **state)
{
    (void)state;
    struct rt_pool *pool = rt_pool_default(rt);
    struct rt_stream *stream = stream_of(0, 0);
    struct rt_pool_info info;
    uint64_t data;
    rt_pool_set_threshold(pool, UINT64_MAX);
    assert_int_equal(rt_enqueue_alloc(stream, pool, &data, UINT64_C(2) << 30), 0);
    assert_int_equal(rt_enqueue_free(stream, data), 0);
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(rt_mem_alloc(rt, &data, UINT64_C(1) << 40), SONDE_ENOMEM);
    rt_pool_info(pool, &info);
    assert_int_equal(info.reserved_bytes, UINT64_C(2) << 30);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_gtx780, device_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pools_give_the_same_memory_again),
        TEST(memory_that_streams_free_and_pools_keep_makes_room_for_more),
        TEST(room_is_made_by_streams_that_free_alone),
        TEST(a_host_function_waits_for_no_memory_of_a_pool),
        TEST(more_than_the_device_has_makes_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
