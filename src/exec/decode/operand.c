/*
 * Operands: where a value lies. Registers are offsets into the frame, constants go to a pool of
 * 32-lane vectors (each distinct one once), special registers that do not change while a warp runs
 * lie in its state, and the others are fetched just before the instruction.
 */
#include <string.h>

#include "exec/decode/decode.h"
#include "util/error.h"

static void note_slots(uint16_t *list, uint8_t *count, size_t room, uint32_t slot, uint32_t words)
{
    for (uint32_t i = 0; i < words && *count < room; i++)
        list[(*count)++] = (uint16_t)(slot + i);
}

static void note_pred(uint8_t *list, uint8_t *count, size_t room, uint32_t slot)
{
    if (*count < room)
        list[(*count)++] = (uint8_t)slot;
}

uint32_t decode_register_bytes(const struct decoder *d, const struct ptx_operand *operand)
{
    if (operand->kind != OPERAND_REG || operand->reg < 0)
        return isa_type_info(operand->type)->bytes > 4 ? 8 : 4;
    const struct ptx_reg *reg = &d->function->func->regs[operand->reg];
    return isa_type_info(reg->type)->bytes > 4 ? 8 : 4;
}

/* The reference of a register that must be as wide as `bytes` says; slot -1: nobody reads it. */
static int register_ref(struct decoder *d, uint32_t *ref, uint32_t *slot,
                        const struct ptx_operand *operand, uint32_t bytes)
{
    const struct ptx_func *func = d->function->func;
    if (operand->reg < 0 || (uint32_t)operand->reg >= func->reg_count)
        return decode_refuse(d, "register number %d is out of range", operand->reg);
    const struct ptx_reg *reg = &func->regs[operand->reg];
    uint32_t reg_bytes = isa_type_info(reg->type)->bytes;
    if (reg_bytes == 0 || reg_bytes > 8)
        return decode_refuse(d, "register '%s' of type .%s is not implemented here", reg->name,
                             isa_type_info(reg->type)->text);
    if (bytes && (bytes > 4) != (reg_bytes > 4))
        return decode_refuse(d, "register '%s' of %u bytes where %u are needed", reg->name,
                             reg_bytes, bytes);
    uint32_t words = reg_bytes > 4 ? 2 : 1;
    *slot = UINT32_MAX;
    *ref = d->function->sink_ref;
    if (reg->slot < 0)
        return SONDE_OK;
    if ((uint32_t)reg->slot + words > func->slot_count || (words == 2 && reg->slot % 2 != 0))
        return decode_refuse(d, "register '%s' has the impossible slot %d", reg->name, reg->slot);
    *slot = (uint32_t)reg->slot;
    *ref = (*slot * SLOT_BYTES + (words == 2 ? d->function->wide_offset : 0)) |
           (uint32_t)BASE_REG << REF_BASE_SHIFT;
    return SONDE_OK;
}

static int pool_append(struct decoder *d, uint32_t *ref, const void *data, size_t bytes)
{
    size_t at = d->pool.count;
    if (at + bytes > REF_OFFSET_MASK)
        return decode_refuse(d, "too many distinct constants");
    if (vec_reserve(&d->pool, at + bytes) < 0)
        return error_memory();
    memcpy(d->pool.data + at, data, bytes);
    d->pool.count = at + bytes;
    *ref = (uint32_t)at | (uint32_t)BASE_POOL << REF_BASE_SHIFT;
    return SONDE_OK;
}

int decode_vector_constant(struct decoder *d, uint32_t *ref, const uint32_t lanes[WARP_LANES])
{
    return pool_append(d, ref, lanes, WARP_LANES * sizeof *lanes);
}

int decode_constant(struct decoder *d, uint32_t *ref, uint64_t value, uint32_t bytes)
{
    struct u64_map *known = bytes > 4 ? &d->pool_64 : &d->pool_32;
    uint64_t key = bytes > 4 ? value : (uint32_t)value, found;
    if (u64_map_get(&found, known, key)) {
        *ref = (uint32_t)found;
        return SONDE_OK;
    }
    uint32_t words[WARP_LANES];
    uint64_t dwords[WARP_LANES];
    for (int i = 0; i < WARP_LANES; i++) {
        words[i] = (uint32_t)value;
        dwords[i] = value;
    }
    int rc = bytes > 4 ? pool_append(d, ref, dwords, sizeof dwords)
                       : pool_append(d, ref, words, sizeof words);
    if (rc == SONDE_OK && u64_map_put(known, key, *ref) < 0)
        rc = error_memory();
    return rc;
}

