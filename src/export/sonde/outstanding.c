/*
 * What an SM may have outstanding: the structure that was found, how many loads may join a line
 * that is fetched, how many loads a warp may have. A structure that was found bounds loads first;
 * and where as many of them were under way together as one of the base's holds, and it did not
 * show, that is not the device's, and has no bound.
 */
#include <inttypes.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

/* As many as no block asks for: each of its threads several loads. */
#define NO_BOUND 4096

static const json_t *outstanding_of(const struct model_text *t)
{
    return json_object_get(t->root, "outstanding");
}

/* What was under way together at least; 0: not told. */
static double least(const struct model_text *t, const char *key)
{
    return json_number_of(json_object_get(outstanding_of(t), "at_least"), key);
}

static bool is_structure(const struct model_text *t, const char *name)
{
    return strcmp(saved_text(outstanding_of(t), "structure", ""), name) == 0;
}

/* The base's structure of an SM, which the device does not have: a cache's table was found, or more
 * was under way. */
static bool is_refuted(const struct model_text *t)
{
    const struct pending_spec *base = &t->base->sm.pending;
    bool is_table = base->kind == PENDING_PRT;
    double told = least(t, is_table ? "instructions" : "max_requests_per_sm");
    return base->kind != PENDING_NONE && (is_structure(t, "mshr") || told >= base->entries);
}

void model_outstanding(struct model_text *t)
{
    struct saved_value value;
    char comment[MODEL_COMMENT_BYTES];
    uint32_t base = t->base->sm.loads_per_warp;
    if (saved_value(&value, outstanding_of(t), "loads_per_warp")) {
        model_line(t, 1, model_measured(comment, &value), "loads_per_warp: %.0f", value.value);
    } else if (base > 0 && least(t, "loads_per_warp") > base) {
        model_line(t, 1, "measured: more were under way", "loads_per_warp: 0");
    }
    bool is_of_sm = is_structure(t, "prt") || is_structure(t, "request_limit");
    if (is_of_sm && saved_value(&value, outstanding_of(t), "entries")) {
        model_line(t, 1, model_measured(comment, &value),
                   "outstanding: {structure: %s, entries: %.0f}",
                   saved_text(outstanding_of(t), "structure", ""), value.value);
    } else if (is_refuted(t)) {
        model_line(t, 1, is_structure(t, "mshr") ? "measured: a table of lines" : "measured: more",
                   "outstanding: {structure: none}");
    }
}

/* Entries of the cache's table: found, or none that shows. */
static uint32_t table_entries(const struct model_text *t)
{
    struct saved_value entries;
    uint32_t base = t->base->l1_data.mshr_entries;
    bool is_told = saved_value(&entries, outstanding_of(t), "entries");
    if (is_told && is_structure(t, "mshr")) {
        return (uint32_t)entries.value;
    }
    bool is_other = is_told && !is_structure(t, "unknown");
    bool is_more = least(t, "max_requests_per_sm") >= base;
    return (is_other || is_more) && base < NO_BOUND ? NO_BOUND : base;
}

static uint32_t table_mergers(const struct model_text *t)
{
    struct saved_value mergers;
    uint32_t base = t->base->l1_data.mshr_mergers;
    if (saved_value(&mergers, outstanding_of(t), "mergers")) {
        return (uint32_t)mergers.value;
    }
    return least(t, "mergers") > base ? NO_BOUND : base;
}

/* An MSHR table is a cache's own. */
void model_mshr(struct model_text *t)
{
    struct saved_value value;
    const struct cache_spec *base = &t->base->l1_data;
    char comment[MODEL_COMMENT_BYTES] = "more were under way, or another structure is full before";
    uint32_t entries = table_entries(t), mergers = table_mergers(t);
    const json_t *lanes = json_object_get(outstanding_of(t), "lanes_count_as_mergers");
    bool has_mergers = saved_value(&value, outstanding_of(t), "mergers");
    bool is_lane = json_is_true(lanes);
    const char *merger = !has_mergers || is_lane == (base->merger == MERGER_LANE) ? ""
                         : is_lane                                                ? ", merger: lane"
                                   : ", merger: request";
    bool is_base = entries == base->mshr_entries && mergers == base->mshr_mergers && !*merger;
    bool has_table = is_structure(t, "mshr") && saved_value(&value, outstanding_of(t), "entries");
    if (!saved_cache(t->root, "l1_data") || (is_base && !has_table)) {
        return;
    }
    if (has_table || has_mergers) {
        model_measured(comment, &value);
    }
    model_line(t, 1, comment, "miss: {entries: %" PRIu32 ", mergers: %" PRIu32 "%s}", entries,
               mergers, merger);
}
