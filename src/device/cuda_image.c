/*
 * The driver's arrays, mipmapped arrays, texture and surface objects, from the words of
 * isa/image.h. What does not fit together the driver refuses. An array of one level is a plain
 * array, since those alone can be gathered from (tld4) and written.
 */
#include <stdlib.h>

#include "device/cuda.h"
#include "util/error.h"

struct device_image {
    struct image_spec spec;
    cu_array array;   /* of one level */
    cu_mipmap mipmap; /* of several */
};

static int lacks_images(const struct cuda *cuda)
{
    const struct cuda_api *api = &cuda->api;
    if (api->array_create && api->array_destroy && api->mipmap_create && api->mipmap_level &&
        api->mipmap_destroy && api->copy_box && api->surface_create && api->surface_destroy &&
        api->texture_create && api->texture_destroy) {
        return SONDE_OK;
    }
    return error_set(SONDE_EUNSUPPORTED, "the driver of %s has no arrays, textures and surfaces",
                     cuda->device.info.name);
}

static int begin(struct cuda *cuda)
{
    int rc = cuda_enter(cuda);
    return rc < 0 ? rc : lacks_images(cuda);
}

static bool is_linear(const struct image_spec *spec)
{
    return spec->shape == IMAGE_BUFFER || spec->shape == IMAGE_PITCH;
}

static bool is_cube(const struct image_spec *spec)
{
    return spec->shape == IMAGE_CUBE || spec->shape == IMAGE_CUBE_LAYERED;
}

static bool is_layered(const struct image_spec *spec)
{
    return spec->shape == IMAGE_1D_LAYERED || spec->shape == IMAGE_2D_LAYERED ||
           spec->shape == IMAGE_CUBE_LAYERED;
}

static bool is_flat(const struct image_spec *spec)
{
    return spec->shape == IMAGE_1D || spec->shape == IMAGE_1D_LAYERED;
}

static int format_of(const struct texel_format *format)
{
    uint32_t width = format->bits == 8 ? 0 : format->bits == 16 ? 1 : 2;
    if (format->kind == TEXEL_FLOAT) {
        return format->bits == 16 ? CU_FORMAT_HALF : CU_FORMAT_FLOAT;
    }
    return (format->kind == TEXEL_SIGNED ? CU_FORMAT_SIGNED_8 : CU_FORMAT_UNSIGNED_8) + (int)width;
}

/* Slices of a level: of depth, or layers and faces. */
static size_t slices_of(const struct image_spec *spec, uint32_t level)
{
    if (spec->shape == IMAGE_3D) {
        return spec->depth >> level ? spec->depth >> level : 1;
    }
    return (size_t)(is_layered(spec) ? spec->depth : 1) * (is_cube(spec) ? 6 : 1);
}

static struct cu_array_spec array_spec(const struct image_spec *spec)
{
    bool plain = spec->shape == IMAGE_1D || spec->shape == IMAGE_2D;
    unsigned flags = (is_layered(spec) ? CU_ARRAY_LAYERED : 0u) |
                     (is_cube(spec) ? CU_ARRAY_CUBE : 0u) | (spec->surface ? CU_ARRAY_SURFACE : 0u);
    if (spec->shape == IMAGE_2D && spec->levels <= 1) {
        flags |= CU_ARRAY_GATHER;
    }
    return (struct cu_array_spec){.width = spec->width,
                                  .height = is_flat(spec) ? 0 : spec->height,
                                  .depth = plain ? 0 : slices_of(spec, 0),
                                  .format = format_of(&spec->format),
                                  .channels = spec->format.channels,
                                  .flags = flags};
}

int cuda_image_create(struct device *device, struct device_image **out,
                      const struct image_spec *spec)
{
    struct cuda *cuda = cuda_of(device);
    int rc = begin(cuda);
    struct device_image *image = rc < 0 ? NULL : calloc(1, sizeof(*image));
    if (!image) {
        return rc < 0 ? rc : error_memory();
    }
    image->spec = *spec;
    struct cu_array_spec array = array_spec(spec);
    if (!is_linear(spec) && spec->levels > 1) {
        rc = cuda_check(cuda, cuda->api.mipmap_create(&image->mipmap, &array, spec->levels),
                        "cuMipmappedArrayCreate");
    } else if (!is_linear(spec)) {
        rc = cuda_check(cuda, cuda->api.array_create(&image->array, &array), "cuArray3DCreate");
    }
    if (rc < 0) {
        free(image);
        return rc;
    }
    *out = image;
    return SONDE_OK;
}

int cuda_image_destroy(struct device *device, struct device_image *image)
{
    struct cuda *cuda = cuda_of(device);
    int rc = cuda_enter(cuda);
    if (rc == SONDE_OK && image->mipmap) {
        rc = cuda_check(cuda, cuda->api.mipmap_destroy(image->mipmap), "cuMipmappedArrayDestroy");
    } else if (rc == SONDE_OK && image->array) {
        rc = cuda_check(cuda, cuda->api.array_destroy(image->array), "cuArrayDestroy");
    }
    free(image);
    return rc;
}

