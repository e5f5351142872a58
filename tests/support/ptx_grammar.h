/*
 * PTX drawn by grammar. A module has variables of every space and shape, functions with parameters
 * in registers (vectors and predicates too) and in .param space, and a kernel with registers of
 * every type: plain, in ranges, as vectors, as ranges of vectors. An instruction is a row of
 * insn.def: modifiers by its pattern, operands by its shape, each in every way it can be written.
 * What a pattern cannot say (which spaces a hint is for) makes some that the parser refuses; most
 * are valid.
 */
#ifndef SONDE_TESTS_SUPPORT_PTX_GRAMMAR_H
#define SONDE_TESTS_SUPPORT_PTX_GRAMMAR_H

#include <stdint.h>
#include <string.h>

#include "isa/isa.h"
#include "util/container/strbuf.h"

/* Choices: the bytes of an input, and when they are used up a generator that they seed. */
struct grammar {
    const uint8_t *data;
    size_t size;
    uint64_t state;
};

static inline uint32_t grammar_draw(struct grammar *g, uint32_t below)
{
    if (g->size > 1) {
        uint32_t value = g->data[0] | (uint32_t)g->data[1] << 8;
        g->state = (g->state ^ value) * UINT64_C(0x9E3779B97F4A7C15) + 1;
        g->data += 2;
        g->size -= 2;
        return value % below;
    }
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(g->state >> 33) % below;
}

static const char *const grammar_registers[] = {"b16", "b32", "b64", "u16",   "u32", "u64", "s16",
                                                "s32", "s64", "f16", "f16x2", "f32", "f64"};
#define GRAMMAR_REGISTERS (sizeof grammar_registers / sizeof grammar_registers[0])

static inline enum isa_type grammar_type(const char *text)
{
    return isa_type_find(text, strlen(text));
}

static inline void grammar_head(struct strbuf *out)
{
    strbuf_append(
        out,
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".global .align 16 .b8 g_bytes[256];\n.global .u32 g_word = 7;\n"
        ".global .v4 .f32 g_vector;\n.global .v2 .u32 g_rows[2] = {{1, 2}, {3}};\n"
        ".global .u64 g_address = g_bytes + 8;\n.const .align 8 .b8 c_bytes[128] = {1, 2, 3};\n"
        ".const .v2 .f64 c_vector = {1.5, 2.5};\n.shared .align 16 .b8 s_bytes[256];\n"
        ".extern .shared .align 16 .b8 s_dynamic[];\n.global .texref texture;\n"
        ".global .samplerref sampler;\n.global .surfref surface;\n"
        ".func (.reg .v2 .b32 r) pair(.reg .v4 .b16 a, .reg .pred p, .reg .b64 b)\n"
        "{\n mov.b32 r.x, {a.x, a.w};\n @p mov.b32 r.y, {a.y, a.z};\n cvt.u32.u64 r.y, b;\n "
        "ret;\n}\n"
        ".func (.reg .pred r, .reg .b32 s) truth(.reg .b32 a)\n"
        "{\n setp.lt.u32 r, a, 9;\n mov.b32 s, a;\n ret;\n}\n"
        ".func (.param .b64 r) wide(.param .b32 a, .param .align 8 .b8 b[16])\n"
        "{\n .reg .b32 x;\n .reg .b64 y;\n ld.param.b32 x, [a];\n ld.param.b64 y, [b+8];\n"
        " st.param.b64 [r], y;\n ret;\n}\n");
}

