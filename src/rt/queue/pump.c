/*
 * What makes work happen. Whoever waits or polls does it, in steps: everything that may begin
 * begins, in order of priority and age; then simulated time goes on to the next end, of a copy or
 * of a grid, and what waited for it is set free.
 *
 * Copies and memsets happen at their end, what takes no time (records, host functions, launches
 * that are only functional) when it begins. Between two steps, and in the middle of kernels, the
 * lock goes to another thread that wants it.
 */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "rt/queue/state.h"
#include "util/error.h"

/* Of the core clock: how far a poll lets time go on at least. */
#define POLL_CYCLES 10000
/* How far a launch without timing goes before others have their turn. */
#define SLICE_WARP_INSNS (1u << 18)

/* Of begin(): the operation waits for a word of memory, and holds up nothing but what follows it.
 */
#define VALUE_LATER 2

enum step { STEP_DONE, STEP_PAUSED, STEP_NOTHING };

/* ---- ends ---- */

static void finish(struct queue *queue, struct rt_op *op, uint64_t end_ps)
{
    queue->now_ps = end_ps > queue->now_ps ? end_ps : queue->now_ps;
    while (op && !device_holds(op, end_ps)) {
        struct rt_op *parent = op->parent;
        if (parent) {
            device_forget(op);
        }
        op_done(op, end_ps);
        op = parent && device_child_over(parent, &end_ps) ? parent : NULL;
    }
}

/* begin() has made room. */
static int run_on(struct queue *queue, struct rt_op *op, uint64_t end_ps)
{
    op_unready(op);
    op->end_ps = end_ps;
    queue->running.data[queue->running.count++] = op;
    return 0;
}

static const struct gpu_stats *stats_now(struct queue *queue)
{
    const struct gpu *gpu = queue->rt->gpu;
    if (queue->stats_version != gpu_stats_version(gpu)) {
        gpu_stats(gpu, &queue->stats);
        queue->stats_version = gpu_stats_version(gpu);
    }
    return &queue->stats;
}

static void tell_done(struct queue *queue, struct rt_op *op, uint64_t warp_insns,
                      uint64_t thread_insns)
{
    struct op_launch *l = &op->launch;
    uint64_t cycles = (l->result.end_ps - l->result.begin_ps) / queue->rt->model->core_period_ps;
    queue->timed_cycles += l->launch.functional ? 0 : cycles;
    if (sampling_end(queue->rt, &l->sampling, l->kernel, cycles, l->status) < 0) {
        context_spoil(queue->rt, error_memory());
    }
    if (!queue->done) {
        return;
    }
    struct rt_done done = {.kernel = l->kernel,
                           .stream_id = op->stream->id,
                           .functional = l->launch.functional,
                           .estimated = l->sampling.what == SAMPLING_ESTIMATES,
                           .status = l->status,
                           .begin_ps = l->result.begin_ps,
                           .end_ps = l->result.end_ps,
                           .shared = l->result.shared,
                           .warp_insns = warp_insns,
                           .thread_insns = thread_insns};
    memcpy(done.grid, l->launch.grid, sizeof done.grid);
    memcpy(done.block, l->launch.block, sizeof done.block);
    if (l->before) {
        done.stats = *stats_now(queue);
        gpu_stats_since(&done.stats, l->before);
        done.warp_insns = l->result.warp_insns;
        done.thread_insns = l->result.thread_insns;
        done.cycles = cycles;
        done.stats.cycles = done.shared ? cycles : done.stats.cycles;
        done.stats.launches = 1; /* others may have ended meanwhile */
    } else if (done.estimated) {
        done.warp_insns = l->sampling.warp_insns;
        done.thread_insns = l->sampling.thread_insns;
        done.cycles = cycles;
    }
    queue->done(queue->done_ctx, &done);
}

