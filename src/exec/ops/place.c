/*
 * Where a value that is passed in a call lies in the frame of the caller or of the callee: a
 * register, a constant, or a variable of .param space. Calls of functions and of the driver's
 * system calls share it.
 */
#include "exec/ops/decoders.h"
#include "util/error.h"

uint8_t *call_place_at(const struct exec_state *state, uint32_t depth,
                       const struct call_place *place, uint32_t lane)
{
    uint8_t *frame = frame_start(state, depth);
    const struct exec_function *function = state->frames[depth].function;
    if (place->pool)
        return state->base[BASE_POOL] + place->offset + lane * place->stride;
    return place->stride ? frame + place->offset + lane * place->stride
                         : frame + function->regs_bytes + function->preds_bytes +
                               lane * function->param_bytes + place->offset;
}

int decode_call_place(struct decoder *d, struct call_place *place,
                      const struct ptx_operand *operand, uint32_t bytes, bool written)
{
    struct element element;
    if (operand->kind == OPERAND_VAR) {
        if (decode_frame_param(d, &place->offset, operand->var))
            return SONDE_OK;
        return decode_refuse(d, "'%s' as an argument is not implemented", operand->var->name);
    }
    int rc = written ? decode_dest_element(d, &element, operand)
                     : decode_source_element(d, &element, operand, bytes);
    if (rc != SONDE_OK)
        return rc;
    if (element.ref >> REF_BASE_SHIFT == BASE_SPECIAL)
        return decode_refuse(d, "a special register as an argument is not implemented");
    place->pool = element.ref >> REF_BASE_SHIFT == BASE_POOL;
    place->offset = element.ref & REF_OFFSET_MASK;
    place->stride = element.register_bytes ? element.register_bytes : 8;
    return SONDE_OK;
}
