/*
 * Copies into shared memory that are not over (cp.async): what a copy writes may be read, and
 * written, only when the thread that copies has waited for the group that the copy is in (PTX ISA
 * 9.0, 9.7.9.25.3). Without timing its bytes are there at once, so that nothing else would tell.
 *
 * For each granule of shared memory there is the last copy that wrote it:
 *
 *     31        10 9    5 4    0
 *     | group + 1 | warp | lane |      0: none
 *
 * Each lane counts the groups that it has made, and those that are over. Left out: that others may
 * read only behind a barrier after that; copies into shared memory of other blocks; bulk copies
 * (bulk.c); copies of a lane that has made GROUP_MAX groups, which are no longer told apart.
 */
#include <stdlib.h>
#include <string.h>

#include "check/state.h"
#include "exec/fault.h"
#include "exec/ops.h"
#include "exec/program.h"

#define GROUP_SHIFT 10
#define GROUP_MAX ((1u << (32 - GROUP_SHIFT)) - 2)
#define LANE_BITS 5

struct copies {
    uint32_t made[CHECK_WARPS][WARP_LANES], over[CHECK_WARPS][WARP_LANES]; /* groups */
    uint32_t granules;
    uint32_t *last, *pcs; /* by granule */
};

bool copies_concern(const struct exec_program *program, uint32_t pc)
{
    enum isa_op op = program->insns[pc] ? program->insns[pc]->op : OP_NONE;
    return program->infos[pc].copies != GROUPS_NOTHING || op == OP_MBARRIER_TEST ||
           op == OP_MBARRIER_TEST_PARITY;
}

void copies_destroy(struct copies *copies)
{
    if (!copies)
        return;
    free(copies->last);
    free(copies->pcs);
    free(copies);
}

bool copies_begin(struct watched_cta *cta)
{
    uint32_t granules = cta->granules;
    struct copies *c = cta->copies;
    if (!c && !(c = cta->copies = calloc(1, sizeof *c)))
        return false;
    if (granules > c->granules) {
        free(c->last);
        free(c->pcs);
        c->granules = 0;
        c->last = calloc(granules, sizeof *c->last);
        c->pcs = calloc(granules, sizeof *c->pcs);
        if (!c->last || !c->pcs)
            return false;
        c->granules = granules;
    }
    if (c->last)
        memset(c->last, 0, granules * sizeof *c->last);
    memset(c->made, 0, sizeof c->made);
    memset(c->over, 0, sizeof c->over);
    return true;
}

void copies_group(struct watched_cta *cta, uint32_t warp, const struct exec_uop_info *info,
                  uint32_t mask)
{
    struct copies *c = cta->copies;
    if (info->copies == GROUPS_NOTHING)
        bulk_waited_for_all(cta); /* a test_wait */
    for (uint32_t rest = info->copies ? mask : 0; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), *made = &c->made[warp][lane];
        /* Whoever waits at the barrier has waited for the copies: at the arrival they count so. */
        bool all = info->copies == GROUPS_WAIT_ALL || info->copies == GROUPS_ARRIVE;
        *made += (all || info->copies == GROUPS_COMMIT) && *made < GROUP_MAX;
        uint32_t left = all ? 0 : info->copies_left;
        if (info->copies != GROUPS_COMMIT && *made > left && *made - left > c->over[warp][lane])
            c->over[warp][lane] = *made - left;
        if (*made == GROUP_MAX)
            c->over[warp][lane] = GROUP_MAX;
    }
}

static void copy_writes(struct watched_cta *cta, const struct exec_warp *warp,
                        const struct exec_access *access)
{
    struct copies *c = cta->copies;
    uint32_t index = warp->env->warpid;
    for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), end;
        uint64_t offset = access->data[lane][0] - (uintptr_t)warp->cta->shared;
        uint32_t group = c->made[index][lane];
        for (uint32_t i = shared_granules(cta, offset, access->bytes, &end); i < end; i++) {
            c->last[i] =
                group == GROUP_MAX ? 0 : (group + 1) << GROUP_SHIFT | index << LANE_BITS | lane;
            c->pcs[i] = access->pc;
            bulk_copied(cta, warp, access->pc, lane, offset, i);
        }
    }
}

/* What is done `at` to shared memory before a copy to a granule of it is over. */
static void report(struct watched_cta *cta, const struct exec_warp *warp, uint32_t pc,
                   uint32_t lane, uint64_t at, uint32_t granule, const char *what)
{
    struct check *check = cta->launch->check;
    struct finding *f = finding_in_shared(check, FAULT_COPY_NOT_OVER, warp, pc, lane, at);
    if (!f)
        return;
    uint32_t record = cta->copies->last[granule], tid[3];
    uint32_t other = record >> LANE_BITS & (CHECK_WARPS - 1);
    fault_thread(tid, cta->warps[other], record & (WARP_LANES - 1));
    finding_text(check, &f->what, "%s shared memory", what);
    finding_text(
        check, &f->detail,
        "thread (%u,%u,%u) of warp %u copies to it at line %d, and has not waited for that", tid[0],
        tid[1], tid[2], other, insn_line(warp->state->program, cta->copies->pcs[granule]));
}

