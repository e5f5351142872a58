/*
 * Which texels a fetch reads, and with what fractions: coordinates, levels of detail, faces of
 * cubes. Coordinates are brought to texels in fixed point with eight fractional bits, which are the
 * weights of linear filtering (CUDA C Programming Guide, "Texture Fetching"). How the hardware cuts
 * and rounds on the way was measured on an H200 (tests/textures). Leaves out: anisotropic
 * filtering, seamless edges of cubes, and what the hardware's logarithm makes of gradients that are
 * no powers of two.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "exec/texture/texture.h"
#include "isa/lane_math.h"

#define OUTSIDE INT64_MIN
/* Coordinates are cut to so many fractional bits before they are multiplied by the image's size. */
#define COORDINATE_BITS 21
/* Coordinates beyond this are treated as that far away: all of them are outside. */
#define FAR_AWAY 1e6

/* The texel that an index means under an address mode. */
static int64_t address_index(int64_t index, int64_t size, enum texture_address mode)
{
    if (index >= 0 && index < size)
        return index;
    switch (mode) {
    case TEXTURE_WRAP:
        index %= size;
        return index < 0 ? index + size : index;
    case TEXTURE_MIRROR:
        index %= 2 * size;
        index = index < 0 ? index + 2 * size : index;
        return index < size ? index : 2 * size - 1 - index;
    case TEXTURE_CLAMP:
        return index < 0 ? 0 : size - 1;
    default:
        return OUTSIDE;
    }
}

struct axis {
    int64_t lower, upper; /* texels; the same when the nearest is taken */
    uint32_t fraction;
};

/*
 * In 2^-21ths of a texel. Numbers without a full mantissa are zero; wrap and mirror drop whole
 * images, and infinities with them.
 */
static int64_t fixed_point(float coordinate, uint32_t size, bool normalized,
                           enum texture_address mode)
{
    double place = fabsf(coordinate) < FLT_MIN ? 0 : (double)coordinate;
    if (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR) {
        double images = mode == TEXTURE_WRAP ? floor(place) : 2 * floor(place / 2);
        place = isfinite(place) ? place - images : 0;
    }
    if (!(place > -FAR_AWAY))
        place = place != place ? 0 : -FAR_AWAY;
    place = place < FAR_AWAY ? place : FAR_AWAY;
    int64_t fixed = (int64_t)floor(place * (1 << COORDINATE_BITS));
    return normalized ? fixed * size : fixed;
}

static struct axis resolve_axis(const struct texture_fetch *fetch, uint32_t axis, uint32_t size)
{
    const struct texture_view *view = &fetch->view;
    enum texture_address mode = view->address[axis];
    bool linear = view->linear || fetch->gather;
    int64_t offset = fetch->offset[axis];
    if (fetch->by_index) {
        /* Of one-dimensional images only linear memory has indices: an array reads as zero. */
        bool reads = fetch->image->spec.shape != IMAGE_1D;
        int64_t index = (int64_t)(int32_t)fetch->coordinate[axis] + offset;
        index = reads && index >= 0 && index < size ? index : OUTSIDE;
        return (struct axis){index, index, 0};
    }
    /* Unnormalized coordinates neither wrap nor mirror. */
    if (!view->normalized && (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR))
        mode = TEXTURE_CLAMP;
    float coordinate = lane_float(fetch->coordinate[axis]);
    int64_t texels = fixed_point(coordinate, size, view->normalized, mode);
    if (!linear) {
        int64_t index = address_index((texels >> COORDINATE_BITS) + offset, size, mode);
        return (struct axis){index, index, 0};
    }
    int64_t half = 1 << (COORDINATE_BITS - 1), rounding = half >> 8;
    int64_t fixed = (texels - half + rounding) >> (COORDINATE_BITS - 8);
    int64_t index = (fixed >> 8) + offset;
    int64_t lower = address_index(index, size, mode), upper = address_index(index + 1, size, mode);
    /* Where clamping makes both one texel the axis has weight 0, which changes the rounding. */
    bool clamped = mode == TEXTURE_CLAMP && lower == upper;
    return (struct axis){lower, upper, clamped ? 0 : (uint32_t)(fixed & 255)};
}

