/*
 * Launches on several host threads: a conservative parallel simulation in windows of time.
 *
 * Groups of components run apart, each with an engine of its own: each SM with its caches; memory
 * (translation, network, L2); each channel of DRAM. Between two windows one thread delivers the
 * messages (mailbox.c). Which thread ran which group never shows in a result.
 *
 * SMs learn of memory no sooner than the lookahead L after a cause, for a reply is known when it
 * enters the network; L is shorter while constants are on their way that do not come through the
 * network (constants.c). Of what SMs do, they learn no sooner than A after it, which is L, or less
 * where such a constant, or a CTA in the place of one that has ended, comes sooner. Memory learns
 * of DRAM no sooner than F after a cause. F is at least A; where it would be less, DRAM is part of
 * memory. Let s, m and d be the times of the first pending event of the SMs, of memory and of DRAM.
 * Memory goes on at m', the earlier one of m and d + F. Then
 *
 *     SMs may run all events before  min(m' + L, s + A)       what is unknown yet comes no earlier
 *     memory those before            min(s, m' + L,           requests come from s on, or after a
 *                                        d + F, m' + F)       reply; replies of DRAM from d + F on,
 *                                                             or F after what memory asks for
 *     DRAM those before              min(s, m')               requests of memory
 *
 * at the same time. SMs go no further than a stride ahead of where memory then is, that is of the
 * later one of m' and s: without that they would be ahead by turns of what a launch has begun with
 * and of the rest of L, and one of the two would have little to do in each window. In the steady
 * state a window is a stride long. Memory lags that much behind SMs, and DRAM that much behind
 * memory, so a stride is at most half of L, A, and half of F. While no CTA waits for a place, in
 * place of A stands how long an SM's credits last (mailbox.c), or L, unless an SM writes back at a
 * CTA's end what L1 keeps; a window is that long where memory has nothing to do.
 *
 * Device memory does not change while a window runs. SMs keep their stores back; between windows
 * these are published, SM after SM; then the atomics that memory has served happen, in its order. A
 * load sees its own SM's stores at once and others' after at most a lookahead. Results do not
 * depend on how far another SM has come. (docs/adr/0007)
 *
 * Delivery costs some microseconds a window, so a lookahead of a few cycles is not worth it. The
 * flit-level network has such a lookahead: it knows of a reply when it leaves the last router.
 *
 * What an instruction does to all at its issue (printf, malloc, a reduction in bulk) it does
 * between two windows: its SM stands still in front of it until no SM has anything to do before,
 * and then takes its turn. So these happen in the order of time and SM.
 *
 * Leaves out: launches of one CTA; programs that call the device's runtime, which may launch grids;
 * clusters of several CTAs, which reach each other's shared memory; an L1 behind a translator,
 * which asks memory before every lookup. They run as one group, on one thread.
 */
#include "gpu/state.h"

#define LOOKAHEAD_CYCLES_MIN 8

