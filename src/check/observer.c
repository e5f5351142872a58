/* What exec tells of a launch, and who looks at it. */
#include "check/rows.h"
#include "check/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exec/ops.h"
#include "exec/program.h"
#include "util/error.h"

#define BARRIER_BYTES 8

static void *begins(void *ctx, const struct exec_launch *launch, const uint8_t **watch)
{
    struct check_launch *l = launch_create(ctx, launch);
    if (l)
        *watch = l->watch;
    return l;
}

static void ends(void *launch)
{
    struct check_launch *l = launch;
    l->check->caller = NULL;
    launch_destroy(l);
}

static int cta_begins(void *launch, struct exec_cta *cta, struct exec_warp *const *warps,
                      uint32_t count)
{
    cta->observed = cta_create(launch, cta, warps, count);
    return cta->observed ? 0 : error_memory();
}

static void cta_ends(void *launch, struct exec_cta *cta)
{
    (void)launch;
    struct watched_cta *w = cta->observed;
    w->cta = NULL;
}

/* The lanes that the warp began with. */
static uint32_t first_lanes(const struct exec_warp *warp)
{
    const uint32_t *block = warp->cta->launch->block;
    uint32_t left = block[0] * block[1] * block[2] - warp->state->first_thread;
    return left >= WARP_LANES ? UINT32_MAX : (1u << left) - 1;
}

static void see_members(struct watched_cta *cta, struct exec_warp *warp, uint32_t mask)
{
    struct check *check = cta->launch->check;
    const uint32_t *members = exec_member_masks(warp);
    if (!members)
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), named = members[lane];
        uint32_t exited = named & ~warp->live, away = named & warp->live & ~mask;
        bool alone = !(named >> lane & 1);
        if (!alone && !exited && !(check->lockstep && away))
            continue;
        struct finding *f = finding_at(check, FAULT_MEMBERS, warp, warp->pc, lane, 0);
        if (!f || f->count > 1)
            continue;
        finding_text(check, &f->what, "member mask 0x%08" PRIx32, named);
        if (alone)
            finding_text(check, &f->detail, "it does not name the lane that executes it, %u", lane);
        else if (exited & ~first_lanes(warp))
            finding_text(check, &f->detail,
                         "it names lanes that the block does not have, 0x%08" PRIx32,
                         exited & ~first_lanes(warp));
        else if (exited)
            finding_text(check, &f->detail, "it names lanes that have exited, 0x%08" PRIx32,
                         exited);
        else
            finding_text(
                check, &f->detail,
                "it names lanes that do not execute it together with this one, 0x%08" PRIx32, away);
    }
}

