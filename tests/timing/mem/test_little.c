/*
 * Little's law on the queues of the memory system: under random traffic that neither starves nor
 * overruns them, the mean number in a queue is the rate of requests times the mean time that one
 * spends in it. The two sides are measured apart: the number by looking into the component once a
 * clock, the time from when requests were sent and when what left the queue was seen outside.
 *
 *      DRAM queue    number: mem_dram.count      time: sent to the last column command (watched)
 *      cache queue   number: mem_cache.in.count  time: sent to the reply, less a hit's cycles
 *      MSHRs         number: of the miss table   time: fetch leaving to its reply, below the cache,
 *                                                and the miss cycles before
 *      networks      number: sent, less arrived  time: the network's own statistics (at a target
 *                                                that takes all at once)
 */
#include "mem/cache/miss/miss.h"
#include "mem/cache/state.h"
#include "mem/dram/channel.h"
#include "support/noc_rig.h"
#include "support/tolerance.h"

enum { REQUESTS = 20000, SAMPLER_SOURCE = 5000, SENDER_SOURCE = 4000 };

/* ---- random traffic into a port, and a look at a queue each cycle ---- */

struct bench {
    struct engine *engine;
    struct mem_port port;
    struct rng rng;
    uint64_t step_ps;     /* of the component's clock: nothing happens in between */
    uint64_t mean_gap_ps; /* between requests; they come in bursts, at edges of the clock */
    uint64_t (*address)(struct bench *bench);
    struct probe *probe;
    uint32_t sent, burst;
    uint64_t sent_ps[REQUESTS];

    uint64_t (*number)(void *ctx);
    void *number_ctx;
    double sum;
    uint64_t samples, most;
};

static void look(void *ctx, uint64_t arg)
{
    struct bench *b = ctx;
    (void)arg;
    uint64_t number = b->number(b->number_ctx);
    b->sum += (double)number;
    b->most = number > b->most ? number : b->most;
    b->samples++;
    if (b->sent < REQUESTS || engine_pending(b->engine) > 0) {
        engine_at(b->engine, engine_now_ps(b->engine) + b->step_ps, SAMPLER_SOURCE, look, b, 0);
    }
}

static void send_some(void *ctx, uint64_t arg)
{
    struct bench *b = ctx;
    (void)arg;
    while (b->sent < REQUESTS) {
        struct probe *probe = &b->probe[b->sent];
        if (!probe_send(probe, b->port)) {
            b->port.when_space(b->port.self, send_some, b, 0);
            return;
        }
        b->sent_ps[b->sent++] = engine_now_ps(b->engine);
        if (b->burst-- == 0) {
            b->burst = (uint32_t)rng_below(&b->rng, 8);
            uint64_t pause_ps = rng_below(&b->rng, 9 * b->mean_gap_ps / b->step_ps) * b->step_ps;
            engine_at(b->engine, engine_now_ps(b->engine) + pause_ps, SENDER_SOURCE, send_some, b,
                      0);
            return;
        }
    }
}

static void bench_open(struct bench *b, uint64_t seed)
{
    memset(b, 0, sizeof *b);
    b->step_ps = PERIOD_PS;
    rng_seed(&b->rng, seed);
    assert_int_equal(engine_create(&b->engine), 0);
    b->probe = calloc(REQUESTS, sizeof *b->probe);
    assert_non_null(b->probe);
}

/* Runs all requests; each must return once. */
static void bench_run(struct bench *b, struct mem_port port, uint64_t (*number)(void *ctx),
                      void *ctx)
{
    b->port = port;
    b->number = number;
    b->number_ctx = ctx;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        enum mem_kind kind = rng_below(&b->rng, 4) ? MEM_READ : MEM_WRITE;
        probe_init(&b->probe[i], b->engine, kind, b->address(b), 32);
    }
    engine_at(b->engine, 0, SENDER_SOURCE, send_some, b, 0);
    engine_at(b->engine, 0, SAMPLER_SOURCE, look, b, 0);
    engine_run(b->engine, ENGINE_NEVER);
    assert_int_equal(b->sent, REQUESTS);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(b->probe[i].replies, 1);
    }
}

static void bench_close(struct bench *b)
{
    free(b->probe);
    engine_destroy(b->engine);
}

