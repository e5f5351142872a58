/*
 * A cache's times: each latency on time and not a cycle early, each port at its width. The
 * specification of memory_rig.h: hit 11, miss 5, fill 3 cycles; the level below answers after 50.
 */
#include "support/cache_rig.h"

enum { BELOW_CYCLES = 50, HIT = 11, MISS = 5, FILL = 3 };

static void warm(struct cache_rig *f, uint64_t address)
{
    probe_alone(f->engine, f->port, MEM_READ, address, 4, NULL);
    rig_wait(f->engine, 100);
}

/* The reply is not there the cycle before, and is there then. */
static void replies_at(struct cache_rig *f, struct probe *probe, uint64_t start_ps, uint64_t cycles)
{
    engine_run(f->engine, start_ps + (cycles - 1) * PERIOD_PS);
    assert_int_equal(probe->replies, 0);
    engine_run(f->engine, start_ps + cycles * PERIOD_PS);
    assert_int_equal(probe->replies, 1);
    assert_int_equal(probe->replied_ps, start_ps + cycles * PERIOD_PS);
}

static void a_hit_takes_the_hit_cycles(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    cache_rig_start(&f, MEM_AT_L2);
    warm(&f, 0x1000);
    for (enum mem_kind kind = MEM_READ; kind <= MEM_ATOMIC; kind++) {
        struct probe probe;
        probe_init(&probe, f.engine, kind, 0x1000, 4);
        uint64_t start_ps = engine_now_ps(f.engine);
        assert_true(probe_send(&probe, f.port));
        replies_at(&f, &probe, start_ps, HIT);
        rig_wait(f.engine, 10);
    }
    cache_rig_close(&f);
}

static void a_miss_takes_miss_and_fill_cycles_around_the_level_below(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    cache_rig_start(&f, MEM_AT_L2);
    rig_wait(f.engine, 7);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0x1000, 4);
    uint64_t start_ps = engine_now_ps(f.engine);
    assert_true(probe_send(&probe, f.port));
    replies_at(&f, &probe, start_ps, MISS + BELOW_CYCLES + FILL);
    assert_int_equal(f.sink.note[0].time_ps, start_ps + MISS * PERIOD_PS);
    cache_rig_close(&f);
}

static void a_request_between_edges_is_looked_up_at_the_next(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    cache_rig_start(&f, MEM_AT_L2);
    warm(&f, 0x1000);
    uint64_t edge_ps = engine_now_ps(f.engine) + PERIOD_PS;
    engine_advance(f.engine, edge_ps - 1);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0x1000, 4);
    assert_true(probe_send(&probe, f.port));
    replies_at(&f, &probe, edge_ps, HIT);
    cache_rig_close(&f);
}

static void a_fill_between_edges_is_forwarded_from_the_next(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    cache_rig_start(&f, MEM_AT_L2);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0x1000, 4);
    f.sink.further_ps = 1;
    assert_true(probe_send(&probe, f.port));
    replies_at(&f, &probe, 0, MISS + BELOW_CYCLES + 1 + FILL);
    cache_rig_close(&f);
}

static void a_request_may_be_sent_before_it_arrives(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    cache_rig_start(&f, MEM_AT_L2);
    warm(&f, 0x1000);
    struct probe probe;
    uint64_t start_ps = engine_now_ps(f.engine);
    probe_init(&probe, f.engine, MEM_READ, 0x1000, 4);
    probe.request.arrive_ps = start_ps + 17 * PERIOD_PS;
    assert_true(probe_send(&probe, f.port));
    replies_at(&f, &probe, start_ps, 17 + HIT);
    cache_rig_close(&f);
}

