/*
 * What became of the points: one line of JSON each, appended as they end, so that a sweep that was
 * killed goes on where it was. A line that was cut off is the last; it is dropped.
 */
#ifndef SONDE_SWEEP_JOURNAL_H
#define SONDE_SWEEP_JOURNAL_H

#include <jansson.h>

#include "sweep/spec/spec.h"

enum sweep_status {
    POINT_OPEN,
    POINT_OK,
    POINT_REFUSED, /* no such machine: the model's checks say why */
    POINT_FAILED,  /* ended with a status other than 0, or without a result */
    POINT_CRASHED, /* ended by a signal */
    POINT_LIMIT,   /* ran past the limit and was ended */
    POINT_STATUSES
};

extern const char *const sweep_status_names[POINT_STATUSES];

struct sweep_outcome {
    enum sweep_status status;
    json_t
        *line; /* {"key", "status", "reason", "seconds", "host", "model_hash", "values"}; owned */
};

struct sweep_journal {
    int file;
    char *path;  /* owned */
    bool behind; /* lines are written that may not be on the disk */
    uint64_t synced_ns;
};

/*
 * Opens the journal of a folder. `resume`: outcomes of earlier runs are filled in where their keys
 * are those of the `count` points (point/key.h), and *stale counts the others. Else a journal that
 * is there is refused (SONDE_EUSAGE), and so is, always, one that another sweep has open.
 */
int sweep_journal_open(struct sweep_journal *out, const char *folder, bool resume,
                       const uint64_t *keys, size_t count, struct sweep_outcome *outcomes,
                       size_t *stale);
/* Appends a line. It outlives this process at once, and the host from the next sync on. */
int sweep_journal_add(struct sweep_journal *journal, const json_t *line);
/* Waits until the lines are on the disk, where the last time is some time ago, or `now`. */
int sweep_journal_sync(struct sweep_journal *journal, bool now);
void sweep_journal_close(struct sweep_journal *journal);

#endif
