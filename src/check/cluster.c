/*
 * Shared memory of other blocks of the cluster. What a block has done to its own memory comes
 * before what another one does there when the first has arrived at a phase of the cluster's barrier
 * that the other has waited for. Here blocks run by turns, so that each keeps the times of its
 * arrivals.
 *
 * A foreign access leaves records in the owner's granules like its own ones (shared.c), by a warp
 * that no block has: for the owner they are over with the next barrier that all of its warps have
 * passed. Left out: that this may have been one of the block alone; programs whose blocks may be
 * ordered by more than the barrier of the cluster (fences, mbarriers), of which only reads of what
 * nobody has written are told.
 */
#include <string.h>

#include "check/rows.h"
#include "check/state.h"
#include "exec/cluster.h"
#include "exec/ops.h"

#define FOREIGN_WARP 63u

void cluster_meets(struct watched_cta *cta, const struct exec_warp *warp)
{
    uint32_t index = warp->env->warpid;
    if (warp->barrier_kind == BARRIER_CLUSTER_WAIT) {
        cta->waits[index]++;
        return;
    }
    uint32_t phase = cta->comes[index]++;
    if (phase < cta->met.count)
        cta->met.data[phase] = cta->time;
    else if (vec_push(&cta->met, cta->time) < 0)
        cta->launch->check->failed = true;
    cta->time++;
}

/* Everything in the owner's memory up to this record comes before what the other's warp does. */
static uint32_t ordered_limit(const struct watched_cta *owner, uint32_t waits)
{
    if (waits == 0 || owner->met.count == 0)
        return owner->begin;
    size_t last = waits < owner->met.count ? waits : owner->met.count;
    return (owner->met.data[last - 1] << TIME_SHIFT) | ((1u << TIME_SHIFT) - 1);
}

struct foreign {
    struct watched_cta *owner;
    uint32_t mine, limit, pc;
    enum exec_access_kind kind;
    bool races; /* are looked for */
};

static bool is_later(const struct foreign *f, uint32_t record)
{
    return record > f->limit && warp_of(record) != FOREIGN_WARP;
}

/* The record that it conflicts with, or 0. */
static uint32_t conflict(const struct foreign *f, uint32_t granule, const char **did, uint32_t *pc)
{
    const struct watched_cta *o = f->owner;
    *pc = o->write_pcs[granule];
    if (is_later(f, o->writes[granule])) {
        *did = "written";
        return o->writes[granule];
    }
    if (f->kind <= ACCESS_STORE && is_later(f, o->atomics[granule])) {
        *did = "changed atomically";
        return o->atomics[granule];
    }
    *did = "read";
    *pc = o->read_pcs[granule];
    return f->kind == ACCESS_STORE && is_later(f, o->reads[granule]) ? o->reads[granule] : 0;
}

static void leave_record(const struct foreign *f, uint32_t granule)
{
    struct watched_cta *o = f->owner;
    uint32_t record = f->races ? f->mine : o->begin;
    if (f->kind == ACCESS_LOAD) {
        if (f->races)
            shared_note_read(o, granule, record, f->limit, f->pc);
        return;
    }
    uint32_t *kept = f->kind == ACCESS_STORE ? &o->writes[granule] : &o->atomics[granule];
    *kept = *kept > record ? *kept : record;
    if (f->races)
        o->write_pcs[granule] = f->pc;
}

static void access_lane(const struct foreign *f, struct exec_warp *warp,
                        const struct exec_access *access, uint32_t lane)
{
    struct watched_cta *o = f->owner;
    uint64_t offset = access->address[lane] % EXEC_WINDOW_BYTES;
    uint32_t end, bad = 0, unwritten = 0, bad_pc = 0;
    uint32_t first = shared_granules(o, offset, (uint64_t)access->bytes * access->vec, &end);
    const char *bad_did = "";
    for (uint32_t i = first; i < end; i++) {
        const char *did;
        uint32_t pc, found = f->races ? conflict(f, i, &did, &pc) : 0;
        unwritten |= f->kind != ACCESS_STORE && !shared_is_written(o, i);
        leave_record(f, i);
        if (!found)
            continue;
        bad = found;
        bad_did = did;
        bad_pc = pc;
    }
    if (bad) {
        shared_race(o, warp, access, lane, bad, bad_did, bad_pc);
        shared_came_late(o, warp->state->program, first, end - first);
    } else if (unwritten && f->kind == ACCESS_LOAD) {
        shared_unwritten(o, warp, access, lane, first, end - first);
    }
}

void cluster_access(struct watched_cta *cta, struct exec_warp *warp,
                    const struct exec_access *access, uint32_t mask)
{
    const struct check_launch *launch = cta->launch;
    bool strong = launch->flags[access->pc] & INSN_STRONG;
    for (uint32_t rest = launch->shared_checked ? mask : 0; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t window = access->address[lane] / EXEC_WINDOW_BYTES,
                 rank = window - EXEC_CLUSTER_FIRST;
        const struct exec_cluster *cluster = cta->cta->cluster;
        if (!cluster || window < EXEC_CLUSTER_FIRST || rank >= cluster->size ||
            cluster->member[rank].state != CLUSTER_CTA_RUNS)
            continue; /* its own, or refused */
        struct watched_cta *owner = cluster->member[rank].cta->observed;
        struct foreign f = {.owner = owner,
                            .mine = owner->time << TIME_SHIFT | FOREIGN_WARP << WARP_SHIFT | lane,
                            .limit = ordered_limit(owner, cta->waits[warp->env->warpid]),
                            .pc = access->pc,
                            .kind = strong && access->kind != ACCESS_LOAD ? ACCESS_ATOMIC
                                                                          : access->kind,
                            .races = !launch->blocks_ordered && !strong && owner != cta};
        access_lane(&f, warp, access, lane);
    }
}
