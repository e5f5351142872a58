/*
 * One instruction: guard, opcode, operands. Branches, brx.idx and call have their own operand
 * syntax. Source: PTX ISA 9.0, 9.2 and 9.7.12.
 */
#include "ptx/parser.h"

#include <string.h>

/* @p or @!p */
static int parse_guard(struct ptx_insn *insn, struct parser *p)
{
    struct symbol *symbol;
    if (!parser_accept(p, '@'))
        return 0;
    insn->guard_negate = parser_accept(p, '!');
    if (p->token.kind != TOKEN_NAME)
        return parser_expected(p, "a predicate after '@'");
    if (!scope_find_reg(&symbol, &insn->guard, p, p->token.text, p->token.length))
        return parser_expected(p, "a declared predicate after '@'");
    if (symbol->type != TYPE_pred || symbol->vec != 1)
        return parser_expected(p, "a register of type .pred after '@'");
    parser_advance(p);
    return 0;
}

static int new_operands(struct ptx_insn *insn, struct parser *p, int count)
{
    insn->operands = arena_array(p->arena, (size_t)count, sizeof *insn->operands);
    insn->operand_count = (uint8_t)count;
    return insn->operands == NULL ? parser_memory(p) : 0;
}

static int parse_branch(struct ptx_insn *insn, struct parser *p)
{
    struct fixup fixup = {.loc = p->token.loc};
    int code = new_operands(insn, p, 1);
    if (code < 0)
        return code;
    if ((fixup.name = parser_name(p, "a label")) == NULL)
        return SONDE_EINPUT;
    insn->operands[0] = (struct ptx_operand){.kind = OPERAND_LABEL, .reg = -1};
    fixup.target = &insn->operands[0].target;
    return vec_push(&p->scope->fixups, fixup) < 0 ? parser_memory(p) : 0;
}

/* A name that stands for a list or a prototype. */
static int parse_list_name(struct ptx_operand *out, struct parser *p, bool for_call)
{
    struct symbol *symbol =
        p->token.kind == TOKEN_NAME ? scope_find(p, p->token.text, p->token.length) : NULL;
    *out = (struct ptx_operand){.reg = -1};
    if (symbol != NULL && symbol->kind == SYMBOL_TARGETS &&
        (symbol->targets->pc == NULL) == for_call) {
        out->kind = OPERAND_TARGETS;
        out->targets = symbol->targets;
    } else if (symbol != NULL && symbol->kind == SYMBOL_PROTO && for_call) {
        out->kind = OPERAND_PROTO;
        out->func = symbol->func;
    } else {
        return parser_expected(p, for_call
                                      ? "a .calltargets list or a .callprototype declared before"
                                      : "a .branchtargets list declared before");
    }
    parser_advance(p);
    return 0;
}

static int parse_indexed_branch(struct ptx_insn *insn, struct parser *p)
{
    struct raw_operand index;
    int code = new_operands(insn, p, 2);
    if (code < 0 || (code = operand_parse(&index, p)) < 0)
        return code;
    if (index.kind == RAW_REG && index.type == TYPE_f16x2)
        return check_mismatch(p, &index, index.type, TYPE_u32);
    if ((code = check_value(&insn->operands[0], p, &index, TYPE_u32, false)) < 0 ||
        (code = parser_require(p, ',', "','")) < 0)
        return code;
    return parse_list_name(&insn->operands[1], p, false);
}

/* An argument: a .param variable, a register or a constant of the parameter's type. */
static int check_argument(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
                          const struct ptx_var *param, bool write)
{
    if (raw->kind == RAW_SYMBOL && raw->symbol->kind == SYMBOL_VAR && raw->offset == 0 &&
        raw->symbol->var->space == SPACE_PARAM) {
        struct ptx_var *var = raw->symbol->var;
        *out = (struct ptx_operand){.kind = OPERAND_VAR, .type = var->type, .reg = -1, .var = var};
        if (param->space == SPACE_PARAM && (param->size == var->size || param->unsized))
            return 0;
        return parser_error(p, raw->loc, "'%s' has %llu bytes, the parameter %llu", var->name,
                            (unsigned long long)var->size, (unsigned long long)param->size);
    }
    bool vector = param->vec > 1 && param->space == SPACE_REG && raw->kind == RAW_VECTOR;
    if (param->is_array || (!vector && raw->kind != RAW_REG && (write || raw->kind != RAW_CONST)))
        return parser_error(p, raw->loc, "expected a .param variable of %llu bytes or a register",
                            (unsigned long long)param->size);
    return check_argument_value(out, p, raw, param->vec, param->type);
}

