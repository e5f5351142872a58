/*
 * The table: a row for each point that has ended, in the order of the specification. Nothing in it
 * depends on when a point ran, so a sweep that was resumed gives the same bytes; how long each took
 * stands in the journal.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/sonde.h"
#include "sweep/sweep.h"
#include "util/container/map.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/glue/json_glue.h"

struct table {
    const struct sweep_spec *spec;
    const struct sweep_points *points;
    const struct sweep_outcome *outcomes;
    struct map columns; /* names of values, in the order of the table */
};

/* The columns that a pattern names, in the order in which points and their results name them. */
static int add_columns(struct table *table, const struct sweep_column *column)
{
    int rc = column->expression ? map_put(&table->columns, column->name, NULL) : 0;
    for (size_t i = 0; rc == 0 && !column->expression && i < table->points->count; i++) {
        json_t *values = json_object_get(table->outcomes[i].line, "values");
        const char *name;
        const json_t *value;
        json_object_foreach(values, name, value)
        {
            if (rc == 0 && fnmatch(column->name, name, 0) == 0 &&
                !map_find(&table->columns, name)) {
                rc = map_put(&table->columns, name, NULL);
            }
        }
    }
    return rc;
}

/* A field of CSV (RFC 4180): quoted where it holds a comma, a quote or the end of a line. */
static void put_field(struct strbuf *out, const char *text)
{
    bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';
    strbuf_append(out, quoted ? ",\"" : ",");
    for (const char *c = text; *c; c++) {
        strbuf_append(out, *c == '"' ? "\"" : "");
        strbuf_append_char(out, *c);
    }
    strbuf_append(out, quoted ? "\"" : "");
}

static void put_value(struct strbuf *out, const json_t *value)
{
    struct strbuf text = {0};
    struct sweep_value cell = {.kind = SWEEP_NONE};
    if (json_is_string(value)) {
        cell = (struct sweep_value){.kind = SWEEP_TEXT, .text = json_string_value(value)};
    } else if (json_is_number(value)) {
        cell = (struct sweep_value){.kind = SWEEP_NUMBER, .number = json_number_value(value)};
    }
    sweep_value_write(&text, &cell);
    put_field(out, strbuf_text(&text));
    strbuf_free(&text);
}

static void put_setting(struct strbuf *out, const char *setting)
{
    struct strbuf text = {0};
    struct sweep_value value = sweep_value_of(setting);
    sweep_value_write(&text, &value);
    put_field(out, strbuf_text(&text));
    strbuf_free(&text);
}

static const char *line_text(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return text ? text : "";
}

static void put_row(struct strbuf *out, const struct table *table, size_t point)
{
    const struct sweep_spec *spec = table->spec;
    const json_t *line = table->outcomes[point].line;
    strbuf_printf(out, "%zu", point);
    for (size_t i = 0; i < spec->axis_count; i++) {
        put_setting(out, spec->axis[i].text[table->points->point[point].value[i]]);
    }
    put_field(out, sweep_status_names[table->outcomes[point].status]);
    for (size_t i = 0; i < table->columns.count; i++) {
        put_value(out,
                  json_object_get(json_object_get(line, "values"), table->columns.entries[i].key));
    }
    put_field(out, line_text(line, "reason"));
    put_field(out, line_text(line, "model_hash"));
    strbuf_printf(out, ",%s,%" PRIu64, SONDE_VERSION, spec->seed);
    put_field(out, line_text(line, "host"));
    strbuf_append(out, "\n");
}

static int write_csv(const struct table *table, const char *path)
{
    struct strbuf out = {0};
    strbuf_append(&out, "point");
    for (size_t i = 0; i < table->spec->axis_count; i++) {
        put_field(&out, table->spec->axis[i].name);
    }
    strbuf_append(&out, ",status");
    for (size_t i = 0; i < table->columns.count; i++) {
        put_field(&out, table->columns.entries[i].key);
    }
    strbuf_append(&out, ",reason,model_hash,sonde,seed,host\n");
    for (size_t i = 0; i < table->points->count; i++) {
        if (table->outcomes[i].status != POINT_OPEN) {
            put_row(&out, table, i);
        }
    }
    int rc =
        strbuf_failed(&out) ? error_memory() : file_write_all(path, strbuf_text(&out), out.length);
    strbuf_free(&out);
    return rc;
}

static int put_settings(json_t *row, const struct table *table, size_t point)
{
    json_t *settings = json_put_object(row, "settings");
    int rc = settings ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < table->spec->axis_count; i++) {
        const struct sweep_axis *axis = &table->spec->axis[i];
        const char *text = axis->text[table->points->point[point].value[i]];
        struct sweep_value value = sweep_value_of(text);
        rc = value.kind == SWEEP_NUMBER ? json_put_double(settings, axis->name, value.number)
                                        : json_put_string(settings, axis->name, text);
    }
    return rc;
}

static int add_row(json_t *rows, const struct table *table, size_t point)
{
    static const char *const copied[] = {"reason", "model_hash", "host"};
    const json_t *line = table->outcomes[point].line;
    json_t *row = json_object(), *values = json_object_get(line, "values");
    int rc = json_append(rows, row);
    rc = rc ? rc : json_put_u64(row, "point", point);
    rc = rc ? rc : put_settings(row, table, point);
    rc =
        rc ? rc : json_put_string(row, "status", sweep_status_names[table->outcomes[point].status]);
    rc = rc ? rc : json_put(row, "values", values ? json_incref(values) : json_object());
    for (size_t i = 0; rc == 0 && i < sizeof copied / sizeof *copied; i++) {
        if (json_object_get(line, copied[i])) {
            rc = json_put_string(row, copied[i], line_text(line, copied[i]));
        }
    }
    return rc;
}

static int write_json(const struct table *table, const char *path)
{
    json_t *document = json_object();
    int rc = json_put_string(document, "schema", "sonde.sweep/1");
    rc = rc ? rc : json_put_string(document, "sweep", table->spec->name);
    rc = rc || !table->spec->doc ? rc : json_put_string(document, "doc", table->spec->doc);
    rc = rc ? rc : json_put_string(document, "sonde", SONDE_VERSION);
    rc = rc ? rc : json_put_u64(document, "seed", table->spec->seed);
    json_t *rows = rc ? NULL : json_put_array(document, "rows");
    for (size_t i = 0; rows && rc == 0 && i < table->points->count; i++) {
        rc = table->outcomes[i].status == POINT_OPEN ? 0 : add_row(rows, table, i);
    }
    rc = rc ? rc : json_to_file(path, document);
    json_decref(document);
    return rc;
}

int sweep_write_table(const char *folder, const struct sweep_spec *spec,
                      const struct sweep_points *points, const struct sweep_outcome *outcomes)
{
    struct table table = {.spec = spec, .points = points, .outcomes = outcomes};
    struct strbuf csv = {0}, json = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < spec->column_count; i++) {
        rc = add_columns(&table, &spec->column[i]);
    }
    strbuf_printf(&csv, "%s/table.csv", folder);
    strbuf_printf(&json, "%s/table.json", folder);
    rc = rc ? rc : strbuf_failed(&csv) || strbuf_failed(&json) ? error_memory() : 0;
    rc = rc ? rc : write_csv(&table, strbuf_text(&csv));
    rc = rc ? rc : write_json(&table, strbuf_text(&json));
    strbuf_free(&csv);
    strbuf_free(&json);
    map_free(&table.columns);
    return rc;
}
