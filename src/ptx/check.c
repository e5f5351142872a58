/*
 * Operands against the shape and types of their instruction. The rules are the manual's (PTX
 * ISA 9.0, 9.3 and 9.4) as the vendor's assembler applies them: a register must have the
 * instruction's size, and integers do not mix with floats; .b types agree with everything of their
 * size; ld, st and cvt also take wider registers; constants are cut to the type.
 */
#include "ptx/parser.h"

#include <string.h>

#include "isa/fragment.h"

#define MAX_SPECS (PTX_MAX_OPERANDS + 1)

/* One operand of a shape (shapes.def). */
struct spec {
    const char *kind;
    size_t length;
    bool write, sink, relaxed, optional;
};

static int read_shape(struct spec *specs, enum isa_shape shape)
{
    int count = 0;
    for (int i = 0; i < MAX_SPECS; i++)
        specs[i] = (struct spec){.kind = ""};
    for (const char *at = isa_shape_text(shape); *at != '\0' && count < MAX_SPECS;) {
        struct spec *spec = &specs[count++];
        size_t length = strcspn(at, " ");
        const char *next = at + length + (at[length] == ' ' ? 1 : 0);
        *spec = (struct spec){.write = *at == '=' || *at == '+'};
        spec->optional = at[length - 1] == '?';
        length -= spec->optional ? 1 : 0;
        for (; *at == '=' || *at == '+' || *at == '_' || *at == '~'; at++, length--) {
            spec->sink = spec->sink || *at == '_';
            spec->relaxed = spec->relaxed || *at == '~';
        }
        spec->kind = at;
        spec->length = length;
        at = next;
    }
    return count;
}

static bool spec_is(const struct spec *spec, const char *kind)
{
    return strncmp(kind, spec->kind, spec->length) == 0 && kind[spec->length] == '\0';
}

/* What the opcode's modifiers add to the operands, in this order; by number. */
enum extra { EXTRA_NONE, EXTRA_OFFSETS, EXTRA_CTAS, EXTRA_POLICY };

static enum extra extra_operand(const struct opcode *o, int number)
{
    const enum extra all[] = {
        o->mods[MODC_BOX] == MOD_BOX_im2col ? EXTRA_OFFSETS : EXTRA_NONE,
        o->mods[MODC_MULTICAST] != MOD_NONE ? EXTRA_CTAS : EXTRA_NONE,
        o->mods[MODC_HINT] != MOD_NONE ? EXTRA_POLICY : EXTRA_NONE,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] != EXTRA_NONE && number-- == 0)
            return all[i];
    return EXTRA_NONE;
}

/* wgmma: signs are for floats, of 16 bits also the order in memory, where a is there. */
static int wgmma_operands(const struct opcode *o)
{
    int plain = isa_row(o->op)->shape == SHAPE_WGMMA ? 4 : 6;
    if (o->tuple.d == TYPE_s32)
        return plain;
    bool halves = o->types[1] == TYPE_f16 || o->types[1] == TYPE_bf16;
    return plain + (halves ? 4 : 2);
}

int check_operand_count(const struct opcode *opcode, int count)
{
    struct spec specs[MAX_SPECS];
    int most = read_shape(specs, isa_row(opcode->op)->shape), least = most, extras = 0;
    enum isa_shape shape = isa_row(opcode->op)->shape;
    if (shape == SHAPE_WGMMA || shape == SHAPE_WGMMA_SPARSE) {
        most = wgmma_operands(opcode);
        least = opcode->tuple.d != TYPE_s32 && opcode->types[1] != TYPE_tf32 ? most - 1 : most;
        return count < least ? -1 : count > most ? 1 : 0;
    }
    for (int i = 0; i < most; i++)
        extras += specs[i].kind[0] == 'X';
    if (extras > 0) {
        most -= extras;
        for (int i = 0; i < extras; i++)
            most += extra_operand(opcode, i) != EXTRA_NONE;
        return count < most ? -1 : count > most ? 1 : 0;
    }
    while (least > 0 && specs[least - 1].optional)
        least--;
    return count < least ? -1 : count > most ? 1 : 0;
}

/* Formats that no register can be declared as: their values lie in .b registers. */
static bool has_no_registers(enum isa_type type)
{
    return type == TYPE_bf16 || type == TYPE_bf16x2 || type == TYPE_tf32 || type == TYPE_f32x2 ||
           type == TYPE_u16x2 || type == TYPE_s16x2 || type == TYPE_e4m3x2 || type == TYPE_e5m2x2;
}

