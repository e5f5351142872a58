/*
 * Every row of insn.def in every legal type, and every value of every modifier of its pattern, as
 * text that must parse and print. With SONDE_ROWS_OUT=FILE the text is written there, so that the
 * vendor's assembler can be asked about it too (tests/ptx/ptxas.sh).
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ptx/ir.h"
#include "ptx/print/print.h"
#include "util/error.h"
#include "util/container/strbuf.h"

struct item {
    char name[16];
    char values[160];
    bool optional;
};

static int read_items(struct item *items, const char *pattern)
{
    int count = 0;
    while (*pattern != '\0' && *pattern != ' ') {
        struct item *item = &items[count++];
        memset(item, 0, sizeof *item);
        item->optional = *pattern == '{';
        pattern += item->optional ? 2 : 1;
        size_t length = strcspn(pattern, "({}. ");
        memcpy(item->name, pattern, length);
        pattern += length;
        if (*pattern == '(') {
            size_t values = strcspn(++pattern, ")");
            memcpy(item->values, pattern, values);
            pattern += values + 1;
        }
        pattern += *pattern == '}';
    }
    return count;
}

/* The n-th value of an item; NULL when there are no more. */
static const char *item_value(char *out, const struct item *item, const struct isa_tuple *tuple,
                              int n)
{
    out[0] = '\0';
    if (strcmp(item->name, "type") == 0 || strcmp(item->name, "stype") == 0)
        return n > 0 ? NULL : strcat(strcpy(out, "."), isa_type_info(tuple->s)->text);
    if (strcmp(item->name, "dtype") == 0)
        return n > 0 ? NULL : strcat(strcpy(out, "."), isa_type_info(tuple->d)->text);
    if (strcmp(item->name, "vec") == 0)
        return n > 0 || tuple->s == TYPE_b128 ? NULL : strcpy(out, ".v2");
    char list[200] = "";
    if (item->values[0] != '\0') {
        strcpy(list, item->values);
    } else if (strcmp(item->name, "space") == 0) {
        strcpy(list, "global shared local");
    } else {
        for (int m = MOD_NONE + 1; m < MOD_COUNT; m++)
            if (strcmp(isa_mod_class_text(isa_mod_class((enum isa_mod)m)), item->name) == 0)
                strcat(strcat(list, list[0] ? " " : ""), isa_mod_text((enum isa_mod)m) + 1);
    }
    char *at = strtok(list, " ");
    for (int i = 0; i < n && at != NULL; i++)
        at = strtok(NULL, " ");
    return at == NULL ? NULL : strcat(strcpy(out, "."), at);
}

static bool comparison_is_legal(const char *value, enum isa_type type)
{
    enum isa_type_kind kind = isa_type_info(type)->kind;
    if (kind == KIND_BITS)
        return strstr(".eq.ne", value) != NULL;
    if (kind == KIND_SIGNED)
        return strlen(value) == 3 && strstr(".lo.ls.hi.hs", value) == NULL;
    return kind == KIND_FLOAT ? strstr(".lo.ls.hi.hs", value) == NULL : strlen(value) == 3;
}

/* Formats without registers of their own lie in .b registers. */
static enum isa_type register_type(enum isa_type type)
{
    switch (type) {
    case TYPE_bf16:
    case TYPE_e4m3x2:
    case TYPE_e5m2x2:
        return TYPE_b16;
    case TYPE_bf16x2:
    case TYPE_tf32:
    case TYPE_u16x2:
    case TYPE_s16x2:
        return TYPE_b32;
    case TYPE_f32x2:
        return TYPE_b64;
    default:
        return type;
    }
}

static void put_register(struct strbuf *out, enum isa_type type, int number)
{
    type = register_type(type);
    strbuf_printf(out, "%%%s_%d", isa_type_info(type)->text, number);
}

