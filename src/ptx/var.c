/*
 * Declarations: registers, variables of every state space, parameters of functions. Source: PTX
 * ISA 9.0, chapter 5. Function-scope variables get their offset in the frame of their space here.
 */
#include "ptx/parser.h"

#include <string.h>

#define MAX_DIMS 16

/* What stands before the names of a declaration. */
struct decl {
    enum isa_space space;
    enum isa_type type;
    uint32_t align;
    uint8_t vec;
    bool managed;
    enum isa_space ptr_space;
    uint32_t ptr_align;
    bool is_ptr;
};

static const struct {
    const char *word;
    enum isa_space space;
} decl_spaces[] = {
    {"reg", SPACE_REG},     {"param", SPACE_PARAM}, {"shared", SPACE_SHARED},
    {"local", SPACE_LOCAL}, {"const", SPACE_CONST}, {"global", SPACE_GLOBAL},
    {"tex", SPACE_TEX},     {"sreg", SPACE_SREG},
};

static enum isa_space decl_space(const struct parser *p)
{
    for (size_t i = 0; i < sizeof decl_spaces / sizeof decl_spaces[0]; i++)
        if (parser_at_dot(p, decl_spaces[i].word))
            return decl_spaces[i].space;
    return SPACE_NONE;
}

bool var_starts(const struct parser *p)
{
    return decl_space(p) != SPACE_NONE;
}

static int parse_align(uint32_t *align, struct parser *p)
{
    struct ptx_loc loc = p->token.loc;
    uint64_t value;
    int code = parser_uint(&value, p, 1u << 20, "an alignment");
    if (code < 0)
        return code;
    if (value == 0 || (value & (value - 1)) != 0)
        return parser_error(p, loc, "got alignment %llu, expected a power of two",
                            (unsigned long long)value);
    *align = (uint32_t)value;
    return 0;
}

/* .attribute(.managed, .unified(a, b)) */
static int parse_attributes(struct decl *decl, struct parser *p)
{
    int code = parser_require(p, '(', "'(' after .attribute");
    do {
        uint64_t ignored;
        if (code < 0)
            return code;
        if (parser_accept_dot(p, "managed")) {
            decl->managed = true;
        } else if (parser_accept_dot(p, "unified")) {
            if ((code = parser_require(p, '(', "'('")) < 0 ||
                (code = parser_uint(&ignored, p, UINT64_MAX, "an identifier")) < 0 ||
                (code = parser_require(p, ',', "','")) < 0 ||
                (code = parser_uint(&ignored, p, UINT64_MAX, "an identifier")) < 0 ||
                (code = parser_require(p, ')', "')'")) < 0)
                return code;
        } else {
            return parser_expected(p, "an attribute (.managed, .unified)");
        }
    } while (parser_accept(p, ','));
    return parser_require(p, ')', "')'");
}

/* .ptr .space .align N: says where an entry's pointer parameter points. */
static int parse_ptr(struct decl *decl, struct parser *p)
{
    decl->is_ptr = true;
    if (p->token.kind == TOKEN_DOT && !parser_at_dot(p, "align")) {
        enum isa_space space = decl_space(p);
        if (space != SPACE_CONST && space != SPACE_GLOBAL && space != SPACE_LOCAL &&
            space != SPACE_SHARED)
            return parser_expected(p, ".const, .global, .local, .shared or .align after .ptr");
        decl->ptr_space = space;
        parser_advance(p);
    }
    if (parser_accept_dot(p, "align"))
        return parse_align(&decl->ptr_align, p);
    return 0;
}

