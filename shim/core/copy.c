/* Copies: an address says by itself what it is, as with CUDA's unified addresses. */
#include "shim/core/shim.h"
#include "util/error.h"

void shim_end(struct rt *rt, struct rt_end *end, const void *address)
{
    struct shim_range range;
    *end = (struct rt_end){.kind = RT_END_HOST, .host = (void *)address};
    bool known = shim_memory_find(&range, (uintptr_t)address);
    if (known && (range.kind == SHIM_MEMORY_PINNED || range.kind == SHIM_MEMORY_REGISTERED)) {
        end->pinned = true;
    } else if (known || rt_owns(rt, (uintptr_t)address)) {
        *end = (struct rt_end){.kind = RT_END_DEVICE, .device = (uintptr_t)address};
    }
}

static int capture_code(struct rt_stream *stream, bool waits)
{
    enum rt_capture_state state = waits ? rt_capture_state(stream, NULL, NULL) : RT_CAPTURE_NONE;
    return state == RT_CAPTURE_NONE     ? SHIM_OK
           : state == RT_CAPTURE_ACTIVE ? SHIM_CAPTURE_UNSUPPORTED
                                        : SHIM_CAPTURE_INVALID;
}

/* With a checker what is refused is told with who asked for it: `copy`, or else `set`. Beforehand,
 * and with the lock, for the copy itself may wait for kernels of its own and others' calls. */
static int checked(struct rt_stream *stream, const struct rt_copy *copy,
                   const struct rt_memset *set)
{
    struct rt *rt = rt_stream_rt(stream);
    if (!rt_check(rt) || rt_in_host_function()) {
        return SHIM_OK;
    }
    rt_lock(rt);
    shim_check_site(rt);
    int code = shim_code(copy ? rt_copy_check(rt, copy) : rt_memset_check(rt, set));
    shim_check_site_ends(rt);
    rt_unlock(rt);
    return code;
}

int shim_copy(struct rt_stream *stream, struct rt_copy *copy)
{
    int code = capture_code(stream, copy->waits);
    if (code != SHIM_OK || copy->width_bytes == 0 || copy->height == 0 || copy->depth == 0) {
        return code;
    }
    code = checked(stream, copy, NULL);
    code = code == SHIM_OK ? shim_code(rt_enqueue_copy(stream, copy)) : code;
    if (code == SHIM_OK) {
        int way = (copy->dst.kind == RT_END_HOST) * 2 + (copy->src.kind == RT_END_HOST);
        report_copy(copy->width_bytes * copy->height * copy->depth, way);
    }
    return code;
}

int shim_copy_linear(struct rt_stream *stream, void *dst, const void *src, uint64_t bytes,
                     bool waits)
{
    struct rt_copy copy = {.width_bytes = bytes, .height = 1, .depth = 1, .waits = waits};
    struct rt *rt = rt_stream_rt(stream);
    shim_end(rt, &copy.dst, dst);
    shim_end(rt, &copy.src, src);
    return shim_copy(stream, &copy);
}

int shim_memset(struct rt_stream *stream, const struct rt_memset *set, bool waits)
{
    struct rt_memset device = *set;
    struct shim_range range;
    if (set->width == 0 || set->height == 0) {
        return SHIM_OK;
    }
    if (shim_memory_find(&range, set->address) && range.host) {
        device.address = range.address + (set->address - range.host);
    }
    int code = capture_code(stream, waits);
    code = code == SHIM_OK ? checked(stream, NULL, &device) : code;
    code = code == SHIM_OK ? shim_code(rt_enqueue_memset(stream, &device)) : code;
    return code == SHIM_OK && waits ? shim_code(rt_stream_sync(stream)) : code;
}
