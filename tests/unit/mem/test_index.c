/* Index functions: what each kind computes, and what is refused. */
#include "support/memory_rig.h"

static uint32_t set_of(const struct index_spec *index, uint32_t sets, uint64_t address)
{
    return mem_index_set(index, sets, 128, address);
}

static void bits_select_address_bits_in_their_order(void **state)
{
    (void)state;
    struct index_spec index = {
        .kind = INDEX_BITS, .mask_count = 3, .masks = {1 << 9, 1 << 7, 1 << 12}};
    assert_int_equal(mem_index_check(&index, 8), 0);
    for (uint64_t address = 0; address < 1 << 14; address += 64) {
        uint32_t expected =
            (uint32_t)((address >> 9 & 1) | (address >> 7 & 1) << 1 | (address >> 12 & 1) << 2);
        assert_int_equal(set_of(&index, 8, address), expected);
    }
}

static void xor_takes_the_parity_under_each_mask(void **state)
{
    (void)state;
    struct index_spec index = {.kind = INDEX_XOR,
                               .mask_count = 2,
                               .masks = {UINT64_C(0x8000040080), UINT64_C(0x0000012100)}};
    assert_int_equal(mem_index_check(&index, 4), 0);
    struct rng rng;
    rng_seed(&rng, 3);
    for (int i = 0; i < 10000; i++) {
        uint64_t address = rng_u64(&rng);
        uint32_t expected = 0;
        for (uint32_t bit = 0; bit < 64; bit++) {
            for (uint32_t m = 0; m < 2; m++) {
                expected ^= (uint32_t)(address >> bit & index.masks[m] >> bit & 1) << m;
            }
        }
        assert_int_equal(set_of(&index, 4, address), expected);
    }
}

static void modulo_needs_no_power_of_two(void **state)
{
    (void)state;
    struct index_spec index = {.kind = INDEX_MODULO};
    assert_int_equal(mem_index_check(&index, 21), 0);
    assert_int_equal(set_of(&index, 21, 128 * 20 + 127), 20);
    assert_int_equal(set_of(&index, 21, 128 * 21), 0);
    index.unit_bytes = 4096;
    assert_int_equal(set_of(&index, 6, 4096 * 7 + 5), 1);
}

static void a_map_sends_residues_to_sets(void **state)
{
    (void)state;
    struct index_spec index = {
        .kind = INDEX_MAP, .unit_bytes = 256, .map_count = 8, .map = {0, 0, 1, 2, 3, 4, 5, 6}};
    assert_int_equal(mem_index_check(&index, 7), 0);
    for (uint64_t unit = 0; unit < 64; unit++) {
        assert_int_equal(set_of(&index, 7, unit * 256 + 17), index.map[unit % 8]);
    }
}

/* Any stride meets all sets alike, within what chance makes of 64 lines a set. */
static void a_hash_spreads_every_stride_over_all_sets(void **state)
{
    (void)state;
    struct index_spec index = {.kind = INDEX_HASH, .seed = 3}, other = {.kind = INDEX_HASH};
    assert_int_equal(mem_index_check(&index, 47), 0);
    static const uint64_t strides[] = {128, 47 * 128, 4096, 1 << 21, UINT64_C(1) << 30};
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
        uint32_t count[47] = {0}, both = 0;
        for (uint64_t i = 0; i < 64 * 47; i++) {
            uint32_t set = set_of(&index, 47, i * strides[s]);
            assert_true(set < 47);
            count[set]++;
            both += set == set_of(&other, 47, i * strides[s]);
        }
        for (int set = 0; set < 47; set++) {
            assert_in_range(count[set], 64 - 40, 64 + 40);
        }
        assert_in_range(both, 64 - 40, 64 + 40); /* two seeds agree by chance alone */
    }
    assert_int_equal(set_of(&index, 47, 128), set_of(&index, 47, 255));
}

/* Neighbours are dealt in turn, whatever their block begins with; blocks begin anywhere. */
static void rounds_spread_neighbours_evenly(void **state)
{
    (void)state;
    enum { SETS = 48, BLOCK = 64, BLOCKS = 4096 };
    const struct index_spec index = {
        .kind = INDEX_ROUNDS, .unit_bytes = 512, .block_units = BLOCK, .seed = 1};
    uint32_t starts[SETS] = {0};
    assert_int_equal(mem_index_check(&index, SETS), 0);
    for (uint64_t block = 0; block < BLOCKS; block++) {
        uint32_t first = mem_index_set(&index, SETS, 128, block * BLOCK * 512);
        starts[first]++;
        for (uint64_t unit = 0; unit < BLOCK; unit++) {
            uint64_t address = (block * BLOCK + unit) * 512;
            assert_int_equal(mem_index_set(&index, SETS, 128, address), (first + unit) % SETS);
            assert_int_equal(mem_index_set(&index, SETS, 128, address + 511),
                             (first + unit) % SETS);
        }
    }
    for (uint32_t set = 0; set < SETS; set++) {
        assert_in_range(starts[set], BLOCKS / SETS / 2, BLOCKS / SETS * 3 / 2);
    }
    const struct index_spec none = {.kind = INDEX_ROUNDS};
    assert_int_equal(mem_index_check(&none, SETS), SONDE_EINPUT);
}

static void no_bits_number_one_set(void **state)
{
    (void)state;
    struct index_spec index = {.kind = INDEX_BITS};
    assert_int_equal(mem_index_check(&index, 1), 0);
    assert_int_equal(set_of(&index, 1, 0x12345), 0);
}

static void refused(const struct index_spec *index, uint32_t sets, const char *reason)
{
    assert_int_equal(mem_index_check(index, sets), SONDE_EINPUT);
    assert_string_equal(error_text(), reason);
}

static void functions_that_miss_the_sets_are_refused(void **state)
{
    (void)state;
    struct index_spec bits = {.kind = INDEX_BITS, .mask_count = 2, .masks = {128, 256}};
    refused(&bits, 8, "index function: 2 address bits or masks cannot number 8 sets");
    refused(&bits, 3, "index function: 2 address bits or masks cannot number 3 sets");
    refused(&bits, 0, "index function: there must be at least one set");
    bits.masks[1] = 0x300;
    refused(&bits, 4, "index function: mask 1 selects more than one bit");
    bits.masks[1] = 0;
    refused(&bits, 4, "index function: mask 1 is empty");
    bits.mask_count = MEM_MAX_INDEX_MASKS + 1;
    refused(&bits, 4, "index function: 25 address bits or masks cannot number 4 sets");
    struct index_spec map = {.kind = INDEX_MAP, .map_count = 3, .map = {0, 1, 2}};
    refused(&map, 2, "index function: map entry 2 is set 2 of only 2 sets");
    map.map_count = 0;
    refused(&map, 2, "index function: a map has 1 to 4096 entries, not 0");
    struct index_spec unknown = {.kind = INDEX_KIND_COUNT};
    refused(&unknown, 2, "index function: unknown kind 6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_select_address_bits_in_their_order),
        cmocka_unit_test(xor_takes_the_parity_under_each_mask),
        cmocka_unit_test(modulo_needs_no_power_of_two),
        cmocka_unit_test(a_map_sends_residues_to_sets),
        cmocka_unit_test(a_hash_spreads_every_stride_over_all_sets),
        cmocka_unit_test(rounds_spread_neighbours_evenly),
        cmocka_unit_test(no_bits_number_one_set),
        cmocka_unit_test(functions_that_miss_the_sets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
