/*
 * Direct loads and stores for x86-64 processors with AVX-512: addresses are checked under the mask
 * of the lanes, and words go in groups of as many lanes as a register holds. A group in a row is
 * one load or store of it, a group at one place is spread, all others are gathered or scattered
 * (which goes from the lowest lane to the highest, so that the highest lane's store stays).
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define DIRECT_FEATURES "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt"
#if defined(__clang__)
#define DIRECT_TARGET __attribute__((target(DIRECT_FEATURES), min_vector_width(512)))
#else
#define DIRECT_TARGET __attribute__((target(DIRECT_FEATURES ",prefer-vector-width=512")))
#endif
#define DIRECT_NAME access_avx512
#define DIRECT_SHARED_NAME shared_avx512
#define DIRECT_REACH_NAME reach_avx512
#define DIRECT_HAS_VECTORS true
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "exec/memory/reach.h"

#define PART DIRECT_TARGET __attribute__((always_inline)) static inline

#define ROW_BYTES (WARP_LANES * 4)
#define GAPS_OR_DIFFERENCE 0xf6 /* a | (b ^ c) */

/* Lanes that move together, with addresses in bytes from the host's `memory`. */
struct group {
    uint8_t *memory;
    uint32_t mask, lowest;
    uint64_t first; /* the lowest lane's address */
};

/* Where lane 0 would be if all were in a row of elements of so many bytes. */
PART uint8_t *row_of(const struct group *group, uint32_t bytes)
{
    return (uint8_t *)((uintptr_t)group->memory + (uintptr_t)group->first -
                       (uintptr_t)group->lowest * bytes);
}

/*
 * Lanes of a register that a load has got. The whole register is written: what was stored under a
 * mask cannot be forwarded to the instruction that reads it next.
 */
PART void set_words(uint32_t *lanes, __mmask16 mask, __m512i data)
{
    _mm512_storeu_si512(lanes, _mm512_mask_mov_epi32(_mm512_loadu_si512(lanes), mask, data));
}
PART void set_dwords(uint64_t *lanes, __mmask8 mask, __m512i data)
{
    _mm512_storeu_si512(lanes, _mm512_mask_mov_epi64(_mm512_loadu_si512(lanes), mask, data));
}

/* The same lanes of a register and of memory, of which others may have the rest. */
PART void move_words(uint32_t *lanes, void *at, __mmask16 mask, bool load)
{
    if (load)
        set_words(lanes, mask, _mm512_maskz_loadu_epi32(mask, at));
    else
        _mm512_mask_storeu_epi32(at, mask, _mm512_loadu_si512(lanes));
}

/* 16 lanes of 4 bytes with addresses of 32 bits, below 2^31. */
PART void words_at_words(uint32_t *lanes, const struct group *group, __m512i address, bool load)
{
    const __m512i steps =
        _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    __mmask16 mask = (__mmask16)group->mask;
    int32_t first = (int32_t)group->first, start = first - (int32_t)group->lowest * 4;
    __m512i row = _mm512_add_epi32(_mm512_set1_epi32(start), steps), data;
    if (!_mm512_mask_cmpneq_epi32_mask(mask, address, row)) {
        move_words(lanes, row_of(group, 4), mask, load);
        return;
    }
    if (!load) {
        _mm512_mask_i32scatter_epi32(group->memory, mask, address,
                                     _mm512_maskz_loadu_epi32(mask, lanes), 1);
        return;
    }
    if (!_mm512_mask_cmpneq_epi32_mask(mask, address, _mm512_set1_epi32(first))) {
        int32_t word;
        memcpy(&word, row_of(group, 0), sizeof word);
        data = _mm512_set1_epi32(word);
    } else {
        data = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask, address, group->memory, 1);
    }
    set_words(lanes, mask, data);
}

