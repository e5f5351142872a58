/* Contexts: which is current, what is refused without one, limits; the device's properties. */
#include "host.h"

int cuDriverGetVersion(int *);
int cuDeviceGetCount(int *);
int cuDeviceGetName(char *, int, int);
int cuDeviceTotalMem_v2(size_t *, int);
int cuDeviceGetAttribute(int *, int, int);
int cuDeviceComputeCapability(int *, int *, int);
int cuDeviceGetProperties(int *, int);
int cuDeviceGetUuid_v2(void *, int);
int cuDeviceGetPCIBusId(char *, int, int);
int cuDeviceGetByPCIBusId(int *, const char *);
int cuDeviceCanAccessPeer(int *, int, int);
int cuDevicePrimaryCtxGetState(int, unsigned *, int *);
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned);
int cuDevicePrimaryCtxRelease_v2(int);
int cuGetErrorString(int, const char **);
int cuGetErrorName(int, const char **);
int cuCtxCreate_v2(handle *, unsigned, int);
int cuCtxDestroy_v2(handle);
int cuCtxPushCurrent_v2(handle);
int cuCtxPopCurrent_v2(handle *);
int cuCtxGetCurrent(handle *);
int cuCtxGetDevice(int *);
int cuCtxGetFlags(unsigned *);
int cuCtxGetApiVersion(handle, unsigned *);
int cuCtxGetId(handle, unsigned long long *);
int cuCtxSetLimit(int, size_t);
int cuCtxGetLimit(size_t *, int);
int cuCtxSetCacheConfig(int);
int cuCtxGetCacheConfig(int *);
int cuCtxEnablePeerAccess(handle, unsigned);
int cuCtxDisablePeerAccess(handle);

enum {
    INVALID = 1,
    NOT_INITIALISED = 3,
    BAD_DEVICE = 101,
    BAD_CONTEXT = 201,
    UNKNOWN_LIMIT = 215,
    NO_PEER = 217,
    PEER_NOT_ENABLED = 705,
    DESTROYED = 709,
    THREADS_PER_BLOCK = 1,
    WARP_SIZE = 10,
    SM_COUNT = 16,
    NESTED = 64,
};
enum { STACK, PRINTF, HEAP, DEPTH, PENDING };

static void before_anything(void)
{
    int count, device;
    handle context;
    address p;
    GIVES(INVALID, cuInit(1));
    GIVES(NOT_INITIALISED, cuDeviceGetCount(NULL));
    GIVES(NOT_INITIALISED, cuDeviceGetCount(&count));
    GIVES(NOT_INITIALISED, cuDeviceGet(&device, 0));
    GIVES(NOT_INITIALISED, cuCtxGetCurrent(&context));
    GIVES(NOT_INITIALISED, cuCtxGetCurrent(NULL));
    GIVES(NOT_INITIALISED, cuCtxCreate_v2(&context, 0, 0));
    GIVES(NOT_INITIALISED, cuDevicePrimaryCtxRetain(&context, 0));
    GIVES(NOT_INITIALISED, cuMemAlloc_v2(&p, 4));
    OK(cuInit(0));
    GIVES(BAD_CONTEXT, cuMemAlloc_v2(&p, 4));
    GIVES(BAD_CONTEXT, cuCtxGetDevice(&device));
    GIVES(BAD_CONTEXT, cuCtxPopCurrent_v2(&context));
    OK(cuCtxGetCurrent(&context));
    EXPECT(context == NULL);
}