static uint64_t later(uint64_t time_ps, uint64_t by_ps)
{
    return time_ps > ENGINE_NEVER - by_ps ? ENGINE_NEVER : time_ps + by_ps;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* From the end of a CTA to the start of the next one. */
static uint64_t start_ahead_ps(const struct gpu *gpu)
{
    return clock_cycles_to_ps(&gpu->clock, gpu->model->sm.cta_start_cycles);
}

/* From what an SM asks for to the answer: memory's part of the way is left out. */
static uint64_t answer_ahead_ps(const struct gpu *gpu)
{
    return earlier(mem_noc_lookahead_ps(gpu->noc), gpu_constants_round_ps(gpu));
}

uint64_t gpu_lookahead_ps(const struct gpu *gpu)
{
    bool translated_first = gpu->l1_spec.enabled && gpu->l1_spec.address == ADDRESS_PHYSICAL;
    bool alone = !gpu->grids->next && gpu->grids->cta_count == 1;
    if (gpu->model->sms == 1 || alone || translated_first) {
        return 0;
    }
    for (const struct gpu_grid *grid = gpu->grids; grid; grid = grid->next) {
        if (exec_program_calls_runtime(grid->sm.launch->program) || grid->cluster_size > 1) {
            return 0;
        }
    }
    uint64_t lookahead_ps = mem_noc_lookahead_ps(gpu->noc);
    uint64_t least_ps =
        earlier(earlier(lookahead_ps, gpu_constants_lookahead_ps(gpu)), start_ahead_ps(gpu));
    return least_ps < LOOKAHEAD_CYCLES_MIN * gpu->clock.period_ps ? 0 : lookahead_ps;
}

int gpu_team(struct gpu *gpu, struct team **team)
{
    int rc = gpu->threads > 1 && !gpu->team ? team_create(&gpu->team, gpu->threads) : 0;
    *team = gpu->team;
    return rc;
}

static void look_ahead(struct gpu *gpu)
{
    uint64_t dram_ps = gpu_channels_lookahead_ps(gpu);
    gpu->sm_ahead_ps = earlier(answer_ahead_ps(gpu), start_ahead_ps(gpu));
    gpu->sm_ahead_alone_ps = gpu_ends_flush(gpu)
                                 ? gpu->sm_ahead_ps
                                 : earlier(answer_ahead_ps(gpu), 2 * gpu->sm_ahead_ps);
    gpu->stride_ps = earlier(gpu->lookahead_ps / 2, gpu->sm_ahead_ps);
    gpu->dram_ahead_ps = dram_ps < gpu->sm_ahead_ps ? 0 : dram_ps;
    if (gpu->dram_ahead_ps) {
        gpu->stride_ps = earlier(gpu->stride_ps, dram_ps / 2);
    }
}

/* Beside what it holds: twice as many as it uses in two strides, in which a credit comes back. */
static uint32_t credits_of_a_port(const struct gpu *gpu)
{
    return 2 * (uint32_t)(2 * gpu->stride_ps / gpu->clock.period_ps + 1);
}

int gpu_part(struct gpu *gpu)
{
    look_ahead(gpu);
    uint32_t credits = credits_of_a_port(gpu);
    struct team *team;
    int rc = gpu_team(gpu, &team);
    for (uint32_t i = 0; rc == 0 && i < gpu->model->sms; i++) {
        rc = sm_keep_stores(gpu->sm[i], true);
    }
    for (uint32_t i = 0; rc < 0 && i < gpu->model->sms; i++) {
        sm_keep_stores(gpu->sm[i], false);
    }
    for (uint32_t i = 0; rc == 0 && i < gpu->model->sms; i++) {
        struct gpu_boundary *boundary = &gpu->boundary[i];
        engine_part(boundary->engine);
        gpu_mailbox_part(&boundary->mailbox, gpu->model->noc.queue_entries + credits);
        boundary->has_news = boundary->has_stores = false;
    }
    for (uint32_t i = 0; rc == 0 && gpu->dram_ahead_ps && i < gpu->model->dram.channels; i++) {
        struct gpu_channel *channel = &gpu->channel[i];
        engine_part(channel->engine);
        gpu_mailbox_part(&channel->mailbox, gpu->model->dram.queue_entries + credits);
    }
    gpu_constants_part(gpu);
    gpu->asking_count = gpu->answering_count = 0;
    gpu->part_error = 0;
    gpu_set_clear(&gpu->sms_to_look_at);
    gpu_set_clear(&gpu->channels_to_look_at);
    gpu_set_clear(&gpu->notes->answered_sms);
    gpu_set_clear(&gpu->notes->asked_channels);
    mem_noc_set_bounded(gpu->noc, rc < 0);
    gpu->parted = rc == 0;
    return rc;
}

/* How many of DRAM's channels run apart from memory: all, or none. */
static uint32_t channels_apart(const struct gpu *gpu)
{
    return gpu->dram_ahead_ps ? gpu->model->dram.channels : 0;
}

/* ---- between two windows ---- */

/* The next CTA's end in order of time and SM; NULL: no more. */
static const struct gpu_cta_end *next_end(struct gpu *gpu)
{
    struct gpu_boundary *first = NULL;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        struct gpu_boundary *boundary = &gpu->boundary[i];
        if (boundary->end_told < boundary->end_count &&
            (!first ||
             boundary->end[boundary->end_told].at_ps < first->end[first->end_told].at_ps)) {
            first = boundary;
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
        gpu->boundary[i].end_count = gpu->boundary[i].end_told = 0;
    }
}

/* The first fault in order of time and SM is the launch's. */
static void find_fault(struct gpu *gpu)
{
    const struct gpu_boundary *first = NULL;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        const struct gpu_boundary *boundary = &gpu->boundary[i];
        if (boundary->fault < 0 && (!first || boundary->fault_ps < first->fault_ps)) {
            first = boundary;
        }
    }
    if (first) {
        gpu->error = error_set_lines(first->fault, first->fault_text);
    }
}