/* 16 lanes of 4 bytes with addresses of 64 bits. */
PART void words_at_dwords(uint32_t *lanes, const struct group *group, const __m512i address[2],
                          bool load)
{
    const __m512i steps = _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28);
    __mmask16 mask = (__mmask16)group->mask;
    __mmask8 part[2] = {(__mmask8)group->mask, (__mmask8)(group->mask >> 8)};
    uint64_t start = group->first - (uint64_t)group->lowest * 4;
    __m512i row = _mm512_add_epi64(_mm512_set1_epi64((int64_t)start), steps),
            next = _mm512_add_epi64(row, _mm512_set1_epi64(32)), data;
    if (!(_mm512_mask_cmpneq_epi64_mask(part[0], address[0], row) |
          _mm512_mask_cmpneq_epi64_mask(part[1], address[1], next))) {
        move_words(lanes, row_of(group, 4), mask, load);
        return;
    }
    if (!load) {
        data = _mm512_maskz_loadu_epi32(mask, lanes);
        _mm512_mask_i64scatter_epi32(group->memory, part[0], address[0],
                                     _mm512_castsi512_si256(data), 1);
        _mm512_mask_i64scatter_epi32(group->memory, part[1], address[1],
                                     _mm512_extracti64x4_epi64(data, 1), 1);
        return;
    }
    __m512i one = _mm512_set1_epi64((int64_t)group->first);
    if (!(_mm512_mask_cmpneq_epi64_mask(part[0], address[0], one) |
          _mm512_mask_cmpneq_epi64_mask(part[1], address[1], one))) {
        int32_t word;
        memcpy(&word, row_of(group, 0), sizeof word);
        data = _mm512_set1_epi32(word);
    } else {
        __m256i none = _mm256_setzero_si256();
        __m256i low = _mm512_mask_i64gather_epi32(none, part[0], address[0], group->memory, 1);
        __m256i high = _mm512_mask_i64gather_epi32(none, part[1], address[1], group->memory, 1);
        data = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }
    set_words(lanes, mask, data);
}

/* 8 lanes of 8 bytes with addresses of 64 bits. */
PART void dwords(uint64_t *lanes, const struct group *group, __m512i address, bool load)
{
    const __m512i steps = _mm512_setr_epi64(0, 8, 16, 24, 32, 40, 48, 56);
    __mmask8 mask = (__mmask8)group->mask;
    uint64_t start = group->first - (uint64_t)group->lowest * 8;
    __m512i row = _mm512_add_epi64(_mm512_set1_epi64((int64_t)start), steps);
    if (!_mm512_mask_cmpneq_epi64_mask(mask, address, row)) {
        uint8_t *at = row_of(group, 8);
        if (load)
            set_dwords(lanes, mask, _mm512_maskz_loadu_epi64(mask, at));
        else
            _mm512_mask_storeu_epi64(at, mask, _mm512_loadu_si512(lanes));
    } else if (load) {
        set_dwords(
            lanes, mask,
            _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), mask, address, group->memory, 1));
    } else {
        _mm512_mask_i64scatter_epi64(group->memory, mask, address,
                                     _mm512_maskz_loadu_epi64(mask, lanes), 1);
    }
}

/* All lanes' addresses, of which those of the mask count. */
PART void read_addresses(__m512i address[4], const struct uop_memory *memory, const void *base)
{
    __m512i offset = _mm512_set1_epi64((int64_t)memory->offset);
    for (int k = 0; k < 4; k++)
        if (memory->base_is_64)
            address[k] =
                _mm512_add_epi64(_mm512_loadu_si512((const lane_dword *)base + k * 8), offset);
        else
            address[k] = _mm512_cvtepu32_epi64(_mm256_add_epi32(
                _mm256_loadu_si256(
                    (const __m256i *)(const void *)((const lane_word *)base + k * 8)),
                _mm512_castsi512_si256(_mm512_set1_epi32((int32_t)memory->offset))));
}

PART bool are_allowed(const __m512i address[4], const struct region *region, uint32_t mask,
                      uint32_t bytes)
{
    __m512i low = _mm512_set1_epi64((int64_t)region->low),
            room = _mm512_set1_epi64((int64_t)region->room),
            bits = _mm512_set1_epi64((int64_t)bytes - 1);
    uint32_t refused = 0;
    for (int k = 0; k < 4; k++) {
        __mmask8 part = (__mmask8)(mask >> (k * 8));
        refused |= _mm512_mask_cmpgt_epu64_mask(part, _mm512_sub_epi64(address[k], low), room) |
                   _mm512_mask_test_epi64_mask(part, address[k], bits);
    }
    return refused == 0;
}