/* Plain %TYPE_p, a range %TYPE_0.., vectors %TYPE_v2, ranges of vectors %TYPE_w2_0.. */
static inline void grammar_kernel_begin(struct strbuf *out)
{
    strbuf_append(out, ".visible .entry k(.param .u64 k_pointer, .param .v4 .u32 k_vector,\n"
                       " .param .align 16 .b8 k_bytes[64])\n{\n");
    for (size_t i = 0; i < GRAMMAR_REGISTERS; i++) {
        const char *t = grammar_registers[i];
        strbuf_printf(out, " .reg .%s %%%s_p, %%%s_<4>;\n", t, t, t);
        strbuf_printf(out, " .reg .v2 .%s %%%s_v2, %%%s_w2_<3>;\n", t, t, t);
        if (isa_type_info(grammar_type(t))->bytes <= 4)
            strbuf_printf(out, " .reg .v4 .%s %%%s_v4, %%%s_w4_<3>;\n", t, t, t);
    }
    strbuf_append(out, " .reg .b8 %b8_p, %b8_<4>;\n .reg .u8 %u8_p, %u8_<4>;\n"
                       " .reg .s8 %s8_p, %s8_<4>;\n .reg .pred %pred_p, %pred_<4>;\n"
                       " .shared .align 8 .v2 .u32 s_local;\n .local .align 16 .b8 l_bytes[64];\n"
                       " .local .v4 .f32 l_vector;\n .param .b32 a_word;\n"
                       " .param .align 8 .b8 a_bytes[16];\n .param .b64 a_result;\n"
                       "LIST: .branchtargets ONE, END;\n ld.param.u64 %u64_p, [k_pointer];\n"
                       " mov.u64 %b64_p, s_bytes;\n mov.u32 %u32_p, s_bytes;\n"
                       " mov.u32 %b32_p, %tid.x;\nONE:\n");
}

static inline void grammar_kernel_end(struct strbuf *out)
{
    strbuf_append(out, "END:\n ret;\n}\n");
}

/* A register of the type in any of the ways to write one. */
static inline void grammar_register(struct strbuf *out, struct grammar *g, const char *type)
{
    bool no_vectors = type[1] == '8' || strcmp(type, "pred") == 0;
    bool four = !no_vectors && isa_type_info(grammar_type(type))->bytes <= 4;
    uint32_t how = grammar_draw(g, no_vectors ? 2 : four ? 6 : 4);
    uint32_t index = grammar_draw(g, 3);
    if (how == 0)
        strbuf_printf(out, "%%%s_p", type);
    else if (how == 1)
        strbuf_printf(out, "%%%s_%u", type, index);
    else if (how == 2)
        strbuf_printf(out, "%%%s_v2.%c", type, "xyrg"[grammar_draw(g, 4)]);
    else if (how == 3)
        strbuf_printf(out, "%%%s_w2_%u.%c", type, index, "xy"[grammar_draw(g, 2)]);
    else if (how == 4)
        strbuf_printf(out, "%%%s_v4.%c", type, "xyzw"[grammar_draw(g, 4)]);
    else
        strbuf_printf(out, "%%%s_w4_%u.%c", type, index, "rgba"[grammar_draw(g, 4)]);
}

/* Formats without registers of their own lie in .b registers. */
static inline const char *grammar_holder(enum isa_type type)
{
    switch (type) {
    case TYPE_NONE:
    case TYPE_tf32:
    case TYPE_bf16x2:
    case TYPE_u16x2:
    case TYPE_s16x2:
        return "b32";
    case TYPE_bf16:
    case TYPE_e4m3x2:
    case TYPE_e5m2x2:
        return "b16";
    case TYPE_b128:
    case TYPE_f32x2:
    case TYPE_texref:
    case TYPE_samplerref:
    case TYPE_surfref:
        return "b64";
    default:
        return isa_type_info(type)->text;
    }
}

static inline void grammar_value(struct strbuf *out, struct grammar *g, enum isa_type type)
{
    enum isa_type_kind kind = isa_type_info(type)->kind;
    if (type == TYPE_pred || grammar_draw(g, 5) > 0)
        grammar_register(out, g, grammar_holder(type));
    else if (kind == KIND_FLOAT)
        strbuf_append(out, type == TYPE_f64 ? "0d3FF8000000000000" : "0f3FC00000");
    else
        strbuf_printf(out, "%u", grammar_draw(g, 33));
}

/* {a, b ..}, or a whole vector register, plain or of a range. */
static inline void grammar_vector(struct strbuf *out, struct grammar *g, enum isa_type type,
                                  uint32_t count, bool write)
{
    const char *name = grammar_holder(type);
    bool four = isa_type_info(grammar_type(name))->bytes <= 4;
    bool whole = name[1] != '8' && name[0] != 'p' && (count == 2 || (count == 4 && four));
    uint32_t how = grammar_draw(g, 4);
    if (whole && how == 0) {
        strbuf_printf(out, "%%%s_v%u", name, count);
    } else if (whole && how == 1) {
        strbuf_printf(out, "%%%s_w%u_%u", name, count, grammar_draw(g, 3));
    } else {
        for (uint32_t i = 0; i < count; i++) {
            strbuf_append(out, i > 0 ? ", " : "{");
            if (write && grammar_draw(g, 6) == 0)
                strbuf_append(out, "_");
            else
                grammar_register(out, g, name);
        }
        strbuf_append(out, "}");
    }
}

