/*
 * Coalescing by segments. Merging between warps is merge.c.
 */
#include "core/memory/coalesce.h"

#include <stdbool.h>

/* A bit for each sector of [first, end), which lies in one segment of at most 32 of them. */
static inline uint32_t sectors_of(uint64_t mask, uint64_t first, uint64_t end)
{
    uint32_t from = (uint32_t)((first & ~mask) / COALESCE_SECTOR_BYTES);
    uint32_t to = (uint32_t)(((end - 1) & ~mask) / COALESCE_SECTOR_BYTES);
    return to < 32 ? (UINT32_MAX >> (31 - to)) & (UINT32_MAX << from) : 0;
}

/* Put [first, end), which lies inside one segment, into a transaction of this pass. */
static inline uint32_t add(struct transaction *out, uint32_t pass_first, uint32_t count,
                           uint64_t segment, uint64_t mask, uint64_t first, uint64_t end)
{
    /* Neighbouring lanes mostly share the newest transaction, so look there first. */
    for (uint32_t i = count; i-- > pass_first;) {
        struct transaction *t = &out[i];
        if ((t->address & mask) == segment) {
            uint64_t t_end = t->address + t->bytes;
            t->address = first < t->address ? first : t->address;
            t->bytes = (uint32_t)((end > t_end ? end : t_end) - t->address);
            t->sectors |= sectors_of(mask, first, end);
            t->lanes++;
            return count;
        }
    }
    out[count] = (struct transaction){.address = first,
                                      .bytes = (uint32_t)(end - first),
                                      .lanes = 1,
                                      .sectors = sectors_of(mask, first, end)};
    return count + 1;
}

/* 32 lanes, each behind the one before, of which none crosses a segment: pass by pass, the segments
 * from the first byte to the last. */
static uint32_t coalesce_series(struct transaction *out, const struct exec_access *access,
                                uint32_t segment_bytes, uint32_t lanes_per_pass)
{
    uint64_t mask = ~((uint64_t)segment_bytes - 1);
    uint32_t lane_bytes = (uint32_t)access->bytes * access->vec, count = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane += lanes_per_pass) {
        uint32_t lanes = WARP_LANES - lane < lanes_per_pass ? WARP_LANES - lane : lanes_per_pass;
        uint64_t first = access->address[0] + (uint64_t)lane * lane_bytes;
        uint64_t last = first + (uint64_t)lanes * lane_bytes, end;
        for (; first < last; first = end) {
            end = (first & mask) + segment_bytes;
            end = end < last ? end : last;
            out[count++] = (struct transaction){.address = first,
                                                .bytes = (uint32_t)(end - first),
                                                .lanes = (uint32_t)(end - first) / lane_bytes,
                                                .sectors = sectors_of(mask, first, end)};
        }
    }
    return count;
}

static bool is_series(const struct exec_access *access, uint32_t segment_bytes)
{
    uint32_t lane_bytes = (uint32_t)access->bytes * access->vec;
    return access->contiguous && access->mask == UINT32_MAX && lane_bytes <= segment_bytes &&
           (lane_bytes & (lane_bytes - 1)) == 0 && (access->address[0] & (lane_bytes - 1)) == 0;
}

static uint32_t coalesce_lanes(struct transaction *out, const struct exec_access *access,
                               uint32_t segment_bytes, uint32_t lanes_per_pass)
{
    uint64_t mask = ~((uint64_t)segment_bytes - 1);
    uint32_t lane_bytes = (uint32_t)access->bytes * access->vec;
    uint32_t count = 0, pass_first = 0, pass = 0;
    for (uint32_t lanes = access->mask; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        if (lane >= (pass + 1) * lanes_per_pass) {
            pass = lane / lanes_per_pass;
            pass_first = count;
        }
        uint64_t first = access->address[lane], end = first + lane_bytes;
        uint64_t border = (first & mask) + segment_bytes;
        if (end <= border) {
            count = add(out, pass_first, count, first & mask, mask, first, end);
        } else {
            count = add(out, pass_first, count, first & mask, mask, first, border);
            count = add(out, pass_first, count, border, mask, border, end);
        }
    }
    return count;
}