/* One operand of a shape's text. */
static void put_operand(struct strbuf *out, const char *spec, const struct isa_tuple *tuple,
                        bool vector, int number, const char *space, enum isa_op op)
{
    spec += strspn(spec, "=_~");
    enum isa_type type = isa_type_find(spec, strcspn(spec, "?|"));
    if (spec[0] == 'D' || strcmp(spec, "MD") == 0 || strcmp(spec, "VD") == 0)
        type = tuple->d;
    if (strcmp(spec, "S") == 0 || strcmp(spec, "MS") == 0 || strcmp(spec, "AS") == 0)
        type = tuple->s;
    bool barrier = isa_row(op)->unit == UNIT_BARRIER && type == TYPE_u32 && number <= 2;
    if (strcmp(spec, "[A]") == 0) {
        bool narrow = strcmp(space, ".shared") == 0 || strcmp(space, ".local") == 0;
        strbuf_append(out, narrow ? "[%u32_1+8]" : "[%u64_1+8]");
    } else if (strcmp(spec, "[T]") == 0) {
        strbuf_append(out, "[%u64_1, {");
        put_register(out, tuple->s, number);
        strbuf_append(out, "}]");
    } else if (strcmp(spec, "V4") == 0) {
        strbuf_append(out, "{");
        for (int i = 0; i < 4; i++) {
            strbuf_append(out, i > 0 ? ", " : "");
            put_register(out, tuple->d, i + 1);
        }
        strbuf_append(out, "}");
    } else if (strncmp(spec, "#u32", 4) == 0) {
        strbuf_append(out, op == OP_PMEVENT                                    ? "7"
                           : isa_row(op)->unit == UNIT_LSU && op != OP_DISCARD ? "16"
                                                                               : "128");
    } else if (strcmp(spec, "[B]") == 0) {
        strbuf_append(out, "[%u64_2+8]");
    } else if (strncmp(spec, "u32/P", 5) == 0) {
        strbuf_append(out, number % 2 ? "%u32_3" : "%pred_3");
    } else if (spec[0] == 'P' || strcmp(spec, "!P") == 0) {
        strbuf_printf(out, "%s%%pred_%d%s", spec[0] == '!' ? "!" : "", number,
                      strchr(spec, '|') ? "|%pred_7" : "");
    } else if (barrier && isa_shape_text(isa_row(op)->shape)[0] != '=') {
        strbuf_append(out, number == 0 ? "1" : "64");
    } else if (barrier && number > 0) {
        strbuf_append(out, number == 1 ? "1" : "64");
    } else if (vector) {
        strbuf_append(out, "{");
        put_register(out, type, number);
        strbuf_append(out, ", ");
        put_register(out, type, number + 3);
        strbuf_append(out, "}");
    } else {
        put_register(out, type, number);
        if (strstr(spec, "|P") != NULL)
            strbuf_append(out, "|%pred_7");
    }
}

static void put_operands(struct strbuf *out, enum isa_op op, const struct isa_tuple *tuple,
                         bool vector, const char *space)
{
    char text[128];
    strcpy(text, isa_shape_text(isa_row(op)->shape));
    int number = 0;
    char *save;
    for (char *spec = strtok_r(text, " ", &save); spec != NULL;
         spec = strtok_r(NULL, " ", &save), number++) {
        if (isa_row(op)->shape == SHAPE_VIDEO_TWO && number == 3)
            break; /* it goes with a selector of the result: test_parse.c */
        strbuf_append(out, number > 0 ? ", " : " ");
        bool vectored = vector && (strstr(spec, "VD") || strstr(spec, "MD") || strstr(spec, "MS"));
        put_operand(out, spec, tuple, vectored, number, space, op);
    }
    strbuf_append(out, ";\n");
}

