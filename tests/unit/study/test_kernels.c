/*
 * The kernels of the study h200: launches, what buffers hold, what a recording says, and the
 * numbers that are made of many launches.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study/kernels/compare.h"
#include "study/kernels/kernels.h"
#include "study/study.h"
#include "util/error.h"

static void every_launch_is_recorded_and_can_be_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < kernel_row_count; i++) {
        const struct kernel_row *row = &kernel_rows[i];
        for (int s = 0; s < KERNEL_SIZES && row->sizes[s]; s++) {
            struct kernel_plan plan;
            struct kernel_counts counts;
            kernel_plan(&plan, row, row->sizes[s]);
            uint32_t threads = plan.block[0] * plan.block[1] * plan.block[2];
            assert_true(plan.arg_count <= KERNEL_ARGS && plan.grid[0] > 0 && plan.grid[1] > 0);
            assert_true(threads > 0 && threads <= 1024);
            assert_int_equal(kernel_recorded(&counts, row->name, row->sizes[s]), 0);
            assert_true(counts.cycles > 1000 && counts.warp_insns > 0);
            assert_true(s == 0 || row->sizes[s] > row->sizes[s - 1]);
        }
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(kernel_rows[k].name, row->name);
        }
    }
}

static void every_workload_of_the_study_is_recorded(void **state)
{
    (void)state;
    struct kernel_counts counts;
    for (size_t i = 0; i < kernel_program_count; i++) {
        const struct kernel_row *row = &kernel_programs[i];
        for (int s = 0; s < KERNEL_SIZES && row->sizes[s]; s++) {
            assert_int_equal(kernel_recorded(&counts, row->name, row->sizes[s]), 0);
            assert_true(counts.cycles > 1000 && counts.warp_insns > 0);
            assert_true(s == 0 || row->sizes[s] > row->sizes[s - 1]);
        }
    }
    assert_int_equal(kernel_program_count, 9);
}

/* Known names: a change of the hash would set others aside, after their predictions were seen. */
static void about_a_third_is_set_aside_and_always_the_same(void **state)
{
    (void)state;
    size_t aside = 0;
    for (size_t i = 0; i < kernel_row_count; i++) {
        aside += kernel_is_set_aside(kernel_rows[i].name);
    }
    assert_int_equal(kernel_row_count, 145);
    assert_int_equal(aside, 55); /* of the 109 that were first 40 */
    assert_true(kernel_is_set_aside("copy4") && kernel_is_set_aside("empty"));
    assert_false(kernel_is_set_aside("search") || kernel_is_set_aside("matvec"));
}

static void a_ring_visits_every_place_once(void **state)
{
    (void)state;
    char ring[64 * 128];
    const struct kernel_arg arg = {.bytes = sizeof(ring), .fill = FILL_RING, .fill_argument = 128};
    kernel_fill(ring, &arg, 1);
    uint32_t at = 0, steps = 0;
    do {
        memcpy(&at, ring + at, sizeof(at));
        assert_true(at % 128 == 0 && at < sizeof(ring));
        steps++;
    } while (at != 0 && steps < 100);
    assert_int_equal(steps, 64);
}

static void buffers_hold_what_they_are_filled_with(void **state)
{
    (void)state;
    uint32_t words[256];
    uint16_t halves[256];
    struct kernel_arg arg = {.bytes = sizeof(words), .fill = FILL_ROWS, .fill_argument = 4};
    kernel_fill(words, &arg, 0);
    assert_int_equal(words[0], 0);
    for (uint32_t i = 1; i < 256; i++) {
        assert_int_equal(words[i] - words[i - 1], kernel_row_length(i - 1, 4));
        assert_true(words[i] - words[i - 1] <= 8);
    }
    arg.fill = FILL_NEAR;
    arg.fill_argument = 32;
    kernel_fill(words, &arg, 0);
    for (uint32_t i = 0; i < 256; i++) {
        assert_int_equal(words[i] / 32, i / 32);
    }
    arg = (struct kernel_arg){.bytes = sizeof(halves), .fill = FILL_HALVES};
    kernel_fill(halves, &arg, 0);
    for (uint32_t i = 0; i < 256; i++) {
        assert_true(halves[i] < 0x3c00); /* one */
    }
}

