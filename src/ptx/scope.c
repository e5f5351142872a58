/*
 * Names. A scope is a map from text to symbol; function bodies and { } blocks nest. Labels may be
 * used before they stand: such uses wait in their scope and are tried again when it closes.
 */
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

int scope_open(struct parser *p)
{
    struct scope *scope = calloc(1, sizeof *scope);
    if (scope == NULL)
        return parser_memory(p);
    scope->parent = p->scope;
    scope->open = p->token.loc;
    p->scope = scope;
    return 0;
}

/* Labels are a function's own: what reaches the module's scope does not exist. */
static int resolve(struct parser *p, const struct fixup *fixup, struct scope *outer)
{
    struct symbol *symbol = map_get(&p->scope->names, fixup->name);
    if (symbol != NULL && symbol->kind == SYMBOL_LABEL) {
        *fixup->target = symbol->pc;
        return 0;
    }
    if (symbol != NULL)
        return parser_error(p, fixup->loc, "'%s' is not a label", fixup->name);
    if (outer == NULL || outer == p->root)
        return parser_error(p, fixup->loc, "label '%s' is not defined in this function",
                            fixup->name);
    return vec_push(&outer->fixups, *fixup) < 0 ? parser_memory(p) : 0;
}

int scope_close(struct parser *p)
{
    struct scope *scope = p->scope;
    int code = 0;
    for (size_t i = 0; i < scope->fixups.count; i++) {
        int result = resolve(p, &scope->fixups.data[i], scope->parent);
        code = code < 0 ? code : result;
    }
    p->scope = scope->parent;
    vec_free(&scope->fixups);
    map_free(&scope->names);
    free(scope);
    return code;
}

struct symbol *scope_find(const struct parser *p, const char *name, size_t length)
{
    for (const struct scope *scope = p->scope; scope != NULL; scope = scope->parent) {
        struct symbol *symbol = map_get_n(&scope->names, name, length);
        if (symbol != NULL)
            return symbol;
    }
    return NULL;
}

/*
 * Splits "%r12" into the prefix "%r" and 12. A number with leading zeros, or none, or one too large
 * for any range is no member of a range.
 */
static bool split_number(size_t *prefix_length, uint64_t *number, const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    if (at == length || at == 0 || length - at > 10 || (name[at] == '0' && length - at > 1))
        return false;
    *number = 0;
    for (size_t i = at; i < length; i++)
        *number = *number * 10 + (uint64_t)(name[i] - '0');
    *prefix_length = at;
    return true;
}

enum { RANGE_KEY_BYTES = 256 };

/* The key under which range "%r<" lies, or its shadow "%r>": the lowest plainly declared %rN. */
static size_t range_key(char *key, const char *prefix, size_t length, char mark)
{
    if (length >= RANGE_KEY_BYTES - 1)
        return 0;
    memcpy(key, prefix, length);
    key[length] = mark;
    return length + 1;
}

static int redeclared(struct parser *p, const char *name, struct ptx_loc loc, struct ptx_loc first)
{
    return parser_error(p, loc, "'%s' is already declared at line %d", name, first.line);
}

/* Remembers the lowest plain name with this prefix, so that a later range is checked in one step.
 */
static int note_plain(struct parser *p, const char *name, struct ptx_loc loc)
{
    char key[RANGE_KEY_BYTES];
    size_t prefix, length;
    uint64_t number;
    if (!split_number(&prefix, &number, name, strlen(name)) ||
        (length = range_key(key, name, prefix, '<')) == 0)
        return 0;
    struct symbol *range = map_get_n(&p->scope->names, key, length);
    if (range != NULL && number < range->count)
        return redeclared(p, name, loc, range->loc);
    key[length - 1] = '>';
    struct symbol *lowest = map_get_n(&p->scope->names, key, length);
    if (lowest == NULL) {
        lowest = arena_alloc(p->arena, sizeof *lowest);
        if (lowest == NULL || map_put_n(&p->scope->names, key, length, lowest) < 0)
            return parser_memory(p);
        *lowest = (struct symbol){.kind = SYMBOL_REG, .loc = loc, .count = number};
    } else if (number < lowest->count) {
        lowest->count = number;
    }
    return 0;
}

int scope_add(struct symbol **out, struct parser *p, const char *name, struct ptx_loc loc,
              enum symbol_kind kind)
{
    struct symbol *other = map_get(&p->scope->names, name);
    if (other != NULL)
        return redeclared(p, name, loc, other->loc);
    if (p->builder != NULL) {
        int code = note_plain(p, name, loc);
        if (code < 0)
            return code;
    }
    struct symbol *symbol = arena_alloc(p->arena, sizeof *symbol);
    if (symbol == NULL || map_put(&p->scope->names, name, symbol) < 0)
        return parser_memory(p);
    symbol->kind = kind;
    symbol->loc = loc;
    symbol->reg = -1;
    symbol->vec = 1;
    *out = symbol;
    return 0;
}