/* May a register of type `reg` hold a value of the instruction's type? */
static bool compatible(enum isa_type type, enum isa_type reg, bool relaxed)
{
    const struct isa_type_info *want = isa_type_info(type), *have = isa_type_info(reg);
    relaxed = relaxed && !has_no_registers(type);
    if (reg == TYPE_f16x2 && type != reg && want->kind != KIND_FLOAT) /* to integers it is bits */
        return compatible(type, TYPE_b32, relaxed);
    if (want->kind == KIND_PRED || have->kind == KIND_PRED)
        return want->kind == have->kind;
    if (want->kind == KIND_OPAQUE || have->kind == KIND_OPAQUE)
        return false;
    if ((type == TYPE_e4m3x2 || type == TYPE_e5m2x2) && have->kind != KIND_BITS)
        return false;
    bool want_float = want->kind == KIND_FLOAT, have_float = have->kind == KIND_FLOAT;
    bool has_bits = want->kind == KIND_BITS || have->kind == KIND_BITS;
    if (!has_bits && (has_no_registers(type) || type == TYPE_f16x2 || reg == TYPE_f16x2) &&
        type != reg)
        return false;
    if (relaxed && type != reg && want_float && have->kind != KIND_BITS)
        return false;
    if (!has_bits && want_float != have_float)
        return false;
    if (relaxed && !(want_float && have_float))
        return have->bytes >= want->bytes;
    return have->bytes == want->bytes;
}

static int set_register(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                        enum isa_type type, bool relaxed)
{
    *out = (struct ptx_operand){.kind = OPERAND_REG,
                                .type = raw->type,
                                .reg = raw->reg,
                                .negate = raw->negate,
                                .selector = raw->selector};
    return compatible(type, raw->type, relaxed) ? 0 : check_mismatch(p, raw, raw->type, type);
}

static int set_constant(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                        enum isa_type type)
{
    *out = (struct ptx_operand){.kind = OPERAND_IMM, .type = type, .reg = -1};
    if (constant_convert(&out->imm, &raw->constant, type))
        return 0;
    return parser_error(p, raw->loc, "got %s constant, expected a value of type .%s",
                        raw->constant.is_float ? "a floating-point" : "an integer",
                        isa_type_info(type)->text);
}

int check_value(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                enum isa_type type, bool relaxed)
{
    if (raw->kind == RAW_REG && raw->negate && !raw->minus && type != TYPE_pred)
        return parser_error(p, raw->loc, "'!' negates predicates only");
    if (raw->kind == RAW_REG)
        return set_register(out, p, raw, type, relaxed);
    if (raw->kind == RAW_CONST)
        return set_constant(out, p, raw, type);
    if (raw->kind == RAW_SREG)
        return parser_error(p, raw->loc, "'%s' can be read by mov and cvt only",
                            isa_sreg_text(raw->sreg));
    if (raw->kind == RAW_SINK)
        return parser_error(p, raw->loc, "'_' cannot be read");
    return parser_error(p, raw->loc, "expected a register or constant of type .%s",
                        isa_type_info(type)->text);
}

/* A register that is written, or the sink. */
static int check_result(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                        enum isa_type type, bool relaxed, bool sink)
{
    if (raw->kind == RAW_SINK && sink) {
        *out = (struct ptx_operand){.kind = OPERAND_SINK, .type = type, .reg = -1};
        return 0;
    }
    if (raw->kind != RAW_REG || raw->negate)
        return parser_error(p, raw->loc, "expected a register of type .%s for the result",
                            isa_type_info(type)->text);
    return set_register(out, p, raw, type, relaxed);
}

static int check_sreg(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                      enum isa_type type, bool part)
{
    enum isa_type have = isa_sreg_type(raw->sreg);
    *out = (struct ptx_operand){.kind = OPERAND_SREG, .type = have, .reg = -1, .sreg = raw->sreg};
    /* %gridid was 32 bits wide once: mov.u32 of it is still legal. */
    bool narrow = raw->sreg == SREG_GRIDID && isa_type_info(type)->bytes == 4;
    /* What counts threads and blocks had 16 bits before PTX 2.0, and may be read so; cvt may read
     * part of anything. */
    bool number = isa_type_info(type)->kind != KIND_FLOAT && isa_type_info(type)->bytes > 0;
    bool counts = raw->sreg >= SREG_TID_X && raw->sreg <= SREG_NCTAID_Z;
    narrow = narrow || (number && counts && isa_type_info(type)->bytes == 2) ||
             (number && part && isa_type_info(type)->bytes <= isa_type_info(have)->bytes);
    return narrow || compatible(type, have, false) ? 0 : check_mismatch(p, raw, have, type);
}

static struct ptx_operand *new_elems(struct ptx_operand *out, struct parser *p,
                                     enum ptx_operand_kind kind, uint32_t count)
{
    *out = (struct ptx_operand){.kind = kind, .reg = -1, .count = count};
    out->elems = arena_array(p->arena, count, sizeof *out->elems);
    if (out->elems == NULL)
        parser_memory(p);
    return out->elems;
}

