/*
 * The tables of isa.h, expanded from the .def files, and searches in them. Searches are linear: the
 * parser keeps its own hash of instruction names, everything else is short.
 */
#include "isa/isa.h"

#include <string.h>

#include "isa/type_lists.def"

static const struct isa_type_info type_infos[TYPE_COUNT] = {
    [TYPE_NONE] = {"", KIND_NONE, 0},
#define TYPE(id, text, kind, bytes) [TYPE_##id] = {text, kind, bytes},
#include "isa/types.def"
#undef TYPE
};

static const char *const space_texts[SPACE_COUNT] = {
    [SPACE_NONE] = "",
#define SPACE(id, text) [SPACE_##id] = text,
#include "isa/spaces.def"
#undef SPACE
};

static const struct {
    const char *text;
    enum isa_type type;
} sreg_infos[SREG_COUNT] = {
    [SREG_NONE] = {"", TYPE_NONE},
#define SREG(id, text, type) [SREG_##id] = {text, TYPE_##type},
#include "isa/sregs.def"
#undef SREG
};

static const char *const unit_texts[ISA_UNIT_COUNT] = {
#define UNIT(id, text) [UNIT_##id] = text,
#include "isa/units.def"
#undef UNIT
};

static const char *const class_texts[MODC_COUNT] = {
#define MOD_CLASS(cls, pattern) [MODC_##cls] = pattern,
#include "isa/mods.def"
};

static const struct {
    const char *text;
    enum isa_mod_class cls;
} mod_infos[MOD_COUNT] = {
    [MOD_NONE] = {"", MODC_COUNT},
#define MOD(cls, value, text) [MOD_##cls##_##value] = {text, MODC_##cls},
#include "isa/mods.def"
};

static const char *const shape_texts[SHAPE_COUNT] = {
#define SHAPE(id, text) [SHAPE_##id] = text,
#include "isa/shapes.def"
#undef SHAPE
};

/* One array of legal (d, s) pairs for each row. */
#define TUPLE(id, shape, d, s, expr) {TYPE_##d, TYPE_##s},
#define INSN(id, name, pattern, shape, types, unit, expr)                                          \
    static const struct isa_tuple tuples_##id[] = {TYPES_##types(TUPLE, id, shape, 0)};
#include "isa/insn.def"
#undef INSN
#undef TUPLE

