/*
 * Images: arrays and views of linear memory, copies of texels, and the objects through which
 * kernels reach them. An array takes a range of addresses that belongs to no allocation, so that a
 * global access to it is out of bounds; its layout is exec/texture/texture.h's. Limits are those of
 * the CUDA C Programming Guide's technical specifications for compute capability 9.0, whatever the
 * model; linear memory need only be aligned to texels, where drivers want more. Leaves out:
 * anisotropy, seamless cubes, views of some levels or layers, multisampling.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/state.h"
#include "util/error.h"

#define BUFFER_MAX (1u << 28)
#define LAYERS_MAX 2048
#define CUBE_LAYERS_MAX 341   /* 2046 faces */
#define MIPMAP_SIDE_MAX 32768 /* CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH */
static_assert(MIPMAP_SIDE_MAX >> (IMAGE_LEVELS_MAX - 1) == 0, "every level has a place");

struct limits {
    const char *name;
    uint32_t width, height, depth;
};
static const struct limits limits[] = {
    [IMAGE_BUFFER] = {"a buffer", BUFFER_MAX, 1, 1},
    [IMAGE_PITCH] = {"two-dimensional linear memory", 131072, 65000, 1},
    [IMAGE_1D] = {"a one-dimensional array", 131072, 1, 1},
    [IMAGE_2D] = {"a two-dimensional array", 131072, 65536, 1},
    [IMAGE_3D] = {"a three-dimensional array", 16384, 16384, 16384},
    [IMAGE_1D_LAYERED] = {"a layered one-dimensional array", 32768, 1, LAYERS_MAX},
    [IMAGE_2D_LAYERED] = {"a layered two-dimensional array", 32768, 32768, LAYERS_MAX},
    [IMAGE_CUBE] = {"a cube", 32768, 32768, 1},
    [IMAGE_CUBE_LAYERED] = {"a layered cube", 32768, 32768, CUBE_LAYERS_MAX},
};

static bool is_linear(const struct image_spec *spec)
{
    return spec->shape == IMAGE_BUFFER || spec->shape == IMAGE_PITCH;
}

static int check_format(const struct texel_format *format)
{
    bool bits = format->bits == 16 || format->bits == 32 ||
                (format->bits == 8 && format->kind != TEXEL_FLOAT);
    bool channels = format->channels == 1 || format->channels == 2 || format->channels == 4;
    if (bits && channels && (unsigned)format->kind <= TEXEL_FLOAT) {
        return 0;
    }
    return error_set(SONDE_EINPUT, "texels of %u channels of %u bits%s", format->channels,
                     format->bits, format->kind == TEXEL_FLOAT ? ", floats" : "");
}

/* What a shape does not have counts as 1. */
static void normalise_sizes(struct image_spec *spec)
{
    const struct limits *most = &limits[spec->shape];
    spec->height = most->height == 1 ? 1 : spec->height;
    spec->depth = most->depth == 1 ? 1 : spec->depth;
    spec->levels = spec->levels ? spec->levels : 1;
}

static int check_sizes(const struct image_spec *spec)
{
    const struct limits *most = &limits[spec->shape];
    uint32_t largest = spec->width > spec->height ? spec->width : spec->height, levels = 1;
    if (spec->shape == IMAGE_3D && spec->depth > largest) {
        largest = spec->depth;
    }
    if (spec->width == 0 || spec->height == 0 || spec->depth == 0 || spec->width > most->width ||
        spec->height > most->height || spec->depth > most->depth) {
        return error_set(SONDE_EINPUT, "%s of %u x %u x %u texels: sizes are 1 to %u x %u x %u",
                         most->name, spec->width, spec->height, spec->depth, most->width,
                         most->height, most->depth);
    }
    if (image_is_cube(spec->shape) && spec->width != spec->height) {
        return error_set(SONDE_EINPUT, "%s of %u x %u texels: faces are square", most->name,
                         spec->width, spec->height);
    }
    if (spec->levels > 1 && largest > MIPMAP_SIDE_MAX) {
        return error_set(SONDE_EINPUT,
                         "%s of %u x %u x %u texels has no levels: sides are up to %d", most->name,
                         spec->width, spec->height, spec->depth, MIPMAP_SIDE_MAX);
    }
    while (largest >>= 1) {
        levels++;
    }
    if (spec->levels > (is_linear(spec) ? 1 : levels)) {
        return error_set(SONDE_EINPUT, "%s of %u x %u x %u texels has no %u levels", most->name,
                         spec->width, spec->height, spec->depth, spec->levels);
    }
    return 0;
}