/* For the next exchange: whether it has to look at this boundary, and when the SM goes on. */
static void note_state(struct gpu_boundary *boundary)
{
    boundary->next_ps =
        earlier(engine_next_ps(boundary->engine), boundary->mailbox.delivered_replies.earliest_ps);
    boundary->awaits_turn = sm_awaits_turn(boundary->gpu->sm[boundary->sm]);
    if (boundary->awaits_turn) {
        boundary->next_ps = engine_now_ps(boundary->engine);
    }
    boundary->has_stores = sm_has_stores(boundary->gpu->sm[boundary->sm]);
    boundary->has_news = boundary->awaits_turn || boundary->mailbox.posted_requests.count > 0 ||
                         boundary->end_count > 0 || boundary->mailbox.space.count > 0 ||
                         boundary->fault < 0 || engine_error(boundary->engine) < 0;
}

static void note_error(struct gpu *gpu, const struct engine *engine)
{
    gpu->part_error = gpu->part_error ? gpu->part_error : engine_error(engine);
}

/* What the next window asks of an SM with which something was exchanged: few of many. The next
 * exchange looks at it again where something goes on without it. */
static void note_exchanged(struct gpu *gpu, uint32_t sm)
{
    struct gpu_boundary *boundary = &gpu->boundary[sm];
    note_state(boundary);
    gpu->sm_next_ps[sm] = boundary->next_ps;
    note_error(gpu, boundary->engine);
    if (boundary->mailbox.delivered_requests.count > 0) {
        gpu->asking[gpu->asking_count++] = sm;
    }
    if (!boundary->has_news && !boundary->has_stores && boundary->mailbox.used == 0) {
        gpu_set_remove(&gpu->sms_to_look_at, sm);
    }
}

/* What SMs have stored is there for all. Returns how many of them have something to exchange, the
 * first ones of gpu->busy, and all that is left to look at; *awaited: one waits for its turn. */
static uint32_t publish(struct gpu *gpu, bool *awaited)
{
    struct gpu_set *set = &gpu->sms_to_look_at;
    uint32_t count = 0;
    bool one_awaits = false;
    for (uint32_t i = gpu_set_next(set, 0); i != GPU_SET_END; i = gpu_set_next(set, i + 1)) {
        struct gpu_boundary *boundary = &gpu->boundary[i];
        if (boundary->has_stores) {
            sm_publish_stores(gpu->sm[i]);
            boundary->has_stores = false;
        }
        gpu->sm_next_ps[i] = boundary->next_ps;
        if (boundary->has_news || boundary->mailbox.posted_replies.count > 0 ||
            boundary->mailbox.used > 0) {
            gpu->busy[count++] = i;
            one_awaits |= boundary->awaits_turn;
        } else {
            gpu_set_remove(set, i);
        }
    }
    *awaited = one_awaits;
    return count;
}

/* The SM that goes on first, in order of time and SM. */
static struct gpu_boundary *first_to_go_on(struct gpu *gpu)
{
    struct gpu_boundary *first = &gpu->boundary[0];
    for (uint32_t i = 1; i < gpu->model->sms; i++) {
        first = gpu->boundary[i].next_ps < first->next_ps ? &gpu->boundary[i] : first;
    }
    return first;
}

/* Where everything runs in one group a fault ends the launch before what comes after it. */
static bool has_faulted_before(const struct gpu *gpu, const struct gpu_boundary *next)
{
    bool faulted = false;
    for (uint32_t i = 0; i < gpu->model->sms && !faulted; i++) {
        const struct gpu_boundary *boundary = &gpu->boundary[i];
        faulted = boundary->fault < 0 &&
                  (boundary->fault_ps < next->next_ps ||
                   (boundary->fault_ps == next->next_ps && boundary->sm <= next->sm));
    }
    return faulted;
}

/* SMs take their turns as long as none that does not wait for its own has something to do before,
 * or has faulted. What memory has posted comes to no SM before that: it is for the next window. */