static inline void grammar_address(struct strbuf *out, struct grammar *g, enum isa_space space)
{
    static const char *const names[][3] = {
        [SPACE_GLOBAL] = {"g_bytes", "g_vector", "g_rows"},
        [SPACE_CONST] = {"c_bytes", "c_vector", "c_bytes"},
        [SPACE_SHARED] = {"s_bytes", "s_local", "s_dynamic"},
        [SPACE_LOCAL] = {"l_bytes", "l_vector", "l_bytes"},
        [SPACE_PARAM] = {"k_bytes", "k_vector", "a_bytes"},
        [SPACE_NONE] = {"g_bytes", "s_bytes", "l_bytes"},
    };
    enum isa_space plain = space == SPACE_SHARED_CTA || space == SPACE_SHARED_CLUSTER ? SPACE_SHARED
                           : space == SPACE_PARAM_ENTRY || space == SPACE_PARAM_FUNC  ? SPACE_PARAM
                                                                                      : space;
    uint32_t offset = grammar_draw(g, 3) * 16, how = grammar_draw(g, 6);
    if (how < 4)
        strbuf_printf(out, "[%s+%u]", names[plain][grammar_draw(g, 3)], offset);
    else if (plain == SPACE_SHARED || plain == SPACE_LOCAL)
        strbuf_printf(out, "[%%u32_p+%u]", offset);
    else
        strbuf_printf(out, "[%%u64_p+%u]", offset);
}

/* One value for each item of the row's pattern; false where the spelling has none. */
struct grammar_opcode {
    const struct isa_row *row;
    struct isa_tuple tuple;
    enum isa_space space[2];
    uint32_t vec, matrices;
    char text[256];
};

static inline const char *grammar_choose(struct grammar *g, const char *list, size_t length,
                                         size_t *chosen)
{
    uint32_t count = 1;
    for (size_t i = 0; i < length; i++)
        count += list[i] == ' ';
    for (uint32_t skip = grammar_draw(g, count); skip > 0; skip--)
        list += strcspn(list, " )") + 1;
    *chosen = strcspn(list, " )");
    return list;
}

static inline const char *grammar_modifier(struct grammar *g, const char *name, size_t length)
{
    const char *texts[40];
    uint32_t count = 0;
    for (int m = MOD_NONE + 1; m < MOD_COUNT && count < 40; m++) {
        const char *cls = isa_mod_class_text(isa_mod_class((enum isa_mod)m));
        if (strncmp(cls, name, length) == 0 && cls[length] == '\0')
            texts[count++] = isa_mod_text((enum isa_mod)m) + 1;
    }
    return count > 0 ? texts[grammar_draw(g, count)] : "";
}

/* An item's text, without its dot. */
static inline void grammar_item(struct grammar *g, struct grammar_opcode *o, const char *name,
                                size_t length, const char *values, size_t values_length)
{
    static const char *const spaces[] = {"global", "shared", "local", "const", "param"};
    static const char *const types[] = {"f16", "bf16", "u8", "s8", "tf32", "f64"};
    size_t chosen;
    const char *text = "";
    char vec[4] = "v2";
    bool is_space = strncmp(name, "space", 5) == 0 && length >= 5;
    if (values != NULL)
        text = grammar_choose(g, values, values_length, &chosen);
    else if (is_space)
        text = spaces[grammar_draw(g, 5)];
    else if (length == 3 && strncmp(name, "vec", 3) == 0)
        vec[1] = "24"[grammar_draw(g, 2)], text = vec;
    else if (length == 5 && strncmp(name, "dtype", 5) == 0)
        text = isa_type_info(o->tuple.d)->text;
    else if ((length == 4 && strncmp(name, "type", 4) == 0) ||
             (length == 5 && strncmp(name, "stype", 5) == 0))
        text = isa_type_info(o->tuple.s)->text;
    else if (length == 5 && strncmp(name + 1, "type", 4) == 0)
        text = types[grammar_draw(g, 6)];
    else
        text = grammar_modifier(g, name, length);
    if (values == NULL)
        chosen = strlen(text);
    if (is_space)
        o->space[length > 5] = isa_space_find(text, chosen);
    if (text[0] == 'v' && chosen == 2)
        o->vec = (uint32_t)(text[1] - '0');
    if (text[0] == 'x' && chosen == 2)
        o->matrices = (uint32_t)(text[1] - '0');
    size_t at = strlen(o->text);
    if (at + chosen + 2 < sizeof o->text) {
        o->text[at] = '.';
        memcpy(o->text + at + 1, text, chosen);
        o->text[at + 1 + chosen] = '\0';
    }
}

