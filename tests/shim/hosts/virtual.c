/* Reserved addresses and memory that is mapped there; what is told of pointers of each kind. */
#include "host.h"

int cuMemGetAllocationGranularity(size_t *, const void *, int);
int cuMemAddressReserve(address *, size_t, size_t, address, unsigned long long);
int cuMemAddressFree(address, size_t);
int cuMemCreate(uint64_t *, size_t, const struct abi_pool_props *, unsigned long long);
int cuMemRelease(uint64_t);
int cuMemMap(address, size_t, size_t, uint64_t, unsigned long long);
int cuMemUnmap(address, size_t);
int cuMemSetAccess(address, size_t, const struct abi_access *, size_t);
int cuMemGetAccess(unsigned long long *, const struct abi_location *, address);
int cuMemGetAllocationPropertiesFromHandle(void *, uint64_t);
int cuMemRetainAllocationHandle(uint64_t *, void *);
int cuMemExportToShareableHandle(void *, uint64_t, int, unsigned long long);
int cuIpcGetMemHandle(void *, address);
int cuMemAllocHost_v2(void **, size_t);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemHostRegister_v2(void *, size_t, unsigned);
int cuMemHostUnregister(void *);
int cuMemHostGetFlags(unsigned *, void *);
int cuMemFreeHost(void *);
int cuMemAllocManaged(address *, size_t, unsigned);
int cuMemGetAddressRange_v2(address *, size_t *, address);
int cuMemAdvise(address, size_t, int, int);
int cuPointerGetAttribute(void *, int, address);
int cuPointerGetAttributes(unsigned, const int *, void **, address);

enum {
    INVALID = 1,
    NO_MEMORY = 2,
    BAD_DEVICE = 101,
    NOT_FOUND = 500,
    NOT_SUPPORTED = 801,
    GRANULE = 2 << 20
};
enum {
    CONTEXT = 1,
    TYPE,
    DEVICE_POINTER,
    HOST_POINTER,
    BUFFER = 7,
    MANAGED,
    ORDINAL,
    START = 11,
    SIZE,
    MAPPED
};

/* Three granules of addresses: memory is mapped at the second, other at the third. */
struct place {
    address base, inside;
    uint64_t memory, other;
};

static void reserving(struct place *place)
{
    struct abi_pool_props props = {.allocation = 1, .location = {1, 0}}, got;
    address base;
    size_t granule;
    OK(cuMemGetAllocationGranularity(&granule, &props, 0));
    EXPECT(granule == GRANULE);
    GIVES(INVALID, cuMemGetAllocationGranularity(&granule, NULL, 0));
    GIVES(INVALID, cuMemAddressReserve(&base, GRANULE + 4096, 0, 0, 0));
    GIVES(INVALID, cuMemAddressReserve(&base, 0, 0, 0, 0));
    GIVES(INVALID, cuMemAddressReserve(&base, GRANULE, 3 * GRANULE, 0, 0));
    GIVES(INVALID, cuMemAddressReserve(&base, GRANULE, 3, 0, 0));
    OK(cuMemAddressReserve(&base, GRANULE, 16 * GRANULE, 0, 0));
    EXPECT(base % (16 * GRANULE) == 0);
    GIVES(INVALID, cuMemAddressFree(base, 2 * GRANULE));
    OK(cuMemAddressFree(base, GRANULE));
    GIVES(INVALID, cuMemAddressFree(base, GRANULE));
    GIVES(INVALID, cuMemAddressReserve(&base, GRANULE, 0, 0, 1));
    OK(cuMemAddressReserve(&base, 3 * GRANULE, 0, 0, 0));
    GIVES(INVALID, cuMemCreate(&place->memory, GRANULE - 1, &props, 0));
    GIVES(NO_MEMORY, cuMemCreate(&place->memory, (size_t)1 << 40, &props, 0));
    OK(cuMemCreate(&place->memory, GRANULE, &props, 0));
    OK(cuMemCreate(&place->other, GRANULE, &props, 0));
    OK(cuMemGetAllocationPropertiesFromHandle(&got, place->memory));
    EXPECT(got.allocation == 1 && got.location.type == 1);
    GIVES(INVALID, cuMemGetAllocationPropertiesFromHandle(&got, base));
    place->base = base;
    place->inside = base + GRANULE;
}

