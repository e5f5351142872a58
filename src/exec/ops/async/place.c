/* See place.h. */
#include "exec/ops/async/place.h"

#include <inttypes.h>
#include <string.h>

#include "exec/cluster.h"
#include "exec/fault.h"
#include "exec/memory/image.h"
#include "exec/observe.h"
#include "util/error.h"

#define COUNT_BITS 20
#define COUNT_MASK ((1u << COUNT_BITS) - 1)
#define BYTES_SHIFT 40
#define BYTES_MASK ((UINT64_C(1) << 22) - 1)
#define PHASE_BIT 63

uint64_t async_address(const struct exec_warp *warp, const struct async_place *place, uint32_t lane)
{
    uint64_t base = place->has_base ? element_get(warp->state, &place->base, lane) : 0;
    bool narrow =
        place->space == SPACE_SHARED && place->has_base && place->base.register_bytes == 4;
    return narrow ? (uint32_t)(base + place->offset) : base + place->offset;
}

static void tell_observer(struct exec_warp *warp, uint32_t lane, bool shared, uint64_t address,
                          uint32_t bytes, uint32_t align)
{
    const struct exec_observer *observer = warp->cta->launch->observer;
    enum isa_space space = !shared                       ? SPACE_GLOBAL
                           : address < EXEC_WINDOW_BYTES ? SPACE_SHARED
                                                         : SPACE_SHARED_CLUSTER;
    if (observer && observer->stops)
        observer->stops(warp, lane, space, address, bytes, align);
}

uint8_t *async_find(struct exec_warp *warp, const struct async_place *place, uint32_t lane,
                    uint32_t bytes, uint32_t align)
{
    const struct exec_cta *cta = warp->cta;
    uint64_t given = async_address(warp, place, lane), address = given;
    bool shared = place->space == SPACE_SHARED;
    if (shared && place->has_base && place->base.register_bytes == 4)
        address = (uint32_t)address;
    if (place->space == SPACE_NONE &&
        address - EXEC_SHARED_WINDOW < EXEC_WINDOWS * (uint64_t)EXEC_WINDOW_BYTES) {
        shared = true;
        address -= EXEC_SHARED_WINDOW;
    }
    if (address % align == 0) {
        uint8_t *at = shared ? cluster_place(cta, cluster_address(cta, address), bytes) : NULL;
        if (at)
            return at;
        if (!shared && (bytes == 0 || image_valid(cta->launch->memory, address, bytes)))
            return (uint8_t *)(uintptr_t)address;
    }
    tell_observer(warp, lane, shared, address, bytes, align);
    fault_set(warp, warp->pc, lane, given,
              "%s access of %u bytes at 0x%" PRIx64 " is misaligned or out of bounds",
              shared ? "shared" : "global", bytes, given);
    return NULL;
}

uint8_t *async_find_in(struct exec_warp *warp, const struct async_place *place, uint32_t lane,
                       int rank, uint32_t bytes, uint32_t align)
{
    if (rank < 0)
        return async_find(warp, place, lane, bytes, align);
    uint64_t given = async_address(warp, place, lane);
    uint64_t offset = given % EXEC_WINDOW_BYTES;
    uint64_t window = EXEC_CLUSTER_FIRST + (uint64_t)rank;
    uint8_t *at = offset % align == 0
                      ? cluster_place(warp->cta, window * EXEC_WINDOW_BYTES + offset, bytes)
                      : NULL;
    if (!at)
        tell_observer(warp, lane, true, window * EXEC_WINDOW_BYTES + offset, bytes, align);
    if (!at)
        fault_set(warp, warp->pc, lane, given,
                  "%u bytes at 0x%" PRIx64 " of block %d of the cluster: misaligned, or not there",
                  bytes, offset, rank);
    return at;
}

void async_tell(struct exec_warp *warp, uint32_t lane, const uint8_t *shared, uint64_t bytes,
                const uint8_t *barrier)
{
    const struct exec_observer *observer = warp->cta->launch->observer;
    uint64_t offset = (uintptr_t)shared - (uintptr_t)warp->cta->shared;
    if (!observer || !observer->moves || offset >= warp->cta->shared_bytes)
        return;
    struct exec_phase phase = {0};
    if (barrier) {
        uint64_t word;
        memcpy(&word, barrier, sizeof word);
        phase.place = (uintptr_t)barrier - (uintptr_t)warp->cta->shared;
        phase.parity = mbarrier_phase(word);
    }
    observer->moves(warp, lane, offset, bytes, barrier ? &phase : NULL);
}