/* Element `at` of the list of raw operands, which is one of vector `raw`. */
static int check_element(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                         uint32_t at, enum isa_type type, bool integers, const struct spec *spec)
{
    struct raw_operand element = p->raws->data[at];
    element.type = check_element_type(p, raw, &element, type, integers);
    int code = spec->write ? check_result(out, p, &element, type, spec->relaxed, true)
                           : check_value(out, p, &element, type, spec->relaxed);
    if (out->kind == OPERAND_REG)
        out->type = p->raws->data[at].type;
    return code;
}

/* {a, b, ..}: `count` elements of `type`, written or read. */
static int check_vector(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                        uint32_t count, enum isa_type type, const struct spec *spec)
{
    if (raw->kind != RAW_VECTOR)
        return parser_error(p, raw->loc, "expected a vector {..} of %u elements", count);
    if (raw->count != count)
        return parser_error(p, raw->loc, "got a vector of %u elements, expected %u", raw->count,
                            count);
    struct ptx_operand *elems = new_elems(out, p, OPERAND_VECTOR, count);
    if (elems == NULL)
        return SONDE_ENOMEM;
    out->type = type;
    bool integers = spec_is(spec, "VD") || (spec->kind[0] == 'F' && type == TYPE_f64);
    for (uint32_t i = 0; i < count; i++) {
        int code = check_element(&elems[i], p, raw, raw->first + i, type, integers, spec);
        if (code < 0)
            return code;
    }
    return check_elements(p, raw);
}

static bool is_surface(const struct opcode *o)
{
    enum isa_shape shape = isa_row(o->op)->shape;
    return shape == SHAPE_SURFACE_LOAD || shape == SHAPE_SURFACE_STORE ||
           shape == SHAPE_SURFACE_RED || o->op == OP_SUQ;
}

/* What vector atomics take: halves in any registers of their size. */
static enum isa_type atomic_element(enum isa_type type)
{
    return type == TYPE_f32 ? type : isa_type_info(type)->bytes == 2 ? TYPE_b16 : TYPE_b32;
}

/* A vector of the instruction's type. */
static int check_values(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                        const struct opcode *o, const struct spec *spec)
{
    enum isa_shape shape = isa_row(o->op)->shape;
    bool atomic = shape == SHAPE_VECTOR_ATOM || shape == SHAPE_VECTOR_RED;
    enum isa_type type = atomic ? atomic_element(o->tuple.d) : o->tuple.d;
    return check_vector(out, p, raw, o->vec, type, spec);
}

int check_argument_value(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                         uint32_t vec, enum isa_type type)
{
    static const struct spec argument = {.kind = ""};
    return vec > 1 ? check_vector(out, p, raw, vec, type, &argument)
                   : check_value(out, p, raw, type, false);
}

/* p|q, or p alone. */
static int check_pair(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                      enum isa_type first, bool sink)
{
    if (raw->kind != RAW_PAIR)
        return check_result(out, p, raw, first, false, sink);
    struct ptx_operand *elems = new_elems(out, p, OPERAND_PAIR, 2);
    if (elems == NULL)
        return SONDE_ENOMEM;
    int code = check_result(&elems[0], p, &p->raws->data[raw->first], first, false, true);
    return code < 0
               ? code
               : check_result(&elems[1], p, &p->raws->data[raw->first + 1], TYPE_pred, false, true);
}

/* The element type of a packed or unpacked .b value: a .b type of its share. */
static enum isa_type share_type(enum isa_type whole, uint32_t count)
{
    switch (isa_type_info(whole)->bytes / count) {
    case 1:
        return TYPE_b8;
    case 2:
        return TYPE_b16;
    case 4:
        return TYPE_b32;
    case 8:
        return TYPE_b64;
    default:
        return TYPE_NONE;
    }
}

static int check_mov_vector(struct ptx_operand *out, struct parser *p,
                            const struct raw_operand *raw, const struct opcode *o,
                            const struct spec *spec)
{
    if (o->vec > 1)
        return check_vector(out, p, raw, o->vec, o->tuple.s, spec);
    bool power = raw->count == 2 || raw->count == 4 || raw->count == 8;
    enum isa_type share = power ? share_type(o->tuple.s, raw->count) : TYPE_NONE;
    if (isa_type_info(o->tuple.s)->kind != KIND_BITS || share == TYPE_NONE)
        return parser_error(p, raw->loc, "a vector of %u elements does not make a .%s", raw->count,
                            isa_type_info(o->tuple.s)->text);
    struct spec strict = *spec;
    strict.relaxed = false;
    return check_vector(out, p, raw, raw->count, share, &strict);
}

