/*
 * What a texture fetch returns: coordinates to texels, texels to a value. Coordinates are brought
 * to texels in fixed point with eight fractional bits, which are the weights of linear filtering
 * (CUDA C Programming Guide, "Texture Fetching"). How the hardware rounds on the way was measured
 * (tests/textures). Leaves out: anisotropic filtering, seamless edges of cubes.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "exec/float_format.h"
#include "exec/texture.h"

#define OUTSIDE INT64_MIN

/* Coordinates are cut to so many fractional bits before they are multiplied by the image's size. */
#define COORDINATE_BITS 21
/* Coordinates beyond this are treated as that far away: all of them are outside. */
#define FAR_AWAY 1e6

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
        int64_t index = (int64_t)(int32_t)fetch->coordinate[axis] + offset;
        index = index >= 0 && index < size ? index : OUTSIDE;
        return (struct axis){index, index, 0};
    }
    /* Unnormalized coordinates neither wrap nor mirror. */
    if (!view->normalized && (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR))
        mode = TEXTURE_CLAMP;
    float coordinate = float_of(fetch->coordinate[axis]);
    int64_t texels = fixed_point(coordinate, size, view->normalized, mode);
    if (!linear) {
        int64_t index = address_index((texels >> COORDINATE_BITS) + offset, size, mode);
        return (struct axis){index, index, 0};
    }
    int64_t half = 1 << (COORDINATE_BITS - 1), rounding = half >> 8;
    int64_t fixed = (texels - half + rounding) >> (COORDINATE_BITS - 8);
    int64_t lower = (fixed >> 8) + offset;
    return (struct axis){address_index(lower, size, mode), address_index(lower + 1, size, mode),
                         (uint32_t)(fixed & 255)};
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
        if (x != OUTSIDE && y != OUTSIDE && z != OUTSIDE && fetch->slice < image->layers)
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
    float level = fetch->base ? 0 : fetch->level + view->level_bias;
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
    uint32_t fixed = (uint32_t)(level * 256), first = fixed >> 8;
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
static float channel_float(const struct texel_format *format, uint32_t bits)
{
    if (format->kind == TEXEL_FLOAT && format->bits == 32)
        return float_of(bits);
    if (format->kind == TEXEL_FLOAT && (bits & 0x7c00) == 0x7c00) /* NaNs keep their bits */
        return float_of((bits & 0x8000) << 16 | 0x7f800000 | (bits & 0x3ff) << 13);
    if (format->kind == TEXEL_FLOAT)
        return (float)format_widen(&format_f16, bits);
    if (format->kind == TEXEL_UNSIGNED)
        return (float)((double)bits / ((1u << format->bits) - 1));
    double value = (double)(int32_t)bits / ((1u << (format->bits - 1)) - 1);
    return value < -1 ? -1 : (float)value;
}

/* A channel of the border's colour, which the hardware keeps in the texture's format; of integers
 * it takes the float's low bits. By index there is no border but zero. */
static uint32_t border_channel(const struct texture_fetch *fetch, uint32_t channel)
{
    const struct texel_format *format = &fetch->image->spec.format;
    float colour = fetch->by_index ? 0 : fetch->view.border[channel];
    uint32_t bits = bits_of(colour), width = format->bits;
    if (format->kind == TEXEL_FLOAT)
        return width == 32 ? bits : format_narrow(&format_f16, colour, ROUND_NEAREST, false);
    if (texture_gives_floats(fetch->image, &fetch->view)) {
        double low = format->kind == TEXEL_SIGNED ? -1 : 0;
        double unit = colour > low ? (colour < 1 ? colour : 1) : low;
        double most = format->kind == TEXEL_SIGNED ? (1u << (width - 1)) - 1 : (1u << width) - 1;
        bits = (uint32_t)(int32_t)nearbyint(unit * most);
    }
    return texel_channel(format, (const uint8_t *)&bits, 0);
}

/* A channel of a texel, or of the border. */
static uint32_t fetch_channel(const struct texture_fetch *fetch, uint64_t address, uint32_t channel)
{
    const struct texel_format *format = &fetch->image->spec.format;
    return address ? texel_channel(format, (const uint8_t *)(uintptr_t)address, channel)
                   : border_channel(fetch, channel);
}

/* Channels that the format lacks are 0. */
static void texel_floats(float out[4], const struct texture_fetch *fetch, uint64_t address)
{
    const struct texel_format *format = &fetch->image->spec.format;
    for (uint32_t i = 0; i < 4; i++)
        out[i] = i < format->channels ? channel_float(format, fetch_channel(fetch, address, i)) : 0;
}

