/*
 * Forms of instructions as data: what forms.txt says, every combination spelled out, with operands
 * and results named by kind; a kernel that runs one form for many operands; the operands.
 */
#ifndef SONDE_TESTS_VECTORS_FORMS_H
#define SONDE_TESTS_VECTORS_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/container/strbuf.h"
#include "util/container/vec.h"

#define FORM_OPERANDS 40 /* inputs and results of one form, together */
#define FORM_SLICES 16   /* operands of one kind in one form */
#define FORM_RESULTS 8
#define FORM_SCRATCH_BYTES 32

/* How operands of a kind are chosen. */
enum fill {
    FILL_INT,
    FILL_F16,
    FILL_F16X2,
    FILL_BF16,
    FILL_BF16X2,
    FILL_F32,
    FILL_F64,
    FILL_PRED,
    FILL_SHIFT,
    FILL_POS,
    FILL_BASE,
    FILL_NTH,
    FILL_LANE,
    FILL_CLAMP,
    FILL_FEW,
    FILL_LOWF,
    FILL_LOWD,
    FILL_EXPONENT,
    FILL_ANGLE,
    FILL_HALVES,
    FILL_BHALVES,
    FILL_TF32,
    FILL_E4M3,
    FILL_E5M2,
    FILL_CHOSEN, /* metadata of sparse matrices: two of each four, in order */
    FILL_ONE_OF_TWO
};

struct kind {
    const char *name, *reg, *memory; /* type of its register, of its loads and stores */
    uint8_t bytes;
    enum fill fill;
};
extern const struct kind form_kinds[];
extern const size_t form_kind_count;

struct form_operand {
    int kind;    /* in form_kinds */
    bool result; /* else an input */
    int slice;   /* inputs: which of the kind's slices; results: which result */
};

struct form {
    char *text;     /* the template without the tolerance: what a file stores */
    char *assembly; /* with %v0, %v1 .. for the operands */
    struct form_operand operands[FORM_OPERANDS];
    int operand_count, result_count;
    double ulps, absolute; /* tolerances; 0: to the bit */
};
struct form_list VEC_FIELDS(struct form);

/* All forms of a text like forms.txt. SONDE_EINPUT with the line. */
int forms_read(struct form_list *out, const char *name, const char *text);
void forms_free(struct form_list *forms);

/* Kernel k<number> of `lanes` threads: (u64 operands, u64 results, u64 scratch). */
void form_kernel(struct strbuf *out, const struct form *form, size_t number, uint32_t lanes);
/* What stands before kernels, of old forms or others. */
void form_module_head(struct strbuf *out, bool old);
/* Is the form for PTX 5.0 and sm_60, before what a warp does had `.sync`? */
bool form_is_old(const struct form *form);

/* How operands are drawn: corners and uniform fields (operands.c), or where rounding is hard
 * (hard.c). */
enum form_draw { DRAW_UNIFORM, DRAW_HARD };

/*
 * Operands of all kinds: slice s of kind k begins at element (k * FORM_SLICES + s) * lanes. Drawn
 * uniformly, every pair of corner values meets in slices 0 and 1. The same for the same seed.
 */
int form_operands(uint64_t **out, enum form_draw draw, uint64_t seed, uint32_t lanes);
size_t form_operand_bytes(uint32_t lanes);
/* Of the first `kinds` kinds: kinds that are new come last, and change nothing of older ones. */
size_t form_kinds_bytes(size_t kinds, uint32_t lanes);

#endif