static void give_turns(struct gpu *gpu)
{
    struct gpu_boundary *first = first_to_go_on(gpu);
    for (; first->awaits_turn && !has_faulted_before(gpu, first); first = first_to_go_on(gpu)) {
        sm_take_turn(gpu->sm[first->sm]);
        sm_publish_stores(gpu->sm[first->sm]);
        note_state(first);
    }
}

/* Nothing of the SMs that has not happened yet happens before `now_ps`. */
static void exchange_boundaries(struct gpu *gpu, uint64_t now_ps)
{
    struct gpu_set *set = &gpu->sms_to_look_at;
    bool ended = false, failed = false, awaited;
    gpu_set_take(set, &gpu->notes->answered_sms);
    uint32_t count = publish(gpu, &awaited);
    gpu->asking_count = 0;
    gpu_boundaries_do_atomics(gpu);
    if (awaited) {
        give_turns(gpu);
        count = publish(gpu, &awaited);
    }
    for (uint32_t k = 0; k < count; k++) {
        struct gpu_boundary *boundary = &gpu->boundary[gpu->busy[k]];
        gpu_constants_note(gpu, boundary->sm);
        gpu_boundary_exchange(boundary, now_ps);
        ended |= boundary->end_count > 0;
        failed |= boundary->fault < 0;
    }
    if (ended) {
        tell_ends(gpu); /* CTAs may come to any SM: distribute.c */
    }
    if (failed) {
        find_fault(gpu);
    }
    for (uint32_t i = gpu_set_next(set, 0); i != GPU_SET_END; i = gpu_set_next(set, i + 1)) {
        note_exchanged(gpu, i);
    }
}

/* What the next window asks of a channel with which something was exchanged. */
static void note_channel(struct gpu *gpu, uint32_t number)
{
    const struct gpu_channel *channel = &gpu->channel[number];
    const struct gpu_mailbox *mailbox = &channel->mailbox;
    gpu->channel_next_ps[number] =
        earlier(engine_next_ps(channel->engine), mailbox->delivered_requests.earliest_ps);
    note_error(gpu, channel->engine);
    if (mailbox->delivered_replies.count > 0) {
        gpu->answering[gpu->answering_count++] = number;
    }
}

/* With those channels that have run in the window or of which memory has asked something. */
static void exchange_channels(struct gpu *gpu, uint64_t now_ps)
{
    struct gpu_set *set = &gpu->channels_to_look_at;
    gpu->answering_count = 0;
    gpu_set_take(set, &gpu->notes->asked_channels);
    for (uint32_t i = gpu_set_next(set, 0); i != GPU_SET_END; i = gpu_set_next(set, i + 1)) {
        gpu_mailbox_exchange(&gpu->channel[i].mailbox, 0, now_ps);
        note_channel(gpu, i);
    }
    gpu_set_clear(set);
}

/* The first code of an engine that could not go on. */
static int engines_error(const struct gpu *gpu)
{
    int rc = gpu->part_error ? gpu->part_error : engine_error(gpu->engine);
    return rc < 0 ? error_memory() : 0;
}

/* DRAM is behind memory, which has heard all that it could. */
static void join_channels(struct gpu *gpu)
{
    uint64_t now_ps = engine_now_ps(gpu->engine);
    for (uint32_t i = 0; gpu->dram_ahead_ps && i < gpu->model->dram.channels; i++) {
        struct gpu_channel *channel = &gpu->channel[i];
        gpu_mailbox_exchange(&channel->mailbox, 0, now_ps);
        gpu_mailbox_read_requests(&channel->mailbox);
        engine_run_before(channel->engine, now_ps);
        gpu_mailbox_exchange(&channel->mailbox, 0, now_ps);
        gpu_mailbox_join(&channel->mailbox, now_ps);
        engine_join(channel->engine, gpu->engine);
    }
}

void gpu_join(struct gpu *gpu)
{
    if (!gpu->parted) {
        return;
    }
    join_channels(gpu);
    gpu->latest_ps = engine_now_ps(gpu->engine);
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        uint64_t now_ps = engine_now_ps(gpu->boundary[i].engine);
        gpu->latest_ps = now_ps > gpu->latest_ps ? now_ps : gpu->latest_ps;
    }
    exchange_boundaries(gpu, gpu->latest_ps);
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        gpu_mailbox_join(&gpu->boundary[i].mailbox, gpu->latest_ps);
        engine_join(gpu->boundary[i].engine, gpu->engine);
        sm_keep_stores(gpu->sm[i], false);
    }
    mem_noc_set_bounded(gpu->noc, true);
    gpu->parted = false;
}

