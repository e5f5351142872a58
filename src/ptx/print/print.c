/* The printer of print.h: declarations, instructions, operands. Opcodes come from the rows'
 * patterns. */
#include "ptx/print/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/image.h"
#include "ptx/analyse/analyse.h"
#include "util/container/arena.h"
#include "util/error.h"
#include "util/container/map.h"

struct printer {
    struct strbuf *out;
    struct arena *arena;           /* names */
    struct map taken, local_taken; /* names given in the module, in the function at hand */
    bool local;                    /* names are a function's now */
    struct u64_map var_names, func_names, list_names; /* by pointer: const char * */
    const char **reg_names;                           /* of the function at hand */
    const char **labels;                              /* by pc, NULL: none */
    bool failed;
};

static int fail(struct printer *pr)
{
    pr->failed = true;
    return SONDE_ENOMEM;
}

static bool is_taken(const struct printer *pr, const char *name)
{
    return map_get(&pr->taken, name) != NULL || map_get(&pr->local_taken, name) != NULL;
}

/* A name that nothing else has: `wanted`, or that with a number behind. */
static const char *unique_name(struct printer *pr, const char *wanted)
{
    struct map *taken = pr->local ? &pr->local_taken : &pr->taken;
    char *base = arena_strdup(pr->arena, wanted);
    for (char *c = base; c != NULL && *c != '\0'; c++)
        if (*c == '.') /* an element of a vector register */
            *c = '_';
    const char *name = base;
    uintptr_t next = base != NULL ? (uintptr_t)map_get(taken, base) : 0;
    while (name != NULL && is_taken(pr, name))
        name = arena_printf(pr->arena, "%s$%u", base, (unsigned)++next);
    if (name == NULL || map_put(taken, name, (void *)(uintptr_t)1) < 0 ||
        (name != base && map_put(taken, base, (void *)(next > 0 ? next : 1)) < 0)) {
        fail(pr);
        return "_";
    }
    return name;
}

static const char *pointer_name(struct printer *pr, struct u64_map *names, const void *key,
                                const char *wanted)
{
    const char *name = u64_map_get_pointer(names, (uint64_t)(uintptr_t)key);
    if (name == NULL) {
        name = unique_name(pr, wanted);
        if (u64_map_put_pointer(names, (uint64_t)(uintptr_t)key, (void *)name) < 0)
            fail(pr);
    }
    return name;
}

static const char *var_name(struct printer *pr, const struct ptx_var *var)
{
    return pointer_name(pr, &pr->var_names, var, var->name);
}

static const char *func_name(struct printer *pr, const struct ptx_func *func)
{
    return pointer_name(pr, &pr->func_names, func, func->name);
}

/* One item of a pattern as this instruction has it; "" if it has none. */
static const char *item_text(char *buffer, size_t size, const struct ptx_insn *insn,
                             const char *name, size_t length, int *types)
{
    const char *dot = "", *text = "";
    if (length == 3 && memcmp(name, "vec", 3) == 0) {
        if (insn->vec > 1)
            snprintf(buffer, size, ".v%d", insn->vec);
        return buffer;
    }
    if (length == 5 && memcmp(name, "space", 5) == 0)
        text = isa_space_text(insn->space[0]);
    else if (length == 6 && memcmp(name, "space2", 6) == 0)
        text = isa_space_text(insn->space[1]);
    else if (length == 5 && strchr("abc", name[0]) != NULL && memcmp(name + 1, "type", 4) == 0)
        text = isa_type_info(insn->types[(*types)++])->text;
    else if (length == 5 && memcmp(name, "dtype", 5) == 0)
        text = isa_type_info(insn->tuple.d)->text, (*types)++;
    else if ((length == 4 && memcmp(name, "type", 4) == 0) ||
             (length == 5 && memcmp(name, "stype", 5) == 0))
        text = isa_type_info(insn->tuple.s)->text, (*types)++;
    if (*text != '\0') {
        dot = ".";
    } else {
        for (int cls = 0; cls < MODC_COUNT; cls++)
            if (strncmp(isa_mod_class_text((enum isa_mod_class)cls), name, length) == 0 &&
                isa_mod_class_text((enum isa_mod_class)cls)[length] == '\0')
                text = isa_mod_text((enum isa_mod)insn->mods[cls]);
    }
    snprintf(buffer, size, "%s%s", dot, text);
    return buffer;
}

