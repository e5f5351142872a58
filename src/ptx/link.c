/*
 * Linking: several modules become one. What a part declares .extern is what another defines; of
 * several definitions a strong one wins over .weak and .common ones, of .weak ones the first, of
 * .common ones the largest. Names without linkage are their module's own. After it nothing refers
 * to a declaration that has a definition, so that everything behind sees a single module.
 *
 * Refused, by name and place: two strong definitions, declarations that differ in kind, state space
 * or size (of a function: of its parameters and results), a .common variable larger than its
 * initialised definition, and what is used but defined nowhere. Alignments and element types may
 * differ. An .extern shared array without a size is the dynamic one of each kernel and needs no
 * definition; neither does a function that nobody refers to. Source: PTX ISA 9.0, 11.6; where the
 * manual is silent, what nvlink 13.0 accepts and refuses.
 */
#include "ptx/ir.h"

#include <stdarg.h>
#include <string.h>

#include "ptx/diag.h"
#include "util/container/arena.h"
#include "util/error.h"
#include "util/container/map.h"
#include "util/container/vec.h"

/* What a name means so far: a variable or a function. */
struct symbol_def {
    struct ptx_var *var;
    struct ptx_func *func;
    int strength; /* enum below */
};
enum { STRENGTH_DECLARED, STRENGTH_COMMON, STRENGTH_WEAK, STRENGTH_STRONG };

struct linker {
    struct ptx_module *module;
    struct diags diags;
    struct map names;       /* name -> struct symbol_def * */
    struct u64_map winners; /* a variable or function -> what stands for it */
    bool (*provided)(const char *name);
    VEC(struct ptx_var *) vars;
    VEC(struct ptx_func *) funcs;
};

__attribute__((format(printf, 4, 5))) static void refuse(struct linker *l, const char *file,
                                                         struct ptx_loc loc, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    l->diags.file = file;
    diag_add(&l->diags, SONDE_EINPUT, loc, fmt, args);
    va_end(args);
}

static void out_of_memory(struct linker *l)
{
    l->diags.code = SONDE_ENOMEM;
}

static bool is_dynamic_shared(const struct ptx_var *var)
{
    return var->unsized && var->linkage == LINK_EXTERN &&
           (var->space == SPACE_SHARED || var->space == SPACE_SHARED_CTA);
}

static int strength_of(enum ptx_linkage linkage, bool defined)
{
    if (!defined)
        return STRENGTH_DECLARED;
    return linkage == LINK_WEAK     ? STRENGTH_WEAK
           : linkage == LINK_COMMON ? STRENGTH_COMMON
                                    : STRENGTH_STRONG;
}

static const char *def_file(const struct symbol_def *def)
{
    return def->var ? def->var->file : def->func->file;
}

static struct ptx_loc def_loc(const struct symbol_def *def)
{
    return def->var ? def->var->loc : def->func->loc;
}

static bool same_values(const struct ptx_var *a, uint32_t a_count, const struct ptx_var *b,
                        uint32_t b_count)
{
    bool same = a_count == b_count;
    for (uint32_t i = 0; same && i < a_count; i++)
        same = a[i].space == b[i].space && a[i].size == b[i].size;
    return same;
}

static const char *function_difference(const struct ptx_func *a, const struct ptx_func *b)
{
    if (a->is_entry != b->is_entry)
        return "is a kernel in one place only";
    return same_values(a->params, a->param_count, b->params, b->param_count) &&
                   same_values(a->returns, a->return_count, b->returns, b->return_count)
               ? NULL
               : "has other parameters or results";
}

/* How two declarations of a name differ; NULL: not at all. */
static const char *difference(const struct symbol_def *a, const struct symbol_def *b)
{
    if (a->func && b->func)
        return function_difference(a->func, b->func);
    if (!a->var || !b->var)
        return "is a function in one place and a variable in the other";
    if (a->var->space != b->var->space)
        return "is in another state space";
    /* Of definitions, .common ones may be smaller than the one that counts: check_common(). */
    bool common = a->strength == STRENGTH_COMMON || b->strength == STRENGTH_COMMON;
    bool defined = a->strength > STRENGTH_DECLARED && b->strength > STRENGTH_DECLARED;
    if (!a->var->unsized && !b->var->unsized && !(common && defined) &&
        a->var->size != b->var->size)
        return "has another size";
    return NULL;
}

static void compare(struct linker *l, const struct symbol_def *now, const struct symbol_def *first,
                    const char *name)
{
    struct ptx_loc at = def_loc(first);
    const char *differs = difference(now, first);
    if (differs)
        refuse(l, def_file(now), def_loc(now), "'%s' %s, see %s:%d:%d", name, differs,
               def_file(first), at.line, at.column);
    else if (now->strength == STRENGTH_STRONG && first->strength == STRENGTH_STRONG)
        refuse(l, def_file(now), def_loc(now), "'%s' is defined twice, first at %s:%d:%d", name,
               def_file(first), at.line, at.column);
}

/* Does `now` take the place of `first`? */
static bool wins(const struct symbol_def *now, const struct symbol_def *first)
{
    if (now->var && first->var && now->strength == STRENGTH_COMMON &&
        first->strength == STRENGTH_COMMON)
        return now->var->size > first->var->size;
    return now->strength > first->strength;
}

