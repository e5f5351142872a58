/*
 * endless CASE: a kernel that waits until word 0 is 1, and who writes it: nobody, a kernel that
 * finds no room, a kernel beside it, a copy in another stream, another thread (endless.sh).
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemsetD32_v2(uint64_t address, unsigned value, size_t words);
int cuMemsetD32Async(uint64_t address, unsigned value, size_t words, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamQuery(void *stream);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **params, void **extra);

/* So many polls of 10000 cycles: some looks at what the warps do. */
enum { NOT_READY = 600, NON_BLOCKING = 1, POLLS = 400, SHARED = 32768, SMS = 12 };

static const char text[] =
    ".version 7.0\n.target sm_35\n.address_size 64\n"
    ".visible .entry waits(.param .u64 place)\n{\n.reg .pred %p; .reg .b32 %v; .reg .b64 %d;\n"
    "ld.param.u64 %d, [place];\nLOOK: ld.volatile.global.u32 %v, [%d];\n"
    "setp.eq.u32 %p, %v, 0;\n@%p bra LOOK;\nret;\n}\n"
    ".visible .entry writes(.param .u64 place)\n{\n.reg .pred %p; .reg .b32 %n; .reg .b64 %d;\n"
    "ld.param.u64 %d, [place];\nmov.u32 %n, 0;\n"
    "COUNT: add.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 100000;\n@%p bra COUNT;\n"
    "st.volatile.global.u32 [%d], 1;\nret;\n}\n";

static struct {
    void *context, *waits, *writes, *first, *second;
    uint64_t place;
} host;

static int launch(void *function, void *stream, unsigned blocks, unsigned shared)
{
    void *params[] = {&host.place};
    return cuLaunchKernel(function, blocks, 1, 1, 32, 1, 1, shared, stream, params, NULL);
}

static int begin(void)
{
    int device;
    void *module;
    return cuInit(0) | cuDeviceGet(&device, 0) | cuDevicePrimaryCtxRetain(&host.context, device) |
           cuCtxSetCurrent(host.context) | cuModuleLoadData(&module, text) |
           cuModuleGetFunction(&host.waits, module, "waits") |
           cuModuleGetFunction(&host.writes, module, "writes") | cuMemAlloc_v2(&host.place, 4) |
           cuMemsetD32_v2(host.place, 0, 1) | cuStreamCreate(&host.first, NON_BLOCKING) |
           cuStreamCreate(&host.second, NON_BLOCKING) | cuCtxSynchronize();
}

static void *write_late(void *result)
{
    int *code = result;
    *code = cuCtxSetCurrent(host.context);
    for (int i = 0; *code == 0 && i < POLLS; i++) {
        *code = cuStreamQuery(host.first) == NOT_READY ? 0 : -1;
    }
    *code = *code ? *code : cuMemsetD32Async(host.place, 1, 1, host.second);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *who = argc > 1 ? argv[1] : "";
    pthread_t thread;
    int code = begin(), late = 0;
    if (code == 0 && strcmp(who, "no-room") == 0) {
        code = launch(host.waits, host.first, SMS, SHARED) |
               launch(host.writes, host.second, 1, SHARED);
    } else if (code == 0) {
        code = launch(host.waits, host.first, 2, 0);
    }
    if (code == 0 && strcmp(who, "kernel") == 0) {
        code = launch(host.writes, host.second, 1, 0);
    } else if (code == 0 && strcmp(who, "copy") == 0) {
        code = cuMemsetD32Async(host.place, 1, 1, host.second);
    } else if (code == 0 && strcmp(who, "thread") == 0) {
        code = pthread_create(&thread, NULL, write_late, &late);
    }
    code = code ? code : cuCtxSynchronize();
    if (strcmp(who, "thread") == 0) {
        pthread_join(thread, NULL);
    }
    printf("%s: %d %d\n", who, code, late);
    return 0;
}