static void bypasses_leave_at_once_and_writes_through_after_the_miss_cycles(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    f.spec.write = WRITE_THROUGH_INVALIDATE;
    cache_rig_start(&f, MEM_AT_L1);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0x1000, 4);
    probe.request.bypass = true;
    assert_true(probe_send(&probe, f.port));
    replies_at(&f, &probe, 0, BELOW_CYCLES);
    uint64_t start_ps = engine_now_ps(f.engine);
    probe_init(&probe, f.engine, MEM_WRITE, 0x1000, 4);
    assert_true(probe_send(&probe, f.port));
    replies_at(&f, &probe, start_ps, MISS + BELOW_CYCLES);
    start_ps = engine_now_ps(f.engine);
    probe_init(&probe, f.engine, MEM_ATOMIC, 0x1000, 4);
    assert_true(probe_send(&probe, f.port));
    replies_at(&f, &probe, start_ps, BELOW_CYCLES);
    cache_rig_close(&f);
}

/* Three hits of one cycle, with one or two lookups a cycle. */
static void lookups_take_turns(void **state)
{
    (void)state;
    for (uint32_t per_cycle = 1; per_cycle <= 3; per_cycle++) {
        struct cache_rig f;
        cache_rig_open(&f, BELOW_CYCLES);
        f.spec.accesses_per_cycle = per_cycle % 3; /* 0: unlimited */
        f.spec.data_bytes_per_cycle = 0;
        cache_rig_start(&f, MEM_AT_L2);
        warm(&f, 0x1000);
        struct probe probe[3];
        uint64_t start_ps = engine_now_ps(f.engine);
        for (uint32_t i = 0; i < 3; i++) {
            probe_init(&probe[i], f.engine, MEM_READ, 0x1000, 4);
            assert_true(probe_send(&probe[i], f.port));
        }
        engine_run(f.engine, ENGINE_NEVER);
        for (uint32_t i = 0; i < 3; i++) {
            uint64_t waited = per_cycle == 3 ? 0 : i / per_cycle;
            assert_int_equal(probe[i].replied_ps, start_ps + (HIT + waited) * PERIOD_PS);
        }
        cache_rig_close(&f);
    }
}

static void the_data_port_is_taken_for_each_of_its_widths(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    f.spec.accesses_per_cycle = 2;
    f.spec.data_bytes_per_cycle = 32;
    cache_rig_start(&f, MEM_AT_L2);
    warm(&f, 0x1000);
    const uint32_t bytes[4] = {128, 32, 33, 4};
    const uint64_t end_cycle[4] = {4, 5, 7, 8}; /* 4 + 1 + 2 + 1 cycles of the port */
    struct probe probe[4];
    uint64_t start_ps = engine_now_ps(f.engine);
    for (uint32_t i = 0; i < 4; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 0x1000, bytes[i]);
        assert_true(probe_send(&probe[i], f.port));
    }
    engine_run(f.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(probe[i].replied_ps, start_ps + (HIT + end_cycle[i] - 1) * PERIOD_PS);
    }
    cache_rig_close(&f);
}

static void a_fill_takes_the_data_port_before_a_hit_that_was_looked_up_earlier(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    f.spec.hit_cycles = 40;
    cache_rig_start(&f, MEM_AT_L2);
    warm(&f, 0x1000);
    struct probe miss, hit;
    uint64_t start_ps = engine_now_ps(f.engine);
    probe_init(&miss, f.engine, MEM_READ, 0x2000, 4);
    probe_init(&hit, f.engine, MEM_READ, 0x1000, 4);
    assert_true(probe_send(&miss, f.port)); /* takes the port at 5 + 50 + 3 = 58 */
    engine_run(f.engine, start_ps + 30 * PERIOD_PS);
    engine_advance(f.engine, start_ps + 30 * PERIOD_PS);
    assert_true(probe_send(&hit, f.port)); /* and this one at 30 + 40 = 70 */
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(miss.replied_ps, start_ps + 58 * PERIOD_PS);
    assert_int_equal(hit.replied_ps, start_ps + 70 * PERIOD_PS);
    cache_rig_close(&f);
}

static void merged_requests_leave_one_after_the_other(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    cache_rig_start(&f, MEM_AT_L2);
    struct probe probe[3];
    for (uint32_t i = 0; i < 3; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 0x1000 + 4 * i, 4);
        assert_true(probe_send(&probe[i], f.port));
    }
    engine_run(f.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(probe[i].replied_ps, (MISS + BELOW_CYCLES + FILL + i) * PERIOD_PS);
    }
    cache_rig_close(&f);
}

