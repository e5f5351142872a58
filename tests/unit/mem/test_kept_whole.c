/* Lines that are read whole for any write, and written whole (WRITE_BACK_WHOLE). */
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

static void a_line_kept_whole_is_read_whole_for_any_write_and_written_whole(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.write = WRITE_BACK_WHOLE;
    f.spec.sector_bytes = 32;
    cache_rig_start(&f, MEM_AT_L1);
    assert_int_equal(access_cache(&f, MEM_WRITE, 0x1000, 128), MEM_AT_DRAM); /* all of it */
    sink_saw(&f, 0, MEM_READ, 0x1000, 128);
    assert_int_equal(access_cache(&f, MEM_WRITE, 0x1204, 4), MEM_AT_DRAM);
    sink_saw(&f, 1, MEM_READ, 0x1200, 128);
    assert_int_equal(access_cache(&f, MEM_WRITE, 0x1208, 4), MEM_AT_L1);
    assert_int_equal(f.sink.count, 2);
    assert_int_equal(mem_cache_stats(f.cache)->write_hits, 1);
    read_cache(&f, 0x1000);
    read_cache(&f, 0x1400); /* in place of 0x1200, of which one sector was written */
    sink_saw(&f, 3, MEM_WRITE, 0x1200, 128);
    assert_int_equal(f.sink.count, 4);
    cache_rig_close(&f);
}

static void a_line_kept_whole_that_was_only_read_is_not_written(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.write = WRITE_BACK_WHOLE;
    cache_rig_start(&f, MEM_AT_L1);
    read_cache(&f, 0x1000);
    read_cache(&f, 0x1200);
    read_cache(&f, 0x1400);
    assert_int_equal(mem_cache_stats(f.cache)->evictions, 1);
    assert_int_equal(mem_cache_stats(f.cache)->writebacks, 0);
    assert_int_equal(f.sink.count, 3);
    cache_rig_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_kept_whole_is_read_whole_for_any_write_and_written_whole),
        cmocka_unit_test(a_line_kept_whole_that_was_only_read_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
