/*
 * Translation under random traffic: TLBs of random shape and scope between sources and a memory
 * system with narrow queues, walks that read through the same L2. Every request returns exactly
 * once, what one level asks is what the next one answers, and a second run is the same.
 */
#include "mem/tlb/tlb.h"
#include "support/memory_rig.h"

enum { SOURCES = 4, REQUESTS = 1500, PAGE = 4096, PAGES = 64, MAX_LATER = 60, SEEDS = 40 };

struct system {
    struct engine *engine;
    struct tlb_spec l1_spec, l2_spec;
    struct walker_spec walker_spec;
    struct cache_spec cache_spec;
    struct noc_spec noc_spec;
    struct dram_spec dram_spec;
    uint32_t l1_count;
    struct mem_cache *l1[SOURCES], *l2, *cache;
    struct mem_walker *walker;
    struct mem_translator *translator[SOURCES];
    struct mem_noc *noc;
    struct mem_dram *dram;
};

static uint32_t one_of(struct rng *rng, uint32_t least, uint32_t most)
{
    return least + (uint32_t)rng_below(rng, most - least + 1);
}

static void draw_tlb(struct tlb_spec *tlb, struct rng *rng, uint32_t page_bytes)
{
    static const enum replacement_kind policies[] = {REPLACE_LRU, REPLACE_FIFO, REPLACE_PLRU,
                                                     REPLACE_RANDOM};
    *tlb = (struct tlb_spec){.entries = {.enabled = rng_below(rng, 8) != 0,
                                         .line_bytes = page_bytes,
                                         .sets = one_of(rng, 1, 5),
                                         .ways = one_of(rng, 1, 6),
                                         .index = {.kind = INDEX_MODULO},
                                         .replacement = {.kind = policies[rng_below(rng, 4)]},
                                         .hit_cycles = one_of(rng, 0, 9),
                                         .miss_cycles = one_of(rng, 0, 9),
                                         .fill_cycles = one_of(rng, 0, 9),
                                         .accesses_per_cycle = one_of(rng, 0, 2),
                                         .mshr_entries = one_of(rng, 1, 4),
                                         .mshr_mergers = one_of(rng, 0, 3),
                                         .queue_entries = one_of(rng, 1, 4)}};
    mem_tlb_complete(tlb);
}

static void draw_specs(struct system *s, struct rng *rng)
{
    draw_tlb(&s->l1_spec, rng, PAGE);
    draw_tlb(&s->l2_spec, rng, rng_below(rng, 2) ? PAGE : 4 * PAGE);
    s->walker_spec = (struct walker_spec){.latency_cycles = one_of(rng, 0, 20),
                                          .levels = one_of(rng, 0, 3),
                                          .read_bytes = 32,
                                          .walks = one_of(rng, 1, 4),
                                          .queue_entries = one_of(rng, 1, 4),
                                          .window_bytes = rng_below(rng, 2) ? 16 * PAGE : 0,
                                          .switch_cycles = one_of(rng, 0, 50)};
    for (uint32_t i = 0; i < WALKER_MAX_LEVELS; i++) {
        s->walker_spec.level[i] = (struct walker_level_spec){PAGE, UINT32_C(8) << i};
    }
    s->cache_spec = rig_cache_spec();
    s->cache_spec.mshr_entries = one_of(rng, 1, 4);
    s->cache_spec.queue_entries = one_of(rng, 1, 3);
    s->noc_spec = (struct noc_spec){.request_cycles = 5,
                                    .reply_cycles = 5,
                                    .request_bytes_per_cycle = 16,
                                    .reply_bytes_per_cycle = 16,
                                    .header_bytes = 8,
                                    .queue_entries = one_of(rng, 1, 3)};
    s->dram_spec = (struct dram_spec){.channels = 1,
                                      .banks = 4,
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
                                      .queue_entries = one_of(rng, 1, 4),
                                      .fixed_cycles = 20};
    static const uint32_t counts[] = {1, 2, SOURCES};
    s->l1_count = counts[rng_below(rng, 3)];
}

static bool entry_of(void *ctx, uint32_t level, uint64_t vaddr, uint64_t *paddr)
{
    struct system *s = ctx;
    *paddr = (UINT64_C(1) << (30 + level)) + vaddr / PAGE * s->walker_spec.level[level].entry_bytes;
    return vaddr / PAGE % 13 != 12; /* some have no entry to read */
}

static struct mem_port cache_of(void *ctx, uint64_t paddr)
{
    (void)paddr;
    return mem_cache_port(((struct system *)ctx)->cache);
}

static uint32_t only_target(void *ctx, const struct mem_request *request)
{
    (void)ctx;
    (void)request;
    return 0;
}

#define MAKE(call) assert_int_equal(call, 0)

