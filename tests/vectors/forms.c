/* Forms from templates, and the kernel of a form. */
#include "vectors/forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* clang-format off */
const struct kind form_kinds[] = {
    {"u8", "b16", "b16", 2, FILL_INT},       {"s8", "b16", "b16", 2, FILL_INT},
    {"b16", "b16", "b16", 2, FILL_INT},      {"u16", "b16", "b16", 2, FILL_INT},
    {"s16", "b16", "b16", 2, FILL_INT},      {"b32", "b32", "b32", 4, FILL_INT},
    {"u32", "b32", "b32", 4, FILL_INT},      {"s32", "b32", "b32", 4, FILL_INT},
    {"u16x2", "b32", "b32", 4, FILL_INT},    {"s16x2", "b32", "b32", 4, FILL_INT},
    {"b64", "b64", "b64", 8, FILL_INT},      {"u64", "b64", "b64", 8, FILL_INT},
    {"s64", "b64", "b64", 8, FILL_INT},      {"e4m3x2", "b16", "b16", 2, FILL_INT},
    {"e5m2x2", "b16", "b16", 2, FILL_INT},   {"f16", "b16", "b16", 2, FILL_F16},
    {"bf16", "b16", "b16", 2, FILL_BF16},    {"f16x2", "b32", "b32", 4, FILL_F16X2},
    {"bf16x2", "b32", "b32", 4, FILL_BF16X2}, {"f32", "f32", "f32", 4, FILL_F32},
    {"f64", "f64", "f64", 8, FILL_F64},      {"pred", "pred", "u32", 4, FILL_PRED},
    {"shift", "b32", "b32", 4, FILL_SHIFT},  {"pos", "b32", "b32", 4, FILL_POS},
    {"base", "b32", "b32", 4, FILL_BASE},    {"nth", "b32", "b32", 4, FILL_NTH},
    {"lane", "b32", "b32", 4, FILL_LANE},    {"clamp", "b32", "b32", 4, FILL_CLAMP},
    {"fewb32", "b32", "b32", 4, FILL_FEW},   {"fewb64", "b64", "b64", 8, FILL_FEW},
    {"lowf", "f32", "f32", 4, FILL_LOWF},    {"lowd", "f64", "f64", 8, FILL_LOWD},
    {"expf", "f32", "f32", 4, FILL_EXPONENT}, {"angle", "f32", "f32", 4, FILL_ANGLE},
    {"halves", "b32", "b32", 4, FILL_HALVES}, {"bhalves", "b32", "b32", 4, FILL_BHALVES},
    {"tf32", "b32", "b32", 4, FILL_TF32},     {"e4m3x4", "b32", "b32", 4, FILL_E4M3},
    {"e5m2x4", "b32", "b32", 4, FILL_E5M2},   {"chosen", "b32", "b32", 4, FILL_CHOSEN},
    {"chosenof2", "b32", "b32", 4, FILL_ONE_OF_TWO},
};
/* clang-format on */
const size_t form_kind_count = sizeof form_kinds / sizeof *form_kinds;

#define FORM_TEXT 768 /* characters of a form, at most */

