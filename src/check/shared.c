/*
 * Accesses to shared and local memory. For each granule of shared memory (four bytes, or fewer
 * where the program has narrower accesses) there are the last plain write, two reads of different
 * warps, and the last atomic access, each as
 *
 *     31          12 11      6    5      4    0
 *     | time (20)   | warp   | several | lane |
 *
 * with `several` where lanes of the warp accessed it together. An access up to the time that the
 * warp has seen of everybody comes before; else the clock of that warp decides.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/rows.h"
#include "check/state.h"
#include "exec/fault.h"
#include "exec/ops.h"
#include "exec/program.h"

static uint32_t time_of(uint32_t record)
{
    return record >> TIME_SHIFT;
}

/* Does the access of the record come before what the lane does now? */
static inline bool is_before(const struct watched_cta *cta, uint32_t record, uint32_t warp,
                             uint32_t lane)
{
    uint32_t time = time_of(record);
    if (time <= cta->floor[warp])
        return true;
    uint32_t other = warp_of(record);
    if (other == warp && !(record & SEVERAL) && (record & 31) == lane)
        return true;
    return other < CHECK_WARPS && time <= cta->clock[warp].seen[other];
}

/* Time is up: what was accessed before is forgotten, but that it was written. */
static void restart(struct watched_cta *cta)
{
    for (uint32_t i = 0; i < cta->granules; i++) {
        bool written = cta->writes[i] >= cta->begin || cta->atomics[i] >= cta->begin;
        cta->writes[i] = written ? 1u << TIME_SHIFT : 0;
        cta->atomics[i] = cta->reads[i] = cta->more_reads[i] = 0;
    }
    memset(cta->writes + cta->granules, 0, (size_t)(cta->capacity - cta->granules) * 4);
    memset(cta->barrier, 0, sizeof cta->barrier);
    for (size_t i = 0; i < cta->met.count; i++)
        cta->met.data[i] = 1;
    for (size_t i = 0; i < cta->places.count; i++)
        memset(cta->places.entries[i].pointer, 0, sizeof(struct clocks));
    cta->begin = 1u << TIME_SHIFT;
    cta->time = 2;
    for (uint32_t v = 0; v < cta->warp_count; v++) {
        for (uint32_t u = 0; u < cta->warp_count; u++)
            if (cta->clock[v].seen[u] != UINT32_MAX)
                cta->clock[v].seen[u] = 1;
        cta->floor[v] = 1;
    }
}

void shared_begin(struct watched_cta *cta)
{
    if (cta->time + 2 >= TIME_MAX) {
        restart(cta);
        memset(cta->writes, 0, (size_t)cta->capacity * 4);
    }
    cta->time += 2;
    cta->begin = (cta->time - 1) << TIME_SHIFT;
    if (cta->any_early) {
        memset(cta->early, 0, cta->capacity);
        memset(cta->early_pcs, 0, (size_t)cta->capacity * 4);
        cta->any_early = false;
    }
    vec_clear(&cta->met);
    memset(cta->waits, 0, sizeof cta->waits);
    memset(cta->comes, 0, sizeof cta->comes);
}

uint32_t shared_granules(const struct watched_cta *cta, uint64_t offset, uint64_t bytes,
                         uint32_t *end)
{
    uint64_t first = offset >> cta->launch->shift,
             last = (offset + bytes - 1) >> cta->launch->shift;
    *end = bytes == 0 || first >= cta->granules ? 0
           : last >= cta->granules              ? cta->granules
                                                : (uint32_t)last + 1;
    return (uint32_t)first;
}

void shared_touched(struct watched_cta *cta, uint64_t offset, uint64_t bytes)
{
    uint32_t end;
    for (uint32_t i = shared_granules(cta, offset, bytes, &end); i < end; i++)
        if (cta->writes[i] < cta->begin)
            cta->writes[i] = cta->begin;
}

