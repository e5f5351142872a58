/*
 * cp.async and mbarrier. A copy is done at issue, which the manual allows: it may complete at any
 * time before it is waited for; so groups have nothing to wait for, and the arrival of copies at a
 * barrier is an arrival at once. None of it has timing yet, and bytes of transactions (expect_tx)
 * are not counted: refused. A barrier in shared memory is a 64-bit word that only these
 * instructions read:
 *
 *     63      62         40 39        20 19       0
 *     | phase |      0     | expected   | pending |
 *
 * Source: PTX ISA 9.0, 9.7.9.25 and 9.7.13.15.
 */
#include <inttypes.h>
#include <string.h>

#include "exec/cluster.h"
#include "exec/fault.h"
#include "exec/memory/image.h"
#include "exec/ops/decoders.h"
#include "util/error.h"

#define COUNT_BITS 20
#define COUNT_MASK ((1u << COUNT_BITS) - 1)
#define PHASE_BIT 63

struct place {
    enum isa_space space; /* SPACE_NONE: generic */
    bool has_base;
    struct element base;
    uint64_t offset;
};

struct uop_async {
    enum isa_op op;
    struct place to, from;
    uint32_t bytes;
    bool has_value, value_is_predicate;
    struct element value; /* count, state, parity, or size of the source */
    struct element result;
};

/* Where a lane's operand lies on the host; NULL with the fault set. */
static uint8_t *find_place(struct exec_warp *warp, const struct place *place, uint32_t lane,
                           uint32_t bytes, uint32_t align)
{
    const struct exec_cta *cta = warp->cta;
    const struct exec_state *state = warp->state;
    uint64_t given = place->offset + (place->has_base ? element_get(state, &place->base, lane) : 0);
    uint64_t address = given;
    bool shared = place->space == SPACE_SHARED;
    if (shared && place->has_base && place->base.register_bytes == 4)
        address = (uint32_t)address;
    if (place->space == SPACE_NONE &&
        address - EXEC_SHARED_WINDOW < EXEC_WINDOWS * (uint64_t)EXEC_WINDOW_BYTES) {
        shared = true;
        address -= EXEC_SHARED_WINDOW;
    }
    if (address % align == 0) {
        uint8_t *at = shared ? cluster_place(cta, cluster_address(cta, address), bytes) : NULL;
        if (at)
            return at;
        if (!shared && (bytes == 0 || image_valid(cta->launch->memory, address, bytes)))
            return (uint8_t *)(uintptr_t)address;
    }
    fault_set(warp, warp->pc, lane, given,
              "%s access of %u bytes at 0x%" PRIx64 " is misaligned or out of bounds",
              shared ? "shared" : "global", bytes, given);
    return NULL;
}

/* How many bytes are read; the rest of the copy is zeros. */
static uint32_t source_bytes(const struct exec_warp *warp, const struct uop *uop, uint32_t lane)
{
    const struct uop_async *a = uop->async;
    if (a->value_is_predicate)
        return pred_lanes(warp->state, uop, 0) >> lane & 1 ? 0 : a->bytes;
    uint64_t bytes = a->has_value ? element_get(warp->state, &a->value, lane) : a->bytes;
    return bytes < a->bytes ? (uint32_t)bytes : a->bytes;
}

enum exec_event run_copy(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                         struct exec_access *access)
{
    (void)access;
    const struct uop_async *a = uop->async;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), bytes = source_bytes(warp, uop, lane);
        uint8_t *to = find_place(warp, &a->to, lane, a->bytes, a->bytes);
        const uint8_t *from = to ? find_place(warp, &a->from, lane, bytes, a->bytes) : NULL;
        if (!from && (!to || bytes > 0))
            return EXEC_FAULT;
        if (bytes > 0)
            memcpy(to, from, bytes);
        memset(to + bytes, 0, a->bytes - bytes);
    }
    return advance(warp);
}

static uint64_t arrive(uint64_t word, uint32_t count, uint32_t drop)
{
    uint32_t pending = (uint32_t)word & COUNT_MASK;
    uint32_t expected = (uint32_t)(word >> COUNT_BITS) & COUNT_MASK;
    uint64_t phase = word >> PHASE_BIT;
    expected = (expected - drop) & COUNT_MASK;
    pending = (pending - count) & COUNT_MASK;
    if (pending == 0) {
        phase ^= 1;
        pending = expected;
    }
    return phase << PHASE_BIT | (uint64_t)expected << COUNT_BITS | pending;
}

