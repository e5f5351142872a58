/*
 * The flit-level network's fabric alone. Zero-load latency of every pair of nodes of every topology
 * against its formula; nothing lost and nothing stuck under load; and the throughput under uniform
 * random traffic against what is known of each topology and allocator:
 *
 *   mesh k x k        4/k flits a node and cycle at most, half the traffic crossing the bisection
 * of 2k torus k x k       8/k ring of n         8/n, as a torus with one row: 2 channels each way
 * at the cut, n/2 x 1/2 x 1/2 butterfly, crossbar  1, the node's own channel (Dally and Towles,
 * Principles and Practices of Interconnection Networks, 2004, sections 3.3.1 and 3.3.2) one queue
 * an input   0.60 to 0.62 of a crossbar of 16 to 36 ports, first in first out (Karol, Hluchyj and
 * Morgan, Input Versus Output Queueing on a Space-Division Packet Switch, 1987) many, PIM         1
 * - 1/e = 0.632 for one iteration (Anderson et al. 1993)
 *
 * "Saturates at" means: of 0.9 times that load nearly all arrives, of 1.1 times it does not.
 */
#include "support/memory_rig.h"

#include "mem/noc/fabric.h"
#include "util/rng.h"

enum { MAX_NODES = 64 };

struct bench {
    struct noc_flits_spec spec;
    uint32_t nodes;
    struct fabric *fabric;
    uint64_t cycle, arrived, last_arrival;
};

static void on_arrived(void *ctx, struct fabric_packet *packet, uint64_t cycle)
{
    struct bench *bench = ctx;
    bench->arrived++;
    bench->last_arrival = cycle;
    free(packet);
}

static void bench_open(struct bench *bench, struct noc_flits_spec spec, uint32_t nodes)
{
    static uint16_t place[MAX_NODES];
    *bench = (struct bench){.spec = spec, .nodes = nodes};
    for (uint32_t i = 0; i < nodes; i++) {
        place[i] = (uint16_t)i;
    }
    assert_int_equal(fabric_check(&bench->spec, nodes), 0);
    assert_int_equal(fabric_create(&bench->fabric, &bench->spec, place, nodes, on_arrived, bench),
                     0);
}

static void bench_send(struct bench *bench, uint32_t from, uint32_t to, uint32_t flits)
{
    struct fabric_packet *packet = calloc(1, sizeof *packet);
    assert_non_null(packet);
    *packet = (struct fabric_packet){.to = to, .flits = flits, .enter_cycle = bench->cycle};
    fabric_send(bench->fabric, from, packet);
}

/* Runs until nothing is inside; fails after `most` cycles. */
static void bench_drain(struct bench *bench, uint64_t most)
{
    uint64_t end = bench->cycle + most;
    while (fabric_tick(bench->fabric, bench->cycle)) {
        bench->cycle++;
        assert_true(bench->cycle < end);
    }
    bench->cycle += 100; /* credits come home */
}

static const struct noc_flits_spec paper = {.flit_bytes = 16,
                                            .width = 6,
                                            .height = 6,
                                            .virtual_channels = 2,
                                            .buffer_flits = 4,
                                            .iterations = 1,
                                            .input_speedup = 2,
                                            .routing_cycles = 1,
                                            .vc_cycles = 1,
                                            .switch_cycles = 1,
                                            .link_cycles = 1,
                                            .reply_entries = 8};

static struct noc_flits_spec of(enum noc_topology topology, uint32_t width, uint32_t height)
{
    struct noc_flits_spec spec = paper;
    spec.topology = topology;
    spec.width = width;
    spec.height = height;
    return spec;
}

/* ---- zero load ---- */

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static uint32_t apart_round(uint32_t a, uint32_t b, uint32_t length)
{
    uint32_t d = apart(a, b);
    return d < length - d ? d : length - d;
}

/* Routers on the way: channels between them and one. */
static uint32_t routers_between(const struct noc_flits_spec *spec, uint32_t a, uint32_t b)
{
    uint32_t w = spec->width;
    switch (spec->topology) {
    case NOC_TOPOLOGY_MESH:
        return apart(a % w, b % w) + apart(a / w, b / w) + 1;
    case NOC_TOPOLOGY_TORUS:
        return apart_round(a % w, b % w, w) + apart_round(a / w, b / w, spec->height) + 1;
    case NOC_TOPOLOGY_RING:
        return apart_round(a, b, w) + 1;
    case NOC_TOPOLOGY_BUTTERFLY:
        return spec->height;
    default:
        return 1;
    }
}

