// What a host can do wrong with its device memory, one fault each, and beside it the same done right: host_faults wrong|right
// NAME. What a driver refuses goes on behind the refusal. host_faults.sh says what is to be found. No other argument: the names.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error));                      \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)
#define REFUSED(call)                                                                              \
    do {                                                                                           \
        if ((call) == cudaSuccess) {                                                               \
            printf("%d: %s was not refused\n", __LINE__, #call);                                   \
            exit(3);                                                                               \
        }                                                                                          \
        cudaGetLastError();                                                                        \
    } while (0)
#define DONE(wrong, call)                                                                          \
    do {                                                                                           \
        if (wrong)                                                                                 \
            REFUSED(call);                                                                         \
        else                                                                                       \
            OK(call);                                                                              \
    } while (0)

const int words = 64;
const size_t bytes = words * sizeof(int);
static int host[2 * words];
__device__ int symbol[words];

__global__ void twice(int *p)
{
    p[threadIdx.x] *= 2;
}
__global__ void fill(int *p)
{
    p[threadIdx.x] = threadIdx.x;
}
__global__ void fetch(int *out, cudaTextureObject_t texture)
{
    out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x);
}
__global__ void paint(cudaSurfaceObject_t surface, int more)
{
    surf2Dwrite((int)threadIdx.x, surface, (threadIdx.x + more) * sizeof(int), 0);
}

static int *take()
{
    int *p;
    OK(cudaMalloc(&p, bytes));
    OK(cudaMemset(p, 0, bytes));
    return p;
}
static cudaArray_t take_array()
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    OK(cudaMallocArray(&array, &format, words, 4, cudaArraySurfaceLoadStore));
    return array;
}

