/* The points of a sweep that no other beats in every goal. See plot.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/sonde.h"
#include "sweep/table/plot.h"
#include "sweep/table/rows.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/error.h"

#define GOALS_MAX 8

struct goals {
    size_t count;
    const char *column[GOALS_MAX];
    double sign[GOALS_MAX]; /* -1: the greatest is best */
};

static int read_goals(struct goals *out, struct arena *arena, const char *text)
{
    for (const char *at = text; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        bool most = strncmp(at, "max:", 4) == 0;
        if (out->count == GOALS_MAX || length < 5 || (!most && strncmp(at, "min:", 4) != 0)) {
            return error_set(SONDE_EUSAGE, "'%s': expected min:COLUMN or max:COLUMN, up to %d",
                             text, GOALS_MAX);
        }
        out->sign[out->count] = most ? -1 : 1;
        out->column[out->count] = arena_strndup(arena, at + 4, length - 4);
        if (!out->column[out->count++]) {
            return error_memory();
        }
        at += length;
    }
    return out->count >= 2 ? 0 : error_set(SONDE_EUSAGE, "a front is of two or more columns");
}

/* The goals' values of a row, the least being best; false where one is no number. */
static bool read_row(double out[GOALS_MAX], const struct goals *goals, const json_t *row)
{
    bool whole = true;
    for (size_t i = 0; i < goals->count; i++) {
        struct sweep_value value = sweep_rows_get(row, goals->column[i]);
        whole = whole && value.kind == SWEEP_NUMBER;
        out[i] = goals->sign[i] * value.number;
    }
    return whole;
}

/* As good in every goal, and better in one. */
static bool beats(const double *a, const double *b, size_t count)
{
    bool better = false, worse = false;
    for (size_t i = 0; i < count; i++) {
        better = better || a[i] < b[i];
        worse = worse || a[i] > b[i];
    }
    return better && !worse;
}

static bool is_on_front(const struct sweep_rows *rows, const struct goals *goals, const json_t *row)
{
    double own[GOALS_MAX], other[GOALS_MAX];
    bool on_front = read_row(own, goals, row);
    for (size_t i = 0; on_front && i < rows->count; i++) {
        on_front = !read_row(other, goals, rows->row[i]) || !beats(other, own, goals->count);
    }
    return on_front;
}

static void put_row(struct strbuf *out, const struct goals *goals, const json_t *row)
{
    const char *name;
    json_t *setting;
    strbuf_printf(out, "%lld", (long long)json_integer_value(json_object_get(row, "point")));
    json_object_foreach(json_object_get(row, "settings"), name, setting)
    {
        const struct sweep_value value = sweep_rows_get(row, name);
        strbuf_append(out, ",");
        sweep_value_write(out, &value);
    }
    for (size_t i = 0; i < goals->count; i++) {
        const struct sweep_value value = sweep_rows_get(row, goals->column[i]);
        strbuf_append(out, ",");
        sweep_value_write(out, &value);
    }
    strbuf_append(out, "\n");
}

static void put_head(struct strbuf *out, const struct goals *goals, const json_t *row)
{
    const char *name;
    json_t *setting;
    strbuf_append(out, "point");
    json_object_foreach(json_object_get(row, "settings"), name, setting)
    {
        strbuf_printf(out, ",%s", name);
    }
    for (size_t i = 0; i < goals->count; i++) {
        strbuf_printf(out, ",%s", goals->column[i]);
    }
    strbuf_append(out, "\n");
}

int sweep_pareto(char **text, const char *folder, const char *wanted)
{
    struct arena *arena = arena_create();
    struct goals goals = {0};
    struct sweep_rows rows = {0};
    struct strbuf out = {0};
    int rc = arena ? read_goals(&goals, arena, wanted) : error_memory();
    rc = rc ? rc : sweep_rows_read(&rows, folder, NULL);
    for (size_t i = 0; rc == 0 && i < goals.count; i++) {
        rc = sweep_rows_check(&rows, goals.column[i]);
    }
    if (rc == 0) {
        put_head(&out, &goals, rows.row[0]);
        for (size_t i = 0; i < rows.count; i++) {
            if (is_on_front(&rows, &goals, rows.row[i])) {
                put_row(&out, &goals, rows.row[i]);
            }
        }
    }
    *text = rc ? NULL : strbuf_take(&out);
    strbuf_free(&out);
    sweep_rows_free(&rows);
    arena_destroy(arena);
    return rc || *text ? rc : error_memory();
}