static int check_linear(struct rt *rt, const struct image_spec *spec, uint32_t texel_bytes,
                        uint64_t bytes)
{
    uint64_t row = (uint64_t)spec->width * texel_bytes;
    if (spec->address % texel_bytes != 0) {
        return error_set(SONDE_EINPUT, "texels of %u bytes at 0x%llx are misaligned", texel_bytes,
                         (unsigned long long)spec->address);
    }
    if (spec->shape == IMAGE_PITCH &&
        (spec->pitch_bytes < row || spec->pitch_bytes % texel_bytes != 0 ||
         spec->pitch_bytes > UINT32_MAX)) {
        return error_set(SONDE_EINPUT, "rows of %llu bytes at a pitch of %llu",
                         (unsigned long long)row, (unsigned long long)spec->pitch_bytes);
    }
    if (spec->surface) {
        return error_set(SONDE_EINPUT, "a surface needs an array, not linear memory");
    }
    if (!exec_memory_valid(rt->memory, spec->address, bytes)) {
        return error_set(SONDE_EINPUT, "a texture of %llu bytes at 0x%llx leaves its allocation",
                         (unsigned long long)bytes, (unsigned long long)spec->address);
    }
    return 0;
}

static int take_memory(struct rt *rt, struct rt_image *image)
{
    uint64_t bytes = image_lay_out(&image->image, 0), address;
    int rc = vmem_take(&rt->vmem, &address, bytes + IMAGE_BLOCK_BYTES);
    if (rc < 0) {
        return error_prefix(rc, "%s", limits[image->image.spec.shape].name);
    }
    image->memory = address;
    address = (address + IMAGE_BLOCK_BYTES - 1) / IMAGE_BLOCK_BYTES * IMAGE_BLOCK_BYTES;
    image_lay_out(&image->image, address); /* all zero, as is whatever nobody has */
    checking_allocated(rt, address, bytes, true);
    return 0;
}

int rt_image_create(struct rt *rt, struct rt_image **out, const struct image_spec *spec)
{
    struct rt_image *image = calloc(1, sizeof *image);
    *out = NULL;
    if (!image) {
        return error_memory();
    }
    struct image_spec *own = &image->image.spec;
    *own = *spec;
    int rc = (unsigned)spec->shape <= IMAGE_CUBE_LAYERED
                 ? context_check(rt)
                 : error_set(SONDE_EINPUT, "an image of an unknown shape");
    if (rc == 0) {
        normalise_sizes(own);
        rc = check_format(&own->format);
    }
    if (rc == 0) {
        rc = check_sizes(own);
    }
    if (rc == 0 && is_linear(own)) {
        uint64_t bytes = image_lay_out(&image->image, own->address);
        rc = check_linear(rt, own, image->image.texel_bytes, bytes);
    } else if (rc == 0) {
        rc = take_memory(rt, image);
    }
    if (rc < 0) {
        free(image);
        return rc;
    }
    image->next = rt->images;
    rt->images = image;
    *out = image;
    return 0;
}