int cuda_image_copy(struct device *device, struct device_image *image, uint32_t level, void *texels,
                    bool to_device)
{
    struct cuda *cuda = cuda_of(device);
    const struct image_spec *spec = &image->spec;
    cu_array array = image->array;
    int rc = begin(cuda);
    if (rc == SONDE_OK && is_linear(spec)) {
        rc = error_set(SONDE_EUSAGE, "linear memory is copied by its address");
    }
    if (rc == SONDE_OK && level > 0 && level >= spec->levels) {
        rc = error_set(SONDE_EINPUT, "the image has no level %u", level);
    }
    if (rc == SONDE_OK && image->mipmap) {
        rc = cuda_check(cuda, cuda->api.mipmap_level(&array, image->mipmap, level),
                        "cuMipmappedArrayGetLevel");
    }
    if (rc < 0) {
        return rc;
    }
    size_t width = spec->width >> level ? spec->width >> level : 1;
    size_t height = !is_flat(spec) && spec->height >> level ? spec->height >> level : 1;
    size_t row = width * spec->format.channels * (spec->format.bits / 8);
    struct cu_box_side host = {
        .memory_type = CU_SIDE_HOST, .host = texels, .pitch_bytes = row, .height = height};
    struct cu_box_side side = {.memory_type = CU_SIDE_ARRAY, .array = array};
    struct cu_box box = {.from = to_device ? host : side,
                         .to = to_device ? side : host,
                         .width_bytes = row,
                         .height = height,
                         .depth = slices_of(spec, level)};
    return cuda_check(cuda, cuda->api.copy_box(&box), "cuMemcpy3D");
}

static struct cu_texture_resource resource_of(const struct device_image *image)
{
    const struct image_spec *spec = &image->spec;
    struct cu_texture_resource resource = {.type = CU_RESOURCE_ARRAY};
    if (spec->shape == IMAGE_BUFFER) {
        resource.type = CU_RESOURCE_LINEAR;
        resource.as.linear.address = spec->address;
        resource.as.linear.format = format_of(&spec->format);
        resource.as.linear.channels = spec->format.channels;
        resource.as.linear.bytes =
            (size_t)spec->width * spec->format.channels * (spec->format.bits / 8);
    } else if (spec->shape == IMAGE_PITCH) {
        resource.type = CU_RESOURCE_PITCH;
        resource.as.pitch.address = spec->address;
        resource.as.pitch.format = format_of(&spec->format);
        resource.as.pitch.channels = spec->format.channels;
        resource.as.pitch.width = spec->width;
        resource.as.pitch.height = spec->height;
        resource.as.pitch.pitch_bytes = spec->pitch_bytes;
    } else if (image->mipmap) {
        resource.type = CU_RESOURCE_MIPMAP;
        resource.as.mipmap = image->mipmap;
    } else {
        resource.as.array = image->array;
    }
    return resource;
}

int cuda_texture_object(struct device *device, uint64_t *handle, struct device_image *image,
                        const struct texture_view *view)
{
    struct cuda *cuda = cuda_of(device);
    struct cu_texture_resource resource = resource_of(image);
    struct cu_texture_view words = {.filter_mode = view->linear,
                                    .flags = (view->as_integer ? CU_READ_AS_INTEGER : 0u) |
                                             (view->normalized ? CU_NORMALIZED_COORDINATES : 0u) |
                                             (view->srgb ? CU_SRGB : 0u),
                                    .mipmap_filter_mode = view->level_linear,
                                    .mipmap = {view->level_bias, view->level_min, view->level_max}};
    for (int i = 0; i < 3; i++) {
        words.address_mode[i] = (int)view->address[i];
    }
    for (int i = 0; i < 4; i++) {
        words.border[i] = view->border[i];
    }
    int rc = begin(cuda);
    return rc < 0 ? rc
                  : cuda_check(cuda, cuda->api.texture_create(handle, &resource, &words, NULL),
                               "cuTexObjectCreate");
}

int cuda_surface_object(struct device *device, uint64_t *handle, struct device_image *image)
{
    struct cuda *cuda = cuda_of(device);
    struct cu_texture_resource resource = resource_of(image);
    int rc = begin(cuda);
    return rc < 0 ? rc
                  : cuda_check(cuda, cuda->api.surface_create(handle, &resource),
                               "cuSurfObjectCreate");
}

int cuda_surface_destroy(struct device *device, uint64_t handle)
{
    struct cuda *cuda = cuda_of(device);
    int rc = begin(cuda);
    return rc < 0 ? rc : cuda_check(cuda, cuda->api.surface_destroy(handle), "cuSurfObjectDestroy");
}
