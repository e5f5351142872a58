/*
 * Caches whose sets a hash numbers, of which the ways were told and how much of an array fits until
 * one set or another is full (infer/behind/ways.c): which lines share a set is drawn, such that
 * just so much fits. As many sets as a random function fills so far, in the mean.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "mem/mem.h"
#include "util/glue/json_glue.h"
#include "util/rng.h"

enum { DRAWS = 16, MOST_SETS = 1024, SPACE = 65536 /* bytes of constants */ };

/* Of a set that has `mean` lines by Poisson's law: the chance of more than its ways. */
static double overflows(uint64_t ways, double mean)
{
    double term = exp(-mean), sum = term;
    for (uint64_t k = 1; k <= ways; k++) {
        term *= mean / (double)k;
        sum += term;
    }
    return fmax(0, 1 - sum);
}

uint64_t model_sets_by_chance(uint64_t ways, uint64_t fit)
{
    uint64_t low = fit / ways, high = fit; /* too few, enough */
    while (high - low > 1) {
        uint64_t sets = low + (high - low) / 2;
        bool is_enough = (double)sets * overflows(ways, (double)fit / (double)sets) <= log(2);
        *(is_enough ? &high : &low) = sets;
    }
    return high > 0 ? high : 1;
}

/* How many lines in order a random function takes until a set has one too many. */
static uint64_t lines_drawn(struct rng *rng, uint64_t sets, uint64_t ways)
{
    uint64_t held[MOST_SETS] = {0}, lines = 0;
    while (held[rng_below(rng, sets)]++ < ways) {
        lines++;
    }
    return lines;
}

/* 0: more than are tried. */
static uint64_t sets_for(uint64_t ways, uint64_t fit)
{
    struct rng rng;
    rng_seed(&rng, fit);
    for (uint64_t sets = 2; sets <= MOST_SETS; sets++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < DRAWS && sets * ways > fit; i++) {
            sum += lines_drawn(&rng, sets, ways);
        }
        if (sum >= DRAWS * fit) {
            return sets;
        }
    }
    return 0;
}

/* Of the first `fit` lines set 0 has as many as it takes, wherever chance puts them; the next one
 * is one too many. No other is full by then. */
static void draw_sets(uint16_t *map, uint64_t length, uint64_t sets, uint64_t ways, uint64_t fit)
{
    struct rng rng;
    uint64_t held[MOST_SETS] = {0}, left = ways;
    rng_seed(&rng, fit);
    for (uint64_t i = 0; i < fit; i++) {
        uint64_t set = 0;
        if (rng_below(&rng, fit - i) >= left) {
            do {
                set = 1 + rng_below(&rng, sets - 1);
            } while (held[set] == ways);
        }
        left -= set == 0;
        held[set]++;
        map[i] = (uint16_t)set;
    }
    map[fit] = 0;
    for (uint64_t i = fit + 1; i < length; i++) {
        map[i] = (uint16_t)rng_below(&rng, sets);
    }
}

static json_t *map_of(uint64_t sets, uint64_t ways, uint64_t fit, uint64_t length)
{
    uint16_t *drawn = malloc(length * sizeof(*drawn));
    json_t *map = drawn ? json_array() : NULL;
    if (map) {
        draw_sets(drawn, length, sets, ways, fit);
        for (uint64_t i = 0; i < length; i++) {
            json_append(map, json_integer(drawn[i]));
        }
    }
    free(drawn);
    return map;
}

static void put(json_t *cache, const char *key, uint64_t value, const char *unit)
{
    json_put(cache, key,
             json_pack("{s:I, s:s, s:f, s:s}", "value", (json_int_t)value, "unit", unit,
                       "confidence", 0.0, "evidence", MODEL_DRAWN));
}

static void draw_cache(json_t *cache)
{
    uint64_t ways, size, line, sets;
    bool is_told = saved_u64(&ways, cache, "ways") && saved_u64(&size, cache, "size") &&
                   saved_u64(&line, cache, "line") && !saved_u64(&sets, cache, "sets") &&
                   line > 0 && size % line == 0 && SPACE % line == 0;
    const char *kind = saved_text(json_object_get(cache, "set_index"), "kind", "unknown");
    if (!is_told || strcmp(kind, "unknown") != 0) {
        return;
    }
    uint64_t fit = size / line, length = SPACE / line;
    bool is_one = fit <= ways || fit >= length || length > MEM_MAX_MAP; /* set, or all fits */
    sets = is_one ? 0 : sets_for(ways, fit);
    if (sets > 0) {
        json_t *map = map_of(sets, ways, fit, length);
        put(cache, "sets", sets, "1");
        put(cache, "size", sets * ways * line, "B");
        json_put(cache, "set_index",
                 map ? json_pack("{s:s, s:o, s:f, s:s}", "kind", "map", "map", map, "confidence",
                                 0.0, "evidence", MODEL_DRAWN)
                     : NULL);
    }
}

void model_draw_hashed(json_t *root)
{
    draw_cache(json_find_id(json_object_get(root, "caches"), "constant_l1"));
    draw_cache(json_find_id(json_object_get(root, "caches"), "constant_l15"));
}
