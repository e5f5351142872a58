/*
 * The network of links: each latency on time and not a cycle early, serialization, contention,
 * refusal. Two sources, two targets that answer after 50 cycles; request 20, reply 30 cycles,
 * header 8 bytes.
 */
#include "support/noc_rig.h"

enum { REQUEST = 20, REPLY = 30, ROUND = REQUEST + BELOW_CYCLES + REPLY };

static void fixture_open(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(engine_create(&f->engine), 0);
    f->spec = (struct noc_spec){.kind = NOC_LINKS,
                                .request_cycles = REQUEST,
                                .reply_cycles = REPLY,
                                .request_bytes_per_cycle = 40,
                                .reply_bytes_per_cycle = 40,
                                .header_bytes = 8,
                                .queue_entries = 4};
}

static void a_small_packet_takes_the_latencies(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0x1000, 32);
    assert_true(probe_send(&probe, f.port[0]));
    engine_run(f.engine, (REQUEST - 1) * PERIOD_PS);
    assert_int_equal(f.sink[0].count, 0);
    engine_run(f.engine, REQUEST * PERIOD_PS);
    assert_int_equal(f.sink[0].count, 1);
    engine_run(f.engine, (ROUND - 1) * PERIOD_PS);
    assert_int_equal(probe.replies, 0);
    engine_run(f.engine, ROUND * PERIOD_PS);
    assert_int_equal(probe.replies, 1);
    assert_ptr_equal(probe.request.ctx, &probe);
    fixture_close(&f);
}

static void data_is_serialized_in_the_direction_it_goes(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    struct mem_port port = f.port[0];
    /* 8 + 32 = 40 bytes: one cycle; 8 + 33: two; 8 + 128 = 136: four */
    assert_int_equal(probe_alone(f.engine, port, MEM_READ, 0, 32, NULL), ROUND);
    assert_int_equal(probe_alone(f.engine, port, MEM_READ, 0, 33, NULL), ROUND + 1);
    assert_int_equal(probe_alone(f.engine, port, MEM_READ, 0, 128, NULL), ROUND + 3);
    assert_int_equal(probe_alone(f.engine, port, MEM_WRITE, 0, 128, NULL), ROUND + 3);
    assert_int_equal(f.sink[0].note[3].time_ps - f.sink[0].note[2].time_ps,
                     (ROUND + 3 + 3) * PERIOD_PS); /* it was the request that was late */
    assert_int_equal(probe_alone(f.engine, port, MEM_ATOMIC, 0, 128, NULL), ROUND + 6);
    fixture_close(&f);
}

static void an_unlimited_link_takes_the_latency_alone(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.request_bytes_per_cycle = f.spec.reply_bytes_per_cycle = 0;
    fixture_start(&f);
    assert_int_equal(probe_alone(f.engine, f.port[0], MEM_ATOMIC, 0, 128, NULL), ROUND);
    fixture_close(&f);
}

static void one_source_waits_for_its_own_link_only(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    struct probe probe[3];
    for (uint32_t i = 0; i < 3; i++) {
        probe_init(&probe[i], f.engine, MEM_WRITE, 0x1000, 128);
        assert_true(probe_send(&probe[i], f.port[i == 2]));
    }
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe[0].replied_ps, (ROUND + 3) * PERIOD_PS);
    assert_int_equal(probe[1].replied_ps, (ROUND + 3 + 4) * PERIOD_PS);
    assert_int_equal(probe[2].replied_ps, (ROUND + 3) * PERIOD_PS);
    fixture_close(&f);
}

static void replies_of_two_targets_share_the_link_to_their_source(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    f.sink[1].latency_cycles = BELOW_CYCLES - 1; /* both replies at the network in one cycle */
    struct probe probe[2];
    for (uint32_t i = 0; i < 2; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 0x100 * i, 128);
        assert_true(probe_send(&probe[i], f.port[0]));
    }
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe[0].replied_ps, (ROUND + 3) * PERIOD_PS);
    assert_int_equal(probe[1].replied_ps, (ROUND + 3 + 4) * PERIOD_PS);
    fixture_close(&f);
}

