/* What of managed memory happens in a stream. */
#include "shim/driver/driver.h"

static int prefetch(uint64_t address, size_t bytes, int place, void *stream)
{
    struct rt_stream *in;
    int code = driver_stream(&in, stream, OWN_STREAM);
    return driver_result(code == SHIM_OK ? shim_hint(address, bytes, SHIM_HINT_PREFETCHED, place)
                                         : code);
}

EXPORT int STREAMED(cuMemPrefetchAsync)(uint64_t address, size_t bytes, int device, void *stream)
{
    return prefetch(address, bytes, device, stream);
}

EXPORT int STREAMED(cuMemPrefetchAsync_v2)(uint64_t address, size_t bytes, struct abi_location to,
                                           unsigned flags, void *stream)
{
    int place;
    int code = flags ? SHIM_INVALID : shim_hint_place(&place, to.type, to.id);
    return code == SHIM_OK ? prefetch(address, bytes, place, stream) : driver_result(code);
}

EXPORT int STREAMED(cuStreamAttachMemAsync)(void *stream, uint64_t address, size_t bytes,
                                            unsigned flags)
{
    struct rt_stream *in;
    struct shim_range range;
    (void)bytes;
    int code = driver_stream(&in, stream, OWN_STREAM);
    if (code == SHIM_OK && (!shim_memory_find(&range, address) ||
                            range.kind != SHIM_MEMORY_MANAGED || flags == 0 || flags > 4)) {
        code = SHIM_INVALID;
    }
    return driver_result(code);
}
