/*
 * Images as exec reads them: where each level lies and how its texels are laid out, and what a
 * fetch of a texture returns. Whoever launches owns images and objects; exec only reads them.
 *
 * Layout of arrays. One-dimensional levels are rows. Others are tiled, so that texels that are near
 * each other in two dimensions share lines: blocks of 64 bytes x 8 rows, in order of rows; inside a
 * block the byte at (x, y) lies at
 *
 *     | 8: x bit 5 | 7 .. 6: y bits 2, 1 | 5: x bit 4 | 4: y bit 0 | 3 .. 0: x bits 3 .. 0 |
 *
 * so that 32 bytes are 16 x 2 and a line of 128 bytes is 32 x 4 (Hakura and Gupta, The Design and
 * Analysis of a Cache Architecture for Texture Mapping, 1997, call two such steps 4D blocking; the
 * bits are those of the block-linear surfaces that the Tegra X1 manual documents). A slice of
 * depth, a layer, a face begins at a multiple of 512 bytes; there is no tiling across slices.
 */
#ifndef SONDE_EXEC_TEXTURE_H
#define SONDE_EXEC_TEXTURE_H

#include "exec/exec.h"
#include "isa/image.h"

#define IMAGE_LEVELS_MAX 17
#define IMAGE_BLOCK_BYTES 512u

struct image_level {
    uint64_t address, slice_bytes;
    uint32_t width, height, depth; /* of 3D: slices; else 1 */
    uint32_t row_bytes;            /* of a row of texels, or of a row of blocks' width */
};

struct exec_image {
    struct image_spec spec; /* levels at least 1 */
    uint32_t texel_bytes, layers;
    bool tiled, gone; /* gone: the memory has been given back, objects remain */
    struct image_level level[IMAGE_LEVELS_MAX];
};

/* A texture object; no image: a handle that was given back. */
struct exec_texture {
    const struct exec_image *image;
    struct texture_view view;
};

/* Fill the levels from the specification, from `address` on; the bytes they take. */
uint64_t image_lay_out(struct exec_image *image, uint64_t address);
uint32_t image_dimensions(enum image_shape shape); /* coordinates but for the layer; cubes: 2 */
bool image_is_layered(enum image_shape shape);     /* has a layer's number among its coordinates */
bool image_is_cube(enum image_shape shape);

/* Of a byte of a block, as drawn above. */
static inline uint32_t image_byte_of_block(uint64_t x_bytes, uint64_t y)
{
    return (uint32_t)((x_bytes & 32) << 3 | (y & 6u) << 5 | (x_bytes & 16) << 1 | (y & 1u) << 4 |
                      (x_bytes & 15));
}

/* Where a byte of a row lies. `slice`: of depth, or layer (times six, and face). */
static inline uint64_t image_byte(const struct exec_image *image, const struct image_level *level,
                                  uint64_t x_bytes, uint32_t y, uint64_t slice)
{
    uint64_t at = level->address + slice * level->slice_bytes;
    if (!image->tiled)
        return at + (uint64_t)y * level->row_bytes + x_bytes;
    uint64_t block = (y / 8) * (uint64_t)(level->row_bytes / 64) + x_bytes / 64;
    return at + block * IMAGE_BLOCK_BYTES + image_byte_of_block(x_bytes, y);
}

/*
 * For timing models: where a byte of two-dimensional linear memory would lie if its rows were tiled
 * as those of arrays, in the same range of addresses. Bytes keep their 16; what is left of a row
 * behind its last block follows the blocks of its eight rows; the last rows stay where they are, if
 * they are fewer than eight or end before the pitch does. Other images are as they are.
 */
uint64_t image_blocked_address(const struct exec_image *image, uint64_t address);

/* One channel as it lies in memory: bits of a float or an integer, integers extended to 32 bits. */
uint32_t texel_channel(const struct texel_format *format, const uint8_t *texel, uint32_t channel);

/*
 * A fetch, with everything that the instruction adds to the texture. Coordinates are the bits of
 * .f32 or .s32; `slice` counts layers.
 */
struct texture_fetch {
    const struct exec_image *image;
    struct texture_view view; /* the texture's, changed by a sampler */
    bool by_index, gather;
    bool base;          /* no level was asked for: bias does not apply */
    uint32_t component; /* gather */
    uint32_t coordinate[3], slice;
    int32_t offset[3];
    float level;
};

/* The texels that a fetch reads, with their shares; address 0: the border. */
#define FOOTPRINT_MAX 16
struct footprint {
    uint32_t count;                  /* 1 (nearest), 2, 4, 8, and twice that between levels */
    uint32_t corners;                /* of one level */
    uint32_t fraction[2][3];         /* of each level and axis, in 256ths, to the upper texel */
    uint32_t level_fraction;         /* in 256ths, to the second level */
    uint64_t address[FOOTPRINT_MAX]; /* corner bit 0: x + 1, bit 1: y + 1, bit 2: z + 1 */
};
void texture_footprint(struct footprint *out, const struct texture_fetch *fetch);

/* The four components as 32-bit words: floats, or integers where the view reads those. */
void texture_value(uint32_t out[4], const struct texture_fetch *fetch,
                   const struct footprint *footprint);

/* Does a fetch of this view give floats? */
bool texture_gives_floats(const struct exec_image *image, const struct texture_view *view);

/* The level of detail of gradients, one for each axis of the image. */
float texture_gradient_level(const struct exec_image *image, const struct texture_view *view,
                             const float *dx, const float *dy);
/* A direction as the face (0 to 5: +x, -x, +y, -y, +z, -z) and coordinates of 0 to 1 on it. */
uint32_t texture_cube_face(float out[2], const float direction[3]);

/*
 * Of a texture access between issue and commit, for timing models: the image that lane reads, and
 * the addresses there, without repetition or order; returns how many.
 */
const struct exec_image *exec_texture_image(const struct exec_warp *warp,
                                            const struct exec_access *access, uint32_t lane);
uint32_t exec_texture_addresses(uint64_t out[FOOTPRINT_MAX], uint32_t *texel_bytes,
                                const struct exec_warp *warp, const struct exec_access *access,
                                uint32_t lane);
/* The same of those that the value depends on: filtering reads some without weight. */
uint32_t exec_texture_needed(uint64_t out[FOOTPRINT_MAX], uint32_t *texel_bytes,
                             const struct exec_warp *warp, const struct exec_access *access,
                             uint32_t lane);

#endif
