/*
 * Every workload gives the host's result, functionally and on the timed GPU; the checks that say so
 * do find a wrong element. The PTX is what nvcc made, as it comes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/model.h"
#include "rt/rt.h"
#include "util/error.h"
#include "util/fileio.h"
#include "graph.h"
#include "workload.h"

static struct rt *rt_of(const char *name)
{
    struct model *model = NULL;
    struct rt *rt = NULL;
    int rc = model_load(&model, name);
    rc = rc < 0 ? rc : rt_create(&rt, model);
    model_destroy(model);
    if (rc < 0) {
        fail_msg("%s", error_text());
    }
    return rt;
}

static int with_rt(void **state)
{
    *state = rt_of("gtx780");
    return 0;
}

static int without_rt(void **state)
{
    rt_destroy(*state);
    return 0;
}

/* Each on the model that it is for, all of a model on one device. */
struct machines {
    struct rt *old, *today;
};

static int with_machines(void **state)
{
    static struct machines machines;
    machines = (struct machines){rt_of("gtx780"), rt_of("h200")};
    *state = &machines;
    return 0;
}

static int without_machines(void **state)
{
    struct machines *machines = *state;
    rt_destroy(machines->old);
    rt_destroy(machines->today);
    return 0;
}

static struct rt *machine_for(const struct machines *machines, const struct workload *workload)
{
    const char *model = workload_model(workload);
    if (strcmp(model, "gtx780") == 0) {
        return machines->old;
    }
    assert_string_equal(model, "h200");
    return machines->today;
}

static void run_all(const struct machines *machines, bool functional)
{
    for (uint32_t i = 0; i < workload_count; i++) {
        struct workbench counts;
        int rc = workload_run(&counts, machine_for(machines, &workloads[i]), &workloads[i],
                              SONDE_WORKLOADS_DIR, workloads[i].small_size, functional);
        if (rc < 0) {
            fail_msg("%s", error_text());
        }
        assert_true(counts.launches > 0);
        assert_int_equal(counts.cycles > 0, !functional);
        assert_int_equal(counts.thread_insns > 0, functional);
    }
}

static void every_workload_is_right_in_functional_mode(void **state)
{
    run_all(*state, true);
}

static void every_workload_is_right_on_the_timed_gpu(void **state)
{
    run_all(*state, false);
}

