// What calls give that cannot succeed: the codes of CUDA 13.0 as an H200 gives them. Each part runs in a
// process of its own, since some of them end what a process can do with the device.
#include <cstddef>
#include <cuda.h>
#include <initializer_list>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#define DRIVE(code, call)                                                                          \
    do {                                                                                           \
        CUresult drive_error = (call);                                                             \
        const char *drive_name = "no name";                                                        \
        if (drive_error != (code)) {                                                               \
            cuGetErrorName(drive_error, &drive_name);                                              \
            printf("%s:%d: %s gives %s, not %s\n", __FILE__, __LINE__, #call, drive_name, #code);  \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)
// The error is kept for one question, and stays with it.
#define KEPT(code)                                                                                 \
    do {                                                                                           \
        EXPECT(cudaPeekAtLastError() == (code));                                                   \
        EXPECT(cudaGetLastError() == (code));                                                      \
        EXPECT(cudaGetLastError() == cudaSuccess);                                                 \
    } while (0)
__global__ void nothing() {}
__global__ void store(int *p) { *p = 1; }
__global__ void stop() { asm("trap;"); }
__global__ void __launch_bounds__(64) small(int *p) { p[threadIdx.x] = 1; }

template <class F> static void apart(F part)
{
    fflush(stdout);
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        part();
        fflush(stdout);
        _exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void launches()
{
    int *p;
    CHECK(cudaMalloc(&p, 512));
    nothing<<<0, 1>>>(); KEPT(cudaErrorInvalidValue);
    nothing<<<1, 0>>>(); KEPT(cudaErrorInvalidValue);
    nothing<<<1, 2048>>>(); KEPT(cudaErrorInvalidValue);
    nothing<<<1, dim3(1, 1, 65)>>>(); KEPT(cudaErrorInvalidValue);
    nothing<<<dim3(1, 70000, 1), 1>>>(); KEPT(cudaErrorInvalidValue);
    nothing<<<1, 32, 1 << 20>>>(); KEPT(cudaErrorInvalidValue);
    small<<<1, 128>>>(p); KEPT(cudaErrorInvalidValue);
    small<<<1, 64>>>(p); KEPT(cudaSuccess); // none of it lasts
    CHECK(cudaDeviceSynchronize());
}

static void memory()
{
    int *p, host[2];
    GIVES(cudaErrorInvalidValue, cudaMalloc(nullptr, 4));
    GIVES(cudaErrorMemoryAllocation, cudaMalloc(&p, (size_t)1 << 50));
    CHECK(cudaMalloc(&p, 256));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(p, host, 512, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy(p, p, 4, (cudaMemcpyKind)9));
    GIVES(cudaErrorInvalidValue, cudaMemset(p, 0, 1000));
    GIVES(cudaErrorInvalidValue, cudaFree(p + 1));
    CHECK(cudaFree(p));
    GIVES(cudaErrorInvalidValue, cudaFree(p));
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, host));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
}

static void questions()
{
    size_t bytes; int n; void *address; cudaFuncAttributes attributes;
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(99));
    GIVES(cudaErrorInvalidValue, cudaDeviceGetLimit(&bytes, (cudaLimit)99));
    GIVES(cudaErrorInvalidValue, cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
    GIVES(cudaErrorInvalidValue, cudaDeviceSetLimit((cudaLimit)99, 1));
    GIVES(cudaErrorInvalidResourceHandle, cudaFuncGetAttributes(&attributes, (const void *)launches));
    GIVES(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, (const void *)nullptr));
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, (const void *)launches));
    GIVES(cudaErrorInvalidValue, cudaDeviceGetAttribute(&n, (cudaDeviceAttr)9999, 0));
    GIVES(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 99));
}