/* What a pattern cannot say: .ftz needs f32, hints global memory, cvt.sat a narrower result. */
static bool combination_is_legal(enum isa_op op, const struct isa_tuple *tuple, const char *opcode)
{
    const struct isa_type_info *d = isa_type_info(tuple->d), *s = isa_type_info(tuple->s);
    bool is_cvt = strncmp(opcode, "cvt.", 4) == 0;
    bool half = tuple->s == TYPE_f16 || tuple->s == TYPE_f16x2;
    bool to_bf16 = tuple->d == TYPE_bf16 || tuple->d == TYPE_bf16x2;
    bool flushes = tuple->s == TYPE_f32 || (half && !is_cvt) || isa_row(op)->unit == UNIT_SFU ||
                   (is_cvt && tuple->d == TYPE_f32);
    if (strstr(opcode, ".ftz") != NULL && strstr(isa_row(op)->name, ".ftz") == NULL &&
        (!flushes || to_bf16))
        return false;
    if (strstr(opcode, ".sat.") != NULL && tuple->s == TYPE_bf16)
        return false;
    if ((strstr(opcode, ".xorsign") != NULL) != (strstr(opcode, ".abs.") != NULL))
        return false;
    if (strncmp(opcode, "mbarrier.", 9) == 0 && strstr(opcode, "shared::cluster") != NULL)
        return false; /* wants the sink */
    if (strstr(opcode, "cache_hint") != NULL && strncmp(opcode, "cp.", 3) != 0 &&
        (strstr(opcode, ".shared") || strstr(opcode, ".local")))
        return false;
    if (op != OP_CVT_SAT)
        return true;
    if (s->kind == KIND_SIGNED && d->kind == KIND_UNSIGNED)
        return true;
    return s->kind == d->kind ? d->bytes < s->bytes : d->bytes <= s->bytes;
}

/* The opcode with value `n` of item `chosen` and what else is required; false if there is no such
 * value. */
static bool put_instruction(struct strbuf *out, enum isa_op op, const struct item *items, int count,
                            const struct isa_tuple *tuple, int chosen, int n)
{
    char value[200], space[40] = "";
    bool vector = false;
    struct strbuf opcode = {0};
    strbuf_append(&opcode, isa_row(op)->name);
    for (int i = 0; i < count; i++) {
        if (items[i].optional && i != chosen)
            continue;
        const char *text = item_value(value, &items[i], tuple, i == chosen ? n : 0);
        if (text == NULL) {
            strbuf_free(&opcode);
            return false;
        }
        if (strcmp(items[i].name, "cmp") == 0 && !comparison_is_legal(text, tuple->s))
            text = ".eq";
        vector = vector || strcmp(items[i].name, "vec") == 0;
        if (strcmp(items[i].name, "space") == 0)
            strcpy(space, text);
        strbuf_append(&opcode, text);
    }
    bool legal = combination_is_legal(op, tuple, strbuf_text(&opcode));
    if (legal)
        strbuf_printf(out, "    %s", strbuf_text(&opcode));
    strbuf_free(&opcode);
    if (!legal)
        return true;
    put_operands(out, op, tuple, vector, space);
    return true;
}

/* Fragments, textures and calls have operands that depend on more than the types: the forms of
 * tests/ptx/forms.tsv have them. Votes and shuffles without .sync are not for sm_90: accept/ has
 * them. */
static bool is_elsewhere(enum isa_op op)
{
    if (op == OP_VOTE_ACTIVE || op == OP_VOTE_BALLOT_ACTIVE || op == OP_SHFL_ACTIVE)
        return true;
    const char *shape = isa_shape_text(isa_row(op)->shape);
    return op == OP_BRA || op == OP_ISTYPEP || op == OP_BRX_IDX || op == OP_CALL ||
           op == OP_MOV_B128 || strchr(shape, 'F') != NULL || strchr(shape, 'T') != NULL ||
           strchr(shape, 'H') != NULL || strpbrk(shape, "XN+") != NULL ||
           strstr(shape, "[S]") != NULL || strncmp(isa_row(op)->name, "tensormap", 9) == 0 ||
           strncmp(isa_row(op)->name, "setmaxnreg", 10) == 0 || op == OP_POLICY_RANGE ||
           op == OP_FENCE_MAP_ACQUIRE || op == OP_APPLYPRIORITY || op == OP_ELECT;
}