/* What the lanes store is noted, in a row as one. */
DIRECT_TARGET static void note(struct marks *marks, const __m512i address[4], uint32_t mask,
                               uint32_t words)
{
    _Alignas(64) uint64_t at[WARP_LANES];
    for (int k = 0; k < 4; k++)
        _mm512_store_si512(at + k * 8, address[k]);
    while (mask) {
        uint32_t lane = lowest_lane(mask), count = 0;
        uint64_t first = at[lane];
        do {
            mask &= mask - 1;
            count++;
        } while (mask && lowest_lane(mask) == lane + count &&
                 at[lane + count] == first + (uint64_t)count * words * 4);
        marks_words(marks, first, count * words);
    }
}

/* 16 lanes' words of shared memory: in a row, at one place, or anywhere; or one is not allowed. */
enum spread { SPREAD_ROW, SPREAD_ONE, SPREAD_ANY, SPREAD_REFUSED };

/* Of 16 addresses without their common offset; `first` is lane 0's with it. */
PART enum spread spread_of(const lane_word *base, uint32_t offset, uint32_t first, uint32_t room)
{
    const __m512i steps =
        _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    __m512i address = _mm512_loadu_si512(base);
    __m512i behind = _mm512_sub_epi32(address, _mm512_set1_epi32((int)base[0]));
    if (first > room || first & 3)
        return SPREAD_REFUSED;
    if (!_mm512_cmpneq_epi32_mask(behind, steps))
        return room - first >= 60 ? SPREAD_ROW : SPREAD_REFUSED;
    if (!_mm512_test_epi32_mask(behind, behind))
        return SPREAD_ONE;
    address = _mm512_add_epi32(address, _mm512_set1_epi32((int)offset));
    return _mm512_cmpgt_epu32_mask(address, _mm512_set1_epi32((int)room)) |
                   _mm512_test_epi32_mask(address, _mm512_set1_epi32(3))
               ? SPREAD_REFUSED
               : SPREAD_ANY;
}

/*
 * Whole registers are loaded and stored: what was stored under a mask cannot be forwarded to the
 * instruction that reads it next.
 */
PART void move_shared_words(uint32_t *lanes, uint8_t *shared, const lane_word *base,
                            uint32_t offset, uint32_t first, enum spread spread, bool load)
{
    if (spread == SPREAD_ROW) {
        uint8_t *at = shared + first;
        _mm512_storeu_si512(load ? (void *)lanes : (void *)at,
                            _mm512_loadu_si512(load ? (void *)at : (void *)lanes));
    } else if (spread == SPREAD_ONE && load) {
        int32_t word;
        memcpy(&word, shared + first, sizeof word);
        _mm512_storeu_si512(lanes, _mm512_set1_epi32(word));
    } else if (spread == SPREAD_ONE) {
        memcpy(shared + first, lanes + 15, 4);
    } else {
        __m512i address =
            _mm512_add_epi32(_mm512_loadu_si512(base), _mm512_set1_epi32((int)offset));
        if (load)
            _mm512_storeu_si512(lanes, _mm512_i32gather_epi32(address, shared, 1));
        else
            _mm512_i32scatter_epi32(shared, address, _mm512_loadu_si512(lanes), 1);
    }
}

