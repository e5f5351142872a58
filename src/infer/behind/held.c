/*
 * How many lines a cache behind another holds when all its sets are full, whatever chooses a set:
 * all lines that the path reaches are read in some order, and then back again (geometry/held.c says
 * why what hits on the way back is what was held). What the cache in front still has was read last,
 * and is mostly held here as well: an order may leave a line or two in front that are not. The path
 * reaches little, so other lines cannot be asked for a second answer: other orders of the same are.
 * Most must give the least number, and none many more. Victims that are drawn give another number
 * each time.
 *
 * That number is a multiple of the ways, or these were wrong. That every set has more lines than
 * ways is not seen but likely: a hash gives a set so many as chance does.
 */
#include <stdio.h>
#include <stdlib.h>

#include "infer/behind/behind.h"
#include "util/error.h"
#include "util/rng.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned orders, agree, more, reads, most_lines;
    double short_sets, sure, unordered;
} limits = {
    .orders = 6,        /* in which all lines are read */
    .agree = 3,         /* of them give the least number, */
    .more = 4,          /* and the others at most so many lines more */
    .reads = 3,         /* of each, where noise is: a line that hits once is held */
    .most_lines = 3072, /* a window holds their way back */
    .short_sets = 0.01, /* a way: sets that chance leaves with too few lines; of so many ways, one
                           in as many sums of what is held is a multiple all the same */
    .sure = 0.95,       /* confidence, of policies under which lines leave in their order */
    .unordered = 0.45,  /* the same of others, as in geometry/held.c */
};

void behind_lay_out(uint32_t *ring, const uint32_t *order, size_t lines, uint64_t bytes)
{
    for (size_t i = 0; i < lines; i++) {
        uint32_t line = (uint32_t)(order[i] * bytes);
        ring[lines + i] = line;
        ring[lines - 1 - i] = line + CHASE_WORD_BYTES;
    }
}

/* Notes which elements of the way back hit. */
static int read_back(struct level *level, bool *hit, const uint32_t *ring, size_t lines,
                     uint32_t run)
{
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = ring, .count = 2 * lines});
    struct walk walk;
    plan.filler = NULL; /* these are all lines that there are */
    plan.warm = 2 * lines;
    plan.window = (uint32_t)lines;
    plan.windows = 1;
    plan.run = run;
    int rc = walk_run(level->lab, &walk, &plan);
    for (size_t i = 0; rc == 0 && i < walk.count; i++) {
        size_t at = walk_element(&walk, i);
        hit[at] = hit[at] || level_class(level, walk.latency[i]) == LOAD_HIT;
    }
    if (rc == 0) {
        walk_free(&walk);
    }
    return rc;
}

struct room {
    uint32_t *order, *ring;
    bool *hit;
};

static int count_held(struct level *level, size_t *held, struct room *room, size_t lines,
                      unsigned turn)
{
    unsigned reads = level->timing.false_slow > 0 ? limits.reads : 1;
    struct rng rng;
    int rc = 0;
    rng_seed(&rng, turn + 1);
    rng_permutation(room->order, &rng, (uint32_t)lines);
    behind_lay_out(room->ring, room->order, lines, level->line.bytes);
    for (size_t i = 0; i < 2 * lines; i++) {
        room->hit[i] = false;
    }
    for (unsigned i = 0; rc == 0 && i < reads; i++) {
        rc = read_back(level, room->hit, room->ring, lines, 700 + i);
    }
    *held = 0;
    for (size_t i = 0; i < lines; i++) {
        *held += room->hit[i];
    }
    return rc;
}

/* How many sets, if they have so many ways, are left by chance with fewer lines than these? */
static double short_sets(size_t lines, size_t held, size_t ways)
{
    double sets = (double)held / (double)ways;
    return sets * (1 - poisson_tail((double)lines / sets, ways));
}

static void room_free(struct room *room)
{
    free(room->order);
    free(room->ring);
    free(room->hit);
}

static int ask_orders(struct level *level, size_t *held, size_t lines)
{
    struct room room = {.order = malloc((lines + 1) * sizeof *room.order),
                        .ring = malloc((2 * lines + 1) * sizeof *room.ring),
                        .hit = malloc((2 * lines + 1) * sizeof *room.hit)};
    size_t most = 0, alike = 0;
    int rc = 0;
    if (!room.order || !room.ring || !room.hit) {
        room_free(&room);
        return error_memory();
    }
    for (unsigned turn = 0; rc == 0 && turn < limits.orders; turn++) {
        size_t now = 0;
        rc = count_held(level, &now, &room, lines, turn);
        most = now > most ? now : most;
        alike = turn == 0 || now < *held ? 1 : alike + (now == *held);
        *held = turn == 0 || now < *held ? now : *held;
    }
    room_free(&room);
    if (rc == 0 && (*held == 0 || alike < limits.agree || most > *held + limits.more)) {
        rc = lab_undecided(level->lab, "of %zu lines read to and fro %zu are held, and up to %zu",
                           lines, *held, most);
    }
    return rc;
}

static void tell(struct level *level, size_t lines, size_t held, size_t ways)
{
    struct cache_result *r = level->result;
    size_t sets = held / ways;
    bool whole = held == sets * ways;
    double sure = whole && level->filler ? limits.sure : limits.unordered;
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: of %zu lines read in %u drawn orders, and then back, %zu are still "
                 "held; with %zu ways that is %s",
                 level->info->op, lines, limits.orders, held, ways,
                 whole ? "whole sets" : "no number of sets");
    level->size_bytes = held * level->line.bytes;
    level->by_held = true;
    attribute_set(&r->size, (double)level->size_bytes, "B", sure, id);
    if (whole) {
        attribute_set(&r->sets, (double)sets, "1", sure, id);
        return;
    }
    char reason[160];
    snprintf(reason, sizeof reason, "%zu lines are held, which is no multiple of %zu", held, ways);
    attribute_refuse(&r->ways, "1", reason);
    attribute_refuse(&r->sets, "1", reason);
}

int behind_held(struct level *level)
{
    struct cache_result *r = level->result;
    size_t ways = r->ways.status == ATTRIBUTE_MEASURED ? (size_t)r->ways.value : 0, held = 0;
    uint64_t line = level->line.bytes;
    size_t lines = line ? (size_t)(path_find(level->info->op)->reach_bytes / line) : 0;
    bool told = r->sets.status == ATTRIBUTE_MEASURED; /* by the parts of an array: ways.c */
    if (told || ways < 2 || lines == 0 || lines > limits.most_lines || lines > level->max_window) {
        return lab_undecided(level->lab, "which lines share a set behind another cache is not "
                                         "known");
    }
    int rc = ask_orders(level, &held, lines);
    /* Whatever the ways are if not these, sets of two are short the soonest. */
    size_t least = held % ways ? 2 : ways;
    if (rc == 0 && short_sets(lines, held, least) > limits.short_sets * (double)least) {
        rc =
            lab_undecided(level->lab, "%zu lines are too few to fill the sets of %zu", lines, held);
    }
    if (rc == 0) {
        tell(level, lines, held, ways);
    }
    return rc;
}
