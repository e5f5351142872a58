/*
 * The SM as a component of the engine: construction, and the loop that runs cycles while something
 * can happen and sleeps otherwise.
 */
#include "core/sm.h"

#include <stdlib.h>

#include "core/issue/rote.h"
#include "core/memory/banks.h"
#include "core/state.h"
#include "exec/fault.h"
#include "exec/memory/stores.h"
#include "util/error.h"

/* After so many cycles inline the engine's loop gets a look, so that a launch can be interrupted.
 */
#define RUN_AHEAD_CYCLES 4096

static int spec_check(const struct sm_spec *spec)
{
    for (uint32_t i = 0; i < ISA_UNIT_COUNT; i++) {
        if (spec->unit[i].lanes_per_cycle == 0 || spec->unit[i].latency_cycles == 0) {
            return error_set(SONDE_EINPUT, "sm: unit %s needs lanes and a latency of at least 1",
                             isa_unit_text((enum isa_unit)i));
        }
    }
    uint32_t segment = spec->coalesce.segment_bytes, sector = spec->coalesce.sector_bytes;
    const struct {
        bool bad;
        const char *why;
    } rules[] = {
        {spec->max_warps == 0 || spec->max_warps > SM_MAX_WARPS, "max_warps is not in 1 to 64"},
        {spec->max_ctas == 0 || spec->max_ctas > SM_MAX_WARPS, "max_ctas is not in 1 to 64"},
        {spec->schedulers == 0 || spec->schedulers > spec->max_warps,
         "schedulers is not in 1 to max_warps"},
        {spec->sub_cores > SUB_CORES_MAX || spec->sub_cores > spec->schedulers,
         "sub_cores is not in 1 to schedulers"},
        {spec->issue_per_scheduler == 0, "issue_per_scheduler is 0"},
        {spec->scheduler >= SCHED_KIND_COUNT, "no such scheduler"},
        {spec->lsu_queue_entries == 0 || spec->texture.queue_entries == 0 ||
             spec->constant.queue_entries == 0,
         "a queue has no entries"},
        {spec->lsu_tag_banks > WARP_LANES || (spec->lsu_tag_banks & (spec->lsu_tag_banks - 1)),
         "lsu_tag_banks is no power of two up to 32"},
        {spec->lanes.parallel > SM_MAX_WARPS, "more than 64 accesses are to send at a time"},
        {spec->pending.kind >= PENDING_KIND_COUNT, "no such structure for what is outstanding"},
        {spec->pending.kind != PENDING_NONE && spec->pending.entries == 0,
         "the structure for what is outstanding has no entries"},
        {spec->shared.banks == 0 || spec->shared.banks > BANKS_MAX, "banks is not in 1 to 64"},
        {spec->shared.bank_bytes == 0, "bank_bytes is 0"},
        {spec->shared.word_bytes != 0 && spec->shared.bank_bytes % spec->shared.word_bytes != 0,
         "word_bytes does not divide bank_bytes"},
        {segment < COALESCE_SECTOR_BYTES || (segment & (segment - 1)),
         "segment_bytes is not a power of two of at least 32"},
        {sector == 0 || (sector & (sector - 1)) || sector > segment,
         "sector_bytes is not a power of two up to segment_bytes"},
        {spec->coalesce.lanes_per_pass == 0, "lanes_per_pass is 0"},
        {spec->clock_read_cycles == 0, "clock_read_cycles is 0"},
        {spec->shared.latency_cycles == 0 || spec->const_hit_cycles == 0 ||
             spec->local_hit_cycles == 0,
         "a memory latency is 0"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].bad) {
            return error_set(SONDE_EINPUT, "sm: %s", rules[i].why);
        }
    }
    return 0;
}

/* Those that the sub-cores of an SM have together. */
static bool unit_is_shared(uint32_t unit)
{
    return unit == UNIT_LSU || unit == UNIT_TEX || unit == UNIT_BARRIER || unit == UNIT_FENCE;
}