/* The address of a variable or function as a value. */
static int check_symbol_value(struct ptx_operand *out, struct parser *p,
                              const struct raw_operand *raw, enum isa_type type)
{
    const struct isa_type_info *info = isa_type_info(type);
    struct symbol *symbol = raw->symbol;
    if (symbol->kind != SYMBOL_VAR && symbol->kind != SYMBOL_FUNC)
        return parser_error(p, raw->loc, "the address of a label is not a value");
    bool fits =
        info->bytes == 4 || info->bytes == 8 || (info->bytes == 16 && symbol->kind == SYMBOL_VAR);
    if (info->kind == KIND_FLOAT || !fits)
        return parser_error(p, raw->loc, "an address does not fit type .%s", info->text);
    if (info->bytes == 4 && !check_narrow_address_fits(
                                p, symbol->kind == SYMBOL_VAR ? symbol->var->space : SPACE_GLOBAL))
        return parser_error(p, raw->loc, "a 64-bit address does not fit type .%s", info->text);
    *out = (struct ptx_operand){.type = type, .reg = -1, .imm = raw->offset};
    if (symbol->kind == SYMBOL_VAR) {
        out->kind = OPERAND_VAR;
        out->var = symbol->var;
    } else {
        out->kind = OPERAND_FUNC;
        out->func = symbol->func;
        if (raw->offset != 0)
            return parser_error(p, raw->loc, "an offset from a function");
    }
    return 0;
}

static int check_mov(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                     const struct opcode *o, const struct spec *spec)
{
    if (raw->kind == RAW_VECTOR || o->vec > 1)
        return check_mov_vector(out, p, raw, o, spec);
    if (spec->write)
        return check_result(out, p, raw, o->tuple.d, false, false);
    if (raw->kind == RAW_SREG)
        return check_sreg(out, p, raw, o->tuple.s, false);
    if (raw->kind == RAW_SYMBOL)
        return check_symbol_value(out, p, raw, o->tuple.s);
    return check_value(out, p, raw, o->tuple.s, false);
}

static int check_var_space(struct parser *p, const struct raw_operand *raw,
                           const struct ptx_var *var, enum isa_space space)
{
    bool generic =
        var->space == SPACE_GLOBAL || var->space == SPACE_SHARED || var->space == SPACE_LOCAL;
    if (space == SPACE_NONE && !generic)
        return parser_error(p, raw->loc, "'%s' is in .%s, the instruction has no state space",
                            var->name, isa_space_text(var->space));
    if (space == SPACE_NONE || isa_space_base(space) == var->space)
        return 0;
    return parser_error(p, raw->loc, "'%s' is in .%s, the instruction accesses .%s", var->name,
                        isa_space_text(var->space), isa_space_text(space));
}

/*
 * Without a state space the instruction takes the variable's own. An mbarrier lies in shared
 * memory; prefetchu takes generic addresses, which only that of a .global variable is as it stands.
 * ptxas 13 holds named variables to both.
 */
static int check_own_space(struct parser *p, const struct raw_operand *raw,
                           const struct ptx_insn *insn, const struct ptx_var *var)
{
    const char *name = isa_row(insn->op)->name;
    bool mbarrier = strncmp(name, "mbarrier.", strlen("mbarrier.")) == 0;
    if ((mbarrier && var->space != SPACE_SHARED) ||
        (insn->op == OP_PREFETCHU && var->space != SPACE_GLOBAL))
        return parser_error(p, raw->loc, "'%s' is in .%s, '%s' accesses .%s", var->name,
                            isa_space_text(var->space), name, mbarrier ? "shared" : "global");
    return 0;
}

/* A variable written as an address: [var + n], or var[n] without brackets around. */
static int set_var_address(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                           const struct ptx_insn *insn, enum isa_space space)
{
    struct ptx_var *var = raw->symbol->var;
    bool writes = isa_row(insn->op)->shape == SHAPE_STORE;
    out->var = var;
    if (writes && var->space == SPACE_PARAM && var->owner != NULL && var->owner->is_entry &&
        var->owner->param_count > 0 && var >= var->owner->params &&
        var < var->owner->params + var->owner->param_count)
        return parser_error(p, raw->loc, "'%s' is a parameter of the kernel and cannot be written",
                            var->name);
    int code = check_var_space(p, raw, var, space);
    return code < 0 ? code : check_own_space(p, raw, insn, var);
}