static void add_symbol(struct linker *l, const char *name, const struct symbol_def *def)
{
    struct symbol_def *first = map_get(&l->names, name);
    if (!first) {
        first = arena_alloc(l->module->arena, sizeof *first);
        if (!first || map_put(&l->names, name, first) < 0) {
            out_of_memory(l);
            return;
        }
        *first = *def;
        return;
    }
    compare(l, def, first, name);
    /* A .common variable has the strictest alignment of all. */
    uint32_t align = 0;
    if (def->var && first->var && def->strength == STRENGTH_COMMON &&
        first->strength == STRENGTH_COMMON)
        align = def->var->align > first->var->align ? def->var->align : first->var->align;
    if (wins(def, first))
        *first = *def;
    if (align)
        first->var->align = align;
}

static void collect(struct linker *l, struct ptx_module *part)
{
    for (uint32_t i = 0; i < part->var_count; i++) {
        struct ptx_var *var = part->vars[i];
        var->file = part->file;
        if (var->owner || var->linkage == LINK_INTERNAL || is_dynamic_shared(var))
            continue;
        add_symbol(
            l, var->name,
            &(struct symbol_def){
                .var = var, .strength = strength_of(var->linkage, var->linkage != LINK_EXTERN)});
    }
    for (uint32_t i = 0; i < part->func_count; i++) {
        struct ptx_func *func = part->funcs[i];
        func->file = part->file;
        if (func->linkage == LINK_INTERNAL)
            continue;
        add_symbol(l, func->name,
                   &(struct symbol_def){
                       .func = func,
                       .strength = strength_of(func->linkage, func->has_body || func->alias_of)});
    }
}

/* Whatever is not the winner of its name stands for it from now on. */
static void choose(struct linker *l, struct ptx_module *part)
{
    for (uint32_t i = 0; i < part->var_count; i++) {
        struct ptx_var *var = part->vars[i];
        bool own = var->owner || var->linkage == LINK_INTERNAL || is_dynamic_shared(var);
        const struct symbol_def *def = own ? NULL : map_get(&l->names, var->name);
        if (def && def->var && def->var != var) {
            if (u64_map_put_pointer(&l->winners, (uintptr_t)var, def->var) < 0)
                out_of_memory(l);
        } else if (vec_push(&l->vars, var) < 0) {
            out_of_memory(l);
        }
        if (def && def->var == var && def->strength == STRENGTH_DECLARED)
            refuse(l, part->file, var->loc, "variable '%s' is defined nowhere", var->name);
    }
    for (uint32_t i = 0; i < part->func_count; i++) {
        struct ptx_func *func = part->funcs[i];
        const struct symbol_def *def =
            func->linkage == LINK_INTERNAL ? NULL : map_get(&l->names, func->name);
        if (def && def->func && def->func != func) {
            if (u64_map_put_pointer(&l->winners, (uintptr_t)func, def->func) < 0)
                out_of_memory(l);
        } else if (vec_push(&l->funcs, func) < 0) {
            out_of_memory(l);
        }
    }
}

static void *winner(const struct linker *l, void *of)
{
    void *other = of ? u64_map_get_pointer(&l->winners, (uintptr_t)of) : NULL;
    return other ? other : of;
}

/* The function that a reference means, which somebody must define. */
static struct ptx_func *used(struct linker *l, struct ptx_func *func, const char *file,
                             struct ptx_loc loc)
{
    struct ptx_func *means = winner(l, func);
    if (means && !means->has_body && !means->alias_of && !means->is_prototype &&
        !(l->provided && l->provided(means->name)))
        refuse(l, file, loc, "function '%s' is used but defined nowhere", means->name);
    return means;
}

static void redirect_targets(struct linker *l, struct ptx_operand *operand, const char *file,
                             struct ptx_loc loc)
{
    struct ptx_targets *targets = (struct ptx_targets *)operand->targets;
    if (!targets || !targets->funcs)
        return;
    struct ptx_func **funcs = (struct ptx_func **)targets->funcs;
    for (uint32_t i = 0; i < targets->count; i++)
        funcs[i] = used(l, funcs[i], file, loc);
}

static void redirect_operand(struct linker *l, struct ptx_operand *operand, const char *file,
                             struct ptx_loc loc)
{
    switch (operand->kind) {
    case OPERAND_VAR:
    case OPERAND_ADDR:
        operand->var = winner(l, operand->var);
        break;
    case OPERAND_FUNC:
        operand->func = used(l, operand->func, file, loc);
        break;
    case OPERAND_TARGETS:
        redirect_targets(l, operand, file, loc);
        break;
    case OPERAND_VECTOR:
    case OPERAND_PAIR:
    case OPERAND_FETCH:
        for (uint32_t i = 0; operand->elems && i < operand->count; i++)
            redirect_operand(l, &operand->elems[i], file, loc);
        break;
    default:
        break;
    }
}

