/*
 * A tensor map: the 128 bytes that tell the copy engine of a tensor in global memory and of the box
 * that is copied. The layout is that which the driver of an H200 writes (version 580; 140 maps were
 * encoded that differ in one property each) and tensormap.replace changes there:
 *
 *     word 0, 1   address
 *     word 2      0: im2col; 4..6: rank - 1; 7..10: type; 11..12: interleave; 13..14: swizzle;
 *                 15: fill; 16: tf32; 17..18: promotion in L2
 *     word 3..6   strides / 16, low 32 bits, of dimensions 1 to 4
 *     word 7      their bits 32..35, four a stride
 *     word 8..12  sizes - 1
 *     word 13     element strides - 1, three bits each; 24..31: box 0 (im2col: channels) - 1
 *     word 14     box 1 to 4 - 1, a byte each; im2col: the corners, lower ones below bit 16, of
 *                 16, 8 or 5 bits each for one, two or three of them
 *     word 15     im2col: pixels - 1
 *     word 16     bytes of a box
 *     word 18     bytes after which the swizzle repeats, 16 without one
 *
 * A type is the driver's number, but for f32 with flushed subnormals (8), f64 (9), bf16 (10), and
 * tf32, which is f32 (7 or 8) with bit 16. Source of the rest: PTX ISA 9.0, 5.5 and 9.7.9.26.
 */
#ifndef SONDE_ISA_TENSOR_MAP_H
#define SONDE_ISA_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define TENSOR_MAP_BYTES 128
#define TENSOR_RANK_MAX 5
#define TENSOR_DIMENSIONS                                                                          \
    (TENSOR_RANK_MAX + 1) /* an interleaved one has a unit's elements beside */

enum tensor_type {
    TENSOR_U8,
    TENSOR_U16,
    TENSOR_U32,
    TENSOR_S32,
    TENSOR_U64,
    TENSOR_S64,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F32_FTZ,
    TENSOR_F64,
    TENSOR_BF16,
    TENSOR_TF32,
    TENSOR_TF32_FTZ,
    TENSOR_TYPES
};

struct tensor_map {
    uint64_t address;
    bool im2col, fill_nan;
    enum tensor_type type;
    uint32_t rank, interleave, swizzle, promotion; /* swizzle: 0, or 32 << (swizzle - 1) bytes */
    uint64_t size[TENSOR_DIMENSIONS];
    uint64_t stride[TENSOR_DIMENSIONS]; /* bytes; [0] is an element's */
    uint32_t box[TENSOR_DIMENSIONS];    /* im2col: [0] channels, [1] pixels */
    uint32_t step[TENSOR_DIMENSIONS];
    int32_t lower[3], upper[3]; /* im2col: corners */
};

uint32_t tensor_type_bytes(enum tensor_type type);
/* False: the type is none. */
bool tensor_map_read(struct tensor_map *out, const uint32_t words[32]);
void tensor_map_write(uint32_t words[32], const struct tensor_map *map);

/* The numbers that are changed one by one (tensormap.replace). */
enum tensor_field {
    TENSOR_ADDRESS,
    TENSOR_RANK,
    TENSOR_BOX,
    TENSOR_SIZE,
    TENSOR_STRIDE,
    TENSOR_STEP,
    TENSOR_TYPE,
    TENSOR_INTERLEAVE,
    TENSOR_SWIZZLE,
    TENSOR_FILL
};
/* `number`: of the dimension. Values are the manual's: rank is one less, strides are in bytes. */
void tensor_map_replace(uint32_t words[32], enum tensor_field field, uint32_t number,
                        uint64_t value);

#endif
