/* Reading a study, and judging values; what is measured is tested from end to end (tests/study). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "study/study.h"
#include "util/container/arena.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

#define HEAD "name: s\ntitle: t\ndevices: {a: 'sim:gtx780', b: 'sim:gtx560ti'}\nrows:\n"
#define ROW                                                                                        \
    "  - {id: t1.x, what: w, device: b, published: 7, tolerance: exact, basis: input, "            \
    "measure: {spectrum: P1}}\n"

static struct study *accept(const char *text)
{
    struct study *study = NULL;
    if (study_parse(&study, "s.yaml", text, strlen(text)) < 0) {
        fail_msg("refused: %s", error_text());
    }
    return study;
}

static void refuse(const char *text, const char *place_and_reason)
{
    struct study *study = NULL;
    assert_int_equal(study_parse(&study, "s.yaml", text, strlen(text)), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), place_and_reason));
}

static void a_row_has_all_its_parts(void **state)
{
    (void)state;
    struct study *study = accept(HEAD ROW);
    assert_int_equal(study->row_count, 1);
    assert_int_equal(study->rows[0].device, 1);
    assert_int_equal(study->rows[0].reading_count, 1);
    assert_true(study->rows[0].published.number == 7);
    study_destroy(study);
}

static void what_is_missing_or_twice_is_refused_with_its_place(void **state)
{
    (void)state;
    refuse(HEAD "  - {id: x, what: w, device: b, published: 7, measure: {spectrum: P1}}\n",
           "s.yaml:5");
    refuse(HEAD "  - {id: x, what: w, device: c, published: 7, tolerance: exact, basis: input, "
                "measure: {a: b}}\n",
           "no device 'c'");
    refuse(HEAD "  - {id: x, what: w, device: a, published: 7, tolerance: near, measure: {a: b}}\n",
           "'near' is no tolerance");
    refuse(HEAD "  - {id: x, what: w, device: a, published: 7, tolerance: exact, basis: input}\n",
           "'measure'");
    refuse(HEAD ROW ROW, "'t1.x' comes twice");
    refuse(HEAD "  []\n", "'rows'");
    refuse("name: s\ntitle: t\nrows: []\n", "devices");
}

static void a_list_is_read_whole_and_refused_at_its_wrong_item(void **state)
{
    (void)state;
#define LIST(items)                                                                                \
    HEAD "  - {id: x, what: w, device: a, published: " items ", tolerance: exact, "                \
         "basis: input, measure: {spectrum: P1}}\n"
    struct study *study = accept(LIST("[7, 8.5, 9]"));
    const struct study_value *list = &study->rows[0].published;
    assert_int_equal(list->kind, STUDY_LIST);
    assert_int_equal(list->count, 3);
    assert_true(list->list[0] == 7 && list->list[1] == 8.5 && list->list[2] == 9);
    study_destroy(study);
    refuse(LIST("[7, x, 9]"), "s.yaml:5");
    refuse(LIST("[]"), "a list of 1 to");
#undef LIST
}

static void a_row_says_whether_its_number_is_an_input(void **state)
{
    (void)state;
    const char *const row = "  - id: x\n    what: w\n    device: a\n    published: 7\n"
                            "    tolerance: exact\n    measure: {spectrum: P1}\n";
    char text[1024];
    snprintf(text, sizeof(text), "%s%s", HEAD, row);
    refuse(text, "s.yaml:5");
    refuse(text, "'basis' is missing: write 'basis: input' if");
    snprintf(text, sizeof(text), "%s%s    basis: guess\n", HEAD, row);
    refuse(text, "s.yaml:11");
    refuse(text, "'basis: prediction'");
    snprintf(text, sizeof(text), "%s%s    basis: prediction\n", HEAD, row);
    struct study *study = accept(text);
    assert_int_equal(study_basis(study, &study->rows[0]), STUDY_PREDICTION);
    assert_int_equal(study_device(study, "a=cuda:0"), 0);
    assert_int_equal(study_basis(study, &study->rows[0]), STUDY_ELSEWHERE);
    study_destroy(study);
}

/* A row that has been judged: it holds by its literal reading. */
static void hold(struct study_row *row)
{
    row->done = row->ok = row->readings[0].holds = true;
}

