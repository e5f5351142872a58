/*
 * Operands as written: registers, constants, special registers, names with offsets, [addresses],
 * {vectors}, pairs p|q, the sink _. Names are looked up here; types are check.c's business.
 */
#include "ptx/parser.h"

#include <string.h>

static int unknown_name(struct parser *p)
{
    return parser_error(p, p->token.loc, "'%.*s' is not declared",
                        p->token.length > 60 ? 60 : (int)p->token.length, p->token.text);
}

/* .x .y .z .w (or .r .g .b .a) behind a vector register; -1: none of them. */
static int element_number(const struct token *token)
{
    static const char names[] = "xyzwrgba";
    if (token->kind != TOKEN_DOT || token->length != 1)
        return -1;
    const char *at = strchr(names, token->text[0]);
    return at != NULL && *at != '\0' ? (int)(at - names) % 4 : -1;
}

/* .b0 .h1 .b3210: the bytes or halves that a video instruction takes. */
static bool is_selector(const struct token *token)
{
    bool is = token->kind == TOKEN_DOT && token->length >= 2 && token->length <= 5 &&
              (token->text[0] == 'b' || token->text[0] == 'h');
    for (size_t i = 1; is && i < token->length; i++)
        is = token->text[i] >= '0' && token->text[i] <= '7';
    return is;
}

static int parse_selector(struct raw_operand *out, struct parser *p)
{
    const char *text = p->token.text;
    uint32_t count = (uint32_t)p->token.length - 1, bits = text[0] == 'h';
    if (!p->video)
        return parser_error(p, p->token.loc, "selector '.%.*s' is for video instructions only",
                            (int)p->token.length, text);
    bits = bits << 3 | count;
    bits <<= 3 * (4 - count);
    for (uint32_t i = 1; i <= count; i++)
        bits = bits << 3 | (uint32_t)(text[i] - '0');
    out->selector = (uint16_t)bits;
    parser_advance(p);
    return 0;
}

/* All elements of a vector register, whose first is `reg`. */
static int whole_vector(struct raw_operand *out, struct parser *p, const struct symbol *symbol,
                        int32_t reg)
{
    out->kind = RAW_VECTOR;
    out->first = (uint32_t)p->raws->count;
    out->count = symbol->vec;
    for (int i = 0; i < symbol->vec; i++) {
        struct raw_operand element = {
            .kind = RAW_REG, .loc = out->loc, .reg = reg + i, .type = symbol->type};
        if (vec_push(p->raws, element) < 0)
            return parser_memory(p);
    }
    return 0;
}

static int parse_register(struct raw_operand *out, struct parser *p, const struct symbol *symbol,
                          int32_t reg)
{
    parser_advance(p);
    *out = (struct raw_operand){.kind = RAW_REG, .loc = out->loc, .reg = reg, .type = symbol->type};
    if (symbol->vec <= 1)
        return is_selector(&p->token) ? parse_selector(out, p) : 0;
    int element = element_number(&p->token);
    if (element < 0)
        return whole_vector(out, p, symbol, reg);
    if (element >= symbol->vec)
        return parser_expected(p, "an element of the vector register");
    out->reg += element;
    parser_advance(p);
    return 0;
}

/* %tid.x and the like: the longest of name and name.element that is a special register. */
static bool find_sreg(enum isa_sreg *sreg, struct parser *p)
{
    char text[64];
    const struct token *ahead = parser_peek(p);
    size_t length = p->token.length;
    if (p->token.text[0] != '%' || length > 40)
        return false;
    memcpy(text, p->token.text, length);
    if (ahead->kind == TOKEN_DOT && ahead->length == 1) {
        text[length] = '.';
        text[length + 1] = ahead->text[0];
        *sreg = isa_sreg_find(text, length + 2);
        if (*sreg != SREG_NONE) {
            parser_advance(p);
            parser_advance(p);
            return true;
        }
    }
    *sreg = isa_sreg_find(text, length);
    if (*sreg != SREG_NONE)
        parser_advance(p);
    return *sreg != SREG_NONE;
}

