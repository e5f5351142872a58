/*
 * Buffers that are written on the command line or made: data, iota, fill, random, print; and
 * parameters as bytes: hex, bytes.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/exec/spec.h"
#include "api/exec/elements.h"
#include "sonde/sonde.h"
#include "util/error.h"

#define FILL_LIMIT_BYTES ((uint64_t)4 << 30)
#define PARAMETER_BYTES_MAX 32764 /* of a kernel in all: PTX ISA 9.0, 7.1 */

/* "A:B:C" cut at its colons. */
#define FIELDS_MAX 4
struct fields {
    char *text;
    const char *field[FIELDS_MAX];
    int count;
};

static int fields_cut(struct fields *fields, const char *rest)
{
    *fields = (struct fields){.text = strdup(rest)};
    if (!fields->text) {
        error_memory();
        return SONDE_ENOMEM;
    }
    for (char *at = fields->text; at;) {
        if (fields->count == FIELDS_MAX) {
            return SONDE_EUSAGE;
        }
        fields->field[fields->count++] = at;
        at = strchr(at, ':');
        if (at) {
            *at++ = '\0';
        }
    }
    return 0;
}

/* Memory for `count` elements. */
static int make_room(struct exec_arg *arg, uint64_t count)
{
    uint64_t each = isa_type_info(arg->type)->bytes;
    if (count == 0) {
        return bad_argument(arg->spec, "the buffer would be empty");
    }
    if (count > FILL_LIMIT_BYTES / each) {
        return bad_argument(arg->spec, "more than 4 GiB");
    }
    arg->bytes = count * each;
    arg->data = calloc(count, each);
    return arg->data ? 0 : error_memory();
}

static unsigned char *element(const struct exec_arg *arg, uint64_t i)
{
    return arg->data + i * isa_type_info(arg->type)->bytes;
}

static uint64_t elements(const struct exec_arg *arg)
{
    return arg->bytes / isa_type_info(arg->type)->bytes;
}

/* What is wrong with a field: NULL, or the reason. */
static const char *parse_number(double *value, const char *text)
{
    return element_parse(value, TYPE_f64, text);
}

static const char *fill_iota(struct exec_arg *arg, const struct fields *fields)
{
    double start = 0, step = 1;
    const char *wrong = fields->count > 2 ? parse_number(&start, fields->field[2]) : NULL;
    if (!wrong && fields->count > 3) {
        wrong = parse_number(&step, fields->field[3]);
    }
    if (!wrong && !element_ramp_fits(arg->type, start, step)) {
        wrong = "out of range";
    }
    for (uint64_t i = 0; !wrong && i < elements(arg); i++) {
        element_ramp(element(arg, i), arg->type, start, step, i);
    }
    return wrong;
}

static const char *fill_value(struct exec_arg *arg, const struct fields *fields)
{
    const char *wrong = element_parse(arg->data, arg->type, fields->field[2]);
    for (uint64_t i = 1; !wrong && i < elements(arg); i++) {
        memcpy(element(arg, i), arg->data, isa_type_info(arg->type)->bytes);
    }
    return wrong;
}

static const char *fill_random(struct exec_arg *arg, const struct fields *fields)
{
    uint64_t seed = 1;
    const char *wrong = fields->count > 2 ? element_parse(&seed, TYPE_u64, fields->field[2]) : NULL;
    struct rng rng;
    rng_seed(&rng, seed);
    for (uint64_t i = 0; !wrong && i < elements(arg); i++) {
        element_random(element(arg, i), arg->type, &rng);
    }
    return wrong;
}

static const char *fill_print(struct exec_arg *arg, const struct fields *fields)
{
    (void)fields;
    arg->prints = elements(arg);
    return NULL;
}

static const struct fill {
    const char *kind;
    const char *(*fill)(struct exec_arg *arg, const struct fields *fields);
    int least, most; /* fields */
    const char *expected;
} fills[] = {
    {"iota", fill_iota, 2, 4, "expected iota:TYPE:COUNT[:START[:STEP]]"},
    {"fill", fill_value, 3, 3, "expected fill:TYPE:COUNT:VALUE"},
    {"random", fill_random, 2, 3, "expected random:TYPE:COUNT[:SEED]"},
    {"print", fill_print, 2, 2, "expected print:TYPE:COUNT"},
};

