/* What programs get wrong with the command queue: extents that wrap around, memory freed twice. */
#include "support/queue_rig.h"

/* Sums that wrap around look like short copies. */
static void extents_beyond_all_addresses_are_refused(void **state)
{
    (void)state;
    struct rt_stream *stream = rt_stream_default(rt);
    uint8_t host[64] = {0};
    uint64_t data = take(1024);
    struct rt_copy rows = copy_of(host, data, 15, true);
    rows.height = 5;
    rows.dst.row_bytes = UINT64_MAX / 4 + 1; /* four of them are 2^64 */
    assert_int_equal(rt_enqueue_copy(stream, &rows), SONDE_EINPUT);
    rows.dst.row_bytes = 0;
    rows.src.row_bytes = UINT64_MAX;
    assert_int_equal(rt_enqueue_copy(stream, &rows), SONDE_EINPUT);
    struct rt_copy slices = copy_of(host, data, 8, true);
    slices.depth = 3;
    slices.dst.row_bytes = UINT64_C(1) << 32;
    slices.dst.slice_rows = UINT64_C(1) << 31;
    assert_int_equal(rt_enqueue_copy(stream, &slices), SONDE_EINPUT);
    struct rt_copy place = copy_of(host, data, 8, true);
    place.dst.row_bytes = 16;
    place.dst.y = UINT64_C(1) << 60;
    assert_int_equal(rt_enqueue_copy(stream, &place), SONDE_EINPUT);
    struct rt_memset planes = {data, UINT64_C(1) << 62, 1, 1, 8, 5};
    assert_int_equal(rt_enqueue_memset(stream, &planes), SONDE_EINPUT);
    struct rt_memset wide = {data, 0, 1, 4, (UINT64_C(1) << 62) + 2, 1};
    assert_int_equal(rt_enqueue_memset(stream, &wide), SONDE_EINPUT);
    assert_int_equal(rt_sync(rt), 0);
}

static void memory_is_freed_once(void **state)
{
    (void)state;
    struct rt_stream *stream = rt_stream_default(rt);
    struct rt_pool *pool = rt_pool_default(rt);
    rt_pool_set_threshold(pool, UINT64_MAX);
    uint64_t mine, plain = take(1000), next;
    assert_int_equal(rt_enqueue_alloc(stream, pool, &mine, 1000), 0);
    assert_int_equal(rt_enqueue_free(stream, mine), 0);
    assert_int_equal(rt_enqueue_free(stream, mine), SONDE_EINPUT); /* it waits in the stream */
    assert_int_equal(rt_stream_sync(stream), 0);
    assert_int_equal(rt_enqueue_free(stream, mine), SONDE_EINPUT); /* the pool keeps it */
    assert_int_equal(rt_mem_free(rt, mine), SONDE_EINPUT);
    assert_int_equal(rt_enqueue_alloc(stream, pool, &next, 1000), 0);
    assert_int_equal(next, mine);
    struct rt_memset set = {next, 0, 5, 4, 1, 1};
    assert_int_equal(rt_enqueue_memset(stream, &set), 0); /* and still has it */
    assert_int_equal(rt_enqueue_free(stream, plain), 0);
    assert_int_equal(rt_enqueue_free(stream, plain), SONDE_EINPUT);
    assert_int_equal(rt_mem_free(rt, plain), SONDE_EINPUT);
    assert_int_equal(rt_sync(rt), 0);
    plain = take(1000);
    assert_int_equal(rt_enqueue_free(stream, plain), 0); /* the address, again an allocation */
    assert_int_equal(rt_sync(rt), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_gtx780, device_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(extents_beyond_all_addresses_are_refused),
        TEST(memory_is_freed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
