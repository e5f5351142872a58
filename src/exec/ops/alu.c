/*
 * Regular instructions: a lane loop over operands. Two cases need more than the loop and take a
 * slower path around it: float instructions with .ftz, .sat or a rounding mode other than nearest,
 * and conversions between registers that are wider than the types they hold.
 */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "exec/lane/float_format.h"
#include "exec/ops/decoders.h"
#include "isa/lane_math.h"
#include "util/error.h"

enum exec_event run_lanes(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                          struct exec_access *access)
{
    (void)access;
    if (mask)
        lanes_run(warp->state, uop, mask);
    return advance(warp);
}

/* selp: the third operand is a predicate. */
enum exec_event run_select(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                           struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    uint32_t choice = pred_lanes(state, uop, 0);
    if (mask)
        uop->lanes(lanes_at(state, uop->dst), lanes_at(state, uop->source[0]),
                   lanes_at(state, uop->source[1]), &choice, NULL, mask);
    return advance(warp);
}

enum exec_event run_pred_logic(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                               struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    uint32_t a = pred_lanes(state, uop, 0), b = pred_lanes(state, uop, 1);
    if (mask)
        uop->lanes(&state->preds[uop->pred_dst[0]], &a, &b, NULL, NULL, mask);
    return advance(warp);
}

static void flush_denormals(uint32_t lanes[WARP_LANES], const uint32_t from[WARP_LANES])
{
    for (int i = 0; i < WARP_LANES; i++)
        lanes[i] = from[i] & 0x7f800000 ? from[i] : from[i] & 0x80000000;
}

/* Operands: NaNs become the one NaN, too. */
static void flush_operand(uint32_t lanes[WARP_LANES], const uint32_t from[WARP_LANES])
{
    for (int i = 0; i < WARP_LANES; i++) {
        uint32_t flushed = from[i] & 0x7f800000 ? from[i] : from[i] & 0x80000000;
        lanes[i] = (flushed & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : flushed;
    }
}

/*
 * .ftz looks at a result that was rounded as if there were no smallest exponent: what lies below
 * the smallest normal number then is flushed, though rounding to a subnormal number's fewer bits
 * would have made it that number. FLOAT_TINY_* say of what operands a result is.
 */
#define TINY_RESULTS                                                                               \
    (FLOAT_TINY_PRODUCT | FLOAT_TINY_SUM | FLOAT_TINY_QUOTIENT | FLOAT_TINY_RECIPROCAL)

/* The magnitude from which on it rounds to 2^-126: itself in that class too if `*included`. */
static double least_normal_from(bool *included, unsigned rounding, bool negative)
{
    *included = rounding < 2;
    if (rounding == 0)
        return 0x1p-126 - 0x1p-151; /* the tie, which goes to the even one */
    bool away = rounding == (negative ? 2 : 3);
    *included |= !away;
    return away ? 0x1p-126 - 0x1p-150 : 0x1p-126;
}

static bool is_tiny(unsigned option, const float v[3], bool negative)
{
    bool included;
    double least = least_normal_from(&included, option & FLOAT_ROUND, negative), exact;
    if (option & (FLOAT_TINY_QUOTIENT | FLOAT_TINY_RECIPROCAL)) {
        bool reciprocal = option & FLOAT_TINY_RECIPROCAL;
        float divisor = v[reciprocal ? 0 : 1], scale = lane_scale(divisor);
        exact = reciprocal ? 1 : fabs((double)v[0]);
        if (option & FLOAT_TINY_APPROX)
            exact *= (double)scale * (double)lane_mufu(mufu_rcp, divisor * scale);
        else
            least *= fabs((double)divisor);
    } else {
        exact = (double)v[0] * (double)v[1];
        if (option & FLOAT_TINY_SUM)
            exact = odd_add(exact, (double)v[2]);
    }
    return included ? fabs(exact) < least : fabs(exact) <= least;
}

static void flush_rounded_up(const struct uop *uop, uint32_t r[WARP_LANES],
                             const void *const source[3])
{
    for (int i = 0; i < WARP_LANES; i++) {
        if ((r[i] & 0x7fffffff) != 0x00800000)
            continue;
        float v[3] = {0};
        for (int k = 0; k < 3; k++)
            if (uop->narrow >> k & 1)
                memcpy(&v[k], (const uint32_t *)source[k] + i, 4);
        if (is_tiny(uop->option, v, r[i] >> 31))
            r[i] &= 0x80000000;
    }
}

/* Clamp to [0, 1]; a NaN becomes +0. */
static void saturate(uint32_t lanes[WARP_LANES])
{
    for (int i = 0; i < WARP_LANES; i++) {
        float value;
        memcpy(&value, &lanes[i], 4);
        value = value > 0 ? (value < 1 ? value : 1) : 0;
        memcpy(&lanes[i], &value, 4);
    }
}

static void saturate_double(uint64_t lanes[WARP_LANES])
{
    for (int i = 0; i < WARP_LANES; i++) {
        double value;
        memcpy(&value, &lanes[i], 8);
        value = value > 0 ? (value < 1 ? value : 1) : 0;
        memcpy(&lanes[i], &value, 8);
    }
}

/* min.xorsign.abs: of the magnitudes, with the sign of the operands' product. */
static void magnitudes(uint32_t lanes[WARP_LANES], const uint32_t from[WARP_LANES])
{
    for (int i = 0; i < WARP_LANES; i++)
        lanes[i] = from[i] & 0x7fffffff;
}

static void apply_signs(uint32_t r[WARP_LANES], const uint32_t a[WARP_LANES],
                        const uint32_t b[WARP_LANES])
{
    for (int i = 0; i < WARP_LANES; i++)
        if ((r[i] & 0x7fffffff) <= 0x7f800000)
            r[i] = (r[i] & 0x7fffffff) | ((a[i] ^ b[i]) & 0x80000000);
}

/* min.NaN, max.NaN: a NaN operand gives the canonical NaN. */
static void propagate_nan(uint32_t r[WARP_LANES], const uint32_t a[WARP_LANES],
                          const uint32_t b[WARP_LANES])
{
    for (int i = 0; i < WARP_LANES; i++)
        if ((a[i] & 0x7fffffff) > 0x7f800000 || (b[i] & 0x7fffffff) > 0x7f800000)
            r[i] = 0x7fffffff;
}

static void keep_lanes(void *d, const void *r, uint32_t bytes, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        memcpy((uint8_t *)d + lane * bytes, (const uint8_t *)r + lane * bytes, bytes);
    }
}

