/*
 * What a cache keeps, fetches, writes and evicts, and what it refuses to be built from. Times are
 * in tests/timing/mem.
 */
#include "support/cache_rig.h"

static enum mem_level access_cache(struct cache_rig *f, enum mem_kind kind, uint64_t address,
                                   uint32_t bytes)
{
    enum mem_level served_at;
    probe_alone(f->engine, f->port, kind, address, bytes, &served_at);
    return served_at;
}

static enum mem_level read_cache(struct cache_rig *f, uint64_t address)
{
    return access_cache(f, MEM_READ, address, 4);
}

static void sink_saw(const struct cache_rig *f, uint32_t i, enum mem_kind kind, uint64_t address,
                     uint32_t bytes)
{
    assert_true(f->sink.count > i);
    assert_int_equal(f->sink.note[i].kind, kind);
    assert_int_equal(f->sink.note[i].address, address);
    assert_int_equal(f->sink.note[i].bytes, bytes);
}

static void a_miss_fetches_the_whole_line_once(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L2);
    assert_int_equal(read_cache(&f, 0x1044), MEM_AT_DRAM);
    sink_saw(&f, 0, MEM_READ, 0x1000, 128);
    assert_int_equal(read_cache(&f, 0x107c), MEM_AT_L2);
    assert_int_equal(f.sink.count, 1);
    assert_int_equal(mem_cache_stats(f.cache)->reads, 2);
    assert_int_equal(mem_cache_stats(f.cache)->read_hits, 1);
    assert_int_equal(mem_cache_stats(f.cache)->fetches, 1);
    cache_rig_close(&f);
}

/*
 * 4 sets of 4 ways whose data array has room for 13 lines: any set may be full, and when 13 lines
 * are there, one that comes in drives out the oldest of its own set.
 */
static void a_small_data_array_bounds_what_all_sets_hold_together(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sets = 4;
    f.spec.ways = 4;
    f.spec.size_bytes = UINT64_C(16) * f.spec.line_bytes;
    f.spec.data_bytes = UINT64_C(13) * f.spec.line_bytes;
    f.spec.index = (struct index_spec){.kind = INDEX_MODULO};
    f.spec.replacement.kind = REPLACE_LRU;
    cache_rig_start(&f, MEM_AT_L2);
    for (uint64_t line = 0; line < 13; line++) {
        read_cache(&f, line * f.spec.line_bytes);
    }
    for (uint64_t line = 0; line < 13; line++) { /* set 0 has 4 of them, the others 3 */
        assert_int_equal(read_cache(&f, line * f.spec.line_bytes), MEM_AT_L2);
    }
    assert_int_equal(mem_cache_stats(f.cache)->evictions, 0);
    assert_int_equal(read_cache(&f, 13 * f.spec.line_bytes), MEM_AT_DRAM);
    assert_int_equal(mem_cache_stats(f.cache)->evictions, 1);
    assert_false(mem_cache_holds(f.cache, 1 * f.spec.line_bytes, 4)); /* set 1's oldest */
    for (uint64_t line = 0; line < 14; line++) {
        assert_int_equal(mem_cache_holds(f.cache, line * f.spec.line_bytes, 4), line != 1);
    }
    mem_cache_drop(f.cache, 13 * f.spec.line_bytes); /* room again */
    assert_int_equal(read_cache(&f, 1 * f.spec.line_bytes), MEM_AT_DRAM);
    assert_int_equal(mem_cache_stats(f.cache)->evictions, 2);
    cache_rig_close(&f);
}

/* Where its own set holds nothing, another one gives. An empty cache gives room to all again. */
static void a_set_without_lines_takes_from_another(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sets = 2;
    f.spec.ways = 4;
    f.spec.size_bytes = UINT64_C(8) * f.spec.line_bytes;
    f.spec.data_bytes = UINT64_C(4) * f.spec.line_bytes;
    f.spec.index = (struct index_spec){.kind = INDEX_MODULO};
    f.spec.replacement.kind = REPLACE_LRU;
    cache_rig_start(&f, MEM_AT_L2);
    for (int turn = 0; turn < 2; turn++) {
        for (uint64_t line = 0; line < 8; line += 2) {
            assert_int_equal(read_cache(&f, line * f.spec.line_bytes), MEM_AT_DRAM);
        }
        read_cache(&f, 1 * f.spec.line_bytes);
        assert_true(mem_cache_holds(f.cache, 1 * f.spec.line_bytes, 4));
        assert_false(mem_cache_holds(f.cache, 0, 4));
        for (uint64_t line = 2; line < 8; line += 2) {
            assert_true(mem_cache_holds(f.cache, line * f.spec.line_bytes, 4));
        }
        mem_cache_invalidate(f.cache);
    }
    cache_rig_close(&f);
}

