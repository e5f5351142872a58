/*
 * The second half of a memory instruction: the access on the memory image, and the result to the
 * registers of the call frame that issued it. Lanes are served in ascending order, which is the
 * order in which atomics of one warp on one address happen; of several stores to one address the
 * highest lane's stays. Values are little-endian, as on the host.
 */
#include <inttypes.h>
#include <string.h>

#include "exec/cluster.h"
#include "exec/fault.h"
#include "exec/memory/marks.h"
#include "exec/memory/image.h"
#include "exec/ops.h"
#include "exec/repeat.h"
#include "exec/memory/stores.h"
#include "util/error.h"

#define ELEMENTS_BYTES 64 /* no lane loads more */

/* Where a lane's bytes lie on the host; NULL if they are nowhere (issue has checked: cannot
 * happen). */
static uint8_t *host_pointer(const struct exec_warp *warp, const struct exec_access *access,
                             uint32_t lane)
{
    const struct exec_cta *cta = warp->cta;
    const struct exec_state *state = warp->state;
    enum isa_space space =
        access->space == SPACE_NONE ? (enum isa_space)access->lane_space[lane] : access->space;
    uint64_t address = access->address[lane], bytes = (uint64_t)access->bytes * access->vec;
    switch (space) {
    case SPACE_SHARED:
        return address + bytes <= cta->shared_bytes ? cta->shared + address : NULL;
    case SPACE_SHARED_CLUSTER:
        return cluster_place(cta, address, bytes);
    case SPACE_LOCAL:
        return address + bytes <= state->local_bytes ? local_pointer(state, lane, address) : NULL;
    case SPACE_PARAM:
        return address + bytes <= cta->launch->param_bytes
                   ? (uint8_t *)(uintptr_t)cta->launch->params + address
                   : NULL;
    default:
        return image_in_range(cta->launch->memory, address, bytes) ? (uint8_t *)(uintptr_t)address
                                                                   : NULL;
    }
}

static uint64_t read_value(const uint8_t *from, uint32_t bytes)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1:
        memcpy(&one, from, 1);
        return one;
    case 2:
        memcpy(&two, from, 2);
        return two;
    case 4:
        memcpy(&four, from, 4);
        return four;
    default:
        memcpy(&eight, from, 8);
        return eight;
    }
}

static void write_value(uint8_t *to, uint64_t value, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        memcpy(to, &value, 1);
        break;
    case 2:
        memcpy(to, &value, 2);
        break;
    case 4:
        memcpy(to, &value, 4);
        break;
    default:
        memcpy(to, &value, 8);
        break;
    }
}

/* A register of the frame that issued the access, which need not be the running one. */
static void *frame_lanes(const struct exec_state *state, const struct exec_access *access,
                         uint32_t ref)
{
    return state->storage + access->frame_offset + (ref & REF_OFFSET_MASK);
}

static void load_element(const struct exec_state *state, const struct uop_memory *memory,
                         const struct exec_access *access, uint32_t k,
                         uint8_t *const pointers[WARP_LANES])
{
    const struct element *element = &memory->elements[k];
    if (!element->register_bytes)
        return;
    void *lanes = frame_lanes(state, access, element->ref);
    uint32_t at = k * memory->bytes, shift = memory->sign_extend ? 64 - 8 * memory->bytes : 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t value = read_value(pointers[lane] + at, memory->bytes);
        value = (uint64_t)((int64_t)(value << shift) >> shift);
        if (element->register_bytes == 8)
            ((lane_dword *)lanes)[lane] = value;
        else
            ((lane_word *)lanes)[lane] = (uint32_t)value;
    }
}

/* Whether all 32 lanes have one place. */
static bool is_one_place(uint8_t *const pointers[WARP_LANES], uint32_t mask)
{
    if (mask != UINT32_MAX || pointers[0] != pointers[WARP_LANES - 1])
        return false;
    uintptr_t apart = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        apart |= (uintptr_t)pointers[i] ^ (uintptr_t)pointers[0];
    return apart == 0;
}

/* One value for all lanes. */
static void spread(void *lanes, const uint8_t *from, uint32_t bytes)
{
    uint64_t value = read_value(from, bytes);
    if (bytes == 4)
        for (uint32_t i = 0; i < WARP_LANES; i++)
            ((lane_word *)lanes)[i] = (uint32_t)value;
    else
        for (uint32_t i = 0; i < WARP_LANES; i++)
            ((lane_dword *)lanes)[i] = value;
}