/* Halves of the warp that are each something else, or that are not allowed. */
DIRECT_TARGET static bool shared_halves(const struct exec_warp *warp,
                                        const struct uop_memory *memory)
{
    const lane_word *base = lanes_at(warp->state, memory->base);
    uint32_t *lanes = lanes_at(warp->state, memory->elements[0].ref);
    uint32_t room = warp->cta->shared_bytes - 4, offset = (uint32_t)memory->offset;
    uint32_t first = base[0] + offset, second = base[16] + offset;
    if (warp->cta->shared_bytes < 4)
        return false;
    enum spread low = spread_of(base, offset, first, room),
                high = spread_of(base + 16, offset, second, room);
    if (low == SPREAD_REFUSED || high == SPREAD_REFUSED)
        return false;
    bool load = memory->kind == ACCESS_LOAD;
    move_shared_words(lanes, warp->cta->shared, base, offset, first, low, load);
    move_shared_words(lanes + 16, warp->cta->shared, base + 16, offset, second, high, load);
    return true;
}

/* DIRECT_SHARED_WORD: all lanes. Both halves of the warp in rows, or at one place, are what comes
 * most, and are told apart from all else together. */
DIRECT_TARGET static bool direct_shared_word(const struct exec_warp *warp,
                                             const struct uop_memory *memory)
{
    const __m512i steps =
        _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    const lane_word *base = lanes_at(warp->state, memory->base);
    uint32_t offset = (uint32_t)memory->offset, bytes = warp->cta->shared_bytes;
    uint32_t first = base[0] + offset, second = base[16] + offset;
    __m512i low = _mm512_sub_epi32(_mm512_loadu_si512(base), _mm512_set1_epi32((int)base[0])),
            high =
                _mm512_sub_epi32(_mm512_loadu_si512(base + 16), _mm512_set1_epi32((int)base[16]));
    __m512i gaps =
        _mm512_ternarylogic_epi32(_mm512_xor_si512(low, steps), high, steps, GAPS_OR_DIFFERENCE);
    bool rows = !_mm512_test_epi32_mask(gaps, gaps);
    low = _mm512_or_si512(low, high);
    if ((first | second) & 3 || bytes < 64 || first > bytes - 64 || second > bytes - 64 ||
        (!rows && _mm512_test_epi32_mask(low, low)))
        return shared_halves(warp, memory);
    uint32_t *lanes = lanes_at(warp->state, memory->elements[0].ref);
    uint8_t *shared = warp->cta->shared;
    bool load = memory->kind == ACCESS_LOAD;
    enum spread spread = rows ? SPREAD_ROW : SPREAD_ONE;
    move_shared_words(lanes, shared, base, offset, first, spread, load);
    move_shared_words(lanes + 16, shared, base + 16, offset, second, spread, load);
    return true;
}

/* All lanes' words from `first` on, in an allocation; false: the thread may not do that to it. */
__attribute__((noinline)) static bool note_row(struct marks *marks, size_t extent, uint64_t first,
                                               bool stores)
{
    if (!marks_allows(marks, extent, stores))
        return false;
    if (stores)
        marks_words(marks, first, WARP_LANES);
    return true;
}

/* The lanes of the mask hold addresses of words in a row, lane 0's at `start` if it is one. */
PART bool are_in_row(const lane_dword *base, uint64_t start, uint32_t mask)
{
    const __m512i steps = _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28);
    __m512i row = _mm512_add_epi64(_mm512_set1_epi64((int64_t)start), steps),
            step = _mm512_set1_epi64(32);
    uint32_t gaps = 0;
    for (int k = 0; k < 4; k++, row = _mm512_add_epi64(row, step))
        gaps |= _mm512_mask_cmpneq_epi64_mask((__mmask8)(mask >> (k * 8)),
                                              _mm512_loadu_si512(base + k * 8), row);
    return gaps == 0;
}

/* All lanes hold addresses of words in a row, the first of them `start`. */
PART bool is_row(const lane_dword *base, uint64_t start)
{
    const __m512i steps = _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28);
    __m512i row = _mm512_add_epi64(_mm512_set1_epi64((int64_t)start), steps);
    __m512i gaps = _mm512_xor_si512(_mm512_loadu_si512(base), row);
    for (int k = 1; k < 4; k++) {
        row = _mm512_add_epi64(row, _mm512_set1_epi64(32));
        gaps = _mm512_ternarylogic_epi64(gaps, _mm512_loadu_si512(base + k * 8), row,
                                         GAPS_OR_DIFFERENCE);
    }
    return !_mm512_test_epi64_mask(gaps, gaps);
}

