/*
 * What a texture or a surface is made of: the image (shape, texel format, sizes) and the view that
 * a texture object has of it (addressing, filtering, how coordinates and texels are read). Only the
 * description: exec reads images, rt places them, a real device's driver gets the same words.
 * Source: CUDA C Programming Guide, "Texture and Surface Memory" and the driver API's array,
 * texture and surface objects. Leaves out: multisampled and block-compressed images, anisotropy.
 */
#ifndef SONDE_ISA_IMAGE_H
#define SONDE_ISA_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

enum texel_kind { TEXEL_UNSIGNED, TEXEL_SIGNED, TEXEL_FLOAT };

struct texel_format {
    enum texel_kind kind;
    uint8_t bits;     /* of a channel: 8, 16, 32; floats 16, 32 */
    uint8_t channels; /* 1, 2, 4 */
};

/* BUFFER and PITCH are linear memory of the program's; the others are arrays with a layout of their
 * own. */
enum image_shape {
    IMAGE_BUFFER,
    IMAGE_PITCH, /* two dimensions, rows pitch_bytes apart */
    IMAGE_1D,
    IMAGE_2D,
    IMAGE_3D,
    IMAGE_1D_LAYERED,
    IMAGE_2D_LAYERED,
    IMAGE_CUBE,
    IMAGE_CUBE_LAYERED,
};

struct image_spec {
    enum image_shape shape;
    struct texel_format format;
    uint32_t width, height;        /* texels; a cube's are equal */
    uint32_t depth;                /* of 3D; layers, or layers of six faces */
    uint32_t levels;               /* of detail, each half as large; 0 counts as 1 */
    bool surface;                  /* kernels may write it */
    uint64_t address, pitch_bytes; /* of linear memory */
};

enum texture_address { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER };

struct texture_view {
    enum texture_address address[3];
    bool linear;     /* filtering inside a level; else the nearest texel */
    bool normalized; /* coordinates of 0 to 1 */
    bool
        as_integer; /* texels of 8 and 16 bits stay integers; else they become 0 to 1, or -1 to 1 */
    bool srgb;      /* of 8-bit texels that become 0 to 1, all channels but the last of four are
                       sRGB and become linear before they are filtered */
    bool level_linear; /* filtering between levels */
    float level_bias, level_min, level_max;
    float border[4];
};

/*
 * A .samplerref variable holds its sampler in 64 bits:
 *
 *     | 63 .. 10: 0 | 9 .. 8 | 7 .. 6 | 5 .. 4 | 3: 0 | 2: unnormalized | 1: linear | 0: 1 |
 *                     address of z, y, x
 */
enum {
    SAMPLER_PRESENT = 1,
    SAMPLER_LINEAR = 2,
    SAMPLER_UNNORMALIZED = 4,
    SAMPLER_ADDRESS_SHIFT = 4, /* and 2 more for each axis */
    SAMPLER_DEFAULT = 1 | TEXTURE_CLAMP << 4 | TEXTURE_CLAMP << 6 | TEXTURE_CLAMP << 8
};

#endif
