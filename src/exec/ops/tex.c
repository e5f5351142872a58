/*
 * Texture fetches from linear memory by an integer coordinate (tex.1d.v4 with .s32), through the
 * handle of a texture object. A texel is one 32-bit value: it comes back in the first component,
 * with 0, 0 and 1 in the others as for every format that lacks them; beside the texture all four
 * are 0. What lies beside it has address 0 in the access. PTX ISA 9.0, 9.7.11.1; CUDA C Programming
 * Guide 6.0, 3.2.11.1 and appendix F.1. Leaves out: other geometries, filtering, conversion of
 * texels to the destination's type (the bits are handed on).
 */
#include <inttypes.h>
#include <string.h>

#include "exec/decode.h"
#include "exec/fault.h"
#include "exec/memory.h"
#include "util/error.h"

#define TEXEL_BYTES 4

enum exec_event run_texture(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                            struct exec_access *access)
{
    const struct uop_memory *memory = uop->memory;
    const struct exec_state *state = warp->state;
    const struct exec_launch *launch = warp->cta->launch;
    if (!mask)
        return advance(warp);
    *access = (struct exec_access){.kind = ACCESS_TEXTURE,
                                   .space = SPACE_GLOBAL,
                                   .mask = mask,
                                   .pc = warp->pc,
                                   .bytes = TEXEL_BYTES,
                                   .vec = 1,
                                   .cache_op = MOD_NONE,
                                   .non_coherent = true,
                                   .frame_offset = state->frames[state->depth].offset};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t handle = element_get(state, &memory->atom[0], lane);
        uint64_t place = handle - EXEC_TEXTURE_HANDLE;
        if (place >= launch->texture_count || launch->textures[place].bytes == 0) {
            fault_set(warp, warp->pc, lane, handle, "0x%" PRIx64 " is no texture", handle);
            return EXEC_FAULT;
        }
        const struct exec_texture *texture = &launch->textures[place];
        uint64_t texel = (uint32_t)element_get(state, &memory->atom[1], lane);
        if (texel < texture->bytes / TEXEL_BYTES)
            access->address[lane] = texture->address + texel * TEXEL_BYTES;
    }
    advance(warp);
    return EXEC_ACCESS;
}

/* Four components to the registers of the frame that fetched. */
int commit_texture(struct exec_warp *warp, const struct uop_memory *memory,
                   const struct exec_access *access)
{
    const struct exec_state *state = warp->state;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint32_t value[4] = {0};
        uint64_t address = access->address[lane];
        if (address) {
            if (!exec_memory_valid(warp->cta->launch->memory, address, TEXEL_BYTES))
                return fault_set(warp, access->pc, lane, address,
                                 "the texture at 0x%" PRIx64 " has been freed", address);
            memcpy(value, (const void *)(uintptr_t)address, TEXEL_BYTES);
            value[3] = 1;
        }
        for (uint32_t k = 0; k < 4; k++) {
            const struct element *element = &memory->elements[k];
            uint8_t *lanes =
                state->storage + access->frame_offset + (element->ref & REF_OFFSET_MASK);
            if (element->register_bytes)
                memcpy(lanes + lane * element->register_bytes, &value[k], sizeof value[k]);
        }
    }
    return SONDE_OK;
}

int decode_texture(struct decoder *d)
{
    const struct ptx_operand *result = &d->insn->operands[0], *fetch = &d->insn->operands[1];
    struct uop_memory *memory = arena_alloc(d->arena, sizeof *memory);
    if (!memory)
        return error_memory();
    d->uop->run = run_texture;
    d->uop->memory = memory;
    memory->kind = ACCESS_TEXTURE;
    memory->space = SPACE_GLOBAL;
    memory->vec = 4;
    memory->bytes = TEXEL_BYTES;
    memory->non_coherent = true;
    d->info->space = SPACE_GLOBAL;
    d->info->is_load = true;
    if (result->count != 4 || fetch->count != 2)
        return decode_refuse(d, "a fetch of this shape is not implemented");
    int rc = decode_source_element(d, &memory->atom[0], &fetch->elems[0], 8);
    if (rc == SONDE_OK)
        rc = decode_source_element(d, &memory->atom[1], &fetch->elems[1], 4);
    for (uint32_t k = 0; rc == SONDE_OK && k < 4; k++)
        rc = decode_dest_element(d, &memory->elements[k], &result->elems[k]);
    return rc;
}
