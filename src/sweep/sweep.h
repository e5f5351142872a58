/*
 * Sweeps: many points, one table. A specification (spec.h) says which points there are; each is a
 * process of its own (pool.h), on this host or on the ranks of an MPI job (ranks.h); what became of
 * them stands in a journal (journal.h), and in the end in a table.
 */
#ifndef SONDE_SWEEP_SWEEP_H
#define SONDE_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "sweep/journal.h"
#include "util/progress.h"

struct sweep_request {
    const char *spec_path;
    const char *folder;  /* table, journal and the specification's copy go there */
    const char *program; /* the sonde command that points run */
    unsigned jobs;       /* points at a time on each rank */
    bool resume, retry;  /* go on with the journal that is there; try again what did not end well */
    struct progress progress;
    const volatile int *cancel; /* NULL: never */
    /* What became of each point is told here, by rank 0; NULL: to nobody. */
    void (*ended)(void *ctx, size_t point, enum sweep_status status);
    void *ctx;
};

struct sweep_summary {
    size_t points, counts[POINT_STATUSES]; /* of the points by status; POINT_OPEN: not reached */
    size_t reason_point;
    char reason[400];      /* why the first that did not end well did not; "": all did */
    size_t resumed, stale; /* outcomes taken over; those of no point any more */
    unsigned ranks;
    double idle_share;              /* of the time of all places: without a point's process */
    size_t messages, message_bytes; /* between rank 0 and the others, while points were dealt out */
    int rank;                       /* of this process: all but rank 0 have nothing to tell */
};

/*
 * Runs the points that are open and writes table.csv and table.json. Interrupted
 * (SONDE_EINTERRUPTED) it writes the rows that there are. SONDE_EINPUT, SONDE_EUSAGE, SONDE_EIO:
 * see the journal and the specification. What a point ends with is no error.
 */
int sweep_run(struct sweep_summary *out, const struct sweep_request *request);

/* The points as a list, a line each, without running them. free() the text. */
int sweep_list(char **text, const char *spec_path);

/* table.c: the rows that there are, in the order of the points. */
int sweep_write_table(const char *folder, const struct sweep_spec *spec,
                      const struct sweep_points *points, const struct sweep_outcome *outcomes);

#endif
