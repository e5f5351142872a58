/* Launches are gathered by kernel and summed; the file says both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/model.h"
#include "statistics/statistics.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

static struct gpu_stats launch_of(uint64_t cycles, uint64_t thread_insns)
{
    struct gpu_stats stats = {.launches = 1, .cycles = cycles, .thread_insns = thread_insns};
    stats.sm.lanes[32] = thread_insns / 32;
    stats.sm.unit_lanes[UNIT_ALU] = thread_insns;
    stats.sm.space_lanes[SPACE_GLOBAL] = cycles;
    return stats;
}

static void fill(struct statistics *statistics)
{
    const struct gpu_stats first = launch_of(100, 640), second = launch_of(50, 320);
    statistics_add(statistics, "walk", &first);
    statistics_add(statistics, "sum", &second);
    statistics_add(statistics, "walk", &second);
}

static void launches_of_one_kernel_are_one(void **state)
{
    (void)state;
    struct statistics statistics = {0};
    struct gpu_stats total;
    fill(&statistics);
    assert_int_equal(statistics.count, 2);
    assert_string_equal(statistics.kernels[0].name, "walk");
    assert_int_equal(statistics.kernels[0].stats.launches, 2);
    assert_int_equal(statistics.kernels[0].stats.cycles, 150);
    assert_int_equal(statistics.kernels[1].stats.cycles, 50);
    statistics_total(&total, &statistics);
    assert_int_equal(total.launches, 3);
    assert_int_equal(total.cycles, 200);
    assert_int_equal(total.sm.lanes[32], 40);
    statistics_free(&statistics);
    assert_int_equal(statistics.count, 0);
}

static void many_kernels_keep_their_order(void **state)
{
    (void)state;
    struct statistics statistics = {0};
    const struct gpu_stats launch = launch_of(1, 32);
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "k%d", i % 50);
        statistics_add(&statistics, name, &launch);
    }
    assert_int_equal(statistics.count, 50);
    assert_string_equal(statistics.kernels[49].name, "k49");
    assert_int_equal(statistics.kernels[49].stats.launches, 2);
    statistics_free(&statistics);
}

/* Mangled names are long and begin alike. */
static void names_differ_at_their_ends(void **state)
{
    (void)state;
    struct statistics statistics = {0};
    const struct gpu_stats launch = launch_of(1, 32);
    char name[300];
    memset(name, 'k', sizeof(name));
    name[299] = '\0';
    statistics_add(&statistics, name, &launch);
    name[298] = 'l';
    statistics_add(&statistics, name, &launch);
    assert_int_equal(statistics.count, 2);
    assert_string_equal(statistics.kernels[1].name, name);
    statistics_free(&statistics);
}

static void the_file_has_the_sum_and_each_kernel(void **state)
{
    (void)state;
    struct statistics statistics = {0};
    struct model *model = NULL;
    char path[] = "/tmp/sonde-statistics.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(model_load(&model, "bakhoda2009"), 0);
    fill(&statistics);
    assert_int_equal(statistics_write(path, model, &statistics, NULL), 0);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    json_t *kernels = json_object_get(root, "kernels");
    assert_int_equal(json_integer_value(json_object_get(root, "cycles")), 200);
    assert_int_equal(json_array_size(kernels), 2);
    json_t *sum = json_array_get(kernels, 1);
    assert_string_equal(json_string_value(json_object_get(sum, "kernel")), "sum");
    assert_int_equal(json_integer_value(json_object_get(sum, "launches")), 1);
    assert_null(json_object_get(root, "ctas"));
    json_t *units = json_object_get(sum, "thread_instructions_by_unit");
    json_t *spaces = json_object_get(sum, "thread_accesses_by_space");
    assert_int_equal(json_integer_value(json_object_get(units, "alu")), 320);
    assert_int_equal(json_integer_value(json_object_get(spaces, "global")), 50);
    json_decref(root);
    unlink(path);
    statistics_free(&statistics);
    model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_one_kernel_are_one),
        cmocka_unit_test(many_kernels_keep_their_order),
        cmocka_unit_test(names_differ_at_their_ends),
        cmocka_unit_test(the_file_has_the_sum_and_each_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
