/* Launches are gathered by kernel and summed; the file says both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
static void sizes_of_launches_are_counted_each_in_the_order_of_their_first(void **state)
{
    (void)state;
    enum { SIZES = 100000 };
    struct statistics statistics = {0};
    const struct gpu_stats stats = launch_of(1, 32);
    for (uint32_t i = 0; i < 2 * SIZES; i++) {
        uint32_t k = i % SIZES;
        const uint32_t grid[3] = {k + 1, 1, 1 + k % 2}, block[3] = {32 << k % 3, 1, 1};
        const struct statistics_launch launch = {
            .kernel = "walk", .grid = grid, .block = block, .stats = &stats};
        statistics_launched(&statistics, &launch);
    }
    assert_false(statistics.failed);
    assert_int_equal(statistics.kernels[0].size_count, SIZES);
    for (uint32_t i = 0; i < SIZES; i++) {
        const struct statistics_size *size = &statistics.kernels[0].sizes[i];
        assert_int_equal(size->grid[0], i + 1);
        assert_int_equal(size->block[0], 32 << i % 3);
        assert_int_equal(size->launches, 2);
    }
    statistics_free(&statistics);
}

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

/* Every counter is a number of its own: 1001, 1002, ... in the order of the struct. */
static struct gpu_stats numbered(void)
{
    struct gpu_stats stats;
    uint64_t counts[sizeof stats / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        counts[i] = 1001 + i;
    }
    memcpy(&stats, counts, sizeof stats);
    return stats;
}

/* The number at a path of keys with points between, an index where the key is a number. */
static double number_at(const json_t *at, const char *path)
{
    char words[128], *rest = NULL;
    snprintf(words, sizeof words, "%s", path);
    for (char *word = strtok_r(words, ".", &rest); word; word = strtok_r(NULL, ".", &rest)) {
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(word)) : json_object_get(at, word);
    }
    if (!json_is_number(at)) {
        fail_msg("%s is no number", path);
    }
    return json_number_value(at);
}

struct expected {
    const char *path;
    double value;
};

static void hold(const json_t *root, const struct expected *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double got = number_at(root, expected[i].path);
        if (got != expected[i].value) {
            fail_msg("%s: %.17g instead of %.17g", expected[i].path, got, expected[i].value);
        }
    }
}

static double share(uint64_t part, uint64_t whole)
{
    return (double)part / (double)whole;
}

static void check_instructions(const json_t *root, const struct gpu_stats *s)
{
    char path[96];
    for (int i = 0; i < ISA_UNIT_COUNT; i++) {
        const char *unit = isa_unit_text((enum isa_unit)i);
        snprintf(path, sizeof path, "warp_instructions_by_unit.%s", unit);
        hold(root, &(struct expected){path, (double)s->sm.unit_insns[i]}, 1);
        snprintf(path, sizeof path, "thread_instructions_by_unit.%s", unit);
        hold(root, &(struct expected){path, (double)s->sm.unit_lanes[i]}, 1);
    }
    for (int i = 0; i < SPACE_COUNT; i++) {
        const char *space = i == SPACE_NONE ? "generic" : isa_space_text((enum isa_space)i);
        snprintf(path, sizeof path, "accesses_by_space.%s", space);
        hold(root, &(struct expected){path, (double)s->sm.space[i]}, 1);
        snprintf(path, sizeof path, "thread_accesses_by_space.%s", space);
        hold(root, &(struct expected){path, (double)s->sm.space_lanes[i]}, 1);
    }
    for (int i = 0; i <= 32; i++) {
        snprintf(path, sizeof path, "warp_instructions_by_active_lanes.%d", i);
        hold(root, &(struct expected){path, (double)s->sm.lanes[i]}, 1);
    }
    assert_int_equal(json_array_size(json_object_get(root, "warp_instructions_by_active_lanes")),
                     33);
}