static void free_twice(bool wrong)
{
    int *p = take();
    OK(cudaFree(p));
    DONE(wrong, cudaFree(wrong ? p : NULL));
}
static void free_the_middle(bool wrong)
{
    int *p = take();
    DONE(wrong, cudaFree(p + (wrong ? 4 : 0)));
    if (wrong) OK(cudaFree(p));
}
static void free_host_memory(bool wrong)
{
    int *p = take();
    DONE(wrong, cudaFree(wrong ? host : p));
    if (wrong) OK(cudaFree(p));
}
static void free_pinned_as_device(bool wrong)
{
    int *p;
    OK(cudaMallocHost(&p, bytes));
    DONE(wrong, wrong ? cudaFree(p) : cudaFreeHost(p));
    if (wrong) OK(cudaFreeHost(p));
}
static void free_pinned_twice(bool wrong)
{
    int *p;
    OK(cudaMallocHost(&p, bytes));
    OK(cudaFreeHost(p));
    if (wrong) REFUSED(cudaFreeHost(p));
}
static void free_of_the_pool_twice(bool wrong)
{
    int *p;
    OK(cudaMallocAsync(&p, bytes, 0));
    OK(cudaFreeAsync(p, 0));
    if (wrong) REFUSED(cudaFreeAsync(p, 0));
    OK(cudaDeviceSynchronize());
}
static void copy_to_too_much(bool wrong)
{
    int *p = take();
    DONE(wrong, cudaMemcpy(p, host, wrong ? 2 * bytes : bytes, cudaMemcpyHostToDevice));
    OK(cudaFree(p));
}
static void copy_from_too_much(bool wrong)
{
    int *p = take();
    DONE(wrong, cudaMemcpy(host, p + 1, wrong ? bytes : bytes - sizeof *p, cudaMemcpyDeviceToHost));
    OK(cudaFree(p));
}
static void copy_across_too_much(bool wrong)
{
    int *p = take(), *q;
    OK(cudaMalloc(&q, 2 * bytes));
    DONE(wrong, cudaMemcpy(q, p, wrong ? 2 * bytes : bytes, cudaMemcpyDeviceToDevice));
    OK(cudaFree(p));
    OK(cudaFree(q));
}
static void copy_rows_too_much(bool wrong)
{
    int *p = take();
    DONE(wrong, cudaMemcpy2D(p, bytes / 4, host, bytes / 4, bytes / 4, wrong ? 5 : 4, cudaMemcpyHostToDevice));
    OK(cudaFree(p));
}
static void copy_later_too_much(bool wrong)
{
    cudaStream_t stream;
    int *p = take();
    OK(cudaStreamCreate(&stream));
    DONE(wrong, cudaMemcpyAsync(p + 8, host, wrong ? bytes : bytes / 2, cudaMemcpyHostToDevice, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(p));
}
static void copy_the_wrong_way(bool wrong)
{
    int *p = take();
    DONE(wrong, cudaMemcpy(p, host, bytes, wrong ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice));
    OK(cudaFree(p));
}
static void copy_of_host_as_device(bool wrong)
{
    int *p = take();
    DONE(wrong, cudaMemcpy(p, host, bytes, wrong ? cudaMemcpyDeviceToDevice : cudaMemcpyDefault));
    OK(cudaFree(p));
}
static void copy_behind_a_symbol(bool wrong)
{
    DONE(wrong, cudaMemcpyToSymbol(symbol, host, bytes, wrong ? sizeof(int) : 0));
}
static void copy_behind_an_array(bool wrong)
{
    cudaArray_t array = take_array();
    DONE(wrong, cudaMemcpy2DToArray(array, 0, 0, host, bytes / 4, bytes / 4, wrong ? 5 : 4, cudaMemcpyHostToDevice));
    OK(cudaFreeArray(array));
}
static void set_too_much(bool wrong)
{
    int *p = take();
    DONE(wrong, cudaMemset(p, 0, wrong ? bytes + 1 : bytes));
    OK(cudaFree(p));
}
static void set_rows_too_much(bool wrong)
{
    int *p;
    size_t pitch;
    OK(cudaMallocPitch(&p, &pitch, 100, 3));
    DONE(wrong, cudaMemset2D(p, pitch, 0, 100, wrong ? 30 : 3));
    OK(cudaFree(p));
}
static void copy_to_freed(bool wrong)
{
    int *p = take();
    if (wrong) OK(cudaFree(p));
    DONE(wrong, cudaMemcpy(p, host, bytes, cudaMemcpyDefault));
    if (!wrong) OK(cudaFree(p));
}
static void copy_from_freed(bool wrong)
{
    int *p = take();
    if (wrong) OK(cudaFree(p));
    DONE(wrong, cudaMemcpy(host, p, bytes, cudaMemcpyDeviceToHost));
    if (!wrong) OK(cudaFree(p));
}
static void set_freed(bool wrong)
{
    int *p = take();
    if (wrong) OK(cudaFree(p));
    DONE(wrong, cudaMemset(p, 0, bytes));
    if (!wrong) OK(cudaFree(p));
}
static void kernel_on_freed(bool wrong)
{
    int *p = take();
    if (wrong) OK(cudaFree(p));
    twice<<<1, words>>>(p);
    OK(cudaDeviceSynchronize());
    if (!wrong) OK(cudaFree(p));
}
static void kernel_after_a_free_in_its_stream(bool wrong)
{
    int *p;
    OK(cudaMallocAsync(&p, bytes, 0));
    if (wrong) OK(cudaFreeAsync(p, 0));
    fill<<<1, words>>>(p);
    if (!wrong) OK(cudaFreeAsync(p, 0));
    OK(cudaDeviceSynchronize());
}
// A free waits for what runs: nothing is wrong with that.
static void free_while_it_runs(bool wrong)
{
    int *p = take();
    twice<<<1, words>>>(p);
    OK(cudaFree(p));
    if (wrong) twice<<<1, words>>>(p);
    OK(cudaDeviceSynchronize());
}
static void kernel_on_host_memory(bool wrong)
{
    int *p = take();
    fill<<<1, words>>>(wrong ? (int *)malloc(bytes) : p);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
}
static void kernel_on_unregistered(bool wrong)
{
    void *p, *q;
    if (posix_memalign(&p, 4096, 4096)) exit(3);
    OK(cudaHostRegister(p, 4096, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&q, p, 0));
    if (wrong) OK(cudaHostUnregister(p));
    fill<<<1, words>>>((int *)q);
    OK(cudaDeviceSynchronize());
    if (!wrong) OK(cudaHostUnregister(p));
}
static void kernel_on_too_little(bool wrong)
{
    int *p;
    OK(cudaMalloc(&p, wrong ? bytes - sizeof *p : bytes));
    fill<<<1, words>>>(p);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
}
static void kernel_on_what_was_not_written(bool wrong)
{
    int *p;
    OK(cudaMalloc(&p, bytes));
    if (!wrong) OK(cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice));
    twice<<<1, words>>>(p);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
}
static void texture_of_freed(bool wrong)
{
    int *p = take(), *q = take();
    cudaTextureObject_t texture;
    cudaResourceDesc what = {};
    cudaTextureDesc how = {};
    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = p;
    what.res.linear.desc = cudaCreateChannelDesc<int>();
    what.res.linear.sizeInBytes = bytes;
    OK(cudaCreateTextureObject(&texture, &what, &how, NULL));
    if (wrong) OK(cudaFree(p));
    fetch<<<1, words>>>(q, texture);
    if (wrong) {
        REFUSED(cudaDeviceSynchronize());
        return;
    }
    OK(cudaDeviceSynchronize());
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(p));
    OK(cudaFree(q));
}
static void surface_behind_the_row(bool wrong)
{
    cudaArray_t array = take_array();
    cudaSurfaceObject_t surface;
    cudaResourceDesc what = {};
    what.resType = cudaResourceTypeArray;
    what.res.array.array = array;
    OK(cudaCreateSurfaceObject(&surface, &what));
    paint<<<1, words>>>(surface, wrong);
    OK(cudaDeviceSynchronize());
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaFreeArray(array));
}
static void leak_of_device(bool wrong)
{
    int *p = take();
    if (!wrong) OK(cudaFree(p));
}
static void leak_of_pinned(bool wrong)
{
    int *p;
    OK(cudaMallocHost(&p, bytes));
    if (!wrong) OK(cudaFreeHost(p));
}
static void leak_of_managed(bool wrong)
{
    int *p;
    OK(cudaMallocManaged(&p, bytes));
    if (!wrong) OK(cudaFree(p));
}
static void leak_of_array(bool wrong)
{
    cudaArray_t array = take_array();
    if (!wrong) OK(cudaFreeArray(array));
}