/* ---- windows ---- */

struct window {
    struct gpu *gpu;
    uint64_t sm_limit_ps, memory_limit_ps, dram_limit_ps;
    uint32_t memory;   /* 1: memory has something to do; 0: nothing */
    uint32_t channels; /* that have: gpu->busy_channels */
};

static void run_memory(const struct window *window)
{
    struct gpu *gpu = window->gpu;
    for (uint32_t k = 0; k < gpu->asking_count; k++) {
        gpu_mailbox_read_requests(&gpu->boundary[gpu->asking[k]].mailbox);
    }
    for (uint32_t k = 0; k < gpu->answering_count; k++) {
        gpu_mailbox_read_replies(&gpu->channel[gpu->answering[k]].mailbox);
    }
    engine_run_before(gpu->engine, window->memory_limit_ps);
}

/* Memory's task comes first, which takes longest, then come the channels', then the SMs'. */
static void run_task(void *ctx, uint32_t index)
{
    const struct window *window = ctx;
    struct gpu *gpu = window->gpu;
    uint32_t others = window->memory + window->channels;
    if (index < window->memory) {
        run_memory(window);
    } else if (index < others) {
        struct gpu_channel *channel = &gpu->channel[gpu->busy_channels[index - window->memory]];
        gpu_mailbox_read_requests(&channel->mailbox);
        engine_run_before(channel->engine, window->dram_limit_ps);
    } else {
        struct gpu_boundary *boundary = &gpu->boundary[gpu->busy[index - others]];
        gpu_mailbox_read_replies(&boundary->mailbox);
        engine_run_before(boundary->engine, window->sm_limit_ps);
        note_state(boundary);
    }
}

/* No CTA is there to take the place of one that ends, nor can one come. */
static bool none_waits(const struct gpu *gpu)
{
    const struct gpu_grid *grid = gpu->grids;
    return gpu->is_only_grid && grid && !grid->next && grid->cta_next == grid->cta_count;
}

/* How soon what memory does comes to an SM. */
static uint64_t of_memory_ps(const struct gpu *gpu)
{
    return gpu_constants_are_awaited(gpu)
               ? earlier(gpu->lookahead_ps, gpu_constants_lookahead_ps(gpu))
               : gpu->lookahead_ps;
}

/* What was unknown when a window before this one was opened comes no earlier than its limit. */
static uint64_t sm_limit(const struct gpu *gpu, uint64_t memory_ps, uint64_t sm_ps)
{
    uint64_t ahead_ps = none_waits(gpu) ? gpu->sm_ahead_alone_ps : gpu->sm_ahead_ps;
    uint64_t last_ps = memory_ps > sm_ps ? memory_ps : sm_ps;
    uint64_t known_ps = earlier(later(memory_ps, of_memory_ps(gpu)), later(sm_ps, ahead_ps));
    uint64_t limit_ps = earlier(known_ps, later(last_ps, gpu->stride_ps));
    return limit_ps > gpu->window_ps ? limit_ps : gpu->window_ps;
}

/* What SMs and DRAM make of what memory does comes back to it no sooner than their lookaheads after
 * that; whatever else they do comes from `others_ps` on. */
static uint64_t memory_limit(const struct gpu *gpu, uint64_t memory_ps, uint64_t others_ps)
{
    uint64_t dram_ps = gpu->dram_ahead_ps ? gpu->dram_ahead_ps : ENGINE_NEVER;
    return earlier(others_ps, later(memory_ps, earlier(of_memory_ps(gpu), dram_ps)));
}

/* When memory goes on by itself or by what it has not read yet. */
static uint64_t memory_next_ps(const struct gpu *gpu)
{
    uint64_t memory_ps = engine_next_ps(gpu->engine);
    for (uint32_t k = 0; k < gpu->asking_count; k++) {
        const struct gpu_mailbox *mailbox = &gpu->boundary[gpu->asking[k]].mailbox;
        memory_ps = earlier(memory_ps, mailbox->delivered_requests.earliest_ps);
    }
    for (uint32_t k = 0; k < gpu->answering_count; k++) {
        const struct gpu_mailbox *mailbox = &gpu->channel[gpu->answering[k]].mailbox;
        memory_ps = earlier(memory_ps, mailbox->delivered_replies.earliest_ps);
    }
    return memory_ps;
}

