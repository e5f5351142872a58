/*
 * Handles of textures, samplers and surfaces: what a lane's operand means. It is a handle that the
 * host made, or the address of a .texref, .surfref or .samplerref variable, whose contents count.
 * PTX ISA 9.0, 5.3.
 */
#include <inttypes.h>
#include <string.h>

#include "exec/fault.h"
#include "exec/memory/image.h"
#include "exec/observe.h"
#include "exec/ops/texture/tex.h"
#include "util/error.h"

int decode_handle(struct decoder *d, struct handle *out, const struct ptx_operand *operand)
{
    uint32_t offset;
    if (operand->kind != OPERAND_VAR || isa_space_base(operand->var->space) != SPACE_PARAM)
        return decode_source_element(d, &out->element, operand, 8);
    if (decode_frame_param(d, &offset, operand->var) || !d->function->func->is_entry)
        return decode_refuse(d, "'%s' as a parameter of a function is not implemented",
                             operand->var->name);
    out->is_param = true;
    out->param_offset = (uint32_t)operand->var->offset;
    return SONDE_OK;
}

/* The lane's value: of the operand, or of the variable whose address it is. */
static uint64_t handle_value(const struct exec_warp *warp, const struct handle *handle,
                             uint32_t lane)
{
    const struct exec_launch *launch = warp->cta->launch;
    uint64_t value = 0;
    if (handle->is_param && handle->param_offset + sizeof value > launch->param_bytes)
        return 0;
    if (handle->is_param) {
        memcpy(&value, launch->params + handle->param_offset, sizeof value);
        return value;
    }
    value = element_get(warp->state, &handle->element, lane);
    if (value % sizeof value == 0 && image_valid(launch->memory, value, sizeof value))
        memcpy(&value, (const void *)(uintptr_t)value, sizeof value);
    return value;
}

/* An object whose array has been given back. */
static void tell_gone(struct exec_warp *warp, const struct exec_image *image, uint32_t lane)
{
    const struct exec_observer *observer = warp->cta->launch->observer;
    if (observer && observer->stops)
        observer->stops(warp, lane, SPACE_GLOBAL, image->level[0].address, image->texel_bytes, 1);
}

const struct exec_texture *handle_texture(struct exec_warp *warp, const struct handle *handle,
                                          uint32_t lane)
{
    const struct exec_launch *launch = warp->cta->launch;
    uint64_t value = handle_value(warp, handle, lane), place = value - EXEC_TEXTURE_HANDLE;
    if (place >= launch->texture_count || !launch->textures[place].image) {
        fault_set(warp, warp->pc, lane, value, "0x%" PRIx64 " is no texture", value);
        return NULL;
    }
    if (launch->textures[place].image->gone) {
        tell_gone(warp, launch->textures[place].image, lane);
        fault_set(warp, warp->pc, lane, value, "the array of texture 0x%" PRIx64 " was destroyed",
                  value);
        return NULL;
    }
    return &launch->textures[place];
}

const struct exec_image *handle_surface(struct exec_warp *warp, const struct handle *handle,
                                        uint32_t lane)
{
    const struct exec_launch *launch = warp->cta->launch;
    uint64_t value = handle_value(warp, handle, lane), place = value - EXEC_SURFACE_HANDLE;
    if (place >= launch->surface_count || !launch->surfaces[place]) {
        fault_set(warp, warp->pc, lane, value, "0x%" PRIx64 " is no surface", value);
        return NULL;
    }
    if (launch->surfaces[place]->gone) {
        tell_gone(warp, launch->surfaces[place], lane);
        fault_set(warp, warp->pc, lane, value, "the array of surface 0x%" PRIx64 " was destroyed",
                  value);
        return NULL;
    }
    return launch->surfaces[place];
}

bool handle_sampler(uint64_t *out, struct exec_warp *warp, const struct handle *handle,
                    uint32_t lane)
{
    *out = handle_value(warp, handle, lane);
    if (*out & SAMPLER_PRESENT && *out >> (SAMPLER_ADDRESS_SHIFT + 6) == 0)
        return true;
    fault_set(warp, warp->pc, lane, *out, "0x%" PRIx64 " is no sampler", *out);
    return false;
}

struct texture_view sampled_view(const struct exec_texture *texture, uint64_t sampler)
{
    struct texture_view view = texture->view;
    if (!(sampler & SAMPLER_PRESENT))
        return view;
    view.linear = sampler & SAMPLER_LINEAR;
    view.normalized = view.normalized && !(sampler & SAMPLER_UNNORMALIZED);
    for (uint32_t axis = 0; axis < 3; axis++)
        view.address[axis] =
            (enum texture_address)(sampler >> (SAMPLER_ADDRESS_SHIFT + 2 * axis) & 3);
    return view;
}

bool geometry_fits(enum isa_mod geometry, enum image_shape shape)
{
    switch (geometry) {
    case MOD_GEOM_1d:
        return shape == IMAGE_BUFFER || shape == IMAGE_1D;
    case MOD_GEOM_2d:
        return shape == IMAGE_PITCH || shape == IMAGE_2D;
    case MOD_GEOM_3d:
        return shape == IMAGE_3D;
    case MOD_GEOM_a1d:
        return shape == IMAGE_1D_LAYERED;
    case MOD_GEOM_a2d:
        return shape == IMAGE_2D_LAYERED;
    case MOD_GEOM_cube:
        return shape == IMAGE_CUBE;
    case MOD_GEOM_acube:
        return shape == IMAGE_CUBE_LAYERED;
    default:
        return false;
    }
}
