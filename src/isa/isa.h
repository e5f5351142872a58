/*
 * The PTX instruction set as data. Every list (types, state spaces, modifiers, special registers,
 * instructions) is a .def table that is expanded wherever it is needed: the parser's tables, the
 * printer, the lane loops of exec and the lists that tests iterate over.
 *
 * An instruction row (insn.def) is one family of forms, written as in the PTX manual:
 *
 *     INSN(id, "name", "{.mod}.mod.type", operands, types, unit, expr)
 *
 * "name" is the fixed leading text (add, mul.wide, bar.sync); the pattern names modifier classes
 * of mods.def, optional ones in braces, in the manual's order; `operands` is a shape of shapes.def;
 * `types` a list macro of legal type tuples; `unit` the pipeline that issues it; `expr` the result
 * as a C expression of A, B, C, or IRREGULAR where exec/ops/<name>.c holds the semantics. Source:
 * PTX ISA 9.0, chapters 5 (types, spaces), 9 (instructions), 10 (special registers).
 */
#ifndef SONDE_ISA_ISA_H
#define SONDE_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* types.def: TYPE(ID, "text", KIND, bytes); pred has 0 bytes: it lives in lane masks. */
enum isa_type {
    TYPE_NONE,
#define TYPE(id, text, kind, bytes) TYPE_##id,
#include "isa/types.def"
#undef TYPE
    TYPE_COUNT
};

enum isa_type_kind {
    KIND_NONE,
    KIND_BITS,
    KIND_UNSIGNED,
    KIND_SIGNED,
    KIND_FLOAT,
    KIND_PRED,
    KIND_OPAQUE /* texref, samplerref, surfref */
};

/* spaces.def: SPACE(ID, "text") */
enum isa_space {
    SPACE_NONE, /* no state space written: a generic address */
#define SPACE(id, text) SPACE_##id,
#include "isa/spaces.def"
#undef SPACE
    SPACE_COUNT
};

/* sregs.def: SREG(ID, "%text", TYPE) */
enum isa_sreg {
    SREG_NONE,
#define SREG(id, text, type) SREG_##id,
#include "isa/sregs.def"
#undef SREG
    SREG_COUNT
};

/* units.def: UNIT(ID, "name"): the issue class that the timing model gives a rate and a latency. */
enum isa_unit {
#define UNIT(id, text) UNIT_##id,
#include "isa/units.def"
#undef UNIT
    ISA_UNIT_COUNT
};

/* lowering.def: LOWERING_GENERATION(ID, "name", "doc"): what machine code PTX becomes, for timing
 */
enum lowering {
    LOWERING_NONE, /* an instruction of PTX is one of the machine */
#define LOWERING_GENERATION(id, text, doc) LOWERING_##id,
#include "isa/lowering.def"
    LOWERING_COUNT
};

/* The generation whose rows of LOWERING, APART, STALLS, RARE and LATENCY hold. */
static inline enum lowering lowering_rows(enum lowering lowering)
{
    return lowering == LOWERING_HOPPER_LATE ? LOWERING_HOPPER : lowering;
}

/* insn.def rows */
enum isa_op {
    OP_NONE,
#define INSN(id, ...) OP_##id,
#include "isa/insn.def"
#undef INSN
    OP_COUNT
};

/* shapes.def: SHAPE(ID, "operands") */
enum isa_shape {
#define SHAPE(id, text) SHAPE_##id,
#include "isa/shapes.def"
#undef SHAPE
    SHAPE_COUNT
};

/*
 * Modifier classes (mods.def): MOD(CLASS, VALUE, "text"). Class X yields enum isa_mod_X with
 * MOD_X_NONE = 0; an instruction carries one value per class.
 */
enum isa_mod_class {
#define MOD_CLASS(cls, pattern) MODC_##cls,
#include "isa/mods.def"
#undef MOD_CLASS
    MODC_COUNT
};

enum isa_mod {
    MOD_NONE,
#define MOD(cls, value, text) MOD_##cls##_##value,
#include "isa/mods.def"
#undef MOD
    MOD_COUNT
};

struct isa_type_info {
    const char *text;
    enum isa_type_kind kind;
    uint8_t bytes;
};

const struct isa_type_info *isa_type_info(enum isa_type type);
const char *isa_space_text(enum isa_space space);
/* The space that is meant: .shared for .shared::cta and ::cluster, .param for its two kinds. */
enum isa_space isa_space_base(enum isa_space space);
const char *isa_sreg_text(enum isa_sreg sreg);
enum isa_type isa_sreg_type(enum isa_sreg sreg);
const char *isa_unit_text(enum isa_unit unit);
const char *isa_mod_text(enum isa_mod mod); /* with its leading dot */
enum isa_mod_class isa_mod_class(enum isa_mod mod);
const char *isa_mod_class_text(enum isa_mod_class cls); /* as patterns call it */

/*
 * By text, without the leading dot for types, spaces and modifiers, with its % for special
 * registers; `length` bytes. The NONE value if there is none.
 */
enum isa_type isa_type_find(const char *text, size_t length);
enum isa_space isa_space_find(const char *text, size_t length);
enum isa_sreg isa_sreg_find(const char *text, size_t length);
enum isa_mod isa_mod_find(enum isa_mod_class cls, const char *text, size_t length);

/* A legal form of a row: the types of result (D) and operation (S). */
struct isa_tuple {
    enum isa_type d, s;
};

/* A row as data. */
struct isa_row {
    const char *name;    /* fixed leading text, e.g. "mul.wide" */
    const char *pattern; /* modifier pattern of the manual */

    enum isa_shape shape;
    enum isa_unit unit;
    bool irregular; /* no expression: exec holds the semantics */
    bool at_issue;  /* reads or writes memory when it issues */
    const struct isa_tuple *tuples;
    uint16_t tuple_count;
};
const struct isa_row *isa_row(enum isa_op op);
const char *isa_shape_text(enum isa_shape shape); /* the operands, see shapes.def */

/*
 * The first row whose name is exactly `name`; further rows of that name follow by isa_op_next(),
 * which ends in OP_NONE.
 */
enum isa_op isa_op_find(const char *name, size_t length);
enum isa_op isa_op_next(enum isa_op op);

/*
 * True if PTX has an instruction with this first word ("wmma", "tex"), whether or not a row
 * implements it (opcodes.def). `isa_opcode_nearest` is the known first word closest to a
 * misspelling, or NULL.
 */
bool isa_opcode_known(const char *word, size_t length);
bool isa_modifier_later(const char *word, size_t length); /* of forms that have no row yet */
const char *isa_opcode_nearest(const char *word, size_t length);

#endif
