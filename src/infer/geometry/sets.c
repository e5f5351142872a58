/*
 * The ways of each set, and the size with them. Once the index is known (index.c), a set is filled
 * with any number of its lines at will, and many sets in one walk: as many lines as fit are its
 * ways. All begin with the ways of the set that was found first; the others are sought from there,
 * so that equal sets take two walks and unequal ones a few more.
 *
 * The result is then put to the test as a whole: sets are filled with fresh lines drawn at random,
 * at random words, each with as many as it has ways or with one more, and each must fit or not as
 * the structure predicts. Line, index, sets and ways all must be right for that; how many
 * predictions held is what their confidence rests on.
 */
#include "infer/geometry/geometry.h"
#include "infer/behind/behind.h"
#include "infer/behind/filler.h"
#include "infer/experiments.h"
#include "infer/fit/groups.h"
#include "infer/geometry/members.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/divisor.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind), and an H200 (512 of 512 fillings). */
static const struct {
    unsigned chunk_passes, max_steps, checks, large_set, most_checks, few_too_many;
    double unfilled, unasked, bound;
} limits = {
    .chunk_passes = 6,  /* passes of a walk that a window holds */
    .max_steps = 24,    /* steps of a bisection */
    .checks = 16,       /* predictions at least */
    .large_set = 32,    /* ways: each prediction is of so many lines that half as many will do */
    .most_checks = 6,   /* walks for those predictions */
    .unfilled = 0.8,    /* confidence of what one set says of all. Chosen */
    .unasked = 0.85,    /* the same, where the array's length says that all are alike. Chosen */
    .bound = 0.85,      /* the same of one set of many ways: of several that something else bounds
                           drawn lines may seldom crowd one. Chosen */
    .few_too_many = 24, /* sets that get a line too many in a walk: these take longest */
};

/* How many ways a set has: `low` lines fit, `high` do not (0: not known). `next` are tried. */
struct search {
    uint32_t low, high, next, step;
    bool open;
};

/* Lines of some classes as a walk. */
struct filling {
    uint32_t *ring, *group; /* owned */
    size_t *at;             /* of each class: its place in the ring; owned */
    size_t count, groups;
};

static void filling_free(struct filling *filling)
{
    free(filling->ring);
    free(filling->group);
    free(filling->at);
    *filling = (struct filling){0};
}

/* Room for wanted[c] lines of each class from `first` on, as many classes as have `most` lines. */
static int filling_create(struct filling *out, const struct level *level, const uint32_t *wanted,
                          size_t most, size_t first, size_t *end)
{
    const struct set_map *map = &level->map;
    *out = (struct filling){0};
    for (*end = first; *end < map->sets; ++*end) {
        if (out->count > 0 && out->count + wanted[*end] > most) {
            break;
        }
        out->count += wanted[*end];
        out->groups += wanted[*end] > 0;
    }
    out->ring = malloc((out->count + 1) * sizeof *out->ring);
    out->group = malloc((out->count + 1) * sizeof *out->group);
    out->at = malloc((map->sets + 1) * sizeof *out->at);
    if (!out->ring || !out->group || !out->at) {
        filling_free(out);
        return error_memory();
    }
    size_t at = 0;
    uint32_t group = 0;
    for (size_t c = first; c < *end; c++) {
        out->at[c] = at;
        for (uint32_t i = 0; i < wanted[c]; i++) {
            out->group[at++] = group;
        }
        group += wanted[c] > 0;
    }
    return 0;
}

static uint32_t word_of(const struct level *level, uint32_t line, struct rng *rng)
{
    uint64_t room = level->line.phase ? level->line.phase : level->line.bytes;
    uint64_t word = rng ? rng_below(rng, room / 4) * 4 : 0;
    return (uint32_t)(line * level->line.bytes + word);
}

/* Is there memory to draw lines from, four times what the cache holds? */
static bool can_draw(const struct level *level)
{
    return 4 * (level->size_bytes / level->line.bytes) < draw_span(level, &level->map);
}

/* An order in which each of `count` lines comes once: `step` after `step` from `line` on. */
struct order {
    uint32_t line, step, count;
};

