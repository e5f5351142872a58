/*
 * What the files of the parser share; private to ptx/. A parser reads one token ahead, resolves
 * names in a chain of scopes, and builds one function at a time. Its functions return 0 or a
 * negative code whose diagnostic has been added; the caller that owns a statement recovers behind
 * its ';'.
 */
#ifndef SONDE_PTX_PARSER_H
#define SONDE_PTX_PARSER_H

#include "ptx/diag.h"
#include "ptx/ir.h"
#include "ptx/lex.h"
#include "util/container/arena.h"
#include "util/error.h"
#include "util/container/map.h"
#include "util/container/vec.h"

/* Limits on what a hostile text can make us allocate or nest. */
#define PTX_MAX_TEXT_BYTES (UINT64_C(64) << 20)
#define PTX_MAX_SCOPE_DEPTH 128
#define PTX_MAX_EXPR_DEPTH 128
#define PTX_MAX_INSNS (4u << 20)
#define PTX_MAX_REGS (1u << 20)
#define PTX_MAX_INIT_BYTES (UINT64_C(256) << 20)
#define PTX_MAX_VAR_BYTES (UINT64_C(1) << 40)
#define PTX_MAX_PARAM_BYTES 32764
#define PTX_MAX_OPCODE_LENGTH 200

enum symbol_kind {
    SYMBOL_VAR,
    SYMBOL_REG,
    SYMBOL_FUNC,
    SYMBOL_LABEL,
    SYMBOL_TARGETS,
    SYMBOL_PROTO
};

/*
 * What a name stands for. A parameterised register declaration %r<10> is one symbol "%r<" of
 * `count` names; its registers come into being when they are used.
 */
struct symbol {
    enum symbol_kind kind;
    struct ptx_loc loc;
    struct ptx_var *var;
    struct ptx_func *func;
    struct ptx_targets *targets;
    uint32_t pc;
    enum isa_type type;   /* registers */
    int32_t reg;          /* the first register; -1: a range, see regs */
    uint8_t vec;          /* registers: 1, 2 or 4 elements, in consecutive numbers */
    uint64_t count;       /* a range's size */
    struct u64_map *regs; /* a range's registers by index */
};

/* A use of a label that has not been seen: *target is filled when its scope, or one around it,
 * ends. */
struct fixup {
    const char *name;
    struct ptx_loc loc;
    uint32_t *target;
};

struct scope {
    struct scope *parent;
    struct map names;
    VEC(struct fixup) fixups;
    struct ptx_loc open;
};

struct u64_map_list VEC_FIELDS(struct u64_map *);

/* The function being parsed. */
struct builder {
    struct ptx_func *func;
    VEC(struct ptx_insn) insns;
    VEC(struct ptx_reg) regs;
    VEC(struct ptx_var *) locals;
    struct u64_map_list ranges; /* to be freed */
    bool label_at_end;
    bool nounroll; /* of the block at hand, for its next instruction */
};

/* A complete opcode, matched against a row: what does not depend on operands. */
struct opcode {
    enum isa_op op;
    uint16_t mods[MODC_COUNT];
    enum isa_space space[2];
    struct isa_tuple tuple;
    enum isa_type types[PTX_MAX_TYPES];
    uint8_t type_count, vec;
    struct opcode *next; /* another row that fits, with other operands */
};

struct parser {
    struct ptx_module *module;
    struct arena *arena;
    struct lexer lexer;
    struct token token, ahead;
    bool has_ahead;
    struct diags diags;
    struct scope *scope;     /* innermost */
    struct scope *root;      /* module scope */
    struct builder *builder; /* NULL outside function bodies */
    struct map opcodes;      /* text -> struct opcode */
    struct map op_names;     /* row name -> first enum isa_op */
    uint64_t init_bytes;     /* of all initialisers */
    uint64_t insn_count;     /* of all functions */
    int expr_depth;
    struct ptx_source source; /* of the instructions behind a .loc */
    struct u64_map files;     /* names by their numbers */
    struct u64_map callers;   /* by a place (func.c) in a function that was put into another: that
                               * of the call; 0: it was in none the last time */
    bool late;                /* what is not implemented refuses its function alone */
    bool video;               /* operands may have .b0, .h1 and - */
    int open_braces;          /* { of a vector or an initialiser that are open, for recovery */
    VEC(struct ptx_var *) vars;
    VEC(struct ptx_func *) funcs;
    struct raw_operands *raws; /* elements of the vectors and lists of the instruction at hand */
};

