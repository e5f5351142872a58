/*
 * A compiled program without its compiler: PTX in a fat binary made here is registered and launched
 * as nvcc's code does it, through the runtime whose soname is the argument. Other arguments are
 * cases of their own (safety.sh).
 */
#define _GNU_SOURCE /* dlvsym() */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/abi.h"

static const char text[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n"
    ".visible .global .align 4 .u32 factor = 3;\n"
    ".visible .entry scale(.param .u64 p, .param .u32 n) {\n"
    ".reg .u64 %a, %o; .reg .u32 %t, %n, %v, %f; .reg .pred %q;\n"
    "ld.param.u64 %a, [p]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; setp.ge.u32 %q, %t, %n;\n"
    "@%q ret; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o; ld.global.u32 %v, [%a];\n"
    "ld.global.u32 %f, [factor]; mul.lo.u32 %v, %v, %f; st.global.u32 [%a], %v; ret; }\n"
    ".global .texref _ZN1n3refE;\n"
    ".visible .entry fetch(.param .u64 p) {\n.reg .u64 %a, %o; .reg .b32 %t, %v<5>;\n"
    "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;\n"
    "tex.1d.v4.u32.s32 {%v1, %v2, %v3, %v4}, [_ZN1n3refE, {%t}]; st.global.u32 [%a], %v1; ret; }\n"
    ".visible .entry forever(.param .u64 p) {\n.reg .u64 %a, %n; .reg .u32 %v;\n"
    "ld.param.u64 %a, [p];\nmov.u64 %n, 0;\nL: ld.volatile.global.u32 %v, [%a];\n"
    "add.u64 %n, %n, 1; bra L; }\n"; /* it counts: who does the same for ever is told as such */

struct image {
    struct {
        uint32_t magic;
        uint16_t version, header;
        uint64_t bytes;
    } container;
    struct {
        uint16_t kind, one;
        uint32_t header;
        uint64_t payload;
        uint32_t compressed, options;
        uint16_t minor, major;
        uint32_t sm, name, name_bytes;
        uint64_t flags, zero, bytes;
    } entry;
    char payload[(sizeof text + 7) / 8 * 8];
};

static struct image image = {
    .container = {0xba55ed50u, 1, 16, sizeof image - 16},
    .entry = {.kind = 1,
              .one = 0x101,
              .header = 64,
              .payload = sizeof image.payload,
              .sm = 30,
              .flags = 0x11},
};
static struct {
    uint32_t magic, version;
    const void *data, *more;
} wrapper = {0x466243b1u, 1, &image, NULL};

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("host.c:%d: not so: %s\n", __LINE__, #condition);                               \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

static void *library;
static const char *soname;

#ifdef LINKED_RELEASE
void *linked_function(const char *name); /* of a runtime in this program (linked_runtime.c) */
#endif

/* Each name is bound to the node that is called like its library. */
static void *name(const char *symbol)
{
#ifdef LINKED_RELEASE
    void *found = linked_function(symbol);
#else
    void *found = dlvsym(library, symbol, soname);
#endif
    if (!found) {
        printf("%s: no %s in the node of that name\n", soname, symbol);
        exit(3);
    }
    return found;
}

#define FUNCTION(result, symbol, ...)                                                              \
    union {                                                                                        \
        void *object;                                                                              \
        result (*call)(__VA_ARGS__);                                                               \
    } symbol = {.object = name(#symbol)}

static char scale_here, forever_here, fetch_here, factor_here; /* what stands for them here */
static struct { /* textureReference: a texture of unsigned integers, n::ref */
    int normalized, filter, address[3], channels[4], kind, rest[21];
} reference = {.address = {1, 1, 1}, .channels = {32}, .kind = 1};

static void register_image(void)
{
    FUNCTION(void **, __cudaRegisterFatBinary, void *);
    FUNCTION(void, __cudaRegisterFunction, void **, const void *, char *, const char *, int, void *,
             void *, void *, void *, int *);
    FUNCTION(void, __cudaRegisterVar, void **, void *, char *, const char *, int, size_t, int, int);
    FUNCTION(void, __cudaRegisterFatBinaryEnd, void **);
    void **handle = __cudaRegisterFatBinary.call(&wrapper);
    EXPECT(handle);
    __cudaRegisterFunction.call(handle, &scale_here, "scale", "scale", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction.call(handle, &forever_here, "forever", "forever", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction.call(handle, &fetch_here, "fetch", "fetch", -1, 0, 0, 0, 0, 0);
    __cudaRegisterVar.call(handle, &factor_here, "factor", "factor", 0, 4, 0, 0);
    if (strcmp(soname, "libcudart.so.11.0") == 0) {
        FUNCTION(void, __cudaRegisterTexture, void **, const void *, const char *, const char *,
                 int, int, int);
        __cudaRegisterTexture.call(handle, &reference, "_ZN1n3refE", "::n::ref", 1, 0, 0);
    }
    __cudaRegisterFatBinaryEnd.call(handle);
}

/* 11.x: a reference is known to the module by its mangled name. A launch that waits reads what was
 * bound when it was made; binding again and again takes no more room. */
static void run_reference(void)
{
    FUNCTION(int, cudaMalloc, void **, size_t);
    FUNCTION(int, cudaMemcpy, void *, const void *, size_t, int);
    FUNCTION(int, cudaLaunchKernel, const void *, struct abi_dim3, struct abi_dim3, void **, size_t,
             void *);
    FUNCTION(int, cudaBindTexture, size_t *, const void *, const void *, const void *, size_t);
    FUNCTION(int, cudaUnbindTexture, const void *);
    uint32_t values[64];
    uint32_t *device, *out;
    for (uint32_t i = 0; i < 64; i++) {
        values[i] = 7 * i;
    }
    EXPECT(cudaMalloc.call((void **)&device, sizeof values) == 0);
    EXPECT(cudaMalloc.call((void **)&out, 128) == 0);
    EXPECT(cudaMemcpy.call(device, values, sizeof values, ABI_HOST_TO_DEVICE) == 0);
    void *args[] = {&out};
    struct abi_dim3 one = {1, 1, 1}, block = {32, 1, 1};
    size_t offset = 1;
    for (int i = 0; i < 2000; i++) {
        EXPECT(cudaBindTexture.call(&offset, &reference, device, reference.channels, 128) == 0);
    }
    EXPECT(offset == 0);
    EXPECT(cudaLaunchKernel.call(&fetch_here, one, block, args, 0, NULL) == 0);
    EXPECT(cudaBindTexture.call(NULL, &reference, device + 32, reference.channels, 128) == 0);
    EXPECT(cudaMemcpy.call(values, out, 128, ABI_DEVICE_TO_HOST) == 0);
    EXPECT(values[0] == 0 && values[31] == 7 * 31);
    EXPECT(cudaLaunchKernel.call(&fetch_here, one, block, args, 0, NULL) == 0);
    EXPECT(cudaMemcpy.call(values, out, 128, ABI_DEVICE_TO_HOST) == 0);
    EXPECT(values[0] == 7 * 32 && values[31] == 7 * 63);
    EXPECT(cudaUnbindTexture.call(&reference) == 0);
    EXPECT(cudaBindTexture.call(NULL, &factor_here, device, reference.channels, 128) == 18);
}

static int run(void)
{
    FUNCTION(int, cudaMalloc, void **, size_t);
    FUNCTION(int, cudaMemcpy, void *, const void *, size_t, int);
    FUNCTION(int, cudaMemcpyToSymbol, const void *, const void *, size_t, size_t, int);
    FUNCTION(int, cudaLaunchKernel, const void *, struct abi_dim3, struct abi_dim3, void **, size_t,
             void *);
    FUNCTION(int, cudaGetLastError, void);
    FUNCTION(int, cudaFree, void *);
    uint32_t values[40], count = 33, five = 5;
    void *device;
    for (uint32_t i = 0; i < 40; i++) {
        values[i] = i;
    }
    int code = cudaMalloc.call(&device, sizeof values);
    EXPECT(code == 0);
    EXPECT(cudaMemcpy.call(device, values, sizeof values, ABI_HOST_TO_DEVICE) == 0);
    void *args[] = {&device, &count};
    struct abi_dim3 one = {1, 1, 1}, block = {40, 1, 1};
    code = cudaLaunchKernel.call(&scale_here, one, block, args, 0, NULL);
    if (code != 0) {
        return code;
    }
    EXPECT(cudaMemcpyToSymbol.call(&factor_here, &five, 4, 0, ABI_HOST_TO_DEVICE) == 0);
    EXPECT(cudaLaunchKernel.call(&scale_here, one, block, args, 0, NULL) == 0);
    EXPECT(cudaMemcpy.call(values, device, sizeof values, ABI_DEVICE_TO_HOST) == 0);
    for (uint32_t i = 0; i < 40; i++) {
        EXPECT(values[i] == (i < count ? 15 * i : i));
    }
    /* A launch of no threads: release 13 answers differently from those before. */
    int refused = strcmp(soname, "libcudart.so.13") == 0 ? 1 : 9;
    block.x = 0;
    EXPECT(cudaLaunchKernel.call(&scale_here, one, block, args, 0, NULL) == refused);
    EXPECT(cudaGetLastError.call() == refused && cudaGetLastError.call() == 0);
    block.x = 40;
    EXPECT(cudaLaunchKernel.call(&library, one, block, args, 0, NULL) == 98);
    EXPECT(cudaGetLastError.call() == 98 && cudaGetLastError.call() == 0);
    EXPECT(cudaFree.call(device) == 0);
    return 0;
}

/* Bytes go on in the next row of both arrays, whose rows are of different length. */
static void copy_arrays(void)
{
    FUNCTION(int, cudaMallocArray, void **, const int *, size_t, size_t, unsigned);
    FUNCTION(int, cudaFreeArray, void *);
    FUNCTION(int, cudaMemcpy2DToArray, void *, size_t, size_t, const void *, size_t, size_t, size_t,
             int);
    FUNCTION(int, cudaMemcpy2DFromArray, void *, size_t, const void *, size_t, size_t, size_t,
             size_t, int);
    FUNCTION(int, cudaMemcpyArrayToArray, void *, size_t, size_t, const void *, size_t, size_t,
             size_t, int);
    static const int bytes_each[5] = {8, 0, 0, 0, 1}; /* cudaChannelFormatDesc: unsigned */
    uint8_t from[4 * 8], to[3 * 12] = {0};
    void *narrow, *wide;
    for (uint8_t i = 0; i < sizeof from; i++) {
        from[i] = i + 1;
    }
    EXPECT(cudaMallocArray.call(&narrow, bytes_each, 8, 4, 0) == 0);
    EXPECT(cudaMallocArray.call(&wide, bytes_each, 12, 3, 0) == 0);
    EXPECT(cudaMemcpy2DToArray.call(narrow, 0, 0, from, 8, 8, 4, ABI_HOST_TO_DEVICE) == 0);
    EXPECT(cudaMemcpy2DToArray.call(wide, 0, 0, to, 12, 12, 3, ABI_HOST_TO_DEVICE) == 0);
    EXPECT(cudaMemcpyArrayToArray.call(wide, 5, 0, narrow, 3, 1, 20, ABI_DEVICE_TO_DEVICE) == 0);
    EXPECT(cudaMemcpy2DFromArray.call(to, 12, wide, 0, 0, 12, 3, ABI_DEVICE_TO_HOST) == 0);
    for (size_t i = 0; i < sizeof to; i++) {
        EXPECT(to[i] == (i >= 5 && i < 25 ? from[i - 5 + 11] : 0));
    }
    EXPECT(cudaMemcpyArrayToArray.call(wide, 12, 0, narrow, 0, 0, 1, ABI_DEVICE_TO_DEVICE) == 1);
    EXPECT(cudaMemcpyArrayToArray.call(wide, 0, 0, narrow, 0, 3, 9, ABI_DEVICE_TO_DEVICE) == 1);
    EXPECT(cudaFreeArray.call(narrow) == 0 && cudaFreeArray.call(wide) == 0);
}

/* Release 13: several copies in a call, which takes no default stream. */
static void copy_batches(void *stream)
{
    FUNCTION(int, cudaMalloc, void **, size_t);
    FUNCTION(int, cudaFree, void *);
    FUNCTION(int, cudaStreamSynchronize, void *);
    FUNCTION(int, cudaMemcpyBatchAsync, void *const *, const void *const *, const size_t *, size_t,
             const void *, const size_t *, size_t, void *);
    static const int in_stream_order[6] = {1}; /* cudaMemcpyAttributes */
    uint32_t from[2][8], to[2][8] = {{0}};
    void *there[2], *here[2] = {to[0], to[1]};
    const void *sources[2] = {from[0], from[1]};
    const size_t sizes[2] = {32, 12}, firsts[1] = {0};
    for (uint32_t i = 0; i < 16; i++) {
        from[i / 8][i % 8] = 100 + i;
    }
    EXPECT(cudaMalloc.call(&there[0], 32) == 0 && cudaMalloc.call(&there[1], 32) == 0);
    EXPECT(cudaMemcpyBatchAsync.call(there, sources, sizes, 2, in_stream_order, firsts, 1,
                                     stream) == 0);
    EXPECT(cudaMemcpyBatchAsync.call(here, (const void *const *)there, sizes, 2, in_stream_order,
                                     firsts, 1, stream) == 0);
    EXPECT(cudaStreamSynchronize.call(stream) == 0);
    EXPECT(memcmp(to[0], from[0], 32) == 0 && memcmp(to[1], from[1], 12) == 0 && to[1][3] == 0);
    EXPECT(cudaMemcpyBatchAsync.call(there, sources, sizes, 2, in_stream_order, firsts, 1, NULL) ==
           1);
    EXPECT(cudaFree.call(there[0]) == 0 && cudaFree.call(there[1]) == 0);
}

/* Before release 13: a launch for each device, of which there is one. */
static void launch_on_all(void *stream)
{
    FUNCTION(int, cudaMalloc, void **, size_t);
    FUNCTION(int, cudaFree, void *);
    FUNCTION(int, cudaMemcpy, void *, const void *, size_t, int);
    FUNCTION(int, cudaStreamSynchronize, void *);
    FUNCTION(int, cudaLaunchCooperativeKernelMultiDevice, const void *, unsigned, unsigned);
    uint32_t values[40], count = 33;
    void *device, *args[] = {&device, &count};
    struct { /* cudaLaunchParams */
        const void *kernel;
        struct abi_dim3 grid, block;
        void **args;
        size_t shared_bytes;
        void *stream;
    } launch = {&scale_here, {1, 1, 1}, {40, 1, 1}, args, 0, stream};
    for (uint32_t i = 0; i < 40; i++) {
        values[i] = i;
    }
    EXPECT(cudaMalloc.call(&device, sizeof values) == 0);
    EXPECT(cudaMemcpy.call(device, values, sizeof values, ABI_HOST_TO_DEVICE) == 0);
    EXPECT(cudaLaunchCooperativeKernelMultiDevice.call(&launch, 1, 0) == 0);
    EXPECT(cudaStreamSynchronize.call(stream) == 0);
    EXPECT(cudaMemcpy.call(values, device, sizeof values, ABI_DEVICE_TO_HOST) == 0);
    for (uint32_t i = 0; i < 40; i++) {
        EXPECT(values[i] == (i < count ? 5 * i : i)); /* the factor is what run() has set */
    }
    EXPECT(cudaLaunchCooperativeKernelMultiDevice.call(&launch, 2, 0) == 1);
    EXPECT(cudaFree.call(device) == 0);
}

static void run_others(void)
{
    FUNCTION(int, cudaStreamCreate, void **);
    FUNCTION(int, cudaStreamDestroy, void *);
    void *stream;
    EXPECT(cudaStreamCreate.call(&stream) == 0);
    copy_arrays();
    if (strcmp(soname, "libcudart.so.13") == 0) {
        copy_batches(stream);
    } else {
        launch_on_all(stream);
    }
    EXPECT(cudaStreamDestroy.call(stream) == 0);
}

/* Runs until somebody ends it; faults where it reads nothing. */
static int run_forever(bool reads, bool waits)
{
    FUNCTION(int, cudaMalloc, void **, size_t);
    FUNCTION(int, cudaLaunchKernel, const void *, struct abi_dim3, struct abi_dim3, void **, size_t,
             void *);
    FUNCTION(int, cudaDeviceSynchronize, void);
    void *device;
    EXPECT(cudaMalloc.call(&device, 4) == 0);
    device = reads ? device : NULL;
    void *args[] = {&device};
    struct abi_dim3 one = {1, 1, 1};
    EXPECT(cudaLaunchKernel.call(&forever_here, one, one, args, 0, NULL) == 0);
    return waits ? cudaDeviceSynchronize.call() : 0;
}

int main(int argc, char **argv)
{
    soname = argc > 1 ? argv[1] : "libcudart.so.13";
    library = dlopen(soname, RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        return 3;
    }
    image.entry.payload = sizeof image.payload;
    memcpy(image.payload, text, sizeof text);
    const char *what = argc > 2 ? argv[2] : "";
    if (strcmp(what, "damaged") == 0) {
        image.entry.payload = 1u << 30;
    } else if (strcmp(what, "endless") == 0) {
        image.container.bytes = (uint64_t)1 << 29;
    } else if (strcmp(what, "nonsense") == 0) {
        memset(image.payload + 100, '#', 200);
    } else if (strcmp(what, "machine") == 0) {
        image.entry.kind = 2;
    }
    register_image();
    bool forever = strcmp(what, "forever") == 0, fault = strcmp(what, "fault") == 0;
    bool leaves = strcmp(what, "leave") == 0;
    if (argc == 2 && strcmp(soname, "libcudart.so.11.0") == 0) {
        run_reference(); /* nothing else of the program has asked for its code yet */
    }
    int code = forever || fault || leaves ? run_forever(!fault, !leaves) : run();
    if (code == 0 && argc == 2) {
        run_others();
    }
    if (code != 0) {
        printf("error %d\n", code);
    }
    if (strcmp(what, "closed") == 0) { /* threads of the libraries go on */
        dlclose(library);
        usleep(100000);
    }
    return 0;
}