static void a_sectored_line_fetches_only_the_sector_missed(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sector_bytes = 32;
    cache_rig_start(&f, MEM_AT_L2);
    read_cache(&f, 0x1044);
    sink_saw(&f, 0, MEM_READ, 0x1040, 32);
    assert_true(mem_cache_holds(f.cache, 0x1040, 32));
    assert_false(mem_cache_holds(f.cache, 0x1060, 4));
    read_cache(&f, 0x1060);
    sink_saw(&f, 1, MEM_READ, 0x1060, 32);
    /* both ends are missing, the middle is there: two fetches */
    access_cache(&f, MEM_READ, 0x1000, 128);
    sink_saw(&f, 2, MEM_READ, 0x1000, 64);
    assert_int_equal(f.sink.count, 3);
    assert_int_equal(mem_cache_stats(f.cache)->evictions, 0);
    cache_rig_close(&f);
}

/* As on an H200: docs/h200.md. */
static void a_read_of_another_sector_is_a_use_of_its_line(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sector_bytes = 32;
    f.spec.sets = 1;
    f.spec.ways = 2;
    f.spec.size_bytes = 2 * (uint64_t)f.spec.line_bytes;
    f.spec.index = (struct index_spec){.kind = INDEX_MODULO};
    f.spec.replacement.kind = REPLACE_LRU;
    cache_rig_start(&f, MEM_AT_L2);
    read_cache(&f, 0x1000);
    read_cache(&f, 0x2000);
    read_cache(&f, 0x1020); /* misses, in a line that is there */
    read_cache(&f, 0x3000);
    assert_true(mem_cache_holds(f.cache, 0x1000, 64));
    assert_false(mem_cache_holds(f.cache, 0x2000, 4));
    cache_rig_close(&f);
}

static void adjoining_missing_sectors_are_one_fetch_and_gaps_split_it(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sector_bytes = 32;
    cache_rig_start(&f, MEM_AT_L2);
    read_cache(&f, 0x2020);
    access_cache(&f, MEM_READ, 0x2000, 128);
    sink_saw(&f, 1, MEM_READ, 0x2000, 32);
    sink_saw(&f, 2, MEM_READ, 0x2040, 64);
    assert_true(mem_cache_holds(f.cache, 0x2000, 128));
    cache_rig_close(&f);
}

static void a_request_over_several_lines_replies_once_when_all_are_there(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    rig_resize(&f.spec, 32, 8, 4);
    cache_rig_start(&f, MEM_AT_L2);
    assert_int_equal(access_cache(&f, MEM_READ, 0x1000, 128), MEM_AT_DRAM);
    assert_int_equal(f.sink.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        sink_saw(&f, i, MEM_READ, 0x1000 + 32 * i, 32);
    }
    assert_int_equal(access_cache(&f, MEM_READ, 0x1000, 128), MEM_AT_L2);
    /* half of it there */
    assert_int_equal(access_cache(&f, MEM_READ, 0x1070, 32), MEM_AT_DRAM);
    assert_int_equal(f.sink.count, 5);
    cache_rig_close(&f);
}

