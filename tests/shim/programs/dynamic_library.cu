// A shared library with kernels of its own, opened and closed three times (libraries/dynamic_library.cu).
#include <dlfcn.h>
#include <string>
#include <unistd.h>
#include "check.h"
__global__ void add(int *p) { *p += 1; }
PROGRAM
{
    char self[4096]; ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    EXPECT(n > 0);
    std::string path = std::string(self, n) + ".so";
    int *p, h = 0;
    CHECK(cudaMalloc(&p, sizeof *p)); CHECK(cudaMemset(p, 0, sizeof *p));
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(path.c_str(), RTLD_NOW);
        if (!library) printf("%s\n", dlerror());
        EXPECT(library);
        auto run = (cudaError_t (*)(int *, int))dlsym(library, "add_times");
        EXPECT(run);
        CHECK(run(p, 10 + i));
        add<<<1, 1>>>(p); CHECK(cudaGetLastError());
        EXPECT(dlclose(library) == 0);
    }
    CHECK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h == (10 + 11 + 12) * 4 + 3);
}
