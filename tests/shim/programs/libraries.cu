// cudaLibraryLoadData(): PTX that the program brings; its kernels, variables, attributes.
#include "check.h"
static const char text[] = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .global .align 4 .u32 bias = 7;\n"
    ".visible .entry add(.param .u64 p, .param .u32 n)\n{ .reg .b64 %a; .reg .b32 %v, %b; ld.param.u64 %a, [p]; ld.param.u32 %v, [n];\n"
    " ld.global.u32 %b, [bias]; add.u32 %v, %v, %b; st.global.u32 [%a], %v; ret; }\n";
PROGRAM
{
    cudaLibrary_t library, broken; cudaKernel_t kernel; void *bias; size_t bytes; int *p, h, n = 100, two = 2; cudaFuncAttributes a;
    CHECK(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cudaLibraryGetKernel(&kernel, library, "add"));
    GIVES(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "sub"));
    CHECK(cudaLibraryGetGlobal(&bias, &bytes, library, "bias")); EXPECT(bytes == 4);
    CHECK(cudaMalloc(&p, 4));
    void *args[] = {&p, &n};
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), args, 0, 0));
    CHECK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost)); EXPECT(h == 107);
    CHECK(cudaMemcpy(bias, &two, 4, cudaMemcpyHostToDevice));
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), args, 0, 0));
    CHECK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost)); EXPECT(h == 102);
    CHECK(cudaFuncGetAttributes(&a, (const void *)kernel)); EXPECT(a.maxThreadsPerBlock > 0);
    unsigned count; CHECK(cudaLibraryGetKernelCount(&count, library)); EXPECT(count == 1);
    cudaKernel_t all[1]; CHECK(cudaLibraryEnumerateKernels(all, 1, library)); EXPECT(all[0] == kernel);
    CHECK(cudaLibraryLoadData(&broken, "no code", nullptr, nullptr, 0, nullptr, nullptr, 0)); // it is read when it is needed
    EXPECT(cudaLibraryGetKernel(&kernel, broken, "add") != cudaSuccess); cudaGetLastError();
    CHECK(cudaLibraryUnload(library));
}
