/* What the judge of drawn machines takes for true of sets and their index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blind.h"
#include "mem/mem.h"

static struct cache_spec modulo(uint32_t line, uint32_t sets, uint32_t unit)
{
    return (struct cache_spec){.enabled = true,
                               .line_bytes = line,
                               .sets = sets,
                               .ways = 4,
                               .index = {.kind = INDEX_MODULO, .unit_bytes = unit}};
}

/* Of 24 slices of 128 B four lines of 32 B follow each other, and windows of 768 B number the sets:
 * a slice lies in one of four windows. */
static void lines_shorter_than_a_slices_row_reach_a_part_of_the_sets(void **state)
{
    (void)state;
    const struct index_spec slice = {.kind = INDEX_MODULO, .unit_bytes = 128};
    struct cache_spec spec = modulo(32, 8192, 768);
    assert_int_equal(truth_reached_sets(&spec, 24, &slice), 24 * 8192 / 4);
    spec = modulo(128, 8192, 3072);
    assert_int_equal(truth_reached_sets(&spec, 24, &slice), 24 * 8192);
}

/* Pages of 4 KiB: a buffer of 2 MiB may begin at an odd MiB, whose bit 20 carries into bit 21. */
static void an_offsets_highest_bit_may_carry_where_pages_are_short(void **state)
{
    (void)state;
    const struct cache_spec spec = {
        .line_bytes = 128,
        .sets = 4,
        .ways = 4,
        .index = {.kind = INDEX_XOR, .mask_count = 2, .masks = {0x100080, 0x200100}}};
    json_t *carried = json_pack("{s:s,s:[s,s]}", "kind", "xor", "masks", "0x100080", "0x100100");
    json_t *other = json_pack("{s:s,s:[s,s]}", "kind", "xor", "masks", "0x100080", "0x180100");
    assert_true(truth_index_agrees(carried, &spec, 1, NULL, false, 4096));
    assert_false(truth_index_agrees(carried, &spec, 1, NULL, false, 65536));
    assert_false(truth_index_agrees(other, &spec, 1, NULL, false, 4096));
    json_decref(carried);
    json_decref(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_shorter_than_a_slices_row_reach_a_part_of_the_sets),
        cmocka_unit_test(an_offsets_highest_bit_may_carry_where_pages_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
