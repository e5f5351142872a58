/*
 * Launches on several host threads. SMs with their caches run apart from each other and from memory
 * - translation, network, L2, DRAM -, each with an engine of its own, in windows of time; between
 * two windows one thread hands over what was noted (side.c). Which thread ran what never shows.
 *
 * SMs and memory hear of each other no sooner than the lookahead L after a cause: a reply is known
 * when it enters the way back, and a CTA's place is taken some cycles after it ended. Let m and s
 * be the times of the first pending event of memory and of the SMs. Then
 *
 *     SMs may run all events before  min(m, s) + L    what is unknown yet comes no earlier
 *     memory those before            min(s, m + L)    requests come from s on, or after a reply
 *
 * at the same time. In the steady state memory lags half of L behind, and a window is as long.
 *
 * Device memory does not change while a window runs: SMs keep their stores back, which are
 * published between windows, SM after SM; then the atomics that memory has served happen, in its
 * order. A load sees its own SM's stores at once, others' after at most a lookahead, and results do
 * not depend on how far another SM has come. (docs/adr/0007)
 *
 * A window costs some microseconds of handing over, so a lookahead of a few cycles is not worth it:
 * that of the flit-level network, which knows of a reply when it leaves the last router.
 *
 * Leaves out: launches of one CTA; programs that call the driver or reach device memory at issue
 * (printf, malloc, cp.async, wmma.load); an L1 behind a translator, which asks memory before every
 * lookup. They run as one group, on one thread.
 */
#include "gpu/state.h"

#define LOOKAHEAD_CYCLES_MIN 8

uint64_t gpu_lookahead_ps(const struct gpu *gpu, const struct exec_launch *launch)
{
    bool translated_first = gpu->l1_spec.enabled && gpu->l1_spec.address == ADDRESS_PHYSICAL;
    if (gpu->model->sms == 1 || gpu->cta_count == 1 || translated_first ||
        exec_program_acts_at_issue(launch->program)) {
        return 0;
    }
    uint64_t reply_ps = mem_noc_lookahead_ps(gpu->noc);
    uint64_t start_ps = gpu->model->sm.cta_start_cycles * gpu->clock.period_ps;
    uint64_t lookahead_ps = reply_ps < start_ps ? reply_ps : start_ps;
    return lookahead_ps < LOOKAHEAD_CYCLES_MIN * gpu->clock.period_ps ? 0 : lookahead_ps;
}

int gpu_part(struct gpu *gpu)
{
    uint64_t cycles = gpu->lookahead_ps / gpu->clock.period_ps + 1;
    int rc = gpu->threads > 1 && !gpu->team ? team_create(&gpu->team, gpu->threads) : 0;
    for (uint32_t i = 0; rc == 0 && i < gpu->model->sms; i++) {
        rc = sm_keep_stores(gpu->sm[i], true);
    }
    for (uint32_t i = 0; rc == 0 && i < gpu->model->sms; i++) {
        struct gpu_side *side = &gpu->side[i];
        engine_part(side->engine);
        side->places = gpu->model->noc.queue_entries + 2 * (uint32_t)cycles;
        side->used = side->taken = side->held = 0;
        side->has_news = side->has_stores = false;
    }
    mem_noc_set_bounded(gpu->noc, rc < 0);
    gpu->parted = rc == 0;
    return rc;
}

/* ---- between two windows ---- */

/* The next CTA's end in order of time and SM; NULL: no more. */
static const struct gpu_cta_end *next_end(struct gpu *gpu)
{
    struct gpu_side *first = NULL;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        struct gpu_side *side = &gpu->side[i];
        if (side->end_told < side->end_count &&
            (!first || side->end[side->end_told].at_ps < first->end[first->end_told].at_ps)) {
            first = side;
        }
    }
    return first ? &first->end[first->end_told++] : NULL;
}

static void tell_ends(struct gpu *gpu)
{
    const struct gpu_cta_end *end;
    while ((end = next_end(gpu))) {
        gpu_cta_ended(gpu, end);
    }
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        gpu->side[i].end_count = gpu->side[i].end_told = 0;
    }
}

/* The first fault in order of time and SM is the launch's. */
static void find_fault(struct gpu *gpu)
{
    const struct gpu_side *first = NULL;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        const struct gpu_side *side = &gpu->side[i];
        if (side->fault < 0 && (!first || side->fault_ps < first->fault_ps)) {
            first = side;
        }
    }
    if (first) {
        gpu->error = error_set(first->fault, "%s", first->fault_text);
    }
}

/* For the next exchange: whether it has to look at this side, and when the SM goes on. */
static void note_state(struct gpu_side *side)
{
    uint64_t next_ps = engine_next_ps(side->engine), mail_ps = side->inbox.earliest_ps;
    side->next_ps = next_ps < mail_ps ? next_ps : mail_ps;
    side->has_stores = sm_has_stores(side->gpu->sm[side->sm]);
    side->has_news = side->down.count > 0 || side->end_count > 0 || side->space.count > 0 ||
                     side->fault < 0 || engine_error(side->engine) < 0;
}

