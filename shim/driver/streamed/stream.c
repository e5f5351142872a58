/* Streams, and what events do in them. */
#include <stdlib.h>

#include "shim/driver/driver.h"

EXPORT int STREAMED(cuStreamSynchronize)(void *stream)
{
    struct rt_stream *in;
    int code = driver_stream(&in, stream, OWN_STREAM);
    return driver_result(code == SHIM_OK ? shim_code(rt_stream_sync(in)) : code);
}

EXPORT int STREAMED(cuStreamQuery)(void *stream)
{
    struct rt_stream *in;
    int code = driver_stream(&in, stream, OWN_STREAM);
    return driver_result(code == SHIM_OK ? shim_code(rt_stream_query(in)) : code);
}

EXPORT int STREAMED(cuStreamWaitEvent)(void *stream, void *event, unsigned flags)
{
    struct rt_stream *in;
    (void)flags;
    int code = driver_stream(&in, stream, OWN_STREAM);
    if (code == SHIM_OK && !shim_handle_is(event, SHIM_EVENT)) {
        code = SHIM_BAD_HANDLE;
    }
    return driver_result(code == SHIM_OK ? shim_code(rt_stream_wait(in, event)) : code);
}

EXPORT int STREAMED(cuEventRecord)(void *event, void *stream)
{
    struct rt_stream *in;
    int code = driver_stream(&in, stream, OWN_STREAM);
    if (code == SHIM_OK && !shim_handle_is(event, SHIM_EVENT)) {
        code = SHIM_BAD_HANDLE;
    }
    return driver_result(code == SHIM_OK ? shim_code(rt_event_record(event, in)) : code);
}

EXPORT int STREAMED(cuEventRecordWithFlags)(void *event, void *stream, unsigned flags)
{
    return flags > 1 ? driver_result(SHIM_INVALID) : STREAMED(cuEventRecord)(event, stream);
}

EXPORT int STREAMED(cuStreamGetFlags)(void *stream, unsigned *flags)
{
    struct rt_stream *in;
    int code = flags ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *flags = rt_stream_flags(in) & RT_STREAM_NONBLOCKING ? 1 : 0;
    }
    return driver_result(code);
}

EXPORT int STREAMED(cuStreamGetPriority)(void *stream, int *priority)
{
    struct rt_stream *in;
    int code = priority ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *priority = rt_stream_priority(in);
    }
    return driver_result(code);
}

EXPORT int STREAMED(cuStreamGetId)(void *stream, unsigned long long *id)
{
    struct rt_stream *in;
    int code = id ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *id = rt_stream_id(in) + 1;
    }
    return driver_result(code);
}

EXPORT int STREAMED(cuStreamGetDevice)(void *stream, int *device)
{
    struct rt_stream *in;
    int code = device ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *device = 0;
    }
    return driver_result(code);
}

EXPORT int STREAMED(cuLaunchHostFunc)(void *stream, void (*fn)(void *), void *ctx)
{
    struct rt_stream *in;
    int code = fn ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    return driver_result(code == SHIM_OK ? shim_code(rt_enqueue_host(in, fn, ctx)) : code);
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

EXPORT int STREAMED(cuStreamAddCallback)(void *stream, void (*fn)(void *, int, void *), void *ctx,
                                         unsigned flags)
{
    struct rt_stream *in;
    int code = fn && flags == 0 ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    struct callback *callback = code == SHIM_OK ? malloc(sizeof *callback) : NULL;
    if (!callback) {
        return driver_result(code == SHIM_OK ? SHIM_NO_MEMORY : code);
    }
    *callback = (struct callback){fn, stream, ctx};
    code = shim_code(rt_enqueue_callback(in, call_back, callback));
    if (code != SHIM_OK) {
        free(callback);
    }
    return driver_result(code);
}

/* Attributes of a stream are hints here: they are taken and change nothing. */
EXPORT int STREAMED(cuStreamSetAttribute)(void *stream, int attribute,
                                          const union abi_attribute_value *value)
{
    struct rt_stream *in;
    (void)attribute;
    return driver_result(value ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID);
}

EXPORT int STREAMED(cuStreamGetAttribute)(void *stream, int attribute,
                                          union abi_attribute_value *value)
{
    struct rt_stream *in;
    int code = value ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *value = (union abi_attribute_value){{0}};
        value->number = attribute == ABI_ATTRIBUTE_PRIORITY ? rt_stream_priority(in) : 0;
    }
    return driver_result(code);
}

EXPORT int STREAMED(cuStreamCopyAttributes)(void *dst, void *src)
{
    struct rt_stream *in;
    int code = driver_stream(&in, dst, OWN_STREAM);
    return driver_result(code == SHIM_OK ? driver_stream(&in, src, OWN_STREAM) : code);
}