static struct kernel_result checked(const void *bytes, enum kernel_check check)
{
    struct kernel_result result = {0};
    const struct kernel_arg arg = {.bytes = 16, .check = check};
    kernel_check(&result, &arg, 2, bytes);
    return result;
}

static void a_check_sees_order_where_it_matters(void **state)
{
    (void)state;
    const uint32_t a[4] = {1, 2, 3, 4}, b[4] = {2, 1, 3, 4}, c[4] = {1, 2, 3, 5};
    struct kernel_result words = checked(a, CHECK_WORDS), swapped = checked(b, CHECK_WORDS);
    assert_false(kernel_result_agrees(&words, &swapped));
    struct kernel_result set = checked(a, CHECK_SET), same = checked(b, CHECK_SET),
                         other = checked(c, CHECK_SET);
    assert_true(kernel_result_agrees(&set, &same));
    assert_false(kernel_result_agrees(&set, &other));
    const float f[4] = {1, 2, 3, 4}, near[4] = {1, 2, 3, 4.001f}, far[4] = {1, 2, 4, 3};
    struct kernel_result floats = checked(f, CHECK_FLOATS), close = checked(near, CHECK_FLOATS),
                         away = checked(far, CHECK_FLOATS);
    assert_true(kernel_result_agrees(&floats, &close));
    assert_false(kernel_result_agrees(&floats, &away));
}

#define RECORDED                                                                                   \
    "# a comment\nkernel\tsize\tcycles\twarp_insns\tl2_sectors\tdram_read_bytes\tdram_write_bytes" \
    "\tl1_load_sectors\tl1_load_hits\texact\tabout\n"                                              \
    "one\t16\t100\t20\t30\t40\t5\t6\t7\t00000000000000ff\t2.5\none\t32\t1\t2\t3\tfour\n"

static void a_recording_is_read_by_the_names_of_its_columns(void **state)
{
    (void)state;
    struct kernel_counts counts;
    assert_int_equal(kernel_recorded_in(&counts, RECORDED, "one", 16), 0);
    assert_true(counts.cycles == 100 && counts.warp_insns == 20 && counts.l2_sectors == 30);
    assert_true(counts.dram_bytes == 45 && counts.l1_loads == 6 && counts.l1_hits == 7);
    assert_true(counts.result.exact == 255 && counts.result.about == 2.5);
    assert_int_equal(kernel_recorded_in(&counts, RECORDED, "one", 17), SONDE_EINPUT);
    assert_int_equal(kernel_recorded_in(&counts, RECORDED, "on", 16), SONDE_EINPUT);
    assert_int_equal(kernel_recorded_in(&counts, RECORDED, "one", 32), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "dram_read_bytes"));
}

#define PAIR(which, aside, there, here, insns)                                                     \
    {                                                                                              \
        .row = &kernel_rows[which], .size = 1, .set_aside = (aside),                               \
        .measured = {.cycles = (there), .warp_insns = 100, .l2_sectors = 10, .dram_bytes = 1e8},   \
        .predicted.counts = {                                                                      \
            .cycles = (here),                                                                      \
            .warp_insns = (insns),                                                                 \
            .l2_sectors = 11,                                                                      \
            .dram_bytes = 9.8e7                                                                    \
        }                                                                                          \
    }

