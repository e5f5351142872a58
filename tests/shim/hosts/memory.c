/* Kinds of memory: of the device, pinned, mapped, registered, managed, pitched; what a pointer is.
 */
#include "host.h"

int cuMemAllocHost_v2(void **, size_t);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemHostGetDevicePointer_v2(address *, void *, unsigned);
int cuMemHostRegister_v2(void *, size_t, unsigned);
int cuMemHostUnregister(void *);
int cuMemFreeHost(void *);
int cuMemAllocManaged(address *, size_t, unsigned);
int cuMemAllocPitch_v2(address *, size_t *, size_t, size_t, unsigned);
int cuMemGetAddressRange_v2(address *, size_t *, address);
int cuMemGetInfo_v2(size_t *, size_t *);
int cuMemsetD2D8_v2(address, size_t, unsigned char, size_t, size_t);
int cuMemsetD16_v2(address, unsigned short, size_t);
int cuMemcpy2D_v2(const struct abi_copy2d_driver *);
int cuMemcpy(address, address, size_t);
int cuPointerGetAttribute(void *, int, address);

enum { HOST = 1, DEVICE = 2, ATTRIBUTE_TYPE = 2, ATTRIBUTE_MANAGED = 8 };

static handle count;

static void add_one(address p)
{
    void *args[] = {&p};
    OK(launch(count, 1, 32, NULL, args));
    OK(cuCtxSynchronize());
}

static void pitched(void)
{
    address plane;
    size_t pitch;
    char host[5][20] = {{0}};
    OK(cuMemAllocPitch_v2(&plane, &pitch, 20, 5, 4));
    EXPECT(pitch >= 20 && pitch % 32 == 0);
    OK(cuMemsetD2D8_v2(plane, pitch, 9, 20, 5));
    struct abi_copy2d_driver copy = {.src_type = DEVICE,
                                     .src_device = plane,
                                     .src_pitch = pitch,
                                     .dst_type = HOST,
                                     .dst_host = host,
                                     .dst_pitch = 20,
                                     .width = 18,
                                     .height = 5};
    OK(cuMemcpy2D_v2(&copy));
    EXPECT(host[4][17] == 9 && host[4][18] == 0);
    OK(cuMemFree_v2(plane));
}

int main(int argc, char **argv)
{
    _Alignas(4096) static int own[1024]; /* pages of its own */
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL;
    count = function(module, "count");
    int *pinned, *mapped;
    unsigned type = 0, managed = 0;
    address device = take(16), of_mapped, of_own, shared, base;
    size_t bytes, left, total;
    OK(cuMemAllocHost_v2((void **)&pinned, 64));
    OK(cuMemHostAlloc((void **)&mapped, 64, 2));
    pinned[0] = 40;
    OK(cuMemcpyHtoD_v2(device, pinned, 4));
    add_one(device);
    EXPECT(word(device, 0) == 72);
    mapped[1] = 1;
    OK(cuMemHostGetDevicePointer_v2(&of_mapped, mapped, 0));
    add_one(of_mapped + 4);
    EXPECT(mapped[1] == 33);
    own[100] = 5;
    OK(cuMemHostRegister_v2(own, sizeof own, 2));
    GIVES(712, cuMemHostRegister_v2(own, sizeof own, 2));
    OK(cuMemHostGetDevicePointer_v2(&of_own, own, 0));
    add_one(of_own + 400);
    EXPECT(own[100] == 37);
    OK(cuMemHostUnregister(own));
    GIVES(713, cuMemHostUnregister(own));
    OK(cuMemAllocManaged(&shared, 4, 1));
    *(int *)(uintptr_t)shared = 8;
    add_one(shared);
    EXPECT(*(int *)(uintptr_t)shared == 40);
    OK(cuPointerGetAttribute(&type, ATTRIBUTE_TYPE, device));
    OK(cuPointerGetAttribute(&managed, ATTRIBUTE_MANAGED, shared));
    EXPECT(type == 2 && managed == 1);
    GIVES(1, cuPointerGetAttribute(&type, ATTRIBUTE_TYPE, (uintptr_t)&type));
    OK(cuMemGetAddressRange_v2(&base, &bytes, device + 20));
    EXPECT(base == device && bytes == 64);
    OK(cuMemGetInfo_v2(&left, &total));
    EXPECT(left > 0 && left < total);
    OK(cuMemsetD16_v2(device, 0x1234, 2));
    EXPECT(word(device, 0) == 0x12341234);
    GIVES(1, cuMemsetD16_v2(device + 1, 0, 2));
    OK(cuMemcpy(shared, device, 4));
    EXPECT(*(int *)(uintptr_t)shared == 0x12341234);
    pitched();
    OK(cuMemFreeHost(pinned));
    OK(cuMemFreeHost(mapped));
    OK(cuMemFree_v2(shared));
    OK(cuMemFree_v2(device));
    GIVES(1, cuMemFree_v2(device));
    return 0;
}