static void device(void)
{
    int count, one, major, minor, properties[14], sms, id = 7;
    char name[64], cut[5], bus[13];
    unsigned char uuid[16], again[16];
    size_t bytes;
    OK(cuDriverGetVersion(&count));
    EXPECT(count >= 11000);
    GIVES(INVALID, cuDriverGetVersion(NULL));
    OK(cuDeviceGetCount(&count));
    EXPECT(count == 1);
    OK(cuDeviceGet(&one, 0));
    EXPECT(one == 0);
    GIVES(BAD_DEVICE, cuDeviceGet(&one, 1));
    OK(cuDeviceGetName(name, sizeof name, 0));
    OK(cuDeviceGetName(cut, sizeof cut, 0));
    EXPECT(strlen(name) > 4 && strlen(cut) == 4 && strncmp(cut, name, 4) == 0);
    GIVES(INVALID, cuDeviceGetName(name, 0, 0));
    GIVES(BAD_DEVICE, cuDeviceGetName(name, sizeof name, 1));
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    EXPECT(bytes == (size_t)3 << 30); /* gtx780 */
    OK(cuDeviceGetAttribute(&sms, SM_COUNT, 0));
    EXPECT(sms == 12);
    GIVES(BAD_DEVICE, cuDeviceGetAttribute(&sms, SM_COUNT, 1));
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    EXPECT(major == 3 && minor == 5);
    OK(cuDeviceGetProperties(properties, 0));
    EXPECT(properties[0] == 1024 && properties[WARP_SIZE - 1] == 32);
    OK(cuDeviceGetUuid_v2(uuid, 0));
    OK(cuDeviceGetUuid_v2(again, 0));
    EXPECT(memcmp(uuid, again, 16) == 0);
    GIVES(INVALID, cuDeviceGetPCIBusId(bus, 12, 0));
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
    OK(cuDeviceGetByPCIBusId(&id, bus));
    EXPECT(id == 0);
    OK(cuDeviceGetByPCIBusId(&id, "00:00.0"));
    GIVES(BAD_DEVICE, cuDeviceGetByPCIBusId(&id, "0000:03:00.0"));
    id = 1;
    OK(cuDeviceCanAccessPeer(&id, 0, 0));
    EXPECT(id == 0);
    GIVES(BAD_DEVICE, cuDeviceCanAccessPeer(&id, 0, 1));
}

static void errors(void)
{
    const char *text;
    OK(cuGetErrorName(INVALID, &text));
    EXPECT(strcmp(text, "CUDA_ERROR_INVALID_VALUE") == 0);
    OK(cuGetErrorString(BAD_CONTEXT, &text));
    EXPECT(strlen(text) > 8);
    GIVES(INVALID, cuGetErrorName(99999, &text));
    EXPECT(text == NULL);
    GIVES(INVALID, cuGetErrorString(99999, &text));
    GIVES(INVALID, cuGetErrorString(1, NULL));
}

static void limits(void)
{
    size_t value;
    int config;
    OK(cuCtxGetLimit(&value, STACK));
    EXPECT(value == 1024);
    OK(cuCtxSetLimit(STACK, 4096));
    OK(cuCtxGetLimit(&value, STACK));
    EXPECT(value == 4096);
    OK(cuCtxSetLimit(STACK, 4097)); /* as an H200 does */
    OK(cuCtxGetLimit(&value, STACK));
    EXPECT(value == 4112);
    OK(cuCtxSetLimit(HEAP, 16 << 20));
    OK(cuCtxGetLimit(&value, HEAP));
    EXPECT(value == 16 << 20);
    OK(cuCtxSetLimit(HEAP, 1 << 20));
    OK(cuCtxGetLimit(&value, HEAP));
    EXPECT(value == 4 << 20);
    OK(cuCtxSetLimit(PRINTF, 1));
    OK(cuCtxGetLimit(&value, PRINTF));
    EXPECT(value == 512 << 10);
    OK(cuCtxGetLimit(&value, DEPTH));
    EXPECT(value == 2);
    GIVES(INVALID, cuCtxSetLimit(7, 1));
    GIVES(INVALID, cuCtxSetLimit(-1, 1));
    GIVES(UNKNOWN_LIMIT, cuCtxGetLimit(&value, 7));
    GIVES(INVALID, cuCtxGetLimit(NULL, STACK));
    GIVES(INVALID, cuCtxSetCacheConfig(4));
    OK(cuCtxSetCacheConfig(2));
    OK(cuCtxGetCacheConfig(&config));
    EXPECT(config == 2);
    GIVES(INVALID, cuCtxGetCacheConfig(NULL));
}