static void mapping(const struct place *place)
{
    struct abi_access access = {{1, 0}, 3}, elsewhere = {{1, 1}, 3};
    address base = place->base, inside = place->inside;
    unsigned long long flags;
    GIVES(INVALID, cuMemMap(inside, GRANULE, 4096, place->memory, 0));
    GIVES(INVALID, cuMemMap(inside, GRANULE / 2, 0, place->memory, 0));
    GIVES(INVALID, cuMemMap(base + 3 * GRANULE - 4096, GRANULE, 0, place->memory, 0));
    GIVES(INVALID, cuMemMap(base - GRANULE, GRANULE, 0, place->memory, 0));
    GIVES(INVALID, cuMemMap(inside, GRANULE, 0, base, 0));
    OK(cuMemMap(inside, GRANULE, 0, place->memory, 0));
    OK(cuMemMap(base, GRANULE, 0, place->memory, 0)); /* a second place */
    GIVES(INVALID, cuMemMap(base, GRANULE, 0, place->other, 0));
    GIVES(INVALID, cuMemUnmap(base, GRANULE / 2));
    OK(cuMemUnmap(base, GRANULE));
    GIVES(INVALID, cuMemSetAccess(base, GRANULE, &access, 1));
    OK(cuMemMap(base + 2 * GRANULE, GRANULE, 0, place->other, 0));
    GIVES(INVALID, cuMemSetAccess(base + 4 * GRANULE, GRANULE, &access, 1));
    GIVES(INVALID, cuMemSetAccess(inside, GRANULE, &access, 0));
    GIVES(BAD_DEVICE, cuMemSetAccess(inside, GRANULE, &elsewhere, 1));
    OK(cuMemSetAccess(inside, 2 * GRANULE, &access, 1));
    OK(cuMemGetAccess(&flags, &access.location, inside));
    EXPECT(flags == 3);
    GIVES(INVALID, cuMemGetAccess(&flags, &access.location, base + 3 * GRANULE));
}

/* A kernel counts over the border between the two. */
static void using(const struct place *place, handle count)
{
    address p = place->inside + GRANULE - 4;
    void *args[] = {&p};
    OK(cuMemsetD32_v2(p, 7, 2));
    OK(launch(count, 1, 32, NULL, args));
    OK(cuCtxSynchronize());
    EXPECT(word(p, 0) == 39 && word(p, 1) == 7);
}

static void releasing(const struct place *place)
{
    struct abi_pool_props got;
    address base = place->base, inside = place->inside;
    uint64_t again;
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(inside + 100)));
    EXPECT(again == place->memory);
    GIVES(INVALID, cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)base));
    GIVES(NOT_SUPPORTED, cuMemExportToShareableHandle(&again, place->memory, 1, 0));
    GIVES(NOT_SUPPORTED, cuIpcGetMemHandle(&got, base));
    OK(cuMemRelease(again));
    OK(cuMemRelease(place->memory)); /* kept until it is unmapped */
    GIVES(INVALID, cuMemRelease(place->memory));
    OK(cuMemGetAllocationPropertiesFromHandle(&got, place->memory));
    OK(cuMemUnmap(inside, GRANULE));
    OK(cuMemUnmap(inside, GRANULE)); /* nothing is there: no mistake, says an H200 */
    GIVES(INVALID, cuMemGetAllocationPropertiesFromHandle(&got, place->memory));
    OK(cuMemMap(base, GRANULE, 0, place->other, 0));
    EXPECT(word(base, 0) == 7); /* what the other place was given */
    OK(cuMemUnmap(base, 3 * GRANULE));
    OK(cuMemRelease(place->other));
    GIVES(INVALID, cuMemGetAllocationPropertiesFromHandle(&got, place->other));
    GIVES(INVALID, cuMemAddressFree(base, GRANULE));
    GIVES(INVALID, cuMemAddressFree(inside, 3 * GRANULE));
    OK(cuMemAddressFree(base, 3 * GRANULE));
    GIVES(INVALID, cuMemAddressFree(base, 3 * GRANULE));
}

/* What is asked of a pointer: its type, whether it is managed, and where its allocation begins and
 * ends. */
