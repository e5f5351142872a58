/*
 * cp.async: 4, 8 or 16 bytes of each lane from global to shared memory. It is an access whose data
 * go to shared memory instead of registers: they are read and written when the access is committed,
 * which may be at any time before the copy's group is waited for. Source: PTX ISA 9.0, 9.7.9.25.
 */
#include <string.h>

#include "exec/memory/device.h"
#include "exec/ops/async/place.h"
#include "util/error.h"

#define COPY_BYTES_MAX 16

struct uop_async {
    struct async_place to, from;
    uint32_t bytes;
    enum isa_mod cache_op;
    bool has_value, value_is_predicate;
    struct element value; /* bytes of the source */
};

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
    const struct uop_async *a = uop->async;
    if (!mask)
        return advance(warp);
    access_begin(access, warp, ACCESS_COPY, SPACE_GLOBAL, a->bytes);
    access->cache_op = (uint16_t)a->cache_op;
    access->lanes = mask;
    access->mask = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), bytes = source_bytes(warp, uop, lane);
        uint8_t *to = async_find(warp, &a->to, lane, a->bytes, a->bytes);
        const uint8_t *from = to ? async_find(warp, &a->from, lane, bytes, a->bytes) : NULL;
        if (!from && (!to || bytes > 0))
            return EXEC_FAULT;
        access->address[lane] = (uintptr_t)from;
        access->data[lane][0] = (uintptr_t)to;
        access->data[lane][1] = bytes;
        access->mask |= (uint32_t)(bytes > 0) << lane;
    }
    advance(warp);
    return EXEC_ACCESS;
}

void commit_copy(const struct exec_warp *warp, const struct exec_access *access)
{
    for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), count = (uint32_t)access->data[lane][1];
        uint8_t bytes[COPY_BYTES_MAX] = {0};
        if (count > 0)
            device_read(warp, access->pc, access->address[lane], bytes, count);
        memcpy((uint8_t *)(uintptr_t)access->data[lane][0], bytes, access->bytes);
    }
}

int decode_copy(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    bool sized = insn->op == OP_CP_ASYNC || insn->op == OP_CP_ASYNC_SIZE_HINT;
    struct uop_async *a = arena_alloc(d->arena, sizeof *a);
    if (!a)
        return error_memory();
    d->uop->async = a;
    d->uop->run = run_copy;
    d->info->is_load = true;
    d->info->space = SPACE_GLOBAL;
    a->cache_op = (enum isa_mod)insn->mods[MODC_COP];
    a->bytes = (uint32_t)o[2].imm;
    if (a->bytes != 4 && a->bytes != 8 && a->bytes != COPY_BYTES_MAX)
        return decode_refuse(d, "'%s' of %u bytes is not implemented", isa_row(insn->op)->name,
                             a->bytes);
    int rc = async_decode_place(d, &a->to, &o[0], SPACE_SHARED);
    if (rc == SONDE_OK)
        rc = async_decode_place(d, &a->from, &o[1], SPACE_GLOBAL);
    if (rc != SONDE_OK || !sized || insn->operand_count < 4)
        return rc;
    a->value_is_predicate = o[3].type == TYPE_pred;
    a->has_value = !a->value_is_predicate;
    return a->has_value ? decode_source_element(d, &a->value, &o[3], 4)
                        : decode_pred_source(d, 0, &o[3]);
}

/* Without timing copies are over when they issue, and there is nothing to wait for. */
int decode_copy_group(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    struct exec_uop_info *info = d->info;
    uint64_t left = insn->operand_count ? insn->operands[0].imm : 0;
    uint8_t most = left < UINT8_MAX ? (uint8_t)left : UINT8_MAX;
    d->uop->run = run_nop;
    info->is_async = true;
    switch (insn->op) {
    case OP_BULK_COMMIT:
        info->bulk = GROUPS_COMMIT;
        break;
    case OP_BULK_WAIT:
        info->bulk = GROUPS_WAIT;
        info->bulk_left = most;
        break;
    case OP_CP_ASYNC_COMMIT:
        info->copies = GROUPS_COMMIT;
        break;
    case OP_CP_ASYNC_WAIT:
        info->copies = GROUPS_WAIT;
        info->copies_left = most;
        break;
    default:
        info->copies = GROUPS_WAIT_ALL;
        break;
    }
    return SONDE_OK;
}
