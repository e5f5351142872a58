/*
 * How a passage is learned (rote.h): the issue stage does what it would do anyway, and what has
 * changed after each cycle is held against a picture from before. So nothing here knows the rules
 * by which instructions issue, but which may be repeated at all: those that exec/run/row.h
 * executes, while nothing but the warp and its units has to do with them.
 */
#include <stdlib.h>
#include <string.h>

#include "core/issue/rote.h"

#define NO_SCHEDULER UINT32_MAX

enum { STATS_WORDS = sizeof(struct sm_stats) / sizeof(uint64_t), BESIDE_MOST = 8 };

/* What a change is told against. */
struct picture {
    uint64_t cycle, ahead, warp_insns, scheduler_next;
    uint64_t unit[ISA_UNIT_COUNT], place[ROTE_PLACES_MAX];
    uint64_t stats[STATS_WORDS];
};

/* A change before it is kept. */
struct change_room {
    struct rote_change change;
    struct rote_result result[ROTE_PLACES_MAX];
    struct rote_unit unit[ISA_UNIT_COUNT];
    struct rote_count count[STATS_WORDS];
};

struct rote_learner {
    struct sm *sm;
    struct sm_warp *warp;
    struct rote_book *book;
    struct rote_passage *passage; /* that is learned now */
    uint64_t opened;              /* of the book: another may be, in the midst of it */
    uint64_t next;                /* what issue_now() has returned */
    uint32_t first_scheduler;     /* before anybody watched */
    struct picture start;         /* the passage's */
    struct rote_state state;      /* before its last step */
    uint32_t count, step_count;   /* items so far; of the last step */
    uint32_t stop_count;
    struct exec_row_item item[ROTE_ITEMS];
    struct rote_stop stop[ROTE_ITEMS];
    struct change_room since, whole; /* since `start`: before its last step, and behind it */
};

static struct rote_passage *passage_make(struct rote_book *book, const struct sm_warp *warp)
{
    struct rote_passage *passage =
        book->passages < ROTE_PASSAGES ? arena_alloc(book->arena, sizeof *passage) : NULL;
    if (passage) {
        book->passage[book->passages++] = passage;
        passage->pc = warp->exec.pc;
        passage->lanes = bit_count(warp->exec.active);
    }
    return passage;
}

void rote_enter(struct sm *sm, struct rote_passage **entry, const struct sm_warp *warp)
{
    static const struct rote_state nothing_left;
    struct rote_passage *passage = *entry;
    if (!passage || (!passage->learned && passage->is_linked)) {
        passage = passage_make(sm->rote->open, warp);
        *entry = passage ? passage : *entry;
    } else if (!passage->learned) {
        passage->pc = warp->exec.pc;
        passage->lanes = bit_count(warp->exec.active);
        passage->attempts = 0;
    }
    if (passage) {
        passage->state = &nothing_left;
    }
}

/* ---- states ---- */

static uint64_t rest(uint64_t until, uint64_t now)
{
    return until > now ? until - now : 0;
}

/* What is left to wait for. False: for too long, or nobody knows. */
static bool state_of(struct rote_state *state, const struct rote_learner *learner)
{
    const struct sm *sm = learner->sm;
    const struct sm_warp *warp = learner->warp;
    uint64_t now = sm->cycle, longest = 0;
    memset(state, 0, sizeof *state);
    for (uint32_t i = 0; i < learner->book->slots; i++) {
        uint64_t left = rest(warp->slot_ready[i], now);
        longest = left > longest ? left : longest;
        state->place[i] = (uint32_t)left;
    }
    for (uint32_t i = 0; i < ISA_UNIT_COUNT; i++) {
        const struct sm_unit *unit = &sm->unit[warp->units[i]];
        state->unit[i] = rest(unit->busy_lanes, now * unit->lanes_per_cycle);
    }
    state->next_issue = (uint32_t)rest(warp->next_issue, now);
    state->scheduler = (uint32_t)rest(sm->scheduler[warp->scheduler].next_cycle, now);
    state->shared = (uint32_t)rest(sm->shared_free[warp->scheduler], now);
    state->part = warp->part;
    state->held = warp->held;
    return longest <= UINT32_MAX;
}

/* Of all registers, also those that no passage has named so far: what is left at the passage's
 * start, or, where it has been learned, at its branch. */
