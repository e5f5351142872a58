/* Processes of points on this host. See pool.h. */
#define _GNU_SOURCE /* ppoll() */
#include "sweep/point/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "sonde/sonde.h"
#include "sweep/point/job.h"
#include "util/clock.h"
#include "util/error.h"

struct sweep_pool {
    const struct sweep_spec *spec;
    const struct sweep_points *points;
    const char *program;
    struct sweep_work **work; /* by slot; NULL: free */
    struct pollfd *watch;     /* room for `jobs` */
    size_t jobs, running;
    const volatile int *cancel;
};

int sweep_pool_create(struct sweep_pool **out, const struct sweep_spec *spec,
                      const struct sweep_points *points, const char *program, unsigned jobs,
                      const volatile int *cancel)
{
    struct sweep_pool *pool = calloc(1, sizeof *pool);
    *out = pool;
    if (!pool) {
        return error_memory();
    }
    *pool = (struct sweep_pool){
        .spec = spec, .points = points, .program = program, .jobs = jobs, .cancel = cancel};
    pool->work = calloc(jobs, sizeof(struct sweep_work *));
    pool->watch = calloc(jobs, sizeof *pool->watch);
    return pool->work && pool->watch ? 0 : error_memory();
}

bool sweep_pool_has_room(const struct sweep_pool *pool)
{
    return pool->running < pool->jobs;
}

size_t sweep_pool_running(const struct sweep_pool *pool)
{
    return pool->running;
}

int sweep_pool_begin(struct sweep_pool *pool, size_t point)
{
    size_t slot = 0;
    while (pool->work[slot]) {
        slot++;
    }
    struct sweep_work *work = calloc(1, sizeof *work);
    if (!work) {
        return error_memory();
    }
    pool->work[slot] = work;
    work->watch = -1;
    pool->running++;
    work->point = point;
    return sweep_work_begin(work, pool->spec, &pool->points->point[point], pool->program);
}

/* Where the kernel has no descriptors of processes (before Linux 5.3) the time alone passes. */
void sweep_pool_wait(const struct sweep_pool *pool, unsigned microseconds)
{
    nfds_t count = 0;
    for (size_t slot = 0; slot < pool->jobs; slot++) {
        const struct sweep_work *work = pool->work[slot];
        if (work && work->watch >= 0) {
            pool->watch[count++] = (struct pollfd){.fd = work->watch, .events = POLLIN};
        }
    }
    const struct timespec time = {.tv_sec = microseconds / 1000000,
                                  .tv_nsec = microseconds % 1000000 * 1000L};
    ppoll(pool->watch, count, &time, NULL);
}

static void free_slot(struct sweep_pool *pool, size_t slot)
{
    sweep_work_clear(pool->work[slot]);
    free(pool->work[slot]);
    pool->work[slot] = NULL;
    pool->running--;
}

/* Whether a point's process is gone, with its status. */
static bool is_over(struct sweep_work *work, double limit_s, int *status)
{
    *status = 0;
    if (work->child == 0) {
        return true;
    }
    if (waitpid(work->child, status, WNOHANG) == work->child) {
        kill(-work->child, SIGKILL); /* what it left behind in its group */
        work->child = 0;
        return true;
    }
    double seconds = (double)(time_monotonic_ns() - work->began_ns) * 1e-9;
    if (limit_s > 0 && seconds > limit_s && !work->past_limit) {
        work->past_limit = true;
        kill(-work->child, SIGKILL);
    }
    return false;
}

int sweep_pool_end(struct sweep_pool *pool, bool *ended, size_t *point, json_t **line)
{
    int status;
    *ended = false;
    for (size_t slot = 0; slot < pool->jobs; slot++) {
        struct sweep_work *work = pool->work[slot];
        if (!work || !is_over(work, pool->spec->limit_s, &status)) {
            continue;
        }
        if (WIFSIGNALED(status) && !work->past_limit && pool->cancel && *pool->cancel) {
            return error_set(SONDE_EINTERRUPTED, "interrupted");
        }
        *ended = true;
        *point = work->point;
        int rc = sweep_work_line(line, work, status);
        free_slot(pool, slot);
        return rc;
    }
    return 0;
}

void sweep_pool_destroy(struct sweep_pool *pool)
{
    for (size_t slot = 0; pool && pool->work && slot < pool->jobs; slot++) {
        if (pool->work[slot]) {
            free_slot(pool, slot);
        }
    }
    if (pool) {
        free(pool->work);
        free(pool->watch);
    }
    free(pool);
}
