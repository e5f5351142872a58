/*
 * How a warp's cycles become reasons. Nothing is counted while a warp waits: when it is first seen
 * to be ready, all that it waited for is known, and its wait falls into pieces:
 *
 *     since          next_issue      latest operand        ready               issue
 *       |  the instruction  |  the operand's   |  its accesses   |  unit, queue,   |  issued
 *       |  before: barrier, |  producer        |  have to end    |  scheduler      |
 *       |  branch, sleep    |                  |                 |                 |
 *
 * From then on it is looked at in each cycle in which the SM runs, and the reason of one cycle
 * holds until the next.
 */
#include "core/profile.h"

#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "util/error.h"

#define NO_PC UINT32_MAX

/* The lines of one program. */
struct table {
    struct table *next;
    const struct exec_program *program;
    uint32_t length, warps; /* that are resident */
    uint64_t resident;
    struct profile_line line[];
};

struct tracked {
    struct table *table;
    uint64_t start, since; /* all cycles before `since` are counted */
    uint32_t last;         /* its last instruction, or NO_PC */
    bool ready, slept;
    enum stall reason; /* while it is ready */
};

struct sm_profile {
    struct table *tables;
    struct tracked warp[SM_MAX_WARPS];
    uint32_t *producer; /* of each slot of each warp: the instruction that wrote it last */
    uint64_t stride;
    uint64_t issued[SM_MAX_WARPS];   /* the cycle in which each scheduler issued last, and one */
    uint64_t unit_taken, queue_full; /* ready warps, as the cycle began */
};

static const char *const names[] = {
#define STALL(id, text, doc) text,
#include "core/stall.def"
#undef STALL
};

static const char *const docs[] = {
#define STALL(id, text, doc) doc,
#include "core/stall.def"
#undef STALL
};

const char *stall_name(enum stall reason)
{
    return names[reason];
}

const char *stall_doc(enum stall reason)
{
    return docs[reason];
}

int sm_profile_enable(struct sm *sm)
{
    if (!sm->profile) {
        sm->profile = calloc(1, sizeof *sm->profile);
    }
    note_looked_at(sm);
    return sm->profile ? 0 : error_memory();
}

static void forget(struct sm *sm)
{
    struct sm_profile *profile = sm->profile;
    for (struct table *next, *table = profile ? profile->tables : NULL; table; table = next) {
        next = table->next;
        free(table);
    }
    if (profile) {
        profile->tables = NULL;
    }
}

void profile_free(struct sm *sm)
{
    forget(sm);
    if (sm->profile) {
        free(sm->profile->producer);
    }
    free(sm->profile);
    sm->profile = NULL;
    note_looked_at(sm);
}

static struct table *table_of(struct sm_profile *profile, const struct exec_program *program)
{
    struct table *table = profile->tables;
    while (table && table->program != program) {
        table = table->next;
    }
    if (!table) {
        uint32_t length = exec_program_length(program);
        table = calloc(1, sizeof *table + length * sizeof *table->line);
        if (table) {
            table->program = program;
            table->length = length;
            table->next = profile->tables;
            profile->tables = table;
        }
    }
    return table;
}

/* As many as the scoreboard has. */
static int provide_producers(struct sm *sm)
{
    struct sm_profile *profile = sm->profile;
    if (sm->slots <= profile->stride) {
        return 0;
    }
    uint32_t *wider = calloc(sm->slots * sm->max_warps, sizeof *wider);
    if (!wider) {
        return error_memory();
    }
    memset(wider, 0xff, sm->slots * sm->max_warps * sizeof *wider);
    free(profile->producer);
    profile->producer = wider;
    profile->stride = sm->slots;
    return 0;
}

int profile_warp_starts(struct sm *sm, const struct sm_warp *warp)
{
    struct sm_profile *profile = sm->profile;
    struct table *table = table_of(profile, warp->cta->grid->launch->program);
    profile->warp[warp->slot] = (struct tracked){0}; /* nothing is counted where memory is out */
    if (!table) {
        return error_memory();
    }
    int rc = provide_producers(sm);
    if (rc == 0) {
        table->warps++;
        profile->warp[warp->slot] = (struct tracked){
            .table = table, .start = sm->cycle + 1, .since = sm->cycle + 1, .last = NO_PC};
        memset(profile->producer + warp->slot * profile->stride, 0xff,
               profile->stride * sizeof *profile->producer);
    }
    return rc;
}

/* All cycles up to `until` were spent so. */
static void count(struct tracked *tracked, uint32_t pc, enum stall reason, uint64_t until)
{
    if (until > tracked->since) {
        tracked->table->line[pc].stall[reason] += until - tracked->since;
        tracked->since = until;
    }
}

static enum stall of_space(enum isa_space space)
{
    switch (space) {
    case SPACE_SHARED:
    case SPACE_SHARED_CLUSTER:
        return STALL_SHARED;
    case SPACE_CONST:
    case SPACE_PARAM:
        return STALL_CONSTANT;
    default:
        return STALL_MEMORY;
    }
}

