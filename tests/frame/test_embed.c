/* sonde_embed() of cmake/SondeEmbed.cmake: every byte of a file is in the table, and its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/glue/embed.h"
#include "util/fileio.h"

extern const struct embedded_file test_files[];

static void files_are_embedded_byte_by_byte(void **state)
{
    (void)state;
    static const char *const names[] = {"bytes.bin", "empty.txt", "text.yaml"};
    for (size_t i = 0; i < 3; i++) {
        char path[4096];
        char *data;
        size_t size;
        snprintf(path, sizeof(path), "%s/%s", DATA_DIR, names[i]);
        assert_int_equal(file_read_all(&data, &size, path, 10000), 0);
        const struct embedded_file *file = embed_find(test_files, names[i]);
        assert_ptr_equal(file, &test_files[i]);
        assert_int_equal(file->size_bytes, size);
        assert_memory_equal(file->data, data, size);
        assert_int_equal(file->data[size], 0);
        free(data);
    }
    assert_null(test_files[3].name);
}

static void an_absent_name_is_not_found(void **state)
{
    (void)state;
    assert_null(embed_find(test_files, "text"));
    assert_null(embed_find(test_files, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_embedded_byte_by_byte),
        cmocka_unit_test(an_absent_name_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
