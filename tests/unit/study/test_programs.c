/*
 * Whole programs in a study: what its file may say of them, and what rows measure, on programs
 * whose counts are known beforehand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "study/bench.h"
#include "study/study.h"
#include "util/error.h"

#define HEAD                                                                                       \
    "name: s\ntitle: t\ndevices:\n"                                                                \
    "  base: sim:bakhoda2009\n"                                                                    \
    "  small: {inherits: bakhoda2009, sms: 1, clusters: 1}\n"                                      \
    "  wrong: {inherits: bakhoda2009, sms: none}\n"
#define PROGRAMS                                                                                   \
    "programs:\n"                                                                                  \
    "  add: {workload: vectoradd, size: 4096, cost: 8}\n"                                          \
    "  lps: {workload: laplace3d, size: 32, depth: 3}\n"                                           \
    "  odd: {workload: matmul, size: 17}\n"                                                        \
    "  blk: {workload: blackscholes, size: 4096}\n"                                                \
    "  other: {workload: nothing}\n"
#define ROW(device, tolerance, published, measure)                                                 \
    "rows:\n  - {id: r, what: w, device: " device ", published: " published                        \
    ", tolerance: " tolerance ", basis: input, measure: " measure "}\n"

static void refuse(const char *text, const char *place_and_reason)
{
    struct study *study = NULL;
    assert_int_equal(study_parse(&study, "s.yaml", text, strlen(text)), SONDE_EINPUT);
    if (!strstr(error_text(), place_and_reason)) {
        fail_msg("%s", error_text());
    }
}

static void what_a_file_says_of_programs_is_checked(void **state)
{
    (void)state;
    refuse(HEAD "programs: []\n", "s.yaml:7");
    refuse(HEAD "programs: {a: 7}\n", "a program has a workload");
    refuse(HEAD "programs: {a: {size: 7}}\n", "'workload' is missing");
    refuse(HEAD "programs: {a: {workload: bfs, size: 0}}\n", "'size' is 1 to");
    refuse(HEAD "programs: {a: {workload: bfs, block: many}}\n", "s.yaml:7");
    refuse(HEAD "not_testable: {a: b}\n", "a list of id, what, why");
    refuse(HEAD "not_testable: [{id: a, what: b}]\n", "'why' is missing");
}

static const struct sonde_watch silent;

/* The study has been run, with this result. */
static int run(struct study **study, const char *text)
{
    struct study_bench *bench = NULL;
    if (study_parse(study, "s.yaml", text, strlen(text)) < 0) {
        fail_msg("%s", error_text());
    }
    assert_int_equal(study_bench_create(&bench, *study, 1, &silent), 0);
    int rc = study_run(*study, bench);
    study_bench_destroy(bench);
    return rc;
}

static void expect_number(const char *text, double number)
{
    struct study *study;
    assert_int_equal(run(&study, text), 0);
    const struct study_value *value = &study->rows[0].readings[0].measured;
    if (value->kind != STUDY_NUMBER || value->number != number) {
        fail_msg("%g: %s", value->number, value->reason);
    }
    assert_true(study->rows[0].ok);
    study_destroy(study);
}

static void expect_holds(const char *text)
{
    struct study *study;
    assert_int_equal(run(&study, text), 0);
    if (!study->rows[0].ok) {
        fail_msg("%g", study->rows[0].readings[0].measured.number);
    }
    study_destroy(study);
}

static void expect_nothing(const char *text, const char *reason)
{
    struct study *study;
    assert_int_equal(run(&study, text), 0);
    const struct study_value *value = &study->rows[0].readings[0].measured;
    assert_int_equal(value->kind, STUDY_NOTHING);
    if (!strstr(value->reason, reason)) {
        fail_msg("%s", value->reason);
    }
    assert_false(study->rows[0].ok);
    study_destroy(study);
}

static void expect_error(const char *text, int code, const char *reason)
{
    struct study *study;
    assert_int_equal(run(&study, text), code);
    if (!strstr(error_text(), reason)) {
        fail_msg("%s", error_text());
    }
    study_destroy(study);
}