/* What whoever needs a result of it waits for. */
static enum stall of_producer(const struct exec_uop_info *info)
{
    switch (info->unit) {
    case UNIT_LSU:
    case UNIT_FENCE:
        return of_space(info->space);
    case UNIT_TEX:
        return STALL_TEXTURE;
    case UNIT_SFU:
    case UNIT_FDIV:
    case UNIT_IDIV:
        return STALL_SFU;
    case UNIT_TENSOR:
        return STALL_TENSOR;
    case UNIT_BARRIER:
        return STALL_BARRIER;
    default:
        return STALL_ARITHMETIC;
    }
}

/* Why a warp did not issue its next instruction at once after this one. */
static enum stall of_predecessor(const struct tracked *tracked, const struct exec_uop_info *info)
{
    if (info->is_barrier || info->unit == UNIT_BARRIER || info->is_mbarrier) {
        return STALL_BARRIER;
    }
    if (info->products == GROUPS_WAIT || info->product_columns > 0) {
        return STALL_TENSOR;
    }
    if (info->is_bulk) {
        return STALL_DISPATCH;
    }
    return tracked->slept ? STALL_SLEEP : STALL_BRANCH;
}

struct operand {
    uint64_t ready;
    uint32_t producer;
};

static void see_operand(struct operand *latest, const uint64_t *ready, const uint32_t *producer,
                        uint32_t slot)
{
    if (ready[slot] > latest->ready) {
        *latest = (struct operand){ready[slot], producer[slot]};
    }
}

