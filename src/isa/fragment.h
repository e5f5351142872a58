/*
 * Shapes of matrix fragments: how many registers of a thread hold its share of a matrix in wmma,
 * mma and their loads and stores. A warp's 32 threads share m x k, k x n or m x n elements evenly;
 * the two exceptions are the manual's: wmma's f16 operands are held twice, and mma.m8n8k4 of f16 is
 * four independent products. Source: PTX ISA 9.0, 9.7.14.
 */
#ifndef SONDE_ISA_FRAGMENT_H
#define SONDE_ISA_FRAGMENT_H

#include "isa/isa.h"

struct isa_mnk {
    uint16_t m, n, k;
};

/*
 * The machine instructions that a warp's product is made of: of 16 rows and 8 columns, 32 bytes
 * deep or 16, or of f64, 8 rows, 8 columns and 4 numbers.
 */
enum isa_step { STEP_DEEP, STEP_SHALLOW, STEP_DOUBLE, STEP_KINDS };

/* The sizes behind a modifier of class MNK. */
struct isa_mnk isa_mnk(enum isa_mod shape);

/* The sizes behind one of class WG, and whether wgmma has such a product: b1 is TYPE_NONE. */
struct isa_mnk isa_wgmma_mnk(enum isa_mod shape);
bool isa_is_wgmma(struct isa_mnk mnk, enum isa_type d, enum isa_type a, enum isa_type b,
                  bool sparse);

/* Whose fragments: mma's, wmma's, or those of mma with a sparse a. */
enum isa_product { ISA_MMA, ISA_WMMA, ISA_MMA_SPARSE };

/*
 * Registers of fragment `matrix` ('a', 'b', or 'c' for both c and d) whose elements are `element`,
 * in a product whose a has elements of type `a_type`; 0 if there is no such product. *reg is the
 * type of a register. Of a sparse a half of the elements are there.
 */
uint32_t isa_fragment(enum isa_type *reg, enum isa_product kind, enum isa_mod shape, char matrix,
                      enum isa_type element, enum isa_type a_type);
/* The same where a and b have integers of `bits`, 4 or 1, and c and d s32. */
uint32_t isa_packed_fragment(enum isa_type *reg, enum isa_product kind, enum isa_mod shape,
                             char matrix, uint32_t bits);

#endif
