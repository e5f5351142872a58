/* Arrays, textures and surfaces of the runtime: what they are told as, what is read through them,
 * and copies in rows. The argument is the folder of the PTX. */
#include "tests/shim/runtime/program.h"

struct abi_channel_desc cudaCreateChannelDesc(int, int, int, int, int);
int cudaMallocArray(void **, const struct abi_channel_desc *, size_t, size_t, unsigned);
int cudaMalloc3DArray(void **, const struct abi_channel_desc *, struct abi_extent, unsigned);
int cudaFreeArray(void *);
int cudaMallocMipmappedArray(void **, const struct abi_channel_desc *, struct abi_extent, unsigned,
                             unsigned);
int cudaFreeMipmappedArray(void *);
int cudaGetMipmappedArrayLevel(void **, void *, unsigned);
int cudaArrayGetInfo(struct abi_channel_desc *, struct abi_extent *, unsigned *, void *);
int cudaGetChannelDesc(struct abi_channel_desc *, const void *);
int cudaCreateTextureObject(uint64_t *, const struct abi_resource_desc *,
                            const struct abi_texture_desc *, const struct abi_view_desc *);
int cudaDestroyTextureObject(uint64_t);
int cudaCreateSurfaceObject(uint64_t *, const struct abi_resource_desc *);
int cudaDestroySurfaceObject(uint64_t);
int cudaGetTextureObjectResourceDesc(struct abi_resource_desc *, uint64_t);
int cudaGetSurfaceObjectResourceDesc(struct abi_resource_desc *, uint64_t);
int cudaGetTextureObjectTextureDesc(struct abi_texture_desc *, uint64_t);
int cudaMemcpy2DToArray(void *, size_t, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemcpy2DFromArray(void *, size_t, const void *, size_t, size_t, size_t, size_t, int);
int cudaMemcpyToArray(void *, size_t, size_t, const void *, size_t, int);
int cudaMemcpyFromArray(void *, void *, size_t, size_t, size_t, int);
int cudaMemcpy2DArrayToArray(void *, size_t, size_t, void *, size_t, size_t, size_t, size_t, int);
int cudaMemcpy3D(const struct abi_copy3d *);
int cudaLaunchKernel(const void *, struct abi_dim3, struct abi_dim3, void **, size_t, void *);

enum { WRAP, CLAMP, MIRROR, BORDER };

static char fetch_here, sample_here, paint_here;
static const struct abi_channel_desc words = {32, 0, 0, 0, ABI_UNSIGNED};
static const struct abi_channel_desc floats = {32, 0, 0, 0, ABI_FLOAT};

static float sampled(uint64_t texture, float x, float y)
{
    struct abi_dim3 one = {1, 1, 1};
    float value, *out = memory_of(4);
    void *args[] = {&texture, &out, &x, &y};
    OK(cudaLaunchKernel(&sample_here, one, one, args, 0, NULL));
    OK(cudaMemcpy(&value, out, 4, ABI_DEVICE_TO_HOST));
    OK(cudaFree(out));
    return value;
}

/* What an array was made as is what it is told as. */
static void told(void)
{
    struct abi_channel_desc pair = cudaCreateChannelDesc(16, 16, 0, 0, ABI_SIGNED), is;
    struct abi_extent box = {6, 5, 4}, size;
    unsigned flags = 9;
    void *array, *mipmap, *level;
    EXPECT(pair.x == 16 && pair.y == 16 && pair.z == 0 && pair.w == 0 && pair.f == ABI_SIGNED);
    OK(cudaMalloc3DArray(&array, &pair, box, ABI_ARRAY_SURFACE));
    OK(cudaArrayGetInfo(&is, &size, &flags, array));
    EXPECT(memcmp(&is, &pair, sizeof is) == 0 && flags == ABI_ARRAY_SURFACE);
    EXPECT(size.width == 6 && size.height == 5 && size.depth == 4);
    memset(&is, 0, sizeof is);
    OK(cudaGetChannelDesc(&is, array));
    EXPECT(memcmp(&is, &pair, sizeof is) == 0);
    GIVES(1, cudaGetChannelDesc(NULL, array));
    OK(cudaArrayGetInfo(NULL, NULL, NULL, array));
    OK(cudaFreeArray(array));
    EXPECT(cudaArrayGetInfo(&is, &size, &flags, array) != 0);
    OK(cudaMallocArray(&array, &words, 7, 0, 0)); /* a line */
    OK(cudaArrayGetInfo(NULL, &size, &flags, array));
    EXPECT(size.width == 7 && size.height == 0 && size.depth == 0 && flags == 0);
    OK(cudaFreeArray(array));
    box.depth = 3;
    OK(cudaMalloc3DArray(&array, &words, box, ABI_ARRAY_LAYERED));
    OK(cudaArrayGetInfo(NULL, &size, &flags, array));
    EXPECT(size.height == 5 && size.depth == 3 && flags == ABI_ARRAY_LAYERED);
    OK(cudaFreeArray(array));
    struct abi_extent square = {8, 8, 6};
    OK(cudaMalloc3DArray(&array, &words, square, ABI_ARRAY_CUBE));
    OK(cudaArrayGetInfo(NULL, &size, NULL, array));
    EXPECT(size.width == 8 && size.height == 8 && size.depth == 6);
    OK(cudaFreeArray(array));
    struct abi_extent plane = {8, 2, 0};
    OK(cudaMallocMipmappedArray(&mipmap, &words, plane, 3, 0));
    OK(cudaGetMipmappedArrayLevel(&level, mipmap, 2));
    OK(cudaArrayGetInfo(NULL, &size, NULL, level));
    EXPECT(size.width == 2 && size.height == 1 && size.depth == 0);
    GIVES(1, cudaGetMipmappedArrayLevel(&level, mipmap, 3));
    GIVES(1, cudaGetMipmappedArrayLevel(NULL, mipmap, 0));
    OK(cudaFreeMipmappedArray(mipmap));
    OK(cudaFreeMipmappedArray(NULL));
    OK(cudaFreeArray(NULL));
}

/* Channels are as wide as each other, in order, of 8, 16 or 32 bits. */
static void channels(void)
{
    static const struct abi_channel_desc bad[] = {{32, 16, 0, 0, ABI_UNSIGNED},
                                                  {24, 0, 0, 0, ABI_UNSIGNED},
                                                  {32, 0, 32, 0, ABI_UNSIGNED},
                                                  {32, 0, 0, 0, 3},
                                                  {32, 0, 0, 0, -1},
                                                  {8, 8, 8, 16, ABI_SIGNED},
                                                  {8, 8, 0, 8, ABI_SIGNED},
                                                  {0, 0, 0, 0, ABI_UNSIGNED}};
    static const struct abi_channel_desc good[] = {
        {8, 8, 8, 8, ABI_UNSIGNED}, {16, 16, 0, 0, ABI_FLOAT}, {8, 0, 0, 0, ABI_SIGNED}};
    void *array;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        GIVES(20, cudaMallocArray(&array, &bad[i], 4, 4, 0));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct abi_channel_desc is;
        OK(cudaMallocArray(&array, &good[i], 4, 4, 0));
        OK(cudaGetChannelDesc(&is, array));
        EXPECT(memcmp(&is, &good[i], sizeof is) == 0);
        OK(cudaFreeArray(array));
    }
    GIVES(1, cudaMallocArray(&array, &words, 0, 4, 0));
    GIVES(1, cudaMallocArray(NULL, &words, 4, 4, 0));
    GIVES(1, cudaMallocArray(&array, NULL, 4, 4, 0));
}

