/* What the runtime tells of the device, and what it refuses to be asked. */
#include "tests/shim/runtime/runtime.h"

int cudaGetDeviceCount(int *);
int cudaGetDevice(int *);
int cudaSetDevice(int);
int cudaInitDevice(int, unsigned, unsigned);
int cudaSetDeviceFlags(unsigned);
int cudaGetDeviceFlags(unsigned *);
int cudaSetValidDevices(int *, int);
int cudaChooseDevice(int *, const void *);
int cudaDeviceGetAttribute(int *, int, int);
int cudaGetDeviceProperties(void *, int);
int cudaDeviceReset(void);
int cudaDriverGetVersion(int *);
int cudaRuntimeGetVersion(int *);
int cudaDeviceGetPCIBusId(char *, int, int);
int cudaDeviceGetByPCIBusId(int *, const char *);
int cudaDeviceGetStreamPriorityRange(int *, int *);
int cudaDeviceSetLimit(int, size_t);
int cudaDeviceGetLimit(size_t *, int);
int cudaDeviceSetCacheConfig(int);
int cudaDeviceGetCacheConfig(int *);
int cudaDeviceCanAccessPeer(int *, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaDeviceDisablePeerAccess(int);
int cudaDeviceGetP2PAttribute(int *, int, int, int);
int cudaMemGetInfo(size_t *, size_t *);
int cudaPeekAtLastError(void);
const char *cudaGetErrorName(int);
const char *cudaGetErrorString(int);
int cudaIpcGetMemHandle(void *, void *);
int cudaIpcGetEventHandle(void *, void *);
int cudaIpcCloseMemHandle(void *);

enum { PROPERTIES = 1008, WARP = 308, SMS = 384 }; /* bytes of cudaDeviceProp, places in it */

static void choose(void)
{
    int count = 7, device = 7, devices[2] = {0, 1};
    OK(cudaGetDeviceCount(&count));
    EXPECT(count == 1);
    GIVES(1, cudaGetDeviceCount(NULL));
    OK(cudaGetDevice(&device));
    EXPECT(device == 0);
    GIVES(1, cudaGetDevice(NULL));
    OK(cudaSetDevice(0));
    GIVES(101, cudaSetDevice(1));
    GIVES(101, cudaInitDevice(1, 0, 0));
    OK(cudaInitDevice(0, 0, 0));
    OK(cudaSetValidDevices(devices, 1));
    GIVES(101, cudaSetValidDevices(devices, 2));
    GIVES(101, cudaSetValidDevices(NULL, 1));
    device = 7;
    OK(cudaChooseDevice(&device, devices));
    EXPECT(device == 0);
    GIVES(1, cudaChooseDevice(&device, NULL));
    GIVES(1, cudaChooseDevice(NULL, devices));
}

/* Flags are what was set, and that host memory can be mapped. */
static void flags(void)
{
    unsigned flags = 0;
    OK(cudaSetDeviceFlags(4));
    OK(cudaGetDeviceFlags(&flags));
    EXPECT(flags == 12);
    GIVES(1, cudaSetDeviceFlags(0x20));
    GIVES(1, cudaGetDeviceFlags(NULL));
    OK(cudaSetDeviceFlags(0x10));
    OK(cudaGetDeviceFlags(&flags));
    EXPECT(flags == 24);
}

/* The bus has a domain, a number and a place; a domain and a bus are enough. */
static void buses(void)
{
    char text[16] = "";
    int device = 7;
    OK(cudaDeviceGetPCIBusId(text, 13, 0));
    EXPECT(strcmp(text, "0000:00:00.0") == 0);
    GIVES(1, cudaDeviceGetPCIBusId(text, 12, 0));
    GIVES(101, cudaDeviceGetPCIBusId(text, 13, 1));
    OK(cudaDeviceGetByPCIBusId(&device, text));
    EXPECT(device == 0);
    device = 7;
    OK(cudaDeviceGetByPCIBusId(&device, "0:0"));
    EXPECT(device == 0);
    GIVES(101, cudaDeviceGetByPCIBusId(&device, "0000:01:00.0"));
    GIVES(101, cudaDeviceGetByPCIBusId(&device, "0001:00:00.0"));
    GIVES(101, cudaDeviceGetByPCIBusId(&device, "0000:00:02.0"));
    GIVES(1, cudaDeviceGetByPCIBusId(&device, "0"));
    GIVES(1, cudaDeviceGetByPCIBusId(&device, "no bus"));
}

/* What properties say, attributes say as well. What no attribute says is 0. */
static void properties(void)
{
    unsigned char p[PROPERTIES + 8];
    int value = 0, in_properties;
    uint64_t shared, memory, all = 0, left = 0;
    memset(p, 0x5a, sizeof p);
    OK(cudaGetDeviceProperties(p, 0));
    GIVES(101, cudaGetDeviceProperties(p, 1));
    GIVES(1, cudaGetDeviceProperties(NULL, 0));
    EXPECT(p[0] && memchr(p, 0, 256) && memcmp(p + 256, "sonde", 6) == 0);
    EXPECT(p[PROPERTIES] == 0x5a); /* nothing behind the structure is written */
    memcpy(&memory, p + 288, 8);
    memcpy(&shared, p + 296, 8);
    OK(cudaMemGetInfo(&left, &all));
    EXPECT(memory == all && left <= all && left > all / 2);
    OK(cudaDeviceGetAttribute(&value, 8, 0));
    EXPECT((uint64_t)value == shared && shared == 48 << 10);
    memcpy(&in_properties, p + WARP, 4);
    EXPECT(in_properties == 32);
    OK(cudaDeviceGetAttribute(&value, 16, 0));
    memcpy(&in_properties, p + SMS, 4);
    EXPECT(value == in_properties && value > 0);
    for (size_t i = 280; i < 284; i++) {
        EXPECT(p[i] == 0); /* the mask of nodes, which is Windows' */
    }
    GIVES(101, cudaDeviceGetAttribute(&value, 16, 1));
    GIVES(1, cudaDeviceGetAttribute(NULL, 16, 0));
    GIVES(1, cudaDeviceGetAttribute(&value, 200, 0));
    GIVES(1, cudaDeviceGetAttribute(&value, 0, 0));
    value = 7;
    OK(cudaDeviceGetAttribute(&value, 199, 0));
    EXPECT(value == 0);
}

static void settings(void)
{
    int config = 7, least = 7, greatest = 7, version = 0, runtime = 0;
    size_t bytes = 0;
    OK(cudaDeviceSetCacheConfig(3));
    OK(cudaDeviceGetCacheConfig(&config));
    EXPECT(config == 3);
    GIVES(1, cudaDeviceSetCacheConfig(4));
    GIVES(1, cudaDeviceSetCacheConfig(-1));
    OK(cudaDeviceSetCacheConfig(0));
    OK(cudaDeviceSetLimit(1, 4 << 20)); /* the buffer of printf() */
    OK(cudaDeviceGetLimit(&bytes, 1));
    EXPECT(bytes == 4 << 20);
    GIVES(1, cudaDeviceGetLimit(NULL, 1));
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least == 0 && greatest < 0);
    OK(cudaDeviceGetStreamPriorityRange(NULL, NULL));
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&version));
    EXPECT(runtime == 13000 && version >= runtime);
    GIVES(1, cudaRuntimeGetVersion(NULL));
    GIVES(1, cudaDriverGetVersion(NULL));
}

