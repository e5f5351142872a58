/*
 * The lane loops alone: every one against the other builds of itself, and the integer operations
 * against a second description of PTX's arithmetic, written bit by bit or in 128 bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "exec/lane/lanes.h"
#include "util/rng.h"

__extension__ typedef __int128 wide;

static const uint64_t corners[] = {
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0xffffffffffffffff,
    0xfffffffffffffffe,
    0x3f800000,
    0x7f800000,
    0xff800000,
    0x7fc00000,
    0x00000123,
    0x3ff0000000000000,
    0x7ff0000000000000,
    0x7ff8000000000000,
    0xc1e0000000000000,
    0x43e0000000000000,
    0x4b000000,
    0xcf000000,
};

static uint64_t operand(struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return corners[rng_below(rng, sizeof corners / sizeof *corners)];
    case 1:
        return rng_u64(rng) >> rng_below(rng, 64);
    case 2:
        return 0 - (rng_u64(rng) >> rng_below(rng, 64));
    default:
        return rng_u64(rng);
    }
}

struct operands {
    _Alignas(64) uint64_t v[5][32]; /* v[0]: destination */
};

static uint32_t bytes_of(enum isa_type type)
{
    return isa_type_info(type)->bytes;
}

static void fill(struct operands *o, struct rng *rng)
{
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 32; i++)
            o->v[k][i] = operand(rng);
}