/* name, name + n, name[n] */
static int parse_offset(struct raw_operand *out, struct parser *p)
{
    struct constant value;
    int code = 0;
    if (parser_accept(p, '+')) {
        code = expr_parse_int(&value, p);
        out->offset = code == 0 ? value.bits : 0;
    } else if (out->kind == RAW_SYMBOL && out->symbol->kind == SYMBOL_VAR &&
               parser_accept(p, '[')) {
        if ((code = expr_parse_int(&value, p)) < 0)
            return code;
        out->indexed = true;
        out->offset =
            value.bits * out->symbol->var->vec * isa_type_info(out->symbol->var->type)->bytes;
        code = parser_require(p, ']', "']'");
    }
    return code;
}

static int parse_name(struct raw_operand *out, struct parser *p)
{
    struct symbol *symbol = NULL;
    int32_t reg;
    if (p->token.length == 7 && memcmp(p->token.text, "WARP_SZ", 7) == 0) {
        out->kind = RAW_CONST;
        return expr_parse(&out->constant, p);
    }
    if (scope_find_reg(&symbol, &reg, p, p->token.text, p->token.length))
        return parse_register(out, p, symbol, reg);
    if (p->diags.code == SONDE_ENOMEM || (symbol != NULL && symbol->kind == SYMBOL_REG))
        return SONDE_EINPUT; /* a range's register that could not be made: reported */
    if (find_sreg(&out->sreg, p)) {
        out->kind = RAW_SREG;
        return 0;
    }
    symbol = scope_find(p, p->token.text, p->token.length);
    if (symbol == NULL)
        return unknown_name(p);
    out->kind = RAW_SYMBOL;
    out->symbol = symbol;
    parser_advance(p);
    return parse_offset(out, p);
}

/* An element of a fetch, appended to the parser's list. */
static int push_element(struct raw_operand *out, struct parser *p, struct raw_operand element)
{
    if (vec_push(p->raws, element) < 0)
        return parser_memory(p);
    out->count++;
    return 0;
}

/*
 * {a, b ..}] behind the handle of a texture: one coordinate may stand without braces. In front of
 * them there may be a sampler. What they are made of is copied, so that all lie in a row.
 */
static int parse_coordinates(struct raw_operand *out, struct parser *p)
{
    struct raw_operand list, sampler;
    int code = parser_at(p, '[') ? parser_expected(p, "coordinates") : operand_parse(&list, p);
    if (code == 0 && list.kind != RAW_VECTOR && parser_accept(p, ',')) {
        out->sampler = true;
        sampler = list;
        code = parser_at(p, '[') ? parser_expected(p, "coordinates") : operand_parse(&list, p);
    }
    out->first = (uint32_t)p->raws->count;
    out->count = 0;
    out->bare = code == 0 && list.kind != RAW_VECTOR;
    if (code == 0 && out->sampler)
        code = push_element(out, p, sampler);
    for (uint32_t i = 0; code == 0 && list.kind == RAW_VECTOR && i < list.count; i++)
        code = push_element(out, p, p->raws->data[list.first + i]);
    if (code == 0 && out->bare)
        code = push_element(out, p, list);
    if (code < 0)
        return code;
    out->kind = RAW_FETCH;
    return parser_require(p, ']', "']' behind the coordinates");
}

/* The inside of [ ]: a register, a variable or a constant, and an offset. */
static int parse_address(struct raw_operand *out, struct parser *p)
{
    int code;
    if (p->token.kind == TOKEN_NAME)
        code = parse_name(out, p);
    else
        code = expr_parse_int(&out->constant, p), out->kind = RAW_CONST;
    if (code < 0)
        return code;
    if (out->kind == RAW_SYMBOL && out->indexed)
        return parser_error(p, out->loc,
                            "an element a[n] is an address without brackets around it");
    if (out->kind == RAW_CONST) {
        out->offset = out->constant.bits;
        out->symbol = NULL;
    } else if (out->kind == RAW_REG) {
        if ((code = parse_offset(out, p)) < 0)
            return code;
    } else if (out->kind != RAW_SYMBOL || out->symbol->kind != SYMBOL_VAR) {
        return parser_error(p, out->loc, "an address needs a register, a variable or a constant");
    }
    if ((out->kind == RAW_REG || out->kind == RAW_SYMBOL) && out->offset == 0 &&
        parser_accept(p, ','))
        return parse_coordinates(out, p);
    out->reg = out->kind == RAW_REG ? out->reg : -1;
    out->kind = RAW_ADDRESS;
    return parser_require(p, ']', "'+' or ']' in the address");
}