static void take_over_grid(struct queue *queue, struct rt_op *op, int status)
{
    struct op_launch *l = &op->launch;
    gpu_grid_end(l->grid, &l->result);
    uint64_t skipped = sampling_skipped(&l->sampling);
    l->result.end_ps += skipped * queue->rt->model->core_period_ps;
    l->grid = NULL;
    l->status = status;
    op->end_ps = l->result.end_ps;
    if (skipped > 0 && op->end_ps > queue->estimated_ps) {
        queue->estimated_ps = op->end_ps;
    }
    queue->grids--;
    queue->cooperative = queue->cooperative && !l->launch.cooperative;
}

/* Grids that are over have an end from now on. */
static void collect_grids(struct queue *queue, int status)
{
    for (size_t i = 0; i < queue->running.count; i++) {
        struct rt_op *op = queue->running.data[i];
        if (op->kind == OP_LAUNCH && op->launch.grid && gpu_grid_is_over(op->launch.grid)) {
            take_over_grid(queue, op, status);
        }
    }
}

static void tell_copied(struct queue *queue, const struct rt_op *op)
{
    static const char *const ways[2][2] = {{"host to host", "host to device"},
                                           {"device to host", "device to device"}};
    const struct rt_copy *copy = &op->copy.copy;
    bool from = copy->src.kind != RT_END_HOST, to = copy->dst.kind != RT_END_HOST;
    if (queue->copied) {
        struct rt_copied told = {.stream_id = op->stream->id,
                                 .bytes = copy->width_bytes * copy->height * copy->depth,
                                 .begin_ps = op->begin_ps,
                                 .end_ps = op->end_ps,
                                 .way = ways[from][to]};
        queue->copied(queue->copied_ctx, &told);
    }
}

static int perform(struct queue *queue, struct rt_op *op)
{
    struct rt *rt = queue->rt;
    if (op->kind == OP_COPY) {
        tell_copied(queue, op);
        return copy_perform(rt, &op->copy.copy);
    }
    if (op->kind == OP_MEMSET) {
        return memset_perform(rt, &op->memset);
    }
    queue->estimated = queue->estimated && op->launch.sampling.what != SAMPLING_ESTIMATES;
    int rc = launch_ended(rt, op->launch.kernel, 0);
    tell_done(queue, op, 0, 0);
    return rc;
}

/* Of what runs, the one that ends first, no later than `until_ps`; NULL: none. */
static struct rt_op *first_end(const struct queue *queue, uint64_t until_ps, size_t *place)
{
    struct rt_op *first = NULL;
    for (size_t i = 0; i < queue->running.count; i++) {
        struct rt_op *op = queue->running.data[i];
        if (op->end_ps > until_ps || op->end_ps == ENGINE_NEVER) {
            continue;
        }
        if (!first || op->end_ps < first->end_ps ||
            (op->end_ps == first->end_ps && op->seq < first->seq)) {
            first = op;
            *place = i;
        }
    }
    return first;
}

static bool end_first(struct queue *queue, uint64_t until_ps)
{
    size_t place;
    struct rt_op *op = first_end(queue, until_ps, &place);
    if (!op) {
        return false;
    }
    queue->running.data[place] = queue->running.data[--queue->running.count];
    int rc = queue->rt->fault_code < 0 && op->kind != OP_LAUNCH ? 0 : perform(queue, op);
    if (rc < 0) {
        context_spoil(queue->rt, rc);
    }
    finish(queue, op, op->end_ps);
    return true;
}

/* ---- begins ---- */

static uint64_t *engine_of(struct queue *queue, enum link_way way)
{
    bool one = queue->rt->model->link.copy_engines == 1;
    return way == LINK_NONE ? NULL : &queue->copy_free_ps[one ? 0 : way];
}

static int begin_copy(struct queue *queue, struct rt_op *op)
{
    const struct rt_copy *copy = &op->copy.copy;
    uint64_t *free_ps = engine_of(queue, link_way(copy));
    uint64_t begin_ps = free_ps && *free_ps > op->begin_ps ? *free_ps : op->begin_ps;
    uint64_t end_ps = begin_ps + link_copy_ps(queue->rt->model, copy, op->copy.staged != NULL);
    if (free_ps) {
        *free_ps = end_ps;
    }
    op->begin_ps = begin_ps;
    return run_on(queue, op, end_ps);
}