static void units_init(struct sm *sm)
{
    uint32_t parts = sm->spec->sub_cores ? sm->spec->sub_cores : 1;
    for (uint32_t part = 0; part < parts; part++) {
        for (uint32_t i = 0; i < ISA_UNIT_COUNT; i++) {
            uint32_t place = unit_is_shared(i) ? i : part * ISA_UNIT_COUNT + i;
            sm->unit_place[part][i] = (uint8_t)place;
            sm->unit[place].feeds_lsu = i == UNIT_LSU || i == UNIT_TEX;
            sm->unit[place].latency_cycles = sm->spec->unit[i].latency_cycles;
            sm->unit[place].lanes_per_cycle = sm->spec->unit[i].lanes_per_cycle;
            uint32_t lanes = sm->spec->unit[i].lanes_per_cycle;
            sm->unit[place].lanes_shift =
                lanes & (lanes - 1) ? UNIT_NO_SHIFT : (uint8_t)__builtin_ctz(lanes);
            sm->unit[place].warp_lanes =
                (uint16_t)(unit_is_shared(i) ? WARP_LANES : WARP_LANES * parts);
        }
    }
    sm->issue_interval = sm->spec->issue_interval ? sm->spec->issue_interval : 1;
    for (uint32_t i = 0; i < sm->spec->schedulers; i++) {
        uint32_t warps = sm->spec->fetch_group ? sm->spec->fetch_group : 8;
        sm->scheduler[i].group_slots = warps * sm->spec->schedulers;
    }
    for (uint32_t slot = 0; slot < sm->max_warps; slot++) {
        sm->warp[slot].scheduler = slot % sm->spec->schedulers;
        sm->warp[slot].units = sm->unit_place[sm->warp[slot].scheduler % parts];
        sm->scheduler[slot % sm->spec->schedulers].warps |= 1ull << slot;
    }
}

static int page_shift(uint32_t *shift, uint64_t page_bytes)
{
    if (page_bytes < 256 || (page_bytes & (page_bytes - 1))) {
        return error_set(SONDE_EINPUT, "vm: the page size is not a power of two of at least 256");
    }
    *shift = (uint32_t)__builtin_ctzll(page_bytes);
    return 0;
}

static uint64_t profiled_cycle(struct sm *sm)
{
    profile_cycle_begins(sm);
    uint64_t next = issue_cycle(sm);
    if (!sm->turn.awaited) {
        profile_cycle_ends(sm);
    }
    return next;
}

/* One cycle: requests go out, then instructions issue. Returns the next cycle worth a look. */
static uint64_t run_cycle(struct sm *sm, uint64_t cycle)
{
    sm->cycle = cycle;
    if (sm->wheel[cycle % WHEEL_CYCLES]) {
        wheel_turn(sm);
    }
    if (sm->lsu.next_cycle <= cycle) {
        lsu_cycle(sm);
    }
    uint64_t next = sm->aborted ? CYCLE_NEVER : sm->profile ? profiled_cycle(sm) : issue_cycle(sm);
    return sm->turn.awaited ? CYCLE_NEVER : sm_cycle_ends(sm, next);
}

static void sm_run(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    if (arg != sm->scheduled_cycle) {
        return; /* superseded by an earlier wake-up */
    }
    sm->scheduled_cycle = CYCLE_NEVER;
    sm->running = true;
    uint64_t cycle = arg;
    for (sm->ahead = RUN_AHEAD_CYCLES;; sm->ahead--) {
        cycle = run_cycle(sm, cycle);
        if (cycle == CYCLE_NEVER || sm->aborted) {
            break;
        }
        if (sm->ahead == 0 || !engine_try_advance(sm->engine, cycle * sm->period_ps)) {
            sm_schedule(sm, cycle);
            break;
        }
    }
    sm->running = false;
}

int sm_create(struct sm **out, const struct sm_setup *setup)
{
    *out = NULL;
    int rc = spec_check(setup->spec);
    if (rc < 0) {
        return rc;
    }
    struct sm *sm = calloc(1, sizeof *sm);
    if (!sm) {
        return error_memory();
    }
    sm->spec = setup->spec;
    sm->engine = setup->engine;
    sm->period_ps = setup->clock.period_ps;
    sm->source = setup->source;
    sm->id = setup->id;
    sm->sm_count = setup->sm_count;
    sm->network = setup->network;
    sm->host = setup->host;
    sm->max_warps = setup->spec->max_warps;
    sm->sched = sched_ops(setup->spec->scheduler);
    sm->scheduled_cycle = CYCLE_NEVER;
    sm->run = sm_run;
    sm->rote_entries = ROTE_ENTRIES;
    sm->shared_bytes = setup->spec->shared.size_bytes;
    units_init(sm);
    sm->cta = calloc(setup->spec->max_ctas, sizeof *sm->cta);
    rc = sm->cta ? page_shift(&sm->translation.page_shift, setup->host.page_bytes) : error_memory();
    sm->banks = setup->spec->shared;
    bulk_init(sm);
    if (rc == 0) {
        rc = lsu_init(sm);
    }
    if (rc < 0) {
        sm_destroy(sm);
        return rc;
    }
    *out = sm;
    return 0;
}

