/*
 * mov with vectors: {a, b} packed into one register of twice the width, or unpacked from it or from
 * a constant, an address, a special register; the first element has the low bits. Everything else
 * that mov does is regular.
 */
#include "exec/ops/decoders.h"
#include "util/error.h"

#define PACK_MAX 8

/* The vector's elements, and the whole value after them. */
static const struct element *whole(const struct uop *uop)
{
    return &uop->elements[PACK_MAX];
}

enum exec_event run_pack(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                         struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    uint32_t bits = uop->target;
    uint64_t keep = (UINT64_C(1) << bits) - 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t value = 0;
        for (uint32_t k = 0; k < uop->option; k++)
            value |= (element_get(state, &uop->elements[k], lane) & keep) << (k * bits);
        element_set(state, whole(uop), lane, value);
    }
    return advance(warp);
}

enum exec_event run_unpack(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                           struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    uint32_t bits = uop->target;
    uint64_t keep = (UINT64_C(1) << bits) - 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t value = element_get(state, whole(uop), lane);
        for (uint32_t k = 0; k < uop->option; k++)
            if (uop->elements[k].register_bytes)
                element_set(state, &uop->elements[k], lane, value >> (k * bits) & keep);
    }
    return advance(warp);
}

/* Elements 0.. from elements PACK_MAX / 2..; all are read before any is written. */
enum exec_event run_move_vector(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t value[PACK_MAX / 2] = {0};
        for (uint32_t k = 0; k < uop->option; k++)
            value[k] = element_get(state, &uop->elements[PACK_MAX / 2 + k], lane);
        for (uint32_t k = 0; k < uop->option; k++)
            if (uop->elements[k].register_bytes)
                element_set(state, &uop->elements[k], lane, value[k]);
    }
    return advance(warp);
}

static int decode_vectors(struct decoder *d, const struct ptx_operand *to,
                          const struct ptx_operand *from)
{
    struct element *elements = arena_array(d->arena, PACK_MAX, sizeof *elements);
    if (!elements)
        return error_memory();
    if (to->count != from->count || to->count > PACK_MAX / 2)
        return decode_refuse(d, "mov of %u elements to %u is not implemented", from->count,
                             to->count);
    d->uop->run = run_move_vector;
    d->uop->elements = elements;
    d->uop->option = (uint16_t)to->count;
    int rc = SONDE_OK;
    for (uint32_t k = 0; rc == SONDE_OK && k < to->count; k++) {
        rc = decode_dest_element(d, &elements[k], &to->elems[k]);
        if (rc == SONDE_OK)
            rc = decode_source_element(d, &elements[PACK_MAX / 2 + k], &from->elems[k],
                                       isa_type_info(d->insn->types[0])->bytes);
    }
    return rc;
}

static int decode_elements(struct decoder *d, const struct ptx_operand *vector,
                           const struct ptx_operand *value, bool packs)
{
    struct element *elements = arena_array(d->arena, PACK_MAX + 1, sizeof *elements);
    uint32_t bytes = isa_type_info(d->insn->types[0])->bytes;
    if (!elements)
        return error_memory();
    if (vector->count < 2 || vector->count > PACK_MAX || bytes % vector->count != 0)
        return decode_refuse(d, "mov of %u bytes with %u elements is not implemented", bytes,
                             vector->count);
    d->uop->elements = elements;
    d->uop->option = (uint16_t)vector->count;
    d->uop->target = bytes / vector->count * 8;
    int rc = packs ? decode_dest_element(d, &elements[PACK_MAX], value)
                   : decode_source_element(d, &elements[PACK_MAX], value, bytes);
    for (uint32_t k = 0; rc == SONDE_OK && k < vector->count; k++)
        rc = packs
                 ? decode_source_element(d, &elements[k], &vector->elems[k], bytes / vector->count)
                 : decode_dest_element(d, &elements[k], &vector->elems[k]);
    return rc;
}

/* 128 bits: registers' halves, or vectors of two or four, in elements 0.. and PACK_MAX / 2... */
enum exec_event run_move_wide(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                              struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    uint32_t to = uop->option, from = uop->target;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t half[2] = {0};
        for (uint32_t k = 0; k < from; k++)
            half[k * 2 / from] |= element_get(state, &uop->elements[PACK_MAX / 2 + k], lane)
                                  << (from == 4 && k % 2 ? 32 : 0);
        for (uint32_t k = 0; k < to; k++)
            if (uop->elements[k].register_bytes)
                element_set(state, &uop->elements[k], lane,
                            half[k * 2 / to] >> (to == 4 && k % 2 ? 32 : 0));
    }
    return advance(warp);
}

int decode_move_wide(struct decoder *d)
{
    const struct ptx_operand *to = &d->insn->operands[0], *from = &d->insn->operands[1];
    struct element *elements = arena_array(d->arena, PACK_MAX, sizeof *elements);
    uint32_t to_count = to->kind == OPERAND_VECTOR ? to->count : 2;
    uint32_t from_count = from->kind == OPERAND_VECTOR ? from->count : 2;
    if (!elements)
        return error_memory();
    if ((to_count != 2 && to_count != 4) || (from_count != 2 && from_count != 4))
        return decode_refuse(d, "mov of %u bytes with %u elements is not implemented", 16u,
                             to->kind == OPERAND_VECTOR ? to_count : from_count);
    d->uop->run = run_move_wide;
    d->uop->elements = elements;
    d->uop->option = (uint16_t)to_count;
    d->uop->target = from_count;
    int rc = SONDE_OK;
    for (uint32_t k = 0; rc == SONDE_OK && k < to_count; k++)
        rc = to->kind == OPERAND_VECTOR ? decode_dest_element(d, &elements[k], &to->elems[k])
                                        : decode_dest_half(d, &elements[k], to, k);
    for (uint32_t k = 0; rc == SONDE_OK && k < from_count; k++) {
        struct element *element = &elements[PACK_MAX / 2 + k];
        rc = from->kind == OPERAND_VECTOR
                 ? decode_source_element(d, element, &from->elems[k], 16 / from_count)
                 : decode_source_half(d, element, from, k);
    }
    return rc;
}

int decode_mov(struct decoder *d)
{
    const struct ptx_operand *to = &d->insn->operands[0], *from = &d->insn->operands[1];
    if (from->kind == OPERAND_SREG)
        d->info->unit = UNIT_SPECIAL;
    if (from->kind == OPERAND_VECTOR && to->kind == OPERAND_REG) {
        d->uop->run = run_pack;
        return decode_elements(d, from, to, true);
    }
    if (to->kind == OPERAND_VECTOR && from->kind == OPERAND_VECTOR)
        return decode_vectors(d, to, from);
    if (to->kind == OPERAND_VECTOR) {
        d->uop->run = run_unpack;
        return decode_elements(d, to, from, false);
    }
    return decode_regular(d);
}