static bool is_as_expected(const struct rote_learner *learner)
{
    const struct rote_passage *passage = learner->passage;
    struct rote_state state;
    return state_of(&state, learner) &&
           memcmp(&state, passage->learned ? passage->at_branch : passage->state, sizeof state) ==
               0;
}

/* The passage that begins here, with this left to wait for. NULL: there is no room for it. */
static struct rote_passage *passage_here(const struct rote_learner *learner)
{
    struct rote_book *book = learner->book;
    struct rote_state state;
    if (!state_of(&state, learner)) {
        return NULL;
    }
    for (uint32_t i = 0; i < book->passages; i++) {
        struct rote_passage *passage = book->passage[i];
        if (passage->pc == learner->warp->exec.pc &&
            passage->lanes == bit_count(learner->warp->exec.active) &&
            memcmp(passage->state, &state, sizeof state) == 0) {
            return passage;
        }
    }
    struct rote_state *kept = arena_alloc(book->arena, sizeof *kept);
    struct rote_passage *passage = kept ? passage_make(book, learner->warp) : NULL;
    if (passage) {
        *kept = state;
        passage->state = kept;
    }
    return passage;
}

/* ---- changes ---- */

static void take_picture(struct picture *picture, const struct rote_learner *learner)
{
    const struct sm *sm = learner->sm;
    const struct sm_warp *warp = learner->warp;
    picture->cycle = sm->cycle;
    picture->ahead = sm->ahead;
    picture->warp_insns = warp->cta->counts.warp_insns;
    picture->scheduler_next = sm->scheduler[warp->scheduler].next_cycle;
    for (uint32_t i = 0; i < ISA_UNIT_COUNT; i++) {
        picture->unit[i] = sm->unit[warp->units[i]].busy_lanes;
    }
    for (uint32_t i = 0; i < learner->book->slots; i++) {
        picture->place[i] = warp->slot_ready[i];
    }
    memcpy(picture->stats, &sm->stats, sizeof sm->stats);
}

/* What a passage's first issue counts as waiting belongs to no change: it is told when it is
 * repeated. */
static void leave_out_waited(struct picture *picture, const struct sm *sm)
{
    size_t word = offsetof(struct sm_stats, wait_cycles) / sizeof(uint64_t) + sm->wait;
    picture->stats[word] += sm->cycle - sm->issued_cycle - 1;
}

static void changed_results(struct rote_change *change, const struct picture *before,
                            const struct sm_warp *warp, uint32_t slots)
{
    for (uint32_t i = 0; i < slots; i++) {
        if (warp->slot_ready[i] != before->place[i]) {
            change->result[change->result_count++] =
                (struct rote_result){i, (uint32_t)(warp->slot_ready[i] - before->cycle)};
        }
    }
}

static void changed_units(struct rote_change *change, const struct picture *before,
                          const struct sm *sm, const struct sm_warp *warp)
{
    for (uint32_t i = 0; i < ISA_UNIT_COUNT; i++) {
        const struct sm_unit *unit = &sm->unit[warp->units[i]];
        if (unit->busy_lanes != before->unit[i]) {
            change->unit[change->unit_count++] =
                (struct rote_unit){i, unit->busy_lanes - before->cycle * unit->lanes_per_cycle};
        }
    }
}

static void changed_counts(struct rote_change *change, const struct picture *before,
                           const struct sm *sm)
{
    const uint64_t *now = (const uint64_t *)&sm->stats;
    for (uint32_t i = 0; i < STATS_WORDS; i++) {
        if (now[i] != before->stats[i]) {
            change->count[change->count_count++] =
                (struct rote_count){i, (uint32_t)(now[i] - before->stats[i])};
        }
    }
}

/* From the picture to now, the beginning of a step. */
static void change_since(struct change_room *room, const struct rote_learner *learner,
                         const struct picture *before)
{
    const struct sm *sm = learner->sm;
    const struct sm_warp *warp = learner->warp;
    uint64_t scheduler_next = sm->scheduler[warp->scheduler].next_cycle;
    room->change = (struct rote_change){
        .cycle = (uint32_t)(sm->cycle - before->cycle),
        .steps = (uint32_t)(before->ahead - sm->ahead),
        .issued = (uint32_t)(sm->issued_cycle - before->cycle),
        .next_issue = (uint32_t)(warp->next_issue - before->cycle),
        .scheduler_next = (uint32_t)(scheduler_next - before->cycle),
        .scheduler_issued = scheduler_next != before->scheduler_next,
        .warp_insns = (uint32_t)(warp->cta->counts.warp_insns - before->warp_insns),
        .latest_result = (uint32_t)rest(warp->latest_result, before->cycle),
        .part = warp->part,
        .held = warp->held,
        .first_scheduler = sm->first_scheduler == warp->scheduler,
        .wait = sm->wait,
        .result = room->result,
        .unit = room->unit,
        .count = room->count};
    changed_results(&room->change, before, warp, learner->book->slots);
    changed_units(&room->change, before, sm, warp);
    changed_counts(&room->change, before, sm);
}

