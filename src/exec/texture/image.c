/*
 * Images: the layout of their levels, and single channels. What the layout is stands in texture.h.
 */
#include <string.h>

#include "exec/texture/texture.h"

uint32_t image_dimensions(enum image_shape shape)
{
    switch (shape) {
    case IMAGE_BUFFER:
    case IMAGE_1D:
    case IMAGE_1D_LAYERED:
        return 1;
    case IMAGE_3D:
        return 3;
    default:
        return 2;
    }
}

bool image_is_layered(enum image_shape shape)
{
    return shape == IMAGE_1D_LAYERED || shape == IMAGE_2D_LAYERED || shape == IMAGE_CUBE_LAYERED;
}

bool image_is_cube(enum image_shape shape)
{
    return shape == IMAGE_CUBE || shape == IMAGE_CUBE_LAYERED;
}

static uint32_t halved(uint32_t size, uint32_t times)
{
    return size >> times ? size >> times : 1;
}

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

uint64_t image_lay_out(struct exec_image *image, uint64_t address)
{
    const struct image_spec *spec = &image->spec;
    bool linear = spec->shape == IMAGE_BUFFER || spec->shape == IMAGE_PITCH;
    uint32_t dimensions = image_dimensions(spec->shape);
    uint64_t at = address;
    image->texel_bytes = spec->format.bits / 8 * spec->format.channels;
    image->tiled = !linear && dimensions > 1;
    image->layers =
        (image_is_layered(spec->shape) ? spec->depth : 1) * (image_is_cube(spec->shape) ? 6 : 1);
    for (uint32_t i = 0; i < spec->levels; i++) {
        struct image_level *level = &image->level[i];
        level->address = at;
        level->width = halved(spec->width, i);
        level->height = dimensions > 1 ? halved(spec->height, i) : 1;
        level->depth = dimensions > 2 ? halved(spec->depth, i) : 1;
        uint64_t row = (uint64_t)level->width * image->texel_bytes;
        level->row_bytes = (uint32_t)(linear ? spec->pitch_bytes : align_up(row, 64));
        uint64_t rows = image->tiled ? align_up(level->height, 8) : level->height;
        level->slice_bytes = align_up(rows * level->row_bytes, IMAGE_BLOCK_BYTES);
        at += level->slice_bytes * level->depth * image->layers;
    }
    if (spec->shape == IMAGE_BUFFER)
        return (uint64_t)spec->width * image->texel_bytes;
    if (spec->shape == IMAGE_PITCH)
        return (spec->height - 1) * spec->pitch_bytes + (uint64_t)spec->width * image->texel_bytes;
    return at - address;
}

uint64_t image_blocked_address(const struct exec_image *image, uint64_t address)
{
    const struct image_level *level = &image->level[0];
    uint64_t pitch = level->row_bytes, width = (uint64_t)level->width * image->texel_bytes;
    if (image->spec.shape != IMAGE_PITCH || pitch == 0) {
        return address;
    }
    uint64_t offset = address - level->address, y = offset / pitch, x = offset % pitch;
    uint64_t bands = level->height / 8, in_blocks = pitch / 64 * 64;
    bands -= bands > 0 && level->height % 8 == 0 && width < pitch;
    if (y / 8 >= bands) {
        return address;
    }
    uint64_t band = level->address + y / 8 * 8 * pitch;
    if (x < in_blocks) {
        return band + x / 64 * IMAGE_BLOCK_BYTES + image_byte_of_block(x, y);
    }
    return band + in_blocks * 8 + y % 8 * (pitch - in_blocks) + (x - in_blocks);
}

uint32_t texel_channel(const struct texel_format *format, const uint8_t *texel, uint32_t channel)
{
    uint32_t bits = format->bits, value = 0;
    memcpy(&value, texel + channel * (bits / 8), bits / 8);
    if (format->kind == TEXEL_SIGNED && bits < 32)
        value = (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
    return value;
}
