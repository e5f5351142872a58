/* Errors of a thread, and what they are called. */
#include "shim/runtime/runtime.h"

static _Thread_local int last_error;

int last(int code)
{
    static bool begun;
    shim_count_call();
    shim_call_ends();
    if (!begun) {
        begun = true;
        shim_runtime_begins();
    }
#if SHIM_RUNTIME >= 13
    /* The driver's answer: the libraries before looked at a launch's configuration themselves. */
    code = code == SHIM_BAD_CONFIGURATION ? SHIM_INVALID : code;
#endif
    if (code != SHIM_OK) {
        last_error = code;
    }
    return code;
}

EXPORT int cudaGetLastError(void)
{
    int code = last_error;
    last_error = SHIM_OK;
    return code;
}

EXPORT int cudaPeekAtLastError(void)
{
    return last_error;
}

EXPORT const char *cudaGetErrorName(int code)
{
    const char *name = shim_error_name(code, false);
    return name ? name : "unrecognized error code";
}

EXPORT const char *cudaGetErrorString(int code)
{
    const char *text = shim_error_text(code);
    return text ? text : "unrecognized error code";
}

int stream_of(struct rt_stream **out, void *handle, bool own)
{
    struct rt *rt;
    int code = shim_device(&rt);
    *out = code == SHIM_OK ? shim_stream(rt, handle, own) : NULL;
    return code != SHIM_OK || *out ? code : SHIM_BAD_HANDLE;
}
