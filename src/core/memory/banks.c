/*
 * Bank conflicts. The banks together deliver banks * bank_bytes a pass, so accesses wider than that
 * are taken in groups of lanes: with 32 banks of 4 bytes a warp's 8-byte access is two half-warps
 * and a 16-byte one four quarters (CUDA C Programming Guide, compute capability 2.x and 3.x). Lanes
 * of an atomic that meet on one word are served one after the other: no broadcast for them.
 */
#include "core/memory/banks.h"

#include <stdbool.h>
#include <string.h>

/* The rows asked of each bank in one pass group. */
struct tally {
    uint8_t count[BANKS_MAX];
    uint64_t row[BANKS_MAX][WARP_LANES];
    uint32_t worst;
};

static void tally_row(struct tally *tally, uint32_t bank, uint64_t row, bool broadcast)
{
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

static uint32_t group_passes(const struct shared_spec *spec, const struct exec_access *access,
                             uint32_t lanes, uint32_t lane_bytes)
{
    struct tally tally;
    memset(tally.count, 0, sizeof tally.count);
    tally.worst = 0;
    bool broadcast = access->kind != ACCESS_ATOMIC && access->kind != ACCESS_REDUCTION;
    uint32_t word_bytes = spec->word_bytes ? spec->word_bytes : spec->bank_bytes;
    uint64_t row_words = (uint64_t)spec->banks * (spec->bank_bytes / word_bytes);
    for (; lanes; lanes &= lanes - 1) {
        uint64_t first = access->address[__builtin_ctz(lanes)];
        uint64_t last_word = (first + lane_bytes - 1) / word_bytes;
        for (uint64_t word = first / word_bytes; word <= last_word; word++) {
            tally_row(&tally, (uint32_t)(word % spec->banks), word / row_words, broadcast);
        }
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
    uint32_t passes = 0;
    for (uint32_t first = 0; first < WARP_LANES; first += group) {
        uint32_t lanes = group >= WARP_LANES ? UINT32_MAX : (1u << group) - 1;
        passes += group_passes(spec, access, access->mask & lanes << first, lane_bytes);
    }
    return passes;
}
