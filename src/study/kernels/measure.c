/*
 * Rows about kernels: a launch is simulated when a row first asks for it, and those set aside only
 * for rows that are theirs. What launching takes on the card is the empty kernel's measured cycles
 * less its simulated ones, added to each prediction.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "study/kernels/compare.h"
#include "study/kernels/journal.h"
#include "study/program/program.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

/* A launch is given up after so many times the card's cycles. */
#define PATIENCE 20
#define PATIENCE_CYCLES 1000000

struct kernel_runs {
    struct model *model;
    size_t role;
    double launch_cycles;
    struct kernel_pair *pairs;
    size_t count;
    struct kernel_journal journal;
    bool given; /* by kernel_give(): nothing is simulated */
};

static void free_runs(struct kernel_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        free(runs->pairs[i].why);
    }
    free(runs->pairs);
    model_destroy(runs->model);
    kernel_journal_close(&runs->journal);
    free(runs);
}

/* Whether --kernels has it: a name of the list, or its beginning. */
static bool is_wanted(const struct study *study, const struct kernel_row *row)
{
    for (const char *word = study->kernels; word && *word;) {
        size_t length = strcspn(word, ",");
        if (length > 0 && strncmp(row->name, word, length) == 0) {
            return true;
        }
        word += length + (word[length] == ',');
    }
    return !study->kernels;
}

static void add_launching(struct kernel_pair *pair, const struct kernel_runs *runs)
{
    pair->predicted.counts.cycles += pair->predicted.launches * runs->launch_cycles;
}

static int run_pair(struct kernel_pair *pair, struct study_bench *bench, struct kernel_runs *runs)
{
    char what[96];
    if (kernel_journal_find(&runs->journal, pair)) {
        add_launching(pair, runs);
        return 0;
    }
    uint64_t patience = (uint64_t)pair->measured.cycles * PATIENCE + PATIENCE_CYCLES;
    snprintf(what, sizeof(what), "%s %" PRIu64, pair->row->name, pair->size);
    study_bench_running(bench, study_bench_study(bench)->devices[runs->role].name, what);
    int rc = kernel_predict(&pair->predicted, runs->model, pair->row, pair->size, patience,
                            study_bench_cancel(bench));
    if (rc < 0 && rc != SONDE_EINTERRUPTED && rc != SONDE_ENOMEM) {
        pair->why = strdup(error_text());
        pair->predicted = (struct kernel_prediction){0};
        return pair->why ? kernel_journal_add(&runs->journal, pair) : error_memory();
    }
    rc = rc < 0 ? rc : kernel_journal_add(&runs->journal, pair);
    add_launching(pair, runs);
    return rc;
}

/* The empty kernel of one CTA. */
static int measure_launching(struct kernel_runs *runs, struct study_bench *bench)
{
    struct kernel_pair empty = {.row = &kernel_rows[0], .size = 1};
    for (size_t i = 0; i < kernel_row_count; i++) {
        if (strcmp(kernel_rows[i].name, "empty") == 0) {
            empty.row = &kernel_rows[i];
        }
    }
    int rc = kernel_recorded(&empty.measured, empty.row->name, empty.size);
    rc = rc < 0 ? rc : run_pair(&empty, bench, runs);
    if (rc == 0 && empty.why) {
        rc = error_set(SONDE_EINPUT, "%s", empty.why);
    }
    runs->launch_cycles = empty.measured.cycles - empty.predicted.counts.cycles;
    free(empty.why);
    return rc;
}

/* Begins with the model, and with what an earlier run has left. */
static int begin_runs(struct kernel_runs *runs, const struct study *study)
{
    char *model = NULL;
    runs->pairs =
        calloc((kernel_row_count + kernel_program_count) * KERNEL_SIZES, sizeof(*runs->pairs));
    int rc =
        runs->pairs ? program_model(&runs->model, &study->devices[runs->role]) : error_memory();
    rc = rc < 0 ? rc : model_show(&model, runs->model);
    rc = rc < 0 ? rc
                : kernel_journal_open(&runs->journal, study->kernel_folder, study->resume, model);
    free(model);
    return rc;
}