/* 4096 additions by CTAs of 256, no lane ever idle; the solver's one CTA column of 32 x 32. */
static void values_are_those_of_the_run(void **state)
{
    (void)state;
    expect_number(HEAD PROGRAMS ROW("base", "exact", "1", "{program: add, value: full_share}"), 1);
    expect_number(
        HEAD PROGRAMS ROW("base", "exact", "0", "{program: add, value: under_half_share}"), 0);
    expect_number(HEAD PROGRAMS ROW("base", "exact", "16", "{program: add, value: launch_ctas}"),
                  16);
    expect_number(HEAD PROGRAMS ROW("base", "exact", "1", "{program: add, value: sm_ctas}"), 1);
    expect_number(HEAD PROGRAMS ROW("small", "exact", "4", "{program: add, value: sm_ctas}"), 4);
    expect_number(HEAD PROGRAMS ROW("base", "exact", "8", "{program: lps, value: launch_ctas}"), 8);
}

/* Six special functions of some 80 instructions; its four divisions are none. */
static void divisions_are_arithmetic(void **state)
{
    (void)state;
    expect_holds(
        HEAD PROGRAMS ROW("base", "within", "[0.06, 0.10]", "{program: blk, value: sfu_share}"));
}

static void a_device_is_as_fast_as_itself(void **state)
{
    (void)state;
    expect_number(
        HEAD PROGRAMS ROW("base", "exact", "1", "{program: add, value: speed, over: base}"), 1);
    expect_number(HEAD PROGRAMS ROW("base", "exact", "2",
                                    "{programs: [add, lps], over: base, value: within, by: 0.01}"),
                  2);
    expect_number(HEAD PROGRAMS ROW("small", "exact", "2",
                                    "{programs: [add, lps], over: base, value: slower, by: 0.5}"),
                  2);
}

/*
 * Shares of instructions depend on the program, not on the machine: no changed model makes these
 * rows fail, but another program in the place of the paper's does. All that the row asks for beside
 * it is `others`. FAILS names the row for tests/study/claims.sh.
 */