/* Elements of 32 or 64 bits without extension, `at` bytes behind the pointers: what most loads are.
 */
static void load_plain(void *lanes, uint32_t bytes, uint32_t mask, uint32_t at,
                       uint8_t *const pointers[WARP_LANES])
{
    if (bytes == 4 && mask == UINT32_MAX)
        for (uint32_t i = 0; i < WARP_LANES; i++)
            memcpy((lane_word *)lanes + i, pointers[i] + at, 4);
    else if (bytes == 4)
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            memcpy((lane_word *)lanes + lowest_lane(rest), pointers[lowest_lane(rest)] + at, 4);
    else
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            memcpy((lane_dword *)lanes + lowest_lane(rest), pointers[lowest_lane(rest)] + at, 8);
}

static void load_elements(const struct exec_state *state, const struct uop_memory *memory,
                          const struct exec_access *access, uint8_t *const pointers[WARP_LANES])
{
    uint32_t bytes = memory->bytes;
    bool one = is_one_place(pointers, access->mask);
    for (uint32_t k = 0; k < memory->vec; k++) {
        const struct element *element = &memory->elements[k];
        if (element->register_bytes != bytes) { /* 4 or 8, or 0 */
            load_element(state, memory, access, k, pointers);
            continue;
        }
        void *lanes = frame_lanes(state, access, element->ref);
        if (one)
            spread(lanes, pointers[0] + k * bytes, bytes);
        else
            load_plain(lanes, bytes, access->mask, k * bytes, pointers);
    }
}

static void store_lanes(const struct exec_access *access, uint8_t *const pointers[WARP_LANES])
{
    uint32_t bytes = (uint32_t)access->bytes * access->vec;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (bytes == 4)
            memcpy(pointers[lane], access->data[lane], 4);
        else
            memcpy(pointers[lane], access->data[lane], bytes);
    }
}

static void atomic_lanes(const struct exec_state *state, const struct uop_memory *memory,
                         const struct exec_access *access, uint8_t *const pointers[WARP_LANES])
{
    const struct element *element = &memory->elements[0];
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t old = read_value(pointers[lane], memory->bytes);
        uint64_t value = memory->combine(old, access->data[lane][0], access->data2[lane]);
        write_value(pointers[lane], value, memory->bytes);
        if (!element->register_bytes)
            continue;
        void *lanes = frame_lanes(state, access, element->ref);
        if (element->register_bytes == 8)
            ((lane_dword *)lanes)[lane] = old;
        else
            ((lane_word *)lanes)[lane] = (uint32_t)old;
    }
}

/* One element after the other; old values are registers' contents when all have been combined. */
static void vector_atomic_lanes(const struct exec_state *state, const struct uop_memory *memory,
                                const struct exec_access *access,
                                uint8_t *const pointers[WARP_LANES])
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        for (uint32_t k = 0; k < memory->vec; k++) {
            const struct element *element = &memory->elements[k];
            uint8_t *at = pointers[lane] + (size_t)k * memory->bytes;
            const uint8_t *data = (const uint8_t *)access->data[lane] + (size_t)k * memory->bytes;
            uint64_t old = read_value(at, memory->bytes);
            write_value(at, memory->combine(old, read_value(data, memory->bytes), 0),
                        memory->bytes);
            if (element->register_bytes)
                ((lane_word *)frame_lanes(state, access, element->ref))[lane] = (uint32_t)old;
        }
    }
}

/* 128 bits that are there become others: the lane's, or, where they are equal to those, its second
 * ones. */
static void swap_pair(const struct uop_memory *memory, const struct exec_access *access,
                      uint32_t lane, uint64_t value[2])
{
    const uint64_t *data = access->data[lane];
    if (!memory->swaps) {
        memcpy(value, data, 16);
    } else if (value[0] == data[0] && value[1] == data[1]) {
        value[0] = access->data2[lane];
        value[1] = access->data3[lane];
    }
}

static void pair_atomic_lanes(const struct exec_state *state, const struct uop_memory *memory,
                              const struct exec_access *access, uint8_t *const pointers[WARP_LANES])
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t old[2], value[2];
        memcpy(old, pointers[lane], sizeof old);
        memcpy(value, old, sizeof value);
        swap_pair(memory, access, lane, value);
        memcpy(pointers[lane], value, sizeof value);
        for (uint32_t k = 0; k < 2; k++)
            if (memory->elements[k].register_bytes)
                ((lane_dword *)frame_lanes(state, access, memory->elements[k].ref))[lane] = old[k];
    }
}

