/*
 * Loads, stores, atomics, prefetches at issue: addresses of all lanes, their state space, the
 * checks, and the data to be stored. Nothing is read or written here; commit.c does that later.
 *
 * Addresses are checked now, so that a timing model never sees one that no memory answers: first
 * all lanes at once (the OR of the addresses for alignment, the lowest and the highest for bounds),
 * and lane by lane only when that fails. The two patterns that make up most accesses, one lane and
 * 32 consecutive elements, take a shorter way.
 */
#include <inttypes.h>
#include <string.h>

#include "exec/cluster.h"
#include "exec/fault.h"
#include "exec/memory/image.h"
#include "exec/observe.h"
#include "exec/ops.h"
#include "util/error.h"

static void compute_addresses(const struct exec_state *state, const struct uop_memory *memory,
                              uint32_t mask, uint64_t address[WARP_LANES])
{
    uint64_t offset = memory->offset + (memory->local_relative ? state->local_base : 0);
    bool single = (mask & (mask - 1)) == 0;
    uint32_t lane = lowest_lane(mask);
    if (!memory->has_base) {
        for (uint32_t i = single ? lane : 0; i < (single ? lane + 1 : WARP_LANES); i++)
            address[i] = offset;
        return;
    }
    const void *base = lanes_at(state, memory->base);
    const lane_dword *wide = base;
    const lane_word *narrow = base;
    if (single)
        address[lane] =
            memory->base_is_64 ? wide[lane] + offset : (uint32_t)(narrow[lane] + offset);
    else if (memory->base_is_64)
        for (uint32_t i = 0; i < WARP_LANES; i++)
            address[i] = wide[i] + offset;
    else
        for (uint32_t i = 0; i < WARP_LANES; i++)
            address[i] = (uint32_t)(narrow[i] + offset);
}

static bool is_contiguous(const struct exec_access *access, uint64_t bytes)
{
    if (access->mask != UINT32_MAX)
        return false;
    uint64_t bits = 0, expected = access->address[0];
    if (access->address[1] != expected + bytes)
        return false;
    for (uint32_t i = 0; i < WARP_LANES; i++, expected += bytes)
        bits |= access->address[i] ^ expected;
    return bits == 0;
}

/*
 * Shared memory of the cluster: where all lanes stay in their own CTA's it is a shared access like
 * others. Else each address says whose it is.
 */
static void resolve_cluster(struct exec_access *access, const struct exec_cta *cta)
{
    bool own = true;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        access->address[lane] = cluster_address(cta, access->address[lane]);
        own &= cluster_is_own(cta, access->address[lane]);
    }
    access->space = own ? SPACE_SHARED : SPACE_SHARED_CLUSTER;
    for (uint32_t rest = own ? access->mask : 0; rest; rest &= rest - 1)
        access->address[lowest_lane(rest)] &= EXEC_WINDOW_BYTES - 1;
}

/* Turn generic addresses into a space and addresses of that space. */
static void resolve_generic(struct exec_access *access, const struct exec_cta *cta)
{
    bool windowed = false;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        windowed |= access->address[lowest_lane(rest)] - EXEC_SHARED_WINDOW <
                    EXEC_WINDOWS * (uint64_t)EXEC_WINDOW_BYTES;
    access->space = SPACE_GLOBAL;
    if (!windowed)
        return;
    const uint32_t shared = 1u << SPACE_SHARED | 1u << SPACE_SHARED_CLUSTER;
    uint32_t seen = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        enum isa_space space = generic_space(access->address[lane]);
        access->lane_space[lane] = (uint8_t)space;
        seen |= 1u << space;
        if (space == SPACE_SHARED_CLUSTER)
            access->address[lane] -= EXEC_SHARED_WINDOW;
        else if (space != SPACE_GLOBAL)
            access->address[lane] &= EXEC_WINDOW_BYTES - 1;
    }
    access->space = seen & (seen - 1) ? SPACE_NONE : (enum isa_space)lowest_lane(seen);
    if (seen >> SPACE_SHARED_CLUSTER & 1 && !(seen & ~shared))
        resolve_cluster(access, cta);
}

/* May lane's bytes be accessed? */
static bool lane_valid(const struct exec_warp *warp, enum isa_space space, uint64_t address,
                       uint64_t bytes)
{
    const struct exec_cta *cta = warp->cta;
    uint64_t size;
    switch (space) {
    case SPACE_SHARED:
        size = cta->shared_bytes;
        break;
    case SPACE_SHARED_CLUSTER:
        return cluster_place(cta, address, bytes) != NULL;
    case SPACE_LOCAL:
        size = warp->state->local_top;
        break;
    case SPACE_PARAM:
        size = cta->launch->param_bytes;
        break;
    default:
        return image_valid_near(cta->launch->memory, &warp->state->extents[warp->pc % EXTENT_HINTS],
                                address, bytes);
    }
    return address <= size && bytes <= size - address;
}

