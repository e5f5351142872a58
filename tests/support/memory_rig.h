/*
 * What the memory system's tests share: an engine with a clock of 1000 ps, requests whose reply
 * is noted, a cache specification to start from, and `struct sink`, a level below that answers
 * after a given time, notes what reaches it and refuses when told to.
 */
#ifndef SONDE_TESTS_SUPPORT_MEMORY_RIG_H
#define SONDE_TESTS_SUPPORT_MEMORY_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "mem/mem.h"
#include "util/error.h"
#include "util/rng.h"

enum { PERIOD_PS = 1000 };

static const struct engine_clock rig_clock = {.period_ps = PERIOD_PS};

/* A request, and how often and when its reply came. */
struct probe {
    struct mem_request request;
    struct engine *engine;
    uint32_t replies;
    uint64_t sent_ps, replied_ps;
};

static inline void probe_on_reply(void *ctx, uint64_t arg)
{
    struct probe *probe = ctx;
    (void)arg;
    probe->replies++;
    probe->replied_ps = engine_now_ps(probe->engine);
}

static inline void probe_init(struct probe *probe, struct engine *engine, enum mem_kind kind,
                              uint64_t address, uint32_t bytes)
{
    *probe = (struct probe){.engine = engine,
                            .request = {.vaddr = address,
                                        .paddr = address,
                                        .bytes = bytes,
                                        .kind = kind,
                                        .reply = probe_on_reply,
                                        .ctx = probe}};
}

static inline bool probe_send(struct probe *probe, struct mem_port port)
{
    probe->sent_ps = engine_now_ps(probe->engine);
    return port.send(port.self, &probe->request);
}

/* Sends alone, runs to the end, returns the cycles from send to reply. */
static inline uint64_t probe_alone(struct engine *engine, struct mem_port port, enum mem_kind kind,
                                   uint64_t address, uint32_t bytes, enum mem_level *served_at)
{
    struct probe probe;
    probe_init(&probe, engine, kind, address, bytes);
    uint64_t start_ps = engine_now_ps(engine);
    assert_true(probe_send(&probe, port));
    engine_run(engine, ENGINE_NEVER);
    assert_int_equal(probe.replies, 1);
    if (served_at) {
        *served_at = probe.request.served_at;
    }
    return (probe.replied_ps - start_ps) / PERIOD_PS;
}

/* Moves the engine's clock where nothing is pending. */
static inline void rig_wait(struct engine *engine, uint64_t cycles)
{
    engine_advance(engine, engine_now_ps(engine) + cycles * PERIOD_PS);
}

enum { SINK_NOTES = 4096 };

struct sink_note {
    uint64_t time_ps, address;
    uint32_t bytes;
    enum mem_kind kind;
};

struct sink {
    struct engine *engine;
    uint64_t latency_cycles, further_ps;
    bool refuses;
    engine_handler *waiting; /* one sender */
    void *waiting_ctx;
    uint64_t waiting_arg;
    uint32_t count; /* requests accepted; the first SINK_NOTES are noted */
    struct sink_note note[SINK_NOTES];
};

static inline bool sink_send(void *self, struct mem_request *request)
{
    struct sink *sink = self;
    if (sink->refuses) {
        return false;
    }
    uint64_t time_ps = engine_now_ps(sink->engine);
    time_ps = request->arrive_ps > time_ps ? request->arrive_ps : time_ps;
    if (sink->count < SINK_NOTES) {
        sink->note[sink->count] = (struct sink_note){.time_ps = time_ps,
                                                     .address = request->paddr,
                                                     .bytes = request->bytes,
                                                     .kind = request->kind};
    }
    sink->count++;
    request->served_at = MEM_AT_DRAM;
    engine_at(sink->engine, time_ps + sink->latency_cycles * PERIOD_PS + sink->further_ps, 1000,
              request->reply, request->ctx, (uintptr_t)request);
    return true;
}