static void unequal_sets_hold_as_many_lines_as_they_have_ways(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sets = f.spec.unequal_count = 3;
    f.spec.ways_per_set[0] = 17;
    f.spec.ways_per_set[1] = 8;
    f.spec.ways_per_set[2] = 1;
    f.spec.size_bytes = 26 * 128;
    f.spec.index = (struct index_spec){.kind = INDEX_MODULO};
    cache_rig_start(&f, MEM_AT_L2);
    for (uint32_t set = 0; set < 3; set++) {
        uint32_t ways = f.spec.ways_per_set[set];
        for (uint32_t round = 0; round < 2; round++) {
            for (uint32_t i = 0; i < ways; i++) {
                assert_int_equal(read_cache(&f, (uint64_t)(3 * i + set) * 128),
                                 round ? MEM_AT_L2 : MEM_AT_DRAM);
            }
        }
        /* one more than fits: LRU in a cycle misses always */
        for (uint32_t i = 0; i < 3 * (ways + 1); i++) {
            uint32_t line = ways > 1 ? i % (ways + 1) : i % 2;
            enum mem_level level = read_cache(&f, (uint64_t)(3 * line + set) * 128);
            assert_true(i < ways || level == MEM_AT_DRAM);
        }
    }
    cache_rig_close(&f);
}

static void a_line_of_no_power_of_two_bytes_is_found(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    rig_resize(&f.spec, 96, 5, 3);
    cache_rig_start(&f, MEM_AT_L2);
    assert_int_equal(read_cache(&f, 96 * 7 + 92), MEM_AT_DRAM);
    sink_saw(&f, 0, MEM_READ, 96 * 7, 96);
    assert_int_equal(read_cache(&f, 96 * 7), MEM_AT_L2);
    assert_int_equal(read_cache(&f, 96 * 8), MEM_AT_DRAM);
    cache_rig_close(&f);
}

static void lines_with_equal_low_halves_of_their_numbers_are_told_apart(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L2);
    uint64_t far = UINT64_C(128) << 32;
    assert_int_equal(read_cache(&f, 0x80), MEM_AT_DRAM);
    assert_int_equal(read_cache(&f, far + 0x80), MEM_AT_DRAM);
    assert_int_equal(read_cache(&f, 0x80), MEM_AT_L2);
    assert_int_equal(read_cache(&f, far + 0x80), MEM_AT_L2);
    cache_rig_close(&f);
}

static void a_written_line_goes_back_when_it_is_evicted(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sector_bytes = 32;
    cache_rig_start(&f, MEM_AT_L2);
    access_cache(&f, MEM_WRITE, 0x1000, 32); /* whole sector: nothing to fetch */
    access_cache(&f, MEM_WRITE, 0x1040, 64);
    assert_int_equal(f.sink.count, 0);
    read_cache(&f, 0x1200);
    read_cache(&f, 0x1400);
    sink_saw(&f, 0, MEM_READ, 0x1200, 32);
    sink_saw(&f, 1, MEM_READ, 0x1400, 32);
    sink_saw(&f, 2, MEM_WRITE, 0x1000, 32);
    sink_saw(&f, 3, MEM_WRITE, 0x1040, 64);
    assert_int_equal(f.sink.count, 4);
    const struct mem_cache_stats *stats = mem_cache_stats(f.cache);
    assert_int_equal(stats->evictions, 1);
    assert_int_equal(stats->writebacks, 1);
    /* a clean one goes silently */
    read_cache(&f, 0x1600);
    assert_int_equal(f.sink.count, 5);
    assert_int_equal(stats->writebacks, 1);
    cache_rig_close(&f);
}

static void a_sector_written_in_part_is_fetched_first(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sector_bytes = 32;
    cache_rig_start(&f, MEM_AT_L2);
    access_cache(&f, MEM_WRITE, 0x1010, 64); /* part, whole, part */
    sink_saw(&f, 0, MEM_READ, 0x1000, 32);
    sink_saw(&f, 1, MEM_READ, 0x1040, 32);
    assert_int_equal(f.sink.count, 2);
    assert_true(mem_cache_holds(f.cache, 0x1000, 96));
    assert_int_equal(access_cache(&f, MEM_WRITE, 0x1010, 4), MEM_AT_L2);
    assert_int_equal(mem_cache_stats(f.cache)->writes, 2);
    assert_int_equal(mem_cache_stats(f.cache)->write_hits, 1);
    read_cache(&f, 0x1200);
    read_cache(&f, 0x1400);
    sink_saw(&f, 4, MEM_WRITE, 0x1000, 96);
    cache_rig_close(&f);
}

