/*
 * A team of host threads for many short rounds of work: the caller and its helpers share out the
 * tasks of a round, and the round is over when all are done. Helpers wait for the next round
 * awake for a while, then asleep, so a team that nobody calls costs nothing.
 */
#ifndef SONDE_UTIL_TEAM_H
#define SONDE_UTIL_TEAM_H

#include <stdint.h>

#define TEAM_THREADS_MAX 256

struct team;

typedef void team_task(void *ctx, uint32_t index);

/* `threads`: the caller included, 1 to TEAM_THREADS_MAX. SONDE_ENOMEM, SONDE_EIO. */
int team_create(struct team **out, uint32_t threads);
void team_destroy(struct team *team);
uint32_t team_threads(const struct team *team); /* the caller included */

/*
 * task(ctx, i) once for each i < count, in any order and at the same time; returns when all are
 * done, and sees what they wrote. The caller begins with the first, and which tasks a thread runs
 * changes little from round to round. Below 2^24.
 */
void team_run(struct team *team, team_task *task, void *ctx, uint32_t count);

/* How many processors this process may use; at least 1. */
uint32_t team_processors(void);

#endif
