/*
 * The lane loops: every regular row of isa/insn.def as one C function per type that computes 32
 * lanes and keeps those of a mask. They know nothing of warps; operands are arrays of 32 lanes,
 * uint32_t for values of up to 32 bits (in the low bits; results are sign- or zero-extended as
 * their type says) and uint64_t for 64 bits. A predicate is a pointer to one lane mask.
 *
 * The same loops are compiled for several processors (lanes_portable.c, lanes_avx2.c,
 * lanes_avx512.c); lanes_table() and lanes_timed_table() choose by what the host's has. All give
 * the same bits, which a test checks.
 */
#ifndef SONDE_EXEC_LANES_H
#define SONDE_EXEC_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"

/* d may be the same array as a source whose lanes are as wide. mask is not 0. */
typedef void lane_fn(void *d, const void *a, const void *b, const void *c, const void *e,
                     uint32_t mask);
/* Bit i: the comparison holds in lane i; bits outside of mask are not defined. */
typedef uint32_t lane_compare(const void *a, const void *b, uint32_t mask);
/* New memory contents of an atomic, from the old ones and its operands. */
typedef uint64_t lane_atom(uint64_t old, uint64_t operand, uint64_t second);

struct lane_entry {
    enum isa_op op;
    enum isa_type d, s;
    lane_fn *fn;
};

struct lane_compare_entry {
    enum isa_mod cmp;
    enum isa_type type;
    lane_compare *fn;
};

struct lane_table {
    const char *name;
    const struct lane_entry *entries; /* in the order of enum isa_op */
    size_t count;
    const struct lane_compare_entry *compares;
    size_t compare_count;
    /* What runs instead of some of the entries, with the same bits; ended by OP_COUNT. NULL: none.
     */
    const struct lane_entry *special;
    /* The same of `compares`, ended by a NULL `fn`. */
    const struct lane_compare_entry *special_compares;
};

extern const struct lane_table lanes_portable;
extern const struct lane_entry lanes_special_avx2[], lanes_special_avx512[]; /* special_*.c */
extern const struct lane_compare_entry lanes_compares_avx512[];
/* Of count 0 where the compiler cannot. */
extern const struct lane_table lanes_avx2, lanes_avx512;

const struct lane_table *lanes_table(void); /* the best for this host without timing */
/* The best with timing, where a warp's instructions come one at a time among much else: never
 * AVX-512, with which it takes 3 to 10 % longer (docs/adr/0016). */
const struct lane_table *lanes_timed_table(void);
/* The host has what the files *_avx2.c, *_avx512.c are compiled for. */
bool lanes_have_avx2(void);
bool lanes_have_avx512(void);

/*
 * The loop for `op` with result type d and operation type s; TYPE_NONE matches any. NULL if the row
 * has no such form. `found` (may be NULL) receives the row's full types.
 */
lane_fn *lanes_find(const struct lane_table *table, enum isa_op op, enum isa_type d,
                    enum isa_type s, const struct lane_entry **found);
lane_compare *lanes_find_compare(const struct lane_table *table, enum isa_mod cmp,
                                 enum isa_type type);

#endif