static void write_through_with_invalidate_drops_the_line(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.write = WRITE_THROUGH_INVALIDATE;
    cache_rig_start(&f, MEM_AT_L1);
    read_cache(&f, 0x1000);
    assert_int_equal(access_cache(&f, MEM_WRITE, 0x1004, 4), MEM_AT_DRAM);
    sink_saw(&f, 1, MEM_WRITE, 0x1004, 4);
    assert_false(mem_cache_holds(f.cache, 0x1000, 4));
    assert_int_equal(mem_cache_stats(f.cache)->write_hits, 1);
    assert_int_equal(read_cache(&f, 0x1000), MEM_AT_DRAM);
    cache_rig_close(&f);
}

static void write_through_with_update_keeps_the_line_and_allocates_none(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.write = WRITE_THROUGH_UPDATE;
    cache_rig_start(&f, MEM_AT_L1);
    access_cache(&f, MEM_WRITE, 0x1000, 128);
    assert_false(mem_cache_holds(f.cache, 0x1000, 4));
    read_cache(&f, 0x1000);
    read_cache(&f, 0x1200);
    access_cache(&f, MEM_WRITE, 0x1000, 4); /* a use: 0x1200 is the older now */
    read_cache(&f, 0x1400);
    assert_true(mem_cache_holds(f.cache, 0x1000, 128));
    assert_false(mem_cache_holds(f.cache, 0x1200, 4));
    assert_int_equal(mem_cache_stats(f.cache)->writebacks, 0);
    cache_rig_close(&f);
}

static void a_bypass_is_not_kept_and_evicts_what_it_matches(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L1);
    read_cache(&f, 0x1000);
    read_cache(&f, 0x1080);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0x1000, 4);
    probe.request.bypass = true;
    assert_true(probe_send(&probe, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe.replies, 1);
    sink_saw(&f, 2, MEM_READ, 0x1000, 4); /* as it is, not a line */
    assert_false(mem_cache_holds(f.cache, 0x1000, 4));
    assert_true(mem_cache_holds(f.cache, 0x1080, 4));
    assert_int_equal(mem_cache_stats(f.cache)->bypasses, 1);
    cache_rig_close(&f);
}

static void a_bypass_of_the_l1_is_an_ordinary_read_in_l2(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L2);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0x1000, 4);
    probe.request.bypass = true;
    assert_true(probe_send(&probe, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_true(mem_cache_holds(f.cache, 0x1000, 128));
    cache_rig_close(&f);
}

static void a_line_that_became_stale_on_its_way_is_served_but_not_kept(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.write = WRITE_THROUGH_INVALIDATE;
    cache_rig_start(&f, MEM_AT_L1);
    struct probe load, store;
    probe_init(&load, f.engine, MEM_READ, 0x1000, 4);
    probe_init(&store, f.engine, MEM_WRITE, 0x1000, 4);
    assert_true(probe_send(&load, f.port));
    assert_true(probe_send(&store, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(load.replies, 1);
    assert_int_equal(store.replies, 1);
    assert_false(mem_cache_holds(f.cache, 0x1000, 4));
    cache_rig_close(&f);
}

static void atomics_pass_the_l1_and_execute_in_l2(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L1);
    read_cache(&f, 0x1000);
    access_cache(&f, MEM_ATOMIC, 0x1000, 4);
    sink_saw(&f, 1, MEM_ATOMIC, 0x1000, 4);
    assert_false(mem_cache_holds(f.cache, 0x1000, 4));
    cache_rig_close(&f);

    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L2);
    assert_int_equal(access_cache(&f, MEM_ATOMIC, 0x1000, 4), MEM_AT_DRAM);
    sink_saw(&f, 0, MEM_READ, 0x1000, 128);
    assert_int_equal(access_cache(&f, MEM_ATOMIC, 0x1000, 4), MEM_AT_L2);
    read_cache(&f, 0x1200);
    read_cache(&f, 0x1400);
    sink_saw(&f, 3, MEM_WRITE, 0x1000, 128);
    assert_int_equal(mem_cache_stats(f.cache)->atomics, 2);
    cache_rig_close(&f);
}

static void reads_of_a_pending_line_merge_with_it(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L2);
    struct probe probe[3];
    for (uint32_t i = 0; i < 3; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 0x1000 + 4 * i, 4);
        assert_true(probe_send(&probe[i], f.port));
        engine_run(f.engine, engine_now_ps(f.engine) + PERIOD_PS);
    }
    engine_run(f.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(probe[i].replies, 1);
        assert_int_equal(probe[i].request.served_at, MEM_AT_DRAM);
    }
    assert_int_equal(f.sink.count, 1);
    assert_int_equal(mem_cache_stats(f.cache)->read_pending_hits, 2);
    assert_int_equal(mem_cache_stats(f.cache)->mshr_full_stalls, 0);
    cache_rig_close(&f);
}

