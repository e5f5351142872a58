/* Runs accept/ and reject/: see CMakeLists.txt. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ir.h"
#include "ptx/print/print.h"
#include "util/error.h"

static char *read_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    assert_int_equal(fread(text, 1, *length, file), *length);
    text[*length] = '\0';
    fclose(file);
    return text;
}

static char *print_text(const char *name, const char *text, size_t length)
{
    struct ptx_module *module;
    struct strbuf printed = {0};
    if (ptx_parse(&module, name, text, length) < 0)
        fail_msg("%s", error_text());
    assert_int_equal(ptx_print(&printed, module), 0);
    ptx_module_destroy(module);
    return strbuf_take(&printed);
}

static void accept_file(const char *path)
{
    size_t length;
    char *text = read_text(path, &length);
    char *first = print_text(path, text, length);
    char *second = print_text("printed.ptx", first, strlen(first));
    assert_string_equal(first, second);
    free(text);
    free(first);
    free(second);
}

/* One that is written out for each kind of instruction first is no text yet (tests/kernels has
 * all). */
static void accept_kernel(const char *path)
{
    size_t length;
    char *text = read_text(path, &length);
    bool is_pattern = strstr(text, "sm_{SM}");
    free(text);
    if (!is_pattern) {
        accept_file(path);
    }
}

/* The first line says "// expect: TEXT"; some diagnostic must contain it, each must say where. */
static void reject_file(const char *path)
{
    static const char mark[] = "// expect: ";
    size_t length;
    struct ptx_module *module;
    char *text = read_text(path, &length);
    assert_int_equal(strncmp(text, mark, sizeof mark - 1), 0);
    size_t expected_length = strcspn(text + sizeof mark - 1, "\n");
    char *expected = malloc(expected_length + 1);
    memcpy(expected, text + sizeof mark - 1, expected_length);
    expected[expected_length] = '\0';
    int code = ptx_parse(&module, path, text, length);
    if (code != SONDE_EINPUT)
        fail_msg("%s: got code %d, expected SONDE_EINPUT", path, code);
    if (strstr(error_text(), expected) == NULL)
        fail_msg("%s: expected '%s' in:\n%s", path, expected, error_text());
    assert_int_equal(strncmp(error_text(), path, strlen(path)), 0);
    free(expected);
    free(text);
}

static int each_file(const char *folder, void (*check)(const char *path))
{
    DIR *dir = opendir(folder);
    int count = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[1024];
        if (strstr(entry->d_name, ".ptx") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        check(path);
        count++;
    }
    closedir(dir);
    return count;
}

static void accepted_files_parse_and_print_to_a_fixed_point(void **state)
{
    (void)state;
    assert_true(each_file(SONDE_TEST_DIR "/accept", accept_file) >= 5);
}

static void the_probe_kernels_parse_and_print_to_a_fixed_point(void **state)
{
    (void)state;
    assert_true(each_file(SONDE_SOURCE_DIR "/src/probe/kernels", accept_kernel) >= 5);
}

static void rejected_files_name_the_place_and_the_reason(void **state)
{
    (void)state;
    assert_true(each_file(SONDE_TEST_DIR "/reject", reject_file) >= 70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_files_parse_and_print_to_a_fixed_point),
        cmocka_unit_test(the_probe_kernels_parse_and_print_to_a_fixed_point),
        cmocka_unit_test(rejected_files_name_the_place_and_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
