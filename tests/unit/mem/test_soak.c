/*
 * Whole memory systems of random shape under random traffic with narrow queues everywhere: every
 * request returns exactly once, nothing is left behind, counts agree between the levels, and a
 * second run is the same to the picosecond.
 */
#include "support/memory_rig.h"

enum { SOURCES = 3, SLICES = 3, REQUESTS = 4000, MAX_LATER = 40 };

struct system {
    struct engine *engine;
    struct cache_spec l1_spec, l2_spec;
    struct noc_spec noc_spec;
    struct dram_spec dram_spec;
    struct mem_cache *l1[SOURCES], *l2[SLICES];
    struct mem_noc *noc;
    struct mem_dram *dram[SLICES];
    struct index_spec slice_index;
};

static uint32_t one_of(struct rng *rng, uint32_t least, uint32_t most)
{
    return least + (uint32_t)rng_below(rng, most - least + 1);
}

static void draw_cache(struct cache_spec *spec, struct rng *rng, bool sectored, bool first_level)
{
    static const enum replacement_kind policies[] = {REPLACE_LRU, REPLACE_FIFO,  REPLACE_PLRU,
                                                     REPLACE_NRU, REPLACE_SRRIP, REPLACE_RANDOM};
    *spec = rig_cache_spec();
    rig_resize(spec, 128, one_of(rng, 1, 7), one_of(rng, 1, 5));
    spec->sector_bytes = sectored ? 32 : 128;
    spec->replacement.kind = policies[rng_below(rng, sizeof policies / sizeof *policies)];
    spec->write = first_level ? (enum write_policy)rng_below(rng, 4) : WRITE_BACK;
    spec->address = first_level ? ADDRESS_VIRTUAL : ADDRESS_PHYSICAL;
    spec->hit_cycles = one_of(rng, 0, 20);
    spec->miss_cycles = one_of(rng, 0, 6);
    spec->fill_cycles = one_of(rng, 0, 4);
    spec->accesses_per_cycle = one_of(rng, 0, 2);
    spec->data_bytes_per_cycle = 16 * one_of(rng, 0, 8);
    spec->mshr_entries = one_of(rng, 1, 6);
    spec->mshr_mergers = one_of(rng, 0, 3);
    spec->separate_misses = rng_below(rng, 3) == 0;
    spec->queue_entries = one_of(rng, 1, 4);
}

/* A network of routers: six nodes, buffers as narrow as may be. */
static void draw_flits(struct noc_spec *spec, struct rng *rng)
{
    enum noc_topology topology = (enum noc_topology)rng_below(rng, NOC_TOPOLOGY_COUNT);
    spec->kind = NOC_FLITS;
    spec->flits = (struct noc_flits_spec){.topology = topology,
                                          .width = topology == NOC_TOPOLOGY_RING ? 6 : 3,
                                          .height = 2,
                                          .flit_bytes = 8 * one_of(rng, 1, 5),
                                          .virtual_channels = 2 * one_of(rng, 1, 2),
                                          .buffer_flits = one_of(rng, 1, 4),
                                          .vc_allocator = (enum noc_allocator)rng_below(rng, 2),
                                          .switch_allocator = (enum noc_allocator)rng_below(rng, 2),
                                          .iterations = one_of(rng, 1, 2),
                                          .input_speedup = one_of(rng, 1, 2),
                                          .routing_cycles = one_of(rng, 0, 2),
                                          .vc_cycles = one_of(rng, 0, 2),
                                          .switch_cycles = one_of(rng, 1, 3),
                                          .link_cycles = one_of(rng, 0, 2),
                                          .period_ps = 100 * one_of(rng, 5, 15),
                                          .reply_entries = one_of(rng, 1, 3)};
}