void shared_race(struct watched_cta *cta, const struct exec_warp *warp,
                 const struct exec_access *access, uint32_t lane, uint32_t record, const char *did,
                 uint32_t pc)
{
    struct check *check = cta->launch->check;
    if (finding_turned(check, FAULT_SHARED_RACE, warp->state->program, access->pc, pc))
        return; /* the same two, the other one first */
    struct finding *f =
        finding_in_shared(check, FAULT_SHARED_RACE, warp, access->pc, lane, access->address[lane]);
    if (!f)
        return;
    uint32_t other = warp_of(record), tid[3];
    int line = insn_line(warp->state->program, pc);
    f->other_pc = pc;
    finding_text(check, &f->what, "%s of %u bytes in shared memory", access_words(access),
                 access->bytes * access->vec);
    if (other >= CHECK_WARPS) {
        finding_text(check, &f->detail,
                     "%s by another block of the cluster at line %d, with no barrier between", did,
                     line);
    } else if (other < cta->warp_count && !(record & SEVERAL)) {
        fault_thread(tid, cta->warps[other], record & 31);
        finding_text(check, &f->detail,
                     "%s by thread (%u,%u,%u) of warp %u at line %d, with no barrier between", did,
                     tid[0], tid[1], tid[2], other, line);
    } else {
        finding_text(check, &f->detail,
                     "%s by threads of warp %u at line %d, with no barrier between", did, other,
                     line);
    }
}

/* Two lanes of one instruction on a granule: `several`, where it was this warp's just now. */
static inline uint32_t merge(uint32_t before, uint32_t mine)
{
    uint32_t same = (before ^ mine) >> WARP_SHIFT; /* time and warp */
    return same == 0 && before != mine ? mine | SEVERAL : mine;
}

/* Everything up to this record is ordered for the warp. */
static uint32_t ordered_limit(const struct watched_cta *cta, uint32_t warp)
{
    uint32_t floor = cta->floor[warp];
    return floor > TIME_MAX ? UINT32_MAX : (floor << TIME_SHIFT) | ((1u << TIME_SHIFT) - 1);
}

void shared_note_read(const struct watched_cta *cta, uint32_t granule, uint32_t mine,
                      uint32_t limit, uint32_t pc)
{
    uint32_t *read = &cta->reads[granule], *more = &cta->more_reads[granule];
    bool same = (*read ^ mine) >> WARP_SHIFT == 0;
    if (same || *read <= limit || warp_of(*read) == warp_of(mine)) {
        *read = merge(*read, mine);
        cta->read_pcs[granule] = pc;
    } else if (*more <= limit || warp_of(*more) == warp_of(mine)) {
        *more = merge(*more, mine);
    }
}

/*
 * A place that is read before anybody has written it was either forgotten, or is written too late,
 * by somebody who did not wait: then the race is the fault, and says so when it is found. Until the
 * block ends each such place counts for the report that it gave.
 */
void shared_unwritten(struct watched_cta *cta, struct exec_warp *warp,
                      const struct exec_access *access, uint32_t lane, uint32_t first,
                      uint32_t count)
{
    struct check *check = cta->launch->check;
    uint32_t fresh = 0;
    for (uint32_t i = first; i < first + count; i++)
        if (!shared_is_written(cta, i) && !cta->early[i]) {
            cta->early[i] = 1;
            fresh++;
        }
    if (!fresh)
        return; /* told by another instruction */
    cta->any_early = true;
    report_uninitialised(cta, warp, access, lane, "shared");
    finding_early(check, warp->state->program, access->pc, fresh);
    for (uint32_t i = first; i < first + count; i++)
        if (cta->early[i] && !cta->early_pcs[i])
            cta->early_pcs[i] = access->pc + 1;
}

void shared_came_late(struct watched_cta *cta, const struct exec_program *program, uint32_t first,
                      uint32_t count)
{
    for (uint32_t i = first; cta->any_early && i < first + count; i++)
        if (cta->early[i]) {
            finding_early_over(cta->launch->check, program, cta->early_pcs[i] - 1);
            cta->early[i] = 0;
            cta->early_pcs[i] = 0;
        }
}

