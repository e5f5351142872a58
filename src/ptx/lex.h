/*
 * PTX text to tokens. Source: PTX ISA 9.0, chapter 4. The lexer never fails: what it cannot read
 * becomes a TOKEN_BAD with a reason, and the next token starts behind it.
 */
#ifndef SONDE_PTX_LEX_H
#define SONDE_PTX_LEX_H

#include <stddef.h>
#include <stdint.h>

#include "ptx/ir.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,   /* identifier, with its % or $ */
    TOKEN_DOT,    /* .word or .word::word, text without the leading dot */
    TOKEN_INT,    /* value; is_unsigned if it has a U or exceeds the signed range */
    TOKEN_FLOAT,  /* value: the bits of a double; is_single: written as 0f, and the 4 bytes' bits */
    TOKEN_STRING, /* text without the quotes */
    TOKEN_PUNCT,  /* punct: the character, or PUNCT_... for two */
    TOKEN_BAD,    /* text: what was there; reason */
};

enum { PUNCT_SHL = 256, PUNCT_SHR, PUNCT_LE, PUNCT_GE, PUNCT_EQ, PUNCT_NE, PUNCT_AND, PUNCT_OR };

struct token {
    enum token_kind kind;
    int punct;
    const char *text;
    size_t length;
    uint64_t value;
    bool is_unsigned, is_single;
    bool glued; /* follows the previous token without space */
    const char *reason;
    struct ptx_loc loc;
};

struct lexer {
    const char *at, *end, *line_start;
    int line;
};

void lexer_init(struct lexer *lexer, const char *text, size_t length);
void lexer_next(struct token *token, struct lexer *lexer);

#endif