uint32_t coalesce(struct transaction *out, const struct exec_access *access, uint32_t segment_bytes,
                  uint32_t sector_bytes, uint32_t lanes_per_pass)
{
    if (coalesce_lone(out, access, segment_bytes, sector_bytes)) {
        return 1;
    }
    uint32_t count = is_series(access, segment_bytes)
                         ? coalesce_series(out, access, segment_bytes, lanes_per_pass)
                         : coalesce_lanes(out, access, segment_bytes, lanes_per_pass);
    bool write = access->kind == ACCESS_STORE;
    for (uint32_t i = 0; i < count && !write; i++) {
        coalesce_round(&out[i], sector_bytes);
    }
    return count;
}

uint32_t coalesce_segment(const struct exec_access *access, uint32_t segment_bytes)
{
    uint32_t bytes = (uint32_t)access->bytes * access->vec * COALESCE_SECTOR_BYTES;
    return bytes < segment_bytes ? bytes : segment_bytes;
}

void coalesce_halve(struct transaction *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct transaction *t = &list[i];
        uint64_t last = t->address + t->bytes - 1, piece = COALESCE_SECTOR_BYTES;
        while (t->address / piece != last / piece) {
            piece *= 2;
        }
        t->address -= t->address % piece;
        t->bytes = (uint32_t)piece;
    }
}

enum { CHUNK_BYTES = 128, HALF_BYTES = 64 };

/* Bytes [first, end) of half a chunk, which begins at `half`: a bit each. */
static uint64_t half_bytes(uint64_t half, uint64_t first, uint64_t end)
{
    first = first > half ? first - half : 0;
    end = end > half ? end - half : 0;
    end = end < HALF_BYTES ? end : HALF_BYTES;
    return first < end ? (UINT64_MAX >> (HALF_BYTES - (end - first))) << first : 0;
}

void coalesce_written(uint64_t written[2], const struct transaction *t,
                      const struct exec_access *access)
{
    uint64_t chunk = t->address & ~(uint64_t)(CHUNK_BYTES - 1);
    uint32_t lane_bytes = (uint32_t)access->bytes * access->vec;
    written[0] = written[1] = 0;
    uint64_t behind = t->address + t->bytes;
    if (t->lanes <= 1 || access->contiguous || behind > chunk + CHUNK_BYTES) {
        return;
    }
    for (uint32_t lanes = access->mask; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        uint64_t first = access->address[lane], end = first + lane_bytes;
        if (access->space == SPACE_NONE && access->lane_space[lane] != SPACE_GLOBAL) {
            continue;
        }
        first = first > t->address ? first : t->address;
        end = end < behind ? end : behind;
        written[0] |= half_bytes(chunk, first, end);
        written[1] |= half_bytes(chunk + HALF_BYTES, first, end);
    }
    int count = __builtin_popcountll(written[0]) + __builtin_popcountll(written[1]);
    if ((uint32_t)count == t->bytes) {
        written[0] = written[1] = 0;
    }
}

/* How many lanes before this one want the same word. */
static uint32_t lanes_before(const struct exec_access *access, uint32_t lane)
{
    uint32_t count = 0;
    for (uint32_t m = access->mask & ((1u << lane) - 1); m; m &= m - 1) {
        count += access->address[__builtin_ctz(m)] == access->address[lane];
    }
    return count;
}

void coalesce_passes(struct transaction *list, uint32_t count, const struct exec_access *access,
                     bool alone)
{
    for (uint32_t i = 0; i < count && !alone; i++) {
        uint64_t first = list[i].address & ~(uint64_t)(COALESCE_SECTOR_BYTES - 1);
        uint64_t end = list[i].address + list[i].bytes;
        for (; first < end; first += COALESCE_SECTOR_BYTES) {
            uint32_t most = 0;
            for (uint32_t m = access->mask; m; m &= m - 1) {
                uint32_t lane = (uint32_t)__builtin_ctz(m);
                if (access->address[lane] - first < COALESCE_SECTOR_BYTES) {
                    uint32_t pass = lanes_before(access, lane) + 1;
                    most = pass > most ? pass : most;
                }
            }
            list[i].passes += most;
        }
    }
}
