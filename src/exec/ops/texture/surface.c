/*
 * Surfaces: suld.b, sust.b, sust.p, sured. A surface is written and read by unfiltered indices; x
 * counts bytes, in the formatted operations (.p) texels. What lies outside is a fault (.trap),
 * moved to the nearest texel (.clamp), or read as zero and not written (.zero). Addresses are
 * resolved at issue; from there an access is an ordinary load, store or reduction of global memory
 * at the places that the image's layout gives. PTX ISA 9.0, 9.7.11. Leaves out: multisampled and
 * cube geometries (cubes are written as layers).
 */
#include <inttypes.h>
#include <string.h>

#include "exec/fault.h"
#include "exec/lane/float_format.h"
#include "exec/observe.h"
#include "exec/ops/texture/tex.h"
#include "util/error.h"

struct uop_surface {
    struct uop_memory memory; /* first: uop->memory points here; elements: data */
    struct handle surface;
    enum isa_mod geometry, outside;
    bool formatted, layered;
    uint32_t coordinates;
    struct element layer, coordinate[3];
};

static bool surface_geometry_fits(enum isa_mod geometry, enum image_shape shape)
{
    return geometry_fits(geometry, shape) || (geometry == MOD_GEOM_a2d && image_is_cube(shape));
}

/* One coordinate inside of `size` units: false if the lane takes no part. */
static bool resolve_coordinate(int64_t *at, int64_t size, enum isa_mod outside, bool *faults)
{
    if (*at >= 0 && *at < size)
        return true;
    if (outside == MOD_OUTSIDE_clamp && size > 0) { /* 0: a row narrower than the access */
        *at = *at < 0 ? 0 : size - 1;
        return true;
    }
    *faults = outside == MOD_OUTSIDE_trap;
    return false;
}

/* Outside of the image or misaligned: whoever observes the launch is told, else it faults: false.
 */
static bool outside_told(struct exec_warp *warp, const struct exec_image *image, uint32_t bytes,
                         const int64_t at[4], bool misaligned, uint32_t lane)
{
    const struct exec_observer *observer = warp->cta->launch->observer;
    if (observer && observer->leaves) {
        observer->leaves(warp, lane, image, at, bytes, misaligned);
        return true;
    }
    if (misaligned)
        fault_set(warp, warp->pc, lane, (uint64_t)at[0],
                  "a surface access of %u bytes at byte %" PRId64 " is misaligned", bytes, at[0]);
    else
        fault_set(warp, warp->pc, lane, 0,
                  "a surface access at (%" PRId64 ", %" PRId64 ", %" PRId64 "), layer %" PRId64
                  " is outside",
                  at[0], at[1], at[2], at[3]);
    return false;
}

/* The lane's address; 0: it takes no part. False: the launch faults. */
static bool lane_address(uint64_t *address, struct exec_warp *warp, const struct uop_surface *uop,
                         const struct exec_image *image, uint32_t bytes, uint32_t lane)
{
    const struct exec_state *state = warp->state;
    const struct image_level *level = &image->level[0];
    int64_t at[4] = {0};
    bool faults = false, inside = true;
    for (uint32_t i = 0; i < uop->coordinates; i++)
        at[i] = (int32_t)element_get(state, &uop->coordinate[i], lane);
    at[3] = uop->layered ? (int64_t)(uint32_t)element_get(state, &uop->layer, lane) : 0;
    /* x in units of the access, which never lies across two of them. */
    int64_t unit = uop->formatted ? 1 : bytes;
    const int64_t given[4] = {at[0], at[1], at[2], at[3]};
    *address = 0;
    if (at[0] % unit != 0)
        return outside_told(warp, image, bytes, given, true, lane);
    at[0] /= unit;
    int64_t sizes[4] = {(int64_t)level->width * image->texel_bytes / bytes, level->height,
                        level->depth, image->layers};
    for (uint32_t i = 0; i < 4 && inside; i++)
        inside = resolve_coordinate(&at[i], sizes[i], uop->outside, &faults);
    if (faults)
        return outside_told(warp, image, bytes, given, false, lane);
    if (inside)
        *address = image_byte(image, level, (uint64_t)at[0] * bytes, (uint32_t)at[1],
                              (uint64_t)(at[2] + at[3]));
    return true;
}

/* Lanes that read outside (.zero) have their result at once. */
static void read_zero(const struct exec_state *state, const struct uop_surface *uop, uint32_t lane)
{
    for (uint32_t k = 0; uop->memory.kind == ACCESS_LOAD && k < uop->memory.vec; k++)
        if (uop->memory.elements[k].register_bytes)
            element_set(state, &uop->memory.elements[k], lane, 0);
}