void async_tell_barrier(struct exec_warp *warp, uint32_t lane, const uint8_t *barrier, uint32_t op)
{
    const struct exec_observer *observer = warp->cta->launch->observer;
    uint64_t offset = (uintptr_t)barrier - (uintptr_t)warp->cta->shared;
    enum exec_barrier_use use = op == OP_MBARRIER_INIT    ? BARRIER_INIT
                                : op == OP_MBARRIER_INVAL ? BARRIER_INVALIDATE
                                                          : BARRIER_USE;
    if (observer && observer->acts && offset < warp->cta->shared_bytes)
        observer->acts(warp, lane, offset, use);
}

int async_decode_place(struct decoder *d, struct async_place *place,
                       const struct ptx_operand *address, enum isa_space space)
{
    uint64_t value = 0;
    bool relative = false;
    int rc = SONDE_OK;
    place->space = isa_space_base(space);
    if (space == SPACE_SHARED_CLUSTER)
        d->program->uses_clusters = true;
    if (address->var)
        rc = decode_var_address(d, &value, &relative, address->var);
    if (address->var && place->space == SPACE_NONE &&
        isa_space_base(address->var->space) == SPACE_SHARED)
        place->space = SPACE_SHARED;
    place->offset = value + address->imm;
    if (rc != SONDE_OK || !address->has_reg)
        return rc;
    struct ptx_operand base = {.kind = OPERAND_REG, .reg = address->reg, .type = address->type};
    place->has_base = true;
    return decode_source_element(d, &place->base, &base, 0);
}

/* ---- barriers ---- */

static uint64_t settle(uint64_t word)
{
    uint64_t expected = word >> COUNT_BITS & COUNT_MASK;
    if (word & COUNT_MASK || word >> BYTES_SHIFT & BYTES_MASK)
        return word;
    return ((word >> PHASE_BIT ^ 1) << PHASE_BIT) | expected << COUNT_BITS | expected;
}

static uint64_t add_bytes(uint64_t word, uint64_t bytes)
{
    uint64_t now = ((word >> BYTES_SHIFT) + bytes) & BYTES_MASK;
    return (word & ~(BYTES_MASK << BYTES_SHIFT)) | now << BYTES_SHIFT;
}

uint64_t mbarrier_init(uint32_t count)
{
    return (uint64_t)(count & COUNT_MASK) << COUNT_BITS | (count & COUNT_MASK);
}

uint64_t mbarrier_arrive(uint64_t word, uint32_t count, uint32_t drop)
{
    uint64_t pending = (word - count) & COUNT_MASK;
    uint64_t expected = ((word >> COUNT_BITS) - drop) & COUNT_MASK;
    uint64_t counts = (UINT64_C(1) << 2 * COUNT_BITS) - 1;
    return settle((word & ~counts) | expected << COUNT_BITS | pending);
}

uint64_t mbarrier_await(uint64_t word)
{
    return (word & ~(uint64_t)COUNT_MASK) | ((word + 1) & COUNT_MASK);
}

uint64_t mbarrier_expect(uint64_t word, uint32_t bytes)
{
    return add_bytes(word, bytes);
}

uint64_t mbarrier_complete(uint64_t word, uint32_t bytes)
{
    return settle(add_bytes(word, 0 - (uint64_t)bytes));
}

uint32_t mbarrier_phase(uint64_t word)
{
    return (uint32_t)(word >> PHASE_BIT);
}

uint32_t mbarrier_pending(uint64_t word)
{
    return (uint32_t)word & COUNT_MASK;
}

void mbarrier_count(uint8_t *barrier, uint32_t bytes)
{
    uint64_t word;
    memcpy(&word, barrier, sizeof word);
    word = mbarrier_complete(word, bytes);
    memcpy(barrier, &word, sizeof word);
}

void mbarrier_come(uint8_t *barrier, uint32_t threads)
{
    uint64_t word;
    memcpy(&word, barrier, sizeof word);
    word = mbarrier_arrive(word, threads, 0);
    memcpy(barrier, &word, sizeof word);
}
