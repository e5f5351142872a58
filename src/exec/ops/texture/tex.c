/*
 * Texture fetches: tex with and without a level or gradients, tld4. Issue finds texture, sampler,
 * layer and level of each lane and keeps them in the access; commit reads the texels and filters
 * (exec/texture/filter.c), so that a fetch sees memory as it is when the timing model lets it. PTX
 * ISA 9.0, 9.7.10; CUDA C Programming Guide, "Texture Fetching". Leaves out: multisampled images,
 * comparison of depths, whether a texel is resident.
 *
 * In an access of kind ACCESS_TEXTURE each lane has
 *
 *     data[0]      | coordinate y | coordinate x |
 *     data[1]      | 63 .. 48: sampler, 0: the texture's own | 47 .. 32: slice | coordinate z |
 *     data2        | 63 .. 44: place of the texture | 43 .. 32: offsets z, y, x | level, a float |
 *
 * where slice is the layer, of cubes six times the layer and the face.
 */
#include <inttypes.h>
#include <string.h>

#include "exec/fault.h"
#include "exec/lane/float_format.h"
#include "exec/memory/image.h"
#include "exec/memory/marks.h"
#include "exec/ops/texture/tex.h"
#include "isa/lane_math.h"
#include "util/error.h"

#define SAMPLER_SHIFT 48
#define SLICE_SHIFT 32
#define PLACE_SHIFT 44
#define OFFSET_SHIFT 32
#define OFFSET_BITS 4
#define GRADIENTS 3 /* of each of two */

enum detail { DETAIL_BASE, DETAIL_LEVEL, DETAIL_GRADIENTS };

struct uop_texture {
    struct uop_memory memory; /* first: uop->memory points here */
    struct handle texture, sampler;
    bool has_sampler, by_index, layered, is_cube, gather;
    enum isa_mod geometry;
    enum isa_type result;
    enum detail detail;
    uint32_t component, coordinates, offsets;
    struct element layer, coordinate[3], offset[3];
    struct element number[2 * GRADIENTS]; /* the level, or gradients */
    uint32_t gradients;
};

static const struct uop_texture *texture_uop(const struct uop_memory *memory)
{
    return (const struct uop_texture *)memory;
}

/* The level that a lane asks for. */
static float lane_level(const struct exec_state *state, const struct uop_texture *uop,
                        const struct exec_texture *texture, uint32_t lane)
{
    float numbers[2][GRADIENTS] = {{0}, {0}};
    if (uop->detail == DETAIL_BASE)
        return 0;
    if (uop->detail == DETAIL_LEVEL) {
        uint32_t bits = (uint32_t)element_get(state, &uop->number[0], lane);
        return uop->by_index ? (float)(int32_t)bits : lane_float(bits);
    }
    for (uint32_t i = 0; i < uop->gradients; i++)
        for (uint32_t k = 0; k < 2; k++)
            numbers[k][i] =
                lane_float((uint32_t)element_get(state, &uop->number[k * GRADIENTS + i], lane));
    return texture_gradient_level(texture->image, &texture->view, numbers[0], numbers[1]);
}

/* Coordinates and slice; a direction becomes a place on a face. */
static void lane_coordinates(struct exec_access *access, const struct exec_state *state,
                             const struct uop_texture *uop, const struct exec_texture *texture,
                             uint32_t lane)
{
    uint32_t words[3] = {0}, slice = 0;
    for (uint32_t i = 0; i < uop->coordinates; i++)
        words[i] = (uint32_t)element_get(state, &uop->coordinate[i], lane);
    if (uop->layered) {
        uint32_t layer = (uint32_t)element_get(state, &uop->layer, lane);
        uint32_t last = texture->image->spec.depth - (uop->by_index ? 0 : 1);
        slice = layer < last ? layer : last; /* by index one behind the last: reads zero */
    }
    if (uop->is_cube) {
        float direction[3] = {lane_float(words[0]), lane_float(words[1]), lane_float(words[2])};
        float place[2];
        slice = 6 * slice + texture_cube_face(place, direction);
        words[0] = lane_bits_f32(place[0]);
        words[1] = lane_bits_f32(place[1]);
        words[2] = 0;
    }
    access->data[lane][0] = words[0] | (uint64_t)words[1] << 32;
    access->data[lane][1] = words[2] | (uint64_t)slice << SLICE_SHIFT;
}

