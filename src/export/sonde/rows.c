/*
 * Slices of L2 among which the lines of a row are shared out (infer/geometry/rows.h): lines of one
 * set lie in every so many-th row, so that a slice has that many sets, and there are as many slices
 * as sets are left. A hash does it, unless a set's lines are as far apart as there are slices. Of
 * an L2 in two parts, that keep each other's lines, a part has half as many as a row has lines.
 */
#include <string.h>

#include "export/sonde/model_text.h"

enum { MOST_SLICES = 1024 }; /* that a model may have */

bool rows_read(struct row_plan *rows, const json_t *cache, uint64_t line, uint64_t sets)
{
    const json_t *index = json_object_get(cache, "set_index");
    const json_t *told = json_object_get(index, "rows");
    uint64_t lines = saved_plain_u64(told, "lines", 0);
    uint64_t period = saved_plain_u64(told, "period", 0);
    *rows = (struct row_plan){0};
    bool is_told = strcmp(saved_text(index, "kind", "unknown"), "unknown") == 0 && lines > 0 &&
                   period > 0 && lines <= 2 * MOST_SLICES && period <= sets && sets % period == 0;
    uint64_t slices = is_told ? sets / period : 0;
    if (slices == 0 || slices > MOST_SLICES || (slices != lines && 2 * slices != lines)) {
        return false;
    }
    *rows = (struct row_plan){.slices = slices,
                              .bytes = lines * line,
                              .is_turn = saved_plain_u64(told, "apart", 1) == slices};
    return true;
}