/* Fetched before the instruction runs, into the next free vector of state->special. */
static int fetched_special(struct decoder *d, uint32_t *ref, uint16_t id)
{
    for (uint32_t i = 0; i < SPECIAL_VECTORS; i++) {
        if (d->uop->specials >> i & 1)
            continue;
        d->uop->specials |= (uint8_t)(1u << i);
        d->uop->special_ids[i] = id;
        *ref = (uint32_t)(offsetof(struct exec_state, special) - offsetof(struct exec_state, tid) +
                          i * sizeof(((struct exec_state *)0)->special[0])) |
               (uint32_t)BASE_SPECIAL << REF_BASE_SHIFT;
        return SONDE_OK;
    }
    return decode_refuse(d, "too many special registers in one instruction");
}

static int special_ref(struct decoder *d, uint32_t *ref, enum isa_sreg sreg)
{
    uint32_t lanes[WARP_LANES];
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        uint32_t below = (1u << i) - 1;
        switch (sreg) {
        case SREG_LANEID:
            lanes[i] = i;
            break;
        case SREG_LANEMASK_EQ:
            lanes[i] = 1u << i;
            break;
        case SREG_LANEMASK_LT:
            lanes[i] = below;
            break;
        case SREG_LANEMASK_LE:
            lanes[i] = below | 1u << i;
            break;
        case SREG_LANEMASK_GT:
            lanes[i] = ~(below | 1u << i);
            break;
        case SREG_LANEMASK_GE:
            lanes[i] = ~below;
            break;
        default:
            break;
        }
    }
    switch (sreg) {
    case SREG_TID_X:
    case SREG_TID_Y:
    case SREG_TID_Z:
        *ref = (uint32_t)(sreg - SREG_TID_X) * SLOT_BYTES | (uint32_t)BASE_SPECIAL
                                                                << REF_BASE_SHIFT;
        return SONDE_OK;
    case SREG_LANEID:
    case SREG_LANEMASK_EQ:
    case SREG_LANEMASK_LT:
    case SREG_LANEMASK_LE:
    case SREG_LANEMASK_GT:
    case SREG_LANEMASK_GE:
        return decode_vector_constant(d, ref, lanes);
    case SREG_CLOCK:
    case SREG_CLOCK_HI:
    case SREG_CLOCK64:
    case SREG_GLOBALTIMER:
    case SREG_GLOBALTIMER_LO:
    case SREG_GLOBALTIMER_HI:
        d->info->reads_clock = true;
        return fetched_special(d, ref, (uint16_t)sreg);
    default:
        return fetched_special(d, ref, (uint16_t)sreg);
    }
}

static int variable_ref(struct decoder *d, uint32_t *ref, const struct ptx_operand *operand,
                        uint32_t bytes)
{
    uint64_t value;
    bool relative;
    int rc = decode_var_address(d, &value, &relative, operand->var);
    if (rc != SONDE_OK)
        return rc;
    value += operand->imm;
    if (!relative)
        return decode_constant(d, ref, value, bytes);
    d->uop->special_offset = (uint32_t)value;
    return fetched_special(d, ref, SPECIAL_LOCAL);
}

