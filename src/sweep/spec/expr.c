/* Expressions: a recursive descent that evaluates as it reads. See expr.h. */
#include "sweep/spec/expr.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/container/arena.h"
#include "util/error.h"

#define NAME_BYTES 128
#define DEPTH_MAX 64

struct cursor {
    const char *text, *at;
    const struct expr_scope *scope;
    int rc; /* the first error: everything after it is skipped */
    int depth;
};

static struct sweep_value none(void)
{
    return (struct sweep_value){.kind = SWEEP_NONE};
}

static struct sweep_value number(double value)
{
    return (struct sweep_value){.kind = isfinite(value) ? SWEEP_NUMBER : SWEEP_NONE,
                                .number = value};
}

static struct sweep_value fail(struct cursor *in, const char *why)
{
    if (in->rc == 0) {
        in->rc = error_set(SONDE_EINPUT, "'%.200s', column %d: %s", in->text,
                           (int)(in->at - in->text) + 1, why);
    }
    return none();
}

static void skip_blanks(struct cursor *in)
{
    while (isspace((unsigned char)*in->at)) {
        in->at++;
    }
}

/* Passes over `word` if it comes next. */
static bool take(struct cursor *in, const char *word)
{
    skip_blanks(in);
    size_t length = strlen(word);
    if (in->rc || strncmp(in->at, word, length) != 0) {
        return false;
    }
    in->at += length;
    return true;
}

static struct sweep_value parse_or(struct cursor *in);

/* A number, and a unit behind it if a word of that kind stands there: 512 KiB. */
static struct sweep_value parse_number(struct cursor *in)
{
    char *end, text[NAME_BYTES];
    double value = strtod(in->at, &end);
    const char *word = end;
    while (*word == ' ') {
        word++;
    }
    const char *last = word;
    while (isalpha((unsigned char)*last) || (last > word && *last == '/')) {
        last++;
    }
    size_t length = (size_t)(last - in->at);
    if (last > word && length < sizeof text) {
        memcpy(text, in->at, length);
        text[length] = '\0';
        struct sweep_value measured = sweep_value_of(text);
        if (measured.kind != SWEEP_NUMBER) {
            return fail(in, "not a number with a unit");
        }
        in->at = last;
        return measured;
    }
    in->at = end;
    return number(value);
}

static struct sweep_value parse_quoted(struct cursor *in)
{
    const char *first = in->at + 1, *last = strchr(first, *in->at);
    if (!last) {
        return fail(in, "the quote has no end");
    }
    in->at = last + 1;
    char *text = arena_strndup(in->scope->arena, first, (size_t)(last - first));
    in->rc = text ? in->rc : error_memory();
    return (struct sweep_value){.kind = text ? SWEEP_TEXT : SWEEP_NONE, .text = text};
}

static struct sweep_value apply(struct cursor *in, const char *name,
                                const struct sweep_value args[2], size_t count)
{
    static const struct {
        const char *name;
        size_t args;
    } functions[] = {{"min", 2},  {"max", 2},  {"abs", 1},  {"floor", 1},
                     {"ceil", 1}, {"sqrt", 1}, {"log2", 1}, {"pow", 2}};
    size_t f = 0;
    while (f < sizeof functions / sizeof *functions && strcmp(functions[f].name, name) != 0) {
        f++;
    }
    if (f == sizeof functions / sizeof *functions) {
        return fail(in, "no such function (min, max, abs, floor, ceil, sqrt, log2, pow)");
    }
    if (count != functions[f].args) {
        return fail(in, functions[f].args == 1 ? "one argument" : "two arguments");
    }
    for (size_t i = 0; i < count; i++) {
        if (args[i].kind != SWEEP_NUMBER) {
            return args[i].kind == SWEEP_TEXT ? fail(in, "a text is no number") : none();
        }
    }
    double x = args[0].number, y = count > 1 ? args[1].number : 0;
    const double results[] = {fmin(x, y), fmax(x, y), fabs(x), floor(x),
                              ceil(x),    sqrt(x),    log2(x), pow(x, y)};
    return number(results[f]);
}

static struct sweep_value parse_call(struct cursor *in, const char *name)
{
    struct sweep_value args[2] = {none(), none()};
    size_t count = 0;
    do {
        struct sweep_value arg = parse_or(in);
        if (count < 2) {
            args[count] = arg;
        }
        count++;
    } while (take(in, ","));
    if (!take(in, ")")) {
        return fail(in, "expected )");
    }
    return in->rc ? none() : apply(in, name, args, count);
}

static struct sweep_value parse_name(struct cursor *in)
{
    char name[NAME_BYTES];
    size_t length = 0;
    while (isalnum((unsigned char)*in->at) || *in->at == '_' || *in->at == '.') {
        if (length + 1 == sizeof name) {
            return fail(in, "the name is too long");
        }
        name[length++] = *in->at++;
    }
    name[length] = '\0';
    if (take(in, "(")) {
        return parse_call(in, name);
    }
    struct sweep_value value = none();
    if (in->rc == 0 && in->scope->find(in->scope->ctx, name, &value) < 0) {
        in->rc = error_prefix(SONDE_EINPUT, "'%.200s'", in->text);
    }
    return value;
}

