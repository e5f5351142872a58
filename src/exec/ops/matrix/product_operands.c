/*
 * Between a warp's registers and the rows and columns of a product. With g = lane / 4, t = lane % 4
 * a register of four bytes holds
 *
 *     a:  row g + 8 (r mod 2)       bytes 4 t + 16 (r div 2) of it, of each 16 rows (r of 8 rows)
 *     b:  column g + 8 (r div K)    bytes 4 t + 16 (r mod K),     K = bytes of a column / 16
 *     c:  row g + 8 (s mod m/8)     columns 2 t + i + 8 (s div m/8),  s counts pairs of elements
 *
 * whatever the elements are; fragments of wmma's f16 hold everything more than once. Of sparse a
 * four bits tell for each group (four elements, two of tf32, eight of four bits) which are there:
 *
 *     groups of a row   lane                            bits of it
 *     4                 4 g + selector                  16 (row / 8) + 4 group
 *     8, of 16 bits up  4 g + 2 selector + group / 4    16 (row / 8) + 4 (group % 4)
 *     8, of fewer       4 g + 2 selector + row / 8      4 group
 *     16                4 g + 2 (group / 8) + row / 8   4 (group % 8)
 *
 * Source: PTX ISA 9.0, 9.7.14; recordings of an H200 (tests/vectors).
 */
#include <string.h>

#include "exec/lane/float_format.h"
#include "exec/ops/matrix/matrix.h"
#include "exec/ops/matrix/product.h"

#define WORD_LANES 4 /* lanes that share a row */
#define WORD_ROW 16  /* bytes of a row in one register */

typedef uint32_t quad __attribute__((vector_size(4 * WORD_LANES)));

void product_of_types(struct product *p, struct isa_mnk mnk, enum isa_type a, enum isa_type b,
                      enum isa_type d, bool sparse)
{
    *p = (struct product){
        .mnk = mnk,
        .a_format = a == TYPE_NONE ? NULL : format_of_type(a),
        .b_format = b == TYPE_NONE ? NULL : format_of_type(b),
        .element_bits = a == TYPE_NONE ? 1u : isa_type_info(a)->bytes * 8u,
        .a_signed = a == TYPE_s8,
        .b_signed = b == TYPE_s8,
        .half = d == TYPE_f16,
        .c_half = d == TYPE_f16,
        .sparse = sparse,
        .terms = sparse ? mnk.k / 2u : mnk.k,
        .loops = product_loops_choose(),
    };
    p->block = p->terms;
}

static const lane_word *words_of(const struct exec_state *state, const struct element *element)
{
    return lanes_at(state, element->ref);
}

void product_gather_a(struct product_operands *o, const struct exec_state *state,
                      const struct product *p, const struct element *registers)
{
    uint32_t blocks = p->mnk.m / 8u, along = p->terms * p->element_bits / 8 / WORD_ROW;
    uint32_t halves = blocks > 1 ? 2 : 1;
    for (uint32_t r = 0; r < blocks * along; r++) {
        const lane_word *words = words_of(state, &registers[r]);
        uint32_t row = 8 * (r % halves) + 16 * (r / (halves * along));
        for (uint32_t g = 0; g < WARP_LANES / WORD_LANES; g++)
            memcpy(&o->a[g + row][WORD_ROW * (r / halves % along)], &words[g * WORD_LANES],
                   WORD_ROW);
    }
}

void product_gather_b(struct product_operands *o, const struct exec_state *state,
                      const struct product *p, const struct element *registers)
{
    uint32_t blocks = p->mnk.k * p->element_bits / 8 / WORD_ROW, count = blocks * (p->mnk.n / 8u);
    for (uint32_t r = 0; r < count; r++) {
        const lane_word *words = words_of(state, &registers[r]);
        for (uint32_t g = 0; g < WARP_LANES / WORD_LANES; g++)
            memcpy(&o->b[g + 8 * (r / blocks)][WORD_ROW * (r % blocks)], &words[g * WORD_LANES],
                   WORD_ROW);
    }
}

/* Eight elements of a pair's register lie side by side in d, here those of the first four lanes;
 * those of the next are a row, n, behind them. */
static size_t octet_at(const struct product *p, uint32_t pair)
{
    uint32_t blocks = p->mnk.m / 8u;
    return (size_t)8 * (pair % blocks) * p->mnk.n + 8 * (pair / blocks);
}

/* Four lanes' words of one register and of the next, in turn. */
static inline void words_in_turn(uint32_t *out, const uint32_t *low, const uint32_t *high)
{
    quad first, second;
    memcpy(&first, low, sizeof first);
    memcpy(&second, high, sizeof second);
    quad lower = __builtin_shufflevector(first, second, 0, 4, 1, 5);
    quad upper = __builtin_shufflevector(first, second, 2, 6, 3, 7);
    memcpy(out, &lower, sizeof lower);
    memcpy(out + WORD_LANES, &upper, sizeof upper);
}

static inline void words_apart(uint32_t *low, uint32_t *high, const uint32_t *in)
{
    quad lower, upper;
    memcpy(&lower, in, sizeof lower);
    memcpy(&upper, in + WORD_LANES, sizeof upper);
    quad first = __builtin_shufflevector(lower, upper, 0, 2, 4, 6);
    quad second = __builtin_shufflevector(lower, upper, 1, 3, 5, 7);
    memcpy(low, &first, sizeof first);
    memcpy(high, &second, sizeof second);
}