#define ROW(id, text, mods, operand_shape, issue_unit, is_irregular, is_at_issue)                  \
    [OP_##id] = {.name = text,                                                                     \
                 .pattern = mods,                                                                  \
                 .shape = SHAPE_##operand_shape,                                                   \
                 .unit = UNIT_##issue_unit,                                                        \
                 .irregular = is_irregular,                                                        \
                 .at_issue = is_at_issue,                                                          \
                 .tuples = tuples_##id,                                                            \
                 .tuple_count = sizeof tuples_##id / sizeof tuples_##id[0]},
static const struct isa_row rows[OP_COUNT] = {
    [OP_NONE] = {.name = "", .pattern = ""},
#define INSN(id, name, pattern, shape, types, unit, expr)                                          \
    ROW(id, name, pattern, shape, unit, false, false)
#define IRREG(id, name, pattern, shape, types, unit)                                               \
    ROW(id, name, pattern, shape, unit, true, false)
#define AT_ISSUE(id, name, pattern, shape, types, unit)                                            \
    ROW(id, name, pattern, shape, unit, true, true)
#include "isa/insn.def"
#undef INSN
};

static const char *const opcodes[] = {
#define OPCODE(word) word,
#include "isa/opcodes.def"
};
#define OPCODE_COUNT (sizeof opcodes / sizeof opcodes[0])

static const char *const later_words[] = {
#define LATER(word) word,
#include "isa/opcodes.def"
};

static bool text_is(const char *known, const char *text, size_t length)
{
    char first = length ? text[0] : '\0'; /* which most do not share */
    return known[0] == first && strncmp(known, text, length) == 0 && known[length] == '\0';
}

const struct isa_type_info *isa_type_info(enum isa_type type)
{
    return &type_infos[type];
}
enum isa_space isa_space_base(enum isa_space space)
{
    switch (space) {
    case SPACE_SHARED_CTA:
    case SPACE_SHARED_CLUSTER:
        return SPACE_SHARED;
    case SPACE_PARAM_ENTRY:
    case SPACE_PARAM_FUNC:
        return SPACE_PARAM;
    default:
        return space;
    }
}

const char *isa_space_text(enum isa_space space)
{
    return space_texts[space];
}
const char *isa_sreg_text(enum isa_sreg sreg)
{
    return sreg_infos[sreg].text;
}
enum isa_type isa_sreg_type(enum isa_sreg sreg)
{
    return sreg_infos[sreg].type;
}
const char *isa_unit_text(enum isa_unit unit)
{
    return unit_texts[unit];
}
const char *isa_mod_text(enum isa_mod mod)
{
    return mod_infos[mod].text;
}
enum isa_mod_class isa_mod_class(enum isa_mod mod)
{
    return mod_infos[mod].cls;
}
const char *isa_mod_class_text(enum isa_mod_class cls)
{
    return class_texts[cls];
}
const struct isa_row *isa_row(enum isa_op op)
{
    return &rows[op];
}
const char *isa_shape_text(enum isa_shape shape)
{
    return shape_texts[shape];
}

enum isa_type isa_type_find(const char *text, size_t length)
{
    for (int i = TYPE_NONE + 1; i < TYPE_COUNT; i++)
        if (text_is(type_infos[i].text, text, length))
            return (enum isa_type)i;
    return TYPE_NONE;
}

enum isa_space isa_space_find(const char *text, size_t length)
{
    for (int i = SPACE_NONE + 1; i < SPACE_COUNT; i++)
        if (text_is(space_texts[i], text, length))
            return (enum isa_space)i;
    return SPACE_NONE;
}

enum isa_sreg isa_sreg_find(const char *text, size_t length)
{
    for (int i = SREG_NONE + 1; i < SREG_COUNT; i++)
        if (text_is(sreg_infos[i].text, text, length))
            return (enum isa_sreg)i;
    return SREG_NONE;
}

enum isa_mod isa_mod_find(enum isa_mod_class cls, const char *text, size_t length)
{
    for (int i = MOD_NONE + 1; i < MOD_COUNT; i++)
        if (mod_infos[i].cls == cls && text_is(mod_infos[i].text + 1, text, length))
            return (enum isa_mod)i;
    return MOD_NONE;
}

enum isa_op isa_op_find(const char *name, size_t length)
{
    for (int i = OP_NONE + 1; i < OP_COUNT; i++)
        if (text_is(rows[i].name, name, length))
            return (enum isa_op)i;
    return OP_NONE;
}

enum isa_op isa_op_next(enum isa_op op)
{
    for (int i = (int)op + 1; i < OP_COUNT; i++)
        if (rows[i].name[0] == rows[op].name[0] && strcmp(rows[i].name, rows[op].name) == 0)
            return (enum isa_op)i;
    return OP_NONE;
}

bool isa_opcode_known(const char *word, size_t length)
{
    for (size_t i = 0; i < OPCODE_COUNT; i++)
        if (text_is(opcodes[i], word, length))
            return true;
    return false;
}

bool isa_modifier_later(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof later_words / sizeof later_words[0]; i++)
        if (text_is(later_words[i], word, length))
            return true;
    return false;
}

/* Edits (insert, delete, replace one letter) between two short words. */
static size_t edit_distance(const char *known, const char *word, size_t length)
{
    enum { MAX = 24 };
    size_t row[MAX + 1];
    size_t known_length = strlen(known);
    if (length > MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; i <= known_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t replace = diagonal + (known[i - 1] != word[j - 1]);
            size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replace < shift ? replace : shift;
        }
    }
    return row[length];
}

const char *isa_opcode_nearest(const char *word, size_t length)
{
    const char *best = NULL;
    size_t best_distance = 3;
    for (size_t i = 0; i < OPCODE_COUNT; i++) {
        size_t distance = edit_distance(opcodes[i], word, length);
        if (distance < best_distance && distance < strlen(opcodes[i])) {
            best = opcodes[i];
            best_distance = distance;
        }
    }
    return best;
}
