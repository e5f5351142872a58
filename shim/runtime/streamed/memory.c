/* What of memory happens in a stream. */
#include "shim/runtime/runtime.h"

static int prefetch(const void *pointer, size_t bytes, int place, void *stream)
{
    struct rt_stream *in;
    int code = stream_of(&in, stream, OWN_STREAM);
    return last(code == SHIM_OK ? shim_hint((uintptr_t)pointer, bytes, SHIM_HINT_PREFETCHED, place)
                                : code);
}

static int prefetch_to(const void *pointer, size_t bytes, struct abi_location to, unsigned flags,
                       void *stream)
{
    int place;
    int code = flags ? SHIM_INVALID : shim_hint_place(&place, to.type, to.id);
    return code == SHIM_OK ? prefetch(pointer, bytes, place, stream) : last(code);
}

#if SHIM_RUNTIME >= 13
EXPORT int STREAMED(cudaMemPrefetchAsync)(const void *pointer, size_t bytes, struct abi_location to,
                                          unsigned flags, void *stream)
{
    return prefetch_to(pointer, bytes, to, flags, stream);
}
#else
EXPORT int STREAMED(cudaMemPrefetchAsync)(const void *pointer, size_t bytes, int device,
                                          void *stream)
{
    return prefetch(pointer, bytes, device, stream);
}

EXPORT int STREAMED(cudaMemPrefetchAsync_v2)(const void *pointer, size_t bytes,
                                             struct abi_location to, unsigned flags, void *stream)
{
    return prefetch_to(pointer, bytes, to, flags, stream);
}
#endif

EXPORT int STREAMED(cudaStreamAttachMemAsync)(void *stream, void *pointer, size_t bytes,
                                              unsigned flags)
{
    struct rt_stream *in;
    struct shim_range range;
    (void)bytes;
    int code = stream_of(&in, stream, OWN_STREAM);
    if (code == SHIM_OK && (!shim_memory_find(&range, (uintptr_t)pointer) ||
                            range.kind != SHIM_MEMORY_MANAGED || flags == 0 || flags > 4)) {
        code = SHIM_INVALID;
    }
    return last(code);
}
