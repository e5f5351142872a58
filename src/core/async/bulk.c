/*
 * The engine of bulk copies, of tensors too. An SM has one. Copies wait in the order of their
 * issue; the head's rows become requests of at most a segment, one a cycle, which go to L2 past L1;
 * when all of a copy's requests are answered its barriers count its bytes. The bytes themselves
 * have moved when the copy issued.
 *
 *     issue -- latency --> [copy][copy] -> a request a cycle -> network -> L2 -> answer: barriers
 *
 * A copy to device memory is read out of shared memory at write_bytes a cycle, and its group may go
 * on when that is done and write_latency has passed: on an H200 waiting for a group takes no longer
 * than waiting until it has read its bytes (docs/asynchronous.md). Copies between the shared
 * memories of a cluster take its network's time. Left out: what reductions take in L2 beside
 * writing, and conflicts with accesses of warps to shared memory.
 */
#include "core/async/bulk.h"

#include <stdlib.h>

#include "core/state.h"
#include "util/error.h"

static void run_at(struct sm *sm, uint64_t cycle, engine_handler *handler, void *arg)
{
    engine_at(sm->engine, cycle * sm->period_ps, sm->source ? sm->source - 1 : 0, handler, sm,
              (uintptr_t)arg);
}

/* Its bytes are where they belong, and it has no requests out. */
static void copy_ends(struct sm *sm, struct bulk_copy *copy)
{
    struct sm_warp *warp = copy->warp;
    struct sm_cta *cta = warp->cta;
    for (size_t i = 0; i < copy->arrivals.count; i++) {
        transfer_arrive(&copy->arrivals.data[i]);
    }
    if (copy->arrivals.count > 0) {
        wait_look(sm);
        wait_look_elsewhere(sm, warp, 0);
    }
    bulk_copy_release(&sm->async.bulk, copy);
    if (--cta->outstanding == 0) {
        cta_try_retire(sm, cta);
    }
}

static void across_ends(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    struct bulk_copy *copy = (struct bulk_copy *)(uintptr_t)arg;
    if (sm->aborted || copy->dropped) {
        bulk_copy_release(&sm->async.bulk, copy);
    } else {
        sm_sync(sm);
        copy_ends(sm, copy);
    }
}

static void answered(struct sm *sm, struct bulk_copy *copy)
{
    if (--copy->replies_left > 0) {
        return;
    }
    if (copy->dropped || sm->aborted) {
        bulk_copy_release(&sm->async.bulk, copy);
    } else {
        copy_ends(sm, copy);
    }
}

/* Its group need not wait for it any longer. */
static void group_goes_on(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    struct bulk_copy *copy = (struct bulk_copy *)(uintptr_t)arg;
    struct sm_warp *warp = copy->warp;
    if (!sm->aborted && !copy->dropped) {
        uint64_t cycle = sm_sync(sm);
        warp->bulk.out[copy->group]--;
        if (warp->blocked && warp->state == WARP_RUNNING) {
            warp_refresh(sm, warp);
            sm_wake(sm, cycle);
        }
    }
    answered(sm, copy);
}

static void bulk_run(void *ctx, uint64_t arg);

static void go_on_at(struct sm *sm, uint64_t cycle)
{
    struct bulk_engine *bulk = &sm->async.bulk;
    if (!bulk->scheduled && !bulk->refused && !bulk->full && bulk->head) {
        uint64_t start = bulk->head->start_cycle;
        bulk->scheduled = true;
        run_at(sm, cycle > start ? cycle : start, bulk_run, NULL);
    }
}

static void bulk_reply(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    struct bulk_engine *bulk = &sm->async.bulk;
    struct bulk_request *request = (struct bulk_request *)(uintptr_t)arg;
    struct bulk_copy *copy = request->copy;
    uint64_t cycle = sm_sync(sm);
    request->next = bulk->requests;
    bulk->requests = request;
    bulk->requests_out--;
    answered(sm, copy);
    if (bulk->full) {
        bulk->full = false;
        go_on_at(sm, cycle);
    }
}