static void a_full_table_lets_the_next_miss_leave_when_a_line_arrives(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    f.spec.mshr_entries = 1;
    cache_rig_start(&f, MEM_AT_L2);
    struct probe probe[2];
    for (uint32_t i = 0; i < 2; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 0x1000 + 0x1000 * i, 4);
        assert_true(probe_send(&probe[i], f.port));
    }
    engine_run(f.engine, ENGINE_NEVER);
    uint64_t first_fill = MISS + BELOW_CYCLES;
    assert_int_equal(probe[0].replied_ps, (first_fill + FILL) * PERIOD_PS);
    assert_int_equal(f.sink.note[1].time_ps, (first_fill + MISS) * PERIOD_PS);
    assert_int_equal(probe[1].replied_ps, (2 * first_fill + FILL) * PERIOD_PS);
    cache_rig_close(&f);
}

static void a_full_queue_refuses_until_the_cycle_in_which_it_moves(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    f.spec.queue_entries = 2;
    cache_rig_start(&f, MEM_AT_L2);
    warm(&f, 0x1000);
    struct probe probe[4];
    uint64_t start_ps = engine_now_ps(f.engine);
    for (uint32_t i = 0; i < 4; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 0x1000, 4);
        assert_int_equal(probe_send(&probe[i], f.port), i < 3); /* one at once, two queued */
    }
    struct probe wake;
    probe_init(&wake, f.engine, MEM_READ, 0, 4);
    f.port.when_space(f.port.self, probe_on_reply, &wake, 0);
    engine_run(f.engine, start_ps);
    assert_int_equal(wake.replies, 0);
    assert_false(probe_send(&probe[3], f.port));
    engine_run(f.engine, start_ps + PERIOD_PS);
    assert_int_equal(wake.replies, 1);
    assert_true(probe_send(&probe[3], f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe[3].replied_ps, start_ps + (HIT + 3) * PERIOD_PS);
    assert_int_equal(wake.replies, 1);
    cache_rig_close(&f);
}

static void hits_saturate_the_data_port_or_the_lookups(void **state)
{
    (void)state;
    const uint32_t widths[] = {16, 32, 48, 64, 128};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct cache_rig f;
        cache_rig_open(&f, BELOW_CYCLES);
        f.spec.data_bytes_per_cycle = widths[i];
        cache_rig_start(&f, MEM_AT_L2);
        warm(&f, 0x10000);
        double cycles = (128 + widths[i] - 1) / widths[i];
        for (enum mem_kind kind = MEM_READ; kind <= MEM_WRITE; kind++) {
            double measured = rig_bandwidth(f.engine, f.port, kind, 2000, 128, 0);
            assert_within_2_percent(measured, 128 / cycles);
        }
        cache_rig_close(&f);
    }
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    f.spec.data_bytes_per_cycle = 0;
    f.spec.accesses_per_cycle = 3;
    cache_rig_start(&f, MEM_AT_L2);
    warm(&f, 0x10000);
    assert_within_2_percent(rig_bandwidth(f.engine, f.port, MEM_READ, 6000, 32, 0), 96);
    cache_rig_close(&f);
}

static void misses_saturate_the_table_by_littles_law(void **state)
{
    (void)state;
    const uint32_t entries[] = {1, 4, 16, 32};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct cache_rig f;
        cache_rig_open(&f, BELOW_CYCLES);
        f.spec.mshr_entries = entries[i];
        cache_rig_start(&f, MEM_AT_L2);
        double each = (double)(MISS + BELOW_CYCLES) / entries[i];
        assert_within_2_percent(rig_bandwidth(f.engine, f.port, MEM_READ, 4000, 128, 128),
                                128 / each);
        cache_rig_close(&f);
    }
}

