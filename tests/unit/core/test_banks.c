/* Bank conflicts, against the rule that a stride of s words over n banks meets gcd(s, n)-fold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

/* The rule word by word: the most different rows that any bank is asked for, group after group. */
static uint32_t by_the_rule(const struct shared_spec *spec, const struct exec_access *access)
{
    uint32_t word = spec->word_bytes ? spec->word_bytes : spec->bank_bytes, passes = 0;
    uint32_t bytes = (uint32_t)access->bytes * access->vec;
    uint32_t row = spec->banks * spec->bank_bytes, group = row / bytes ? row / bytes : 1;
    for (uint32_t first = 0; first < WARP_LANES; first += group) {
        uint32_t worst = 0;
        for (uint32_t bank = 0; bank < spec->banks; bank++) {
            uint64_t rows[WARP_LANES];
            uint32_t count = 0;
            for (uint32_t lane = first; lane < first + group && lane < WARP_LANES; lane++) {
                uint64_t low = access->address[lane] / word,
                         high = (access->address[lane] + bytes - 1) / word;
                for (uint64_t w = low; access->mask >> lane & 1 && w <= high; w++) {
                    uint32_t at = 0;
                    while (at < count && rows[at] != w * word / row) {
                        at++;
                    }
                    if (w % spec->banks == bank && at == count) {
                        rows[count++] = w * word / row;
                    }
                }
            }
            worst = count > worst ? count : worst;
        }
        passes += worst;
    }
    return passes;
}

static void any_layout_is_counted_by_the_rule(void **state)
{
    (void)state;
    const struct shared_spec specs[] = {{.banks = 32, .bank_bytes = 4},
                                        {.banks = 32, .bank_bytes = 8},
                                        {.banks = 32, .bank_bytes = 8, .word_bytes = 4},
                                        {.banks = 16, .bank_bytes = 4},
                                        {.banks = 64, .bank_bytes = 4},
                                        {.banks = 24, .bank_bytes = 4},
                                        {.banks = 32, .bank_bytes = 12},
                                        {.banks = 1, .bank_bytes = 4}};
    uint64_t random = 19;
    for (uint32_t trial = 0; trial < 4000; trial++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const struct shared_spec *spec = &specs[trial % 8];
        uint32_t span = 1u << (random >> 60); /* few words or many */
        struct exec_access access =
            strided(random >> 58 & 3 ? 0 : 4, 4 << (random >> 56 & 1), random >> 55 & 1 ? 1 : 2);
        uint32_t bytes = (uint32_t)access.bytes * access.vec;
        access.mask = random >> 52 & 1 ? UINT32_MAX : (uint32_t)(random >> 16) | 1;
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            access.address[lane] =
                (access.address[lane] + (random >> 40) % span * 4) / bytes * bytes;
        }
        uint32_t wanted = by_the_rule(spec, &access);
        bool alone = (access.mask & (access.mask - 1)) == 0;
        assert_int_equal(banks_passes(spec, &access), alone ? 1 : wanted);
        access.done = access.mask == UINT32_MAX;
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            access.apart |= access.address[lane] ^ access.address[0];
        }
        assert_int_equal(banks_passes(spec, &access), alone ? 1 : wanted);
    }
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
        cmocka_unit_test(any_layout_is_counted_by_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