static void a_request_sent_ahead_of_its_time_lets_an_earlier_one_pass(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    struct probe ahead, direct;
    probe_init(&ahead, f.engine, MEM_READ, 0x1000, 4);
    probe_init(&direct, f.engine, MEM_READ, 0x1000, 4);
    ahead.request.arrive_ps = 6 * PERIOD_PS;
    assert_true(probe_send(&ahead, f.port[0]));
    assert_true(probe_send(&direct, f.port[0]));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(direct.replied_ps, ROUND * PERIOD_PS);
    assert_int_equal(ahead.replied_ps, (6 + ROUND) * PERIOD_PS);
    fixture_close(&f);
}

static void a_full_port_refuses_until_a_packet_has_left(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.queue_entries = 2;
    fixture_start(&f);
    struct probe probe[3], wake;
    for (uint32_t i = 0; i < 3; i++) {
        probe_init(&probe[i], f.engine, MEM_WRITE, 0x1000, 128);
        assert_int_equal(probe_send(&probe[i], f.port[0]), i < 2);
    }
    probe_init(&wake, f.engine, MEM_READ, 0, 4);
    f.port[0].when_space(f.port[0].self, probe_on_reply, &wake, 0);
    engine_run(f.engine, 3 * PERIOD_PS);
    assert_int_equal(wake.replies, 0);
    engine_run(f.engine, 4 * PERIOD_PS); /* 136 bytes at 40 a cycle */
    assert_int_equal(wake.replies, 1);
    assert_true(probe_send(&probe[2], f.port[0]));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe[2].replied_ps, (8 + ROUND + 3) * PERIOD_PS);
    fixture_close(&f);
}

static void a_port_without_a_bound_counts_what_it_holds(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.queue_entries = 2;
    fixture_start(&f);
    mem_noc_set_bounded(f.noc, false);
    f.sink[0].refuses = true;
    struct probe probe[6];
    for (uint32_t i = 0; i < 6; i++) {
        probe_init(&probe[i], f.engine, MEM_WRITE, i < 5 ? 0x1100 : 0x1000, 128);
        assert_true(probe_send(&probe[i], f.port[0]));
    }
    assert_int_equal(mem_noc_held(f.noc, 0, 4 * PERIOD_PS - 1), 6);
    assert_int_equal(mem_noc_held(f.noc, 0, 4 * PERIOD_PS), 5); /* 136 bytes at 40 a cycle */
    assert_int_equal(mem_noc_held(f.noc, 1, 4 * PERIOD_PS), 0);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(mem_noc_held(f.noc, 0, 24 * PERIOD_PS), 1); /* that was refused */
    sink_open(&f.sink[0]);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(mem_noc_held(f.noc, 0, 24 * PERIOD_PS), 0);
    mem_noc_set_bounded(f.noc, true);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(probe[i].replies, 1);
        probe_init(&probe[i], f.engine, MEM_WRITE, 0x1100, 128);
        assert_int_equal(probe_send(&probe[i], f.port[0]), i < 2);
    }
    engine_run(f.engine, ENGINE_NEVER);
    fixture_close(&f);
}

static void requests_that_the_target_refuses_keep_their_places(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    f.sink[0].refuses = true;
    struct probe probe[5], other;
    for (uint32_t i = 0; i < 5; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 0x1000 + 4 * i, 4);
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(probe_send(&probe[i], f.port[0]));
    }
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(f.sink[0].count, 0);
    assert_false(probe_send(&probe[4], f.port[0]));
    probe_init(&other, f.engine, MEM_READ, 0x100, 4);
    assert_true(probe_send(&other, f.port[1])); /* another source, another target */
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(other.replies, 1);
    struct probe wake;
    probe_init(&wake, f.engine, MEM_READ, 0, 4);
    f.port[0].when_space(f.port[0].self, probe_on_reply, &wake, 0);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(wake.replies, 0);
    sink_open(&f.sink[0]);
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(wake.replies, 1);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(probe[i].replies, 1);
        assert_int_equal(f.sink[0].note[i].address, 0x1000 + 4 * i);
    }
    assert_true(probe_send(&probe[4], f.port[0]));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe[4].replies, 1);
    fixture_close(&f);
}

