/*
 * A table of misses one under, at and one over its limits: entries, mergers counted by request and
 * by lane. With the specification of memory_rig.h (hit 11, miss 5, fill 3 cycles) and 50 cycles for
 * the level below, a miss is answered after 58. What finds no place is looked up again when the
 * first line arrives, after 55, and takes another 58 from there, or as a hit 11.
 */
#include "support/memory_rig.h"

enum { BELOW = 50, HIT = 11, ARRIVES = 5 + BELOW, MISSED = ARRIVES + 3, MOST = 40 };

struct fixture {
    struct engine *engine;
    struct sink sink;
    struct cache_spec spec;
    struct mem_cache *cache;
    struct probe probe[MOST];
};

static void fixture_open(struct fixture *f, uint32_t entries, uint32_t mergers,
                         enum merger_kind merger)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(engine_create(&f->engine), 0);
    f->sink = (struct sink){.engine = f->engine, .latency_cycles = BELOW};
    f->spec = rig_cache_spec();
    f->spec.accesses_per_cycle = 0;
    f->spec.data_bytes_per_cycle = 0;
    f->spec.queue_entries = MOST;
    f->spec.mshr_entries = entries;
    f->spec.mshr_mergers = mergers;
    f->spec.merger = merger;
    assert_int_equal(mem_cache_create(&f->cache, &f->spec, MEM_AT_L1, f->engine, &rig_clock, 1,
                                      sink_port(&f->sink)),
                     0);
}

static void fixture_close(struct fixture *f)
{
    mem_cache_destroy(f->cache);
    engine_destroy(f->engine);
}

static void send(struct fixture *f, uint32_t index, uint64_t line, uint32_t lanes)
{
    probe_init(&f->probe[index], f->engine, MEM_READ, line * 128, 4);
    f->probe[index].request.lanes = lanes;
    assert_true(probe_send(&f->probe[index], mem_cache_port(f->cache)));
}

static void answered_after(const struct fixture *f, uint32_t index, uint64_t cycles)
{
    assert_int_equal(f->probe[index].replies, 1);
    assert_int_equal(f->probe[index].replied_ps, cycles * PERIOD_PS);
}

static void lines_beyond_the_entries_wait_for_the_first_one(void **state)
{
    (void)state;
    static struct fixture f;
    for (uint32_t entries = 1; entries <= 8; entries++) {
        for (uint32_t lines = entries > 1 ? entries - 1 : 1; lines <= entries + 1; lines++) {
            fixture_open(&f, entries, 2, MERGER_REQUEST);
            for (uint32_t i = 0; i < lines; i++) {
                send(&f, i, i, 1);
            }
            engine_run(f.engine, ENGINE_NEVER);
            for (uint32_t i = 0; i < lines; i++) {
                answered_after(&f, i, i < entries ? MISSED : ARRIVES + MISSED);
            }
            assert_int_equal(f.sink.count, lines);
            assert_int_equal(mem_cache_stats(f.cache)->mshr_full_stalls, lines > entries);
            fixture_close(&f);
        }
    }
}

static void requests_beyond_the_mergers_hit_when_the_line_is_there(void **state)
{
    (void)state;
    static struct fixture f;
    for (uint32_t mergers = 0; mergers <= 9; mergers++) {
        for (uint32_t requests = mergers + 1; requests <= mergers + 3; requests++) {
            fixture_open(&f, 4, mergers, MERGER_REQUEST);
            for (uint32_t i = 0; i < requests; i++) {
                send(&f, i, 7, 32); /* lanes do not count */
            }
            engine_run(f.engine, ENGINE_NEVER);
            for (uint32_t i = 0; i < requests; i++) {
                answered_after(&f, i, i <= mergers ? MISSED : ARRIVES + HIT);
            }
            assert_int_equal(f.sink.count, 1);
            fixture_close(&f);
        }
    }
}

/* Nothing merges: each takes an entry and fetches; what finds none hits when the first line is
 * there. */
static void separate_misses_fetch_each_for_itself(void **state)
{
    (void)state;
    static struct fixture f;
    for (uint32_t entries = 1; entries <= 6; entries++) {
        for (uint32_t requests = 1; requests <= entries + 2; requests++) {
            fixture_open(&f, entries, 0, MERGER_LANE);
            fixture_close(&f);
            f.spec.separate_misses = true;
            assert_int_equal(engine_create(&f.engine), 0);
            f.sink = (struct sink){.engine = f.engine, .latency_cycles = BELOW};
            assert_int_equal(mem_cache_create(&f.cache, &f.spec, MEM_AT_L1, f.engine, &rig_clock, 1,
                                              sink_port(&f.sink)),
                             0);
            for (uint32_t i = 0; i < requests; i++) {
                send(&f, i, 7, 32); /* nor do lanes count */
            }
            engine_run(f.engine, ENGINE_NEVER);
            for (uint32_t i = 0; i < requests; i++) {
                answered_after(&f, i, i < entries ? MISSED : ARRIVES + HIT);
            }
            assert_int_equal(f.sink.count, requests < entries ? requests : entries);
            assert_true(mem_cache_holds(f.cache, 7 * 128, 128));
            fixture_close(&f);
        }
    }
}