/*
 * Writes the opcode by one spelling of the row's pattern; returns the number of modifiers said, so
 * that the caller can tell the spelling that says all. *next: the following spelling, or NULL.
 */
static int spell(struct strbuf *out, const char **next, const struct ptx_insn *insn,
                 const char *pattern)
{
    int said = 0, types = 0;
    while (*pattern != '\0' && *pattern != ' ') {
        char buffer[48] = "";
        bool optional = *pattern == '{';
        pattern += optional ? 2 : 1;
        size_t length = strcspn(pattern, "({}. ");
        item_text(buffer, sizeof buffer, insn, pattern, length, &types);
        if (buffer[0] == '\0' && !optional)
            said -= 100;
        said += buffer[0] != '\0';
        strbuf_append(out, buffer);
        pattern += length;
        if (*pattern == '(')
            pattern += strcspn(pattern, ")") + 1;
        pattern += *pattern == '}' ? 1 : 0;
    }
    *next = *pattern == ' ' ? pattern + 3 : NULL;
    return said;
}

int ptx_print_opcode(struct strbuf *out, const struct ptx_insn *insn)
{
    const struct isa_row *row = isa_row(insn->op);
    const char *pattern = row->pattern, *best = pattern, *next;
    int most = -1000;
    strbuf_append(out, row->name);
    do {
        struct strbuf scratch = {0};
        int said = spell(&scratch, &next, insn, pattern);
        if (said > most) {
            most = said;
            best = pattern;
        }
        if (strbuf_failed(&scratch))
            out->failed = true;
        strbuf_free(&scratch);
    } while ((pattern = next) != NULL);
    spell(out, &next, insn, best);
    return strbuf_failed(out) ? SONDE_ENOMEM : 0;
}

static void print_constant(struct strbuf *out, uint64_t bits, enum isa_type type)
{
    const struct isa_type_info *info = isa_type_info(type);
    if (type == TYPE_f32)
        strbuf_printf(out, "0f%08" PRIX64, bits & UINT32_MAX);
    else if (type == TYPE_f64)
        strbuf_printf(out, "0d%016" PRIX64, bits);
    else if (info->kind == KIND_SIGNED && info->bytes > 0)
        strbuf_printf(out, "%" PRId64,
                      (int64_t)(bits << (64 - info->bytes * 8)) >> (64 - info->bytes * 8));
    else
        strbuf_printf(out, "%" PRIu64, bits);
}

static void print_offset(struct strbuf *out, uint64_t offset)
{
    if (offset != 0)
        strbuf_printf(out, "+%" PRId64, (int64_t)offset);
}

static void print_operand(struct printer *pr, const struct ptx_operand *o);

/* A vector register as an argument stands by its name: that of its first element without ".x". */
static void print_vector_register(struct printer *pr, const struct ptx_operand *o)
{
    const char *name = pr->reg_names[o->elems[0].reg];
    strbuf_printf(pr->out, "%.*s", (int)(strlen(name) - 2), name);
}

static void print_elements(struct printer *pr, const struct ptx_operand *o, const char *separator)
{
    for (uint32_t i = 0; i < o->count; i++) {
        if (i > 0)
            strbuf_append(pr->out, separator);
        if (o->elems[i].kind == OPERAND_VECTOR)
            print_vector_register(pr, &o->elems[i]);
        else
            print_operand(pr, &o->elems[i]);
    }
}

static void print_fetch(struct printer *pr, const struct ptx_operand *o)
{
    strbuf_append(pr->out, "[");
    print_operand(pr, &o->elems[0]);
    uint32_t first = o->imm ? 2 : 1;
    for (uint32_t i = 1; i < o->count; i++) {
        strbuf_append(pr->out, i == first ? ", {" : ", ");
        print_operand(pr, &o->elems[i]);
    }
    strbuf_append(pr->out, "}]");
}