/* One lane on one granule; the record it conflicts with, or 0. */
static uint32_t lane_on(struct watched_cta *cta, uint32_t granule, uint32_t mine, uint32_t kind,
                        const char **did, uint32_t *pc)
{
    uint32_t now = *pc;
    uint32_t warp = warp_of(mine), lane = mine & 31, bad = 0;
    if (!is_before(cta, cta->writes[granule], warp, lane)) {
        bad = cta->writes[granule];
        *did = "written";
        *pc = cta->write_pcs[granule];
    } else if (kind != ACCESS_ATOMIC && !is_before(cta, cta->atomics[granule], warp, lane)) {
        bad = cta->atomics[granule];
        *did = "changed atomically";
        *pc = cta->write_pcs[granule];
    } else if (kind != ACCESS_LOAD) {
        uint32_t read = cta->reads[granule], more = cta->more_reads[granule];
        if (!is_before(cta, read, warp, lane))
            bad = read;
        else if (!is_before(cta, more, warp, lane))
            bad = more;
        *did = "read";
        *pc = bad ? cta->read_pcs[granule] : now;
    }
    if (kind == ACCESS_LOAD)
        shared_note_read(cta, granule, mine, ordered_limit(cta, warp), now);
    else
        cta->write_pcs[granule] = now;
    if (kind == ACCESS_LOAD)
        return bad;
    if (kind == ACCESS_STORE)
        cta->writes[granule] = mine;
    else
        cta->atomics[granule] = merge(cta->atomics[granule], mine);
    return bad;
}

static struct calm calm_begin(const struct watched_cta *cta, const struct exec_access *access,
                              uint32_t mine)
{
    bool lockstep = cta->launch->check->lockstep;
    return (struct calm){.limit = ordered_limit(cta, warp_of(mine)),
                         .me = mine,
                         .own = lockstep ? 63u << WARP_SHIFT : (1u << TIME_SHIFT) - 1,
                         .shift = cta->launch->shift,
                         .each = (uint32_t)access->bytes * access->vec >> cta->launch->shift};
}

/* The lanes of a mask and their granules, one a lane. False: they do not ascend. */
static bool list_lanes(struct row_list *r, const struct exec_access *access, uint32_t mask,
                       const struct calm *c)
{
    uint32_t back = 0;
    if (mask == UINT32_MAX) {
        r->count = WARP_LANES;
        for (uint32_t i = 0; i < WARP_LANES; i++) {
            r->granule[i] = (uint32_t)(access->address[i] >> c->shift);
            r->record[i] = c->me | i;
        }
        for (uint32_t i = 1; i < WARP_LANES; i++)
            back |= r->granule[i] <= r->granule[i - 1];
        return !back;
    }
    r->count = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), i = r->count++;
        r->granule[i] = (uint32_t)(access->address[lane] >> c->shift);
        r->record[i] = c->me | lane;
        back |= i > 0 && r->granule[i] <= r->granule[i - 1];
    }
    return !back;
}

/* Who reads what: lanes that read one place one after the other are one. */
static void readers_find(struct row_list *r, const struct exec_access *access, uint32_t mask,
                         const struct calm *c)
{
    uint64_t last = UINT64_MAX;
    uint32_t me = c->me;
    r->count = 0;
    if (mask == UINT32_MAX && memcmp(access->address, access->address + WARP_LANES / 2,
                                     sizeof access->address / 2) == 0) {
        mask = UINT16_MAX; /* both halves read the same */
        me |= SEVERAL;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (r->count > 0 && access->address[lane] == last) {
            r->record[r->count - 1] |= SEVERAL;
            continue;
        }
        last = access->address[lane];
        r->granule[r->count] = (uint32_t)(last >> c->shift);
        r->record[r->count++] = me | lane;
    }
}

/* Lanes of a half that all read one place, as rows of a tile are read. */
static bool is_half_alike(const struct exec_access *access, uint32_t first)
{
    return memcmp(access->address + first, access->address + first + 1,
                  (WARP_LANES / 2 - 1) * sizeof *access->address) == 0;
}

static void readers_of_halves(struct row_list *r, const struct exec_access *access,
                              const struct calm *c)
{
    r->count = 2;
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t lane = half * WARP_LANES / 2;
        r->granule[half] = (uint32_t)(access->address[lane] >> c->shift);
        r->record[half] = c->me | lane | SEVERAL;
    }
}

/* Written up to what is ordered, and not atomically since: nearly always. */
static inline uint32_t is_settled(const struct watched_cta *cta, const struct calm *c,
                                  uint32_t granule)
{
    return (cta->writes[granule] >= cta->begin) & (cta->writes[granule] <= c->limit) &
           (cta->atomics[granule] <= c->limit);
}

