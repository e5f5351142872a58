/* Bank conflicts, against the rule that a stride of s words over n banks meets gcd(s, n)-fold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/memory/banks.h"

static const struct shared_spec fermi = {.banks = 32, .bank_bytes = 4};
static const struct shared_spec kepler = {.banks = 32, .bank_bytes = 8};
static const struct shared_spec tesla = {.banks = 16, .bank_bytes = 4};

static struct exec_access strided(uint32_t stride_bytes, uint8_t bytes, uint8_t vec)
{
    struct exec_access access = {
        .kind = ACCESS_LOAD, .space = SPACE_SHARED, .mask = UINT32_MAX, .bytes = bytes, .vec = vec};
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        access.address[lane] = (uint64_t)lane * stride_bytes;
    }
    return access;
}

static uint32_t passes(const struct shared_spec *spec, uint32_t stride, uint8_t bytes, uint8_t vec)
{
    struct exec_access access = strided(stride, bytes, vec);
    return banks_passes(spec, &access);
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    return b ? gcd(b, a % b) : a;
}

static void word_strides_conflict_as_the_gcd_says(void **state)
{
    (void)state;
    for (uint32_t stride = 1; stride <= 130; stride++) {
        assert_int_equal(passes(&fermi, stride * 4, 4, 1), gcd(stride, 32));
    }
}

static void kepler_word_strides_conflict_by_its_wide_banks(void **state)
{
    (void)state;
    /* Mei 2014, Fig 7: in 8-byte mode a stride of 2 words has no conflict, of 4 a two-way one. */
    assert_int_equal(passes(&kepler, 2 * 4, 4, 1), 1);
    assert_int_equal(passes(&kepler, 4 * 4, 4, 1), 2);
    assert_int_equal(passes(&kepler, 64 * 4, 4, 1), 32);
    for (uint32_t stride = 1; stride <= 64; stride++) {
        assert_int_equal(passes(&kepler, stride * 8, 8, 1), gcd(stride, 32));
    }
}

static void one_word_for_all_lanes_is_broadcast(void **state)
{
    (void)state;
    assert_int_equal(passes(&fermi, 0, 4, 1), 1);
    assert_int_equal(passes(&fermi, 1, 1, 1), 1); /* bytes of eight words */
}

static void wide_accesses_go_in_groups_of_lanes(void **state)
{
    (void)state;
    assert_int_equal(passes(&fermi, 8, 8, 1), 2);  /* two half-warps */
    assert_int_equal(passes(&fermi, 16, 4, 4), 4); /* four quarters */
    assert_int_equal(passes(&tesla, 4, 4, 1), 2);  /* 16 banks: half-warps */
    assert_int_equal(passes(&fermi, 16, 8, 1), 4); /* two-way in each half */
}

static void inactive_lanes_do_not_count(void **state)
{
    (void)state;
    struct exec_access access = strided(128, 4, 1);
    assert_int_equal(banks_passes(&fermi, &access), 32);
    access.mask = 0x80000001;
    assert_int_equal(banks_passes(&fermi, &access), 2);
    access.mask = 0x00010000;
    assert_int_equal(banks_passes(&fermi, &access), 1);
    access.mask = 0;
    assert_int_equal(banks_passes(&fermi, &access), 0);
}

static void atomics_on_one_word_are_served_one_by_one(void **state)
{
    (void)state;
    struct exec_access access = strided(0, 4, 1);
    access.kind = ACCESS_ATOMIC;
    assert_int_equal(banks_passes(&fermi, &access), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(word_strides_conflict_as_the_gcd_says),
        cmocka_unit_test(kepler_word_strides_conflict_by_its_wide_banks),
        cmocka_unit_test(one_word_for_all_lanes_is_broadcast),
        cmocka_unit_test(wide_accesses_go_in_groups_of_lanes),
        cmocka_unit_test(inactive_lanes_do_not_count),
        cmocka_unit_test(atomics_on_one_word_are_served_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