#define FAILS(row) row
static const struct {
    const char *row, *program, *workload;
    uint32_t size;
    const char *others;
    uint32_t others_size;
} other_programs[] = {
    {FAILS("fig4.lps.control"), "lps", "vectoradd", 4096, NULL, 0},
    {FAILS("fig4.bfs.control"), "bfs", "vectoradd", 4096, NULL, 0},
    {FAILS("fig4.nqu.control"), "nqu", "vectoradd", 4096, NULL, 0},
    {FAILS("fig4.lps.alu"), "lps", "matmul", 48, NULL, 0},
    {FAILS("fig4.bfs.alu"), "bfs", "matmul", 48, NULL, 0},
    {FAILS("fig4.ray.alu"), "ray", "matmul", 48, NULL, 0},
    {FAILS("fig4.nqu.alu"), "nqu", "storegpu", 512, NULL, 0},
    {FAILS("fig4.nqu.lowest"), "nqu", "storegpu", 512, "vectoradd", 1024},
    {FAILS("fig4.blk.alu"), "blk", "vectoradd", 4096, NULL, 0},
    {FAILS("fig4.blk.highest"), "blk", "vectoradd", 1024, "storegpu", 512},
    {FAILS("fig4.cp.sfu"), "cp", "vectoradd", 1024, NULL, 0},
    {FAILS("fig4.others.sfu"), "fwt", "coulomb", 32, "vectoradd", 1024},
    {FAILS("fig5.bfs.global"), "bfs", "matmul", 64, NULL, 0},
    {FAILS("fig5.bfs.highest"), "bfs", "coulomb", 32, "vectoradd", 1024},
    {FAILS("fig5.nn.global"), "nn", "coulomb", 32, NULL, 0},
    {FAILS("fig5.nn.most"), "nn", "coulomb", 32, NULL, 0},
    {FAILS("fig5.cp.constant"), "cp", "vectoradd", 1024, NULL, 0},
    {FAILS("fig5.others.constant"), "fwt", "coulomb", 32, "vectoradd", 1024},
    {FAILS("fig7.bfs.under_half"), "bfs", "vectoradd", 4096, NULL, 0},
    {FAILS("fig7.lps.full"), "lps", "vectoradd", 4096, NULL, 0},
    {FAILS("fig7.none"), "sto", "frontier", 1000, "vectoradd", 1024},
    {FAILS("fig7.mum.under_5"), "mum", "vectoradd", 1024, NULL, 0},
    {FAILS("fig7.nn.lowest"), "nn", "vectoradd", 1024, "frontier", 1000},
    {FAILS("fig11.dg.stalls"), "dg", "coulomb", 32, NULL, 0},
    {FAILS("fig13.very_low"), "cp", "vectoradd", 60000, "vectoradd", 1024},
    {FAILS("fig13.low"), "aes", "vectoradd", 60000, "vectoradd", 1024},
    {FAILS("fig14.aes"), "aes", "frontier", 1000, NULL, 0},
    {FAILS("fig14.sto"), "sto", "frontier", 1000, NULL, 0},
    {FAILS("table1.lps.concurrent"), "lps_flat", "vectoradd", 4096, NULL, 0},
    {FAILS("table1.bfs.concurrent"), "bfs_few", "coulomb", 64, NULL, 0},
    {FAILS("table1.aes.concurrent"), "aes_few", "vectoradd", 4096, NULL, 0},
    {FAILS("table1.cp.concurrent"), "cp_few", "vectoradd", 4096, NULL, 0},
    {FAILS("table1.lib.concurrent"), "lib_few", "vectoradd", 4096, NULL, 0},
    {FAILS("table1.nqu.concurrent"), "nqu_few", "vectoradd", 4096, NULL, 0},
    {FAILS("table1.sto.concurrent"), "sto_few", "vectoradd", 4096, NULL, 0},
};

static void set_programs(struct study *study, const char *name, const char *workload, uint32_t size)
{
    for (size_t k = 0; workload && k < study->program_count; k++) {
        struct study_program *program = &study->programs[k];
        if (!name || strcmp(program->name, name) == 0) {
            program->workload = workload;
            program->size = size;
            program->block = program->depth = 0;
        }
    }
}

static void a_row_on_instructions_fails_for_another_program(void **state)
{
    (void)state;
    bool bad = false;
    for (size_t i = 0; i < sizeof(other_programs) / sizeof(other_programs[0]); i++) {
        struct study *study;
        struct study_bench *bench = NULL;
        assert_int_equal(study_load(&study, "bakhoda2009"), 0);
        assert_int_equal(study_select(study, other_programs[i].row), 0);
        set_programs(study, NULL, other_programs[i].others, other_programs[i].others_size);
        set_programs(study, other_programs[i].program, other_programs[i].workload,
                     other_programs[i].size);
        assert_int_equal(study_bench_create(&bench, study, 1, &silent), 0);
        assert_int_equal(study_run(study, bench), 0);
        for (size_t k = 0; k < study->row_count; k++) {
            const struct study_value *value = &study->rows[k].readings[0].measured;
            if (study->rows[k].selected &&
                (value->kind != STUDY_NUMBER || study_verdict(&study->rows[k]) != STUDY_FAIL)) {
                print_error("%s: %g %s\n", other_programs[i].row, value->number, value->reason);
                bad = true;
            }
        }
        study_bench_destroy(bench);
        study_destroy(study);
    }
    assert_false(bad);
}

/*
 * Rows on machines: each program is a few additions, BFS and NN a potential, which computes. With
 * the baseline in place of every variant what is to change does not; with one core in place of
 * each, what is to stay does not, and with faster ones what is not to gain does.
 */