int decode_source_ref(struct decoder *d, uint32_t *ref, const struct ptx_operand *operand,
                      uint32_t bytes)
{
    uint32_t slot = UINT32_MAX;
    uint32_t width = bytes ? bytes : decode_register_bytes(d, operand);
    switch (operand->kind) {
    case OPERAND_REG: {
        int rc = register_ref(d, ref, &slot, operand, bytes);
        if (rc == SONDE_OK && slot != UINT32_MAX)
            note_slots(d->info->src, &d->info->src_count, EXEC_MAX_SLOTS_READ, slot,
                       decode_register_bytes(d, operand) / 4);
        return rc;
    }
    case OPERAND_IMM:
        return decode_constant(d, ref, operand->imm, width);
    case OPERAND_SREG:
        if (isa_type_info(isa_sreg_type(operand->sreg))->bytes > 4 && width <= 4)
            return decode_refuse(d, "%s needs a 64-bit operand", isa_sreg_text(operand->sreg));
        if (isa_type_info(isa_sreg_type(operand->sreg))->bytes <= 4 && width > 4)
            return decode_refuse(d, "%s as a 64-bit operand", isa_sreg_text(operand->sreg));
        return special_ref(d, ref, operand->sreg);
    case OPERAND_VAR:
        return variable_ref(d, ref, operand, width);
    case OPERAND_FUNC: {
        struct exec_function *function;
        if (width < 8)
            return decode_refuse(d, "the address of a function in 32 bits is not implemented");
        int rc = decode_function(d, &function, operand->func);
        if (rc != SONDE_OK)
            return rc;
        return decode_constant(d, ref, exec_function_address(d->module, operand->func), width);
    }
    default:
        return decode_refuse(d, "this operand of '%s' is not implemented",
                             isa_row(d->insn->op)->name);
    }
}

int decode_source(struct decoder *d, int index, const struct ptx_operand *operand, uint32_t bytes)
{
    return decode_source_ref(d, &d->uop->source[index], operand, bytes);
}

int decode_dest(struct decoder *d, uint32_t *ref, const struct ptx_operand *operand, uint32_t bytes)
{
    uint32_t slot = UINT32_MAX;
    if (operand->kind == OPERAND_SINK) {
        *ref = d->function->sink_ref;
        return SONDE_OK;
    }
    if (operand->kind != OPERAND_REG)
        return decode_refuse(d, "this destination of '%s' is not implemented",
                             isa_row(d->insn->op)->name);
    int rc = register_ref(d, ref, &slot, operand, bytes);
    if (rc == SONDE_OK && slot != UINT32_MAX)
        note_slots(d->info->dst, &d->info->dst_count, sizeof d->info->dst / sizeof *d->info->dst,
                   slot, decode_register_bytes(d, operand) / 4);
    return rc;
}

int decode_source_element(struct decoder *d, struct element *out, const struct ptx_operand *operand,
                          uint32_t bytes)
{
    if (operand->kind == OPERAND_REG)
        out->register_bytes = (uint8_t)decode_register_bytes(d, operand);
    else
        out->register_bytes = bytes > 4 ? 8 : 4;
    return decode_source_ref(d, &out->ref, operand, out->register_bytes);
}

int decode_dest_element(struct decoder *d, struct element *out, const struct ptx_operand *operand)
{
    out->register_bytes =
        operand->kind == OPERAND_SINK ? 0 : (uint8_t)decode_register_bytes(d, operand);
    return decode_dest(d, &out->ref, operand, out->register_bytes);
}

#define HALF_SLOTS 2

/* A register of 128 bits lies in two pairs of slots, one behind the other. `*slot` UINT32_MAX:
 * nobody reads it. */
static int half_ref(struct decoder *d, uint32_t *ref, uint32_t *slot,
                    const struct ptx_operand *operand, uint32_t half)
{
    const struct ptx_func *func = d->function->func;
    if (operand->kind != OPERAND_REG || operand->reg < 0 ||
        (uint32_t)operand->reg >= func->reg_count || func->regs[operand->reg].type != TYPE_b128)
        return decode_refuse(d, "this operand of '%s' of 128 bits is not implemented",
                             isa_row(d->insn->op)->name);
    int32_t first = func->regs[operand->reg].slot;
    *slot = UINT32_MAX;
    *ref = d->function->sink_ref;
    if (first < 0)
        return SONDE_OK;
    *slot = (uint32_t)first + half * HALF_SLOTS;
    if (*slot % HALF_SLOTS != 0 || *slot + HALF_SLOTS > func->slot_count)
        return decode_refuse(d, "register '%s' has the impossible slot %d",
                             func->regs[operand->reg].name, first);
    *ref = (*slot * SLOT_BYTES + d->function->wide_offset) | (uint32_t)BASE_REG << REF_BASE_SHIFT;
    return SONDE_OK;
}

