/* The parameter table against itself, the models written out and read back, the shipped models. */
#include <stdio.h>
#include <stdlib.h>

#include "support/model_text.h"

#include "model/param.h"
#include "util/glue/json_glue.h"
#include "util/container/strbuf.h"

static void every_default_lies_in_its_range_and_paths_are_unique(void **state)
{
    (void)state;
    struct model *model = calloc(1, sizeof(*model));
    assert_non_null(model);
    for (size_t i = 0; i < param_count(); i++) {
        const struct param *param = param_at(i);
        assert_ptr_equal(param_find(param->path), param);
        assert_true(strlen(param->doc) > 10);
        if (param->kind != PARAM_LIST && param_set(model, param, param->def) < 0) {
            fail_msg("%s: %s", param->path, error_text());
        }
    }
    free(model);
}

/* Whatever the range allows can be written out and read again: its two ends, for each quantity. */
static void the_ends_of_every_range_survive_being_written(void **state)
{
    (void)state;
    struct model *model = calloc(1, sizeof(*model)), *again = calloc(1, sizeof(*again));
    assert_non_null(model);
    assert_non_null(again);
    for (size_t i = 0; i < param_count(); i++) {
        const struct param *param = param_at(i);
        for (int end = 0; param->min && end < 2; end++) {
            struct strbuf out = {0};
            assert_int_equal(param_set(model, param, end ? param->max : param->min), 0);
            assert_int_equal(param_write(&out, model, param), 0);
            assert_int_equal(param_set(again, param, strbuf_text(&out)), 0);
            assert_memory_equal(model, again, sizeof(*model));
            strbuf_free(&out);
        }
    }
    free(model);
    free(again);
}

static void clocks_survive_being_written_whatever_their_period(void **state)
{
    (void)state;
    struct model *model = calloc(1, sizeof(*model));
    assert_non_null(model);
    const struct param *param = param_find("clock");
    for (uint64_t period_ps = 10; period_ps < 1000000; period_ps += 1 + period_ps / 500) {
        struct strbuf out = {0};
        model->core_period_ps = period_ps;
        assert_int_equal(param_write(&out, model, param), 0);
        assert_int_equal(param_set(model, param, strbuf_text(&out)), 0);
        assert_int_equal(model->core_period_ps, period_ps);
        strbuf_free(&out);
    }
    free(model);
}

/* The roundest frequency that means the period; the period where none does. */
static void a_clock_is_written_as_a_round_frequency(void **state)
{
    (void)state;
    static const struct {
        uint64_t period_ps;
        const char *text;
    } rows[] = {{10, "100 GHz"},    {1000, "1 GHz"},     {1159, "863 MHz"},
                {675, "1.481 GHz"}, {500000, "2 MHz"},   {1000000, "1 MHz"},
                {3, "333 GHz"},     {666667, "1.5 MHz"}, {999999, "1000.001 kHz"},
                {701, "1.427 GHz"}};
    struct model *model = calloc(1, sizeof(*model));
    assert_non_null(model);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf out = {0};
        model->core_period_ps = rows[i].period_ps;
        assert_int_equal(param_write(&out, model, param_find("clock")), 0);
        assert_string_equal(strbuf_text(&out), rows[i].text);
        strbuf_free(&out);
    }
    free(model);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "none";
}

/* A program that reads the list finds what a parameter is measured in, and between which bounds. */
static void the_list_as_json_has_units_and_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *path, *type, *unit, *min, *max;
    } rows[] = {{"sms", "quantity", "", "1", "1024"},
                {"clock", "clock", "Hz", "1 MHz", "100 GHz"},
                {"dram.interleave", "quantity", "B", "0 B", "1 GiB"},
                {"dram.clock", "clock", "Hz", "1 MHz", "100 GHz"},
                {"name", "text", "none", "none", "none"},
                {"dram.scheduler", "word", "none", "none", "none"}};
    char *text;
    json_t *list;
    assert_int_equal(model_params_json(&text), 0);
    assert_int_equal(json_from_text(&list, text, strlen(text), "params"), 0);
    assert_int_equal(json_array_size(list), param_count());
    for (size_t i = 0; i < param_count(); i++) {
        const struct param *param = param_at(i);
        const json_t *object = json_array_get(list, i);
        assert_string_equal(text_of(object, "path"), param->path);
        assert_string_equal(text_of(object, "min"), param->min ? param->min : "none");
        assert_string_equal(text_of(object, "max"), param->max ? param->max : "none");
        for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
            if (strcmp(rows[k].path, param->path) == 0) {
                assert_string_equal(text_of(object, "type"), rows[k].type);
                assert_string_equal(text_of(object, "unit"), rows[k].unit);
                assert_string_equal(text_of(object, "min"), rows[k].min);
                assert_string_equal(text_of(object, "max"), rows[k].max);
            }
        }
    }
    json_decref(list);
    free(text);
}

static void assert_round_trip(const struct model *model)
{
    char *yaml;
    struct model *again;
    assert_int_equal(model_show(&yaml, model), 0);
    if (model_parse(&again, model->file, yaml, strlen(yaml)) < 0) {
        fail_msg("%s: %s", model->name, error_text());
    }
    assert_memory_equal(model, again, sizeof(*model));
    model_destroy(again);
    free(yaml);
}

static void shipped_models_survive_being_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < model_builtin_count(); i++) {
        struct model *model;
        assert_int_equal(model_load(&model, model_builtin_name(i)), 0);
        assert_string_equal(model->name, model_builtin_name(i));
        assert_round_trip(model);
        model_destroy(model);
    }
}