static int check_address(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                         const struct ptx_insn *insn, enum isa_space space)
{
    *out = (struct ptx_operand){.kind = OPERAND_ADDR, .reg = -1, .imm = raw->offset};
    bool element = raw->kind == RAW_SYMBOL && raw->symbol->kind == SYMBOL_VAR && raw->indexed;
    if (raw->kind != RAW_ADDRESS && !element)
        return parser_error(p, raw->loc, "expected an address in brackets");
    if (raw->symbol != NULL && (raw->symbol->kind == SYMBOL_VAR))
        return set_var_address(out, p, raw, insn, space);
    if (raw->reg < 0 && space != SPACE_LOCAL)
        return parser_error(p, raw->loc, "a constant address is for .local only");
    if (raw->reg < 0)
        return 0;
    out->has_reg = true;
    out->reg = raw->reg;
    out->type = raw->type;
    return check_base(out, p, raw, insn, space);
}

/* cvta, isspacep: a value, or a variable's address. */
static int check_address_value(struct ptx_operand *out, struct parser *p,
                               const struct raw_operand *raw, const struct ptx_insn *insn,
                               const struct opcode *o)
{
    if (raw->kind == RAW_SYMBOL && raw->symbol->kind == SYMBOL_VAR && insn->op != OP_ISSPACEP &&
        insn->op != OP_CVTA_TO) {
        int code = check_var_space(p, raw, raw->symbol->var, insn->space[0]);
        return code < 0 ? code
                        : check_symbol_value(out, p, raw,
                                             insn->op == OP_ISTYPEP ? TYPE_u64 : o->tuple.s);
    }
    enum isa_type type = insn->op == OP_ISTYPEP ? TYPE_u64 : o->tuple.s;
    if (insn->op == OP_ISSPACEP && raw->kind == RAW_REG && isa_type_info(raw->type)->bytes == 4)
        type = TYPE_u32;
    return check_value(out, p, raw, type, false);
}

/* What a sampler knows may be asked of a sampler alone. */
static bool asks_sampler(const struct opcode *o, const struct raw_operand *raw)
{
    enum isa_mod query = (enum isa_mod)o->mods[MODC_QUERY];
    return o->op == OP_TXQ && query >= MOD_QUERY_force_unnormalized_coords &&
           query <= MOD_QUERY_addr_mode_2 && raw->symbol != NULL &&
           raw->symbol->kind == SYMBOL_VAR && raw->symbol->var->type == TYPE_samplerref;
}

/* A texture, sampler or surface: a 64-bit handle in a register, or a variable. */
static int check_handle(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                        enum isa_type want)
{
    struct raw_operand handle = *raw;
    handle.kind = RAW_REG;
    if (raw->symbol == NULL && raw->offset == 0 && raw->reg >= 0)
        return check_value(out, p, &handle, TYPE_u64, false);
    if (raw->symbol == NULL || raw->symbol->kind != SYMBOL_VAR || raw->offset != 0 ||
        raw->symbol->var->type != want)
        return parser_error(p, raw->loc, "expected a 64-bit handle or a variable of type .%s",
                            isa_type_info(want)->text);
    *out =
        (struct ptx_operand){.kind = OPERAND_VAR, .type = want, .reg = -1, .var = raw->symbol->var};
    return 0;
}

/* Coordinates of each geometry; `layer`: the first is a number, not a coordinate. */
static uint32_t coordinate_count(bool *layer, const struct opcode *o)
{
    enum isa_mod geom = (enum isa_mod)o->mods[MODC_GEOM];
    *layer = geom == MOD_GEOM_a1d || geom == MOD_GEOM_a2d || geom == MOD_GEOM_acube ||
             geom == MOD_GEOM_2dms || geom == MOD_GEOM_a2dms;
    switch (geom) {
    case MOD_NONE:
    case MOD_GEOM_1d:
        return 1;
    case MOD_GEOM_2d:
    case MOD_GEOM_a1d:
        return 2;
    default:
        return 4;
    }
}

/* [handle, {coordinates}] */
static int check_fetch(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                       const struct opcode *o)
{
    static const struct spec coordinate = {.kind = ""};
    bool layer;
    uint32_t count = coordinate_count(&layer, o), samplers = raw->sampler ? 1 : 0;
    if (raw->kind != RAW_FETCH)
        return parser_error(p, raw->loc, "expected [texture, {coordinates}]");
    if (raw->count - samplers != count)
        return parser_error(p, raw->loc, "got %u coordinates, expected %u", raw->count - samplers,
                            count);
    if (raw->sampler && is_surface(o))
        return parser_error(p, raw->loc, "a sampler beside a surface");
    struct ptx_operand *elems = new_elems(out, p, OPERAND_FETCH, raw->count + 1);
    if (elems == NULL)
        return SONDE_ENOMEM;
    out->imm = samplers;
    int code = check_handle(&elems[0], p, raw, is_surface(o) ? TYPE_surfref : TYPE_texref);
    if (code == 0 && raw->sampler)
        code = check_handle(&elems[1], p, &p->raws->data[raw->first], TYPE_samplerref);
    for (uint32_t i = 0; i < count && code == 0; i++) {
        enum isa_type type = layer && i == 0 ? TYPE_u32 : is_surface(o) ? TYPE_s32 : o->tuple.s;
        uint32_t at = raw->first + samplers + i;
        struct ptx_operand *elem = &elems[samplers + i + 1];
        code = layer && i == 0 ? check_value(elem, p, &p->raws->data[at], type, false)
                               : check_element(elem, p, raw, at, type, true, &coordinate);
    }
    struct raw_operand places = *raw; /* but for the layer's number */
    places.first += samplers + layer;
    places.count -= samplers + layer;
    return code < 0 ? code : check_elements(p, &places);
}