static struct sweep_value parse_primary(struct cursor *in)
{
    skip_blanks(in);
    if (take(in, "(")) {
        struct sweep_value value = parse_or(in);
        return take(in, ")") ? value : fail(in, "expected )");
    }
    if (isdigit((unsigned char)*in->at) || *in->at == '.') {
        return parse_number(in);
    }
    if (*in->at == '\'' || *in->at == '"') {
        return parse_quoted(in);
    }
    if (isalpha((unsigned char)*in->at) || *in->at == '_') {
        return parse_name(in);
    }
    return fail(in, "expected a number, a name, a quoted text or (");
}

static struct sweep_value parse_unary(struct cursor *in)
{
    if (++in->depth > DEPTH_MAX) {
        return fail(in, "too deep");
    }
    bool minus = take(in, "-"), not = !minus && take(in, "!");
    struct sweep_value value = minus || not ? parse_unary(in) : parse_primary(in);
    in->depth--;
    if ((minus || not ) && value.kind == SWEEP_TEXT) {
        return fail(in, "a text is no number");
    }
    if (value.kind == SWEEP_NUMBER && (minus || not )) {
        value = number(minus ? -value.number : value.number == 0);
    }
    return value;
}

/* Both are numbers, or there is no result. */
static bool are_numbers(struct cursor *in, const struct sweep_value *a, const struct sweep_value *b)
{
    if (a->kind == SWEEP_TEXT || b->kind == SWEEP_TEXT) {
        fail(in, "a text is no number");
    }
    return a->kind == SWEEP_NUMBER && b->kind == SWEEP_NUMBER;
}

static struct sweep_value parse_product(struct cursor *in)
{
    struct sweep_value left = parse_unary(in);
    for (;;) {
        char op = take(in, "*") ? '*' : take(in, "/") ? '/' : take(in, "%") ? '%' : 0;
        if (!op) {
            return left;
        }
        struct sweep_value right = parse_unary(in);
        double x = left.number, y = right.number;
        left = are_numbers(in, &left, &right) ? number(op == '*'   ? x * y
                                                       : op == '/' ? x / y
                                                                   : fmod(x, y))
                                              : none();
    }
}

static struct sweep_value parse_sum(struct cursor *in)
{
    struct sweep_value left = parse_product(in);
    for (;;) {
        char op = take(in, "+") ? '+' : take(in, "-") ? '-' : 0;
        if (!op) {
            return left;
        }
        struct sweep_value right = parse_product(in);
        double x = left.number, y = right.number;
        left = are_numbers(in, &left, &right) ? number(op == '+' ? x + y : x - y) : none();
    }
}

static struct sweep_value compare(struct cursor *in, const char *op, const struct sweep_value *a,
                                  const struct sweep_value *b)
{
    if (a->kind == SWEEP_NONE || b->kind == SWEEP_NONE) {
        return none();
    }
    bool is_equal = a->kind == b->kind && (a->kind == SWEEP_TEXT ? strcmp(a->text, b->text) == 0
                                                                 : a->number == b->number);
    if (op[0] == '=' || op[0] == '!') {
        return number(is_equal == (op[0] == '='));
    }
    if (!are_numbers(in, a, b)) {
        return none();
    }
    bool is_less = a->number < b->number;
    bool or_equal = op[1] == '=';
    return number(op[0] == '<' ? is_less || (or_equal && is_equal)
                               : (!is_less && !is_equal) || (or_equal && is_equal));
}

static struct sweep_value parse_compare(struct cursor *in)
{
    static const char *const ops[] = {"==", "!=", "<=", ">=", "<", ">"};
    struct sweep_value left = parse_sum(in);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (take(in, ops[i])) {
            struct sweep_value right = parse_sum(in);
            return in->rc ? none() : compare(in, ops[i], &left, &right);
        }
    }
    return left;
}

static struct sweep_value parse_and(struct cursor *in)
{
    struct sweep_value left = parse_compare(in);
    while (take(in, "&&")) {
        struct sweep_value right = parse_compare(in);
        left =
            are_numbers(in, &left, &right) ? number(left.number != 0 && right.number != 0) : none();
    }
    return left;
}

static struct sweep_value parse_or(struct cursor *in)
{
    if (++in->depth > DEPTH_MAX) {
        return fail(in, "too deep");
    }
    struct sweep_value left = parse_and(in);
    while (take(in, "||")) {
        struct sweep_value right = parse_and(in);
        left =
            are_numbers(in, &left, &right) ? number(left.number != 0 || right.number != 0) : none();
    }
    in->depth--;
    return left;
}

int expr_eval(struct sweep_value *out, const char *text, const struct expr_scope *scope)
{
    struct cursor in = {.text = text, .at = text, .scope = scope};
    *out = parse_or(&in);
    skip_blanks(&in);
    if (in.rc == 0 && *in.at) {
        fail(&in, "the expression ends here");
    }
    if (in.rc) {
        *out = none();
    }
    return in.rc;
}
