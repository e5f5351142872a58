/* Memory in the order of a stream, from the default pool and from one of the program's. */
#include "host.h"

int cuDeviceGetDefaultMemPool(handle *, int);
int cuDeviceGetMemPool(handle *, int);
int cuDeviceSetMemPool(int, handle);
int cuMemPoolCreate(handle *, const struct abi_pool_props *);
int cuMemPoolDestroy(handle);
int cuMemPoolSetAttribute(handle, int, void *);
int cuMemPoolGetAttribute(handle, int, void *);
int cuMemPoolTrimTo(handle, size_t);
int cuMemPoolSetAccess(handle, const struct abi_access *, size_t);
int cuMemPoolGetAccess(int *, handle, struct abi_location *);
int cuMemAllocAsync(address *, size_t, handle);
int cuMemAllocFromPoolAsync(address *, size_t, handle, handle);
int cuMemFreeAsync(address, handle);
int cuMemsetD32Async(address, unsigned, size_t, handle);

enum { THRESHOLD = 4, RESERVED = 5, USED = 7, USED_HIGH = 8 };

static uint64_t attribute(handle pool, int what)
{
    uint64_t value = ~UINT64_C(0);
    OK(cuMemPoolGetAttribute(pool, what, &value));
    return value;
}

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL;
    handle count = function(module, "count"), stream, standard, current, pool;
    struct abi_location place = {1, 0};
    struct abi_pool_props props = {.allocation = 1, .location = place};
    struct abi_access access = {place, 3};
    address p, q;
    int flags = 0;
    uint64_t keep = UINT64_C(1) << 30, zero = 0;
    OK(cuStreamCreate(&stream, 1));
    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    OK(cuDeviceGetMemPool(&current, 0));
    EXPECT(current == standard);
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolSetAttribute(pool, THRESHOLD, &keep));
    EXPECT(attribute(pool, THRESHOLD) == keep);
    OK(cuMemPoolSetAccess(pool, &access, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &place));
    EXPECT(flags == 3);
    OK(cuMemAllocAsync(&p, 0, stream));
    OK(cuMemAllocFromPoolAsync(&p, 4096, pool, stream));
    OK(cuMemsetD32Async(p, 10, 1024, stream));
    void *args[] = {&p};
    OK(launch(count, 1, 32, stream, args));
    OK(cuStreamSynchronize(stream));
    EXPECT(word(p, 0) == 42 && attribute(pool, USED) >= 4096);
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(attribute(pool, USED) == 0 && attribute(pool, RESERVED) >= 4096);
    OK(cuMemPoolSetAttribute(pool, USED_HIGH, &zero));
    EXPECT(attribute(pool, USED_HIGH) == 0);
    OK(cuMemPoolTrimTo(pool, 0));
    EXPECT(attribute(pool, RESERVED) == 0);
    OK(cuDeviceSetMemPool(0, pool));
    OK(cuMemAllocAsync(&q, 100, stream));
    EXPECT(attribute(pool, USED) >= 100);
    OK(cuMemFreeAsync(q, stream));
    OK(cuDeviceSetMemPool(0, standard));
    OK(cuStreamSynchronize(stream));
    OK(cuMemPoolDestroy(pool));
    GIVES(1, cuMemPoolTrimTo(&pool, 0));
    OK(cuStreamDestroy_v2(stream));
    return 0;
}