static int note_before(struct queue *queue, struct op_launch *l)
{
    if (!queue->done) {
        return 0;
    }
    if (!l->before && !(l->before = malloc(sizeof *l->before))) {
        return error_memory();
    }
    *l->before = *stats_now(queue);
    return 0;
}

/* ---- launches without timing ---- */

/* Is it over? */
static bool run_some(struct queue *queue, struct rt_op *op)
{
    struct op_launch *l = &op->launch;
    uint64_t insns = l->options.warp_insns;
    launch_see_objects(queue->rt, &l->run);
    bool stops = queue->given_up || queue->rt->fault_code < 0;
    int rc = stops ? error_set(SONDE_EINTERRUPTED, "interrupted")
                   : exec_run_some(l->functional, SLICE_WARP_INSNS);
    if (rc == EXEC_RUN_MORE) {
        /* Fewer than before: what was shared out to threads runs again on one. */
        bool fewer = l->options.warp_insns < insns;
        queue_spend(queue, 0, fewer ? 0 : l->options.warp_insns - insns);
        return false;
    }
    struct rt *rt = queue->rt;
    exec_run_end(l->functional);
    l->functional = NULL;
    queue->functional--;
    queue->cooperative = queue->cooperative && !l->launch.cooperative;
    rt->warp_insns += l->options.warp_insns;
    rt->thread_insns += l->options.thread_insns;
    l->status = launch_ended(rt, l->kernel, rc);
    l->result = (struct gpu_grid_result){.begin_ps = op->begin_ps, .end_ps = op->begin_ps};
    tell_done(queue, op, l->options.warp_insns, l->options.thread_insns);
    if (l->status < 0) {
        context_spoil(rt, l->status);
    }
    return true;
}

/* The first of those that are not over, a little; false: there is none. */
static bool run_functional(struct queue *queue)
{
    for (size_t i = 0; queue->functional > 0 && i < queue->running.count; i++) {
        struct rt_op *op = queue->running.data[i];
        if (op->kind != OP_LAUNCH || !op->launch.functional) {
            continue;
        }
        /* The next time it is another's turn: they may wait for each other. */
        memmove(&queue->running.data[i], &queue->running.data[i + 1],
                (queue->running.count - i - 1) * sizeof(struct rt_op *));
        queue->running.count--;
        if (run_some(queue, op)) {
            finish(queue, op, op->begin_ps);
        } else {
            queue->running.data[queue->running.count++] = op;
        }
        return true;
    }
    return false;
}

/* Nobody but the one launch without timing could change memory. */
static bool functional_is_alone(const void *ctx)
{
    const struct queue *queue = ctx;
    return queue->functional == 1 && queue->grids == 0 && queue_is_alone(queue);
}

/* Most are over at once. */
static int begin_functional(struct queue *queue, struct rt_op *op)
{
    struct op_launch *l = &op->launch;
    l->options = (struct exec_run_options){.interrupt = queue->rt->cancel,
                                           .tells = queue->rt->tells_cancelled,
                                           .progress = queue->rt->progress,
                                           .alone = functional_is_alone,
                                           .alone_ctx = queue};
    int rc = gpu_team(queue->rt->gpu, &l->options.team);
    rc = rc == 0 ? exec_run_begin(&l->functional, &l->run, &l->options) : rc;
    if (rc < 0) {
        return launch_ended(queue->rt, l->kernel, rc);
    }
    queue->rt->launches++;
    queue->functional++;
    queue->cooperative |= l->launch.cooperative;
    if (!run_some(queue, op)) {
        return run_on(queue, op, ENGINE_NEVER);
    }
    op_unready(op);
    finish(queue, op, op->begin_ps);
    return 0;
}

/* It is a launch, or launches wait for its end, with which time has not come up yet. */
static bool brings_launches(const struct rt_op *op)
{
    bool brings = op->kind == OP_LAUNCH;
    for (size_t i = 0; !brings && i < op->followers.count; i++) {
        brings = op->followers.data[i]->kind == OP_LAUNCH;
    }
    return brings;
}

