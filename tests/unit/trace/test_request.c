/* Requests: their parameters and the canonical text that identifies them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"
#include "util/error.h"

static void key_sorts_parameters_whatever_the_order_of_setting(void **state)
{
    (void)state;
    struct trace_request request;
    char key[TRACE_KEY_MAX];
    trace_request_init(&request, "chase");
    assert_int_equal(trace_request_set_u64(&request, "stride", 128), 0);
    assert_int_equal(trace_request_set_text(&request, "op", "ca"), 0);
    assert_int_equal(trace_request_set_u64(&request, "bytes", 16384), 0);
    trace_request_key(&request, key);
    assert_string_equal(key, "chase bytes=16384 op=ca stride=128");
}

static void setting_again_replaces(void **state)
{
    (void)state;
    struct trace_request request;
    uint64_t value = 0;
    trace_request_init(&request, "chase");
    assert_int_equal(trace_request_set_u64(&request, "warm", 1), 0);
    assert_int_equal(trace_request_set_u64(&request, "warm", UINT64_MAX), 0);
    assert_int_equal(request.param_count, 1);
    assert_true(trace_request_u64(&request, "warm", &value));
    assert_int_equal(value, UINT64_MAX);
}

static void numbers_that_are_none_or_do_not_fit_are_no_numbers(void **state)
{
    (void)state;
    struct trace_request request;
    uint64_t value = 7;
    trace_request_init(&request, "chase");
    static const char *const bad[] = {"auto", "1x", "-1", "18446744073709551616", "0x10", "1.5"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(trace_request_set_text(&request, "warm", bad[i]), 0);
        assert_false(trace_request_u64(&request, "warm", &value));
    }
    assert_false(trace_request_u64(&request, "absent", &value));
    assert_null(trace_request_text(&request, "absent"));
    assert_int_equal(value, 7);
}

static void names_and_values_that_would_blur_the_key_are_refused(void **state)
{
    (void)state;
    struct trace_request request;
    trace_request_init(&request, "chase");
    static const char *const names[] = {
        "", "ring", "Op", "9x", "a b", "a=b", "aaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(trace_request_set_text(&request, names[i], "1"), SONDE_EUSAGE);
    }
    static const char *const texts[] = {"",    "a b",  "a=b",
                                        "a\n", "\x80", "1234567890123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(trace_request_set_text(&request, "op", texts[i]), SONDE_EUSAGE);
    }
    assert_int_equal(request.param_count, 0);
}

static void one_parameter_too_many_is_refused_and_the_most_long_ones_fit_the_key(void **state)
{
    (void)state;
    struct trace_request request;
    char name[24], key[TRACE_KEY_MAX];
    uint32_t ring[1] = {0};
    trace_request_init(&request, "a_probe_with_a_very_long_name");
    for (int i = 0; i < TRACE_MAX_PARAMS; i++) {
        snprintf(name, sizeof(name), "abcdefghijklmnopqrstu%02u", (unsigned)i % 100);
        assert_int_equal(
            trace_request_set_text(&request, name, "abcdefghijklmnopqrstuvwxyzabcdefghijklm"), 0);
    }
    assert_int_equal(trace_request_set_u64(&request, "one_more", 1), SONDE_EUSAGE);
    request.ring = ring;
    request.ring_count = 1;
    trace_request_key(&request, key);
    assert_non_null(strstr(key, " ring=1:"));
    assert_int_equal(strlen(strstr(key, " ring=1:")), 8 + 16);
}

static void rings_of_other_order_have_other_keys(void **state)
{
    (void)state;
    static const uint32_t one[] = {0, 128, 256}, two[] = {0, 256, 128};
    struct trace_request request;
    char key[TRACE_KEY_MAX], other[TRACE_KEY_MAX];
    trace_request_init(&request, "chase");
    request.ring = one;
    request.ring_count = 3;
    trace_request_key(&request, key);
    request.ring = two;
    trace_request_key(&request, other);
    assert_string_not_equal(key, other);
    /* FNV-1a (64 bits) of the bytes 00 00 00 00 80 00 00 00 00 01 00 00, computed apart. */
    assert_string_equal(key, "chase ring=3:ce5ab154a083556a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_sorts_parameters_whatever_the_order_of_setting),
        cmocka_unit_test(setting_again_replaces),
        cmocka_unit_test(numbers_that_are_none_or_do_not_fit_are_no_numbers),
        cmocka_unit_test(names_and_values_that_would_blur_the_key_are_refused),
        cmocka_unit_test(one_parameter_too_many_is_refused_and_the_most_long_ones_fit_the_key),
        cmocka_unit_test(rings_of_other_order_have_other_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
