/* See geometry.h. */
#include "export/sonde/geometry.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/bits.h"
#include "util/glue/json_glue.h"

/* Thresholds. Fixed by: the sizes of sim:a100 and sim:v100. */
static const struct {
    double sure_size;
} limits = {
    .sure_size = 0.5, /* confidence of a size that sets are counted by: an edge between samples, of
                         hashed sets that are filled unevenly, has less */
};

/* Where sets of a told size were listed and no line was: what each of their ways holds. */
static uint64_t line_of_sets(const json_t *cache, uint64_t otherwise)
{
    const json_t *list = json_object_get(cache, "ways_per_set");
    uint64_t size = 0, ways = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        ways += (uint64_t)json_integer_value(json_array_get(list, i));
    }
    bool is_told = saved_u64(&size, cache, "size") && ways > 0 && size % ways == 0;
    return is_told && is_power_of_two(size / ways) ? size / ways : otherwise;
}

/* Line and ways alone, with a size, give the sets, and so do the ways of each. What is missing
 * leaves it unknown. */
void geometry_read(struct geometry *g, const json_t *cache, uint64_t line_else)
{
    uint64_t size = 0;
    *g = (struct geometry){.line = line_of_sets(cache, line_else)};
    saved_u64(&g->line, cache, "line");
    g->sector = g->line;
    saved_u64(&g->sector, cache, "fetch_granularity");
    if (g->sector == 0 || g->sector > g->line || g->line % g->sector != 0) {
        g->sector = g->line;
    }
    bool has_size = saved_u64(&size, cache, "size"), has_sets = saved_u64(&g->sets, cache, "sets");
    bool has_ways = saved_u64(&g->ways, cache, "ways");
    g->ways_per_set = json_object_get(cache, "ways_per_set");
    g->sets = has_sets ? g->sets : json_array_size(g->ways_per_set);
    if (json_array_size(g->ways_per_set) && json_array_size(g->ways_per_set) == g->sets) {
        for (size_t i = 0; i < g->sets; i++) {
            uint64_t ways = (uint64_t)json_integer_value(json_array_get(g->ways_per_set, i));
            g->lines += ways;
            g->ways = i == 0 || ways > g->ways ? ways : g->ways;
        }
        g->is_known = g->lines > 0;
        return;
    }
    g->ways_per_set = NULL;
    struct saved_value told = {0};
    bool is_sure = saved_value(&told, cache, "size") && told.confidence >= limits.sure_size;
    if (!has_sets && has_size && is_sure && has_ways && g->line && g->ways) {
        g->sets = size / (g->line * g->ways);
    } else if (!has_ways && has_size && is_sure && has_sets && g->line && g->sets) {
        g->ways = size / (g->line * g->sets);
    }
    g->lines = g->sets * g->ways;
    g->is_known = g->lines > 0 && g->sets <= 1048576 && g->ways <= MEM_MAX_WAYS;
    if (has_size && has_sets && has_ways && size < g->lines * g->line && size >= g->line) {
        g->data = size / g->line * g->line;
    }
}

/* Of a size alone: as few sets as its lines can be shared out over, of the base's lines if they
 * divide it. What a cache of the size holds is told then, if not which lines conflict. */
void geometry_guess(struct geometry *g, const json_t *cache)
{
    uint64_t size = 0, told;
    if (g->is_known || !g->line || !saved_u64(&size, cache, "size")) {
        return;
    }
    bool is_sector = !saved_u64(&told, cache, "line") && size % g->line != 0;
    uint64_t line = is_sector ? g->sector : g->line;
    if (size < line || size % line != 0) {
        return;
    }
    uint64_t lines = size / line, sets = 1;
    while (lines / sets > MEM_MAX_WAYS && lines % (2 * sets) == 0) {
        sets *= 2;
    }
    if (lines / sets <= MEM_MAX_WAYS) {
        g->line = line;
        g->sets = sets;
        g->ways = lines / sets;
        g->lines = lines;
        g->is_known = g->is_guess = true;
    }
}

/* Where the first of hashed sets of so many ways is too full, if that is told, which is no size of
 * theirs: lines in all. Else the base's. */
