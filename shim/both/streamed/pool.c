/* Memory in the order of a stream. */
#include "shim/both/pool.h"

#ifdef SHIM_RUNTIME
#define TAKE_NAME cudaMallocAsync
#define TAKE_FROM_NAME cudaMallocFromPoolAsync
#define GIVE_NAME cudaFreeAsync
#else
#define TAKE_NAME cuMemAllocAsync
#define TAKE_FROM_NAME cuMemAllocFromPoolAsync
#define GIVE_NAME cuMemFreeAsync
#endif

static int take(void **out, size_t bytes, void *pool, void *stream)
{
    struct rt_stream *in;
    int code = STREAM_OF(&in, stream);
    if (code != SHIM_OK) {
        return code;
    }
    struct rt *rt = rt_stream_rt(in);
    rt_lock(rt);
    shim_check_site(rt);
    code = pool_serve(out, bytes, pool, in);
    shim_check_site_ends(rt);
    rt_unlock(rt);
    return code;
}

EXPORT int STREAMED(TAKE_NAME)(void **out, size_t bytes, void *stream)
{
    return RESULT(take(out, bytes, NULL, stream));
}

EXPORT int STREAMED(TAKE_FROM_NAME)(void **out, size_t bytes, void *pool, void *stream)
{
    return RESULT(pool ? take(out, bytes, pool, stream) : SHIM_INVALID);
}

EXPORT int STREAMED(GIVE_NAME)(void *pointer, void *stream)
{
    struct rt_stream *in;
    int code = STREAM_OF(&in, stream);
    return RESULT(code == SHIM_OK && pointer ? shim_memory_give_later((uintptr_t)pointer, in)
                                             : code);
}
