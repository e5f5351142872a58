/*
 * mbarrier, and the arrival of cp.async at one, which comes when the warp's copies are over.
 * Source: PTX ISA 9.0, 9.7.9.25 and 9.7.13.15.
 */
#include <inttypes.h>
#include <string.h>

#include "exec/ops/async/place.h"
#include "exec/ops/async/transfer.h"
#include "util/error.h"

struct uop_async {
    enum isa_op op;
    struct async_place to;
    bool has_value;
    bool arrives_later;   /* when the copies before it are over */
    struct element value; /* count, state, or parity */
    struct element result;
};

/* The barrier's new word; `*result` is what the instruction gives. */
static uint64_t operate(const struct uop_async *a, uint64_t word, uint64_t value, uint64_t *result)
{
    *result = word;
    switch (a->op) {
    case OP_MBARRIER_INIT:
        return mbarrier_init((uint32_t)value);
    case OP_MBARRIER_INVAL:
        return 0;
    case OP_MBARRIER_ARRIVE:
    case OP_MBARRIER_ARRIVE_NOCOMPLETE:
        return mbarrier_arrive(word, a->has_value ? (uint32_t)value : 1, 0);
    case OP_MBARRIER_DROP:
    case OP_MBARRIER_DROP_NOCOMPLETE:
        return mbarrier_arrive(word, a->has_value ? (uint32_t)value : 1,
                               a->has_value ? (uint32_t)value : 1);
    case OP_MBARRIER_EXPECT_TX:
        return mbarrier_expect(word, (uint32_t)value);
    case OP_MBARRIER_COMPLETE_TX:
        return mbarrier_complete(word, (uint32_t)value);
    case OP_MBARRIER_ARRIVE_EXPECT_TX:
        return mbarrier_arrive(mbarrier_expect(word, (uint32_t)value), 1, 0);
    case OP_MBARRIER_DROP_EXPECT_TX:
        return mbarrier_arrive(mbarrier_expect(word, (uint32_t)value), 1, 1);
    case OP_CP_ASYNC_ARRIVE:
        return mbarrier_await(word);
    case OP_MBARRIER_TEST:
        *result = mbarrier_phase(word) != mbarrier_phase(value);
        return word;
    case OP_MBARRIER_TEST_PARITY:
        *result = mbarrier_phase(word) != (value & 1);
        return word;
    default: /* cp.async.mbarrier.arrive.noinc */
        return word;
    }
}

/* Lanes whose phase is over. */
static uint32_t lanes_over(const struct exec_access *access)
{
    uint32_t over = 0;
    for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t word;
        memcpy(&word, (const uint8_t *)(uintptr_t)access->data[lane][0], 8);
        over |= (uint32_t)(mbarrier_phase(word) != access->data[lane][1]) << lane;
    }
    return over;
}

bool exec_wait_is_over(const struct exec_access *access)
{
    return lanes_over(access) == access->lanes;
}

void commit_wait(const struct exec_warp *warp, const struct exec_access *access)
{
    const struct uop *uop = &warp->state->uops[access->pc];
    if (uop->pred_dst[0] != PRED_SINK)
        pred_write(warp->state, uop->pred_dst[0], lanes_over(access), access->lanes);
}

/* A wait that may last: how long is for whoever commits it. */
static enum exec_event run_try_wait(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                    struct exec_access *access)
{
    const struct uop_async *a = uop->async;
    if (!mask)
        return advance(warp);
    access_begin(access, warp, ACCESS_WAIT, SPACE_SHARED, 8);
    access->mask = access->lanes = mask;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t value = element_get(warp->state, &a->value, lane);
        const uint8_t *at = async_find(warp, &a->to, lane, 8, 8);
        if (!at)
            return EXEC_FAULT;
        async_tell_barrier(warp, lane, at, a->op);
        access->data[lane][0] = (uintptr_t)at;
        access->data[lane][1] = a->op == OP_MBARRIER_TRY ? mbarrier_phase(value) : value & 1;
    }
    advance(warp);
    return EXEC_ACCESS;
}

enum exec_event run_mbarrier(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                             struct exec_access *access)
{
    (void)access;
    const struct uop_async *a = uop->async;
    struct exec_state *state = warp->state;
    uint32_t holds = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint8_t *at = async_find(warp, &a->to, lane, 8, 8);
        uint64_t word, result, value = a->has_value ? element_get(state, &a->value, lane) : 0;
        if (!at)
            return EXEC_FAULT;
        async_tell_barrier(warp, lane, at, a->op);
        memcpy(&word, at, 8);
        word = operate(a, word, value, &result);
        memcpy(at, &word, 8);
        if (a->arrives_later && !transfer_copies_arrive(warp, at))
            return EXEC_FAULT;
        if (a->result.register_bytes)
            element_set(state, &a->result, lane, result);
        holds |= (uint32_t)(result & 1) << lane;
    }
    if (uop->pred_dst[0] != PRED_SINK)
        pred_write(state, uop->pred_dst[0], holds, mask);
    return advance(warp);
}

static struct uop_async *begin(struct decoder *d)
{
    struct uop_async *a = arena_alloc(d->arena, sizeof *a);
    if (!a)
        return NULL;
    d->uop->async = a;
    d->uop->pred_dst[0] = PRED_SINK;
    a->op = d->insn->op;
    return a;
}

/* [=result] [A] [value]; a hint of time after that is not needed. */
int decode_mbarrier(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const char *shape = isa_shape_text(isa_row(insn->op)->shape);
    int at = shape[0] == '=';
    struct uop_async *a = begin(d);
    if (!a)
        return error_memory();
    bool tries = insn->op == OP_MBARRIER_TRY || insn->op == OP_MBARRIER_TRY_PARITY;
    d->uop->run = tries ? run_try_wait : run_mbarrier;
    d->info->is_async = d->info->is_mbarrier = true;
    d->info->is_test = tries || insn->op == OP_MBARRIER_TEST || insn->op == OP_MBARRIER_TEST_PARITY;
    d->info->is_remote =
        insn->space[0] == SPACE_SHARED_CLUSTER || isa_space_base(insn->space[0]) != SPACE_SHARED;
    a->arrives_later = insn->op == OP_CP_ASYNC_ARRIVE || insn->op == OP_CP_ASYNC_ARRIVE_NOINC;
    if (a->arrives_later)
        d->info->copies = GROUPS_ARRIVE;
    int rc = SONDE_OK;
    if (at && strncmp(shape, "=P", 2) == 0)
        rc = decode_pred_dest(d, 0, &insn->operands[0]);
    else if (at)
        rc = decode_dest_element(d, &a->result, &insn->operands[0]);
    if (rc == SONDE_OK)
        rc = async_decode_place(d, &a->to, &insn->operands[at], insn->space[0]);
    if (rc != SONDE_OK || insn->operand_count <= at + 1)
        return rc;
    a->has_value = true;
    return decode_source_element(d, &a->value, &insn->operands[at + 1],
                                 strstr(shape, "[A] b64") ? 8 : 4);
}

static enum exec_event run_pending(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                   struct exec_access *access)
{
    (void)access;
    const lane_dword *words = lanes_at(warp->state, uop->source[0]);
    lane_word *to = lanes_at(warp->state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        to[lowest_lane(rest)] = mbarrier_pending(words[lowest_lane(rest)]);
    return advance(warp);
}

int decode_pending(struct decoder *d)
{
    d->uop->run = run_pending;
    int rc = decode_dest(d, &d->uop->dst, &d->insn->operands[0], 4);
    return rc == SONDE_OK ? decode_source(d, 0, &d->insn->operands[1], 8) : rc;
}