static void linear(void)
{
    struct abi_dim3 one = {1, 1, 1}, four = {4, 1, 1};
    uint32_t from[8] = {11, 12, 13, 14, 15, 16, 17, 18}, *memory = memory_of(1024);
    void *out = memory_of(16);
    uint64_t texture = 0;
    struct abi_resource_desc resource = {.type = 2, .linear = {memory, words, sizeof from}}, got;
    struct abi_texture_desc texture_desc = {.read = 0}, got_texture;
    OK(cudaMemcpy(memory, from, sizeof from, ABI_HOST_TO_DEVICE));
    OK(cudaCreateTextureObject(&texture, &resource, &texture_desc, NULL));
    void *args[] = {&texture, &out};
    OK(cudaLaunchKernel(&fetch_here, one, four, args, 0, NULL));
    EXPECT(word_at(out, 0) == 11 && word_at(out, 3) == 14);
    OK(cudaGetTextureObjectResourceDesc(&got, texture));
    EXPECT(got.type == 2 && got.linear.ptr == memory && got.linear.bytes == sizeof from);
    EXPECT(got.linear.desc.x == 32 && got.linear.desc.f == ABI_UNSIGNED);
    OK(cudaGetTextureObjectTextureDesc(&got_texture, texture));
    EXPECT(memcmp(&got_texture, &texture_desc, sizeof got_texture) == 0);
    GIVES(1, cudaGetSurfaceObjectResourceDesc(&got, texture));
    GIVES(1, cudaGetTextureObjectResourceDesc(NULL, texture));
    GIVES(1, cudaGetTextureObjectTextureDesc(NULL, texture));
    OK(cudaDestroyTextureObject(texture));
    GIVES(1, cudaGetTextureObjectResourceDesc(&got, texture));
    OK(cudaDestroyTextureObject(0));
    resource.linear.ptr = memory + 1; /* textures begin at multiples of 512 bytes */
    GIVES(1, cudaCreateTextureObject(&texture, &resource, &texture_desc, NULL));
    resource.linear.ptr = memory;
    resource.linear.desc.x = 24;
    GIVES(20, cudaCreateTextureObject(&texture, &resource, &texture_desc, NULL));
    resource.type = 4;
    GIVES(1, cudaCreateTextureObject(&texture, &resource, &texture_desc, NULL));
    GIVES(1, cudaCreateTextureObject(&texture, NULL, &texture_desc, NULL));
    GIVES(1, cudaCreateTextureObject(&texture, &resource, NULL, NULL));
    OK(cudaFree(memory));
    OK(cudaFree(out));
}

