/*
 * Narrow floating-point formats: f16, bf16, tf32, e4m3 and e5m2 as numbers of double precision and
 * back. Every value of theirs is a double; arithmetic on them is done in double precision "rounded
 * to odd", so that the one rounding that counts is the last. Source: PTX ISA 9.0, 5.2.3 and 9.7.4;
 * S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded sums (2008), for the rounding.
 */
#ifndef SONDE_EXEC_FLOAT_FORMAT_H
#define SONDE_EXEC_FLOAT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

struct float_format {
    int mantissa_bits, min_exponent; /* of the smallest normal number */
    uint32_t infinity;               /* its code; what lies above it is a NaN */
    uint32_t largest, nan;           /* codes of the largest finite number and the result NaN */
    uint32_t sign;
};

extern const struct float_format format_f16, format_bf16, format_tf32, format_e4m3, format_e5m2;

/* Of a type, or of each half of a pair. NULL: the host has the type (f32, f64), or no float. */
const struct float_format *format_of_type(enum isa_type type);

enum rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY };
enum rounding rounding_of(enum isa_mod rnd);

double format_widen(const struct float_format *format, uint32_t code);
/* NaN becomes the format's NaN. `finite`: what overflows is the largest number. */
uint32_t format_narrow(const struct float_format *format, double value, enum rounding rounding,
                       bool finite);

/* Sums whose last bit is one unless they are exact. */
double odd_add(double a, double b);
double odd_from_integer(uint64_t magnitude, bool negative);

#endif
