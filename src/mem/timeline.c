/* Reserving: append in the common case, else look for the first gap. */
#include "mem/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

void timeline_init(struct timeline *timeline, struct engine *engine)
{
    *timeline = (struct timeline){.engine = engine};
}

void timeline_free(struct timeline *timeline)
{
    free(timeline->busy);
    timeline->busy = NULL;
}

static void timeline_forget_past(struct timeline *timeline)
{
    uint64_t now_ps = engine_now_ps(timeline->engine);
    uint32_t past = 0;
    while (past < timeline->count && timeline->busy[past].end_ps <= now_ps) {
        past++;
    }
    timeline->count -= past;
    if (past > 0 && timeline->count > 0) { /* mostly nothing is left */
        memmove(timeline->busy, timeline->busy + past, timeline->count * sizeof *timeline->busy);
    }
}

/* Put [start, end) in front of busy[i], or join it to its neighbours. */
static void timeline_insert(struct timeline *timeline, uint32_t i, uint64_t start_ps,
                            uint64_t end_ps)
{
    struct interval *busy = timeline->busy;
    bool joins_before = i > 0 && busy[i - 1].end_ps == start_ps;
    bool joins_after = i < timeline->count && busy[i].start_ps == end_ps;
    if (joins_before && joins_after) {
        busy[i - 1].end_ps = busy[i].end_ps;
        timeline->count--;
        memmove(busy + i, busy + i + 1, (timeline->count - i) * sizeof *busy);
        return;
    }
    if (joins_before) {
        busy[i - 1].end_ps = end_ps;
        return;
    }
    if (joins_after) {
        busy[i].start_ps = start_ps;
        return;
    }
    if (timeline->count == timeline->capacity) {
        uint32_t capacity = timeline->capacity ? timeline->capacity * 2 : 8;
        busy = realloc(busy, capacity * sizeof *busy);
        if (!busy) {
            engine_fail(timeline->engine, error_memory());
            return;
        }
        timeline->busy = busy;
        timeline->capacity = capacity;
    }
    if (i < timeline->count) {
        memmove(busy + i + 1, busy + i, (timeline->count - i) * sizeof *busy);
    }
    busy[i] = (struct interval){.start_ps = start_ps, .end_ps = end_ps};
    timeline->count++;
}

/* The general case: before, between or behind several stretches. */
__attribute__((noinline)) static uint64_t reserve_gap(struct timeline *timeline,
                                                      uint64_t earliest_ps, uint64_t duration_ps)
{
    timeline_forget_past(timeline);
    uint32_t i = timeline->count;
    uint64_t start_ps = earliest_ps;
    if (i > 0 && earliest_ps < timeline->busy[i - 1].end_ps) {
        for (i = 0; i < timeline->count; i++) {
            if (start_ps + duration_ps <= timeline->busy[i].start_ps) {
                break;
            }
            if (start_ps < timeline->busy[i].end_ps) {
                start_ps = timeline->busy[i].end_ps;
            }
        }
    }
    timeline_insert(timeline, i, start_ps, start_ps + duration_ps);
    return start_ps;
}

/* Mostly there is one stretch, which is over or is made longer. */
uint64_t timeline_reserve(struct timeline *timeline, uint64_t earliest_ps, uint64_t duration_ps)
{
    if (duration_ps == 0) {
        return earliest_ps;
    }
    if (timeline->count != 1) {
        return reserve_gap(timeline, earliest_ps, duration_ps);
    }
    struct interval *only = &timeline->busy[0];
    if (only->end_ps <= engine_now_ps(timeline->engine)) {
        *only = (struct interval){earliest_ps, earliest_ps + duration_ps};
        return earliest_ps;
    }
    if (earliest_ps > only->end_ps || earliest_ps + duration_ps <= only->start_ps) {
        return reserve_gap(timeline, earliest_ps, duration_ps);
    }
    uint64_t start_ps = only->end_ps;
    only->end_ps = start_ps + duration_ps;
    return start_ps;
}