static void check_counts(const json_t *root, const struct gpu_stats *s)
{
    const struct expected counts[] = {
        {"launches", (double)s->launches},
        {"cta_count", (double)s->ctas},
        {"cycles", (double)s->cycles},
        {"warp_instructions", (double)s->warp_insns},
        {"thread_instructions", (double)s->thread_insns},
        {"ipc", share(s->thread_insns, s->cycles)},
        {"sm_cycles.issue", (double)s->sm.issue_cycles},
        {"sm_cycles.unit", (double)s->sm.wait_cycles[SM_WAIT_UNIT]},
        {"sm_cycles.result", (double)s->sm.wait_cycles[SM_WAIT_RESULT]},
        {"sm_cycles.memory", (double)s->sm.wait_cycles[SM_WAIT_MEMORY]},
        {"sm_cycles.barrier", (double)s->sm.wait_cycles[SM_WAIT_BARRIER]},
        {"transactions", (double)s->transactions},
        {"shared_accesses", (double)s->shared_accesses},
        {"shared_conflicts", (double)s->shared_conflicts},
        {"merged_requests", (double)s->sm.merged_requests},
        {"outstanding_stalls", (double)s->sm.pending_stalls},
    };
    hold(root, counts, sizeof counts / sizeof *counts);
}

static void check_caches(const json_t *root, const struct gpu_stats *s)
{
    const struct {
        const char *name;
        uint64_t reads, hits, pending;
    } caches[] = {
        {"l1_data", s->l1_reads, s->l1_hits, s->l1_pending_hits},
        {"texture_l1", s->texture_reads, s->texture_hits, s->texture_pending_hits},
        {"constant_l1", s->constant_reads, s->constant_hits, s->constant_pending_hits},
        {"constant_l15", s->constant_l15_reads, s->constant_l15_hits, s->constant_l15_pending_hits},
        {"l2", s->l2_reads, s->l2_hits, s->l2_pending_hits},
        {"tlb_l1", s->tlb_l1_reads, s->tlb_l1_hits, s->tlb_l1_pending_hits},
        {"tlb_l2", s->tlb_l2_reads, s->tlb_l2_hits, s->tlb_l2_pending_hits},
    };
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        const json_t *cache = json_object_get(json_object_get(root, "caches"), caches[i].name);
        const struct expected values[] = {{"reads", (double)caches[i].reads},
                                          {"hits", (double)caches[i].hits},
                                          {"pending_hits", (double)caches[i].pending},
                                          {"hit_rate", share(caches[i].hits, caches[i].reads)}};
        hold(cache, values, 4);
    }
    const struct expected more[] = {{"caches.l2_writebacks", (double)s->l2_writebacks},
                                    {"caches.page_walks", (double)s->walks}};
    hold(root, more, 2);
}

static void check_network(const json_t *way, const struct mem_noc_way_stats *s, uint64_t period_ps)
{
    const struct expected values[] = {
        {"packets", (double)s->packets},
        {"flits", (double)s->flits},
        {"port_stall_cycles", (double)s->stalled_cycles},
        {"mean_routers", share(s->routers, s->packets)},
        {"mean_latency_cycles", share(s->latency_ps / period_ps, s->packets)},
    };
    hold(way, values, 5);
}

static void check_memory(const json_t *root, const struct gpu_stats *s, const struct model *model)
{
    const json_t *network = json_object_get(root, "network");
    check_network(json_object_get(network, "requests"), &s->noc.requests, model->core_period_ps);
    check_network(json_object_get(network, "replies"), &s->noc.replies, model->core_period_ps);
    uint64_t time_ps = s->cycles * model->core_period_ps * model->dram.channels;
    const struct expected values[] = {
        {"dram.reads", (double)s->dram_reads},
        {"dram.writes", (double)s->dram_writes},
        {"network.requests.sectors", (double)s->noc.requests.sectors},
        {"dram.read_bytes", (double)s->dram_read_bytes},
        {"dram.written_bytes", (double)s->dram_written_bytes},
        {"dram.row_hits", (double)s->dram_row_hits},
        {"dram.row_misses", (double)s->dram_row_misses},
        {"dram.utilization", share(s->dram_busy_ps, time_ps)},
        {"dram.efficiency", share(s->dram_busy_ps, s->dram_pending_ps)},
        {"dram.sending", share(s->dram_sending_ps, time_ps)},
        {"dram.sending_of_pending", share(s->dram_sending_ps, s->dram_pending_ps)},
        {"thread_divisions", (double)s->sm.division_lanes},
    };
    hold(root, values, 12);
}

/* By the definition: each place holds the latencies from `from` to `to`, and they follow each
 * other. */
