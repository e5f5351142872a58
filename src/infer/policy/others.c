/*
 * More lines of the set that the conflicting lines lie in. An index function names them. Where none
 * is known, lines are asked whether they are in the set (geometry/members.c): those of the rows in
 * which its lines lie, where rows are known, or one after the other.
 */
#include <stdlib.h>

#include "infer/geometry/members.h"
#include "infer/policy/policy.h"
#include "util/error.h"

enum { BATCH = 256 };

/* Thresholds. Chosen. */
static const struct {
    uint64_t loads, bytes;
    uint32_t in_rows;
} limits = {
    .loads = 400000,              /* loads that asking may take */
    .bytes = UINT64_C(256) << 20, /* bytes from the buffer's begin on, in which lines are asked */
    .in_rows = 32, /* lines of rows that are asked at once: each row has about one of the set */
};

static bool is_conflicting(const struct level *level, uint32_t line)
{
    for (size_t i = 0; i < level->conflict.count; i++) {
        if (line_of(level, level->conflict.offsets[i]) == line) {
            return true;
        }
    }
    return false;
}

static size_t find_mapped(uint32_t *out, const struct level *level, size_t most)
{
    size_t count = 0,
           class = set_map_class(&level->map, line_of(level, level->conflict.offsets[0]));
    uint32_t limit = class_limit(level, &level->map);
    for (uint32_t line = 0; line < limit && count < most; line++) {
        if (set_map_class(&level->map, line) == class && !is_conflicting(level, line)) {
            out[count++] = (uint32_t)(line * level->line.bytes);
        }
    }
    return count;
}

/* Where lines are asked: one after the other, or those about as far as rows are apart. */
struct places {
    uint32_t next, row, limit; /* the line that comes next; the middle of its row */
};

static struct places first_places(const struct level *level)
{
    uint32_t width = level->result->row_lines, apart = width * level->result->row_period;
    uint32_t line = line_of(level, level->conflict.offsets[0]);
    uint64_t bytes = level->lab->options->max_footprint_bytes;
    bytes = bytes < limits.bytes ? bytes : limits.bytes;
    uint32_t row = apart ? line % apart : 0;
    return (struct places){.next = row < width ? 0 : row - width,
                           .row = row,
                           .limit = (uint32_t)(bytes / level->line.bytes)};
}

/* A row may begin anywhere: lines of it are nearer to the known one than it is long. */
static size_t next_lines(uint32_t *out, const struct level *level, struct places *at)
{
    uint32_t width = level->result->row_lines;
    size_t count = 0, most = width ? limits.in_rows : BATCH;
    while (count < most && at->next < at->limit) {
        if (!is_conflicting(level, at->next)) {
            out[count++] = at->next;
        }
        at->next++;
        if (width && at->next >= at->row + width) {
            at->row += width * level->result->row_period;
            at->next = at->row - width < at->next ? at->next : at->row - width;
        }
    }
    return count;
}

static int ask(uint32_t *out, size_t *count, struct level *level, size_t most)
{
    uint32_t lines[BATCH], found[BATCH];
    struct places at = first_places(level);
    uint64_t start = level->lab->loads;
    struct eviction_set *set = malloc(sizeof *set);
    if (!set) {
        return error_memory();
    }
    int rc = eviction_set_of_conflict(set, level);
    while (rc == 0 && *count < most && level->lab->loads - start < limits.loads) {
        size_t in = 0, asked = next_lines(lines, level, &at);
        if (asked == 0) {
            break;
        }
        rc = eviction_set_members(set, found, &in, lines, asked);
        for (size_t i = 0; rc == 0 && i < in && *count < most; i++) {
            out[(*count)++] = (uint32_t)(found[i] * level->line.bytes);
        }
    }
    free(set);
    return lab_soft(rc) ? 0 : rc;
}

int policy_find_others(uint32_t *out, size_t *count, struct level *level, size_t most)
{
    *count = 0;
    if (level->map.sets) {
        *count = find_mapped(out, level, most);
        return 0;
    }
    bool may_ask = level->outermost && level->conflict.count - 1 <= EVICTION_SET_MAX_WAYS;
    return may_ask ? ask(out, count, level, most) : 0;
}
