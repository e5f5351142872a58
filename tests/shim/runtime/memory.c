/* The runtime's kinds of memory: what each is told as, and how large boxes are laid out. */
#include "tests/shim/runtime/runtime.h"

int cudaHostAlloc(void **, size_t, unsigned);
int cudaMallocHost(void **, size_t);
int cudaFreeHost(void *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocPitch(void **, size_t *, size_t, size_t);
int cudaMalloc3D(struct abi_pitched *, struct abi_extent);
int cudaHostRegister(void *, size_t, unsigned);
int cudaHostUnregister(void *);
int cudaHostGetDevicePointer(void **, void *, unsigned);
int cudaHostGetFlags(unsigned *, void *);
int cudaMemGetInfo(size_t *, size_t *);
int cudaPointerGetAttributes(struct abi_pointer_attributes *, const void *);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, int, void *);
int cudaMemset2D(void *, size_t, int, size_t, size_t);
int cudaMemset3D(struct abi_pitched, int, struct abi_extent);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemcpyPeer(void *, int, const void *, int, size_t);
int cudaMemcpyPeerAsync(void *, int, const void *, int, size_t, void *);
int cudaMemcpy3D(const struct abi_copy3d *);
int cudaMemcpy3DPeer(const struct abi_copy3d_peer *);
int cudaMemPrefetchAsync(const void *, size_t, struct abi_location, unsigned, void *);
int cudaStreamAttachMemAsync(void *, void *, size_t, unsigned);

static int kind_of(const void *pointer)
{
    struct abi_pointer_attributes told[2]; /* later releases' structures are longer */
    memset(told, 0x5a, sizeof told);
    OK(cudaPointerGetAttributes(told, pointer));
    EXPECT(told->device == (told->type ? 0 : -2));
    EXPECT((told->host_pointer != NULL) == (told->type == 1 || told->type == 3));
    EXPECT(told->type == 0 || told->device_pointer == pointer);
    return told->type;
}

static void pinned(void)
{
    void *host, *device;
    unsigned flags = 77;
    OK(cudaHostAlloc(&host, 100, 4));
    EXPECT(kind_of(host) == 1 && kind_of((char *)host + 99) == 1);
    OK(cudaHostGetFlags(&flags, host));
    EXPECT(flags == 6); /* what was asked for, and mapped */
    OK(cudaHostGetDevicePointer(&device, host, 0));
    EXPECT(device == host);
    GIVES(1, cudaHostGetDevicePointer(&device, host, 1));
    GIVES(1, cudaHostGetDevicePointer(NULL, host, 0));
    GIVES(1, cudaHostGetFlags(NULL, host));
    GIVES(1, cudaHostGetFlags(&flags, &flags));
    OK(cudaFreeHost(host));
    GIVES(1, cudaHostAlloc(&host, 100, 8));
    GIVES(1, cudaHostAlloc(NULL, 100, 0));
    OK(cudaMallocHost(&host, 64));
    OK(cudaHostGetFlags(&flags, host));
    EXPECT(flags == 2);
    OK(cudaFreeHost(host));
    host = &flags;
    OK(cudaHostAlloc(&host, 0, 0));
    EXPECT(host == NULL);
    OK(cudaFreeHost(NULL));
}

static void registered(void)
{
    char *host = malloc(3 << 12);
    void *device = NULL;
    unsigned flags = 0;
    uint32_t value = 99;
    GIVES(713, cudaHostUnregister(host));
    OK(cudaHostRegister(host + 8, 4096, 0));
    GIVES(712, cudaHostRegister(host + 8, 4096, 0));
    OK(cudaHostGetFlags(&flags, host + 8));
    EXPECT(flags & 2);
    OK(cudaHostGetDevicePointer(&device, host + 24, 0));
    OK(cudaMemcpy(device, &value, 4, ABI_HOST_TO_DEVICE));
    EXPECT(memcmp(host + 24, &value, 4) == 0); /* one memory under two addresses */
    struct abi_pointer_attributes told[2];
    OK(cudaPointerGetAttributes(told, host + 24));
    EXPECT(told->type == 1 && told->host_pointer == host + 24 && told->device_pointer == device);
    OK(cudaPointerGetAttributes(told, device));
    EXPECT(told->type == 1 && told->host_pointer == host + 24 && told->device_pointer == device);
    OK(cudaHostUnregister(host + 8));
    OK(cudaPointerGetAttributes(told, host + 24));
    EXPECT(told->type == 0);
    free(host);
}

