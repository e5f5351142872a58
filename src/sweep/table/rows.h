/* The rows of a table.json that ended well. */
#ifndef SONDE_SWEEP_ROWS_H
#define SONDE_SWEEP_ROWS_H

#include <jansson.h>
#include <stdbool.h>

#include "sweep/spec/expr.h"

struct sweep_rows {
    json_t *document; /* owned */
    json_t **row;     /* borrowed from it; owned array */
    size_t count;
};

/* `where`: an expression that a row has to fulfil; NULL: none. */
int sweep_rows_read(struct sweep_rows *out, const char *folder, const char *where);
void sweep_rows_free(struct sweep_rows *rows);

/* A setting or a value of a row; none where it has no such column. Texts are the row's. */
struct sweep_value sweep_rows_get(const json_t *row, const char *column);
/* SONDE_EUSAGE with the nearest name: no row has the column. */
int sweep_rows_check(const struct sweep_rows *rows, const char *column);

#endif