static void space_again(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    (void)arg;
    sm->async.bulk.refused = false;
    go_on_at(sm, sm_sync(sm));
}

/* What the head's next request is: the rest of a row up to the end of a segment. */
static struct transfer_piece next_bytes(const struct sm *sm, const struct bulk_copy *copy)
{
    struct transfer_piece piece = copy->pieces.data[copy->piece];
    uint64_t segment = sm->spec->coalesce.segment_bytes;
    piece.address += copy->offset;
    piece.bytes -= copy->offset;
    uint64_t left = segment - piece.address % segment;
    piece.bytes = piece.bytes < left ? piece.bytes : (uint32_t)left;
    return piece;
}

static struct bulk_request *request_make(struct sm *sm, struct bulk_copy *copy,
                                         struct transfer_piece piece)
{
    struct bulk_request *request = sm->async.bulk.requests;
    uint64_t first = piece.address, end = first + piece.bytes;
    uint64_t sector = copy->kind == TRANSFER_IN ? sm->spec->coalesce.sector_bytes : 1, paddr;
    first -= first % sector;
    end = (end + sector - 1) / sector * sector;
    if (!translate(sm, first, &paddr)) {
        error_set(SONDE_EFAULT, "no page is mapped at address 0x%llx", (unsigned long long)first);
        return NULL;
    }
    if (request) {
        sm->async.bulk.requests = request->next;
    } else if (!(request = malloc(sizeof *request))) {
        error_memory();
        return NULL;
    }
    *request =
        (struct bulk_request){.copy = copy,
                              .mem = {.vaddr = first,
                                      .paddr = paddr,
                                      .bytes = (uint32_t)(end - first),
                                      .lanes = 1,
                                      .sectors = (uint16_t)((end - 1) / COALESCE_SECTOR_BYTES -
                                                            first / COALESCE_SECTOR_BYTES + 1),
                                      .sm = (uint16_t)sm->id,
                                      .kind = copy->kind == TRANSFER_IN ? MEM_READ : MEM_WRITE,
                                      .bypass = true,
                                      .reply = bulk_reply,
                                      .ctx = sm}};
    return request;
}

/* The head has sent all. */
static void head_leaves(struct sm *sm, struct bulk_copy *copy, uint64_t cycle)
{
    struct bulk_engine *bulk = &sm->async.bulk;
    bulk->head = copy->next;
    if (!bulk->head) {
        bulk->end = &bulk->head;
    }
    if (copy->kind == TRANSFER_OUT) {
        run_at(sm, cycle + sm->spec->bulk.write_latency_cycles, group_goes_on, copy);
    } else {
        answered(sm, copy);
    }
}

/* Sends a request of the head. Returns the cycles until the next, 0: there is no space. */
static uint32_t send_one(struct sm *sm, struct bulk_copy *copy)
{
    struct bulk_engine *bulk = &sm->async.bulk;
    struct transfer_piece piece = next_bytes(sm, copy);
    struct bulk_request *request = request_make(sm, copy, piece);
    if (!request) {
        sm_fault(sm, SONDE_EFAULT);
        return 0;
    }
    if (!sm->network.send(sm->network.self, &request->mem)) {
        request->next = bulk->requests;
        bulk->requests = request;
        bulk->refused = true;
        sm->network.when_space(sm->network.self, space_again, sm, 0);
        return 0;
    }
    fence_sees(sm, request->mem.paddr);
    sm->stats.transactions++;
    sm->stats.l1_bypasses++;
    bulk->requests_out++;
    copy->replies_left++;
    copy->offset += piece.bytes;
    if (copy->offset == copy->pieces.data[copy->piece].bytes) {
        copy->piece++;
        copy->offset = 0;
    }
    uint32_t width = sm->spec->bulk.write_bytes;
    return copy->kind == TRANSFER_OUT && width ? (piece.bytes + width - 1) / width : 1;
}