#define BASELINE "{inherits: bakhoda2009}"
#define SLOWER "{inherits: bakhoda2009, sms: 1, clusters: 1, sm: {issue_interval: 64 cycles}}"
#define NARROW "{inherits: bakhoda2009, noc: {flit: 1 B}}"
#define FASTER                                                                                     \
    "{inherits: bakhoda2009, noc: {kind: perfect, request_latency: 0 cycles, reply_latency: 0 "    \
    "cycles}, sm: {issue_interval: 1 cycle, lsu: {request_interval: 1 cycle}, "                    \
    "units: {alu: {latency: 4 cycles, lanes_per_cycle: 32}, imul: {latency: 4 cycles, "            \
    "lanes_per_cycle: 32}, fp32: {latency: 4 cycles, lanes_per_cycle: 32}, sfu: {latency: 4 "      \
    "cycles, lanes_per_cycle: 32}, cvt: {latency: 4 cycles, lanes_per_cycle: 32}, special: "       \
    "{latency: 4 cycles, lanes_per_cycle: 32}, lsu: {latency: 1 cycle, lanes_per_cycle: 32}, "     \
    "branch: {latency: 4 cycles, lanes_per_cycle: 32}}}}"
static const char *const fail_on_the_baseline[] = {
    FAILS("fig9.ring"),         FAILS("fig9.torus8"),       FAILS("fig10.4"),
    FAILS("fig10.8"),           FAILS("fig10.16"),          FAILS("fig11.8.mean"),
    FAILS("fig11.8.slower"),    FAILS("fig11.8.dg"),        FAILS("fig11.32.dg"),
    FAILS("fig11.32.bfs"),      FAILS("fig11.64.bfs"),      FAILS("fig12.bfs.fifo"),
    FAILS("fig12.lib.fifo"),    FAILS("fig12.mum.fifo"),    FAILS("fig12.ray.fifo"),
    FAILS("fig12.wp.fifo"),     FAILS("fig14.fifo"),        FAILS("fig15.bfs"),
    FAILS("fig15.nn"),          FAILS("fig16.lps.quarter"), FAILS("fig16.nn.quarter"),
    FAILS("fig16.sto.double"),  FAILS("fig16.aes.trend"),   FAILS("fig16.mum.trend"),
    FAILS("fig16.aes.latency"), FAILS("fig16.mum.latency"), FAILS("fig16.bfs.half"),
    FAILS("fig16.bfs.double"),  FAILS("fig16.ray.half"),    FAILS("fig16.ray.double"),
    FAILS("fig17.mean"),        FAILS("fig17.best"),        FAILS("fig17.texture"),
    FAILS("fig15.ray.writes"),  FAILS("fig15.fwt.writes"),  NULL,
};
static const char *const fail_on_one_core[] = {
    FAILS("fig6.perfect"),      FAILS("fig9.torus"),        FAILS("fig9.butterfly"),
    FAILS("fig9.crossbar"),     FAILS("fig11.8.lowest"),    FAILS("fig12.none"),
    FAILS("fig12.others.fifo"), FAILS("fig15.none.lowest"), FAILS("fig16.lps.double"),
    FAILS("fig16.sto.more"),    FAILS("fig16.nqu.double"),  NULL,
};
static const char *const fail_on_narrow_channels[] = {FAILS("fig11.dg.no_stalls"), NULL};
static const char *const fail_on_faster_ones[] = {
    FAILS("fig6.peak"),
    FAILS("fig11.32.others"),
    FAILS("fig15.none.highest"),
    FAILS("fig17.sdk"),
    NULL,
};

