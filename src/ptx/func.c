/*
 * Functions: signatures, performance directives, bodies with nested scopes, labels, target lists
 * and call prototypes. Source: PTX ISA 9.0, 7 and 11.2 to 11.5.
 */
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

/* ( param, param, ... ); the parenthesis has been read. */
static int parse_params(struct ptx_var **out, uint32_t *count, uint32_t *bytes, struct parser *p,
                        bool is_entry)
{
    VEC(struct ptx_var) params = {0};
    uint64_t offset = 0;
    int code = 0;
    while (!parser_at(p, ')')) {
        struct ptx_var param = {.reg = -1, .vec = 1};
        if ((code = var_parse_param(&param, p, is_entry)) < 0)
            break;
        offset = (offset + param.align - 1) / param.align * param.align;
        param.offset = offset;
        offset += param.size;
        if (offset > PTX_MAX_PARAM_BYTES) {
            code =
                parser_error(p, param.loc, "more than %d bytes of parameters", PTX_MAX_PARAM_BYTES);
            break;
        }
        if (vec_push(&params, param) < 0) {
            code = parser_memory(p);
            break;
        }
        if (!parser_accept(p, ','))
            break;
    }
    if (code == 0 && (code = parser_require(p, ')', "',' or ')' after a parameter")) == 0) {
        *count = (uint32_t)params.count;
        *bytes = (uint32_t)offset;
        *out = arena_array(p->arena, params.count, sizeof **out);
        if (*out == NULL)
            code = parser_memory(p);
        else if (params.count > 0)
            memcpy(*out, params.data, params.count * sizeof **out);
    }
    vec_free(&params);
    return code;
}

/* [(returns)] name [(params)] [.noreturn]; a prototype has '_' for a name. */
int func_parse_signature(struct ptx_func *func, struct parser *p)
{
    uint32_t ignored;
    int code = 0;
    if (!func->is_entry && parser_accept(p, '(') &&
        (code = parse_params(&func->returns, &func->return_count, &ignored, p, false)) < 0)
        return code;
    func->loc = p->token.loc;
    for (uint32_t i = 0; i < func->return_count && func->return_count > 1; i++)
        if (func->returns[i].space == SPACE_PARAM)
            return parser_error(p, func->loc, "several return values must be .reg, not .param");
    if (func->is_prototype && parser_accept(p, '_'))
        func->name = "_";
    else if ((func->name = parser_name(p, "a function's name")) == NULL)
        return SONDE_EINPUT;
    if (parser_accept(p, '('))
        code =
            parse_params(&func->params, &func->param_count, &func->param_bytes, p, func->is_entry);
    return code;
}

/* x[, y[, z]]: up to three numbers whose missing ones are 1. */
static int parse_triple(uint32_t *triple, struct parser *p)
{
    for (int i = 0; i < 3; i++)
        triple[i] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        int code = parser_uint(&value, p, INT32_MAX, "a number of threads");
        if (code < 0)
            return code;
        if (value == 0)
            return parser_error(p, p->token.loc, "got 0, expected a positive number");
        triple[i] = (uint32_t)value;
        if (i == 2 || !parser_accept(p, ','))
            break;
    }
    return 0;
}

static int parse_count(uint32_t *out, struct parser *p)
{
    uint64_t value = 0;
    int code = parser_uint(&value, p, INT32_MAX, "a number");
    *out = (uint32_t)value;
    return code;
}