/* The same of what a load reads; of several lanes only some may have made the record. */
static inline uint32_t is_calm_for(const struct calm *c, uint32_t record, uint32_t reader)
{
    return (record <= c->limit) |
           ((((record ^ reader) & c->own) == 0) & ((reader & c->own & SEVERAL) == 0));
}

/* Whether both halves read the same granules, one behind the other, as columns of a tile are read.
 */
static bool halves_in_a_row(const struct exec_access *access, const struct calm *c)
{
    uint64_t apart = 0, first = access->address[0];
    if (access->address[1] - first != UINT64_C(1) << c->shift)
        return false;
    for (uint32_t i = 0; i < WARP_LANES / 2; i++)
        apart |= (access->address[i] - first) ^ ((uint64_t)i << c->shift);
    return c->each == 1 && apart == 0 &&
           memcmp(access->address, access->address + WARP_LANES / 2, sizeof access->address / 2) ==
               0;
}

/* Single granules of more than three lanes: fewer are faster one by one. */
static bool is_worth_listing(uint32_t mask, const struct calm *c)
{
    mask &= mask - 1;
    mask &= mask - 1;
    return c->each == 1 && (mask & (mask - 1)) != 0;
}

/* Loads of any granules. */
static bool load_any(struct watched_cta *cta, const struct exec_access *access, uint32_t mask,
                     const struct calm *c)
{
    struct row_list r;
    uint32_t good = 1;
    const struct row_table *rows = cta->launch->check->rows;
    uint32_t first = (uint32_t)(access->address[0] >> c->shift);
    if (access->contiguous && c->each == 1 &&
        rows->load_settled(cta, first, WARP_LANES, 0, c, access->pc))
        return true;
    if (mask == UINT32_MAX && halves_in_a_row(access, c) &&
        rows->load_settled(cta, first, WARP_LANES / 2, SEVERAL, c, access->pc))
        return true;
    bool may_ascend = mask != UINT32_MAX || access->address[1] > access->address[0];
    if (mask == UINT32_MAX && is_half_alike(access, 0) && is_half_alike(access, WARP_LANES / 2) &&
        access->address[0] != access->address[WARP_LANES - 1])
        readers_of_halves(&r, access, c);
    else if (may_ascend && is_worth_listing(mask, c) && list_lanes(&r, access, mask, c) &&
             rows->load_listed(cta, &r, c, access->pc))
        return true;
    else
        readers_find(&r, access, mask, c);
    for (uint32_t k = 0; k < r.count; k++)
        for (uint32_t i = r.granule[k], end = i + c->each; i < end; i++)
            if (!is_settled(cta, c, i))
                good &= is_calm_for(c, cta->writes[i], r.record[k]) &
                        is_calm_for(c, cta->atomics[i], r.record[k]) & shared_is_written(cta, i);
    for (uint32_t k = 0; good && k < r.count; k++)
        for (uint32_t i = r.granule[k], end = i + c->each; i < end; i++)
            shared_note_read(cta, i, r.record[k], c->limit, access->pc);
    return good;
}

static bool store_any(struct watched_cta *cta, const struct exec_access *access, uint32_t mask,
                      const struct calm *c)
{
    struct row_list list;
    uint32_t good = 1;
    if (is_worth_listing(mask, c)) {
        list_lanes(&list, access, mask, c);
        return cta->launch->check->rows->store_listed(cta, &list, c, access->pc);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint32_t first = (uint32_t)(access->address[lane] >> c->shift);
        for (uint32_t i = first; i < first + c->each; i++)
            good &= is_calm(c, cta->writes[i], lane) & is_calm(c, cta->atomics[i], lane) &
                    is_calm(c, cta->reads[i], lane) & is_calm(c, cta->more_reads[i], lane);
    }
    for (uint32_t rest = good ? mask : 0; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint32_t first = (uint32_t)(access->address[lane] >> c->shift);
        for (uint32_t i = first; i < first + c->each; i++) {
            cta->writes[i] = c->me | lane;
            cta->write_pcs[i] = access->pc;
        }
    }
    return good;
}

