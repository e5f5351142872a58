// Much of everything: 64 host threads that launch and wait, 3000 streams, 300 modules.
#include <cuda.h>
#include <thread>
#include <vector>
#include "check.h"
__global__ void add(int *p, int v) { atomicAdd(p, v); }
static const char *const ptx =
    ".version 6.0\n.target sm_30\n.address_size 64\n.global .u32 g[1000];\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %r<2>; .reg .b32 %q<2>;\n"
    "ld.param.u64 %r1, [p]; mov.u32 %q1, 1; red.global.add.u32 [%r1], %q1; ret;\n}\n";
PROGRAM
{
    int *d, h;
    CHECK(cudaMalloc(&d, 4));
    CHECK(cudaMemset(d, 0, 4));
    std::vector<std::thread> threads;
    for (int i = 0; i < 64; i++)
        threads.emplace_back([=] {
            cudaStream_t s;
            CHECK(cudaStreamCreate(&s));
            for (int k = 0; k < 20; k++) {
                add<<<1, 32, 0, s>>>(d, 1);
                if (k % 5 == 4) CHECK(cudaStreamSynchronize(s));
            }
            CHECK(cudaStreamDestroy(s));
        });
    for (auto &t : threads) t.join();
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 64 * 20 * 32);
    std::vector<cudaStream_t> streams(3000);
    for (auto &s : streams) CHECK(cudaStreamCreate(&s));
    for (auto &s : streams) add<<<1, 1, 0, s>>>(d, 1);
    CHECK(cudaDeviceSynchronize());
    for (auto &s : streams) CHECK(cudaStreamDestroy(s));
    std::vector<CUmodule> modules(300);
    for (auto &m : modules) {
        CUfunction k;
        void *args[] = {&d};
        EXPECT(cuModuleLoadData(&m, ptx) == CUDA_SUCCESS);
        EXPECT(cuModuleGetFunction(&k, m, "k") == CUDA_SUCCESS);
        EXPECT(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, args, 0) == CUDA_SUCCESS);
    }
    CHECK(cudaDeviceSynchronize());
    for (auto &m : modules) EXPECT(cuModuleUnload(m) == CUDA_SUCCESS);
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 64 * 20 * 32 + 3000 + 300);
}