static void numbers_of_many_launches_are_those_of_their_selection(void **state)
{
    (void)state;
    size_t compute = 0, memory = 0;
    for (size_t i = 0; i < kernel_row_count; i++) {
        compute = kernel_rows[i].class == KERNEL_COMPUTE ? i : compute;
        memory = kernel_rows[i].class == KERNEL_MEMORY ? i : memory;
    }
    struct kernel_pair pairs[] = {
        PAIR(memory, false, 1000, 1100, 100),
        PAIR(memory, false, 100, 70, 104),
        PAIR(compute, false, 10, 18, 120),
        PAIR(compute, true, 10, 5, 300),
    };
    const struct kernel_selection all = {.class = -1}, aside = {.class = -1, .set_aside = true},
                                  bound = {.class = KERNEL_MEMORY},
                                  none = {.class = KERNEL_ATOMICS};
    assert_true(fabs(kernel_value(pairs, 4, KERNEL_MAPE, &all) - 40) < 1e-9);
    assert_true(fabs(kernel_value(pairs, 4, KERNEL_MAPE, &bound) - 20) < 1e-9);
    assert_true(fabs(kernel_value(pairs, 4, KERNEL_MAPE, &aside) - 50) < 1e-9);
    assert_true(isnan(kernel_value(pairs, 4, KERNEL_MAPE, &none)));
    assert_true(fabs(kernel_value(pairs, 4, KERNEL_INSTRUCTIONS, &all) - 4) < 1e-9);
    assert_true(fabs(kernel_value(pairs, 4, KERNEL_INSTRUCTIONS_MOST, &all) - 20) < 1e-9);
    assert_true(fabs(kernel_value(pairs, 4, KERNEL_L2_SECTORS, &all) - 10) < 1e-9);
    assert_true(fabs(kernel_value(pairs, 4, KERNEL_DRAM_BYTES, &all) - 2) < 1e-9);
    double expected = 0.9813215; /* of (6.908, 7.003), (4.605, 4.248), (2.303, 2.890), elsewhere */
    assert_true(fabs(kernel_value(pairs, 4, KERNEL_CORRELATION, &all) - expected) < 1e-6);
    /* One that was not run to its end counts as an error of all, and as a wrong result. */
    pairs[2].predicted = (struct kernel_prediction){0};
    pairs[2].why = "given up";
    assert_true(fabs(kernel_value(pairs, 4, KERNEL_MAPE, &all) - (10 + 30 + 100) / 3.0) < 1e-9);
    assert_true(kernel_value(pairs, 4, KERNEL_WRONG_RESULTS, &all) == 1);
}

#define STUDY(model, measure)                                                                      \
    "name: s\ntitle: t\ndevices:\n  gpu: " model "\nrows:\n"                                       \
    "  - {id: r, what: w, device: gpu, published: 0, tolerance: exact, basis: prediction, "        \
    "measure: " measure "}\n"

static const struct sonde_watch silent;

/* The study's only row; *pair: the first launch. */
static int run(struct study_value *value, struct kernel_pair *pair, const char *text,
               const char *kernels)
{
    struct study *study = NULL;
    struct study_bench *bench = NULL;
    const struct kernel_pair *pairs;
    if (study_parse(&study, "s.yaml", text, strlen(text)) < 0) {
        fail_msg("%s", error_text());
    }
    assert_int_equal(study_kernels(study, kernels, true), 0);
    assert_int_equal(study_bench_create(&bench, study, 1, &silent), 0);
    int rc = study_run(study, bench);
    *value = study->rows[0].readings[0].measured;
    if (kernel_pairs(&pairs, bench) > 0) {
        *pair = pairs[0];
    }
    study_bench_destroy(bench);
    study_destroy(study);
    return rc;
}

/* A ring of 64 KiB, of which a Kepler's L2 has all: 512 lines come from DRAM once. */
static void a_launch_is_simulated_from_empty_caches(void **state)
{
    (void)state;
    struct study_value value;
    struct kernel_pair pair = {0};
    assert_int_equal(
        run(&value, &pair, STUDY("sim:gtx780", "{kernels: wrong_results}"), "chase_l1"), 0);
    assert_int_equal(value.kind, STUDY_NUMBER);
    assert_true(value.number == 0);
    const struct kernel_counts *counts = &pair.predicted.counts;
    assert_true(counts->dram_bytes >= 512 * 32 && counts->dram_bytes < 1024 * 32);
    assert_true(counts->l2_sectors >= 4096 && counts->l2_sectors < 4200);
    double shares = 0;
    for (int i = 0; i < SHARES; i++) {
        shares += pair.predicted.shares[i];
    }
    assert_true(fabs(shares - 1) < 1e-9 && pair.predicted.shares[SHARE_MEMORY] > 0.9);
}

static void what_a_row_asks_of_kernels_is_checked(void **state)
{
    (void)state;
    struct study_value value;
    struct kernel_pair pair;
    assert_int_equal(run(&value, &pair, STUDY("sim:gtx780", "{kernels: speed}"), NULL),
                     SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "no value 'speed'"));
    assert_int_equal(run(&value, &pair, STUDY("sim:gtx780", "{kernels: mape, class: big}"), NULL),
                     SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "no class 'big'"));
    assert_int_equal(run(&value, &pair, STUDY("cuda:0", "{kernels: mape}"), NULL), SONDE_EUSAGE);
    /* Nothing to make a number of. */
    assert_int_equal(
        run(&value, &pair, STUDY("sim:gtx780", "{kernels: mape, set_aside: true}"), "chase_l1"), 0);
    assert_int_equal(value.kind, STUDY_NOTHING);
}