static void further_sectors_of_a_pending_line_are_fetched_beside_it(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sector_bytes = 32;
    f.spec.mshr_entries = 1;
    cache_rig_start(&f, MEM_AT_L2);
    struct probe narrow, wide;
    probe_init(&narrow, f.engine, MEM_READ, 0x1020, 4);
    probe_init(&wide, f.engine, MEM_READ, 0x1000, 64);
    assert_true(probe_send(&narrow, f.port));
    assert_true(probe_send(&wide, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    sink_saw(&f, 0, MEM_READ, 0x1020, 32);
    sink_saw(&f, 1, MEM_READ, 0x1000, 32);
    assert_int_equal(f.sink.count, 2);
    assert_int_equal(narrow.replies, 1);
    assert_int_equal(wide.replies, 1);
    assert_true(wide.replied_ps > narrow.replied_ps);
    cache_rig_close(&f);
}

/*
 * Sends n reads, each of its own line (or all of one), as fast as they are taken; all must
 * return.
 */
static void flood(struct cache_rig *f, uint32_t n, uint32_t stride)
{
    struct probe *probe = calloc(n, sizeof *probe);
    assert_non_null(probe);
    for (uint32_t i = 0; i < n; i++) {
        probe_init(&probe[i], f->engine, MEM_READ, 0x10000 + (uint64_t)stride * i, 4);
        while (!probe_send(&probe[i], f->port)) {
            assert_true(engine_step(f->engine));
        }
    }
    engine_run(f->engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(probe[i].replies, 1);
    }
    free(probe);
}

static void a_full_table_stalls_and_goes_on_when_a_line_arrives(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L2);
    flood(&f, 20, 128);
    assert_int_equal(f.sink.count, 20);
    assert_int_equal(mem_cache_stats(f.cache)->mshr_full_stalls, 16);
    /* never more than 4 outstanding: a fifth is sent when one of 50 + 5 cycles before is back */
    for (uint32_t i = 4; i < 20; i++) {
        assert_true(f.sink.note[i].time_ps - f.sink.note[i - 4].time_ps >= 50 * PERIOD_PS);
    }
    cache_rig_close(&f);
}

static void a_line_without_mergers_left_stalls(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L2);
    flood(&f, 4, 4); /* one and two mergers; the fourth finds the line there */
    assert_int_equal(f.sink.count, 1);
    const struct mem_cache_stats *stats = mem_cache_stats(f.cache);
    assert_int_equal(stats->read_pending_hits, 2);
    assert_int_equal(stats->read_hits, 1);
    assert_int_equal(stats->mshr_full_stalls, 1);
    cache_rig_close(&f);
}

