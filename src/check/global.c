/*
 * Accesses to device memory: was it written before it is read, and does another block access it
 * without an order. A word of the map stands for four bytes of memory:
 *
 *     31     25 24  22 21   18 17                0
 *     |  tag   | kind | bytes | block, modulo 2^18 |
 *
 * `tag` is the launch (a word of another launch says nothing), `kind` the strongest access that the
 * launch has made, `bytes` which of the four. Blocks run one after the other here, so that the last
 * one that came is enough to remember, and "several" where more than one has read. Two blocks of
 * the same number modulo 2^18 are taken for one. A store that leaves the value as it was races with
 * nobody: many programs write the same flag from many blocks.
 */
#include <inttypes.h>
#include <stdio.h>

#include "check/bits.h"
#include "check/rows.h"
#include "check/state.h"
#include "exec/ops.h"

const char *access_words(const struct exec_access *access)
{
    switch (access->kind) {
    case ACCESS_LOAD:
        return "load";
    case ACCESS_STORE:
        return "store";
    default:
        return "atomic operation";
    }
}

static void describe(struct watched_cta *cta, struct finding *f, const struct exec_access *access,
                     uint64_t address)
{
    struct check *check = cta->launch->check;
    if (!f || f->count > 1)
        return;
    f->has_address = true;
    f->address = address;
    finding_text(check, &f->what, "%s of %u bytes in global memory", access_words(access),
                 access->bytes * access->vec);
    allocation_describe(check, &f->where, allocation_near(check, address), address);
}

static uint32_t number_near(const struct check *check, uint64_t address)
{
    return allocation_key(allocation_near(check, address));
}

/* Beside every allocation of the heap that lies in the heap itself, which is one to exec. */
static bool heap_refuses(struct watched_cta *cta, struct exec_warp *warp,
                         const struct exec_access *access, uint32_t lane)
{
    struct check *check = cta->launch->check;
    uint64_t address = access->address[lane], bytes = (uint64_t)access->bytes * access->vec;
    if (address - check->heap >= check->heap_bytes)
        return false;
    const struct allocation *a = allocation_near(check, address);
    if (a && a->owner == CHECK_HEAP && a->live && address - a->address < a->bytes &&
        a->bytes - (address - a->address) >= bytes)
        return false;
    bool freed = a && !a->live && address - a->address < a->bytes;
    describe(cta,
             finding_at(check, freed ? FAULT_FREED : FAULT_BOUNDS, warp, access->pc, lane,
                        allocation_key(a)),
             access, address);
    return true;
}

void report_uninitialised(struct watched_cta *cta, struct exec_warp *warp,
                          const struct exec_access *access, uint32_t lane, const char *space)
{
    struct check *check = cta->launch->check;
    uint64_t address = access->address[lane];
    bool global = space[0] == 'g';
    struct finding *f = finding_at(check, FAULT_UNINITIALISED, warp, access->pc, lane,
                                   global ? number_near(check, address) : 0);
    if (global) {
        describe(cta, f, access, address);
    } else if (f && f->count == 1) {
        f->has_address = true;
        f->address = address;
        finding_text(check, &f->what, "%s of %u bytes in %s memory", access_words(access),
                     access->bytes * access->vec, space);
    }
}

/* ---- races between blocks ---- */

static void report_race(struct watched_cta *cta, struct exec_warp *warp,
                        const struct exec_access *access, uint32_t lane, uint32_t word)
{
    struct check *check = cta->launch->check;
    uint64_t address = access->address[lane];
    struct finding *f =
        finding_at(check, FAULT_BLOCK_RACE, warp, access->pc, lane, number_near(check, address));
    if (!f || f->count > 1)
        return;
    describe(cta, f, access, address);
    uint32_t kind = word & KIND_MASK, block = word & BLOCK_MASK;
    const uint32_t *grid = cta->cta->launch->grid;
    const char *did = kind == WRITTEN ? "written" : kind >= ATOMIC ? "changed atomically" : "read";
    if (kind == READ_BY_SEVERAL || kind == ATOMIC_BY_SEVERAL)
        finding_text(check, &f->detail, "%s by several blocks of this launch", did);
    else
        finding_text(check, &f->detail, "%s by block (%u,%u,%u), with nothing that orders the two",
                     did, block % grid[0], block / grid[0] % grid[1], block / grid[0] / grid[1]);
}

