/*
 * Parsing and printing quantities. A number is read as decimal digits with an exponent and scaled
 * in integers, so that "1.5 MiB" is exact and "0.3 B" is refused rather than rounded.
 */
#include "util/text/units.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

struct unit_row {
    enum unit unit;
    const char *name;
    uint64_t scale; /* base units in one; 0: percent */
    bool formats;   /* units_format() may use it */
};

static const struct unit_row unit_rows[] = {
    {UNIT_BYTES, "B", 1, true},
    {UNIT_BYTES, "KiB", UINT64_C(1) << 10, true},
    {UNIT_BYTES, "MiB", UINT64_C(1) << 20, true},
    {UNIT_BYTES, "GiB", UINT64_C(1) << 30, true},
    {UNIT_BYTES, "TiB", UINT64_C(1) << 40, true},
    {UNIT_BYTES, "kB", UINT64_C(1000), false},
    {UNIT_BYTES, "MB", UINT64_C(1000000), false},
    {UNIT_BYTES, "GB", UINT64_C(1000000000), false},
    {UNIT_BYTES, "TB", UINT64_C(1000000000000), false},
    {UNIT_BYTES, "byte", 1, false},
    {UNIT_BYTES, "bytes", 1, false},
    {UNIT_CYCLES, "cycles", 1, true},
    {UNIT_CYCLES, "cycle", 1, false},
    {UNIT_HZ, "Hz", 1, true},
    {UNIT_HZ, "kHz", UINT64_C(1000), true},
    {UNIT_HZ, "MHz", UINT64_C(1000000), true},
    {UNIT_HZ, "GHz", UINT64_C(1000000000), true},
    {UNIT_PS, "ps", 1, true},
    {UNIT_PS, "ns", UINT64_C(1000), true},
    {UNIT_PS, "us", UINT64_C(1000000), true},
    {UNIT_PS, "ms", UINT64_C(1000000000), true},
    {UNIT_PS, "s", UINT64_C(1000000000000), true},
    {UNIT_BYTES_PER_CYCLE, "B/cycle", 1, true},
    {UNIT_BYTES_PER_CYCLE, "KiB/cycle", UINT64_C(1) << 10, true},
    {UNIT_BYTES_PER_S, "B/s", 1, true},
    {UNIT_BYTES_PER_S, "kB/s", UINT64_C(1000), true},
    {UNIT_BYTES_PER_S, "MB/s", UINT64_C(1000000), true},
    {UNIT_BYTES_PER_S, "GB/s", UINT64_C(1000000000), true},
    {UNIT_BYTES_PER_S, "TB/s", UINT64_C(1000000000000), true},
    {UNIT_BYTES_PER_S, "KiB/s", UINT64_C(1) << 10, false},
    {UNIT_BYTES_PER_S, "MiB/s", UINT64_C(1) << 20, false},
    {UNIT_BYTES_PER_S, "GiB/s", UINT64_C(1) << 30, false},
    {UNIT_FRACTION, "%", 0, false},
};

