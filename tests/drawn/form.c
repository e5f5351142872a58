/* Instructions as tests/vectors/forms.txt lists them, with registers of the kernel for operands. */
#include "drawn/drawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/fileio.h"

static bool begins(const char *text, const char *const *words)
{
    for (; *words; words++) {
        if (strncmp(text, *words, strlen(*words)) == 0) {
            return true;
        }
    }
    return false;
}

/* All lanes of the warp take part. */
static bool is_collective(const struct form *form)
{
    return begins(form->text,
                  (const char *const[]){"shfl", "vote", "match", "redux", "mma", "wmma", NULL});
}

/* Sums and products without a rounding may be made one operation by a compiler. */
static bool may_contract(const struct form *form)
{
    static const char *const roundings[] = {".rn", ".rz", ".rm", ".rp"};
    const char *type = strchr(form->text, ' ');
    if (!begins(form->text, (const char *const[]){"add.", "sub.", "mul.", NULL}) || !type) {
        return false;
    }
    while (type[-1] != '.') {
        type--;
    }
    for (size_t i = 0; i < 4; i++) {
        if (strstr(form->text, roundings[i])) {
            return false;
        }
    }
    return *type == 'f' || (type[0] == 'b' && type[1] == 'f');
}

int drawn_forms_read(struct drawn_forms *forms, const char *path)
{
    char *text;
    size_t bytes;
    int rc = file_read_all(&text, &bytes, path, 1 << 20);
    if (rc < 0) {
        return rc;
    }
    rc = forms_read(&forms->all, path, text);
    free(text);
    for (size_t i = 0; rc == SONDE_OK && i < forms->all.count; i++) {
        const struct form *form = &forms->all.data[i];
        size_t n = forms->family_count, length = strcspn(form->text, ". ");
        const char *last = n ? forms->all.data[forms->families[n - 1].first].text : "";
        if (n == 0 || strcspn(last, ". ") != length || strncmp(last, form->text, length) != 0) {
            if (n == sizeof forms->families / sizeof *forms->families) {
                return error_set(SONDE_EINPUT, "%s: too many families of forms", path);
            }
            forms->families[forms->family_count++].first = i;
        }
        forms->families[forms->family_count - 1].count++;
    }
    return rc;
}

void drawn_forms_free(struct drawn_forms *forms)
{
    forms_free(&forms->all);
}

struct class
{
    const char *type;
    char name;
    uint32_t count;
};

static const struct class *class_of(const struct form_operand *operand)
{
    static const struct class classes[] = {{"b16", 'h', 4}, {"b32", 'w', 8}, {"b64", 'd', 8},
                                           {"f32", 'f', 8}, {"f64", 'e', 4}, {"pred", 'p', 4}};
    const char *type = form_kinds[operand->kind].reg;
    size_t i = 0;
    while (strcmp(classes[i].type, type) != 0) {
        i++;
    }
    return &classes[i];
}

/* Operands of which not all bits make sense: what to keep, and what to take away then. */
static bool narrow(enum fill fill, uint32_t *mask, uint32_t *minus)
{
    *minus = 0;
    switch (fill) {
    case FILL_SHIFT:
        *mask = 127;
        return true;
    case FILL_POS:
        *mask = 63;
        return true;
    case FILL_BASE:
        *mask = 31;
        return true;
    case FILL_NTH:
        *mask = 63;
        *minus = 32;
        return true;
    case FILL_LANE:
        *mask = 47;
        return true;
    case FILL_CLAMP:
        *mask = 0x1f1f;
        return true;
    default:
        return false;
    }
}

/*
 * What an assembler does not keep to: a product of matrices that it makes of several writes the
 * first's results before it has read the others' operands; testp and set under a guard that is
 * false write their results; the least of a NaN and itself is that NaN.
 */
static bool results_come_apart(const struct form *form)
{
    return begins(form->text, (const char *const[]){"wmma.mma", NULL});
}

/*
 * What the same instruction leaves depends on its neighbours, as the assembler knows or takes it to
 * be: the bits above a comparison's 16, which it takes for zeros; a NaN's bits behind neg; the
 * reciprocal of a reciprocal, which is the value itself.
 */
