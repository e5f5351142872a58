/* The device, errors, and where entry points are. */
#define _GNU_SOURCE /* dladdr() */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "shim/driver/driver.h"
#include "util/fileio.h"

static int device_check(int device)
{
    return !driver_initialised() ? SHIM_NOT_INITIALISED : device != 0 ? SHIM_BAD_DEVICE : SHIM_OK;
}

EXPORT int cuDriverGetVersion(int *version)
{
    if (!version) {
        return driver_result(SHIM_INVALID);
    }
    *version = SHIM_DRIVER_VERSION;
    return driver_result(SHIM_OK);
}

EXPORT int cuDeviceGetCount(int *count)
{
    if (!count || !driver_initialised()) {
        return driver_result(driver_initialised() ? SHIM_INVALID : SHIM_NOT_INITIALISED);
    }
    *count = 1;
    return driver_result(SHIM_OK);
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
    int code = device ? device_check(ordinal) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *device = 0;
    }
    return driver_result(code);
}

EXPORT int cuDeviceGetName(char *name, int bytes, int device)
{
    int code = name && bytes > 0 ? device_check(device) : SHIM_INVALID;
    if (code == SHIM_OK) {
        snprintf(name, (size_t)bytes, "%s", shim_model()->driver.device_name);
    }
    return driver_result(code);
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    int code = bytes ? device_check(device) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *bytes = shim_total_memory();
    }
    return driver_result(code);
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    int code = device_check(device);
    return driver_result(code == SHIM_OK ? shim_attribute(value, attribute) : code);
}

EXPORT int cuDeviceComputeCapability(int *major, int *minor, int device)
{
    int code = device_check(device);
    code = code == SHIM_OK ? shim_attribute(major, 75) : code;
    return driver_result(code == SHIM_OK ? shim_attribute(minor, 76) : code);
}

EXPORT int cuDeviceGetUuid(void *uuid, int device)
{
    int code = uuid ? device_check(device) : SHIM_INVALID;
    if (code == SHIM_OK) {
        shim_uuid(uuid);
    }
    return driver_result(code);
}

EXPORT int cuDeviceGetUuid_v2(void *uuid, int device)
{
    return cuDeviceGetUuid(uuid, device);
}

EXPORT int cuDeviceGetPCIBusId(char *text, int bytes, int device)
{
    int code = text && bytes >= 13 ? device_check(device) : SHIM_INVALID;
    if (code == SHIM_OK) {
        snprintf(text, (size_t)bytes, "0000:00:00.0");
    }
    return driver_result(code);
}

EXPORT int cuDeviceGetByPCIBusId(int *device, const char *text)
{
    if (!device || !text) {
        return driver_result(SHIM_INVALID);
    }
    *device = 0;
    return driver_result(strncmp(text, "0000:00:00", 10) == 0 || strcmp(text, "00:00.0") == 0
                             ? SHIM_OK
                             : SHIM_BAD_DEVICE);
}

EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can) {
        return driver_result(SHIM_INVALID);
    }
    *can = 0;
    int code = device_check(device);
    return driver_result(code == SHIM_OK ? device_check(peer) : code);
}

EXPORT int cuDeviceGetP2PAttribute(int *value, int attribute, int src, int dst)
{
    (void)attribute, (void)src, (void)dst;
    return driver_result(value ? SHIM_BAD_DEVICE : SHIM_INVALID);
}

/* struct CUdevprop: what cuDeviceGetAttribute() tells, as before it. */
EXPORT int cuDeviceGetProperties(int *out, int device)
{
    static const int attributes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    int code = out ? device_check(device) : SHIM_INVALID;
    for (size_t i = 0; code == SHIM_OK && i < sizeof attributes / sizeof *attributes; i++) {
        code = shim_attribute(&out[i], attributes[i]);
    }
    return driver_result(code);
}

EXPORT int cuGetErrorString(int error, const char **text)
{
    if (!text) {
        return SHIM_INVALID;
    }
    *text = shim_error_text(error);
    return *text ? SHIM_OK : SHIM_INVALID;
}

EXPORT int cuGetErrorName(int error, const char **text)
{
    if (!text) {
        return SHIM_INVALID;
    }
    *text = shim_error_name(error, true);
    return *text ? SHIM_OK : SHIM_INVALID;
}

/*
 * A runtime that is linked into a program or a library asks for tables that only the vendor's
 * driver has. Most programs end soon after, so this is the place to say why; a library may go on
 * without (libnvrtc does).
 */
EXPORT int cuGetExportTable(const void **table, const void *id)
{
    Dl_info asker;
    (void)id;
    if (table) {
        *table = NULL;
    }
    bool known = dladdr(__builtin_return_address(0), &asker) && asker.dli_fname;
    shim_say("%s holds a CUDA runtime of its own, which asks for private tables of the vendor's "
             "driver: if it fails now, link it with nvcc -cudart shared",
             known ? file_last_name(asker.dli_fname) : "the program");
    return SHIM_NOT_SUPPORTED;
}

EXPORT int cuProfilerStart(void)
{
    return driver_result(SHIM_OK);
}

EXPORT int cuProfilerStop(void)
{
    return driver_result(SHIM_OK);
}

EXPORT int cuFlushGPUDirectRDMAWrites(int target, int scope)
{
    (void)target, (void)scope;
    return driver_result(SHIM_NOT_SUPPORTED);
}