/*
 * All launches as the card had them, but for one change. FAILS(rows, change): exactly these rows of
 * the study fail then. claims.sh reads the rows here, too.
 */
struct change {
    double memory, all, insns, one_insns, l2, dram; /* so much more, as a share */
    double later, programs, one_program;            /* these alone */
    bool flat, wrong, wrong_later;                  /* the same cycles everywhere; other results */
};

/* The workloads are not set aside; their rows are seen where kernels are not. */
static size_t recorded_programs(struct kernel_pair *pairs, const struct change *change, bool aside)
{
    size_t count = 0;
    for (size_t i = 0; i < kernel_program_count; i++) {
        const struct kernel_row *row = &kernel_programs[i];
        for (int s = 0; s < KERNEL_SIZES && row->sizes[s]; s++) {
            struct kernel_pair *pair = &pairs[count++];
            *pair = (struct kernel_pair){.row = row, .size = row->sizes[s]};
            assert_int_equal(kernel_recorded(&pair->measured, row->name, pair->size), 0);
            pair->predicted.counts = pair->measured;
            bool first = i == 0 && s == 0 && !aside;
            pair->predicted.counts.cycles *=
                1 + (aside ? 0 : change->programs) + (first ? change->one_program : 0);
            pair->predicted.counts.result.exact += change->wrong && change->programs != 0;
        }
    }
    return count;
}

static size_t recorded_pairs(struct kernel_pair *pairs, const struct change *change, bool aside)
{
    size_t count = 0;
    for (size_t i = 0; i < kernel_row_count; i++) {
        const struct kernel_row *row = &kernel_rows[i];
        for (int s = 0; s < KERNEL_SIZES && row->sizes[s]; s++) {
            struct kernel_pair *pair = &pairs[count++];
            *pair = (struct kernel_pair){
                .row = row, .size = row->sizes[s], .set_aside = kernel_is_set_aside(row->name)};
            assert_int_equal(kernel_recorded(&pair->measured, row->name, pair->size), 0);
            struct kernel_counts *counts = &pair->predicted.counts;
            *counts = pair->measured;
            if (pair->set_aside == aside) {
                bool first = strcmp(row->name, aside ? "copy1" : "digest") == 0 && s == 0;
                bool later = row->class == KERNEL_LATER;
                counts->cycles *= 1 + (later ? change->later : change->all) +
                                  (row->class == KERNEL_MEMORY ? change->memory : 0);
                counts->cycles = change->flat && !later ? 1e4 + (double)(i % 2) : counts->cycles;
                counts->warp_insns *= 1 + change->insns + (first ? change->one_insns : 0);
                counts->l2_sectors *= 1 + change->l2;
                counts->dram_bytes *= 1 + change->dram;
                counts->result.exact += (change->wrong && first) || (change->wrong_later && later);
            }
        }
    }
    return count + recorded_programs(pairs + count, change, aside);
}