/* The record stays for objects that still name the image; the memory goes. */
int rt_image_destroy(struct rt *rt, struct rt_image *image)
{
    if (image->image.gone) {
        return error_set(SONDE_EINPUT, "the image was destroyed before");
    }
    image->image.gone = true;
    for (struct rt_image *level = rt->images; level; level = level->next) {
        level->image.gone |= level->whole == image;
    }
    if (image->memory) {
        const struct vmem_range *range = vmem_find(&rt->vmem, image->memory);
        exec_memory_discard(rt->memory, range->address, range->bytes);
        checking_freed(rt, image->image.level[0].address, 0);
        vmem_give(&rt->vmem, range);
        gpu_forget_translations(rt->gpu);
    }
    return 0;
}

/* Levels are independent arrays to whoever reads or writes one alone (cuMipmappedArrayGetLevel). */
static void level_become(struct rt_image *out, const struct rt_image *image, uint32_t level)
{
    const struct image_level *sizes = &image->image.level[level];
    struct image_spec *spec = &out->image.spec;
    out->image = image->image;
    out->image.level[0] = *sizes;
    out->whole = image;
    out->level = level;
    spec->levels = 1;
    spec->width = sizes->width;
    spec->height = sizes->height;
    spec->depth = image_dimensions(spec->shape) > 2 ? sizes->depth : spec->depth;
}

int rt_image_level(struct rt *rt, struct rt_image **out, struct rt_image *image, uint32_t level)
{
    *out = image;
    if (image->image.gone || level >= image->image.spec.levels) {
        return error_set(
            SONDE_EINPUT,
            image->image.gone ? "the image was destroyed" : "the image has no level %u", level);
    }
    if (image->image.spec.levels == 1) {
        return 0;
    }
    for (struct rt_image *known = rt->images; known; known = known->next) {
        if (known->whole == image && known->level == level) {
            *out = known;
            return 0;
        }
    }
    struct rt_image *own = calloc(1, sizeof *own);
    if (!own) {
        return error_memory();
    }
    level_become(own, image, level);
    own->next = rt->images;
    rt->images = own;
    *out = own;
    return 0;
}

#define ALL_LEVELS UINT32_MAX /* of an image that is another one's, in another format */

static bool same_format(const struct texel_format *a, const struct texel_format *b)
{
    return a->kind == b->kind && a->bits == b->bits && a->channels == b->channels;
}

int rt_image_as(struct rt *rt, struct rt_image **out, struct rt_image *image,
                struct texel_format format)
{
    const struct texel_format *has = &image->image.spec.format;
    *out = image;
    if (image->image.gone || has->bits * has->channels != format.bits * format.channels) {
        return error_set(SONDE_EINPUT, image->image.gone
                                           ? "the image was destroyed"
                                           : "texels of another size than the image's");
    }
    if (same_format(has, &format)) {
        return 0;
    }
    for (struct rt_image *known = rt->images; known; known = known->next) {
        if (known->whole == image && known->level == ALL_LEVELS &&
            same_format(&known->image.spec.format, &format)) {
            *out = known;
            return 0;
        }
    }
    struct rt_image *own = calloc(1, sizeof *own);
    if (!own) {
        return error_memory();
    }
    own->image = image->image;
    own->image.spec.format = format;
    own->whole = image;
    own->level = ALL_LEVELS;
    own->next = rt->images;
    rt->images = own;
    *out = own;
    return 0;
}

const struct image_spec *rt_image_spec(const struct rt_image *image)
{
    return &image->image.spec;
}

void rt_image_keep(struct rt *rt, const struct rt_image *image)
{
    struct exec_image laid_out = image->image;
    if (!is_linear(&image->image.spec)) {
        checking_allocated(rt, image->image.level[0].address, image_lay_out(&laid_out, 0), false);
    }
}

void images_destroy(struct rt *rt)
{
    while (rt->images) {
        struct rt_image *image = rt->images;
        rt->images = image->next;
        free(image);
    }
    vec_free(&rt->textures);
    vec_free(&rt->surfaces);
}

/* Copies. */