/* A 32-bit component as a channel of the surface's format: integers saturated, floats cut to
 * halves, as an H200 does (tests/textures). */
static uint32_t pack_channel(uint32_t word, const struct texel_format *format)
{
    float value;
    memcpy(&value, &word, sizeof value);
    if (format->bits == 32)
        return word;
    if (format->kind == TEXEL_FLOAT && (word & 0x7f800000) == 0x7f800000)
        return (word >> 16 & 0x8000) | 0x7c00 | (word >> 13 & 0x3ff);
    if (format->kind == TEXEL_FLOAT)
        return format_narrow(&format_f16, value, ROUND_ZERO, true);
    uint32_t most = (1u << format->bits) - 1, half = most / 2;
    if (format->kind == TEXEL_UNSIGNED)
        return word < most ? word : most;
    int32_t number = (int32_t)word, limit = (int32_t)half;
    number = number > limit ? limit : number < -limit - 1 ? -limit - 1 : number;
    return (uint32_t)number & most;
}

static void gather_surface(struct exec_access *access, const struct exec_state *state,
                           const struct uop_surface *uop, const struct exec_image *image,
                           uint32_t lane)
{
    const struct uop_memory *memory = &uop->memory;
    const struct texel_format *format = &image->spec.format;
    uint8_t *data = (uint8_t *)access->data[lane];
    if (memory->kind == ACCESS_REDUCTION) {
        access->data[lane][0] = element_get(state, &memory->atom[0], lane);
        access->data2[lane] = format->kind == TEXEL_SIGNED;
    }
    if (memory->kind != ACCESS_STORE)
        return;
    uint32_t bytes = uop->formatted ? format->bits / 8 : memory->bytes;
    uint32_t count = uop->formatted ? format->channels : memory->vec;
    for (uint32_t k = 0; k < count && k < UOP_VECTOR_MAX; k++) {
        uint64_t value = k < memory->vec ? element_get(state, &memory->elements[k], lane) : 0;
        if (uop->formatted)
            value = pack_channel((uint32_t)value, format);
        memcpy(data + k * bytes, &value, bytes);
    }
}

/* How many bytes a lane moves: the instruction says it, or the format. */
static bool access_bytes(uint32_t *bytes, struct exec_warp *warp, const struct uop_surface *uop,
                         const struct exec_image *image, uint32_t lane, uint32_t before)
{
    *bytes = uop->formatted ? image->texel_bytes : (uint32_t)uop->memory.bytes * uop->memory.vec;
    if (!surface_geometry_fits(uop->geometry, image->spec.shape)) {
        fault_set(warp, warp->pc, lane, 0, "an access by %s to a surface of another shape",
                  isa_mod_text(uop->geometry));
        return false;
    }
    bool word = image->spec.format.bits == 32 && image->spec.format.channels == 1;
    if (uop->memory.kind == ACCESS_REDUCTION && uop->formatted && !word) {
        fault_set(warp, warp->pc, lane, 0, "sured.p on a surface whose texels are not 32-bit");
        return false;
    }
    if (before && before != *bytes) {
        fault_set(warp, warp->pc, lane, 0,
                  "lanes of one instruction write surfaces of different texel sizes");
        return false;
    }
    return true;
}

static enum exec_event run_surface(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                   struct exec_access *access)
{
    const struct uop_surface *surface = (const struct uop_surface *)(const void *)uop->memory;
    const struct exec_state *state = warp->state;
    uint32_t bytes = 0, inside = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        const struct exec_image *image = handle_surface(warp, &surface->surface, lane);
        if (!image || !access_bytes(&bytes, warp, surface, image, lane, bytes) ||
            !lane_address(&access->address[lane], warp, surface, image, bytes, lane))
            return EXEC_FAULT;
        if (!access->address[lane]) {
            read_zero(state, surface, lane);
            continue;
        }
        inside |= 1u << lane;
        gather_surface(access, state, surface, image, lane);
    }
    if (!inside)
        return advance(warp);
    access->kind = surface->memory.kind;
    access->space = SPACE_GLOBAL;
    access->mask = inside;
    access->pc = warp->pc;
    access->bytes = (uint8_t)(surface->formatted ? bytes : surface->memory.bytes);
    access->vec = surface->formatted ? 1 : surface->memory.vec;
    access->cache_op = surface->memory.cache_op;
    access->is_volatile = access->non_coherent = access->contiguous = false;
    access->frame_offset = state->frame_offset;
    advance(warp);
    return EXEC_ACCESS;
}

