// A barrier of the grid with as many blocks an SM as fit, again and again.
#include <cooperative_groups.h>
#include "check.h"
namespace cg = cooperative_groups;
__global__ void __launch_bounds__(64) steps(int *a, int *b, int n)
{
    cg::grid_group grid = cg::this_grid();
    unsigned i = grid.thread_rank(), all = grid.size();
    for (int k = 0; k < n; k++) { b[i] = a[(i + 65) % all] + 1; grid.sync(); int *t = a; a = b; b = t; }
}
PROGRAM
{
    int sms, fit, rounds = 4;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0)); CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, steps, 64, 0));
    EXPECT(fit >= 2);
    int blocks = 2 * sms, n = blocks * 64, *a, *b; int *h = (int *)malloc(n * 4);
    for (int i = 0; i < n; i++) h[i] = 10 * i;
    CHECK(cudaMalloc(&a, n * 4)); CHECK(cudaMalloc(&b, n * 4)); CHECK(cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice));
    void *args[] = {&a, &b, &rounds};
    CHECK(cudaLaunchCooperativeKernel(steps, blocks, 64, args, 0, 0));
    CHECK(cudaMemcpy(h, a, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(h[i] == 10 * ((i + 65 * rounds) % n) + rounds);
    GIVES(cudaErrorCooperativeLaunchTooLarge, cudaLaunchCooperativeKernel(steps, fit * sms + 1, 64, args, 0, 0));
    free(h);
}