void product_gather_sums(struct product_operands *o, const struct exec_state *state,
                         const struct product *p, const struct element *registers, uint32_t count)
{
    const uint32_t per = p->c_half ? 1 : 2; /* registers of a pair */
    for (uint32_t r = 0; r < count; r += per) {
        const lane_word *low = words_of(state, &registers[r]);
        const lane_word *high = words_of(state, &registers[r + per - 1]);
        uint32_t *at = &o->d[octet_at(p, r / per)];
        for (uint32_t g = 0; g < WARP_LANES / WORD_LANES; g++, at += p->mnk.n) {
            if (!p->c_half)
                words_in_turn(at, &low[g * WORD_LANES], &high[g * WORD_LANES]);
            for (uint32_t t = 0; t < WORD_LANES && p->c_half; t++) {
                at[2 * t] = low[g * WORD_LANES + t] & 0xffff;
                at[2 * t + 1] = low[g * WORD_LANES + t] >> 16;
            }
        }
    }
}

static void store_sums(struct exec_state *state, const struct element *element,
                       const uint32_t *values, uint32_t mask)
{
    if (mask == UINT32_MAX && element->register_bytes != 8) {
        memcpy(lanes_at(state, element->ref), values, WARP_LANES * sizeof *values);
        return;
    }
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        if (mask >> lane & 1)
            element_set(state, element, lane, values[lane]);
}

void product_scatter_sums(const struct product_operands *o, struct exec_state *state,
                          const struct product *p, const struct element *registers, uint32_t count,
                          uint32_t mask)
{
    const uint32_t per = p->half ? 1 : 2;
    for (uint32_t r = 0; r < count; r += per) {
        uint32_t low[WARP_LANES], high[WARP_LANES];
        const uint32_t *at = &o->d[octet_at(p, r / per)];
        for (uint32_t g = 0; g < WARP_LANES / WORD_LANES; g++, at += p->mnk.n) {
            if (!p->half)
                words_apart(&low[g * WORD_LANES], &high[g * WORD_LANES], at);
            for (uint32_t t = 0; t < WORD_LANES && p->half; t++)
                low[g * WORD_LANES + t] = at[2 * t] | at[2 * t + 1] << 16;
        }
        store_sums(state, &registers[r], low, mask);
        if (!p->half)
            store_sums(state, &registers[r + 1], high, mask);
    }
}

/* The one or two that are there of a group; bytes side by side are stored as one word. */
static inline void places_of_group(uint8_t *place, uint32_t bits, uint32_t group, uint32_t code)
{
    if (bits == 4) { /* pairs of elements */
        uint32_t both = (code & 3) * 2 * 0x101 + (code >> 2) * 2 * 0x1010000;
        both += group * 8 * 0x1010101 + 0x1000100;
        memcpy(&place[group * 4], &both, sizeof both);
    } else {
        uint16_t both = (uint16_t)((code & 3) + (code >> 2 << 8) + group * 0x404);
        memcpy(&place[group * 2], &both, sizeof both);
    }
}

/* Inlined where `bits`, those of an element, are a constant. */
static inline __attribute__((always_inline)) void places(struct product_operands *o,
                                                         const lane_word *words,
                                                         const struct product *p, uint32_t selector,
                                                         uint32_t bits)
{
    const bool wide = bits >= 16;
    const uint32_t length = bits == 4 ? 8 : 4;
    const uint32_t groups = p->mnk.k / length, apart = groups == 4 ? 0 : wide ? 4 : 8;
    for (uint32_t row = 0; row < p->mnk.m; row++) {
        uint32_t lane = row % 8 * 4, upper = row / 8;
        if (groups == 4)
            lane += selector;
        else if (groups == 16)
            lane += upper;
        else
            lane += selector * 2 + (wide ? 0 : upper);
        const uint32_t step = groups == 16 ? 2 : 1; /* lanes */
        for (uint32_t first = 0; first < groups; first += apart ? apart : groups, lane += step) {
            uint32_t codes = words[lane] >> (wide ? upper * 16 : 0);
            uint32_t last = apart && first + apart < groups ? first + apart : groups;
            for (uint32_t group = first; group < last; group++, codes >>= 4)
                places_of_group(o->place[row], bits, group, codes & 15);
        }
    }
}

/* Of four groups of two elements, whose codes of four bits say which of them is there: 14 that the
 * second is. */
static inline uint32_t places_of_pairs(uint32_t codes)
{
    uint32_t other = codes ^ 0xeeee;
    other |= other >> 1;
    other |= other >> 2;
    uint32_t second = ~other & 0x1111;
    second = (second | second << 8) & 0x110011;
    second = (second | second << 4) & 0x1010101;
    return second + 0x6040200;
}

static void places_of_words(struct product_operands *o, const lane_word *words,
                            const struct product *p, uint32_t selector)
{
    const uint32_t groups = p->mnk.k / 2u, lanes = groups / 4;
    for (uint32_t row = 0; row < p->mnk.m; row++)
        for (uint32_t i = 0; i < lanes; i++) {
            uint32_t codes = words[row % 8 * 4 + selector * lanes + i] >> row / 8 * 16;
            uint32_t four = places_of_pairs(codes & 0xffff) + i * 0x8080808;
            memcpy(&o->place[row][4 * (size_t)i], &four, sizeof four);
        }
}

void product_places(struct product_operands *o, const struct exec_state *state,
                    const struct element *metadata, const struct product *p, uint32_t selector)
{
    const lane_word *words = words_of(state, metadata);
    switch (p->element_bits) { /* as a constant, of which the compiler makes a loop of its own */
    case 32:
        places_of_words(o, words, p, selector);
        break;
    case 4:
        places(o, words, p, selector, 4);
        break;
    default:
        places(o, words, p, selector, p->element_bits);
    }
}