/* parser.c: tokens and diagnostics */
void parser_advance(struct parser *p);
const struct token *parser_peek(struct parser *p);
/* A diagnostic. The callers below return their code as a constant, so that a compiler sees it. */
void parser_report(struct parser *p, int code, struct ptx_loc loc, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
#define parser_error(p, ...) (parser_report((p), SONDE_EINPUT, __VA_ARGS__), SONDE_EINPUT)
#define parser_unsupported(p, ...)                                                                 \
    (parser_report((p), SONDE_EUNSUPPORTED, __VA_ARGS__), SONDE_EUNSUPPORTED)
/* A form that no row has: an error, but in a module for sm_100 or later, which has forms that are
 * not implemented. */
#define PARSER_KNOWN_SM 99
#define parser_misfit(p, ...)                                                                      \
    ((p)->module->target_sm > PARSER_KNOWN_SM ? parser_unsupported((p), __VA_ARGS__)               \
                                              : parser_error((p), __VA_ARGS__))
void parser_report_token(struct parser *p, const char *what);
/* "got 'token', expected WHAT" at the current token */
static inline int parser_expected(struct parser *p, const char *what)
{
    parser_report_token(p, what);
    return SONDE_EINPUT;
}
static inline int parser_memory(struct parser *p)
{
    p->diags.code = SONDE_ENOMEM;
    return SONDE_ENOMEM;
}
bool parser_at(const struct parser *p, int punct);
bool parser_at_dot(const struct parser *p, const char *word);
bool parser_accept(struct parser *p, int punct);
bool parser_accept_dot(struct parser *p, const char *word);
int parser_require(struct parser *p, int punct, const char *what);
/* A name's copy in the arena, or NULL with the diagnostic added. */
const char *parser_name(struct parser *p, const char *what);
int parser_uint(uint64_t *value, struct parser *p, uint64_t limit, const char *what);
/* Skip behind the next ';' of this nesting, or up to the '}' that ends it. */
void parser_recover(struct parser *p);

/* scope.c: names */
int scope_open(struct parser *p);
int scope_close(struct parser *p); /* resolves labels; what is unresolved moves outwards */
struct symbol *scope_find(const struct parser *p, const char *name, size_t length);
int scope_add(struct symbol **out, struct parser *p, const char *name, struct ptx_loc loc,
              enum symbol_kind kind);
int scope_add_range(struct parser *p, const char *prefix, struct ptx_loc loc, enum isa_type type,
                    uint8_t vec, uint64_t count);
/* The register `name` (a plain one or of a range): *symbol and *reg; false if no such register. */
bool scope_find_reg(struct symbol **symbol, int32_t *reg, struct parser *p, const char *name,
                    size_t length);
/* `vec` registers in consecutive numbers, the elements of a vector register if more than one. */
int builder_add_reg(int32_t *reg, struct parser *p, const char *name, enum isa_type type,
                    uint8_t vec);
/*
 * A base register of 8 or 16 bits: instructions that widen it to `bytes`, 4 or 8, are added in
 * front of the one at hand, and *base is what they give. ptxas 13 extends it by its sign to 32
 * bits, and these by zeros.
 */
int builder_widen(struct ptx_operand *base, struct parser *p, uint32_t bytes);

/* expr.c: constant expressions */
struct constant {
    bool is_float, is_unsigned, is_single;
    uint64_t bits; /* of a uint64_t, int64_t or double; is_single: bits of a float as written */
};
int expr_parse(struct constant *out, struct parser *p);
int expr_parse_int(struct constant *out, struct parser *p);
/* The bits of `value` as a value of `type`, or false if it has none (a float as an integer). */
bool constant_convert(uint64_t *bits, const struct constant *value, enum isa_type type);

/* var.c: declarations of variables and registers */
bool var_starts(const struct parser *p);
int var_parse(struct parser *p, enum ptx_linkage linkage, struct ptx_loc loc);
/* One parameter of a function or prototype; `name` may be '_'. */
int var_parse_param(struct ptx_var *out, struct parser *p, bool is_entry);
int init_parse(struct parser *p, struct ptx_var *var, const uint64_t *dims, uint32_t dim_count);

/* pragma.c */
int parser_pragma(bool *nounroll, struct parser *p);

/* func.c: functions and their statements */
int func_parse(struct parser *p, enum ptx_linkage linkage, bool is_entry, struct ptx_loc loc);
int func_parse_signature(struct ptx_func *func, struct parser *p);

/* opcode.c */
int opcode_match(struct opcode **out, struct parser *p, struct ptx_loc *loc, const char **text);

/* since.c: does the module's version and target have the opcode? */
int since_check(struct parser *p, const char *opcode, struct ptx_loc loc);

/* operand.c: operands as written, before an instruction gives them types */
struct raw_operand {
    enum {
        RAW_REG,     /* reg, type */
        RAW_CONST,   /* constant */
        RAW_SREG,    /* sreg */
        RAW_SYMBOL,  /* symbol (a variable, function, prototype, list) and offset */
        RAW_ADDRESS, /* [..]: reg, or symbol, plus offset */
        RAW_FETCH,   /* [..]: reg, type, and elems */
        RAW_VECTOR,  /* elems */
        RAW_PAIR,    /* elems: two */
        RAW_SINK,
    } kind;
    struct ptx_loc loc;
    bool negate;
    bool minus;        /* it was negated by - */
    uint16_t selector; /* as struct ptx_operand has it */
    bool indexed;      /* RAW_SYMBOL: written as name[n] */
    bool sampler;      /* RAW_FETCH: the first of elems is a sampler */
    bool bare;         /* RAW_FETCH: its only coordinate has no braces */
    int32_t reg;
    enum isa_type type;
    enum isa_sreg sreg;
    struct symbol *symbol;
    struct constant constant;
    uint64_t offset;
    uint32_t first, count; /* elems: a range of the parser's raw list */
};
struct raw_operands VEC_FIELDS(struct raw_operand);
int operand_parse(struct raw_operand *out, struct parser *p);
/* A list up to `close`, which is consumed; its elements go to p->raws. */
int operand_parse_list(struct raw_operand *out, struct parser *p, int close, const char *what);

/* check.c: operands against a shape; fills insn->operands */
int check_operand_count(const struct opcode *opcode, int count); /* 0: fits */
int check_operands(struct ptx_insn *insn, struct parser *p, const struct opcode *opcode,
                   const struct raw_operand *raws, int count);
/* A value of `type`: register or constant (relaxed: the register may be wider). */
int check_value(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                enum isa_type type, bool relaxed);
/* What a call passes or takes: the same, or a whole vector register of `vec` elements. */
int check_argument_value(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                         uint32_t vec, enum isa_type type);

/* check_together.c: tells that an operand has a type where another was expected */
int check_mismatch(struct parser *p, const struct raw_operand *raw, enum isa_type have,
                   enum isa_type want);
/* The type of the first register of a vector that is a number's, or TYPE_NONE. */
enum isa_type check_number_of(const struct parser *p, const struct raw_operand *raw);
/* Registers of a vector go together. */
int check_elements(struct parser *p, const struct raw_operand *raw);
/*
 * The type that a register counts as beside the others of its vector `raw`: bits where one of them
 * is declared so, and where an integer stands for a float of its size, which loads, texels and
 * their coordinates, and f64 of matrices take (`integers`).
 */
enum isa_type check_element_type(const struct parser *p, const struct raw_operand *raw,
                                 const struct raw_operand *element, enum isa_type type,
                                 bool integers);
int check_coordinates(struct parser *p, const struct raw_operand *raw);
/* May an operand of this kind of shapes.def lie in a register of type .f16x2? */
bool check_takes_halves(const struct opcode *o, const char *kind, size_t length);
bool check_narrow_address_fits(const struct parser *p, enum isa_space space);
/* The base register of an address. */
int check_base(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
               const struct ptx_insn *insn, enum isa_space space);
int check_fragment_types(struct parser *p, const struct raw_operand *raw, const struct opcode *o,
                         char which);
/* Registers of fragment `which` (A, B, C or D), 0 if the product does not exist. */
uint32_t check_fragment_registers(enum isa_type *reg, const struct opcode *o, char which);
/* The operands of an instruction among each other. */
int check_together(const struct ptx_insn *insn, struct parser *p, const struct raw_operand *raws);

/* insn.c */
int insn_parse(struct parser *p);

#endif