int rt_image_check(const struct rt_image *image, const struct rt_image_region *region)
{
    const struct exec_image *exec = &image->image;
    if (exec->gone || region->level >= exec->spec.levels) {
        return error_set(SONDE_EINPUT,
                         exec->gone ? "the image was destroyed" : "the image has no level %u",
                         region->level);
    }
    const struct image_level *level = &exec->level[region->level];
    uint64_t slices = (uint64_t)level->depth * exec->layers;
    if ((uint64_t)region->x + region->width > level->width ||
        (uint64_t)region->y + region->height > level->height ||
        (uint64_t)region->z + region->depth > slices) {
        return error_set(SONDE_EINPUT,
                         "%u x %u x %u texels at (%u, %u, %u) leave the level of %u x %u x %llu",
                         region->width, region->height, region->depth, region->x, region->y,
                         region->z, level->width, level->height, (unsigned long long)slices);
    }
    uint64_t row = (uint64_t)region->width * exec->texel_bytes;
    if ((region->row_bytes && region->row_bytes < row) ||
        (region->slice_bytes &&
         region->slice_bytes < (region->row_bytes ? region->row_bytes : row) * region->height)) {
        return error_set(SONDE_EINPUT, "rows of %llu bytes do not fit the host's pitch",
                         (unsigned long long)row);
    }
    return 0;
}

int rt_image_whole(struct rt_image_region *out, const struct rt_image *image, uint32_t level)
{
    const struct exec_image *exec = &image->image;
    if (level >= exec->spec.levels) {
        return error_set(SONDE_EINPUT, "the image has no level %u", level);
    }
    const struct image_level *sizes = &exec->level[level];
    *out = (struct rt_image_region){.level = level,
                                    .width = sizes->width,
                                    .height = sizes->height,
                                    .depth = sizes->depth * exec->layers};
    return 0;
}

/* One row, in pieces that lie together on the device. */
static void copy_row(struct rt *rt, const struct exec_image *image,
                     const struct rt_image_region *region, uint8_t *host, uint32_t y,
                     uint32_t slice, bool to_device)
{
    const struct image_level *level = &image->level[region->level];
    uint64_t piece = image->tiled ? 16 : UINT64_MAX;
    uint64_t at = (uint64_t)region->x * image->texel_bytes;
    uint64_t end = at + (uint64_t)region->width * image->texel_bytes;
    while (at < end) {
        uint64_t room = piece == UINT64_MAX ? end - at : piece - at % piece;
        uint64_t bytes = room < end - at ? room : end - at;
        uint64_t address = image_byte(image, level, at, y, slice);
        if (to_device) {
            memcpy((void *)(uintptr_t)address, host, bytes);
        } else {
            memcpy(host, (const void *)(uintptr_t)address, bytes);
        }
        gpu_host_copy(rt->gpu, address, bytes, to_device);
        if (to_device) {
            checking_written(rt, address, bytes);
        }
        host += bytes;
        at += bytes;
    }
}

/* Linear memory is the program's, which may have freed it and taken less in its place. */
static bool region_allocated(struct rt *rt, const struct exec_image *image,
                             const struct rt_image_region *region)
{
    uint64_t row = (uint64_t)region->width * image->texel_bytes;
    uint64_t first =
        image_byte(image, &image->level[0], (uint64_t)region->x * image->texel_bytes, region->y, 0);
    return row == 0 || region->height == 0 || region->depth == 0 ||
           exec_memory_valid(rt->memory, first,
                             (region->height - 1) * image->spec.pitch_bytes + row);
}

static int copy_region(struct rt *rt, const struct rt_image *image,
                       const struct rt_image_region *region, void *host, bool to_device)
{
    const struct exec_image *exec = &image->image;
    int rc = context_check(rt);
    if (rc == 0) {
        rc = rt_image_check(image, region);
    }
    if (rc < 0) {
        return rc;
    }
    if (is_linear(&exec->spec) && !region_allocated(rt, exec, region)) {
        return error_set(SONDE_EINPUT, "the memory of the image has been freed");
    }
    uint64_t row =
        region->row_bytes ? region->row_bytes : (uint64_t)region->width * exec->texel_bytes;
    uint64_t slice = region->slice_bytes ? region->slice_bytes : row * region->height;
    for (uint32_t z = 0; z < region->depth; z++) {
        for (uint32_t y = 0; y < region->height; y++) {
            copy_row(rt, exec, region, (uint8_t *)host + z * slice + y * row, region->y + y,
                     region->z + z, to_device);
        }
    }
    return 0;
}

