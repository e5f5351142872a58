/*
 * A device of a shipped model, one for each test of a file, and what tests of its command queue ask
 * for. What goes wrong fails the test.
 */
#ifndef SONDE_TESTS_QUEUE_RIG_H
#define SONDE_TESTS_QUEUE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rt/queue/queue.h"
#include "util/error.h"

static struct model *model;
static struct rt *rt;

/* -1: there is none. */
static inline int device_open(const char *name)
{
    return model_load(&model, name) < 0 || rt_create(&rt, model) < 0 ? -1 : 0;
}

static inline int open_gtx780(void **state)
{
    (void)state;
    return device_open("gtx780");
}

static inline int device_close(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static inline struct rt_stream *stream_of(unsigned flags, int priority)
{
    struct rt_stream *stream;
    assert_int_equal(rt_stream_create(rt, &stream, flags, priority), 0);
    return stream;
}

static inline uint64_t take(uint64_t bytes)
{
    uint64_t address;
    assert_int_equal(rt_mem_alloc(rt, &address, bytes), 0);
    return address;
}

/* Between host memory that is pinned and the device's, either way. */
static inline struct rt_copy copy_of(void *host, uint64_t device, uint64_t bytes, bool to_device)
{
    struct rt_end h = {.kind = RT_END_HOST, .host = host, .pinned = true};
    struct rt_end d = {.kind = RT_END_DEVICE, .device = device};
    return (struct rt_copy){.dst = to_device ? d : h,
                            .src = to_device ? h : d,
                            .width_bytes = bytes,
                            .height = 1,
                            .depth = 1};
}

#endif
