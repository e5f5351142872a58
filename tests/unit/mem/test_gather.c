/* Stores that a cache which writes through holds for others of the same lines. */
#include "support/cache_rig.h"

enum { WAIT = 20, BELOW = 50 };

/* Four lines, of which two are held though they could leave. */
static void open_rig(struct cache_rig *f)
{
    cache_rig_open(f, BELOW);
    f->spec.write = WRITE_THROUGH_UPDATE;
    f->spec.gather_lines = 4;
    f->spec.gather_held = 2;
    f->spec.gather_cycles = WAIT;
    cache_rig_start(f, MEM_AT_L1);
}

static void store(struct cache_rig *f, struct probe *probe, uint64_t address, uint32_t bytes)
{
    probe_init(probe, f->engine, MEM_WRITE, address, bytes);
    assert_true(probe_send(probe, f->port));
    engine_run(f->engine, engine_now_ps(f->engine) + PERIOD_PS);
}

static void finish(struct cache_rig *f, const struct probe *probe, uint32_t count)
{
    engine_run(f->engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(probe[i].replies, 1);
        assert_int_equal(probe[i].request.served_at, MEM_AT_DRAM);
    }
    cache_rig_close(f);
}

static void saw(const struct cache_rig *f, uint32_t i, uint64_t address, uint32_t bytes)
{
    assert_true(f->sink.count > i);
    assert_int_equal(f->sink.note[i].kind, MEM_WRITE);
    assert_int_equal(f->sink.note[i].address, address);
    assert_int_equal(f->sink.note[i].bytes, bytes);
}

static void stores_of_a_line_leave_as_one_when_none_has_come_for_a_while(void **state)
{
    (void)state;
    struct cache_rig f;
    struct probe probe[3];
    open_rig(&f);
    store(&f, &probe[0], 0x1008, 4);
    store(&f, &probe[1], 0x1060, 8);
    assert_int_equal(f.sink.count, 0);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(f.sink.count, 1);
    saw(&f, 0, 0x1008, 0x60);
    store(&f, &probe[2], 0x1010, 4);
    engine_run(f.engine, ENGINE_NEVER);
    saw(&f, 1, 0x1010, 4);
    assert_int_equal(probe[0].replied_ps, probe[1].replied_ps);
    assert_true(probe[0].replied_ps >= (WAIT + BELOW) * PERIOD_PS);
    finish(&f, probe, 3);
}

static void a_line_that_is_whole_leaves_at_once(void **state)
{
    (void)state;
    struct cache_rig f;
    struct probe probe[3];
    open_rig(&f);
    store(&f, &probe[0], 0x1000, 128);
    saw(&f, 0, 0x1000, 128);
    store(&f, &probe[1], 0x2000, 64);
    assert_int_equal(f.sink.count, 1);
    store(&f, &probe[2], 0x2040, 64);
    saw(&f, 1, 0x2000, 128);
    finish(&f, probe, 3);
}

static void lines_beyond_those_held_leave_the_oldest_first(void **state)
{
    (void)state;
    struct cache_rig f;
    struct probe probe[5];
    open_rig(&f);
    store(&f, &probe[0], 0x1000, 4);
    store(&f, &probe[1], 0x2000, 4);
    store(&f, &probe[2], 0x1004, 4);
    assert_int_equal(f.sink.count, 0);
    store(&f, &probe[3], 0x3000, 4);
    assert_int_equal(f.sink.count, 1);
    saw(&f, 0, 0x1000, 8);
    store(&f, &probe[4], 0x4000, 4);
    saw(&f, 1, 0x2000, 4);
    finish(&f, probe, 5);
}

static void while_downstream_refuses_stores_still_join(void **state)
{
    (void)state;
    struct cache_rig f;
    struct probe probe[7];
    open_rig(&f);
    f.sink.refuses = true;
    for (uint32_t i = 0; i < 5; i++) { /* one has left and waits, four are held */
        store(&f, &probe[i], 0x1000 * (i + 1), 4);
    }
    store(&f, &probe[5], 0x2008, 4);
    store(&f, &probe[6], 0x6000, 4); /* finds no room, and waits */
    sink_open(&f.sink);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(f.sink.count, 6);
    saw(&f, 0, 0x1000, 4);
    saw(&f, 1, 0x2000, 12);
    saw(&f, 2, 0x3000, 4);
    saw(&f, 5, 0x6000, 4);
    finish(&f, probe, 7);
}

static void a_fence_has_all_leave(void **state)
{
    (void)state;
    struct cache_rig f;
    struct probe probe[2];
    open_rig(&f);
    store(&f, &probe[0], 0x1000, 4);
    store(&f, &probe[1], 0x2000, 4);
    mem_cache_send_gathered(f.cache);
    assert_int_equal(f.sink.count, 2);
    finish(&f, probe, 2);
}

static void what_cannot_be_held_is_refused(void **state)
{
    (void)state;
    struct cache_spec spec = rig_cache_spec();
    spec.write = WRITE_THROUGH_UPDATE;
    spec.gather_lines = 4;
    assert_int_equal(mem_cache_check(&spec), SONDE_EINPUT); /* for no cycle */
    spec.gather_cycles = WAIT;
    assert_int_equal(mem_cache_check(&spec), 0);
    spec.gather_held = 4;
    assert_int_equal(mem_cache_check(&spec), SONDE_EINPUT);
}

/* A model may inherit it for a cache of other lines, or one that keeps what is written. */
static void lines_of_any_size_gather_and_a_cache_that_keeps_writes_passes_none_on(void **state)
{
    (void)state;
    struct cache_rig f;
    struct probe probe[2];
    for (int keeps = 0; keeps < 2; keeps++) {
        cache_rig_open(&f, BELOW);
        f.spec.write = keeps ? WRITE_BACK : WRITE_THROUGH_UPDATE;
        f.spec.line_bytes = f.spec.sector_bytes = 32;
        f.spec.size_bytes = (uint64_t)f.spec.sets * f.spec.ways * f.spec.line_bytes;
        f.spec.gather_lines = 4;
        f.spec.gather_held = 2;
        f.spec.gather_cycles = WAIT;
        cache_rig_start(&f, MEM_AT_L1);
        store(&f, &probe[0], 0x1000, 32);
        store(&f, &probe[1], 0x1020, 32);
        engine_run(f.engine, ENGINE_NEVER);
        assert_int_equal(f.sink.count, keeps ? 0 : 1);
        assert_int_equal(probe[0].replies + probe[1].replies, 2);
        cache_rig_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_of_a_line_leave_as_one_when_none_has_come_for_a_while),
        cmocka_unit_test(a_line_that_is_whole_leaves_at_once),
        cmocka_unit_test(lines_beyond_those_held_leave_the_oldest_first),
        cmocka_unit_test(while_downstream_refuses_stores_still_join),
        cmocka_unit_test(a_fence_has_all_leave),
        cmocka_unit_test(what_cannot_be_held_is_refused),
        cmocka_unit_test(lines_of_any_size_gather_and_a_cache_that_keeps_writes_passes_none_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