int rt_image_write(struct rt *rt, struct rt_image *image, const struct rt_image_region *region,
                   const void *from)
{
    return copy_region(rt, image, region, (void *)(uintptr_t)from, true);
}

int rt_image_read(struct rt *rt, void *to, const struct rt_image *image,
                  const struct rt_image_region *region)
{
    return copy_region(rt, image, region, to, false);
}

/* Objects. */

static int check_view(const struct exec_image *image, const struct texture_view *view)
{
    if (image->gone) {
        return error_set(SONDE_EINPUT, "the image was destroyed");
    }
    for (int i = 0; i < 3; i++) {
        if ((unsigned)view->address[i] > TEXTURE_BORDER) {
            return error_set(SONDE_EINPUT, "address mode %d is none", (int)view->address[i]);
        }
    }
    if (image->spec.shape == IMAGE_BUFFER) {
        return 0;
    }
    if (view->linear && !texture_gives_floats(image, view)) {
        return error_set(SONDE_EINPUT, "linear filtering of texels that are read as integers");
    }
    if (image->spec.levels > 1 && !view->normalized) {
        return error_set(SONDE_EINPUT, "levels of detail need normalized coordinates");
    }
    if (!(view->level_min <= view->level_max) || !(fabsf(view->level_bias) <= 16)) {
        return error_set(SONDE_EINPUT, "levels from %g to %g with a bias of %g",
                         (double)view->level_min, (double)view->level_max,
                         (double)view->level_bias);
    }
    return 0;
}

static int check_place(size_t place)
{
    return place < EXEC_OBJECTS_MAX
               ? 0
               : error_set(SONDE_ENOMEM, "more than %u objects", EXEC_OBJECTS_MAX);
}

int rt_texture_object(struct rt *rt, uint64_t *handle, const struct rt_image *image,
                      const struct texture_view *view)
{
    struct exec_texture texture = {.image = &image->image, .view = *view};
    size_t place = 0;
    *handle = 0;
    while (place < rt->textures.count && rt->textures.data[place].image) {
        place++;
    }
    int rc = check_view(&image->image, view);
    if (rc == 0) {
        rc = check_place(place);
    }
    if (rc < 0) {
        return rc;
    }
    if (place < rt->textures.count) {
        rt->textures.data[place] = texture;
    } else if (vec_push(&rt->textures, texture) < 0) {
        return error_memory();
    }
    *handle = EXEC_TEXTURE_HANDLE + place;
    return 0;
}

/* An image that was made for a texture goes with it. */
static void image_forget(struct rt *rt, const struct exec_image *exec)
{
    for (struct rt_image **link = &rt->images; *link; link = &(*link)->next) {
        struct rt_image *image = *link;
        if (&image->image == exec && image->of_texture) {
            *link = image->next;
            free(image);
            return;
        }
    }
}

int rt_texture_create(struct rt *rt, uint64_t *handle, uint64_t address, uint64_t bytes)
{
    struct image_spec spec = {.shape = IMAGE_BUFFER,
                              .format = {TEXEL_UNSIGNED, 32, 1},
                              .width = (uint32_t)(bytes / 4),
                              .address = address};
    struct texture_view view = {.as_integer = true};
    struct rt_image *image;
    *handle = 0;
    if (bytes == 0 || bytes % 4 != 0 || address % 4 != 0 || bytes / 4 > UINT32_MAX) {
        return error_set(SONDE_EINPUT,
                         "a texture of %llu bytes at 0x%llx: texels are 4 bytes, aligned",
                         (unsigned long long)bytes, (unsigned long long)address);
    }
    int rc = rt_image_create(rt, &image, &spec);
    if (rc < 0 || !image) {
        return rc;
    }
    image->of_texture = true;
    rc = rt_texture_object(rt, handle, image, &view);
    if (rc < 0) {
        image_forget(rt, &image->image);
    }
    return rc;
}

