/*
 * The device and its properties. The structure of properties differs between releases: fields were
 * added at the end of 12 and taken out of the middle of 13 (properties.def).
 */
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "shim/runtime/runtime.h"

#define IN_RELEASE(r, release)                                                                     \
    ((r) == 13 || ((r) == 12 && (release) <= 12) || ((r) > 100 && (r)-100 <= (release)))

/* The place of a field is found by walking: no release has its own declaration. */
struct writer {
    uint8_t *base;
    size_t at;
};

static void field(struct writer *writer, size_t element, size_t count, int attribute)
{
    writer->at = (writer->at + element - 1) / element * element;
    for (size_t i = 0; i < count; i++, writer->at += element) {
        int value = 0;
        if (attribute > 0) {
            shim_attribute(&value, attribute + (int)i);
            uint64_t wide = (uint64_t)(int64_t)value;
            memcpy(writer->base + writer->at, &wide, element);
        }
    }
}

/* Room behind the last field that is known, which the program's structure has at least. */
#define PROPERTIES_MAX 1200

static void properties(uint8_t *out, int release, size_t bytes)
{
    uint8_t filled[PROPERTIES_MAX] = {0};
    struct writer writer = {.base = filled};
    uint64_t memory = shim_total_memory();
#define PROP(type, name, count, attribute, releases)                                               \
    if (IN_RELEASE(releases, release)) {                                                           \
        field(&writer, sizeof(type), count, attribute);                                            \
        if (strcmp(#name, "luidDeviceNodeMask") == 0) {                                            \
            size_t at = (writer.at + 7) / 8 * 8;                                                   \
            memcpy(filled + at, &memory, sizeof memory);                                           \
        }                                                                                          \
    }
#include "shim/runtime/properties.def"
#undef PROP
    snprintf((char *)filled, 256, "%s", shim_model()->driver.device_name);
    shim_uuid(filled + 256);
    memcpy(out, filled, bytes < PROPERTIES_MAX ? bytes : PROPERTIES_MAX);
}

static int get_properties(void *out, int device, int release, size_t bytes)
{
    if (!out || device != 0) {
        return out ? SHIM_BAD_DEVICE : SHIM_INVALID;
    }
    if (!shim_model()) {
        return SHIM_NO_DEVICE;
    }
    properties(out, release, bytes);
    return SHIM_OK;
}

#if SHIM_RUNTIME == 13
EXPORT int cudaGetDeviceProperties(void *out, int device)
{
    return last(get_properties(out, device, 13, 1008));
}
#else
EXPORT int cudaGetDeviceProperties(void *out, int device)
{
    return last(get_properties(out, device, 11, 712));
}

EXPORT int cudaGetDeviceProperties_v2(void *out, int device)
{
    return last(get_properties(out, device, 12, 1032));
}
#endif

EXPORT int cudaGetDeviceCount(int *count)
{
    if (!count) {
        return last(SHIM_INVALID);
    }
    *count = shim_model() != NULL;
    return last(*count ? SHIM_OK : SHIM_NO_DEVICE);
}

EXPORT int cudaGetDevice(int *device)
{
    if (!device) {
        return last(SHIM_INVALID);
    }
    *device = 0;
    return last(shim_model() ? SHIM_OK : SHIM_NO_DEVICE);
}

EXPORT int cudaSetDevice(int device)
{
    struct rt *rt;
    return last(device == 0 ? shim_device(&rt) : SHIM_BAD_DEVICE);
}

EXPORT int cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    return cudaSetDevice(device);
}

static _Thread_local unsigned device_flags;

EXPORT int cudaSetDeviceFlags(unsigned flags)
{
    if (flags & ~0x1fu) {
        return last(SHIM_INVALID);
    }
    device_flags = flags;
    return last(SHIM_OK);
}

EXPORT int cudaGetDeviceFlags(unsigned *flags)
{
    if (!flags) {
        return last(SHIM_INVALID);
    }
    *flags = device_flags | 8;
    return last(SHIM_OK);
}

EXPORT int cudaSetValidDevices(int *devices, int count)
{
    for (int i = 0; i < count; i++) {
        if (!devices || devices[i] != 0) {
            return last(SHIM_BAD_DEVICE);
        }
    }
    return last(SHIM_OK);
}

EXPORT int cudaChooseDevice(int *device, const void *wanted)
{
    if (!device || !wanted) {
        return last(SHIM_INVALID);
    }
    *device = 0;
    return last(SHIM_OK);
}

EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    return last(device == 0 ? shim_attribute(value, attribute) : SHIM_BAD_DEVICE);
}