static void *keep(struct arena *arena, const void *array, uint32_t count, size_t bytes)
{
    void *kept = arena_array(arena, count, bytes);
    return kept && count > 0 ? memcpy(kept, array, count * bytes) : kept;
}

/* Into the book. False: memory is out. */
static bool keep_change(struct rote_change *kept, const struct rote_learner *learner,
                        const struct rote_change *change)
{
    struct arena *arena = learner->book->arena;
    *kept = *change;
    kept->result = keep(arena, change->result, change->result_count, sizeof *change->result);
    kept->unit = keep(arena, change->unit, change->unit_count, sizeof *change->unit);
    kept->count = keep(arena, change->count, change->count_count, sizeof *change->count);
    return kept->result && kept->unit && kept->count;
}

/* The picture at the passage's start, of one that has been repeated up to here. */
static void take_picture_back(struct picture *picture, const struct rote_learner *learner)
{
    const struct rote_change *whole = &learner->passage->whole;
    take_picture(picture, learner);
    picture->cycle -= whole->cycle;
    picture->ahead += whole->steps;
    picture->warp_insns -= whole->warp_insns;
    picture->scheduler_next = whole->scheduler_issued ? CYCLE_NEVER : picture->scheduler_next;
    for (uint32_t i = 0; i < whole->result_count; i++) {
        picture->place[whole->result[i].place] = CYCLE_NEVER;
    }
    for (uint32_t i = 0; i < whole->unit_count; i++) {
        picture->unit[whole->unit[i].unit] = UINT64_MAX;
    }
    for (uint32_t i = 0; i < whole->count_count; i++) {
        picture->stats[whole->count[i].word] -= whole->count[i].more;
    }
}

/* ---- steps ---- */

static enum exec_row_kind kind_at(const struct rote_learner *learner, uint32_t pc)
{
    const struct exec_uop_info *info = &learner->warp->program[pc];
    if (info->is_async || info->reach != REACH_NOBODY || info->product_steps > 0 ||
        info->is_outward || info->lowered.apart) {
        return ROW_NO;
    }
    return exec_row_kind(learner->warp->cta->grid->launch->program, pc);
}

static void book_note_unit(struct rote_book *book, uint32_t unit)
{
    for (uint32_t i = 0; i < book->unit_count; i++) {
        if (book->unit[i] == unit) {
            return;
        }
    }
    book->unit[book->unit_count++] = (uint8_t)unit;
}

/* What an instruction asks for, for those who enter a passage of the book. */
static void book_note(struct rote_book *book, const struct exec_uop_info *info)
{
    book_note_unit(book, info->unit);
    book_note_unit(book, info->issue_unit);
    for (uint32_t i = 0; i < info->lowered.part_count; i++) {
        book_note_unit(book, info->lowered.part[i].unit);
    }
}

static bool writes(const struct exec_uop_info *info, uint32_t place)
{
    for (uint32_t i = info->place_count - info->result_count; i < info->place_count; i++) {
        if (info->place[i] == place) {
            return true;
        }
    }
    return false;
}

static bool writes_guard_of(const struct exec_uop_info *writer, const struct exec_uop_info *branch)
{
    for (uint32_t k = 0; k < branch->place_count; k++) {
        if (writes(writer, branch->place[k])) {
            return true;
        }
    }
    return false;
}

