/* Streams, and what events do in them. */
#include <stdlib.h>

#include "shim/runtime/runtime.h"

EXPORT int STREAMED(cudaStreamSynchronize)(void *stream)
{
    struct rt_stream *in;
    int code = stream_of(&in, stream, OWN_STREAM);
    return last(code == SHIM_OK ? shim_code(rt_stream_sync(in)) : code);
}

EXPORT int STREAMED(cudaStreamQuery)(void *stream)
{
    struct rt_stream *in;
    int code = stream_of(&in, stream, OWN_STREAM);
    return last(code == SHIM_OK ? shim_code(rt_stream_query(in)) : code);
}

EXPORT int STREAMED(cudaStreamWaitEvent)(void *stream, void *event, unsigned flags)
{
    struct rt_stream *in;
    (void)flags;
    int code = stream_of(&in, stream, OWN_STREAM);
    if (code == SHIM_OK && !shim_handle_is(event, SHIM_EVENT)) {
        code = SHIM_BAD_HANDLE;
    }
    return last(code == SHIM_OK ? shim_code(rt_stream_wait(in, event)) : code);
}

EXPORT int STREAMED(cudaEventRecord)(void *event, void *stream)
{
    struct rt_stream *in;
    int code = stream_of(&in, stream, OWN_STREAM);
    if (code == SHIM_OK && !shim_handle_is(event, SHIM_EVENT)) {
        code = SHIM_BAD_HANDLE;
    }
    return last(code == SHIM_OK ? shim_code(rt_event_record(event, in)) : code);
}

EXPORT int STREAMED(cudaEventRecordWithFlags)(void *event, void *stream, unsigned flags)
{
    return flags > 1 ? last(SHIM_INVALID) : STREAMED(cudaEventRecord)(event, stream);
}

EXPORT int STREAMED(cudaStreamGetFlags)(void *stream, unsigned *flags)
{
    struct rt_stream *in;
    int code = flags ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *flags = rt_stream_flags(in) & RT_STREAM_NONBLOCKING ? 1 : 0;
    }
    return last(code);
}

EXPORT int STREAMED(cudaStreamGetPriority)(void *stream, int *priority)
{
    struct rt_stream *in;
    int code = priority ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *priority = rt_stream_priority(in);
    }
    return last(code);
}

EXPORT int STREAMED(cudaStreamGetId)(void *stream, unsigned long long *id)
{
    struct rt_stream *in;
    int code = id ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *id = rt_stream_id(in) + 1;
    }
    return last(code);
}

EXPORT int STREAMED(cudaStreamGetDevice)(void *stream, int *device)
{
    struct rt_stream *in;
    int code = device ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *device = 0;
    }
    return last(code);
}

EXPORT int STREAMED(cudaLaunchHostFunc)(void *stream, void (*fn)(void *), void *ctx)
{
    struct rt_stream *in;
    int code = fn ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    return last(code == SHIM_OK ? shim_code(rt_enqueue_host(in, fn, ctx)) : code);
}

struct callback {
    void (*fn)(void *stream, int status, void *ctx);
    void *stream, *ctx;
};

static void call_back(void *ctx, int status)
{
    struct callback callback = *(struct callback *)ctx;
    free(ctx);
    callback.fn(callback.stream, shim_code(status), callback.ctx);
}

EXPORT int STREAMED(cudaStreamAddCallback)(void *stream, void (*fn)(void *, int, void *), void *ctx,
                                           unsigned flags)
{
    struct rt_stream *in;
    int code = fn && flags == 0 ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    struct callback *callback = code == SHIM_OK ? malloc(sizeof *callback) : NULL;
    if (!callback) {
        return last(code == SHIM_OK ? SHIM_NO_MEMORY : code);
    }
    *callback = (struct callback){fn, stream, ctx};
    code = shim_code(rt_enqueue_callback(in, call_back, callback));
    if (code != SHIM_OK) {
        free(callback);
    }
    return last(code);
}

/* Attributes of a stream are hints here: they are taken and change nothing. */
EXPORT int STREAMED(cudaStreamSetAttribute)(void *stream, int attribute,
                                            const union abi_attribute_value *value)
{
    struct rt_stream *in;
    (void)attribute;
    return last(value ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID);
}

EXPORT int STREAMED(cudaStreamGetAttribute)(void *stream, int attribute,
                                            union abi_attribute_value *value)
{
    struct rt_stream *in;
    int code = value ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *value = (union abi_attribute_value){{0}};
        value->number = attribute == ABI_ATTRIBUTE_PRIORITY ? rt_stream_priority(in) : 0;
    }
    return last(code);
}

EXPORT int STREAMED(cudaStreamCopyAttributes)(void *dst, void *src)
{
    struct rt_stream *in;
    int code = stream_of(&in, dst, OWN_STREAM);
    return last(code == SHIM_OK ? stream_of(&in, src, OWN_STREAM) : code);
}
