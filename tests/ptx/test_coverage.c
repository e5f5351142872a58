/*
 * Every instruction of the manual's list (manual.tsv) has a row and a form that is decoded for
 * execution, or a reason why not, and is then refused by its name. docs/instructions.md is the
 * table of it; UPDATE=1 in front of the test writes it anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "forms.h"
#include "util/error.h"

#define MOST 300

struct instruction {
    char name[48], reason[100];
    unsigned programs, others, refused, rows;
};

static struct instruction list[MOST];
static size_t listed;

static void read_manual(void)
{
    FILE *file = fopen(SONDE_TEST_DIR "/manual.tsv", "r");
    char line[300];
    assert_non_null(file);
    for (listed = 0; listed < MOST && fgets(line, sizeof line, file);) {
        size_t length = strcspn(line, "\t\n");
        if (line[0] == '#' || length == 0)
            continue;
        struct instruction *new = &list[listed++];
        memset(new, 0, sizeof *new);
        snprintf(new->name, sizeof new->name, "%.*s", (int)length, line);
        if (line[length] == '\t')
            snprintf(new->reason, sizeof new->reason, "%.*s", (int)strcspn(line + length + 1, "\n"),
                     line + length + 1);
    }
    (void)fclose(file);
}

/* The longest name that `opcode` is, or goes on behind. */
static struct instruction *instruction_of(const char *opcode)
{
    struct instruction *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < listed; i++) {
        size_t length = strlen(list[i].name);
        bool is = strncmp(opcode, list[i].name, length) == 0 &&
                  (opcode[length] == '\0' || strchr(".:", opcode[length]));
        if (is && length > longest) {
            best = &list[i];
            longest = length;
        }
    }
    return best;
}

/* Of shfl without .sync, which later targets do not have, the manual's list says nothing. */
static void count_rows(void)
{
    for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
        const char *name = isa_row((enum isa_op)op)->name;
        struct instruction *of = instruction_of(name);
        if (of)
            of->rows++;
        else if (strcmp(name, "shfl") != 0)
            fail_msg("row '%s' is of no instruction of the manual's", name);
    }
}

static void count_forms(void)
{
    size_t count;
    struct form *forms = forms_read(&count, SONDE_TEST_DIR "/forms.tsv");
    assert_non_null(forms);
    for (size_t i = 0; i < count; i++) {
        enum isa_op op;
        struct instruction *of = instruction_of(forms[i].opcode);
        if (!of) {
            fail_msg("form '%s' is of no instruction of the manual's", forms[i].opcode);
            continue; /* for the analyzer */
        }
        of->programs += forms[i].from_programs;
        of->others += !forms[i].from_programs;
        of->refused += form_decode(&op, &forms[i], i) != 0;
    }
    free(forms);
}

static bool refused_by_name(const char *name, size_t number)
{
    struct form form = {.operands = ""};
    char said[80];
    enum isa_op op;
    snprintf(form.opcode, sizeof form.opcode, "%s", name);
    snprintf(said, sizeof said, "instruction '%s' is not implemented", name);
    return form_decode(&op, &form, number) == SONDE_EUNSUPPORTED &&
           strstr(error_text(), said) != NULL;
}

static void put_table(struct strbuf *out)
{
    unsigned reasons = 0, programs = 0, others = 0;
    for (size_t i = 0; i < listed; i++) {
        reasons += list[i].reason[0] != '\0';
        programs += list[i].programs;
        others += list[i].others;
    }
    strbuf_printf(
        out,
        "# Instructions\n\nThe instructions of PTX ISA 9.0, chapter 9.7 (`tests/ptx/manual.tsv`): "
        "%zu, of which %zu are carried out and %u refused by\nname, with a reason. The test "
        "`ptx.coverage` holds this table against the rows (`src/isa/insn.def`) and writes it\n"
        "(`UPDATE=1`). Forms are those of `tests/ptx/forms.tsv`: %u that compilers make of public "
        "programs, and %u beyond them, each read and\ndecoded for execution, and taken by ptxas "
        "(`ptx.ptxas`).\n\n| instruction | rows | forms of programs | others | of these refused, "
        "or why there is none |\n|---|---|---|---|---|\n",
        listed, listed - reasons, reasons, programs, others);
    for (size_t i = 0; i < listed; i++) {
        const struct instruction *one = &list[i];
        if (one->reason[0] != '\0')
            strbuf_printf(out, "| `%s` | none | | | %s |\n", one->name, one->reason);
        else
            strbuf_printf(out, "| `%s` | %u | %u | %u | %u |\n", one->name, one->rows,
                          one->programs, one->others, one->refused);
    }
}

static bool table_is(const char *text)
{
    FILE *file = fopen(SONDE_TABLE, getenv("UPDATE") != NULL ? "w+" : "r");
    size_t length = strlen(text);
    char *have = calloc(1, length + 2);
    assert_non_null(file);
    assert_non_null(have);
    if (getenv("UPDATE") != NULL) {
        fputs(text, file);
        rewind(file);
    }
    bool same = fread(have, 1, length + 1, file) == length && strcmp(have, text) == 0;
    free(have);
    (void)fclose(file);
    return same;
}

static void instructions_of_the_manual_are_carried_out_or_have_reasons(void **state)
{
    (void)state;
    struct strbuf text = {0};
    unsigned wrong = 0;
    read_manual();
    count_rows();
    count_forms();
    for (size_t i = 0; i < listed; i++) {
        const struct instruction *one = &list[i];
        bool carried_out = one->rows > 0 && one->programs + one->others > one->refused;
        bool right =
            one->reason[0] == '\0' ? carried_out : one->rows == 0 && refused_by_name(one->name, i);
        wrong += !right;
        if (!right)
            print_error("%s: %u rows, %u forms, %u of them refused, reason '%s'\n", one->name,
                        one->rows, one->programs + one->others, one->refused, one->reason);
    }
    put_table(&text);
    print_message("%zu instructions of the manual\n", listed);
    assert_true(listed > 150);
    assert_int_equal(wrong, 0);
    assert_true(table_is(strbuf_text(&text)));
    strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_of_the_manual_are_carried_out_or_have_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
