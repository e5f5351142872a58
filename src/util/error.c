/*
 * The thread's last error: one bounded buffer per thread, so that reporting "out of memory" never
 * needs memory. Nothing here prints.
 */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_text[ERROR_TEXT_MAX];

/* Formats into `text`; text that does not fit ends in "..." so that the cut is seen. */
static void format_bounded(char text[ERROR_TEXT_MAX], const char *fmt, va_list args)
{
    int length = vsnprintf(text, ERROR_TEXT_MAX, fmt, args);
    if (length < 0) {
        text[0] = '\0';
    } else if (length >= ERROR_TEXT_MAX) {
        memcpy(text + ERROR_TEXT_MAX - 4, "...", 4);
    }
}

/*
 * A name in the text may hold an end of line, and would then look like two errors. It is written as
 * \x0a. What does not fit is cut.
 */
static void keep_to_one_line(char text[ERROR_TEXT_MAX])
{
    static const char shown[] = "\\x0a";
    const size_t extra = sizeof(shown) - 2; /* without the zero, and the byte that is replaced */
    for (char *end = strchr(text, '\n'); end; end = strchr(end, '\n')) {
        size_t tail = strlen(end + 1);
        size_t room = ERROR_TEXT_MAX - 1 - (size_t)(end - text) - 1;
        if (room < extra) {
            *end = '\0';
            return;
        }
        tail = tail < room - extra ? tail : room - extra;
        memmove(end + 1 + extra, end + 1, tail);
        memcpy(end, shown, sizeof(shown) - 1);
        end[1 + extra + tail] = '\0';
    }
}

/* Sets last_text to `front` followed by `back`. Either may be last_text itself, hence the copy. */
static void join_bounded(const char *front, const char *back)
{
    char text[ERROR_TEXT_MAX];
    size_t front_length = strlen(front);
    size_t back_length = strlen(back);
    size_t room = sizeof(text) - 1;
    if (front_length > room) {
        front_length = room;
    }
    size_t back_taken = back_length < room - front_length ? back_length : room - front_length;
    memcpy(text, front, front_length);
    memcpy(text + front_length, back, back_taken);
    text[front_length + back_taken] = '\0';
    if (back_taken < back_length) {
        memcpy(text + ERROR_TEXT_MAX - 4, "...", 4);
    }
    memcpy(last_text, text, front_length + back_taken + 1);
}

int error_set(int code, const char *fmt, ...)
{
    /* An argument may be error_text() itself, so the text is built beside it. */
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    format_bounded(text, fmt, args);
    va_end(args);
    keep_to_one_line(text);
    memcpy(last_text, text, strlen(text) + 1);
    return code;
}

int error_set_lines(int code, const char *lines)
{
    join_bounded(lines, "");
    return code;
}

int error_at(int code, const char *file, int line, int column, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX];
    char place[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    format_bounded(text, fmt, args);
    va_end(args);
    const char *name = file ? file : "input";
    if (line > 0 && column > 0) {
        snprintf(place, sizeof(place), "%.2000s:%d:%d: ", name, line, column);
    } else if (line > 0) {
        snprintf(place, sizeof(place), "%.2000s:%d: ", name, line);
    } else {
        snprintf(place, sizeof(place), "%.2000s: ", name);
    }
    keep_to_one_line(place);
    keep_to_one_line(text);
    join_bounded(place, text);
    return code;
}

int error_prefix(int code, const char *fmt, ...)
{
    char context[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    format_bounded(context, fmt, args);
    va_end(args);
    keep_to_one_line(context);
    size_t length = strlen(context);
    if (length > ERROR_TEXT_MAX - 3) {
        length = ERROR_TEXT_MAX - 3;
    }
    memcpy(context + length, ": ", 3);
    join_bounded(context, last_text);
    return code;
}

int error_memory(void)
{
    memcpy(last_text, "out of memory", sizeof("out of memory"));
    return SONDE_ENOMEM;
}

const char *error_text(void)
{
    return last_text;
}

void error_clear(void)
{
    last_text[0] = '\0';
}

const char *error_name(int code)
{
    switch (code) {
    case SONDE_OK:
        return "no error";
#define ERROR_NAME_CASE(name, value, text)                                                         \
    case name:                                                                                     \
        return text;
        SONDE_ERRORS(ERROR_NAME_CASE)
#undef ERROR_NAME_CASE
    default:
        return "unknown error";
    }
}