static inline void sink_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct sink *sink = self;
    assert_null(sink->waiting);
    sink->waiting = handler;
    sink->waiting_ctx = ctx;
    sink->waiting_arg = arg;
}

/* Accept from now on, and tell who waits. */
static inline void sink_open(struct sink *sink)
{
    sink->refuses = false;
    if (sink->waiting) {
        engine_at(sink->engine, engine_now_ps(sink->engine), 1000, sink->waiting, sink->waiting_ctx,
                  sink->waiting_arg);
        sink->waiting = NULL;
    }
}

static inline struct mem_port sink_port(struct sink *sink)
{
    return (struct mem_port){.send = sink_send, .when_space = sink_when_space, .self = sink};
}

/* Keeps a port as busy as it lets itself be kept. */
struct rig_source {
    struct mem_port port;
    struct probe *probe;
    uint32_t count, sent;
};

static inline void rig_push(void *ctx, uint64_t arg)
{
    struct rig_source *source = ctx;
    (void)arg;
    while (source->sent < source->count) {
        if (!probe_send(&source->probe[source->sent], source->port)) {
            source->port.when_space(source->port.self, rig_push, source, 0);
            return;
        }
        source->sent++;
    }
}

/*
 * Bytes a cycle over `count` requests of `bytes`, `stride` apart, from the first reply to the
 * last.
 */
static inline double rig_bandwidth(struct engine *engine, struct mem_port port, enum mem_kind kind,
                                   uint32_t count, uint32_t bytes, uint64_t stride)
{
    struct rig_source source = {
        .port = port, .count = count, .probe = calloc(count, sizeof *source.probe)};
    assert_non_null(source.probe);
    for (uint32_t i = 0; i < count; i++) {
        probe_init(&source.probe[i], engine, kind, 0x10000 + stride * i, bytes);
    }
    rig_push(&source, 0);
    engine_run(engine, ENGINE_NEVER);
    uint64_t first_ps = UINT64_MAX, last_ps = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at_ps = source.probe[i].replied_ps;
        assert_int_equal(source.probe[i].replies, 1);
        first_ps = at_ps < first_ps ? at_ps : first_ps;
        last_ps = at_ps > last_ps ? at_ps : last_ps;
    }
    free(source.probe);
    return (double)bytes * (count - 1) / ((double)(last_ps - first_ps) / PERIOD_PS);
}

static inline void assert_within_2_percent(double measured, double configured)
{
    if (measured < configured * 0.98 || measured > configured * 1.02) {
        fail_msg("%g is not within 2 %% of %g", measured, configured);
    }
}

/* 4 sets of 2 ways of 128 bytes, LRU, plain index; every latency different from the others. */
static inline struct cache_spec rig_cache_spec(void)
{
    struct cache_spec spec = {.enabled = true,
                              .size_bytes = 1024,
                              .line_bytes = 128,
                              .sector_bytes = 128,
                              .sets = 4,
                              .ways = 2,
                              .index = {.kind = INDEX_BITS, .mask_count = 2, .masks = {128, 256}},
                              .replacement = {.kind = REPLACE_LRU},
                              .address = ADDRESS_PHYSICAL,
                              .write = WRITE_BACK,
                              .hit_cycles = 11,
                              .miss_cycles = 5,
                              .fill_cycles = 3,
                              .accesses_per_cycle = 1,
                              .data_bytes_per_cycle = 128,
                              .mshr_entries = 4,
                              .mshr_mergers = 2,
                              .queue_entries = 4};
    return spec;
}

static inline void rig_resize(struct cache_spec *spec, uint32_t line_bytes, uint32_t sets,
                              uint32_t ways)
{
    spec->line_bytes = spec->sector_bytes = line_bytes;
    spec->sets = sets;
    spec->ways = ways;
    spec->size_bytes = (uint64_t)line_bytes * sets * ways;
    spec->index = (struct index_spec){.kind = INDEX_MODULO};
}

#endif
