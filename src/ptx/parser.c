/*
 * Tokens, diagnostics, recovery: what every file of the parser stands on. The grammar itself is in
 * module.c (top level), var.c, init.c, expr.c, func.c, opcode.c and operand.c.
 */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

static void report_bad(struct parser *p, const struct token *token)
{
    parser_report(p, SONDE_EINPUT, token->loc, "got '%.*s': %s",
                  token->length > 40 ? 40 : (int)token->length, token->text, token->reason);
}

/* The next token; what cannot be read is reported here once and left out. */
static void lex_good(struct token *token, struct parser *p)
{
    do {
        lexer_next(token, &p->lexer);
        if (token->kind == TOKEN_BAD)
            report_bad(p, token);
        if (diag_full(&p->diags))
            p->lexer.at = p->lexer.end;
    } while (token->kind == TOKEN_BAD);
}

void parser_advance(struct parser *p)
{
    if (p->has_ahead)
        p->token = p->ahead;
    else
        lex_good(&p->token, p);
    p->has_ahead = false;
    if (diag_full(&p->diags))
        p->token.kind = TOKEN_END;
}

const struct token *parser_peek(struct parser *p)
{
    if (!p->has_ahead)
        lex_good(&p->ahead, p);
    p->has_ahead = true;
    return &p->ahead;
}

/* The text that a diagnostic would have is kept until the function is to be run. */
static void refuse_function(struct parser *p, int code, struct ptx_loc loc, const char *fmt,
                            va_list args)
{
    struct diags own = {.file = p->diags.file};
    struct ptx_func *func = p->builder->func;
    if (func->refusal != NULL)
        return;
    diag_add(&own, code, loc, fmt, args);
    func->refusal = arena_strdup(p->arena, strbuf_text(&own.text));
    if (strbuf_failed(&own.text) || func->refusal == NULL)
        parser_memory(p);
    strbuf_free(&own.text);
}

void parser_report(struct parser *p, int code, struct ptx_loc loc, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (code == SONDE_EUNSUPPORTED && p->late && p->builder != NULL)
        refuse_function(p, code, loc, fmt, args);
    else
        diag_add(&p->diags, code, loc, fmt, args);
    va_end(args);
}

void parser_report_token(struct parser *p, const char *what)
{
    const struct token *token = &p->token;
    if (token->kind == TOKEN_END)
        parser_report(p, SONDE_EINPUT, token->loc, "the text ends here, expected %s", what);
    else
        parser_report(p, SONDE_EINPUT, token->loc, "got '%s%.*s', expected %s",
                      token->kind == TOKEN_DOT && token->text[0] != '.' ? "." : "",
                      token->length > 60 ? 60 : (int)token->length, token->text, what);
}

bool parser_at(const struct parser *p, int punct)
{
    return p->token.kind == TOKEN_PUNCT && p->token.punct == punct;
}

bool parser_at_dot(const struct parser *p, const char *word)
{
    return p->token.kind == TOKEN_DOT && p->token.length == strlen(word) &&
           memcmp(p->token.text, word, p->token.length) == 0;
}

bool parser_accept(struct parser *p, int punct)
{
    bool at = parser_at(p, punct);
    if (at)
        parser_advance(p);
    return at;
}

bool parser_accept_dot(struct parser *p, const char *word)
{
    bool at = parser_at_dot(p, word);
    if (at)
        parser_advance(p);
    return at;
}

int parser_require(struct parser *p, int punct, const char *what)
{
    return parser_accept(p, punct) ? 0 : parser_expected(p, what);
}

const char *parser_name(struct parser *p, const char *what)
{
    if (p->token.kind != TOKEN_NAME) {
        parser_expected(p, what);
        return NULL;
    }
    const char *name = arena_strndup(p->arena, p->token.text, p->token.length);
    if (name == NULL)
        parser_memory(p);
    parser_advance(p);
    return name;
}

int parser_uint(uint64_t *value, struct parser *p, uint64_t limit, const char *what)
{
    if (p->token.kind != TOKEN_INT)
        return parser_expected(p, what);
    if (p->token.value > limit)
        return parser_error(p, p->token.loc, "%s is %llu, the limit is %llu", what,
                            (unsigned long long)p->token.value, (unsigned long long)limit);
    *value = p->token.value;
    parser_advance(p);
    return 0;
}

void parser_recover(struct parser *p)
{
    int depth = p->open_braces;
    p->open_braces = 0;
    while (p->token.kind != TOKEN_END) {
        if (parser_at(p, '{')) {
            depth++;
        } else if (parser_at(p, '}')) {
            if (depth == 0)
                return;
            depth--;
        } else if (parser_at(p, ';') && depth == 0) {
            parser_advance(p);
            return;
        }
        parser_advance(p);
    }
}