/* The usual cases; false: to be looked at lane by lane. */
static bool all_calm(struct watched_cta *cta, const struct exec_access *access, uint32_t mask,
                     uint32_t mine)
{
    struct calm c = calm_begin(cta, access, mine);
    const struct row_table *rows = cta->launch->check->rows;
    uint32_t first = (uint32_t)(access->address[0] >> c.shift);
    if (access->kind == ACCESS_LOAD)
        return (access->contiguous && rows->load(cta, first, &c, access->pc)) ||
               load_any(cta, access, mask, &c);
    return access->contiguous ? rows->store(cta, first, &c, access->pc)
                              : store_any(cta, access, mask, &c);
}

static bool writes_same(const struct exec_access *access, const struct exec_cta *cta, uint32_t lane)
{
    return access->kind == ACCESS_STORE &&
           memcmp(cta->shared + access->address[lane], access->data[lane],
                  (size_t)access->bytes * access->vec) == 0;
}

/* Two lanes of one store with different values on one place: which stays is not defined. */
static bool lanes_clash(const struct exec_access *access, uint32_t mask, uint32_t *lane)
{
    uint64_t bytes = (uint64_t)access->bytes * access->vec;
    uint32_t alike = mask != UINT32_MAX;
    for (uint32_t i = 1; i < WARP_LANES; i++)
        alike |= access->address[i] == access->address[i - 1];
    if (access->contiguous || !alike)
        return false;
    for (uint32_t rest = mask & (mask - 1), last = lowest_lane(mask); rest; rest &= rest - 1) {
        uint32_t i = lowest_lane(rest);
        if (access->address[i] == access->address[last] &&
            memcmp(access->data[i], access->data[last], bytes) != 0) {
            *lane = i;
            return true;
        }
        last = i;
    }
    return false;
}

static void check_written_lanes(struct watched_cta *cta, struct exec_warp *warp,
                                const struct exec_access *access, uint32_t mask)
{
    uint32_t shift = cta->launch->shift, each = (uint32_t)access->bytes * access->vec >> shift;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), good = 1;
        uint32_t first = (uint32_t)(access->address[lane] >> shift);
        for (uint32_t i = first; i < first + each; i++)
            good &= shared_is_written(cta, i);
        if (!good)
            shared_unwritten(cta, warp, access, lane, first, each);
    }
}

static void check_races(struct watched_cta *cta, struct exec_warp *warp,
                        const struct exec_access *access, uint32_t mask, bool strong)
{
    uint32_t index = warp->env->warpid, shift = cta->launch->shift;
    uint64_t bytes = (uint64_t)access->bytes * access->vec;
    if (cta->time >= TIME_MAX)
        restart(cta);
    uint32_t mine = cta->time << TIME_SHIFT | index << WARP_SHIFT, lane;
    if (access->kind == ACCESS_STORE && !strong && lanes_clash(access, mask, &lane))
        shared_race(cta, warp, access, lane, mine | SEVERAL, "written in the same instruction",
                    access->pc);
    if (!strong && access->kind <= ACCESS_STORE && all_calm(cta, access, mask, mine))
        return;
    if (access->kind != ACCESS_STORE)
        check_written_lanes(cta, warp, access, mask);
    if (access->kind == ACCESS_LOAD && strong)
        return;
    uint32_t kind = strong ? ACCESS_ATOMIC : access->kind, done = 0;
    uint64_t last = UINT64_MAX;
    bool several = false;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        lane = lowest_lane(rest);
        if (access->address[lane] == last && several && kind == ACCESS_LOAD)
            continue;
        several = access->address[lane] == last;
        last = access->address[lane];
        const char *did = "";
        uint32_t bad = 0, first = (uint32_t)(last >> shift), pc = access->pc;
        for (uint32_t i = 0; i < bytes >> shift; i++) {
            uint32_t found = lane_on(cta, first + i, mine | lane, kind, &did, &pc);
            bad = found ? found : bad;
        }
        /* Those of this very instruction have been looked at, and the same value harms nobody. */
        uint32_t from = bad & 31;
        bool own = kind == ACCESS_STORE && (bad ^ mine) >> WARP_SHIFT == 0 && did[0] == 'w' &&
                   done >> from & 1 && access->address[from] == last;
        done |= 1u << lane;
        if (bad && !own && !writes_same(access, cta->cta, lane)) {
            shared_race(cta, warp, access, lane, bad, did, pc);
            shared_came_late(cta, warp->state->program, first, (uint32_t)(bytes >> shift));
        }
    }
}