/* The rows named fail where every device but the baseline, and `kept`, is this machine. */
static void expect_failures(const char *const *names, const char *machine, const char *workload,
                            uint32_t size)
{
    struct study *study;
    struct study_bench *bench = NULL;
    bool bad = false;
    assert_int_equal(study_load(&study, "bakhoda2009"), 0);
    for (size_t i = 0; i < study->row_count; i++) {
        study->rows[i].selected = false;
        for (const char *const *name = names; *name; name++) {
            study->rows[i].selected |= strcmp(*name, study->rows[i].id) == 0;
        }
    }
    set_programs(study, NULL, workload, size);
    for (size_t i = 1; i < study->device_count; i++) {
        study->devices[i].model = machine;
    }
    assert_int_equal(study_bench_create(&bench, study, 1, &silent), 0);
    assert_int_equal(study_run(study, bench), 0);
    for (size_t i = 0; i < study->row_count; i++) {
        const struct study_row *row = &study->rows[i];
        const struct study_value *value = &row->readings[0].measured;
        if (row->selected && (value->kind != STUDY_NUMBER || study_verdict(row) != STUDY_FAIL)) {
            print_error("%s: %g %s\n", row->id, value->number, value->reason);
            bad = true;
        }
    }
    assert_false(bad);
    study_bench_destroy(bench);
    study_destroy(study);
}

static void rows_on_machines_fail_on_others(void **state)
{
    (void)state;
    expect_failures(fail_on_the_baseline, BASELINE, "vectoradd", 2048);
    expect_failures(fail_on_one_core, SLOWER, "vectoradd", 2048);
    expect_failures(fail_on_narrow_channels, NARROW, "vectoradd", 6000);
    expect_failures(fail_on_faster_ones, FASTER, "coulomb", 64);
}