/* A sampler may ask of a texture what its own view may not (rt_texture_object). */
static bool sampler_fits(struct exec_warp *warp, const struct uop_texture *uop,
                         const struct exec_texture *texture, uint64_t sampler, uint32_t lane)
{
    struct texture_view view = sampled_view(texture, sampler);
    if (uop->by_index || uop->gather || !view.linear || texture_gives_floats(texture->image, &view))
        return true;
    fault_set(warp, warp->pc, lane, sampler,
              "linear filtering by a sampler of texels that are read as integers");
    return false;
}

static bool prepare_lane(struct exec_warp *warp, struct exec_access *access,
                         const struct uop_texture *uop, uint32_t lane)
{
    const struct exec_state *state = warp->state;
    const struct exec_texture *texture = handle_texture(warp, &uop->texture, lane);
    uint64_t sampler = 0, place;
    if (!texture || (uop->has_sampler && !handle_sampler(&sampler, warp, &uop->sampler, lane)))
        return false;
    if (!geometry_fits(uop->geometry, texture->image->spec.shape) ||
        (texture->image->spec.shape == IMAGE_BUFFER && !uop->by_index)) {
        fault_set(warp, warp->pc, lane, 0, "a fetch by %s.%s from a texture of another shape",
                  isa_mod_text(uop->geometry), uop->by_index ? "s32" : "f32");
        return false;
    }
    if (uop->has_sampler && !sampler_fits(warp, uop, texture, sampler, lane))
        return false;
    lane_coordinates(access, state, uop, texture, lane);
    place = (uint64_t)(texture - warp->cta->launch->textures);
    access->data[lane][1] |= sampler << SAMPLER_SHIFT;
    access->data2[lane] =
        place << PLACE_SHIFT | lane_bits_f32(lane_level(state, uop, texture, lane));
    for (uint32_t i = 0; i < uop->offsets; i++) {
        uint64_t offset = element_get(state, &uop->offset[i], lane) & ((1u << OFFSET_BITS) - 1);
        access->data2[lane] |= offset << (OFFSET_SHIFT + OFFSET_BITS * i);
    }
    return true;
}

/* The fetch of a lane, from what issue kept. */
static void lane_fetch(struct texture_fetch *out, const struct exec_warp *warp,
                       const struct uop_texture *uop, const struct exec_access *access,
                       uint32_t lane)
{
    uint64_t low = access->data[lane][0], high = access->data[lane][1], rest = access->data2[lane];
    const struct exec_texture *texture = &warp->cta->launch->textures[rest >> PLACE_SHIFT];
    *out =
        (struct texture_fetch){.image = texture->image,
                               .view = sampled_view(texture, high >> SAMPLER_SHIFT),
                               .by_index = uop->by_index,
                               .gather = uop->gather,
                               .base = uop->detail == DETAIL_BASE,
                               .component = uop->component,
                               .coordinate = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high},
                               .slice = (uint16_t)(high >> SLICE_SHIFT),
                               .level = lane_float((uint32_t)rest)};
    for (uint32_t i = 0; i < uop->offsets; i++) {
        uint32_t offset = (uint32_t)(rest >> (OFFSET_SHIFT + OFFSET_BITS * i));
        out->offset[i] = (int32_t)(offset << (32 - OFFSET_BITS)) >> (32 - OFFSET_BITS);
    }
    if (uop->is_cube) {
        out->view.normalized = true;
        out->view.address[0] = out->view.address[1] = TEXTURE_CLAMP;
    }
}

