/*
 * How many lines a cache holds when every set is full. Far more lines than fit are read one after
 * the other, and then back again from the last one on, at another word of each:
 *
 *     read   0 1 2 ... n-2 n-1 | n-1 n-2 ... 2 1 0
 *                                 h   h  . h  . .      h: still held
 *
 * On the way back each set still has its last lines, as many as it has ways, and comes to them
 * before any other takes their place: of LRU, FIFO and all policies under which a line that was
 * never read again leaves in the order in which it came. So the hits are all the lines that the
 * cache holds, whatever chooses a set. That is not assumed: other lines must give the same number,
 * to a line, and it must be a multiple of the ways. Victims that are drawn give another number
 * each time. What lru_late and srrip give up first is what was read once, so of these each line is
 * read twice on the way there.
 *
 * Where slices take their rows of lines in turn (rows.c), the lines of one slice are read, and then
 * those of the next one: all hold as many.
 *
 * All of that is one launch where the probe `held` is at hand (large/to_and_fro.c). Other paths,
 * and recordings without that probe, have windows of a chase. Each window is recorded in a walk of
 * its own, for records are written through the same cache: it begins with the first line of the way
 * there, and ends where the window does. So the cost goes as the square of the lines, and these are
 * as few as fill each set: more of them are tried until the last ones on the way back miss. The way
 * back ends where so many lines in a row miss that a set which still holds one would have shown it.
 */
#include "infer/geometry/geometry.h"
#include "infer/large/large.h"
#include "infer/policy/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind --draw wide). */
static const struct {
    unsigned rounds, draws, reads;
    double spread_ways, longer, settled, sure, unordered, edge;
    uint64_t loads;
} limits = {
    .rounds = 14,      /* numbers of lines that are tried */
    .draws = 2,        /* beginnings that must agree */
    .reads = 3,        /* of each window, where noise is: a line that hits once is held */
    .spread_ways = 3,  /* by the root of the ways: what is read at first beyond what fits in order,
                          as parts of that. Chosen */
    .longer = 1.25,    /* times the lines that left a set short: the next. Chosen */
    .settled = 8,      /* times the sets: lines that miss in a row; by Poisson's law one set in e^8
                          has none of them */
    .sure = 0.95,      /* confidence of what two beginnings tell to a line. Chosen */
    .unordered = 0.45, /* the same where lines leave in another order than they came, or in one that
                          is not known. Blind trials */
    .edge = 0.75,      /* of an edge, where victims are drawn. Chosen */
    .loads = 4000000,  /* loads that all this may take */
};

/* Slices that lines are chosen from; 1: all lines are read. */
static uint32_t slices_of(const struct level *level)
{
    return level->slice_period ? level->slice_period : 1;
}

/* Lines that were read once are the first to leave: those that were read twice leave in order. */
static bool reads_twice(const struct level *level)
{
    const char *name = level->result->policy.name;
    return level->timing.fetch_bytes > 2 * CHASE_WORD_BYTES &&
           (strcmp(name, "lru_late") == 0 || strcmp(name, "srrip") == 0);
}

/* Lines from `first` on, there and back. */
struct way {
    struct level *level;
    uint32_t *ring;
    bool *hit; /* of the way back, from the last line on */
    size_t first, lines;
    unsigned there; /* words of each line that are read on the way there */
    uint32_t slice; /* that they are of */
};

static int way_create(struct way *way, struct level *level, size_t draw, size_t lines)
{
    unsigned there = reads_twice(level) ? 2 : 1;
    *way = (struct way){.level = level,
                        .ring = malloc(((1 + there) * lines + 1) * sizeof *way->ring),
                        .hit = calloc(lines + 1, sizeof *way->hit),
                        .first = draw * lines,
                        .lines = lines,
                        .there = there,
                        .slice = (uint32_t)draw % slices_of(level)};
    return way->ring && way->hit ? 0 : error_memory();
}