static void expect_pointer(address p, unsigned type, int managed, address start, size_t bytes)
{
    static const int asked[] = {TYPE,   MANAGED,        START,   SIZE,
                                BUFFER, DEVICE_POINTER, ORDINAL, MAPPED};
    unsigned got_type = 9;
    int is_managed = 9, ordinal = 9, is_mapped = 9;
    address got_start = 0, buffer = 0, on_device = 0;
    size_t size = 0;
    void *out[] = {&got_type, &is_managed, &got_start, &size,
                   &buffer,   &on_device,  &ordinal,   &is_mapped};
    OK(cuPointerGetAttributes(8, asked, out, p));
    EXPECT(got_type == type && is_managed == managed && got_start == start && size == bytes);
    EXPECT(buffer == start && on_device - start < bytes && ordinal == 0 && is_mapped == 1);
    for (int i = 0; i < 8; i++) {
        uint64_t one = 0, whole = i == 1 || i == 6 || i == 7 || i == 0 ? 4 : 8;
        OK(cuPointerGetAttribute(&one, asked[i], p));
        EXPECT(memcmp(&one, out[i], whole) == 0);
    }
}

static void pointers(void)
{
    static _Alignas(4096) int own[1024];
    address device, shared, host, start;
    void *pinned, *flagged, *context = &device;
    unsigned flags;
    size_t bytes;
    int asked = 99, none = 5, *out = &none;
    OK(cuMemAlloc_v2(&device, 100));
    OK(cuMemAllocManaged(&shared, 200, 1));
    GIVES(INVALID, cuMemAllocManaged(&host, 200, 0));
    OK(cuMemAllocHost_v2(&pinned, 300));
    OK(cuMemHostAlloc(&flagged, 400, 4));
    GIVES(INVALID, cuMemHostAlloc(&flagged, 400, 8));
    expect_pointer(device + 50, 2, 0, device, 100);
    expect_pointer(shared + 199, 2, 1, shared, 200);
    expect_pointer((address)(uintptr_t)pinned, 1, 0, (address)(uintptr_t)pinned, 300);
    GIVES(INVALID, cuPointerGetAttribute(&host, HOST_POINTER, device));
    OK(cuPointerGetAttribute(&host, HOST_POINTER, shared + 8));
    EXPECT(host == shared + 8);
    OK(cuPointerGetAttribute(&context, CONTEXT, device));
    EXPECT(context == NULL);
    GIVES(NOT_SUPPORTED, cuPointerGetAttribute(&host, 99, device));
    GIVES(INVALID, cuPointerGetAttribute(NULL, TYPE, device));
    GIVES(INVALID, cuPointerGetAttribute(&host, TYPE, (address)(uintptr_t)&host));
    OK(cuPointerGetAttributes(1, &asked, (void **)&out, device));
    EXPECT(none == 0);
    OK(cuMemHostRegister_v2(own, sizeof own, 2));
    OK(cuPointerGetAttribute(&host, DEVICE_POINTER, (address)(uintptr_t)&own[10]));
    EXPECT(host != (address)(uintptr_t)&own[10]);
    OK(cuPointerGetAttribute(&start, START, (address)(uintptr_t)own));
    EXPECT(host == start + 40);
    OK(cuPointerGetAttribute(&host, HOST_POINTER, start + 40));
    EXPECT(host == (address)(uintptr_t)&own[10]);
    OK(cuMemHostUnregister(own));
    OK(cuMemHostGetFlags(&flags, flagged));
    EXPECT(flags == 6);
    OK(cuMemHostGetFlags(&flags, pinned));
    EXPECT(flags == 2);
    GIVES(INVALID, cuMemHostGetFlags(&flags, own));
    OK(cuMemGetAddressRange_v2(&start, &bytes, device + 99));
    EXPECT(start == device && bytes == 100);
    GIVES(NOT_FOUND, cuMemGetAddressRange_v2(&start, &bytes, (address)(uintptr_t)own));
    OK(cuMemAdvise(shared, 200, 1, 0));
    OK(cuMemAdvise(shared, 200, 6, 0));
    GIVES(INVALID, cuMemAdvise(shared, 200, 0, 0));
    GIVES(INVALID, cuMemAdvise(shared, 200, 7, 0));
    GIVES(INVALID, cuMemAdvise(device, 100, 1, 0));
    GIVES(INVALID, cuMemFreeHost((void *)(uintptr_t)device));
    GIVES(INVALID, cuMemFree_v2((address)(uintptr_t)pinned));
    GIVES(INVALID, cuMemFree_v2(device + 4));
    OK(cuMemFreeHost(pinned));
    OK(cuMemFreeHost(flagged));
    OK(cuMemFree_v2(shared));
    OK(cuMemFree_v2(device));
    OK(cuMemFree_v2(0));
    GIVES(INVALID, cuMemFree_v2(device));
}

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL;
    struct place place;
    reserving(&place);
    mapping(&place);
    using(&place, function(module, "count"));
    releasing(&place);
    pointers();
    printf("virtual: all right\n");
}