static uint32_t tensor_rank(const struct opcode *o)
{
    return (uint32_t)(o->mods[MODC_DIM] - MOD_DIM_1d) + 1;
}

/* [map, {coordinates}]: the map is an object in memory, by its address. */
static int check_tensor(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                        const struct opcode *o)
{
    static const struct spec coordinate = {.kind = ""};
    uint32_t rank = tensor_rank(o);
    if (raw->kind != RAW_FETCH || raw->bare || raw->sampler || raw->symbol != NULL || raw->reg < 0)
        return parser_error(p, raw->loc, "expected [tensor map, {coordinates}]");
    if (raw->count != rank)
        return parser_error(p, raw->loc, "got %u coordinates, expected %u", raw->count, rank);
    if (o->mods[MODC_BOX] != MOD_NONE && o->mods[MODC_BOX] != MOD_BOX_tile && rank < 3)
        return parser_error(p, raw->loc, "im2col of a tensor of %u dimensions, expected 3 to 5",
                            rank);
    struct raw_operand map = *raw;
    map.kind = RAW_REG;
    struct ptx_operand *elems = new_elems(out, p, OPERAND_FETCH, rank + 1);
    if (elems == NULL)
        return SONDE_ENOMEM;
    int code = check_value(&elems[0], p, &map, TYPE_b64, false);
    for (uint32_t i = 0; i < rank && code == 0; i++)
        code = check_element(&elems[i + 1], p, raw, raw->first + i, TYPE_s32, false, &coordinate);
    code = code < 0 ? code : check_coordinates(p, raw);
    return code < 0 ? code : check_elements(p, raw);
}

/* 64 bits that are no number: a policy, a state, a descriptor. */
static int check_word(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw)
{
    return raw->kind == RAW_REG && raw->type == TYPE_f64
               ? check_mismatch(p, raw, TYPE_f64, TYPE_b64)
               : check_value(out, p, raw, TYPE_b64, false);
}

static int check_extra(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                       const struct opcode *o, const struct spec *spec)
{
    switch (extra_operand(o, spec->kind[1] - '0')) {
    case EXTRA_OFFSETS:
        return check_vector(out, p, raw, tensor_rank(o) - 2, TYPE_u16, spec);
    case EXTRA_CTAS:
        return check_value(out, p, raw, TYPE_u16, false);
    default:
        return check_word(out, p, raw);
    }
}

/* A warp's share of d, or of a, which may be a descriptor instead. */
static int check_wgmma(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                       const struct opcode *o, const struct spec *spec)
{
    struct isa_mnk mnk = isa_wgmma_mnk((enum isa_mod)o->mods[MODC_WG]);
    bool sparse = isa_row(o->op)->shape == SHAPE_WGMMA_SPARSE;
    enum isa_type a = o->op == OP_WGMMA_BITS ? TYPE_NONE : o->types[1], d = o->tuple.d;
    if (!isa_is_wgmma(mnk, d, a, o->op == OP_WGMMA_BITS ? TYPE_NONE : o->types[2], sparse))
        return parser_error(p, raw->loc, "there is no matrix product of this size and these types");
    if (spec->kind[1] == 'Q' && raw->kind != RAW_VECTOR)
        return check_word(out, p, raw);
    return spec->kind[1] == 'Q' ? check_vector(out, p, raw, 4, TYPE_b32, spec)
                                : check_vector(out, p, raw, mnk.n / (d == TYPE_f16 ? 4u : 2u),
                                               d == TYPE_f16 ? TYPE_b32 : d, spec);
}