static int open_runs(struct kernel_runs **out, struct study_bench *bench, size_t role)
{
    struct kernel_runs **slot = study_bench_kernels(bench, free_runs);
    if (!*slot) {
        struct kernel_runs *runs = calloc(1, sizeof(*runs));
        if (!runs) {
            return error_memory();
        }
        runs->role = role;
        int rc = begin_runs(runs, study_bench_study(bench));
        rc = rc < 0 ? rc : measure_launching(runs, bench);
        if (rc < 0) {
            free_runs(runs);
            return rc;
        }
        *slot = runs;
    }
    *out = *slot;
    return 0;
}

static bool has_run(const struct kernel_runs *runs, const struct kernel_row *row, uint64_t size)
{
    for (size_t i = 0; i < runs->count; i++) {
        if (runs->pairs[i].row == row && runs->pairs[i].size == size) {
            return true;
        }
    }
    return false;
}

static bool is_set_aside(const struct kernel_row *row)
{
    return row->class != KERNEL_ASYNCHRONOUS && kernel_is_set_aside(row->name);
}

/* All launches of a kernel that have not run yet; `large`: of those that DRAM moves much for. */
static int run_row(struct kernel_runs *runs, struct study_bench *bench,
                   const struct kernel_row *row, bool large)
{
    bool quick = study_bench_study(bench)->quick;
    int rc = 0;
    for (int s = 0; rc == 0 && s < (quick ? 1 : KERNEL_SIZES) && row->sizes[s]; s++) {
        if (has_run(runs, row, row->sizes[s])) {
            continue;
        }
        struct kernel_pair pair = {
            .row = row, .size = row->sizes[s], .quick = s == 0, .set_aside = is_set_aside(row)};
        rc = kernel_recorded(&pair.measured, row->name, pair.size);
        if (rc == 0 && large && !kernel_is_large(&pair.measured)) {
            continue;
        }
        rc = rc < 0 ? rc : run_pair(&pair, bench, runs);
        if (rc == 0) {
            runs->pairs[runs->count++] = pair;
        }
    }
    return rc;
}

static int run_selected(struct kernel_runs *runs, struct study_bench *bench,
                        const struct kernel_selection *selection, bool large)
{
    bool programs = selection->class == KERNEL_ASYNCHRONOUS;
    const struct kernel_row *rows = programs ? kernel_programs : kernel_rows;
    size_t count = programs ? kernel_program_count : kernel_row_count;
    int rc = 0;
    for (size_t i = 0; rc == 0 && !runs->given && i < count; i++) {
        const struct kernel_row *row = &rows[i];
        if (is_set_aside(row) == selection->set_aside &&
            (selection->class < 0 ? kernel_class_is_among_all(row->class)
                                  : (int)row->class == selection->class) &&
            is_wanted(study_bench_study(bench), row)) {
            rc = run_row(runs, bench, row, large);
        }
    }
    return rc;
}

static int read_selection(struct kernel_selection *out, const struct yaml_node *node)
{
    const char *class = measure_word(node, "class");
    const struct yaml_node *aside = yaml_get(node, "set_aside");
    *out = (struct kernel_selection){.class = -1};
    for (int i = 0; class && i < KERNEL_CLASSES; i++) {
        if (strcmp(kernel_class_name((enum kernel_class)i), class) == 0) {
            out->class = i;
        }
    }
    if (class && out->class < 0) {
        return yaml_error(SONDE_EINPUT, node, "kernels have no class '%s'", class);
    }
    return aside ? yaml_bool(&out->set_aside, aside) : 0;
}

