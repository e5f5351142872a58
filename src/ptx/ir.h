/*
 * What the PTX front end hands on: a module, resolved. Names are gone (labels are instruction
 * indices, registers are numbers, symbols are pointers), types are checked, every function carries
 * its control-flow facts and its register slots. Everything lives in the module's arena.
 *
 * Registers: a function's virtual registers are numbered from 0 (`reg`). The slot pass maps them to
 * the smallest set of 32-bit register slots by liveness (64-bit values take two aligned slots, 8-
 * and 16-bit values one); predicates have their own numbering (`pred slots`, one lane mask each).
 * `register_count` is the number of 32-bit slots that limits occupancy.
 */
#ifndef SONDE_PTX_IR_H
#define SONDE_PTX_IR_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

struct arena;
struct ptx_func;
struct ptx_var;

struct ptx_loc {
    int line, column;
};

/* What the last .loc before an instruction says of it; line 0: nothing. Of a function that the
 * compiler has put into others, `caller` is where it is called in the one that is none; line 0:
 * there was none of that. */
struct ptx_source {
    const char *file; /* NULL: no .file has that number */
    uint32_t number, line;
    const char *caller_file;
    uint32_t caller_number, caller_line;
};

enum ptx_operand_kind {
    OPERAND_NONE,
    OPERAND_REG,     /* reg */
    OPERAND_IMM,     /* imm: bits of the constant, already converted to the operand's type */
    OPERAND_SREG,    /* sreg */
    OPERAND_VAR,     /* var + imm: the address of a variable as a value (mov, cvta) */
    OPERAND_FUNC,    /* func: address or callee */
    OPERAND_ADDR,    /* memory operand [base + imm]: base is reg, or var, or neither (absolute) */
    OPERAND_LABEL,   /* target: instruction index */
    OPERAND_TARGETS, /* a .branchtargets or .calltargets list (brx.idx, indirect call) */
    OPERAND_PROTO,   /* a .callprototype */
    OPERAND_VECTOR,  /* {a, b, c, d}: elems[count], each REG, IMM or a sink; also call's lists */
    OPERAND_PAIR,    /* p|q: elems[2] */
    OPERAND_FETCH,   /* [texture, {coordinates}]: elems[0] the handle, the others behind it; with
                        a sampler between them `imm` is 1, and it is elems[1] */
    OPERAND_SINK,    /* _ */
};

struct ptx_targets {
    uint32_t count;
    const uint32_t *pc;
    struct ptx_func *const *funcs;
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    enum isa_type type; /* of the register, constant or special register */
    bool negate;        /* !p, or -a where an instruction allows it */
    uint16_t selector;  /* bytes or halves of a video operand (ptx_selector_*); 0: none written */
    bool has_reg;       /* OPERAND_ADDR: a base register is there */
    int32_t reg;        /* virtual register number */
    uint64_t imm; /* constant bits (a predicate: 0 or 1), or an address's byte offset (signed) */
    enum isa_sreg sreg;
    uint32_t target;
    uint32_t count;                        /* vector, pair, fetch */
    union {                                /* by kind; NULL where the kind has none */
        struct ptx_var *var;               /* VAR, ADDR */
        struct ptx_func *func;             /* FUNC, PROTO */
        const struct ptx_targets *targets; /* TARGETS */
        struct ptx_operand *elems;         /* VECTOR, PAIR, FETCH */
    };
};

/*
 * .b0 .h1 .b3210 behind an operand, in 16 bits: digit i, counted from the last one written, which
 * is for the lowest element of the result.
 *
 *     15       14      12  11     9  8     6  5     3  2     0
 *     halves | digits    | digit 3 | digit 2 | digit 1 | digit 0
 */
static inline uint32_t ptx_selector_count(uint16_t selector)
{
    return selector >> 12 & 7;
}

static inline uint32_t ptx_selector_digit(uint16_t selector, uint32_t i)
{
    return selector >> 3 * i & 7;
}

