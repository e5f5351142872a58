/*
 * Messages about work in progress. Nothing in the library prints: a log is a callback, by default
 * none.
 */
#ifndef SONDE_UTIL_LOG_H
#define SONDE_UTIL_LOG_H

enum log_level { LOG_WARNING, LOG_INFO, LOG_DEBUG };

typedef void log_fn(void *context, enum log_level level, const char *text);

struct log {
    log_fn *write; /* NULL: nobody listens */
    void *context;
    enum log_level level; /* messages of a higher level than this are dropped */
};

/* NULL for `log` is allowed. Text beyond 1 KiB is cut. */
void log_printf(const struct log *log, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