int operand_parse_list(struct raw_operand *out, struct parser *p, int close, const char *what)
{
    VEC(struct raw_operand) elements = {0};
    int code = 0;
    while (!parser_at(p, close)) {
        struct raw_operand element = {0};
        if (parser_at(p, '{') || parser_at(p, '['))
            code = parser_expected(p, what);
        else
            code = operand_parse(&element, p);
        if (code == 0 && element.kind == RAW_VECTOR && close != ')') /* an argument may be one */
            code = parser_error(p, element.loc, "a vector inside a list");
        if (code == 0 && vec_push(&elements, element) < 0)
            code = parser_memory(p);
        if (code < 0 || !parser_accept(p, ','))
            break;
    }
    out->first = (uint32_t)p->raws->count;
    out->count = (uint32_t)elements.count;
    for (size_t i = 0; i < elements.count && code == 0; i++)
        if (vec_push(p->raws, elements.data[i]) < 0)
            code = parser_memory(p);
    vec_free(&elements);
    return code < 0 ? code : parser_require(p, close, what);
}

static int parse_pair(struct raw_operand *out, struct parser *p)
{
    struct raw_operand second;
    int code = operand_parse(&second, p);
    if (code < 0)
        return code;
    if (out->kind == RAW_VECTOR)
        return parser_unsupported(p, second.loc, "a predicate beside a vector is not implemented");
    if ((second.kind != RAW_REG && second.kind != RAW_SINK) ||
        (out->kind != RAW_REG && out->kind != RAW_SINK))
        return parser_error(p, second.loc, "a pair p|q needs registers");
    struct raw_operand pair = {
        .kind = RAW_PAIR, .loc = out->loc, .first = (uint32_t)p->raws->count, .count = 2};
    if (vec_push(p->raws, *out) < 0 || vec_push(p->raws, second) < 0)
        return parser_memory(p);
    *out = pair;
    return 0;
}

static int parse_vector(struct raw_operand *out, struct parser *p)
{
    p->open_braces++;
    out->kind = RAW_VECTOR;
    int code = operand_parse_list(out, p, '}', "',' or '}' in the vector");
    if (code == 0)
        p->open_braces--;
    return code;
}

/* A register behind ! or -, where the parser cannot mean a constant. */
static int parse_negated(struct raw_operand *out, struct parser *p)
{
    bool minus = parser_at(p, '-');
    parser_advance(p);
    int code = parse_name(out, p);
    if (code < 0)
        return code;
    if (out->kind != RAW_REG)
        return parser_error(p, out->loc, "only a register can be negated here");
    out->negate = true;
    out->minus = minus;
    return 0;
}

int operand_parse(struct raw_operand *out, struct parser *p)
{
    *out = (struct raw_operand){.loc = p->token.loc, .reg = -1};
    int code;
    if (parser_accept(p, '[')) {
        return parse_address(out, p);
    } else if (parser_accept(p, '{')) {
        code = parse_vector(out, p);
    } else if (parser_accept(p, '_')) {
        out->kind = RAW_SINK;
        code = 0;
    } else if ((parser_at(p, '!') || (p->video && parser_at(p, '-'))) &&
               parser_peek(p)->kind == TOKEN_NAME) {
        return parse_negated(out, p);
    } else if (p->token.kind == TOKEN_NAME) {
        code = parse_name(out, p);
    } else {
        out->kind = RAW_CONST;
        return expr_parse(&out->constant, p);
    }
    if (code == 0 && parser_accept(p, '|'))
        return parse_pair(out, p);
    return code;
}
