/*
 * A trace as comma-separated values, for spreadsheets and plots. Numbers are written so that they
 * read back exactly.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/csv.h"
#include "util/error.h"
#include "util/container/strbuf.h"

static void put_value(struct strbuf *csv, const struct trace_column *column, size_t i)
{
    char text[32];
    switch (column->type) {
    case TRACE_U32:
        strbuf_printf(csv, "%" PRIu32, ((const uint32_t *)column->data)[i]);
        break;
    case TRACE_U64:
        strbuf_printf(csv, "%" PRIu64, ((const uint64_t *)column->data)[i]);
        break;
    case TRACE_F64: {
        double value = ((const double *)column->data)[i];
        snprintf(text, sizeof(text), "%.15g", value);
        if (strtod(text, NULL) != value) {
            snprintf(text, sizeof(text), "%.17g", value);
        }
        strbuf_append(csv, text);
        break;
    }
    }
}

/* Which value of a column stands in a row: its block's, when blocks divide the rows evenly; count
 * when none. */
static size_t value_of_row(const struct trace_column *column, size_t row, size_t rows)
{
    if (column->count > 0 && rows % column->count == 0) {
        return row / (rows / column->count);
    }
    return row < column->count ? row : column->count;
}

int trace_csv(char **text, const struct trace *trace)
{
    struct strbuf csv = {0};
    size_t rows = 0, blocks = 0;
    for (size_t c = 0; c < trace->column_count; c++) {
        rows = trace->columns[c].count > rows ? trace->columns[c].count : rows;
    }
    for (size_t c = 0; c < trace->column_count; c++) {
        size_t count = trace->columns[c].count;
        if (count > 0 && count < rows && rows % count == 0) {
            blocks = count;
        }
    }
    const char *separator = "";
    if (blocks > 0) {
        strbuf_append(&csv, "window");
        separator = ",";
    }
    for (size_t c = 0; c < trace->column_count; c++, separator = ",") {
        strbuf_printf(&csv, "%s%s", separator, trace->columns[c].name);
    }
    strbuf_append(&csv, "\n");
    for (size_t row = 0; row < rows; row++) {
        separator = "";
        if (blocks > 0) {
            strbuf_printf(&csv, "%zu", row / (rows / blocks));
            separator = ",";
        }
        for (size_t c = 0; c < trace->column_count; c++, separator = ",") {
            const struct trace_column *column = &trace->columns[c];
            size_t i = value_of_row(column, row, rows);
            strbuf_append(&csv, separator);
            if (i < column->count) {
                put_value(&csv, column, i);
            }
        }
        strbuf_append(&csv, "\n");
    }
    *text = strbuf_take(&csv);
    return *text ? SONDE_OK : error_memory();
}
