/*
 * CTAs that wait for others of their launch. A GPU holds many at once, and kernels rely on it
 * without saying so: tiles that are summed up in turns under locks, counters on which all meet.
 * Without timing CTAs run one after the other, where such a wait would never end. So the warps of a
 * flight are looked at, one after the other, now and then, when none of its CTAs has ended for a
 * while: a warp that comes back to a pc with the registers that it had there before has nothing
 * new. Once all that may issue have been seen so, as many CTAs come in flight as the GPU holds.
 *
 * That is no proof, and need be none: CTAs may run in any order. A wait that counts or reads a
 * clock never comes back to where it was; what it waits for may begin after a longer patience.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/program.h"
#include "exec/repeat.h"
#include "exec/run/run.h"
#include "util/error.h"

#define SEEN_PLACES 256 /* by pc */

/* Some ms of a host's time, and a hundredth of what it costs to look. */
const struct crowd_limits crowding = {.patience_warp_insns = 1u << 18, .look_warp_insns = 1u << 13};
#define LAST_PATIENCE_TIMES 256 /* of the patience: then whatever the warps do */

struct crowd {
    uint64_t since, looked;     /* warp instructions when a CTA began, and at the last look */
    uint64_t place, warp;       /* who is looked at */
    uint64_t seen[SEEN_PLACES]; /* its values; 0: none */
};

bool crowd_may_come(const struct exec_run *run)
{
    const struct exec_launch *launch = run->launch;
    uint64_t places = launch->resident_ctas / run->cluster_size * run->cluster_size;
    return !launch->cooperative && !launch->program->ctas_are_apart && places > run->cluster_size &&
           run->ctas > run->options->first + run->cluster_size;
}

int crowd_create(struct crowd **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? SONDE_OK : error_memory();
}

void crowd_destroy(struct crowd *crowd)
{
    free(crowd);
}

static void look_at(struct crowd *crowd, uint64_t place, uint64_t warp)
{
    crowd->place = place;
    crowd->warp = warp;
    memset(crowd->seen, 0, sizeof crowd->seen);
}

void crowd_begins(struct flight *flight)
{
    if (!flight->crowd)
        return;
    flight->crowd->since = flight->crowd->looked = flight->options->warp_insns;
    look_at(flight->crowd, 0, 0);
}

/* The next warp that may issue; false: there is none behind it. */
static bool find_ready(struct crowd *crowd, const struct flight *flight)
{
    while (crowd->place < flight->places) {
        const struct runner *r = flight->runner[crowd->place];
        if (crowd->warp < r->warp_count &&
            r->ready & r->barriers.alive & UINT64_C(1) << crowd->warp)
            return true;
        if (++crowd->warp >= r->warp_count)
            look_at(crowd, crowd->place + 1, 0);
    }
    return false;
}

/* Whether the warp has been where it is, with what it has. */
static bool comes_back(struct crowd *crowd, const struct exec_warp *warp)
{
    uint64_t values = exec_warp_values(warp) | 1, *seen = &crowd->seen[warp->pc % SEEN_PLACES];
    bool same = *seen == values;
    *seen = values;
    return same;
}

uint64_t crowd_places(const struct flight *flight)
{
    const struct exec_run *run = flight->run;
    uint64_t size = run->cluster_size, places = run->launch->resident_ctas / size * size;
    uint64_t left = run->ctas - flight->first;
    return places < left ? places : left;
}

bool crowd_is_wanted(struct flight *flight)
{
    struct crowd *crowd = flight->crowd;
    uint64_t now = flight->options->warp_insns;
    if (now - crowd->since < crowding.patience_warp_insns ||
        now - crowd->looked < crowding.look_warp_insns)
        return false;
    crowd->looked = now;
    if (now - crowd->since > LAST_PATIENCE_TIMES * crowding.patience_warp_insns)
        return true;
    if (find_ready(crowd, flight) &&
        comes_back(crowd, &flight->runner[crowd->place]->warp[crowd->warp]))
        look_at(crowd, crowd->place, crowd->warp + 1);
    return !find_ready(crowd, flight);
}