/* There is one device and one process: nothing to share with. */
static void peers(void)
{
    int can = 7;
    char ipc[64];
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT(can == 0);
    GIVES(101, cudaDeviceCanAccessPeer(&can, 0, 1));
    GIVES(1, cudaDeviceCanAccessPeer(NULL, 0, 0));
    GIVES(217, cudaDeviceEnablePeerAccess(0, 0));
    GIVES(101, cudaDeviceEnablePeerAccess(1, 0));
    GIVES(705, cudaDeviceDisablePeerAccess(0));
    GIVES(101, cudaDeviceDisablePeerAccess(1));
    GIVES(101, cudaDeviceGetP2PAttribute(&can, 1, 0, 0));
    GIVES(1, cudaDeviceGetP2PAttribute(NULL, 1, 0, 0));
    GIVES(801, cudaIpcGetMemHandle(ipc, &can));
    GIVES(1, cudaIpcGetMemHandle(NULL, &can));
    GIVES(801, cudaIpcGetEventHandle(ipc, &can));
    GIVES(801, cudaIpcCloseMemHandle(&can));
}

/* The last error stays until it is asked for, however many calls succeed in between. */
static void errors(void)
{
    int device;
    EXPECT(cudaGetLastError() != 0 && cudaGetLastError() == 0);
    GIVES(101, cudaSetDevice(3));
    OK(cudaGetDevice(&device));
    EXPECT(cudaPeekAtLastError() == 101 && cudaPeekAtLastError() == 101);
    GIVES(1, cudaGetDevice(NULL));
    EXPECT(cudaGetLastError() == 1 && cudaGetLastError() == 0 && cudaPeekAtLastError() == 0);
    EXPECT(strcmp(cudaGetErrorName(101), "cudaErrorInvalidDevice") == 0);
    EXPECT(strcmp(cudaGetErrorName(12345), "unrecognized error code") == 0);
    EXPECT(strcmp(cudaGetErrorString(0), "no error") == 0);
    EXPECT(strcmp(cudaGetErrorString(-1), "unrecognized error code") == 0);
}

int main(void)
{
    choose();
    flags();
    buses();
    properties();
    settings();
    peers();
    errors();
    void *memory = memory_of(16);
    OK(cudaDeviceReset());
    GIVES(1, cudaFree(memory)); /* it went with the device's state */
    return 0;
}
