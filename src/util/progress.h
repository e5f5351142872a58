/*
 * Progress of long work. Nothing in the library prints: who wants to show progress passes a
 * callback.
 */
#ifndef SONDE_UTIL_PROGRESS_H
#define SONDE_UTIL_PROGRESS_H

/* `fraction` of the work is done, 0 to 1, or negative when it is not known; `what` is under way. */
typedef void progress_fn(void *context, double fraction, const char *what);

struct progress {
    progress_fn *report; /* NULL: nobody listens */
    void *context;
};

/* NULL for `progress` is allowed. */
static inline void progress_report(const struct progress *progress, double fraction,
                                   const char *what)
{
    if (progress && progress->report) {
        progress->report(progress->context, fraction, what);
    }
}

#endif