enum exec_event run_texture(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                            struct exec_access *access)
{
    const struct uop_texture *texture = texture_uop(uop->memory);
    const struct exec_state *state = warp->state;
    if (!mask)
        return advance(warp);
    access->kind = ACCESS_TEXTURE;
    access->space = SPACE_GLOBAL;
    access->mask = mask;
    access->pc = warp->pc;
    access->bytes = 4;
    access->vec = 1;
    access->cache_op = MOD_NONE;
    access->is_volatile = access->contiguous = false;
    access->non_coherent = true;
    access->frame_offset = state->frame_offset;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (!prepare_lane(warp, access, texture, lowest_lane(rest)))
            return EXEC_FAULT;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t texels[FOOTPRINT_MAX];
        uint32_t lane = lowest_lane(rest), bytes;
        bool any = exec_texture_addresses(texels, &bytes, warp, access, lane) > 0;
        access->address[lane] = any ? texels[0] : 0;
    }
    advance(warp);
    return EXEC_ACCESS;
}

const struct exec_image *exec_texture_image(const struct exec_warp *warp,
                                            const struct exec_access *access, uint32_t lane)
{
    return warp->cta->launch->textures[access->data2[lane] >> PLACE_SHIFT].image;
}

/* Whether the value depends on a texel: filtering may give it no weight. */
static bool has_weight(const struct footprint *footprint, uint32_t texel, bool gather)
{
    uint32_t second = texel / footprint->corners, corner = texel % footprint->corners;
    bool weighs = true;
    for (uint32_t axis = 0; axis < 3; axis++)
        weighs &= !(corner >> axis & 1) || footprint->fraction[second][axis] > 0;
    return weighs || gather;
}

static uint32_t texel_addresses(uint64_t out[FOOTPRINT_MAX], uint32_t *texel_bytes,
                                const struct exec_warp *warp, const struct exec_access *access,
                                uint32_t lane, bool needed)
{
    const struct uop_texture *uop = texture_uop(warp->state->uops[access->pc].memory);
    struct texture_fetch fetch;
    struct footprint footprint;
    uint32_t count = 0;
    lane_fetch(&fetch, warp, uop, access, lane);
    texture_footprint(&footprint, &fetch);
    *texel_bytes = fetch.image->texel_bytes;
    for (uint32_t i = 0; i < footprint.count; i++) {
        uint32_t k = 0;
        while (k < count && out[k] != footprint.address[i])
            k++;
        if (k == count && footprint.address[i] &&
            (!needed || has_weight(&footprint, i, uop->gather)))
            out[count++] = footprint.address[i];
    }
    return count;
}

uint32_t exec_texture_addresses(uint64_t out[FOOTPRINT_MAX], uint32_t *texel_bytes,
                                const struct exec_warp *warp, const struct exec_access *access,
                                uint32_t lane)
{
    return texel_addresses(out, texel_bytes, warp, access, lane, false);
}

uint32_t exec_texture_needed(uint64_t out[FOOTPRINT_MAX], uint32_t *texel_bytes,
                             const struct exec_warp *warp, const struct exec_access *access,
                             uint32_t lane)
{
    return texel_addresses(out, texel_bytes, warp, access, lane, true);
}

/* A texture of linear memory dies with it, as an array's does with the array. */
static int check_texels(struct exec_warp *warp, const struct exec_access *access,
                        const struct texture_fetch *fetch, const struct footprint *footprint,
                        uint32_t lane)
{
    const struct exec_image *image = fetch->image;
    bool linear = image->spec.shape == IMAGE_BUFFER || image->spec.shape == IMAGE_PITCH;
    for (uint32_t i = 0; i < footprint->count; i++) {
        uint64_t address = footprint->address[i];
        if (address && linear &&
            !image_valid(warp->cta->launch->memory, address, image->texel_bytes))
            return fault_set(warp, access->pc, lane, address,
                             "the texture at 0x%" PRIx64 " has been freed", address);
    }
    return SONDE_OK;
}