/* DIRECT_DEVICE_WORD: all lanes, in a row. */
DIRECT_TARGET static bool direct_device_row(const struct exec_warp *warp,
                                            const struct uop_memory *memory)
{
    struct exec_state *state = warp->state;
    const struct exec_memory *image = warp->cta->launch->memory;
    const lane_dword *base = lanes_at(state, memory->base);
    const bool load = memory->kind == ACCESS_LOAD;
    const uint64_t first = base[0] + memory->offset;
    size_t *found = &state->extents[warp->pc % EXTENT_HINTS];
    struct marks *marks = warp->env->marks;
    if (first & 3 || !image_valid_near(image, found, first, ROW_BYTES) || !is_row(base, base[0]))
        return false;
    const struct extent extent = image->extents[*found];
    if (marks && !note_row(marks, *found, first, !load))
        return false;
    ask_ahead(warp,
              &(struct region){.low = extent.start, .room = extent.end - extent.start - ROW_BYTES},
              first);
    uint32_t *lanes = lanes_at(state, memory->elements[0].ref);
    void *at = (void *)(uintptr_t)first;
    void *to = load ? (void *)lanes : at;
    const void *from = load ? at : (const void *)lanes;
    __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512((const uint32_t *)from + 16);
    _mm512_storeu_si512(to, low);
    _mm512_storeu_si512((uint32_t *)to + 16, high);
    return true;
}

/* A load of a parameter into all lanes. */
DIRECT_TARGET static bool direct_parameter(const struct exec_warp *warp,
                                           const struct uop_memory *memory)
{
    const struct exec_launch *launch = warp->cta->launch;
    uint64_t at = memory->offset, bytes = memory->bytes;
    uint8_t *lanes = lanes_at(warp->state, memory->elements[0].ref);
    if (at & (bytes - 1) || launch->param_bytes < bytes || at > launch->param_bytes - bytes)
        return false;
    __m512i all;
    if (bytes == 4) {
        int32_t word;
        memcpy(&word, (const uint8_t *)launch->params + at, 4);
        all = _mm512_set1_epi32(word);
    } else {
        int64_t word;
        memcpy(&word, (const uint8_t *)launch->params + at, 8);
        all = _mm512_set1_epi64(word);
        _mm512_storeu_si512(lanes + 128, all);
        _mm512_storeu_si512(lanes + 192, all);
    }
    _mm512_storeu_si512(lanes, all);
    _mm512_storeu_si512(lanes + 64, all);
    return true;
}

/* A word of each of all lanes; false: another way is to be tried. */
PART bool direct_whole(const struct exec_warp *warp, const struct uop_memory *memory)
{
    if (memory->shape == DIRECT_SHARED_WORD)
        return direct_shared_word(warp, memory);
    return memory->shape == DIRECT_DEVICE_WORD && direct_device_row(warp, memory);
}

/* DIRECT_DEVICE_WORD: lanes in a row. */
DIRECT_TARGET static bool direct_device_word(const struct exec_warp *warp,
                                             const struct uop_memory *memory, uint32_t mask)
{
    const lane_dword *base = lanes_at(warp->state, memory->base);
    uint32_t lowest = lowest_lane(mask), highest = 31u - (uint32_t)__builtin_clz(mask);
    uint64_t first = base[lowest] + memory->offset, bytes = (highest - lowest + 1) * 4u;
    struct region region;
    if (first & 3 || !are_in_row(base, base[lowest] - lowest * 4u, mask) ||
        !find_region(&region, warp, memory, first, bytes) || first - region.low > region.room)
        return false;
    if (region.marks)
        return false; /* only what is stored is noted */
    ask_ahead(warp, &region, first);
    uint32_t *lanes = lanes_at(warp->state, memory->elements[0].ref);
    uint8_t *at = (uint8_t *)((uintptr_t)first - lowest * 4u);
    bool load = memory->kind == ACCESS_LOAD;
    void *to = load ? (void *)lanes : (void *)at;
    const void *from = load ? (const void *)at : (const void *)lanes;
    for (int k = 0; k < 2; k++) {
        __mmask16 part = (__mmask16)(mask >> (k * 16));
        if (part == 0xffff)
            _mm512_storeu_si512((uint32_t *)to + k * 16,
                                _mm512_loadu_si512((const uint32_t *)from + k * 16));
        else if (part)
            move_words(lanes + k * 16, at + k * 64, part, load);
    }
    return true;
}

