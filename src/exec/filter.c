/*
 * What a texture fetch returns: coordinates to texels, texels to a value. Coordinates are brought
 * to texels in fixed point with eight fractional bits, which are the weights of linear filtering
 * (CUDA C Programming Guide, "Texture Fetching"). How the hardware rounds on the way was measured
 * (tests/textures). Leaves out: anisotropic filtering, seamless edges of cubes.
 */
#include <math.h>
#include <string.h>

#include "exec/float_format.h"
#include "exec/texture.h"

#define OUTSIDE INT64_MIN

/* Coordinates beyond this many texels are treated as that far away: all of them are outside. */
#define FAR_AWAY 1e9

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

bool texture_gives_floats(const struct exec_image *image, const struct texture_view *view)
{
    const struct texel_format *format = &image->spec.format;
    return format->kind == TEXEL_FLOAT || (format->bits < 32 && !view->as_integer);
}

/* Coordinates. */

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

/* In texels with eight fractional bits. */
static int64_t fixed_point(float coordinate, uint32_t size, bool normalized, double shift)
{
    double texels = normalized ? (double)coordinate * size : (double)coordinate;
    if (!(texels > -FAR_AWAY))
        texels = texels != texels ? 0 : -FAR_AWAY;
    if (texels > FAR_AWAY)
        texels = FAR_AWAY;
    return (int64_t)floor((texels - shift) * 256 + 0.5);
}

static struct axis resolve_axis(const struct texture_fetch *fetch, uint32_t axis, uint32_t size)
{
    const struct texture_view *view = &fetch->view;
    enum texture_address mode = view->address[axis];
    bool linear = view->linear || fetch->gather;
    int64_t offset = fetch->offset[axis];
    if (fetch->by_index) {
        int64_t index = (int64_t)(int32_t)fetch->coordinate[axis] + offset;
        index = index >= 0 && index < size ? index : OUTSIDE;
        return (struct axis){index, index, 0};
    }
    /* Unnormalized coordinates neither wrap nor mirror. */
    if (!view->normalized && (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR))
        mode = TEXTURE_CLAMP;
    float coordinate = float_of(fetch->coordinate[axis]);
    int64_t fixed = fixed_point(coordinate, size, view->normalized, linear ? 0.5 : 0);
    int64_t lower = (fixed >> 8) + offset;
    return (struct axis){address_index(lower, size, mode),
                         linear ? address_index(lower + 1, size, mode)
                                : address_index(lower, size, mode),
                         linear ? (uint32_t)(fixed & 255) : 0};
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
    for (uint32_t i = 0; i < dimensions; i++) {
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
        if (x != OUTSIDE && y != OUTSIDE && z != OUTSIDE)
            address = image_byte(image, level, (uint64_t)x * image->texel_bytes, (uint32_t)y,
                                 (uint64_t)z + fetch->slice);
        out->address[out->count++] = address;
    }
}