/* Each way of reading outside, in each direction by itself, and between texels. */
static void planes(void)
{
    float from[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    void *array;
    uint64_t texture;
    OK(cudaMallocArray(&array, &floats, 4, 2, 0));
    OK(cudaMemcpy2DToArray(array, 0, 0, from, 16, 16, 2, ABI_HOST_TO_DEVICE));
    struct abi_resource_desc resource = {.type = 0, .handle = array};
    struct abi_texture_desc clamped = {.address = {CLAMP, CLAMP, CLAMP}}, desc = clamped;
    OK(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    EXPECT(sampled(texture, 1.5f, 0.5f) == 2 && sampled(texture, 9.5f, 1.5f) == 8);
    EXPECT(sampled(texture, 0.5f, -3.0f) == 1);
    OK(cudaDestroyTextureObject(texture));
    desc.address[0] = BORDER;
    desc.border[0] = 33;
    OK(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    EXPECT(sampled(texture, 4.5f, 0.5f) == 33 && sampled(texture, 0.5f, 2.5f) == 5);
    OK(cudaDestroyTextureObject(texture));
    desc = clamped;
    desc.normalized = 1;
    desc.address[1] = MIRROR;
    desc.address[0] = WRAP;
    OK(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    EXPECT(sampled(texture, 1.125f, 0.25f) == 1 && sampled(texture, 0.125f, 1.25f) == 5);
    OK(cudaDestroyTextureObject(texture));
    desc = clamped;
    desc.filter = 1;
    OK(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    EXPECT(sampled(texture, 1.0f, 0.5f) == 1.5f && sampled(texture, 0.5f, 1.0f) == 3);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
}

static void pitched(void)
{
    float from[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    char *memory = memory_of(1024);
    uint64_t texture;
    OK(cudaMemcpy(memory, from[0], 16, ABI_HOST_TO_DEVICE));
    OK(cudaMemcpy(memory + 512, from[1], 16, ABI_HOST_TO_DEVICE));
    struct abi_resource_desc resource = {.type = 3, .pitched = {memory, floats, 4, 2, 512}}, got;
    struct abi_texture_desc desc = {.address = {CLAMP, CLAMP, CLAMP}};
    OK(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    EXPECT(sampled(texture, 2.5f, 1.5f) == 7 && sampled(texture, 7.5f, 0.5f) == 4);
    OK(cudaGetTextureObjectResourceDesc(&got, texture));
    EXPECT(got.type == 3 && got.pitched.width == 4 && got.pitched.height == 2);
    EXPECT(got.pitched.pitch == 512 && got.pitched.ptr == memory);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(memory));
}

static void surfaces(void)
{
    struct abi_dim3 one = {1, 1, 1}, four = {4, 1, 1};
    uint32_t to[2][4] = {{0}};
    void *array;
    uint64_t surface = 0;
    struct abi_resource_desc resource = {.type = 0}, got;
    OK(cudaMallocArray(&array, &words, 4, 2, ABI_ARRAY_SURFACE));
    OK(cudaMemcpy2DToArray(array, 0, 0, to, 16, 16, 2, ABI_HOST_TO_DEVICE));
    resource.handle = array;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    void *args[] = {&surface};
    OK(cudaLaunchKernel(&paint_here, one, four, args, 0, NULL));
    OK(cudaMemcpy2DFromArray(to, 16, array, 0, 0, 16, 2, ABI_DEVICE_TO_HOST));
    EXPECT(to[0][3] == 0 && to[1][0] == 100 && to[1][3] == 103);
    OK(cudaGetSurfaceObjectResourceDesc(&got, surface));
    EXPECT(got.type == 0 && got.handle == array);
    GIVES(1, cudaGetTextureObjectResourceDesc(&got, surface));
    OK(cudaDestroySurfaceObject(surface));
    GIVES(1, cudaGetSurfaceObjectResourceDesc(&got, surface));
    GIVES(1, cudaCreateSurfaceObject(&surface, NULL));
    GIVES(1, cudaCreateSurfaceObject(NULL, &resource));
    OK(cudaFreeArray(array));
}

/* Positions and widths are in bytes of whole texels; the old calls go on in the next row. */
static void copies(void)
{
    uint32_t from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[12] = {0};
    void *a, *b;
    OK(cudaMallocArray(&a, &words, 4, 3, 0));
    OK(cudaMallocArray(&b, &words, 4, 3, 0));
    OK(cudaMemcpyToArray(a, 0, 0, to, 48, ABI_HOST_TO_DEVICE));
    OK(cudaMemcpyToArray(b, 0, 0, to, 48, ABI_HOST_TO_DEVICE));
    OK(cudaMemcpyToArray(a, 8, 0, from, 32, ABI_HOST_TO_DEVICE));
    OK(cudaMemcpyFromArray(to, a, 0, 0, 48, ABI_DEVICE_TO_HOST));
    for (size_t i = 0; i < 12; i++) {
        EXPECT(to[i] == (i >= 2 && i < 10 ? from[i - 2] : 0));
    }
    OK(cudaMemcpy2DArrayToArray(b, 4, 1, a, 8, 0, 8, 2, ABI_DEVICE_TO_DEVICE));
    OK(cudaMemcpyFromArray(to, b, 4, 1, 28, ABI_DEVICE_TO_HOST));
    EXPECT(to[0] == 1 && to[1] == 2 && to[2] == 0 && to[4] == 5 && to[5] == 6);
    GIVES(1, cudaMemcpyToArray(a, 16, 0, from, 4, ABI_HOST_TO_DEVICE)); /* past the row */
    GIVES(1, cudaMemcpyToArray(a, 0, 2, from, 20, ABI_HOST_TO_DEVICE)); /* past the last row */
    GIVES(1, cudaMemcpy2DToArray(a, 2, 0, from, 8, 8, 1, ABI_HOST_TO_DEVICE));
    GIVES(1, cudaMemcpy2DToArray(a, 0, 0, from, 8, 6, 1, ABI_HOST_TO_DEVICE));
    GIVES(1, cudaMemcpy2DFromArray(to, 8, a, 2, 0, 8, 1, ABI_DEVICE_TO_HOST));
    /* In space an array's texels are what is counted, on both sides. */
    struct abi_copy3d copy = {.src_array = a,
                              .src_pos = {2, 0, 0},
                              .dst = {to, 16, 4, 3},
                              .dst_pos = {1, 1, 0},
                              .extent = {2, 2, 1},
                              .kind = ABI_DEVICE_TO_HOST};
    memset(to, 0, sizeof to);
    OK(cudaMemcpy3D(&copy));
    EXPECT(to[4] == 0 && to[5] == 1 && to[6] == 2 && to[7] == 0 && to[9] == 5 && to[10] == 6);
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
}

int main(int argc, char **argv)
{
    void **code = argc == 2 ? program_of(path_of(argv, "kernels.ptx")) : NULL;
    add_function(code, &fetch_here, "fetch");
    add_function(code, &sample_here, "sample");
    add_function(code, &paint_here, "paint");
    __cudaRegisterFatBinaryEnd(code);
    told();
    channels();
    linear();
    planes();
    pitched();
    surfaces();
    copies();
    return 0;
}
