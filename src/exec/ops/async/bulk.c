/*
 * Bulk copies and reductions of bytes in a row, between global memory and shared memory of the
 * cluster's CTAs; st.async and red.async, which write into another CTA's shared memory. All move
 * their bytes when they issue; when barriers count them is said by transfer.h. Source: PTX
 * ISA 9.0, 9.7.9.12, 9.7.9.25.4 and 9.7.13.7.
 */
#include <inttypes.h>
#include <string.h>

#include "exec/fault.h"
#include "exec/memory/device.h"
#include "exec/ops/async/place.h"
#include "exec/ops/async/transfer.h"
#include "util/error.h"

#define UNIT_BYTES 16 /* sizes and addresses are multiples of it */

struct uop_async {
    struct async_place to, from, barrier;
    struct element size, ctas, values[UOP_VECTOR_MAX];
    bool has_barrier, has_ctas;
    uint32_t element_bytes, count; /* of a reduction; of st.async */
    lane_atom *combine;            /* NULL: a copy */
};

static void reduce(uint8_t *to, const uint8_t *from, uint64_t bytes, const struct uop_async *a)
{
    for (uint64_t at = 0; at < bytes; at += a->element_bytes) {
        uint64_t old = 0, operand = 0;
        memcpy(&old, to + at, a->element_bytes);
        memcpy(&operand, from + at, a->element_bytes);
        old = a->combine(old, operand, 0);
        memcpy(to + at, &old, a->element_bytes);
    }
}

/* False: memory is out, the error set. */
static bool move(const struct exec_warp *warp, const struct uop_async *a, uint8_t *to,
                 const uint8_t *from, uint32_t bytes)
{
    if (a->combine)
        reduce(to, from, bytes, a);
    else if (a->from.space == SPACE_GLOBAL)
        device_read(warp, warp->pc, (uintptr_t)from, to, bytes);
    else if (a->to.space == SPACE_GLOBAL)
        return device_write(warp, warp->pc, (uintptr_t)to, from, bytes) == SONDE_OK;
    else
        memmove(to, from, bytes);
    return true;
}

/* To one CTA; `rank` < 0: to where the address says. False: the fault is set. */
static bool transfer(struct exec_warp *warp, const struct uop_async *a, uint32_t lane, int rank,
                     const uint8_t *from, uint32_t bytes)
{
    uint8_t *to = async_find_in(warp, &a->to, lane, rank, bytes, UNIT_BYTES);
    uint8_t *barrier =
        to && a->has_barrier ? async_find_in(warp, &a->barrier, lane, rank, 8, 8) : NULL;
    if (!to || (a->has_barrier && !barrier))
        return false;
    if (barrier)
        async_tell(warp, lane, to, bytes, barrier);
    return move(warp, a, to, from, bytes) && (!barrier || transfer_count(warp, barrier, bytes));
}

/* What it is, and the device memory that it reads or writes. */
static bool tell_transfer(struct exec_warp *warp, const struct uop_async *a, uint32_t lane,
                          const uint8_t *from, uint32_t bytes)
{
    if (!a->has_barrier)
        return transfer_begin(warp, TRANSFER_OUT, false) &&
               transfer_piece(warp, async_address(warp, &a->to, lane), bytes);
    bool in = a->from.space == SPACE_GLOBAL;
    return transfer_begin(warp, in ? TRANSFER_IN : TRANSFER_ACROSS, false) &&
           (!in || transfer_piece(warp, (uintptr_t)from, bytes));
}

static bool bulk_lane(struct exec_warp *warp, const struct uop_async *a, uint32_t lane)
{
    uint32_t bytes = (uint32_t)element_get(warp->state, &a->size, lane);
    if (bytes % UNIT_BYTES) {
        fault_set(warp, warp->pc, lane, bytes, "a bulk copy of %u bytes, no multiple of %d", bytes,
                  UNIT_BYTES);
        return false;
    }
    const uint8_t *from = async_find(warp, &a->from, lane, bytes, UNIT_BYTES);
    if (!from || !tell_transfer(warp, a, lane, from, bytes))
        return false;
    if (a->from.space != SPACE_GLOBAL)
        async_tell(warp, lane, from, bytes, NULL);
    if (!a->has_ctas)
        return transfer(warp, a, lane, -1, from, bytes);
    uint32_t ctas = (uint32_t)element_get(warp->state, &a->ctas, lane) & 0xffff;
    for (; ctas; ctas &= ctas - 1)
        if (!transfer(warp, a, lane, __builtin_ctz(ctas), from, bytes))
            return false;
    return true;
}

