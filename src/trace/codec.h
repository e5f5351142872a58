/*
 * Columns as bytes: numbers are split into planes, all lowest bytes first, then all second-lowest
 * and so on, so that the zeros of small numbers lie together for the compressor; before that each
 * may be replaced by its difference to the one before (modulo 2^bits), which makes a regular walk
 * constant.
 *
 *     values   0x0101 0x0102 0x0104        planes   01 02 04 | 01 01 01 | 00 00 00 | 00 00 00
 */
#ifndef SONDE_TRACE_CODEC_H
#define SONDE_TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>

/* `width` is 4 or 8 bytes a value; both sides hold count * width bytes. */
void codec_encode(unsigned char *planes, const void *values, size_t count, size_t width,
                  bool delta);
void codec_decode(void *values, const unsigned char *planes, size_t count, size_t width,
                  bool delta);

/* Whether differences repeat more often than values do: then delta pays. */
bool codec_delta_pays(const void *values, size_t count, size_t width);

#endif