static void way_free(struct way *way)
{
    free(way->ring);
    free(way->hit);
}

static uint32_t window_of(const struct way *way, size_t from)
{
    size_t left = way->lines - from, most = way->level->max_window;
    return (uint32_t)(left < most ? left : most);
}

/* The n-th line of the way's slice. */
static uint32_t line_at(const struct way *way, size_t n)
{
    size_t row = way->level->slice_lines ? way->level->slice_lines : 1;
    return (uint32_t)((n / row * slices_of(way->level) + way->slice) * row + n % row);
}

/* The ring begins with the way back's element `from`; the way there is element `lines` on. */
static void lay_out(struct way *way, size_t from)
{
    size_t all = (1 + way->there) * way->lines;
    for (size_t i = 0; i < all; i++) {
        size_t at = (from + i) % all, there = at - way->lines;
        bool back = at < way->lines;
        size_t line = way->first + (back ? way->lines - 1 - at : there / way->there);
        size_t word = back ? 0 : 1 + there % way->there;
        way->ring[i] =
            (uint32_t)(line_at(way, line) * way->level->line.bytes + word * CHASE_WORD_BYTES);
    }
}

/* All lines, the way back to element `from`, and there a window. */
static int read_window(struct way *way, size_t from)
{
    struct level *level = way->level;
    unsigned reads = level->timing.false_slow > 0 ? limits.reads : 1;
    lay_out(way, from);
    size_t there = way->there * way->lines;
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = way->ring, .count = there + way->lines});
    plan.warm = there + from;
    plan.window = window_of(way, from);
    plan.windows = 1;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < reads; i++) {
        struct walk walk;
        plan.run = i;
        rc = walk_run(level->lab, &walk, &plan);
        for (size_t k = 0; rc == 0 && k < walk.count; k++) {
            bool *hit = &way->hit[from + walk_element(&walk, k)];
            *hit = *hit || level_class(level, walk.latency[k]) == LOAD_HIT;
        }
        if (rc == 0) {
            walk_free(&walk);
        }
    }
    return rc;
}

/* The lines that hit on the way back, if it comes to where none can be left; else 0 in `held`. */
static int count_held(struct way *way, size_t *held)
{
    double ways = (double)(way->level->conflict.count - 1);
    size_t hits = 0, missed = 0;
    bool settled = false;
    int rc = 0;
    for (size_t from = 0; rc == 0 && from < way->lines && !settled;) {
        size_t window = window_of(way, from);
        rc = read_window(way, from);
        for (size_t i = from; i < from + window; i++) {
            hits += way->hit[i];
            missed = way->hit[i] ? 0 : missed + 1;
        }
        settled = (double)missed * ways > limits.settled * (double)hits;
        from += window;
    }
    *held = settled ? hits : 0;
    return rc;
}

/* Do the last lines of the way back miss? */
static int ends_with_misses(struct way *way, bool *all_miss)
{
    size_t most = way->level->max_window, from = way->lines > most ? way->lines - most : 0;
    int rc = read_window(way, from);
    for (size_t i = way->lines - way->lines / 8; rc == 0 && i < way->lines; i++) {
        *all_miss = *all_miss && !(i >= from && way->hit[i]);
    }
    return rc;
}

/* Is there memory for so many lines from several beginnings, and are there loads for one more? */
static bool can_read(const struct level *level, size_t lines, uint64_t start)
{
    uint64_t window = level->max_window, windows = (lines + window - 1) / window;
    uint64_t reads = level->timing.false_slow > 0 ? limits.reads : 1;
    uint64_t there = reads_twice(level) ? 2 : 1;
    uint64_t loads = reads * windows * (there * lines + lines / 2 + window);
    uint64_t bytes = (uint64_t)limits.draws * lines * slices_of(level) * level->line.bytes;
    return bytes <= level->lab->options->max_footprint_bytes && bytes <= UINT32_MAX &&
           level->lab->loads - start + loads <= limits.loads;
}