int decode_source_half(struct decoder *d, struct element *out, const struct ptx_operand *operand,
                       uint32_t half)
{
    uint32_t slot = UINT32_MAX;
    out->register_bytes = 8;
    /* Constants and addresses are of 64 bits; above them are zeros, as ptxas has it. */
    if (half > 0 && (operand->kind == OPERAND_IMM || operand->kind == OPERAND_VAR))
        return decode_constant(d, &out->ref, 0, 8);
    if (operand->kind == OPERAND_IMM || operand->kind == OPERAND_VAR)
        return decode_source_ref(d, &out->ref, operand, 8);
    int rc = half_ref(d, &out->ref, &slot, operand, half);
    if (rc == SONDE_OK && slot != UINT32_MAX)
        note_slots(d->info->src, &d->info->src_count, sizeof d->info->src / sizeof *d->info->src,
                   slot, HALF_SLOTS);
    return rc;
}

int decode_dest_half(struct decoder *d, struct element *out, const struct ptx_operand *operand,
                     uint32_t half)
{
    uint32_t slot = UINT32_MAX;
    out->register_bytes = 0;
    if (operand->kind == OPERAND_SINK)
        return SONDE_OK;
    int rc = half_ref(d, &out->ref, &slot, operand, half);
    out->register_bytes = 8;
    if (rc == SONDE_OK && slot != UINT32_MAX)
        note_slots(d->info->dst, &d->info->dst_count, sizeof d->info->dst / sizeof *d->info->dst,
                   slot, HALF_SLOTS);
    return rc;
}

/* Predicates: slot p of the function is preds[PRED_FIRST + p]. */
static int pred_slot(struct decoder *d, uint32_t *slot, const struct ptx_operand *operand)
{
    const struct ptx_func *func = d->function->func;
    if (operand->kind != OPERAND_REG || operand->reg < 0 ||
        (uint32_t)operand->reg >= func->reg_count || func->regs[operand->reg].type != TYPE_pred)
        return decode_refuse(d, "a predicate register was expected");
    int32_t got = func->regs[operand->reg].slot;
    if (got >= 0 && (uint32_t)got >= func->pred_count)
        return decode_refuse(d, "predicate '%s' has the impossible slot %d",
                             func->regs[operand->reg].name, got);
    *slot = got < 0 ? UINT32_MAX : (uint32_t)got;
    return SONDE_OK;
}

int decode_pred_source(struct decoder *d, int index, const struct ptx_operand *operand)
{
    bool flip = operand->negate;
    uint32_t slot = UINT32_MAX;
    d->uop->pred_source[index] = PRED_TRUE;
    if (operand->kind == OPERAND_IMM) {
        flip ^= operand->imm == 0;
    } else if (operand->kind == OPERAND_SREG && operand->sreg == SREG_IS_EXPLICIT_CLUSTER) {
        d->uop->pred_source[index] = PRED_CLUSTER;
    } else {
        int rc = pred_slot(d, &slot, operand);
        if (rc != SONDE_OK)
            return rc;
        d->uop->pred_source[index] = slot == UINT32_MAX ? PRED_SINK : (uint16_t)(slot + PRED_FIRST);
    }
    if (slot != UINT32_MAX)
        note_pred(d->info->src_pred, &d->info->src_pred_count, sizeof d->info->src_pred, slot);
    d->uop->pred_flip |= (uint8_t)((unsigned)flip << index);
    return SONDE_OK;
}

int decode_pred_dest(struct decoder *d, int index, const struct ptx_operand *operand)
{
    uint32_t slot = UINT32_MAX;
    d->uop->pred_dst[index] = PRED_SINK;
    if (operand->kind == OPERAND_SINK || operand->kind == OPERAND_NONE)
        return SONDE_OK;
    int rc = pred_slot(d, &slot, operand);
    if (rc != SONDE_OK || slot == UINT32_MAX)
        return rc;
    d->uop->pred_dst[index] = (uint16_t)(slot + PRED_FIRST);
    note_pred(d->info->dst_pred, &d->info->dst_pred_count, sizeof d->info->dst_pred, slot);
    return SONDE_OK;
}
