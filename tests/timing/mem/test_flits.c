/*
 * The flit-level network as the memory system sees it: a 2 x 2 mesh with two sources and two
 * targets that answer after 50 cycles. Sources 0 and 1 are at places 0 and 2, the targets at 1 and
 * 3, so source 0 and target 0 are neighbours, and source 0 and target 1 are two channels apart.
 *
 *      a packet sent in a cycle enters at the next edge; over n routers of 3 cycles it takes
 *      3 n + (n + 1) + flits - 1
 */
#include "support/noc_rig.h"

enum { ENTER = 1, ROUTER = 3 };

static void fixture_open(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(engine_create(&f->engine), 0);
    f->spec = (struct noc_spec){
        .kind = NOC_FLITS, .header_bytes = 8, .queue_entries = 4, .flits = rig_mesh(8, 2)};
}

static uint64_t one_way(uint32_t routers, uint32_t flits)
{
    return ENTER + routers * ROUTER + routers + 1 + flits - 1;
}

static void a_round_trip_takes_its_hops_and_flits(void **state)
{
    (void)state;
    static const struct {
        enum mem_kind kind;
        uint32_t bytes, out, back; /* flits of 16 bytes, with a header of 8 */
    } trips[] = {
        {MEM_READ, 8, 1, 1}, {MEM_READ, 64, 1, 5}, {MEM_WRITE, 64, 5, 1}, {MEM_ATOMIC, 32, 3, 3}};
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    for (uint32_t target = 0; target < 2; target++) {
        for (uint32_t i = 0; i < sizeof trips / sizeof trips[0]; i++) {
            uint64_t cycles = probe_alone(f.engine, f.port[0], trips[i].kind, 0x1000 + target * 256,
                                          trips[i].bytes, NULL);
            uint32_t routers = 2 + target;
            assert_int_equal(cycles, one_way(routers, trips[i].out) + BELOW_CYCLES +
                                         one_way(routers, trips[i].back));
        }
    }
    struct mem_noc_stats stats;
    mem_noc_stats(&stats, f.noc);
    assert_int_equal(stats.requests.packets, 8);
    assert_int_equal(stats.requests.flits, 20);
    assert_int_equal(stats.requests.routers, 4 * 2 + 4 * 3);
    assert_int_equal(stats.replies.flits, 20);
    fixture_close(&f);
}

static void a_request_is_not_there_a_cycle_early(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0x1000, 32);
    assert_true(probe_send(&probe, f.port[0]));
    engine_run(f.engine, (one_way(2, 1) - 1) * PERIOD_PS);
    assert_int_equal(f.sink[0].count, 0);
    engine_run(f.engine, one_way(2, 1) * PERIOD_PS);
    assert_int_equal(f.sink[0].count, 1);
    assert_ptr_equal(probe.request.ctx != &probe, true);
    engine_run(f.engine, ENGINE_NEVER);
    assert_ptr_equal(probe.request.ctx, &probe);
    fixture_close(&f);
}

static void a_slower_clock_counts_in_its_own_cycles(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.flits.period_ps = 3 * PERIOD_PS;
    fixture_start(&f);
    /* Whole periods each way; the reply sets out at one of the core's edges. */
    uint64_t out = one_way(2, 1) * 3, back = one_way(2, 1) * 3;
    uint64_t cycles = probe_alone(f.engine, f.port[0], MEM_READ, 0x1000, 8, NULL);
    assert_int_equal(cycles, out + BELOW_CYCLES + back - (out + BELOW_CYCLES) % 3);
    fixture_close(&f);
}

/* Sends up to `count` reads from source 0, all at once; how many the port took. */
static uint32_t burst(struct fixture *f, struct probe *probe, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        probe_init(&probe[i], f->engine, MEM_READ, 0x1000 + i * 512, 64);
        if (!probe_send(&probe[i], f->port[0])) {
            return i;
        }
    }
    return count;
}