/* What is held of so many lines: 0 where some set may still be short of them. */
static int try_lines(struct level *level, size_t *held, size_t draw, size_t lines, bool known)
{
    struct way way;
    bool enough = true;
    int rc = way_create(&way, level, draw, lines);
    rc = rc || known ? rc : ends_with_misses(&way, &enough);
    *held = 0;
    rc = rc || !enough ? rc : count_held(&way, held);
    way_free(&way);
    return rc;
}

/*
 * So many lines that each set has more than it holds, and what is held of them. What was read twice
 * before may stay for some more lines (srrip): then these are fewer than all ways.
 */
static int find_enough(struct level *level, size_t *lines, size_t *held, size_t draw,
                       uint64_t start)
{
    size_t ways = level->conflict.count - 1;
    for (unsigned round = 0; round < limits.rounds && can_read(level, *lines, start); round++) {
        int rc = try_lines(level, held, draw, *lines, draw > 0);
        bool whole = *held % ways == 0;
        if (rc == 0 && !whole && !reads_twice(level)) {
            rc = lab_undecided(level->lab, "%zu lines that are held are no multiple of the ways",
                               *held);
        }
        if (rc || (*held && whole)) {
            return rc;
        }
        *lines = (size_t)(limits.longer * (double)*lines);
    }
    return lab_undecided(level->lab, "reading %zu lines to and fro takes too long", *lines);
}

static int held_by_windows(struct level *level, size_t *held)
{
    uint64_t start = level->lab->loads;
    size_t ways = level->conflict.count - 1, lines = level->fit.count / slices_of(level);
    lines = lines > ways ? lines : ways;
    lines = (size_t)((double)lines * (1 + limits.spread_ways / sqrt((double)ways)));
    *held = 0;
    int rc = find_enough(level, &lines, held, 0, start);
    for (size_t i = 1; rc == 0 && i < limits.draws; i++) {
        size_t again = 0;
        rc = find_enough(level, &lines, &again, i, start);
        if (rc == 0 && again != *held) {
            rc = lab_undecided(level->lab, "of %zu lines read to and fro %zu are held, and %zu",
                               lines, *held, again);
        }
    }
    *held *= slices_of(level);
    return rc;
}

int level_held(struct level *level, size_t *held)
{
    bool answered = false;
    int rc = to_and_fro_applies(level) ? to_and_fro(level, held, &answered) : INFER_UNDECIDED;
    return answered || (rc && !lab_soft(rc)) ? rc : held_by_windows(level, held);
}

void level_tell_held(struct level *level, size_t held)
{
    char id[24];
    struct cache_result *r = level->result;
    size_t ways = level->conflict.count - 1, sets = held / ways;
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: of lines read one after the other and then back %zu are still held"
                 "%s, the same of others; with %zu ways that is %zu sets",
                 level->info->op, held / slices_of(level),
                 level->slice_period ? ", of one slice's" : "", ways, sets);
    level->size_bytes = held * level->line.bytes;
    attribute_set(&r->size, (double)level->size_bytes, "B", limits.sure, id);
    attribute_set(&r->sets, (double)sets, "1", limits.sure, id);
    level->by_held = true;
    level->held_twice = reads_twice(level);
}

void level_doubt_held(struct level *level)
{
    struct cache_result *r = level->result;
    const char *name = r->policy.confidence > 0 ? r->policy.name : "";
    if (level->by_edge && policy_is_drawn(name)) { /* a line too many misses now and then */
        r->size.confidence = fmin(r->size.confidence, limits.edge);
    }
    if (level->by_held && !level->held_twice && strcmp(name, "lru") != 0 &&
        strcmp(name, "fifo") != 0) {
        r->sets.confidence = fmin(r->sets.confidence, limits.unordered);
        r->size.confidence = fmin(r->size.confidence, limits.unordered);
    }
}
