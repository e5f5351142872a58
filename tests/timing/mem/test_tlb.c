/*
 * Translation: what each level adds, on time and not a cycle early; merging, overlap and limits of
 * walks; the active window. Every latency differs from the others: an L1 TLB of 4 pages in one set
 * (hit 2, miss 3, fill 5), an L2 TLB of 2 sets of 4 (hit 7, miss 11, fill 13), a walk of 17 and two
 * reads of 100 each; below the translator a level that answers after 50.
 */
#include "mem/tlb/tlb.h"
#include "support/memory_rig.h"

enum {
    PAGE = 4096,
    L1_HIT = 2,
    L1_MISS = 3,
    L1_FILL = 5,
    L2_HIT = 7,
    L2_MISS = 11,
    L2_FILL = 13,
    WALK = 17,
    READ = 100,
    LEVELS = 2,
    BELOW_CYCLES = 50,
    IN_L1 = BELOW_CYCLES + L1_HIT,
    IN_L2 = BELOW_CYCLES + L1_MISS + L2_HIT + L1_FILL,
    WALKED = BELOW_CYCLES + L1_MISS + L2_MISS + WALK + LEVELS * READ + L2_FILL + L1_FILL
};

struct fixture {
    struct engine *engine;
    struct tlb_spec l1_spec, l2_spec;
    struct walker_spec walker_spec;
    struct mem_cache *l1, *l2;
    struct mem_walker *walker;
    struct mem_translator *translator;
    struct sink memory, below;
    struct mem_port port;
};

static struct tlb_spec tlb(uint32_t sets, uint32_t ways, uint32_t hit, uint32_t miss, uint32_t fill)
{
    struct tlb_spec spec = {.entries = {.enabled = true,
                                        .line_bytes = PAGE,
                                        .sets = sets,
                                        .ways = ways,
                                        .index = {.kind = INDEX_MODULO},
                                        .replacement = {.kind = REPLACE_LRU},
                                        .hit_cycles = hit,
                                        .miss_cycles = miss,
                                        .fill_cycles = fill,
                                        .mshr_entries = 8,
                                        .mshr_mergers = 8,
                                        .queue_entries = 8}};
    mem_tlb_complete(&spec);
    return spec;
}

static void fixture_open(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(engine_create(&f->engine), 0);
    f->l1_spec = tlb(1, 4, L1_HIT, L1_MISS, L1_FILL);
    f->l2_spec = tlb(2, 4, L2_HIT, L2_MISS, L2_FILL);
    f->walker_spec = (struct walker_spec){
        .latency_cycles = WALK,
        .levels = LEVELS,
        .level = {{.span_bytes = PAGE, .entry_bytes = 8}, {.span_bytes = PAGE, .entry_bytes = 64}},
        .read_bytes = 32,
        .walks = 8,
        .queue_entries = 8};
}

static bool entry_of(void *ctx, uint32_t level, uint64_t vaddr, uint64_t *paddr)
{
    const struct walker_level_spec *spec = &((struct fixture *)ctx)->walker_spec.level[level];
    *paddr = (UINT64_C(1) << (40 + level)) + vaddr / spec->span_bytes * spec->entry_bytes;
    return true;
}

static struct mem_port memory_port(void *ctx, uint64_t paddr)
{
    (void)paddr;
    return sink_port(&((struct fixture *)ctx)->memory);
}