/* What an instruction does to a lane's bytes beside the usual accesses: by granules, one by one. */
static void lane_moves(struct watched_cta *cta, struct exec_warp *warp,
                       const struct exec_access *access, uint32_t lane, uint32_t mine)
{
    uint32_t end, first = shared_granules(cta, access->address[lane],
                                          (uint64_t)access->bytes * access->vec, &end);
    uint32_t bad = 0, pc = access->pc, unwritten = 0;
    const char *did = "";
    for (uint32_t i = first; i < end; i++) {
        unwritten |= access->kind == ACCESS_LOAD && !shared_is_written(cta, i);
        uint32_t found = lane_on(cta, i, mine, access->kind, &did, &pc);
        bad = found ? found : bad;
    }
    if (unwritten && first < end)
        shared_unwritten(cta, warp, access, lane, first, end - first);
    if (!bad)
        return;
    shared_race(cta, warp, access, lane, bad, did, pc);
    shared_came_late(cta, warp->state->program, first, end - first);
}

void shared_moves(struct watched_cta *cta, struct exec_warp *warp, const struct exec_access *access,
                  uint32_t mask, bool together)
{
    uint32_t index = warp->env->warpid;
    if (!cta->launch->shared_checked)
        return;
    if (together)
        order_lanes(cta, index);
    if (cta->time + 2 >= TIME_MAX)
        restart(cta);
    uint32_t mine = cta->time << TIME_SHIFT | index << WARP_SHIFT | (together ? SEVERAL : 0);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        lane_moves(cta, warp, access, lowest_lane(rest), mine | lowest_lane(rest));
    if (together)
        order_lanes(cta, index);
}

void shared_access(struct watched_cta *cta, struct exec_warp *warp,
                   const struct exec_access *access, uint32_t mask)
{
    const uint8_t flags = cta->launch->flags[access->pc];
    bool strong = flags & INSN_STRONG || access->kind > ACCESS_STORE;
    uint32_t index = warp->env->warpid;
    if (!cta->launch->shared_checked)
        return;
    for (uint32_t rest = strong && access->kind != ACCESS_STORE ? mask : 0; rest; rest &= rest - 1)
        order_acquire(cta, index, ORDER_SHARED | access->address[lowest_lane(rest)]);
    check_races(cta, warp, access, mask, strong);
    bool releases =
        strong && access->kind != ACCESS_LOAD && (cta->fenced[index] || flags & INSN_RELEASE);
    for (uint32_t rest = releases ? mask : 0; rest; rest &= rest - 1)
        order_release(cta, index, ORDER_SHARED | access->address[lowest_lane(rest)]);
}

/* ---- local memory: for each byte the lanes that have written it ---- */

static bool local_room(struct watched_cta *cta, uint32_t warp, uint32_t bytes)
{
    uint32_t had = cta->local_bytes[warp];
    if (bytes <= had)
        return true;
    uint32_t *grown = realloc(cta->local[warp], (size_t)bytes * 4);
    if (!grown)
        return false;
    memset(grown + had, 0, (size_t)(bytes - had) * 4);
    cta->local[warp] = grown;
    cta->local_bytes[warp] = bytes;
    return true;
}

void local_touched(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                   uint64_t offset, uint64_t bytes)
{
    uint32_t index = warp->env->warpid;
    if (!local_room(cta, index, warp->state->local_bytes))
        return;
    for (uint64_t i = offset; i < offset + bytes && i < cta->local_bytes[index]; i++)
        cta->local[index][i] |= 1u << lane;
}

void local_access(struct watched_cta *cta, struct exec_warp *warp, const struct exec_access *access,
                  uint32_t mask)
{
    uint32_t index = warp->env->warpid, bytes = (uint32_t)access->bytes * access->vec;
    if (!cta->launch->local_checked || !local_room(cta, index, warp->state->local_bytes))
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), bit = 1u << lane, all = bit;
        uint32_t *at = cta->local[index] + access->address[lane];
        for (uint32_t i = 0; i < bytes; i++) {
            all &= at[i];
            at[i] |= access->kind == ACCESS_STORE ? bit : 0;
        }
        if (access->kind == ACCESS_LOAD && !all)
            report_uninitialised(cta, warp, access, lane, "local");
    }
}