static inline bool ptx_selector_is_halves(uint16_t selector)
{
    return selector >> 15;
}

/*
 * A variable in an ADDR without a state space in the instruction is accessed in its own.
 * Shared variables of module scope have no offset here: a kernel lays out those that it reaches.
 *
 * Operands stand in the order of the text, with these exceptions. call: operands[0] the callee
 * (FUNC, or REG), [1] the VECTOR of return operands, [2] the VECTOR of arguments (each VAR for a
 * .param, REG or IMM, or a VECTOR of a vector register's elements; count may be 0), [3] TARGETS or
 * PROTO of an indirect call. A pair p|q whose
 * second is left out is just its first.
 */
#define PTX_MAX_OPERANDS 10
#define PTX_MAX_TYPES 4
#define PTX_NO_PC UINT32_MAX

/* One instruction, in the order of the text. */
struct ptx_insn {
    enum isa_op op;
    struct ptx_loc loc;
    struct ptx_source source;
    uint16_t mods[MODC_COUNT];          /* enum isa_mod of each class, MOD_NONE if absent */
    enum isa_space space[2];            /* state spaces written (cp.async, cvta have two) */
    enum isa_type types[PTX_MAX_TYPES]; /* as written: .type, .dtype.atype, ... */
    struct isa_tuple tuple;             /* the row's form: types of result (d) and operation (s) */
    uint8_t type_count;
    uint8_t vec; /* 1, 2, 4, 8 */
    uint8_t operand_count;
    int32_t guard; /* predicate register of @p, -1 if none */
    bool guard_negate;
    bool own_result; /* what it writes under its guard nobody reads but under the same guard */
    uint32_t side;   /* 1 and up: of what a branch skipped (ptx/schedule/predicate.c); 0: of none */
    bool nounroll;   /* the pragma stands in its block, before it */
    bool unrolled;   /* a branch of a loop whose copies are written out (ptx/schedule/unroll.c) */
    struct ptx_operand *operands; /* operand_count of them */
    uint32_t reconverge; /* branches: pc of the immediate post-dominator, PTX_NO_PC: exit */
};

enum ptx_linkage { LINK_INTERNAL, LINK_VISIBLE, LINK_EXTERN, LINK_WEAK, LINK_COMMON };

/* An address inside an initialiser: the 8 (or 4) bytes at `offset` are &symbol + addend. */
struct ptx_reloc {
    uint64_t offset;
    struct ptx_var *var;
    struct ptx_func *func;
    int64_t addend;
    bool generic; /* generic(symbol) was written */
    uint8_t mask_shift, bytes;
};

struct ptx_var {
    const char *name;
    struct ptx_loc loc;
    enum isa_space space;
    enum isa_type type;
    enum ptx_linkage linkage;
    uint32_t align;
    uint64_t size; /* bytes; 0 with `unsized` for extern .shared x[] */
    bool unsized, managed, is_array;
    const uint8_t *init; /* `size` bytes, or NULL: zero */
    const struct ptx_reloc *relocs;
    uint32_t reloc_count;
    uint64_t offset; /* params, locals, function-scope shared: byte offset in their space's frame;
                        constants of a module: in its bank, as ptxas lays it out */
    int32_t reg;     /* a .reg parameter of a .func (space REG): its register, else -1 */
    uint8_t vec;     /* .v2, .v4: elements of `type` in one, else 1 */
    enum isa_space ptr_space; /* .ptr .global and the like of an entry's parameter */
    uint32_t ptr_align;       /* .ptr .align, 0: not given */
    struct ptx_func *owner;   /* function-scope variables; NULL: module scope */
    const char *file;         /* after linking: the part's that it comes from, else NULL */
};

struct ptx_reg {
    const char *name;
    enum isa_type type;
    int32_t slot; /* first 32-bit slot, or predicate slot; -1: never live */
    uint8_t vec;  /* elements of the vector register that begins here, 1: a plain one; 0: inside */
};

