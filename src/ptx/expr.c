/*
 * Constant expressions: C's operators and precedence on 64-bit integers and doubles, with casts to
 * (.s64) and (.u64). Source: PTX ISA 9.0, 4.6. Signed operands stay signed; an unsigned operand
 * makes the operation unsigned; shifts by 64 or more give 0 or copies of the sign.
 */
#include "ptx/parser.h"

#include <string.h>

static double as_double(const struct constant *c)
{
    double value;
    float single;
    if (!c->is_float)
        return c->is_unsigned ? (double)c->bits : (double)(int64_t)c->bits;
    if (c->is_single) {
        uint32_t bits = (uint32_t)c->bits;
        memcpy(&single, &bits, sizeof single);
        return single;
    }
    memcpy(&value, &c->bits, sizeof value);
    return value;
}

static struct constant from_double(double value)
{
    struct constant c = {.is_float = true};
    memcpy(&c.bits, &value, sizeof value);
    return c;
}

static struct constant from_bool(bool value)
{
    return (struct constant){.bits = value};
}

static bool is_true(const struct constant *c)
{
    return c->is_float ? as_double(c) != 0 : c->bits != 0;
}

struct binary {
    int punct;
    int precedence;
    const char *text;
};

static const struct binary binaries[] = {
    {'*', 10, "*"},       {'/', 10, "/"},       {'%', 10, "%"},       {'+', 9, "+"},
    {'-', 9, "-"},        {PUNCT_SHL, 8, "<<"}, {PUNCT_SHR, 8, ">>"}, {'<', 7, "<"},
    {'>', 7, ">"},        {PUNCT_LE, 7, "<="},  {PUNCT_GE, 7, ">="},  {PUNCT_EQ, 6, "=="},
    {PUNCT_NE, 6, "!="},  {'&', 5, "&"},        {'^', 4, "^"},        {'|', 3, "|"},
    {PUNCT_AND, 2, "&&"}, {PUNCT_OR, 1, "||"},
};

static const struct binary *find_binary(const struct parser *p)
{
    if (p->token.kind != TOKEN_PUNCT)
        return NULL;
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++)
        if (binaries[i].punct == p->token.punct)
            return &binaries[i];
    return NULL;
}

/* Comparisons and logic give 0 or 1; false if `punct` is none of them. */
static bool compare(struct constant *out, const struct constant *a, const struct constant *b,
                    int punct)
{
    bool is_float = a->is_float || b->is_float, is_unsigned = a->is_unsigned || b->is_unsigned;
    double x = as_double(a), y = as_double(b);
    int64_t s = (int64_t)a->bits, t = (int64_t)b->bits;
    bool less = is_float ? x < y : is_unsigned ? a->bits < b->bits : s < t;
    bool equal = is_float ? x == y : a->bits == b->bits;
    switch (punct) {
    case '<':
        *out = from_bool(less);
        return true;
    case '>':
        *out = from_bool(is_float ? x > y : !less && !equal);
        return true;
    case PUNCT_LE:
        *out = from_bool(less || equal);
        return true;
    case PUNCT_GE:
        *out = from_bool(is_float ? x >= y : !less);
        return true;
    case PUNCT_EQ:
        *out = from_bool(equal);
        return true;
    case PUNCT_NE:
        *out = from_bool(!equal);
        return true;
    case PUNCT_AND:
        *out = from_bool(is_true(a) && is_true(b));
        return true;
    case PUNCT_OR:
        *out = from_bool(is_true(a) || is_true(b));
        return true;
    default:
        return false;
    }
}