EXPORT int cudaDeviceSynchronize(void)
{
    struct rt *rt;
    int code = shim_device(&rt);
    return last(code == SHIM_OK ? shim_code(rt_sync(rt)) : code);
}

EXPORT int cudaDeviceReset(void)
{
    shim_reset(); /* what went wrong before goes with it */
    return last(SHIM_OK);
}

EXPORT int cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

EXPORT int cudaThreadExit(void)
{
    return cudaDeviceReset();
}

EXPORT int cudaDriverGetVersion(int *version)
{
    if (!version) {
        return last(SHIM_INVALID);
    }
    *version = SHIM_DRIVER_VERSION;
    return last(SHIM_OK);
}

EXPORT int cudaRuntimeGetVersion(int *version)
{
    static const int versions[] = {11080, 12080, 13000};
    if (!version) {
        return last(SHIM_INVALID);
    }
    *version = versions[SHIM_RUNTIME - 11];
    return last(SHIM_OK);
}

EXPORT int cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    if (!text || bytes < 13 || device != 0) {
        return last(device ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    snprintf(text, (size_t)bytes, "0000:00:00.0");
    return last(SHIM_OK);
}

EXPORT int cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    unsigned domain = 0, bus = 0, slot = 0;
    if (!device || !text || sscanf(text, "%x:%x:%x", &domain, &bus, &slot) < 2) {
        return last(SHIM_INVALID);
    }
    *device = 0;
    return last(domain || bus || slot ? SHIM_BAD_DEVICE : SHIM_OK);
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

EXPORT int cudaDeviceSetLimit(int number, size_t value)
{
    return last(shim_limit_set(number, value));
}

EXPORT int cudaDeviceGetLimit(size_t *value, int number)
{
    return last(shim_limit_get(value, number));
}

static int cache_config;

EXPORT int cudaDeviceSetCacheConfig(int config)
{
    if (config < 0 || config > 3) {
        return last(SHIM_INVALID);
    }
    cache_config = config;
    return last(SHIM_OK);
}

EXPORT int cudaDeviceGetCacheConfig(int *config)
{
    if (!config) {
        return last(SHIM_INVALID);
    }
    *config = cache_config;
    return last(SHIM_OK);
}

EXPORT int cudaDeviceSetSharedMemConfig(int config)
{
    struct rt *rt;
    if (config < 0 || config > 2) {
        return last(SHIM_INVALID);
    }
    int code = shim_enter(&rt);
    if (code == SHIM_OK) {
        /* Where banks have one width only, the wish is ignored. */
        rt_set_shared_bank_bytes(rt, config == 2 ? 8 : config == 1 ? 4 : 0);
        shim_leave(rt);
    }
    return last(code);
}

EXPORT int cudaDeviceGetSharedMemConfig(int *config)
{
    if (!config) {
        return last(SHIM_INVALID);
    }
    *config = 1;
    return last(SHIM_OK);
}

EXPORT int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can) {
        return last(SHIM_INVALID);
    }
    *can = 0;
    return last(device == 0 && peer == 0 ? SHIM_OK : SHIM_BAD_DEVICE);
}

EXPORT int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    return last(peer == 0 ? SHIM_NO_PEER : SHIM_BAD_DEVICE);
}

EXPORT int cudaDeviceDisablePeerAccess(int peer)
{
    return last(peer == 0 ? SHIM_PEER_NOT_ENABLED : SHIM_BAD_DEVICE);
}

EXPORT int cudaDeviceGetP2PAttribute(int *value, int attribute, int src, int dst)
{
    (void)attribute;
    if (!value || src != 0 || dst != 0) {
        return last(value ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    return last(SHIM_BAD_DEVICE); /* the two are to differ */
}

EXPORT int cudaProfilerStart(void)
{
    return last(SHIM_OK);
}

EXPORT int cudaProfilerStop(void)
{
    return last(SHIM_OK);
}

EXPORT int cudaCtxResetPersistingL2Cache(void)
{
    return last(SHIM_OK);
}

/* Names of before contexts were the process's. */
#if SHIM_RUNTIME < 13
EXPORT int cudaThreadSetLimit(int number, size_t value)
{
    return cudaDeviceSetLimit(number, value);
}

EXPORT int cudaThreadGetLimit(size_t *value, int number)
{
    return cudaDeviceGetLimit(value, number);
}

EXPORT int cudaThreadSetCacheConfig(int config)
{
    return cudaDeviceSetCacheConfig(config);
}

EXPORT int cudaThreadGetCacheConfig(int *config)
{
    return cudaDeviceGetCacheConfig(config);
}
#endif
