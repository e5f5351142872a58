/*
 * What a driver's result means: an error with what was tried and the driver's words for it. A fault
 * of a kernel loses the context, which is remembered.
 */
#include <stdio.h>

#include "device/cuda.h"
#include "util/error.h"

static bool is_fault(cu_result result)
{
    return result == CU_ILLEGAL_ADDRESS || result == CU_LAUNCH_TIMEOUT || result == CU_ASSERT ||
           (result >= CU_HARDWARE_STACK_ERROR && result <= CU_LAUNCH_FAILED);
}

static int code_of(cu_result result)
{
    switch (result) {
    case CU_OUT_OF_MEMORY:
        return SONDE_ENOMEM;
    case CU_INVALID_IMAGE:
    case CU_INVALID_PTX:
    case CU_UNSUPPORTED_PTX_VERSION:
    case CU_NOT_FOUND:
        return SONDE_EINPUT;
    case CU_LAUNCH_OUT_OF_RESOURCES:
        return SONDE_EUNSUPPORTED;
    default:
        return is_fault(result) ? SONDE_EFAULT : SONDE_EDEVICE;
    }
}

int cuda_api_check(const struct cuda_api *api, cu_result result, const char *what)
{
    if (result == CU_SUCCESS) {
        return SONDE_OK;
    }
    const char *name = NULL, *text = NULL;
    api->error_name(result, &name);
    api->error_string(result, &text);
    return error_set(code_of(result), "%s: %s (%d)%s%s", what, name ? name : "unknown error",
                     result, text ? ": " : "", text ? text : "");
}

int cuda_check(struct cuda *cuda, cu_result result, const char *what)
{
    int rc = cuda_api_check(&cuda->api, result, what);
    if (is_fault(result) && !cuda->lost[0]) {
        snprintf(cuda->lost, sizeof(cuda->lost), "%s", error_text());
    }
    return rc;
}

int cuda_enter(struct cuda *cuda)
{
    if (cuda->lost[0]) {
        return error_set(SONDE_EFAULT, "%s was lost to an earlier fault (%s)",
                         cuda->device.info.name, cuda->lost);
    }
    return cuda_check(cuda, cuda->api.context_set(cuda->context), "cuCtxSetCurrent");
}
