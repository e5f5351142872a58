/*
 * The top level of a module: .version, .target, .address_size, linkage, debug sections; and the
 * entry point ptx_parse(). Source: PTX ISA 9.0, 11.1 to 11.7. Debug information is checked for its
 * form and not kept.
 */
#include "ptx/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/analyse/analyse.h"

/* "9.0", and only with the text's own digits. */
static int parse_version(struct parser *p)
{
    int major, minor, used = 0;
    char text[16];
    const struct token *t = &p->token;
    size_t length = t->length < sizeof text - 1 ? t->length : sizeof text - 1;
    memcpy(text, t->text, length);
    text[length] = '\0';
    if (t->kind != TOKEN_FLOAT || sscanf(text, "%3d.%3d%n", &major, &minor, &used) != 2 ||
        text[used] != '\0')
        return parser_expected(p, "a version such as 9.0");
    if (major < 1 || major > 9)
        return parser_unsupported(p, t->loc,
                                  "PTX version %s is not implemented (known: 1.0 to 9.x)", text);
    p->module->version_major = major;
    p->module->version_minor = minor;
    parser_advance(p);
    return 0;
}

static bool is_target_option(const char *text, size_t length)
{
    static const char *const options[] = {"texmode_unified", "texmode_independent", "debug",
                                          "map_f64_to_f32"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strlen(options[i]) == length && memcmp(options[i], text, length) == 0)
            return true;
    return false;
}

static int parse_target(struct parser *p)
{
    do {
        char text[64];
        int sm, used = 0;
        const struct token *t = &p->token;
        if (t->kind != TOKEN_NAME || t->length >= sizeof text)
            return parser_expected(p, "a target such as sm_75");
        memcpy(text, t->text, t->length);
        text[t->length] = '\0';
        if (sscanf(text, "sm_%4d%n", &sm, &used) == 1 &&
            (text[used] == '\0' ||
             ((text[used] == 'a' || text[used] == 'f') && text[used + 1] == '\0'))) {
            p->module->target_sm = sm;
            p->module->target_suffix = text[used];
        } else if (!is_target_option(text, t->length))
            return parser_expected(p, "a target such as sm_75, or an option such as debug");
        parser_advance(p);
    } while (parser_accept(p, ','));
    return p->module->target_sm > 0 ? 0 : parser_expected(p, "a target such as sm_75");
}

static int parse_address_size(struct parser *p)
{
    struct ptx_loc loc = p->token.loc;
    uint64_t bits;
    int code = parser_uint(&bits, p, UINT32_MAX, "32 or 64");
    if (code < 0)
        return code;
    if (bits != 32 && bits != 64)
        return parser_error(p, loc, "got address size %llu, expected 32 or 64",
                            (unsigned long long)bits);
    p->module->address_size = (int)bits;
    return 0;
}

/* .file 1 "name", timestamp, size */
static int parse_file(struct parser *p)
{
    uint64_t number;
    int code = parser_uint(&number, p, UINT32_MAX, "a file number");
    if (code < 0)
        return code;
    if (p->token.kind != TOKEN_STRING)
        return parser_expected(p, "a file name in quotes");
    char *name = arena_strndup(p->arena, p->token.text, p->token.length);
    if (name == NULL || u64_map_put_pointer(&p->files, number, name) < 0)
        return parser_memory(p);
    parser_advance(p);
    for (int i = 0; i < 2 && parser_accept(p, ','); i++)
        if ((code = parser_uint(&number, p, UINT64_MAX, "a number")) < 0)
            return code;
    return 0;
}

/* label, label + n, label - label, a number, .section_name, .section_name + n */
static int parse_debug_value(struct parser *p)
{
    do {
        if (p->token.kind != TOKEN_NAME && p->token.kind != TOKEN_INT && p->token.kind != TOKEN_DOT)
            return parser_expected(p, "a number or a label");
        parser_advance(p);
    } while (parser_accept(p, '+') || parser_accept(p, '-'));
    return 0;
}

static int parse_debug_line(struct parser *p)
{
    if (p->token.kind == TOKEN_NAME) {
        parser_advance(p);
        return parser_require(p, ':', "':' after a label");
    }
    if (!parser_at_dot(p, "b8") && !parser_at_dot(p, "b16") && !parser_at_dot(p, "b32") &&
        !parser_at_dot(p, "b64"))
        return parser_expected(p, ".b8, .b16, .b32, .b64, a label or '}' in a .section");
    parser_advance(p);
    int code;
    do {
        parser_accept(p, '-');
        code = parse_debug_value(p);
    } while (code == 0 && parser_accept(p, ','));
    return code;
}