/* Derivatives or offsets: one number for each dimension of the image. */
static int check_per_dimension(struct ptx_operand *out, struct parser *p,
                               const struct raw_operand *raw, const struct opcode *o,
                               enum isa_type type, const struct spec *spec)
{
    bool layer;
    uint32_t count = coordinate_count(&layer, o);
    enum isa_mod geom = (enum isa_mod)o->mods[MODC_GEOM];
    count = geom == MOD_GEOM_a1d ? 1 : geom == MOD_GEOM_a2d ? 2 : count;
    if (count == 1 && raw->kind != RAW_VECTOR)
        return check_value(out, p, raw, type, false);
    return check_vector(out, p, raw, count, type, spec);
}

/* The registers of a matrix fragment, or of the small matrices of ldmatrix. */
static int check_fragment(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                          const struct opcode *o, const struct spec *spec)
{
    enum isa_type reg = TYPE_b32;
    uint32_t count = spec->kind[1] == 'X' ? 1u << (o->mods[MODC_MATRICES] - MOD_MATRICES_x1)
                                          : check_fragment_registers(&reg, o, spec->kind[1]);
    if (count == 0)
        return parser_error(p, raw->loc, "there is no matrix product of this size and these types");
    int code = check_vector(out, p, raw, count, reg, spec);
    return code < 0 || spec->kind[1] == 'X' ? code : check_fragment_types(p, raw, o, spec->kind[1]);
}

/* set puts bf16 into any register of its size but .f16, two of them into any of theirs. */
static enum isa_type set_type(const struct opcode *o, const struct raw_operand *raw)
{
    enum isa_type bits = o->tuple.d == TYPE_bf16x2 ? TYPE_b32 : TYPE_b16;
    bool brain = o->tuple.d == TYPE_bf16x2 || (o->tuple.d == TYPE_bf16 && raw->type != TYPE_f16);
    return brain ? bits : o->tuple.d;
}

static enum isa_type named_type(const struct spec *spec, const struct opcode *o,
                                const struct raw_operand *raw)
{
    enum isa_shape shape = isa_row(o->op)->shape;
    if (spec->write && (shape == SHAPE_SET || shape == SHAPE_SET_BOOL))
        return set_type(o, raw);
    if (spec_is(spec, "u32") && (shape == SHAPE_SHFL || shape == SHAPE_SHFL_ACTIVE))
        return TYPE_b32;
    if (spec_is(spec, "D"))
        return o->tuple.d;
    if (spec_is(spec, "S"))
        return o->tuple.s;
    return isa_type_find(spec->kind, spec->length);
}

/* Operands in brackets: addresses, handles, coordinates in a tensor or a texture. */
static int check_bracketed(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                           const struct spec *spec, const struct ptx_insn *insn,
                           const struct opcode *o)
{
    enum isa_shape shape = isa_row(o->op)->shape;
    struct raw_operand bare = *raw;
    bool named = raw->kind == RAW_SYMBOL && raw->symbol->kind == SYMBOL_VAR;
    if ((shape == SHAPE_TENSOR_IN || shape == SHAPE_TENSOR_OUT) && !spec_is(spec, "[M]") &&
        ((raw->kind == RAW_REG && !raw->negate) || named)) {
        bare.kind = RAW_ADDRESS; /* ptxas makes the same code of it */
        raw = &bare;
    }
    if (spec_is(spec, "[B]"))
        return check_address(out, p, raw, insn, insn->space[1]);
    if (spec_is(spec, "[H]"))
        return raw->kind == RAW_ADDRESS
                   ? check_handle(out, p, raw,
                                  is_surface(o)          ? TYPE_surfref
                                  : asks_sampler(o, raw) ? TYPE_samplerref
                                                         : TYPE_texref)
                   : parser_error(p, raw->loc, "expected [texture or surface]");
    if (spec_is(spec, "[S]"))
        return check_address(out, p, raw, insn, SPACE_SHARED);
    if (spec_is(spec, "[M]"))
        return check_tensor(out, p, raw, o);
    if (spec_is(spec, "[T]"))
        return check_fetch(out, p, raw, o);
    return check_address(out, p, raw, insn, insn->space[0]); /* [A], [N] */
}

/* Masks and results that are .b32, policies and states that are .b64, lie in no float's register.
 */
static bool is_no_number(const struct spec *spec, const struct opcode *o)
{
    enum isa_shape shape = isa_row(o->op)->shape;
    bool any = shape == SHAPE_PRODUCT_SPARSE || shape == SHAPE_WGMMA_SPARSE ||
               (shape == SHAPE_CVT_PACK_C && !spec->write);
    return spec_is(spec, "b64") || (spec_is(spec, "b32") && !any) || o->op == OP_POLICY_CVT;
}