/* Makes FOLDER/NAME/NAME.ptx of the one in the tree, its last store to global memory left out. */
static void write_without_last_store(const char *folder, const char *name)
{
    char path[512], *text, *last = NULL;
    size_t bytes;
    snprintf(path, sizeof path, "%s/%s/%s.ptx", SONDE_WORKLOADS_DIR, name, name);
    assert_int_equal(file_read_all(&text, &bytes, path, 1u << 20), 0);
    /* One that stores fragments or adds has no other. */
    const char *const stores[] = {"st.global", "wmma.store.d", "red.global", "atom.global"};
    for (size_t i = 0; !last && i < sizeof stores / sizeof *stores; i++) {
        for (char *at = text; (at = strstr(at, stores[i])); at++) {
            last = at;
        }
    }
    if (!last) {
        fail_msg("%s stores nothing", name);
    }
    while (*last != ';') {
        *last++ = ' ';
    }
    /* A store under a predicate leaves it behind. */
    *last = ' ';
    for (char *at = last; *--at != '\n';) {
        *at = ' ';
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(file_make_folder(path), 0);
    snprintf(path, sizeof path, "%s/%s/%s.ptx", folder, name, name);
    assert_int_equal(file_write_all(path, text, bytes), 0);
    free(text);
}

static void a_kernel_that_leaves_out_its_last_store_is_found_wrong(void **state)
{
    char folder[] = "/tmp/sonde-workloads.XXXXXX", path[512];
    assert_non_null(mkdtemp(folder));
    for (uint32_t i = 0; i < workload_count; i++) {
        struct workbench counts;
        write_without_last_store(folder, workloads[i].name);
        int rc = workload_run(&counts, machine_for(*state, &workloads[i]), &workloads[i], folder,
                              workloads[i].small_size, true);
        snprintf(path, sizeof path, "%s/%s/%s.ptx", folder, workloads[i].name, workloads[i].name);
        unlink(path);
        *strrchr(path, '/') = '\0';
        rmdir(path);
        if (rc != SONDE_EINTERNAL) {
            fail_msg("%s: %d", workloads[i].name, rc);
        }
    }
    rmdir(folder);
}

/* Launches shorter than this are not shared out to host threads (exec/run/share.c). */
#define SHARED_THREAD_INSNS (32u * 2048u)

static void functional_results_are_the_same_to_the_bit_on_any_number_of_threads(void **state)
{
    const struct machines *machines = *state;
    uint32_t shared = 0;
    for (uint32_t i = 0; i < workload_count; i++) {
        struct rt *rt = machine_for(machines, &workloads[i]);
        struct workbench alone = {0}, beside = {0};
        for (uint32_t threads = 1; threads <= 4; threads *= 2) {
            assert_int_equal(rt_set_threads(rt, threads), 0);
            int rc = workload_run(threads == 1 ? &alone : &beside, rt, &workloads[i],
                                  SONDE_WORKLOADS_DIR, workloads[i].small_size, true);
            if (rc < 0) {
                fail_msg("%u threads: %s", threads, error_text());
            }
            if (threads > 1 &&
                (beside.digest != alone.digest || beside.thread_insns != alone.thread_insns)) {
                fail_msg("%s on %u threads has other results", workloads[i].name, threads);
            }
        }
        assert_int_equal(rt_set_threads(rt, 1), 0);
        shared += alone.thread_insns / alone.launches > SHARED_THREAD_INSNS;
    }
    assert_true(shared > workload_count / 2);
}

static void both_modes_execute_the_same_instructions(void **state)
{
    struct rt *rt = *state;
    const struct workload *workload = workload_find("matmul");
    struct workbench functional, timed;
    struct gpu_stats before, after;
    assert_int_equal(workload_run(&functional, rt, workload, SONDE_WORKLOADS_DIR, 32, true), 0);
    gpu_stats(rt_gpu(rt), &before);
    assert_int_equal(workload_run(&timed, rt, workload, SONDE_WORKLOADS_DIR, 32, false), 0);
    gpu_stats(rt_gpu(rt), &after);
    assert_int_equal(functional.thread_insns, after.thread_insns - before.thread_insns);
}

/* Two loads and a store for each of 5000 elements, of which the last warp has eight. */
static void threads_are_counted_by_unit_and_space(void **state)
{
    struct rt *rt = *state;
    const struct workload *workload = workload_find("vectoradd");
    struct workbench counts;
    struct gpu_stats before, after;
    uint64_t by_unit = 0;
    gpu_stats(rt_gpu(rt), &before);
    assert_int_equal(workload_run(&counts, rt, workload, SONDE_WORKLOADS_DIR, 5000, false), 0);
    gpu_stats(rt_gpu(rt), &after);
    gpu_stats_since(&after, &before);
    for (int unit = 0; unit < ISA_UNIT_COUNT; unit++) {
        by_unit += after.sm.unit_lanes[unit];
    }
    assert_int_equal(by_unit, after.thread_insns);
    assert_int_equal(after.sm.space[SPACE_GLOBAL], 3 * ((5000 + 31) / 32));
    assert_int_equal(after.sm.space_lanes[SPACE_GLOBAL], 3 * 5000);
}

static void a_wrong_word_is_found(void **state)
{
    (void)state;
    const uint32_t got[] = {1, 2, 3}, wanted[] = {1, 2, 4};
    assert_int_equal(workbench_expect_words(got, wanted, 2), 0);
    assert_int_equal(workbench_expect_words(got, wanted, 3), SONDE_EINTERNAL);
    assert_string_equal(error_text(), "element 2 is 3, the host says 4");
}

static void a_wrong_float_is_found_and_no_nan_is_near_anything(void **state)
{
    (void)state;
    const float got[] = {1.0f, 2.0f, NAN};
    const double wanted[] = {1.0, 2.001, 3.0};
    assert_int_equal(workbench_expect_floats(got, wanted, 1, 0, 0), 0);
    assert_int_equal(workbench_expect_floats(got, wanted, 2, 1e-3, 0), 0);
    assert_int_equal(workbench_expect_floats(got, wanted, 2, 1e-4, 0), SONDE_EINTERNAL);
    assert_int_equal(workbench_expect_floats(got, wanted, 3, 1, 1), SONDE_EINTERNAL);
}

static void a_size_that_a_workload_cannot_take_is_refused(void **state)
{
    struct workbench counts;
    int rc = workload_run(&counts, *state, workload_find("matmul"), SONDE_WORKLOADS_DIR, 17, true);
    assert_int_equal(rc, SONDE_EINPUT);
    assert_string_equal(error_text(), "workload matmul: side 17 is no multiple of 16");
    const struct workload_settings settings = {.size = 64, .block = 1025, .functional = true};
    rc = workload_run_with(&counts, *state, workload_find("frontier"), &settings);
    assert_int_equal(rc, SONDE_EINPUT);
    assert_string_equal(error_text(), "workload frontier: 64 vertices in CTAs of 1025 threads: "
                                      "268435456 and 1024 at most");
}

/* All but sm_75, which studies run on machines of any age. */
static void a_target_that_the_model_does_not_have_is_refused(void **state)
{
    uint32_t refused = 0;
    for (uint32_t i = 0; i < workload_count; i++) {
        const struct workload *workload = &workloads[i];
        struct workbench counts;
        char wanted[256];
        if (strcmp(workload->target, "sm_75") != 0) {
            int rc = workload_run(&counts, *state, workload, NULL, workload->small_size, true);
            assert_int_equal(rc, SONDE_EINPUT);
            snprintf(wanted, sizeof wanted,
                     "workload %s: %s.ptx: its .target is %s, and gtx780 has compute capability "
                     "3.5 (sm_35)",
                     workload->name, workload->name, workload->target);
            assert_string_equal(error_text(), wanted);
            refused++;
        }
    }
    assert_true(refused > 0);
}

/* Of all sizes, the last warp of a launch partly filled or alone; a vertex by itself, too. */
static void frontiers_of_any_size_find_the_levels(void **state)
{
    for (uint32_t size = 1; size <= 70; size++) {
        const struct workload_settings settings = {.size = size, .block = 64, .functional = true};
        struct workbench counts;
        if (workload_run_with(&counts, *state, workload_find("frontier"), &settings) < 0) {
            fail_msg("%u vertices: %s", size, error_text());
        }
        assert_true(counts.launches > 0);
    }
}

static void both_ends_of_a_random_graphs_edge_know_of_it(void **state)
{
    (void)state;
    enum { VERTICES = 1000, MEAN = 6 };
    struct workbench bench = {.arena = arena_create()};
    struct graph graph;
    uint32_t levels[VERTICES], isolated = 0;
    rng_seed(&bench.rng, 7);
    assert_int_equal(graph_random(&graph, &bench, VERTICES, MEAN), 0);
    assert_int_equal(graph.edges, VERTICES * MEAN);
    assert_int_equal(graph.rows[VERTICES], graph.edges);
    for (uint32_t v = 0; v < VERTICES; v++) {
        isolated += graph.rows[v + 1] == graph.rows[v];
        for (uint32_t e = graph.rows[v]; e < graph.rows[v + 1]; e++) {
            uint32_t there = graph.targets[e], at = graph.rows[there];
            while (at < graph.rows[there + 1] && graph.targets[at] != v) {
                at++;
            }
            assert_true(at < graph.rows[there + 1]);
        }
    }
    /* A degree is Poisson's: e^-6 of the vertices have none, 2.5 of these thousand. */
    assert_in_range(isolated, 0, 10);
    assert_int_equal(graph_levels(levels, &bench, &graph), 0);
    assert_int_equal(levels[0], 0);
    assert_int_equal(levels[graph.targets[0]] <= 1, 1);
    arena_destroy(bench.arena);
}

static void a_text_built_in_is_the_one_in_the_tree(void **state)
{
    struct workbench of_file, built_in;
    const struct workload *workload = workload_find("raytrace");
    const struct workload_settings settings = {.size = 32, .functional = true};
    assert_int_equal(workload_run(&of_file, *state, workload, SONDE_WORKLOADS_DIR, 32, true), 0);
    assert_int_equal(workload_run_with(&built_in, *state, workload, &settings), 0);
    assert_int_equal(built_in.thread_insns, of_file.thread_insns);
}

struct told {
    uint32_t launches;
    uint64_t cycles, thread_insns, ctas;
};

static void note(void *ctx, const char *kernel, const struct gpu_stats *stats)
{
    struct told *told = ctx;
    assert_string_equal(kernel, "bfs_level");
    told->launches++;
    told->cycles += stats->cycles;
    told->thread_insns += stats->thread_insns;
    told->ctas += stats->ctas;
}

static void what_launches_count_adds_up_to_the_whole(void **state)
{
    struct told told = {0};
    struct workbench counts;
    struct gpu_stats stats;
    const struct workload_settings settings = {
        .size = 1000, .block = 128, .launched = note, .ctx = &told};
    assert_int_equal(workload_run_with(&counts, *state, workload_find("bfs"), &settings), 0);
    gpu_stats(rt_gpu(*state), &stats);
    assert_int_equal(told.launches, counts.launches);
    assert_int_equal(told.cycles, counts.cycles);
    assert_int_equal(told.thread_insns, stats.thread_insns);
    assert_int_equal(told.ctas, 8 * counts.launches);
}

static void the_grid_of_the_laplace_solver_may_be_flat(void **state)
{
    struct workbench counts;
    struct workload_settings settings = {.size = 33, .depth = 2};
    const struct workload *workload = workload_find("laplace3d");
    assert_int_equal(workload_run_with(&counts, *state, workload, &settings), 0);
    settings = (struct workload_settings){.size = 7, .depth = 1};
    assert_int_equal(workload_run_with(&counts, *state, workload, &settings), 0);
    settings = (struct workload_settings){.size = 1};
    assert_int_equal(workload_run_with(&counts, *state, workload, &settings), 0);
    settings = (struct workload_settings){.size = 1000, .depth = 1000};
    assert_int_equal(workload_run_with(&counts, *state, workload, &settings), SONDE_EINPUT);
}

static void a_setting_that_a_workload_does_not_know_is_refused(void **state)
{
    struct workbench counts;
    struct workload_settings settings = {.size = 32, .block = 64};
    assert_int_equal(workload_run_with(&counts, *state, workload_find("matmul"), &settings),
                     SONDE_EUSAGE);
    assert_string_equal(error_text(), "workload matmul has no block to set");
    settings = (struct workload_settings){.size = 32, .depth = 4};
    assert_int_equal(workload_run_with(&counts, *state, workload_find("raytrace"), &settings),
                     SONDE_EUSAGE);
    assert_string_equal(error_text(), "workload raytrace has no depth to set");
    settings = (struct workload_settings){.size = 32, .block = 2048};
    assert_int_equal(workload_run_with(&counts, *state, workload_find("bfs"), &settings),
                     SONDE_EINPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_workload_is_right_in_functional_mode, with_machines,
                                        without_machines),
        cmocka_unit_test_setup_teardown(
            functional_results_are_the_same_to_the_bit_on_any_number_of_threads, with_machines,
            without_machines),
        cmocka_unit_test_setup_teardown(every_workload_is_right_on_the_timed_gpu, with_machines,
                                        without_machines),
        cmocka_unit_test_setup_teardown(a_kernel_that_leaves_out_its_last_store_is_found_wrong,
                                        with_machines, without_machines),
        cmocka_unit_test_setup_teardown(a_target_that_the_model_does_not_have_is_refused, with_rt,
                                        without_rt),
        cmocka_unit_test_setup_teardown(both_modes_execute_the_same_instructions, with_rt,
                                        without_rt),
        cmocka_unit_test_setup_teardown(threads_are_counted_by_unit_and_space, with_rt, without_rt),
        cmocka_unit_test(a_wrong_word_is_found),
        cmocka_unit_test(a_wrong_float_is_found_and_no_nan_is_near_anything),
        cmocka_unit_test_setup_teardown(a_size_that_a_workload_cannot_take_is_refused, with_rt,
                                        without_rt),
        cmocka_unit_test_setup_teardown(frontiers_of_any_size_find_the_levels, with_rt, without_rt),
        cmocka_unit_test(both_ends_of_a_random_graphs_edge_know_of_it),
        cmocka_unit_test_setup_teardown(a_text_built_in_is_the_one_in_the_tree, with_rt,
                                        without_rt),
        cmocka_unit_test_setup_teardown(what_launches_count_adds_up_to_the_whole, with_rt,
                                        without_rt),
        cmocka_unit_test_setup_teardown(the_grid_of_the_laplace_solver_may_be_flat, with_rt,
                                        without_rt),
        cmocka_unit_test_setup_teardown(a_setting_that_a_workload_does_not_know_is_refused, with_rt,
                                        without_rt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