static void bulk_run(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    struct bulk_engine *bulk = &sm->async.bulk;
    struct bulk_copy *copy = bulk->head;
    uint32_t most = sm->spec->bulk.requests, cycles = 1;
    (void)arg;
    bulk->scheduled = false;
    if (sm->aborted || !copy) {
        return;
    }
    uint64_t cycle = sm_sync(sm);
    if (most && bulk->requests_out >= most) {
        bulk->full = true;
        return;
    }
    if (copy->piece < copy->pieces.count) {
        cycles = send_one(sm, copy);
        if (cycles == 0) {
            return;
        }
    }
    if (copy->piece == copy->pieces.count) {
        head_leaves(sm, copy, cycle + cycles - 1);
    }
    go_on_at(sm, cycle + cycles);
}

static void enqueue(struct sm *sm, struct bulk_copy *copy)
{
    struct bulk_engine *bulk = &sm->async.bulk;
    copy->next = NULL;
    *bulk->end = copy;
    bulk->end = &copy->next;
    go_on_at(sm, sm->cycle + 1);
}

/* The time of st.async and of copies between shared memories. */
static uint64_t across_cycles(const struct sm *sm, const struct transfer *transfer)
{
    const struct cluster_spec *spec = &sm->spec->cluster;
    uint32_t width = spec->bytes_per_cycle;
    return spec->async_cycles + (width ? transfer->bytes / width : 0);
}

static int copy_make(struct bulk_copy **out, struct sm *sm, const struct transfer_piece *pieces,
                     const struct transfer_arrival *arrivals, const struct transfer *transfer)
{
    struct bulk_copy *copy = bulk_copy_take(&sm->async.bulk);
    *out = copy;
    int rc = copy ? 0 : VEC_OUT_OF_MEMORY;
    for (uint32_t i = 0; rc == 0 && i < transfer->pieces; i++) {
        rc = vec_push(&copy->pieces, pieces[i]);
    }
    for (uint32_t i = 0; rc == 0 && i < transfer->arrivals; i++) {
        rc = vec_push(&copy->arrivals, arrivals[i]);
    }
    if (rc < 0 && copy) {
        bulk_copy_release(&sm->async.bulk, copy);
    }
    return rc < 0 ? error_memory() : 0;
}

/* `start`: the cycle from which the engine knows of it. */
static void copy_begin(struct sm *sm, struct sm_warp *warp, struct bulk_copy *copy,
                       const struct transfer *transfer, uint64_t start)
{
    copy->warp = warp;
    copy->kind = transfer->kind;
    copy->piece = copy->offset = 0;
    copy->replies_left = 1;
    copy->dropped = false;
    copy->start_cycle = start;
    warp->cta->outstanding++;
    if (transfer->kind == TRANSFER_ACROSS) {
        run_at(sm, sm->cycle + across_cycles(sm, transfer), across_ends, copy);
        return;
    }
    if (transfer->kind == TRANSFER_OUT) {
        copy->group = warp->bulk.committed % ASYNC_GROUPS;
        copy->start_cycle = sm->cycle + 1;
        warp->bulk.out[copy->group]++;
    }
    enqueue(sm, copy);
}

int bulk_issue(struct sm *sm, struct sm_warp *warp)
{
    const struct bulk_spec *spec = &sm->spec->bulk;
    struct exec_transfers *issued = &sm->async.bulk.issued;
    const struct transfer_piece *pieces = issued->pieces.data;
    const struct transfer_arrival *arrivals = issued->arrivals.data;
    uint64_t cycle = sm->cycle;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < issued->list.count; i++) {
        const struct transfer *transfer = &issued->list.data[i];
        struct bulk_copy *copy;
        rc = copy_make(&copy, sm, pieces, arrivals, transfer);
        if (rc == 0) {
            copy_begin(sm, warp, copy, transfer, cycle + spec->latency_cycles);
        }
        pieces += transfer->pieces;
        arrivals += transfer->arrivals;
        if (transfer->kind == TRANSFER_IN) {
            cycle += transfer->is_tensor ? spec->tensor_issue_cycles : spec->issue_cycles;
        }
    }
    transfers_clear(issued);
    warp->next_issue = cycle > warp->next_issue ? cycle : warp->next_issue;
    return rc;
}