static void check_zero_load(struct noc_flits_spec spec, uint32_t nodes)
{
    struct bench bench;
    bench_open(&bench, spec, nodes);
    uint32_t router = spec.routing_cycles + spec.vc_cycles + spec.switch_cycles;
    for (uint32_t from = 0; from < nodes; from++) {
        for (uint32_t to = 0; to < nodes; to++) {
            uint32_t flits = 1 + (from + to) % 3;
            uint32_t n = routers_between(&spec, from, to);
            uint64_t began = bench.cycle, arrived = bench.arrived;
            bench_send(&bench, from, to, flits);
            bench_drain(&bench, 10000);
            assert_int_equal(bench.arrived, arrived + 1);
            assert_int_equal(bench.last_arrival - began,
                             n * router + (n + 1) * spec.link_cycles + flits - 1);
        }
    }
    fabric_destroy(bench.fabric);
}

static void zero_load_latency_is_routers_times_stages_plus_channels(void **state)
{
    (void)state;
    check_zero_load(of(NOC_TOPOLOGY_MESH, 6, 6), 36);
    check_zero_load(of(NOC_TOPOLOGY_MESH, 5, 3), 15);
    check_zero_load(of(NOC_TOPOLOGY_TORUS, 6, 6), 36);
    check_zero_load(of(NOC_TOPOLOGY_TORUS, 5, 4), 20);
    check_zero_load(of(NOC_TOPOLOGY_RING, 11, 1), 11);
    check_zero_load(of(NOC_TOPOLOGY_BUTTERFLY, 6, 2), 36);
    check_zero_load(of(NOC_TOPOLOGY_BUTTERFLY, 2, 5), 32);
    check_zero_load(of(NOC_TOPOLOGY_BUTTERFLY, 3, 3), 26);
    check_zero_load(of(NOC_TOPOLOGY_CROSSBAR, 1, 1), 36);
}

static void each_stage_adds_its_cycles_and_no_more(void **state)
{
    (void)state;
    static const uint32_t stages[][4] = {{0, 0, 1, 0}, {3, 1, 1, 1}, {1, 4, 1, 1},
                                         {1, 1, 6, 1}, {1, 1, 1, 5}, {2, 3, 4, 5}};
    for (uint32_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        struct noc_flits_spec spec = of(NOC_TOPOLOGY_MESH, 4, 4);
        spec.routing_cycles = stages[i][0];
        spec.vc_cycles = stages[i][1];
        spec.switch_cycles = stages[i][2];
        spec.link_cycles = stages[i][3];
        spec.buffer_flits = 32;
        check_zero_load(spec, 16);
        spec.topology = NOC_TOPOLOGY_TORUS;
        check_zero_load(spec, 16);
    }
}

/* ---- load ---- */

/*
 * Packets of so many flits, made at random `rate` a node and cycle, to anyone with the same chance:
 * the share of them that arrives in the time. A source that cannot follow loses what its queue does
 * not hold, so beyond saturation the share falls.
 */
static double accepted_of(struct noc_flits_spec spec, uint32_t nodes, double rate, uint32_t flits)
{
    enum { WARM = 2000, MEASURED = 10000, QUEUE = 50 };
    struct bench bench;
    struct rng rng;
    bench_open(&bench, spec, nodes);
    rng_seed(&rng, 7);
    uint64_t made = 0, before = 0;
    for (uint32_t i = 0; i < WARM + MEASURED; i++) {
        before = i == WARM ? bench.arrived : before;
        for (uint32_t node = 0; node < nodes; node++) {
            if (rng_double(&rng) >= rate) {
                continue;
            }
            made += i >= WARM;
            if (fabric_waiting(bench.fabric, node) < QUEUE) {
                bench_send(&bench, node, (uint32_t)rng_below(&rng, nodes), flits);
            }
        }
        (void)fabric_tick(bench.fabric, bench.cycle++);
    }
    double share = (double)(bench.arrived - before) / (double)made;
    bench_drain(&bench, 1000000);
    fabric_destroy(bench.fabric);
    return share;
}

static double accepted(struct noc_flits_spec spec, uint32_t nodes, double rate)
{
    return accepted_of(spec, nodes, rate, 1);
}

