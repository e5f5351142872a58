/* TLBs and the page walker in model files: what is derived, what cannot be. */
#include "support/model_text.h"

static void a_tlb_is_a_cache_of_pages(void **state)
{
    (void)state;
    struct model *model =
        accept_text("tlb_l2: {enabled: true, scope: cluster, page: 2 MiB, sets: 7,\n"
                    "  ways_per_set: [17, 8, 8, 8, 8, 8, 8],\n"
                    "  index: {kind: map, map: [0, 0, 1, 2, 3, 4, 5, 6]}}\n");
    const struct cache_spec *entries = &model->tlb_l2.entries;
    assert_int_equal(model->tlb_l2.scope, TLB_PER_CLUSTER);
    assert_int_equal(entries->size_bytes, UINT64_C(130) << 20);
    assert_int_equal(entries->sector_bytes, entries->line_bytes);
    assert_int_equal(entries->ways, 17);
    assert_int_equal(entries->address, ADDRESS_VIRTUAL);
    assert_false(model->tlb_l1.entries.enabled);
    model_destroy(model);
}

static void a_tlb_must_hold_together(void **state)
{
    (void)state;
    refuse_text("tlb_l1: {enabled: true, page: 3 MiB}\n",
                "m.yaml:1:31: tlb_l1.page: 3 MiB is not a power of two");
    refuse_text("tlb_l1: {enabled: true, sets: 3, ways_per_set: [4, 2]}\n",
                "m.yaml:1:48: tlb_l1.ways_per_set: has 2 items for 3 sets");
    refuse_text("tlb_l1: {enabled: true, sets: 3, index: {kind: map, map: [0, 1, 0]}}\n",
                "m.yaml:1:58: tlb_l1.index.map: only 2 of 3 sets are ever used");
    refuse_text("tlb_l1: {enabled: true, page: 4 MiB}\ntlb_l2: {enabled: true, page: 2 MiB}\n",
                "m.yaml:2:31: tlb_l2.page: is not a multiple of tlb_l1.page");
    refuse_text("tlb_l1: {enabled: true}\ntlb_l2: {enabled: true, scope: sm}\n",
                "m.yaml:2:32: tlb_l2.scope: is narrower than tlb_l1.scope");
}

static void a_walker_must_hold_together(void **state)
{
    (void)state;
    refuse_text("tlb_l1: {enabled: true}\nwalker: {levels: 1, level1: {span: 3 MiB}}\n",
                "m.yaml:2:36: walker.level1.span: 3 MiB is not a power of two");
    refuse_text("tlb_l1: {enabled: true}\nwalker: {levels: 2, level2: {entry: 24 B}}\n",
                "m.yaml:2:37: walker.level2.entry: 24 B is not a power of two");
    refuse_text("tlb_l1: {enabled: true}\nwalker: {levels: 1, read: 256 B}\n",
                "m.yaml:2:27: walker.read: 256 B are more than a line of L2");
    refuse_text("tlb_l1: {enabled: true}\nwalker: {window: 500 MiB}\n",
                "m.yaml:2:18: walker.window: 500 MiB is not a power of two");
    refuse_text("walker: {levels: 5}\n", "m.yaml:1:18: walker.levels: '5' is out of range: 0 to 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tlb_is_a_cache_of_pages),
        cmocka_unit_test(a_tlb_must_hold_together),
        cmocka_unit_test(a_walker_must_hold_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