static void print_address(struct printer *pr, const struct ptx_operand *o)
{
    strbuf_append(pr->out, "[");
    if (o->var != NULL) {
        strbuf_append(pr->out, var_name(pr, o->var));
        print_offset(pr->out, o->imm);
    } else if (o->has_reg) {
        strbuf_append(pr->out, pr->reg_names[o->reg]);
        print_offset(pr->out, o->imm);
    } else {
        strbuf_printf(pr->out, "%" PRIu64, o->imm);
    }
    strbuf_append(pr->out, "]");
}

static void print_selector(struct strbuf *out, uint16_t selector)
{
    if (selector)
        strbuf_append(out, ptx_selector_is_halves(selector) ? ".h" : ".b");
    for (uint32_t i = ptx_selector_count(selector); i-- > 0;)
        strbuf_printf(out, "%u", ptx_selector_digit(selector, i));
}

static void print_operand(struct printer *pr, const struct ptx_operand *o)
{
    if (o->negate)
        strbuf_append(pr->out, o->type == TYPE_pred ? "!" : "-");
    switch (o->kind) {
    case OPERAND_REG:
        strbuf_append(pr->out, pr->reg_names[o->reg]);
        print_selector(pr->out, o->selector);
        break;
    case OPERAND_IMM:
        print_constant(pr->out, o->imm, o->type);
        break;
    case OPERAND_SREG:
        strbuf_append(pr->out, isa_sreg_text(o->sreg));
        break;
    case OPERAND_VAR:
        strbuf_append(pr->out, var_name(pr, o->var));
        print_offset(pr->out, o->imm);
        break;
    case OPERAND_FUNC:
        strbuf_append(pr->out, func_name(pr, o->func));
        break;
    case OPERAND_ADDR:
        print_address(pr, o);
        break;
    case OPERAND_LABEL:
        strbuf_append(pr->out, pr->labels[o->target]);
        break;
    case OPERAND_TARGETS:
        strbuf_append(pr->out, pointer_name(pr, &pr->list_names, o->targets, "$T"));
        break;
    case OPERAND_PROTO:
        strbuf_append(pr->out, pointer_name(pr, &pr->list_names, o->func, "$P"));
        break;
    case OPERAND_VECTOR:
        strbuf_append(pr->out, "{");
        print_elements(pr, o, ", ");
        strbuf_append(pr->out, "}");
        break;
    case OPERAND_FETCH:
        print_fetch(pr, o);
        break;
    case OPERAND_PAIR:
        print_elements(pr, o, "|");
        break;
    case OPERAND_SINK:
        strbuf_append(pr->out, "_");
        break;
    case OPERAND_NONE:
        break;
    }
}

static void print_call_operands(struct printer *pr, const struct ptx_insn *insn)
{
    if (insn->operands[1].count > 0) {
        strbuf_append(pr->out, "(");
        print_elements(pr, &insn->operands[1], ", ");
        strbuf_append(pr->out, "), ");
    }
    print_operand(pr, &insn->operands[0]);
    strbuf_append(pr->out, ", (");
    print_elements(pr, &insn->operands[2], ", ");
    strbuf_append(pr->out, ")");
    if (insn->operand_count > 3) {
        strbuf_append(pr->out, ", ");
        print_operand(pr, &insn->operands[3]);
    }
}

static void print_insn(struct printer *pr, const struct ptx_insn *insn)
{
    strbuf_append(pr->out, "    ");
    if (insn->guard >= 0)
        strbuf_printf(pr->out, "@%s%s ", insn->guard_negate ? "!" : "", pr->reg_names[insn->guard]);
    ptx_print_opcode(pr->out, insn);
    if (insn->operand_count > 0)
        strbuf_append(pr->out, " ");
    if (insn->op == OP_CALL)
        print_call_operands(pr, insn);
    else
        for (uint32_t i = 0; i < insn->operand_count; i++) {
            enum isa_shape shape = isa_row(insn->op)->shape;
            bool handle = (shape == SHAPE_TEX_QUERY || shape == SHAPE_TEX_QUERY_LEVEL) && i == 1;
            strbuf_append(pr->out, i > 0 ? ", " : "");
            strbuf_append(pr->out, handle ? "[" : "");
            print_operand(pr, &insn->operands[i]);
            strbuf_append(pr->out, handle ? "]" : "");
        }
    strbuf_append(pr->out, ";\n");
}