/* What may be counted; an s at the end is allowed. */
static const char *const counted[] = {
    "entry",  "entrie", "way",     "set",  "line",      "bank",    "lane", "warp",
    "thread", "SM",     "CTA",     "slot", "port",      "request", "row",  "register",
    "bit",    "access", "channel", "rank", "partition", "unit",    "flit", "instruction",
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

const char *units_name(enum unit unit)
{
    static const char *const names[] = {
        [UNIT_NONE] = "a plain number",
        [UNIT_COUNT] = "a count",
        [UNIT_BYTES] = "bytes",
        [UNIT_CYCLES] = "cycles",
        [UNIT_HZ] = "a frequency",
        [UNIT_PS] = "a time",
        [UNIT_FRACTION] = "a fraction",
        [UNIT_BYTES_PER_CYCLE] = "bytes per cycle",
        [UNIT_BYTES_PER_S] = "bytes per second",
    };
    return (size_t)unit < COUNT_OF(names) ? names[unit] : "an unknown unit";
}

const char *units_base(enum unit unit)
{
    static const char *const names[] = {
        [UNIT_NONE] = "",           [UNIT_COUNT] = "",
        [UNIT_BYTES] = "B",         [UNIT_CYCLES] = "cycles",
        [UNIT_HZ] = "Hz",           [UNIT_PS] = "ps",
        [UNIT_FRACTION] = "",       [UNIT_BYTES_PER_CYCLE] = "B/cycle",
        [UNIT_BYTES_PER_S] = "B/s",
    };
    return (size_t)unit < COUNT_OF(names) ? names[unit] : "";
}

/* A number as written: negative? mantissa x 10^exponent; `rest` is what follows it. */
struct number {
    bool negative;
    uint64_t mantissa;
    int exponent;
    const char *rest;
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)tolower((unsigned char)c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static int bad_number(const char *text)
{
    return error_set(SONDE_EINPUT, "'%.60s' is not a number", text);
}

static int too_large(const char *text)
{
    return error_set(SONDE_EINPUT, "'%.60s' is too large", text);
}

static int number_parse_hex(struct number *number, const char *text, const char *digits)
{
    const char *p = digits;
    for (; hex_digit(*p) >= 0 || (*p == '_' && p > digits && hex_digit(p[1]) >= 0); p++) {
        if (*p == '_') {
            continue;
        }
        if (number->mantissa >> 60) {
            return too_large(text);
        }
        number->mantissa = number->mantissa << 4 | (uint64_t)hex_digit(*p);
    }
    number->rest = p;
    return p == digits ? bad_number(text) : SONDE_OK;
}

/* Reads digits with at most one point into mantissa and exponent. */
static int number_parse_digits(struct number *number, const char *text, const char *p)
{
    int digits = 0;
    bool point = false;
    for (;; p++) {
        if (*p == '.' && !point) {
            point = true;
        } else if (*p == '_' && digits > 0 && isdigit((unsigned char)p[1])) {
            continue;
        } else if (isdigit((unsigned char)*p)) {
            uint64_t digit = (uint64_t)(*p - '0');
            if (number->mantissa > (UINT64_MAX - digit) / 10) {
                return error_set(SONDE_EINPUT, "'%.60s' has too many digits", text);
            }
            number->mantissa = number->mantissa * 10 + digit;
            number->exponent -= point;
            digits++;
        } else {
            break;
        }
    }
    number->rest = p;
    return digits == 0 ? bad_number(text) : SONDE_OK;
}

static int number_parse(struct number *number, const char *text)
{
    *number = (struct number){.rest = text};
    const char *p = text;
    while (*p == ' ') {
        p++;
    }
    if (*p == '-' || *p == '+') {
        number->negative = *p++ == '-';
    }
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        return number_parse_hex(number, text, p + 2);
    }
    if (number_parse_digits(number, text, p) < 0) {
        return SONDE_EINPUT;
    }
    p = number->rest;
    const char *digits = p + 1 + (*p != '\0' && (p[1] == '-' || p[1] == '+'));
    if ((*p == 'e' || *p == 'E') && isdigit((unsigned char)*digits)) {
        char *end;
        long exponent = strtol(p + 1, &end, 10);
        if (exponent > 400 || exponent < -400) {
            return error_set(SONDE_EINPUT, "the exponent of '%.60s' is too large", text);
        }
        number->exponent += (int)exponent;
        number->rest = end;
    }
    return SONDE_OK;
}

/* Cuts spaces off both ends of what follows the number. */
static size_t trim(const char **suffix)
{
    while (**suffix == ' ') {
        (*suffix)++;
    }
    size_t length = strlen(*suffix);
    while (length > 0 && (*suffix)[length - 1] == ' ') {
        length--;
    }
    return length;
}

static bool same_text(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static const struct unit_row *unit_row_find(const char *suffix, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(unit_rows); i++) {
        if (same_text(unit_rows[i].name, suffix, length)) {
            return &unit_rows[i];
        }
    }
    return NULL;
}

static bool is_counted(const char *suffix, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(counted); i++) {
        const char *noun = counted[i];
        if (same_text(noun, suffix, length) ||
            (length > 1 && suffix[length - 1] == 's' && same_text(noun, suffix, length - 1))) {
            return true;
        }
    }
    return false;
}

static int missing_unit(const char *text, enum unit unit)
{
    return error_set(SONDE_EINPUT, "'%.60s' has no unit; expected %s, e.g. \"16 %s\"", text,
                     units_name(unit), units_base(unit));
}

/* The scale of the unit written behind a number, 0 for percent. */
static int unit_scale(uint64_t *scale, const char *text, const char *suffix, enum unit unit)
{
    size_t length = trim(&suffix);
    bool bare = unit == UNIT_NONE || unit == UNIT_COUNT || unit == UNIT_FRACTION;
    *scale = 1;
    if (length == 0) {
        return bare ? SONDE_OK : missing_unit(text, unit);
    }
    if (unit == UNIT_COUNT && is_counted(suffix, length)) {
        return SONDE_OK;
    }
    if (same_text("KB", suffix, length)) {
        return error_set(SONDE_EINPUT, "'%.60s': KB is ambiguous; write KiB (1024) or kB (1000)",
                         text);
    }
    const struct unit_row *row = unit_row_find(suffix, length);
    if (!row) {
        return error_set(SONDE_EINPUT, "'%.60s': unknown unit '%.*s'; expected %s", text,
                         length > 40 ? 40 : (int)length, suffix, units_name(unit));
    }
    if (row->unit != unit) {
        return error_set(SONDE_EINPUT, "'%.60s' is %s; expected %s", text, units_name(row->unit),
                         units_name(unit));
    }
    *scale = row->scale;
    return SONDE_OK;
}

