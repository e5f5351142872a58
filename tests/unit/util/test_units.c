/* util/units.h: what is accepted and its value, what is refused and why, the way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/error.h"
#include "util/rng.h"
#include "util/text/units.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void whole_quantities_are_read_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum unit unit;
        uint64_t value;
    } rows[] = {
        {"0", UNIT_NONE, 0},
        {"18446744073709551615", UNIT_NONE, UINT64_MAX},
        {"0xffffffffffffffff", UNIT_NONE, UINT64_MAX},
        {"0xff_00", UNIT_NONE, 0xff00},
        {"1_000_000", UNIT_NONE, 1000000},
        {"1e6", UNIT_NONE, 1000000},
        {"2.5e3", UNIT_NONE, 2500},
        {"1200e-2", UNIT_NONE, 12},
        {"-0", UNIT_NONE, 0},
        {"0e400", UNIT_NONE, 0},
        {"  7  ", UNIT_NONE, 7},
        {"32", UNIT_COUNT, 32},
        {"32 sets", UNIT_COUNT, 32},
        {"1 way", UNIT_COUNT, 1},
        {"16 entries", UNIT_COUNT, 16},
        {"16 B", UNIT_BYTES, 16},
        {"16B", UNIT_BYTES, 16},
        {"48 KiB", UNIT_BYTES, 49152},
        {"1.5 MiB", UNIT_BYTES, 1572864},
        {"0.5 KiB", UNIT_BYTES, 512},
        {"1.5 kB", UNIT_BYTES, 1500},
        {"6 GiB", UNIT_BYTES, UINT64_C(6) << 30},
        {"16777215 TiB", UNIT_BYTES, UINT64_C(16777215) << 40},
        {"116 cycles", UNIT_CYCLES, 116},
        {"1 cycle", UNIT_CYCLES, 1},
        {"705 MHz", UNIT_HZ, 705000000},
        {"1.8225 GHz", UNIT_HZ, 1822500000},
        {"12 ns", UNIT_PS, 12000},
        {"1.25ns", UNIT_PS, 1250},
        {"2 s", UNIT_PS, UINT64_C(2000000000000)},
        {"16 B/cycle", UNIT_BYTES_PER_CYCLE, 16},
        {"177.4 GB/s", UNIT_BYTES_PER_S, UINT64_C(177400000000)},
        {"100%", UNIT_FRACTION, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t value = 99;
        if (units_parse_u64(&value, rows[i].text, rows[i].unit) < 0) {
            fail_msg("%s: %s", rows[i].text, error_text());
        }
        assert_true(value == rows[i].value);
    }
}

static void what_is_wrong_is_refused_with_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum unit unit;
        const char *reason;
    } rows[] = {
        {"", UNIT_NONE, "is not a number"},
        {"KiB", UNIT_BYTES, "is not a number"},
        {".", UNIT_NONE, "is not a number"},
        {"-", UNIT_NONE, "is not a number"},
        {"0x", UNIT_NONE, "is not a number"},
        {"nan", UNIT_NONE, "is not a number"},
        {"inf", UNIT_NONE, "is not a number"},
        {"-3", UNIT_NONE, "is negative"},
        {"-3 KiB", UNIT_BYTES, "is negative"},
        {"1.5", UNIT_COUNT, "is not a whole number"},
        {"0.3 B", UNIT_BYTES, "is not a whole number of B"},
        {"1e-9 s", UNIT_CYCLES, "is a time; expected cycles"},
        {"48", UNIT_BYTES, "has no unit; expected bytes"},
        {"48 KB", UNIT_BYTES, "KB is ambiguous"},
        {"48 cycles", UNIT_BYTES, "is cycles; expected bytes"},
        {"48 KiB", UNIT_CYCLES, "is bytes; expected cycles"},
        {"48 KiB", UNIT_NONE, "is bytes; expected a plain number"},
        {"48 KiB", UNIT_COUNT, "is bytes; expected a count"},
        {"48 KiBs", UNIT_BYTES, "unknown unit 'KiBs'"},
        {"48 KiB 3", UNIT_BYTES, "unknown unit 'KiB 3'"},
        {"48 kib", UNIT_BYTES, "unknown unit 'kib'"},
        {"4 furlongs", UNIT_COUNT, "unknown unit 'furlongs'"},
        {"1 s", UNIT_COUNT, "is a time; expected a count"},
        {"1 2", UNIT_NONE, "unknown unit '2'"},
        {"1.2.3", UNIT_NONE, "unknown unit '.3'"},
        {"1__0", UNIT_NONE, "unknown unit '__0'"},
        {"1e", UNIT_NONE, "unknown unit 'e'"},
        {"18446744073709551616", UNIT_NONE, "has too many digits"},
        {"0x10000000000000000", UNIT_NONE, "is too large"},
        {"16777216 TiB", UNIT_BYTES, "is too large"},
        {"1e20", UNIT_NONE, "is too large"},
        {"1e99999999999999999999", UNIT_NONE, "exponent"},
        {"2", UNIT_FRACTION, "is not between 0 and 1"},
        {"50%", UNIT_FRACTION, "is not a whole number"},
        {"50%", UNIT_NONE, "is a fraction; expected a plain number"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t value = 99;
        error_clear();
        if (units_parse_u64(&value, rows[i].text, rows[i].unit) != SONDE_EINPUT ||
            !strstr(error_text(), rows[i].reason)) {
            fail_msg("'%s' as %s: '%s', expected '%s'", rows[i].text, units_name(rows[i].unit),
                     error_text(), rows[i].reason);
        }
        assert_int_equal(value, 99);
    }
}

static void fractions_are_read_as_doubles(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum unit unit;
        double value;
    } rows[] = {
        {"0.1", UNIT_NONE, 0.1},          {"-2.5e-3", UNIT_NONE, -2.5e-3},
        {"25%", UNIT_FRACTION, 0.25},     {"16.7%", UNIT_FRACTION, 0.167},
        {"1", UNIT_FRACTION, 1},          {"0.3 ns", UNIT_PS, 300},
        {"1.5 MiB", UNIT_BYTES, 1572864}, {"2.7 cycles", UNIT_CYCLES, 2.7},
        {"0x10", UNIT_NONE, 16},          {"1e300", UNIT_NONE, 1e300},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double value = 99;
        if (units_parse_double(&value, rows[i].text, rows[i].unit) < 0) {
            fail_msg("%s: %s", rows[i].text, error_text());
        }
        assert_true(value == rows[i].value);
    }
    double value = 99;
    assert_int_equal(units_parse_double(&value, "120%", UNIT_FRACTION), SONDE_EINPUT);
    assert_int_equal(units_parse_double(&value, "-0.1", UNIT_FRACTION), SONDE_EINPUT);
    assert_int_equal(units_parse_double(&value, "-1 B", UNIT_BYTES), SONDE_EINPUT);
    assert_int_equal(units_parse_double(&value, "1e301", UNIT_NONE), SONDE_EINPUT);
    assert_int_equal(units_parse_double(&value, "1e400", UNIT_NONE), SONDE_EINPUT);
    assert_int_equal(units_parse_double(&value, "2 ns", UNIT_CYCLES), SONDE_EINPUT);
    assert_true(value == 99);
}

static void people_read_the_largest_short_unit(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        enum unit unit;
        const char *text;
    } rows[] = {
        {0, UNIT_BYTES, "0 B"},
        {128, UNIT_BYTES, "128 B"},
        {49152, UNIT_BYTES, "48 KiB"},
        {1536, UNIT_BYTES, "1.5 KiB"},
        {1572864, UNIT_BYTES, "1.5 MiB"},
        {1025, UNIT_BYTES, "1025 B"},
        {UINT64_MAX, UNIT_BYTES, "18446744073709551615 B"},
        {705000000, UNIT_HZ, "705 MHz"},
        {1822500000, UNIT_HZ, "1822.5 MHz"},
        {1250, UNIT_PS, "1.25 ns"},
        {1005, UNIT_PS, "1.005 ns"},
        {116, UNIT_CYCLES, "116 cycles"},
        {32, UNIT_COUNT, "32"},
        {16, UNIT_BYTES_PER_CYCLE, "16 B/cycle"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[64];
        assert_string_equal(units_format(text, sizeof(text), rows[i].value, rows[i].unit),
                            rows[i].text);
    }
    char small[4];
    assert_string_equal(units_format(small, sizeof(small), 49152, UNIT_BYTES), "48 ");
    assert_string_equal(units_format(small, sizeof(small), 123456, UNIT_COUNT), "123");
}

static void every_formatted_value_parses_back(void **state)
{
    (void)state;
    static const enum unit kinds[] = {UNIT_NONE,        UNIT_COUNT, UNIT_BYTES,
                                      UNIT_CYCLES,      UNIT_HZ,    UNIT_BYTES_PER_CYCLE,
                                      UNIT_BYTES_PER_S, UNIT_PS};
    struct rng rng;
    rng_seed(&rng, 1);
    for (int i = 0; i < 20000; i++) {
        enum unit unit = kinds[rng_below(&rng, COUNT_OF(kinds))];
        uint64_t value = rng_u64(&rng) >> rng_below(&rng, 64);
        value -= value % (rng_below(&rng, 2) ? 1000 : 1);
        char text[64];
        uint64_t back = 0;
        units_format(text, sizeof(text), value, unit);
        assert_int_equal(units_parse_u64(&back, text, unit), 0);
        assert_true(back == value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_quantities_are_read_exactly),
        cmocka_unit_test(what_is_wrong_is_refused_with_its_reason),
        cmocka_unit_test(fractions_are_read_as_doubles),
        cmocka_unit_test(people_read_the_largest_short_unit),
        cmocka_unit_test(every_formatted_value_parses_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
