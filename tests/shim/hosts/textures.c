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

int cuModuleLoadData(handle *, const void *);
int cuModuleUnload(handle);
int cuModuleGetTexRef(handle *, handle, const char *);
int cuModuleGetSurfRef(handle *, handle, const char *);
int cuTexRefSetArray(handle, handle, unsigned);
int cuTexRefSetFilterMode(handle, int);
int cuTexRefSetFlags(handle, unsigned);
int cuTexRefSetAddressMode(handle, int, int);
int cuTexRefSetAddress2D_v3(handle, const struct abi_array_desc *, address, size_t);
int cuTexRefGetAddress_v2(address *, handle);
int cuTexRefGetArray(handle *, handle);
int cuTexRefGetFormat(int *, int *, handle);
int cuTexRefCreate(handle *);
int cuTexRefDestroy(handle);
int cuSurfRefSetArray(handle, handle, unsigned);

enum {
    FORMAT_UNSIGNED = 0x03,
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

/* An array of integers whose bits are read as floats. */
static void seen_as_floats(handle fetch)
{
    handle array;
    uint64_t texture;
    float host[32], step = 1;
    address out = take(32);
    struct abi_array_desc desc = {8, 4, FORMAT_UNSIGNED, 1};
    for (int i = 0; i < 32; i++) {
        host[i] = 0.25f * (float)i;
    }
    OK(cuArrayCreate_v2(&array, &desc));
    copy_array(array, host, 1);
    struct abi_resource_desc_driver resource = {.type = 0, .handle = array};
    struct abi_texture_desc_driver view = {.address = {CLAMP, CLAMP}};
    struct abi_view_desc as = {.format = 22, .width = 8, .height = 4};
    OK(cuTexObjectCreate(&texture, &resource, &view, &as));
    void *args[] = {&texture, &out, &step};
    OK(cuLaunchKernel(fetch, 1, 1, 1, 8, 4, 1, 0, NULL, args, NULL));
    EXPECT(at(out, 0) == 0 && at(out, 13) == 3.25f && at(out, 31) == 7.75f);
    OK(cuTexObjectDestroy(texture));
    as.format = 24; /* four of them: larger texels */
    GIVES(1, cuTexObjectCreate(&texture, &resource, &view, &as));
    as.format = 25; /* compressed blocks */
    GIVES(801, cuTexObjectCreate(&texture, &resource, &view, &as));
    OK(cuArrayDestroy(array));
}

/* Linear memory that an H200 refuses. */
static void misaligned(void)
{
    uint64_t texture;
    address from = take(1024);
    struct abi_resource_desc_driver resource = {
        .type = 2,
        .linear = {.ptr = from + 128, .format = FORMAT_INT, .channels = 1, .bytes = 256}};
    struct abi_texture_desc_driver view = {.flags = 1};
    GIVES(1, cuTexObjectCreate(&texture, &resource, &view, NULL));
    resource.linear.ptr = from + 256;
    OK(cuTexObjectCreate(&texture, &resource, &view, NULL));
    OK(cuTexObjectDestroy(texture));
    resource.type = 3;
    resource.pitched.ptr = from;
    resource.pitched.format = FORMAT_INT;
    resource.pitched.channels = 1;
    resource.pitched.width = resource.pitched.height = 4;
    resource.pitched.pitch = 48;
    GIVES(1, cuTexObjectCreate(&texture, &resource, &view, NULL));
    resource.pitched.pitch = 64;
    OK(cuTexObjectCreate(&texture, &resource, &view, NULL));
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

/* PTX of before objects: a texel beside its centre, and what thread 3 of row 1 paints. */
static const char referring[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n"
    ".global .texref tex;\n.global .surfref surf;\n"
    ".visible .entry fetch(.param .u64 p) {\n.reg .u64 %a, %o; .reg .u32 %x, %y, %i;\n"
    ".reg .f32 %u, %v, %f<5>;\n"
    "ld.param.u64 %a, [p]; mov.u32 %x, %tid.x; mov.u32 %y, %tid.y;\n"
    "cvt.rn.f32.u32 %u, %x; cvt.rn.f32.u32 %v, %y; add.f32 %v, %v, 0f3F000000;\n"
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex, {%u, %v}];\n"
    "mad.lo.u32 %i, %y, 8, %x; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;\n"
    "st.global.f32 [%a], %f1; ret; }\n"
    ".visible .entry paint() {\n.reg .b32 %r<3>;\n"
    "mov.u32 %r1, 12; mov.b32 %r2, 0f42280000; sust.b.2d.b32.trap [surf, {%r1, 1}], {%r2};\n"
    "ret; }\n";

static void references(void)
{
    handle module, array, found, texture, same, surface;
    float host[32];
    int format, channels;
    address out = take(32), pitched = take(128), where;
    struct abi_array3d_desc desc = {8, 4, 0, FORMAT_FLOAT, 1, ABI_ARRAY_SURFACE};
    struct abi_array_desc rows = {8, 4, FORMAT_FLOAT, 1};
    for (int i = 0; i < 32; i++) {
        host[i] = (float)i;
    }
    OK(cuModuleLoadData(&module, referring));
    OK(cuArray3DCreate_v2(&array, &desc));
    copy_array(array, host, 1);
    OK(cuModuleGetTexRef(&texture, module, "tex"));
    OK(cuModuleGetTexRef(&same, module, "tex"));
    EXPECT(texture == same);
    GIVES(500, cuModuleGetTexRef(&same, module, "other"));
    OK(cuTexRefSetArray(texture, array, 1));
    OK(cuTexRefGetFormat(&format, &channels, texture));
    EXPECT(format == FORMAT_FLOAT && channels == 1);
    void *args[] = {&out};
    OK(cuLaunchKernel(function(module, "fetch"), 1, 1, 1, 8, 4, 1, 0, NULL, args, NULL));
    OK(cuTexRefSetFilterMode(texture, LINEAR)); /* not of the launch before */
    EXPECT(at(out, 0) == 0 && at(out, 12) == 12 && at(out, 31) == 31);
    OK(cuLaunchKernel(function(module, "fetch"), 1, 1, 1, 8, 4, 1, 0, NULL, args, NULL));
    EXPECT(at(out, 12) == 11.5f && at(out, 8) == 8);
    OK(cuTexRefSetAddressMode(texture, 0, 3)); /* a border of zeros */
    OK(cuLaunchKernel(function(module, "fetch"), 1, 1, 1, 8, 4, 1, 0, NULL, args, NULL));
    EXPECT(at(out, 8) == 4);
    GIVES(1, cuTexRefGetAddress_v2(&where, texture));
    OK(cuMemsetD32_v2(pitched, 0x40400000, 128));
    OK(cuTexRefSetAddress2D_v3(texture, &rows, pitched, 64));
    OK(cuTexRefGetAddress_v2(&where, texture));
    EXPECT(where == pitched);
    OK(cuLaunchKernel(function(module, "fetch"), 1, 1, 1, 8, 4, 1, 0, NULL, args, NULL));
    EXPECT(at(out, 13) == 3);
    GIVES(1, cuTexRefGetArray(&found, texture));
    OK(cuTexRefDestroy(texture)); /* stays its module's */
    OK(cuTexRefSetFlags(texture, 0));
    GIVES(400, cuTexRefDestroy(NULL));
    OK(cuModuleGetSurfRef(&surface, module, "surf"));
    OK(cuSurfRefSetArray(surface, array, 0));
    OK(cuLaunchKernel(function(module, "paint"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    copy_array(array, host, 0);
    EXPECT(host[11] == 42 && host[10] == 10);
    OK(cuTexRefCreate(&same));
    OK(cuTexRefSetFlags(same, 2));
    OK(cuTexRefDestroy(same));
    GIVES(709, cuTexRefDestroy(same));
    GIVES(709, cuTexRefSetFlags(same, 2));
    OK(cuModuleUnload(module));
    GIVES(1, cuTexRefSetFlags(texture, 2));
    OK(cuArrayDestroy(array));
}

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL;
    over_array(function(module, "fetch"));
    over_linear(function(module, "fetch_linear"));
    seen_as_floats(function(module, "fetch"));
    misaligned();
    surface(function(module, "paint"));
    references();
    return 0;
}
