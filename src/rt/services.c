/*
 * What kernels ask of their driver: the buffer of printf and the heap of malloc, both per context.
 *
 * The buffer is a FIFO of calls. It is circular: a call that finds no room overwrites the oldest
 * ones. It is emptied where a program synchronises, which with launches that end before rt_launch()
 * returns is their end, also when they fault. The heap is made by the first launch of a kernel that
 * takes memory, keeps its allocations from launch to launch, and ends with the context. Source:
 * CUDA C++ Programming Guide, "Formatted Output", "Dynamic Global Memory Allocation and
 * Operations"; defaults as of cudaDeviceGetLimit().
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "rt/state.h"
#include "util/error.h"

#define PRINTF_FIFO_BYTES (1u << 20)
#define MALLOC_HEAP_BYTES (8u << 20)
#define LIMIT_MIN_BYTES 1024
#define COMPACT_BYTES (1u << 20)

static void drop_oldest(struct print_fifo *fifo)
{
    const struct print_call *call = &fifo->calls.data[fifo->first++];
    fifo->text_start += call->text_bytes;
    fifo->used_bytes -= call->record_bytes;
}

/* Calls that were dropped lie in front of the rest, as does their text; they go when they are most
 * of it. */
static void compact(struct print_fifo *fifo)
{
    size_t left = fifo->text.length - fifo->text_start;
    size_t dropped_bytes = fifo->text_start + fifo->first * sizeof *fifo->calls.data;
    if (dropped_bytes < COMPACT_BYTES || fifo->text_start < left ||
        fifo->first < fifo->calls.count - fifo->first) {
        return;
    }
    if (left > 0) {
        memmove(fifo->text.text, fifo->text.text + fifo->text_start, left);
    }
    fifo->text.length = left;
    fifo->text_start = 0;
    memmove(fifo->calls.data, fifo->calls.data + fifo->first,
            (fifo->calls.count - fifo->first) * sizeof *fifo->calls.data);
    fifo->calls.count -= fifo->first;
    fifo->first = 0;
}

static bool service_print(void *ctx, const char *text, size_t bytes, size_t record_bytes)
{
    struct rt *rt = ctx;
    struct print_fifo *fifo = &rt->print;
    if (record_bytes > rt->limits[RT_LIMIT_PRINTF_FIFO]) {
        return false;
    }
    struct print_call call = {.text_bytes = bytes, .record_bytes = record_bytes};
    if (vec_reserve(&fifo->calls, fifo->calls.count + 1) < 0 ||
        strbuf_append_n(&fifo->text, text, bytes) < 0) {
        fifo->text.failed = false;
        return false;
    }
    fifo->calls.data[fifo->calls.count++] = call;
    for (fifo->used_bytes += record_bytes; fifo->used_bytes > rt->limits[RT_LIMIT_PRINTF_FIFO];
         fifo->lost_calls++) {
        drop_oldest(fifo);
    }
    compact(fifo);
    return true;
}

static uint64_t service_heap_take(void *ctx, uint64_t bytes, uint64_t align)
{
    const struct rt *rt = ctx;
    uint64_t address = rt->heap ? heap_take(rt->heap, bytes, align) : 0;
    if (rt->check && address) {
        check_allocated(rt->check, address, bytes, CHECK_HEAP);
    }
    return address;
}

static bool service_heap_give(void *ctx, uint64_t address)
{
    const struct rt *rt = ctx;
    if (rt->check && !check_is_live(rt->check, address)) {
        check_free_refused(rt->check, address, false);
        return true; /* told; the launch goes on */
    }
    bool given = rt->heap && heap_give(rt->heap, address);
    if (rt->check && given) {
        check_freed(rt->check, address);
    }
    return given;
}

void services_create(struct rt *rt)
{
    rt->services = (struct exec_services){.ctx = rt,
                                          .print = service_print,
                                          .heap_take = service_heap_take,
                                          .heap_give = service_heap_give};
    rt->limits[RT_LIMIT_PRINTF_FIFO] = PRINTF_FIFO_BYTES;
    rt->limits[RT_LIMIT_MALLOC_HEAP] = MALLOC_HEAP_BYTES;
}

void services_destroy(struct rt *rt)
{
    heap_destroy(rt->heap);
    vec_free(&rt->print.calls);
    strbuf_free(&rt->print.text);
}

int services_heap_provide(struct rt *rt)
{
    uint64_t bytes = rt->limits[RT_LIMIT_MALLOC_HEAP];
    if (rt->heap) {
        return 0;
    }
    int rc = memory_take(rt, &rt->heap_address, bytes, 1);
    if (rc < 0) {
        return error_prefix(rc, "the heap of malloc");
    }
    rc = heap_create(&rt->heap, rt->heap_address, bytes);
    if (rc < 0) {
        memory_give(rt, rt->heap_address);
        rt->heap_address = 0;
    } else if (rt->check) {
        check_heap(rt->check, rt->heap_address, bytes);
    }
    return rc;
}

void services_flush(struct rt *rt)
{
    struct print_fifo *fifo = &rt->print;
    size_t bytes = fifo->text.length - fifo->text_start;
    if (bytes > 0 && rt->print_out) {
        rt->print_out(rt->print_ctx, fifo->text.text + fifo->text_start, bytes);
    }
    strbuf_clear(&fifo->text);
    vec_clear(&fifo->calls);
    fifo->first = fifo->text_start = fifo->used_bytes = 0;
}

void rt_set_print(struct rt *rt, void (*print)(void *ctx, const char *text, size_t bytes),
                  void *ctx)
{
    rt->print_out = print;
    rt->print_ctx = ctx;
}

uint64_t rt_print_lost(const struct rt *rt)
{
    return rt->print.lost_calls;
}

int rt_set_limit(struct rt *rt, enum rt_limit limit, uint64_t bytes)
{
    static const char *const names[RT_LIMIT_COUNT] = {"the buffer of printf", "the heap of malloc"};
    if (bytes < LIMIT_MIN_BYTES || bytes > rt->model->vm.memory_bytes) {
        return error_set(SONDE_EINPUT, "%s of %llu bytes: not %d to %llu", names[limit],
                         (unsigned long long)bytes, LIMIT_MIN_BYTES,
                         (unsigned long long)rt->model->vm.memory_bytes);
    }
    if (limit == RT_LIMIT_MALLOC_HEAP && rt->heap) {
        return error_set(SONDE_EINPUT, "%s has its size: a kernel that uses it has been launched",
                         names[limit]);
    }
    rt->limits[limit] = bytes;
    return 0;
}

uint64_t rt_get_limit(const struct rt *rt, enum rt_limit limit)
{
    return rt->limits[limit];
}