/* One directive between signature and body; *found is false if there is none. */
static int parse_directive(bool *found, struct ptx_func *func, struct parser *p)
{
    uint32_t ignored;
    *found = true;
    if (parser_accept_dot(p, "noreturn")) {
        func->noreturn = true;
        return 0;
    }
    if (parser_accept_dot(p, "pragma"))
        return parser_pragma(&func->nounroll, p);
    if (parser_accept_dot(p, "abi_preserve") || parser_accept_dot(p, "abi_preserve_control"))
        return parse_count(&ignored, p);
    if (func->is_entry) {
        if (parser_accept_dot(p, "maxntid"))
            return parse_triple(func->maxntid, p);
        if (parser_accept_dot(p, "reqntid"))
            return parse_triple(func->reqntid, p);
        if (parser_accept_dot(p, "reqnctapercluster"))
            return parse_triple(func->reqnctapercluster, p);
        if (parser_accept_dot(p, "minnctapersm") || parser_accept_dot(p, "maxnctapersm"))
            return parse_count(&func->minnctapersm, p);
        if (parser_accept_dot(p, "maxnreg"))
            return parse_count(&func->maxnreg, p);
        if (parser_accept_dot(p, "maxclusterrank"))
            return parse_count(&func->maxclusterrank, p);
        if (parser_accept_dot(p, "explicitcluster") || parser_accept_dot(p, "blocksareclusters")) {
            func->explicit_cluster = true;
            return 0;
        }
    }
    *found = false;
    return 0;
}

static int parse_directives(struct ptx_func *func, struct parser *p)
{
    bool found = true;
    int code = 0;
    while (found && code == 0)
        code = parse_directive(&found, func, p);
    if (code == 0 && func->maxntid[0] > 0 && func->reqntid[0] > 0)
        return parser_error(p, p->token.loc, ".maxntid and .reqntid exclude each other");
    return code;
}

static bool same_params(const struct ptx_var *a, const struct ptx_var *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].size != b[i].size || a[i].align != b[i].align || a[i].space != b[i].space)
            return false;
    return true;
}

/* A prototype and what it announces must agree. */
static bool same_signature(const struct ptx_func *a, const struct ptx_func *b)
{
    return a->is_entry == b->is_entry && a->param_count == b->param_count &&
           a->return_count == b->return_count &&
           same_params(a->params, b->params, a->param_count) &&
           same_params(a->returns, b->returns, a->return_count);
}

/* Enters the function, or completes its earlier declaration: *func is then that one. */
static int declare(struct ptx_func **func, struct parser *p, bool has_body)
{
    struct ptx_func *now = *func;
    struct symbol *symbol = map_get(&p->scope->names, now->name);
    if (symbol == NULL) {
        int code = scope_add(&symbol, p, now->name, now->loc, SYMBOL_FUNC);
        if (code < 0)
            return code;
        symbol->func = now;
        return vec_push(&p->funcs, now) < 0 ? parser_memory(p) : 0;
    }
    struct ptx_func *first = symbol->func;
    if (symbol->kind != SYMBOL_FUNC || (first->has_body && has_body))
        return parser_error(p, now->loc, "'%s' is already declared at line %d", now->name,
                            symbol->loc.line);
    if (!same_signature(first, now))
        return parser_error(p, now->loc, "'%s' differs from its declaration at line %d", now->name,
                            symbol->loc.line);
    if (has_body)
        *first = *now;
    *func = first;
    return 0;
}

static int add_param_symbols(struct parser *p, struct ptx_var *params, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_var *var = &params[i];
        struct symbol *symbol;
        var->owner = p->builder->func;
        if (var->name[0] == '_' && var->name[1] == '\0')
            continue;
        int code = scope_add(&symbol, p, var->name, var->loc,
                             var->space == SPACE_REG ? SYMBOL_REG : SYMBOL_VAR);
        if (code < 0)
            return code;
        symbol->var = var;
        symbol->type = var->type;
        if (var->space == SPACE_REG &&
            (code = builder_add_reg(&var->reg, p, var->name, var->type, var->vec)) < 0)
            return code;
        symbol->reg = var->reg;
        symbol->vec = var->vec;
    }
    return 0;
}

