/*
 * The driver's texture and surface references (until release 12 the way to textures; the functions
 * are still exported). A reference of a module takes effect with each setting, once there is
 * something to read; a setting that makes no valid texture yet waits for the next.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "shim/driver/texture.h"
#include "util/container/vec.h"

struct texref {
    struct shim_module *module; /* NULL: made by cuTexRefCreate(), read by no kernel */
    char *name;
    bool has, is_surface;
    struct shim_resource resource;
    int format;
    unsigned channels;
    struct abi_texture_desc_driver desc; /* how it is read */
};

static VEC(struct texref *) references;

static struct texref *texref_new(struct shim_module *module, const char *name, bool is_surface)
{
    struct texref *texref = calloc(1, sizeof *texref);
    if (!texref || (name && !(texref->name = strdup(name))) || vec_push(&references, texref) < 0) {
        free(texref ? texref->name : NULL);
        free(texref);
        return NULL;
    }
    texref->module = module;
    texref->is_surface = is_surface;
    texref->channels = 1;
    texref->format = 0x20; /* floats */
    for (int i = 0; i < 3; i++) {
        texref->desc.address[i] = 1; /* clamped */
    }
    shim_handle_add(texref, SHIM_REFERENCE);
    return texref;
}

static int texref_of_module(void **out, void *module, const char *name, bool is_surface)
{
    struct rt *rt;
    uint64_t handle;
    int code = out && name ? driver_enter(&rt) : SHIM_INVALID;
    if (code == SHIM_OK && !shim_handle_is(module, SHIM_MODULE)) {
        code = SHIM_BAD_HANDLE;
    }
    code = code == SHIM_OK ? shim_module_need(module) : code;
    if (code != SHIM_OK) {
        return code;
    }
    if (rt_reference_bound(shim_module_rt(module), name, &handle) < 0) {
        return SHIM_NOT_FOUND;
    }
    for (size_t i = 0; i < references.count; i++) {
        struct texref *known = references.data[i];
        if (known->module == module && shim_handle_is(known, SHIM_REFERENCE) &&
            strcmp(known->name, name) == 0) {
            *out = known;
            return SHIM_OK;
        }
    }
    *out = texref_new(module, name, is_surface);
    return *out ? SHIM_OK : SHIM_NO_MEMORY;
}

EXPORT int cuModuleGetTexRef(void **out, void *module, const char *name)
{
    return driver_result(texref_of_module(out, module, name, false));
}

EXPORT int cuModuleGetSurfRef(void **out, void *module, const char *name)
{
    return driver_result(texref_of_module(out, module, name, true));
}

EXPORT int cuTexRefCreate(void **out)
{
    struct rt *rt;
    int code = out ? driver_enter(&rt) : SHIM_INVALID;
    if (code == SHIM_OK && !(*out = texref_new(NULL, NULL, false))) {
        code = SHIM_NO_MEMORY;
    }
    return driver_result(code);
}

/* What the driver says of a reference that is no more. */
static int gone(const void *handle)
{
    return handle ? SHIM_CONTEXT_DESTROYED : SHIM_BAD_HANDLE;
}

EXPORT int cuTexRefDestroy(void *handle)
{
    struct texref *texref = handle;
    if (!shim_handle_is(texref, SHIM_REFERENCE)) {
        return driver_result(gone(handle));
    }
    if (texref->module) {
        return driver_result(SHIM_OK); /* it goes with its module */
    }
    shim_handle_remove(texref);
    for (size_t i = 0; i < references.count; i++) {
        if (references.data[i] == texref) {
            references.data[i] = vec_last(&references);
            references.count--;
            break;
        }
    }
    free(texref);
    return driver_result(SHIM_OK);
}

static int find(struct texref **out, void *handle)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    *out = handle;
    if (code != SHIM_OK) {
        return code;
    }
    if (!shim_handle_is(handle, SHIM_REFERENCE)) {
        return gone(handle);
    }
    bool known = !(*out)->module || shim_handle_is((*out)->module, SHIM_MODULE);
    return known ? SHIM_OK : SHIM_INVALID;
}