/*
 * Bits of uop->narrow say which operands are f32: bit i source i, bit 7 the result. Only those are
 * flushed and clamped. The processor's rounding mode is set around the loop, which the compiler
 * cannot see into.
 */
enum exec_event run_float(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                          struct exec_access *access)
{
    static const int rounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    (void)access;
    const struct exec_state *state = warp->state;
    if (!mask)
        return advance(warp);
    _Alignas(64) uint32_t flushed[3][WARP_LANES];
    _Alignas(64) uint64_t result[WARP_LANES];
    const void *source[3];
    for (int i = 0; i < 3; i++) {
        source[i] = lanes_at(state, uop->source[i]);
        if (uop->option & FLOAT_FTZ && uop->narrow >> i & 1) {
            flush_operand(flushed[i], source[i]);
            source[i] = flushed[i];
        }
    }
    if (uop->option & FLOAT_XORSIGN) {
        for (int i = 0; i < 2; i++) {
            magnitudes(flushed[i], source[i]);
            source[i] = flushed[i];
        }
    }
    int before = fegetround();
    fesetround(rounding[uop->option & FLOAT_ROUND]);
    uop->lanes(result, source[0], source[1], source[2], NULL, UINT32_MAX);
    fesetround(before);
    bool single = uop->narrow >> 7;
    if (uop->option & TINY_RESULTS)
        flush_rounded_up(uop, (uint32_t *)result, source);
    if (single && uop->option & FLOAT_NAN)
        propagate_nan((uint32_t *)result, source[0], source[1]);
    if (uop->option & FLOAT_XORSIGN)
        apply_signs((uint32_t *)result, lanes_at(state, uop->source[0]),
                    lanes_at(state, uop->source[1]));
    if (single && uop->option & FLOAT_FTZ)
        flush_denormals((uint32_t *)result, (const uint32_t *)result);
    if (single && uop->option & FLOAT_SAT)
        saturate((uint32_t *)result);
    else if (uop->option & FLOAT_SAT)
        saturate_double(result);
    keep_lanes(lanes_at(state, uop->dst), result, uop->dst_bytes, mask);
    return advance(warp);
}

/* cvt with a 64-bit register on either side of a narrower type. */
enum exec_event run_convert(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                            struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    if (!mask)
        return advance(warp);
    _Alignas(64) lane_word narrow[WARP_LANES];
    _Alignas(64) lane_dword result[WARP_LANES];
    const void *source = lanes_at(state, uop->source[0]);
    if (uop->option & CONVERT_SOURCE_WIDE) {
        for (int i = 0; i < WARP_LANES; i++)
            narrow[i] = (uint32_t)((const lane_dword *)source)[i];
        source = narrow;
    }
    if (!(uop->option & CONVERT_DEST_WIDE)) {
        uop->lanes(lanes_at(state, uop->dst), source, NULL, NULL, NULL, mask);
        return advance(warp);
    }
    uop->lanes(narrow, source, NULL, NULL, NULL, UINT32_MAX);
    for (int i = 0; i < WARP_LANES; i++)
        result[i] =
            uop->option & CONVERT_SIGNED ? (uint64_t)(int64_t)(int32_t)narrow[i] : narrow[i];
    keep_lanes(lanes_at(state, uop->dst), result, 8, mask);
    return advance(warp);
}