static enum exec_event run_bulk(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                struct exec_access *access)
{
    (void)access;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (!bulk_lane(warp, uop->async, lowest_lane(rest)))
            return EXEC_FAULT;
    return advance(warp);
}

/* st.async, red.async: one lane's elements. */
static bool store_lane(struct exec_warp *warp, const struct uop_async *a, uint32_t lane)
{
    uint32_t bytes = a->element_bytes * a->count;
    uint8_t *to = async_find(warp, &a->to, lane, bytes, bytes);
    uint8_t *barrier = to ? async_find(warp, &a->barrier, lane, 8, 8) : NULL;
    if (!barrier)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        uint64_t old = 0, value = element_get(warp->state, &a->values[i], lane);
        memcpy(&old, to + (size_t)i * a->element_bytes, a->element_bytes);
        value = a->combine ? a->combine(old, value, 0) : value;
        memcpy(to + (size_t)i * a->element_bytes, &value, a->element_bytes);
    }
    return transfer_count(warp, barrier, bytes);
}

static enum exec_event run_store(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    if (mask && !transfer_begin(warp, TRANSFER_ACROSS, false))
        return EXEC_FAULT;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (!store_lane(warp, uop->async, lowest_lane(rest)))
            return EXEC_FAULT;
    return advance(warp);
}

static struct uop_async *begin(struct decoder *d, uop_run *run)
{
    struct uop_async *a = arena_alloc(d->arena, sizeof *a);
    if (!a)
        return NULL;
    d->uop->async = a;
    d->uop->run = run;
    d->info->is_async = d->info->is_bulk = true;
    return a;
}

/* The new value of an element, where it is a reduction. */
static int decode_combine(struct decoder *d, struct uop_async *a, bool global)
{
    enum isa_type type = d->insn->types[0];
    enum isa_mod op = (enum isa_mod)d->insn->mods[MODC_ATOM];
    if (op == MOD_NONE)
        return SONDE_OK;
    a->element_bytes = isa_type_info(type)->bytes;
    a->combine = decode_find_bulk_atom(op, type, global);
    if (!a->combine)
        return decode_refuse(d, "'%s%s.%s' is not implemented", isa_row(d->insn->op)->name,
                             isa_mod_text(op), isa_type_info(type)->text);
    return SONDE_OK;
}

/* [to] [from] size ([barrier]), then the CTAs of a multicast; a policy has no effect. */
int decode_bulk(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    struct uop_async *a = begin(d, run_bulk);
    if (!a)
        return error_memory();
    d->info->is_bulk_copy = true;
    a->has_barrier = insn->mods[MODC_COMPLETION] == MOD_COMPLETION_mbarrier;
    a->has_ctas = insn->mods[MODC_MULTICAST] != MOD_NONE;
    int rc = async_decode_place(d, &a->to, &o[0], insn->space[0]);
    if (rc == SONDE_OK)
        rc = async_decode_place(d, &a->from, &o[1], insn->space[1]);
    if (rc == SONDE_OK)
        rc = decode_source_element(d, &a->size, &o[2], 4);
    if (rc == SONDE_OK && a->has_barrier)
        rc = async_decode_place(d, &a->barrier, &o[3], insn->space[0]);
    if (rc == SONDE_OK && a->has_ctas)
        rc = decode_source_element(d, &a->ctas, &o[4], 4);
    return rc == SONDE_OK ? decode_combine(d, a, insn->space[0] == SPACE_GLOBAL) : rc;
}

/* [to] value(s) [barrier] */
int decode_store_async(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    struct uop_async *a = begin(d, run_store);
    if (!a)
        return error_memory();
    bool vector = o[1].kind == OPERAND_VECTOR;
    a->count = vector ? o[1].count : 1;
    a->element_bytes = isa_type_info(insn->types[0])->bytes;
    int rc = async_decode_place(d, &a->to, &o[0], SPACE_SHARED_CLUSTER);
    for (uint32_t i = 0; rc == SONDE_OK && i < a->count; i++)
        rc = decode_source_element(d, &a->values[i], vector ? &o[1].elems[i] : &o[1],
                                   a->element_bytes);
    if (rc == SONDE_OK)
        rc = async_decode_place(d, &a->barrier, &o[2], SPACE_SHARED_CLUSTER);
    return rc == SONDE_OK ? decode_combine(d, a, false) : rc;
}
