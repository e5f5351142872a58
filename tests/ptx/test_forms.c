/*
 * Coverage counted from a table: every form of forms.tsv must parse in a kernel of its own, as the
 * row it stands for, and print so that the print parses to itself. With SONDE_FORMS_OUT=FILE all
 * kernels are written there as one module, for the vendor's assembler (tests/ptx/ptxas.sh).
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
#include "ptx/ir.h"
#include "ptx/print/print.h"
#include "util/error.h"

#define PROGRAM_FORMS 689

static struct form *forms;
static size_t form_count;

static int read_forms(void **state)
{
    (void)state;
    forms = forms_read(&form_count, SONDE_TEST_DIR "/forms.tsv");
    return forms == NULL;
}

static int free_forms(void **state)
{
    (void)state;
    free(forms);
    return 0;
}

static void the_table_holds_every_form_once(void **state)
{
    (void)state;
    size_t from_programs = 0;
    for (size_t i = 0; i < form_count; i++) {
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(forms[k].opcode, forms[i].opcode);
        from_programs += forms[i].from_programs;
    }
    assert_int_equal(from_programs, PROGRAM_FORMS);
}

/* Does the row's fixed name start the opcode? */
static bool is_row_of(const struct isa_row *row, const char *opcode)
{
    size_t length = strlen(row->name);
    return strncmp(row->name, opcode, length) == 0 &&
           (opcode[length] == '.' || opcode[length] == '\0');
}

static bool form_parses(const struct form *form, size_t number)
{
    struct strbuf text = {0}, printed = {0}, again = {0};
    struct ptx_module *module = NULL, *second = NULL;
    forms_put_header(&text);
    forms_put_kernel(&text, form, number);
    int code = ptx_parse(&module, form->opcode, strbuf_text(&text), text.length);
    bool fits = false;
    if (code == 0) {
        const struct ptx_func *kernel = module->funcs[module->func_count - 1];
        fits = kernel->insn_count == 2 && is_row_of(isa_row(kernel->insns[0].op), form->opcode);
        ptx_print(&printed, module);
        code = ptx_parse(&second, "printed", strbuf_text(&printed), printed.length);
    }
    if (code == 0)
        ptx_print(&again, second);
    if (code < 0)
        print_error("%s\n", error_text());
    bool same = code == 0 && strcmp(strbuf_text(&printed), strbuf_text(&again)) == 0;
    ptx_module_destroy(module);
    ptx_module_destroy(second);
    strbuf_free(&text);
    strbuf_free(&printed);
    strbuf_free(&again);
    return fits && same;
}

static void every_form_parses_and_prints(void **state)
{
    (void)state;
    size_t missing = 0;
    for (size_t i = 0; i < form_count; i++) {
        if (form_parses(&forms[i], i))
            continue;
        print_error("does not parse and print: %s %s\n", forms[i].opcode, forms[i].operands);
        missing++;
    }
    print_message("%zu of %zu forms parse\n", form_count - missing, form_count);
    assert_int_equal(missing, 0);
}

static void all_forms_make_one_module(void **state)
{
    (void)state;
    struct strbuf text = {0};
    struct ptx_module *module;
    forms_put_header(&text);
    for (size_t i = 0; i < form_count; i++)
        forms_put_kernel(&text, &forms[i], i);
    if (getenv("SONDE_FORMS_OUT") != NULL) {
        FILE *file = fopen(getenv("SONDE_FORMS_OUT"), "w");
        assert_non_null(file);
        assert_true(fputs(strbuf_text(&text), file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
    if (ptx_parse(&module, "forms.ptx", strbuf_text(&text), text.length) < 0)
        fail_msg("%s", error_text());
    assert_int_equal(module->func_count, form_count + 1);
    ptx_module_destroy(module);
    strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_holds_every_form_once),
                                       cmocka_unit_test(every_form_parses_and_prints),
                                       cmocka_unit_test(all_forms_make_one_module)};
    return cmocka_run_group_tests(tests, read_forms, free_forms);
}