/* From the reply of the first of `count` reads of `bytes` sent together to the last one's. */
static uint64_t reads_take_ps(uint32_t read_passes, uint32_t bytes, uint32_t count)
{
    struct cache_rig f;
    static struct probe probe[32];
    cache_rig_open(&f, 50);
    f.spec.atomic_passes = 8;
    f.spec.read_passes = read_passes;
    f.spec.data_bytes_per_cycle = 48;
    f.spec.accesses_per_cycle = 0;
    f.spec.queue_entries = 32;
    cache_rig_start(&f, MEM_AT_L2);
    warm(&f, 0x1000);
    for (uint32_t i = 0; i < count; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 0x1000, bytes);
        assert_true(probe_send(&probe[i], f.port));
    }
    engine_run(f.engine, ENGINE_NEVER);
    cache_rig_close(&f);
    return probe[count - 1].replied_ps - probe[0].replied_ps;
}

static void reads_keep_the_data_for_their_own_passes_to_parts_of_a_cycle(void **state)
{
    (void)state;
    assert_int_equal(reads_take_ps(0, 32, 14), 13 * 2 * PERIOD_PS); /* as atomics */
    assert_in_range(reads_take_ps(13, 32, 14), 15 * PERIOD_PS, 16 * PERIOD_PS);
    assert_in_range(reads_take_ps(16, 128, 13), 31 * PERIOD_PS, 32 * PERIOD_PS); /* 48 B a cycle */
    assert_in_range(reads_take_ps(13, 48, 14), 15 * PERIOD_PS, 16 * PERIOD_PS);
    assert_in_range(reads_take_ps(4, 128, 9), 8 * 4 * PERIOD_PS, 8 * 4 * PERIOD_PS);
    assert_int_equal(reads_take_ps(0, 128, 13), 12 * 3 * PERIOD_PS); /* whole cycles */
}

/* Whole sectors at a width of their own, to whole cycles; parts of sectors as reads. */
static void writes_of_whole_sectors_saturate_their_own_width(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, BELOW_CYCLES);
    f.spec.whole_write_bytes_per_cycle = 26;
    f.spec.data_bytes_per_cycle = 64;
    f.spec.write = WRITE_BACK;
    cache_rig_start(&f, MEM_AT_L2);
    warm(&f, 0x10000);
    assert_within_2_percent(rig_bandwidth(f.engine, f.port, MEM_WRITE, 2000, 128, 0), 128.0 / 5);
    assert_within_2_percent(rig_bandwidth(f.engine, f.port, MEM_WRITE, 2000, 124, 0), 124.0 / 2);
    assert_within_2_percent(rig_bandwidth(f.engine, f.port, MEM_READ, 2000, 128, 0), 64);
    cache_rig_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_takes_the_hit_cycles),
        cmocka_unit_test(a_miss_takes_miss_and_fill_cycles_around_the_level_below),
        cmocka_unit_test(a_request_between_edges_is_looked_up_at_the_next),
        cmocka_unit_test(a_fill_between_edges_is_forwarded_from_the_next),
        cmocka_unit_test(a_request_may_be_sent_before_it_arrives),
        cmocka_unit_test(bypasses_leave_at_once_and_writes_through_after_the_miss_cycles),
        cmocka_unit_test(lookups_take_turns),
        cmocka_unit_test(the_data_port_is_taken_for_each_of_its_widths),
        cmocka_unit_test(a_fill_takes_the_data_port_before_a_hit_that_was_looked_up_earlier),
        cmocka_unit_test(merged_requests_leave_one_after_the_other),
        cmocka_unit_test(a_full_table_lets_the_next_miss_leave_when_a_line_arrives),
        cmocka_unit_test(a_full_queue_refuses_until_the_cycle_in_which_it_moves),
        cmocka_unit_test(hits_saturate_the_data_port_or_the_lookups),
        cmocka_unit_test(misses_saturate_the_table_by_littles_law),
        cmocka_unit_test(reads_keep_the_data_for_their_own_passes_to_parts_of_a_cycle),
        cmocka_unit_test(writes_of_whole_sectors_saturate_their_own_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