static void check_latencies(const json_t *root, const struct gpu_stats *s)
{
    const json_t *list = json_object_get(root, "access_latency_cycles");
    assert_int_equal(json_array_size(list), SM_LATENCY_PLACES);
    double next = 0;
    for (size_t i = 0; i < SM_LATENCY_PLACES; i++) {
        const json_t *place = json_array_get(list, i);
        assert_true(number_at(place, "from") == next);
        assert_true(number_at(place, "count") == (double)s->sm.latency[i]);
        assert_int_equal(sm_latency_place((uint64_t)next), i);
        next = number_at(place, "to") + 1;
        assert_true(i > 60 || sm_latency_place((uint64_t)next - 1) == i);
    }
}

static json_t *written(const struct model *model, const struct statistics *statistics,
                       const struct placements *placements)
{
    char path[] = "/tmp/sonde-statistics.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(statistics_write(path, model, statistics, placements), 0);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    unlink(path);
    return root;
}

static void each_counter_stands_under_its_name(void **state)
{
    (void)state;
    struct statistics statistics = {0};
    struct model *model = NULL;
    const struct gpu_stats stats = numbered();
    assert_int_equal(model_load(&model, "bakhoda2009"), 0);
    statistics_add(&statistics, "k", &stats);
    json_t *root = written(model, &statistics, NULL);
    assert_true(number_at(root, "sms") == model->sms);
    const json_t *tops[] = {root, json_array_get(json_object_get(root, "kernels"), 0)};
    for (int i = 0; i < 2; i++) {
        check_counts(tops[i], &stats);
        check_instructions(tops[i], &stats);
        check_caches(tops[i], &stats);
        check_memory(tops[i], &stats, model);
        check_latencies(tops[i], &stats);
    }
    json_decref(root);
    statistics_free(&statistics);
    model_destroy(model);
}

static void cycles_without_a_cta_are_what_is_left_of_all_sms(void **state)
{
    (void)state;
    struct statistics statistics = {0};
    struct model *model = NULL;
    struct gpu_stats stats = {.cycles = 100};
    stats.sm.issue_cycles = 7;
    for (uint64_t i = 0; i < SM_WAIT_COUNT; i++) {
        stats.sm.wait_cycles[i] = 10 + i;
    }
    assert_int_equal(model_load(&model, "bakhoda2009"), 0);
    statistics_add(&statistics, "k", &stats);
    json_t *root = written(model, &statistics, NULL);
    double all = 100.0 * model->sms, spent = 7 + 10 + 11 + 12 + 13;
    assert_true(number_at(root, "sm_cycles.empty") == all - spent);
    assert_int_equal(json_object_size(json_object_get(root, "caches")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "access_latency_cycles")), 0);
    assert_true(number_at(root, "ipc") == 0);
    json_decref(root);
    statistics_free(&statistics);
    model_destroy(model);
}

static void each_cta_has_its_place_and_its_time(void **state)
{
    (void)state;
    struct statistics statistics = {0};
    struct model *model = NULL;
    struct placement list[] = {
        {.cta = 3, .sm = 5, .start_cycle = 7, .end_cycle = 11},
        {.cta = 4, .sm = 6, .start_cycle = 8, .end_cycle = 12},
    };
    const struct placements placements = {.list = list, .count = 2};
    assert_int_equal(model_load(&model, "bakhoda2009"), 0);
    json_t *root = written(model, &statistics, &placements);
    const struct expected values[] = {{"ctas.0.cta", 3},   {"ctas.0.sm", 5},  {"ctas.0.start", 7},
                                      {"ctas.0.end", 11},  {"ctas.1.cta", 4}, {"ctas.1.sm", 6},
                                      {"ctas.1.start", 8}, {"ctas.1.end", 12}};
    hold(root, values, 8);
    assert_int_equal(json_array_size(json_object_get(root, "ctas")), 2);
    json_decref(root);
    statistics_free(&statistics);
    model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_one_kernel_are_one),
        cmocka_unit_test(many_kernels_keep_their_order),
        cmocka_unit_test(sizes_of_launches_are_counted_each_in_the_order_of_their_first),
        cmocka_unit_test(names_differ_at_their_ends),
        cmocka_unit_test(the_file_has_the_sum_and_each_kernel),
        cmocka_unit_test(each_counter_stands_under_its_name),
        cmocka_unit_test(cycles_without_a_cta_are_what_is_left_of_all_sms),
        cmocka_unit_test(each_cta_has_its_place_and_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