static void texel_integers(uint32_t out[4], const struct texture_fetch *fetch, uint64_t address)
{
    const struct texel_format *format = &fetch->image->spec.format;
    for (uint32_t i = 0; i < 4; i++)
        out[i] = i < format->channels ? fetch_channel(fetch, address, i) : 0;
}

/*
 * The shares of the corners, in 256ths: 256 is divided by z, each part by x, each of these by y,
 * and every part rounded, so that the sum stays 256. Halves go to the upper x, and to the upper y
 * of the upper x, the lower y of the lower.
 */
static void corner_weights(uint32_t weight[8], const uint32_t fraction[3])
{
    for (uint32_t z = 0; z < 2; z++) {
        uint32_t whole = z ? fraction[2] : 256 - fraction[2];
        uint32_t right = (whole * fraction[0] + 128) >> 8, left = whole - right;
        uint32_t right_up = (right * fraction[1] + 128) >> 8;
        uint32_t left_up = (left * fraction[1] + 127) >> 8;
        weight[4 * z + 0] = left - left_up;
        weight[4 * z + 1] = right - right_up;
        weight[4 * z + 2] = left_up;
        weight[4 * z + 3] = right_up;
    }
}

/* To 24 or 11 significant bits, halves away from zero. */
static float round_half_away(double value, int bits)
{
    int exponent;
    double fraction = frexp(value, &exponent);
    if (!isfinite(value) || value == 0)
        return (float)value;
    double scaled = ldexp(fabs(fraction), bits);
    return (float)copysign(ldexp(floor(scaled + 0.5), exponent - bits), value);
}

/*
 * Stored integers are filtered as numbers of 16 bits, of [0, 65535] or [-32767, 32767], to which
 * the weighted sum is scaled and rounded, halves upwards.
 */
static float blend_integers(const struct texture_fetch *fetch, const uint32_t *weight,
                            const uint64_t *address, uint32_t corners, uint32_t channel)
{
    const struct texel_format *format = &fetch->image->spec.format;
    bool is_signed = format->kind == TEXEL_SIGNED;
    int64_t sum = 0, most = is_signed ? 32767 : 65535;
    int64_t largest = (1 << (format->bits - (is_signed ? 1 : 0))) - 1;
    for (uint32_t i = 0; i < corners; i++) {
        int32_t value = (int32_t)fetch_channel(fetch, address[i], channel);
        sum += (int32_t)weight[i] * (value < -largest ? -largest : (int64_t)value);
    }
    double scaled = (double)(sum * most) / (double)(largest * 256);
    return (float)(floor(scaled + 0.5) / (double)most);
}

/* Products of 24 and 9 bits are exact in double precision, and all but exact their sum. */
static float blend_floats(const struct texture_fetch *fetch, const uint32_t *weight,
                          const uint64_t *address, uint32_t corners, uint32_t channel)
{
    const struct texel_format *format = &fetch->image->spec.format;
    double sum = 0;
    for (uint32_t i = 0; i < corners; i++)
        if (weight[i] > 0)
            sum += weight[i] *
                   (double)channel_float(format, fetch_channel(fetch, address[i], channel));
    return round_half_away(sum / 256, format->bits == 16 ? 11 : 24);
}

static void blend_level(float out[4], const struct texture_fetch *fetch,
                        const struct footprint *footprint, uint32_t second)
{
    const struct texel_format *format = &fetch->image->spec.format;
    const uint64_t *address = &footprint->address[second * footprint->corners];
    uint32_t weight[8];
    corner_weights(weight, footprint->fraction[second]);
    for (uint32_t i = 0; i < 4; i++) {
        out[i] = 0;
        if (i < format->channels)
            out[i] = format->kind == TEXEL_FLOAT
                         ? blend_floats(fetch, weight, address, footprint->corners, i)
                         : blend_integers(fetch, weight, address, footprint->corners, i);
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
    float levels[2][4];
    blend_level(levels[0], fetch, footprint, 0);
    if (footprint->count > footprint->corners) {
        double share = footprint->level_fraction / 256.0;
        blend_level(levels[1], fetch, footprint, 1);
        for (uint32_t i = 0; i < 4; i++)
            levels[0][i] = round_half_away(
                (double)levels[0][i] * (1 - share) + (double)levels[1][i] * share, 24);
    }
    for (uint32_t i = 0; i < 4; i++)
        out[i] = bits_of(levels[0][i]);
}