/* Neither beside others nor before others that may come beside it. */
static bool is_alone(const struct queue *queue, const struct rt_op *op)
{
    bool alone = queue->grids == 0 && queue->functional == 0 && !queue->finishes;
    for (const struct rt_op *other = queue->ready; alone && other; other = other->ready_next) {
        alone = other == op || !brings_launches(other);
    }
    for (size_t i = 0; alone && i < queue->running.count; i++) {
        alone = !brings_launches(queue->running.data[i]);
    }
    return alone;
}

/* It has happened; the time that it would take goes by. */
static int begin_estimated(struct queue *queue, struct rt_op *op)
{
    struct op_launch *l = &op->launch;
    uint64_t period_ps = queue->rt->model->core_period_ps;
    uint64_t begin_ps = (op->begin_ps + period_ps - 1) / period_ps * period_ps;
    uint64_t end_ps = begin_ps + l->sampling.estimated_cycles * period_ps;
    l->result = (struct gpu_grid_result){.begin_ps = begin_ps, .end_ps = end_ps};
    queue->rt->launches++;
    queue->estimated = true;
    queue->estimated_ps = end_ps;
    return run_on(queue, op, end_ps);
}

/* GPU_LATER: not beside those that are on the GPU. */
static int begin_launch(struct queue *queue, struct rt_op *op)
{
    struct rt *rt = queue->rt;
    struct op_launch *l = &op->launch;
    l->launch.functional |= queue->timed_limit > 0 && queue->timed_cycles >= queue->timed_limit;
    bool timed = !l->launch.functional;
    if ((timed && (queue->grids >= rt->model->concurrent_grids || queue->estimated)) ||
        (l->launch.cooperative && queue->cooperative)) {
        return GPU_LATER;
    }
    if (timed && op->begin_ps < queue->estimated_ps) {
        op->begin_ps = queue->estimated_ps; /* the GPU's own time stood still meanwhile */
    }
    int rc = launch_prepare(rt, &l->run, l->kernel, &l->launch, l->params, true);
    l->run.services = &rt->queued_services;
    if (rc != 0 || !timed) {
        return rc != 0 ? rc : begin_functional(queue, op);
    }
    launch_cool(rt);
    rc = sampling_begin(rt, &l->sampling, l->kernel, &l->run, is_alone(queue, op));
    if (rc == 0 && l->sampling.what == SAMPLING_ESTIMATES) {
        return begin_estimated(queue, op);
    }
    rc = rc == 0 ? note_before(queue, l) : rc;
    struct gpu_grid_options options = {.priority = op->stream->priority,
                                       .shares = true,
                                       .not_before_ps = op->begin_ps,
                                       .max_cycles = l->launch.max_cycles,
                                       .skips = l->sampling.skips};
    if (rc == 0) {
        rc = gpu_grid_begin(rt->gpu, &l->grid, &l->run, &options);
    }
    if (rc != 0) {
        return rc;
    }
    rt->launches++;
    queue->grids++;
    queue->cooperative |= l->launch.cooperative;
    return run_on(queue, op, ENGINE_NEVER);
}

/* With the context spoilt nothing happens any more, but that callbacks are told so. */
static void drop(struct queue *queue, struct rt_op *op)
{
    op_unready(op);
    if (op->kind == OP_CALLBACK) {
        queue_call_host(queue, &op->host, queue->rt->fault_code);
    }
    finish(queue, op, op->begin_ps);
}

/* A graph that is launched again may free what is free. */
static void give_memory(struct queue *queue, uint64_t address)
{
    for (size_t i = 0; i < queue->leaving.count; i++) {
        if (queue->leaving.data[i] == address) {
            queue->leaving.data[i] = queue->leaving.data[--queue->leaving.count];
            break;
        }
    }
    if (queue_has_freed(queue, address)) {
        return;
    }
    if (!pool_give(queue, address) && vec_push(&queue->frees, address) < 0) {
        context_spoil(queue->rt, error_memory());
    }
}