static void nested(void)
{
    handle own, other, now;
    unsigned flags, version;
    unsigned long long id, same;
    int one = 7;
    GIVES(INVALID, cuCtxCreate_v2(NULL, 0, 0));
    GIVES(BAD_DEVICE, cuCtxCreate_v2(&own, 0, 1));
    OK(cuCtxCreate_v2(&own, 4, 0));
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == other);
    OK(cuCtxPopCurrent_v2(&now));
    EXPECT(now == other);
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == own);
    OK(cuCtxGetFlags(&flags));
    EXPECT(flags == 4);
    OK(cuCtxGetDevice(&one));
    EXPECT(one == 0);
    OK(cuCtxGetApiVersion(NULL, &version));
    GIVES(BAD_CONTEXT, cuCtxGetApiVersion(&one, &version));
    GIVES(INVALID, cuCtxGetApiVersion(own, NULL));
    OK(cuCtxGetId(NULL, &id));
    OK(cuCtxGetId(own, &same));
    EXPECT(id == same);
    OK(cuCtxGetId(other, &same));
    EXPECT(id != same);
    OK(cuCtxSetCurrent(other)); /* in the place of the other, not beside it */
    OK(cuCtxPopCurrent_v2(&now));
    EXPECT(now == other);
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == NULL);
    GIVES(BAD_CONTEXT, cuCtxPushCurrent_v2(&one));
    for (int i = 0; i < NESTED; i++) {
        OK(cuCtxPushCurrent_v2(own));
    }
    GIVES(2, cuCtxPushCurrent_v2(own)); /* out of memory */
    for (int i = 0; i < NESTED; i++) {
        OK(cuCtxPopCurrent_v2(NULL));
    }
    GIVES(BAD_CONTEXT, cuCtxEnablePeerAccess(own, 0));
    GIVES(NO_PEER, cuCtxEnablePeerAccess(&one, 0));
    GIVES(PEER_NOT_ENABLED, cuCtxDisablePeerAccess(own));
    GIVES(BAD_CONTEXT, cuCtxDisablePeerAccess(&one));
    OK(cuCtxDestroy_v2(other));
    GIVES(BAD_CONTEXT, cuCtxDestroy_v2(other));
    GIVES(BAD_CONTEXT, cuCtxPushCurrent_v2(other));
    OK(cuCtxPushCurrent_v2(own));
    OK(cuCtxDestroy_v2(own)); /* the current one: none is then */
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == NULL);
}

/* One that goes while another is on top of it: it stays in the stack, and is no context any more,
 * whatever is made after it. */
static void destroyed_below(void)
{
    handle below, top, later, now;
    unsigned flags;
    address p;
    OK(cuCtxCreate_v2(&below, 0, 0));
    OK(cuCtxCreate_v2(&top, 0, 0));
    OK(cuCtxDestroy_v2(below));
    OK(cuCtxCreate_v2(&later, 4, 0));
    EXPECT(later != below);
    OK(cuMemAlloc_v2(&p, 64));
    OK(cuCtxPopCurrent_v2(&now));
    EXPECT(now == later);
    OK(cuCtxDestroy_v2(top)); /* the current one */
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == below);
    GIVES(DESTROYED, cuMemAlloc_v2(&p, 64));
    GIVES(DESTROYED, cuCtxGetFlags(&flags));
    GIVES(BAD_CONTEXT, cuCtxDestroy_v2(below));
    OK(cuCtxSetCurrent(later));
    OK(cuMemAlloc_v2(&p, 64));
    OK(cuCtxGetFlags(&flags));
    EXPECT(flags == 4);
    OK(cuCtxDestroy_v2(later));
}

static void primary(void)
{
    handle context;
    unsigned flags;
    int active = 7;
    address p;
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(flags == 0 && active == 0);
    GIVES(BAD_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxSetFlags_v2(0, 2));
    GIVES(BAD_DEVICE, cuDevicePrimaryCtxRetain(&context, 1));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(flags == 2 && active == 1);
    GIVES(BAD_DEVICE, cuDevicePrimaryCtxGetState(1, &flags, &active));
    GIVES(BAD_CONTEXT, cuCtxDestroy_v2(context));
    OK(cuCtxSetCurrent(context));
    limits();
    OK(cuMemAlloc_v2(&p, 64));
    GIVES(BAD_DEVICE, cuDevicePrimaryCtxRelease_v2(1));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    GIVES(DESTROYED, cuMemAlloc_v2(&p, 64));
}

int main(void)
{
    before_anything();
    device();
    errors();
    nested();
    destroyed_below();
    primary();
    printf("contexts: all right\n");
}