/* Minimum and maximum by the format of the surface, whose sign gather_surface() hands on. */
static uint64_t format_minimum(uint64_t old, uint64_t b, uint64_t is_signed)
{
    bool less = is_signed ? (int32_t)old < (int32_t)b : (uint32_t)old < (uint32_t)b;
    return less ? old : b;
}

static uint64_t format_maximum(uint64_t old, uint64_t b, uint64_t is_signed)
{
    return format_minimum(old, b, is_signed) == old ? b : old;
}

/* Decoding. */

static lane_atom *find_combine(enum isa_mod op, enum isa_type type)
{
    if (type == TYPE_b32 && op == MOD_ATOM_min)
        return format_minimum;
    if (type == TYPE_b32 && op == MOD_ATOM_max)
        return format_maximum;
    return decode_find_atom(op, type);
}

static enum exec_access_kind surface_kind(enum isa_op op)
{
    return op == OP_SULD                        ? ACCESS_LOAD
           : op == OP_SURED || op == OP_SURED_P ? ACCESS_REDUCTION
                                                : ACCESS_STORE;
}

static int decode_place(struct decoder *d, struct uop_surface *uop, const struct ptx_operand *place)
{
    uint32_t at = 1;
    int rc = decode_handle(d, &uop->surface, &place->elems[0]);
    if (rc == SONDE_OK && uop->layered)
        rc = decode_source_element(d, &uop->layer, &place->elems[at++], 4);
    for (uint32_t i = 0; rc == SONDE_OK && i < uop->coordinates; i++)
        rc = decode_source_element(d, &uop->coordinate[i], &place->elems[at + i], 4);
    return rc;
}

static int decode_data(struct decoder *d, struct uop_surface *uop, const struct ptx_operand *data)
{
    struct uop_memory *memory = &uop->memory;
    bool vector = data->kind == OPERAND_VECTOR;
    int rc = SONDE_OK;
    if (memory->kind == ACCESS_REDUCTION) {
        memory->combine = find_combine((enum isa_mod)d->insn->mods[MODC_ATOM], d->insn->tuple.s);
        return memory->combine
                   ? decode_source_element(d, &memory->atom[0], data, memory->bytes)
                   : decode_refuse(d, "'%s' of .%s is not implemented", isa_row(d->insn->op)->name,
                                   isa_type_info(d->insn->tuple.s)->text);
    }
    for (uint32_t k = 0; rc == SONDE_OK && k < memory->vec; k++) {
        const struct ptx_operand *element = vector ? &data->elems[k] : data;
        rc = memory->kind == ACCESS_LOAD
                 ? decode_dest_element(d, &memory->elements[k], element)
                 : decode_source_element(d, &memory->elements[k], element, memory->bytes);
    }
    return rc;
}

static void describe_surface(struct decoder *d, struct uop_surface *uop)
{
    const struct ptx_insn *insn = d->insn;
    struct uop_memory *memory = &uop->memory;
    enum isa_mod geometry = (enum isa_mod)insn->mods[MODC_GEOM];
    uop->geometry = geometry;
    uop->outside = (enum isa_mod)insn->mods[MODC_OUTSIDE];
    uop->formatted = insn->op == OP_SUST_P || insn->op == OP_SURED_P;
    uop->layered = geometry == MOD_GEOM_a1d || geometry == MOD_GEOM_a2d;
    uop->coordinates = geometry == MOD_GEOM_1d || geometry == MOD_GEOM_a1d ? 1
                       : geometry == MOD_GEOM_3d                           ? 3
                                                                           : 2;
    memory->kind = surface_kind(insn->op);
    memory->space = SPACE_GLOBAL;
    memory->vec = insn->vec ? insn->vec : 1;
    memory->bytes = isa_type_info(insn->tuple.s)->bytes;
    memory->cache_op = insn->mods[MODC_COP];
    memory->has_base = true; /* lanes have addresses of their own */
    d->info->space = SPACE_GLOBAL;
    d->info->is_load = memory->kind == ACCESS_LOAD;
    d->info->is_store = memory->kind == ACCESS_STORE;
    d->info->is_atomic = memory->kind == ACCESS_REDUCTION;
}

int decode_surface(struct decoder *d)
{
    const struct ptx_operand *operands = d->insn->operands;
    struct uop_surface *uop = arena_alloc(d->arena, sizeof *uop);
    if (!uop)
        return error_memory();
    describe_surface(d, uop);
    d->uop->run = run_surface;
    d->uop->memory = &uop->memory;
    bool load = uop->memory.kind == ACCESS_LOAD;
    int rc = decode_place(d, uop, &operands[load ? 1 : 0]);
    return rc == SONDE_OK ? decode_data(d, uop, &operands[load ? 0 : 1]) : rc;
}