static uint64_t lines_by_edge(const json_t *cache, const struct geometry *g,
                              const struct cache_spec *base, uint64_t ways, uint64_t otherwise)
{
    uint64_t size = 0;
    bool is_edge =
        base->index.kind == INDEX_HASH && saved_u64(&size, cache, "size") && size / g->line > ways;
    return is_edge ? ways * model_sets_by_chance(ways, size / g->line) : otherwise;
}

/* Of ways alone: as many sets of them as the base's lines fill, or as are full where misses begin,
 * the same in each of its slices. Whom a full set evicts, and when it is full, is told then, if not
 * how much the cache holds. */
void geometry_of_ways(struct geometry *g, const json_t *cache, const struct cache_spec *base,
                      uint64_t slices)
{
    uint64_t ways, lines = (uint64_t)base->sets * base->ways * slices;
    if (g->is_known || !g->line || !saved_u64(&ways, cache, "ways") || ways == 0 ||
        ways > MEM_MAX_WAYS || base->unequal_count) {
        return;
    }
    uint64_t told = lines_by_edge(cache, g, base, ways, lines);
    if (told == lines && (ways == base->ways || lines < ways * slices)) {
        return;
    }
    while (told < ways * slices) {
        slices = (slices + 1) / 2;
    }
    g->ways = ways;
    g->sets = told / (ways * slices) * slices;
    g->lines = g->sets * ways;
    g->is_known = g->is_ways = true;
}

void geometry_lines(struct model_text *t, const json_t *cache, const struct geometry *g,
                    uint64_t slices, bool is_base_hash, const struct cache_spec *base)
{
    char comment[MODEL_COMMENT_BYTES] = "";
    struct saved_value value;
    const char *size = g->is_ways ? "not measured: the base's lines, or where misses begin" : "";
    bool has_size = !g->is_ways && saved_value(&value, cache, "size");
    model_line(t, 1, has_size ? model_measured(comment, &value) : size, "size: %" PRIu64 " B",
               g->lines * g->line / slices);
    if (g->data && slices == 1) {
        model_line(t, 1, "measured: fits, though its tags reach farther", "data: %" PRIu64 " B",
                   g->data);
    }
    model_line(t, 1,
               saved_value(&value, cache, "line") ? model_measured(comment, &value)
                                                  : "not measured: as the base",
               "line: %" PRIu64 " B", g->line);
    model_line(t, 1,
               saved_value(&value, cache, "fetch_granularity") ? model_measured(comment, &value)
                                                               : "not measured: the line",
               "sector: %" PRIu64 " B", g->sector);
    const char *none = g->is_guess ? "not measured: a guess, of the size" : "";
    model_line(t, 1, saved_value(&value, cache, "sets") ? model_measured(comment, &value) : none,
               "sets: %" PRIu64, g->sets / slices);
    model_line(t, 1, saved_value(&value, cache, "ways") ? model_measured(comment, &value) : none,
               "ways: %" PRIu64, g->ways);
    if (g->ways_per_set) {
        char *list = json_dumps(g->ways_per_set, 0);
        model_line(t, 1, "measured", "ways_per_set: %s", list ? list : "[]");
        free(list);
    } else {
        model_line(t, 1, "", "ways_per_set: []");
    }
    struct strbuf index = {0};
    struct index_plan plan = {.line = g->line,
                              .sets = g->sets,
                              .slices = slices,
                              .row_bytes = g->rows.bytes,
                              .is_base_hash = is_base_hash,
                              .is_hashed = g->is_hashed};
    bool is_told = index_text(&index, cache, &plan);
    const json_t *found = json_object_get(cache, "set_index");
    value = (struct saved_value){.confidence = json_number_of(found, "confidence"),
                                 .evidence = saved_text(found, "evidence", "")};
    is_told = is_told && !g->is_guess;
    model_line(t, 1,
               g->rows.slices ? "measured: rows that lines of a set lie in"
               : is_told      ? model_measured(comment, &value)
                              : "not measured: a guess",
               "index: %s", strbuf_text(&index));
    strbuf_free(&index);
    model_replacement(t, cache, g->ways, &base->replacement);
}