static int read_value(enum kernel_value *out, const struct yaml_node *node)
{
    static const char *const words[KERNEL_VALUES] = {
        [KERNEL_MAPE] = "mape",
        [KERNEL_MEDIAN] = "median",
        [KERNEL_MOST] = "most",
        [KERNEL_CORRELATION] = "correlation",
        [KERNEL_INSTRUCTIONS] = "instructions",
        [KERNEL_INSTRUCTIONS_MOST] = "instructions_most",
        [KERNEL_L2_SECTORS] = "l2_sectors",
        [KERNEL_DRAM_BYTES] = "dram_bytes",
        [KERNEL_WRONG_RESULTS] = "wrong_results",
    };
    const char *word = measure_word(node, "kernels");
    for (int i = 0; word && i < KERNEL_VALUES; i++) {
        if (strcmp(words[i], word) == 0) {
            *out = (enum kernel_value)i;
            return 0;
        }
    }
    return yaml_error(SONDE_EINPUT, node, "kernels have no value '%s'", word ? word : "");
}

int measure_kernels(struct study_bench *bench, struct study_value *value, size_t role,
                    const struct yaml_node *node)
{
    struct kernel_runs *runs = NULL;
    struct kernel_selection selection = {.class = -1};
    enum kernel_value which = KERNEL_MAPE;
    int rc = read_value(&which, node);
    rc = rc < 0 ? rc : read_selection(&selection, node);
    rc = rc < 0 ? rc : open_runs(&runs, bench, role);
    if (rc < 0 || !runs) {
        return rc;
    }
    bool large = which == KERNEL_L2_SECTORS || which == KERNEL_DRAM_BYTES;
    rc = run_selected(runs, bench, &selection, large);
    if (rc < 0) {
        return rc;
    }
    double number = kernel_value(runs->pairs, runs->count, which, &selection);
    if (isnan(number)) {
        value_nothing(value, "too few kernels of these were run");
    } else {
        value_number(value, round(number * 1e4) / 1e4);
    }
    return 0;
}

int kernel_give(struct study_bench *bench, const struct kernel_pair *pairs, size_t count)
{
    struct kernel_runs *runs = calloc(1, sizeof(*runs));
    struct kernel_pair *copy = calloc(count, sizeof(*copy));
    if (!runs || !copy) {
        free(runs);
        free(copy);
        return error_memory();
    }
    memcpy(copy, pairs, count * sizeof(*copy));
    *runs = (struct kernel_runs){.pairs = copy, .count = count, .given = true};
    *study_bench_kernels(bench, free_runs) = runs;
    return 0;
}

int study_kernels(struct study *study, const char *names, bool quick)
{
    bool has = false;
    for (size_t i = 0; i < study->row_count; i++) {
        has |= yaml_get(study->rows[i].readings[0].measure, "kernels") != NULL;
    }
    study->kernels = names;
    study->quick = quick;
    if (!has && (names || quick)) {
        return error_set(SONDE_EUSAGE, "%s runs no kernels", study->name);
    }
    for (size_t i = 0; i < kernel_row_count + kernel_program_count; i++) {
        if (is_wanted(study, i < kernel_row_count ? &kernel_rows[i]
                                                  : &kernel_programs[i - kernel_row_count])) {
            return 0;
        }
    }
    return error_set(SONDE_EUSAGE, "%s has no kernel '%s'", study->name, names);
}

int study_keep_kernels(struct study *study, const char *folder, bool resume)
{
    study->kernel_folder = folder;
    study->resume = resume;
    return resume && !folder
               ? error_set(SONDE_EUSAGE, "--resume goes on with what a folder holds: -o names it")
               : 0;
}

int study_leave_set_aside(struct study *study)
{
    size_t left = 0;
    for (size_t i = 0; i < study->row_count; i++) {
        struct study_row *row = &study->rows[i];
        const char *dot = strrchr(row->id, '.');
        row->selected = row->selected && !(dot && strcmp(dot, ".set_aside") == 0);
        left += row->selected;
    }
    return left > 0 ? 0 : error_set(SONDE_EUSAGE, "all rows are of kernels that are set aside");
}

size_t kernel_pairs(const struct kernel_pair **out, struct study_bench *bench)
{
    const struct kernel_runs *runs = *study_bench_kernels(bench, free_runs);
    *out = runs ? runs->pairs : NULL;
    return runs ? runs->count : 0;
}