static bool compute_float(struct constant *out, double a, double b, int punct)
{
    switch (punct) {
    case '+':
        *out = from_double(a + b);
        return true;
    case '-':
        *out = from_double(a - b);
        return true;
    case '*':
        *out = from_double(a * b);
        return true;
    case '/':
        *out = from_double(a / b);
        return true;
    default:
        return false;
    }
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned, bool remainder)
{
    if (is_unsigned)
        return remainder ? a % b : a / b;
    if ((int64_t)b == -1) /* INT64_MIN / -1 wraps */
        return remainder ? 0 : 0 - a;
    return (uint64_t)(remainder ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static uint64_t compute_int(uint64_t a, uint64_t b, int punct, bool is_unsigned, bool left_unsigned)
{
    uint64_t count = b < 63 ? b : 63;
    switch (punct) {
    case '*':
        return a * b;
    case '/':
        return divide(a, b, is_unsigned, false);
    case '%':
        return divide(a, b, is_unsigned, true);
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '&':
        return a & b;
    case '^':
        return a ^ b;
    case '|':
        return a | b;
    case PUNCT_SHL:
        return b > 63 ? 0 : a << count;
    case PUNCT_SHR:
        return left_unsigned ? (b > 63 ? 0 : a >> count) : (uint64_t)((int64_t)a >> count);
    default:
        return 0;
    }
}

static int apply(struct constant *out, struct parser *p, const struct constant *a,
                 const struct constant *b, const struct binary *op, struct ptx_loc loc)
{
    if (compare(out, a, b, op->punct))
        return 0;
    if (a->is_float || b->is_float) {
        if (compute_float(out, as_double(a), as_double(b), op->punct))
            return 0;
        return parser_error(p, loc, "operator '%s' does not apply to floating-point constants",
                            op->text);
    }
    if ((op->punct == '/' || op->punct == '%') && b->bits == 0)
        return parser_error(p, loc, "division by zero in a constant expression");
    bool shift = op->punct == PUNCT_SHL || op->punct == PUNCT_SHR;
    bool is_unsigned = a->is_unsigned || (b->is_unsigned && !shift);
    *out = (struct constant){
        .is_unsigned = is_unsigned,
        .bits = compute_int(a->bits, b->bits, op->punct, is_unsigned, a->is_unsigned),
    };
    return 0;
}

static int parse_ternary(struct constant *out, struct parser *p);

/* "(expr)", "(.s64) unary", "(.u64) unary"; the parenthesis has been read. */
static int parse_unary(struct constant *out, struct parser *p);
static int parse_parenthesis(struct constant *out, struct parser *p)
{
    bool to_signed = parser_at_dot(p, "s64"), to_unsigned = parser_at_dot(p, "u64");
    if (!to_signed && !to_unsigned) {
        int code = parse_ternary(out, p);
        return code < 0 ? code : parser_require(p, ')', "')'");
    }
    parser_advance(p);
    struct ptx_loc loc = p->token.loc;
    int code = parser_require(p, ')', "')'");
    if (code < 0 || (code = parse_unary(out, p)) < 0)
        return code;
    if (out->is_float)
        return parser_error(p, loc, "a floating-point constant cannot be cast");
    out->is_unsigned = to_unsigned;
    return 0;
}

static int apply_unary(struct constant *c, struct parser *p, int punct, struct ptx_loc loc)
{
    if (punct == '!') {
        *c = from_bool(!is_true(c));
    } else if (punct == '~') {
        if (c->is_float)
            return parser_error(p, loc, "operator '~' does not apply to floating-point constants");
        c->bits = ~c->bits;
    } else if (punct == '-' && c->is_float) {
        c->bits ^= c->is_single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    } else if (punct == '-') {
        c->bits = 0 - c->bits;
    }
    return 0;
}

static int parse_primary(struct constant *out, struct parser *p)
{
    const struct token *t = &p->token;
    if (parser_accept(p, '('))
        return parse_parenthesis(out, p);
    if (t->kind == TOKEN_INT)
        *out = (struct constant){.is_unsigned = t->is_unsigned, .bits = t->value};
    else if (t->kind == TOKEN_FLOAT)
        *out = (struct constant){.is_float = true, .is_single = t->is_single, .bits = t->value};
    else if (t->kind == TOKEN_NAME && t->length == 7 && memcmp(t->text, "WARP_SZ", 7) == 0)
        *out = (struct constant){.bits = 32};
    else
        return parser_expected(p, "a constant");
    parser_advance(p);
    return 0;
}

static int parse_unary(struct constant *out, struct parser *p)
{
    struct ptx_loc loc = p->token.loc;
    int punct = p->token.punct;
    if (p->token.kind != TOKEN_PUNCT ||
        (punct != '-' && punct != '+' && punct != '!' && punct != '~'))
        return parse_primary(out, p);
    if (++p->expr_depth > PTX_MAX_EXPR_DEPTH)
        return parser_error(p, loc, "an expression nested deeper than %d", PTX_MAX_EXPR_DEPTH);
    parser_advance(p);
    int code = parse_unary(out, p);
    p->expr_depth--;
    return code < 0 ? code : apply_unary(out, p, punct, loc);
}

/* Precedence climbing: operators that bind at least as tightly as `least`. */
static int parse_binary(struct constant *out, struct parser *p, int least)
{
    int code = parse_unary(out, p);
    const struct binary *op;
    while (code == 0 && (op = find_binary(p)) != NULL && op->precedence >= least) {
        struct ptx_loc loc = p->token.loc;
        struct constant right, left = *out;
        parser_advance(p);
        code = parse_binary(&right, p, op->precedence + 1);
        if (code == 0)
            code = apply(out, p, &left, &right, op, loc);
    }
    return code;
}

static int parse_ternary(struct constant *out, struct parser *p)
{
    if (++p->expr_depth > PTX_MAX_EXPR_DEPTH)
        return parser_error(p, p->token.loc, "an expression nested deeper than %d",
                            PTX_MAX_EXPR_DEPTH);
    int code = parse_binary(out, p, 1);
    if (code == 0 && parser_accept(p, '?')) {
        struct constant yes, no;
        if ((code = parse_ternary(&yes, p)) == 0 && (code = parser_require(p, ':', "':'")) == 0 &&
            (code = parse_ternary(&no, p)) == 0)
            *out = is_true(out) ? yes : no;
    }
    p->expr_depth--;
    return code;
}

int expr_parse(struct constant *out, struct parser *p)
{
    p->expr_depth = 0;
    return parse_ternary(out, p);
}

int expr_parse_int(struct constant *out, struct parser *p)
{
    struct ptx_loc loc = p->token.loc;
    int code = expr_parse(out, p);
    if (code == 0 && out->is_float)
        return parser_error(p, loc, "got a floating-point constant, expected an integer");
    return code;
}

bool constant_convert(uint64_t *bits, const struct constant *value, enum isa_type type)
{
    const struct isa_type_info *info = isa_type_info(type);
    if (info->kind == KIND_PRED) {
        *bits = is_true(value);
        return !value->is_float;
    }
    if (info->kind == KIND_FLOAT && type == TYPE_f32) {
        float single = (float)as_double(value);
        uint32_t word = (uint32_t)value->bits;
        if (!value->is_single)
            memcpy(&word, &single, sizeof word);
        *bits = word;
        return value->is_float;
    }
    if (info->kind == KIND_FLOAT && type == TYPE_f64) {
        double wide = as_double(value);
        memcpy(bits, &wide, sizeof wide);
        return value->is_float;
    }
    if (info->kind == KIND_FLOAT)
        return false;
    *bits = info->bytes >= 8 ? value->bits : value->bits & ((UINT64_C(1) << info->bytes * 8) - 1);
    /* 0f... and 0d... are bit patterns too: .b types of the same size take them. */
    return !value->is_float ||
           (info->kind == KIND_BITS && info->bytes == (value->is_single ? 4 : 8));
}
