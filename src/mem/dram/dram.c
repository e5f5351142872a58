/*
 * One DRAM channel. A decision takes one request out of the queue and computes all its commands
 * at once:
 *
 *      row open:      column                        data after tCL
 *      bank closed:   activate, tRCD, column        activates tRC apart in a bank, tRRD in any two
 *      other row:     precharge, tRP, activate ...  precharge tRAS after its activate at least
 *
 * and the data bus carries ceil(bytes / burst) bursts of burst_bytes, one request after the
 * other. The next decision is made when the bus will be free after the longest preparation (tRP +
 * tRCD + tCL), so that banks prepare while others transfer, and no earlier than a command clock
 * later, so that late arrivals still have their say. The reply comes at the end of the data, plus
 * the controller's fixed time.
 *
 * Left out: read/write turnaround, write recovery, four-activate windows, refresh, the command bus.
 */
#include <stdlib.h>
#include <string.h>

#include "mem/dram/channel.h"
#include "util/error.h"

static const struct dram_sched_ops *const scheds[DRAM_SCHED_KIND_COUNT] = {
#define DRAM_SCHED(id, text, doc) [DRAM_SCHED_##id] = &dram_sched_##id,
#include "mem/dram/sched/sched.def"
#undef DRAM_SCHED
};

static int dram_check(const struct dram_spec *spec)
{
    if ((unsigned)spec->sched >= DRAM_SCHED_KIND_COUNT) {
        return error_set(SONDE_EINPUT, "DRAM: unknown scheduler %d", (int)spec->sched);
    }
    if (spec->channels == 0 || spec->banks == 0 || spec->row_bytes == 0 || spec->burst_bytes == 0 ||
        spec->period_ps == 0 || spec->queue_entries == 0) {
        return error_set(SONDE_EINPUT, "DRAM: channels, banks, row, burst, period and queue "
                                       "entries must be at least 1");
    }
    return 0;
}

int mem_dram_create(struct mem_dram **out, const struct dram_spec *spec, struct engine *engine,
                    const struct engine_clock *core_clock, uint32_t source)
{
    *out = NULL;
    int rc = dram_check(spec);
    if (rc < 0) {
        return rc;
    }
    struct mem_dram *dram = calloc(1, sizeof *dram);
    if (!dram) {
        return error_memory();
    }
    *dram = (struct mem_dram){.spec = spec,
                              .engine = engine,
                              .core_clock = core_clock,
                              .clock = {.period_ps = spec->period_ps},
                              .source = source,
                              .sched = scheds[spec->sched],
                              .decide_ps = ENGINE_NEVER};
    waiters_init(&dram->space, engine, source);
    dram->banks = calloc(spec->banks, sizeof *dram->banks);
    dram->queue = calloc(spec->queue_entries, sizeof *dram->queue);
    if (!dram->banks || !dram->queue) {
        mem_dram_destroy(dram);
        return error_memory();
    }
    for (uint32_t i = 0; i < spec->banks; i++) {
        dram->banks[i].row = DRAM_NO_ROW;
    }
    *out = dram;
    return 0;
}

void mem_dram_destroy(struct mem_dram *dram)
{
    if (dram) {
        waiters_free(&dram->space);
        free(dram->banks);
        free(dram->queue);
        free(dram);
    }
}

const struct mem_dram_stats *mem_dram_stats(const struct mem_dram *dram)
{
    return &dram->stats;
}

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t cycles_ps(const struct mem_dram *dram, uint32_t cycles)
{
    return cycles * dram->clock.period_ps;
}

/* The commands that serve a request, and when. */
struct commands {
    bool activates;
    uint64_t activate_ps, column_ps;
};

static struct commands plan_commands(const struct mem_dram *dram, const struct dram_entry *entry,
                                     uint64_t now_ps)
{
    const struct dram_bank *bank = &dram->banks[entry->bank];
    struct commands plan = {0};
    if (bank->row == entry->row) {
        plan.column_ps = latest(now_ps, bank->column_ps);
        return plan;
    }
    plan.activates = true;
    plan.activate_ps = latest(now_ps, latest(bank->activate_ps, dram->rank_activate_ps));
    if (bank->row != DRAM_NO_ROW) {
        uint64_t precharge_ps = latest(now_ps, bank->precharge_ps);
        plan.activate_ps =
            latest(plan.activate_ps, precharge_ps + cycles_ps(dram, dram->spec->t_rp));
    }
    plan.column_ps = plan.activate_ps + cycles_ps(dram, dram->spec->t_rcd);
    return plan;
}

uint64_t dram_data_ready_ps(const struct mem_dram *dram, const struct dram_entry *entry,
                            uint64_t now_ps)
{
    return plan_commands(dram, entry, now_ps).column_ps + cycles_ps(dram, dram->spec->t_cl);
}

static uint64_t transfer_ps(const struct mem_dram *dram, uint32_t bytes)
{
    const struct dram_spec *spec = dram->spec;
    if (spec->bytes_per_cycle == 0) {
        return 0;
    }
    uint64_t bursts = ((uint64_t)bytes + spec->burst_bytes - 1) / spec->burst_bytes;
    uint64_t on_bus = bursts * spec->burst_bytes + spec->bytes_per_cycle - 1;
    return on_bus / spec->bytes_per_cycle * dram->clock.period_ps;
}