/* name: .branchtargets a, b, c; the indices follow when the labels are known. */
static int parse_branch_targets(struct parser *p, struct symbol *symbol)
{
    VEC(struct fixup) names = {0};
    int code = 0;
    do {
        struct fixup fixup = {.loc = p->token.loc, .name = parser_name(p, "a label")};
        if (fixup.name == NULL || vec_push(&names, fixup) < 0) {
            code = fixup.name == NULL ? SONDE_EINPUT : parser_memory(p);
            break;
        }
    } while (parser_accept(p, ','));
    uint32_t *pcs = arena_array(p->arena, names.count, sizeof *pcs);
    struct ptx_targets *targets = arena_alloc(p->arena, sizeof *targets);
    if (code == 0 && (pcs == NULL || targets == NULL))
        code = parser_memory(p);
    for (size_t i = 0; i < names.count && code == 0; i++) {
        names.data[i].target = &pcs[i];
        if (vec_push(&p->scope->fixups, names.data[i]) < 0)
            code = parser_memory(p);
    }
    if (code == 0) {
        *targets = (struct ptx_targets){.count = (uint32_t)names.count, .pc = pcs};
        symbol->kind = SYMBOL_TARGETS;
        symbol->targets = targets;
    }
    vec_free(&names);
    return code < 0 ? code : parser_require(p, ';', "',' or ';' after a label");
}

static int parse_call_targets(struct parser *p, struct symbol *symbol)
{
    VEC(struct ptx_func *) funcs = {0};
    int code = 0;
    do {
        struct symbol *callee =
            p->token.kind == TOKEN_NAME ? scope_find(p, p->token.text, p->token.length) : NULL;
        if (callee == NULL || callee->kind != SYMBOL_FUNC)
            code = parser_expected(p, "a function declared before");
        else if (vec_push(&funcs, callee->func) < 0)
            code = parser_memory(p);
        else
            parser_advance(p);
    } while (code == 0 && parser_accept(p, ','));
    struct ptx_func **list = arena_array(p->arena, funcs.count, sizeof *list);
    struct ptx_targets *targets = arena_alloc(p->arena, sizeof *targets);
    if (code == 0 && (list == NULL || targets == NULL))
        code = parser_memory(p);
    if (code == 0) {
        memcpy(list, funcs.data, funcs.count * sizeof *list);
        *targets = (struct ptx_targets){.count = (uint32_t)funcs.count, .funcs = list};
        symbol->kind = SYMBOL_TARGETS;
        symbol->targets = targets;
    }
    vec_free(&funcs);
    return code < 0 ? code : parser_require(p, ';', "',' or ';' after a function");
}

static int parse_prototype(struct parser *p, struct symbol *symbol)
{
    struct ptx_func *proto = arena_alloc(p->arena, sizeof *proto);
    if (proto == NULL)
        return parser_memory(p);
    proto->is_prototype = true;
    int code = func_parse_signature(proto, p);
    if (code < 0 || (code = parse_directives(proto, p)) < 0)
        return code;
    symbol->kind = SYMBOL_PROTO;
    symbol->func = proto;
    return parser_require(p, ';', "';'");
}

/* name: has been seen; what follows may be a list or a prototype that takes the name for itself. */
static int parse_label(struct parser *p)
{
    struct ptx_loc loc = p->token.loc;
    struct symbol *symbol;
    const char *name = parser_name(p, "a label");
    if (name == NULL)
        return SONDE_EINPUT;
    parser_advance(p);
    int code = scope_add(&symbol, p, name, loc, SYMBOL_LABEL);
    if (code < 0)
        return code;
    symbol->pc = (uint32_t)p->builder->insns.count;
    if (parser_accept_dot(p, "branchtargets"))
        return parse_branch_targets(p, symbol);
    if (parser_accept_dot(p, "calltargets"))
        return parse_call_targets(p, symbol);
    if (parser_accept_dot(p, "callprototype"))
        return parse_prototype(p, symbol);
    p->builder->label_at_end = true;
    p->builder->nounroll = false; /* it stood in the block before */
    return 0;
}