static void see_barrier(struct watched_cta *cta, struct exec_warp *warp, uint32_t mask)
{
    struct check *check = cta->launch->check;
    const struct uop *uop = &warp->state->uops[warp->pc];
    if (uop->run != run_barrier || !mask)
        return;
    uint32_t lane = lowest_lane(mask);
    uint32_t id = ((const lane_word *)lanes_at(warp->state, uop->source[0]))[lane];
    uint32_t count = ((const lane_word *)lanes_at(warp->state, uop->source[1]))[lane];
    uint32_t had = id < CTA_BARRIERS && cta->barrier_come[id] ? cta->barrier_threads[id] : count;
    const uint32_t *block = cta->cta->launch->block;
    uint32_t threads = block[0] * block[1] * block[2];
    uint32_t whole = (threads + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    bool too_many = count > whole, odd = count % WARP_LANES != 0;
    if (id < CTA_BARRIERS && !odd && !too_many && had == count)
        return;
    struct finding *f = finding_at(check, FAULT_BARRIER_COUNT, warp, warp->pc, lane, 0);
    check->explained |= f && (id >= CTA_BARRIERS || odd || too_many);
    if (!f || f->count > 1)
        return;
    finding_text(check, &f->what, "barrier %" PRIu32 " for %" PRIu32 " threads", id, count);
    if (id >= CTA_BARRIERS)
        finding_text(check, &f->detail, "there are barriers 0 to %d", CTA_BARRIERS - 1);
    else if (odd)
        finding_text(check, &f->detail, "the number is no multiple of %d", WARP_LANES);
    else if (too_many)
        finding_text(check, &f->detail, "the block has %" PRIu32, threads);
    else
        finding_text(check, &f->detail, "others wait there for %" PRIu32 " (0: for all)", had);
}

static void issues(struct exec_warp *warp, uint32_t mask)
{
    struct watched_cta *cta = watched(warp);
    uint8_t flags = cta->launch->flags[warp->pc];
    if (flags & INSN_CALL) {
        cta->launch->check->caller = mask ? warp : NULL;
        cta->launch->check->caller_mask = mask;
        return;
    }
    if (flags & INSN_PRODUCT)
        products_issue(cta, warp, mask);
    if (cta->launch->copies && copies_concern(warp->state->program, warp->pc)) {
        copies_group(cta, warp->env->warpid, exec_uop_info(warp->state->program, warp->pc), mask);
        return;
    }
    see_members(cta, warp, mask);
    see_barrier(cta, warp, mask);
    if (flags & INSN_WARP_SYNC && mask)
        order_lanes(cta, warp->env->warpid);
}

static void see_fence(struct watched_cta *cta, uint32_t warp, uint8_t flags)
{
    cta->fenced[warp] = true;
    cta->any_fence |= !(flags & INSN_ALIGNED);
}

static void by_space(struct watched_cta *cta, struct exec_warp *warp,
                     const struct exec_access *access, enum isa_space space, uint32_t mask)
{
    switch (space) {
    case SPACE_GLOBAL:
    case SPACE_CONST:
        global_access(cta, warp, access, mask);
        break;
    case SPACE_SHARED:
        shared_access(cta, warp, access, mask);
        break;
    case SPACE_SHARED_CLUSTER:
        cluster_access(cta, warp, access, mask);
        break;
    case SPACE_LOCAL:
        local_access(cta, warp, access, mask);
        break;
    default:
        break;
    }
}

/* The same of bytes in shared memory that several instructions of the matrix kind move. */
static void rows_move(struct watched_cta *cta, struct exec_warp *warp,
                      const struct exec_access *access, bool loads, uint32_t bytes)
{
    struct exec_access row; /* without data */
    row.kind = loads ? ACCESS_LOAD : ACCESS_STORE;
    row.pc = access->pc;
    row.bytes = (uint8_t)bytes;
    row.vec = 1;
    memcpy(row.address, access->address, sizeof row.address);
    uint32_t mask = access->mask;
    for (uint32_t rest = access->space == SPACE_NONE ? mask : 0; rest; rest &= rest - 1)
        if (access->lane_space[lowest_lane(rest)] != SPACE_SHARED)
            mask &= ~(rest & -rest);
    if (mask && (access->space == SPACE_SHARED || access->space == SPACE_NONE))
        shared_moves(cta, warp, &row, mask, true);
}

/* What a cp.async reads of device memory, and writes of shared memory. */
static void copy_moves(struct watched_cta *cta, struct exec_warp *warp,
                       const struct exec_access *access)
{
    struct exec_access side; /* without data */
    uint32_t whole = 0;
    side.kind = ACCESS_LOAD;
    side.space = SPACE_GLOBAL;
    side.pc = access->pc;
    side.vec = 1;
    side.non_coherent = side.contiguous = false;
    memcpy(side.address, access->address, sizeof side.address);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        side.bytes = (uint8_t)access->data[lane][1];
        if (side.bytes == access->bytes)
            whole |= 1u << lane;
        else
            global_access(cta, warp, &side, 1u << lane);
    }
    side.bytes = access->bytes;
    if (whole)
        global_access(cta, warp, &side, whole);
    side.kind = ACCESS_STORE;
    for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        side.address[lane] = access->data[lane][0] - (uintptr_t)warp->cta->shared;
    }
    shared_moves(cta, warp, &side, access->lanes, false);
}

static void moves_access(struct watched_cta *cta, struct exec_warp *warp,
                         const struct exec_access *access)
{
    struct exec_access piece;
    bool loads = access->kind == ACCESS_FRAGMENT_LOAD || access->kind == ACCESS_MATRIX_LOAD;
    switch (access->kind) {
    case ACCESS_COPY:
        copy_moves(cta, warp, access);
        break;
    case ACCESS_MATRIX_LOAD:
    case ACCESS_MATRIX_STORE:
        rows_move(cta, warp, access, loads, MATRIX_ROW_BYTES);
        break;
    case ACCESS_FRAGMENT_LOAD:
    case ACCESS_FRAGMENT_STORE:
        for (uint32_t k = 0; access->space != SPACE_GLOBAL && k < access->pieces; k++) {
            exec_access_piece(&piece, access, k);
            rows_move(cta, warp, &piece, loads, (uint32_t)piece.bytes * piece.vec);
        }
        break;
    default:
        break;
    }
}