/* Where marks are kept: whether its texels may be read. */
static bool may_read(const struct exec_warp *warp, const struct exec_access *access,
                     const struct texture_fetch *fetch, const struct footprint *footprint)
{
    bool may = true;
    for (uint32_t i = 0; warp->env->marks && may && i < footprint->count; i++)
        may = !footprint->address[i] || marks_bytes(warp, access->pc, footprint->address[i],
                                                    fetch->image->texel_bytes, false);
    return may;
}

/* What the instruction makes of the texture's floats or integers. */
static uint32_t convert_component(uint32_t word, bool is_float, enum isa_type result)
{
    if ((result == TYPE_f16 || result == TYPE_f16x2) && is_float)
        return format_narrow(&format_f16, lane_float(word), ROUND_NEAREST, false);
    return word;
}

static void write_components(const struct exec_state *state, const struct uop_texture *uop,
                             const struct exec_access *access, const uint32_t values[4],
                             uint32_t lane)
{
    uint32_t words[4] = {values[0], values[1], values[2], values[3]};
    if (uop->result == TYPE_f16x2) {
        words[0] = values[0] | values[1] << 16;
        words[1] = values[2] | values[3] << 16;
    }
    for (uint32_t k = 0; k < uop->memory.vec; k++) {
        const struct element *element = &uop->memory.elements[k];
        uint8_t *lanes = state->storage + access->frame_offset + (element->ref & REF_OFFSET_MASK);
        if (element->register_bytes)
            memcpy(lanes + lane * 4, &words[k], sizeof words[k]);
    }
}

/* To the registers of the frame that fetched. */
int commit_texture(struct exec_warp *warp, const struct uop_memory *memory,
                   const struct exec_access *access)
{
    const struct uop_texture *uop = texture_uop(memory);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), values[4];
        struct texture_fetch fetch;
        struct footprint footprint;
        lane_fetch(&fetch, warp, uop, access, lane);
        texture_footprint(&footprint, &fetch);
        int rc = check_texels(warp, access, &fetch, &footprint, lane);
        if (rc != SONDE_OK || !may_read(warp, access, &fetch, &footprint))
            return rc;
        texture_value(values, &fetch, &footprint);
        bool is_float = texture_gives_floats(fetch.image, &fetch.view);
        for (uint32_t k = 0; k < 4; k++)
            values[k] = convert_component(values[k], is_float, uop->result);
        write_components(warp->state, uop, access, values, lane);
    }
    return SONDE_OK;
}

/* Decoding. */

static int decode_numbers(struct decoder *d, struct element *out, uint32_t *count,
                          const struct ptx_operand *operand, uint32_t most)
{
    bool vector = operand->kind == OPERAND_VECTOR;
    uint32_t given = vector ? operand->count : 1;
    int rc = SONDE_OK;
    *count = given < most ? given : most; /* a fourth is not used */
    for (uint32_t i = 0; rc == SONDE_OK && i < *count; i++)
        rc = decode_source_element(d, &out[i], vector ? &operand->elems[i] : operand, 4);
    return rc;
}

static int decode_coordinates(struct decoder *d, struct uop_texture *uop,
                              const struct ptx_operand *fetch)
{
    uint32_t at = 1 + (uint32_t)fetch->imm;
    int rc = decode_handle(d, &uop->texture, &fetch->elems[0]);
    uop->has_sampler = fetch->imm != 0;
    if (rc == SONDE_OK && uop->has_sampler)
        rc = decode_handle(d, &uop->sampler, &fetch->elems[1]);
    if (rc == SONDE_OK && uop->layered)
        rc = decode_source_element(d, &uop->layer, &fetch->elems[at++], 4);
    for (uint32_t i = 0; rc == SONDE_OK && i < uop->coordinates; i++)
        rc = decode_source_element(d, &uop->coordinate[i], &fetch->elems[at + i], 4);
    return rc;
}