static void fixture_start(struct fixture *f)
{
    f->memory = (struct sink){.engine = f->engine, .latency_cycles = READ};
    f->below = (struct sink){.engine = f->engine, .latency_cycles = BELOW_CYCLES};
    struct mem_walker_memory memory = {.entry = entry_of, .port = memory_port, .ctx = f};
    assert_int_equal(
        mem_walker_create(&f->walker, &f->walker_spec, f->engine, &rig_clock, 1, &memory), 0);
    assert_int_equal(mem_cache_create(&f->l2, &f->l2_spec.entries, MEM_AT_NONE, f->engine,
                                      &rig_clock, 2, mem_walker_port(f->walker)),
                     0);
    assert_int_equal(mem_cache_create(&f->l1, &f->l1_spec.entries, MEM_AT_NONE, f->engine,
                                      &rig_clock, 3, mem_cache_port(f->l2)),
                     0);
    assert_int_equal(mem_translator_create(&f->translator, f->engine, 4, 8, f->l1,
                                           mem_cache_port(f->l1), sink_port(&f->below)),
                     0);
    f->port = mem_translator_port(f->translator);
}

static void fixture_close(struct fixture *f)
{
    mem_translator_destroy(f->translator);
    mem_cache_destroy(f->l1);
    mem_cache_destroy(f->l2);
    mem_walker_destroy(f->walker);
    engine_destroy(f->engine);
}

static uint64_t load_page(struct fixture *f, uint64_t page)
{
    return probe_alone(f->engine, f->port, MEM_READ, page * PAGE + 128, 32, NULL);
}

static void each_level_adds_its_own_time(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    for (uint64_t page = 0; page < 6; page++) {
        assert_int_equal(load_page(&f, page), WALKED);
    }
    assert_int_equal(load_page(&f, 5), IN_L1);
    assert_int_equal(load_page(&f, 0), IN_L2); /* the first of four is gone from L1 */
    assert_int_equal(load_page(&f, 0), IN_L1);
    mem_cache_invalidate(f.l1);
    mem_cache_invalidate(f.l2);
    assert_int_equal(load_page(&f, 0), WALKED);
    assert_int_equal(mem_cache_stats(f.l1)->reads, 10);
    assert_int_equal(mem_cache_stats(f.l1)->read_hits, 2);
    assert_int_equal(mem_cache_stats(f.l2)->reads, 8);
    assert_int_equal(mem_cache_stats(f.l2)->read_hits, 1);
    assert_int_equal(mem_walker_stats(f.walker)->walks, 7);
    assert_int_equal(mem_walker_stats(f.walker)->reads, 14);
    fixture_close(&f);
}

/* Each latency by itself, a cycle less and a cycle more: the sum follows by exactly that. */
static void a_latency_that_changes_by_a_cycle_changes_the_sum_by_one(void **state)
{
    (void)state;
    for (int which = 0; which < 8; which++) {
        for (int change = -1; change <= 1; change++) {
            struct fixture f;
            fixture_open(&f);
            uint32_t *latency[] = {&f.l1_spec.entries.hit_cycles,  &f.l1_spec.entries.miss_cycles,
                                   &f.l1_spec.entries.fill_cycles, &f.l2_spec.entries.hit_cycles,
                                   &f.l2_spec.entries.miss_cycles, &f.l2_spec.entries.fill_cycles,
                                   &f.walker_spec.latency_cycles,  &f.walker_spec.switch_cycles};
            *latency[which] += (uint32_t)(change + 1);
            fixture_start(&f);
            static const int in_l1[] = {1, 0, 0, 0, 0, 0, 0, 0};
            static const int in_l2[] = {0, 1, 1, 1, 0, 0, 0, 0};
            static const int walked[] = {0, 1, 1, 0, 1, 1, 1, 0};
            for (uint64_t page = 0; page < 5; page++) {
                assert_int_equal(load_page(&f, page), WALKED + walked[which] * (change + 1));
            }
            assert_int_equal(load_page(&f, 0), IN_L2 + in_l2[which] * (change + 1));
            assert_int_equal(load_page(&f, 0), IN_L1 + in_l1[which] * (change + 1));
            fixture_close(&f);
        }
    }
}

static void a_walk_without_levels_takes_its_latency(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.walker_spec.levels = 0;
    fixture_start(&f);
    assert_int_equal(load_page(&f, 0), WALKED - LEVELS * READ);
    assert_int_equal(f.memory.count, 0);
    fixture_close(&f);
}