static const char *linkage_text(enum ptx_linkage linkage)
{
    static const char *const texts[] = {"", ".visible ", ".extern ", ".weak ", ".common "};
    return texts[linkage];
}

/* ".global .align 4 .v2 .f32 name[3]" */
static void print_declarator(struct printer *pr, const struct ptx_var *var, const char *name)
{
    const struct isa_type_info *info = isa_type_info(var->type);
    uint64_t element = (uint64_t)info->bytes * var->vec;
    strbuf_printf(pr->out, ".%s ", isa_space_text(var->space));
    if (var->managed)
        strbuf_append(pr->out, ".attribute(.managed) ");
    if (info->kind != KIND_OPAQUE && var->space != SPACE_REG && var->space != SPACE_TEX)
        strbuf_printf(pr->out, ".align %u ", var->align);
    if (var->vec > 1)
        strbuf_printf(pr->out, ".v%d ", var->vec);
    strbuf_printf(pr->out, ".%s ", info->text);
    if (var->ptr_space != SPACE_NONE || var->ptr_align > 0) {
        strbuf_append(pr->out, ".ptr ");
        if (var->ptr_space != SPACE_NONE)
            strbuf_printf(pr->out, ".%s ", isa_space_text(var->ptr_space));
        if (var->ptr_align > 0)
            strbuf_printf(pr->out, ".align %u ", var->ptr_align);
    }
    strbuf_append(pr->out, name);
    if (var->unsized)
        strbuf_append(pr->out, "[]");
    else if (var->is_array)
        strbuf_printf(pr->out, "[%" PRIu64 "]", element > 0 ? var->size / element : 0);
}

static void print_reloc(struct printer *pr, const struct ptx_reloc *reloc)
{
    const char *name = reloc->var != NULL ? var_name(pr, reloc->var) : func_name(pr, reloc->func);
    bool mask = reloc->bytes == 1;
    if (mask)
        strbuf_printf(pr->out, "0x%" PRIX64 "(", UINT64_C(0xff) << reloc->mask_shift);
    strbuf_printf(pr->out, reloc->generic ? "generic(%s)" : "%s", name);
    print_offset(pr->out, (uint64_t)reloc->addend);
    strbuf_append(pr->out, mask ? ")" : "");
}

static bool all_zero(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Elements in a row; zeros at the end are left out. */
static void print_init(struct printer *pr, const struct ptx_var *var)
{
    uint32_t bytes = isa_type_info(var->type)->bytes, reloc = 0;
    uint64_t count = var->size / bytes;
    uint64_t last = var->reloc_count > 0 ? var->relocs[var->reloc_count - 1].offset / bytes : 0;
    while (count > last + 1 && all_zero(var->init + (count - 1) * bytes, bytes))
        count--;
    bool braces = var->is_array || var->vec > 1, rows = var->is_array && var->vec > 1;
    strbuf_append(pr->out, braces ? " = {" : " = ");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        if (rows && i % var->vec == 0)
            strbuf_append(pr->out, i > 0 ? "}, {" : "{");
        else
            strbuf_append(pr->out, i > 0 ? ", " : "");
        if (reloc < var->reloc_count && var->relocs[reloc].offset == i * bytes) {
            print_reloc(pr, &var->relocs[reloc++]);
            continue;
        }
        for (uint32_t b = 0; b < bytes && b < 8; b++)
            bits |= (uint64_t)var->init[i * bytes + b] << 8 * b;
        print_constant(pr->out, bits, var->type);
    }
    strbuf_append(pr->out, rows ? "}}" : braces ? "}" : "");
}

