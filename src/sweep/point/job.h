/* One point's files and process. */
#ifndef SONDE_SWEEP_JOB_H
#define SONDE_SWEEP_JOB_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "sweep/journal.h"
#include "sweep/spec/kinds.h"
#include "util/fileio.h"

struct sweep_work {
    size_t point;
    char folder[FILE_SCRATCH_MAX]; /* the scratch folder; "" when there is none */
    struct sweep_job job;
    uint64_t began_ns;
    pid_t child; /* 0: it never began */
    int watch;   /* a descriptor that can be read once the child has ended; -1: none */
    bool past_limit;
    enum sweep_status status; /* where it never began */
    char reason[1024];
    char model_hash[17]; /* of the model with every parameter written out; "" without a model */
};

/* Makes the scratch folder, the model and the command line, and begins the process. A model that
 * is refused is no error: then child is 0 and the status says so. */
int sweep_work_begin(struct sweep_work *work, const struct sweep_spec *spec,
                     const struct sweep_point *point, const char *program);
/* The journal's line, but for its key, after the process ended with this status of waitpid(). */
int sweep_work_line(json_t **line, struct sweep_work *work, int wait_status);
/* Ends the process, if it runs, and removes the scratch folder. */
void sweep_work_clear(struct sweep_work *work);

#endif