static void a_walk_reads_the_entries_of_its_page_one_after_the_other(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    load_page(&f, 9);
    assert_int_equal(f.memory.count, 2);
    assert_int_equal(f.memory.note[0].address, (UINT64_C(1) << 40) + 64); /* 9 x 8, aligned */
    assert_int_equal(f.memory.note[1].address, (UINT64_C(1) << 41) + 9 * 64);
    assert_int_equal(f.memory.note[0].bytes, 32);
    assert_int_equal(f.memory.note[1].time_ps - f.memory.note[0].time_ps, READ * PERIOD_PS);
    fixture_close(&f);
}

static void misses_to_one_page_make_one_walk(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    struct probe probe[6];
    for (uint32_t i = 0; i < 6; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 64 * i, 32);
        assert_true(probe_send(&probe[i], f.port));
    }
    engine_run(f.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(probe[i].replies, 1);
        assert_int_equal(probe[i].replied_ps, WALKED * PERIOD_PS);
    }
    assert_int_equal(mem_walker_stats(f.walker)->walks, 1);
    fixture_close(&f);
}

static void a_hit_goes_past_a_miss(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    load_page(&f, 1);
    struct probe miss, hit;
    uint64_t start_ps = engine_now_ps(f.engine);
    probe_init(&miss, f.engine, MEM_READ, 2 * PAGE, 32);
    probe_init(&hit, f.engine, MEM_WRITE, 1 * PAGE, 32);
    assert_true(probe_send(&miss, f.port) && probe_send(&hit, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(miss.replied_ps - start_ps, WALKED * PERIOD_PS);
    assert_int_equal(hit.replied_ps - start_ps, IN_L1 * PERIOD_PS);
    fixture_close(&f);
}

static void walks_overlap_up_to_their_number(void **state)
{
    (void)state;
    enum { ALONE = WALK + LEVELS * READ };
    for (uint32_t walks = 1; walks <= 3; walks++) {
        struct fixture f;
        fixture_open(&f);
        f.walker_spec.walks = walks;
        fixture_start(&f);
        struct probe probe[6];
        for (uint32_t i = 0; i < 6; i++) {
            probe_init(&probe[i], f.engine, MEM_READ, (uint64_t)i * PAGE, 32);
            assert_true(probe_send(&probe[i], f.port));
        }
        engine_run(f.engine, ENGINE_NEVER);
        for (uint32_t i = 0; i < 6; i++) {
            assert_int_equal(probe[i].replied_ps, (WALKED + i / walks * ALONE) * PERIOD_PS);
        }
        fixture_close(&f);
    }
}

static void a_walk_outside_the_window_waits_for_its_own(void **state)
{
    (void)state;
    enum { SWITCH = 300 };
    struct fixture f;
    fixture_open(&f);
    f.walker_spec.window_bytes = 16 * PAGE;
    f.walker_spec.switch_cycles = SWITCH;
    fixture_start(&f);
    assert_int_equal(load_page(&f, 3), WALKED); /* the first activates its window */
    assert_int_equal(load_page(&f, 15), WALKED);
    assert_int_equal(load_page(&f, 16), WALKED + SWITCH);
    assert_int_equal(load_page(&f, 31), WALKED);
    assert_int_equal(load_page(&f, 3), IN_L1); /* what a TLB holds needs no table */
    assert_int_equal(load_page(&f, 4), WALKED + SWITCH);
    struct probe there, here; /* one switch after the other */
    uint64_t start_ps = engine_now_ps(f.engine);
    probe_init(&there, f.engine, MEM_READ, 20 * PAGE, 32);
    probe_init(&here, f.engine, MEM_READ, 5 * PAGE, 32);
    assert_true(probe_send(&there, f.port) && probe_send(&here, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(there.replied_ps - start_ps, (WALKED + SWITCH) * PERIOD_PS);
    assert_int_equal(here.replied_ps - start_ps, (WALKED + 2 * SWITCH) * PERIOD_PS);
    assert_int_equal(mem_walker_stats(f.walker)->window_switches, 4);
    fixture_close(&f);
}

static void a_request_that_leaves_later_is_translated_later(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    load_page(&f, 0);
    for (uint32_t i = 0; i < 2; i++) { /* a hit, a miss */
        struct probe probe;
        probe_init(&probe, f.engine, MEM_READ, (uint64_t)i * PAGE, 32);
        probe.request.arrive_ps = engine_now_ps(f.engine) + 40 * PERIOD_PS;
        uint64_t start_ps = engine_now_ps(f.engine);
        assert_true(probe_send(&probe, f.port));
        engine_run(f.engine, ENGINE_NEVER);
        assert_int_equal(probe.replied_ps - start_ps, (40 + (i ? WALKED : IN_L1)) * PERIOD_PS);
    }
    fixture_close(&f);
}

static void lookups_a_cycle_are_limited(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.l1_spec.entries.accesses_per_cycle = 1;
    fixture_start(&f);
    load_page(&f, 0);
    uint64_t start_ps = engine_now_ps(f.engine);
    struct probe probe[4];
    for (uint32_t i = 0; i < 4; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 64 * i, 32);
        assert_true(probe_send(&probe[i], f.port));
    }
    engine_run(f.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(probe[i].replied_ps - start_ps, (IN_L1 + i) * PERIOD_PS);
    }
    fixture_close(&f);
}

static void what_downstream_refuses_goes_on_when_it_may(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    load_page(&f, 0);
    f.below.refuses = true;
    struct probe probe[3];
    for (uint32_t i = 0; i < 3; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 64 * i, 32);
    }
    assert_true(probe_send(&probe[0], f.port)); /* kept: it has been translated */
    struct rig_source source = {.port = f.port, .probe = probe + 1, .count = 2};
    rig_push(&source, 0);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(source.sent, 0);
    sink_open(&f.below);
    engine_run(f.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(probe[i].replies, 1);
    }
    assert_int_equal(mem_cache_stats(f.l1)->reads, 4); /* each looked up once */
    fixture_close(&f);
}

static void a_walker_that_cannot_be_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    struct mem_walker *walker;
    struct mem_walker_memory memory = {.entry = entry_of, .port = memory_port, .ctx = &f};
    struct walker_spec good = f.walker_spec;
    uint32_t *zero[] = {&f.walker_spec.read_bytes, &f.walker_spec.walks,
                        &f.walker_spec.queue_entries, &f.walker_spec.level[1].entry_bytes};
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
        f.walker_spec = good;
        *zero[i] = 0;
        assert_int_equal(
            mem_walker_create(&walker, &f.walker_spec, f.engine, &rig_clock, 1, &memory),
            SONDE_EINPUT);
        assert_null(walker);
    }
    f.walker_spec = good;
    f.walker_spec.levels = WALKER_MAX_LEVELS + 1;
    assert_int_equal(mem_walker_check(&f.walker_spec), SONDE_EINPUT);
    engine_destroy(f.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_adds_its_own_time),
        cmocka_unit_test(a_latency_that_changes_by_a_cycle_changes_the_sum_by_one),
        cmocka_unit_test(a_walk_without_levels_takes_its_latency),
        cmocka_unit_test(a_walk_reads_the_entries_of_its_page_one_after_the_other),
        cmocka_unit_test(misses_to_one_page_make_one_walk),
        cmocka_unit_test(a_hit_goes_past_a_miss),
        cmocka_unit_test(walks_overlap_up_to_their_number),
        cmocka_unit_test(a_walk_outside_the_window_waits_for_its_own),
        cmocka_unit_test(a_request_that_leaves_later_is_translated_later),
        cmocka_unit_test(lookups_a_cycle_are_limited),
        cmocka_unit_test(what_downstream_refuses_goes_on_when_it_may),
        cmocka_unit_test(a_walker_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