static bool in_device_memory(const struct exec_access *access, uint32_t lane)
{
    uint32_t space = access->space == SPACE_NONE ? access->lane_space[lane] : access->space;
    return space == SPACE_GLOBAL || space == SPACE_CONST;
}

/* Whether a store that is kept back may have changed these bytes of the lane. */
static bool has_stored(const struct exec_warp *warp, const struct exec_access *access,
                       uint32_t lane, uint32_t bytes)
{
    return warp->env->stores && in_device_memory(access, lane) &&
           exec_stores_may_hold(warp->env->stores, access->address[lane], bytes);
}

/* 32 lanes on consecutive bytes of global or shared memory: true if it was that, and is done. */
static bool commit_contiguous(const struct exec_warp *warp, const struct uop_memory *memory,
                              const struct exec_access *access)
{
    uint32_t stride = memory->elements[0].register_bytes;
    if (memory->vec != 1 || memory->bytes < 4 || stride != memory->bytes ||
        (access->kind != ACCESS_LOAD && access->kind != ACCESS_STORE) ||
        (access->space != SPACE_GLOBAL && access->space != SPACE_SHARED))
        return false;
    uint8_t *bytes = host_pointer(warp, access, 0),
            *end = host_pointer(warp, access, WARP_LANES - 1);
    if (!bytes || !end)
        return false;
    if (access->kind == ACCESS_LOAD) {
        void *lanes = frame_lanes(warp->state, access, memory->elements[0].ref);
        memcpy(lanes, bytes, (size_t)WARP_LANES * stride);
        if (has_stored(warp, access, 0, WARP_LANES * stride))
            exec_stores_patch(warp->env->stores, access->address[0], lanes, WARP_LANES * stride);
    } else if (stride == 4)
        for (uint32_t i = 0; i < WARP_LANES; i++)
            memcpy(bytes + i * 4, access->data[i], 4);
    else
        for (uint32_t i = 0; i < WARP_LANES; i++)
            memcpy(bytes + i * 8, access->data[i], 8);
    return true;
}

/* The way of stores where an SM's own are kept back (exec/memory/stores.h). */
static int keep_stores(const struct exec_warp *warp, const struct exec_access *access,
                       uint8_t *const pointers[WARP_LANES])
{
    uint32_t bytes = (uint32_t)access->bytes * access->vec;
    int rc = SONDE_OK;
    for (uint32_t rest = access->mask; rc == SONDE_OK && rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (in_device_memory(access, lane))
            rc = exec_stores_put(warp->env->stores, access->address[lane], access->data[lane],
                                 bytes);
        else
            memcpy(pointers[lane], access->data[lane], bytes);
    }
    return rc;
}

static int keep_contiguous(const struct exec_warp *warp, const struct exec_access *access)
{
    uint8_t bytes[WARP_LANES * 16];
    if (access->bytes == 4)
        for (uint32_t i = 0; i < WARP_LANES; i++)
            memcpy(bytes + (size_t)i * 4, access->data[i], 4);
    else
        for (uint32_t i = 0; i < WARP_LANES; i++)
            memcpy(bytes + (size_t)i * access->bytes, access->data[i], access->bytes);
    return exec_stores_put(warp->env->stores, access->address[0], bytes,
                           WARP_LANES * access->bytes);
}

/* What lanes load where the SM's own stores are kept back; their pointers then lead to `scratch`.
 */
static void look_into_stores(const struct exec_warp *warp, const struct exec_access *access,
                             uint8_t *pointers[WARP_LANES], uint8_t scratch[][ELEMENTS_BYTES])
{
    uint32_t bytes = (uint32_t)access->bytes * access->vec;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (!has_stored(warp, access, lane, bytes))
            continue;
        memcpy(scratch[lane], pointers[lane], bytes);
        exec_stores_patch(warp->env->stores, access->address[lane], scratch[lane], bytes);
        pointers[lane] = scratch[lane];
    }
}