/* The barrier's new word; `*result` is what the instruction gives. */
static uint64_t operate(const struct uop_async *a, uint64_t word, uint64_t value, uint64_t *result)
{
    *result = word;
    switch (a->op) {
    case OP_MBARRIER_INIT:
        return (value & COUNT_MASK) << COUNT_BITS | (value & COUNT_MASK);
    case OP_MBARRIER_INVAL:
        return 0;
    case OP_MBARRIER_ARRIVE:
    case OP_MBARRIER_ARRIVE_NOCOMPLETE:
        return arrive(word, a->has_value ? (uint32_t)value : 1, 0);
    case OP_MBARRIER_DROP:
    case OP_MBARRIER_DROP_NOCOMPLETE:
        return arrive(word, a->has_value ? (uint32_t)value : 1, a->has_value ? (uint32_t)value : 1);
    case OP_CP_ASYNC_ARRIVE_NOINC:
        return arrive(word, 1, 0);
    case OP_MBARRIER_TEST:
    case OP_MBARRIER_TRY:
        *result = word >> PHASE_BIT != value >> PHASE_BIT;
        return word;
    case OP_MBARRIER_TEST_PARITY:
    case OP_MBARRIER_TRY_PARITY:
        *result = word >> PHASE_BIT != (value & 1);
        return word;
    default: /* cp.async.mbarrier.arrive: one more is expected, and has come */
        return word;
    }
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
        uint8_t *at = find_place(warp, &a->to, lane, 8, 8);
        uint64_t word, result, value = a->has_value ? element_get(state, &a->value, lane) : 0;
        if (!at)
            return EXEC_FAULT;
        memcpy(&word, at, 8);
        word = operate(a, word, value, &result);
        memcpy(at, &word, 8);
        if (a->result.register_bytes)
            element_set(state, &a->result, lane, result);
        holds |= (uint32_t)(result & 1) << lane;
    }
    if (uop->pred_dst[0] != PRED_SINK)
        pred_write(state, uop->pred_dst[0], holds, mask);
    return advance(warp);
}

static int decode_place(struct decoder *d, struct place *place, const struct ptx_operand *address,
                        enum isa_space space)
{
    uint64_t value = 0;
    bool relative = false;
    int rc = SONDE_OK;
    place->space = isa_space_base(space);
    if (address->var)
        rc = decode_var_address(d, &value, &relative, address->var);
    if (address->var && place->space == SPACE_NONE &&
        isa_space_base(address->var->space) == SPACE_SHARED)
        place->space = SPACE_SHARED;
    place->offset = value + address->imm;
    if (rc != SONDE_OK || !address->has_reg)
        return rc;
    struct ptx_operand base = {.kind = OPERAND_REG, .reg = address->reg, .type = address->type};
    place->has_base = true;
    return decode_source_element(d, &place->base, &base, 0);
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

int decode_copy(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    bool sized = insn->op == OP_CP_ASYNC || insn->op == OP_CP_ASYNC_SIZE_HINT;
    struct uop_async *a = begin(d);
    if (!a)
        return error_memory();
    d->uop->run = run_copy;
    a->bytes = (uint32_t)o[2].imm;
    if (a->bytes != 4 && a->bytes != 8 && a->bytes != 16)
        return decode_refuse(d, "'%s' of %u bytes is not implemented", isa_row(insn->op)->name,
                             a->bytes);
    int rc = decode_place(d, &a->to, &o[0], SPACE_SHARED);
    if (rc == SONDE_OK)
        rc = decode_place(d, &a->from, &o[1], SPACE_GLOBAL);
    if (rc != SONDE_OK || !sized || insn->operand_count < 4)
        return rc;
    a->value_is_predicate = o[3].type == TYPE_pred;
    a->has_value = !a->value_is_predicate;
    return a->has_value ? decode_source_element(d, &a->value, &o[3], 4)
                        : decode_pred_source(d, 0, &o[3]);
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
    d->uop->run = run_mbarrier;
    int rc = SONDE_OK;
    if (at && strncmp(shape, "=P", 2) == 0)
        rc = decode_pred_dest(d, 0, &insn->operands[0]);
    else if (at)
        rc = decode_dest_element(d, &a->result, &insn->operands[0]);
    if (rc == SONDE_OK)
        rc = decode_place(d, &a->to, &insn->operands[at], insn->space[0]);
    if (rc != SONDE_OK || insn->operand_count <= at + 1)
        return rc;
    a->has_value = true;
    return decode_source_element(d, &a->value, &insn->operands[at + 1],
                                 strstr(shape, "[A] b64") ? 8 : 4);
}