/* Saturates between 0.9 and 1.1 of `bound`, in flits a node and cycle. */
static void assert_saturates(struct noc_flits_spec spec, uint32_t nodes, double bound)
{
    double below = accepted(spec, nodes, 0.9 * bound), above = accepted(spec, nodes, 1.1 * bound);
    if (below < 0.98 || (bound < 0.9 && above > 0.98)) {
        fail_msg("of 0.9 times the bound %.3f: %.3f arrive, of 1.1 times: %.3f", bound, below,
                 above);
    }
}

/* Buffers and channels so ample that the topology is what limits. */
static struct noc_flits_spec ample(enum noc_topology topology, uint32_t width, uint32_t height)
{
    struct noc_flits_spec spec = of(topology, width, height);
    spec.virtual_channels = 8;
    spec.buffer_flits = 16;
    spec.input_speedup = 4;
    spec.iterations = 3;
    return spec;
}

static void the_topology_limits_where_buffers_are_ample(void **state)
{
    (void)state;
    assert_saturates(ample(NOC_TOPOLOGY_MESH, 6, 6), 36, 4.0 / 6);
    assert_saturates(ample(NOC_TOPOLOGY_RING, 16, 1), 16, 8.0 / 16);
    assert_saturates(ample(NOC_TOPOLOGY_TORUS, 12, 3), 36, 8.0 / 12);
    assert_saturates(ample(NOC_TOPOLOGY_BUTTERFLY, 6, 2), 36, 1);
    assert_saturates(ample(NOC_TOPOLOGY_CROSSBAR, 1, 1), 36, 1);
}

/* A flit on its way through a pipelined crossbar has its place in the next buffer. */
static void pipelined_routers_need_larger_buffers_for_the_same_throughput(void **state)
{
    (void)state;
    static const uint32_t more[][2] = {{4, 6}, {8, 8}, {16, 11}}; /* cycles, flits of a buffer */
    for (uint32_t flits = 1; flits <= 5; flits += 2) {
        const double heavy = 0.9 / flits;
        double before = accepted_of(of(NOC_TOPOLOGY_MESH, 6, 6), 36, heavy, flits);
        for (uint32_t i = 0; i < sizeof more / sizeof more[0]; i++) {
            struct noc_flits_spec spec = of(NOC_TOPOLOGY_MESH, 6, 6);
            spec.switch_cycles += more[i][0];
            double same_buffers = accepted_of(spec, 36, heavy, flits);
            spec.buffer_flits = more[i][1];
            double larger = accepted_of(spec, 36, heavy, flits);
            if (same_buffers > 0.95 * before || larger < before || larger > 1.1 * before) {
                fail_msg("%u flits, %u cycles more: %.3f arrive, %.3f with the same buffers, %.3f "
                         "with larger ones",
                         flits, more[i][0], before, same_buffers, larger);
            }
        }
    }
}

/* A crossbar without any bound of its own; what one iteration of its allocator finds is the limit.
 */
static struct noc_flits_spec switch_of(uint32_t channels, enum noc_allocator allocator)
{
    struct noc_flits_spec spec = of(NOC_TOPOLOGY_CROSSBAR, 1, 1);
    spec.virtual_channels = channels;
    spec.input_speedup = 1;
    spec.buffer_flits = 16;
    spec.routing_cycles = 0;
    spec.vc_cycles = 0;
    spec.vc_allocator = allocator;
    spec.switch_allocator = allocator;
    return spec;
}

static void one_queue_an_input_saturates_where_karol_says(void **state)
{
    (void)state;
    assert_saturates(switch_of(1, NOC_ALLOCATOR_ISLIP), 32, 0.60);
    assert_saturates(switch_of(1, NOC_ALLOCATOR_PIM), 32, 0.60);
}

static void one_iteration_of_pim_matches_1_minus_1_over_e(void **state)
{
    (void)state;
    assert_saturates(switch_of(32, NOC_ALLOCATOR_PIM), 32, 0.632);
}

static void round_robin_pointers_do_better_than_chance(void **state)
{
    (void)state;
    assert_true(accepted(switch_of(32, NOC_ALLOCATOR_ISLIP), 32, 0.66) > 0.98);
}

static void a_blocked_node_holds_the_network_and_nothing_is_lost(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, of(NOC_TOPOLOGY_MESH, 4, 4), 16);
    fabric_block(bench.fabric, 5, true);
    for (uint32_t i = 0; i < 400; i++) {
        bench_send(&bench, i % 16, 5, 3);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        assert_true(fabric_tick(bench.fabric, bench.cycle++));
    }
    /* What its buffers took, at the end of its channel: two virtual channels of four flits. */
    assert_in_range(bench.arrived, 1, 3);
    fabric_block(bench.fabric, 5, false);
    bench_drain(&bench, 100000);
    assert_int_equal(bench.arrived, 400);
    fabric_destroy(bench.fabric);
}