/* What is done to a word of memory takes no time; what waits for it ends when it is seen. */
static int begin_value(struct queue *queue, struct rt_op *op)
{
    uint64_t end_ps = op->begin_ps;
    if (!value_perform(&op->value)) {
        return VALUE_LATER;
    }
    if (op->value.what != RT_VALUE_WRITE) {
        uint64_t now_ps = queue->grids > 0 ? gpu_now_ps(queue->rt->gpu) : queue->now_ps;
        end_ps = now_ps > end_ps ? now_ps : end_ps;
    }
    op_unready(op);
    finish(queue, op, end_ps);
    return 0;
}

/* 0: it has begun, and may be gone; GPU_LATER: it waits for the GPU; VALUE_LATER. */
static int begin(struct queue *queue, struct rt_op *op)
{
    if (vec_reserve(&queue->running, queue->running.count + 1) < 0) {
        return error_memory();
    }
    switch (op->kind) {
    case OP_LAUNCH:
        return begin_launch(queue, op);
    case OP_COPY:
        return begin_copy(queue, op);
    case OP_MEMSET:
        return run_on(queue, op, op->begin_ps + link_memset_ps(queue->rt->model, &op->memset));
    case OP_HOST:
    case OP_CALLBACK:
        op_unready(op);
        queue_call_host(queue, &op->host, 0);
        break;
    case OP_FREE:
        op_unready(op);
        give_memory(queue, op->address);
        break;
    case OP_VALUE:
        return begin_value(queue, op);
    case OP_GRAPH_BEGIN:
        op_unready(op);
        graph_begins(op->exec);
        break;
    case OP_CONDITION: {
        int rc = condition_run(op);
        if (rc < 0) {
            return rc;
        }
        op_unready(op);
        break;
    }
    default:
        op_unready(op);
    }
    finish(queue, op, op->begin_ps);
    return 0;
}

/* One operation; false: none can. Launches are not overtaken by launches behind them. */
static bool begin_one(struct queue *queue)
{
    bool gpu_full = false;
    queue->awaits_value = false;
    for (struct rt_op *op = queue->ready; op; op = op->ready_next) {
        if (queue->rt->fault_code < 0) {
            drop(queue, op);
            return true;
        }
        bool timed = op->kind == OP_LAUNCH && !op->launch.launch.functional;
        if (timed && gpu_full) {
            continue;
        }
        int rc = begin(queue, op);
        if (rc < 0) {
            context_spoil(queue->rt, rc);
            drop(queue, op);
        }
        if (rc <= 0) {
            return true;
        }
        queue->awaits_value |= rc == VALUE_LATER;
        gpu_full |= rc == GPU_LATER;
    }
    return false;
}

/* ---- time ---- */

static void give_back_memory(struct queue *queue)
{
    for (size_t i = 0; !queue_runs(queue) && i < queue->frees.count; i++) {
        memory_give(queue->rt, queue->frees.data[i]);
    }
    if (!queue_runs(queue)) {
        vec_clear(&queue->frees);
    }
}

static void see_objects(struct queue *queue)
{
    for (size_t i = 0; i < queue->running.count; i++) {
        struct rt_op *op = queue->running.data[i];
        if (op->kind == OP_LAUNCH && op->launch.grid) {
            launch_see_objects(queue->rt, &op->launch.run);
        }
    }
}

/* While the program ends, a little at a time, which is counted. */
static int run_gpu(struct queue *queue, uint64_t *until_ps)
{
    struct gpu *gpu = queue->rt->gpu;
    if (!queue->finishes) {
        return gpu_run(gpu, *until_ps);
    }
    uint64_t period_ps = queue->rt->model->core_period_ps;
    uint64_t begin_ps = gpu_now_ps(gpu), insns = stats_now(queue)->warp_insns;
    uint64_t slice_ps = begin_ps + POLL_CYCLES * period_ps;
    *until_ps = slice_ps < *until_ps ? slice_ps : *until_ps;
    int rc = gpu_run(gpu, *until_ps);
    if (rc == 0) {
        queue_spend(queue, (gpu_now_ps(gpu) - begin_ps) / period_ps + 1,
                    stats_now(queue)->warp_insns - insns);
    }
    return rc;
}