static void a_level_below_that_refuses_holds_misses_and_lets_hits_before_them_pass(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L2);
    read_cache(&f, 0x1000);
    f.sink.refuses = true;
    struct probe hit, miss[3];
    probe_init(&miss[0], f.engine, MEM_READ, 0x2000, 4);
    probe_init(&hit, f.engine, MEM_READ, 0x1000, 4);
    probe_init(&miss[1], f.engine, MEM_READ, 0x3000, 4);
    probe_init(&miss[2], f.engine, MEM_READ, 0x4000, 4);
    assert_true(probe_send(&miss[0], f.port));
    assert_true(probe_send(&hit, f.port));
    assert_true(probe_send(&miss[1], f.port));
    assert_true(probe_send(&miss[2], f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(hit.replies, 1);
    assert_int_equal(f.sink.count, 1);
    sink_open(&f.sink);
    engine_run(f.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(miss[i].replies, 1);
    }
    assert_int_equal(f.sink.count, 4);
    cache_rig_close(&f);
}

static void a_level_below_that_refuses_is_felt_by_the_sender(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.mshr_entries = 64;
    cache_rig_start(&f, MEM_AT_L2);
    f.sink.refuses = true;
    struct probe probe[8];
    for (uint32_t i = 0; i < 8; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 0x1000 * i, 4);
        /* one fetch that waits to leave, and the input queue */
        assert_int_equal(probe_send(&probe[i], f.port), i < 1 + f.spec.queue_entries);
        engine_run(f.engine, engine_now_ps(f.engine) + PERIOD_PS);
        rig_wait(f.engine, 1);
    }
    sink_open(&f.sink);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(f.sink.count, 1 + f.spec.queue_entries);
    cache_rig_close(&f);
}

static void a_dropped_line_leaves_its_way_to_the_next_fill(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L1);
    read_cache(&f, 0x1000);
    read_cache(&f, 0x1200);
    access_cache(&f, MEM_ATOMIC, 0x1200, 4);
    read_cache(&f, 0x1400);
    assert_true(mem_cache_holds(f.cache, 0x1000, 128));
    assert_true(mem_cache_holds(f.cache, 0x1400, 128));
    cache_rig_close(&f);
}

static void invalidation_empties_and_drops_what_is_on_its_way(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    cache_rig_start(&f, MEM_AT_L2);
    read_cache(&f, 0x1000);
    access_cache(&f, MEM_WRITE, 0x1080, 128);
    struct probe pending;
    probe_init(&pending, f.engine, MEM_READ, 0x2000, 4);
    assert_true(probe_send(&pending, f.port));
    mem_cache_invalidate(f.cache);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(pending.replies, 1);
    assert_false(mem_cache_holds(f.cache, 0x1000, 4));
    assert_false(mem_cache_holds(f.cache, 0x1080, 4));
    assert_false(mem_cache_holds(f.cache, 0x2000, 4));
    assert_int_equal(mem_cache_stats(f.cache)->writebacks, 1);
    assert_int_equal(read_cache(&f, 0x2000), MEM_AT_DRAM);
    assert_int_equal(read_cache(&f, 0x2000), MEM_AT_L2);
    cache_rig_close(&f);
}

static void host_copies_leave_their_sectors_and_take_no_time(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sector_bytes = 32;
    cache_rig_start(&f, MEM_AT_L2);
    mem_cache_touch(f.cache, 0x1020, 0x100, true);
    assert_true(mem_cache_holds(f.cache, 0x1020, 0x100));
    assert_false(mem_cache_holds(f.cache, 0x1000, 4));
    assert_int_equal(read_cache(&f, 0x1080), MEM_AT_L2);
    mem_cache_touch(f.cache, 0x10000, 4096, false); /* everything else goes */
    assert_false(mem_cache_holds(f.cache, 0x1080, 4));
    assert_int_equal(mem_cache_stats(f.cache)->writebacks, 3);
    assert_int_equal(f.sink.count, 0);
    assert_int_equal(engine_pending(f.engine), 0);
    cache_rig_close(&f);
}

static void a_disabled_cache_is_the_port_below(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    memset(&f.spec, 0, sizeof f.spec);
    cache_rig_start(&f, MEM_AT_L1);
    assert_ptr_equal(f.port.self, &f.sink);
    mem_cache_invalidate(f.cache);
    mem_cache_touch(f.cache, 0, 4096, true);
    assert_false(mem_cache_holds(f.cache, 0, 4));
    cache_rig_close(&f);
}

/* When the second of two requests sent together answers after the first. */
static uint64_t second_after_first(struct cache_rig *f, enum mem_kind kind, uint32_t passes,
                                   uint32_t sectors)
{
    struct probe probe[2];
    for (uint32_t i = 0; i < 2; i++) {
        probe_init(&probe[i], f->engine, kind, 0x1000, 128);
        probe[i].request.passes = passes;
        probe[i].request.sectors = sectors;
        assert_true(probe_send(&probe[i], f->port));
    }
    engine_run(f->engine, ENGINE_NEVER);
    return (probe[1].replied_ps - probe[0].replied_ps) / PERIOD_PS;
}

