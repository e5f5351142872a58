/*
 * Programs in C that use the driver as a library, without its header: declarations of their own,
 * structures as in shim/abi.h. Their arguments are the folder of the PTX. No result is thrown away:
 * each call says what it is to give.
 */
#ifndef SONDE_TESTS_SHIM_HOSTS_HOST_H
#define SONDE_TESTS_SHIM_HOSTS_HOST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/abi.h"

typedef uint64_t address;
typedef void *handle;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define GIVES(expected, call)                                                                      \
    do {                                                                                           \
        int result_ = (call);                                                                      \
        if (result_ != (expected)) {                                                               \
            printf("%s:%d: %d instead of %d: %s\n", __FILE__, __LINE__, result_, (expected),       \
                   #call);                                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) GIVES(0, call)

int cuInit(unsigned);
int cuDeviceGet(int *, int);
int cuDevicePrimaryCtxRetain(handle *, int);
int cuCtxSetCurrent(handle);
int cuCtxSynchronize(void);
int cuModuleLoad(handle *, const char *);
int cuModuleGetFunction(handle *, handle, const char *);
int cuLaunchKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   handle, void **, void **);
int cuMemAlloc_v2(address *, size_t);
int cuMemFree_v2(address);
int cuMemcpyHtoD_v2(address, const void *, size_t);
int cuMemcpyDtoH_v2(void *, address, size_t);
int cuMemsetD32_v2(address, unsigned, size_t);
int cuStreamCreate(handle *, unsigned);
int cuStreamSynchronize(handle);
int cuStreamDestroy_v2(handle);

static inline char *path_of(char **argv, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", argv[1], name);
    return path;
}

/* The first device's primary context, and the module of that name. */
static inline handle begin(char **argv, const char *name)
{
    int device;
    handle context, module = NULL;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    if (name) {
        OK(cuModuleLoad(&module, path_of(argv, name)));
    }
    return module;
}

static inline handle function(handle module, const char *name)
{
    handle found;
    OK(cuModuleGetFunction(&found, module, name));
    return found;
}

static inline address take(size_t words)
{
    address memory;
    OK(cuMemAlloc_v2(&memory, 4 * words));
    OK(cuMemsetD32_v2(memory, 1, words));
    OK(cuCtxSynchronize()); /* some streams do not wait for it */
    return memory;
}

static inline int word(address memory, size_t i)
{
    int value;
    OK(cuMemcpyDtoH_v2(&value, memory + 4 * i, 4));
    return value;
}

static inline int launch(handle kernel, unsigned blocks, unsigned threads, handle stream,
                         void **args)
{
    return cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, args, NULL);
}

#endif