/* Shared memory by addresses of 32 bits, in words: what programs do most there. */
PART bool shared_words(uint32_t *lanes, const struct uop_memory *memory,
                       const struct region *region, const lane_word *base, uint32_t mask)
{
    __m512i address[2], room = _mm512_set1_epi32((int32_t)region->room),
                        bits = _mm512_set1_epi32(3),
                        offset = _mm512_set1_epi32((int32_t)memory->offset);
    uint32_t refused = 0;
    for (int k = 0; k < 2; k++) {
        __mmask16 part = (__mmask16)(mask >> (k * 16));
        address[k] = _mm512_add_epi32(_mm512_loadu_si512(base + k * 16), offset);
        refused |= (uint32_t)_mm512_mask_cmpgt_epu32_mask(part, address[k], room) |
                   (uint32_t)_mm512_mask_test_epi32_mask(part, address[k], bits);
    }
    if (refused)
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t part = mask >> (k * 16) & 0xffff;
        if (!part)
            continue;
        uint32_t lowest = lowest_lane(part);
        struct group group = {(uint8_t *)region->bias, part, lowest,
                              base[k * 16 + lowest] + (uint32_t)memory->offset};
        words_at_words(lanes + k * 16, &group, address[k], memory->kind == ACCESS_LOAD);
    }
    return true;
}

/* The lanes of `mask`, whose addresses are allowed. */
PART void move_vectors(void *lanes, const struct uop_memory *memory, const struct region *region,
                       const void *base, const __m512i address[4], uint32_t mask)
{
    bool words = memory->bytes == 4, load = memory->kind == ACCESS_LOAD;
    uint32_t size = words ? 16 : 8;
    for (uint32_t k = 0; k < WARP_LANES; k += size) {
        uint32_t part = mask >> k & ((1u << size) - 1);
        if (!part)
            continue;
        uint32_t lowest = lowest_lane(part);
        struct group group = {(uint8_t *)region->bias, part, lowest,
                              lane_address(base, memory->base_is_64, memory->offset, k + lowest)};
        if (words)
            words_at_dwords((uint32_t *)lanes + k, &group, address + k / 8, load);
        else
            dwords((uint64_t *)lanes + k, &group, address[k / 8], load);
    }
}

/* One element of each lane of `mask`. False: one is not allowed, and nothing has happened. */
DIRECT_TARGET static bool direct_vectors(void *lanes, const struct uop_memory *memory,
                                         const struct region *region, const void *base,
                                         uint32_t mask)
{
    __m512i address[4];
    if (memory->space == SPACE_SHARED && memory->bytes == 4 && !memory->base_is_64)
        return shared_words(lanes, memory, region, base, mask);
    read_addresses(address, memory, base);
    if (!are_allowed(address, region, mask, memory->bytes))
        return false;
    if (region->marks)
        note(region->marks, address, mask, memory->bytes / 4u);
    move_vectors(lanes, memory, region, base, address, mask);
    return true;
}

/* All that reaches the loops over lanes are vectors of elements. */
static inline bool direct_words(lane_word *lanes, const uint8_t *memory, const lane_word *base,
                                uint32_t offset, uint32_t last)
{
    (void)lanes, (void)memory, (void)base, (void)offset, (void)last;
    return false;
}