#define INLINED_DEEP 32 /* calls of calls that are followed */

/* File, line and column: 16, 32 and 16 bits of them. */
static uint64_t place_key(const uint64_t numbers[3])
{
    return numbers[0] << 48 | numbers[1] << 16 | (numbers[2] & UINT16_MAX);
}

/* The place `own` of the last .loc is in a function that was put where `at` is (0: in none), which
 * may be in one that was put elsewhere: those were told before. */
static int note_caller(struct parser *p, uint64_t own, uint64_t at)
{
    uint64_t outer = at, next;
    if ((at || u64_map_find(&p->callers, own)) && u64_map_put(&p->callers, own, at) < 0)
        return parser_memory(p);
    for (int i = 0; i < INLINED_DEEP && u64_map_get(&next, &p->callers, outer) && next; i++)
        outer = next;
    p->source.caller_number = (uint32_t)(outer >> 48);
    p->source.caller_line = (uint32_t)(outer >> 16);
    return 0;
}

/* .loc file line column [, function_name label [+ n], inlined_at file line column] */
static int parse_loc(struct parser *p)
{
    uint64_t own = 0;
    for (int group = 0; group < 2; group++) {
        uint64_t numbers[3];
        for (int i = 0; i < 3; i++) {
            int code = parser_uint(&numbers[i], p, UINT32_MAX, "a number in .loc");
            if (code < 0)
                return code;
        }
        if (group == 0)
            p->source =
                (struct ptx_source){.number = (uint32_t)numbers[0], .line = (uint32_t)numbers[1]};
        if (group == 1)
            return note_caller(p, own, place_key(numbers));
        own = place_key(numbers);
        if (!parser_accept(p, ','))
            return note_caller(p, own, 0);
        for (int i = 0; i < 2; i++) /* function_name label */
            if (parser_name(p, "function_name and a label") == NULL)
                return SONDE_EINPUT;
        if (parser_accept(p, '+'))
            parser_advance(p);
        int code = parser_require(p, ',', "',' and inlined_at");
        if (code < 0)
            return code;
        if (parser_name(p, "inlined_at") == NULL)
            return SONDE_EINPUT;
    }
    return 0;
}

static int parse_statement(struct parser *p)
{
    if (p->token.kind == TOKEN_NAME) {
        const struct token *ahead = parser_peek(p);
        if (ahead->kind == TOKEN_PUNCT && ahead->punct == ':')
            return parse_label(p);
        return insn_parse(p);
    }
    if (parser_at(p, '@'))
        return insn_parse(p);
    if (parser_accept_dot(p, "loc"))
        return parse_loc(p);
    if (parser_accept_dot(p, "pragma"))
        return parser_pragma(&p->builder->nounroll, p);
    if (var_starts(p))
        return var_parse(p, LINK_INTERNAL, p->token.loc);
    return parser_expected(p, "an instruction, a label, a declaration or '}'");
}

/* Statements up to the '}' of the body. Nesting is a count, not a recursion. */
static int parse_body(struct parser *p)
{
    int depth = 0, code = 0;
    while (p->token.kind != TOKEN_END && p->diags.code != SONDE_ENOMEM) {
        if (parser_at(p, '}') && depth == 0)
            break;
        if (parser_accept(p, '}')) {
            depth--;
            scope_close(p);
        } else if (parser_at(p, '{')) {
            if (++depth > PTX_MAX_SCOPE_DEPTH) {
                code = parser_error(p, p->token.loc, "blocks nested deeper than %d",
                                    PTX_MAX_SCOPE_DEPTH);
                p->token.kind = TOKEN_END;
                p->lexer.at = p->lexer.end;
                depth--;
                break;
            }
            if ((code = scope_open(p)) < 0)
                break;
            parser_advance(p);
        } else if (parse_statement(p) < 0) {
            parser_recover(p);
        }
    }
    for (; depth > 0; depth--)
        scope_close(p);
    return code < 0 ? code : parser_require(p, '}', "'}' at the end of the function");
}

