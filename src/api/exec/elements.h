/*
 * Values of PTX's scalar types as text and as bytes: what arguments are made of, and how results
 * are printed.
 */
#ifndef SONDE_API_EXEC_ELEMENTS_H
#define SONDE_API_EXEC_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"
#include "util/container/strbuf.h"
#include "util/rng.h"

#define ELEMENT_BYTES_MAX 8

/* The type that `text` of `length` names, if it is one of whole bytes whose values can be written:
 * u8 to u64, s8 to s64, b8 to b64, f16, bf16, f32, f64, e4m3, e5m2. */
bool element_type_find(enum isa_type *type, const char *text, size_t length);

/* One value into isa_type_info(type)->bytes bytes. NULL, or what is wrong with the text. */
const char *element_parse(void *out, enum isa_type type, const char *text);

/* Whether element_ramp() can count so: its integers need 64 bits with a sign. */
bool element_ramp_fits(enum isa_type type, double start, double step);
/* start + index * step, in the type's own arithmetic: integers wrap, floats round. */
void element_ramp(void *out, enum isa_type type, double start, double step, uint64_t index);

/* Integers and bits: every pattern equally likely. Floats: uniform in [0, 1). */
void element_random(void *out, enum isa_type type, struct rng *rng);

/* As element_parse() reads it back, with as few digits as tell it from its neighbours; b8 to b64 in
 * hexadecimal. */
void element_print(struct strbuf *out, enum isa_type type, const void *value);

#endif