/* The lanes of `mask` of a group, the lowest one's at `first`; false: they have no order. */
PART bool group_span(struct direct_span *span, __m512i address, uint32_t mask, uint64_t first,
                     uint32_t total)
{
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    uint32_t lowest = lowest_lane(mask), run = mask >> lowest;
    if (run & (run + 1))
        return false; /* there are lanes in between */
    __m512i steps = _mm512_sll_epi64(lanes, _mm_cvtsi32_si128(__builtin_ctz(total)));
    uint64_t from = first - (uint64_t)lowest * total;
    __m512i row = _mm512_add_epi64(_mm512_set1_epi64((int64_t)from), steps);
    bool uniform =
        !_mm512_mask_cmpneq_epi64_mask((__mmask8)mask, address, _mm512_set1_epi64((int64_t)first));
    *span =
        (struct direct_span){first, uniform ? total : total * (uint32_t)__builtin_popcount(mask)};
    return uniform || !_mm512_mask_cmpneq_epi64_mask((__mmask8)mask, address, row);
}

/* Lanes without an order. Of each group those of the mask come first, and beside each the one
 * before it. */
PART void list_vectors(struct direct_reach *reach, const __m512i address[4], uint32_t mask)
{
    __m512i before = _mm512_set1_epi64(-1);
    reach->sectors = reach->lines = 0;
    for (int k = 0; k < 4; k++) {
        __mmask8 part = (__mmask8)(mask >> (k * 8));
        if (!part)
            continue;
        uint32_t count = (uint32_t)__builtin_popcount(part);
        __mmask8 lanes = (__mmask8)((1u << count) - 1);
        __m512i at = _mm512_maskz_compress_epi64(part, address[k]),
                differs = _mm512_xor_si512(at, _mm512_alignr_epi64(at, before, 7));
        __mmask8 sectors = _mm512_mask_test_epi64_mask(lanes, differs,
                                                       _mm512_set1_epi64(-DIRECT_SECTOR_BYTES)),
                 lines = _mm512_mask_test_epi64_mask(lanes, differs,
                                                     _mm512_set1_epi64(-DIRECT_LINE_BYTES));
        __m512i line = _mm512_srli_epi64(at, __builtin_ctz(DIRECT_LINE_BYTES));
        _mm512_storeu_si512(reach->line + reach->lines, _mm512_maskz_compress_epi64(lines, line));
        reach->sectors += (uint32_t)__builtin_popcount(sectors);
        reach->lines += (uint32_t)__builtin_popcount(lines);
        before = _mm512_permutexvar_epi64(_mm512_set1_epi64((int64_t)count - 1), at);
    }
}

DIRECT_TARGET static bool reach_lanes(struct direct_reach *reach, const struct region *region,
                                      const struct uop_memory *memory, const void *base,
                                      uint32_t mask, uint64_t first, uint32_t total)
{
    __m512i address[4];
    reach->spans = 0;
    if (mask == UINT32_MAX && memory->shape == DIRECT_DEVICE_WORD &&
        is_row(base, ((const lane_dword *)base)[0])) {
        add_span(reach, (struct direct_span){first, ROW_BYTES});
        return may_span(region, reach->span, total);
    }
    read_addresses(address, memory, base);
    if (!are_allowed(address, region, mask, total))
        return false;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t part = mask >> (k * 8) & 0xff, lane = k * 8 + (part ? lowest_lane(part) : 0);
        struct direct_span next;
        if (!part)
            continue;
        uint64_t at = lane_address(base, memory->base_is_64, memory->offset, lane);
        if (!group_span(&next, address[k], part, at, total)) {
            reach->spans = 0;
            list_vectors(reach, address, mask);
            return true;
        }
        add_span(reach, next);
    }
    return true;
}

#include "exec/memory/direct.inc"

direct_fn *const direct_avx512 = access_avx512;
const struct direct_ways direct_ways_avx512 = {direct_shared_word, direct_device_row,
                                               direct_parameter};
direct_shared_fn *const direct_shared_avx512 = shared_avx512;
direct_reach_fn *const direct_reach_avx512 = reach_avx512;
#else
#include "exec/memory/direct.h"
#include <stddef.h>

direct_fn *const direct_avx512 = NULL;
const struct direct_ways direct_ways_avx512 = {NULL, NULL, NULL};
direct_shared_fn *const direct_shared_avx512 = NULL;
direct_reach_fn *const direct_reach_avx512 = NULL;
#endif