/* A basic block: instructions [first, last]. Successors by block index. */
struct ptx_block {
    uint32_t first, last;
    uint32_t *succ;
    uint32_t succ_count;
    uint32_t ipdom; /* block index, PTX_NO_PC: the exit */
};

struct ptx_func {
    const char *name;
    struct ptx_loc loc;
    enum ptx_linkage linkage;
    bool is_entry, noreturn, has_body;
    bool nounroll;          /* no loop of it is unrolled */
    struct ptx_var *params; /* entry: .param space, offset laid out by natural alignment */
    uint32_t param_count;
    struct ptx_var *returns;
    uint32_t return_count;
    uint32_t param_bytes;
    struct ptx_insn *insns;
    uint32_t insn_count;
    struct ptx_reg *regs;
    uint32_t reg_count;
    struct ptx_block *blocks;
    uint32_t block_count;
    struct ptx_var **locals; /* .local, .shared, .param variables declared inside */
    uint32_t local_count;
    uint32_t slot_count;                /* 32-bit slots after the slot pass */
    uint32_t pred_count;                /* predicate slots */
    uint32_t register_count;            /* what occupancy counts */
    uint32_t local_bytes, shared_bytes; /* frames of this function alone */
    uint32_t call_param_bytes;          /* frame of the .param variables declared inside */
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg; /* 0: not given */
    uint32_t reqnctapercluster[3], maxclusterrank;
    bool explicit_cluster, is_prototype; /* is_prototype: a .callprototype */
    bool reads_unwritten;                /* a register, on some path, before it was written */
    struct ptx_func *alias_of;           /* .alias name, aliasee */
    const char *file; /* after linking: the part's that it comes from, else NULL */
    /* ptx_parse_late(): the first instruction that is not implemented, with its place; it and those
     * like it are missing in `insns`. NULL: there is none. */
    const char *refusal;
};

struct ptx_module {
    const char *file; /* for messages */
    int version_major, version_minor;
    int target_sm;         /* 75 for sm_75 */
    char target_suffix;    /* 'a' or 'f' behind it, or 0 */
    bool nounroll;         /* no loop of any function is unrolled */
    int address_size;      /* 32 or 64 */
    struct ptx_var **vars; /* module scope, in order */
    uint32_t var_count;
    struct ptx_func **funcs;
    uint32_t func_count;
    struct arena *arena;
    struct ptx_module **parts; /* of a linked module, which owns them */
    uint32_t part_count;
};

/*
 * Parse, check and analyse `text` (need not be NUL-terminated). On failure returns SONDE_EINPUT
 * and the error text holds up to 20 diagnostics, one a line: "file:line:column: error: got 'tok',
 * expected ...". An instruction that the grammar knows but no row implements is SONDE_EUNSUPPORTED
 * by name.
 */
int ptx_parse(struct ptx_module **out, const char *file, const char *text, size_t length);
/* The same for a module that is to be run: an instruction that is not implemented refuses the
 * function that holds it (ptx_func.refusal) when it is decoded, not the module. */
int ptx_parse_late(struct ptx_module **out, const char *file, const char *text, size_t length);
void ptx_module_destroy(struct ptx_module *module);

/*
 * One module of several, as a linker makes it. Takes the parts over, also when it fails. `provided`
 * names functions that need no definition because the system has them; NULL: there are none.
 * SONDE_EINPUT with all that is undefined, defined twice or differs, a line each with its place.
 */
int ptx_link(struct ptx_module **out, struct ptx_module *const *parts, uint32_t count,
             bool (*provided)(const char *name));

/* By name; of a linked module's functions or variables of one name that with linkage. */
struct ptx_func *ptx_find_func(const struct ptx_module *module, const char *name);
struct ptx_var *ptx_find_var(const struct ptx_module *module, const char *name);

#endif