/* Of the settings as they are. */
static int apply(const struct texref *texref)
{
    struct shim_resource resource = texref->resource;
    struct texture_view view;
    if (!texref->has || !texref->module) {
        return SHIM_OK;
    }
    view_of(&view, &texref->desc);
    struct rt_module *module = shim_module_rt(texref->module);
    int code = shim_format(&resource.format, texref->format, texref->channels);
    return code == SHIM_OK ? shim_reference_bind(module, texref->name, &resource, &view) : code;
}

static int bind(struct texref *texref, const struct shim_resource *resource)
{
    texref->resource = *resource;
    texref->has = true;
    return apply(texref);
}

/* An array's texels are what they are, whatever the format said before. */
static int bind_array(void *handle, void *array, int type)
{
    struct texref *texref;
    int code = find(&texref, handle);
    const struct shim_mipmap *mipmap = array;
    struct rt_image *image;
    uint32_t level;
    if (code == SHIM_OK) {
        code = type == 0                            ? image_of(&image, &level, array)
               : shim_handle_is(array, SHIM_MIPMAP) ? SHIM_OK
                                                    : SHIM_BAD_HANDLE;
    }
    if (code != SHIM_OK) {
        return driver_result(code);
    }
    image = type == 0 ? image : mipmap->image;
    const struct texel_format *format = &rt_image_spec(image)->format;
    texref->format = shim_format_number(format);
    texref->channels = format->channels;
    return driver_result(bind(texref, &(struct shim_resource){.type = type, .handle = array}));
}

EXPORT int cuTexRefSetArray(void *handle, void *array, unsigned flags)
{
    (void)flags;
    return bind_array(handle, array, 0);
}

EXPORT int cuTexRefSetMipmappedArray(void *handle, void *mipmap, unsigned flags)
{
    (void)flags;
    return bind_array(handle, mipmap, 1);
}

/* Memory that is not where a texture may begin is bound from there on all the same: the offset that
 * a program is to add is 0. */
EXPORT int cuTexRefSetAddress_v2(size_t *offset, void *handle, uint64_t address, size_t bytes)
{
    struct texref *texref;
    int code = find(&texref, handle);
    if (code == SHIM_OK && offset) {
        *offset = 0;
    }
    return driver_result(
        code == SHIM_OK
            ? bind(texref, &(struct shim_resource){.type = 2, .address = address, .bytes = bytes})
            : code);
}

EXPORT int cuTexRefSetAddress2D_v3(void *handle, const struct abi_array_desc *desc,
                                   uint64_t address, size_t pitch)
{
    struct texref *texref;
    int code = desc ? find(&texref, handle) : SHIM_INVALID;
    if (code != SHIM_OK) {
        return driver_result(code);
    }
    texref->format = desc->format;
    texref->channels = desc->channels;
    return driver_result(bind(texref, &(struct shim_resource){.type = 3,
                                                              .address = address,
                                                              .width = desc->width,
                                                              .height = desc->height,
                                                              .pitch = pitch}));
}

EXPORT int cuTexRefSetAddress2D_v2(void *handle, const struct abi_array_desc *desc,
                                   uint64_t address, size_t pitch)
{
    return cuTexRefSetAddress2D_v3(handle, desc, address, pitch);
}