static bool depends_on_neighbours(const struct form *form)
{
    return (begins(form->text, (const char *const[]){"set.", NULL}) &&
            strstr(form->text, "f16.")) ||
           (begins(form->text, (const char *const[]){"neg.", NULL}) && strstr(form->text, "f16")) ||
           begins(form->text, (const char *const[]){"rcp.approx.", NULL});
}

static bool may_be_guarded(const struct form *form)
{
    return !strpbrk(form->assembly, ";{") && !is_collective(form) &&
           !begins(form->text, (const char *const[]){"testp", "set.", NULL});
}

static bool wants_unlike(const struct form *form)
{
    return begins(form->text, (const char *const[]){"min", "max", NULL});
}

/* The registers of a form's operands, results all different ones. False: there are not as many. */
static bool choose(struct drawn *d, const struct form *form, char names[FORM_OPERANDS][16])
{
    uint32_t start = drawn_below(d, 8), used[128] = {0}, temporaries = 2, last = UINT32_MAX;
    for (int i = 0; i < form->operand_count; i++) {
        const struct form_operand *operand = &form->operands[i];
        const struct class *class = class_of(operand);
        uint32_t index = drawn_below(d, class->count), mask, minus;
        if (operand->result) {
            if (used[(size_t) class->name]++ == class->count) {
                return false;
            }
            index = (start + used[(size_t) class->name]) % class->count;
        } else if (wants_unlike(form)) {
            index = index == last ? (index + 1) % class->count : index;
            last = index;
        }
        snprintf(names[i], 16, "%%%s%c%u", operand->result && results_come_apart(form) ? "y" : "",
                 class->name, index);
        if (!operand->result && narrow(form_kinds[operand->kind].fill, &mask, &minus) &&
            temporaries < 12) {
            strbuf_printf(d->out, "    and.b32 %%x%u, %s, %u;\n    sub.u32 %%x%u, %%x%u, %u;\n",
                          temporaries, names[i], mask, temporaries, temporaries, minus);
            snprintf(names[i], 16, "%%x%u", temporaries++);
        }
    }
    return true;
}

static void write_form(struct drawn *d, const struct form *form, char names[FORM_OPERANDS][16])
{
    const char *at = form->assembly;
    strbuf_append(d->out, "    ");
    if (may_be_guarded(form) && drawn_below(d, 4) == 0) {
        strbuf_printf(d->out, "@%s%%p%u ", drawn_below(d, 2) ? "!" : "", drawn_below(d, 4));
    }
    while (*at) {
        if (at[0] == '%' && at[1] == 'v') {
            char *end;
            unsigned long n = strtoul(at + 2, &end, 10);
            strbuf_append(d->out, names[n]);
            at = end;
        } else {
            strbuf_append_char(d->out, *at++);
        }
    }
    strbuf_append(d->out, ";\n");
    for (int i = 0; results_come_apart(form) && i < form->operand_count; i++) {
        if (form->operands[i].result) {
            strbuf_printf(d->out, "    mov.%s %%%s, %s;\n", class_of(&form->operands[i])->type,
                          names[i] + 2, names[i]);
        }
    }
}

/* A form that may stand here; after some tries none. */
void drawn_form(struct drawn *d)
{
    char names[FORM_OPERANDS][16];
    for (int tries = 0; tries < 16; tries++) {
        uint32_t family = drawn_below(d, (uint32_t)d->forms->family_count);
        const struct form *form =
            &d->forms->all.data[d->forms->families[family].first +
                                drawn_below(d, (uint32_t)d->forms->families[family].count)];
        bool elsewhere = (is_collective(form) && !d->together) ||
                         (d->in_function && (strstr(form->text, "%g") || strstr(form->text, "%s") ||
                                             strstr(form->text, "%u")));
        bool exact = form->ulps == 0 && form->absolute == 0 && !may_contract(form) &&
                     !depends_on_neighbours(form);
        if (exact && !elsewhere && choose(d, form, names)) {
            write_form(d, form, names);
            return;
        }
    }
}
