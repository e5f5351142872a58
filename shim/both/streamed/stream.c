/* Streams, and what events do in them. */
#include <stdlib.h>

#include "shim/both/both.h"

EXPORT int STREAMED(NAME(StreamSynchronize))(void *stream)
{
    struct rt_stream *in;
    int code = STREAM_OF(&in, stream);
    return RESULT(code == SHIM_OK ? shim_code(rt_stream_sync(in)) : code);
}

EXPORT int STREAMED(NAME(StreamQuery))(void *stream)
{
    struct rt_stream *in;
    int code = STREAM_OF(&in, stream);
    return RESULT(code == SHIM_OK ? shim_code(rt_stream_query(in)) : code);
}

EXPORT int STREAMED(NAME(StreamWaitEvent))(void *stream, void *event, unsigned flags)
{
    struct rt_stream *in;
    int code = flags <= 1 ? STREAM_OF(&in, stream) : SHIM_INVALID;
    if (code == SHIM_OK && !shim_handle_is(event, SHIM_EVENT)) {
        code = SHIM_BAD_HANDLE;
    }
    return RESULT(code == SHIM_OK ? shim_code(rt_stream_wait(in, event)) : code);
}

EXPORT int STREAMED(NAME(EventRecord))(void *event, void *stream)
{
    struct rt_stream *in;
    int code = STREAM_OF(&in, stream);
    if (code == SHIM_OK && !shim_handle_is(event, SHIM_EVENT)) {
        code = SHIM_BAD_HANDLE;
    }
    return RESULT(code == SHIM_OK ? shim_code(rt_event_record(event, in)) : code);
}

EXPORT int STREAMED(NAME(EventRecordWithFlags))(void *event, void *stream, unsigned flags)
{
    return flags > 1 ? RESULT(SHIM_INVALID) : STREAMED(NAME(EventRecord))(event, stream);
}

EXPORT int STREAMED(NAME(StreamGetFlags))(void *stream, unsigned *flags)
{
    struct rt_stream *in;
    int code = flags ? STREAM_OF(&in, stream) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *flags = rt_stream_flags(in) & RT_STREAM_NONBLOCKING ? 1 : 0;
    }
    return RESULT(code);
}

EXPORT int STREAMED(NAME(StreamGetPriority))(void *stream, int *priority)
{
    struct rt_stream *in;
    int code = priority ? STREAM_OF(&in, stream) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *priority = rt_stream_priority(in);
    }
    return RESULT(code);
}

EXPORT int STREAMED(NAME(StreamGetId))(void *stream, unsigned long long *id)
{
    struct rt_stream *in;
    int code = id ? STREAM_OF(&in, stream) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *id = rt_stream_id(in) + 1;
    }
    return RESULT(code);
}

EXPORT int STREAMED(NAME(StreamGetDevice))(void *stream, int *device)
{
    struct rt_stream *in;
    int code = device ? STREAM_OF(&in, stream) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *device = 0;
    }
    return RESULT(code);
}

EXPORT int STREAMED(NAME(LaunchHostFunc))(void *stream, void (*fn)(void *), void *ctx)
{
    struct rt_stream *in;
    int code = fn ? STREAM_OF(&in, stream) : SHIM_INVALID;
    return RESULT(code == SHIM_OK ? shim_code(rt_enqueue_host(in, fn, ctx)) : code);
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

EXPORT int STREAMED(NAME(StreamAddCallback))(void *stream, void (*fn)(void *, int, void *),
                                             void *ctx, unsigned flags)
{
    struct rt_stream *in;
    int code = fn && flags == 0 ? STREAM_OF(&in, stream) : SHIM_INVALID;
    struct callback *callback = code == SHIM_OK ? malloc(sizeof *callback) : NULL;
    if (!callback) {
        return RESULT(code == SHIM_OK ? SHIM_NO_MEMORY : code);
    }
    *callback = (struct callback){fn, stream, ctx};
    code = shim_code(rt_enqueue_callback(in, call_back, callback));
    if (code != SHIM_OK) {
        free(callback);
    }
    return RESULT(code);
}

/* Attributes of a stream are hints here: they are taken and change nothing. */
EXPORT int STREAMED(NAME(StreamSetAttribute))(void *stream, int attribute,
                                              const union abi_attribute_value *value)
{
    struct rt_stream *in;
    (void)attribute;
    return RESULT(value ? STREAM_OF(&in, stream) : SHIM_INVALID);
}

EXPORT int STREAMED(NAME(StreamGetAttribute))(void *stream, int attribute,
                                              union abi_attribute_value *value)
{
    struct rt_stream *in;
    int code = value ? STREAM_OF(&in, stream) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *value = (union abi_attribute_value){{0}};
        value->number = attribute == ABI_ATTRIBUTE_PRIORITY ? rt_stream_priority(in) : 0;
    }
    return RESULT(code);
}

EXPORT int STREAMED(NAME(StreamCopyAttributes))(void *dst, void *src)
{
    struct rt_stream *in;
    int code = STREAM_OF(&in, dst);
    return RESULT(code == SHIM_OK ? STREAM_OF(&in, src) : code);
}