/* What the bank may do after the commands planned, whose transfer takes duration_ps. */
static void update_bank(struct mem_dram *dram, const struct dram_entry *entry,
                        const struct commands *plan, uint64_t duration_ps)
{
    const struct dram_spec *spec = dram->spec;
    struct dram_bank *bank = &dram->banks[entry->bank];
    if (plan->activates) {
        dram->rank_activate_ps = plan->activate_ps + cycles_ps(dram, spec->t_rrd);
        bank->activate_ps = plan->activate_ps + cycles_ps(dram, spec->t_rc);
        bank->precharge_ps = plan->activate_ps + cycles_ps(dram, spec->t_ras);
    }
    bank->row = entry->row;
    bank->column_ps = plan->column_ps + duration_ps;
    bank->precharge_ps = latest(bank->precharge_ps, bank->column_ps);
    if (spec->closed_page) {
        bank->row = DRAM_NO_ROW;
        bank->activate_ps =
            latest(bank->activate_ps, bank->precharge_ps + cycles_ps(dram, spec->t_rp));
    }
}

static void serve(struct mem_dram *dram, const struct dram_entry *entry, uint64_t now_ps)
{
    struct mem_request *request = entry->request;
    const struct dram_spec *spec = dram->spec;
    bool hit = dram->banks[entry->bank].row == entry->row;
    *(hit ? &dram->stats.row_hits : &dram->stats.row_misses) += 1;
    *(request->kind == MEM_WRITE ? &dram->stats.writes : &dram->stats.reads) += 1;
    struct commands plan = plan_commands(dram, entry, now_ps);
    uint64_t duration_ps = transfer_ps(dram, request->bytes);
    uint64_t cl_ps = cycles_ps(dram, spec->t_cl);
    uint64_t start_ps = latest(plan.column_ps + cl_ps, dram->bus_free_ps);
    plan.column_ps = start_ps - cl_ps;
    update_bank(dram, entry, &plan, duration_ps);
    dram->bus_free_ps = start_ps + duration_ps;
    dram->stats.busy_ps += duration_ps;
    dram->stats.pending_ps += dram->bus_free_ps - latest(entry->arrive_ps, dram->pending_until_ps);
    dram->pending_until_ps = dram->bus_free_ps;
    request->served_at = MEM_AT_DRAM;
    uint64_t fixed_ps = clock_cycles_to_ps(dram->core_clock, spec->fixed_cycles);
    engine_at(dram->engine, dram->bus_free_ps + fixed_ps, dram->source, request->reply,
              request->ctx, request->arg);
    uint64_t prepare_ps = cycles_ps(dram, spec->t_rp + spec->t_rcd + spec->t_cl);
    dram->decided_ps = now_ps + dram->clock.period_ps;
    if (dram->bus_free_ps > dram->decided_ps + prepare_ps) {
        dram->decided_ps = dram->bus_free_ps - prepare_ps;
    }
}

static void on_decide(void *ctx, uint64_t arg);

/*
 * The next decision: when a request is there and the last one allows it, at a command clock edge.
 */
static void schedule_decision(struct mem_dram *dram)
{
    uint64_t arrive_ps = ENGINE_NEVER;
    for (uint32_t i = 0; i < dram->count; i++) {
        if (dram->queue[i].arrive_ps < arrive_ps) {
            arrive_ps = dram->queue[i].arrive_ps;
        }
    }
    if (arrive_ps == ENGINE_NEVER) {
        return;
    }
    uint64_t time_ps = clock_align(&dram->clock, latest(arrive_ps, dram->decided_ps));
    if (time_ps < dram->decide_ps) {
        dram->decide_ps = time_ps;
        engine_at(dram->engine, time_ps, dram->source, on_decide, dram, time_ps);
    }
}

static void on_decide(void *ctx, uint64_t planned_ps)
{
    struct mem_dram *dram = ctx;
    if (planned_ps != dram->decide_ps) {
        return; /* an earlier arrival has moved the decision forward since */
    }
    dram->decide_ps = ENGINE_NEVER;
    uint32_t picked = dram->sched->pick(dram, planned_ps);
    if (picked < dram->count) {
        bool was_full = dram->count == dram->spec->queue_entries;
        struct dram_entry entry = dram->queue[picked];
        dram->count--;
        memmove(dram->queue + picked, dram->queue + picked + 1,
                (dram->count - picked) * sizeof *dram->queue);
        serve(dram, &entry, planned_ps);
        if (was_full) {
            waiters_wake(&dram->space);
        }
    }
    schedule_decision(dram);
}

static void locate(struct dram_entry *entry, const struct dram_spec *spec, uint64_t address)
{
    if (spec->interleave_bytes) {
        uint64_t stripe = (uint64_t)spec->interleave_bytes * spec->channels;
        address = address / stripe * spec->interleave_bytes + address % spec->interleave_bytes;
    }
    uint64_t chunk = address / spec->row_bytes;
    entry->bank = (uint32_t)(chunk % spec->banks);
    entry->row = chunk / spec->banks;
}

static bool dram_send(void *self, struct mem_request *request)
{
    struct mem_dram *dram = self;
    if (dram->count == dram->spec->queue_entries) {
        return false;
    }
    uint64_t now_ps = engine_now_ps(dram->engine);
    struct dram_entry *entry = &dram->queue[dram->count++];
    entry->request = request;
    entry->arrive_ps = latest(request->arrive_ps, now_ps);
    locate(entry, dram->spec, request->paddr);
    schedule_decision(dram);
    return true;
}

static void dram_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct mem_dram *dram = self;
    waiters_add(&dram->space, handler, ctx, arg);
    if (dram->count < dram->spec->queue_entries) {
        waiters_wake(&dram->space);
    }
}

struct mem_port mem_dram_port(struct mem_dram *dram)
{
    return (struct mem_port){.send = dram_send, .when_space = dram_when_space, .self = dram};
}