static int check_type(struct parser *p, const struct decl *decl, struct ptx_loc loc)
{
    const struct isa_type_info *info = isa_type_info(decl->type);
    const struct ptx_module *m = p->module;
    if (decl->type == TYPE_f16x2 &&
        (m->target_sm < 53 || m->version_major * 10 + m->version_minor < 42))
        return parser_error(p, loc, "type .f16x2 needs .version 4.2 and .target sm_53 or later");
    if (decl->type == TYPE_pred && decl->space != SPACE_REG)
        return parser_error(p, loc, "a variable of type .pred must be a register");
    if (info->kind == KIND_OPAQUE && decl->space != SPACE_GLOBAL && decl->space != SPACE_PARAM)
        return parser_error(p, loc, "type .%s is for .global and .param variables", info->text);
    if (decl->vec > 1 &&
        (info->bytes == 0 || info->kind == KIND_OPAQUE || decl->vec * info->bytes > 16))
        return parser_error(p, loc, "there is no vector of %d elements of .%s", decl->vec,
                            info->text);
    if (decl->type == TYPE_e4m3 || decl->type == TYPE_e5m2 || decl->type == TYPE_bf16 ||
        decl->type == TYPE_bf16x2 || decl->type == TYPE_tf32 || decl->type == TYPE_f32x2 ||
        decl->type == TYPE_u16x2 || decl->type == TYPE_s16x2 || decl->type == TYPE_e4m3x2 ||
        decl->type == TYPE_e5m2x2)
        return parser_error(p, loc, "type .%s is for instructions, variables of it are .b types",
                            info->text);
    return 0;
}

/* Everything up to the type, and what .param allows behind it. */
static int parse_decl(struct decl *decl, struct parser *p)
{
    int code = 0;
    *decl = (struct decl){.space = decl_space(p), .vec = 1};
    parser_advance(p);
    while (decl->type == TYPE_NONE && code == 0) {
        struct ptx_loc loc = p->token.loc;
        if (parser_accept_dot(p, "align"))
            code = parse_align(&decl->align, p);
        else if (parser_accept_dot(p, "attribute"))
            code = parse_attributes(decl, p);
        else if (parser_accept_dot(p, "v2"))
            decl->vec = 2;
        else if (parser_accept_dot(p, "v4"))
            decl->vec = 4;
        else if (p->token.kind == TOKEN_DOT &&
                 (decl->type = isa_type_find(p->token.text, p->token.length)) != TYPE_NONE)
            parser_advance(p), code = check_type(p, decl, loc);
        else
            return parser_expected(p, "a type");
    }
    while (code == 0 && decl->space == SPACE_PARAM && p->token.kind == TOKEN_DOT) {
        if (parser_accept_dot(p, "ptr"))
            code = parse_ptr(decl, p);
        else if (parser_accept_dot(p, "align"))
            code = parse_align(&decl->align, p);
        else
            return parser_expected(p, "a name");
    }
    return code;
}

static int parse_dims(uint64_t *dims, uint32_t *dim_count, bool *unsized, struct parser *p)
{
    *dim_count = 0;
    *unsized = false;
    while (parser_accept(p, '[')) {
        struct ptx_loc loc = p->token.loc;
        struct constant size = {.bits = 0};
        if (*dim_count == MAX_DIMS)
            return parser_error(p, loc, "more than %d dimensions", MAX_DIMS);
        if (parser_at(p, ']') && *dim_count == 0) {
            *unsized = true;
        } else {
            int code = expr_parse_int(&size, p);
            if (code < 0)
                return code;
            if (!size.is_unsigned && (int64_t)size.bits < 0)
                return parser_error(p, loc, "an array of %lld elements", (long long)size.bits);
        }
        dims[(*dim_count)++] = size.bits;
        int code = parser_require(p, ']', "']'");
        if (code < 0)
            return code;
    }
    return 0;
}

/* Fills the fields that follow from the declaration and the dimensions. */
static int shape_var(struct ptx_var *var, struct parser *p, const struct decl *decl,
                     const uint64_t *dims, uint32_t dim_count, bool unsized)
{
    uint32_t element = isa_type_info(decl->type)->bytes * (uint32_t)decl->vec;
    uint64_t size = element;
    for (uint32_t i = unsized ? 1 : 0; i < dim_count; i++) {
        if (dims[i] != 0 && size > PTX_MAX_VAR_BYTES / dims[i])
            return parser_error(p, var->loc, "variable '%s' is larger than 1 TiB", var->name);
        size *= dims[i];
    }
    var->space = decl->space;
    var->type = decl->type;
    var->vec = decl->vec;
    var->managed = decl->managed;
    var->is_array = dim_count > 0;
    var->unsized = unsized;
    var->size = unsized ? 0 : size;
    var->align = decl->align > 0 ? decl->align : element > 0 ? element : 1;
    var->ptr_space = decl->ptr_space;
    var->ptr_align = decl->ptr_align;
    var->reg = -1;
    return 0;
}

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

