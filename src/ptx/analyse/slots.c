/*
 * Register slots: linear scan over live ranges (Poletto and Sarkar, "Linear scan register
 * allocation", TOPLAS 1999) without spilling. A range's slot is free again behind its last pc, so
 * that no result ever overlaps a source of its own instruction. 64-bit values take two aligned
 * slots; freed neighbours join again. Predicates have slots of their own.
 *
 * register_count is not the number of slots but the exact pressure, the largest number of 32-bit
 * words live at once: what an assembler that may move values would need.
 */
#include <assert.h>
#include <stdlib.h>

#include "ptx/analyse/analyse.h"
#include "ptx/analyse/liveness.h"
#include "util/error.h"
#include "util/container/vec.h"

enum slot_state { SLOT_USED, SLOT_SINGLE, SLOT_PAIR };

struct pool {
    VEC(uint8_t) state;           /* by slot; a free pair is marked on both halves */
    VEC(uint32_t) singles, pairs; /* free slots; entries whose state changed are stale */
    VEC(uint32_t) preds;
    uint32_t pred_count;
};

static int new_pair(uint32_t *slot, struct pool *pool)
{
    *slot = (uint32_t)pool->state.count;
    return vec_push(&pool->state, SLOT_USED) < 0 || vec_push(&pool->state, SLOT_USED) < 0
               ? SONDE_ENOMEM
               : 0;
}

static int take_pair(uint32_t *slot, struct pool *pool)
{
    while (pool->pairs.count > 0) {
        *slot = vec_pop(&pool->pairs);
        if (pool->state.data[*slot] == SLOT_PAIR) {
            pool->state.data[*slot] = pool->state.data[*slot + 1] = SLOT_USED;
            return 0;
        }
    }
    return new_pair(slot, pool);
}

static int take_single(uint32_t *slot, struct pool *pool)
{
    while (pool->singles.count > 0) {
        *slot = vec_pop(&pool->singles);
        if (pool->state.data[*slot] == SLOT_SINGLE) {
            pool->state.data[*slot] = SLOT_USED;
            return 0;
        }
    }
    if (take_pair(slot, pool) < 0 || pool->state.data == NULL)
        return SONDE_ENOMEM;
    pool->state.data[*slot + 1] = SLOT_SINGLE;
    return vec_push(&pool->singles, *slot + 1);
}

static int give_pair(struct pool *pool, uint32_t slot)
{
    assert(pool->state.data != NULL);
    pool->state.data[slot] = pool->state.data[slot + 1] = SLOT_PAIR;
    return vec_push(&pool->pairs, slot);
}

static int give_single(struct pool *pool, uint32_t slot)
{
    assert(pool->state.data != NULL); /* the slot was taken from it */
    if (pool->state.data[slot ^ 1] == SLOT_SINGLE)
        return give_pair(pool, slot & ~1u);
    pool->state.data[slot] = SLOT_SINGLE;
    return vec_push(&pool->singles, slot);
}

static int take(uint32_t *slot, struct pool *pool, enum isa_type type)
{
    uint32_t slots = type_slots(type), more;
    if (slots == 0) {
        *slot = pool->preds.count > 0 ? vec_pop(&pool->preds) : pool->pred_count++;
        return 0;
    }
    if (slots <= 2)
        return slots == 1 ? take_single(slot, pool) : take_pair(slot, pool);
    int code = new_pair(slot, pool); /* 128 bits: rare, never given back */
    return code < 0 ? code : new_pair(&more, pool);
}

static int give(struct pool *pool, uint32_t slot, enum isa_type type)
{
    uint32_t slots = type_slots(type);
    if (slots == 0)
        return vec_push(&pool->preds, slot);
    return slots == 1 ? give_single(pool, slot) : slots == 2 ? give_pair(pool, slot) : 0;
}

/* Registers by the pc at which they begin (or end): lists threaded through `next`. */
struct agenda {
    uint32_t *head, *next;
};

static int build_agenda(struct agenda *agenda, const struct ptx_func *f,
                        const struct liveness *live, bool by_end)
{
    agenda->head = malloc(((size_t)f->insn_count + 1) * sizeof *agenda->head);
    agenda->next = malloc(((size_t)f->reg_count + 1) * sizeof *agenda->next);
    if (agenda->head == NULL || agenda->next == NULL)
        return SONDE_ENOMEM;
    for (uint32_t pc = 0; pc <= f->insn_count; pc++)
        agenda->head[pc] = UINT32_MAX;
    for (uint32_t reg = f->reg_count; reg-- > 0;) {
        if (live->ranges[reg].first == UINT32_MAX)
            continue;
        uint32_t pc = by_end ? live->ranges[reg].last : live->ranges[reg].first;
        agenda->next[reg] = agenda->head[pc];
        agenda->head[pc] = reg;
    }
    return 0;
}

static int scan(struct ptx_func *f, struct pool *pool, const struct agenda *begin,
                const struct agenda *end)
{
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        for (uint32_t reg = begin->head[pc]; reg != UINT32_MAX; reg = begin->next[reg]) {
            uint32_t slot;
            if (take(&slot, pool, f->regs[reg].type) < 0)
                return SONDE_ENOMEM;
            f->regs[reg].slot = (int32_t)slot;
        }
        for (uint32_t reg = end->head[pc]; reg != UINT32_MAX; reg = end->next[reg])
            if (give(pool, (uint32_t)f->regs[reg].slot, f->regs[reg].type) < 0)
                return SONDE_ENOMEM;
    }
    return 0;
}

int func_assign_slots(struct ptx_func *f)
{
    struct liveness live;
    struct pool pool = {0};
    struct agenda begin = {0}, end = {0};
    int code = liveness_compute(&live, f);
    if (code == 0)
        code = build_agenda(&begin, f, &live, false);
    if (code == 0)
        code = build_agenda(&end, f, &live, true);
    if (code == 0)
        code = scan(f, &pool, &begin, &end);
    f->slot_count = (uint32_t)pool.state.count;
    f->pred_count = pool.pred_count;
    f->register_count = live.pressure;
    f->reads_unwritten = live.at_start;
    liveness_free(&live);
    free(begin.head);
    free(begin.next);
    free(end.head);
    free(end.next);
    vec_free(&pool.state);
    vec_free(&pool.singles);
    vec_free(&pool.pairs);
    vec_free(&pool.preds);
    return code;
}
