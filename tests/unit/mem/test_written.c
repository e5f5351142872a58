/* What a write-back cache keeps of what is written, where that has bounds: pieces, dirty lines, and
 * lines with pieces of which only a part is known. */
#include "support/cache_rig.h"

enum { LINE = 128, ROOM = 16 };

/* 16 lines of 128 bytes with sectors of 64, in pieces of 32; one set. */
static void open_rig(struct cache_rig *f, uint32_t dirty_lines, uint32_t partial_lines)
{
    cache_rig_open(f, 50);
    f->spec.line_bytes = LINE;
    f->spec.sector_bytes = 64;
    f->spec.sets = 1;
    f->spec.ways = ROOM;
    f->spec.size_bytes = (uint64_t)ROOM * LINE;
    f->spec.index = (struct index_spec){.kind = INDEX_MODULO};
    f->spec.replacement.kind = REPLACE_LRU;
    f->spec.write = WRITE_BACK;
    f->spec.written_bytes = 32;
    f->spec.dirty_lines = dirty_lines;
    f->spec.partial_lines = partial_lines;
    cache_rig_start(f, MEM_AT_L2);
}

static void access_cache(struct cache_rig *f, enum mem_kind kind, uint64_t address, uint32_t bytes)
{
    probe_alone(f->engine, f->port, kind, address, bytes, NULL);
}

static void saw(const struct cache_rig *f, uint32_t i, enum mem_kind kind, uint64_t address,
                uint32_t bytes)
{
    assert_true(f->sink.count > i);
    assert_int_equal(f->sink.note[i].kind, kind);
    assert_int_equal(f->sink.note[i].address, address);
    assert_int_equal(f->sink.note[i].bytes, bytes);
}

static void a_read_fetches_sectors_and_a_write_needs_none_of_its_own_pieces(void **state)
{
    (void)state;
    struct cache_rig f;
    open_rig(&f, 0, 0);
    access_cache(&f, MEM_WRITE, 0x1000, 32);
    assert_int_equal(f.sink.count, 0);
    access_cache(&f, MEM_READ, 0x1040, 4); /* a sector of two pieces */
    saw(&f, 0, MEM_READ, 0x1040, 64);
    access_cache(&f, MEM_READ, 0x1020, 4); /* the piece beside the written one, alone */
    saw(&f, 1, MEM_READ, 0x1020, 32);
    assert_int_equal(f.sink.count, 2);
    cache_rig_close(&f);
}

static void a_line_too_many_that_is_dirty_has_the_oldest_sent_and_kept(void **state)
{
    (void)state;
    struct cache_rig f;
    open_rig(&f, 3, 0);
    for (uint64_t line = 0; line < 3; line++) {
        access_cache(&f, MEM_WRITE, line * LINE, LINE);
    }
    access_cache(&f, MEM_WRITE, 0, LINE); /* dirty already: nothing new, and still the oldest */
    assert_int_equal(f.sink.count, 0);
    access_cache(&f, MEM_WRITE, UINT64_C(3) * LINE, 32);
    assert_int_equal(f.sink.count, 1);
    saw(&f, 0, MEM_WRITE, 0, LINE);
    assert_true(mem_cache_holds(f.cache, 0, LINE));
    access_cache(&f, MEM_READ, 0, LINE);
    assert_int_equal(f.sink.count, 1);
    access_cache(&f, MEM_WRITE, UINT64_C(4) * LINE, LINE);
    access_cache(&f, MEM_WRITE, UINT64_C(5) * LINE, LINE);
    access_cache(&f, MEM_WRITE, UINT64_C(6) * LINE, LINE);
    saw(&f, 3, MEM_WRITE, UINT64_C(3) * LINE, 32); /* of what was written alone */
    assert_int_equal(mem_cache_stats(f.cache)->writebacks, 4);
    assert_int_equal(mem_cache_stats(f.cache)->evictions, 0);
    cache_rig_close(&f);
}