static void system_open(struct system *s, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    memset(s, 0, sizeof *s);
    MAKE(engine_create(&s->engine));
    draw_specs(s, &rng);
    struct mem_walker_memory memory = {.entry = entry_of, .port = cache_of, .ctx = s};
    MAKE(mem_dram_create(&s->dram, &s->dram_spec, s->engine, &rig_clock, 1));
    MAKE(mem_cache_create(&s->cache, &s->cache_spec, MEM_AT_L2, s->engine, &rig_clock, 2,
                          mem_dram_port(s->dram)));
    MAKE(mem_noc_create(&s->noc, &s->noc_spec, s->engine, &rig_clock, 3, SOURCES, 1));
    mem_noc_connect(s->noc, 0, mem_cache_port(s->cache));
    MAKE(mem_walker_create(&s->walker, &s->walker_spec, s->engine, &rig_clock, 4, &memory));
    MAKE(mem_cache_create(&s->l2, &s->l2_spec.entries, MEM_AT_NONE, s->engine, &rig_clock, 5,
                          mem_walker_port(s->walker)));
    for (uint32_t i = 0; i < s->l1_count; i++) {
        MAKE(mem_cache_create(&s->l1[i], &s->l1_spec.entries, MEM_AT_NONE, s->engine, &rig_clock,
                              6 + i, mem_cache_port(s->l2)));
    }
    for (uint32_t i = 0; i < SOURCES; i++) {
        struct mem_cache *l1 = s->l1[i % s->l1_count];
        MAKE(mem_translator_create(&s->translator[i], s->engine, 20 + i, 1 + i, l1,
                                   mem_cache_port(l1), mem_noc_port(s->noc, i, only_target, NULL)));
    }
}

static void system_close(struct system *s)
{
    for (uint32_t i = 0; i < SOURCES; i++) {
        mem_translator_destroy(s->translator[i]);
        mem_cache_destroy(s->l1[i]);
    }
    mem_cache_destroy(s->l2);
    mem_walker_destroy(s->walker);
    mem_noc_destroy(s->noc);
    mem_cache_destroy(s->cache);
    mem_dram_destroy(s->dram);
    engine_destroy(s->engine);
}

struct traffic {
    struct system *system;
    struct rng rng;
    struct probe *probe;
    uint32_t source, sent;
};

static void traffic_go(void *ctx, uint64_t arg)
{
    struct traffic *t = ctx;
    struct engine *engine = t->system->engine;
    struct mem_port port = mem_translator_port(t->system->translator[t->source]);
    (void)arg;
    while (t->sent < REQUESTS) {
        struct probe *probe = &t->probe[t->sent];
        if (rng_below(&t->rng, 5) == 0) {
            probe->request.arrive_ps = engine_now_ps(engine) + rng_below(&t->rng, 7 * PERIOD_PS);
        }
        if (!probe_send(probe, port)) {
            port.when_space(port.self, traffic_go, t, 0);
            return;
        }
        t->sent++;
        if (rng_below(&t->rng, 3) == 0) {
            uint64_t later_ps = rng_below(&t->rng, MAX_LATER * PERIOD_PS);
            engine_at(engine, engine_now_ps(engine) + later_ps, 100 + t->source, traffic_go, t, 0);
            return;
        }
    }
}

/* A digest of all reply times. */
static uint64_t run_traffic(struct system *s, uint64_t seed)
{
    struct traffic traffic[SOURCES];
    for (uint32_t i = 0; i < SOURCES; i++) {
        struct traffic *t = &traffic[i];
        *t =
            (struct traffic){.system = s, .probe = calloc(REQUESTS, sizeof *t->probe), .source = i};
        assert_non_null(t->probe);
        rng_seed(&t->rng, seed * SOURCES + i);
        for (uint32_t j = 0; j < REQUESTS; j++) {
            uint64_t address = rng_below(&t->rng, rng_below(&t->rng, 4) ? 8 : PAGES) * PAGE +
                               rng_below(&t->rng, PAGE / 32) * 32;
            probe_init(&t->probe[j], s->engine, rng_below(&t->rng, 4) ? MEM_READ : MEM_WRITE,
                       address, 32);
        }
        engine_at(s->engine, 0, 100 + i, traffic_go, t, 0);
    }
    engine_run(s->engine, ENGINE_NEVER);
    assert_int_equal(engine_error(s->engine), 0);
    uint64_t digest = 1;
    for (uint32_t i = 0; i < SOURCES; i++) {
        assert_int_equal(traffic[i].sent, REQUESTS);
        for (uint32_t j = 0; j < REQUESTS; j++) {
            assert_int_equal(traffic[i].probe[j].replies, 1);
            digest = digest * UINT64_C(6364136223846793005) + traffic[i].probe[j].replied_ps;
        }
        free(traffic[i].probe);
    }
    return digest;
}

static void counts_agree(const struct system *s)
{
    const struct mem_walker_stats *walker = mem_walker_stats(s->walker);
    const struct mem_cache_stats *cache = mem_cache_stats(s->cache);
    uint64_t reads = 0, fetches = 0;
    for (uint32_t i = 0; i < s->l1_count; i++) {
        const struct mem_cache_stats *stats = mem_cache_stats(s->l1[i]);
        reads += stats->reads;
        fetches += stats->fetches;
    }
    if (s->l1_spec.entries.enabled) {
        assert_int_equal(reads, SOURCES * REQUESTS);
    } else {
        fetches = SOURCES * REQUESTS;
    }
    if (s->l2_spec.entries.enabled) {
        assert_int_equal(mem_cache_stats(s->l2)->reads, fetches);
        fetches = mem_cache_stats(s->l2)->fetches;
    }
    assert_int_equal(walker->walks, fetches);
    assert_true(walker->reads <= walker->walks * s->walker_spec.levels);
    assert_int_equal(cache->reads + cache->writes, SOURCES * REQUESTS + walker->reads);
    if (s->l1_spec.entries.enabled || s->l2_spec.entries.enabled) {
        assert_true(walker->walks < SOURCES * REQUESTS);
    }
}

static void every_request_returns_once_and_runs_repeat(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
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