static void one_channel_carries_a_flit_a_cycle(void **state)
{
    (void)state;
    struct bench bench;
    /* Buffers that last until the head's credit is back: it stays for two stages more. */
    struct noc_flits_spec spec = of(NOC_TOPOLOGY_MESH, 2, 1);
    spec.buffer_flits = 6;
    bench_open(&bench, spec, 2);
    for (uint32_t i = 0; i < 200; i++) {
        bench_send(&bench, 0, 1, 5);
    }
    bench_drain(&bench, 10000);
    /* 1000 flits one behind the other, after the first one's 2 x 3 + 3 cycles. */
    assert_in_range(bench.last_arrival, 1000 + 9 - 1, 1000 + 9);
    fabric_destroy(bench.fabric);
}

static void what_cannot_be_built_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct noc_flits_spec spec = of(NOC_TOPOLOGY_MESH, 5, 5);
    assert_int_equal(fabric_check(&spec, 36), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "25 places for 36 nodes"));
    spec = of(NOC_TOPOLOGY_TORUS, 6, 6);
    spec.virtual_channels = 3;
    assert_int_equal(fabric_check(&spec, 36), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "even number of virtual channels"));
    spec = of(NOC_TOPOLOGY_MESH, 6, 6);
    spec.input_speedup = 3;
    assert_int_equal(fabric_check(&spec, 36), SONDE_EINPUT);
    spec = of(NOC_TOPOLOGY_BUTTERFLY, 1000, 9);
    assert_int_equal(fabric_check(&spec, 36), SONDE_EINPUT);
    spec = of(NOC_TOPOLOGY_BUTTERFLY, 4, 8); /* 65536 places; seven stages have 16384 */
    assert_int_equal(fabric_check(&spec, 36), SONDE_EINPUT);
    spec = of(NOC_TOPOLOGY_BUTTERFLY, 4, 7);
    assert_int_equal(fabric_check(&spec, 36), SONDE_OK);
    spec = of(NOC_TOPOLOGY_MESH, 6, 6);
    spec.buffer_flits = 0;
    assert_int_equal(fabric_check(&spec, 36), SONDE_EINPUT);
    /* Places are numbered in 16 bits, buffers' flits in 32. */
    spec = of(NOC_TOPOLOGY_MESH, 257, 256);
    assert_int_equal(fabric_check(&spec, 36), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "65792 places, over 65536"));
    spec = of(NOC_TOPOLOGY_MESH, 256, 256);
    assert_int_equal(fabric_check(&spec, 36), SONDE_OK);
    spec.virtual_channels = 64;
    spec.buffer_flits = 1024;
    assert_int_equal(fabric_check(&spec, 36), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "flits in its buffers"));
}

static void a_side_has_from_1_to_1024_places(void **state)
{
    (void)state;
    static const uint32_t good[][2] = {{1024, 1}, {1, 1024}, {1024, 64}},
                          bad[][2] = {{1025, 1}, {1, 1025}, {0, 36}, {36, 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct noc_flits_spec spec = of(NOC_TOPOLOGY_MESH, good[i][0], good[i][1]);
        assert_int_equal(fabric_check(&spec, 36), SONDE_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct noc_flits_spec spec = of(NOC_TOPOLOGY_MESH, bad[i][0], bad[i][1]);
        assert_int_equal(fabric_check(&spec, 36), SONDE_EINPUT);
        assert_non_null(strstr(error_text(), "width and height must be from 1 to 1024"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_load_latency_is_routers_times_stages_plus_channels),
        cmocka_unit_test(each_stage_adds_its_cycles_and_no_more),
        cmocka_unit_test(the_topology_limits_where_buffers_are_ample),
        cmocka_unit_test(pipelined_routers_need_larger_buffers_for_the_same_throughput),
        cmocka_unit_test(one_queue_an_input_saturates_where_karol_says),
        cmocka_unit_test(one_iteration_of_pim_matches_1_minus_1_over_e),
        cmocka_unit_test(round_robin_pointers_do_better_than_chance),
        cmocka_unit_test(a_blocked_node_holds_the_network_and_nothing_is_lost),
        cmocka_unit_test(one_channel_carries_a_flit_a_cycle),
        cmocka_unit_test(what_cannot_be_built_is_refused_with_the_reason),
        cmocka_unit_test(a_side_has_from_1_to_1024_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