static void accesses(struct exec_warp *warp, const struct exec_access *access)
{
    struct watched_cta *cta = watched(warp);
    if (access->kind == ACCESS_FENCE)
        see_fence(cta, warp->env->warpid, cta->launch->flags[access->pc]);
    bool told = cta->launch->copies && !copies_access(cta, warp, access);
    if (access->kind > ACCESS_FENCE && !told)
        moves_access(cta, warp, access);
    if (access->kind == ACCESS_TEXTURE)
        texture_access(cta, warp, access);
    if (access->kind > ACCESS_REDUCTION)
        return;
    if (access->space != SPACE_NONE) {
        if (!told || access->space != SPACE_SHARED)
            by_space(cta, warp, access, access->space, access->mask);
        return;
    }
    static const enum isa_space spaces[] = {SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED_CLUSTER,
                                            SPACE_SHARED};
    for (int i = 0; i < (told ? 3 : 4); i++) {
        uint32_t mask = 0;
        for (uint32_t rest = access->mask; rest; rest &= rest - 1)
            if (access->lane_space[lowest_lane(rest)] == spaces[i])
                mask |= rest & -rest;
        if (mask)
            by_space(cta, warp, access, spaces[i], mask);
    }
}

/* What a lane must not reach: `bytes` at `address`, which must be a multiple of `align`. */
struct wrong_place {
    enum isa_space space;
    uint64_t address, bytes, align;
    const char *what;
};

/* False: it is suppressed, or there is no place for it. */
static bool tell_wrong(struct exec_warp *warp, uint32_t pc, uint32_t lane,
                       const struct wrong_place *wrong)
{
    struct watched_cta *cta = watched(warp);
    struct check *check = cta->launch->check;
    enum isa_space space = wrong->space;
    uint64_t address = wrong->address;
    bool global = space == SPACE_GLOBAL || space == SPACE_CONST;
    const struct allocation *near = global ? allocation_near(check, address) : NULL;
    bool freed = near && !near->live && address - near->address < near->bytes;
    enum fault_kind kind = address & (wrong->align - 1) ? FAULT_MISALIGNED
                           : freed                      ? FAULT_FREED
                                                        : FAULT_BOUNDS;
    struct finding *f = finding_at(check, kind, warp, pc, lane, near ? near->number : 0);
    if (!f || f->count > 1)
        return f != NULL;
    f->has_address = true;
    f->address = address;
    if (wrong->bytes > 0)
        finding_text(check, &f->what, "%s of %" PRIu64 " bytes in %s memory", wrong->what,
                     wrong->bytes, isa_space_text(space));
    else
        finding_text(check, &f->what, "address in %s memory", isa_space_text(space));
    if (global)
        allocation_describe(check, &f->where, near, address);
    else if (space == SPACE_SHARED)
        finding_text(check, &f->where, "the block has %u bytes", warp->cta->shared_bytes);
    else if (space == SPACE_LOCAL)
        finding_text(check, &f->where, "the thread has %u bytes", warp->state->local_top);
    return true;
}

static void refused(struct exec_warp *warp, const struct exec_access *access, uint32_t lane,
                    enum isa_space space, uint64_t bytes)
{
    const struct wrong_place wrong = {space, access->address[lane], bytes, bytes,
                                      access_words(access)};
    tell_wrong(warp, access->pc, lane, &wrong);
}

static void stops(struct exec_warp *warp, uint32_t lane, enum isa_space space, uint64_t address,
                  uint64_t bytes, uint64_t align)
{
    const struct wrong_place wrong = {space, address, bytes, align, "access"};
    /* What is not told says nothing of why the launch ends: the fault is told then. */
    watched(warp)->launch->check->explained |= tell_wrong(warp, warp->pc, lane, &wrong);
}

static void leaves(struct exec_warp *warp, uint32_t lane, const struct exec_image *image,
                   const int64_t at[4], uint64_t bytes, bool misaligned)
{
    surface_left(watched(warp), warp, lane, image, at, bytes, misaligned);
}

/* Of what ends the launch. What has been told already says why it does. */
static void faults(struct exec_warp *warp, uint32_t pc, uint32_t lane, const char *text)
{
    struct check *check = watched(warp)->launch->check;
    if (check->explained)
        return;
    check->explained = true;
    struct finding *f = finding_at(check, FAULT_FAULT, warp, pc, lane, 0);
    if (f && f->count == 1)
        finding_text(check, &f->what, "%s", text);
}

