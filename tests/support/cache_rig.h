/* A cache of memory_rig.h's specification on an engine of its own, above a sink. */
#ifndef SONDE_TESTS_SUPPORT_CACHE_RIG_H
#define SONDE_TESTS_SUPPORT_CACHE_RIG_H

#include "support/memory_rig.h"

struct cache_rig {
    struct engine *engine;
    struct sink sink;
    struct cache_spec spec; /* to be changed before the start */
    struct mem_cache *cache;
    struct mem_port port;
};

static inline void cache_rig_open(struct cache_rig *rig, uint32_t below_cycles)
{
    memset(rig, 0, sizeof *rig);
    assert_int_equal(engine_create(&rig->engine), 0);
    rig->sink = (struct sink){.engine = rig->engine, .latency_cycles = below_cycles};
    rig->spec = rig_cache_spec();
}

static inline void cache_rig_start(struct cache_rig *rig, enum mem_level level)
{
    assert_int_equal(mem_cache_create(&rig->cache, &rig->spec, level, rig->engine, &rig_clock, 1,
                                      sink_port(&rig->sink)),
                     0);
    rig->port = mem_cache_port(rig->cache);
}

static inline void cache_rig_close(struct cache_rig *rig)
{
    mem_cache_destroy(rig->cache);
    engine_destroy(rig->engine);
}

#endif
