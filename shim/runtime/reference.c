/*
 * The texture and surface references of 11.x: variables of the host, with the description in front,
 * that the module has under a name of its own. The description is read when something is bound.
 */
#include <string.h>

#include "shim/runtime/register.h"
#include "shim/runtime/texture.h"

#if SHIM_RUNTIME == 11
struct reference { /* textureReference */
    int normalized, filter, address[3];
    struct abi_channel_desc desc;
    int srgb;
    unsigned anisotropy;
    int mipmap_filter;
    float bias, least, most;
    int no_trilinear, reserved[14];
};

/* The name is C++'s ("::a::b"); where others expect an address, the name that the PTX has. */
EXPORT void __cudaRegisterTexture(void **handle, const void *host, const char *device,
                                  const char *name, int dimensions, int normalized, int ext)
{
    (void)dimensions, (void)ext;
    /* The width says whether texels are read as floats between 0 and 1. */
    entry_register(handle, host, device ? device : name, (uint64_t)normalized, ENTRY_REFERENCE);
}

EXPORT void __cudaRegisterSurface(void **handle, const void *host, const char *device,
                                  const char *name, int dimensions, int ext)
{
    (void)dimensions, (void)ext;
    entry_register(handle, host, device ? device : name, 0, ENTRY_REFERENCE);
}

static int bind(const struct reference *reference, const struct shim_resource *resource)
{
    struct rt_module *module;
    const char *name;
    /* What is registered nowhere need not be a reference at all: it is not read. */
    int code = entry_reference(&module, &name, reference);
    if (code != SHIM_OK) {
        return code == SHIM_INVALID ? 18 : code;
    }
    struct abi_texture_desc desc = {.filter = reference->filter,
                                    .srgb = reference->srgb,
                                    .normalized = reference->normalized,
                                    .mipmap_filter = reference->mipmap_filter,
                                    .bias = reference->bias,
                                    .least = reference->least,
                                    .most = reference->most,
                                    .read = entry_reads_normalised(reference)};
    struct texture_view view;
    memcpy(desc.address, reference->address, sizeof desc.address);
    view_of(&view, &desc);
    return shim_reference_bind(module, name, resource, &view);
}

EXPORT int cudaBindTexture(size_t *offset, const struct reference *reference, const void *pointer,
                           const struct abi_channel_desc *desc, size_t bytes)
{
    struct shim_range range;
    struct shim_resource resource = {.type = 2, .address = (uintptr_t)pointer, .bytes = bytes};
    if (offset) {
        *offset = 0;
    }
    int code = desc && reference ? format_of(&resource.format, desc) : SHIM_INVALID;
    if (code == SHIM_OK && shim_memory_find(&range, resource.address)) {
        uint64_t left = range.address + range.bytes - resource.address;
        resource.bytes = bytes > left ? left : bytes;
    }
    return last(code == SHIM_OK ? bind(reference, &resource) : code);
}

EXPORT int cudaBindTexture2D(size_t *offset, const struct reference *reference, const void *pointer,
                             const struct abi_channel_desc *desc, size_t width, size_t height,
                             size_t pitch)
{
    struct shim_resource resource = {
        .type = 3, .address = (uintptr_t)pointer, .width = width, .height = height, .pitch = pitch};
    if (offset) {
        *offset = 0;
    }
    int code = desc && reference ? format_of(&resource.format, desc) : SHIM_INVALID;
    return last(code == SHIM_OK ? bind(reference, &resource) : code);
}

EXPORT int cudaBindTextureToArray(const struct reference *reference, void *array,
                                  const struct abi_channel_desc *desc)
{
    struct shim_resource resource = {.type = 0, .handle = array};
    (void)desc;
    return last(reference ? bind(reference, &resource) : SHIM_INVALID);
}

EXPORT int cudaBindTextureToMipmappedArray(const struct reference *reference, void *mipmap,
                                           const struct abi_channel_desc *desc)
{
    struct shim_resource resource = {.type = 1, .handle = mipmap};
    (void)desc;
    return last(reference ? bind(reference, &resource) : SHIM_INVALID);
}

EXPORT int cudaUnbindTexture(const struct reference *reference)
{
    struct rt_module *module;
    const char *name;
    int code = entry_reference(&module, &name, reference);
    return last(code == SHIM_OK        ? shim_reference_bind(module, name, NULL, NULL)
                : code == SHIM_INVALID ? 18
                                       : code);
}

EXPORT int cudaGetTextureAlignmentOffset(size_t *offset, const struct reference *reference)
{
    if (!offset || !reference) {
        return last(SHIM_INVALID);
    }
    *offset = 0;
    return last(SHIM_OK);
}

EXPORT int cudaBindSurfaceToArray(const void *reference, void *array,
                                  const struct abi_channel_desc *desc)
{
    struct rt_module *module;
    const char *name;
    struct shim_resource resource = {.type = 0, .handle = array};
    (void)desc;
    int code = entry_reference(&module, &name, reference);
    code = code == SHIM_OK        ? shim_reference_bind_surface(module, name, &resource)
           : code == SHIM_INVALID ? 37
                                  : code;
    return last(code);
}

/* A name is an address here, as for other symbols. */
EXPORT int cudaGetTextureReference(const struct reference **out, const void *symbol)
{
    struct rt_module *module;
    const char *name;
    int code = out ? entry_reference(&module, &name, symbol) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = symbol;
    }
    return last(out && code == SHIM_INVALID ? 18 : code);
}

EXPORT int cudaGetSurfaceReference(const void **out, const void *symbol)
{
    struct rt_module *module;
    const char *name;
    int code = out ? entry_reference(&module, &name, symbol) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = symbol;
    }
    return last(out && code == SHIM_INVALID ? 37 : code);
}
#else
typedef int no_references; /* later releases have objects alone */
#endif