static void atomics_and_writes_keep_the_data_for_their_passes_and_sectors(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.atomic_passes = 8;
    f.spec.write_bytes_per_cycle = 16;
    f.spec.data_bytes_per_cycle = 128;
    cache_rig_start(&f, MEM_AT_L2);
    read_cache(&f, 0x1000);
    assert_int_equal(second_after_first(&f, MEM_ATOMIC, 32, 0), 64);
    assert_int_equal(second_after_first(&f, MEM_ATOMIC, 4, 0), 8);
    assert_int_equal(second_after_first(&f, MEM_WRITE, 0, 3), 6); /* parts of three sectors */
    assert_int_equal(second_after_first(&f, MEM_WRITE, 0, 2), 4);
    assert_int_equal(second_after_first(&f, MEM_WRITE, 0, 0), 2); /* whole ones: as a read */
    assert_int_equal(second_after_first(&f, MEM_READ, 0, 0), 2);  /* a pass */
    cache_rig_close(&f);
}

static void a_virtual_cache_fetches_and_writes_back_by_physical_addresses(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.address = ADDRESS_VIRTUAL;
    cache_rig_start(&f, MEM_AT_L2);
    struct probe probe;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t vaddr = 0x1010 + 0x200 * i, paddr = 0x900010 + 0x10000 * i;
        probe_init(&probe, f.engine, i == 0 ? MEM_ATOMIC : MEM_READ, vaddr, 4);
        probe.request.paddr = paddr;
        assert_true(probe_send(&probe, f.port));
        engine_run(f.engine, ENGINE_NEVER);
        sink_saw(&f, i, MEM_READ, paddr & ~UINT64_C(127), 128);
    }
    sink_saw(&f, 3, MEM_WRITE, 0x900000, 128);
    cache_rig_close(&f);
}

static void a_virtual_cache_knows_the_physical_line_whatever_sector_came_first(void **state)
{
    (void)state;
    for (uint32_t written_whole = 0; written_whole < 2; written_whole++) {
        struct cache_rig f;
        cache_rig_open(&f, 50);
        f.spec.address = ADDRESS_VIRTUAL;
        f.spec.sector_bytes = 32;
        cache_rig_start(&f, MEM_AT_L2);
        struct probe probe;
        probe_init(&probe, f.engine, MEM_WRITE, 0x1040, written_whole ? 32 : 4);
        probe.request.paddr = 0x900040;
        assert_true(probe_send(&probe, f.port));
        engine_run(f.engine, ENGINE_NEVER);
        read_cache(&f, 0x1200);
        read_cache(&f, 0x1400);
        sink_saw(&f, written_whole ? 2 : 3, MEM_WRITE, 0x900040, 32);
        cache_rig_close(&f);
    }
}

static void check_refused(const struct cache_spec *spec, const char *reason)
{
    struct mem_cache *cache;
    struct engine *engine;
    assert_int_equal(engine_create(&engine), 0);
    assert_int_equal(
        mem_cache_create(&cache, spec, MEM_AT_L2, engine, &rig_clock, 1, (struct mem_port){0}),
        SONDE_EINPUT);
    assert_null(cache);
    assert_string_equal(error_text(), reason);
    engine_destroy(engine);
}

