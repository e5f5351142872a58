/* Formats a message for whoever listens. */
#include "util/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_printf(const struct log *log, enum log_level level, const char *fmt, ...)
{
    if (!log || !log->write || level > log->level) {
        return;
    }
    char text[1024];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (length >= 0) {
        log->write(log->context, level, text);
    }
}