static void links_saturate_at_their_width(void **state)
{
    (void)state;
    const uint32_t widths[] = {8, 16, 32, 33, 136};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct fixture f;
        fixture_open(&f);
        f.spec.request_bytes_per_cycle = widths[i];
        f.spec.reply_bytes_per_cycle = widths[i];
        f.spec.queue_entries = 3;
        fixture_start(&f);
        double cycles = (136 + widths[i] - 1) / widths[i];
        for (enum mem_kind kind = MEM_READ; kind <= MEM_ATOMIC; kind++) {
            double measured = rig_bandwidth(f.engine, f.port[0], kind, 2000, 128, 128);
            assert_within_2_percent(measured, 128 / cycles);
        }
        fixture_close(&f);
    }
}

static void a_perfect_memory_answers_all_after_the_two_latencies(void **state)
{
    (void)state;
    struct fixture f;
    struct probe probe[40];
    fixture_open(&f);
    f.spec.kind = NOC_PERFECT;
    fixture_start(&f);
    for (uint32_t i = 0; i < 40; i++) {
        probe_init(&probe[i], f.engine, i % 2 ? MEM_WRITE : MEM_READ, 0x1000, 128);
        assert_true(probe_send(&probe[i], f.port[i % 2]));
    }
    engine_run(f.engine, (REQUEST + REPLY - 1) * PERIOD_PS);
    assert_int_equal(probe[0].replies, 0);
    engine_run(f.engine, (REQUEST + REPLY) * PERIOD_PS);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(probe[i].replies, 1);
        assert_int_equal(probe[i].request.asked, 4);
    }
    assert_int_equal(f.sink[0].count + f.sink[1].count, 0);
    struct mem_noc_stats stats;
    mem_noc_stats(&stats, f.noc);
    assert_int_equal(stats.requests.sectors, 40 * 4);
    fixture_close(&f);
}

/* Reads of both sources, `apart` cycles from each other: how many reach the target, and when the
 * second one has its answer. */
static uint32_t two_reads(struct fixture *f, enum mem_kind kind, uint64_t apart, uint32_t bytes,
                          uint64_t *answered)
{
    struct probe probe[2];
    uint64_t start_ps = engine_now_ps(f->engine);
    uint32_t before = f->sink[0].count;
    probe_init(&probe[0], f->engine, MEM_READ, 0x1000, 32);
    assert_true(probe_send(&probe[0], f->port[0]));
    engine_run(f->engine, start_ps + apart * PERIOD_PS);
    probe_init(&probe[1], f->engine, kind, 0x1000, bytes);
    probe[1].request.arrive_ps = start_ps + apart * PERIOD_PS;
    assert_true(probe_send(&probe[1], f->port[1]));
    engine_run(f->engine, ENGINE_NEVER);
    assert_int_equal(probe[0].replied_ps - start_ps, ROUND * PERIOD_PS);
    assert_int_equal(probe[1].replies, 1);
    assert_ptr_equal(probe[1].request.ctx, &probe[1]);
    *answered = (probe[1].replied_ps - start_ps) / PERIOD_PS;
    assert_int_equal(probe[1].request.served_at, probe[0].request.served_at);
    assert_int_equal(probe[0].request.asked, 1);
    uint32_t reached = f->sink[0].count - before;
    assert_int_equal(probe[1].request.asked, reached - 1);
    rig_wait(f->engine, 1000);
    return reached;
}

static void reads_of_a_group_under_way_go_as_one(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.share_tables = 2;
    fixture_start(&f);
    uint64_t answered;
    enum { LAST = BELOW_CYCLES - 1 }; /* it is there a cycle before the answer is */
    assert_int_equal(two_reads(&f, MEM_READ, 0, 32, &answered), 1);
    assert_int_equal(answered, ROUND);
    assert_int_equal(two_reads(&f, MEM_READ, LAST, 32, &answered), 1);
    assert_int_equal(answered, ROUND);
    assert_int_equal(two_reads(&f, MEM_READ, LAST + 2, 32, &answered), 2);
    assert_int_equal(answered, LAST + 2 + ROUND);
    assert_int_equal(two_reads(&f, MEM_READ, 5, 16, &answered), 2); /* other bytes */
    assert_int_equal(answered, 5 + ROUND);
    assert_int_equal(two_reads(&f, MEM_WRITE, 5, 32, &answered), 2);
    struct mem_noc_stats stats;
    mem_noc_stats(&stats, f.noc);
    assert_int_equal(stats.requests.packets, 10);
    assert_int_equal(stats.requests.sectors, 8);
    assert_int_equal(stats.replies.packets, 10);
    mem_noc_set_group(f.noc, 1, 1);
    assert_int_equal(two_reads(&f, MEM_READ, 0, 32, &answered), 2);
    fixture_close(&f);
}

