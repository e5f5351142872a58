/*
 * A study's result as a table and as JSON.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "study/study.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/container/strbuf.h"

size_t study_failures(const struct study *study)
{
    size_t failures = 0;
    for (size_t i = 0; i < study->row_count; i++) {
        failures += study->rows[i].selected && study->rows[i].done && !study->rows[i].ok;
    }
    return failures;
}

enum study_verdict study_verdict(const struct study_row *row)
{
    bool literal = false;
    if (!row->done) {
        return STUDY_NOT_REACHED;
    }
    for (size_t i = 0; i < row->reading_count; i++) {
        literal |= row->readings[i].holds && row->readings[i].literal;
    }
    return !row->ok ? STUDY_FAIL : literal ? STUDY_OK : STUDY_OTHER_READING;
}

enum study_basis study_basis(const struct study *study, const struct study_row *row)
{
    bool given = study->devices[row->readings[row->shown].device].given;
    return given ? STUDY_ELSEWHERE : row->basis;
}

static const char *basis_text(const struct study *study, const struct study_row *row)
{
    static const char *const texts[STUDY_BASES] = {
        [STUDY_INPUT] = "input",
        [STUDY_PREDICTION] = "prediction",
        [STUDY_ELSEWHERE] = "elsewhere",
    };
    return texts[study_basis(study, row)];
}

static const char *verdict_text(const struct study_row *row)
{
    static const char *const texts[STUDY_VERDICTS] = {
        [STUDY_OK] = "ok",
        [STUDY_OTHER_READING] = "other reading",
        [STUDY_FAIL] = "FAIL",
        [STUDY_NOT_REACHED] = "not reached",
    };
    return texts[study_verdict(row)];
}

static size_t count_verdicts(const struct study *study, enum study_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < study->row_count; i++) {
        count += study->rows[i].selected && study_verdict(&study->rows[i]) == verdict;
    }
    return count;
}

size_t study_done(const struct study *study)
{
    size_t done = 0;
    for (size_t i = 0; i < study->row_count; i++) {
        done += study->rows[i].selected && study->rows[i].done;
    }
    return done;
}

static char *printed(const struct study_value *value)
{
    struct strbuf text = {0};
    value_print(&text, value);
    return strbuf_take(&text);
}

/* One line a reading that does not tell it all: what it is, what it gives. */
static void put_readings(struct strbuf *out, const struct study_row *row)
{
    for (size_t i = 0; i < row->reading_count; i++) {
        const struct study_reading *reading = &row->readings[i];
        if (row->reading_count == 1 && reading->measured.kind != STUDY_NOTHING) {
            return;
        }
        strbuf_append(out, "    ");
        if (reading->text) {
            strbuf_printf(out, "%s: %s: ", reading->holds ? "holds" : "does not hold",
                          reading->text);
        }
        value_print(out, &reading->measured);
        if (reading->text) {
            strbuf_append(out, " for ");
            value_print(out, &reading->published);
        }
        if (reading->measured.kind == STUDY_NOTHING) {
            strbuf_printf(out, ": %s", reading->measured.reason);
        }
        strbuf_append(out, "\n");
    }
}

static int put_row(struct strbuf *out, const struct study *study, const struct study_row *row)
{
    const struct study_reading *shown = &row->readings[row->shown];
    char *published = printed(&row->published);
    char *measured = printed(&shown->measured);
    int rc = published && measured ? 0 : error_memory();
    if (rc == 0) {
        strbuf_printf(out, "%-32s  %-32s  %-32s  %-9s  %-10s  %s\n", row->id, published, measured,
                      row->tolerance.text, basis_text(study, row), verdict_text(row));
        put_readings(out, row);
        if (row->note && !row->ok) {
            strbuf_printf(out, "    %s\n", row->note);
        }
    }
    free(published);
    free(measured);
    return rc;
}

/* "(31 inputs, 48 predictions, 1 elsewhere)", of the rows that hold. */
static void put_bases(struct strbuf *out, const struct study *study)
{
    static const char *const texts[STUDY_BASES][2] = {
        [STUDY_INPUT] = {"input", "inputs"},
        [STUDY_PREDICTION] = {"prediction", "predictions"},
        [STUDY_ELSEWHERE] = {"elsewhere", "elsewhere"},
    };
    const char *before = " (";
    for (size_t basis = 0; basis < STUDY_BASES; basis++) {
        size_t count = 0;
        for (size_t i = 0; i < study->row_count; i++) {
            const struct study_row *row = &study->rows[i];
            count += row->selected && study_verdict(row) == STUDY_OK &&
                     study_basis(study, row) == (enum study_basis)basis;
        }
        if (count > 0) {
            strbuf_printf(out, "%s%zu %s", before, count, texts[basis][count > 1]);
            before = ", ";
        }
    }
    strbuf_append(out, before[0] == ',' ? ")" : "");
}

/* "98 rows, 80 hold (60 inputs, 20 predictions), 17 by another reading only, 1 fail" */
static void put_counts(struct strbuf *out, const struct study *study)
{
    size_t done = study_done(study), other = count_verdicts(study, STUDY_OTHER_READING);
    size_t missing = count_verdicts(study, STUDY_NOT_REACHED);
    strbuf_printf(out, "%zu rows, %zu hold", done, count_verdicts(study, STUDY_OK));
    put_bases(out, study);
    if (other > 0) {
        strbuf_printf(out, ", %zu by another reading only", other);
    }
    strbuf_printf(out, ", %zu fail\n", study_failures(study));
    if (missing > 0) {
        strbuf_printf(out, "interrupted: %zu rows more were not reached\n", missing);
    }
}

