// malloc and free on the device, new and delete, its size.
#include "check.h"
struct node { int value; node *next; };
__device__ node *head;
__global__ void build(int n) { for (int i = 0; i < n; i++) { node *x = (node *)malloc(sizeof *x); x->value = i; x->next = head; head = x; } }
__global__ void sum(int *out) { int s = 0; for (node *x = head; x;) { node *next = x->next; s += x->value; free(x); x = next; } int *p = new int[4]; p[3] = s; *out = p[3]; delete[] p; }
PROGRAM
{
    int *d, h; size_t bytes;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    EXPECT(bytes >= 16 << 20);
    CHECK(cudaMalloc(&d, 4));
    build<<<1, 1>>>(100);
    sum<<<1, 1>>>(d);
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 4950);
}
