/* Every instruction of the manual's list has a row, or manual.tsv says why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"

/* A row of this name, or whose name goes on behind it. */
static bool has_row(const char *name, size_t length)
{
    for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
        const char *row = isa_row((enum isa_op)op)->name;
        if (strncmp(row, name, length) == 0 && (row[length] == '\0' || strchr(".:", row[length])))
            return true;
    }
    return false;
}

static void instructions_of_the_manual_have_rows_or_reasons(void **state)
{
    (void)state;
    FILE *file = fopen(SONDE_MANUAL, "r");
    assert_non_null(file);
    char line[300];
    int listed = 0, wrong = 0, without = 0;
    while (fgets(line, sizeof line, file)) {
        size_t length = strcspn(line, "\t\n");
        if (line[0] == '#' || length == 0)
            continue;
        bool has_reason = line[length] == '\t' && line[length + 1] != '\n';
        listed++;
        without += has_reason;
        if (has_row(line, length) != has_reason)
            continue;
        wrong++;
        print_error("%.*s: %s\n", (int)length, line,
                    has_reason ? "has a row, and a reason why not" : "has neither row nor reason");
    }
    (void)fclose(file);
    print_message("%d instructions of the manual, %d with rows, %d with a reason why not\n", listed,
                  listed - without, without);
    assert_int_equal(wrong, 0);
    assert_true(listed > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_of_the_manual_have_rows_or_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