static int parse_section(struct parser *p)
{
    if (p->token.kind != TOKEN_DOT)
        return parser_expected(p, "a section such as .debug_info");
    parser_advance(p);
    int code = parser_require(p, '{', "'{'");
    while (code == 0 && !parser_at(p, '}'))
        code = parse_debug_line(p);
    return code < 0 ? code : parser_require(p, '}', "'}'");
}

/* .alias name, aliasee; */
static int parse_alias(struct parser *p)
{
    struct ptx_func *funcs[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        struct symbol *symbol =
            p->token.kind == TOKEN_NAME ? scope_find(p, p->token.text, p->token.length) : NULL;
        if (symbol == NULL || symbol->kind != SYMBOL_FUNC || symbol->func->is_entry)
            return parser_expected(p, "a function declared before");
        funcs[i] = symbol->func;
        parser_advance(p);
        int code = i == 0 ? parser_require(p, ',', "','") : 0;
        if (code < 0)
            return code;
    }
    if (funcs[0] == funcs[1] || funcs[0]->has_body || funcs[1]->alias_of != NULL)
        return parser_error(p, p->token.loc, "'%s' cannot be an alias of '%s'", funcs[0]->name,
                            funcs[1]->name);
    funcs[0]->alias_of = funcs[1];
    return parser_require(p, ';', "';'");
}

static enum ptx_linkage parse_linkage(struct parser *p)
{
    static const struct {
        const char *word;
        enum ptx_linkage linkage;
    } words[] = {{"visible", LINK_VISIBLE},
                 {"extern", LINK_EXTERN},
                 {"weak", LINK_WEAK},
                 {"common", LINK_COMMON}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (parser_accept_dot(p, words[i].word))
            return words[i].linkage;
    return LINK_INTERNAL;
}

static int parse_declaration(struct parser *p)
{
    struct ptx_loc loc = p->token.loc;
    enum ptx_linkage linkage = parse_linkage(p);
    if (parser_accept_dot(p, "entry"))
        return func_parse(p, linkage, true, loc);
    if (parser_accept_dot(p, "func"))
        return func_parse(p, linkage, false, loc);
    if (var_starts(p))
        return var_parse(p, linkage, loc);
    return parser_expected(p, linkage == LINK_INTERNAL ? "a directive of module scope"
                                                       : "a variable, .entry or .func");
}

static int parse_top_level(struct parser *p)
{
    if (parser_accept_dot(p, "file"))
        return parse_file(p);
    if (parser_accept_dot(p, "section"))
        return parse_section(p);
    if (parser_accept_dot(p, "alias"))
        return parse_alias(p);
    if (parser_accept_dot(p, "pragma"))
        return parser_pragma(&p->module->nounroll, p);
    return parse_declaration(p);
}

/* .version, .target, [.address_size]: in this order, before everything else. */
static int parse_header(struct parser *p)
{
    if (!parser_at_dot(p, "version"))
        return parser_expected(p, ".version at the start of the module");
    parser_advance(p);
    int code = parse_version(p);
    if (code < 0)
        return code;
    if (!parser_at_dot(p, "target"))
        return parser_expected(p, ".target after .version");
    parser_advance(p);
    if ((code = parse_target(p)) < 0)
        return code;
    return parser_accept_dot(p, "address_size") ? parse_address_size(p) : 0;
}

/* A mistake at top level costs everything up to the next ';' or the end of the braces that follow.
 */
static void recover_top_level(struct parser *p)
{
    struct ptx_loc before = p->token.loc;
    parser_recover(p);
    if (parser_accept(p, '}'))
        return;
    if (p->token.kind != TOKEN_END && p->token.loc.line == before.line &&
        p->token.loc.column == before.column)
        parser_advance(p);
}

static void parse_module(struct parser *p)
{
    parser_advance(p);
    if (parse_header(p) < 0)
        return;
    while (p->token.kind != TOKEN_END)
        if (parse_top_level(p) < 0)
            recover_top_level(p);
}

/* Where variables of constant memory lie in the bank: one behind the other, as ptxas puts them. */
static void place_constants(struct ptx_module *m)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < m->var_count; i++) {
        struct ptx_var *var = m->vars[i];
        if (var->space == SPACE_CONST && var->linkage != LINK_EXTERN) {
            var->offset = (end + var->align - 1) / var->align * var->align;
            end = var->offset + var->size;
        }
    }
}

static int list_result(struct parser *p)
{
    struct ptx_module *m = p->module;
    m->var_count = (uint32_t)p->vars.count;
    m->func_count = (uint32_t)p->funcs.count;
    m->vars = arena_array(p->arena, p->vars.count, sizeof *m->vars);
    m->funcs = arena_array(p->arena, p->funcs.count, sizeof *m->funcs);
    if (m->vars == NULL || m->funcs == NULL)
        return parser_memory(p);
    if (p->vars.count > 0)
        memcpy(m->vars, p->vars.data, p->vars.count * sizeof *m->vars);
    if (p->funcs.count > 0)
        memcpy(m->funcs, p->funcs.data, p->funcs.count * sizeof *m->funcs);
    place_constants(m);
    return 0;
}