static void print_sampler(struct printer *pr, const struct ptx_var *var)
{
    static const char *const address[] = {"wrap", "clamp_to_edge", "mirror", "clamp_to_border"};
    unsigned state = var->init[0] | (unsigned)var->init[1] << 8;
    strbuf_printf(pr->out, " = {filter_mode = %s, force_unnormalized_coords = %d",
                  state & SAMPLER_LINEAR ? "linear" : "nearest",
                  (state & SAMPLER_UNNORMALIZED) != 0);
    for (unsigned axis = 0; axis < 3; axis++)
        strbuf_printf(pr->out, ", addr_mode_%u = %s", axis,
                      address[state >> (SAMPLER_ADDRESS_SHIFT + 2 * axis) & 3]);
    strbuf_append(pr->out, "}");
}

static void print_var(struct printer *pr, const struct ptx_var *var)
{
    strbuf_append(pr->out, linkage_text(var->linkage));
    print_declarator(pr, var, var_name(pr, var));
    if (var->init != NULL && var->type == TYPE_samplerref)
        print_sampler(pr, var);
    else if (var->init != NULL && var->size > 0)
        print_init(pr, var);
    strbuf_append(pr->out, ";\n");
}

static void print_params(struct printer *pr, const struct ptx_var *params, uint32_t count,
                         bool named)
{
    strbuf_append(pr->out, "(");
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append(pr->out, i > 0 ? ", " : "");
        print_declarator(pr, &params[i], named ? var_name(pr, &params[i]) : "_");
    }
    strbuf_append(pr->out, ")");
}

static void print_triple(struct printer *pr, const char *directive, const uint32_t *triple)
{
    if (triple[0] > 0 || triple[1] > 0)
        strbuf_printf(pr->out, "%s %u, %u, %u\n", directive, triple[0], triple[1], triple[2]);
}

static void print_signature(struct printer *pr, const struct ptx_func *f, bool named)
{
    strbuf_printf(pr->out, "%s%s ", linkage_text(f->linkage), f->is_entry ? ".entry" : ".func");
    if (f->return_count > 0) {
        print_params(pr, f->returns, f->return_count, named);
        strbuf_append(pr->out, " ");
    }
    strbuf_printf(pr->out, "%s ", func_name(pr, f));
    print_params(pr, f->params, f->param_count, named);
    if (f->noreturn)
        strbuf_append(pr->out, " .noreturn");
}

static void print_directives(struct printer *pr, const struct ptx_func *f)
{
    print_triple(pr, ".maxntid", f->maxntid);
    print_triple(pr, ".reqntid", f->reqntid);
    print_triple(pr, ".reqnctapercluster", f->reqnctapercluster);
    if (f->minnctapersm > 0)
        strbuf_printf(pr->out, ".minnctapersm %u\n", f->minnctapersm);
    if (f->maxnreg > 0)
        strbuf_printf(pr->out, ".maxnreg %u\n", f->maxnreg);
    if (f->maxclusterrank > 0)
        strbuf_printf(pr->out, ".maxclusterrank %u\n", f->maxclusterrank);
    if (f->explicit_cluster)
        strbuf_append(pr->out, ".explicitcluster\n");
}

/* The name that a register was declared with: of a vector's first element without ".x". */
static const char *base_name(struct printer *pr, const struct ptx_reg *reg)
{
    const char *name =
        reg->vec <= 1 ? reg->name : arena_strndup(pr->arena, reg->name, strlen(reg->name) - 2);
    if (name == NULL)
        fail(pr);
    return name != NULL ? name : "_";
}

/* Names register `reg`, all elements if it is a vector. */
static void name_register(struct printer *pr, const struct ptx_func *f, uint32_t reg,
                          const char *name)
{
    pr->reg_names[reg] = name;
    for (uint32_t i = 0; f->regs[reg].vec > 1 && i < f->regs[reg].vec; i++) {
        pr->reg_names[reg + i] = arena_printf(pr->arena, "%s.%c", name, "xyzw"[i]);
        if (pr->reg_names[reg + i] == NULL)
            pr->reg_names[reg + i] = (fail(pr), "_");
    }
}