static void stores_that_complete_a_piece_fetch_nothing(void **state)
{
    (void)state;
    struct cache_rig f;
    open_rig(&f, 0, 2);
    for (uint64_t at = 0; at < 32; at += 8) {
        assert_false(mem_cache_holds(f.cache, 0x1000, 32));
        access_cache(&f, MEM_WRITE, 0x1000 + at, 8);
    }
    assert_true(mem_cache_holds(f.cache, 0x1000, 32));
    access_cache(&f, MEM_READ, 0x1000, 32);
    assert_int_equal(f.sink.count, 0);
    for (uint64_t line = 0; line < 2; line++) { /* the whole one counts no more */
        access_cache(&f, MEM_WRITE, 0x2000 + line * LINE, 4);
    }
    assert_int_equal(f.sink.count, 0);
    cache_rig_close(&f);
}

static void a_line_too_many_that_is_known_in_part_has_the_oldest_read_and_written(void **state)
{
    (void)state;
    struct cache_rig f;
    open_rig(&f, 0, 2);
    access_cache(&f, MEM_WRITE, 0, 32); /* whole: stays dirty */
    access_cache(&f, MEM_WRITE, 36, 4);
    access_cache(&f, MEM_WRITE, UINT64_C(1) * LINE, 4);
    assert_int_equal(f.sink.count, 0);
    access_cache(&f, MEM_WRITE, UINT64_C(2) * LINE + 124, 4);
    assert_int_equal(f.sink.count, 2);
    saw(&f, 0, MEM_READ, 32, 32);
    saw(&f, 1, MEM_WRITE, 32, 32);
    assert_true(f.sink.note[1].time_ps >= f.sink.note[0].time_ps + 50 * PERIOD_PS);
    assert_true(mem_cache_holds(f.cache, 0, 64));
    assert_int_equal(mem_cache_stats(f.cache)->writebacks, 1);
    cache_rig_close(&f);
}

static void a_read_of_a_piece_known_in_part_fetches_its_sector_and_makes_it_whole(void **state)
{
    (void)state;
    struct cache_rig f;
    open_rig(&f, 0, 1);
    access_cache(&f, MEM_WRITE, 0x1004, 4);
    access_cache(&f, MEM_READ, 0x1004, 4);
    saw(&f, 0, MEM_READ, 0x1000, 64);
    assert_true(mem_cache_holds(f.cache, 0x1000, 64));
    access_cache(&f, MEM_WRITE, 0x2004, 4); /* the only one again */
    assert_int_equal(f.sink.count, 1);
    for (uint64_t line = 0; line < ROOM; line++) {
        access_cache(&f, MEM_READ, 0x10000 + line * LINE, 4);
    }
    uint32_t writes = 0;
    for (uint32_t i = 0; i < f.sink.count; i++) {
        writes += f.sink.note[i].kind == MEM_WRITE;
        assert_true(f.sink.note[i].kind == MEM_READ || f.sink.note[i].bytes == 32);
    }
    assert_int_equal(writes,
                     2); /* both leave by eviction, the second one after a read of its rest */
    cache_rig_close(&f);
}

