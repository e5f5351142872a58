// The driver's interface beside the runtime's: one device, the same memory; PTX from a text.
#include <cstddef>
#include <cuda.h>
#include "check.h"
#define DRIVE(call) EXPECT((call) == CUDA_SUCCESS)
static const char *ptx = ".version 6.0\n.target sm_35\n.address_size 64\n.global .u32 step = 3;\n"
    ".visible .entry inc(.param .u64 p, .param .u32 n)\n{\n.reg .u64 %a, %o; .reg .u32 %t, %v, %n, %s; .reg .pred %q;\n"
    "ld.param.u64 %a, [p]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; setp.ge.u32 %q, %t, %n; @%q ret;\n"
    "mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o; ld.global.u32 %v, [%a]; ld.global.u32 %s, [step]; add.u32 %v, %v, %s; st.global.u32 [%a], %v; ret;\n}\n";
PROGRAM
{
    CUdevice dev; CUcontext ctx; CUmodule mod; CUfunction f; CUdeviceptr p, g; int count; char name[64]; size_t bytes;
    EXPECT(cuMemAlloc(&p, 4) == CUDA_ERROR_NOT_INITIALIZED);
    DRIVE(cuInit(0)); DRIVE(cuDeviceGetCount(&count)); EXPECT(count >= 1);
    DRIVE(cuDeviceGet(&dev, 0)); DRIVE(cuDeviceGetName(name, sizeof name, dev)); EXPECT(name[0]);
    DRIVE(cuDevicePrimaryCtxRetain(&ctx, dev)); DRIVE(cuCtxSetCurrent(ctx));
    DRIVE(cuModuleLoadData(&mod, ptx)); DRIVE(cuModuleGetFunction(&f, mod, "inc"));
    EXPECT(cuModuleGetFunction(&f, mod, "none") == CUDA_ERROR_NOT_FOUND);
    DRIVE(cuModuleGetFunction(&f, mod, "inc"));
    DRIVE(cuModuleGetGlobal(&g, &bytes, mod, "step")); EXPECT(bytes == 4);
    unsigned h[32], n = 20, three = 3, back;
    for (int i = 0; i < 32; i++) h[i] = i;
    DRIVE(cuMemAlloc(&p, sizeof h)); DRIVE(cuMemcpyHtoD(p, h, sizeof h));
    DRIVE(cuMemcpyDtoH(&back, g, 4)); EXPECT(back == three);
    void *args[] = {&p, &n};
    DRIVE(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
    struct { CUdeviceptr p; unsigned n; } packed = {p, n}; size_t size = offsetof(__typeof__(packed), n) + sizeof n; // not sizeof packed, which is a multiple of 8
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    DRIVE(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra));
    CHECK(cudaMemcpy(h, (void *)p, sizeof h, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 32; i++) EXPECT(h[i] == i + (i < n ? 6 : 0));
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 4096, 1, 1, 0, 0, args, 0) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuModuleLoadData(&mod, "nonsense") != CUDA_SUCCESS);
    const char *text; DRIVE(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &text)); EXPECT(!strcmp(text, "CUDA_ERROR_INVALID_PTX"));
    DRIVE(cuMemsetD32(p, 0xabcd, 32)); DRIVE(cuMemcpyDtoH(h, p, sizeof h)); EXPECT(h[31] == 0xabcd);
    CUlinkState link; void *image;
    DRIVE(cuLinkCreate(0, 0, 0, &link)); DRIVE(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, strlen(ptx) + 1, "a", 0, 0, 0));
    DRIVE(cuLinkComplete(link, &image, &bytes)); DRIVE(cuModuleLoadData(&mod, image)); DRIVE(cuLinkDestroy(link));
    DRIVE(cuModuleGetFunction(&f, mod, "inc")); DRIVE(cuModuleUnload(mod)); DRIVE(cuMemFree(p));
}