static void what_holds_is_counted_by_its_basis(void **state)
{
    (void)state;
    struct study *study =
        accept(HEAD ROW "  - {id: p, what: w, device: a, published: 7, tolerance: "
                        "exact, basis: prediction, measure: {spectrum: P1}}\n"
                        "  - {id: q, what: w, device: a, published: 7, tolerance: "
                        "exact, basis: prediction, measure: {spectrum: P1}}\n");
    char *text = NULL;
    hold(&study->rows[0]);
    hold(&study->rows[1]);
    hold(&study->rows[2]);
    study->rows[2].ok = false;
    assert_int_equal(study_table(&text, study), 0);
    assert_non_null(strstr(text, "3 rows, 2 hold (1 input, 1 prediction), 1 fail"));
    assert_non_null(strstr(text, "  prediction  FAIL\n"));
    free(text);
    study->rows[2].ok = true;
    assert_int_equal(study_device(study, "b=cuda:0"), 0);
    assert_int_equal(study_table(&text, study), 0);
    assert_non_null(strstr(text, "3 rows, 3 hold (2 predictions, 1 elsewhere), 0 fail"));
    free(text);
    assert_int_equal(study_json(&text, study), 0);
    assert_non_null(strstr(text, "\"basis\": \"elsewhere\""));
    assert_non_null(strstr(text, "\"basis\": \"prediction\""));
    free(text);
    study_destroy(study);
}

static void every_shipped_study_is_accepted(void **state)
{
    (void)state;
    assert_non_null(study_name(0));
    for (size_t i = 0; study_name(i); i++) {
        struct study *study = NULL;
        assert_int_equal(study_load(&study, study_name(i)), 0);
        assert_string_equal(study->name, study_name(i));
        study_destroy(study);
    }
}

static void a_selection_is_an_id_or_its_beginning_up_to_a_dot(void **state)
{
    (void)state;
    struct study *study =
        accept(HEAD ROW "  - {id: t10, what: w, device: a, published: 7, "
                        "tolerance: exact, basis: input, measure: {spectrum: P1}}\n");
    assert_int_equal(study_select(study, "t1"), 0);
    assert_true(study->rows[0].selected);
    assert_false(study->rows[1].selected);
    assert_int_equal(study_select(study, "t10,t1.x"), 0);
    assert_true(study->rows[0].selected && study->rows[1].selected);
    assert_int_equal(study_select(study, "t"), SONDE_EUSAGE);
    assert_int_equal(study_select(study, "t1,,t10"), SONDE_EUSAGE);
    assert_int_equal(study_select(study, ""), SONDE_EUSAGE);
    study_destroy(study);
}

static void a_role_takes_another_device(void **state)
{
    (void)state;
    struct study *study = accept(HEAD ROW);
    assert_int_equal(study_device(study, "b=cuda:0"), 0);
    assert_string_equal(study->devices[1].spec, "cuda:0");
    assert_int_equal(study_device(study, "c=cuda:0"), SONDE_EUSAGE);
    assert_int_equal(study_device(study, "b"), SONDE_EUSAGE);
    study_destroy(study);
}

static bool holds(double measured, double published, const char *tolerance)
{
    struct arena *arena = arena_create();
    struct yaml_node *root;
    struct study_tolerance t;
    struct study_value m, p;
    assert_int_equal(yaml_parse(&root, arena, tolerance, strlen(tolerance), "t"), 0);
    assert_int_equal(tolerance_read(&t, yaml_get(root, "t")), 0);
    value_number(&m, measured);
    value_number(&p, published);
    bool result = value_holds(&m, &p, &t, false);
    arena_destroy(arena);
    return result;
}