/* Of the corners of one level, from `first` on. */
static void level_footprint(struct footprint *out, const struct texture_fetch *fetch,
                            uint32_t number, uint32_t second)
{
    const struct exec_image *image = fetch->image;
    const struct image_level *level = &image->level[number];
    uint32_t dimensions = image_dimensions(image->spec.shape);
    uint32_t sizes[3] = {level->width, level->height, level->depth};
    struct axis axes[3] = {{0}, {0}, {0}};
    /* One-dimensional arrays are filtered as two-dimensional ones at y 0: half of the border. */
    if (image->spec.shape == IMAGE_1D && fetch->view.linear && !fetch->by_index)
        dimensions = 2;
    for (uint32_t i = 0; i < dimensions && i < 3; i++) {
        axes[i] = resolve_axis(fetch, i, sizes[i]);
        out->fraction[second][i] = axes[i].fraction;
    }
    bool linear = !fetch->by_index && (fetch->view.linear || fetch->gather);
    out->corners = linear ? 1u << dimensions : 1;
    for (uint32_t corner = 0; corner < out->corners; corner++) {
        int64_t x = corner & 1 ? axes[0].upper : axes[0].lower;
        int64_t y = corner & 2 ? axes[1].upper : axes[1].lower;
        int64_t z = corner & 4 ? axes[2].upper : axes[2].lower;
        uint64_t address = 0;
        if (x != OUTSIDE && y != OUTSIDE && z != OUTSIDE && fetch->slice < image->layers)
            address = image_byte(image, level, (uint64_t)x * image->texel_bytes, (uint32_t)y,
                                 (uint64_t)z + fetch->slice);
        out->address[out->count++] = address;
    }
}

/* In 256ths, cut towards zero. */
static int32_t level_fixed(float level)
{
    return level > -4096 ? (level < 4096 ? (int32_t)(level * 256) : 4096 * 256) : -4096 * 256;
}

static int32_t level_of(const struct texture_fetch *fetch)
{
    const struct texture_view *view = &fetch->view;
    int32_t last = (int32_t)(fetch->image->spec.levels - 1) * 256;
    int32_t least = level_fixed(view->level_min), most = level_fixed(view->level_max);
    int32_t level =
        fetch->base ? 0 : level_fixed(fetch->level) + (int32_t)lrintf(view->level_bias * 256);
    level = level < least ? least : level;
    level = level > most ? most : level;
    return level < 0 ? 0 : level > last ? last : level;
}

void texture_footprint(struct footprint *out, const struct texture_fetch *fetch)
{
    uint32_t last = fetch->image->spec.levels - 1;
    memset(out, 0, sizeof *out);
    if (last == 0) {
        level_footprint(out, fetch, 0, 0);
        return;
    }
    uint32_t level = (uint32_t)level_of(fetch), first = level >> 8;
    if (fetch->by_index || !fetch->view.level_linear) {
        level_footprint(out, fetch, (level + 128) >> 8, 0);
        return;
    }
    out->level_fraction = level & 255;
    level_footprint(out, fetch, first, 0);
    if (out->level_fraction)
        level_footprint(out, fetch, first + 1 <= last ? first + 1 : last, 1);
}

float texture_gradient_level(const struct exec_image *image, const struct texture_view *view,
                             const float *dx, const float *dy)
{
    const struct image_level *level = &image->level[0];
    uint32_t sizes[3] = {level->width, level->height, level->depth};
    double square[2] = {0, 0};
    uint32_t dimensions = image_dimensions(image->spec.shape);
    for (uint32_t i = 0; i < dimensions && i < 3; i++) {
        double scale = view->normalized ? sizes[i] : 1;
        square[0] += dx[i] * scale * (dx[i] * scale);
        square[1] += dy[i] * scale * (dy[i] * scale);
    }
    double longest = square[0] > square[1] ? square[0] : square[1];
    return longest > 0 ? (float)(0.5 * log2(longest)) : -1000;
}

uint32_t texture_cube_face(float out[2], const float direction[3])
{
    float x = direction[0], y = direction[1], z = direction[2];
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), major, s, t;
    uint32_t face;
    if (az >= ax && az >= ay) {
        face = signbit(z) ? 5 : 4;
        major = az, s = signbit(z) ? -x : x, t = -y;
    } else if (ay >= ax) {
        face = signbit(y) ? 3 : 2;
        major = ay, s = x, t = signbit(y) ? -z : z;
    } else {
        face = signbit(x) ? 1 : 0;
        major = ax, s = signbit(x) ? z : -z, t = -y;
    }
    out[0] = (s / major + 1) * 0.5f;
    out[1] = (t / major + 1) * 0.5f;
    return face;
}
