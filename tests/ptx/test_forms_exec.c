/*
 * What exec does with every form of forms.tsv: it decodes it, or refuses it at load time as not
 * implemented, with the place and the instruction's name; never anything else. Prints the counts
 * and, with SONDE_FORMS_REFUSED=FILE, writes the list of what is refused there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "forms.h"
#include "util/error.h"

/* What must not become less. */
#define PROGRAM_FORMS_DECODED 689

/* 0 or SONDE_EUNSUPPORTED; anything else fails the test. */
static int decode_form(const struct form *form, size_t number)
{
    enum isa_op op;
    int code = form_decode(&op, form, number);
    if (code != 0 && (code != SONDE_EUNSUPPORTED || op == OP_NONE ||
                      strncmp(error_text(), "form.ptx:", 9) != 0 ||
                      strstr(error_text(), isa_row(op)->name) == NULL))
        fail_msg("%s: %d %s", form->opcode, code, error_text());
    return code;
}

static void every_form_is_decoded_or_refused_by_name(void **state)
{
    (void)state;
    size_t count, decoded[2] = {0}, total[2] = {0};
    struct form *forms = forms_read(&count, SONDE_TEST_DIR "/forms.tsv");
    const char *path = getenv("SONDE_FORMS_REFUSED");
    FILE *refused = path != NULL ? fopen(path, "w") : NULL;
    assert_non_null(forms);
    for (size_t i = 0; i < count; i++) {
        int code = decode_form(&forms[i], i);
        total[forms[i].from_programs]++;
        decoded[forms[i].from_programs] += code == 0;
        if (code != 0 && refused != NULL)
            fprintf(refused, "%s\t%s\n", forms[i].opcode, error_text());
    }
    if (refused != NULL)
        assert_int_equal(fclose(refused), 0);
    print_message("%zu of %zu forms of programs, %zu of %zu of the manual beyond them\n",
                  decoded[1], total[1], decoded[0], total[0]);
    assert_true(decoded[1] >= PROGRAM_FORMS_DECODED);
    free(forms);
}

/* Products of four warps are forms of eight columns there. */
static void as_a_form(char *opcode)
{
    char *columns = strncmp(opcode, "wgmma.mma", 9) == 0 ? strstr(opcode, ".m64n") : NULL;
    if (columns != NULL) {
        columns += strlen(".m64n");
        *columns = '8';
        memmove(columns + 1, strchr(columns, 'k'), strlen(strchr(columns, 'k')) + 1);
    }
}

static void what_triton_emits_is_decoded(void **state)
{
    (void)state;
    size_t count, listed = 0, decoded = 0;
    unsigned long times = 0;
    char line[256];
    struct form *forms = forms_read(&count, SONDE_TEST_DIR "/forms.tsv");
    FILE *file = fopen(SONDE_TEST_DIR "/triton_ops.tsv", "r");
    assert_non_null(forms);
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *tab = strchr(line, '\t');
        if (line[0] == '#' || tab == NULL)
            continue;
        *tab = '\0';
        listed++;
        as_a_form(line);
        size_t i = 0;
        while (i < count && strcmp(forms[i].opcode, line) != 0)
            i++;
        if (i < count && decode_form(&forms[i], i) == 0) {
            decoded++;
            times += strtoul(tab + 1, NULL, 10);
        } else {
            print_error("not decoded: %s\n", line);
        }
    }
    (void)fclose(file);
    print_message("%zu of %zu instructions of Triton's, %lu times\n", decoded, listed, times);
    free(forms);
    assert_true(listed > 100);
    assert_int_equal(decoded, listed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form_is_decoded_or_refused_by_name),
                                       cmocka_unit_test(what_triton_emits_is_decoded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