static void test_models_survive_being_shown(void **state)
{
    (void)state;
    static const char *const names[] = {"liar",        "sectored",  "tiny",
                                        "tiny_direct", "tiny_full", "tiny_unequal"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[512];
        struct model *model;
        snprintf(path, sizeof(path), "%s/tests/models/%s.yaml", SONDE_SOURCE_DIR, names[i]);
        if (model_load(&model, path) < 0) {
            fail_msg("%s", error_text());
        }
        assert_string_equal(model->name, names[i]);
        assert_round_trip(model);
        model_destroy(model);
    }
}

static void awkward_texts_survive_being_shown(void **state)
{
    (void)state;
    struct model *model =
        accept_text("doc: \"quote \\\" backslash \\\\ # no comment: {x} \xc3\xa9 '\"\n");
    assert_string_equal(model->doc, "quote \" backslash \\ # no comment: {x} \xc3\xa9 '");
    assert_round_trip(model);
    model_destroy(model);
}

/* The published structure, from Mei et al. 2014, Tables 1 and 4. */
static void the_gtx560ti_has_the_published_structure(void **state)
{
    (void)state;
    struct model *model;
    assert_int_equal(model_load(&model, "gtx560ti"), 0);
    assert_int_equal(model->l1_data.size_bytes, 16384);
    assert_int_equal(model->l1_data.line_bytes, 128);
    assert_int_equal(model->l1_data.sets, 32);
    assert_int_equal(model->l1_data.ways, 4);
    assert_int_equal(model->l1_data.replacement.kind, REPLACE_BIASED);
    assert_true(model->l1_data.replacement.probability[1] == 0.5);
    assert_int_equal(model->l2.size_bytes * model->l2_slices, 512 << 10);
    assert_int_equal(model->sm.shared.banks, 32);
    model_destroy(model);
    assert_int_equal(model_load(&model, "gtx560ti-48k"), 0);
    assert_int_equal(model->l1_data.size_bytes, 49152);
    assert_int_equal(model->l1_data.ways, 6);
    assert_int_equal(model->sm.shared.size_bytes, 16384);
    model_destroy(model);
}

static void the_gtx780_has_the_published_structure(void **state)
{
    (void)state;
    struct model *model;
    assert_int_equal(model_load(&model, "gtx780"), 0);
    assert_int_equal(model->l2.size_bytes * model->l2_slices, 1536 << 10);
    assert_false(model->sm.l1_caches_global);
    assert_int_equal(model->carveout.count, 3);
    model_destroy(model);
}

static void the_list_of_parameters_names_each_with_its_range(void **state)
{
    (void)state;
    char *text;
    assert_int_equal(model_params_text(&text, NULL), 0);
    for (size_t i = 0; i < param_count(); i++) {
        assert_non_null(strstr(text, param_at(i)->path));
    }
    assert_non_null(strstr(text, "l1_data.line\n    bytes, 4 B to 64 KiB; default 128 B\n"
                                 "    what one tag covers\n"));
    free(text);
}

static void a_section_has_its_parameters_alone(void **state)
{
    (void)state;
    char *text;
    assert_int_equal(model_params_text(&text, "sm.lsu"), 0);
    assert_int_equal(strncmp(text, "sm.lsu.queue\n", 13), 0);
    assert_non_null(strstr(text, "\nsm.lsu.latency\n"));
    assert_null(strstr(text, "\nsm.loads_per_warp\n"));
    free(text);
    assert_int_equal(model_params_text(&text, "inherits"), 0);
    assert_int_equal(strncmp(text, "inherits\n", 9), 0);
    free(text);
    assert_int_equal(model_params_text(&text, "sm.lsu.latency"), 0);
    assert_null(strstr(text, "\nsm."));
    free(text);
    assert_int_equal(model_params_text(&text, "sm.ls"), SONDE_EUSAGE);
    assert_non_null(strstr(error_text(), "did you mean 'sm.lsu'?"));
    assert_int_equal(model_params_text(&text, ""), SONDE_EUSAGE);
    assert_int_equal(model_params_text(&text, "colour"), SONDE_EUSAGE);
    assert_null(strstr(error_text(), "did you mean"));
}

static void the_json_list_says_the_same(void **state)
{
    (void)state;
    char *text;
    json_t *list;
    assert_int_equal(model_params_json(&text), 0);
    assert_int_equal(json_from_text(&list, text, strlen(text), "params"), 0);
    assert_int_equal(json_array_size(list), param_count());
    json_t *policy = NULL;
    for (size_t i = 0; i < param_count(); i++) {
        json_t *row = json_array_get(list, i);
        const char *path = json_string_value(json_object_get(row, "path"));
        assert_string_equal(path, param_at(i)->path);
        policy = strcmp(path, "l2.replacement.policy") == 0 ? row : policy;
    }
    assert_non_null(policy);
    assert_non_null(json_object_get(json_object_get(policy, "values"), "lru"));
    json_decref(list);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_lies_in_its_range_and_paths_are_unique),
        cmocka_unit_test(the_ends_of_every_range_survive_being_written),
        cmocka_unit_test(clocks_survive_being_written_whatever_their_period),
        cmocka_unit_test(a_clock_is_written_as_a_round_frequency),
        cmocka_unit_test(shipped_models_survive_being_shown),
        cmocka_unit_test(test_models_survive_being_shown),
        cmocka_unit_test(awkward_texts_survive_being_shown),
        cmocka_unit_test(the_gtx560ti_has_the_published_structure),
        cmocka_unit_test(the_gtx780_has_the_published_structure),
        cmocka_unit_test(the_list_of_parameters_names_each_with_its_range),
        cmocka_unit_test(a_section_has_its_parameters_alone),
        cmocka_unit_test(the_json_list_says_the_same),
        cmocka_unit_test(the_list_as_json_has_units_and_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