/* Nothing that has not happened yet happens before `now_ps`. */
static void exchange(struct gpu *gpu, uint64_t now_ps)
{
    uint32_t count = 0;
    bool ended = false, failed = false;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        struct gpu_side *side = &gpu->side[i];
        if (side->has_stores) {
            sm_publish_stores(gpu->sm[i]);
            side->has_stores = false;
        }
        if (side->has_news || side->up.count > 0 || side->used > 0) {
            gpu->busy[count++] = i;
        }
    }
    gpu_sides_do_atomics(gpu);
    for (uint32_t k = 0; k < count; k++) {
        struct gpu_side *side = &gpu->side[gpu->busy[k]];
        gpu_side_exchange(side, now_ps);
        ended |= side->end_count > 0;
        failed |= side->fault < 0;
    }
    if (ended) {
        tell_ends(gpu);
    }
    if (failed) {
        find_fault(gpu);
    }
    for (uint32_t k = 0; k < count; k++) {
        note_state(&gpu->side[gpu->busy[k]]);
    }
}

/* The first code of an engine that could not go on. */
static int engines_error(const struct gpu *gpu)
{
    int rc = engine_error(gpu->engine);
    for (uint32_t i = 0; rc == 0 && i < gpu->model->sms; i++) {
        rc = gpu->side[i].has_news ? engine_error(gpu->side[i].engine) : 0;
    }
    return rc < 0 ? error_memory() : 0;
}

void gpu_join(struct gpu *gpu)
{
    if (!gpu->parted) {
        return;
    }
    gpu->latest_ps = engine_now_ps(gpu->engine);
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        uint64_t now_ps = engine_now_ps(gpu->side[i].engine);
        gpu->latest_ps = now_ps > gpu->latest_ps ? now_ps : gpu->latest_ps;
    }
    exchange(gpu, gpu->latest_ps);
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        gpu_side_read_outbox(&gpu->side[i]);
        gpu_side_read_inbox(&gpu->side[i]);
        waiters_wake_at(&gpu->side[i].space, gpu->latest_ps);
        engine_join(gpu->side[i].engine, gpu->engine);
        sm_keep_stores(gpu->sm[i], false);
    }
    mem_noc_set_bounded(gpu->noc, true);
    gpu->parted = false;
}

/* ---- windows ---- */

struct window {
    struct gpu *gpu;
    uint64_t sm_limit_ps, memory_limit_ps;
};

/* Task 0 is memory's, the others are SMs'. */
static void run_task(void *ctx, uint32_t index)
{
    const struct window *window = ctx;
    struct gpu *gpu = window->gpu;
    if (index == 0) {
        for (uint32_t i = 0; i < gpu->model->sms; i++) {
            gpu_side_read_outbox(&gpu->side[i]);
        }
        engine_run_before(gpu->engine, window->memory_limit_ps);
    } else {
        struct gpu_side *side = &gpu->side[gpu->busy[index - 1]];
        gpu_side_read_inbox(side);
        engine_run_before(side->engine, window->sm_limit_ps);
        note_state(side);
    }
}

static uint64_t later(uint64_t time_ps, uint64_t by_ps)
{
    return time_ps > ENGINE_NEVER - by_ps ? ENGINE_NEVER : time_ps + by_ps;
}

/* One window and the exchange after it; false: nothing is pending. */
static bool step(struct gpu *gpu)
{
    uint64_t memory_ps = engine_next_ps(gpu->engine), sm_ps = ENGINE_NEVER;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        uint64_t next_ps = gpu->side[i].next_ps, mail_ps = gpu->side[i].outbox.earliest_ps;
        sm_ps = next_ps < sm_ps ? next_ps : sm_ps;
        memory_ps = mail_ps < memory_ps ? mail_ps : memory_ps;
    }
    uint64_t first_ps = memory_ps < sm_ps ? memory_ps : sm_ps;
    if (first_ps == ENGINE_NEVER) {
        return false;
    }
    uint64_t reach_ps = later(memory_ps, gpu->lookahead_ps);
    struct window window = {.gpu = gpu,
                            .sm_limit_ps = later(first_ps, gpu->lookahead_ps),
                            .memory_limit_ps = sm_ps < reach_ps ? sm_ps : reach_ps};
    uint32_t tasks = 1;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        if (gpu->side[i].next_ps < window.sm_limit_ps) {
            gpu->busy[tasks++ - 1] = i;
        }
    }
    if (gpu->team && tasks > 1) {
        team_run(gpu->team, run_task, &window, tasks);
    } else {
        for (uint32_t i = 0; i < tasks; i++) {
            run_task(&window, i);
        }
    }
    exchange(gpu, window.sm_limit_ps);
    return true;
}

int gpu_run_windows(struct gpu *gpu)
{
    int rc = 0;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        note_state(&gpu->side[i]);
    }
    while (rc == 0 && gpu->cta_ended < gpu->cta_count) {
        bool stepped = step(gpu);
        rc = gpu->error < 0 ? gpu->error : engines_error(gpu);
        if (rc == 0 && !stepped) {
            rc = gpu_deadlock(gpu);
        }
        if (rc == 0 && gpu_cancelled(gpu)) {
            rc = error_set(SONDE_EINTERRUPTED, "interrupted");
        }
    }
    return rc;
}
