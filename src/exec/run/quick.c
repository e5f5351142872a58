/*
 * What a launch without timing does most: instructions of one warp in a row, whose lanes stay
 * together and which nothing outside of the warp has to do with. Lane loops, comparisons, loads and
 * stores by the direct way, changes of registers, branches that all lanes take or none. The first
 * that is none of these, or that the direct way leaves alone, is left to flight.c.
 *
 * What stays as it is while the lanes do is looked up once for them all, and where they stop is one
 * place to compare with: the nearer of where other lanes are met and of the last instruction that
 * the caller wants. For an observer that counts, a row ends in front of what it watches, too, and
 * what it is told of is left to flight.c.
 */
#include "exec/memory/direct.h"
#include "exec/observe.h"
#include "exec/ops.h"
#include "exec/run/run.h"

/* Why a row ended: the next may go on where the warp is; the next look is at its lanes, which may
 * be others; the instruction is not for this file. */
enum next { NEXT_ROW, NEXT_LANES, NEXT_OTHER };

/* Uops one behind the other, from `first` up to `stop`. */
struct row {
    const struct uop *first, *stop;
    uint64_t left; /* instructions that the caller still wants, from `first` on */
    const struct exec_counts *counts; /* NULL: nobody counts */
    const uint8_t *watch;
};

static inline void row_begin(struct row *row, const struct exec_state *state, uint32_t pc)
{
    uint64_t length = state->program->length - pc, met = state->reconverge - pc;
    length = met < length ? met : length;
    if (row->counts && row->counts->straight[pc] < length)
        length = row->counts->straight[pc];
    row->first = &state->uops[pc];
    row->stop = row->first + (row->left < length ? row->left : length);
}

/* The uop behind the row's last that was executed. */
static inline void row_end(struct row *row, const struct exec_state *state, const struct uop *uop)
{
    ptrdiff_t from = row->first - state->uops;
    if (row->counts && uop > row->first && row->watch[from])
        row->counts->heads[from]++;
    row->left -= (uint64_t)(uop - row->first);
    row->first = uop;
}

static inline uint32_t pc_of(const struct exec_state *state, const struct uop *uop)
{
    return (uint32_t)(uop - state->uops);
}

/* Where operands lie: each base less what its references have above their offset. */
struct bases {
    uintptr_t from[BASE_COUNT];
};

static inline struct bases bases_of(const struct exec_state *state)
{
    struct bases bases;
    for (uintptr_t i = 0; i < BASE_COUNT; i++)
        bases.from[i] = (uintptr_t)state->base[i] - (i << REF_BASE_SHIFT);
    return bases;
}

static inline void *operand(const struct bases *bases, uint32_t ref)
{
    return (void *)(bases->from[ref >> REF_BASE_SHIFT] + ref);
}

/* A lane loop of so many sources; the others are not looked at. */
static inline void run_loop(const struct bases *bases, const struct uop *uop, uint32_t mask,
                            int sources)
{
    void *d = operand(bases, uop->dst), *a = operand(bases, uop->source[0]);
    void *b = sources > 1 ? operand(bases, uop->source[1]) : a;
    void *c = sources > 2 ? operand(bases, uop->source[2]) : a;
    void *e = sources > 3 ? operand(bases, uop->source[3]) : a;
    uop->lanes(d, a, b, c, e, mask);
}

static inline void compare(const struct exec_state *state, const struct bases *bases,
                           const struct uop *uop, uint32_t active)
{
    uint32_t lanes =
        uop->compare(operand(bases, uop->source[0]), operand(bases, uop->source[1]), active);
    pred_write(state, uop->pred_dst[0], lanes, active);
}

/* All active lanes go to the target, or none: the warp is there. */
static inline enum next branch(struct exec_warp *warp, const struct uop *uop, uint32_t mask)
{
    const struct exec_state *state = warp->state;
    uint32_t from = warp->pc;
    if (mask && mask != warp->active)
        return NEXT_OTHER;
    warp->pc = mask ? uop->target : from + 1;
    if (warp->pc == state->reconverge) {
        state->diverge_ops->arrive(warp);
        return NEXT_LANES;
    }
    if (warp->pc > from || !state->diverge_ops->back)
        return NEXT_ROW;
    state->diverge_ops->back(warp);
    return NEXT_LANES;
}

/* The lanes have come to the row's end, and the warp's pc does not know. */
static enum next stop_at(struct exec_warp *warp, const struct uop *uop)
{
    warp->pc = pc_of(warp->state, uop);
    if (warp->pc == warp->state->reconverge)
        warp->state->diverge_ops->arrive(warp);
    return NEXT_LANES;
}

/* Whether an observer that counts is told of this access. */
static inline bool is_told(const struct exec_counts *counts, const struct exec_state *state,
                           const struct uop *uop)
{
    enum isa_space space = uop->memory->space;
    if (space == SPACE_SHARED)
        return counts->shared_left[pc_of(state, uop)] == 0;
    return space != SPACE_PARAM && space != SPACE_CONST;
}

/* It was not, and is done. */
static inline void went_by(const struct exec_counts *counts, const struct exec_state *state,
                           const struct uop *uop)
{
    if (uop->memory->space == SPACE_SHARED)
        counts->shared_left[pc_of(state, uop)]--;
}

