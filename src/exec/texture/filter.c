/*
 * What a texture fetch returns: the texels of its footprint as floats or integers, weighed and
 * added up. How the hardware rounds weights, texels and sums was measured on an H200
 * (tests/textures), where all agrees to the bit but for signed 8-bit texels, whose last of 16 bits
 * may differ. How it rounds what sRGB texels become was not measured: they follow IEC 61966-2-1,
 * the border's colour is linear.
 */
#include <math.h>
#include <string.h>

#include "exec/lane/float_format.h"
#include "exec/texture/texture.h"
#include "isa/lane_math.h"

bool texture_gives_floats(const struct exec_image *image, const struct texture_view *view)
{
    const struct texel_format *format = &image->spec.format;
    return format->kind == TEXEL_FLOAT || (format->bits < 32 && !view->as_integer);
}

/* A channel as a float: of [0, 1] or [-1, 1] when it is stored as an integer. */
static float channel_float(const struct texel_format *format, uint32_t bits)
{
    if (format->kind == TEXEL_FLOAT && format->bits == 32)
        return lane_float(bits);
    if (format->kind == TEXEL_FLOAT && (bits & 0x7c00) == 0x7c00) /* NaNs keep their bits */
        return lane_float((bits & 0x8000) << 16 | 0x7f800000 | (bits & 0x3ff) << 13);
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
    uint32_t bits = lane_bits_f32(colour), width = format->bits;
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

static bool is_srgb(const struct texture_fetch *fetch, uint32_t channel)
{
    const struct texel_format *format = &fetch->image->spec.format;
    return fetch->view.srgb && format->kind == TEXEL_UNSIGNED && format->bits == 8 && channel < 3;
}

static float texel_float(const struct texture_fetch *fetch, uint64_t address, uint32_t channel)
{
    float stored =
        channel_float(&fetch->image->spec.format, fetch_channel(fetch, address, channel));
    if (!address || !is_srgb(fetch, channel))
        return stored;
    double linear =
        stored <= 0.04045F ? (double)stored / 12.92 : pow(((double)stored + 0.055) / 1.055, 2.4);
    return (float)linear;
}

/* Channels that the format lacks are 0. */
static void texel_floats(float out[4], const struct texture_fetch *fetch, uint64_t address)
{
    const struct texel_format *format = &fetch->image->spec.format;
    for (uint32_t i = 0; i < 4; i++)
        out[i] = i < format->channels ? texel_float(fetch, address, i) : 0;
}

static void texel_integers(uint32_t out[4], const struct texture_fetch *fetch, uint64_t address)
{
    const struct texel_format *format = &fetch->image->spec.format;
    for (uint32_t i = 0; i < 4; i++)
        out[i] = i < format->channels ? fetch_channel(fetch, address, i) : 0;
}

/*
 * The shares of a level's corners in `whole` 256ths: divided by z, each part by x, each of these by
 * y, and every part rounded, so that the sum stays. Halves go to the upper z, the upper x, and to
 * the upper y of the upper x, the lower y of the lower.
 */
static void corner_weights(uint32_t weight[8], const uint32_t fraction[3], uint32_t whole)
{
    uint32_t above = (whole * fraction[2] + 128) >> 8;
    for (uint32_t z = 0; z < 2; z++) {
        uint32_t part = z ? above : whole - above;
        uint32_t right = (part * fraction[0] + 128) >> 8, left = part - right;
        uint32_t right_up = (right * fraction[1] + 128) >> 8;
        uint32_t left_up = (left * fraction[1] + 127) >> 8;
        weight[4 * z + 0] = left - left_up;
        weight[4 * z + 1] = right - right_up;
        weight[4 * z + 2] = left_up;
        weight[4 * z + 3] = right_up;
    }
}

/* Of all texels of a footprint, 256 in all. */
static void footprint_weights(uint32_t weight[FOOTPRINT_MAX], const struct footprint *footprint)
{
    uint32_t corners = footprint->corners, part[8];
    for (uint32_t level = 0; level * corners < footprint->count; level++) {
        uint32_t whole = level ? footprint->level_fraction : 256 - footprint->level_fraction;
        corner_weights(part, footprint->fraction[level], whole);
        memcpy(&weight[level * corners], part, corners * sizeof *part);
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
static float blend_integers(const struct texture_fetch *fetch, const struct footprint *footprint,
                            const uint32_t *weight, uint32_t channel)
{
    const struct texel_format *format = &fetch->image->spec.format;
    bool is_signed = format->kind == TEXEL_SIGNED;
    int64_t sum = 0, most = is_signed ? 32767 : 65535;
    int64_t largest = (1 << (format->bits - (is_signed ? 1 : 0))) - 1;
    for (uint32_t i = 0; i < footprint->count; i++) {
        int32_t value = (int32_t)fetch_channel(fetch, footprint->address[i], channel);
        sum += (int32_t)weight[i] * (int64_t)value;
    }
    double scaled = floor((double)(sum * most) / (double)(largest * 256) + 0.5);
    return (float)((scaled < (double)-most ? (double)-most : scaled) / (double)most);
}

/*
 * Up to four floats are brought to the exponent of the largest that has a share, cut to four bits
 * more than their mantissas have, and summed up exactly.
 */
static double sum_floats(const double *value, const uint32_t *weight, uint32_t count, int bits)
{
    double sum = 0, unit = 0;
    for (uint32_t i = 0; i < count; i++) {
        int exponent = 0;
        if (!weight[i] || value[i] == 0 || !isfinite(value[i]))
            continue;
        frexp(value[i], &exponent);
        double own = ldexp(1, exponent - bits - 4);
        unit = own > unit ? own : unit;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool number = isfinite(value[i]) && unit > 0;
        if (weight[i])
            sum += weight[i] * (number ? trunc(value[i] / unit) * unit : value[i]);
    }
    return sum;
}

static float blend_floats(const struct texture_fetch *fetch, const struct footprint *footprint,
                          const uint32_t *weight, uint32_t channel)
{
    const struct texel_format *format = &fetch->image->spec.format;
    int bits = format->bits == 16 ? 11 : 24;
    uint32_t group = footprint->corners < 4 ? footprint->corners : 4;
    double value[FOOTPRINT_MAX] = {0}, sum = 0;
    for (uint32_t i = 0; i < footprint->count; i++)
        value[i] = weight[i] ? (double)channel_float(
                                   format, fetch_channel(fetch, footprint->address[i], channel))
                             : 0;
    for (uint32_t i = 0; i < footprint->count; i += group)
        sum += sum_floats(&value[i], &weight[i], group, bits);
    if (isnan(sum))
        return lane_float(bits == 11 ? 0x7fffe000 : 0x7fffffff);
    return round_half_away(sum / 256, bits);
}

static float blend_srgb(const struct texture_fetch *fetch, const struct footprint *footprint,
                        const uint32_t *weight, uint32_t channel)
{
    double sum = 0;
    for (uint32_t i = 0; i < footprint->count; i++)
        sum += weight[i] * (double)texel_float(fetch, footprint->address[i], channel);
    return (float)(sum / 256);
}

static float blend_channel(const struct texture_fetch *fetch, const struct footprint *footprint,
                           const uint32_t *weight, uint32_t channel)
{
    if (fetch->image->spec.format.kind == TEXEL_FLOAT)
        return blend_floats(fetch, footprint, weight, channel);
    return is_srgb(fetch, channel) ? blend_srgb(fetch, footprint, weight, channel)
                                   : blend_integers(fetch, footprint, weight, channel);
}

static void blend(uint32_t out[4], const struct texture_fetch *fetch,
                  const struct footprint *footprint)
{
    uint32_t weight[FOOTPRINT_MAX] = {0};
    footprint_weights(weight, footprint);
    for (uint32_t i = 0; i < 4; i++) {
        bool there = i < fetch->image->spec.format.channels;
        out[i] = lane_bits_f32(there ? blend_channel(fetch, footprint, weight, i) : 0);
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
        out[i] = floats ? lane_bits_f32(values[fetch->component]) : words[fetch->component];
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
            out[i] = lane_bits_f32(value[i]);
        return;
    }
    blend(out, fetch, footprint);
}