void sm_destroy(struct sm *sm)
{
    if (!sm) {
        return;
    }
    for (uint32_t i = 0; i < sm->max_warps; i++) {
        exec_warp_free(&sm->warp[i].exec);
        copies_forget(sm, &sm->warp[i]);
    }
    bulk_free(sm);
    wait_reset(sm);
    lsu_free(sm);
    profile_free(sm);
    free(sm->repeats_room);
    rote_free(sm->rote);
    exec_stores_destroy(sm->stores);
    free(sm->cta);
    shared_before_free(sm);
    free(sm->shared);
    free(sm->scoreboard);
    free(sm);
}

void sm_set_l1(struct sm *sm, const struct mem_port *l1, const struct sm_stores_wait *stores_wait)
{
    sm->has_l1 = l1 != NULL;
    sm->l1 = l1 ? *l1 : (struct mem_port){0};
    sm->stores_wait = l1 && stores_wait ? *stores_wait : (struct sm_stores_wait){0};
}

void sm_set_gathers(struct sm *sm, struct sm_gathers gathers)
{
    sm->gathers = gathers;
}

void sm_set_readonly(struct sm *sm, const struct mem_port *texture, const struct mem_port *constant)
{
    sm->has_texture = texture != NULL;
    sm->has_constant = constant != NULL;
    sm->texture_port = texture ? *texture : (struct mem_port){0};
    sm->constant_port = constant ? *constant : (struct mem_port){0};
}

void sm_set_local(struct sm *sm, uint64_t address, uint64_t thread_bytes, uint32_t slots)
{
    sm->local_slots = slots > 0 ? slots : 1;
    sm->local_address = address;
    sm->local_words = thread_bytes / SM_LOCAL_GRANULE_BYTES * (SM_LOCAL_GRANULE_BYTES / 4);
}

void sm_set_bank_word(struct sm *sm, uint32_t word_bytes)
{
    sm->banks.word_bytes = word_bytes;
}

void sm_set_shared(struct sm *sm, uint64_t bytes)
{
    sm->shared_bytes = bytes;
}

int sm_keep_stores(struct sm *sm, bool keep)
{
    sm->keeps_stores = keep;
    turn_set_needed(sm, keep);
    for (uint32_t i = 0; !keep && i < sm->max_warps; i++) {
        sm->warp[i].env.stores = NULL; /* of a CTA that goes on */
    }
    return keep && !sm->stores ? exec_stores_create(&sm->stores) : 0;
}

bool sm_has_stores(const struct sm *sm)
{
    return sm->keeps_stores && !exec_stores_empty(sm->stores);
}

void sm_publish_stores(struct sm *sm)
{
    if (sm_has_stores(sm)) {
        exec_stores_publish(sm->stores);
    }
}

uint32_t sm_requests_out(const struct sm *sm)
{
    return sm->lsu.requests_out;
}

uint32_t sm_resident_warps(const struct sm *sm)
{
    return (uint32_t)__builtin_popcountll(sm->warps_used);
}

const struct sm_stats *sm_stats(struct sm *sm)
{
    rote_tell(sm);
    return &sm->stats;
}

bool sm_report_stall(struct sm *sm)
{
    for (uint32_t i = 0; i < sm->max_warps; i++) {
        struct exec_warp *warp = &sm->warp[i].exec;
        enum warp_state state = sm->warp[i].state;
        uint32_t pc = (uint32_t)(sm->warp[i].next - sm->warp[i].program);
        uint32_t lane = warp->live ? (uint32_t)__builtin_ctz(warp->live) : 0;
        if (state == WARP_AT_BARRIER) {
            char what[64];
            exec_barrier_text(what, sizeof what, warp);
            fault_set(warp, pc, lane, 0, "deadlock: the warp waits for ever %s", what);
            return true;
        }
        if (state == WARP_RUNNING) {
            fault_set(warp, pc, lane, 0, "deadlock: the warp waits for ever for memory");
            return true;
        }
    }
    return false;
}