/* NULL for data, whose values are counted, and for what is no kind of these. */
static const struct fill *fill_find(const char *kind)
{
    for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
        if (strcmp(kind, fills[i].kind) == 0) {
            return &fills[i];
        }
    }
    return NULL;
}

bool exec_fill_is(const char *kind)
{
    return strcmp(kind, "data") == 0 || fill_find(kind);
}

static int fill_buffer(struct exec_arg *arg, const struct fill *fill, const struct fields *fields)
{
    uint64_t count;
    if (fields->count < fill->least || fields->count > fill->most) {
        return bad_argument(arg->spec, fill->expected);
    }
    if (!element_type_find(&arg->type, fields->field[0], strlen(fields->field[0]))) {
        return bad_argument(arg->spec, "there is no such type");
    }
    if (element_parse(&count, TYPE_u64, fields->field[1])) {
        return bad_argument(arg->spec, "COUNT is not a number of elements");
    }
    int rc = make_room(arg, count);
    if (rc < 0) {
        return rc;
    }
    const char *wrong = fill->fill(arg, fields);
    return wrong ? bad_argument(arg->spec, wrong) : 0;
}

/* V,V,... into the buffer, which has room for all. `list` is cut up. */
static int fill_list(struct exec_arg *arg, char *list)
{
    for (uint64_t i = 0; list; i++) {
        char *comma = strchr(list, ',');
        if (comma) {
            *comma++ = '\0';
        }
        const char *wrong = element_parse(element(arg, i), arg->type, list);
        if (wrong) {
            return bad_argument(arg->spec,
                                arg->form == ARG_BYTES
                                    ? "expected bytes of 0 to 255 each, as in bytes:1,2; "
                                      "a buffer is zero:BYTES"
                                    : wrong);
        }
        list = comma;
    }
    return 0;
}

static int parse_list(struct exec_arg *arg, const char *values)
{
    uint64_t count = 1;
    for (const char *at = strchr(values, ','); at; at = strchr(at + 1, ',')) {
        count++;
    }
    char *list = strdup(values);
    int rc = list ? make_room(arg, count) : error_memory();
    rc = rc < 0 ? rc : fill_list(arg, list);
    free(list);
    return rc;
}

static int parse_data(struct exec_arg *arg, const char *rest)
{
    size_t length = strcspn(rest, ":");
    if (rest[length] == '\0') {
        return bad_argument(arg->spec, "expected data:TYPE:VALUE,...");
    }
    if (!element_type_find(&arg->type, rest, length)) {
        return bad_argument(arg->spec, "there is no such type");
    }
    return parse_list(arg, rest + length + 1);
}

int exec_fill_parse(struct exec_arg *arg, const char *kind, const char *rest)
{
    const struct fill *fill = fill_find(kind);
    if (!fill) {
        return parse_data(arg, rest);
    }
    struct fields fields;
    int rc = fields_cut(&fields, rest);
    if (rc == SONDE_EUSAGE) {
        rc = bad_argument(arg->spec, fill->expected);
    }
    rc = rc < 0 ? rc : fill_buffer(arg, fill, &fields);
    free(fields.text);
    return rc;
}

/* 0 to 15; -1: no digit. */
static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at ? (int)(at - digits) : -1;
}

static int parse_hex(struct exec_arg *arg, const char *digits)
{
    size_t length = strlen(digits);
    if (length % 2) {
        return bad_argument(arg->spec, "an odd number of hexadecimal digits");
    }
    int rc = make_room(arg, length / 2);
    for (size_t i = 0; rc == 0 && i < length; i += 2) {
        int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
        if (high < 0 || low < 0) {
            return bad_argument(arg->spec, "not hexadecimal digits");
        }
        arg->data[i / 2] = (unsigned char)(high << 4 | low);
    }
    return rc;
}

int exec_bytes_parse(struct exec_arg *arg, const char *kind, const char *rest)
{
    arg->form = ARG_BYTES;
    arg->type = TYPE_b8;
    int rc = strcmp(kind, "hex") == 0 ? parse_hex(arg, rest) : parse_list(arg, rest);
    if (rc == 0 && arg->bytes > PARAMETER_BYTES_MAX) {
        return bad_argument(arg->spec, "longer than a kernel's parameters may be");
    }
    return rc;
}