/* A function that can run off its end returns there. */
static int add_final_ret(struct parser *p)
{
    struct builder *b = p->builder;
    if (b->insns.count > 0 && !b->label_at_end) {
        const struct ptx_insn *last = &vec_last(&b->insns);
        bool leaves = last->op == OP_RET || last->op == OP_EXIT || last->op == OP_TRAP ||
                      last->op == OP_BRA || last->op == OP_BRX_IDX;
        if (leaves && last->guard < 0)
            return 0;
    }
    struct ptx_insn ret = {
        .op = OP_RET, .loc = p->token.loc, .vec = 1, .guard = -1, .reconverge = PTX_NO_PC};
    return vec_push(&b->insns, ret) < 0 ? parser_memory(p) : 0;
}

static int finish_body(struct parser *p)
{
    struct builder *b = p->builder;
    struct ptx_func *f = b->func;
    f->insn_count = (uint32_t)b->insns.count;
    f->reg_count = (uint32_t)b->regs.count;
    f->local_count = (uint32_t)b->locals.count;
    f->insns = arena_array(p->arena, b->insns.count, sizeof *f->insns);
    f->regs = arena_array(p->arena, b->regs.count, sizeof *f->regs);
    f->locals = arena_array(p->arena, b->locals.count, sizeof *f->locals);
    if (f->insns == NULL || f->regs == NULL || f->locals == NULL)
        return parser_memory(p);
    memcpy(f->insns, b->insns.data, b->insns.count * sizeof *f->insns);
    if (f->reg_count > 0)
        memcpy(f->regs, b->regs.data, b->regs.count * sizeof *f->regs);
    if (f->local_count > 0)
        memcpy(f->locals, b->locals.data, b->locals.count * sizeof *f->locals);
    return 0;
}

static void free_builder(struct builder *b)
{
    for (size_t i = 0; i < b->ranges.count; i++) {
        u64_map_free(b->ranges.data[i]);
        free(b->ranges.data[i]);
    }
    vec_free(&b->ranges);
    vec_free(&b->insns);
    vec_free(&b->regs);
    vec_free(&b->locals);
}

/*
 * Mistakes inside the body are in the diagnostics; as far as the caller's recovery is concerned the
 * function has been read, so this succeeds unless the scope cannot even be opened.
 */
static int define(struct parser *p, struct ptx_func *func)
{
    struct builder builder = {.func = func};
    int code = scope_open(p);
    if (code < 0)
        return code;
    p->builder = &builder; /* cppcheck-suppress autoVariables ; taken back below */
    p->source = (struct ptx_source){0};
    func->has_body = true;
    parser_advance(p);
    add_param_symbols(p, func->params, func->param_count);
    add_param_symbols(p, func->returns, func->return_count);
    if (parse_body(p) == 0)
        add_final_ret(p);
    scope_close(p);
    if (p->diags.code == 0)
        finish_body(p);
    p->builder = NULL;
    free_builder(&builder);
    return 0;
}

int func_parse(struct parser *p, enum ptx_linkage linkage, bool is_entry, struct ptx_loc loc)
{
    struct ptx_func *func = arena_alloc(p->arena, sizeof *func);
    (void)loc;
    if (func == NULL)
        return parser_memory(p);
    func->is_entry = is_entry;
    func->linkage = linkage;
    int code = func_parse_signature(func, p);
    if (code < 0 || (code = parse_directives(func, p)) < 0)
        return code;
    bool has_body = parser_at(p, '{');
    if (linkage == LINK_EXTERN && has_body)
        return parser_error(p, p->token.loc, ".extern function '%s' has a body", func->name);
    if ((code = declare(&func, p, has_body)) < 0)
        return code;
    return has_body ? define(p, func) : parser_require(p, ';', "'{' or ';'");
}