static void gaps_between_a_warps_bytes_are_not_written(void **state)
{
    (void)state;
    struct cache_rig f;
    open_rig(&f, 0, 1);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_WRITE, 0x1000, 100); /* 4 B at 0, 32 B at 64, 4 B at 96 */
    probe.request.written[0] = 0xf;
    probe.request.written[1] = UINT64_C(0xfffffffff);
    assert_true(probe_send(&probe, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(f.sink.count, 0);
    assert_true(mem_cache_holds(f.cache, 0x1040, 32));
    assert_false(mem_cache_holds(f.cache, 0x1000, 4));
    access_cache(&f, MEM_WRITE, 0x2000, 4);
    assert_int_equal(f.sink.count, 4); /* pieces 0 and 3 are completed, 1 was never written */
    saw(&f, 0, MEM_READ, 0x1000, 32);
    saw(&f, 1, MEM_READ, 0x1060, 32);
    saw(&f, 2, MEM_WRITE, 0x1000, 32);
    saw(&f, 3, MEM_WRITE, 0x1060, 32);
    assert_false(mem_cache_holds(f.cache, 0x1020, 4));
    cache_rig_close(&f);
}

static void what_is_empty_again_counts_no_more(void **state)
{
    (void)state;
    struct cache_rig f;
    open_rig(&f, 1, 1);
    for (uint32_t turn = 0; turn < 3; turn++) {
        access_cache(&f, MEM_WRITE, 0x1000, 4);
        if (turn == 1) {
            mem_cache_drop(f.cache, 0x1000);
        } else {
            mem_cache_invalidate(f.cache);
        }
        assert_int_equal(f.sink.count, 0);
    }
    mem_cache_touch(f.cache, 0x1000, LINE, true); /* the host's copies take no time */
    mem_cache_touch(f.cache, 0x2000, LINE, true);
    assert_int_equal(f.sink.count, 0);
    access_cache(&f, MEM_WRITE, 0x3000, LINE);
    assert_int_equal(f.sink.count, 1);
    saw(&f, 0, MEM_WRITE, 0x2000, LINE);
    cache_rig_close(&f);
}

static void a_level_below_that_refuses_holds_writes_that_may_send(void **state)
{
    (void)state;
    struct cache_rig f;
    open_rig(&f, 1, 0);
    access_cache(&f, MEM_WRITE, 0, LINE);
    f.sink.refuses = true;
    struct probe probe[3];
    for (uint32_t i = 0; i < 3; i++) {
        probe_init(&probe[i], f.engine, MEM_WRITE, (i + 1) * (uint64_t)LINE, LINE);
        assert_true(probe_send(&probe[i], f.port));
    }
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe[0].replies, 1);
    assert_int_equal(probe[1].replies + probe[2].replies, 0);
    sink_open(&f.sink);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe[1].replies + probe[2].replies, 2);
    assert_int_equal(f.sink.count, 3);
    cache_rig_close(&f);
}

static void check_refused(const struct cache_spec *spec, const char *reason)
{
    assert_int_equal(mem_cache_check(spec), SONDE_EINPUT);
    assert_string_equal(error_text(), reason);
}

static void bounds_that_do_not_hold_together_are_refused(void **state)
{
    (void)state;
    struct cache_spec spec = rig_cache_spec();
    spec.write = WRITE_THROUGH_UPDATE;
    spec.dirty_lines = 1;
    check_refused(&spec, "written: a cache that writes through keeps nothing");
    spec = rig_cache_spec();
    spec.write = WRITE_BACK;
    spec.written_bytes = 48;
    check_refused(&spec, "written.piece: 48 bytes do not divide a sector of 128, or a line of 128 "
                         "bytes has more than 64 of them");
    spec.written_bytes = 32;
    spec.dirty_lines = 4;
    spec.data_bytes = spec.line_bytes;
    check_refused(&spec, "written: not with a data array smaller than the tags reach");
    spec.data_bytes = 0;
    spec.partial_lines = 1;
    spec.line_bytes = spec.sector_bytes = 64;
    spec.size_bytes = UINT64_C(64) * spec.sets * spec.ways;
    check_refused(&spec, "written.partial_lines: lines are to be of 128 bytes, not 64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_fetches_sectors_and_a_write_needs_none_of_its_own_pieces),
        cmocka_unit_test(a_line_too_many_that_is_dirty_has_the_oldest_sent_and_kept),
        cmocka_unit_test(stores_that_complete_a_piece_fetch_nothing),
        cmocka_unit_test(a_line_too_many_that_is_known_in_part_has_the_oldest_read_and_written),
        cmocka_unit_test(a_read_of_a_piece_known_in_part_fetches_its_sector_and_makes_it_whole),
        cmocka_unit_test(gaps_between_a_warps_bytes_are_not_written),
        cmocka_unit_test(what_is_empty_again_counts_no_more),
        cmocka_unit_test(a_level_below_that_refuses_holds_writes_that_may_send),
        cmocka_unit_test(bounds_that_do_not_hold_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