/* Row names by text, once per parse. */
static int index_rows(struct parser *p)
{
    for (int op = OP_COUNT - 1; op > OP_NONE; op--)
        if (map_put(&p->op_names, isa_row((enum isa_op)op)->name, (void *)(uintptr_t)op) < 0)
            return parser_memory(p);
    return 0;
}

static int analyse_module(struct parser *p)
{
    for (uint32_t i = 0; i < p->module->func_count; i++) {
        struct ptx_func *func = p->module->funcs[i];
        func->nounroll |= p->module->nounroll;
        if (func->has_body && func_analyse(func, p->arena) < 0)
            return parser_memory(p);
    }
    return 0;
}

/* The directives that name source files may stand behind the instructions that come from them. */
static void resolve_sources(const struct parser *p)
{
    for (uint32_t i = 0; i < p->module->func_count; i++)
        for (uint32_t k = 0; k < p->module->funcs[i]->insn_count; k++) {
            struct ptx_source *source = &p->module->funcs[i]->insns[k].source;
            if (source->line > 0)
                source->file = u64_map_get_pointer(&p->files, source->number);
            if (source->caller_line > 0)
                source->caller_file = u64_map_get_pointer(&p->files, source->caller_number);
        }
}

static int parse_text(struct ptx_module *module, const char *file, const char *text, size_t length,
                      bool late)
{
    struct parser p = {
        .module = module, .arena = module->arena, .diags = {.file = file}, .late = late};
    lexer_init(&p.lexer, text, length);
    if (scope_open(&p) == 0) {
        p.root = p.scope;
        if (index_rows(&p) == 0)
            parse_module(&p);
        scope_close(&p);
    }
    if (p.diags.code == 0 && list_result(&p) == 0) {
        resolve_sources(&p);
        analyse_module(&p);
    }
    vec_free(&p.vars);
    vec_free(&p.funcs);
    u64_map_free(&p.files);
    u64_map_free(&p.callers);
    map_free(&p.opcodes);
    map_free(&p.op_names);
    return diag_finish(&p.diags);
}

static int parse(struct ptx_module **out, const char *file, const char *text, size_t length,
                 bool late)
{
    *out = NULL;
    while (length > 0 && text[length - 1] == '\0') /* fat binaries pad with NULs */
        length--;
    if (length > PTX_MAX_TEXT_BYTES)
        return error_at(SONDE_EINPUT, file, 0, 0, "PTX of %zu bytes, the limit is %llu", length,
                        (unsigned long long)PTX_MAX_TEXT_BYTES);
    struct arena *arena = arena_create();
    struct ptx_module *module = arena != NULL ? arena_alloc(arena, sizeof *module) : NULL;
    char *name = arena != NULL ? arena_strdup(arena, file) : NULL;
    if (module == NULL || name == NULL) {
        arena_destroy(arena);
        return error_memory();
    }
    module->arena = arena;
    module->file = name;
    module->address_size = 32; /* what the manual says when the directive is missing */
    int code = parse_text(module, name, text, length, late);
    if (code < 0)
        ptx_module_destroy(module);
    else
        *out = module;
    return code;
}

int ptx_parse(struct ptx_module **out, const char *file, const char *text, size_t length)
{
    return parse(out, file, text, length, false);
}

int ptx_parse_late(struct ptx_module **out, const char *file, const char *text, size_t length)
{
    return parse(out, file, text, length, true);
}

void ptx_module_destroy(struct ptx_module *module)
{
    if (module == NULL)
        return;
    for (uint32_t i = 0; i < module->part_count; i++)
        ptx_module_destroy(module->parts[i]);
    arena_destroy(module->arena);
}

struct ptx_func *ptx_find_func(const struct ptx_module *module, const char *name)
{
    struct ptx_func *found = NULL;
    for (uint32_t i = 0; i < module->func_count; i++)
        if (strcmp(module->funcs[i]->name, name) == 0 &&
            (found == NULL || found->linkage == LINK_INTERNAL))
            found = module->funcs[i];
    return found;
}

struct ptx_var *ptx_find_var(const struct ptx_module *module, const char *name)
{
    struct ptx_var *found = NULL;
    for (uint32_t i = 0; i < module->var_count; i++)
        if (module->vars[i]->owner == NULL && strcmp(module->vars[i]->name, name) == 0 &&
            (found == NULL || found->linkage == LINK_INTERNAL))
            found = module->vars[i];
    return found;
}