static void touches(struct exec_warp *warp, uint32_t lane, uint64_t address, uint64_t bytes,
                    bool writes)
{
    struct watched_cta *cta = watched(warp);
    uint64_t offset = address & (EXEC_WINDOW_BYTES - 1);
    if (!writes)
        return;
    switch (generic_space(address)) {
    case SPACE_GLOBAL:
        check_written(cta->launch->check, address, bytes);
        break;
    case SPACE_SHARED:
        shared_touched(cta, offset, bytes);
        break;
    case SPACE_LOCAL:
        local_touched(cta, warp, lane, offset, bytes);
        break;
    default:
        break;
    }
}

static void moves(struct exec_warp *warp, uint32_t lane, uint64_t offset, uint64_t bytes,
                  const struct exec_phase *barrier)
{
    struct watched_cta *cta = watched(warp);
    if (cta->launch->copies)
        bulk_moves(cta, warp, lane, offset, bytes, barrier);
    if (barrier)
        shared_touched(cta, offset, bytes);
}

static void multiplies(struct exec_warp *warp, uint32_t lane, uint64_t offset, uint64_t bytes)
{
    struct watched_cta *cta = watched(warp);
    if (cta->launch->copies && copies_multiply(cta, warp, lane, offset, bytes) &&
        bulk_multiplies(cta, warp, lane, offset, bytes) && cta->launch->products)
        products_read(cta, warp, offset, bytes);
}

static void acts(struct exec_warp *warp, uint32_t lane, uint64_t offset, enum exec_barrier_use use)
{
    struct watched_cta *cta = watched(warp);
    if (cta->launch->copies)
        bulk_barrier(cta, warp, lane, offset, use);
    if (use != BARRIER_USE) {
        shared_touched(cta, offset, BARRIER_BYTES);
        return;
    }
    enum isa_op op = warp->state->program->insns[warp->pc]->op;
    if (op == OP_MBARRIER_TEST || op == OP_MBARRIER_TEST_PARITY)
        order_acquire(cta, warp->env->warpid, ORDER_SHARED | offset); /* over or not */
    else if (op != OP_MBARRIER_TRY && op != OP_MBARRIER_TRY_PARITY)
        order_release(cta, warp->env->warpid, ORDER_SHARED | offset);
}

/* The barrier instruction that the warp has executed last. */
static uint32_t barrier_pc(const struct exec_warp *warp)
{
    return (uint32_t)(warp->state->barrier_uop - warp->state->uops);
}

static void report_exited(struct watched_cta *cta, const struct exec_warp *warp)
{
    struct check *check = cta->launch->check;
    struct finding *f = finding_at(check, FAULT_BARRIER_EXITED, warp, barrier_pc(warp),
                                   lowest_lane(warp->barrier_lanes), 0);
    uint32_t threads = 0, live = 0;
    if (!f || f->count > 1)
        return;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        threads += (uint32_t)__builtin_popcount(first_lanes(cta->warps[i]));
        live += (uint32_t)__builtin_popcount(cta->warps[i]->live);
    }
    finding_text(check, &f->what, "barrier %" PRIu32 " for all threads of the block",
                 warp->barrier_id);
    finding_text(check, &f->detail, "%" PRIu32 " of %" PRIu32 " threads have exited",
                 threads - live, threads);
}

static void arrives(struct exec_warp *warp)
{
    struct watched_cta *cta = watched(warp);
    struct check *check = cta->launch->check;
    if (exec_barrier_is_of_products(warp->barrier_kind))
        return;
    if (warp->barrier_kind >= BARRIER_CLUSTER_ARRIVE) {
        cluster_meets(cta, warp);
        if (warp->barrier_kind == BARRIER_CLUSTER_WAIT)
            order_cluster(cta);
        return;
    }
    uint32_t pc = barrier_pc(warp), away = warp->live & ~warp->barrier_lanes;
    uint32_t id = warp->barrier_id;
    cta->barrier_come[id]++;
    cta->barrier_threads[id] = warp->barrier_threads;
    order_arrive(cta, warp->env->warpid, id);
    if (!warp->barrier_threads && first_lanes(warp) & ~warp->live)
        report_exited(cta, warp);
    if (!(cta->launch->flags[pc] & INSN_ALIGNED) || !away)
        return;
    struct finding *f =
        finding_at(check, FAULT_BARRIER_DIVERGED, warp, pc, lowest_lane(warp->barrier_lanes), 0);
    if (!f || f->count > 1)
        return;
    finding_text(check, &f->what, "barrier %" PRIu32, id);
    finding_text(check, &f->detail,
                 "lanes 0x%08" PRIx32 " of the warp have come, lanes 0x%08" PRIx32 " have not",
                 warp->barrier_lanes, away);
}