/* The last one that an instruction waited for, and who made it. */
static struct operand latest_operand(const struct sm *sm, const struct sm_warp *warp,
                                     const struct exec_uop_info *info)
{
    const uint32_t *producer = sm->profile->producer + warp->slot * sm->profile->stride;
    uint32_t preds = exec_program_slot_count(warp->cta->grid->launch->program);
    struct operand latest = {0, NO_PC};
    for (uint32_t i = 0; i < info->src_count; i++) {
        see_operand(&latest, warp->slot_ready, producer, info->src[i]);
    }
    for (uint32_t i = 0; i < info->dst_count; i++) {
        see_operand(&latest, warp->slot_ready, producer, info->dst[i]);
    }
    for (uint32_t i = 0; i < info->src_pred_count; i++) {
        see_operand(&latest, warp->slot_ready, producer, preds + info->src_pred[i]);
    }
    for (uint32_t i = 0; i < info->dst_pred_count; i++) {
        see_operand(&latest, warp->slot_ready, producer, preds + info->dst_pred[i]);
    }
    return latest;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The warp waited until now for what it needs to be ready. */
static void count_wait(const struct sm *sm, const struct sm_warp *warp, struct tracked *tracked,
                       uint32_t pc)
{
    uint64_t until = sm->cycle;
    if (tracked->last != NO_PC) {
        count(tracked, tracked->last, of_predecessor(tracked, &warp->program[tracked->last]),
              earlier(warp->next_issue, until));
    }
    if (until <= tracked->since) {
        return;
    }
    struct operand latest = latest_operand(sm, warp, &warp->program[pc]);
    uint64_t from = tracked->since;
    if (latest.ready > from && latest.producer != NO_PC) {
        count(tracked, pc, of_producer(&warp->program[latest.producer]),
              earlier(latest.ready, until));
        tracked->table->line[latest.producer].caused += tracked->since - from;
    }
    count(tracked, pc, STALL_DRAIN, until);
}

static uint32_t next_pc(const struct sm_warp *warp)
{
    return (uint32_t)(warp->next - warp->program);
}

void profile_cycle_begins(struct sm *sm)
{
    struct sm_profile *profile = sm->profile;
    profile->unit_taken = profile->queue_full = 0;
    for (uint64_t ready = sm->ready; ready; ready &= ready - 1) {
        const struct sm_warp *warp = &sm->warp[__builtin_ctzll(ready)];
        const struct sm_unit *unit = &sm->unit[warp->units[warp->next->issue_unit]];
        if (unit_waits_for_lsu(sm, unit)) {
            profile->queue_full |= 1ull << warp->slot;
        } else if (!unit_is_free(sm, unit)) {
            profile->unit_taken |= 1ull << warp->slot;
        }
    }
}

/* Why a ready warp has not issued in this cycle. */
static enum stall of_ready(const struct sm *sm, const struct sm_warp *warp)
{
    const struct sm_profile *profile = sm->profile;
    if (profile->queue_full >> warp->slot & 1) {
        return STALL_QUEUE;
    }
    if (profile->unit_taken >> warp->slot & 1) {
        return STALL_UNIT;
    }
    if (profile->issued[warp->scheduler] == sm->cycle + 1) {
        return STALL_NOT_SELECTED;
    }
    return sm->scheduler[warp->scheduler].next_cycle > sm->cycle ? STALL_DISPATCH : STALL_UNIT;
}

void profile_cycle_ends(struct sm *sm)
{
    for (uint64_t ready = sm->ready; ready; ready &= ready - 1) {
        const struct sm_warp *warp = &sm->warp[__builtin_ctzll(ready)];
        struct tracked *tracked = &sm->profile->warp[warp->slot];
        if (tracked->ready) {
            count(tracked, next_pc(warp), tracked->reason, sm->cycle);
        } else {
            count_wait(sm, warp, tracked, next_pc(warp));
        }
        tracked->ready = true;
        tracked->reason = of_ready(sm, warp);
    }
}

void profile_issues(struct sm *sm, const struct sm_warp *warp, uint32_t lanes)
{
    struct sm_profile *profile = sm->profile;
    struct tracked *tracked = &profile->warp[warp->slot];
    const struct exec_uop_info *info = warp->next;
    uint32_t pc = next_pc(warp);
    if (tracked->ready) {
        count(tracked, pc, tracked->reason, sm->cycle);
    } else {
        count_wait(sm, warp, tracked, pc);
    }
    count(tracked, pc, STALL_ISSUE, sm->cycle + 1);
    tracked->table->line[pc].warp_insns++;
    tracked->table->line[pc].thread_insns += lanes;
    tracked->ready = false;
    tracked->last = pc;
    tracked->slept = info->unit == UNIT_SPECIAL && !info->is_branch;
    profile->issued[warp->scheduler] = sm->cycle + 1;
    uint32_t *producer = profile->producer + warp->slot * profile->stride;
    for (uint32_t i = info->place_count - info->result_count; i < info->place_count; i++) {
        producer[info->place[i]] = pc;
    }
}

void profile_served(struct sm *sm, const struct lsu_access *access,
                    const struct mem_request *request)
{
    const struct sm_warp *warp = access->warp;
    uint32_t pc = (uint32_t)(access->info - warp->program);
    struct profile_line *line = &sm->profile->warp[warp->slot].table->line[pc];
    line->requests++;
    line->l1_hits += request->served_at == MEM_AT_L1;
    line->l2_hits += request->served_at == MEM_AT_L2;
    line->dram += request->served_at == MEM_AT_DRAM;
    line->bytes += request->bytes;
    line->l1_pending_hits +=
        request->joined && request->asked == 0 && request->served_at != MEM_AT_L1;
    line->l2_bytes += (uint64_t)request->asked * NOC_SECTOR_BYTES;
}

/* The block's warps leave together: after the cycle in which the last of them issued, or now. */
void profile_cta_ends(struct sm *sm, const struct sm_cta *cta, uint64_t now)
{
    struct sm_profile *profile = sm->profile;
    for (uint64_t warps = cta->warps; warps; warps &= warps - 1) {
        uint64_t since = profile->warp[__builtin_ctzll(warps)].since;
        now = since > now ? since : now;
    }
    for (uint64_t warps = cta->warps; warps; warps &= warps - 1) {
        struct tracked *tracked = &profile->warp[__builtin_ctzll(warps)];
        count(tracked, tracked->last, STALL_ENDED, now);
        tracked->table->resident += now - tracked->start;
        tracked->table->warps--;
    }
}

/* Up to `now`, in the middle of whatever the warp does. */
static void count_to_the_stop(const struct sm *sm, const struct sm_warp *warp,
                              struct tracked *tracked, uint64_t now)
{
    uint32_t pc = warp->exec.done ? tracked->last : next_pc(warp);
    if (tracked->ready) {
        count(tracked, pc, tracked->reason, now);
    } else if (warp->state == WARP_RUNNING) {
        count_wait(sm, warp, tracked, pc);
        count(tracked, pc, STALL_DRAIN, now);
    } else if (tracked->last != NO_PC) {
        count(tracked, tracked->last, warp->state == WARP_EXITED ? STALL_ENDED : STALL_BARRIER,
              now);
    }
}

void profile_stops(struct sm *sm)
{
    struct sm_profile *profile = sm->profile;
    uint64_t now = profile ? sm->cycle : 0;
    for (uint64_t warps = profile ? sm->warps_used : 0; warps; warps &= warps - 1) {
        uint64_t since = profile->warp[__builtin_ctzll(warps)].since;
        now = since > now ? since : now;
    }
    for (uint64_t warps = profile ? sm->warps_used : 0; warps; warps &= warps - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(warps);
        struct tracked *tracked = &profile->warp[slot];
        if (!tracked->table) {
            continue;
        }
        count_to_the_stop(sm, &sm->warp[slot], tracked, now);
        tracked->table->resident += tracked->since - tracked->start;
        tracked->table->warps--;
    }
}

void sm_profile_take(struct sm *sm, const struct exec_program *program, struct profile_line *lines,
                     uint64_t *resident)
{
    struct table **at = &sm->profile->tables;
    while (*at && (*at)->program != program) {
        at = &(*at)->next;
    }
    struct table *table = *at;
    if (!table) {
        return;
    }
    const uint64_t *from = (const uint64_t *)table->line;
    uint64_t *to = (uint64_t *)lines;
    size_t words = table->length * (sizeof *lines / sizeof *to);
    for (size_t i = 0; i < words; i++) {
        to[i] += from[i];
    }
    *resident += table->resident;
    if (table->warps > 0) {
        memset(table->line, 0, words * sizeof *to);
        table->resident = 0;
    } else {
        *at = table->next;
        free(table);
    }
}
