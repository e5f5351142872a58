/* Streams and events: making, ending, asking. */
#include "shim/driver/driver.h"
#include "sonde/sonde.h"

static int stream_create(void **out, unsigned flags, int priority)
{
    struct rt *rt;
    struct rt_stream *stream;
    if (!out || flags > 1) {
        return SHIM_INVALID;
    }
    int code = driver_enter(&rt);
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

EXPORT int cuStreamCreate(void **out, unsigned flags)
{
    return driver_result(stream_create(out, flags, 0));
}

EXPORT int cuStreamCreateWithPriority(void **out, unsigned flags, int priority)
{
    return driver_result(stream_create(out, flags, priority));
}

EXPORT int cuStreamDestroy_v2(void *stream)
{
    if (!shim_handle_is(stream, SHIM_STREAM)) {
        return driver_result(SHIM_BAD_HANDLE);
    }
    shim_handle_remove(stream);
    return driver_result(shim_code(rt_stream_destroy(stream)));
}

EXPORT int cuEventCreate(void **out, unsigned flags)
{
    struct rt *rt;
    struct rt_event *event;
    if (!out || flags > 7 || (flags & 6) == 4) { /* between processes only without times */
        return driver_result(SHIM_INVALID);
    }
    int code = driver_enter(&rt);
    if (code == SHIM_OK) {
        code = shim_code(rt_event_create(rt, &event, flags & 2 ? RT_EVENT_NO_TIMING : 0));
    }
    code = code == SHIM_OK ? shim_handle_add(event, SHIM_EVENT) : code;
    if (code == SHIM_OK) {
        *out = event;
    }
    return driver_result(code);
}

EXPORT int cuEventDestroy_v2(void *event)
{
    if (!shim_handle_is(event, SHIM_EVENT)) {
        return driver_result(SHIM_BAD_HANDLE);
    }
    shim_handle_remove(event);
    return driver_result(shim_code(rt_event_destroy(event)));
}

EXPORT int cuEventQuery(void *event)
{
    return driver_result(shim_handle_is(event, SHIM_EVENT) ? shim_code(rt_event_query(event))
                                                           : SHIM_BAD_HANDLE);
}

EXPORT int cuEventSynchronize(void *event)
{
    return driver_result(shim_handle_is(event, SHIM_EVENT) ? shim_code(rt_event_sync(event))
                                                           : SHIM_BAD_HANDLE);
}

EXPORT int cuEventElapsedTime(float *ms, void *begin, void *end)
{
    int64_t ps = 0;
    if (!ms || !shim_handle_is(begin, SHIM_EVENT) || !shim_handle_is(end, SHIM_EVENT)) {
        return driver_result(ms ? SHIM_BAD_HANDLE : SHIM_INVALID);
    }
    int rc = rt_event_elapsed(&ps, begin, end);
    *ms = (float)((double)ps / 1e9);
    return driver_result(rc == SONDE_EUSAGE ? SHIM_BAD_HANDLE : shim_code(rc));
}

EXPORT int cuEventElapsedTime_v2(float *ms, void *begin, void *end)
{
    return cuEventElapsedTime(ms, begin, end);
}