static uint64_t earliest(const uint64_t *time_ps, uint32_t count)
{
    uint64_t first_ps = ENGINE_NEVER;
    for (uint32_t i = 0; i < count; i++) {
        first_ps = earlier(first_ps, time_ps[i]);
    }
    return first_ps;
}

/* How far everybody may run; false: nothing is pending. */
static bool window_open(struct window *window, struct gpu *gpu)
{
    uint64_t sm_ps = earliest(gpu->sm_next_ps, gpu->model->sms);
    uint64_t dram_ps = earliest(gpu->channel_next_ps, channels_apart(gpu));
    uint64_t answer_ps = later(dram_ps, gpu->dram_ahead_ps);
    uint64_t memory_ps = earlier(memory_next_ps(gpu), answer_ps);
    uint64_t first_ps = earlier(memory_ps, sm_ps);
    *window =
        (struct window){.gpu = gpu,
                        .sm_limit_ps = sm_limit(gpu, memory_ps, sm_ps),
                        .memory_limit_ps = memory_limit(gpu, memory_ps, earlier(sm_ps, answer_ps)),
                        .dram_limit_ps = first_ps};
    return first_ps != ENGINE_NEVER;
}

/* Who has something to do in the window. Returns how many tasks that is. */
static uint32_t find_tasks(struct window *window)
{
    struct gpu *gpu = window->gpu;
    uint32_t busy = 0, channels = channels_apart(gpu);
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        if (gpu->sm_next_ps[i] < window->sm_limit_ps && !gpu->boundary[i].awaits_turn) {
            gpu->busy[busy++] = i;
            gpu_set_add(&gpu->sms_to_look_at, i);
        }
    }
    for (uint32_t i = 0; i < channels; i++) {
        if (gpu->channel_next_ps[i] < window->dram_limit_ps) {
            gpu->busy_channels[window->channels++] = i;
            gpu_set_add(&gpu->channels_to_look_at, i);
        }
    }
    window->memory = gpu->asking_count + gpu->answering_count > 0 ||
                     engine_next_ps(gpu->engine) < window->memory_limit_ps;
    return window->memory + window->channels + busy;
}

/* One window and the exchange after it, if it begins before `until_ps`; false: nothing is pending.
 */
static bool step(struct gpu *gpu, uint64_t until_ps)
{
    struct window window;
    if (!window_open(&window, gpu)) {
        return false;
    }
    gpu->reached = window.dram_limit_ps >= until_ps;
    if (gpu->reached) {
        return true;
    }
    gpu->window_ps = window.sm_limit_ps;
    uint32_t tasks = find_tasks(&window);
    if (gpu->team && tasks > 1) {
        team_run(gpu->team, run_task, &window, tasks);
    } else {
        for (uint32_t i = 0; i < tasks; i++) {
            run_task(&window, i);
        }
    }
    exchange_channels(gpu, window.memory_limit_ps);
    exchange_boundaries(gpu, window.sm_limit_ps);
    return true;
}

bool gpu_is_last_cta(const struct gpu *gpu)
{
    return none_waits(gpu) && gpu->grids->cta_ended + 1 == gpu->grids->cta_count;
}

/* Grids may have come since. */
static void note_all(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        note_state(&gpu->boundary[i]);
        gpu->sm_next_ps[i] = gpu->boundary[i].next_ps;
        gpu_set_add(&gpu->sms_to_look_at, i);
    }
    gpu->answering_count = 0;
    for (uint32_t i = 0; i < channels_apart(gpu); i++) {
        note_channel(gpu, i);
    }
}

int gpu_run_windows(struct gpu *gpu, uint64_t until_ps)
{
    int rc = 0;
    note_all(gpu);
    while (rc == 0 && !gpu->reached && !gpu_pauses(gpu) && !gpu_is_last_cta(gpu)) {
        bool stepped = step(gpu, until_ps);
        rc = gpu->error < 0 ? gpu->error : engines_error(gpu);
        if (rc == 0 && !stepped) {
            rc = gpu_deadlock(gpu);
        }
        if (rc == 0) {
            rc = gpu_check_time(gpu, gpu->window_ps);
        }
    }
    return rc;
}