/* What stands behind the fetch: a level or gradients, offsets. */
static int decode_details(struct decoder *d, struct uop_texture *uop)
{
    const struct ptx_operand *operands = d->insn->operands;
    uint32_t at = 2, count = d->insn->operand_count, numbers = 0;
    int rc = SONDE_OK;
    if (uop->detail == DETAIL_LEVEL)
        rc = decode_numbers(d, uop->number, &numbers, &operands[at++], 1);
    for (uint32_t k = 0; rc == SONDE_OK && uop->detail == DETAIL_GRADIENTS && k < 2; k++)
        rc = decode_numbers(d, &uop->number[k * GRADIENTS], &uop->gradients, &operands[at++],
                            GRADIENTS);
    if (rc == SONDE_OK && at < count && uop->is_cube)
        rc = decode_refuse(d, "offsets on a cube are not implemented");
    if (rc == SONDE_OK && at < count)
        rc = decode_numbers(d, uop->offset, &uop->offsets, &operands[at], 3);
    return rc;
}

static void classify(struct uop_texture *uop, const struct ptx_insn *insn)
{
    enum isa_mod geometry = (enum isa_mod)insn->mods[MODC_GEOM];
    uop->geometry = geometry;
    uop->layered =
        geometry == MOD_GEOM_a1d || geometry == MOD_GEOM_a2d || geometry == MOD_GEOM_acube;
    uop->is_cube = geometry == MOD_GEOM_cube || geometry == MOD_GEOM_acube;
    uop->coordinates = geometry == MOD_GEOM_1d || geometry == MOD_GEOM_a1d   ? 1
                       : geometry == MOD_GEOM_2d || geometry == MOD_GEOM_a2d ? 2
                                                                             : 3;
    uop->by_index = insn->tuple.s == TYPE_s32;
    uop->result = insn->tuple.d;
    uop->gather = insn->op == OP_TLD4;
    if (uop->gather)
        uop->component = insn->mods[MODC_COMPONENT] - MOD_COMPONENT_r;
    if (insn->op == OP_TEX_LEVEL || insn->op == OP_TEX_LEVEL_PAIR)
        uop->detail = DETAIL_LEVEL;
    else if (insn->op == OP_TEX_GRAD || insn->op == OP_TEX_GRAD_PAIR)
        uop->detail = DETAIL_GRADIENTS;
}

int decode_texture(struct decoder *d)
{
    const struct ptx_operand *operands = d->insn->operands;
    struct uop_texture *uop = arena_alloc(d->arena, sizeof *uop);
    if (!uop)
        return error_memory();
    classify(uop, d->insn);
    d->uop->run = run_texture;
    d->uop->memory = &uop->memory;
    uop->memory.kind = ACCESS_TEXTURE;
    uop->memory.space = SPACE_GLOBAL;
    uop->memory.vec = operands[0].kind == OPERAND_VECTOR ? (uint8_t)operands[0].count : 1;
    uop->memory.bytes = 4;
    uop->memory.non_coherent = true;
    d->info->space = SPACE_GLOBAL;
    d->info->is_load = true;
    if (uop->geometry == MOD_GEOM_2dms || uop->geometry == MOD_GEOM_a2dms)
        return decode_refuse(d, "'%s' of multisampled images is not implemented",
                             isa_row(d->insn->op)->name);
    if (uop->is_cube && (uop->by_index || uop->detail == DETAIL_GRADIENTS))
        return decode_refuse(d, "'%s' of a cube by %s is not implemented",
                             isa_row(d->insn->op)->name, uop->by_index ? "indices" : "gradients");
    if (uop->detail == DETAIL_GRADIENTS && uop->by_index)
        return decode_refuse(d, "'%s' by indices is not implemented", isa_row(d->insn->op)->name);
    int rc = decode_coordinates(d, uop, &operands[1]);
    if (rc == SONDE_OK)
        rc = decode_details(d, uop);
    for (uint32_t k = 0; rc == SONDE_OK && k < uop->memory.vec; k++)
        rc = decode_dest_element(d, &uop->memory.elements[k], &operands[0].elems[k]);
    return rc;
}