void texture_footprint(struct footprint *out, const struct texture_fetch *fetch)
{
    const struct texture_view *view = &fetch->view;
    uint32_t last = fetch->image->spec.levels - 1;
    memset(out, 0, sizeof *out);
    float level = fetch->level + view->level_bias;
    level = level >= view->level_min ? level : view->level_min;
    level = level <= view->level_max ? level : view->level_max;
    level = level >= 0 ? level : 0;
    level = level <= (float)last ? level : (float)last;
    if (fetch->by_index || last == 0) {
        level_footprint(out, fetch, fetch->by_index ? (uint32_t)level : 0, 0);
        return;
    }
    if (!view->level_linear) {
        level_footprint(out, fetch, (uint32_t)floorf(level + 0.5f), 0);
        return;
    }
    uint32_t fixed = (uint32_t)(level * 256 + 0.5f), first = fixed >> 8;
    out->level_fraction = fixed & 255;
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
    for (uint32_t i = 0; i < image_dimensions(image->spec.shape); i++) {
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

/* Values. */

/* A channel as a float: of [0, 1] or [-1, 1] when it is stored as an integer. */
static float channel_float(const struct texel_format *format, const uint8_t *texel,
                           uint32_t channel)
{
    uint32_t bits = texel_channel(format, texel, channel);
    if (format->kind == TEXEL_FLOAT)
        return format->bits == 32 ? float_of(bits) : (float)format_widen(&format_f16, bits);
    if (format->kind == TEXEL_UNSIGNED)
        return (float)((double)bits / ((1u << format->bits) - 1));
    double value = (double)(int32_t)bits / ((1u << (format->bits - 1)) - 1);
    return value < -1 ? -1 : (float)value;
}

/* A texel, or the border; channels that the format lacks are 0, 0 and 1. */
static void texel_floats(float out[4], const struct texture_fetch *fetch, uint64_t address)
{
    const struct texel_format *format = &fetch->image->spec.format;
    for (uint32_t i = 0; i < 4; i++) {
        out[i] = i == 3 ? 1 : 0;
        if (!address)
            out[i] = fetch->view.border[i];
        else if (i < format->channels)
            out[i] = channel_float(format, (const uint8_t *)(uintptr_t)address, i);
    }
}

static void texel_integers(uint32_t out[4], const struct texture_fetch *fetch, uint64_t address)
{
    const struct texel_format *format = &fetch->image->spec.format;
    for (uint32_t i = 0; i < 4; i++) {
        out[i] = address && i == 3;
        if (address && i < format->channels)
            out[i] = texel_channel(format, (const uint8_t *)(uintptr_t)address, i);
    }
}

/* The corners of one level, weighed by products of eight-bit fractions. */
static void blend_level(double out[4], const struct texture_fetch *fetch,
                        const struct footprint *footprint, uint32_t second)
{
    const uint32_t *fraction = footprint->fraction[second];
    memset(out, 0, 4 * sizeof *out);
    for (uint32_t corner = 0; corner < footprint->corners; corner++) {
        double weight = 1;
        float texel[4];
        for (uint32_t axis = 0; 1u << axis < footprint->corners; axis++)
            weight *= (corner >> axis & 1 ? fraction[axis] : 256 - fraction[axis]) / 256.0;
        texel_floats(texel, fetch, footprint->address[second * footprint->corners + corner]);
        for (uint32_t i = 0; i < 4 && weight > 0; i++)
            out[i] += weight * texel[i];
    }
}

/* The four texels around, counter-clockwise from the lower left: PTX ISA 9.0, tld4. */
static void gather_value(uint32_t out[4], const struct texture_fetch *fetch,
                         const struct footprint *footprint)
{
    static const uint8_t corner[4] = {2, 3, 1, 0};
    bool floats = texture_gives_floats(fetch->image, &fetch->view);
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t address = footprint->address[corner[i]];
        float values[4];
        uint32_t words[4];
        if (floats)
            texel_floats(values, fetch, address);
        else
            texel_integers(words, fetch, address);
        out[i] = floats ? bits_of(values[fetch->component]) : words[fetch->component];
    }
}

void texture_value(uint32_t out[4], const struct texture_fetch *fetch,
                   const struct footprint *footprint)
{
    if (fetch->gather) {
        gather_value(out, fetch, footprint);
        return;
    }
    if (!texture_gives_floats(fetch->image, &fetch->view)) {
        texel_integers(out, fetch, footprint->address[0]);
        return;
    }
    if (footprint->count == 1) {
        float value[4];
        texel_floats(value, fetch, footprint->address[0]);
        for (uint32_t i = 0; i < 4; i++)
            out[i] = bits_of(value[i]);
        return;
    }
    double levels[2][4];
    blend_level(levels[0], fetch, footprint, 0);
    if (footprint->count > footprint->corners) {
        double share = footprint->level_fraction / 256.0;
        blend_level(levels[1], fetch, footprint, 1);
        for (uint32_t i = 0; i < 4; i++)
            levels[0][i] = levels[0][i] * (1 - share) + levels[1][i] * share;
    }
    for (uint32_t i = 0; i < 4; i++)
        out[i] = bits_of((float)levels[0][i]);
}