/* value = mantissa x scale x 10^exponent, in integers; refuses what is not whole. */
static int scale_exactly(uint64_t *value, const struct number *number, uint64_t scale,
                         const char *text, enum unit unit)
{
    unsigned __int128 product = (unsigned __int128)number->mantissa * scale;
    for (int exponent = number->exponent; exponent < 0 && product != 0; exponent++) {
        if (product % 10 != 0) {
            return error_set(SONDE_EINPUT, "'%.60s' is not a whole number%s%s", text,
                             *units_base(unit) ? " of " : "", units_base(unit));
        }
        product /= 10;
    }
    for (int exponent = number->exponent; exponent > 0 && product != 0; exponent--) {
        if (product > UINT64_MAX) {
            break;
        }
        product *= 10;
    }
    if (product > UINT64_MAX) {
        return too_large(text);
    }
    *value = (uint64_t)product;
    return SONDE_OK;
}

int units_parse_u64(uint64_t *value, const char *text, enum unit unit)
{
    struct number number;
    uint64_t scale;
    uint64_t result = 0;
    if (number_parse(&number, text) < 0 || unit_scale(&scale, text, number.rest, unit) < 0) {
        return SONDE_EINPUT;
    }
    if (number.negative && number.mantissa != 0) {
        return error_set(SONDE_EINPUT, "'%.60s' is negative", text);
    }
    if (scale == 0) { /* percent of a whole */
        scale = 1;
        number.exponent -= 2;
    }
    if (scale_exactly(&result, &number, scale, text, unit) < 0) {
        return SONDE_EINPUT;
    }
    if (unit == UNIT_FRACTION && result > 1) {
        return error_set(SONDE_EINPUT, "'%.60s' is not between 0 and 1", text);
    }
    *value = result;
    return SONDE_OK;
}

int units_parse_double(double *value, const char *text, enum unit unit)
{
    struct number number;
    uint64_t scale;
    if (number_parse(&number, text) < 0 || unit_scale(&scale, text, number.rest, unit) < 0) {
        return SONDE_EINPUT;
    }
    /* strtod rounds once, where a multiplication by a power of ten would round again. */
    char decimal[64];
    snprintf(decimal, sizeof(decimal), "%s%lluE%d", number.negative ? "-" : "",
             (unsigned long long)number.mantissa, number.exponent - (scale == 0 ? 2 : 0));
    double result = strtod(decimal, NULL) * (double)(scale == 0 ? 1 : scale);
    if (!(result <= 1e300 && result >= -1e300)) {
        return too_large(text);
    }
    bool never_negative = unit == UNIT_BYTES || unit == UNIT_CYCLES || unit == UNIT_HZ ||
                          unit == UNIT_COUNT || unit == UNIT_BYTES_PER_CYCLE ||
                          unit == UNIT_BYTES_PER_S;
    if (never_negative && result < 0) {
        return error_set(SONDE_EINPUT, "'%.60s' is negative", text);
    }
    if (unit == UNIT_FRACTION && !(result >= 0 && result <= 1)) {
        return error_set(SONDE_EINPUT, "'%.60s' is not between 0 and 1", text);
    }
    *value = result;
    return SONDE_OK;
}

/*
 * Prints value / scale in decimal if it ends within three places; false when it does not. The
 * places are found in integers so that what is printed is exact.
 */
static bool format_exactly(char *text, size_t size, uint64_t value, const struct unit_row *row)
{
    uint64_t whole = value / row->scale;
    unsigned __int128 rest = (unsigned __int128)(value % row->scale) * 1000;
    if (rest % row->scale != 0) {
        return false;
    }
    unsigned thousandths = (unsigned)(rest / row->scale);
    int places = 3;
    while (places > 0 && thousandths % 10 == 0) {
        thousandths /= 10;
        places--;
    }
    if (places == 0) {
        snprintf(text, size, "%llu %s", (unsigned long long)whole, row->name);
    } else {
        snprintf(text, size, "%llu.%0*u %s", (unsigned long long)whole, places, thousandths,
                 row->name);
    }
    return true;
}

const char *units_format(char *text, size_t size, uint64_t value, enum unit unit)
{
    if (size == 0) {
        return text;
    }
    for (size_t i = COUNT_OF(unit_rows); i-- > 0;) {
        const struct unit_row *row = &unit_rows[i];
        if (row->unit == unit && row->formats && (value >= row->scale || row->scale == 1) &&
            format_exactly(text, size, value, row)) {
            return text;
        }
    }
    snprintf(text, size, "%llu", (unsigned long long)value);
    return text;
}