static int check_arguments(struct ptx_operand *out, struct parser *p,
                           const struct raw_operand *list, const struct ptx_var *params,
                           uint32_t count, bool write)
{
    bool variadic = count > 0 && params[count - 1].unsized;
    if (list->count != count && !(variadic && list->count + 1 >= count))
        return parser_error(p, list->loc, "got %u %s, the function has %u", list->count,
                            write ? "return values" : "arguments", count);
    *out = (struct ptx_operand){.kind = OPERAND_VECTOR, .reg = -1, .count = list->count};
    out->elems = arena_array(p->arena, list->count, sizeof *out->elems);
    if (out->elems == NULL)
        return parser_memory(p);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct ptx_var *param = &params[i < count ? i : count - 1];
        int code = check_argument(&out->elems[i], p, &p->raws->data[list->first + i], param, write);
        if (code < 0)
            return code;
    }
    return 0;
}

/* What an indirect call's list or prototype says of the callee. */
static const struct ptx_func *signature_of(const struct ptx_operand *how)
{
    if (how->kind == OPERAND_PROTO)
        return how->func;
    return how->targets->count > 0 ? how->targets->funcs[0] : NULL;
}

static int parse_callee(struct ptx_operand *out, const struct ptx_func **signature,
                        struct parser *p)
{
    struct raw_operand callee;
    struct ptx_loc loc = p->token.loc;
    if (p->token.kind != TOKEN_NAME)
        return parser_expected(p, "a function or a register");
    int code = operand_parse(&callee, p);
    if (code < 0)
        return code;
    if (callee.kind == RAW_SYMBOL && callee.symbol->kind == SYMBOL_FUNC && callee.offset == 0) {
        *out = (struct ptx_operand){.kind = OPERAND_FUNC, .reg = -1, .func = callee.symbol->func};
        *signature = out->func;
        if (out->func->is_entry)
            return parser_error(p, loc, "'%s' is a kernel and cannot be called", out->func->name);
        return 0;
    }
    if (callee.kind != RAW_REG)
        return parser_error(p, loc, "expected a function or a register to call");
    return check_value(out, p, &callee, p->module->address_size == 64 ? TYPE_u64 : TYPE_u32, false);
}

/* ( a, b ): the parenthesis has been read. */
static int parse_arguments(struct raw_operand *list, struct parser *p)
{
    list->loc = p->token.loc;
    return operand_parse_list(list, p, ')', "',' or ')' after an argument");
}

/* call [(returns),] callee [, (arguments)] [, list or prototype]; */
static int parse_call(struct ptx_insn *insn, struct parser *p)
{
    struct raw_operand returns = {.loc = p->token.loc}, arguments = {.loc = p->token.loc};
    const struct ptx_func *signature = NULL;
    int code = new_operands(insn, p, 4);
    if (code < 0)
        return code;
    insn->operand_count = 3;
    if (parser_accept(p, '(') &&
        ((code = parse_arguments(&returns, p)) < 0 || (code = parser_require(p, ',', "','")) < 0))
        return code;
    if ((code = parse_callee(&insn->operands[0], &signature, p)) < 0)
        return code;
    bool more = parser_accept(p, ',');
    if (more && parser_accept(p, '(')) {
        if ((code = parse_arguments(&arguments, p)) < 0)
            return code;
        more = parser_accept(p, ',');
    }
    if (more) {
        if ((code = parse_list_name(&insn->operands[3], p, true)) < 0)
            return code;
        insn->operand_count = 4;
        signature = signature != NULL ? signature : signature_of(&insn->operands[3]);
    }
    if (signature == NULL)
        return parser_expected(p, "a .calltargets list or a .callprototype for the indirect call");
    code = check_arguments(&insn->operands[1], p, &returns, signature->returns,
                           signature->return_count, true);
    return code < 0 ? code
                    : check_arguments(&insn->operands[2], p, &arguments, signature->params,
                                      signature->param_count, false);
}

static int parse_operands(struct raw_operand *raws, int *count, struct parser *p)
{
    *count = 0;
    if (parser_at(p, ';'))
        return 0;
    do {
        if (*count == PTX_MAX_OPERANDS)
            return parser_error(p, p->token.loc, "more than %d operands", PTX_MAX_OPERANDS);
        int code = operand_parse(&raws[*count], p);
        if (code < 0)
            return code;
        (*count)++;
    } while (parser_accept(p, ','));
    return 0;
}

static void fill(struct ptx_insn *insn, const struct opcode *opcode)
{
    insn->op = opcode->op;
    insn->vec = opcode->vec;
    insn->space[0] = opcode->space[0];
    insn->space[1] = opcode->space[1];
    insn->tuple = opcode->tuple;
    insn->type_count = opcode->type_count;
    memcpy(insn->mods, opcode->mods, sizeof insn->mods);
    memcpy(insn->types, opcode->types, sizeof insn->types);
}

