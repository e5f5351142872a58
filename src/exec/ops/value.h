/*
 * Instructions whose result follows, lane by lane, from the values of a lane's operands, and that
 * are too rare or too long for a lane loop: a C function of one lane each. Operands follow from the
 * row's shape; predicates arrive as 0 and 1.
 */
#ifndef SONDE_EXEC_OPS_VALUE_H
#define SONDE_EXEC_OPS_VALUE_H

#include "exec/program.h"
#include "ptx/ir.h"

#define VALUE_SOURCES 6

/* The result: signed types sign-extended; of predicates bit 0 is p and bit 1 is q. */
typedef uint64_t value_fn(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES]);

struct uop_value {
    value_fn *fn;
    const struct ptx_insn *insn;
    struct element dst;                   /* unless `to_predicates` */
    struct element source[VALUE_SOURCES]; /* register_bytes 0: predicate `ref` of the uop */
    uint8_t source_count;
    bool to_predicates;
};

/* half.c */
value_fn value_half, value_half_compare, value_half_set;
/* convert.c */
value_fn value_convert, value_convert_pair, value_convert_fp8, value_widen_fp8, value_pack;
/* integer.c */
value_fn value_pair, value_testp, value_dp2a, value_fns, value_szext;
/* video.c */
value_fn value_video, value_video_word, value_vmad;

bool compare_holds(enum isa_mod cmp, double a, double b);

#endif
