/*
 * Bank conflicts. The banks together deliver banks * bank_bytes a pass, so accesses wider than that
 * are taken in groups of lanes: with 32 banks of 4 bytes a warp's 8-byte access is two half-warps
 * and a 16-byte one four quarters (CUDA C Programming Guide, compute capability 2.x and 3.x). Lanes
 * of an atomic that meet on one word are served one after the other: no broadcast for them.
 */
#include "core/memory/banks.h"

#include <stdbool.h>

/* The rows asked of each bank in one pass group. */
struct tally {
    uint64_t asked; /* a bit for each bank with a row */
    uint8_t count[BANKS_MAX];
    uint64_t row[BANKS_MAX][WARP_LANES];
    uint32_t worst;
};

/* How an address falls into word, bank and row. */
struct layout {
    uint32_t word_bytes, banks;
    uint32_t row_words;                        /* of all banks together */
    uint32_t word_shift, bank_mask, row_shift; /* the same, where all are powers of two */
    bool shifts;
};

static bool is_power(uint32_t number)
{
    return (number & (number - 1)) == 0;
}

static struct layout layout_of(const struct shared_spec *spec)
{
    uint32_t word_bytes = spec->word_bytes ? spec->word_bytes : spec->bank_bytes;
    uint32_t row_words = spec->banks * (spec->bank_bytes / word_bytes);
    return (struct layout){.word_bytes = word_bytes,
                           .banks = spec->banks,
                           .row_words = row_words,
                           .word_shift = (uint32_t)__builtin_ctz(word_bytes),
                           .bank_mask = spec->banks - 1,
                           .row_shift = (uint32_t)__builtin_ctz(row_words),
                           .shifts = is_power(word_bytes) && is_power(spec->banks) &&
                                     is_power(row_words)};
}

static void tally_row(struct tally *tally, uint32_t bank, uint64_t row, bool broadcast)
{
    if (!(tally->asked >> bank & 1)) {
        tally->asked |= UINT64_C(1) << bank;
        tally->row[bank][0] = row;
        tally->count[bank] = 1;
        return;
    }
    uint32_t count = tally->count[bank];
    for (uint32_t i = 0; broadcast && i < count; i++) {
        if (tally->row[bank][i] == row) {
            return;
        }
    }
    if (count < WARP_LANES) {
        tally->row[bank][count++] = row;
    }
    tally->count[bank] = (uint8_t)count;
    if (count > tally->worst) {
        tally->worst = count;
    }
}

static void tally_lane(struct tally *tally, const struct layout *layout, uint64_t first,
                       uint64_t last, bool broadcast)
{
    if (layout->shifts) {
        uint64_t end = last >> layout->word_shift;
        for (uint64_t word = first >> layout->word_shift; word <= end; word++) {
            tally_row(tally, (uint32_t)word & layout->bank_mask, word >> layout->row_shift,
                      broadcast);
        }
        return;
    }
    for (uint64_t word = first / layout->word_bytes; word <= last / layout->word_bytes; word++) {
        tally_row(tally, (uint32_t)(word % layout->banks), word / layout->row_words, broadcast);
    }
}

/* Whether all bytes lie in one row, which every bank then delivers in one pass. */
static bool in_one_row(const struct layout *layout, const struct exec_access *access,
                       uint32_t lanes, uint32_t lane_bytes)
{
    uint64_t first = access->address[__builtin_ctz(lanes)], apart = 0;
    if (lanes == UINT32_MAX) {
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            uint64_t address = access->address[lane];
            apart |= (address ^ first) | ((address + lane_bytes - 1) ^ first);
        }
    }
    for (uint32_t rest = lanes == UINT32_MAX ? 0 : lanes; rest; rest &= rest - 1) {
        uint64_t address = access->address[__builtin_ctz(rest)];
        apart |= (address ^ first) | ((address + lane_bytes - 1) ^ first);
    }
    return layout->shifts && apart >> layout->word_shift >> layout->row_shift == 0;
}

/* The same of an access that knows in which bits its addresses differ, aligned as they are. */
static bool is_in_one_row(const struct layout *layout, const struct exec_access *access,
                          uint32_t lane_bytes)
{
    uint64_t apart = access->apart | (lane_bytes - 1);
    return access->done && layout->shifts && apart >> layout->word_shift >> layout->row_shift == 0;
}

static uint32_t group_passes(const struct layout *layout, const struct exec_access *access,
                             uint32_t lanes, uint32_t lane_bytes)
{
    bool broadcast = access->kind != ACCESS_ATOMIC && access->kind != ACCESS_REDUCTION;
    if (lanes == 0 || (broadcast && in_one_row(layout, access, lanes, lane_bytes))) {
        return lanes != 0;
    }
    struct tally tally;
    tally.asked = 0;
    tally.worst = 1;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t first = access->address[__builtin_ctz(lanes)];
        tally_lane(&tally, layout, first, first + lane_bytes - 1, broadcast);
    }
    return tally.worst;
}

uint32_t banks_passes(const struct shared_spec *spec, const struct exec_access *access)
{
    if ((access->mask & (access->mask - 1)) == 0) {
        return access->mask != 0;
    }
    uint32_t lane_bytes = (uint32_t)access->bytes * access->vec;
    uint32_t group = spec->banks * spec->bank_bytes / lane_bytes;
    if (group == 0) {
        group = 1;
    }
    const struct layout layout = layout_of(spec);
    uint32_t passes = 0;
    if (is_in_one_row(&layout, access, lane_bytes)) {
        return group >= WARP_LANES ? 1 : (WARP_LANES + group - 1) / group;
    }
    for (uint32_t first = 0; first < WARP_LANES; first += group) {
        uint32_t lanes = group >= WARP_LANES ? UINT32_MAX : (1u << group) - 1;
        passes += group_passes(&layout, access, access->mask & lanes << first, lane_bytes);
    }
    return passes;
}
