/*
 * A launch without timing on several host threads: each takes the next CTA, or cluster, that nobody
 * has begun. What they do to memory is watched (exec/memory/marks.h). Where it turns out that
 * CTAs have to do with each other, all that were shared out run again, one after the other: what
 * they read has not been written since they began, so they do what they would have done at first.
 * Such a program is not shared out again.
 *
 * Of a CTA that faults the error is kept, and those in front of it run to their end, since one of
 * them may fault as well: the lowest one's is told.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/memory/image.h"
#include "exec/memory/marks.h"
#include "exec/program.h"
#include "exec/run/run.h"
#include "util/error.h"
#include "util/team.h"

/* Some 20 us and 40 ms of a host's time. */
const struct sharing_limits sharing = {.alone_warp_insns = 1024, .round_warp_insns = 1u << 21};

struct share {
    _Alignas(64) struct flight *flight;
    struct exec_run_options counts;
    struct marks *marks;
    bool ended;
    int rc;
    char error[ERROR_TEXT_MAX];
};

struct shares {
    struct share *share;
    uint32_t count;
    struct marks_roles *roles;
    uint64_t changes;                  /* of the image, when `roles` were made */
    uint64_t first;                    /* CTA that was shared out */
    uint64_t before, threads_before;   /* warp and thread instructions until then */
    uint64_t round_warp_insns;         /* of each share */
    atomic_uint_fast64_t lowest_fault; /* the first CTA of a flight; UINT64_MAX: none yet */
    atomic_bool pauses;                /* the round is to end */
};

static int share_create(struct share *share, struct exec_run *run, uint32_t index)
{
    const struct exec_memory *image = run->launch->memory;
    int rc = marks_create(&share->marks, run->shares->roles, image);
    share->counts.interrupt = run->options->interrupt;
    if (rc == SONDE_OK && index > 0)
        rc = flight_create(&share->flight, run, &share->counts);
    if (rc != SONDE_OK)
        return rc;
    if (index == 0)
        share->flight = run->flight;
    share->flight->options = &share->counts;
    share->flight->pauses = &run->shares->pauses;
    for (uint64_t k = 0; k < share->flight->places; k++)
        share->flight->runner[k]->env.marks = share->marks;
    return SONDE_OK;
}

static int make_shares(struct exec_run *run)
{
    uint32_t count = team_threads(run->team);
    struct shares *shares = calloc(1, sizeof *shares);
    run->shares = shares;
    if (!shares)
        return error_memory();
    shares->changes = run->launch->memory->changes;
    shares->first = atomic_load(&run->begun);
    shares->before = run->options->warp_insns;
    shares->threads_before = run->options->thread_insns;
    shares->share = aligned_alloc(64, count * sizeof *shares->share);
    if (!shares->share)
        return error_memory();
    memset(shares->share, 0, count * sizeof *shares->share);
    shares->count = count;
    atomic_init(&shares->lowest_fault, UINT64_MAX);
    int rc = marks_roles_create(&shares->roles, run->launch->memory);
    for (uint32_t i = 0; rc == SONDE_OK && i < count; i++)
        rc = share_create(&shares->share[i], run, i);
    return rc;
}

/* All that were shared out run, or run again, on one thread. */
static int go_alone(struct exec_run *run)
{
    struct shares *shares = run->shares;
    run->shares = NULL;
    run->team = NULL;
    if (!shares)
        return SONDE_OK;
    run->options->warp_insns = shares->before;
    run->options->thread_insns = shares->threads_before;
    flight_give_up(run->flight, run->options);
    atomic_store(&run->begun, shares->first);
    shares_destroy(shares);
    return SONDE_OK;
}

int shares_create(struct exec_run *run)
{
    int rc = make_shares(run);
    if (rc == SONDE_ENOMEM)
        return go_alone(run);
    return rc;
}

void shares_destroy(struct shares *shares)
{
    if (!shares)
        return;
    for (uint32_t i = 0; shares->share && i < shares->count; i++) {
        marks_destroy(shares->share[i].marks);
        if (i > 0)
            flight_destroy(shares->share[i].flight);
    }
    free(shares->roles);
    free(shares->share);
    free(shares);
}