static void specifications_that_do_not_hold_together_are_refused(void **state)
{
    (void)state;
    struct cache_spec spec = rig_cache_spec();
    spec.sector_bytes = 48;
    check_refused(&spec, "line: 128 bytes are not 1 to 64 sectors of 48 bytes");
    spec.sector_bytes = 1;
    check_refused(&spec, "line: 128 bytes are not 1 to 64 sectors of 1 bytes");
    spec = rig_cache_spec();
    spec.line_bytes = 0;
    check_refused(&spec, "line: 0 bytes are not 1 to 64 sectors of 128 bytes");
    spec = rig_cache_spec();
    spec.size_bytes = 2048;
    check_refused(&spec, "size: 2048 bytes are not 8 lines of 128 bytes");
    spec = rig_cache_spec();
    spec.ways = 0;
    check_refused(&spec, "ways: 1 to 512 are possible, not 0");
    spec.ways = 513;
    check_refused(&spec, "ways: 1 to 512 are possible, not 513");
    spec = rig_cache_spec();
    spec.sets = 0;
    check_refused(&spec, "sets: 1 to 16777216 are possible, not 0");
    spec.sets = 1 << 24;
    check_refused(&spec, "sets, ways: 33554432 lines are more than the 16777216 possible");
    spec = rig_cache_spec();
    spec.unequal_count = 3;
    check_refused(&spec, "ways_per_set: 3 numbers for 4 sets");
    spec.unequal_count = 4;
    check_refused(&spec, "ways: 1 to 512 are possible, not 0");
    spec = rig_cache_spec();
    spec.mshr_entries = 0;
    check_refused(&spec, "mshr_entries: 1 to 16777216 are possible, not 0");
    spec = rig_cache_spec();
    spec.queue_entries = 0;
    check_refused(&spec, "queue_entries: 1 to 16777216 are possible, not 0");
    spec = rig_cache_spec();
    spec.miss = MISS_KIND_COUNT;
    check_refused(&spec, "miss structure: unknown kind 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_fetches_the_whole_line_once),
        cmocka_unit_test(a_small_data_array_bounds_what_all_sets_hold_together),
        cmocka_unit_test(a_set_without_lines_takes_from_another),
        cmocka_unit_test(a_sectored_line_fetches_only_the_sector_missed),
        cmocka_unit_test(a_read_of_another_sector_is_a_use_of_its_line),
        cmocka_unit_test(adjoining_missing_sectors_are_one_fetch_and_gaps_split_it),
        cmocka_unit_test(a_request_over_several_lines_replies_once_when_all_are_there),
        cmocka_unit_test(unequal_sets_hold_as_many_lines_as_they_have_ways),
        cmocka_unit_test(a_line_of_no_power_of_two_bytes_is_found),
        cmocka_unit_test(lines_with_equal_low_halves_of_their_numbers_are_told_apart),
        cmocka_unit_test(a_written_line_goes_back_when_it_is_evicted),
        cmocka_unit_test(a_sector_written_in_part_is_fetched_first),
        cmocka_unit_test(write_through_with_invalidate_drops_the_line),
        cmocka_unit_test(write_through_with_update_keeps_the_line_and_allocates_none),
        cmocka_unit_test(a_bypass_is_not_kept_and_evicts_what_it_matches),
        cmocka_unit_test(a_bypass_of_the_l1_is_an_ordinary_read_in_l2),
        cmocka_unit_test(a_line_that_became_stale_on_its_way_is_served_but_not_kept),
        cmocka_unit_test(atomics_pass_the_l1_and_execute_in_l2),
        cmocka_unit_test(reads_of_a_pending_line_merge_with_it),
        cmocka_unit_test(further_sectors_of_a_pending_line_are_fetched_beside_it),
        cmocka_unit_test(a_full_table_stalls_and_goes_on_when_a_line_arrives),
        cmocka_unit_test(a_line_without_mergers_left_stalls),
        cmocka_unit_test(a_level_below_that_refuses_holds_misses_and_lets_hits_before_them_pass),
        cmocka_unit_test(a_level_below_that_refuses_is_felt_by_the_sender),
        cmocka_unit_test(a_dropped_line_leaves_its_way_to_the_next_fill),
        cmocka_unit_test(invalidation_empties_and_drops_what_is_on_its_way),
        cmocka_unit_test(host_copies_leave_their_sectors_and_take_no_time),
        cmocka_unit_test(a_disabled_cache_is_the_port_below),
        cmocka_unit_test(atomics_and_writes_keep_the_data_for_their_passes_and_sectors),
        cmocka_unit_test(a_virtual_cache_fetches_and_writes_back_by_physical_addresses),
        cmocka_unit_test(a_virtual_cache_knows_the_physical_line_whatever_sector_came_first),
        cmocka_unit_test(specifications_that_do_not_hold_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
