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

/* Keeps a row that ended well and fulfils the expression. */
static int take_row(struct sweep_rows *out, json_t *row, const char *where, struct arena *arena)
{
    const char *status = json_string_value(json_object_get(row, "status"));
    struct sweep_value holds = {.kind = SWEEP_NUMBER, .number = 1};
    const struct expr_scope scope = {.arena = arena, .find = find_in_row, .ctx = row};
    if (!status || strcmp(status, "ok") != 0) {
        return 0;
    }
    int rc = where ? expr_eval(&holds, where, &scope) : 0;
    if (rc == 0 && holds.kind == SWEEP_NUMBER && holds.number != 0) {
        out->row[out->count++] = row;
    }
    return rc == SONDE_EINPUT ? SONDE_EUSAGE : rc;
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
        rc = take_row(out, json_array_get(rows, i), where, arena);
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