static void released(struct exec_warp *warp, uint64_t warps, bool by_exit)
{
    struct watched_cta *cta = watched(warp);
    uint32_t index = warp->env->warpid;
    if (by_exit)
        cta->gone |= UINT64_C(1) << index;
    else if (warp->barrier_kind == BARRIER_ARRIVE)
        warps &= ~(UINT64_C(1) << index); /* it has never waited */
    warps &= ~products_released(cta, warps);
    while (warps) {
        const struct exec_warp *first = cta->warps[__builtin_ctzll(warps)];
        uint32_t id = first->barrier_id;
        uint64_t same = 0;
        if (first->barrier_kind >= BARRIER_CLUSTER_ARRIVE) {
            order_cluster(cta);
            return;
        }
        for (uint64_t rest = warps; rest; rest &= rest - 1)
            if (cta->warps[__builtin_ctzll(rest)]->barrier_id == id)
                same |= rest & -rest;
        bool all = !cta->barrier_threads[id];
        if (all && cta->gone)
            report_exited(cta, first);
        order_leave(cta, same, id, all);
        cta->barrier_come[id] = 0;
        warps &= ~same;
    }
}

const struct exec_observer *check_observer(const struct check *check)
{
    return &check->observer;
}

/* What a launch touches there lies as dense as the program's own memory: large pages, where the
 * host has them for the asking, save most of the faults. */
static void *reserve(uint64_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    madvise(map, bytes, MADV_HUGEPAGE);
    return map;
}

int check_create(struct check **out, uint64_t base, uint64_t range_bytes, bool lockstep)
{
    struct check *check = calloc(1, sizeof *check);
    *out = NULL;
    if (!check)
        return error_memory();
    check->base = base;
    check->range_bytes = range_bytes;
    check->lockstep = lockstep;
    check->rows = rows_best();
    check->written = reserve(range_bytes / 8 + 64);
    check->words = reserve(range_bytes + 64);
    if (!check->written || !check->words) {
        check_destroy(check);
        return error_set(SONDE_ENOMEM,
                         "cannot reserve %" PRIu64 " bytes of address space for the "
                         "memory checker",
                         range_bytes / 8 * 9);
    }
    check->observer = (struct exec_observer){.ctx = check,
                                             .begins = begins,
                                             .ends = ends,
                                             .cta_begins = cta_begins,
                                             .cta_ends = cta_ends,
                                             .issues = issues,
                                             .accesses = accesses,
                                             .refused = refused,
                                             .stops = stops,
                                             .leaves = leaves,
                                             .faults = faults,
                                             .touches = touches,
                                             .moves = moves,
                                             .multiplies = multiplies,
                                             .acts = acts,
                                             .arrives = arrives,
                                             .released = released};
    *out = check;
    return 0;
}

void check_destroy(struct check *check)
{
    if (!check)
        return;
    if (check->written)
        munmap(check->written, check->range_bytes / 8 + 64);
    if (check->words)
        munmap(check->words, check->range_bytes + 64);
    allocations_free(check);
    findings_free(check);
    free(check->site);
    free(check);
}

void check_site(struct check *check, const char *site)
{
    free(check->site);
    check->site = site ? strdup(site) : NULL;
}

char *check_site_aside(struct check *check)
{
    char *site = check->site;
    check->site = NULL;
    return site;
}

void check_site_back(struct check *check, char *site)
{
    free(check->site);
    check->site = site;
}

void check_faulted(struct check *check, const char *kernel, const char *text)
{
    if (!check->explained) {
        struct finding *f =
            finding_of_host(check, FAULT_FAULT, (uint32_t)check->findings.count + 1);
        if (f) {
            finding_text(check, &f->kernel, "%s", kernel);
            finding_text(check, &f->what, "%s", text);
        }
    }
    check->explained = false;
}

size_t check_count(const struct check *check)
{
    return check->findings.count;
}
