/*
 * The lexer of lex.h: one pass, no look-back, no allocation. Identifiers follow the manual
 * ([A-Za-z][A-Za-z0-9_$]* or [_$%][A-Za-z0-9_$]+); a lone _ is the sink, a lone % the remainder.
 */
#include "ptx/lex.h"

#include <stdlib.h>
#include <string.h>

void lexer_init(struct lexer *lexer, const char *text, size_t length)
{
    *lexer = (struct lexer){.at = text, .end = text + length, .line_start = text, .line = 1};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static char peek(const struct lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static void skip_line(struct lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '\n')
        lexer->at++;
}

/* Behind the opening of a comment; false at the end of the text. */
static bool skip_comment(struct lexer *lexer)
{
    lexer->at += 2;
    for (; lexer->at < lexer->end; lexer->at++) {
        if (*lexer->at == '\n') {
            lexer->line++;
            lexer->line_start = lexer->at + 1;
        } else if (*lexer->at == '*' && peek(lexer, 1) == '/') {
            lexer->at += 2;
            return true;
        }
    }
    return false;
}

/* Spaces, comments and the old one-line debug data (@@DWARF). False: an unclosed comment. */
static bool skip_space(struct lexer *lexer)
{
    for (;;) {
        char c = peek(lexer, 0);
        if (lexer->at >= lexer->end)
            return true;
        if (c == '\n') {
            lexer->line++;
            lexer->line_start = ++lexer->at;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->at++;
        } else if ((c == '/' || c == '@') && peek(lexer, 1) == c) {
            skip_line(lexer);
        } else if (c == '/' && peek(lexer, 1) == '*') {
            if (!skip_comment(lexer))
                return false;
        } else {
            return true;
        }
    }
}

static void bad(struct token *token, const char *reason)
{
    token->kind = TOKEN_BAD;
    token->reason = reason;
}

/* 0f3F800000, 0d3FF0000000000000: the bits of a float, exactly 8 or 16 digits. */
static void lex_hex_float(struct token *token, struct lexer *lexer)
{
    bool single = lexer->at[1] == 'f' || lexer->at[1] == 'F';
    int digits = 0, value;
    uint64_t bits = 0;
    lexer->at += 2;
    for (; (value = hex_value(peek(lexer, 0))) >= 0; digits++, lexer->at++)
        bits = bits << 4 | (uint64_t)value;
    if (digits != (single ? 8 : 16)) {
        bad(token, single ? "0f needs exactly 8 hexadecimal digits"
                          : "0d needs exactly 16 hexadecimal digits");
        return;
    }
    token->kind = TOKEN_FLOAT;
    token->is_single = single;
    token->value = bits;
}

static void lex_decimal_float(struct token *token, struct lexer *lexer)
{
    char copy[128];
    const char *from = lexer->at;
    while (is_digit(peek(lexer, 0)))
        lexer->at++;
    if (peek(lexer, 0) == '.')
        lexer->at++;
    while (is_digit(peek(lexer, 0)))
        lexer->at++;
    if (peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') {
        lexer->at++;
        if (peek(lexer, 0) == '+' || peek(lexer, 0) == '-')
            lexer->at++;
        if (!is_digit(peek(lexer, 0))) {
            bad(token, "an exponent needs digits");
            return;
        }
        while (is_digit(peek(lexer, 0)))
            lexer->at++;
    }
    size_t length = (size_t)(lexer->at - from);
    if (length >= sizeof copy) {
        bad(token, "a number of more than 127 digits");
        return;
    }
    memcpy(copy, from, length);
    copy[length] = '\0';
    double value = strtod(copy, NULL);
    token->kind = TOKEN_FLOAT;
    memcpy(&token->value, &value, sizeof value);
}

static void lex_int(struct token *token, struct lexer *lexer)
{
    unsigned base = 10;
    char marker = peek(lexer, 1);
    if (peek(lexer, 0) == '0' &&
        (marker == 'x' || marker == 'X' || marker == 'b' || marker == 'B')) {
        base = marker == 'x' || marker == 'X' ? 16 : 2;
        lexer->at += 2;
        if (hex_value(peek(lexer, 0)) < 0)
            bad(token, "digits are missing");
    } else if (peek(lexer, 0) == '0') {
        base = 8;
    }
    token->kind = token->kind == TOKEN_BAD ? TOKEN_BAD : TOKEN_INT;
    for (int digit; (digit = hex_value(peek(lexer, 0))) >= 0 && (base == 16 || digit < 10);
         lexer->at++) {
        if ((unsigned)digit >= base)
            bad(token, base == 8 ? "not an octal digit" : "not a binary digit");
        else if (token->value > (UINT64_MAX - (unsigned)digit) / base)
            bad(token, "the number does not fit 64 bits");
        else
            token->value = token->value * base + (unsigned)digit;
    }
    token->is_unsigned = token->value > INT64_MAX;
    if (peek(lexer, 0) == 'U' || peek(lexer, 0) == 'u') {
        token->is_unsigned = true;
        lexer->at++;
    }
}

static void lex_number(struct token *token, struct lexer *lexer)
{
    char marker = peek(lexer, 1);
    const char *digits = lexer->at;
    if (*digits == '0' && marker != '\0' && strchr("fFdD", marker) != NULL) {
        lex_hex_float(token, lexer);
    } else {
        while (digits < lexer->end && is_digit(*digits))
            digits++;
        if (digits < lexer->end && (*digits == '.' || *digits == 'e' || *digits == 'E') &&
            !(marker == 'x' || marker == 'X'))
            lex_decimal_float(token, lexer);
        else
            lex_int(token, lexer);
    }
    if (is_word(peek(lexer, 0))) {
        while (is_word(peek(lexer, 0)))
            lexer->at++;
        if (token->kind != TOKEN_BAD)
            bad(token, "letters follow the number");
    }
}

/* .word(::word)*; a dot without a word is a TOKEN_PUNCT. */
static void lex_dot(struct token *token, struct lexer *lexer)
{
    lexer->at++;
    if (!is_word(peek(lexer, 0))) {
        token->kind = TOKEN_PUNCT;
        token->punct = '.';
        return;
    }
    token->kind = TOKEN_DOT;
    token->text = lexer->at;
    while (is_word(peek(lexer, 0)) ||
           (peek(lexer, 0) == ':' && peek(lexer, 1) == ':' && is_word(peek(lexer, 2))))
        lexer->at += peek(lexer, 0) == ':' ? 2 : 1;
}

static void lex_string(struct token *token, struct lexer *lexer)
{
    token->text = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n')
        lexer->at++;
    token->kind = TOKEN_STRING;
    token->length = (size_t)(lexer->at - token->text);
    if (peek(lexer, 0) == '"')
        lexer->at++;
    else
        bad(token, "the string does not end on its line");
}

static void lex_punct(struct token *token, struct lexer *lexer)
{
    static const struct {
        char text[3];
        int punct;
    } pairs[] = {
        {"<<", PUNCT_SHL}, {">>", PUNCT_SHR}, {"<=", PUNCT_LE},  {">=", PUNCT_GE},
        {"==", PUNCT_EQ},  {"!=", PUNCT_NE},  {"&&", PUNCT_AND}, {"||", PUNCT_OR},
    };
    token->kind = TOKEN_PUNCT;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (peek(lexer, 0) == pairs[i].text[0] && peek(lexer, 1) == pairs[i].text[1]) {
            token->punct = pairs[i].punct;
            lexer->at += 2;
            return;
        }
    }
    char c = *lexer->at++;
    token->punct = (unsigned char)c;
    if (c == '\0')
        bad(token, "a NUL byte");
    else if (strchr("()[]{}<>,;:=+-*/%!~&|^?@_", c) == NULL)
        bad(token, "not a character of PTX");
}

void lexer_next(struct token *token, struct lexer *lexer)
{
    const char *before = lexer->at;
    bool closed = skip_space(lexer);
    *token = (struct token){.kind = TOKEN_END, .text = lexer->at, .glued = lexer->at == before};
    token->loc.line = lexer->line;
    token->loc.column = (int)(lexer->at - lexer->line_start) + 1;
    if (!closed) {
        bad(token, "the comment is not closed");
        return;
    }
    if (lexer->at >= lexer->end)
        return;
    char c = *lexer->at;
    if (is_digit(c)) {
        lex_number(token, lexer);
    } else if (c == '.') {
        lex_dot(token, lexer);
    } else if (c == '"') {
        lex_string(token, lexer);
        return;
    } else if (is_letter(c) || ((c == '_' || c == '$' || c == '%') && is_word(peek(lexer, 1)))) {
        token->kind = TOKEN_NAME;
        do
            lexer->at++;
        while (is_word(peek(lexer, 0)));
    } else {
        lex_punct(token, lexer);
    }
    token->length = (size_t)(lexer->at - token->text);
}
