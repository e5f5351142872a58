/*
 * The routers' allocators: round robin over masks against the same over lists of requests. Random
 * requests in rising order, 20000 cycles a shape: the same matches in the same order, and pointers
 * that stand alike, from one input to 64 and one iteration to three.
 */
#include "support/memory_rig.h"

#include "mem/noc/allocator.h"
#include "util/rng.h"

enum { MOST = 64, CYCLES = 20000 };

struct side {
    struct allocator allocator;
    uint16_t grant[MOST], accept[MOST];
};

static void side_open(struct side *side, uint32_t inputs, uint32_t outputs, uint32_t iterations,
                      bool rising)
{
    memset(side, 0, sizeof *side);
    assert_int_equal(
        allocator_init(&side->allocator, NOC_ALLOCATOR_ISLIP, inputs, outputs, iterations, rising),
        0);
    assert_int_equal(side->allocator.masks, rising);
}

static void side_run(struct side *side)
{
    struct allocator_pointers pointers = {.grant = side->grant, .accept = side->accept};
    allocator_run(&side->allocator, &pointers);
    assert_false(allocator_asked(&side->allocator));
}

static void ask_alike(struct side *masks, struct side *lists, struct rng *rng)
{
    uint32_t one_in = 1 + (uint32_t)rng_below(rng, 2 * masks->allocator.inputs);
    for (uint32_t input = 0; input < masks->allocator.inputs; input++) {
        for (uint32_t output = 0; output < masks->allocator.outputs; output++) {
            if (rng_below(rng, one_in) == 0) {
                allocator_request(&masks->allocator, input, output);
                allocator_request(&lists->allocator, input, output);
            }
        }
    }
}

static void compare(uint32_t inputs, uint32_t outputs, uint32_t iterations, uint32_t cycles)
{
    struct side masks, lists;
    struct rng rng;
    uint64_t matches = 0;
    side_open(&masks, inputs, outputs, iterations, true);
    side_open(&lists, inputs, outputs, iterations, false);
    rng_seed(&rng, 7);
    for (uint32_t i = 0; i < cycles; i++) {
        ask_alike(&masks, &lists, &rng);
        side_run(&masks);
        side_run(&lists);
        assert_int_equal(masks.allocator.matches, lists.allocator.matches);
        for (uint32_t j = 0; j < masks.allocator.matches; j++) {
            assert_int_equal(masks.allocator.match[j].input, lists.allocator.match[j].input);
            assert_int_equal(masks.allocator.match[j].output, lists.allocator.match[j].output);
        }
        assert_memory_equal(masks.grant, lists.grant, sizeof masks.grant);
        assert_memory_equal(masks.accept, lists.accept, sizeof masks.accept);
        matches += masks.allocator.matches;
    }
    assert_true(matches > cycles / 8);
    allocator_free(&masks.allocator);
    allocator_free(&lists.allocator);
}

static void masks_and_lists_match_alike(void **state)
{
    (void)state;
    compare(1, 1, 1, CYCLES);
    compare(10, 5, 1, CYCLES);
    compare(10, 10, 1, CYCLES);
    compare(10, 10, 3, CYCLES);
    compare(5, 10, 2, CYCLES);
    compare(64, 64, 2, CYCLES / 40);
}

static void what_masks_cannot_hold_goes_over_lists(void **state)
{
    (void)state;
    struct allocator allocator;
    assert_int_equal(allocator_init(&allocator, NOC_ALLOCATOR_ISLIP, 65, 64, 1, true), 0);
    assert_false(allocator.masks);
    allocator_free(&allocator);
    assert_int_equal(allocator_init(&allocator, NOC_ALLOCATOR_PIM, 5, 5, 1, true), 0);
    assert_false(allocator.masks);
    allocator_free(&allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_and_lists_match_alike),
        cmocka_unit_test(what_masks_cannot_hold_goes_over_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