/* Whether what the word tells of comes before. */
static bool is_ordered(const struct watched_cta *cta, uint32_t word)
{
    uint32_t kind = word & KIND_MASK;
    if (kind == READ_BY_SEVERAL || kind == ATOMIC_BY_SEVERAL)
        return cta->seen_blocks != NULL || (kind == READ_BY_SEVERAL && cta->seen_reads != NULL);
    return order_has_block(cta, word & BLOCK_MASK) ||
           (kind == READ && order_has_reads(cta, word & BLOCK_MASK));
}

/* The word after an access of `kind` to `bytes` of its four; `*race`: it conflicts with what was.
 */
static uint32_t next_word(const struct watched_cta *cta, uint32_t word, uint32_t kind,
                          uint32_t bytes, bool *race)
{
    uint32_t tag = cta->launch->tag << TAG_SHIFT, block = cta->number & BLOCK_MASK;
    uint32_t mine = tag | kind | bytes | block, was = word & KIND_MASK;
    if ((word ^ tag) >> TAG_SHIFT || !was)
        return mine;
    bool several = was == READ_BY_SEVERAL || was == ATOMIC_BY_SEVERAL;
    if (!several && (word & BLOCK_MASK) == block)
        return (was > kind ? word : (word & ~KIND_MASK) | kind) | bytes;
    bool meets = (word & bytes) != 0;
    if (kind == READ) {
        *race = meets && was == WRITTEN && !is_ordered(cta, word);
        return was <= READ_BY_SEVERAL ? tag | READ_BY_SEVERAL | bytes | (word & ALL_BYTES) : word;
    }
    if (kind == ATOMIC) {
        *race = meets && was == WRITTEN && !is_ordered(cta, word);
        return was >= ATOMIC && was != WRITTEN ? tag | ATOMIC_BY_SEVERAL | ALL_BYTES : mine;
    }
    *race = meets && !is_ordered(cta, word);
    return mine;
}

static uint32_t *words_at(const struct check *check, uint64_t address)
{
    return check->words + (address - check->base) / 4;
}

static bool leaves_value(const struct exec_access *access, uint32_t lane)
{
    return access->kind == ACCESS_STORE &&
           memcmp((const void *)(uintptr_t)access->address[lane], access->data[lane],
                  (size_t)access->bytes * access->vec) == 0;
}

static void race_lane(struct watched_cta *cta, struct exec_warp *warp,
                      const struct exec_access *access, uint32_t lane, uint32_t kind)
{
    const struct check *check = cta->launch->check;
    uint64_t address = access->address[lane], bytes = (uint64_t)access->bytes * access->vec;
    uint32_t *word = words_at(check, address), found = 0;
    bool any = false;
    for (uint64_t left = bytes, at = address % 4; left > 0; word++, at = 0) {
        uint64_t part = left < 4 - at ? left : 4 - at;
        uint32_t mask = ((1u << part) - 1) << at << BYTES_SHIFT, before = *word;
        bool race = false;
        *word = next_word(cta, before, kind, mask, &race);
        if (race) {
            any = true;
            found = before;
        }
        left -= part;
    }
    if (any && !cta->launch->order_lost && !leaves_value(access, lane))
        report_race(cta, warp, access, lane, found);
}

/* Lanes from `first` on, all of `mask`, whose accesses lie one behind the other. */
static uint32_t lanes_in_a_row(const struct exec_access *access, uint32_t mask, uint32_t first)
{
    uint64_t bytes = (uint64_t)access->bytes * access->vec;
    uint32_t lane = first + 1;
    if (access->contiguous && mask == UINT32_MAX)
        return WARP_LANES - first;
    while (lane < WARP_LANES && mask >> lane & 1 &&
           access->address[lane] == access->address[lane - 1] + bytes)
        lane++;
    return lane - first;
}

static uint32_t lane_range(uint32_t first, uint32_t count)
{
    return (uint32_t)(((UINT64_C(1) << count) - 1) << first);
}

/* Shorter rows are dearer than their lanes one after the other. */
#define ROW_LANES 4