/* A call, what makes its arguments valid, and what it does. */
#define ACCESS(name, arguments, valid, ...)                                                        \
    EXPORT int name arguments                                                                      \
    {                                                                                              \
        struct texref *texref;                                                                     \
        int code = find(&texref, handle);                                                          \
        if (code == SHIM_OK && !(valid)) {                                                         \
            code = SHIM_INVALID;                                                                   \
        }                                                                                          \
        if (code == SHIM_OK) {                                                                     \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        return driver_result(code);                                                                \
    }

#define SETTER(name, arguments, valid, ...)                                                        \
    ACCESS(name, arguments, valid, __VA_ARGS__; (void)apply(texref))
SETTER(cuTexRefSetFormat, (void *handle, int format, int channels),
       shim_format(&(struct texel_format){0}, format, (unsigned)channels) == SHIM_OK,
       texref->format = format;
       texref->channels = (unsigned)channels)
SETTER(cuTexRefSetAddressMode, (void *handle, int dimension, int mode),
       dimension >= 0 && dimension < 3 && mode >= 0 && mode < 4,
       texref->desc.address[dimension] = mode)
SETTER(cuTexRefSetFilterMode, (void *handle, int mode), mode == 0 || mode == 1,
       texref->desc.filter = mode)
SETTER(cuTexRefSetMipmapFilterMode, (void *handle, int mode), mode == 0 || mode == 1,
       texref->desc.mipmap_filter = mode)
SETTER(cuTexRefSetMipmapLevelBias, (void *handle, float bias), true, texref->desc.bias = bias)
SETTER(cuTexRefSetMipmapLevelClamp, (void *handle, float least, float most), least <= most,
       texref->desc.least = least;
       texref->desc.most = most)
SETTER(cuTexRefSetMaxAnisotropy, (void *handle, unsigned most), true,
       texref->desc.anisotropy = most)
SETTER(cuTexRefSetBorderColor, (void *handle, const float *color), color != NULL,
       memcpy(texref->desc.border, color, sizeof texref->desc.border))
SETTER(cuTexRefSetFlags, (void *handle, unsigned flags), true, texref->desc.flags = flags)

ACCESS(cuTexRefGetAddress_v2, (uint64_t * out, void *handle),
       out && texref->has && texref->resource.type >= 2, *out = texref->resource.address)
ACCESS(cuTexRefGetArray, (void **out, void *handle),
       out && texref->has && texref->resource.type == 0, *out = texref->resource.handle)
ACCESS(cuTexRefGetMipmappedArray, (void **out, void *handle),
       out && texref->has && texref->resource.type == 1, *out = texref->resource.handle)
ACCESS(cuTexRefGetAddressMode, (int *out, void *handle, int dimension),
       out &&dimension >= 0 && dimension < 3, *out = texref->desc.address[dimension])
ACCESS(cuTexRefGetFilterMode, (int *out, void *handle), out, *out = texref->desc.filter)
ACCESS(
    cuTexRefGetFormat, (int *format, int *channels, void *handle), format, *format = texref->format;
    if (channels) { *channels = (int)texref->channels; })
ACCESS(cuTexRefGetMipmapFilterMode, (int *out, void *handle), out,
       *out = texref->desc.mipmap_filter)
ACCESS(cuTexRefGetMipmapLevelBias, (float *out, void *handle), out, *out = texref->desc.bias)
ACCESS(cuTexRefGetMipmapLevelClamp, (float *least, float *most, void *handle), least &&most,
       *least = texref->desc.least;
       *most = texref->desc.most)
ACCESS(cuTexRefGetMaxAnisotropy, (int *out, void *handle), out, *out = (int)texref->desc.anisotropy)
ACCESS(cuTexRefGetBorderColor, (float *out, void *handle), out,
       memcpy(out, texref->desc.border, sizeof texref->desc.border))
ACCESS(cuTexRefGetFlags, (unsigned *out, void *handle), out, *out = texref->desc.flags)

EXPORT int cuSurfRefSetArray(void *handle, void *array, unsigned flags)
{
    struct texref *texref;
    struct shim_resource resource = {.type = 0, .handle = array};
    int code = flags == 0 ? find(&texref, handle) : SHIM_INVALID;
    if (code == SHIM_OK && (!texref->is_surface || !texref->module)) {
        code = SHIM_INVALID;
    }
    if (code == SHIM_OK) {
        code = shim_reference_bind_surface(shim_module_rt(texref->module), texref->name, &resource);
    }
    if (code == SHIM_OK) {
        texref->resource = resource;
        texref->has = true;
    }
    return driver_result(code);
}

EXPORT int cuSurfRefGetArray(void **out, void *handle)
{
    return cuTexRefGetArray(out, handle);
}