/* cvt reads wider registers and writes them, but of bf16. */
static bool is_relaxed(const struct spec *spec, const struct opcode *o)
{
    bool brain = o->tuple.d == TYPE_bf16 || o->tuple.s == TYPE_bf16;
    bool number = isa_type_info(o->tuple.d)->kind != KIND_FLOAT ||
                  isa_type_info(o->tuple.s)->kind != KIND_FLOAT;
    return spec->relaxed && !(isa_row(o->op)->shape == SHAPE_CVT && brain && number);
}

static int check_one(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                     const struct spec *spec, const struct ptx_insn *insn, const struct opcode *o)
{
    if (spec->kind[0] == '[')
        return check_bracketed(out, p, raw, spec, insn, o);
    if (spec->kind[0] == 'X')
        return check_extra(out, p, raw, o, spec);
    if (spec_is(spec, "FW") || spec_is(spec, "FQ"))
        return check_wgmma(out, p, raw, o, spec);
    if (spec->kind[0] == 'F' && spec->length == 2)
        return check_fragment(out, p, raw, o, spec);
    if (spec_is(spec, "G"))
        return check_per_dimension(out, p, raw, o, o->tuple.s, spec);
    if (spec_is(spec, "O"))
        return check_per_dimension(out, p, raw, o, TYPE_s32, spec);
    if (spec_is(spec, "u32/P"))
        return check_value(out, p, raw,
                           raw->kind == RAW_REG && raw->type == TYPE_pred ? TYPE_pred : TYPE_u32,
                           false);
    if (spec_is(spec, "MD") || spec_is(spec, "MS"))
        return check_mov(out, p, raw, o, spec);
    if (spec_is(spec, "AS"))
        return check_address_value(out, p, raw, insn, o);
    if (spec_is(spec, "VD") && raw->kind == RAW_SINK && spec->sink)
        return check_result(out, p, raw, o->tuple.d, false, true);
    if (spec_is(spec, "VD") && (o->vec > 1 || raw->kind == RAW_VECTOR))
        return check_values(out, p, raw, o, spec);
    if (spec_is(spec, "P|P"))
        return check_pair(out, p, raw, TYPE_pred, spec->sink);
    if (spec_is(spec, "D|P"))
        return check_pair(out, p, raw, o->tuple.d, false);
    enum isa_type first = raw->kind == RAW_PAIR ? p->raws->data[raw->first].type : TYPE_NONE;
    if (spec_is(spec, "b32|P") && (first == TYPE_f16x2 || first == TYPE_f32))
        return check_mismatch(p, raw, first, TYPE_b32);
    if (spec_is(spec, "b32|P"))
        return check_pair(out, p, raw, TYPE_b32, false);
    if (spec_is(spec, "!P"))
        return raw->kind == RAW_SREG && insn->op == OP_MOV_PRED
                   ? check_sreg(out, p, raw, TYPE_pred, false)
                   : check_value(out, p, raw, TYPE_pred, false);
    if (spec->kind[0] == '#' && raw->kind != RAW_CONST)
        return parser_error(p, raw->loc, "expected a constant");
    enum isa_type type = spec_is(spec, "#u32")   ? TYPE_u32
                         : spec_is(spec, "#s32") ? TYPE_s32
                         : spec_is(spec, "P")    ? TYPE_pred
                         : spec_is(spec, "VD")   ? o->tuple.d
                                                 : named_type(spec, o, raw);
    if (raw->kind == RAW_REG && raw->type == TYPE_f16x2 &&
        !check_takes_halves(o, spec->kind, spec->length))
        return check_mismatch(p, raw, raw->type, type);
    if (raw->kind == RAW_REG && isa_type_info(raw->type)->kind == KIND_FLOAT &&
        raw->type != TYPE_f16x2 && is_no_number(spec, o))
        return check_mismatch(p, raw, raw->type, type);
    if (spec->write)
        return check_result(out, p, raw, type, is_relaxed(spec, o), spec->sink);
    if (raw->kind == RAW_SREG && isa_row(o->op)->shape == SHAPE_CVT &&
        isa_type_info(o->tuple.d)->kind != KIND_FLOAT)
        return check_sreg(out, p, raw, type, true);
    return check_value(out, p, raw, type, is_relaxed(spec, o));
}

int check_operands(struct ptx_insn *insn, struct parser *p, const struct opcode *opcode,
                   const struct raw_operand *raws, int count)
{
    struct spec specs[MAX_SPECS];
    read_shape(specs, isa_row(opcode->op)->shape);
    insn->operands = arena_array(p->arena, (size_t)count, sizeof *insn->operands);
    if (insn->operands == NULL)
        return parser_memory(p);
    insn->operand_count = (uint8_t)count;
    for (int i = 0; i < count; i++) {
        int code = check_one(&insn->operands[i], p, &raws[i], &specs[i], insn, opcode);
        if (code < 0)
            return code;
    }
    return check_together(insn, p, raws);
}
