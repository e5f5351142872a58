/* What is checked of clusters, L2's parts, data arrays and the paths of Hopper's memory system. */
#include <stdlib.h>

#include "support/model_text.h"

#define GPU "l2: {slices: 4, slice_index: {kind: hash}}\ndram: {channels: 1}\nsms: 4\nclusters: 2\n"
#define PARTS "inherits: gtx780\nl2: {parts: 2, part_index: {kind: hash}, "

static void every_sm_has_a_cluster_and_every_cluster_an_sm(void **state)
{
    (void)state;
    struct model *model = accept_text(GPU "cluster_of: [0, 1, 0, 0]\n");
    assert_int_equal(model->cluster_of.count, 4);
    assert_int_equal(model->cluster_of.number[1], 1);
    model_destroy(model);
    refuse_text(GPU "cluster_of: [0, 1, 0]\n", "m.yaml:5:13: cluster_of: has 3 items for 4 SMs");
    refuse_text(GPU "cluster_of: [0, 1, 0, 2]\n",
                "m.yaml:5:13: cluster_of: item 3 is 2, but there are only 2, counted from 0");
    refuse_text(GPU "cluster_of: [1, 1, 1, 1]\n",
                "m.yaml:5:13: cluster_of: only 1 of 2 are ever used");
}

static void parts_share_out_slices_and_clusters(void **state)
{
    (void)state;
    struct model *model = accept_text(PARTS "slice_latency: [0, 0, 30]}\n");
    assert_int_equal(model->l2_parts.count, 2);
    assert_int_equal(model->l2_parts.slice_cycles.number[2], 30);
    char *text, *again;
    assert_int_equal(model_show(&text, model), 0);
    model_destroy(model);
    model = accept_text(text);
    assert_int_equal(model_show(&again, model), 0);
    assert_string_equal(text, again);
    free(text);
    free(again);
    model_destroy(model);
    refuse_text("inherits: gtx780\nl2: {parts: 4}\n",
                "m.yaml:2:13: l2.parts: 4 does not divide l2.slices, 6");
    refuse_text(PARTS "slice_latency: [0, 0]}\n",
                "m.yaml:2:57: l2.slice_latency: has 2 items for 3 slices of a part");
    refuse_text(PARTS "part_of_cluster: [0, 0, 0, 0]}\n",
                "m.yaml:2:59: l2.part_of_cluster: only 1 of 2 are ever used");
    refuse_text("inherits: gtx780\nl2: {parts: 2, part_index: {kind: bits, bits: [12, 13]}}\n",
                "m.yaml:2:47: l2.part_index.bits: index function: 2 address bits or masks cannot "
                "number 2 sets");
    refuse_text(PARTS "write: write_through_update}\n",
                "m.yaml:2:13: l2.parts: several parts need an L2 that writes back");
    refuse_text(
        PARTS "miss: {mergers: 0}}\n",
        "m.yaml: l2.miss.entries: copies of other parts' lines need 2 entries and a merger at "
        "least");
}

static void a_data_array_is_no_larger_than_its_tags_reach(void **state)
{
    (void)state;
    static const char whole[] = "l1_data: {size: 16 KiB, sets: 32, ways: 4, data: 12 KiB}\n" GPU;
    model_destroy(accept_text(whole));
    refuse_text(
        "l1_data: {size: 16 KiB, sets: 32, ways: 4, data: 17 KiB}\n" GPU,
        "m.yaml:1:50: l1_data.data: 17 KiB are not whole lines of at most the size, 16 KiB");
    refuse_text("l1_data: {size: 16 KiB, sets: 32, ways: 4, data: 100 B}\n" GPU,
                "m.yaml:1:50: l1_data.data: 100 B are not whole lines of at most the size, 16 KiB");
    refuse_text(
        "carveout: {choices: [{shared: 8 KiB, l1: 16 KiB, sets: 32, ways: 4, data: 15 KiB}, "
        "{shared: 16 KiB, l1: 16 KiB, sets: 32, ways: 4, data: 8 KiB}]}\n" GPU,
        "m.yaml:1:21: carveout.choices: choice 1: shared and data make 24 KiB, those of "
        "choice 0 make 23 KiB");
}

static void a_choice_cuts_the_data_array(void **state)
{
    (void)state;
    struct model *model = accept_text(
        "carveout: {choices: [{shared: 8 KiB, l1: 16 KiB, sets: 32, ways: 4, data: 15 KiB}, "
        "{shared: 16 KiB, l1: 16 KiB, sets: 32, ways: 4, data: 7 KiB}]}\n" GPU);
    struct cache_spec l1;
    uint64_t shared;
    model_carve(&l1, &shared, model, 1);
    assert_int_equal(l1.data_bytes, 7 << 10);
    assert_int_equal(l1.size_bytes, 16 << 10);
    assert_int_equal(model->l1_data.data_bytes, 15 << 10);
    model_destroy(model);
}

static void texture_fetches_look_in_one_cache(void **state)
{
    (void)state;
    refuse_text("inherits: gtx780\nsm: {texture: {l1: true}}\n",
                "m.yaml:2:20: sm.texture.l1: is true, but there is texture_l1");
    refuse_text("inherits: gtx780\nconstant_l15: {scope: gpu}\n",
                "m.yaml:2:23: constant_l15.scope: an SM has one, or a cluster");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sm_has_a_cluster_and_every_cluster_an_sm),
        cmocka_unit_test(parts_share_out_slices_and_clusters),
        cmocka_unit_test(a_data_array_is_no_larger_than_its_tags_reach),
        cmocka_unit_test(a_choice_cuts_the_data_array),
        cmocka_unit_test(texture_fetches_look_in_one_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