/* Lays a function-scope variable out in its frame. */
static int place(struct ptx_var *var, struct parser *p)
{
    struct ptx_func *func = p->builder->func;
    uint32_t *frame = var->space == SPACE_LOCAL    ? &func->local_bytes
                      : var->space == SPACE_SHARED ? &func->shared_bytes
                      : var->space == SPACE_PARAM  ? &func->call_param_bytes
                                                   : NULL;
    var->owner = func;
    if (frame == NULL)
        return 0;
    var->offset = align_up(*frame, var->align);
    if (var->offset + var->size > INT32_MAX)
        return parser_error(p, var->loc, "the .%s variables of '%s' exceed 2 GiB",
                            isa_space_text(var->space), func->name);
    *frame = (uint32_t)(var->offset + var->size);
    return vec_push(&p->builder->locals, var) < 0 ? parser_memory(p) : 0;
}

/* .reg .b32 %r<10>; the range is one symbol. */
static int declare_range(struct parser *p, const struct decl *decl, const char *name,
                         struct ptx_loc loc)
{
    uint64_t count;
    int code = parser_uint(&count, p, UINT32_MAX, "a number of registers");
    if (code < 0 || (code = parser_require(p, '>', "'>'")) < 0)
        return code;
    return scope_add_range(p, name, loc, decl->type, decl->vec, count);
}

static int declare_reg(struct parser *p, const struct decl *decl, const char *name,
                       struct ptx_loc loc)
{
    struct symbol *symbol;
    if (p->builder == NULL)
        return parser_error(p, loc, "register '%s' is declared outside a function", name);
    if (parser_accept(p, '<'))
        return declare_range(p, decl, name, loc);
    int code = scope_add(&symbol, p, name, loc, SYMBOL_REG);
    if (code < 0)
        return code;
    symbol->type = decl->type;
    symbol->vec = decl->vec;
    return builder_add_reg(&symbol->reg, p, name, decl->type, decl->vec);
}

/* Checks that linkage and space go together. */
static int check_linkage(struct parser *p, const struct ptx_var *var)
{
    bool in_function = p->builder != NULL;
    if (var->space == SPACE_PARAM && !in_function)
        return parser_error(p, var->loc, ".param variable '%s' is declared outside a function",
                            var->name);
    if (var->space == SPACE_LOCAL && !in_function)
        return parser_error(p, var->loc, ".local variable '%s' is declared outside a function",
                            var->name);
    if (var->size == 0 && !var->unsized)
        return parser_error(p, var->loc, "variable '%s' has no bytes", var->name);
    if (var->unsized && !(var->linkage == LINK_EXTERN) && var->init == NULL)
        return parser_error(p, var->loc, "'%s[]' needs a size, an initialiser or .extern",
                            var->name);
    if (var->linkage == LINK_EXTERN && var->init != NULL)
        return parser_error(p, var->loc, ".extern variable '%s' has an initialiser", var->name);
    if (var->linkage == LINK_COMMON && (var->space != SPACE_GLOBAL || var->init != NULL))
        return parser_error(p, var->loc, ".common is for .global variables without initialiser");
    if (in_function && var->linkage != LINK_INTERNAL)
        return parser_error(p, var->loc, "variable '%s' in a function cannot have linkage",
                            var->name);
    if (var->managed && var->space != SPACE_GLOBAL)
        return parser_error(p, var->loc, ".managed is for .global variables");
    return 0;
}

