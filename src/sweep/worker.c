/* A rank other than 0: asks for points, runs them, sends what became of them. See run.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/sonde.h"
#include "sweep/run.h"
#include "util/container/strbuf.h"
#include "util/error.h"

void sweep_pause(unsigned *idle, bool happened, const struct sweep_pool *pool)
{
    /* MPI cannot be waited for beside processes: so it is asked so often that an answer costs
     * little beside the start of a process. */
    enum { SHORTEST_US = 100, LONGEST_US = 2000 };
    unsigned next = *idle < SHORTEST_US ? SHORTEST_US : 2 * *idle;
    *idle = happened ? 0 : next > LONGEST_US ? LONGEST_US : next;
    if (*idle > 0) {
        sweep_pool_wait(pool, *idle);
    }
}

static int lost(void)
{
    return error_set(SONDE_EDEVICE, "a message to another rank could not be sent or received");
}

/* Sends the lines of the points that have ended, and asks for as many more. */
static int send_ended(struct sweep_pool *pool, struct sweep_ranks *ranks, bool *any)
{
    bool ended = true;
    int rc = 0;
    *any = false;
    while (rc == 0 && ended) {
        size_t point;
        json_t *line = NULL;
        struct strbuf text = {0};
        rc = sweep_pool_end(pool, &ended, &point, &line);
        if (rc || !ended) {
            return rc;
        }
        *any = true;
        char *dumped = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
        strbuf_printf(&text, "done %zu\n%s", point, dumped ? dumped : "");
        rc = !dumped || strbuf_failed(&text) ? error_memory() : 0;
        if (rc == 0 && (ranks->send(0, text.text, text.length) != 0 ||
                        ranks->send(0, RUN_WANT, strlen(RUN_WANT)) != 0)) {
            rc = lost();
        }
        free(dumped);
        json_decref(line);
        strbuf_free(&text);
    }
    return rc;
}

int sweep_worker(const struct sweep_spec *spec, const struct sweep_points *points,
                 const struct sweep_request *request, struct sweep_ranks *ranks)
{
    struct sweep_pool *pool;
    unsigned idle = 0, wanted = request->jobs;
    int rc =
        sweep_pool_create(&pool, spec, points, request->program, request->jobs, request->cancel);
    for (unsigned i = 0; rc == 0 && i < wanted; i++) {
        rc = ranks->send(0, RUN_WANT, strlen(RUN_WANT)) ? lost() : 0;
    }
    while (rc == 0 && (wanted > 0 || sweep_pool_running(pool) > 0)) {
        char *text;
        size_t bytes, point;
        bool any = false;
        int from;
        if (request->cancel && *request->cancel) {
            rc = error_set(SONDE_EINTERRUPTED, "interrupted");
            break;
        }
        if (ranks->receive(&from, &text, &bytes) != 0) {
            rc = lost();
            break;
        }
        if (from >= 0 && sscanf(text, "point %zu", &point) == 1 && point < points->count) {
            rc = sweep_pool_begin(pool, point);
        } else if (from >= 0) {
            wanted--;
        }
        free(from >= 0 ? text : NULL);
        rc = rc ? rc : send_ended(pool, ranks, &any);
        sweep_pause(&idle, from >= 0 || any, pool);
    }
    sweep_pool_destroy(pool);
    return rc;
}