int rt_texture_destroy(struct rt *rt, uint64_t handle)
{
    uint64_t place = handle - EXEC_TEXTURE_HANDLE;
    if (place >= rt->textures.count || !rt->textures.data[place].image) {
        return error_set(SONDE_EINPUT, "0x%llx is no texture", (unsigned long long)handle);
    }
    image_forget(rt, rt->textures.data[place].image);
    rt->textures.data[place] = (struct exec_texture){0};
    return 0;
}

int rt_surface_object(struct rt *rt, uint64_t *handle, const struct rt_image *image)
{
    const struct exec_image *exec = &image->image;
    size_t place = 0;
    *handle = 0;
    if (exec->gone || !exec->spec.surface) {
        return error_set(SONDE_EINPUT, exec->gone ? "the image was destroyed"
                                                  : "the array was not created for surfaces");
    }
    while (place < rt->surfaces.count && rt->surfaces.data[place]) {
        place++;
    }
    int rc = check_place(place);
    if (rc < 0) {
        return rc;
    }
    if (place < rt->surfaces.count) {
        rt->surfaces.data[place] = exec;
    } else if (vec_push(&rt->surfaces, exec) < 0) {
        return error_memory();
    }
    *handle = EXEC_SURFACE_HANDLE + place;
    return 0;
}

int rt_surface_destroy(struct rt *rt, uint64_t handle)
{
    uint64_t place = handle - EXEC_SURFACE_HANDLE;
    if (place >= rt->surfaces.count || !rt->surfaces.data[place]) {
        return error_set(SONDE_EINPUT, "0x%llx is no surface", (unsigned long long)handle);
    }
    rt->surfaces.data[place] = NULL;
    return 0;
}

/* Where the module keeps the reference's handle. */
static int reference_find(const struct ptx_var **var, uint64_t *address,
                          const struct rt_module *module, const char *name)
{
    *var = ptx_find_var(module->ptx, name);
    if (!*var || ((*var)->type != TYPE_texref && (*var)->type != TYPE_surfref)) {
        return error_set(SONDE_EINPUT, "%s has no texture or surface reference '%s'",
                         module->ptx->file, name);
    }
    if (!u64_map_get(address, &module->addresses, (uintptr_t)*var)) {
        return error_set(SONDE_EINPUT, "'%s' is defined in another module", name);
    }
    return 0;
}

int rt_reference_bind(struct rt_module *module, const char *name, uint64_t handle)
{
    struct rt *rt = module->rt;
    const struct ptx_var *var;
    uint64_t address = 0;
    int rc = reference_find(&var, &address, module, name);
    if (rc < 0) {
        return rc;
    }
    bool is_texture = var->type == TYPE_texref;
    uint64_t place = handle - (is_texture ? EXEC_TEXTURE_HANDLE : EXEC_SURFACE_HANDLE);
    bool known = is_texture ? place < rt->textures.count && rt->textures.data[place].image
                            : place < rt->surfaces.count && rt->surfaces.data[place];
    if (handle != 0 && !known) {
        return error_set(SONDE_EINPUT, "0x%llx is no %s for '%s'", (unsigned long long)handle,
                         is_texture ? "texture" : "surface", name);
    }
    return rt_copy_to_device(rt, address, &handle, sizeof handle);
}

int rt_reference_bound(struct rt_module *module, const char *name, uint64_t *handle)
{
    const struct ptx_var *var;
    uint64_t address = 0;
    *handle = 0;
    int rc = reference_find(&var, &address, module, name);
    return rc < 0 ? rc : rt_copy_from_device(module->rt, handle, address, sizeof *handle);
}
