/* The tables of isa: consistent with each other, searchable by text, complete for what programs
 * use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"

static void every_type_space_and_register_is_found_by_its_text(void **state)
{
    (void)state;
    for (int i = 1; i < TYPE_COUNT; i++) {
        const char *text = isa_type_info((enum isa_type)i)->text;
        assert_int_equal(isa_type_find(text, strlen(text)), i);
    }
    for (int i = 1; i < SPACE_COUNT; i++) {
        const char *text = isa_space_text((enum isa_space)i);
        assert_int_equal(isa_space_find(text, strlen(text)), i);
    }
    for (int i = 1; i < SREG_COUNT; i++) {
        const char *text = isa_sreg_text((enum isa_sreg)i);
        assert_int_equal(isa_sreg_find(text, strlen(text)), i);
        assert_int_equal(text[0], '%');
    }
    assert_int_equal(isa_type_find("s3", 2), TYPE_NONE);
    assert_int_equal(isa_type_find("s32x", 4), TYPE_NONE);
    assert_int_equal(isa_type_find("s32x", 3), TYPE_s32);
}

static void every_modifier_is_found_in_its_class(void **state)
{
    (void)state;
    for (int i = 1; i < MOD_COUNT; i++) {
        enum isa_mod_class cls = isa_mod_class((enum isa_mod)i);
        const char *text = isa_mod_text((enum isa_mod)i);
        assert_int_equal(text[0], '.');
        assert_int_equal(isa_mod_find(cls, text + 1, strlen(text) - 1), i);
    }
    assert_int_equal(isa_mod_find(MODC_CMP, "and", 3), MOD_NONE);
    assert_int_equal(isa_mod_find(MODC_BOOL, "and", 3), MOD_BOOL_and);
}

static bool is_class(const char *name, size_t length)
{
    static const char *const others[] = {"type", "dtype", "stype", "space", "space2",
                                         "vec",  "atype", "btype", "ctype"};
    for (int i = 0; i < MODC_COUNT; i++)
        if (strncmp(isa_mod_class_text((enum isa_mod_class)i), name, length) == 0 &&
            isa_mod_class_text((enum isa_mod_class)i)[length] == '\0')
            return true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(others[i], name, length) == 0 && others[i][length] == '\0')
            return true;
    return false;
}

static void every_pattern_names_classes_that_exist(void **state)
{
    (void)state;
    for (int op = 1; op < OP_COUNT; op++) {
        for (const char *at = isa_row((enum isa_op)op)->pattern; *at != '\0';) {
            if (*at == '(')
                at += strcspn(at, ")");
            if (*at++ != '.')
                continue;
            size_t length = strcspn(at, "(){}. ");
            if (!is_class(at, length))
                fail_msg("%s%s: no class '%.*s'", isa_row((enum isa_op)op)->name,
                         isa_row((enum isa_op)op)->pattern, (int)length, at);
            at += length;
        }
    }
}

static void every_row_has_a_known_first_word_types_and_a_unit(void **state)
{
    (void)state;
    for (int op = 1; op < OP_COUNT; op++) {
        const struct isa_row *row = isa_row((enum isa_op)op);
        assert_true(isa_opcode_known(row->name, strcspn(row->name, ".")));
        assert_true(row->tuple_count > 0);
        assert_true(row->unit < ISA_UNIT_COUNT);
        assert_true(isa_unit_text(row->unit)[0] != '\0');
    }
}

static void rows_of_one_name_form_a_chain(void **state)
{
    (void)state;
    int count = 0;
    for (enum isa_op op = isa_op_find("add", 3); op != OP_NONE; op = isa_op_next(op), count++)
        assert_string_equal(isa_row(op)->name, "add");
    assert_true(count >= 3);
    assert_int_equal(isa_op_find("adder", 5), OP_NONE);
}

static void the_nearest_name_is_one_or_two_letters_away(void **state)
{
    (void)state;
    assert_string_equal(isa_opcode_nearest("ad", 2), "add");
    assert_string_equal(isa_opcode_nearest("setpp", 5), "setp");
    assert_null(isa_opcode_nearest("qqqqqqq", 7));
    assert_null(isa_opcode_nearest("a_word_longer_than_any_opcode", 29));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_space_and_register_is_found_by_its_text),
        cmocka_unit_test(every_modifier_is_found_in_its_class),
        cmocka_unit_test(every_pattern_names_classes_that_exist),
        cmocka_unit_test(every_row_has_a_known_first_word_types_and_a_unit),
        cmocka_unit_test(rows_of_one_name_form_a_chain),
        cmocka_unit_test(the_nearest_name_is_one_or_two_letters_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