static void redirect(struct linker *l)
{
    for (size_t i = 0; i < l->funcs.count; i++) {
        struct ptx_func *func = l->funcs.data[i];
        func->alias_of = winner(l, func->alias_of);
        for (uint32_t k = 0; k < func->insn_count; k++)
            for (uint32_t o = 0; o < func->insns[k].operand_count; o++)
                redirect_operand(l, &func->insns[k].operands[o], func->file, func->insns[k].loc);
    }
    for (size_t i = 0; i < l->vars.count; i++) {
        const struct ptx_var *var = l->vars.data[i];
        struct ptx_reloc *relocs = (struct ptx_reloc *)var->relocs;
        for (uint32_t r = 0; r < var->reloc_count; r++) {
            relocs[r].var = winner(l, relocs[r].var);
            if (relocs[r].func)
                relocs[r].func = used(l, relocs[r].func, var->file, var->loc);
        }
    }
}

/* A definition with fewer bytes than a .common declaration of its name promises. */
static void check_common(struct linker *l, const struct ptx_module *part)
{
    for (uint32_t i = 0; i < part->var_count; i++) {
        const struct ptx_var *var = part->vars[i];
        const struct ptx_var *means = winner(l, (void *)var);
        if (var->linkage == LINK_COMMON && means != var && means->size < var->size)
            refuse(l, part->file, var->loc, ".common variable '%s' is larger than its definition",
                   var->name);
    }
}

/* The parts agree on what a pointer is; the newest version and target are the whole's. */
static void take_header(struct linker *l, const struct ptx_module *part)
{
    struct ptx_module *m = l->module;
    if (m->address_size && m->address_size != part->address_size)
        refuse(l, part->file, (struct ptx_loc){1, 1}, ".address_size %d, but %d in %s",
               part->address_size, m->address_size, m->parts[0]->file);
    m->address_size = part->address_size;
    if (part->version_major > m->version_major ||
        (part->version_major == m->version_major && part->version_minor > m->version_minor)) {
        m->version_major = part->version_major;
        m->version_minor = part->version_minor;
    }
    if (part->target_sm > m->target_sm)
        m->target_sm = part->target_sm;
}

static void name_module(struct linker *l)
{
    struct strbuf names = {0};
    for (uint32_t i = 0; i < l->module->part_count; i++)
        strbuf_printf(&names, "%s%s", i > 0 ? ", " : "", l->module->parts[i]->file);
    l->module->file = arena_strdup(l->module->arena, strbuf_text(&names));
    if (!l->module->file || strbuf_failed(&names))
        out_of_memory(l);
    strbuf_free(&names);
}

static void list_result(struct linker *l)
{
    struct ptx_module *m = l->module;
    m->vars = arena_array(m->arena, l->vars.count, sizeof(*m->vars));
    m->funcs = arena_array(m->arena, l->funcs.count, sizeof(*m->funcs));
    if (!m->vars || !m->funcs) {
        out_of_memory(l);
        return;
    }
    if (l->vars.count)
        memcpy(m->vars, l->vars.data, l->vars.count * sizeof(*m->vars));
    if (l->funcs.count)
        memcpy(m->funcs, l->funcs.data, l->funcs.count * sizeof(*m->funcs));
    m->var_count = (uint32_t)l->vars.count;
    m->func_count = (uint32_t)l->funcs.count;
}

static void link_parts(struct linker *l)
{
    const struct ptx_module *m = l->module;
    void (*const steps[])(struct linker *, struct ptx_module *) = {collect, choose};
    for (uint32_t i = 0; i < m->part_count; i++)
        take_header(l, m->parts[i]);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (uint32_t i = 0; i < m->part_count && l->diags.code == 0; i++)
            steps[s](l, m->parts[i]);
    for (uint32_t i = 0; i < m->part_count && l->diags.code == 0; i++)
        check_common(l, m->parts[i]);
    if (l->diags.code == 0)
        redirect(l);
    if (l->diags.code == 0)
        list_result(l);
}

static struct ptx_module *make_module(struct ptx_module *const *parts, uint32_t count)
{
    struct arena *arena = arena_create();
    struct ptx_module *module = arena ? arena_alloc(arena, sizeof *module) : NULL;
    if (module && (module->parts = arena_array(arena, count, sizeof(*module->parts)))) {
        module->arena = arena;
        module->part_count = count;
        memcpy(module->parts, parts, count * sizeof(*module->parts));
        return module;
    }
    arena_destroy(arena);
    for (uint32_t i = 0; i < count; i++)
        ptx_module_destroy(parts[i]);
    return NULL;
}

int ptx_link(struct ptx_module **out, struct ptx_module *const *parts, uint32_t count,
             bool (*provided)(const char *name))
{
    *out = NULL;
    struct linker l = {.module = make_module(parts, count), .provided = provided};
    if (!l.module)
        return error_memory();
    name_module(&l);
    if (l.diags.code == 0)
        link_parts(&l);
    map_free(&l.names);
    u64_map_free(&l.winners);
    vec_free(&l.vars);
    vec_free(&l.funcs);
    int code = diag_finish(&l.diags);
    if (code < 0)
        ptx_module_destroy(l.module);
    else
        *out = l.module;
    return code;
}