/* Whether `id` is one of the words of `rows`. */
static bool names(const char *rows, const char *id)
{
    size_t length = strlen(id);
    for (const char *at = rows; (at = strstr(at, id)); at++) {
        if ((at == rows || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static void expect_failing(const char *rows, const struct change *change, bool aside)
{
    static struct kernel_pair pairs[KERNEL_SIZES * 160];
    struct study *study = NULL;
    struct study_bench *bench = NULL;
    size_t failing = 0, named = 1;
    assert_int_equal(study_load(&study, "h200"), 0);
    assert_int_equal(study_bench_create(&bench, study, 1, &silent), 0);
    assert_int_equal(kernel_give(bench, pairs, recorded_pairs(pairs, change, aside)), 0);
    assert_int_equal(study_run(study, bench), 0);
    for (const char *at = rows; *at; at++) {
        named += *at == ' ';
    }
    for (size_t i = 0; i < study->row_count; i++) {
        bool expected = names(rows, study->rows[i].id);
        if (study->rows[i].ok == expected) {
            fail_msg("%s: %s", study->rows[i].id, expected ? "holds" : "fails");
        }
        failing += !study->rows[i].ok;
    }
    assert_int_equal(failing, *rows ? named : 0);
    study_bench_destroy(bench);
    study_destroy(study);
}

#define FAILS(rows, aside, ...) expect_failing(rows, &(const struct change){__VA_ARGS__}, aside)

static void each_row_fails_where_it_should_and_nowhere_else(void **state)
{
    (void)state;
    FAILS("", false, .wrong = false);
    FAILS("mape.memory", false, .memory = 0.12);
    FAILS("mape.memory mape.all", false, .all = 0.21);
    FAILS("later.mape", false, .later = -0.12);
    FAILS("later.mape later.results", false, .later = 0.12, .wrong_later = true);
    FAILS("mape.memory mape.all correlation", false, .flat = true);
    FAILS("instructions.median", false, .insns = -0.06);
    FAILS("instructions.most", false, .one_insns = 0.16);
    FAILS("sectors.l2", false, .l2 = 0.06);
    FAILS("bytes.dram", false, .dram = -0.06);
    FAILS("results", false, .wrong = true);
    FAILS("asynchronous.median", false, .programs = 0.16);
    FAILS("asynchronous.most", false, .one_program = 0.26);
    FAILS("asynchronous.median asynchronous.most", false, .programs = -0.26);
    FAILS("results asynchronous.results", false, .wrong = true, .programs = 0.01);
    FAILS("mape.memory.set_aside", true, .memory = 0.12);
    FAILS("mape.memory.set_aside mape.all.set_aside", true, .all = 0.21);
    FAILS("later.mape.set_aside", true, .later = 0.12);
    FAILS("mape.memory.set_aside mape.all.set_aside correlation.set_aside", true, .flat = true);
    FAILS("instructions.median.set_aside", true, .insns = -0.06);
    FAILS("instructions.most.set_aside", true, .one_insns = 0.16);
    FAILS("sectors.l2.set_aside", true, .l2 = 0.06);
    FAILS("bytes.dram.set_aside", true, .dram = -0.06);
    FAILS("results.set_aside", true, .wrong = true);
}

static void kernels_and_sets_that_are_not_there_are_refused(void **state)
{
    (void)state;
    struct study *study = NULL;
    assert_int_equal(study_load(&study, "h200"), 0);
    assert_int_equal(study_kernels(study, "copy,chase_l", false), 0);
    assert_int_equal(study_kernels(study, "nothing", false), SONDE_EUSAGE);
    assert_int_equal(study_select(study, "mape"), 0);
    assert_int_equal(study_leave_set_aside(study), 0);
    for (size_t i = 0; i < study->row_count; i++) {
        assert_int_equal(study->rows[i].selected,
                         strcmp(study->rows[i].id, "mape.all") == 0 ||
                             strcmp(study->rows[i].id, "mape.memory") == 0);
    }
    assert_int_equal(study_select(study, "mape.all.set_aside"), 0);
    assert_int_equal(study_leave_set_aside(study), SONDE_EUSAGE);
    study_destroy(study);
    assert_int_equal(study_load(&study, "mei2014"), 0);
    assert_int_equal(study_kernels(study, NULL, true), SONDE_EUSAGE);
    assert_non_null(strstr(error_text(), "runs no kernels"));
    study_destroy(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_launch_is_recorded_and_can_be_made),
        cmocka_unit_test(every_workload_of_the_study_is_recorded),
        cmocka_unit_test(about_a_third_is_set_aside_and_always_the_same),
        cmocka_unit_test(a_ring_visits_every_place_once),
        cmocka_unit_test(buffers_hold_what_they_are_filled_with),
        cmocka_unit_test(a_check_sees_order_where_it_matters),
        cmocka_unit_test(a_recording_is_read_by_the_names_of_its_columns),
        cmocka_unit_test(numbers_of_many_launches_are_those_of_their_selection),
        cmocka_unit_test(a_launch_is_simulated_from_empty_caches),
        cmocka_unit_test(what_a_row_asks_of_kernels_is_checked),
        cmocka_unit_test(each_row_fails_where_it_should_and_nowhere_else),
        cmocka_unit_test(kernels_and_sets_that_are_not_there_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