/* Plain loads or stores of whole words, row by row. The lanes that need a closer look. */
static uint32_t check_rows(const struct watched_cta *cta, const struct exec_access *access,
                           uint32_t mask)
{
    uint32_t words = (uint32_t)access->bytes * access->vec / 4, left = 0;
    for (uint32_t rest = mask, count; rest; rest &= ~lane_range(lowest_lane(rest), count)) {
        uint32_t lane = lowest_lane(rest);
        count = lanes_in_a_row(access, mask, lane);
        uint32_t *word = words_at(cta->launch->check, access->address[lane]);
        bool done =
            count >= ROW_LANES && (access->kind == ACCESS_LOAD
                                       ? cta->launch->check->rows->read(cta, word, count * words)
                                       : cta->launch->check->rows->write(cta, word, count * words));
        left |= done ? 0 : lane_range(lane, count);
    }
    return left;
}

static void check_races(struct watched_cta *cta, struct exec_warp *warp,
                        const struct exec_access *access, uint32_t mask, bool strong)
{
    uint64_t bytes = (uint64_t)access->bytes * access->vec;
    bool load = access->kind == ACCESS_LOAD;
    uint32_t closer = mask; /* lanes to be looked at one by one */
    if (load && strong)
        return;
    if (!strong && access->kind <= ACCESS_STORE && bytes % 4 == 0)
        closer = check_rows(cta, access, mask);
    uint32_t kind = load ? READ : strong || access->kind != ACCESS_STORE ? ATOMIC : WRITTEN;
    uint64_t last = 0;
    for (uint32_t rest = closer ? mask : 0; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (load && access->address[lane] == last)
            continue; /* a broadcast */
        last = access->address[lane];
        if (closer >> lane & 1)
            race_lane(cta, warp, access, lane, kind);
    }
}

/* ---- bytes that nobody has written ---- */

static void check_written_bytes(struct watched_cta *cta, struct exec_warp *warp,
                                const struct exec_access *access, uint32_t mask)
{
    const struct check *check = cta->launch->check;
    uint64_t bytes = (uint64_t)access->bytes * access->vec;
    bool reads = access->kind != ACCESS_STORE, writes = access->kind != ACCESS_LOAD;
    for (uint32_t rest = mask, count; rest; rest &= ~lane_range(lowest_lane(rest), count)) {
        uint32_t lane = lowest_lane(rest);
        uint64_t first = access->address[lane] - check->base;
        count = lanes_in_a_row(access, mask, lane);
        if (reads && !bits_all(check->written, first, bytes * count)) {
            count = 1; /* which of them? */
            if (!bits_all(check->written, first, bytes))
                report_uninitialised(cta, warp, access, lane, "global");
        }
        if (writes)
            bits_set(check->written, first, bytes * count);
    }
}

/* All lanes load the same bytes, which were written: one speaks for all of them. */
static bool is_broadcast(const struct check *check, const struct exec_access *access, uint32_t mask)
{
    uint64_t first = access->address[0], differs = 0;
    if (access->kind != ACCESS_LOAD || access->contiguous || mask != UINT32_MAX)
        return false;
    for (uint32_t lane = 1; lane < WARP_LANES; lane++)
        differs |= access->address[lane] ^ first;
    return !differs &&
           bits_all(check->written, first - check->base, (uint64_t)access->bytes * access->vec);
}

void global_access(struct watched_cta *cta, struct exec_warp *warp,
                   const struct exec_access *access, uint32_t mask)
{
    struct check *check = cta->launch->check;
    const uint8_t flags = cta->launch->flags[access->pc];
    bool strong = flags & INSN_STRONG || access->kind > ACCESS_STORE;
    uint32_t index = warp->env->warpid, first = lowest_lane(mask);
    if (check->heap_bytes)
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            if (heap_refuses(cta, warp, access, lowest_lane(rest)))
                mask &= ~(1u << lowest_lane(rest));
    if (!mask)
        return;
    uint32_t seen = mask;
    if (is_broadcast(check, access, mask))
        seen = 1;
    else
        check_written_bytes(cta, warp, access, mask);
    if (access->space != SPACE_CONST)
        check_races(cta, warp, access, seen, strong);
    for (uint32_t rest = strong ? mask : 0; rest; rest &= rest - 1) {
        uint64_t address = access->address[lowest_lane(rest)];
        if (rest != mask && address == access->address[first])
            continue;
        if (access->kind != ACCESS_STORE) {
            order_acquire(cta, index, address);
            order_see_reads(cta, address);
        }
        if (access->kind == ACCESS_STORE)
            order_tell_reads(cta, address);
        if (access->kind != ACCESS_LOAD && (cta->any_fence || flags & INSN_RELEASE))
            order_release(cta, index, address);
    }
}