/* A store makes both copies stale that are on their way. */
static void no_separate_miss_brings_back_what_a_store_made_stale(void **state)
{
    (void)state;
    static struct fixture f;
    memset(&f, 0, sizeof f);
    assert_int_equal(engine_create(&f.engine), 0);
    f.sink = (struct sink){.engine = f.engine, .latency_cycles = BELOW};
    f.spec = rig_cache_spec();
    f.spec.write = WRITE_THROUGH_INVALIDATE;
    f.spec.separate_misses = true;
    f.spec.accesses_per_cycle = 0;
    assert_int_equal(
        mem_cache_create(&f.cache, &f.spec, MEM_AT_L1, f.engine, &rig_clock, 1, sink_port(&f.sink)),
        0);
    send(&f, 0, 7, 1);
    send(&f, 1, 7, 1);
    send(&f, 2, 9, 1);
    struct probe store;
    probe_init(&store, f.engine, MEM_WRITE, 7 * 128, 4);
    assert_true(probe_send(&store, mem_cache_port(f.cache)));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(f.probe[0].replies + f.probe[1].replies + store.replies, 3);
    assert_false(mem_cache_holds(f.cache, 7 * 128, 4));
    assert_true(mem_cache_holds(f.cache, 9 * 128, 4));
    fixture_close(&f);
}

/* One request of so many lanes: it is answered when the last of them has been. */
static void lanes_beyond_the_mergers_hit_when_the_line_is_there(void **state)
{
    (void)state;
    static struct fixture f;
    for (uint32_t mergers = 0; mergers <= 31; mergers++) {
        for (uint32_t lanes = 0; lanes <= 32; lanes++) {
            fixture_open(&f, 4, mergers, MERGER_LANE);
            send(&f, 0, 7, lanes);
            send(&f, 1, 8, 1); /* waits behind it, though it has an entry to take */
            engine_run(f.engine, ENGINE_NEVER);
            bool fits = lanes <= mergers + 1;
            answered_after(&f, 0, fits ? MISSED : ARRIVES + HIT);
            answered_after(&f, 1, fits ? MISSED : ARRIVES + MISSED);
            const struct mem_cache_stats *stats = mem_cache_stats(f.cache);
            assert_int_equal(stats->reads, 2);
            assert_int_equal(stats->mshr_full_stalls, !fits);
            assert_int_equal(f.sink.count, 2);
            fixture_close(&f);
        }
    }
}

/* Each of the two lines that a request spans is an access of its own, and has the room of a whole
 * one. */
static void each_line_of_a_request_that_spans_two_is_counted(void **state)
{
    (void)state;
    static struct fixture f;
    for (int merger = MERGER_REQUEST; merger <= MERGER_LANE; merger++) {
        for (uint32_t lanes = 0; lanes <= 4; lanes++) {
            fixture_open(&f, 4, 3, (enum merger_kind)merger);
            probe_init(&f.probe[0], f.engine, MEM_READ, 7 * 128 + 64, 128);
            f.probe[0].request.lanes = lanes;
            assert_true(probe_send(&f.probe[0], mem_cache_port(f.cache)));
            engine_run(f.engine, ENGINE_NEVER);
            send(&f, 1, 7, 1);
            send(&f, 2, 8, 1);
            engine_run(f.engine, ENGINE_NEVER);
            const struct mem_cache_stats *stats = mem_cache_stats(f.cache);
            assert_int_equal(stats->reads, 4);
            assert_int_equal(stats->read_hits, 2);
            assert_int_equal(stats->mshr_full_stalls, 0);
            assert_int_equal(f.probe[0].replies, 1);
            fixture_close(&f);
        }
    }
}

static void lanes_of_different_requests_share_the_mergers(void **state)
{
    (void)state;
    static struct fixture f;
    for (uint32_t first = 1; first <= 8; first++) {
        for (uint32_t second = 1; second <= 8; second++) {
            fixture_open(&f, 4, 7, MERGER_LANE);
            send(&f, 0, 7, first);
            send(&f, 1, 7, second);
            engine_run(f.engine, ENGINE_NEVER);
            answered_after(&f, 0, MISSED);
            answered_after(&f, 1, first + second <= 8 ? MISSED : ARRIVES + HIT);
            assert_int_equal(f.sink.count, 1);
            fixture_close(&f);
        }
    }
}

/* A line that went stale on its way serves who waits and is not kept: the lanes left fetch it
 * again. */
static void lanes_left_over_fetch_a_line_again_that_was_not_kept(void **state)
{
    (void)state;
    static struct fixture f;
    fixture_open(&f, 4, 3, MERGER_LANE);
    send(&f, 0, 7, 6);
    engine_run(f.engine, 20 * PERIOD_PS);
    mem_cache_invalidate(f.cache);
    engine_run(f.engine, ENGINE_NEVER);
    answered_after(&f, 0, ARRIVES + MISSED);
    assert_int_equal(f.sink.count, 2);
    assert_true(mem_cache_holds(f.cache, 7 * 128, 128));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_beyond_the_entries_wait_for_the_first_one),
        cmocka_unit_test(requests_beyond_the_mergers_hit_when_the_line_is_there),
        cmocka_unit_test(lanes_beyond_the_mergers_hit_when_the_line_is_there),
        cmocka_unit_test(each_line_of_a_request_that_spans_two_is_counted),
        cmocka_unit_test(lanes_of_different_requests_share_the_mergers),
        cmocka_unit_test(lanes_left_over_fetch_a_line_again_that_was_not_kept),
        cmocka_unit_test(separate_misses_fetch_each_for_itself),
        cmocka_unit_test(no_separate_miss_brings_back_what_a_store_made_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