/* Names for registers and for the instructions that something jumps to. */
static int name_locals(struct printer *pr, const struct ptx_func *f)
{
    pr->reg_names = arena_array(pr->arena, f->reg_count, sizeof *pr->reg_names);
    pr->labels = arena_array(pr->arena, (size_t)f->insn_count + 1, sizeof *pr->labels);
    if (pr->reg_names == NULL || pr->labels == NULL)
        return fail(pr);
    for (uint32_t i = 0; i < f->param_count + f->return_count; i++) {
        const struct ptx_var *var =
            i < f->param_count ? &f->params[i] : &f->returns[i - f->param_count];
        if (var->reg >= 0)
            name_register(pr, f, (uint32_t)var->reg, var_name(pr, var));
    }
    for (uint32_t i = 0; i < f->reg_count; i++)
        if (pr->reg_names[i] == NULL)
            name_register(pr, f, i, unique_name(pr, base_name(pr, &f->regs[i])));
    return pr->failed ? SONDE_ENOMEM : 0;
}

static void name_label(struct printer *pr, uint32_t pc)
{
    char text[24];
    snprintf(text, sizeof text, "$L%u", pc);
    if (pr->labels[pc] == NULL)
        pr->labels[pc] = unique_name(pr, text);
}

static void name_labels(struct printer *pr, const struct ptx_func *f)
{
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        const struct ptx_insn *insn = &f->insns[pc];
        if (insn->op == OP_BRA)
            name_label(pr, insn->operands[0].target);
        if (insn->op == OP_BRX_IDX)
            for (uint32_t i = 0; i < insn->operands[1].targets->count; i++)
                name_label(pr, insn->operands[1].targets->pc[i]);
    }
}

static void print_list(struct printer *pr, const struct ptx_operand *o)
{
    strbuf_append(pr->out, "    ");
    print_operand(pr, o);
    if (o->kind == OPERAND_PROTO) {
        strbuf_append(pr->out, ": .callprototype ");
        if (o->func->return_count > 0)
            print_params(pr, o->func->returns, o->func->return_count, false);
        strbuf_append(pr->out, " _ ");
        print_params(pr, o->func->params, o->func->param_count, false);
        strbuf_append(pr->out, o->func->noreturn ? " .noreturn" : "");
    } else {
        strbuf_append(pr->out, o->targets->pc != NULL ? ": .branchtargets " : ": .calltargets ");
        for (uint32_t i = 0; i < o->targets->count; i++) {
            strbuf_append(pr->out, i > 0 ? ", " : "");
            strbuf_append(pr->out, o->targets->pc != NULL ? pr->labels[o->targets->pc[i]]
                                                          : func_name(pr, o->targets->funcs[i]));
        }
    }
    strbuf_append(pr->out, ";\n");
}

/* Target lists and prototypes must stand before their use: all at the top. */
static void print_lists(struct printer *pr, const struct ptx_func *f)
{
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        const struct ptx_insn *insn = &f->insns[pc];
        const struct ptx_operand *o = insn->op == OP_BRX_IDX ? &insn->operands[1]
                                      : insn->op == OP_CALL && insn->operand_count > 3
                                          ? &insn->operands[3]
                                          : NULL;
        if (o == NULL)
            continue;
        const void *key =
            o->kind == OPERAND_PROTO ? (const void *)o->func : (const void *)o->targets;
        if (u64_map_find(&pr->list_names, (uint64_t)(uintptr_t)key) == NULL)
            print_list(pr, o);
    }
}

/* Its declaration; parameters and elements of a vector have none. */
static void print_register(struct printer *pr, const struct ptx_func *f, uint32_t index)
{
    const struct ptx_reg *reg = &f->regs[index];
    const char *name = pr->reg_names[index], *type = isa_type_info(reg->type)->text;
    for (uint32_t k = 0; k < f->param_count; k++)
        if (f->params[k].reg == (int32_t)index)
            return;
    for (uint32_t k = 0; k < f->return_count; k++)
        if (f->returns[k].reg == (int32_t)index)
            return;
    if (reg->vec > 1)
        strbuf_printf(pr->out, "    .reg .v%d .%s %.*s;\n", reg->vec, type, (int)strlen(name) - 2,
                      name);
    else if (reg->vec == 1)
        strbuf_printf(pr->out, "    .reg .%s %s;\n", type, name);
}