/* One after the other; with `rng`, where there is memory for that, all over what may be drawn. */
static struct order choose_order(const struct level *level, struct rng *rng)
{
    struct order order = {.step = 1, .count = class_limit(level, &level->map)};
    if (rng && can_draw(level)) {
        order.count = draw_span(level, &level->map);
        order.line = (uint32_t)rng_below(rng, order.count);
        do {
            order.step = 1 + (uint32_t)rng_below(rng, order.count);
        } while (common_divisor(order.step, order.count) != 1);
    }
    return order;
}

static bool holds_line(const struct level *level, const uint32_t *offsets, size_t count,
                       uint32_t line)
{
    size_t i = 0;
    while (i < count && offsets[i] / level->line.bytes != line) {
        i++;
    }
    return i < count;
}

/* Puts lines into the ring; with `rng`, at any of their words, and where there is memory for that
 * about every other one of the order, which by itself would be regular; those left out come in a
 * second round. */
static int filling_fill(struct filling *filling, struct level *level, const uint32_t *wanted,
                        size_t first, size_t end, struct rng *rng)
{
    uint32_t *left = malloc((level->map.sets + 1) * sizeof *left);
    if (!left) {
        return error_memory();
    }
    memcpy(left, wanted, level->map.sets * sizeof *left);
    size_t lacking = filling->count;
    struct order order = choose_order(level, rng);
    bool sparse = rng && can_draw(level);
    for (uint32_t i = 0; order.count > 0 && i / order.count < 2 && lacking > 0; i++) {
        uint32_t line = order.line;
        size_t class = set_map_class(&level->map, line);
        order.line = (uint32_t)(((uint64_t)line + order.step) % order.count);
        if (class < first || class >= end || left[class] == 0 || (sparse && rng_below(rng, 2))) {
            continue;
        }
        uint32_t *own = filling->ring + filling->at[class];
        if (i < order.count ||
            !holds_line(level, own + left[class], wanted[class] - left[class], line)) {
            own[--left[class]] = word_of(level, line, rng);
            lacking--;
        }
    }
    free(left);
    return lacking ? lab_undecided(level->lab, "too little memory to fill every set") : 0;
}

/* The verdict of each class that is to have lines; `most` lines are walked together. */
static int test_classes(struct level *level, enum fit_verdict *verdicts, const uint32_t *wanted,
                        size_t most, struct rng *rng)
{
    size_t sets = level->map.sets;
    enum fit_verdict *some = calloc(sets + 1, sizeof *some);
    int rc = 0;
    if (!some) {
        return error_memory();
    }
    for (size_t first = 0, end; rc == 0 && first < sets; first = end) {
        struct filling filling;
        rc = filling_create(&filling, level, wanted, most, first, &end);
        if (rc) {
            break;
        }
        rc = filling_fill(&filling, level, wanted, first, end, rng);
        struct group_walk walk = {filling.ring, filling.group, filling.count, filling.groups};
        rc = rc || filling.groups == 0 ? rc : groups_test(level, some, &walk);
        for (size_t c = first, g = 0; rc == 0 && c < end; c++) {
            verdicts[c] = wanted[c] ? some[g++] : FIT_UNKNOWN;
        }
        filling_free(&filling);
    }
    free(some);
    return rc;
}

/* The next number of lines to try, once the verdict on `next` is in. */
static void advance(struct search *s, enum fit_verdict verdict, uint32_t most)
{
    if (verdict == FIT_UNKNOWN) {
        s->open = false;
        return;
    }
    if (verdict == FIT_YES) {
        s->low = s->next;
    } else {
        s->high = s->next;
    }
    if (!s->high) {
        s->next = s->low + s->step;
    } else if (!s->low) {
        s->next = s->high > s->step ? s->high - s->step : 1;
    } else {
        s->next = s->low + (s->high - s->low) / 2;
    }
    s->step *= 2;
    s->open = (!s->high || s->high - s->low > 1) && s->next <= most;
}

static bool is_found(const struct search *s)
{
    return s->low && s->high == s->low + 1;
}

struct work {
    struct search *search;
    uint32_t *wanted;
    enum fit_verdict *verdicts;
};