/* What is over stays so, and is forgotten. */
static bool is_over(struct copies *c, uint32_t granule)
{
    uint32_t record = c->last[granule];
    uint32_t warp = record >> LANE_BITS & (CHECK_WARPS - 1), lane = record & (WARP_LANES - 1);
    if (record != 0 && (record >> GROUP_SHIFT) - 1 >= c->over[warp][lane])
        return false;
    c->last[granule] = 0;
    return true;
}

bool copies_multiply(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                     uint64_t offset, uint64_t bytes)
{
    uint32_t end;
    for (uint32_t i = shared_granules(cta, offset, bytes, &end); i < end; i++)
        if (!is_over(cta->copies, i)) {
            report(cta, warp, warp->pc, lane, offset, i, "product of");
            return false;
        }
    return true;
}

/* Nothing is being copied to these granules. */
static bool is_quiet(const struct watched_cta *cta, uint32_t first, uint32_t end)
{
    uint32_t copied = 0;
    for (uint32_t i = first; i < end; i++)
        copied |= cta->copies->last[i];
    return !copied && bulk_is_quiet(cta, first, end);
}

/* A load of all lanes, one behind the other, from where nothing is being copied: most of them. */
static bool is_quiet_row(const struct watched_cta *cta, const struct exec_access *access,
                         uint32_t bytes)
{
    if (access->kind != ACCESS_LOAD || access->space != SPACE_SHARED || !access->contiguous)
        return false;
    uint32_t end,
        first = shared_granules(cta, access->address[0], (uint64_t)bytes * WARP_LANES, &end);
    return is_quiet(cta, first, end);
}

/* False: it has been reported. */
static bool others_access(struct watched_cta *cta, const struct exec_warp *warp,
                          const struct exec_access *access, uint32_t mask, uint32_t bytes)
{
    bool stores = access->kind != ACCESS_LOAD && access->kind != ACCESS_MATRIX_LOAD;
    if ((access->space != SPACE_SHARED && access->space != SPACE_NONE) ||
        is_quiet_row(cta, access, bytes))
        return true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), end;
        bool shared = access->space == SPACE_SHARED ||
                      (access->space == SPACE_NONE && access->lane_space[lane] == SPACE_SHARED);
        if (!shared)
            continue;
        for (uint32_t i = shared_granules(cta, access->address[lane], bytes, &end); i < end; i++)
            if (!is_over(cta->copies, i)) {
                report(cta, warp, access->pc, lane, access->address[lane], i,
                       stores ? "store to" : "load from");
                return false;
            } else if (!bulk_access(cta, warp, access, lane, i, stores)) {
                return false;
            }
    }
    return true;
}

/* The pieces of a fragment. */
static bool pieces_access(struct watched_cta *cta, const struct exec_warp *warp,
                          const struct exec_access *access)
{
    struct exec_access piece;
    bool good = true;
    for (uint32_t k = 0; k < access->pieces; k++) {
        exec_access_piece(&piece, access, k);
        good &= others_access(cta, warp, &piece, piece.mask, (uint32_t)piece.bytes * piece.vec);
    }
    return good;
}

bool copies_access(struct watched_cta *cta, const struct exec_warp *warp,
                   const struct exec_access *access)
{
    switch (access->kind) {
    case ACCESS_WAIT:
        for (uint32_t rest = exec_wait_is_over(access) ? access->lanes : 0; rest;
             rest &= rest - 1) {
            const uint64_t *data = access->data[lowest_lane(rest)];
            const struct exec_phase phase = {data[0] - (uintptr_t)warp->cta->shared,
                                             (uint32_t)data[1]};
            bulk_waited(cta, &phase);
            order_acquire(cta, warp->env->warpid, ORDER_SHARED | phase.place);
        }
        break;
    case ACCESS_FENCE:
        if (warp->state->program->insns[access->pc]->op == OP_FENCE_PROXY_ASYNC)
            bulk_fenced(cta);
        break;
    case ACCESS_COPY:
        copy_writes(cta, warp, access);
        break;
    case ACCESS_LOAD:
    case ACCESS_STORE:
    case ACCESS_ATOMIC:
    case ACCESS_REDUCTION:
        return others_access(cta, warp, access, access->mask,
                             (uint32_t)access->bytes * access->vec);
    case ACCESS_MATRIX_LOAD:
    case ACCESS_MATRIX_STORE:
        return others_access(cta, warp, access, access->mask, MATRIX_ROW_BYTES);
    case ACCESS_FRAGMENT_LOAD:
    case ACCESS_FRAGMENT_STORE:
        return pieces_access(cta, warp, access);
    default:
        break;
    }
    return true;
}