static void draw_specs(struct system *s, struct rng *rng)
{
    bool sectored = rng_below(rng, 2);
    draw_cache(&s->l1_spec, rng, sectored, true);
    draw_cache(&s->l2_spec, rng, sectored, false);
    s->noc_spec = (struct noc_spec){.request_cycles = one_of(rng, 0, 30),
                                    .reply_cycles = one_of(rng, 0, 30),
                                    .request_bytes_per_cycle = 8 * one_of(rng, 0, 5),
                                    .reply_bytes_per_cycle = 8 * one_of(rng, 0, 5),
                                    .header_bytes = 8,
                                    .queue_entries = one_of(rng, 1, 4)};
    if (rng_below(rng, 2)) {
        draw_flits(&s->noc_spec, rng);
    }
    s->dram_spec = (struct dram_spec){.sched = (enum dram_sched_kind)rng_below(rng, 2),
                                      .channels = SLICES,
                                      .interleave_bytes = 128,
                                      .banks = one_of(rng, 1, 8),
                                      .row_bytes = 512,
                                      .burst_bytes = 32,
                                      .period_ps = 700,
                                      .t_cl = 9,
                                      .t_rcd = 10,
                                      .t_rp = 11,
                                      .t_ras = 20,
                                      .t_rc = 31,
                                      .t_rrd = 4,
                                      .bytes_per_cycle = 16,
                                      .queue_entries = one_of(rng, 1, 6),
                                      .fixed_cycles = 20,
                                      .closed_page = rng_below(rng, 2),
                                      .bus = (enum dram_bus_kind)rng_below(rng, 2),
                                      .subchannels = one_of(rng, 0, 3),
                                      .bank_interleave_bytes = 128 * one_of(rng, 0, 1),
                                      .bank_hash = rng_below(rng, 2),
                                      .t_faw = one_of(rng, 0, 30),
                                      .t_ccd_s = 2,
                                      .t_ccd_l = one_of(rng, 2, 5),
                                      .t_wl = one_of(rng, 0, 4),
                                      .t_rtp = one_of(rng, 0, 5),
                                      .t_wr = one_of(rng, 0, 12),
                                      .t_wtr = one_of(rng, 0, 6),
                                      .t_rtw = one_of(rng, 0, 3),
                                      .t_refi = one_of(rng, 0, 1) * 700,
                                      .t_rfc = 60};
    s->slice_index = (struct index_spec){.kind = INDEX_MODULO};
}

static uint32_t route_to_slice(void *ctx, const struct mem_request *request)
{
    const struct system *s = ctx;
    return mem_index_set(&s->slice_index, SLICES, 128, request->paddr);
}

static void system_open(struct system *s, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    memset(s, 0, sizeof *s);
    assert_int_equal(engine_create(&s->engine), 0);
    draw_specs(s, &rng);
    uint32_t id = 1;
    int rc = mem_noc_create(&s->noc, &s->noc_spec, s->engine, &rig_clock, id++, SOURCES, SLICES);
    assert_int_equal(rc, 0);
    for (uint32_t i = 0; i < SLICES; i++) {
        rc = mem_dram_create(&s->dram[i], &s->dram_spec, s->engine, &rig_clock, id++);
        assert_int_equal(rc, 0);
        rc = mem_cache_create(&s->l2[i], &s->l2_spec, MEM_AT_L2, s->engine, &rig_clock, id++,
                              mem_dram_port(s->dram[i]));
        assert_int_equal(rc, 0);
        mem_noc_connect(s->noc, i, mem_cache_port(s->l2[i]));
    }
    for (uint32_t i = 0; i < SOURCES; i++) {
        rc = mem_cache_create(&s->l1[i], &s->l1_spec, MEM_AT_L1, s->engine, &rig_clock, id++,
                              mem_noc_port(s->noc, i, route_to_slice, s));
        assert_int_equal(rc, 0);
    }
}

static void system_close(struct system *s)
{
    for (uint32_t i = 0; i < SOURCES; i++) {
        mem_cache_destroy(s->l1[i]);
    }
    for (uint32_t i = 0; i < SLICES; i++) {
        mem_cache_destroy(s->l2[i]);
        mem_dram_destroy(s->dram[i]);
    }
    mem_noc_destroy(s->noc);
    engine_destroy(s->engine);
}

/* One source's traffic: bursts and pauses of reads, writes, atomics, bypasses over a few KiB. */
struct traffic {
    struct system *system;
    struct mem_port port;
    struct rng rng;
    struct probe *probe;
    uint32_t source, sent;
};

static void traffic_draw(struct traffic *t, struct probe *probe)
{
    static const enum mem_kind kinds[] = {MEM_READ,  MEM_READ,   MEM_READ,
                                          MEM_WRITE, MEM_ATOMIC, MEM_PREFETCH};
    enum mem_kind kind = kinds[rng_below(&t->rng, sizeof kinds / sizeof *kinds)];
    uint32_t bytes = UINT32_C(4) << rng_below(&t->rng, 6);
    uint64_t address = rng_below(&t->rng, 8192) / bytes * bytes;
    probe_init(probe, t->system->engine, kind, address, bytes);
    probe->request.paddr = address + 0x100000;
    probe->request.sm = t->source;
    probe->request.bypass = rng_below(&t->rng, 8) == 0;
}