/* Whether the instructions from `pc` on, which have issued in one cycle, may be repeated. */
static bool may_repeat(const struct rote_learner *learner, uint32_t pc, uint32_t count)
{
    const struct exec_uop_info *last = &learner->warp->program[pc + count - 1];
    bool branches = kind_at(learner, pc + count - 1) == ROW_BRANCH;
    for (uint32_t i = 0; i < count; i++) {
        enum exec_row_kind kind = kind_at(learner, pc + i);
        if (kind == ROW_NO || kind == ROW_LOAD || (kind == ROW_BRANCH && i + 1 < count) ||
            (kind == ROW_SHARED && (i > 0 || learner->passage->lanes != 1)) ||
            (branches && i + 1 < count && writes_guard_of(&learner->warp->program[pc + i], last))) {
            return false;
        }
    }
    return true;
}

/* Nothing but the warp is ready or due, and it waits for no access. */
static bool is_alone(const struct sm *sm, const struct sm_warp *warp)
{
    uint64_t self = 1ull << warp->slot, due = 0;
    for (uint32_t i = 0; i < WHEEL_CYCLES; i++) {
        due |= sm->wheel[i];
    }
    return !sm->aborted && warp->state == WARP_RUNNING && !warp->blocked &&
           warp->outstanding == 0 && (sm->ready | due) == self;
}

/* OTHER: what has issued is not to be repeated. GONE: nor is there a book for what was seen. */
enum step { STEP_STRAIGHT, STEP_BRANCH, STEP_OTHER, STEP_GONE };

/* The first instruction from `pc` on that is not in a row with the one before; not far. */
static uint32_t straight_end(const struct rote_learner *learner, uint32_t pc)
{
    uint32_t end = pc;
    while (end < pc + BESIDE_MOST) {
        enum exec_row_kind kind = kind_at(learner, end);
        if (kind == ROW_NO || kind == ROW_BRANCH || kind == ROW_LOAD) {
            break;
        }
        end++;
    }
    return end;
}

static void note_items(struct rote_learner *learner, uint32_t pc, uint64_t cycle)
{
    for (uint32_t i = 0; i < learner->step_count; i++) {
        learner->item[learner->count + i] = (struct exec_row_item){
            (uint8_t)kind_at(learner, pc + i), (uint32_t)(cycle - learner->start.cycle)};
        book_note(learner->book, &learner->warp->program[pc + i]);
    }
}

/* One cycle. *goes: of a branch. */
static enum step issue_step(struct rote_learner *learner, enum exec_row_way *goes)
{
    struct sm *sm = learner->sm;
    struct sm_warp *warp = learner->warp;
    const uint32_t pc = warp->exec.pc, active = warp->exec.active, end = straight_end(learner, pc);
    const uint64_t insns = warp->cta->counts.warp_insns, cycle = sm->cycle;
    *goes = kind_at(learner, end) == ROW_BRANCH ? exec_row_way(&warp->exec, end) : ROW_SPLIT;
    learner->next = issue_now(sm);
    if (learner->opened != sm->rote->opened) {
        return STEP_GONE;
    }
    const uint32_t count = (uint32_t)(warp->cta->counts.warp_insns - insns);
    learner->step_count = count;
    if (!is_alone(sm, warp)) {
        return STEP_OTHER;
    }
    if (count > BESIDE_MOST || learner->count + count > ROTE_ITEMS || warp->exec.active != active ||
        (count > 0 && !may_repeat(learner, pc, count))) {
        return STEP_OTHER;
    }
    note_items(learner, pc, cycle);
    if (count > 0 && kind_at(learner, pc + count - 1) == ROW_BRANCH) {
        bool as_seen = *goes != ROW_SPLIT && (*goes == ROW_TAKEN || warp->exec.pc == end + 1);
        return as_seen && warp->next_issue > cycle ? STEP_BRANCH : STEP_OTHER;
    }
    return warp->exec.pc == pc + count ? STEP_STRAIGHT : STEP_OTHER;
}

static bool is_ready(const struct rote_learner *learner)
{
    return learner->sm->ready == 1ull << learner->warp->slot;
}

/* ---- learning ---- */

/* Nobody is asked for the scheduler that comes first while one warp alone is ready: whether it is
 * set shows when it was nobody. */
static void watch_first_scheduler(struct rote_learner *learner)
{
    struct sm *sm = learner->sm;
    if (sm->first_scheduler != NO_SCHEDULER) {
        learner->first_scheduler = sm->first_scheduler;
    }
    sm->first_scheduler = NO_SCHEDULER;
}

static void watch_no_more(const struct rote_learner *learner)
{
    struct sm *sm = learner->sm;
    if (sm->first_scheduler == NO_SCHEDULER) {
        sm->first_scheduler = learner->first_scheduler;
    }
}