/* `most` lines are walked together. */
static int search_ways(struct level *level, struct work *work, size_t most)
{
    struct search *search = work->search;
    size_t sets = level->map.sets, open = sets;
    for (unsigned step = 0; step < limits.max_steps && open > 0; step++) {
        for (size_t c = 0; c < sets; c++) {
            work->wanted[c] = search[c].open ? search[c].next : 0;
        }
        int rc = test_classes(level, work->verdicts, work->wanted, most, NULL);
        if (rc) {
            return rc;
        }
        open = 0;
        for (size_t c = 0; c < sets; c++) {
            if (search[c].open) {
                advance(&search[c], work->verdicts[c], EVICTION_SET_MAX_WAYS);
                open += search[c].open;
            }
        }
    }
    return 0;
}

/* Once more, each set alone: where all are walked there are no other sets for filler accesses. */
static int search_alone(struct level *level, struct work *work)
{
    for (size_t c = 0; c < level->map.sets; c++) {
        work->search[c].open = !is_found(&work->search[c]);
    }
    return search_ways(level, work, 1);
}

/* Ways of each set into the map; how many stayed open. */
static int find_ways(struct level *level, struct work *work, size_t *unknown)
{
    struct set_map *map = &level->map;
    for (size_t c = 0; c < map->sets; c++) {
        uint32_t ways = (uint32_t)level->conflict.count - 1;
        work->search[c] = (struct search){.next = ways, .step = 1, .open = true};
    }
    int rc = search_ways(level, work, level->max_window / limits.chunk_passes);
    if (rc == 0 && level->filler) {
        rc = search_alone(level, work);
    }
    *unknown = 0;
    for (size_t c = 0; rc == 0 && c < map->sets; c++) {
        map->ways[c] = is_found(&work->search[c]) ? (uint16_t)work->search[c].low : 0;
        *unknown += map->ways[c] == 0;
    }
    return rc;
}

struct score {
    size_t held, failed;
    bool untested;  /* a recording has no such fillings */
    bool apart;     /* the sets were never seen all full at once */
    bool alike;     /* memory has no room to draw lines: the fillings were alike */
    size_t crowded; /* sets that do not hold their lines when all sets are full */
};

/* One walk of predictions. */
static int check_once(struct level *level, struct work *work, struct score *score, struct rng *rng)
{
    const struct set_map *map = &level->map;
    bool large = level->conflict.count > limits.large_set;
    /* One in so many gets a line too many. Never a single set: any lines that are too many for it
     * are too many for several, too. */
    uint64_t share = large ? map->sets + 1 : map->sets / limits.few_too_many + 2;
    for (size_t c = 0; c < map->sets; c++) {
        bool more = map->sets > 1 && rng_below(rng, share) == 0;
        work->wanted[c] = map->ways[c] ? map->ways[c] + more : 0;
    }
    int rc = test_classes(level, work->verdicts, work->wanted,
                          level->max_window / limits.chunk_passes, rng);
    for (size_t c = 0; rc == 0 && c < map->sets; c++) {
        if (work->wanted[c] && work->verdicts[c] != FIT_UNKNOWN) {
            bool fits = work->verdicts[c] == FIT_YES;
            bool right = fits == (work->wanted[c] == map->ways[c]);
            score->held += right;
            score->failed += !right;
        }
    }
    return rc;
}

static int check_structure(struct level *level, struct work *work, struct score *score)
{
    struct rng rng;
    rng_seed(&rng, 271828);
    *score = (struct score){.alike = !can_draw(level)};
    int rc = 0;
    bool single = level->map.sets == 1;
    size_t checks =
        level->conflict.count > limits.large_set && !single ? limits.checks / 2 : limits.checks;
    unsigned most = single ? limits.checks : limits.most_checks;
    for (unsigned i = 0; rc == 0 && i < most && score->held + score->failed < checks; i++) {
        rc = check_once(level, work, score, &rng);
    }
    score->untested = rc == SONDE_ENOTRECORDED;
    return score->untested ? 0 : rc;
}

/*
 * All sets full at once. Where that is too much, something else than the sets bounds the cache: a
 * part of its data memory that is taken away. No window holds the whole walk, so that each set may
 * have its clean pass at another time, and lines be taken from one after the other: that all fit is
 * seen only if every set decides, and in a round without more slow loads than noise explains.
 */
