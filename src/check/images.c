/*
 * Textures and surfaces. A fetch has no place that is out of bounds: its address mode says what is
 * read there. Its texels may be freed or never written, those that it reads without weight apart. A
 * surface access that leaves the image is wrong with .trap; .clamp and .zero say what happens. What
 * of it lies inside is seen as an access to global memory (global.c).
 */
#include <inttypes.h>

#include "check/bits.h"
#include "check/state.h"
#include "exec/ops.h"
#include "exec/program.h"
#include "exec/texture/texture.h"

static bool is_freed(const struct allocation *near, uint64_t address)
{
    return near && !near->live && address - near->address < near->bytes;
}

/* False: there is nothing to be said of the texel. */
static bool texel_is_wrong(struct watched_cta *cta, struct exec_warp *warp,
                           const struct exec_access *access, uint32_t lane, uint64_t address,
                           uint32_t bytes)
{
    struct check *check = cta->launch->check;
    uint64_t offset = address - check->base;
    const struct allocation *near = allocation_near(check, address);
    bool freed = is_freed(near, address);
    if (offset >= check->range_bytes || (!freed && bits_all(check->written, offset, bytes)))
        return false;
    struct finding *f = finding_at(check, freed ? FAULT_FREED : FAULT_UNINITIALISED, warp,
                                   access->pc, lane, near ? near->number : 0);
    check->explained |= f && freed; /* that is a fault */
    if (!f || f->count > 1)
        return true;
    f->has_address = true;
    f->address = address;
    finding_text(check, &f->what, "fetch of a texel of %" PRIu32 " bytes", bytes);
    allocation_describe(check, &f->where, near, address);
    return true;
}

void texture_access(struct watched_cta *cta, struct exec_warp *warp,
                    const struct exec_access *access)
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t texels[FOOTPRINT_MAX];
        uint32_t lane = lowest_lane(rest), bytes;
        uint32_t count = exec_texture_needed(texels, &bytes, warp, access, lane);
        for (uint32_t i = 0; i < count; i++)
            if (texel_is_wrong(cta, warp, access, lane, texels[i], bytes))
                break; /* one of a lane */
    }
}

static const char *surface_words(const struct exec_warp *warp)
{
    switch (warp->state->program->insns[warp->pc]->op) {
    case OP_SULD:
        return "load";
    case OP_SURED:
    case OP_SURED_P:
        return "reduction";
    default:
        return "store";
    }
}

void surface_left(struct watched_cta *cta, struct exec_warp *warp, uint32_t lane,
                  const struct exec_image *image, const int64_t at[4], uint64_t bytes,
                  bool misaligned)
{
    struct check *check = cta->launch->check;
    const struct image_level *level = &image->level[0];
    const struct allocation *near = allocation_near(check, level->address);
    struct finding *f = finding_at(check, misaligned ? FAULT_MISALIGNED : FAULT_BOUNDS, warp,
                                   warp->pc, lane, near ? near->number : 0);
    if (!f || f->count > 1)
        return;
    f->has_address = true;
    f->address = level->address;
    finding_text(check, &f->what,
                 "surface %s of %" PRIu64 " bytes at x %" PRId64 ", y %" PRId64 ", z %" PRId64
                 ", layer %" PRId64,
                 surface_words(warp), bytes, at[0], at[1], at[2], at[3]);
    finding_text(check, &f->detail,
                 "the surface has %" PRIu32 " x %" PRIu32 " x %" PRIu32 " texels of %" PRIu32
                 " bytes in %" PRIu32 " layer%s",
                 level->width, level->height, level->depth, image->texel_bytes, image->layers,
                 image->layers == 1 ? "" : "s");
    allocation_describe(check, &f->where, near, level->address);
}
