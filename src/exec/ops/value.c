/* Decoding and running of instructions that are a C function of one lane; see value.h. */
#include "exec/ops/value.h"

#include <string.h>

#include "exec/ops/decoders.h"
#include "util/error.h"

enum exec_event run_value(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                          struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    const struct uop_value *value = uop->value;
    uint32_t p = 0, q = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t v[VALUE_SOURCES] = {0};
        for (uint32_t k = 0; k < value->source_count; k++)
            v[k] = value->source[k].register_bytes
                       ? element_get(state, &value->source[k], lane)
                       : pred_lanes(state, uop, (int)value->source[k].ref) >> lane & 1;
        uint64_t result = value->fn(value->insn, v);
        if (!value->to_predicates && value->dst.register_bytes)
            element_set(state, &value->dst, lane, result);
        p |= (uint32_t)(result & 1) << lane;
        q |= (uint32_t)(result >> 1 & 1) << lane;
    }
    if (value->to_predicates) {
        pred_write(state, uop->pred_dst[0], p, mask);
        if (uop->pred_dst[1] != PRED_SINK)
            pred_write(state, uop->pred_dst[1], q, mask);
    }
    return advance(warp);
}

/* One operand of the row's shape, as `spec` calls it (shapes.def). */
static int decode_operand(struct decoder *d, struct uop_value *value, const char *spec,
                          size_t length, const struct ptx_operand *operand, int *predicates)
{
    bool result = *spec == '=';
    bool is_predicate = memchr(spec, 'P', length) != NULL;
    if (result && is_predicate) {
        value->to_predicates = true;
        if (operand->kind != OPERAND_PAIR)
            return decode_pred_dest(d, 0, operand);
        int rc = decode_pred_dest(d, 0, &operand->elems[0]);
        return rc == SONDE_OK ? decode_pred_dest(d, 1, &operand->elems[1]) : rc;
    }
    if (result)
        return decode_dest_element(d, &value->dst, operand);
    if (value->source_count == VALUE_SOURCES)
        return decode_refuse(d, "'%s' has too many operands", isa_row(d->insn->op)->name);
    struct element *source = &value->source[value->source_count++];
    if (is_predicate) {
        source->ref = (uint32_t)*predicates;
        return decode_pred_source(d, (*predicates)++, operand);
    }
    while (length > 0 && (*spec == '~' || *spec == '#'))
        spec++, length--;
    enum isa_type type = *spec == 'D'   ? d->insn->tuple.d
                         : *spec == 'S' ? d->insn->tuple.s
                                        : isa_type_find(spec, length);
    return decode_source_element(d, source, operand, isa_type_info(type)->bytes);
}

static int decode_shape(struct decoder *d, struct uop_value *value)
{
    const struct ptx_insn *insn = d->insn;
    const char *at = isa_shape_text(isa_row(insn->op)->shape);
    int rc = SONDE_OK, predicates = 0;
    for (uint32_t i = 0; rc == SONDE_OK && i < insn->operand_count && *at; i++) {
        size_t length = strcspn(at, " ");
        rc = decode_operand(d, value, at, length, &insn->operands[i], &predicates);
        at += length + (at[length] == ' ');
    }
    return rc;
}

