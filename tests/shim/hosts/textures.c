/* Textures and surfaces over arrays, linear memory and pitched memory. */
#include "host.h"

int cuArrayCreate_v2(handle *, const struct abi_array_desc *);
int cuArray3DCreate_v2(handle *, const struct abi_array3d_desc *);
int cuArrayGetDescriptor_v2(struct abi_array_desc *, handle);
int cuArrayDestroy(handle);
int cuMemcpy2D_v2(const struct abi_copy2d_driver *);
int cuTexObjectCreate(uint64_t *, const struct abi_resource_desc_driver *,
                      const struct abi_texture_desc_driver *, const void *);
int cuTexObjectDestroy(uint64_t);
int cuSurfObjectCreate(uint64_t *, const struct abi_resource_desc_driver *);
int cuSurfObjectDestroy(uint64_t);

enum {
    FORMAT_INT = 0x0a,
    FORMAT_FLOAT = 0x20,
    HOST = 1,
    ARRAY = 3,
    CLAMP = 1,
    WRAP = 0,
    LINEAR = 1
};

static void copy_array(handle array, float *host, int to)
{
    struct abi_copy2d_driver copy = {.src_type = to ? HOST : ARRAY,
                                     .src_host = host,
                                     .src_array = array,
                                     .src_pitch = 32,
                                     .dst_type = to ? ARRAY : HOST,
                                     .dst_host = host,
                                     .dst_array = array,
                                     .dst_pitch = 32,
                                     .width = 32,
                                     .height = 4};
    OK(cuMemcpy2D_v2(&copy));
}

static float at(address p, size_t i)
{
    float value;
    OK(cuMemcpyDtoH_v2(&value, p + 4 * i, 4));
    return value;
}

static void over_array(handle fetch)
{
    handle array;
    uint64_t texture;
    float host[32], step = 1;
    address out = take(32);
    struct abi_array_desc desc = {8, 4, FORMAT_FLOAT, 1}, got;
    for (int i = 0; i < 32; i++) {
        host[i] = (float)i;
    }
    OK(cuArrayCreate_v2(&array, &desc));
    OK(cuArrayGetDescriptor_v2(&got, array));
    EXPECT(got.width == 8 && got.height == 4 && got.format == FORMAT_FLOAT && got.channels == 1);
    copy_array(array, host, 1);
    struct abi_resource_desc_driver resource = {.type = 0, .handle = array};
    struct abi_texture_desc_driver view = {.address = {CLAMP, CLAMP, CLAMP}};
    OK(cuTexObjectCreate(&texture, &resource, &view, NULL));
    void *args[] = {&texture, &out, &step};
    OK(cuLaunchKernel(fetch, 1, 1, 1, 8, 4, 1, 0, NULL, args, NULL));
    EXPECT(at(out, 0) == 0 && at(out, 31) == 31 && at(out, 13) == 13);
    OK(cuTexObjectDestroy(texture));
    view.filter = LINEAR; /* 0.5 beside the centres: the mean of two, or of four */
    step = 0.5f;
    OK(cuTexObjectCreate(&texture, &resource, &view, NULL));
    OK(cuLaunchKernel(fetch, 1, 1, 1, 8, 4, 1, 0, NULL, args, NULL));
    EXPECT(at(out, 1) == 0.5f && at(out, 9) == 4.5f);
    OK(cuTexObjectDestroy(texture));
    OK(cuArrayDestroy(array));
    OK(cuMemFree_v2(out));
}

static void over_linear(handle fetch_linear)
{
    uint64_t texture;
    address from = take(64), out = take(32);
    OK(cuMemsetD32_v2(from + 32, 77, 8));
    struct abi_resource_desc_driver resource = {
        .type = 2, .linear = {.ptr = from, .format = FORMAT_INT, .channels = 1, .bytes = 256}};
    struct abi_texture_desc_driver view = {.flags = 1};
    OK(cuTexObjectCreate(&texture, &resource, &view, NULL));
    void *args[] = {&texture, &out};
    OK(launch(fetch_linear, 1, 32, NULL, args));
    EXPECT(word(out, 7) == 1 && word(out, 8) == 77 && word(out, 15) == 77 && word(out, 16) == 1);
    OK(cuTexObjectDestroy(texture));
}

static void surface(handle paint)
{
    handle array;
    uint64_t object;
    float host[32] = {0};
    struct abi_array3d_desc desc = {8, 4, 0, FORMAT_FLOAT, 1, ABI_ARRAY_SURFACE};
    OK(cuArray3DCreate_v2(&array, &desc));
    struct abi_resource_desc_driver resource = {.type = 0, .handle = array};
    OK(cuSurfObjectCreate(&object, &resource));
    void *args[] = {&object};
    OK(cuLaunchKernel(paint, 1, 1, 1, 8, 4, 1, 0, NULL, args, NULL));
    OK(cuCtxSynchronize());
    copy_array(array, host, 0);
    EXPECT(host[0] == 0 && host[7] == 7 && host[31] == 37);
    OK(cuSurfObjectDestroy(object));
    OK(cuArrayDestroy(array));
}

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL;
    over_array(function(module, "fetch"));
    over_linear(function(module, "fetch_linear"));
    surface(function(module, "paint"));
    return 0;
}
