/*
 * A line is found where it lies, in sets of any number of ways: by itself, beside lines whose
 * numbers have the same low half, beside such as have left. Held against asking slot by slot. Sets
 * that are parities are those of the index function.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/cache/tags.h"
#include "mem/mem.h"
#include "util/rng.h"

enum { LINE_BYTES = 128, SETS = 2, MOST_WAYS = 100, OPERATIONS = 400, LOW_HALVES = 90 };

static void make(struct tags *tags, struct cache_spec *spec, uint32_t ways)
{
    *spec =
        (struct cache_spec){.enabled = true,
                            .size_bytes = (uint64_t)SETS * ways * LINE_BYTES,
                            .line_bytes = LINE_BYTES,
                            .sector_bytes = LINE_BYTES,
                            .sets = SETS,
                            .ways = ways,
                            .index = {.kind = INDEX_BITS, .mask_count = 1, .masks = {LINE_BYTES}}};
    assert_int_equal(tags_check(spec), 0);
    assert_int_equal(tags_init(tags, spec), 0);
}

static uint32_t slot_by_slot(const struct tags *tags, uint32_t set, uint64_t line)
{
    for (uint32_t slot = tags->first[set]; slot < tags->first[set + 1]; slot++) {
        if (tags->slot[slot].line == line && tag_line_is_there(&tags->slot[slot])) {
            return slot;
        }
    }
    return TAGS_NONE;
}

/* Few low halves and few high ones, so that they meet. Lines of a set are all even or all odd. */
static uint64_t draw_line(struct rng *rng, uint32_t set)
{
    return (rng_below(rng, 3) << 32) | (rng_below(rng, LOW_HALVES) * SETS + set);
}

static void step(struct tags *tags, struct rng *rng)
{
    uint32_t set = (uint32_t)rng_below(rng, SETS);
    uint64_t line = draw_line(rng, set), evicted_physical;
    struct tag_line evicted;
    uint32_t slot = tags_find(tags, set, line);
    assert_int_equal(slot, slot_by_slot(tags, set, line));
    if (slot == TAGS_NONE) {
        slot = tags_allocate(tags, set, line, line * LINE_BYTES, &evicted, &evicted_physical);
        tags->slot[slot].valid = 1;
        assert_int_equal(tags_find(tags, set, line), slot);
    } else if (rng_below(rng, 4) == 0) {
        tags_drop(tags, set, slot);
        assert_int_equal(tags_find(tags, set, line), TAGS_NONE);
    }
}

static void a_line_is_found_in_whatever_way_it_lies(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 19);
    for (uint32_t ways = 1; ways <= MOST_WAYS; ways++) {
        struct cache_spec spec;
        struct tags tags;
        make(&tags, &spec, ways);
        for (uint32_t i = 0; i < OPERATIONS; i++) {
            step(&tags, &rng);
        }
        tags_free(&tags);
    }
}

/* Masks of so many bits from `lowest` on, which tags look up or leave to the index function. */
static void hold_parities(struct rng *rng, uint32_t lowest, uint32_t bits)
{
    enum { MASKS = 5, PARITY_SETS = 1 << MASKS, PARITY_WAYS = 2, ADDRESSES = 200 };
    struct cache_spec spec = {.enabled = true,
                              .size_bytes = (uint64_t)PARITY_SETS * PARITY_WAYS * LINE_BYTES,
                              .line_bytes = LINE_BYTES,
                              .sector_bytes = LINE_BYTES,
                              .sets = PARITY_SETS,
                              .ways = PARITY_WAYS,
                              .index = {.kind = INDEX_XOR, .mask_count = MASKS}};
    for (uint32_t i = 0; i < MASKS; i++) {
        spec.index.masks[i] = (rng_below(rng, UINT64_C(1) << bits) | UINT64_C(1) << i) << lowest;
    }
    spec.index.masks[0] |= UINT64_C(1) << (lowest + bits - 1);
    struct tags tags;
    assert_int_equal(tags_init(&tags, &spec), 0);
    assert_int_equal(tags.index_parts, bits > 32 ? 0 : (bits + 3) / 4);
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        uint64_t address = rng_below(rng, UINT64_C(1) << 62);
        assert_int_equal(tags_set(&tags, address),
                         mem_index_set(&spec.index, PARITY_SETS, LINE_BYTES, address));
    }
    tags_free(&tags);
}

static void a_set_of_parities_is_the_index_functions(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 20);
    for (uint32_t bits = 6; bits <= 36; bits++) {
        hold_parities(&rng, 7 + bits % 3, bits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_found_in_whatever_way_it_lies),
        cmocka_unit_test(a_set_of_parities_is_the_index_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