/* An access of device memory that the direct way takes is told; false: it is another. */
static inline bool tell_reach(const struct runner *r, struct exec_warp *warp, const struct uop *uop,
                              uint32_t mask)
{
    struct direct_reach reach;
    const struct uop_memory *memory = uop->memory;
    if (!r->observer->reaches || memory->space == SPACE_SHARED ||
        !r->reach(&reach, warp, memory, mask))
        return false;
    r->observer->reaches(warp, memory->kind == ACCESS_STORE, &reach);
    return true;
}

/* What moves the warp on by itself; false: it has not. */
static inline bool run_one(struct runner *r, struct exec_warp *warp, const struct uop *uop,
                           uint32_t mask, const struct exec_counts *counts)
{
    if (uop->quick == QUICK_NO)
        return false;
    if (uop->quick == QUICK_REGISTERS) {
        uop->run(warp, uop, mask, &r->access);
        return true;
    }
    if (counts && mask && is_told(counts, warp->state, uop) && !tell_reach(r, warp, uop, mask))
        return false;
    if (!r->direct(warp, uop, mask))
        return false;
    if (counts && mask)
        went_by(counts, warp->state, uop);
    return true;
}

/* A word of each of all lanes. */
static inline bool run_words(const struct runner *r, struct exec_warp *warp, const struct uop *uop,
                             uint32_t active, const struct exec_counts *counts)
{
    if (active != UINT32_MAX || (counts && is_told(counts, warp->state, uop)))
        return false;
    if (uop->quick == QUICK_SHARED) {
        bool done = r->ways.shared(warp, uop->memory);
        if (counts && done)
            went_by(counts, warp->state, uop);
        return done;
    }
    if (uop->quick == QUICK_PARAMETER)
        return r->ways.parameter(warp, uop->memory);
    warp->pc = pc_of(warp->state, uop);
    return r->ways.device(warp, uop->memory);
}

/* Until the lanes may become others, or an instruction comes that is not for this file. Twice: with
 * row->counts, which then is no NULL, and without. */
__attribute__((always_inline)) static inline enum next
run_rows(struct runner *r, struct exec_warp *warp, struct row *row)
{
    const struct exec_state *state = warp->state;
    const struct bases bases = bases_of(state);
    const uint32_t active = warp->active;
    const struct uop *uop = row->first;
    for (;;) {
        uint32_t mask;
        enum next next;
        switch ((enum uop_quick)uop->quick) {
        case QUICK_LANES_2:
            run_loop(&bases, uop, active, 2);
            break;
        case QUICK_LANES_3:
            run_loop(&bases, uop, active, 3);
            break;
        case QUICK_COMPARE:
            compare(state, &bases, uop, active);
            break;
        case QUICK_LANES:
            mask = active & (state->preds[uop->guard] ^ uop->guard_flip);
            if (mask)
                run_loop(&bases, uop, mask, 4);
            break;
        case QUICK_BRANCH:
            warp->pc = pc_of(state, uop);
            mask = active & (state->preds[uop->guard] ^ uop->guard_flip);
            next = branch(warp, uop, mask);
            row_end(row, state, uop + (next != NEXT_OTHER));
            if (next != NEXT_ROW)
                return next;
            row_begin(row, state, warp->pc);
            uop = row->first;
            if (uop == row->stop)
                return NEXT_LANES;
            continue;
        case QUICK_SHARED:
        case QUICK_PARAMETER:
        case QUICK_DEVICE:
            if (run_words(r, warp, uop, active, row->counts))
                break;
            __attribute__((fallthrough));
        default:
            warp->pc = pc_of(state, uop);
            mask = active & (state->preds[uop->guard] ^ uop->guard_flip);
            if (!run_one(r, warp, uop, mask, row->counts)) {
                row_end(row, state, uop);
                return NEXT_OTHER;
            }
            if (++uop != row->stop)
                continue;
            row_end(row, state, uop);
            return NEXT_LANES;
        }
        if (++uop == row->stop) {
            row_end(row, state, uop);
            return stop_at(warp, uop);
        }
    }
}

__attribute__((always_inline)) static inline void run(struct runner *r, struct exec_warp *warp,
                                                      struct row *row, struct executed *executed)
{
    enum next next = NEXT_LANES;
    while (next == NEXT_LANES && row->left) {
        const uint32_t active = warp->active;
        const uint64_t before = row->left;
        row_begin(row, warp->state, warp->pc);
        next = run_rows(r, warp, row);
        executed->insns += before - row->left;
        executed->lanes += (before - row->left) * count_lanes(active);
    }
}

void quick_run(struct runner *r, struct exec_warp *warp, uint64_t most, struct executed *executed)
{
    struct row row = {.left = most - executed->insns};
    run(r, warp, &row, executed);
}

void quick_run_counted(struct runner *r, struct exec_warp *warp, uint64_t most,
                       struct executed *executed)
{
    struct row row = {.left = most - executed->insns, .counts = r->counts, .watch = r->watch};
    run(r, warp, &row, executed);
}