/* Shared memory, where it lies for every lane: true if all are inside. */
static bool all_shared(const struct exec_warp *warp, const struct exec_access *access,
                       uint8_t *pointers[WARP_LANES])
{
    const struct exec_cta *cta = warp->cta;
    uint64_t bytes = (uint64_t)access->bytes * access->vec, outside = 0;
    for (uint32_t i = 0; access->mask == UINT32_MAX && i < WARP_LANES; i++) {
        outside |= access->address[i] + bytes > cta->shared_bytes;
        pointers[i] = cta->shared + access->address[i];
    }
    for (uint32_t rest = access->mask == UINT32_MAX ? 0 : access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        outside |= access->address[lane] + bytes > cta->shared_bytes;
        pointers[lane] = cta->shared + access->address[lane];
    }
    return !outside;
}

/* The same of device memory, whose addresses are the host's. */
static bool all_global(const struct exec_warp *warp, const struct exec_access *access,
                       uint8_t *pointers[WARP_LANES])
{
    const struct exec_memory *image = warp->cta->launch->memory;
    uint64_t bytes = (uint64_t)access->bytes * access->vec, outside = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        outside |= !image_in_range(image, access->address[lane], bytes);
        pointers[lane] = (uint8_t *)(uintptr_t)access->address[lane];
    }
    return !outside;
}

static int find_pointers(struct exec_warp *warp, const struct uop_memory *memory,
                         const struct exec_access *access, uint8_t *pointers[WARP_LANES])
{
    /* An address without a register is the same in all lanes, but for local memory. */
    bool uniform = !memory->has_base && access->space != SPACE_LOCAL;
    if (access->space == SPACE_SHARED && !uniform && all_shared(warp, access, pointers))
        return SONDE_OK;
    if (access->space == SPACE_GLOBAL && all_global(warp, access, pointers))
        return SONDE_OK;
    uint8_t *first = host_pointer(warp, access, lowest_lane(access->mask));
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        pointers[lane] = uniform ? first : host_pointer(warp, access, lane);
        if (!pointers[lane])
            return fault_set(warp, access->pc, lane, access->address[lane],
                             "access at 0x%" PRIx64 " is out of bounds", access->address[lane]);
    }
    return SONDE_OK;
}

/* Words of shared memory for all 32 lanes, the most frequent of loads that are not contiguous: true
 * if it was that, and is done. */
static bool load_shared_words(const struct exec_warp *warp, const struct uop_memory *memory,
                              const struct exec_access *access)
{
    const struct exec_cta *cta = warp->cta;
    uint64_t outside = 0;
    if (access->kind != ACCESS_LOAD || access->space != SPACE_SHARED ||
        access->mask != UINT32_MAX || memory->vec != 1 || memory->bytes != 4 ||
        memory->elements[0].register_bytes != 4)
        return false;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        outside |= access->address[i] + 4 > cta->shared_bytes;
    lane_word *lanes = frame_lanes(warp->state, access, memory->elements[0].ref);
    for (uint32_t i = 0; !outside && i < WARP_LANES; i++)
        memcpy(lanes + i, cta->shared + access->address[i], 4);
    return !outside;
}

/* A load of device memory by one lane, as chases do: true if it was that, and is done. */
static bool load_one(const struct exec_warp *warp, const struct uop_memory *memory,
                     const struct exec_access *access)
{
    if (access->mask & (access->mask - 1) || access->kind != ACCESS_LOAD ||
        access->space != SPACE_GLOBAL || memory->shape != DIRECT_DEVICE_WORD || warp->env->stores)
        return false;
    uint32_t lane = lowest_lane(access->mask);
    uint64_t address = access->address[lane];
    if (!image_in_range(warp->cta->launch->memory, address, 4))
        return false;
    memcpy((lane_word *)frame_lanes(warp->state, access, memory->elements[0].ref) + lane,
           (const uint8_t *)(uintptr_t)address, 4);
    return true;
}

static int commit_other(struct exec_warp *warp, const struct exec_access *access)
{
    switch (access->kind) {
    case ACCESS_TEXTURE:
        return commit_texture(warp, warp->state->uops[access->pc].memory, access);
    case ACCESS_COPY:
        commit_copy(warp, access);
        return SONDE_OK;
    case ACCESS_MATRIX_LOAD:
        commit_ldmatrix(warp, access);
        return SONDE_OK;
    case ACCESS_MATRIX_STORE:
        commit_stmatrix(warp, access);
        return SONDE_OK;
    case ACCESS_WAIT:
        commit_wait(warp, access);
        return SONDE_OK;
    case ACCESS_FRAGMENT_LOAD:
    case ACCESS_FRAGMENT_STORE:
        return commit_fragment(warp, access);
    default: /* a fence, a prefetch */
        return SONDE_OK;
    }
}