#define FAULT(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(bool wrong);
} faults[] = {
    FAULT(free_twice), FAULT(free_the_middle), FAULT(free_host_memory), FAULT(free_pinned_as_device), FAULT(free_pinned_twice),
    FAULT(free_of_the_pool_twice), FAULT(copy_to_too_much), FAULT(copy_from_too_much), FAULT(copy_across_too_much),
    FAULT(copy_rows_too_much), FAULT(copy_later_too_much), FAULT(copy_the_wrong_way), FAULT(copy_of_host_as_device),
    FAULT(copy_behind_a_symbol), FAULT(copy_behind_an_array), FAULT(set_too_much), FAULT(set_rows_too_much), FAULT(copy_to_freed),
    FAULT(copy_from_freed), FAULT(set_freed), FAULT(kernel_on_freed), FAULT(kernel_after_a_free_in_its_stream),
    FAULT(free_while_it_runs), FAULT(kernel_on_host_memory), FAULT(kernel_on_unregistered), FAULT(kernel_on_too_little),
    FAULT(kernel_on_what_was_not_written), FAULT(texture_of_freed), FAULT(surface_behind_the_row), FAULT(leak_of_device),
    FAULT(leak_of_pinned), FAULT(leak_of_managed), FAULT(leak_of_array)};

int main(int count, char **arguments)
{
    for (auto &fault : faults) {
        if (count < 3) puts(fault.name);
        else if (!strcmp(fault.name, arguments[2])) {
            fault.run(!strcmp(arguments[1], "wrong"));
            return 0;
        }
    }
    return count < 3 ? 0 : 2;
}
