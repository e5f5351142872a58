/*
 * Values of a sweep, and expressions over them: which points there are (`where`), the cost of a
 * point (`cost`), columns that are computed.
 *
 *   or     and { || and }             and      compare { && compare }
 *   compare  sum [ == != < <= > >= sum ]      sum  product { + - product }
 *   product  unary { * / % unary }    unary    - unary | ! unary | primary
 *   primary  number [unit] | 'text' | "text" | name | function ( or { , or } ) | ( or )
 *
 * Names may hold dots. Functions: min, max, abs, floor, ceil, sqrt, log2, pow. Truth is a number, 1
 * or 0. A name that has no value makes the whole expression have none.
 */
#ifndef SONDE_SWEEP_EXPR_H
#define SONDE_SWEEP_EXPR_H

#include <stddef.h>

struct arena;
struct strbuf;

enum sweep_kind { SWEEP_NONE, SWEEP_NUMBER, SWEEP_TEXT };

/* A number stays as exact as a double is. `text` is borrowed. */
struct sweep_value {
    enum sweep_kind kind;
    double number;
    const char *text;
};

/* A text as a value: a number where it is one, with a unit or not (in base units), else the text.
 */
struct sweep_value sweep_value_of(const char *text);
/* The value as a cell shows it; nothing for none. */
void sweep_value_write(struct strbuf *out, const struct sweep_value *value);

struct expr_scope {
    struct arena *arena; /* quoted texts live there */
    /* 0, or SONDE_EINPUT with the reason where there cannot be such a name. */
    int (*find)(void *ctx, const char *name, struct sweep_value *out);
    void *ctx;
};

/* SONDE_EINPUT with the column and the reason. A text in the result is the scope's or its arena's.
 */
int expr_eval(struct sweep_value *out, const char *text, const struct expr_scope *scope);

#endif
