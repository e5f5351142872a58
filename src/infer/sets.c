/*
 * The sets, and the size with them. With the line known, the capacity is counted in lines; lines
 * that fit divided by ways is the number of sets, if the sets are all alike. That is checked, not
 * assumed:
 *   - when the conflicting lines are equally spaced by S lines, the index repeats after S lines. In
 * a walk with one line too many for every set, each of the S classes must miss; one that does not
 * has more ways;
 *   - when they are not (hashed index), arrays that begin elsewhere must have the same edge, and
 * each of many lines beyond the edge must be one too many. Where this fails the sets differ or are
 * filled unevenly, and number and ways are not given.
 */
#include "infer/level.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define MAX_PASSES 12
#define SHIFTS 16

/* Spacing of the conflicting lines in lines, 0 when it varies. */
static uint64_t conflict_spacing(const struct level *level)
{
    uint64_t step = level->conflict[1] / level->line_bytes - level->conflict[0] / level->line_bytes;
    for (size_t i = 1; i < level->conflict_count; i++) {
        if (level->conflict[i] / level->line_bytes - level->conflict[i - 1] / level->line_bytes !=
            step) {
            return 0;
        }
    }
    return step;
}

/* How many of the classes of lines modulo `sets` did not miss more often than noise makes them. */
static size_t count_silent(const uint32_t *misses, uint32_t *class, size_t sets, size_t count,
                           double noise)
{
    size_t silent = 0;
    memset(class, 0, sets * sizeof *class);
    for (size_t i = 0; i < count; i++) {
        class[i % sets] += misses[i];
    }
    for (size_t i = 0; i < sets; i++) {
        silent += class[i] <= 3 * noise;
    }
    return silent;
}

/* Each class must miss when every set holds one line too many. */
static int check_classes(struct level *level, size_t *silent, size_t sets, size_t ways)
{
    size_t count = sets * (ways + 1);
    struct walk_shape shape = {.stride = level->line_bytes, .count = count};
    assert(sets > 0);
    uint32_t *misses = calloc(count + 1, sizeof *misses);
    uint32_t *class = calloc(sets + 1, sizeof *class);
    if (!misses || !class) {
        free(misses);
        free(class);
        return error_memory();
    }
    int rc = 0;
    double share = (double)level->false_misses / (double)(level->hit_records + 1);
    *silent = sets;
    for (uint32_t pass = 0; rc == 0 && *silent && pass < MAX_PASSES; pass++) {
        rc = fit_count_misses(level, misses, &shape, pass);
        double noise = share * (double)(ways + 1) * (pass + 1);
        *silent = count_silent(misses, class, sets, count, noise);
    }
    free(misses);
    free(class);
    return rc;
}

/* The array that begins `first` lines on must fit; with the line `extra` lines after its end it
 * must not. */
static int check_shift(struct level *level, bool *same, size_t first, size_t lines, size_t extra)
{
    uint32_t *ring = malloc((lines + 1) * sizeof *ring);
    if (!ring) {
        return error_memory();
    }
    for (size_t i = 0; i <= lines; i++) {
        ring[i] = (uint32_t)((first + i + (i == lines ? extra : 0)) * level->line_bytes);
    }
    enum fit_verdict more = FIT_NO, exact = FIT_YES;
    int rc = fit_verdict(level, &more, &(struct walk_shape){.ring = ring, .count = lines + 1});
    rc = rc ? rc : fit_verdict(level, &exact, &(struct walk_shape){.ring = ring, .count = lines});
    *same = more == FIT_NO && exact == FIT_YES;
    free(ring);
    return rc;
}

/*
 * A hashed index fills its sets evenly over whole groups of `sets` lines, so the arrays begin at
 * such a group. The line too many is taken all over the following group, to meet many sets.
 */
static int check_shifts(struct level *level, size_t *differing, size_t sets, size_t lines)
{
    *differing = 0;
    size_t checks = sets < SHIFTS ? sets : SHIFTS;
    for (size_t i = 0; i < checks; i++) {
        bool same = false;
        int rc = check_shift(level, &same, (i * i + i) / 2 * sets, lines, i * sets / checks);
        if (rc) {
            return rc;
        }
        *differing += !same;
    }
    return 0;
}

static void report(struct level *level, size_t sets, size_t ways, bool even, const char *check)
{
    char id[24];
    struct cache_result *r = level->result;
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: an array of %zu lines of %llu B fits, one line more does not; with "
                 "%zu ways that "
                 "is %zu sets; %s",
                 level->info->op, level->fit_count, (unsigned long long)level->line_bytes, ways,
                 sets, check);
    double doubt = level->fit_certain ? 0 : 0.1;
    attribute_set(&r->size, (double)level->size_bytes, "B", (even ? 0.98 : 0.5) - doubt, id);
    if (even) {
        attribute_set(&r->sets, (double)sets, "1", 0.97 - doubt, id);
        r->ways.confidence = 0.98 - doubt;
    } else {
        char reason[160];
        snprintf(reason, sizeof reason, "sets differ, or are filled unevenly: %s", check);
        attribute_refuse(&r->sets, "1", reason);
        attribute_refuse(&r->ways, "1", reason);
    }
}

int level_sets(struct level *level)
{
    uint64_t line = level->line_bytes;
    if (line != level->fit_stride) {
        int rc = level_refine_edge(level);
        rc = rc ? rc : level_refine_ways(level);
        if (rc) {
            return rc;
        }
    }
    size_t lines = level->fit_count, ways = level->conflict_count - 1, sets = lines / ways;
    level->size_bytes = lines * line;
    uint64_t spacing = conflict_spacing(level);
    spacing = spacing == sets ? spacing : 0;
    if (sets == 0 || lines % ways != 0) {
        report(level, sets, ways, false, "the lines that fit are no multiple of the ways");
        return 0;
    }
    size_t bad = 0;
    int rc =
        spacing ? check_classes(level, &bad, sets, ways) : check_shifts(level, &bad, sets, lines);
    if (rc) {
        return rc;
    }
    if (spacing) {
        report(level, sets, ways, bad == 0,
               bad ? "some sets hold a line more than others"
                   : "with one line more for every set each of them misses");
    } else {
        report(level, sets, ways, bad == 0,
               bad ? "arrays that begin elsewhere have another edge"
                   : "conflicting lines are not equally spaced (hashed index); arrays that begin "
                     "elsewhere have the same edge");
    }
    return 0;
}