/* Addresses from `low` to `low + size`; of device memory those of the allocation last found. */
static bool likely_region(uint64_t *low, uint64_t *size, const struct exec_warp *warp,
                          enum isa_space space)
{
    const struct exec_memory *image = warp->cta->launch->memory;
    *low = 0;
    switch (space) {
    case SPACE_SHARED:
        *size = warp->cta->shared_bytes;
        return true;
    case SPACE_GLOBAL:
    case SPACE_CONST:
        if (warp->state->extents[warp->pc % EXTENT_HINTS] >= image->count)
            return false;
        const struct extent *extent =
            &image->extents[warp->state->extents[warp->pc % EXTENT_HINTS]];
        *low = extent->start;
        *size = extent->end - extent->start;
        return true;
    default:
        return false;
    }
}

/* Whether all 32 lanes are aligned and in one region, without a branch a lane. (Neither a region's
 * size nor an offset within it has the top bit; an offset beyond it has, or makes the difference
 * have it.) */
static bool all_likely(const struct exec_warp *warp, const struct exec_access *access,
                       uint64_t bytes)
{
    uint64_t low, size, bits = 0, outside = 0;
    if (access->mask != UINT32_MAX || !likely_region(&low, &size, warp, access->space) ||
        size < bytes)
        return false;
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        uint64_t offset = access->address[i] - low;
        bits |= access->address[i];
        outside |= offset | (size - bytes - offset);
    }
    return outside >> 63 == 0 && (bits & (bytes - 1)) == 0;
}

static bool all_valid(const struct exec_warp *warp, const struct exec_access *access,
                      uint64_t bytes)
{
    uint32_t first = lowest_lane(access->mask);
    uint64_t low = access->address[first], high = low, bits = low;
    if (access->space == SPACE_NONE || access->space == SPACE_SHARED_CLUSTER)
        return false; /* lane by lane */
    if (!access->contiguous && all_likely(warp, access, bytes))
        return true;
    if (access->contiguous)
        high += (WARP_LANES - 1) * bytes;
    else
        for (uint32_t rest = access->mask & (access->mask - 1); rest; rest &= rest - 1) {
            uint64_t address = access->address[lowest_lane(rest)];
            low = address < low ? address : low;
            high = address > high ? address : high;
            bits |= address;
        }
    return (bits & (bytes - 1)) == 0 && high >= low && high + bytes > high &&
           lane_valid(warp, access->space, low, high - low + bytes);
}

static const char *kind_text(enum exec_access_kind kind)
{
    switch (kind) {
    case ACCESS_LOAD:
        return "load";
    case ACCESS_STORE:
        return "store";
    case ACCESS_PREFETCH:
        return "prefetch";
    default:
        return "atomic operation";
    }
}

static void bad_lane(struct exec_warp *warp, const struct exec_access *access, uint32_t lane,
                     enum isa_space space, uint64_t bytes)
{
    uint64_t address = access->address[lane];
    char where[256] = "";
    if (address & (bytes - 1)) {
        fault_set(warp, access->pc, lane, address,
                  "misaligned %s %s of %" PRIu64 " bytes at 0x%" PRIx64, isa_space_text(space),
                  kind_text(access->kind), bytes, address);
        return;
    }
    if (space == SPACE_SHARED_CLUSTER)
        cluster_describe(warp->cta, address, where, sizeof where);
    if (space == SPACE_GLOBAL || space == SPACE_CONST)
        exec_memory_describe(warp->cta->launch->memory, address, where, sizeof where);
    fault_set(warp, access->pc, lane, address,
              "%s %s of %" PRIu64 " bytes at 0x%" PRIx64 " is out of bounds%s%s",
              isa_space_text(space), kind_text(access->kind), bytes, address, *where ? ": " : "",
              where);
}

/* Lane by lane: the first one that fails is the fault. A prefetch only drops its bad lanes, and
 * where somebody observes the launch he is told and they are dropped, too. */
static bool check_lanes(struct exec_warp *warp, struct exec_access *access, uint64_t bytes)
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        enum isa_space space =
            access->space == SPACE_NONE ? (enum isa_space)access->lane_space[lane] : access->space;
        uint64_t address = access->address[lane];
        if ((address & (bytes - 1)) == 0 && lane_valid(warp, space, address, bytes))
            continue;
        const struct exec_observer *observer = warp->cta->launch->observer;
        if (observer && access->kind != ACCESS_PREFETCH) {
            observer->refused(warp, access, lane, space, bytes);
        } else if (access->kind != ACCESS_PREFETCH) {
            bad_lane(warp, access, lane, space, bytes);
            return false;
        }
        access->mask &= ~(1u << lane);
        access->contiguous &= !observer;
    }
    return true;
}

