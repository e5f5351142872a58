/*
 * What CTAs of a cluster do to each other, as a warp sees it: addresses of their shared memory, and
 * the barrier of the cluster, at which the caller (exec/run, or a timing core) lets the warp go
 * on. Source: PTX ISA 9.0, 9.7.9.23, 9.7.9.24 and 9.7.13.4.
 */
#include "exec/cluster.h"

#include "exec/fault.h"
#include "exec/observe.h"
#include "exec/ops/decoders.h"
#include "util/error.h"

/*
 * A wait for a phase that is not over. Where lanes are scheduled independently, those that do not
 * wait for it go first; the warp stops when all do. True: it comes up again.
 */
static bool lets_others_go(struct exec_warp *warp, const struct uop *uop, uint32_t *mask)
{
    struct exec_state *state = warp->state;
    state->cluster_waits = cluster_held(warp);
    if (state->diverge_ops->sync && cluster_pending(warp, *mask)) {
        state->cluster_waits |= *mask;
        uint32_t others = warp->live & ~state->cluster_waits;
        if (others && !state->diverge_ops->sync(warp, others))
            return true;
        *mask = guarded_lanes(warp, uop);
    }
    state->cluster_waits &= ~*mask;
    return false;
}

enum exec_event run_cluster_barrier(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                    struct exec_access *access)
{
    (void)access;
    if (!mask)
        return advance(warp);
    if (uop->option == BARRIER_CLUSTER_WAIT && lets_others_go(warp, uop, &mask))
        return EXEC_DONE;
    warp->barrier_kind = (enum exec_barrier_kind)uop->option;
    warp->barrier_id = warp->barrier_threads = warp->barrier_value = 0;
    warp->barrier_lanes = mask;
    advance(warp);
    return EXEC_BARRIER;
}

/* An arrival releases unless it says .relaxed; a wait always acquires. */
int decode_cluster_barrier(struct decoder *d)
{
    bool arrives = d->insn->op == OP_CLUSTER_ARRIVE;
    d->uop->run = run_cluster_barrier;
    d->uop->whole = d->insn->mods[MODC_ALIGNED] != 0;
    d->uop->option = arrives ? BARRIER_CLUSTER_ARRIVE : BARRIER_CLUSTER_WAIT;
    d->info->releases = arrives && d->insn->mods[MODC_SEM] != MOD_SEM_relaxed;
    d->info->reach = d->info->releases ? REACH_OTHERS : REACH_NOBODY;
    d->info->acquires = false; /* it waits itself */
    d->program->uses_clusters = true;
    return SONDE_OK;
}

/* The address as one of shared::cluster. uop->number: where the space's addresses begin. */
static uint64_t source_address(const struct exec_warp *warp, const struct uop *uop, uint32_t lane)
{
    const void *from = lanes_at(warp->state, uop->source[0]);
    uint64_t given =
        uop->dst_bytes == 8 ? ((const lane_dword *)from)[lane] : ((const lane_word *)from)[lane];
    return cluster_address(warp->cta, given - uop->number);
}

static bool rank_known(struct exec_warp *warp, uint32_t lane, uint64_t rank, const char *what)
{
    uint32_t size = cluster_size(warp->cta->launch);
    const struct exec_observer *observer = warp->cta->launch->observer;
    if (rank < size)
        return true;
    if (observer && observer->stops)
        observer->stops(warp, lane, SPACE_SHARED_CLUSTER,
                        (EXEC_CLUSTER_FIRST + rank) * EXEC_WINDOW_BYTES, 0, 1);
    fault_set(warp, warp->pc, lane, rank, "%s block %llu of a cluster of %u", what,
              (unsigned long long)rank, size);
    return false;
}

enum exec_event run_mapa(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                         struct exec_access *access)
{
    (void)access;
    const lane_word *rank = lanes_at(warp->state, uop->source[1]);
    void *to = lanes_at(warp->state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t offset = source_address(warp, uop, lane) % EXEC_WINDOW_BYTES;
        if (!rank_known(warp, lane, rank[lane], "mapa into"))
            return EXEC_FAULT;
        uint64_t window = EXEC_CLUSTER_FIRST + (uint64_t)rank[lane];
        uint64_t address = uop->number + window * EXEC_WINDOW_BYTES + offset;
        if (uop->dst_bytes == 8)
            ((lane_dword *)to)[lane] = address;
        else
            ((lane_word *)to)[lane] = (uint32_t)address;
    }
    return advance(warp);
}

enum exec_event run_rank(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                         struct exec_access *access)
{
    (void)access;
    lane_word *to = lanes_at(warp->state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t rank = source_address(warp, uop, lane) / EXEC_WINDOW_BYTES - EXEC_CLUSTER_FIRST;
        if (!rank_known(warp, lane, rank, "getctarank of an address outside of shared memory, in"))
            return EXEC_FAULT;
        to[lane] = (uint32_t)rank;
    }
    return advance(warp);
}

/* Without a state space the address is a generic one; a variable is named by its shared address. */
static int decode_address(struct decoder *d, const struct ptx_operand *operand)
{
    uint32_t bytes = isa_type_info(d->insn->types[0])->bytes;
    bool named = operand->kind == OPERAND_VAR;
    bool generic = d->insn->space[0] == SPACE_NONE && !named;
    if (generic && bytes != 8)
        return decode_refuse(d, "a generic address of shared memory in 32 bits is not implemented");
    d->uop->number = generic ? EXEC_SHARED_WINDOW : 0;
    d->uop->dst_bytes = (uint8_t)bytes;
    d->program->uses_clusters = true;
    return decode_source(d, 0, operand, bytes);
}

int decode_mapa(struct decoder *d)
{
    const struct ptx_operand *o = d->insn->operands;
    d->uop->run = run_mapa;
    int rc = decode_dest(d, &d->uop->dst, &o[0], isa_type_info(d->insn->types[0])->bytes);
    if (rc == SONDE_OK)
        rc = decode_address(d, &o[1]);
    return rc == SONDE_OK ? decode_source(d, 1, &o[2], 4) : rc;
}

int decode_rank(struct decoder *d)
{
    const struct ptx_operand *o = d->insn->operands;
    d->uop->run = run_rank;
    int rc = decode_dest(d, &d->uop->dst, &o[0], 4);
    return rc == SONDE_OK ? decode_address(d, &o[1]) : rc;
}