/* What stands beside another number: of a program against the others, of a device against two. */
static void rows_that_compare_fail_the_other_way_about(void **state)
{
    static const struct {
        const char *row, *program, *device;
    } all[] = {
        {FAILS("fig15.most.bfs"), "bfs", "l1"},
        {FAILS("fig15.most.nn"), "nn", "l1"},
        {FAILS("fig10.bandwidth"), "none", "channel8"},
        {FAILS("fig11.64.dg"), "none", "channel64"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct study *study;
        struct study_bench *bench = NULL;
        assert_int_equal(study_load(&study, "bakhoda2009"), 0);
        assert_int_equal(study_select(study, all[i].row), 0);
        set_programs(study, NULL, "vectoradd", 4096);
        set_programs(study, all[i].program, "nqueens", 5);
        for (size_t k = 1; k < study->device_count; k++) {
            bool chosen = strcmp(study->devices[k].name, all[i].device) == 0;
            study->devices[k].model =
                chosen ? "{inherits: bakhoda2009, noc: {kind: perfect, request_latency: 0 cycles, "
                         "reply_latency: 0 cycles}}"
                       : BASELINE;
        }
        assert_int_equal(study_bench_create(&bench, study, 1, &silent), 0);
        assert_int_equal(study_run(study, bench), 0);
        for (size_t k = 0; k < study->row_count; k++) {
            const struct study_row *row = &study->rows[k];
            if (row->selected && study_verdict(row) != STUDY_FAIL) {
                fail_msg("%s: %g", row->id, row->readings[0].measured.number);
            }
        }
        study_bench_destroy(bench);
        study_destroy(study);
    }
}

/* Values beside each other and means, on counts that are known. */
static void programs_have_means_and_are_held_against_one(void **state)
{
    (void)state;
    expect_number(
        HEAD PROGRAMS ROW("base", "exact", "1", "{programs: [add, lps], over: base, value: mean}"),
        1);
    expect_number(HEAD PROGRAMS ROW("base", "exact", "1",
                                    "{programs: [add], field: full_share, value: lowest}"),
                  1);
    expect_number(HEAD PROGRAMS ROW("base", "exact", "1",
                                    "{programs: [lps], field: alu_share, value: highest, relative: "
                                    "lps}"),
                  1);
    expect_number(
        HEAD PROGRAMS ROW("base", "exact", "1", "{program: add, value: latency, over: base}"), 1);
}

static void what_cannot_run_is_told_with_its_reason(void **state)
{
    (void)state;
    expect_nothing(HEAD PROGRAMS ROW("base", "exact", "1", "{program: odd, value: ipc}"),
                   "side 17 is no multiple of 16");
    expect_nothing(HEAD PROGRAMS ROW("base", "exact", "1", "{program: other, value: ipc}"),
                   "no workload 'nothing'");
    expect_nothing(HEAD PROGRAMS ROW("base", "exact", "1",
                                     "{programs: [add, odd], over: small, value: lowest}"),
                   "side 17");
}

static void what_a_row_asks_for_must_exist(void **state)
{
    (void)state;
    expect_error(HEAD PROGRAMS ROW("base", "exact", "1", "{program: bfs, value: ipc}"),
                 SONDE_EINPUT, "no program 'bfs'");
    expect_error(HEAD PROGRAMS ROW("base", "exact", "1", "{program: add, value: luck}"),
                 SONDE_EINPUT, "no value 'luck'");
    expect_error(HEAD PROGRAMS ROW("base", "exact", "1", "{program: add}"), SONDE_EINPUT,
                 "no value ''");
    expect_error(
        HEAD PROGRAMS ROW("base", "exact", "1", "{program: add, value: speed, over: none}"),
        SONDE_EINPUT, "one of the study's devices");
    expect_error(
        HEAD PROGRAMS ROW("base", "exact", "1", "{programs: [add], over: base, value: within}"),
        SONDE_EINPUT, "with a share `by`");
    expect_error(HEAD PROGRAMS ROW("base", "exact", "1", "{programs: add, value: lowest}"),
                 SONDE_EINPUT, "a list of names");
    expect_error(HEAD PROGRAMS ROW("wrong", "exact", "1", "{program: add, value: ipc}"),
                 SONDE_EINPUT, "sms");
}

static void a_program_takes_another_size_and_a_role_another_model(void **state)
{
    (void)state;
    struct study *study = NULL;
    const char *text = HEAD PROGRAMS ROW("small", "exact", "1", "{program: add, value: ipc}");
    assert_int_equal(study_parse(&study, "s.yaml", text, strlen(text)), 0);
    assert_int_equal(study_size(study, "lps=64"), 0);
    assert_int_equal(study->programs[1].size, 64);
    assert_int_equal(study->programs[1].depth, 3);
    assert_int_equal(study_size(study, "lps=48x5"), 0);
    assert_int_equal(study->programs[1].size, 48);
    assert_int_equal(study->programs[1].depth, 5);
    assert_int_equal(study_size(study, "lps=48x"), SONDE_EUSAGE);
    assert_int_equal(study_size(study, "lps=48x0"), SONDE_EUSAGE);
    assert_int_equal(study_size(study, "lps=48x5x5"), SONDE_EUSAGE);
    assert_int_equal(study_size(study, "lps="), SONDE_EUSAGE);
    assert_int_equal(study->programs[1].depth, 5);
    assert_int_equal(study_size(study, "lps"), SONDE_EUSAGE);
    assert_int_equal(study_size(study, "lps=-1"), SONDE_EUSAGE);
    assert_int_equal(study_size(study, "lps=4294967296"), SONDE_EUSAGE);
    assert_non_null(study->devices[1].model);
    assert_int_equal(study_device(study, "small=sim:gtx780"), 0);
    assert_null(study->devices[1].model);
    study_destroy(study);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void read_text(char *out, size_t size, const char *path)
{
    FILE *file = fopen(path, "r");
    size_t read = file ? fread(out, 1, size - 1, file) : 0;
    out[read] = 0;
    if (file) {
        fclose(file);
    }
}

#define TWO                                                                                        \
    "name: s\ntitle: t\ndevices:\n"                                                                \
    "  large: {inherits: bakhoda2009, sm: {registers: 32768}}\n"                                   \
    "  small: {inherits: bakhoda2009, sm: {max_ctas: 2}}\n"                                        \
    "  slow: {inherits: bakhoda2009, sm: {max_ctas: 1, issue_interval: 8 cycles}}\n" PROGRAMS      \
    "rows:\n"                                                                                      \
    "  - {id: r, what: w, device: large, published: 1, tolerance: exact, basis: input, "           \
    "measure: {program: add, value: speed, over: small}}\n"                                        \
    "  - {id: q, what: w, device: slow, published: 1, tolerance: exact, basis: input, "            \
    "measure: {program: add, value: sm_ctas}}\n"

/* Stands for the command: writes statistics, and down whose. */
#define STAND_IN                                                                                   \
    "#!/bin/sh\n"                                                                                  \
    "while [ \"$1\" != --stats ]; do shift; done\n"                                                \
    "basename \"$2\" >>\"$0.ran\"\n"                                                               \
    "printf '{\\n  \"model\": \"m\",\\n  \"ctas_that_waited\": %s,\\n}\\n' "                       \
    "\"$(cat \"$0.waited\")\" >\"$2\"\n"

/* Points of TWO in a folder, for which the stand-in says that so many blocks have waited. Those
 * that ran, and what then is said of the large machine. */
static void run_points(char ran[256], char large[256], const char *folder, const char *waited)
{
    char program[64], path[96];
    struct study *study = NULL;
    struct study_bench *bench = NULL;
    bool idle;
    snprintf(program, sizeof program, "%s/stand-in", folder);
    snprintf(path, sizeof path, "%s.waited", program);
    write_text(program, STAND_IN);
    write_text(path, waited);
    assert_int_equal(chmod(program, 0700), 0);
    assert_int_equal(study_parse(&study, "s.yaml", TWO, strlen(TWO)), 0);
    assert_int_equal(study_bench_create(&bench, study, 1, &silent), 0);
    const struct study_points how = {.program = program, .folder = folder, .jobs = 1};
    if (study_run_points(&idle, study, bench, &how) < 0) {
        fail_msg("%s", error_text());
    }
    study_bench_destroy(bench);
    study_destroy(study);
    snprintf(path, sizeof path, "%s.ran", program);
    read_text(ran, 256, path);
    snprintf(path, sizeof path, "%s/large.add.json", folder);
    read_text(large, 256, path);
}

static void scratch(char folder[32])
{
    strcpy(folder, "/tmp/sonde-points.XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void scratch_end(const char *folder)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* On a machine with more room each block goes where it went; one that is otherwise slower is
 * another machine. */
static void a_program_whose_blocks_never_wait_is_not_run_where_there_is_more_room(void **state)
{
    (void)state;
    char folder[32], ran[256], large[256];
    scratch(folder);
    run_points(ran, large, folder, "0");
    assert_string_equal(ran, "small.add.json\nslow.add.json\n");
    assert_string_equal(large, "{\n  \"model\": \"large\",\n  \"ctas_that_waited\": 0,\n}\n");
    scratch_end(folder);
}

static void a_program_whose_blocks_wait_is_run_where_there_is_more_room(void **state)
{
    (void)state;
    char folder[32], ran[256], large[256];
    scratch(folder);
    run_points(ran, large, folder, "1");
    assert_string_equal(ran, "small.add.json\nslow.add.json\nlarge.add.json\n");
    assert_string_equal(large, "{\n  \"model\": \"m\",\n  \"ctas_that_waited\": 1,\n}\n");
    scratch_end(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_whose_blocks_never_wait_is_not_run_where_there_is_more_room),
        cmocka_unit_test(a_program_whose_blocks_wait_is_run_where_there_is_more_room),
        cmocka_unit_test(what_a_file_says_of_programs_is_checked),
        cmocka_unit_test(values_are_those_of_the_run),
        cmocka_unit_test(divisions_are_arithmetic),
        cmocka_unit_test(a_device_is_as_fast_as_itself),
        cmocka_unit_test(a_row_on_instructions_fails_for_another_program),
        cmocka_unit_test(rows_on_machines_fail_on_others),
        cmocka_unit_test(rows_that_compare_fail_the_other_way_about),
        cmocka_unit_test(programs_have_means_and_are_held_against_one),
        cmocka_unit_test(what_cannot_run_is_told_with_its_reason),
        cmocka_unit_test(what_a_row_asks_for_must_exist),
        cmocka_unit_test(a_program_takes_another_size_and_a_role_another_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
