/* Streams and events: making, ending, asking. */
#include "shim/runtime/runtime.h"
#include "sonde/sonde.h"

static int stream_create(void **out, unsigned flags, int priority)
{
    struct rt *rt;
    struct rt_stream *stream;
    if (!out || flags > 1) {
        return SHIM_INVALID;
    }
    int code = shim_device(&rt);
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

EXPORT int cudaStreamCreate(void **out)
{
    return last(stream_create(out, 0, 0));
}

EXPORT int cudaStreamCreateWithFlags(void **out, unsigned flags)
{
    return last(stream_create(out, flags, 0));
}

EXPORT int cudaStreamCreateWithPriority(void **out, unsigned flags, int priority)
{
    return last(stream_create(out, flags, priority));
}

EXPORT int cudaStreamDestroy(void *stream)
{
    if (!shim_handle_is(stream, SHIM_STREAM)) {
        return last(SHIM_BAD_HANDLE);
    }
    shim_handle_remove(stream);
    return last(shim_code(rt_stream_destroy(stream)));
}

EXPORT int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    struct rt *rt;
    int low = 0, high = 0;
    int code = shim_device(&rt);
    if (code == SHIM_OK) {
        rt_stream_priorities(rt, &low, &high);
    }
    if (least) {
        *least = low;
    }
    if (greatest) {
        *greatest = high;
    }
    return last(code);
}

EXPORT int cudaEventCreateWithFlags(void **out, unsigned flags)
{
    struct rt *rt;
    struct rt_event *event;
    if (!out || flags > 7 || (flags & 6) == 4) { /* between processes only without times */
        return last(SHIM_INVALID);
    }
    int code = shim_device(&rt);
    if (code == SHIM_OK) {
        code = shim_code(rt_event_create(rt, &event, flags & 2 ? RT_EVENT_NO_TIMING : 0));
    }
    code = code == SHIM_OK ? shim_handle_add(event, SHIM_EVENT) : code;
    if (code == SHIM_OK) {
        *out = event;
    }
    return last(code);
}

EXPORT int cudaEventCreate(void **out)
{
    return cudaEventCreateWithFlags(out, 0);
}

EXPORT int cudaEventDestroy(void *event)
{
    if (!shim_handle_is(event, SHIM_EVENT)) {
        return last(SHIM_BAD_HANDLE);
    }
    shim_handle_remove(event);
    return last(shim_code(rt_event_destroy(event)));
}

EXPORT int cudaEventQuery(void *event)
{
    return last(shim_handle_is(event, SHIM_EVENT) ? shim_code(rt_event_query(event))
                                                  : SHIM_BAD_HANDLE);
}

EXPORT int cudaEventSynchronize(void *event)
{
    return last(shim_handle_is(event, SHIM_EVENT) ? shim_code(rt_event_sync(event))
                                                  : SHIM_BAD_HANDLE);
}

EXPORT int cudaEventElapsedTime(float *ms, void *begin, void *end)
{
    int64_t ps = 0;
    if (!ms || !shim_handle_is(begin, SHIM_EVENT) || !shim_handle_is(end, SHIM_EVENT)) {
        return last(ms ? SHIM_BAD_HANDLE : SHIM_INVALID);
    }
    int rc = rt_event_elapsed(&ps, begin, end);
    *ms = (float)((double)ps / 1e9);
    return last(rc == SONDE_EUSAGE ? SHIM_BAD_HANDLE : shim_code(rc));
}

EXPORT int cudaEventElapsedTime_v2(float *ms, void *begin, void *end)
{
    return cudaEventElapsedTime(ms, begin, end);
}