static inline void grammar_opcode(struct grammar *g, struct grammar_opcode *o)
{
    enum isa_op op = (enum isa_op)(OP_NONE + 1 + grammar_draw(g, OP_COUNT - OP_NONE - 1));
    *o = (struct grammar_opcode){.row = isa_row(op), .vec = 1, .matrices = 1};
    o->tuple = o->row->tuples[grammar_draw(g, o->row->tuple_count)];
    memcpy(o->text, o->row->name, strlen(o->row->name) + 1);
    const char *at = o->row->pattern;
    for (const char *next = at; (next = strstr(next, " ; ")) != NULL;) {
        next += 3;
        at = grammar_draw(g, 2) ? next : at;
    }
    while (*at != '\0' && *at != ' ') {
        bool optional = *at == '{';
        at += optional ? 2 : 1;
        size_t length = strcspn(at, "({}. "), values_length = 0;
        const char *name = at, *values = NULL;
        at += length;
        if (*at == '(') {
            values = at + 1;
            values_length = strcspn(values, ")");
            at += values_length + 2;
        }
        at += *at == '}';
        if (!optional || grammar_draw(g, 4) == 0)
            grammar_item(g, o, name, length, values, values_length);
    }
}

static inline bool grammar_is(const char *spec, size_t length, const char *kind)
{
    return strlen(kind) == length && strncmp(spec, kind, length) == 0;
}

static inline void grammar_predicate(struct strbuf *out, struct grammar *g, bool negated)
{
    strbuf_append(out, negated && grammar_draw(g, 3) == 0 ? "!" : "");
    grammar_register(out, g, "pred");
}

static inline void grammar_mov(struct strbuf *out, struct grammar *g,
                               const struct grammar_opcode *o, bool write)
{
    enum isa_type type = write ? o->tuple.d : o->tuple.s;
    uint32_t bytes = isa_type_info(type)->bytes, how = grammar_draw(g, 6);
    enum isa_type half = bytes == 8 ? TYPE_b32 : bytes == 4 ? TYPE_b16 : TYPE_b8;
    if (o->vec > 1)
        grammar_vector(out, g, type, o->vec, write);
    else if (how == 0 && isa_type_info(type)->kind == KIND_BITS && bytes >= 2)
        grammar_vector(out, g, half, 2, write);
    else if (how == 1 && !write && bytes == 8)
        strbuf_append(out, grammar_draw(g, 2) ? "g_bytes+4" : "wide");
    else if (how == 2 && !write && bytes == 4)
        strbuf_append(out, grammar_draw(g, 2) ? "%laneid" : "s_bytes");
    else if (write)
        grammar_register(out, g, grammar_holder(type));
    else
        grammar_value(out, g, type);
}

static inline void grammar_fetch(struct strbuf *out, struct grammar *g,
                                 const struct grammar_opcode *o)
{
    bool surface = o->row->name[1] == 'u';
    uint32_t count = 1u << grammar_draw(g, 3);
    strbuf_append(out, grammar_draw(g, 2) ? "[%u64_p, " : surface ? "[surface, " : "[texture, ");
    strbuf_append(out, !surface && grammar_draw(g, 4) == 0 ? "sampler, " : "");
    grammar_vector(out, g, surface ? TYPE_s32 : o->tuple.s, count, false);
    strbuf_append(out, "]");
}