static void bounds_hold_on_their_side(void **state)
{
    (void)state;
    assert_true(holds(0.75, 0.75, "t: at least"));
    assert_true(holds(0.9, 0.75, "t: at least"));
    assert_false(holds(0.74, 0.75, "t: at least"));
    assert_true(holds(0.6, 0.6, "t: at most"));
    assert_false(holds(0.61, 0.6, "t: at most"));
    assert_false(holds(0.6, 0.6, "t: within"));
}

static void a_number_is_within_two(void **state)
{
    (void)state;
    const struct study_tolerance within = {.kind = STUDY_WITHIN};
    const struct study_value bounds = {.kind = STUDY_LIST, .list = {0.13, 0.28}, .count = 2};
    const struct study_value three = {.kind = STUDY_LIST, .list = {0, 1, 2}, .count = 3};
    struct study_value measured;
    value_number(&measured, 0.13);
    assert_true(value_holds(&measured, &bounds, &within, false));
    assert_false(value_holds(&measured, &three, &within, false));
    value_number(&measured, 0.281);
    assert_false(value_holds(&measured, &bounds, &within, false));
    value_nothing(&measured, "no");
    assert_false(value_holds(&measured, &bounds, &within, false));
}

static void tolerances_end_where_they_say(void **state)
{
    (void)state;
    assert_true(holds(32, 32, "t: exact"));
    assert_false(holds(33, 32, "t: exact"));
    assert_true(holds(103, 100, "t: 3 %"));
    assert_false(holds(103.01, 100, "t: 3 %"));
    assert_true(holds(97, 100, "t: 3 %"));
    assert_true(holds(0.53, 0.5, "t: 0.03"));
    assert_false(holds(0.531, 0.5, "t: 0.03"));
    assert_true(holds(30, 27, "t: 3 cycles"));
    assert_false(holds(31, 27, "t: 3 cycles"));
}

static void what_was_not_measured_never_holds(void **state)
{
    (void)state;
    struct study_value nothing, zero;
    struct study_tolerance exact = {.kind = STUDY_EXACT};
    value_nothing(&nothing, "why");
    value_number(&zero, 0);
    assert_false(value_holds(&nothing, &zero, &exact, false));
    assert_false(value_holds(&nothing, &nothing, &exact, false));
}

static void lists_hold_number_by_number(void **state)
{
    (void)state;
    struct study_tolerance exact = {.kind = STUDY_EXACT};
    struct study_value a = {.kind = STUDY_LIST, .count = 3, .list = {17, 8, 8}};
    struct study_value b = {.kind = STUDY_LIST, .count = 3, .list = {8, 17, 8}};
    struct study_value c = {.kind = STUDY_LIST, .count = 2, .list = {17, 8}};
    assert_true(value_holds(&a, &a, &exact, false));
    assert_false(value_holds(&a, &b, &exact, false));
    assert_true(value_holds(&a, &b, &exact, true));
    assert_false(value_holds(&a, &c, &exact, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_all_its_parts),
        cmocka_unit_test(what_is_missing_or_twice_is_refused_with_its_place),
        cmocka_unit_test(a_list_is_read_whole_and_refused_at_its_wrong_item),
        cmocka_unit_test(a_row_says_whether_its_number_is_an_input),
        cmocka_unit_test(what_holds_is_counted_by_its_basis),
        cmocka_unit_test(every_shipped_study_is_accepted),
        cmocka_unit_test(a_selection_is_an_id_or_its_beginning_up_to_a_dot),
        cmocka_unit_test(a_role_takes_another_device),
        cmocka_unit_test(bounds_hold_on_their_side),
        cmocka_unit_test(a_number_is_within_two),
        cmocka_unit_test(tolerances_end_where_they_say),
        cmocka_unit_test(what_was_not_measured_never_holds),
        cmocka_unit_test(lists_hold_number_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