static void on_space(void *ctx, uint64_t arg)
{
    (void)arg;
    ++*(uint32_t *)ctx;
}

static void a_full_port_refuses_until_a_packet_has_begun_to_leave(void **state)
{
    (void)state;
    struct fixture f;
    struct probe probe[8];
    uint32_t woken = 0;
    fixture_open(&f);
    fixture_start(&f);
    assert_int_equal(burst(&f, probe, 8), f.spec.queue_entries);
    f.port[0].when_space(f.port[0].self, on_space, &woken, 0);
    engine_run(f.engine, (ENTER * PERIOD_PS) - 1);
    assert_int_equal(woken, 0);
    engine_run(f.engine, ENTER * PERIOD_PS);
    assert_int_equal(woken, 1);
    engine_run(f.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(probe[i].replies, 1);
    }
    fixture_close(&f);
}

/* Virtual channels may let a packet pass another one, so the order is not asked for. */
static void a_target_that_refuses_gets_each_request_later_and_once(void **state)
{
    (void)state;
    struct fixture f;
    struct probe probe[4];
    fixture_open(&f);
    fixture_start(&f);
    f.sink[0].refuses = true;
    assert_int_equal(burst(&f, probe, 4), 4);
    engine_run(f.engine, 500 * PERIOD_PS);
    assert_int_equal(f.sink[0].count, 0);
    f.sink[0].refuses = false;
    engine_at(f.engine, engine_now_ps(f.engine), 1000, f.sink[0].waiting, f.sink[0].waiting_ctx,
              f.sink[0].waiting_arg);
    for (uint32_t i = 0; i < 1000; i++) {
        (void)engine_step(f.engine);
    }
    assert_int_equal(f.sink[0].count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(probe[i].replies, 1);
    }
    fixture_close(&f);
}

static void replies_leave_at_the_channel_s_width(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.queue_entries = 16;
    f.spec.flits.reply_entries = 16;
    fixture_start(&f);
    /* A reply of 120 bytes and its header is 8 flits. */
    double measured = rig_bandwidth(f.engine, f.port[0], MEM_READ, 2000, 120, 512);
    if (measured < 15 * 0.98 || measured > 15 * 1.001) {
        fail_msg("%.3f bytes a cycle; 120 of every 8 x 16 are data", measured);
    }
    fixture_close(&f);
}

static void places_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct noc_spec spec;
    struct fixture f;
    fixture_open(&f);
    spec = f.spec;
    spec.flits.memory_place_count = 2;
    spec.flits.memory_places[0] = 1;
    spec.flits.memory_places[1] = 1;
    assert_int_equal(mem_noc_check(&spec, 2, 2), SONDE_EINPUT);
    assert_string_equal(error_text(), "network: two L2 slices at place 1");
    spec.flits.memory_places[1] = 4;
    assert_int_equal(mem_noc_check(&spec, 2, 2), SONDE_EINPUT);
    assert_string_equal(error_text(), "network: an L2 slice at place 4 of 4 (from 0)");
    spec.flits.memory_places[1] = 0;
    assert_int_equal(mem_noc_check(&spec, 2, 2), 0);
    assert_int_equal(mem_noc_check(&spec, 1, 3), SONDE_EINPUT);
    assert_string_equal(error_text(), "network: places of 2 L2 slices are given, there are 3");
    assert_int_equal(mem_noc_check(&f.spec, 3, 2), SONDE_EINPUT);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trip_takes_its_hops_and_flits),
        cmocka_unit_test(a_request_is_not_there_a_cycle_early),
        cmocka_unit_test(a_slower_clock_counts_in_its_own_cycles),
        cmocka_unit_test(a_full_port_refuses_until_a_packet_has_begun_to_leave),
        cmocka_unit_test(a_target_that_refuses_gets_each_request_later_and_once),
        cmocka_unit_test(replies_leave_at_the_channel_s_width),
        cmocka_unit_test(places_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