/* Barriers are numbered 0 to 15, their thread counts are whole warps. */
static int check_barrier(const struct ptx_insn *insn, struct parser *p,
                         const struct raw_operand *raws)
{
    int at = isa_row(insn->op)->unit != UNIT_BARRIER
                 ? -1
                 : isa_shape_text(isa_row(insn->op)->shape)[0] == '=';
    if (at < 0)
        return 0;
    const struct ptx_operand *id = &insn->operands[at];
    const struct ptx_operand *threads = at + 1 < insn->operand_count ? id + 1 : NULL;
    if (id->kind == OPERAND_IMM && id->imm > 15)
        return parser_error(p, raws[at].loc, "barrier %llu, expected 0 to 15",
                            (unsigned long long)id->imm);
    if (threads != NULL && threads->kind == OPERAND_IMM && threads->type == TYPE_u32 &&
        (threads->imm % 32 != 0 || threads->imm == 0))
        return parser_error(p, raws[at + 1].loc,
                            "a barrier of %llu threads, expected a multiple of 32",
                            (unsigned long long)threads->imm);
    return 0;
}

static bool is_video(const struct opcode *o)
{
    enum isa_shape shape = isa_row(o->op)->shape;
    return shape == SHAPE_VIDEO || shape == SHAPE_VIDEO_TWO || shape == SHAPE_VMAD;
}

/* May one of these rows have .b0, .h1 or - at its operands? */
static bool takes_selectors(const struct opcode *o)
{
    while (o != NULL && !is_video(o))
        o = o->next;
    return o != NULL;
}

static bool admits(const struct opcode *o, const struct raw_operand *raws, int count)
{
    bool selected = false;
    for (int i = 0; i < count; i++)
        selected = selected || raws[i].selector || raws[i].minus;
    return check_operand_count(o, count) == 0 && (!selected || is_video(o));
}

static int parse_plain(struct ptx_insn *insn, struct parser *p, const struct opcode *opcode,
                       const char *name)
{
    struct raw_operand raws[PTX_MAX_OPERANDS] = {0};
    struct ptx_loc loc = p->token.loc;
    int count;
    p->video = takes_selectors(opcode);
    int code = parse_operands(raws, &count, p);
    p->video = false;
    if (code < 0)
        return code;
    if (!parser_at(p, ';'))
        return parser_expected(p, "',' or ';' after an operand");
    const struct opcode *chosen = opcode;
    while (chosen != NULL && !admits(chosen, raws, count))
        chosen = chosen->next;
    if (chosen == NULL)
        return parser_misfit(p, loc, "got %d operands for '%s', expected %s", count, name,
                             check_operand_count(opcode, count) < 0 ? "more" : "fewer");
    fill(insn, chosen);
    code = check_operands(insn, p, chosen, raws, count);
    return code < 0 ? code : check_barrier(insn, p, raws);
}

static int parse_opcode_and_operands(struct ptx_insn *insn, struct parser *p)
{
    struct opcode *opcode;
    const char *name;
    int code = opcode_match(&opcode, p, &insn->loc, &name);
    if (code < 0)
        return code;
    fill(insn, opcode);
    switch (isa_row(opcode->op)->shape) {
    case SHAPE_BRA:
        return parse_branch(insn, p);
    case SHAPE_BRX:
        return parse_indexed_branch(insn, p);
    case SHAPE_CALL:
        return parse_call(insn, p);
    default:
        return parse_plain(insn, p, opcode, name);
    }
}

int insn_parse(struct parser *p)
{
    struct raw_operands raws = {0};
    struct ptx_insn insn = {
        .loc = p->token.loc, .source = p->source, .vec = 1, .guard = -1, .reconverge = PTX_NO_PC};
    if (++p->insn_count > PTX_MAX_INSNS) {
        p->lexer.at = p->lexer.end;
        return parser_error(p, insn.loc, "more than %u instructions in one module", PTX_MAX_INSNS);
    }
    p->raws = &raws;
    int code = parse_guard(&insn, p);
    if (code == 0 && p->token.kind != TOKEN_NAME)
        code = parser_expected(p, "an instruction");
    if (code == 0)
        code = parse_opcode_and_operands(&insn, p);
    p->raws = NULL;
    vec_free(&raws);
    if (code < 0)
        return code;
    if (!parser_at(p, ';'))
        return parser_expected(p, "';' after the instruction");
    insn.nounroll = p->builder->nounroll;
    p->builder->nounroll = false;
    if (vec_push(&p->builder->insns, insn) < 0)
        return parser_memory(p);
    p->builder->label_at_end = false;
    parser_advance(p);
    return 0;
}