static bool nan_bits(enum isa_type type, uint64_t v)
{
    if (type == TYPE_f32)
        return ((uint32_t)v & 0x7fffffff) > 0x7f800000;
    return type == TYPE_f64 && (v & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

static uint64_t lane(const struct operands *o, enum isa_type type, int i)
{
    uint64_t v = 0;
    if (type == TYPE_pred)
        return (uint32_t)o->v[0][0] >> i & 1;
    uint32_t stride = bytes_of(type) > 4 ? 8 : 4;
    memcpy(&v, (const uint8_t *)o->v[0] + stride * (unsigned)i, stride);
    return v;
}

static void call(const struct lane_entry *e, struct operands *o, uint32_t mask)
{
    e->fn(o->v[0], o->v[1], o->v[2], o->v[3], o->v[4], mask);
}

/* The table's loops, and what runs in place of some of them, against the portable ones. */
static void compare_with_portable(const struct lane_table *table)
{
    struct rng rng;
    rng_seed(&rng, 1);
    assert_int_equal(lanes_portable.count, table->count);
    for (size_t n = 0; n < lanes_portable.count; n++) {
        const struct lane_entry *p = &lanes_portable.entries[n], own = table->entries[n];
        const struct lane_entry *v = &(struct lane_entry){
            own.op, own.d, own.s, lanes_find(table, own.op, own.d, own.s, NULL)};
        assert_int_equal(p->op, v->op);
        int rounds = v->fn != own.fn ? 20000 : 20;
        for (int round = 0; round < rounds; round++) {
            struct operands a, b;
            uint32_t mask = round == 0 ? UINT32_MAX : (uint32_t)rng_u64(&rng) | 1;
            fill(&a, &rng);
            b = a;
            call(p, &a, mask);
            call(v, &b, mask);
            for (int i = 0; i < 32; i++) {
                uint64_t x = lane(&a, p->d, i), y = lane(&b, p->d, i);
                if (x != y && !(nan_bits(p->d, x) && nan_bits(p->d, y)))
                    fail_msg("%s.%s.%s lane %d: portable %llx, %s %llx", isa_row(p->op)->name,
                             isa_type_info(p->d)->text, isa_type_info(p->s)->text, i,
                             (unsigned long long)x, table->name, (unsigned long long)y);
            }
        }
    }
}

static void compare_comparisons_with_portable(const struct lane_table *table)
{
    struct rng rng;
    rng_seed(&rng, 4);
    assert_int_equal(lanes_portable.compare_count, table->compare_count);
    for (size_t n = 0; n < table->compare_count; n++) {
        for (int round = 0; round < 20; round++) {
            struct operands o;
            uint32_t mask = round == 0 ? UINT32_MAX : (uint32_t)rng_u64(&rng) | 1;
            fill(&o, &rng);
            uint32_t expected = lanes_portable.compares[n].fn(o.v[1], o.v[2], mask);
            assert_int_equal(table->compares[n].fn(o.v[1], o.v[2], mask) & mask, expected & mask);
            lane_compare *found = lanes_find_compare(table, lanes_portable.compares[n].cmp,
                                                     lanes_portable.compares[n].type);
            assert_int_equal(found(o.v[1], o.v[2], mask) & mask, expected & mask);
        }
    }
}

static void avx2_loops_give_the_portable_ones_bits(void **state)
{
    (void)state;
    if (!lanes_have_avx2() || !lanes_avx2.count)
        skip();
    compare_with_portable(&lanes_avx2);
    compare_comparisons_with_portable(&lanes_avx2);
}

static void avx512_loops_give_the_portable_ones_bits(void **state)
{
    (void)state;
    if (!lanes_have_avx512() || !lanes_avx512.count)
        skip();
    compare_with_portable(&lanes_avx512);
    compare_comparisons_with_portable(&lanes_avx512);
}

static void loops_leave_inactive_lanes_alone_and_compute_a_single_lane_alike(void **state)
{
    (void)state;
    const struct lane_table *table = lanes_table();
    struct rng rng;
    rng_seed(&rng, 2);
    for (size_t n = 0; n < table->count; n++) {
        const struct lane_entry *e = &table->entries[n];
        struct operands before, all, some, one;
        fill(&before, &rng);
        all = some = one = before;
        uint32_t mask = (uint32_t)rng_u64(&rng) | 3;
        int only = (int)rng_below(&rng, 32);
        call(e, &all, UINT32_MAX);
        call(e, &some, mask);
        call(e, &one, 1u << only);
        for (int i = 0; i < 32; i++) {
            uint64_t full = lane(&all, e->d, i);
            uint64_t old = lane(&before, e->d, i);
            assert_int_equal(lane(&some, e->d, i), mask >> i & 1 ? full : old);
            if (i != only)
                assert_int_equal(lane(&one, e->d, i), old);
            else if (!nan_bits(e->d, full))
                assert_int_equal(lane(&one, e->d, i), full);
        }
    }
}

/* Registers of 64 bits lie apart from all others. */
static bool is_of_one_width(const struct lane_entry *e)
{
    return (isa_type_info(e->d)->bytes == 8) == (isa_type_info(e->s)->bytes == 8);
}

static void results_may_lie_on_top_of_sources_as_wide(void **state)
{
    (void)state;
    const struct lane_table *table = lanes_table();
    struct rng rng;
    rng_seed(&rng, 3);
    for (size_t n = 0; n < table->count; n++) {
        const struct lane_entry *e = &table->entries[n];
        if (e->d == TYPE_pred || !is_of_one_width(e))
            continue;
        struct operands apart, over;
        fill(&apart, &rng);
        memcpy(apart.v[1], apart.v[0], sizeof apart.v[0]);
        over = apart;
        call(e, &apart, UINT32_MAX);
        e->fn(over.v[0], over.v[0], over.v[2], over.v[3], over.v[4], UINT32_MAX);
        for (int i = 0; i < 32; i++)
            assert_int_equal(lane(&over, e->d, i), lane(&apart, e->d, i));
    }
}

/* The second description. Values arrive as numbers: sign- or zero-extended as their type says. */

static wide number(enum isa_type type, uint64_t bits)
{
    uint32_t width = bytes_of(type) * 8;
    if (width < 64)
        bits &= (UINT64_C(1) << width) - 1;
    if (isa_type_info(type)->kind == KIND_SIGNED && bits >> (width - 1) & 1)
        return (wide)bits - ((wide)1 << width);
    return bits;
}

static wide ref_add(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return a + b;
}
static wide ref_sub(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return a - b;
}
static wide ref_mul(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return (wide)((unsigned __int128)a * (unsigned __int128)b);
}
static wide ref_mad(wide a, wide b, wide c, int w)
{
    return ref_mul(a, b, 0, w) + c;
}
/* 64-bit products overflow __int128 only for unsigned operands, whose upper half is then read as
 * bits. */
static wide ref_hi(wide a, wide b, wide c, int w)
{
    return ref_mul(a, b, c, w) >> w;
}
static wide ref_mad_hi(wide a, wide b, wide c, int w)
{
    return ref_hi(a, b, 0, w) + c;
}
static wide ref_div(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return b ? a / b : -1;
}
static wide ref_rem(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return b ? a % b : -1;
}
static wide ref_min(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return a < b ? a : b;
}
static wide ref_max(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return a > b ? a : b;
}
static wide ref_abs(wide a, wide b, wide c, int w)
{
    (void)b, (void)c, (void)w;
    return a < 0 ? -a : a;
}
static wide ref_neg(wide a, wide b, wide c, int w)
{
    (void)b, (void)c, (void)w;
    return -a;
}
static wide ref_sad(wide a, wide b, wide c, int w)
{
    (void)w;
    return c + (a < b ? b - a : a - b);
}
static wide ref_and(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return a & b;
}
static wide ref_or(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return a | b;
}
static wide ref_xor(wide a, wide b, wide c, int w)
{
    (void)c, (void)w;
    return a ^ b;
}
static wide ref_not(wide a, wide b, wide c, int w)
{
    (void)b, (void)c, (void)w;
    return ~a;
}
static wide ref_cnot(wide a, wide b, wide c, int w)
{
    (void)b, (void)c, (void)w;
    return a == 0;
}
static wide ref_shl(wide a, wide b, wide c, int w)
{
    (void)c;
    for (wide i = 0; i < b && i < w; i++)
        a = (wide)((unsigned __int128)a << 1);
    return a;
}
static wide ref_shr(wide a, wide b, wide c, int w)
{
    (void)c;
    for (wide i = 0; i < b && i < w; i++)
        a >>= 1;
    return a;
}
static wide ref_popc(wide a, wide b, wide c, int w)
{
    int n = 0;
    (void)b, (void)c;
    for (int i = 0; i < w; i++)
        n += (int)(a >> i & 1);
    return n;
}
static wide ref_clz(wide a, wide b, wide c, int w)
{
    int n = 0;
    (void)b, (void)c;
    while (n < w && !(a >> (w - 1 - n) & 1))
        n++;
    return n;
}
static wide ref_brev(wide a, wide b, wide c, int w)
{
    wide r = 0;
    (void)b, (void)c;
    for (int i = 0; i < w; i++)
        r |= (a >> i & 1) << (w - 1 - i);
    return r;
}
/* The manual's own pseudo-code: 9.7.1.19. */
static wide bit_field(wide a, wide b, wide c, int w, bool is_signed)
{
    wide limit = w == 32 ? 0xff : 0xffffffff; /* 64-bit fields are not cut: hardware */
    int64_t pos = (int64_t)(b & limit), len = (int64_t)(c & limit), msb = w - 1;
    int top = pos + len - 1 < msb ? pos + len - 1 : msb;
    bool sign = is_signed && len != 0 && (a >> top & 1);
    wide d = 0;
    for (int i = 0; i < w; i++)
        d |= (wide)(i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
    return d;
}
static wide ref_bfe(wide a, wide b, wide c, int w)
{
    return bit_field(a, b, c, w, false);
}
static wide ref_bfe_signed(wide a, wide b, wide c, int w)
{
    return bit_field(a, b, c, w, true);
}

struct reference {
    enum isa_op op;
    wide (*fn)(wide a, wide b, wide c, int width);
    const char *types; /* of a, b, c: s, d, u as in shapes */
};

/* clang-format off */
static const struct reference references[] = {
    { OP_ADD, ref_add, "ss" },         { OP_SUB, ref_sub, "ss" },
    { OP_MUL_LO, ref_mul, "ss" },      { OP_MUL_HI, ref_hi, "ss" },
    { OP_MUL_WIDE, ref_mul, "ss" },    { OP_MAD_LO, ref_mad, "ssd" },
    { OP_MAD_HI, ref_mad_hi, "ssd" },  { OP_MAD_WIDE, ref_mad, "ssd" },
    { OP_DIV, ref_div, "ss" },         { OP_DIV_SIGNED, ref_div, "ss" },
    { OP_REM, ref_rem, "ss" },         { OP_REM_SIGNED, ref_rem, "ss" },
    { OP_MIN, ref_min, "ss" },         { OP_MAX, ref_max, "ss" },
    { OP_ABS, ref_abs, "s" },          { OP_NEG, ref_neg, "s" },
    { OP_SAD, ref_sad, "ssd" },        { OP_AND, ref_and, "ss" },
    { OP_OR, ref_or, "ss" },           { OP_XOR, ref_xor, "ss" },
    { OP_NOT, ref_not, "s" },          { OP_CNOT, ref_cnot, "s" },
    { OP_SHL, ref_shl, "su" },         { OP_SHR, ref_shr, "su" },
    { OP_SHR_SIGNED, ref_shr, "su" },  { OP_POPC, ref_popc, "s" },
    { OP_CLZ, ref_clz, "s" },          { OP_BREV, ref_brev, "s" },
    { OP_BFE, ref_bfe, "suu" },        { OP_BFE_SIGNED, ref_bfe_signed, "suu" },
};
/* clang-format on */

static uint64_t read_operand(const struct operands *o, int k, enum isa_type type, int i)
{
    uint64_t v = 0;
    uint32_t stride = bytes_of(type) > 4 ? 8 : 4;
    memcpy(&v, (const uint8_t *)o->v[k] + stride * (unsigned)i, stride);
    return v;
}

static void check_reference(const struct reference *ref, const struct lane_entry *e,
                            struct rng *rng)
{
    struct operands o;
    fill(&o, rng);
    call(e, &o, UINT32_MAX);
    for (int i = 0; i < 32; i++) {
        wide v[3] = {0};
        for (int k = 0; ref->types[k]; k++) {
            enum isa_type type = ref->types[k] == 's'   ? e->s
                                 : ref->types[k] == 'd' ? e->d
                                                        : TYPE_u32;
            v[k] = number(type, read_operand(&o, k + 1, type, i));
        }
        uint64_t keep = bytes_of(e->d) == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes_of(e->d)) - 1;
        uint64_t want = (uint64_t)ref->fn(v[0], v[1], v[2], (int)bytes_of(e->s) * 8) & keep;
        uint64_t got = lane(&o, e->d, i) & keep;
        if (got != want)
            fail_msg("%s.%s of %llx, %llx, %llx: %llx, not %llx", isa_row(e->op)->name,
                     isa_type_info(e->s)->text, (unsigned long long)v[0], (unsigned long long)v[1],
                     (unsigned long long)v[2], (unsigned long long)got, (unsigned long long)want);
    }
}

static void integer_operations_agree_with_arithmetic_in_128_bits(void **state)
{
    (void)state;
    const struct lane_table *tables[] = {&lanes_portable, lanes_table()};
    struct rng rng;
    rng_seed(&rng, 4);
    for (int t = 0; t < 2; t++)
        for (size_t r = 0; r < sizeof references / sizeof *references; r++) {
            int found = 0;
            for (size_t n = 0; n < tables[t]->count; n++) {
                if (tables[t]->entries[n].op != references[r].op)
                    continue;
                found++;
                for (int round = 0; round < 50; round++)
                    check_reference(&references[r], &tables[t]->entries[n], &rng);
            }
            assert_true(found > 0);
        }
}

static void conversions_truncate_extend_and_saturate(void **state)
{
    (void)state;
    const struct lane_table *table = lanes_table();
    struct rng rng;
    rng_seed(&rng, 5);
    for (size_t n = 0; n < table->count; n++) {
        const struct lane_entry *e = &table->entries[n];
        if (e->op != OP_CVT && e->op != OP_CVT_SAT)
            continue;
        struct operands o;
        fill(&o, &rng);
        call(e, &o, UINT32_MAX);
        uint32_t width = bytes_of(e->d) * 8;
        bool is_signed = isa_type_info(e->d)->kind == KIND_SIGNED;
        wide low = is_signed ? -((wide)1 << (width - 1)) : 0;
        wide high = is_signed ? -low - 1 : ((wide)1 << width) - 1;
        for (int i = 0; i < 32; i++) {
            wide v = number(e->s, read_operand(&o, 1, e->s, i));
            if (e->op == OP_CVT_SAT)
                v = v < low ? low : v > high ? high : v;
            else
                v = number(e->d, (uint64_t)v);
            assert_true(number(e->d, lane(&o, e->d, i)) == v);
            /* and the register holds it extended to its 32 bits */
            if (width < 32)
                assert_int_equal((uint32_t)lane(&o, e->d, i), (uint32_t)v);
        }
    }
}

static void comparisons_hold_for_every_operator_and_type(void **state)
{
    (void)state;
    const struct lane_table *tables[] = {&lanes_portable, lanes_table()};
    static const enum isa_type types[] = {TYPE_u16, TYPE_s16, TYPE_u32, TYPE_s32,
                                          TYPE_u64, TYPE_s64, TYPE_b32};
    struct rng rng;
    rng_seed(&rng, 6);
    for (int t = 0; t < 2; t++)
        for (size_t k = 0; k < sizeof types / sizeof *types; k++)
            for (int cmp = MOD_CMP_eq; cmp <= MOD_CMP_ge; cmp++) {
                lane_compare *fn = lanes_find_compare(tables[t], (enum isa_mod)cmp, types[k]);
                assert_non_null(fn);
                struct operands o;
                fill(&o, &rng);
                for (int i = 0; i < 32; i += 3)
                    o.v[2][i] = o.v[1][i];
                uint32_t all = fn(o.v[1], o.v[2], UINT32_MAX);
                for (int i = 0; i < 32; i++) {
                    wide a = number(types[k], read_operand(&o, 1, types[k], i));
                    wide b = number(types[k], read_operand(&o, 2, types[k], i));
                    bool want = cmp == MOD_CMP_eq   ? a == b
                                : cmp == MOD_CMP_ne ? a != b
                                : cmp == MOD_CMP_lt ? a < b
                                : cmp == MOD_CMP_le ? a <= b
                                : cmp == MOD_CMP_gt ? a > b
                                                    : a >= b;
                    assert_int_equal(all >> i & 1, want);
                    assert_int_equal(fn(o.v[1], o.v[2], 1u << i) >> i & 1, want);
                }
            }
}

static void float_comparisons_tell_ordered_from_unordered(void **state)
{
    (void)state;
    static const struct {
        enum isa_mod cmp;
        uint32_t less, equal, greater, unordered;
    } rows[] = {
        {MOD_CMP_eq, 0, 1, 0, 0},  {MOD_CMP_ne, 1, 0, 1, 0},  {MOD_CMP_lt, 1, 0, 0, 0},
        {MOD_CMP_le, 1, 1, 0, 0},  {MOD_CMP_gt, 0, 0, 1, 0},  {MOD_CMP_ge, 0, 1, 1, 0},
        {MOD_CMP_equ, 0, 1, 0, 1}, {MOD_CMP_neu, 1, 0, 1, 1}, {MOD_CMP_ltu, 1, 0, 0, 1},
        {MOD_CMP_leu, 1, 1, 0, 1}, {MOD_CMP_gtu, 0, 0, 1, 1}, {MOD_CMP_geu, 0, 1, 1, 1},
        {MOD_CMP_num, 1, 1, 1, 0}, {MOD_CMP_nan, 0, 0, 0, 1},
    };
    float a[32] = {1, 2, 3, 0, -0.0f}, b[32] = {2, 2, 2, 0, 0};
    uint32_t nan = 0x7fc00000;
    memcpy(&a[3], &nan, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t got = lanes_find_compare(lanes_table(), rows[i].cmp, TYPE_f32)(a, b, UINT32_MAX);
        assert_int_equal(got & 31, rows[i].less | rows[i].equal << 1 | rows[i].greater << 2 |
                                       rows[i].unordered << 3 | rows[i].equal << 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(avx2_loops_give_the_portable_ones_bits),
        cmocka_unit_test(avx512_loops_give_the_portable_ones_bits),
        cmocka_unit_test(loops_leave_inactive_lanes_alone_and_compute_a_single_lane_alike),
        cmocka_unit_test(results_may_lie_on_top_of_sources_as_wide),
        cmocka_unit_test(integer_operations_agree_with_arithmetic_in_128_bits),
        cmocka_unit_test(conversions_truncate_extend_and_saturate),
        cmocka_unit_test(comparisons_hold_for_every_operator_and_type),
        cmocka_unit_test(float_comparisons_tell_ordered_from_unordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
