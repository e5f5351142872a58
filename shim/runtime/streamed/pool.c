/* Memory in the order of a stream, and copies between devices, of which there is one. */
#include "shim/runtime/copy.h"
#include "shim/runtime/pool.h"

static int take(void **out, size_t bytes, void *pool, void *stream)
{
    struct rt_stream *in;
    int code = stream_of(&in, stream, OWN_STREAM);
    return code == SHIM_OK ? pool_take(out, bytes, pool, in) : code;
}

EXPORT int STREAMED(cudaMallocAsync)(void **out, size_t bytes, void *stream)
{
    return last(take(out, bytes, NULL, stream));
}

EXPORT int STREAMED(cudaMallocFromPoolAsync)(void **out, size_t bytes, void *pool, void *stream)
{
    return last(pool ? take(out, bytes, pool, stream) : SHIM_INVALID);
}

EXPORT int STREAMED(cudaFreeAsync)(void *pointer, void *stream)
{
    struct rt_stream *in;
    int code = pointer ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    return last(code == SHIM_OK ? shim_memory_give_later((uintptr_t)pointer, in) : code);
}

static int peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                void *stream, bool own)
{
    struct rt_stream *in;
    int code = dst_device || src_device ? SHIM_BAD_DEVICE : stream_of(&in, stream, own);
    code = code == SHIM_OK && bytes > 0 ? copy_check(dst, src, ABI_DEVICE_TO_DEVICE) : code;
    return code == SHIM_OK && bytes > 0 ? shim_copy_linear(in, dst, src, bytes, false) : code;
}

#ifndef SHIM_PER_THREAD
EXPORT int cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
    return last(peer(dst, dst_device, src, src_device, bytes, NULL, false));
}

EXPORT int cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                               size_t bytes, void *stream)
{
    return last(peer(dst, dst_device, src, src_device, bytes, stream, false));
}
#else
EXPORT int cudaMemcpyPeerAsync_ptsz(void *dst, int dst_device, const void *src, int src_device,
                                    size_t bytes, void *stream)
{
    return last(peer(dst, dst_device, src, src_device, bytes, stream, true));
}
#endif
