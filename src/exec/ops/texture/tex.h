/*
 * What tex.c, tex_query.c and surface.c share: the operand that says which texture, sampler or
 * surface is meant, as a handle or as a variable that holds one.
 */
#ifndef SONDE_EXEC_OPS_TEX_H
#define SONDE_EXEC_OPS_TEX_H

#include "exec/ops/decoders.h"
#include "exec/texture/texture.h"

/* A handle in a register, the address of a variable that holds one, or a kernel parameter. */
struct handle {
    struct element element;
    bool is_param;
    uint32_t param_offset;
};
int decode_handle(struct decoder *d, struct handle *out, const struct ptx_operand *operand);

/* What a lane means. NULL: a fault is set. */
const struct exec_texture *handle_texture(struct exec_warp *warp, const struct handle *handle,
                                          uint32_t lane);
const struct exec_image *handle_surface(struct exec_warp *warp, const struct handle *handle,
                                        uint32_t lane);
/* The state of a sampler (isa/image.h); false: a fault is set. */
bool handle_sampler(uint64_t *out, struct exec_warp *warp, const struct handle *handle,
                    uint32_t lane);
/* A texture's view under a sampler; 0: its own. */
struct texture_view sampled_view(const struct exec_texture *texture, uint64_t sampler);

/* Which shape of image a geometry of the instruction reads. */
bool geometry_fits(enum isa_mod geometry, enum image_shape shape);

#endif
