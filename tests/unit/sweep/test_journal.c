/* A sweep's journal that is read again: whose lines count, what of it is broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sweep/journal.h"
#include "util/error.h"

#define LINE(key, status) "{\"key\":\"" key "\",\"status\":\"" status "\"}\n"

static char folder[64], path[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/sonde-journal.XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/points.jsonl", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_journal(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

static long bytes_of_journal(void)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long bytes = ftell(file);
    fclose(file);
    return bytes;
}

static void the_first_broken_line_is_named(void **state)
{
    (void)state;
    static const uint64_t keys[] = {1};
    struct sweep_outcome outcomes[1] = {{0}};
    struct sweep_journal journal;
    size_t stale;
    write_journal(LINE("1", "ok") "broken\nbroken too\n" LINE("1", "ok"));
    assert_int_equal(sweep_journal_open(&journal, folder, true, keys, 1, outcomes, &stale),
                     SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "points.jsonl:2: not a line of a sweep's journal"));
    json_decref(outcomes[0].line);
    sweep_journal_close(&journal);
}

static void the_last_line_of_a_point_counts_and_one_that_was_cut_off_goes(void **state)
{
    (void)state;
    static const uint64_t keys[] = {1, 0xa};
    struct sweep_outcome outcomes[2] = {{0}};
    struct sweep_journal journal;
    size_t stale;
    static const char whole[] = LINE("a", "failed") LINE("b", "ok") LINE("a", "ok");
    char text[sizeof whole + 16];
    snprintf(text, sizeof text, "%s{\"key\":\"1\"", whole);
    write_journal(text);
    assert_int_equal(sweep_journal_open(&journal, folder, true, keys, 2, outcomes, &stale), 0);
    assert_int_equal(stale, 1);
    assert_int_equal(outcomes[0].status, POINT_OPEN);
    assert_int_equal(outcomes[1].status, POINT_OK);
    assert_int_equal(bytes_of_journal(), sizeof whole - 1);
    json_decref(outcomes[1].line);
    sweep_journal_close(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_broken_line_is_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(
            the_last_line_of_a_point_counts_and_one_that_was_cut_off_goes, make_folder,
            remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