/* The straight part of a passage ends here, with `since`, before the step that issued last. */
static bool keep_straight(struct rote_learner *learner, uint32_t branch_count)
{
    struct rote_passage *passage = learner->passage;
    struct arena *arena = learner->book->arena;
    uint32_t items = learner->count + branch_count;
    passage->count = learner->count;
    passage->branch_count = branch_count;
    passage->stop_count = learner->stop_count;
    passage->item = keep(arena, learner->item, items, sizeof *learner->item);
    passage->stop = keep(arena, learner->stop, learner->stop_count, sizeof *learner->stop);
    passage->at_branch = keep(arena, &learner->state, branch_count > 0, sizeof learner->state);
    passage->learned = keep_change(&passage->whole, learner, &learner->since.change) &&
                       passage->item && passage->stop && passage->at_branch;
    passage->longest = passage->whole.cycle;
    passage->steps = passage->whole.steps;
    passage->is_short = items < ROTE_LEAST;
    passage->attempts = 0;
    return passage->learned;
}

/* Whether the step from `pc` on, which has issued, may be repeated up to a load, its last. */
static bool is_load_step(const struct rote_learner *learner, uint32_t pc)
{
    const struct sm_warp *warp = learner->warp;
    const uint32_t count = learner->step_count;
    return !learner->sm->aborted && warp->state == WARP_RUNNING && count > 0 &&
           count <= BESIDE_MOST && learner->count + count <= ROTE_ITEMS &&
           warp->exec.pc == pc + count && bit_count(warp->exec.active) == learner->passage->lanes &&
           kind_at(learner, pc + count - 1) == ROW_LOAD && kind_at(learner, pc) != ROW_SHARED &&
           straight_end(learner, pc) == pc + count - 1 &&
           (count == 1 || may_repeat(learner, pc, count - 1));
}

/* What becomes of a load is not repeated, but happens. */
static void leave_out_load(struct rote_change *change, const struct exec_uop_info *load)
{
    const uint32_t space = offsetof(struct sm_stats, space) / sizeof(uint64_t);
    const uint32_t lanes = offsetof(struct sm_stats, space_lanes) / sizeof(uint64_t);
    uint32_t counts = 0, results = 0;
    for (uint32_t i = 0; i < change->count_count; i++) {
        uint32_t word = change->count[i].word;
        bool accesses = word - space < SPACE_COUNT || word - lanes < SPACE_COUNT;
        if (!accesses || word == space + SPACE_SHARED || word == lanes + SPACE_SHARED) {
            change->count[counts++] = change->count[i];
        }
    }
    change->count_count = counts;
    change->latest_result = 0;
    for (uint32_t i = 0; i < change->result_count; i++) {
        struct rote_result result = change->result[i];
        if (!writes(load, result.place)) {
            change->result[results++] = result;
            change->latest_result =
                result.cycle > change->latest_result ? result.cycle : change->latest_result;
        }
    }
    change->result_count = results;
}

/* The step behind the passage has issued a load last. */
static void keep_load(struct rote_learner *learner, uint32_t pc)
{
    struct rote_passage *passage = learner->passage;
    const uint32_t count = learner->step_count;
    struct rote_change *change = &learner->whole.change;
    change_since(&learner->whole, learner, &learner->start);
    leave_out_load(change, &learner->warp->program[pc + count - 1]);
    note_items(learner, pc, learner->sm->cycle);
    passage->item =
        keep(learner->book->arena, learner->item, learner->count + count, sizeof *learner->item);
    passage->learned = passage->item && keep_change(&passage->load, learner, change);
    passage->load_count = passage->learned ? count : 0;
    passage->is_short = learner->count + count < ROTE_LEAST;
}

/* The branch has issued, behind what is learned; the next step begins. */
static void keep_way(struct rote_learner *learner, struct rote_way *way, uint32_t pc)
{
    struct rote_passage *passage = learner->passage;
    struct rote_change *whole = &learner->whole.change;
    change_since(&learner->whole, learner, &learner->start);
    whole->first_scheduler |= passage->whole.first_scheduler;
    way->pc = pc;
    way->next = passage_here(learner);
    if (way->next) {
        way->next->is_linked = true;
    }
    way->known = keep_change(&way->change, learner, whole);
    const struct rote_change *change = &way->change;
    passage->longest = change->cycle > passage->longest ? change->cycle : passage->longest;
    passage->steps = change->steps > passage->steps ? change->steps : passage->steps;
    learner->passage = way->next;
}