static int check_together(struct level *level, struct work *work, struct score *score)
{
    const struct set_map *map = &level->map;
    if (level->size_bytes / level->line.bytes * limits.chunk_passes <= level->max_window) {
        return 0; /* they were walked together */
    }
    for (size_t c = 0; c < map->sets; c++) {
        work->wanted[c] = map->ways[c];
    }
    int rc = test_classes(level, work->verdicts, work->wanted, SIZE_MAX, NULL);
    score->apart = lab_soft(rc);
    if (score->apart) {
        return 0;
    }
    for (size_t c = 0; rc == 0 && c < map->sets; c++) {
        score->crowded += work->verdicts[c] == FIT_NO;
        score->apart = score->apart || work->verdicts[c] != FIT_YES;
    }
    score->apart = score->apart || !level->habits.last_quiet;
    return rc;
}

/*
 * A structure that is wrong fails a prediction as often as not; one in ten is wrong before any.
 * Whatever fails, fails the whole.
 */
static double confidence_of(const struct score *score, const struct level *level)
{
    double doubt = 0.1 * pow(0.5, (double)score->held);
    double limit = level->timing.false_slow > 0 ? 0.98 : 0.99;
    return score->failed ? 0.3 : score->untested ? 0.6 : fmin(limit, 1 - doubt);
}

static bool ways_are_equal(const struct set_map *map)
{
    for (size_t c = 1; c < map->sets; c++) {
        if (map->ways[c] != map->ways[0]) {
            return false;
        }
    }
    return true;
}

/* The longest array that fits: up to the first set with a line too many. */
static void set_fit(struct level *level)
{
    uint16_t used[SETMAP_MAX_SETS] = {0};
    uint32_t line = 0, limit = class_limit(level, &level->map);
    for (; line < limit; line++) {
        size_t class = set_map_class(&level->map, line);
        if (used[class]++ == level->map.ways[class]) {
            break;
        }
    }
    level->fit.stride = level->line.bytes;
    level->fit.count = line;
    level->fit.certain = true;
}

static void refuse_ways(struct level *level, const struct score *score)
{
    struct cache_result *r = level->result;
    const struct set_map *map = &level->map;
    uint16_t least = map->ways[0], most = map->ways[0];
    for (size_t c = 0; c < map->sets; c++) {
        least = map->ways[c] < least ? map->ways[c] : least;
        most = map->ways[c] > most ? map->ways[c] : most;
        r->ways_per_set[c] = map->ways[c];
    }
    r->ways_per_set_count = score->failed ? 0 : map->sets;
    char reason[160];
    snprintf(reason, sizeof reason, "the sets differ: they have %u to %u ways", least, most);
    attribute_refuse(&r->ways, "1", reason);
}

/* Where sets differ, what is asked of one set from here on is asked of one with the most ways. */
static int take_largest_set(struct level *level)
{
    const struct set_map *map = &level->map;
    size_t largest = 0;
    for (size_t c = 1; c < map->sets; c++) {
        largest = map->ways[c] > map->ways[largest] ? c : largest;
    }
    size_t count = (size_t)map->ways[largest] + 1;
    if (map->ways[largest] < level->conflict.count) {
        return 0;
    }
    uint32_t *lines = malloc(count * sizeof *lines);
    if (!lines) {
        return error_memory();
    }
    if (class_lines(lines, map, largest, 0, count, class_limit(level, map)) < count) {
        free(lines);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        lines[i] *= (uint32_t)level->line.bytes;
    }
    free(level->conflict.offsets);
    level->conflict.offsets = lines;
    level->conflict.count = count;
    if (level->filler) {
        filler_forget_outside(level->filler);
    }
    return 0;
}