/* `time_ps`: that all `count` together spent in the queue. */
static void expect_little(const struct bench *b, const char *what, double time_ps, double count)
{
    double cycles = (double)b->samples;
    double number = b->sum / cycles;
    double product = count / cycles * (time_ps / count / (double)b->step_ps);
    assert_true(b->most > 1); /* there was a queue */
    if (number < product * (1 - TOLERANCE_LITTLE) || number > product * (1 + TOLERANCE_LITTLE)) {
        fail_msg("%s: %g in it on average, rate times time are %g", what, number, product);
    }
}

static double replies_less_sends(const struct bench *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        sum += (double)(b->probe[i].replied_ps - b->sent_ps[i]);
    }
    return sum;
}

/* ---- DRAM ---- */

static uint64_t few_rows(struct bench *b)
{
    return rng_below(&b->rng, 1 << 14) * 32;
}

static uint64_t dram_number(void *ctx)
{
    return ((const struct mem_dram *)ctx)->count;
}

/* Requests of a burst each: every column command takes one out. */
static void note_columns(void *ctx, const struct mem_dram_command *command)
{
    double *sum = ctx;
    if (command->kind == MEM_DRAM_READ || command->kind == MEM_DRAM_WRITE) {
        *sum += (double)command->clock * 500;
    }
}

static void a_dram_queue_obeys(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 4; k++) {
        struct dram_spec spec = {.sched = k & 1 ? DRAM_SCHED_FIFO : DRAM_SCHED_FR_FCFS,
                                 .channels = 1,
                                 .banks = 8,
                                 .row_bytes = 2048,
                                 .burst_bytes = 32,
                                 .period_ps = 500,
                                 .t_cl = 9,
                                 .t_rcd = 12,
                                 .t_rp = 13,
                                 .t_ras = 21,
                                 .t_rc = 34,
                                 .t_rrd = 8,
                                 .t_wtr = 5,
                                 .t_wr = 10,
                                 .bytes_per_cycle = 8,
                                 .queue_entries = 32,
                                 .closed_page = k & 2};
        struct bench b;
        struct mem_dram *dram;
        double left_ps = 0;
        bench_open(&b, k + 1);
        assert_int_equal(mem_dram_create(&dram, &spec, b.engine, &rig_clock, 1), 0);
        mem_dram_watch(dram, note_columns, &left_ps);
        b.address = few_rows;
        b.mean_gap_ps = k & 1 ? 9000 : 5000;
        b.step_ps = spec.period_ps;
        bench_run(&b, mem_dram_port(dram), dram_number, dram);
        for (uint32_t i = 0; i < REQUESTS; i++) {
            left_ps -= (double)b.sent_ps[i];
        }
        expect_little(&b, "DRAM queue", left_ps, REQUESTS);
        mem_dram_destroy(dram);
        bench_close(&b);
    }
}

/* ---- a cache's queue and its misses ---- */

enum { HIT = 11, MISS = 5, FILL = 3, BELOW = 40 };

static uint64_t lines_that_hit(struct bench *b)
{
    return rng_below(&b->rng, 32) * 32;
}

static uint64_t cache_number(void *ctx)
{
    return ((const struct mem_cache *)ctx)->in.count;
}

static void a_caches_queue_obeys(void **state)
{
    (void)state;
    struct bench b;
    struct mem_cache *cache;
    struct cache_spec spec = rig_cache_spec();
    spec.data_bytes_per_cycle = 0;
    spec.queue_entries = 64;
    bench_open(&b, 7);
    struct sink sink = {.engine = b.engine, .latency_cycles = BELOW};
    assert_int_equal(
        mem_cache_create(&cache, &spec, MEM_AT_L2, b.engine, &rig_clock, 1, sink_port(&sink)), 0);
    mem_cache_touch(cache, 0, 1024, false);
    b.address = lines_that_hit;
    b.mean_gap_ps = 1150;
    bench_run(&b, mem_cache_port(cache), cache_number, cache);
    assert_int_equal(sink.count, 0);
    expect_little(&b, "cache queue", replies_less_sends(&b) - (double)HIT * PERIOD_PS * REQUESTS,
                  REQUESTS);
    mem_cache_destroy(cache);
    bench_close(&b);
}

static uint64_t lines_that_miss(struct bench *b)
{
    return rng_below(&b->rng, UINT64_C(1) << 40) / 128 * 128;
}

static uint64_t misses_number(void *ctx)
{
    const struct mem_cache *cache = ctx;
    return cache->miss_ops->used(cache->misses);
}