static void streams()
{
    cudaStream_t s; cudaEvent_t a, b; cudaGraph_t graph; float ms;
    GIVES(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
    GIVES(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&s, 77));
    CHECK(cudaStreamCreate(&s)); CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b)); // neither was recorded
    CHECK(cudaEventRecord(a, s)); CHECK(cudaEventSynchronize(a));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
    CHECK(cudaEventQuery(b));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventRecord(nullptr, 0));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(s, nullptr, 0));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorIllegalState, cudaStreamEndCapture(s, &graph));
}

// After a fault every call gives it until the device is reset; then there is no device for this process.
static void trapped()
{
    int *p;
    stop<<<1, 1>>>();
    GIVES(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    GIVES(cudaErrorLaunchFailure, cudaMalloc(&p, 4));
    CHECK(cudaDeviceReset());
    GIVES(cudaErrorDevicesUnavailable, cudaFree(0));
    GIVES(cudaErrorDevicesUnavailable, cudaMalloc(&p, 4));
}

static void wild()
{
    int *p;
    CHECK(cudaMalloc(&p, 4));
    store<<<1, 1>>>((int *)0x10);
    GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    KEPT(cudaSuccess); // the error stays with the device, not with the thread
    GIVES(cudaErrorIllegalAddress, cudaMalloc(&p, 4));
    CHECK(cudaDeviceReset());
    GIVES(cudaErrorDevicesUnavailable, cudaMalloc(&p, 4));
    CHECK(cudaDeviceReset());
    GIVES(cudaErrorDevicesUnavailable, cudaMalloc(&p, 4));
}

static const char *text = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry put(.param .u64 p, .param .u32 n)\n"
    "{ .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [p]; ld.param.u32 %v, [n]; st.global.u32 [%a], %v; ret; }\n";

static void driver()
{
    CUdevice device; CUcontext context; CUmodule module; CUfunction f; CUdeviceptr p, none; size_t bytes; unsigned n = 20, got = 0;
    DRIVE(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
    DRIVE(CUDA_ERROR_INVALID_VALUE, cuInit(1)); DRIVE(CUDA_SUCCESS, cuInit(0));
    DRIVE(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 99)); DRIVE(CUDA_SUCCESS, cuDeviceGet(&device, 0));
    DRIVE(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&context, device));
    DRIVE(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    DRIVE(CUDA_SUCCESS, cuCtxSetCurrent(context));
    DRIVE(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0)); DRIVE(CUDA_SUCCESS, cuMemAlloc(&p, 1024));
    DRIVE(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "nonsense"));
    DRIVE(CUDA_SUCCESS, cuModuleLoadData(&module, text));
    DRIVE(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, module, "none"));
    DRIVE(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&none, &bytes, module, "none"));
    DRIVE(CUDA_SUCCESS, cuModuleGetFunction(&f, module, "put"));
    void *args[] = {&p, &n};
    DRIVE(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, 0, args, 0));
    DRIVE(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 4096, 1, 1, 0, 0, args, 0));
    DRIVE(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 1 << 20, 0, args, 0));
    DRIVE(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    // A block of parameters: 12 bytes they are; what a shorter one leaves out is not defined.
    struct { CUdeviceptr p; unsigned n; } packed = {p, n};
    for (size_t size : {12, 11, 8, 13, 16}) {
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
        DRIVE(size > 12 ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra));
        if (size == 12) { DRIVE(CUDA_SUCCESS, cuMemcpyDtoH(&got, p, 4)); EXPECT(got == n); }
    }
    DRIVE(CUDA_SUCCESS, cuCtxSynchronize());
    DRIVE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(args, 0x10, 8));
    DRIVE(CUDA_ERROR_INVALID_VALUE, cuMemFree(p + 4)); DRIVE(CUDA_SUCCESS, cuMemFree(p)); DRIVE(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    DRIVE(CUDA_SUCCESS, cuDevicePrimaryCtxRelease(device));
    DRIVE(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&p, 4));
}

PROGRAM
{
    for (auto part : {launches, memory, questions, streams, trapped, wild, driver}) apart(part);
}
