/*
 * Which operands make the machine's sequence for a division or root run its subroutine (RARE in
 * isa/lowering.def). Read off ptxas 13.0's code for sm_90: of reciprocals and roots the comparison
 * that decides is in it; of divisions FCHK decides, of which only operands without a normal
 * exponent are told here.
 */
#include "exec/ops.h"

#define EXPONENT 0x7f800000u
#define MAGNITUDE 0x7fffffffu
#define LEAST_NORMAL 0x00800000u
#define LEAST_ROOT 0x0d000000u       /* 2^-101: smaller numbers are scaled before the root */
#define LARGE_RECIPROCAL 0x7e800000u /* 2^126: the reciprocals of larger ones are subnormal */

static enum lower_operands of_divided(uint32_t bits)
{
    uint32_t magnitude = bits & MAGNITUDE;
    if (magnitude == 0 || magnitude >= EXPONENT)
        return LOWER_SPECIAL;
    return magnitude < LEAST_NORMAL ? LOWER_SMALL : LOWER_USUAL;
}

static enum lower_operands of_inverted(uint32_t bits)
{
    uint32_t magnitude = bits & MAGNITUDE;
    bool large = magnitude >= LARGE_RECIPROCAL && magnitude < EXPONENT;
    return large ? LOWER_SMALL : of_divided(bits);
}

static enum lower_operands of_radicand(uint32_t bits)
{
    if (bits == 0 || bits >= EXPONENT)
        return LOWER_SPECIAL;
    return bits < LEAST_ROOT ? LOWER_SMALL : LOWER_USUAL;
}

static enum lower_operands the_longer(enum lower_operands a, enum lower_operands b)
{
    return a > b ? a : b;
}

enum lower_operands exec_operands(const struct exec_warp *warp)
{
    const struct exec_state *state = warp->state;
    const struct uop *uop = &state->uops[warp->pc];
    enum isa_op op = state->program->insns[warp->pc]->op;
    const lane_word *a = lanes_at(state, uop->source[0]), *b = lanes_at(state, uop->source[1]);
    enum lower_operands found = LOWER_USUAL;
    uint32_t mask = guarded_lanes(warp, uop);
    for (; mask && found != LOWER_SMALL; mask &= mask - 1) {
        uint32_t lane = lowest_lane(mask);
        if (op == OP_DIV_F32)
            found = the_longer(found, the_longer(of_divided(a[lane]), of_divided(b[lane])));
        else if (op == OP_RCP_F32)
            found = the_longer(found, of_inverted(a[lane]));
        else if (op == OP_SQRT_F32)
            found = the_longer(found, of_radicand(a[lane]));
    }
    return found;
}
