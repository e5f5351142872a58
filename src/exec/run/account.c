/*
 * Warps of a launch without timing: how they begin, where they are, what they have executed, and
 * what an observer learns of that. Both flight.c, which runs them, and endless.c, which looks
 * whether they will ever end, use this.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/observe.h"
#include "exec/positions.h"
#include "exec/program.h"
#include "exec/run/run.h"
#include "util/error.h"

int runner_begin_warp(struct runner *r, uint32_t index)
{
    struct exec_warp *warp = &r->warp[index];
    r->begun |= UINT64_C(1) << index;
    if (!warp->state && r->spares)
        warp->state = r->spare[--r->spares];
    return exec_warp_init(warp, &r->cta, index * WARP_LANES, &r->env);
}

int runner_begin_warps(struct runner *r)
{
    int rc = SONDE_OK;
    for (uint64_t rest = r->barriers.alive & ~r->begun; rc == SONDE_OK && rest; rest &= rest - 1)
        rc = runner_begin_warp(r, (uint32_t)__builtin_ctzll(rest));
    return rc;
}

void runner_tell_issue(const struct runner *r, struct exec_warp *warp, uint32_t mask)
{
    if (!r->watch[warp->pc])
        return;
    if (r->counts)
        r->counts->heads[warp->pc]++;
    else
        r->observer->issues(warp, mask);
}

/* Where the warps of the CTAs in flight are. */
static void add_positions(struct positions *positions, const struct flight *flight)
{
    for (uint64_t i = 0; i < flight->places; i++) {
        const struct runner *r = flight->runner[i];
        for (uint64_t rest = r->barriers.alive; rest; rest &= rest - 1) {
            uint32_t w = (uint32_t)__builtin_ctzll(rest);
            const struct exec_warp *warp = &r->warp[w];
            if (r->ready >> w & 1) {
                positions_add(positions, warp, w, warp->pc, "is running");
            } else {
                positions_add_waiting(positions, warp, w);
            }
        }
    }
}

static int begin_all(struct flight *flight)
{
    int rc = SONDE_OK;
    for (uint64_t i = 0; rc == SONDE_OK && i < flight->places; i++)
        rc = runner_begin_warps(flight->runner[i]);
    return rc;
}

int flights_tell_positions(struct flight *const *flights, uint32_t count, int code)
{
    struct positions *positions = calloc(1, sizeof *positions);
    for (uint32_t i = 0; positions && i < count; i++)
        if (begin_all(flights[i]) == SONDE_OK)
            add_positions(positions, flights[i]);
    code = positions ? positions_tell(positions, code) : code;
    free(positions);
    return code;
}

int flight_account(struct runner *r, struct exec_warp *warp, uint64_t insns, uint64_t lanes)
{
    struct exec_run_options *options = r->flight->options;
    options->warp_insns += insns;
    options->thread_insns += lanes;
    r->env.clock += insns * INSN_CYCLES + warp->slept_ns;
    r->env.globaltimer_ns += insns * INSN_NS + warp->slept_ns;
    warp->slept_ns = 0;
    options->stopped = true;
    if (options->interrupt && *options->interrupt) {
        int rc = error_set(SONDE_EINTERRUPTED, "interrupted");
        return options->tells ? flights_tell_positions(&r->flight, 1, rc) : rc;
    }
    if (options->max_warp_insns && options->warp_insns >= options->max_warp_insns)
        return error_set(SONDE_EFAULT,
                         "kernel '%s' was stopped after %" PRIu64 " warp instructions",
                         warp->state->program->functions[0]->func->name, options->warp_insns);
    options->stopped = false;
    return SONDE_OK;
}