/* Has a CTA been refused, or have two threads written to one place? */
static bool have_met(const struct shares *shares, bool over)
{
    bool met = atomic_load(&shares->roles->refused);
    for (uint32_t i = 0; over && !met && i < shares->count; i++)
        for (uint32_t k = 0; !met && k < i; k++)
            met = marks_meets(shares->share[i].marks, shares->share[k].marks);
    return met;
}

static void note_error(struct shares *shares, struct share *share)
{
    memcpy(share->error, error_text(), sizeof share->error);
    if (share->rc == SONDE_EINTERRUPTED)
        return; /* the others see it, too */
    uint64_t lowest = atomic_load(&shares->lowest_fault), mine = share->flight->first;
    while (mine < lowest && !atomic_compare_exchange_weak(&shares->lowest_fault, &lowest, mine)) {
    }
}

/* Nobody will hear of what it does. */
static bool is_behind_fault(struct shares *shares, const struct share *share)
{
    return share->flight->first > atomic_load_explicit(&shares->lowest_fault, memory_order_relaxed);
}

/* A thread's part of a round. */
static void run_share(void *ctx, uint32_t index)
{
    struct shares *shares = ctx;
    struct share *share = &shares->share[index];
    uint64_t until = share->counts.warp_insns + shares->round_warp_insns;
    while (!share->ended && !flight_pauses(share->flight)) {
        bool alive;
        share->rc = flight_round(share->flight, &alive);
        if (share->rc != SONDE_OK)
            note_error(shares, share);
        share->ended = share->rc != SONDE_OK || !alive || is_behind_fault(shares, share);
        if (share->counts.warp_insns >= until ||
            atomic_load_explicit(&shares->roles->refused, memory_order_relaxed))
            atomic_store_explicit(&shares->pauses, true, memory_order_relaxed);
    }
}

static void add_up(struct exec_run *run)
{
    const struct shares *shares = run->shares;
    run->options->warp_insns = shares->before;
    run->options->thread_insns = shares->threads_before;
    for (uint32_t i = 0; i < shares->count; i++) {
        run->options->warp_insns += shares->share[i].counts.warp_insns;
        run->options->thread_insns += shares->share[i].counts.thread_insns;
    }
}

static int interrupted(struct exec_run *run, const struct share *share)
{
    struct flight *flights[TEAM_THREADS_MAX];
    const struct shares *shares = run->shares;
    int rc = error_set_lines(share->rc, share->error);
    run->options->stopped = true;
    for (uint32_t i = 0; i < shares->count; i++)
        flights[i] = shares->share[i].flight;
    return run->options->tells ? flights_tell_positions(flights, shares->count, rc) : rc;
}

/* The lowest CTA's error, or the interrupt; 0: neither. */
static int first_error(struct exec_run *run)
{
    const struct shares *shares = run->shares;
    const struct share *first = NULL;
    for (uint32_t i = 0; i < shares->count; i++) {
        const struct share *share = &shares->share[i];
        if (share->rc == SONDE_EINTERRUPTED)
            return interrupted(run, share);
        if (share->rc != SONDE_OK && (!first || share->flight->first < first->flight->first))
            first = share;
    }
    return first ? error_set_lines(first->rc, first->error) : SONDE_OK;
}

int shares_run(struct exec_run *run, uint64_t warp_insns, bool *alive)
{
    struct shares *shares = run->shares;
    bool faulty;
    /* Between two slices the host may have taken memory or given some back. */
    if (run->launch->memory->changes != shares->changes)
        return go_alone(run);
    shares->round_warp_insns = warp_insns / shares->count + 1;
    do {
        atomic_store(&shares->pauses, false);
        team_run(run->team, run_share, shares, shares->count);
        *alive = false;
        for (uint32_t i = 0; i < shares->count; i++)
            *alive |= !shares->share[i].ended;
        faulty = atomic_load(&shares->lowest_fault) != UINT64_MAX;
        if (have_met(shares, faulty || !*alive)) {
            *alive = true;
            atomic_store(run->launch->program->was_refused, true);
            return go_alone(run);
        }
        /* Those in front of a fault run to their end. */
    } while (*alive && faulty);
    add_up(run);
    return first_error(run);
}