static void print_body(struct printer *pr, const struct ptx_func *f)
{
    strbuf_append(pr->out, "{\n");
    for (uint32_t i = 0; i < f->reg_count; i++)
        print_register(pr, f, i);
    for (uint32_t i = 0; i < f->local_count; i++) {
        strbuf_append(pr->out, "    ");
        print_declarator(pr, f->locals[i], var_name(pr, f->locals[i]));
        strbuf_append(pr->out, ";\n");
    }
    print_lists(pr, f);
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        if (pr->labels[pc] != NULL)
            strbuf_printf(pr->out, "%s:\n", pr->labels[pc]);
        print_insn(pr, &f->insns[pc]);
    }
    strbuf_append(pr->out, "}\n");
}

static void print_func(struct printer *pr, const struct ptx_func *f)
{
    map_free(&pr->local_taken);
    pr->local_taken = (struct map){0};
    pr->local = true;
    strbuf_append(pr->out, "\n");
    print_signature(pr, f, true);
    strbuf_append(pr->out, "\n");
    print_directives(pr, f);
    if (name_locals(pr, f) == 0) {
        name_labels(pr, f);
        print_body(pr, f);
    }
    pr->local = false;
}

static void print_module(struct printer *pr, const struct ptx_module *m)
{
    const char suffix[] = {m->target_suffix, '\0'};
    strbuf_printf(pr->out, ".version %d.%d\n.target sm_%d%s\n.address_size %d\n\n",
                  m->version_major, m->version_minor, m->target_sm, suffix, m->address_size);
    for (uint32_t i = 0; i < m->func_count; i++)
        func_name(pr, m->funcs[i]);
    for (uint32_t i = 0; i < m->var_count; i++)
        var_name(pr, m->vars[i]);
    bool relocs = false; /* initialisers may name kernels: declare these too */
    for (uint32_t i = 0; i < m->var_count; i++)
        relocs = relocs || m->vars[i]->reloc_count > 0;
    for (uint32_t i = 0; i < m->func_count; i++) {
        if (m->funcs[i]->is_entry && m->funcs[i]->has_body && !relocs)
            continue;
        print_signature(pr, m->funcs[i], false);
        strbuf_append(pr->out, ";\n");
    }
    for (uint32_t i = 0; i < m->var_count; i++)
        print_var(pr, m->vars[i]);
    for (uint32_t i = 0; i < m->func_count; i++)
        if (m->funcs[i]->has_body)
            print_func(pr, m->funcs[i]);
    for (uint32_t i = 0; i < m->func_count; i++)
        if (m->funcs[i]->alias_of != NULL)
            strbuf_printf(pr->out, ".alias %s, %s;\n", func_name(pr, m->funcs[i]),
                          func_name(pr, m->funcs[i]->alias_of));
}

static void printer_free(struct printer *pr)
{
    map_free(&pr->taken);
    map_free(&pr->local_taken);
    u64_map_free(&pr->var_names);
    u64_map_free(&pr->func_names);
    u64_map_free(&pr->list_names);
    arena_destroy(pr->arena);
}

int ptx_print(struct strbuf *out, const struct ptx_module *module)
{
    struct printer pr = {.out = out, .arena = arena_create()};
    if (pr.arena == NULL)
        return error_memory();
    print_module(&pr, module);
    printer_free(&pr);
    return pr.failed || strbuf_failed(out) ? error_memory() : 0;
}

int ptx_print_insns(struct strbuf *out, const struct ptx_func *func,
                    const struct ptx_insn *const *insns, uint32_t count)
{
    struct printer pr = {.out = out, .arena = arena_create(), .local = true};
    if (pr.arena == NULL)
        return error_memory();
    if (name_locals(&pr, func) == 0) {
        name_labels(&pr, func);
        for (uint32_t i = 0; i < count; i++)
            print_insn(&pr, insns[i]);
    }
    printer_free(&pr);
    return pr.failed || strbuf_failed(out) ? error_memory() : 0;
}