int exec_commit(struct exec_warp *warp, const struct exec_access *access)
{
    const struct exec_state *state = warp->state;
    if (access->done || (warp->env->marks && !marks_commits(warp, access)))
        return SONDE_OK;
    if (access->kind > ACCESS_REDUCTION)
        return commit_other(warp, access);
    const struct uop_memory *memory = state->uops[access->pc].memory;
    if (load_one(warp, memory, access))
        return SONDE_OK;
    bool kept = access->kind == ACCESS_STORE && warp->env->stores;
    if (access->contiguous && kept && access->space == SPACE_GLOBAL && access->vec == 1)
        return keep_contiguous(warp, access);
    if (access->contiguous && commit_contiguous(warp, memory, access))
        return SONDE_OK;
    if (load_shared_words(warp, memory, access))
        return SONDE_OK;
    uint8_t *pointers[WARP_LANES], scratch[WARP_LANES][ELEMENTS_BYTES];
    int rc = find_pointers(warp, memory, access, pointers);
    if (rc != SONDE_OK)
        return rc;
    switch (access->kind) {
    case ACCESS_LOAD:
        if (warp->env->stores && !exec_stores_empty(warp->env->stores))
            look_into_stores(warp, access, pointers, scratch);
        load_elements(state, memory, access, pointers);
        break;
    case ACCESS_STORE:
        if (kept)
            return keep_stores(warp, access, pointers);
        store_lanes(access, pointers);
        break;
    default:
        if (memory->is_pair)
            pair_atomic_lanes(state, memory, access, pointers);
        else if (memory->vec > 1)
            vector_atomic_lanes(state, memory, access, pointers);
        else
            atomic_lanes(state, memory, access, pointers);
        break;
    }
    return SONDE_OK;
}

/* Whether what a lane stores, or its atomic leaves there, differs from what is there. */
static bool lane_changes(const struct exec_warp *warp, const struct exec_access *access,
                         uint32_t lane)
{
    const struct uop_memory *memory = warp->state->uops[access->pc].memory;
    uint32_t space = access->space == SPACE_NONE ? access->lane_space[lane] : access->space;
    uint32_t bytes = (uint32_t)access->bytes * access->vec;
    uint8_t before[ELEMENTS_BYTES], after[ELEMENTS_BYTES];
    const uint8_t *at = host_pointer(warp, access, lane), *data = (uint8_t *)access->data[lane];
    if (!at || bytes > sizeof access->data[lane])
        return true;
    memcpy(before, at, bytes);
    if (access->kind == ACCESS_STORE) {
        if (has_stored(warp, access, lane, bytes))
            exec_stores_patch(warp->env->stores, access->address[lane], before, bytes);
        return space != SPACE_LOCAL && memcmp(before, data, bytes) != 0;
    }
    if (memory->is_pair) {
        uint64_t value[2];
        memcpy(value, before, sizeof value);
        swap_pair(memory, access, lane, value);
        memcpy(after, value, sizeof value);
    }
    for (uint32_t k = 0; !memory->is_pair && k < access->vec; k++) {
        uint32_t from = k * memory->bytes;
        uint64_t second = access->vec > 1 ? 0 : access->data2[lane];
        uint64_t value =
            access->vec > 1 ? read_value(data + from, memory->bytes) : access->data[lane][0];
        uint64_t old = read_value(before + from, memory->bytes);
        write_value(after + from, memory->combine(old, value, second), memory->bytes);
    }
    return space == SPACE_LOCAL || memcmp(before, after, bytes) != 0 ||
           has_stored(warp, access, lane, bytes);
}

bool exec_access_changes(const struct exec_warp *warp, const struct exec_access *access)
{
    switch (access->kind) {
    case ACCESS_LOAD:
    case ACCESS_TEXTURE:
    case ACCESS_PREFETCH:
    case ACCESS_FENCE:
    case ACCESS_MATRIX_LOAD:
    case ACCESS_WAIT:
        return false;
    case ACCESS_STORE:
    case ACCESS_ATOMIC:
    case ACCESS_REDUCTION:
        break;
    default:
        return true;
    }
    bool changes = access->done || warp->state->program->infos[access->pc].is_fragment;
    for (uint32_t rest = access->mask; !changes && rest; rest &= rest - 1)
        changes = lane_changes(warp, access, lowest_lane(rest));
    return changes;
}