static void report(struct level *level, const struct score *score)
{
    struct cache_result *r = level->result;
    const struct set_map *map = &level->map;
    char id[24];
    double confidence = confidence_of(score, level);
    lab_evidence(
        level->lab, id, level->info->id,
        "chase op=%s: lines of %llu B put into each of %zu sets, %s: together %llu lines; of "
        "%zu fillings with fresh lines drawn at random %zu fitted or not as predicted",
        level->info->op, (unsigned long long)level->line.bytes, map->sets,
        ways_are_equal(map) ? "all hold as many" : "which hold differently many",
        (unsigned long long)(level->size_bytes / level->line.bytes), score->held + score->failed,
        score->held);
    attribute_set(&r->size, (double)level->size_bytes, "B",
                  score->apart ? fmin(confidence, 0.6) : confidence, id);
    /* The first lines in their order fit, and one more does not, whatever the index: that cannot
     * tell one set from several. */
    double shape = score->alike && map->sets == 1 ? fmin(confidence, 0.6) : confidence;
    if (map->sets == 1 && level_may_be_bound(level, map->ways[0])) {
        shape = fmin(shape, limits.bound);
    }
    attribute_set(&r->sets, (double)map->sets, "1", shape, id);
    if (shape < confidence) {
        r->index.confidence = fmin(r->index.confidence, shape);
    }
    if (ways_are_equal(map)) {
        attribute_set(&r->ways, map->ways[0], "1", shape, id);
    } else {
        refuse_ways(level, score);
    }
    if (score->failed) {
        r->line.confidence = fmin(r->line.confidence, 0.5);
        r->index.confidence = fmin(r->index.confidence, 0.4);
    }
    set_fit(level);
}

/* The sets hold more than the cache does: then its size is the longest array that fits. */
static int report_bound(struct level *level, const struct score *score)
{
    uint64_t in_sets = level->size_bytes;
    int rc = level_find_edge(level, level->line.bytes, 1);
    if (rc) {
        return rc;
    }
    char id[24];
    level->size_bytes = level->fit.count * level->line.bytes;
    lab_evidence(
        level->lab, id, level->info->id,
        "chase op=%s: the sets have room for %llu B, but when all are full %zu of %zu do not "
        "hold their lines; an array of %zu lines of %llu B fits, one more does not",
        level->info->op, (unsigned long long)in_sets, score->crowded, level->map.sets,
        level->fit.count, (unsigned long long)level->line.bytes);
    attribute_set(&level->result->size, (double)level->size_bytes, "B",
                  level->fit.certain ? 0.9 : 0.7, id);
    level->by_edge = true;
    return 0;
}

/*
 * They were never seen all full at once, nor was one seen that does not hold its lines then. If a
 * shorter array than the sets predict is the longest that fits, that is the size; if not, nothing
 * is new.
 */
static int report_shorter(struct level *level)
{
    size_t predicted = level->fit.count;
    uint64_t in_sets = level->size_bytes;
    enum fit_verdict verdict = FIT_UNKNOWN;
    int rc = fit_verdict(level, &verdict,
                         &(struct walk_shape){.stride = level->line.bytes, .count = predicted});
    rc = rc || verdict == FIT_YES ? rc : level_find_edge(level, level->line.bytes, 1);
    if (rc || verdict == FIT_YES ||
        level->fit.count + predicted / 50 >= predicted) { /* less may be noise */
        level->fit.stride = level->line.bytes;
        level->fit.count = predicted;
        level->fit.certain = true;
        return rc && !lab_soft(rc) ? rc : 0;
    }
    char id[24];
    level->size_bytes = level->fit.count * level->line.bytes;
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: the sets have room for %llu B, but were never all full at once; an "
                 "array of %zu lines of %llu B fits, one more does not, though by the sets %zu do",
                 level->info->op, (unsigned long long)in_sets, level->fit.count,
                 (unsigned long long)level->line.bytes, predicted);
    attribute_set(&level->result->size, (double)level->size_bytes, "B",
                  level->fit.certain ? 0.9 : 0.7, id);
    level->by_edge = true;
    return 0;
}

static void count_size(struct level *level)
{
    level->size_bytes = 0;
    for (size_t c = 0; c < level->map.sets; c++) {
        level->size_bytes += level->map.ways[c] * level->line.bytes;
    }
}

/* The most lines that a set is known to hold: of the filled ones, or of the conflicting set where
 * that was found among fewer lines than fit. */
static uint16_t most_ways(const struct level *level)
{
    const struct set_map *map = &level->map;
    uint16_t most = level->by_drawn ? (uint16_t)(level->conflict.count - 1) : 0;
    for (size_t c = 0; c < map->sets; c++) {
        most = map->ways[c] > most ? map->ways[c] : most;
    }
    return most;
}