static void managed(void *stream)
{
    uint32_t *shared;
    struct abi_location device = {1, 0}, host = {2, 0}, none = {1, 5};
    OK(cudaMallocManaged((void **)&shared, 4096, 1));
    EXPECT(kind_of(shared) == 3);
    shared[5] = 12;
    EXPECT(word_at(shared, 5) == 12);
    OK(cudaMemPrefetchAsync(shared, 4096, device, 0, stream));
    OK(cudaMemPrefetchAsync(shared, 4096, host, 0, stream));
    GIVES(101, cudaMemPrefetchAsync(shared, 4096, none, 0, stream));
    GIVES(1, cudaMemPrefetchAsync(shared, 4096, device, 1, stream));
    OK(cudaStreamAttachMemAsync(stream, shared, 0, 1));
    OK(cudaStreamAttachMemAsync(stream, shared, 0, 4));
    GIVES(1, cudaStreamAttachMemAsync(stream, shared, 0, 0));
    GIVES(1, cudaStreamAttachMemAsync(stream, shared, 0, 5));
    void *plain = memory_of(64);
    GIVES(1, cudaStreamAttachMemAsync(stream, plain, 0, 1));
    OK(cudaFree(plain));
    OK(cudaFree(shared));
    EXPECT(kind_of(shared) == 0);
    GIVES(1, cudaMallocManaged((void **)&shared, 4096, 3));
    GIVES(1, cudaMallocManaged(NULL, 4096, 1));
}

/* Several at a time: those that are left are known after others went. */
static void many(void)
{
    void *memory[6], *empty = &memory;
    size_t before = 0, with = 0, after = 0;
    OK(cudaMemGetInfo(&before, NULL));
    for (int i = 0; i < 6; i++) {
        memory[i] = memory_of(100 + 8 * (size_t)i);
    }
    OK(cudaMemGetInfo(&with, NULL));
    EXPECT(with < before);
    OK(cudaFree(memory[1]));
    OK(cudaFree(memory[3]));
    GIVES(1, cudaFree(memory[1]));
    for (int i = 0; i < 6; i++) {
        EXPECT(kind_of(memory[i]) == (i == 1 || i == 3 ? 0 : 2));
        EXPECT(kind_of((char *)memory[i] + 99 + 8 * i) == (i == 1 || i == 3 ? 0 : 2));
    }
    for (int i = 0; i < 6; i++) {
        GIVES(i == 1 || i == 3 ? 1 : 0, cudaFree(memory[i]));
    }
    OK(cudaMemGetInfo(&after, NULL));
    EXPECT(after == before);
    OK(cudaMalloc(&empty, 0));
    EXPECT(empty == NULL);
    OK(cudaFree(NULL));
    GIVES(1, cudaMalloc(NULL, 16));
}

/* Rows begin at multiples of 512 bytes; a box that no memory can hold is refused. */
static void pitched(void)
{
    void *plane = NULL;
    size_t pitch = 0;
    char from[3 * 8], to[3 * 8] = {0};
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (char)(i + 1);
    }
    OK(cudaMallocPitch(&plane, &pitch, 513, 3));
    EXPECT(pitch == 1024);
    GIVES(1, cudaMallocPitch(NULL, &pitch, 1, 1));
    GIVES(1, cudaMallocPitch(&plane, NULL, 1, 1));
    OK(cudaMemset2D(plane, pitch, 7, 8, 3));
    OK(cudaMemcpy2D(plane, pitch, from, 8, 5, 3, ABI_HOST_TO_DEVICE));
    OK(cudaMemcpy2D(to, 8, plane, pitch, 8, 3, ABI_DEVICE_TO_HOST));
    for (size_t i = 0; i < sizeof to; i++) {
        EXPECT(to[i] == (i % 8 < 5 ? from[i] : 7));
    }
    GIVES(12, cudaMemcpy2D(plane, 4, from, 8, 5, 3, ABI_HOST_TO_DEVICE));
    GIVES(1, cudaMemcpy2D(plane, 4, from, 8, 5, 1, ABI_HOST_TO_DEVICE));
    OK(cudaMemcpy2D(plane, 0, from, 8, 5, 1, ABI_HOST_TO_DEVICE));
    OK(cudaMemcpy2D(plane, pitch, from, 8, 0, 3, ABI_HOST_TO_DEVICE));
    GIVES(21, cudaMemcpy2D(plane, pitch, from, 8, 5, 3, 5));
    OK(cudaFree(plane));
    const size_t half = (size_t)1 << 40;
    EXPECT(cudaMallocPitch(&plane, &pitch, half, half) != 0);
    EXPECT(cudaMallocPitch(&plane, &pitch, SIZE_MAX, 1) != 0);
}

