/*
 * Measures rows and judges them. Differences of two rows come last: they need both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/bench.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

static const struct {
    const char *word;
    int (*run)(struct study_bench *bench, struct study_value *value, size_t role,
               const struct yaml_node *node);
} measures[] = {
#define MEASURE(name, function, doc) {#name, function},
#include "study/measures.def"
#undef MEASURE
};

static void judge(struct study_row *row)
{
    row->done = true;
    row->shown = 0;
    for (size_t i = row->reading_count; i-- > 0;) {
        struct study_reading *reading = &row->readings[i];
        reading->holds =
            value_holds(&reading->measured, &reading->published, &row->tolerance, row->any_order);
        if (reading->holds) {
            row->shown = i;
            row->ok = true;
        }
    }
}

static int measure_row(struct study *study, struct study_bench *bench, struct study_row *row);

/* What another row measured: its reading that holds, or its first one. */
static int other_row(struct study *study, struct study_bench *bench, struct study_value *value,
                     const struct yaml_node *node)
{
    for (size_t i = 0; node && node->text && i < study->row_count; i++) {
        struct study_row *row = &study->rows[i];
        if (strcmp(row->id, node->text) == 0 && !yaml_get(row->readings[0].measure, "difference")) {
            int rc = measure_row(study, bench, row);
            *value = row->readings[row->shown].measured;
            return rc;
        }
    }
    return yaml_error(SONDE_EINPUT, node, "a difference is of two measured rows");
}

static int measure_difference(struct study *study, struct study_bench *bench,
                              struct study_value *value, const struct yaml_node *node)
{
    struct study_value minuend = {0}, subtrahend = {0};
    int rc = other_row(study, bench, &minuend, yaml_at(node, 0));
    rc = rc < 0 ? rc : other_row(study, bench, &subtrahend, yaml_at(node, 1));
    if (rc < 0) {
        return rc;
    }
    if (minuend.kind != STUDY_NUMBER || subtrahend.kind != STUDY_NUMBER) {
        *value = minuend.kind != STUDY_NUMBER ? minuend : subtrahend;
        return 0;
    }
    value_number(value, minuend.number - subtrahend.number);
    return 0;
}

static int measure_reading(struct study *study, struct study_bench *bench,
                           struct study_reading *reading)
{
    const struct yaml_node *node = reading->measure;
    value_nothing(&reading->measured, "no reason given");
    if (yaml_get(node, "difference")) {
        return measure_difference(study, bench, &reading->measured, yaml_get(node, "difference"));
    }
    for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
        if (strcmp(measures[i].word, node->first->key) == 0) {
            return measures[i].run(bench, &reading->measured, reading->device, node);
        }
    }
    return yaml_error(SONDE_EINPUT, node, "there is no way to measure '%s'", node->first->key);
}

static int measure_row(struct study *study, struct study_bench *bench, struct study_row *row)
{
    int rc = 0;
    for (size_t i = 0; !row->done && rc == 0 && i < row->reading_count; i++) {
        rc = measure_reading(study, bench, &row->readings[i]);
    }
    if (rc < 0) {
        return error_prefix(rc, "%s", row->id);
    }
    if (!row->done) {
        judge(row);
    }
    return 0;
}

int study_run(struct study *study, struct study_bench *bench)
{
    for (size_t i = 0; i < study->row_count; i++) {
        if (!study->rows[i].selected) {
            continue;
        }
        study_bench_progress(bench, (double)i / (double)study->row_count, study->rows[i].id);
        int rc = measure_row(study, bench, &study->rows[i]);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}
