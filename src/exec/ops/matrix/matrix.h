/*
 * What the instructions on matrices share: fragments in registers, and where a load or store finds
 * its elements.
 */
#ifndef SONDE_EXEC_OPS_MATRIX_H
#define SONDE_EXEC_OPS_MATRIX_H

#include "exec/ops/decoders.h"
#include "exec/ops/matrix/product.h"
#include "isa/fragment.h"

#define MATRIX_REGISTERS 16 /* of the largest fragment */

struct fragment {
    char matrix; /* 'a', 'b', 'c' */
    enum isa_type type;
    uint32_t count;
    struct element registers[MATRIX_REGISTERS];
};

static inline uint32_t element_bytes(enum isa_type type)
{
    return isa_type_info(type)->bytes;
}

/* Of a register. */
static inline uint32_t elements_in(const struct fragment *f)
{
    uint32_t bytes = element_bytes(f->type);
    return bytes < 4 ? 4 / bytes : 1;
}

struct uop_matrix {
    struct fragment d, a, b, c;
    struct isa_mnk mnk;
    struct product product;  /* loops NULL: of f64 */
    struct element metadata; /* which elements of a sparse a are there .. */
    uint32_t selector;       /* .. and whose lanes tell */
    enum isa_space space;    /* of a load or store; SPACE_NONE: generic */
    bool column_major, row_major, has_base, has_stride; /* row_major: b of mma.m8n8k4 */
    struct element base, stride;
    uint32_t packed; /* elements narrower than a byte: how many a word has, else 1 */
    uint64_t offset;
};

/* A zeroed one in the decoder's arena, as the uop's, which all lanes execute together; NULL: memory
 * is out. */
struct uop_matrix *matrix_begin(struct decoder *d);
int matrix_decode_fragment(struct decoder *d, struct fragment *f, char matrix, enum isa_type type,
                           const struct ptx_operand *operand, bool result);
/* The address operand: base register and offset. */
int matrix_decode_place(struct decoder *d, struct uop_matrix *m, const struct ptx_operand *address);
/* Where element i of register r of a lane lies in the matrix. Registers go through 16 rows, then
 * along k, then to the next 16 rows. */
void matrix_place(uint32_t *row, uint32_t *column, const struct fragment *f, struct isa_mnk mnk,
                  uint32_t lane, uint32_t r, uint32_t i);
/* The host's view of `bytes` at an address of m->space, aligned to them; NULL: the fault is set. */
uint8_t *matrix_pointer(struct exec_warp *warp, const struct uop_matrix *m, uint32_t lane,
                        uint64_t address, uint32_t bytes);

/* product_operands.c: a product of these types, not yet how many sums are made at once; its
 * operands and sums in registers of 32 bits. */
void product_of_types(struct product *p, struct isa_mnk mnk, enum isa_type a, enum isa_type b,
                      enum isa_type d, bool sparse);
void product_gather_a(struct product_operands *o, const struct exec_state *state,
                      const struct product *p, const struct element *registers);
void product_gather_b(struct product_operands *o, const struct exec_state *state,
                      const struct product *p, const struct element *registers);
void product_gather_sums(struct product_operands *o, const struct exec_state *state,
                         const struct product *p, const struct element *registers, uint32_t count);
void product_scatter_sums(const struct product_operands *o, struct exec_state *state,
                          const struct product *p, const struct element *registers, uint32_t count,
                          uint32_t mask);
/* Which elements sparse a has. */
void product_places(struct product_operands *o, const struct exec_state *state,
                    const struct element *metadata, const struct product *p, uint32_t selector);

/* doubles.c: of f64, 8 columns, at most 16 rows and 16 deep. */
void doubles_product(struct exec_state *state, const struct uop_matrix *m, uint32_t mask);

/* quads.c: mma.m8n8k4 of f16. */
int decode_quads(struct decoder *d, struct uop_matrix *m);

#endif