static void put_untested(struct strbuf *out, const struct study *study)
{
    for (size_t i = 0; i < study->untested_count; i++) {
        const struct study_untested *untested = &study->untested[i];
        strbuf_printf(out, "not testable: %s: %s: %s\n", untested->id, untested->what,
                      untested->why);
    }
}

int study_table(char **text, const struct study *study)
{
    struct strbuf out = {0};
    int rc = 0;
    strbuf_printf(&out, "%s\n%-32s  %-32s  %-32s  %-9s  %-10s  verdict\n", study->title, "ID",
                  "published", "measured", "tolerance", "basis");
    for (size_t i = 0; rc == 0 && i < study->row_count; i++) {
        if (study->rows[i].selected && study->rows[i].done) {
            rc = put_row(&out, study, &study->rows[i]);
        }
    }
    if (!study->only) {
        put_untested(&out, study);
    }
    put_counts(&out, study);
    *text = strbuf_take(&out);
    return rc < 0 ? rc : *text ? 0 : error_memory();
}

/* Whole numbers without a point. */
static int put_number(json_t *object, const char *key, double number)
{
    bool whole = fabs(number) < 0x1p53 && number == floor(number);
    return whole ? json_put_i64(object, key, (int64_t)number)
                 : json_put_double(object, key, number);
}

static int put_value(json_t *object, const char *key, const struct study_value *value)
{
    if (value->kind == STUDY_NUMBER) {
        return put_number(object, key, value->number);
    }
    if (value->kind == STUDY_WORD) {
        return json_put_string(object, key, value->word);
    }
    if (value->kind == STUDY_NOTHING) {
        return json_put_string(object, key, "not measured");
    }
    json_t *array = json_put_array(object, key);
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < value->count; i++) {
        rc = json_append(array, json_real(value->list[i]));
    }
    return rc;
}

static int put_json_readings(json_t *object, const struct study *study, const struct study_row *row)
{
    json_t *array = json_put_array(object, "readings");
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < row->reading_count; i++) {
        const struct study_reading *reading = &row->readings[i];
        json_t *entry = json_object();
        rc = json_append(array, entry);
        rc = rc < 0 ? rc : json_put_string(entry, "reading", reading->text);
        rc = rc < 0 ? rc : json_put_string(entry, "device", study->devices[reading->device].spec);
        rc = rc < 0 ? rc : put_value(entry, "published", &reading->published);
        rc = rc < 0 ? rc : put_value(entry, "measured", &reading->measured);
        rc = rc < 0 ? rc : json_put_bool(entry, "holds", reading->holds);
        rc = rc < 0 ? rc : json_put_bool(entry, "literal", reading->literal);
    }
    return rc;
}

static int put_json_row(json_t *array, const struct study *study, const struct study_row *row)
{
    const struct study_reading *shown = &row->readings[row->shown];
    json_t *object = json_object();
    int rc = json_append(array, object);
    rc = rc < 0 ? rc : json_put_string(object, "id", row->id);
    rc = rc < 0 ? rc : json_put_string(object, "what", row->what);
    rc = rc < 0 ? rc : put_value(object, "published", &row->published);
    rc = rc < 0 ? rc : put_value(object, "measured", &shown->measured);
    rc = rc < 0 ? rc : json_put_string(object, "tolerance", row->tolerance.text);
    rc = rc < 0 ? rc : json_put_bool(object, "ok", row->ok);
    rc = rc < 0 ? rc : json_put_string(object, "unit", row->unit);
    rc = rc < 0 ? rc : json_put_string(object, "device", study->devices[shown->device].spec);
    rc = rc < 0 ? rc : json_put_string(object, "basis", basis_text(study, row));
    rc = rc < 0 ? rc : json_put_string(object, "verdict", verdict_text(row));
    if (rc == 0 && !row->done) {
        return json_put_string(object, "reason", "interrupted before this row was measured");
    }
    if (rc == 0 && shown->measured.kind == STUDY_NOTHING) {
        rc = json_put_string(object, "reason", shown->measured.reason);
    }
    if (rc == 0 && row->note && !row->ok) {
        rc = json_put_string(object, "note", row->note);
    }
    return rc < 0 || row->reading_count == 1 ? rc : put_json_readings(object, study, row);
}

int study_json(char **text, const struct study *study)
{
    json_t *array = json_array();
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < study->row_count; i++) {
        if (study->rows[i].selected) {
            rc = put_json_row(array, study, &study->rows[i]);
        }
    }
    rc = rc < 0 ? rc : json_to_text(text, array);
    json_decref(array);
    return rc;
}

int study_describe(char **text, const struct study *study)
{
    struct strbuf out = {0};
    strbuf_printf(&out, "%s: %s\n", study->name, study->title);
    for (size_t i = 0; i < study->row_count; i++) {
        const struct study_row *row = &study->rows[i];
        strbuf_printf(&out, "%s\n    %s\n    published ", row->id, row->what);
        value_print(&out, &row->published);
        strbuf_printf(&out, "%s%s; tolerance %s; %s\n", *row->unit ? " " : "", row->unit,
                      row->tolerance.text, basis_text(study, row));
    }
    put_untested(&out, study);
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}
