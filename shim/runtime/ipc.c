/* What only exists between processes: there is no other one to share with. */
#include "shim/runtime/runtime.h"

EXPORT int cudaIpcGetMemHandle(void *out, void *pointer)
{
    (void)pointer;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

struct ipc_handle {
    char bytes[64];
};

EXPORT int cudaIpcOpenMemHandle(void **out, struct ipc_handle handle, unsigned flags)
{
    (void)handle, (void)flags;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cudaIpcCloseMemHandle(void *pointer)
{
    (void)pointer;
    return last(SHIM_NOT_SUPPORTED);
}

EXPORT int cudaIpcGetEventHandle(void *out, void *event)
{
    (void)event;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cudaIpcOpenEventHandle(void **out, struct ipc_handle handle)
{
    (void)handle;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}