/* The branch's step has issued, of which a picture was taken before. */
static enum rote_end learn_way(struct rote_learner *learner, enum exec_row_way goes)
{
    struct rote_passage *passage = learner->passage;
    const uint32_t pc = learner->warp->exec.pc;
    learner->passage = NULL;
    if (!issue_goes_on(learner->sm, learner->next)) {
        return ROTE_STEP_OVER;
    }
    if (is_ready(learner) && passage->branch_count == learner->step_count) {
        learner->passage = passage;
        keep_way(learner, &passage->way[goes], pc);
    }
    return ROTE_AT_STEP;
}

/* False: memory is out. */
static bool add_stop(struct rote_learner *learner)
{
    struct rote_stop *stop = &learner->stop[learner->stop_count];
    stop->items = learner->count;
    learner->stop_count++;
    return keep_change(&stop->change, learner, &learner->since.change);
}

/* From the passage's start to its end, and a step further. */
static enum rote_end learn_straight(struct rote_learner *learner)
{
    struct sm *sm = learner->sm;
    watch_first_scheduler(learner);
    take_picture(&learner->start, learner);
    leave_out_waited(&learner->start, sm);
    learner->count = learner->stop_count = 0;
    for (;;) {
        const uint32_t pc = learner->warp->exec.pc;
        const bool shared = kind_at(learner, pc) == ROW_SHARED;
        enum exec_row_way goes;
        change_since(&learner->since, learner, &learner->start);
        state_of(&learner->state, learner);
        switch (issue_step(learner, &goes)) {
        case STEP_BRANCH:
            return keep_straight(learner, learner->step_count) ? learn_way(learner, goes)
                                                               : ROTE_STEP_OVER;
        case STEP_OTHER:
            if (keep_straight(learner, 0) && is_load_step(learner, pc)) {
                keep_load(learner, pc);
            }
            return ROTE_STEP_OVER;
        case STEP_GONE:
            return ROTE_STEP_OVER;
        case STEP_STRAIGHT:
            break;
        }
        if (shared && learner->count > 0 && learner->step_count > 0 && !add_stop(learner)) {
            return ROTE_STEP_OVER;
        }
        learner->count += learner->step_count;
        if (learner->count == 0 || !issue_goes_on(sm, learner->next)) {
            return ROTE_STEP_OVER;
        }
    }
}

/* From its branch, which goes another way than before. */
static enum rote_end learn_branch(struct rote_learner *learner)
{
    enum exec_row_way goes;
    watch_first_scheduler(learner);
    learner->count = learner->passage->count;
    take_picture_back(&learner->start, learner);
    if (learner->count == 0) {
        leave_out_waited(&learner->start, learner->sm);
    }
    return issue_step(learner, &goes) == STEP_BRANCH ? learn_way(learner, goes) : ROTE_STEP_OVER;
}

static bool learner_begin(struct sm *sm, struct rote_passage *passage)
{
    struct rote *rote = sm->rote;
    if (!rote->learner) {
        rote->learner = malloc(sizeof *rote->learner);
    }
    rote_tell(sm);
    if (rote->learner) {
        rote->learner->sm = sm;
        rote->learner->warp = &sm->warp[__builtin_ctzll(sm->ready)];
        rote->learner->book = rote->open;
        rote->learner->opened = rote->opened;
        rote->learner->passage = passage;
    }
    return rote->learner != NULL;
}

enum rote_end rote_learn(struct sm *sm, struct rote_passage *passage, uint64_t *next)
{
    enum rote_end end = ROTE_AT_STEP;
    /* What was repeated may have left the warp waiting. */
    if (sm->ready == 0 || passage->attempts == ROTE_ATTEMPTS || !learner_begin(sm, passage)) {
        return end;
    }
    struct rote_learner *learner = sm->rote->learner;
    do {
        passage = learner->passage;
        if (passage->attempts == ROTE_ATTEMPTS || !is_as_expected(learner)) {
            break;
        }
        passage->attempts++;
        end = passage->learned ? learn_branch(learner) : learn_straight(learner);
    } while (end == ROTE_AT_STEP && learner->passage && !learner->passage->learned);
    watch_no_more(learner);
    *next = learner->next;
    return end;
}
