/* What of memory happens in a stream. */
#include "shim/runtime/runtime.h"

static int prefetch(const void *pointer, size_t bytes, void *stream)
{
    struct shim_range range;
    struct rt_stream *in;
    int code = stream_of(&in, stream, OWN_STREAM);
    if (code != SHIM_OK) {
        return code;
    }
    bool managed = bytes > 0 && shim_memory_find(&range, (uintptr_t)pointer) &&
                   range.kind == SHIM_MEMORY_MANAGED;
    return managed ? SHIM_OK : SHIM_INVALID;
}

#if SHIM_RUNTIME >= 13
EXPORT int STREAMED(cudaMemPrefetchAsync)(const void *pointer, size_t bytes, struct abi_location to,
                                          unsigned flags, void *stream)
{
    (void)to, (void)flags;
    return last(prefetch(pointer, bytes, stream));
}
#else
EXPORT int STREAMED(cudaMemPrefetchAsync)(const void *pointer, size_t bytes, int device,
                                          void *stream)
{
    (void)device;
    return last(prefetch(pointer, bytes, stream));
}

EXPORT int STREAMED(cudaMemPrefetchAsync_v2)(const void *pointer, size_t bytes,
                                             struct abi_location to, unsigned flags, void *stream)
{
    (void)to, (void)flags;
    return last(prefetch(pointer, bytes, stream));
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
