/* What bounds the requests in flight: read from a model, and refused where it cannot be. */
#include "support/model_text.h"

static void structures_are_read_and_are_off_by_default(void **state)
{
    (void)state;
    struct model *model = accept_text("sms: 1\n");
    assert_int_equal(model->sm.pending.kind, PENDING_NONE);
    assert_int_equal(model->sm.loads_per_warp, 0);
    assert_int_equal(model->sm.lanes.parallel, 1);
    assert_int_equal(model->l1_data.merger, MERGER_REQUEST);
    model_destroy(model);
    model = accept_text("sm: {outstanding: {structure: prt, entries: 44}, loads_per_warp: 3,\n"
                        "  lsu: {parallel: 3, request_interval: 4 cycles}}\n"
                        "l1_data: {miss: {merger: lane}}\n");
    assert_int_equal(model->sm.pending.kind, PENDING_PRT);
    assert_int_equal(model->sm.pending.entries, 44);
    assert_int_equal(model->sm.loads_per_warp, 3);
    assert_int_equal(model->sm.lanes.parallel, 3);
    assert_int_equal(model->sm.lanes.request_cycles, 4);
    assert_int_equal(model->l1_data.merger, MERGER_LANE);
    model_destroy(model);
}

static void a_structure_and_its_entries_need_each_other(void **state)
{
    (void)state;
    refuse_text("sm: {outstanding: {structure: prt}}\n",
                "m.yaml: sm.outstanding.entries: the structure needs at least one");
    refuse_text("sm: {outstanding: {structure: request_limit, entries: 0}}\n",
                "m.yaml:1:55: sm.outstanding.entries: the structure needs at least one");
    refuse_text(
        "sm: {outstanding: {entries: 8}}\n",
        "m.yaml:1:29: sm.outstanding.entries: there is no sm.outstanding.structure to have 8");
    refuse_text("sm: {outstanding: {structure: prt, entries: 8, hold_instruction: true}}\n",
                "m.yaml:1:66: sm.outstanding.hold_instruction: is of a request_limit");
}

static void words_and_ranges_are_checked(void **state)
{
    (void)state;
    refuse_text("sm: {outstanding: {structure: mshr, entries: 8}}\n",
                "m.yaml:1:31: sm.outstanding.structure: 'mshr' is not one of none, prt, "
                "request_limit");
    refuse_text("sm: {lsu: {parallel: 65}}\n",
                "m.yaml:1:22: sm.lsu.parallel: '65' is out of range: 1 to 64");
    refuse_text("sm: {lsu: {request_interval: 0 cycles}}\n",
                "m.yaml:1:30: sm.lsu.request_interval: '0 cycles' is out of range: 1 cycle to 1000 "
                "cycles");
    refuse_text("l1_data: {miss: {merger: warp}}\n",
                "m.yaml:1:26: l1_data.miss.merger: 'warp' is not one of request, lane");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structures_are_read_and_are_off_by_default),
        cmocka_unit_test(a_structure_and_its_entries_need_each_other),
        cmocka_unit_test(words_and_ranges_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
