/*
 * txq, suq: what a texture, sampler or surface is; istypep: what a variable is. Answers are those
 * of the object, in the enumerations that the PTX manual takes from OpenCL for data types and
 * channels (PTX ISA 9.0, 5.3.3), and in the order of the driver's for addressing and filtering.
 * Leaves out: samples, and the layout in memory, which are refused.
 */
#include <inttypes.h>

#include "exec/fault.h"
#include "exec/ops/texture/tex.h"
#include "util/error.h"

struct uop_query {
    struct uop_memory memory; /* first: uop->memory points here */
    struct handle handle;
    bool is_surface, is_sampler, has_level;
    enum isa_mod query;
    struct element level;
};

/* OpenCL's numbers: CL_R, CL_RG, CL_RGBA; CL_SIGNED_INT8 .. CL_FLOAT. */
static uint32_t channel_order(const struct texel_format *format)
{
    return format->channels == 1 ? 0x10b0 : format->channels == 2 ? 0x10b2 : 0x10b5;
}

static uint32_t channel_type(const struct texel_format *format, bool as_integer)
{
    uint32_t width = format->bits == 8 ? 0 : format->bits == 16 ? 1 : 2;
    switch (format->kind) {
    case TEXEL_FLOAT:
        return format->bits == 16 ? 0x10dd : 0x10de;
    case TEXEL_SIGNED:
        return !as_integer && width < 2 ? 0x10d0 + width : 0x10d7 + width;
    default:
        return !as_integer && width < 2 ? 0x10d2 + width : 0x10da + width;
    }
}

static uint32_t image_answer(const struct exec_image *image, const struct uop_query *uop,
                             uint32_t level)
{
    const struct image_spec *spec = &image->spec;
    bool inside = level < spec->levels;
    const struct image_level *sizes = &image->level[inside ? level : 0];
    switch (uop->query) {
    case MOD_QUERY_width:
        return inside ? sizes->width : 0;
    case MOD_QUERY_height:
        return inside ? sizes->height : 0;
    case MOD_QUERY_depth:
        if (image_is_layered(spec->shape))
            return spec->depth;
        return inside && image_dimensions(spec->shape) > 2 ? sizes->depth : 0;
    case MOD_QUERY_array_size:
        return image_is_layered(spec->shape) ? spec->depth : 0;
    case MOD_QUERY_num_mipmap_levels:
        return spec->levels;
    default:
        return channel_order(&spec->format);
    }
}

static uint32_t view_answer(const struct texture_view *view, enum isa_mod query)
{
    switch (query) {
    case MOD_QUERY_normalized_coords:
        return view->normalized;
    case MOD_QUERY_force_unnormalized_coords:
        return !view->normalized;
    case MOD_QUERY_filter_mode:
        return view->linear;
    default:
        return (uint32_t)view->address[query - MOD_QUERY_addr_mode_0];
    }
}

static bool is_about_view(enum isa_mod query)
{
    return query == MOD_QUERY_normalized_coords ||
           (query >= MOD_QUERY_force_unnormalized_coords && query <= MOD_QUERY_addr_mode_2);
}

static bool lane_answer(uint32_t *out, struct exec_warp *warp, const struct uop_query *uop,
                        uint32_t lane)
{
    static const struct exec_texture no_texture = {.view = {.normalized = true}};
    const struct exec_texture *texture = &no_texture;
    const struct exec_image *image;
    struct texture_view view;
    uint64_t sampler = 0;
    uint32_t level = uop->has_level ? (uint32_t)element_get(warp->state, &uop->level, lane) : 0;
    if (uop->is_sampler) {
        if (!handle_sampler(&sampler, warp, &uop->handle, lane))
            return false;
        view = sampled_view(texture, sampler);
        *out = view_answer(&view, uop->query);
        return true;
    }
    if (!uop->is_surface)
        texture = handle_texture(warp, &uop->handle, lane);
    image = uop->is_surface ? handle_surface(warp, &uop->handle, lane)
            : texture       ? texture->image
                            : NULL;
    if (!image)
        return false;
    if (is_about_view(uop->query))
        *out = view_answer(&texture->view, uop->query);
    else if (uop->query == MOD_QUERY_channel_data_type)
        *out = channel_type(&image->spec.format, uop->is_surface || texture->view.as_integer);
    else
        *out = image_answer(image, uop, level);
    return true;
}

static enum exec_event run_query(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    const struct uop_query *query = (const struct uop_query *)(const void *)uop->memory;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), answer;
        if (!lane_answer(&answer, warp, query, lane))
            return EXEC_FAULT;
        if (query->memory.elements[0].register_bytes)
            element_set(warp->state, &query->memory.elements[0], lane, answer);
    }
    return advance(warp);
}

int decode_texture_query(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    struct uop_query *uop = arena_alloc(d->arena, sizeof *uop);
    if (!uop)
        return error_memory();
    d->uop->run = run_query;
    d->uop->memory = &uop->memory;
    uop->query = (enum isa_mod)insn->mods[MODC_QUERY];
    uop->is_surface = insn->op == OP_SUQ;
    uop->is_sampler =
        insn->operands[1].kind == OPERAND_VAR && insn->operands[1].type == TYPE_samplerref;
    uop->has_level = insn->op == OP_TXQ_LEVEL;
    if (uop->query == MOD_QUERY_num_samples || uop->query == MOD_QUERY_memory_layout ||
        (uop->is_surface && is_about_view(uop->query)))
        return decode_refuse(d, "'%s%s' is not implemented", isa_row(insn->op)->name,
                             isa_mod_text(uop->query));
    int rc = decode_dest_element(d, &uop->memory.elements[0], &insn->operands[0]);
    if (rc == SONDE_OK)
        rc = decode_handle(d, &uop->handle, &insn->operands[1]);
    if (rc == SONDE_OK && uop->has_level)
        rc = decode_source_element(d, &uop->level, &insn->operands[2], 4);
    return rc;
}

/* istypep: the addresses of the module's variables of that type are known now. */
struct uop_istypep {
    struct uop_memory memory; /* first: uop->memory points here; atom[0] is the operand */
    uint32_t count;
    uint64_t *addresses;
};

static enum exec_event run_istypep(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                   struct exec_access *access)
{
    (void)access;
    const struct uop_istypep *istypep = (const struct uop_istypep *)(const void *)uop->memory;
    uint32_t lanes = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t value = element_get(warp->state, &istypep->memory.atom[0], lane);
        for (uint32_t i = 0; i < istypep->count; i++)
            lanes |= (uint32_t)(istypep->addresses[i] == value) << lane;
    }
    pred_write(warp->state, uop->pred_dst[0], lanes, mask);
    return advance(warp);
}

int decode_istypep(struct decoder *d)
{
    struct uop_istypep *uop = arena_alloc(d->arena, sizeof *uop);
    const struct ptx_module *module = d->module;
    if (!uop || !(uop->addresses = arena_array(d->arena, module->var_count + 1, sizeof(uint64_t))))
        return error_memory();
    d->uop->run = run_istypep;
    d->uop->memory = &uop->memory;
    for (uint32_t i = 0; i < module->var_count; i++) {
        struct ptx_var *var = module->vars[i];
        bool relative;
        if (var->type != d->insn->tuple.s)
            continue;
        int rc = decode_var_address(d, &uop->addresses[uop->count++], &relative, var);
        if (rc != SONDE_OK)
            return rc;
    }
    int rc = decode_source_element(d, &uop->memory.atom[0], &d->insn->operands[1], 8);
    return rc == SONDE_OK ? decode_pred_dest(d, 0, &d->insn->operands[0]) : rc;
}