/* The level below, whose answers take this and that long; the time from fetch to answer in all. */
struct slow {
    struct engine *engine;
    struct rng rng;
    double time_ps;
    uint32_t reads;
};

static bool slow_send(void *self, struct mem_request *request)
{
    struct slow *slow = self;
    uint64_t now_ps = engine_now_ps(slow->engine);
    uint64_t arrive_ps = request->arrive_ps > now_ps ? request->arrive_ps : now_ps;
    uint64_t answer_ps = arrive_ps + rng_below(&slow->rng, 2 * BELOW) * PERIOD_PS;
    if (request->kind == MEM_READ) {
        slow->time_ps += (double)(answer_ps - arrive_ps) + (double)MISS * PERIOD_PS;
        slow->reads++;
    }
    engine_at(slow->engine, answer_ps, 1000, request->reply, request->ctx, (uintptr_t)request);
    return true;
}

static void slow_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    (void)self;
    (void)handler;
    (void)ctx;
    (void)arg;
    fail_msg("it never refuses");
}

static void misses_under_way_obey(void **state)
{
    (void)state;
    for (uint32_t entries = 4; entries <= 64; entries *= 4) {
        struct bench b;
        struct mem_cache *cache;
        struct cache_spec spec = rig_cache_spec();
        spec.mshr_entries = entries;
        spec.queue_entries = 16;
        spec.write = WRITE_THROUGH_UPDATE;
        bench_open(&b, entries);
        struct slow slow = {.engine = b.engine};
        rng_seed(&slow.rng, 3);
        struct mem_port below = {slow_send, slow_when_space, &slow};
        assert_int_equal(mem_cache_create(&cache, &spec, MEM_AT_L2, b.engine, &rig_clock, 1, below),
                         0);
        b.address = lines_that_miss;
        b.mean_gap_ps = 3000;
        bench_run(&b, mem_cache_port(cache), misses_number, cache);
        assert_int_equal(b.most, b.most < entries ? b.most : entries);
        expect_little(&b, "misses under way", slow.time_ps, slow.reads);
        mem_cache_destroy(cache);
        bench_close(&b);
    }
}

/* ---- networks ---- */

struct network {
    const struct bench *bench;
    struct sink sink[2];
};

static uint32_t by_bit_8(void *ctx, const struct mem_request *request)
{
    (void)ctx;
    return request->paddr >> 8 & 1;
}

/* Sent and not at a target yet. */
static uint64_t packets_number(void *ctx)
{
    const struct network *n = ctx;
    return n->bench->sent - n->sink[0].count - n->sink[1].count;
}

static void packets_in_a_network_obey(void **state)
{
    (void)state;
    static const enum noc_kind kinds[] = {NOC_LINKS, NOC_FLITS};
    for (uint32_t k = 0; k < 2; k++) {
        struct bench b;
        struct mem_noc *noc;
        struct noc_spec spec = {.kind = kinds[k],
                                .request_cycles = 17,
                                .reply_cycles = 13,
                                .request_bytes_per_cycle = 16,
                                .reply_bytes_per_cycle = 16,
                                .header_bytes = 8,
                                .queue_entries = 64,
                                .flits = rig_mesh(4, 4096)};
        bench_open(&b, 11 + k);
        struct network n = {.bench = &b};
        assert_int_equal(mem_noc_create(&noc, &spec, b.engine, &rig_clock, 1, 1, 2), 0);
        for (uint32_t i = 0; i < 2; i++) {
            n.sink[i] = (struct sink){.engine = b.engine, .latency_cycles = BELOW};
            mem_noc_connect(noc, i, sink_port(&n.sink[i]));
        }
        b.address = few_rows;
        b.mean_gap_ps = 3000;
        bench_run(&b, mem_noc_port(noc, 0, by_bit_8, NULL), packets_number, &n);
        struct mem_noc_stats stats;
        mem_noc_stats(&stats, noc);
        assert_int_equal(stats.requests.packets, REQUESTS);
        assert_int_equal(stats.replies.packets, REQUESTS);
        expect_little(&b, k ? "flits" : "links", (double)stats.requests.latency_ps, REQUESTS);
        mem_noc_destroy(noc);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dram_queue_obeys),
        cmocka_unit_test(a_caches_queue_obeys),
        cmocka_unit_test(misses_under_way_obey),
        cmocka_unit_test(packets_in_a_network_obey),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
