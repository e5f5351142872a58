/*
 * The sets where nothing predicts which lines share one: a hashed index, or too much noise. Lines
 * that fit divided by ways is the number of sets if they are filled evenly. That is checked, not
 * assumed: arrays that begin elsewhere must have the same edge, and each of many lines beyond the
 * edge must be one too many. Where this fails the sets differ or are filled unevenly, and number
 * and ways are not given.
 */
#include "infer/geometry/geometry.h"
#include "infer/geometry/rows.h"
#include "infer/fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    unsigned shifts;
    double unconfirmed, unequal;
} limits = {
    .shifts = 16,       /* beginnings of an array that are tried */
    .unconfirmed = 0.8, /* confidence of ways beside a number of sets that is not known; of 25 such
                           caches 24 had sets that are alike */
    .unequal =
        0.5, /* chance, by the ways, that sets which differ hold a multiple of them. Chosen */
};

/* The array that begins `first` lines on must fit; with the line `extra` lines after its end it
 * must not. */
static int check_shift(struct level *level, bool *same, size_t first, size_t lines, size_t extra)
{
    uint32_t *ring = malloc((lines + 1) * sizeof *ring);
    if (!ring) {
        return error_memory();
    }
    for (size_t i = 0; i <= lines; i++) {
        ring[i] = (uint32_t)((first + i + (i == lines ? extra : 0)) * level->line.bytes);
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
    size_t checks = sets < limits.shifts ? sets : limits.shifts;
    uint64_t limit = level->lab->options->max_footprint_bytes / level->line.bytes;
    for (size_t i = 0; i < checks; i++) {
        bool same = false;
        if ((i * i + i) / 2 * sets + lines + sets > limit && i > 1) {
            break; /* as far as the path reaches */
        }
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
                 "%zu ways that is %zu sets; %s",
                 level->info->op, level->fit.count, (unsigned long long)level->line.bytes, ways,
                 sets, check);
    double doubt = level->fit.certain ? 0 : 0.1;
    if (even) {
        attribute_set(&r->size, (double)level->size_bytes, "B", 0.88 - doubt, id);
        attribute_set(&r->sets, (double)sets, "1", 0.88 - doubt, id);
        r->ways.confidence = 0.88 - doubt;
    } else {
        char reason[160];
        snprintf(reason, sizeof reason, "sets differ, or are filled unevenly: %s", check);
        attribute_refuse(&r->sets, "1", reason);
        attribute_refuse(&r->ways, "1", reason);
        attribute_refuse(&r->size, "B", reason); /* what fits from offset 0 on: 1 of 25 was right */
    }
}

/*
 * What all sets hold together, of a cache whose sets are alike. `lines` are what rows tell, or 0:
 * fewer than are held are wrong.
 */
static int find_held(struct level *level, size_t lines)
{
    size_t held = 0;
    bool words = path_find(level->info->op)->interleave <= 1; /* a line has several of the thread */
    int rc = words ? level_held(level, &held) : INFER_UNDECIDED;
    if (rc && lab_soft(rc) && lines) {
        return lines < held
                   ? lab_undecided(level->lab, "rows make %zu lines, and %zu are held", lines, held)
                   : 0;
    }
    if (rc) {
        return rc;
    }
    level_tell_held(level, held);
    struct cache_result *r = level->result;
    double ways = (double)level->conflict.count - 1;
    /* Those that overflow first are the smallest, if sets differ, and what all hold is a multiple
     * of their ways by chance. Rows have lines of each set. */
    r->sets.confidence =
        lines ? r->sets.confidence : fmin(r->sets.confidence, 1 - limits.unequal / ways);
    r->ways.confidence = r->sets.confidence;
    return 0;
}

/*
 * Uneven filling is what a hash of slices makes of sets that are alike: the rows of its lines tell
 * how many there are, or what they hold together. Not where two conflicting sets had different
 * ways.
 */
static int find_rows(struct level *level, size_t ways, size_t ways_before, const char *check)
{
    bool alike = ways == ways_before && ways > 1;
    struct attribute told = level->result->ways;
    int rc = alike ? level_rows(level) : INFER_UNDECIDED;
    if (alike && (rc == 0 || lab_soft(rc))) {
        rc = find_held(level, rc ? 0 : (size_t)(level->size_bytes / level->line.bytes));
    }
    if (rc && lab_soft(rc)) {
        report(level, level->fit.count / ways, ways, false, check);
        if (alike) { /* two sets of as many ways, or one: sets that differ are rarer than hashes */
            told.confidence = fmin(told.confidence, limits.unconfirmed);
            level->result->ways = told;
        }
        rc = 0;
    }
    return rc;
}

int level_sets_hashed(struct level *level)
{
    uint64_t line = level->line.bytes;
    size_t ways_before = level->conflict.count - 1;
    const struct level_fit before = level->fit;
    if (line != level->fit.stride) {
        int rc = level_refine_edge(level);
        rc = rc ? rc : level_refine_ways(level);
        if (rc) {
            return rc;
        }
    }
    size_t lines = level->fit.count, ways = level->conflict.count - 1, sets = lines / ways;
    level->size_bytes = lines * line;
    if (lines < before.count) { /* sets that several lines beside each other share */
        level->fit = before;
        return find_rows(level, ways, ways_before, "more lines fit where they lie farther apart");
    }
    if (sets == 0 || lines % ways != 0) {
        return find_rows(level, ways, ways_before,
                         "the lines that fit are no multiple of the ways");
    }
    size_t bad = 0;
    int rc = check_shifts(level, &bad, sets, lines);
    if (rc == 0 && bad) {
        return find_rows(level, ways, ways_before, "arrays that begin elsewhere have another edge");
    }
    bool one = true;
    rc = rc || sets > 1 ? rc : level_is_one_set(level, &one, lines);
    if (rc == 0 && !one) {
        return level_several_sets(level);
    }
    if (rc == 0) {
        report(
            level, sets, ways, true,
            "nothing predicts the set of a line; arrays that begin elsewhere have the same edge");
    }
    return rc;
}
