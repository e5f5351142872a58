/* Reading a table back. See rows.h. */
#include "sweep/table/rows.h"

#include <stdlib.h>
#include <string.h>

#include "sonde/sonde.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/text/suggest.h"

#define TABLE_LIMIT_BYTES ((size_t)4 << 30)

static const char *const groups[] = {"settings", "values"};

struct sweep_value sweep_rows_get(const json_t *row, const char *column)
{
    const json_t *value = NULL;
    for (size_t i = 0; i < 2 && !value; i++) {
        value = json_object_get(json_object_get(row, groups[i]), column);
    }
    if (json_is_number(value)) {
        return (struct sweep_value){.kind = SWEEP_NUMBER, .number = json_number_value(value)};
    }
    const char *text = json_string_value(value);
    return (struct sweep_value){.kind = text ? SWEEP_TEXT : SWEEP_NONE, .text = text};
}

int sweep_rows_check(const struct sweep_rows *rows, const char *column)
{
    struct suggest suggest = suggest_begin(column);
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t g = 0; g < 2; g++) {
            const char *name;
            json_t *value;
            json_object_foreach(json_object_get(rows->row[i], groups[g]), name, value)
            {
                if (strcmp(name, column) == 0) {
                    return 0;
                }
                suggest_offer(&suggest, name);
            }
        }
    }
    const char *near = suggest_best(&suggest);
    return error_set(SONDE_EUSAGE, near ? "no column '%s'; did you mean '%s'?" : "no column '%s'",
                     column, near);
}

static int find_in_row(void *ctx, const char *name, struct sweep_value *out)
{
    *out = sweep_rows_get(ctx, name);
    return 0;
}

/* Nothing: whether some row has the column is what is asked. */
static int find_in_rows(void *ctx, const char *name, struct sweep_value *out)
{
    *out = (struct sweep_value){.kind = SWEEP_NONE};
    return sweep_rows_check(ctx, name);
}

/* Rows that do not fulfil the expression go. Each of its names is some row's column. */
static int filter(struct sweep_rows *rows, const char *where, struct arena *arena)
{
    struct sweep_value holds;
    struct expr_scope scope = {.arena = arena, .find = find_in_rows, .ctx = rows};
    int rc = expr_eval(&holds, where, &scope);
    size_t kept = 0;
    scope.find = find_in_row;
    for (size_t i = 0; rc == 0 && i < rows->count; i++) {
        scope.ctx = rows->row[i];
        rc = expr_eval(&holds, where, &scope);
        if (rc == 0 && holds.kind == SWEEP_NUMBER && holds.number != 0) {
            rows->row[kept++] = rows->row[i];
        }
    }
    rows->count = kept;
    return rc == SONDE_EINPUT ? SONDE_EUSAGE : rc;
}

static bool ended_well(const json_t *row)
{
    const char *status = json_string_value(json_object_get(row, "status"));
    return status && strcmp(status, "ok") == 0;
}

int sweep_rows_read(struct sweep_rows *out, const char *folder, const char *where)
{
    struct strbuf path = {0};
    struct arena *arena = arena_create();
    *out = (struct sweep_rows){0};
    strbuf_printf(&path, "%s/table.json", folder);
    int rc = !arena || strbuf_failed(&path)
                 ? error_memory()
                 : json_from_file(&out->document, strbuf_text(&path), TABLE_LIMIT_BYTES);
    rc = rc == SONDE_EIO ? SONDE_EINPUT : rc;
    json_t *rows = json_object_get(out->document, "rows");
    if (rc == 0 && !json_is_array(rows)) {
        rc = error_set(SONDE_EINPUT, "%s: not the table of a sweep", strbuf_text(&path));
    }
    out->row = calloc(json_array_size(rows) + 1, sizeof *out->row);
    rc = rc || out->row ? rc : error_memory();
    for (size_t i = 0; out->row && rc == 0 && i < json_array_size(rows); i++) {
        if (ended_well(json_array_get(rows, i))) {
            out->row[out->count++] = json_array_get(rows, i);
        }
    }
    if (rc == 0 && where && out->count > 0) {
        rc = filter(out, where, arena);
    }
    if (rc == 0 && out->count == 0) {
        rc = error_set(SONDE_EUSAGE, "%s: no row that ended well%s", folder,
                       where ? " fulfils the condition" : "");
    }
    strbuf_free(&path);
    arena_destroy(arena);
    return rc;
}

void sweep_rows_free(struct sweep_rows *rows)
{
    json_decref(rows->document);
    free(rows->row);
    *rows = (struct sweep_rows){0};
}