/* One operand of a shape's text. */
static inline void grammar_operand(struct strbuf *out, struct grammar *g,
                                   const struct grammar_opcode *o, const char *spec, size_t length)
{
    bool write = *spec == '=';
    for (; length > 0 && strchr("=_~", *spec) != NULL; spec++)
        length--;
    if (grammar_is(spec, length, "[A]") || grammar_is(spec, length, "[B]"))
        grammar_address(out, g, o->space[spec[1] == 'B']);
    else if (grammar_is(spec, length, "[T]"))
        grammar_fetch(out, g, o);
    else if (grammar_is(spec, length, "[H]"))
        strbuf_append(out, o->row->name[0] == 's' ? "[surface]" : "[texture]");
    else if (grammar_is(spec, length, "MD") || grammar_is(spec, length, "MS"))
        grammar_mov(out, g, o, write);
    else if (grammar_is(spec, length, "VD") && o->vec > 1)
        grammar_vector(out, g, o->tuple.d, o->vec, write);
    else if (spec[0] == 'F' && length == 2)
        grammar_vector(out, g, grammar_draw(g, 2) ? TYPE_b32 : o->tuple.s,
                       spec[1] == 'X' ? o->matrices : 1u << grammar_draw(g, 4), write);
    else if (grammar_is(spec, length, "G") || grammar_is(spec, length, "O"))
        grammar_vector(out, g, spec[0] == 'O' ? TYPE_s32 : o->tuple.s, 1u + grammar_draw(g, 4),
                       false);
    else if (grammar_is(spec, length, "#u32"))
        strbuf_printf(out, "%u", 4u << grammar_draw(g, 6));
    else if (grammar_is(spec, length, "LABEL"))
        strbuf_append(out, "END");
    else if (grammar_is(spec, length, "TARGETS"))
        strbuf_append(out, "LIST");
    else if (grammar_is(spec, length, "AS"))
        strbuf_append(out, "%u64_p");
    else if (spec[0] == 'P' || spec[0] == '!')
        grammar_predicate(out, g, !write);
    else if (spec[0] == 'D' || grammar_is(spec, length, "VD"))
        write ? grammar_register(out, g, grammar_holder(o->tuple.d))
              : grammar_value(out, g, o->tuple.d);
    else if (spec[0] == 'S')
        grammar_value(out, g, o->tuple.s);
    else if (write)
        grammar_register(out, g, grammar_holder(isa_type_find(spec, strcspn(spec, "| "))));
    else
        grammar_value(out, g, isa_type_find(spec, strcspn(spec, "/ ?")));
    if (write && memchr(spec, '|', length) != NULL && grammar_draw(g, 2))
        strbuf_append(out, "|"), grammar_register(out, g, "pred");
}

static inline void grammar_call(struct strbuf *out, struct grammar *g)
{
    static const char *const calls[] = {
        "(%b32_v2), pair, (%u16_w4_1, %pred_p, %u64_p)",
        "(%b32_w2_2), pair, (%b16_v4, %pred_1, 12)",
        "(%pred_2, %u32_1), truth, (%b32_p)",
        "(%pred_p, %b32_w4_0.z), truth, (5)",
        "(a_result), wide, (a_word, a_bytes)",
    };
    strbuf_append(out, calls[grammar_draw(g, sizeof calls / sizeof calls[0])]);
}

/* One instruction, with its ';' and a newline. */
static inline void grammar_instruction(struct strbuf *out, struct grammar *g)
{
    struct grammar_opcode o;
    grammar_opcode(g, &o);
    strbuf_append(out, " ");
    if (grammar_draw(g, 4) == 0) {
        strbuf_append(out, grammar_draw(g, 2) ? "@" : "@!");
        grammar_register(out, g, "pred");
        strbuf_append(out, " ");
    }
    strbuf_printf(out, "%s ", o.text);
    const char *shape = isa_shape_text(o.row->shape);
    if (strcmp(shape, "CALL") == 0) {
        grammar_call(out, g);
    } else {
        for (const char *spec = shape; *spec != '\0';) {
            size_t length = strcspn(spec, " ");
            bool optional = spec[length - 1] == '?';
            if (optional && grammar_draw(g, 2))
                break;
            strbuf_append(out, spec == shape ? "" : ", ");
            grammar_operand(out, g, &o, spec, length - optional);
            spec += length + (spec[length] == ' ');
        }
    }
    strbuf_append(out, ";\n");
}

#endif