/* clang-format off */
static value_fn *const functions[OP_COUNT] = {
    [OP_ADD_F16] = value_half, [OP_SUB_F16] = value_half, [OP_MUL_F16] = value_half,
    [OP_FMA_F16] = value_half, [OP_ADD_BF16] = value_half, [OP_SUB_BF16] = value_half,
    [OP_MUL_BF16] = value_half, [OP_FMA_BF16] = value_half, [OP_FMA_OOB] = value_half,
    [OP_EX2_APPROX_F16] = value_half, [OP_EX2_APPROX_BF16] = value_half,
    [OP_TANH_APPROX_HALF] = value_half,
    [OP_NEG_F16] = value_half, [OP_ABS_F16] = value_half, [OP_NEG_BF16] = value_half,
    [OP_ABS_BF16] = value_half, [OP_MIN_F16] = value_half, [OP_MAX_F16] = value_half,
    [OP_MIN_BF16] = value_half, [OP_MAX_BF16] = value_half,
    [OP_SETP_HALF] = value_half_compare, [OP_SETP_HALF_BOOL] = value_half_compare,
    [OP_SETP_HALF_PAIR] = value_half_compare, [OP_SETP_HALF_PAIR_BOOL] = value_half_compare,
    [OP_SET_HALF] = value_half_set, [OP_SET_HALF_BOOL] = value_half_set,
    [OP_CVT_INT_F16] = value_convert, [OP_CVT_F16_INT] = value_convert,
    [OP_CVT_F16_INTEGRAL] = value_convert, [OP_CVT_F16_F16] = value_convert,
    [OP_CVT_BF16_BF16] = value_convert, [OP_CVT_FROM_BF16] = value_convert,
    [OP_CVT_F16_OTHER] = value_convert, [OP_CVT_FROM_F16] = value_convert,
    [OP_CVT_TO_F16] = value_convert, [OP_CVT_TO_BF16] = value_convert,
    [OP_CVT_HALF_RELU] = value_convert, [OP_CVT_TF32_RNA] = value_convert,
    [OP_CVT_TF32] = value_convert, [OP_CVT_PAIR] = value_convert_pair,
    [OP_CVT_FP8_F32] = value_convert_fp8, [OP_CVT_FP8_F16] = value_convert_fp8,
    [OP_CVT_F16_FP8] = value_widen_fp8,
    [OP_CVT_PACK_16] = value_pack, [OP_CVT_PACK_8] = value_pack,
    [OP_ADD_16X2] = value_pair, [OP_MIN_16X2] = value_pair, [OP_MAX_16X2] = value_pair,
    [OP_MIN_RELU_16X2] = value_pair, [OP_MAX_RELU_16X2] = value_pair,
    [OP_TESTP] = value_testp, [OP_DP2A] = value_dp2a, [OP_FNS] = value_fns,
    [OP_SZEXT] = value_szext,
    [OP_VADD2] = value_video, [OP_VSUB2] = value_video, [OP_VAVRG2] = value_video,
    [OP_VABSDIFF2] = value_video, [OP_VMIN2] = value_video, [OP_VMAX2] = value_video,
    [OP_VADD4] = value_video, [OP_VSUB4] = value_video, [OP_VAVRG4] = value_video,
    [OP_VABSDIFF4] = value_video, [OP_VMIN4] = value_video, [OP_VMAX4] = value_video,
    [OP_VSET2] = value_video, [OP_VSET4] = value_video,
    [OP_VMAD] = value_vmad,
    [OP_VADD] = value_video_word, [OP_VADD_OP] = value_video_word,
    [OP_VSUB] = value_video_word, [OP_VSUB_OP] = value_video_word,
    [OP_VABSDIFF] = value_video_word, [OP_VABSDIFF_OP] = value_video_word,
    [OP_VMIN] = value_video_word, [OP_VMIN_OP] = value_video_word,
    [OP_VMAX] = value_video_word, [OP_VMAX_OP] = value_video_word,
    [OP_VSHL] = value_video_word, [OP_VSHL_OP] = value_video_word,
    [OP_VSHR] = value_video_word, [OP_VSHR_OP] = value_video_word,
    [OP_VSET] = value_video_word, [OP_VSET_OP] = value_video_word,
};
/* clang-format on */

bool decode_is_value(enum isa_op op)
{
    return functions[op] != NULL;
}

int decode_value(struct decoder *d)
{
    struct uop_value *value = arena_alloc(d->arena, sizeof *value);
    if (!value)
        return error_memory();
    value->fn = functions[d->insn->op];
    value->insn = d->insn;
    d->uop->run = run_value;
    d->uop->value = value;
    d->uop->pred_dst[0] = d->uop->pred_dst[1] = PRED_SINK;
    return decode_shape(d, value);
}