int scope_add_range(struct parser *p, const char *prefix, struct ptx_loc loc, enum isa_type type,
                    uint8_t vec, uint64_t count)
{
    char key[RANGE_KEY_BYTES];
    size_t length = range_key(key, prefix, strlen(prefix), '>');
    if (length == 0)
        return parser_error(p, loc, "the name '%.40s...' is longer than %d characters", prefix,
                            RANGE_KEY_BYTES - 2);
    struct symbol *lowest = map_get_n(&p->scope->names, key, length);
    if (lowest != NULL && lowest->count < count)
        return redeclared(p, prefix, loc, lowest->loc);
    key[length - 1] = '<';
    struct symbol *other = map_get_n(&p->scope->names, key, length);
    if (other != NULL)
        return redeclared(p, prefix, loc, other->loc);
    struct symbol *symbol = arena_alloc(p->arena, sizeof *symbol);
    struct u64_map *regs = calloc(1, sizeof *regs);
    if (symbol == NULL || regs == NULL || vec_push(&p->builder->ranges, regs) < 0) {
        free(regs);
        return parser_memory(p);
    }
    if (map_put_n(&p->scope->names, key, length, symbol) < 0)
        return parser_memory(p); /* cppcheck-suppress memleak ; the builder's ranges own regs */
    *symbol = (struct symbol){.kind = SYMBOL_REG,
                              .loc = loc,
                              .type = type,
                              .reg = -1,
                              .vec = vec,
                              .count = count,
                              .regs = regs};
    return 0;
}

int builder_add_reg(int32_t *reg, struct parser *p, const char *name, enum isa_type type,
                    uint8_t vec)
{
    static const char elements[] = "xyzw";
    struct builder *b = p->builder;
    if (b->regs.count + vec > PTX_MAX_REGS)
        return parser_error(p, p->token.loc, "more than %u registers in one function",
                            PTX_MAX_REGS);
    *reg = (int32_t)b->regs.count;
    for (int i = 0; i < vec; i++) {
        const char *text = vec == 1 ? name : arena_printf(p->arena, "%s.%c", name, elements[i]);
        struct ptx_reg element = {.name = text, .type = type, .slot = -1, .vec = i == 0 ? vec : 0};
        if (text == NULL || vec_push(&b->regs, element) < 0)
            return parser_memory(p);
    }
    return 0;
}

/* cvt.TO.FROM of *reg into a register of its own, which *reg is from then on. */
static int widen_to(int32_t *reg, struct parser *p, enum isa_type to, enum isa_type from)
{
    struct ptx_operand *operands = arena_array(p->arena, 2, sizeof *operands);
    struct ptx_insn insn = {.op = OP_CVT,
                            .loc = p->token.loc,
                            .source = p->source,
                            .types = {to, from},
                            .type_count = 2,
                            .tuple = {.d = to, .s = from},
                            .vec = 1,
                            .operand_count = 2,
                            .guard = -1,
                            .operands = operands,
                            .reconverge = PTX_NO_PC};
    if (operands == NULL)
        return parser_memory(p);
    operands[1] = (struct ptx_operand){.kind = OPERAND_REG, .type = from, .reg = *reg};
    int code = builder_add_reg(reg, p, "%base", to, 1);
    if (code < 0)
        return code;
    operands[0] = (struct ptx_operand){.kind = OPERAND_REG, .type = to, .reg = *reg};
    return vec_push(&p->builder->insns, insn) < 0 ? parser_memory(p) : 0;
}

int builder_widen(struct ptx_operand *base, struct parser *p, uint32_t bytes)
{
    bool byte = isa_type_info(base->type)->bytes == 1;
    bool is_signed = isa_type_info(base->type)->kind == KIND_SIGNED;
    enum isa_type from = byte ? (is_signed ? TYPE_s8 : TYPE_u8) : (is_signed ? TYPE_s16 : TYPE_u16);
    int code = widen_to(&base->reg, p, is_signed ? TYPE_s32 : TYPE_u32, from);
    if (code == 0 && bytes == 8)
        code = widen_to(&base->reg, p, TYPE_u64, TYPE_u32);
    base->type = bytes == 8 ? TYPE_u64 : TYPE_u32;
    return code;
}

static bool range_member(int32_t *reg, struct parser *p, struct symbol *range, uint64_t number,
                         const char *name, size_t length)
{
    uint64_t found;
    if (u64_map_get(&found, range->regs, number)) {
        *reg = (int32_t)found;
        return true;
    }
    const char *copy = arena_strndup(p->arena, name, length);
    if (copy == NULL || builder_add_reg(reg, p, copy, range->type, range->vec) < 0)
        return false;
    if (u64_map_put(range->regs, number, (uint64_t)*reg) < 0) {
        parser_memory(p);
        return false;
    }
    return true;
}

bool scope_find_reg(struct symbol **symbol, int32_t *reg, struct parser *p, const char *name,
                    size_t length)
{
    char key[RANGE_KEY_BYTES];
    size_t prefix, key_length = 0;
    uint64_t number = 0;
    if (split_number(&prefix, &number, name, length))
        key_length = range_key(key, name, prefix, '<');
    for (struct scope *scope = p->scope; scope != NULL && scope != p->root; scope = scope->parent) {
        struct symbol *range = key_length > 0 ? map_get_n(&scope->names, key, key_length) : NULL;
        if (range != NULL && number < range->count) {
            *symbol = range;
            return range_member(reg, p, range, number, name, length);
        }
        struct symbol *plain = map_get_n(&scope->names, name, length);
        if (plain != NULL) {
            *symbol = plain;
            *reg = plain->reg;
            return plain->kind == SYMBOL_REG;
        }
    }
    return false;
}