static void so_many_reads_go_as_one_at_most(void **state)
{
    (void)state;
    for (uint32_t most = 0; most <= 5; most++) {
        struct fixture f;
        fixture_open(&f);
        f.spec.share_tables = 1;
        f.spec.share_most = most;
        f.spec.queue_entries = 16;
        fixture_start(&f);
        struct probe probe[12];
        for (uint32_t i = 0; i < 12; i++) {
            probe_init(&probe[i], f.engine, MEM_READ, 0x1000, 32);
            assert_true(probe_send(&probe[i], f.port[i % 2]));
        }
        engine_run(f.engine, ENGINE_NEVER);
        for (uint32_t i = 0; i < 12; i++) {
            assert_int_equal(probe[i].replies, 1);
        }
        assert_int_equal(f.sink[0].count, most == 0 ? 1 : (12 + most - 1) / most);
        fixture_close(&f);
    }
}

/* More sectors than the table has chains, so that some have one in common. */
static void reads_of_other_sectors_share_nothing(void **state)
{
    (void)state;
    enum { SECTORS = 1200 };
    struct fixture f;
    fixture_open(&f);
    f.spec.share_tables = 1;
    f.spec.queue_entries = SECTORS;
    f.spec.request_bytes_per_cycle = 0; /* all are under way together */
    fixture_start(&f);
    struct probe *probe = calloc(SECTORS, sizeof *probe);
    assert_non_null(probe);
    for (uint32_t i = 0; i < SECTORS; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, UINT64_C(32) * i, 32);
        assert_true(probe_send(&probe[i], f.port[0]));
    }
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(f.sink[0].count + f.sink[1].count, SECTORS);
    free(probe);
    fixture_close(&f);
}

static void networks_of_nothing_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.queue_entries = 0;
    int rc = mem_noc_create(&f.noc, &f.spec, f.engine, &rig_clock, 1, 2, 2);
    assert_int_equal(rc, SONDE_EINPUT);
    f.spec.queue_entries = 1;
    f.spec.kind = NOC_KIND_COUNT;
    rc = mem_noc_create(&f.noc, &f.spec, f.engine, &rig_clock, 1, 2, 2);
    assert_int_equal(rc, SONDE_EINPUT);
    assert_string_equal(error_text(), "network: unknown kind 3");
    f.spec.kind = NOC_PERFECT;
    f.spec.share_tables = 1;
    rc = mem_noc_create(&f.noc, &f.spec, f.engine, &rig_clock, 1, 2, 2);
    assert_int_equal(rc, SONDE_EINPUT);
    assert_string_equal(error_text(), "network: a network of this kind shares no reads");
    engine_destroy(f.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_packet_takes_the_latencies),
        cmocka_unit_test(data_is_serialized_in_the_direction_it_goes),
        cmocka_unit_test(an_unlimited_link_takes_the_latency_alone),
        cmocka_unit_test(one_source_waits_for_its_own_link_only),
        cmocka_unit_test(replies_of_two_targets_share_the_link_to_their_source),
        cmocka_unit_test(a_request_sent_ahead_of_its_time_lets_an_earlier_one_pass),
        cmocka_unit_test(a_full_port_refuses_until_a_packet_has_left),
        cmocka_unit_test(a_port_without_a_bound_counts_what_it_holds),
        cmocka_unit_test(requests_that_the_target_refuses_keep_their_places),
        cmocka_unit_test(links_saturate_at_their_width),
        cmocka_unit_test(a_perfect_memory_answers_all_after_the_two_latencies),
        cmocka_unit_test(reads_of_a_group_under_way_go_as_one),
        cmocka_unit_test(so_many_reads_go_as_one_at_most),
        cmocka_unit_test(reads_of_other_sectors_share_nothing),
        cmocka_unit_test(networks_of_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
