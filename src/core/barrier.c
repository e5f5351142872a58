/*
 * Warps at barriers: exec/barrier.h counts and says who may go on; here they stop and go. A
 * released warp issues again after the barrier unit's latency. At the barrier of a cluster
 * (exec/cluster.h) that is the time that the last arrival takes to be known on all its SMs. Where
 * the warps of a warpgroup wait for groups of products, it is the end of the last of the four's;
 * that these begin together on the machine, since they share b, is left out.
 */
#include "core/repeat.h"
#include "core/state.h"

/* When what the warp has waited for is over in all warps of its warpgroup; 0: at once. */
static uint64_t products_over_cycle(const struct sm *sm, const struct sm_warp *warp)
{
    const struct sm_cta *cta = warp->cta;
    uint32_t wanted = cta->barriers.products.wanted[warp->index];
    uint64_t cycle = 0;
    for (uint64_t rest = wanted ? cta_warpgroup(warp->index) & cta->barriers.alive : 0; rest;
         rest &= rest - 1) {
        const struct sm_warp *one = &sm->warp[cta->slot_of[__builtin_ctzll(rest)]];
        uint64_t ready = one->group_ready[(wanted - 1) % PRODUCT_GROUPS];
        cycle = ready > cycle ? ready : cycle;
    }
    return cycle;
}

/* Of a warp at a barrier of its CTA, which is its next instruction until it goes. */
static uint64_t let_go_cycle(struct sm *sm, const struct sm_warp *warp)
{
    uint64_t cycle = sm->barrier_free > sm->cycle ? sm->barrier_free : sm->cycle;
    uint32_t early = warp->next->lowered.early_cycles,
             latency = sm->unit[UNIT_BARRIER].latency_cycles;
    sm->barrier_free = cycle + sm->spec->barrier_release_cycles;
    return cycle + (latency > early ? latency - early : 0);
}

/* Of a warp that is let go now. */
static uint64_t release_cycle(struct sm *sm, const struct sm_warp *warp)
{
    if (!exec_barrier_is_of_products(warp->exec.barrier_kind)) {
        return let_go_cycle(sm, warp);
    }
    uint64_t over = products_over_cycle(sm, warp);
    over = over > sm->cycle ? over : sm->cycle;
    return over > warp->next_issue ? over : warp->next_issue;
}

static void release(struct sm *sm, struct sm_cta *cta, uint64_t indices)
{
    for (; indices; indices &= indices - 1) {
        struct sm_warp *warp = &sm->warp[cta->slot_of[__builtin_ctzll(indices)]];
        if (warp->state == WARP_AT_BARRIER) {
            warp->state = WARP_RUNNING;
            warp->next_issue = release_cycle(sm, warp);
            warp_refresh(sm, warp);
        }
    }
}

static void phase_over(struct sm *sm, struct exec_cluster *cluster)
{
    if (sm->host.cluster_phase) {
        sm->host.cluster_phase(sm->host.ctx, cluster);
    }
}

void sm_cluster_go(struct sm *sm, struct exec_cluster *cluster, uint32_t rank)
{
    const struct cluster_spec *spec = &sm->spec->cluster;
    uint32_t alone = sm->unit[UNIT_BARRIER].latency_cycles;
    uint64_t go_cycle = sm_sync(sm) + (cluster->size > 1 ? spec->barrier_cycles : alone);
    struct sm_cta *cta = sm->cta;
    while (&cta->exec != cluster->member[rank].cta) {
        cta++;
    }
    cta->phase_cycle = go_cycle;
    repeat_moved(sm);
    for (uint64_t waiting = cluster_take(cluster, rank); waiting; waiting &= waiting - 1) {
        struct sm_warp *warp = &sm->warp[cta->slot_of[__builtin_ctzll(waiting)]];
        warp->state = WARP_RUNNING;
        warp->next_issue = go_cycle;
        warp_refresh(sm, warp);
    }
    wait_others_go(sm, cta);
    sm_wake(sm, go_cycle);
}

static void cluster_barrier(struct sm *sm, struct sm_warp *warp)
{
    struct exec_cluster *cluster = warp->cta->exec.cluster;
    if (warp->exec.barrier_kind == BARRIER_CLUSTER_ARRIVE) {
        if (cluster_arrive(cluster, &warp->exec, warp->index)) {
            phase_over(sm, cluster);
        }
    } else if (cluster_waits(cluster, &warp->exec, warp->index)) {
        warp->state = WARP_AT_BARRIER;
        return;
    } else if (warp->cta->phase_cycle > warp->next_issue) {
        warp->next_issue = warp->cta->phase_cycle;
    }
    warp_refresh(sm, warp);
}

static void products_barrier(struct sm *sm, struct sm_warp *warp)
{
    struct sm_cta *cta = warp->cta;
    uint64_t self = 1ull << warp->index;
    uint32_t made = cta->barriers.products.made[warp->index];
    bool arrives = warp->exec.barrier_kind == BARRIER_PRODUCTS_ARRIVE;
    if (arrives) {
        warp->group_ready[made % PRODUCT_GROUPS] = warp->products_ready;
        warp_refresh(sm, warp);
    } else {
        warp->state = WARP_AT_BARRIER;
    }
    uint64_t go = cta_barriers_arrive(&cta->barriers, cta->by_index, warp->index);
    release(sm, cta, arrives ? go & ~self : go);
}

void barrier_arrive(struct sm *sm, struct sm_warp *warp)
{
    struct sm_cta *cta = warp->cta;
    if (exec_barrier_is_of_products(warp->exec.barrier_kind)) {
        products_barrier(sm, warp);
        return;
    }
    if (warp->exec.barrier_kind >= BARRIER_CLUSTER_ARRIVE) {
        cluster_barrier(sm, warp);
        return;
    }
    uint64_t self = 1ull << warp->index;
    uint64_t go = cta_barriers_arrive(&cta->barriers, cta->by_index, warp->index);
    if (warp->exec.barrier_kind == BARRIER_ARRIVE) {
        warp_refresh(sm, warp);
        go &= ~self;
    } else {
        warp->state = WARP_AT_BARRIER;
    }
    release(sm, cta, go);
}

void barrier_exit(struct sm *sm, struct sm_warp *warp)
{
    struct sm_cta *cta = warp->cta;
    release(sm, cta, cta_barriers_exit(&cta->barriers, cta->by_index, warp->index));
    if (cta->exec.cluster && cluster_exit(cta->exec.cluster)) {
        phase_over(sm, cta->exec.cluster);
    }
}

void barrier_leave(struct sm *sm, struct sm_cta *cta)
{
    (void)sm;
    if (cta->exec.cluster) {
        cluster_leave(cta->exec.cluster, &cta->exec);
    }
}
