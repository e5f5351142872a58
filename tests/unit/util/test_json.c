/* util/json_glue.h: equal documents are equal bytes; what JSON cannot say is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/rng.h"
#include "util/text/plain.h"

static void assert_text_is(json_t *value, const char *expected)
{
    char *text;
    assert_int_equal(json_to_text(&text, value), 0);
    assert_string_equal(text, expected);
    free(text);
    json_decref(value);
}

static void members_keep_their_order_and_numbers_are_short(void **state)
{
    (void)state;
    json_t *root = json_object();
    assert_int_equal(json_put_string(root, "name", "GTX \"780\"\n"), 0);
    assert_int_equal(json_put_u64(root, "size", 16384), 0);
    assert_int_equal(json_put_i64(root, "delta", -3), 0);
    assert_int_equal(json_put_double(root, "confidence", 0.1), 0);
    assert_int_equal(json_put_double(root, "latency", 116), 0);
    assert_int_equal(json_put_bool(root, "serial", true), 0);
    assert_int_equal(json_put_null(root, "policy"), 0);
    assert_int_equal(json_put_string(root, "nothing", NULL), 0);
    json_t *list = json_put_array(root, "ways");
    assert_int_equal(json_append(list, json_integer(17)), 0);
    assert_int_equal(json_append(list, json_integer(8)), 0);
    json_t *caches = json_put_array(root, "caches");
    json_t *cache = json_object();
    assert_int_equal(json_append(caches, cache), 0);
    assert_int_equal(json_put_u64(cache, "line", 128), 0);
    assert_non_null(json_put_object(root, "empty"));
    assert_non_null(json_put_array(root, "none"));
    assert_text_is(root, "{\n"
                         "  \"name\": \"GTX \\\"780\\\"\\n\",\n"
                         "  \"size\": 16384,\n"
                         "  \"delta\": -3,\n"
                         "  \"confidence\": 0.1,\n"
                         "  \"latency\": 116.0,\n"
                         "  \"serial\": true,\n"
                         "  \"policy\": null,\n"
                         "  \"nothing\": null,\n"
                         "  \"ways\": [17, 8],\n"
                         "  \"caches\": [\n"
                         "    {\n"
                         "      \"line\": 128\n"
                         "    }\n"
                         "  ],\n"
                         "  \"empty\": {},\n"
                         "  \"none\": []\n"
                         "}\n");
}

static void every_double_reads_back_exactly(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = rng_u64(&rng);
        double value;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value)) {
            continue;
        }
        json_t *root = json_object(), *back;
        char *text;
        assert_int_equal(json_put_double(root, "x", value), 0);
        assert_int_equal(json_to_text(&text, root), 0);
        assert_int_equal(json_from_text(&back, text, strlen(text), "text"), 0);
        assert_true(json_real_value(json_object_get(back, "x")) == value);
        free(text);
        json_decref(back);
        json_decref(root);
    }
}

static void what_json_cannot_say_is_refused(void **state)
{
    (void)state;
    json_t *root = json_object();
    assert_int_equal(json_put_double(root, "x", NAN), SONDE_EINPUT);
    assert_int_equal(json_put_double(root, "x", INFINITY), SONDE_EINPUT);
    assert_int_equal(json_put_u64(root, "x", UINT64_MAX), SONDE_EINPUT);
    assert_int_equal(json_put_u64(root, "y", INT64_MAX), 0);
    assert_int_equal(json_put(root, "x", NULL), SONDE_ENOMEM);
    assert_int_equal(json_append(NULL, json_true()), SONDE_ENOMEM);
    assert_null(json_object_get(root, "x"));
    json_decref(root);
}

static void bytes_that_are_no_text_are_repaired(void **state)
{
    (void)state;
    json_t *root = json_object();
    assert_int_equal(json_put_string(root, "a", "\xc3\xa9 \xff \xc0\xaf \xed\xa0\x80 \xe2\x82"), 0);
    assert_int_equal(json_put_string(root, "b", "\xf0\x9f\x98\x80\xf5"), 0);
    const char *bad = "\xef\xbf\xbd";
    char expected[100];
    snprintf(expected, sizeof(expected), "\xc3\xa9 %s %s%s %s%s%s %s%s", bad, bad, bad, bad, bad,
             bad, bad, bad);
    assert_string_equal(json_string_value(json_object_get(root, "a")), expected);
    assert_string_equal(json_string_value(json_object_get(root, "b")),
                        "\xf0\x9f\x98\x80\xef\xbf\xbd");
    json_decref(root);
}

static void broken_text_is_refused_with_its_place(void **state)
{
    (void)state;
    static const char *const broken[] = {"",       "{",   "{\"a\": 1,}",          "{\"a\": 1} x",
                                         "[1, 2",  "nul", "{\"a\": 1, \"a\": 2}", "\"\xff\"",
                                         "[1e999]"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        json_t *value = NULL;
        assert_int_equal(json_from_text(&value, broken[i], strlen(broken[i]), "f.json"),
                         SONDE_EINPUT);
        assert_null(value);
        assert_memory_equal(error_text(), "f.json:", 7);
    }
    json_t *value;
    assert_int_equal(json_from_text(&value, "{\n \"a\": x}", 10, "f.json"), SONDE_EINPUT);
    assert_memory_equal(error_text(), "f.json:2:", 9);
    assert_int_equal(json_from_file(&value, "/nowhere/f.json", 100), SONDE_EIO);
}

static void a_document_without_memory_is_an_error(void **state)
{
    (void)state;
    char *text;
    assert_int_equal(json_to_text(&text, NULL), SONDE_ENOMEM);
}

static void a_hostile_depth_is_refused(void **state)
{
    (void)state;
    static char deep[200000];
    memset(deep, '[', sizeof(deep));
    json_t *value = NULL;
    assert_int_equal(json_from_text(&value, deep, sizeof(deep), "deep"), SONDE_EINPUT);
    assert_null(value);
}

/* A program's own locale of a thread is there again when the number has been written. */
static void the_threads_locale_is_its_own_again_afterwards(void **state)
{
    (void)state;
    locale_t own = duplocale(LC_GLOBAL_LOCALE), before = uselocale(own);
    assert_non_null(own);
    locale_t held = plain_begin();
    assert_ptr_not_equal(uselocale((locale_t)0), own);
    plain_end(held);
    assert_ptr_equal(uselocale((locale_t)0), own);
    uselocale(before);
    freelocale(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_keep_their_order_and_numbers_are_short),
        cmocka_unit_test(the_threads_locale_is_its_own_again_afterwards),
        cmocka_unit_test(every_double_reads_back_exactly),
        cmocka_unit_test(what_json_cannot_say_is_refused),
        cmocka_unit_test(bytes_that_are_no_text_are_repaired),
        cmocka_unit_test(broken_text_is_refused_with_its_place),
        cmocka_unit_test(a_document_without_memory_is_an_error),
        cmocka_unit_test(a_hostile_depth_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