static int kind_find(const char *name, size_t length)
{
    for (size_t i = 0; i < form_kind_count; i++)
        if (strlen(form_kinds[i].name) == length && memcmp(form_kinds[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

/* What stands before a form that is not for PTX 8.8 and sm_90. */
#define OLD "sm_60: "

bool form_is_old(const struct form *form)
{
    return strncmp(form->text, OLD, strlen(OLD)) == 0;
}

/* Names the operands %v0.. and notes their kinds. */
static bool read_operands(struct form *form)
{
    struct strbuf out = {0};
    int slices[64] = {0};
    for (const char *at = form->text + (form_is_old(form) ? strlen(OLD) : 0); *at;) {
        if (*at != '<' && *at != '>') {
            strbuf_append_char(&out, *at++);
            continue;
        }
        bool result = *at++ == '>';
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789");
        int kind = kind_find(at, length), n = form->operand_count;
        if (kind < 0 || n == FORM_OPERANDS)
            return false;
        at += length;
        form->operands[n] = (struct form_operand){
            .kind = kind,
            .result = result,
            .slice = result ? form->result_count++ : slices[kind]++,
        };
        if (form->operands[n].slice >= FORM_SLICES || form->result_count > FORM_RESULTS)
            return false;
        strbuf_printf(&out, "%%v%d", form->operand_count++);
    }
    form->assembly = strbuf_take(&out);
    return form->assembly != NULL;
}

static int add_form(struct form_list *out, const char *text, double ulps, double absolute)
{
    struct form form = {.text = strdup(text), .ulps = ulps, .absolute = absolute};
    if (!form.text || !read_operands(&form)) {
        free(form.text);
        return error_set(SONDE_EINPUT, "'%s' has an unknown kind or too many operands", text);
    }
    return vec_push(out, form) < 0 ? error_memory() : SONDE_OK;
}

struct choices {
    char chosen[9][24];
    int count;
};

/* Spells out `rest` behind `done`: alternatives one after the other, $n what group n chose. */
static int expand(struct form_list *out, const char *done, const char *rest,
                  const struct choices *choices, double ulps, double absolute)
{
    char text[FORM_TEXT];
    snprintf(text, sizeof text, "%s", done);
    size_t length = strlen(text);
    for (; *rest && *rest != '('; rest++) {
        const char *piece = (char[]){*rest, '\0'};
        if (*rest == '$')
            piece = choices->chosen[*++rest - '1'];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s", piece);
        if (length >= sizeof text)
            return error_set(SONDE_EINPUT, "a form is too long");
    }
    if (!*rest)
        return add_form(out, text, ulps, absolute);
    const char *end = strchr(rest, ')');
    for (const char *at = rest + 1; end && at <= end;) {
        size_t width = strcspn(at, "|)");
        struct choices next = *choices;
        snprintf(next.chosen[next.count++], sizeof next.chosen[0], "%.*s", (int)width, at);
        char longer[sizeof text + sizeof next.chosen[0]];
        snprintf(longer, sizeof longer, "%s%s", text, next.chosen[next.count - 1]);
        int rc = expand(out, longer, end + 1, &next, ulps, absolute);
        if (rc < 0)
            return rc;
        at += width + 1;
    }
    return end ? SONDE_OK : error_set(SONDE_EINPUT, "'(' without ')'");
}

int forms_read(struct form_list *out, const char *name, const char *text)
{
    int line = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        char buffer[FORM_TEXT] = "";
        line++;
        if (length > 0 && length < sizeof buffer && text[0] != '#') {
            memcpy(buffer, text, length);
            double ulps = 0, absolute = 0;
            char *tolerance = strstr(buffer, " ~ ");
            if (tolerance) {
                bool is_absolute = strncmp(tolerance + 3, "abs ", 4) == 0;
                *(is_absolute ? &absolute : &ulps) =
                    strtod(tolerance + (is_absolute ? 7 : 3), NULL);
                *tolerance = '\0';
            }
            struct choices none = {.count = 0};
            int rc = expand(out, "", buffer, &none, ulps, absolute);
            if (rc < 0) {
                char reason[256];
                snprintf(reason, sizeof reason, "%s", error_text());
                return error_at(rc, name, line, 1, "%s", reason);
            }
        }
        text += length + (text[length] == '\n');
    }
    return SONDE_OK;
}

void forms_free(struct form_list *forms)
{
    for (size_t i = 0; i < forms->count; i++) {
        free(forms->data[i].text);
        free(forms->data[i].assembly);
    }
    vec_free(forms);
}

void form_module_head(struct strbuf *out, bool old)
{
    strbuf_printf(out, ".version %s\n.address_size 64\n",
                  old ? "5.0\n.target sm_60" : "8.8\n.target sm_90");
}

void form_kernel(struct strbuf *out, const struct form *form, size_t number, uint32_t lanes)
{
    strbuf_printf(out,
                  "\n.visible .entry k%zu(.param .u64 in, .param .u64 out, .param .u64 scratch)\n"
                  "{\n    .reg .b32 %%t<3>, %%i, %%s;\n    .reg .b64 %%in, %%out, %%g, %%at;\n",
                  number);
    if (strstr(form->text, "%s"))
        strbuf_printf(out, "    .shared .align 16 .b8 room[%d];\n", 128 * FORM_SCRATCH_BYTES);
    for (int i = 0; i < form->operand_count; i++) {
        const struct kind *kind = &form_kinds[form->operands[i].kind];
        strbuf_printf(out, "    .reg .%s %%v%d;\n", kind->reg, i);
        if (strcmp(kind->reg, "pred") == 0)
            strbuf_printf(out, "    .reg .b32 %%w%d;\n", i);
    }
    strbuf_printf(out,
                  "    mov.u32 %%t0, %%ctaid.x;\n    mov.u32 %%t1, %%ntid.x;\n"
                  "    mov.u32 %%t2, %%tid.x;\n    mad.lo.u32 %%i, %%t0, %%t1, %%t2;\n"
                  "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n"
                  "    ld.param.u64 %%g, [scratch];\n    mul.wide.u32 %%at, %%i, 8;\n"
                  "    add.u64 %%in, %%in, %%at;\n    add.u64 %%out, %%out, %%at;\n"
                  "    mul.wide.u32 %%at, %%i, %d;\n    add.u64 %%g, %%g, %%at;\n",
                  FORM_SCRATCH_BYTES);
    if (strstr(form->text, "%s"))
        strbuf_printf(out, "    mov.u32 %%s, room;\n    mad.lo.u32 %%s, %%t2, %d, %%s;\n",
                      FORM_SCRATCH_BYTES);
    if (strstr(form->text, "%u"))
        strbuf_printf(out,
                      "    .reg .b64 %%u;\n    ld.param.u64 %%u, [in];\n"
                      "    add.u64 %%u, %%u, %zu;\n",
                      (size_t)kind_find("halves", 6) * FORM_SLICES * lanes * 8);
    for (int i = 0; i < form->operand_count; i++) {
        const struct form_operand *operand = &form->operands[i];
        const struct kind *kind = &form_kinds[operand->kind];
        size_t offset = ((size_t)operand->kind * FORM_SLICES + (size_t)operand->slice) * lanes * 8;
        bool predicate = strcmp(kind->reg, "pred") == 0;
        if (operand->result)
            continue;
        strbuf_printf(out, "    ld.global.%s %%%c%d, [%%in+%zu];\n", kind->memory,
                      predicate ? 'w' : 'v', i, offset);
        if (predicate)
            strbuf_printf(out, "    setp.ne.u32 %%v%d, %%w%d, 0;\n", i, i);
    }
    strbuf_printf(out, "    %s;\n", form->assembly);
    for (int i = 0; i < form->operand_count; i++) {
        const struct form_operand *operand = &form->operands[i];
        const struct kind *kind = &form_kinds[operand->kind];
        bool predicate = strcmp(kind->reg, "pred") == 0;
        if (!operand->result)
            continue;
        if (predicate)
            strbuf_printf(out, "    selp.u32 %%w%d, 1, 0, %%v%d;\n", i, i);
        strbuf_printf(out, "    st.global.%s [%%out+%u], %%%c%d;\n", kind->memory,
                      (unsigned)operand->slice * lanes * 8, predicate ? 'w' : 'v', i);
    }
    strbuf_append(out, "    ret;\n}\n");
}