/*
 * Sets that seem to differ may hold as many lines as the largest when they are full alone: then
 * something else than the sets bounds the cache, and the walk of all showed which were last. The
 * first that does not hold them ends it: the sets do differ.
 */
static int fill_alone(struct level *level, struct work *work, size_t *more)
{
    struct set_map *map = &level->map;
    uint16_t most = most_ways(level);
    *more = 0;
    for (size_t c = 0; c < map->sets; c++) {
        if (map->ways[c] == most) {
            continue;
        }
        memset(work->wanted, 0, map->sets * sizeof *work->wanted);
        work->wanted[c] = most;
        int rc = test_classes(level, work->verdicts, work->wanted, SIZE_MAX, NULL);
        if (rc || work->verdicts[c] != FIT_YES) {
            return rc && !lab_soft(rc) ? rc : 0;
        }
        map->ways[c] = most;
        ++*more;
    }
    return 0;
}

/* Sets that hold their lines alone, of a cache that does not hold all of them. */
static int tell_bound(struct level *level, size_t more)
{
    const struct score score = {.crowded = more};
    count_size(level);
    report(level, &score);
    int rc = report_bound(level, &score);
    return rc ? rc : take_largest_set(level);
}

static int measure(struct level *level, struct work *work)
{
    size_t unknown, more = 0;
    struct score score;
    int rc = find_ways(level, work, &unknown);
    if (rc == 0 && !unknown &&
        (!ways_are_equal(&level->map) || level->map.ways[0] < most_ways(level))) {
        rc = fill_alone(level, work, &more);
    }
    if (rc == 0 && more && ways_are_equal(&level->map)) {
        return tell_bound(level, more);
    }
    if (rc == 0 && unknown) {
        return lab_undecided(level->lab, "noise hides how many lines %zu of %zu sets hold", unknown,
                             level->map.sets);
    }
    if (rc == 0) {
        count_size(level);
        rc = check_structure(level, work, &score);
    }
    rc = rc ? rc : check_together(level, work, &score);
    bool one = true;
    rc = rc || level->map.sets > 1 ? rc : level_is_one_set(level, &one, level->map.ways[0]);
    if (rc == 0) {
        bool several = level->map.sets == 1 && (score.failed || !one);
        report(level, &score);
        rc = score.crowded ? report_bound(level, &score)
             : several     ? level_several_sets(level)
             : score.apart ? report_shorter(level)
                           : 0;
        rc = rc ? rc : take_largest_set(level);
    }
    return rc;
}

/* What the parts of an array have said of a cache behind another is of one set: where the others
 * could not be filled, or asked, they may have more ways. */
static void doubt_parts(struct cache_result *r, double sure)
{
    r->size.confidence = fmin(r->size.confidence, sure);
    r->sets.confidence = fmin(r->sets.confidence, sure);
    r->ways.confidence = fmin(r->ways.confidence, sure);
}

/* A set that does not divide what fits is none for sure where no index shows other lines of it. */
static int doubt_set(struct level *level)
{
    behind_forget_conflict(level);
    return lab_undecided(level->lab, "what fits is no multiple of a set's lines, and which lines "
                                     "share a set behind another cache is not known");
}

static int sets_unnumbered(struct level *level)
{
    if (!level->front) {
        return level_sets_hashed(level);
    }
    if (level->filler && level->result->ways.status != ATTRIBUTE_MEASURED) {
        return doubt_set(level);
    }
    int rc = behind_held(level);
    if (rc == INFER_UNDECIDED) {
        doubt_parts(level->result, limits.unasked);
    }
    return rc;
}

int level_sets(struct level *level)
{
    size_t sets = level->map.sets;
    if (sets == 0) {
        return sets_unnumbered(level);
    }
    struct work work = {.search = calloc(sets, sizeof *work.search),
                        .wanted = calloc(sets, sizeof *work.wanted),
                        .verdicts = calloc(sets, sizeof *work.verdicts)};
    int rc = work.search && work.wanted && work.verdicts ? measure(level, &work) : error_memory();
    free(work.search);
    free(work.wanted);
    free(work.verdicts);
    if (rc == INFER_UNDECIDED && level->front) {
        doubt_parts(level->result, limits.unfilled);
    }
    return rc;
}