/* What ptxas limits to a space or to 32-byte accesses cannot be made by varying one item alone. */
static bool is_special(enum isa_op op, const struct item *item)
{
    return (strcmp(item->name, "l2evict") == 0 && isa_row(op)->shape != SHAPE_PREFETCH) ||
           strcmp(isa_shape_text(isa_row(op)->shape), "CALL") == 0;
}

static void put_row(struct strbuf *out, enum isa_op op, const struct isa_tuple *tuple)
{
    struct item items[24];
    int count = read_items(items, isa_row(op)->pattern);
    put_instruction(out, op, items, count, tuple, -1, 0);
    for (int i = 0; i < count; i++)
        for (int n = 0; !is_special(op, &items[i]) && n < 32; n++)
            if (!put_instruction(out, op, items, count, tuple, i, n))
                break;
}

static void put_module(struct strbuf *out)
{
    strbuf_append(out,
                  ".version 9.0\n.target sm_90a\n.address_size 64\n\n.visible .entry rows()\n{\n");
    for (int t = TYPE_NONE + 1; t < TYPE_COUNT; t++) {
        enum isa_type_kind kind = isa_type_info((enum isa_type)t)->kind;
        bool usable = kind != KIND_OPAQUE && t != TYPE_bf16 && t != TYPE_bf16x2 && t != TYPE_tf32 &&
                      t != TYPE_f32x2 && t != TYPE_u16x2 && t != TYPE_s16x2 && t != TYPE_e4m3x2 &&
                      t != TYPE_e5m2x2 && t != TYPE_e4m3 && t != TYPE_e5m2;
        if (usable)
            strbuf_printf(out, "    .reg .%s %%%s_<8>;\n", isa_type_info((enum isa_type)t)->text,
                          isa_type_info((enum isa_type)t)->text);
    }
    for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
        enum isa_shape shape = isa_row((enum isa_op)op)->shape;
        if (is_elsewhere((enum isa_op)op))
            continue;
        bool is_cvta = shape == SHAPE_CVTA; /* its .u32 is for modules of 32-bit addresses */
        for (int i = is_cvta ? 1 : 0; i < isa_row((enum isa_op)op)->tuple_count; i++)
            put_row(out, (enum isa_op)op, &isa_row((enum isa_op)op)->tuples[i]);
    }
    strbuf_append(out, "}\n");
}

static void every_row_in_every_type_parses_and_prints(void **state)
{
    (void)state;
    struct strbuf text = {0}, printed = {0}, again = {0};
    struct ptx_module *module;
    put_module(&text);
    assert_false(strbuf_failed(&text));
    if (getenv("SONDE_ROWS_OUT") != NULL) {
        FILE *file = fopen(getenv("SONDE_ROWS_OUT"), "w");
        assert_non_null(file);
        assert_true(fputs(strbuf_text(&text), file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
    if (ptx_parse(&module, "rows.ptx", strbuf_text(&text), text.length) < 0)
        fail_msg("%s", error_text());
    assert_true(module->funcs[0]->insn_count > 1500);
    bool seen[OP_COUNT] = {false};
    for (uint32_t i = 0; i < module->funcs[0]->insn_count; i++)
        seen[module->funcs[0]->insns[i].op] = true;
    for (int op = OP_NONE + 1; op < OP_COUNT; op++)
        if (!seen[op] && !is_elsewhere((enum isa_op)op))
            fail_msg("no instruction of row %s%s", isa_row((enum isa_op)op)->name,
                     isa_row((enum isa_op)op)->pattern);
    assert_int_equal(ptx_print(&printed, module), 0);
    ptx_module_destroy(module);
    assert_int_equal(ptx_parse(&module, "printed.ptx", strbuf_text(&printed), printed.length), 0);
    assert_int_equal(ptx_print(&again, module), 0);
    assert_string_equal(strbuf_text(&printed), strbuf_text(&again));
    ptx_module_destroy(module);
    strbuf_free(&text);
    strbuf_free(&printed);
    strbuf_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_in_every_type_parses_and_prints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
