/*
 * Values of scalar types from text, made, and as text.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/exec/elements.h"
#include "exec/lane/float_format.h"

#define PLAIN_BELOW 1e9 /* larger numbers are written with an exponent */

bool element_type_find(enum isa_type *type, const char *text, size_t length)
{
    *type = isa_type_find(text, length);
    switch (*type) {
    case TYPE_u8:
    case TYPE_u16:
    case TYPE_u32:
    case TYPE_u64:
    case TYPE_s8:
    case TYPE_s16:
    case TYPE_s32:
    case TYPE_s64:
    case TYPE_b8:
    case TYPE_b16:
    case TYPE_b32:
    case TYPE_b64:
    case TYPE_f16:
    case TYPE_bf16:
    case TYPE_f32:
    case TYPE_f64:
    case TYPE_e4m3:
    case TYPE_e5m2:
        return true;
    default:
        return false;
    }
}

static bool is_float(enum isa_type type)
{
    return isa_type_info(type)->kind == KIND_FLOAT || format_of_type(type);
}

/* strtoull() and its kind pass blanks over, and take a minus behind them. */
static bool begins_as_number(const char *text, bool is_signed)
{
    text += is_signed && *text == '-';
    return *text >= '0' && *text <= '9';
}

static void put_integer(void *out, enum isa_type type, uint64_t bits)
{
    memcpy(out, &bits, isa_type_info(type)->bytes); /* hosts are little-endian, as GPUs are */
}

static void put_float(void *out, enum isa_type type, double value)
{
    const struct float_format *format = format_of_type(type);
    if (format) {
        put_integer(out, type, format_narrow(format, value, ROUND_NEAREST, false));
    } else if (type == TYPE_f64) {
        memcpy(out, &value, sizeof(value));
    } else {
        float narrow = (float)value;
        memcpy(out, &narrow, sizeof(narrow));
    }
}

static uint64_t get_integer(enum isa_type type, const void *value)
{
    uint64_t bits = 0;
    memcpy(&bits, value, isa_type_info(type)->bytes);
    return bits;
}

static double get_float(enum isa_type type, const void *value)
{
    const struct float_format *format = format_of_type(type);
    double wide;
    float narrow;
    if (format) {
        return format_widen(format, (uint32_t)get_integer(type, value));
    }
    if (type == TYPE_f64) {
        memcpy(&wide, value, sizeof(wide));
        return wide;
    }
    memcpy(&narrow, value, sizeof(narrow));
    return (double)narrow;
}

static const char *parse_integer(void *out, enum isa_type type, const char *text)
{
    bool is_signed = isa_type_info(type)->kind == KIND_SIGNED;
    unsigned bits = isa_type_info(type)->bytes * 8;
    char *end;
    errno = 0;
    uint64_t value = is_signed ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    if (!begins_as_number(text, is_signed) || *end || errno) {
        return "not a number of that type";
    }
    if (bits < 64) {
        int64_t limit = (int64_t)1 << (bits - 1);
        bool fits =
            is_signed ? (int64_t)value >= -limit && (int64_t)value < limit : value >> bits == 0;
        if (!fits) {
            return "out of range";
        }
    }
    put_integer(out, type, value);
    return NULL;
}

static const char *parse_float(void *out, enum isa_type type, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || isspace((unsigned char)text[0])) {
        return "not a number";
    }
    put_float(out, type, value);
    /* Who says infinity means it. */
    bool fits = !isinf(get_float(type, out)) || strpbrk(text, "iI");
    return fits ? NULL : "out of range";
}

const char *element_parse(void *out, enum isa_type type, const char *text)
{
    return is_float(type) ? parse_float(out, type, text) : parse_integer(out, type, text);
}

bool element_ramp_fits(enum isa_type type, double start, double step)
{
    const double limit = 0x1p63; /* integers are counted in 64 bits with a sign */
    return is_float(type) || (start >= -limit && start < limit && step >= -limit && step < limit);
}

void element_ramp(void *out, enum isa_type type, double start, double step, uint64_t index)
{
    if (is_float(type)) {
        put_float(out, type, start + step * (double)index);
    } else {
        put_integer(out, type, (uint64_t)(int64_t)start + (uint64_t)(int64_t)step * index);
    }
}

void element_random(void *out, enum isa_type type, struct rng *rng)
{
    if (is_float(type)) {
        put_float(out, type, rng_double(rng));
    } else {
        put_integer(out, type, rng_u64(rng));
    }
}

/* Digits in front of the point of what is written without an exponent, else 1. */
static int whole_digits(double number)
{
    double size = fabs(number);
    return size >= 10 && size < PLAIN_BELOW ? (int)log10(size) + 1 : 1;
}

/* The fewest digits that give the same bits again; nine tell floats apart, seventeen doubles. */
static void print_float(struct strbuf *out, enum isa_type type, const void *value)
{
    double number = get_float(type, value);
    unsigned bytes = isa_type_info(type)->bytes;
    for (int digits = whole_digits(number);; digits++) {
        char text[40];
        uint64_t again = 0;
        snprintf(text, sizeof(text), "%.*g", digits, number);
        put_float(&again, type, strtod(text, NULL));
        if (digits >= 17 || memcmp(&again, value, bytes) == 0) {
            strbuf_append(out, text);
            return;
        }
    }
}

void element_print(struct strbuf *out, enum isa_type type, const void *value)
{
    const struct isa_type_info *info = isa_type_info(type);
    uint64_t bits = get_integer(type, value);
    if (is_float(type)) {
        print_float(out, type, value);
    } else if (info->kind == KIND_SIGNED) {
        unsigned unused = 64 - info->bytes * 8;
        strbuf_printf(out, "%" PRId64, (int64_t)(bits << unused) >> unused);
    } else if (info->kind == KIND_BITS) {
        strbuf_printf(out, "0x%0*" PRIx64, (int)info->bytes * 2, bits);
    } else {
        strbuf_printf(out, "%" PRIu64, bits);
    }
}
