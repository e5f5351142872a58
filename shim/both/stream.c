/* Streams and events: making, ending, asking. */
#include "shim/both/both.h"
#include "sonde/sonde.h"

static int stream_create(void **out, unsigned flags, int priority)
{
    struct rt *rt;
    struct rt_stream *stream;
    if (!out || flags > 1) {
        return SHIM_INVALID;
    }
    int code = DEVICE_OF(&rt);
    if (code == SHIM_OK) {
        code =
            shim_code(rt_stream_create(rt, &stream, flags ? RT_STREAM_NONBLOCKING : 0, priority));
    }
    code = code == SHIM_OK ? shim_handle_add(stream, SHIM_STREAM) : code;
    if (code == SHIM_OK) {
        *out = stream;
    }
    return code;
}

#ifdef SHIM_RUNTIME
EXPORT int cudaStreamCreate(void **out)
{
    return RESULT(stream_create(out, 0, 0));
}

EXPORT int cudaStreamCreateWithFlags(void **out, unsigned flags)
#else
EXPORT int cuStreamCreate(void **out, unsigned flags)
#endif
{
    return RESULT(stream_create(out, flags, 0));
}

EXPORT int NAME(StreamCreateWithPriority)(void **out, unsigned flags, int priority)
{
    return RESULT(stream_create(out, flags, priority));
}

EXPORT int SECOND(StreamDestroy)(void *stream)
{
    if (!shim_handle_is(stream, SHIM_STREAM)) {
        return RESULT(SHIM_BAD_HANDLE);
    }
    shim_handle_remove(stream);
    return RESULT(shim_code(rt_stream_destroy(stream)));
}

static int event_create(void **out, unsigned flags)
{
    struct rt *rt;
    struct rt_event *event;
    if (!out || flags > 7 || (flags & 6) == 4) { /* between processes only without times */
        return SHIM_INVALID;
    }
    int code = DEVICE_OF(&rt);
    if (code == SHIM_OK) {
        code = shim_code(rt_event_create(rt, &event, flags & 2 ? RT_EVENT_NO_TIMING : 0));
    }
    code = code == SHIM_OK ? shim_handle_add(event, SHIM_EVENT) : code;
    if (code == SHIM_OK) {
        *out = event;
    }
    return code;
}

#ifdef SHIM_RUNTIME
EXPORT int cudaEventCreate(void **out)
{
    return RESULT(event_create(out, 0));
}

EXPORT int cudaEventCreateWithFlags(void **out, unsigned flags)
#else
EXPORT int cuEventCreate(void **out, unsigned flags)
#endif
{
    return RESULT(event_create(out, flags));
}

EXPORT int SECOND(EventDestroy)(void *event)
{
    if (!shim_handle_is(event, SHIM_EVENT)) {
        return RESULT(SHIM_BAD_HANDLE);
    }
    shim_handle_remove(event);
    return RESULT(shim_code(rt_event_destroy(event)));
}

EXPORT int NAME(EventQuery)(void *event)
{
    return RESULT(shim_handle_is(event, SHIM_EVENT) ? shim_code(rt_event_query(event))
                                                    : SHIM_BAD_HANDLE);
}

EXPORT int NAME(EventSynchronize)(void *event)
{
    return RESULT(shim_handle_is(event, SHIM_EVENT) ? shim_code(rt_event_sync(event))
                                                    : SHIM_BAD_HANDLE);
}

EXPORT int NAME(EventElapsedTime)(float *ms, void *begin, void *end)
{
    int64_t ps = 0;
    if (!ms || !shim_handle_is(begin, SHIM_EVENT) || !shim_handle_is(end, SHIM_EVENT)) {
        return RESULT(ms ? SHIM_BAD_HANDLE : SHIM_INVALID);
    }
    int rc = rt_event_elapsed(&ps, begin, end);
    *ms = (float)((double)ps / 1e9);
    return RESULT(rc == SONDE_EUSAGE ? SHIM_BAD_HANDLE : shim_code(rc));
}

EXPORT int NAME(EventElapsedTime_v2)(float *ms, void *begin, void *end)
{
    return NAME(EventElapsedTime)(ms, begin, end);
}
