/*
 * Errors: a function that can fail returns 0 or a negative SONDE_E... code and leaves one line of
 * text for its thread. The innermost function that knows the place and the reason calls error_set()
 * or error_at(); callers that know more add it in front with error_prefix(). All of them return the
 * code, so that `return error_set(...)` is one statement.
 */
#ifndef SONDE_UTIL_ERROR_H
#define SONDE_UTIL_ERROR_H

#include "sonde/sonde.h"

#define ERROR_TEXT_MAX 4096 /* bytes with the terminating zero; longer text is cut, with "..." */

/* Replaces this thread's text; returns `code`. An end of line in it is shown as \x0a. */
int error_set(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A text of several lines, each an error of its own: all that is wrong with a file. */
int error_set_lines(int code, const char *lines);

/* The same with a place in front, "file:line:column: "; a line or column of 0 is left out. */
int error_at(int code, const char *file, int line, int column, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Puts "context: " in front of this thread's text; returns `code`. */
int error_prefix(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* out of memory, without allocating; returns SONDE_ENOMEM */
int error_memory(void);

/* This thread's text, never NULL, "" when there is none. Valid until the next error_ call. */
const char *error_text(void);

void error_clear(void);

/* What a code means in general, e.g. "bad input". Never NULL. */
const char *error_name(int code);

#endif
