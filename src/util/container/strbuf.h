/*
 * A string that grows. Starts as {0}. A failed append (memory out) marks the buffer, so that many
 * appends may be checked once, at the end, with strbuf_failed() or strbuf_take().
 */
#ifndef SONDE_UTIL_STRBUF_H
#define SONDE_UTIL_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *text; /* zero-terminated once something was appended, NULL before */
    size_t length, capacity;
    bool failed;
};

/* 0 or SONDE_ENOMEM. */
int strbuf_append(struct strbuf *buf, const char *text);
int strbuf_append_n(struct strbuf *buf, const char *bytes, size_t length);
int strbuf_append_char(struct strbuf *buf, char c);
int strbuf_printf(struct strbuf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The text so far, "" when empty; valid until the next append. */
const char *strbuf_text(const struct strbuf *buf);
bool strbuf_failed(const struct strbuf *buf);

/* Hands the text over (free() it), "" when empty, and empties the buffer. NULL when an append
 * failed. */
char *strbuf_take(struct strbuf *buf);
void strbuf_clear(struct strbuf *buf);
void strbuf_free(struct strbuf *buf);

#endif