/* Time goes on to the next end, or to `until_ps`. */
static enum step advance(struct queue *queue, uint64_t until_ps)
{
    struct rt *rt = queue->rt;
    if (queue->grids == 0) {
        bool done = end_first(queue, ENGINE_NEVER) || run_functional(queue);
        return done ? STEP_DONE : STEP_NOTHING;
    }
    if ((run_functional(queue) || queue->awaits_value) && until_ps == ENGINE_NEVER) {
        until_ps = gpu_now_ps(rt->gpu) + POLL_CYCLES * rt->model->core_period_ps;
    }
    if (end_first(queue, gpu_now_ps(rt->gpu))) {
        return STEP_DONE;
    }
    size_t place;
    const struct rt_op *copy = first_end(queue, ENGINE_NEVER, &place);
    if (copy && copy->end_ps < until_ps) {
        until_ps = copy->end_ps;
    }
    see_objects(queue);
    gpu_set_pause(rt->gpu, &queue->wanting);
    gpu_set_alone(rt->gpu, queue_is_alone, queue);
    queue->bounded = until_ps != ENGINE_NEVER;
    int rc = run_gpu(queue, &until_ps);
    if (rc < 0) {
        context_spoil(rt, rc);
    }
    collect_grids(queue, rc);
    uint64_t now_ps = gpu_now_ps(rt->gpu);
    bool reached = gpu_has_reached(rt->gpu) && now_ps < until_ps;
    return end_first(queue, reached ? until_ps : now_ps) ? STEP_DONE : STEP_PAUSED;
}

static enum step take_step(struct queue *queue, uint64_t until_ps)
{
    const struct rt *rt = queue->rt;
    if (rt->cancel && *rt->cancel && queue->grids == 0) {
        context_spoil(queue->rt, error_set(SONDE_EINTERRUPTED, "interrupted"));
    }
    give_back_memory(queue);
    return begin_one(queue) ? STEP_DONE : advance(queue, until_ps);
}

/* The calling thread is the program's, which may round as it likes and have no subnormal numbers
 * (-ffast-math): what the device does is none of that. */
static enum step step(struct queue *queue, uint64_t until_ps)
{
    fenv_t own;
    fegetenv(&own);
    fesetenv(FE_DFL_ENV);
    enum step done = take_step(queue, until_ps);
    fesetenv(&own);
    return done;
}

int queue_wait(struct queue *queue, queue_met *met, const void *ctx, uint64_t seq)
{
    while (!met(ctx, seq)) {
        if (queue->pumping) {
            queue_wait_change(queue);
            continue;
        }
        queue->pumping = queue->waits = true;
        enum step done = step(queue, ENGINE_NEVER);
        queue->waits = false;
        if (done != STEP_NOTHING && atomic_load(&queue->wanting) > 0) {
            queue_yield(queue);
        }
        queue->pumping = false;
        if (done == STEP_NOTHING && queue->awaits_value) {
            if (queue->finishes) { /* nobody is left who would write it */
                queue_give_up(queue, error_set(SONDE_EINTERRUPTED, "the program has ended"));
            }
            value_wait(queue);
        } else if (done == STEP_NOTHING && !met(ctx, seq)) {
            return error_set(SONDE_EINTERNAL, "the queue waits for what cannot come");
        }
    }
    give_back_memory(queue);
    return context_check(queue->rt);
}

bool queue_push(struct queue *queue)
{
    if (queue->pumping) {
        return false;
    }
    queue->pumping = true;
    enum step done = step(queue, ENGINE_NEVER);
    queue->pumping = false;
    return done != STEP_NOTHING;
}

int queue_poll(struct queue *queue)
{
    struct rt *rt = queue->rt;
    if (!queue->pumping) {
        uint64_t until_ps = queue->grids > 0 ? gpu_now_ps(rt->gpu) : queue->now_ps;
        until_ps += POLL_CYCLES * rt->model->core_period_ps;
        queue->pumping = true;
        while (begin_one(queue)) {
        }
        step(queue, until_ps);
        queue->host_ps = queue->now_ps > queue->host_ps ? queue->now_ps : queue->host_ps;
        queue->pumping = false;
    }
    return context_check(rt);
}