static void traffic_go(void *ctx, uint64_t arg)
{
    struct traffic *t = ctx;
    struct engine *engine = t->system->engine;
    (void)arg;
    while (t->sent < REQUESTS) {
        struct probe *probe = &t->probe[t->sent];
        if (!probe_send(probe, t->port)) {
            t->port.when_space(t->port.self, traffic_go, t, 0);
            return;
        }
        t->sent++;
        if (rng_below(&t->rng, 4) == 0) {
            uint64_t later_ps = rng_below(&t->rng, MAX_LATER * PERIOD_PS);
            engine_at(engine, engine_now_ps(engine) + later_ps, 100 + t->source, traffic_go, t, 0);
            return;
        }
    }
}

/* A digest of all reply times, or 0 when the run is not sound. */
static uint64_t run_traffic(struct system *s, uint64_t seed)
{
    struct traffic traffic[SOURCES];
    for (uint32_t i = 0; i < SOURCES; i++) {
        traffic[i] = (struct traffic){.system = s,
                                      .port = mem_cache_port(s->l1[i]),
                                      .probe = calloc(REQUESTS, sizeof *traffic[i].probe),
                                      .source = i};
        assert_non_null(traffic[i].probe);
        rng_seed(&traffic[i].rng, seed * SOURCES + i);
        for (uint32_t j = 0; j < REQUESTS; j++) {
            traffic_draw(&traffic[i], &traffic[i].probe[j]);
        }
        engine_at(s->engine, 0, 100 + i, traffic_go, &traffic[i], 0);
    }
    engine_run(s->engine, ENGINE_NEVER);
    assert_int_equal(engine_error(s->engine), 0);
    uint64_t digest = 1;
    for (uint32_t i = 0; i < SOURCES; i++) {
        assert_int_equal(traffic[i].sent, REQUESTS);
        for (uint32_t j = 0; j < REQUESTS; j++) {
            struct probe *probe = &traffic[i].probe[j];
            assert_int_equal(probe->replies, 1);
            assert_true(probe->replied_ps >= probe->sent_ps);
            assert_int_not_equal(probe->request.served_at, MEM_AT_NONE);
            digest = digest * UINT64_C(6364136223846793005) + probe->replied_ps;
        }
        free(traffic[i].probe);
    }
    return digest;
}

/* What one level sends is what the next one receives. */
static void counts_agree(const struct system *s)
{
    uint64_t l1_fetches = 0, l1_passed = 0, l2_reads = 0, l2_all = 0;
    for (uint32_t i = 0; i < SOURCES; i++) {
        const struct mem_cache_stats *stats = mem_cache_stats(s->l1[i]);
        l1_fetches += stats->fetches;
        l1_passed += stats->bypasses;
        assert_true(stats->read_hits + stats->read_pending_hits <= stats->reads);
        if (!cache_keeps_writes(&s->l1_spec)) {
            assert_int_equal(stats->writebacks, 0);
            l1_passed += stats->writes;
        }
    }
    for (uint32_t i = 0; i < SLICES; i++) {
        const struct mem_cache_stats *stats = mem_cache_stats(s->l2[i]);
        const struct mem_dram_stats *dram = mem_dram_stats(s->dram[i]);
        l2_reads += stats->reads;
        l2_all += stats->reads + stats->writes + stats->atomics;
        assert_int_equal(stats->fetches, dram->reads);
        /* a line's dirty sectors may be apart */
        assert_true(dram->writes >= stats->writebacks);
        assert_int_equal(dram->row_hits + dram->row_misses, dram->reads + dram->writes);
    }
    assert_true(l2_reads >= l1_fetches);
    if (!cache_keeps_writes(&s->l1_spec)) {
        assert_int_equal(l2_all, l1_fetches + l1_passed);
    } else {
        assert_true(l2_all >= l1_fetches + l1_passed);
    }
}

static void every_request_returns_once_and_runs_repeat(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t digest[2];
        for (uint32_t run = 0; run < 2; run++) {
            struct system s;
            system_open(&s, seed);
            digest[run] = run_traffic(&s, seed);
            counts_agree(&s);
            system_close(&s);
        }
        if (digest[0] != digest[1]) {
            fail_msg("seed %u: two runs differ", (unsigned)seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_returns_once_and_runs_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