/* A variable that was declared before as .extern (or .weak, .common) may be declared again. */
static int add_var_symbol(struct ptx_var **var, struct parser *p)
{
    struct ptx_var *now = *var;
    struct symbol *symbol = map_get(&p->scope->names, now->name);
    if (symbol != NULL && symbol->kind == SYMBOL_VAR && p->builder == NULL &&
        (symbol->var->linkage == LINK_EXTERN || now->linkage == LINK_EXTERN)) {
        struct ptx_var *first = symbol->var;
        if (first->space != now->space || first->type != now->type || first->vec != now->vec ||
            (!first->unsized && !now->unsized && first->size != now->size) ||
            first->linkage == LINK_INTERNAL || now->linkage == LINK_INTERNAL)
            return parser_error(p, now->loc, "'%s' differs from its declaration at line %d",
                                now->name, first->loc.line);
        if (now->linkage != LINK_EXTERN)
            *first = *now;
        *var = first;
        return 0;
    }
    int code = scope_add(&symbol, p, now->name, now->loc, SYMBOL_VAR);
    if (code < 0)
        return code;
    symbol->var = now;
    if (p->builder == NULL ||
        (now->space != SPACE_LOCAL && now->space != SPACE_SHARED && now->space != SPACE_PARAM))
        return vec_push(&p->vars, now) < 0 ? parser_memory(p) : 0;
    return 0;
}

static int declare_var(struct parser *p, const struct decl *decl, enum ptx_linkage linkage,
                       const char *name, struct ptx_loc loc)
{
    uint64_t dims[MAX_DIMS];
    uint32_t dim_count;
    bool unsized;
    struct ptx_var *var = arena_alloc(p->arena, sizeof *var);
    if (var == NULL)
        return parser_memory(p);
    var->name = name;
    var->loc = loc;
    var->linkage = linkage;
    int code = parse_dims(dims, &dim_count, &unsized, p);
    if (code < 0 || (code = shape_var(var, p, decl, dims, dim_count, unsized)) < 0)
        return code;
    if (parser_accept(p, '=') && (code = init_parse(p, var, dims, dim_count)) < 0)
        return code;
    if ((code = check_linkage(p, var)) < 0 || (code = add_var_symbol(&var, p)) < 0)
        return code;
    return p->builder != NULL ? place(var, p) : 0;
}

int var_parse(struct parser *p, enum ptx_linkage linkage, struct ptx_loc loc)
{
    struct decl decl;
    (void)loc;
    int code = parse_decl(&decl, p);
    if (code < 0)
        return code;
    if (decl.space == SPACE_SREG)
        return parser_error(p, p->token.loc, "special registers are predefined, not declared");
    do {
        struct ptx_loc name_loc = p->token.loc;
        const char *name = parser_name(p, "a name");
        if (name == NULL)
            return SONDE_EINPUT;
        code = decl.space == SPACE_REG ? declare_reg(p, &decl, name, name_loc)
                                       : declare_var(p, &decl, linkage, name, name_loc);
    } while (code == 0 && parser_accept(p, ','));
    return code < 0 ? code : parser_require(p, ';', "',' or ';' after the declaration");
}

int var_parse_param(struct ptx_var *out, struct parser *p, bool is_entry)
{
    struct decl decl;
    uint64_t dims[MAX_DIMS];
    uint32_t dim_count;
    bool unsized;
    if (!parser_at_dot(p, "param") && (is_entry || !parser_at_dot(p, "reg")))
        return parser_expected(p, is_entry ? ".param" : ".param or .reg");
    int code = parse_decl(&decl, p);
    if (code < 0)
        return code;
    out->loc = p->token.loc;
    out->name = "_";
    if (!parser_accept(p, '_') && (out->name = parser_name(p, "a parameter's name")) == NULL)
        return SONDE_EINPUT;
    if ((code = parse_dims(dims, &dim_count, &unsized, p)) < 0)
        return code;
    if (decl.is_ptr && !is_entry)
        return parser_error(p, out->loc, ".ptr is for parameters of an .entry");
    if (decl.space == SPACE_REG && dim_count > 0)
        return parser_error(p, out->loc, "a register parameter cannot be an array");
    code = shape_var(out, p, &decl, dims, dim_count, unsized);
    if (code == 0 && unsized && is_entry)
        return parser_error(p, out->loc, "parameter '%s[]' needs a size", out->name);
    return code;
}