/* Stores only reach shared, local and global memory, atomics only shared and global. */
static bool check_writable(struct exec_warp *warp, const struct exec_access *access)
{
    if (access->kind == ACCESS_LOAD || access->kind == ACCESS_PREFETCH ||
        access->space == SPACE_GLOBAL || access->space == SPACE_SHARED ||
        access->space == SPACE_SHARED_CLUSTER)
        return true;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        enum isa_space space =
            access->space == SPACE_NONE ? (enum isa_space)access->lane_space[lane] : access->space;
        if (space == SPACE_GLOBAL || space == SPACE_SHARED || space == SPACE_SHARED_CLUSTER ||
            (space == SPACE_LOCAL && access->kind == ACCESS_STORE))
            continue;
        fault_set(warp, access->pc, lane, access->address[lane], "%s in %s memory at 0x%" PRIx64,
                  kind_text(access->kind), isa_space_text(space), access->address[lane]);
        return false;
    }
    return true;
}

/* Copy element k's low `bytes` of every lane to byte k * bytes of its data (a little-endian host).
 */
static void gather_data(const struct exec_state *state, const struct uop_memory *memory,
                        const struct element *elements, struct exec_access *access)
{
    if (access->contiguous && memory->vec == 1 && elements[0].register_bytes == 4) {
        const lane_word *from = lanes_at(state, elements[0].ref);
        for (uint32_t i = 0; i < WARP_LANES; i++)
            access->data[i][0] = from[i];
        return;
    }
    for (uint32_t k = 0; k < memory->vec; k++) {
        const struct element *element = &elements[k];
        const uint8_t *lanes = lanes_at(state, element->ref);
        uint32_t at = k * memory->bytes, stride = element->register_bytes;
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            uint32_t lane = lowest_lane(rest);
            uint8_t *to = (uint8_t *)access->data[lane] + at;
            const uint8_t *from = lanes + lane * stride;
            switch (memory->bytes) {
            case 1:
                memcpy(to, from, 1);
                break;
            case 2:
                memcpy(to, from, 2);
                break;
            case 4:
                memcpy(to, from, 4);
                break;
            default:
                memcpy(to, from, 8);
                break;
            }
        }
    }
}

static void gather_atomic(const struct exec_state *state, const struct uop_memory *memory,
                          struct exec_access *access)
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        access->data[lane][0] = element_get(state, &memory->atom[0], lane);
        access->data2[lane] =
            memory->atom[1].register_bytes ? element_get(state, &memory->atom[1], lane) : 0;
    }
}

static void gather_vector_atomic(const struct exec_state *state, const struct uop_memory *memory,
                                 struct exec_access *access)
{
    gather_data(state, memory, memory->operands, access);
    for (uint32_t rest = memory->swaps ? access->mask : 0; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        access->data2[lane] = element_get(state, &memory->atom[0], lane);
        access->data3[lane] = element_get(state, &memory->atom[1], lane);
    }
}

void memory_access_begin(const struct exec_warp *warp, const struct uop_memory *memory,
                         uint32_t mask, struct exec_access *access)
{
    const struct exec_state *state = warp->state;
    access->kind = memory->kind;
    access->space = memory->space;
    access->mask = mask;
    access->pc = warp->pc;
    access->bytes = memory->bytes;
    access->vec = memory->vec;
    access->cache_op = memory->cache_op;
    access->is_volatile = memory->is_volatile;
    access->non_coherent = memory->non_coherent;
    access->frame_offset = state->frame_offset;
    compute_addresses(state, memory, mask, access->address);
    access->contiguous = is_contiguous(access, (uint64_t)memory->bytes * memory->vec);
}

enum exec_event run_memory(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                           struct exec_access *access)
{
    const struct uop_memory *memory = uop->memory;
    const struct exec_state *state = warp->state;
    if (!mask)
        return advance(warp);
    memory_access_begin(warp, memory, mask, access);
    uint64_t bytes = (uint64_t)memory->bytes * memory->vec;
    if (memory->space == SPACE_NONE)
        resolve_generic(access, warp->cta);
    else if (memory->space == SPACE_SHARED_CLUSTER)
        resolve_cluster(access, warp->cta);
    if (!all_valid(warp, access, bytes) && !check_lanes(warp, access, bytes))
        return EXEC_FAULT;
    if (access->mask == 0)
        return advance(warp);
    if (!check_writable(warp, access))
        return EXEC_FAULT;
    if (memory->kind == ACCESS_STORE)
        gather_data(state, memory, memory->elements, access);
    else if (memory->combine && memory->vec > 1)
        gather_vector_atomic(state, memory, access);
    else if (memory->kind == ACCESS_ATOMIC || memory->kind == ACCESS_REDUCTION)
        gather_atomic(state, memory, access);
    advance(warp);
    return EXEC_ACCESS;
}

enum exec_event run_fence(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                          struct exec_access *access)
{
    (void)uop;
    if (!mask)
        return advance(warp);
    access->kind = ACCESS_FENCE;
    access->space = SPACE_GLOBAL;
    access->mask = mask;
    access->pc = warp->pc;
    access->bytes = access->vec = 0;
    access->cache_op = MOD_NONE;
    access->is_volatile = access->non_coherent = false;
    access->frame_offset = 0;
    advance(warp);
    return EXEC_ACCESS;
}