static void boxes(void)
{
    struct abi_pitched box = {0};
    struct abi_extent extent = {20, 3, 2}, inner = {4, 2, 2};
    char from[20 * 3 * 2], to[20 * 3 * 2] = {0};
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (char)(i + 1);
    }
    GIVES(1, cudaMalloc3D(NULL, extent));
    OK(cudaMalloc3D(&box, extent));
    EXPECT(box.pitch == 512 && box.xsize == 20 && box.ysize == 3);
    struct abi_copy3d in = {.src = {from, 20, 20, 3}, .dst = box, .extent = extent, .kind = 1};
    struct abi_copy3d out = {.src = box, .dst = {to, 20, 20, 3}, .extent = extent, .kind = 2};
    OK(cudaMemcpy3D(&in));
    OK(cudaMemset3D(box, 9, inner));
    OK(cudaMemcpy3D(&out));
    for (size_t i = 0; i < sizeof to; i++) {
        EXPECT(to[i] == (i % 20 < 4 && i / 20 % 3 < 2 ? 9 : from[i]));
    }
    in.kind = 5;
    GIVES(21, cudaMemcpy3D(&in));
    GIVES(1, cudaMemcpy3D(NULL));
    in.src.ptr = NULL;
    GIVES(1, cudaMemcpy3D(&in));
    struct abi_copy3d_peer peer = {.src = box, .dst = box, .extent = {4, 1, 1}};
    peer.dst_pos.x = 8;
    OK(cudaMemcpy3DPeer(&peer));
    peer.src_device = 1;
    GIVES(101, cudaMemcpy3DPeer(&peer));
    GIVES(1, cudaMemcpy3DPeer(NULL));
    OK(cudaMemcpy3D(&out));
    EXPECT(to[8] == 9 && to[11] == 9 && to[12] == from[12]);
    OK(cudaFree(box.ptr));
}

static void directions(void *stream)
{
    uint32_t here[2] = {3, 4}, *a = memory_of(8), *b = memory_of(8);
    OK(cudaMemcpyAsync(a, here, 8, ABI_DEFAULT, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(word_at(a, 1) == 4);
    OK(cudaMemcpyPeer(b, 0, a, 0, 4));
    EXPECT(word_at(b, 0) == 3 && word_at(b, 1) == 0);
    OK(cudaMemcpyPeerAsync(b, 0, a, 0, 8, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(word_at(b, 1) == 4);
    GIVES(101, cudaMemcpyPeer(b, 1, a, 0, 4));
    GIVES(101, cudaMemcpyPeerAsync(b, 0, a, 1, 4, stream));
    GIVES(1, cudaMemcpyPeer(b, 0, here, 0, 4));
    GIVES(21, cudaMemcpy(a, here, 8, 5));
    GIVES(21, cudaMemcpy(a, here, 8, -1));
    GIVES(1, cudaMemcpy(here, here + 1, 4, ABI_HOST_TO_DEVICE));
    GIVES(1, cudaMemcpy(here, here + 1, 4, ABI_DEVICE_TO_HOST));
    GIVES(1, cudaMemcpy(NULL, here, 4, ABI_HOST_TO_HOST));
    OK(cudaMemcpy(NULL, here, 0, ABI_HOST_TO_HOST));
    OK(cudaMemcpy(here, here + 1, 4, ABI_HOST_TO_HOST));
    EXPECT(here[0] == 4);
    GIVES(400, cudaMemcpyAsync(a, here, 8, ABI_DEFAULT, here));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

int main(void)
{
    void *stream;
    OK(cudaStreamCreate(&stream));
    pinned();
    registered();
    managed(stream);
    many();
    pitched();
    boxes();
    directions(stream);
    OK(cudaStreamDestroy(stream));
    return 0;
}
