/*
 * The ways and the line of a cache that is too large for ordered walks. All threads of a block read
 * lines drawn at random, and one line, the target, is timed afterwards: has it been driven out (the
 * probe `evict`)? The shortest run of drawn lines that drives it out ends in a line of its set.
 * That one is kept aside, and the shortest run is sought that does it together with those kept, and
 * so on, until those kept do it alone:
 *
 *     drawn   . . x . . . . x . . x . x . . x . . .        x: of the target's set, 4 ways
 *             |---------------------------->|              the first run ends here: kept
 *             |---------------------->|    +1              the next one
 *             |------------->|             +2
 *
 * They are as many as the set has ways, if they are needed one and all: that is tested. Nothing
 * about the policy is assumed but that so many other lines, read twice, drive the target out, and
 * fewer never do; where that does not hold, the test fails. How far the target can be moved and
 * still is driven out by the same lines is its line. Two targets must agree.
 *
 * The number of sets stays open: how many lines are drawn until a set has so many tells it within
 * a few hundredths only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/experiments.h"
#include "infer/large/large.h"
#include "trace/pool.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Fixed by: an H200: 16 of 16 lines of five sets. */
static const struct {
    unsigned targets, agreeing, passes, turns, sure_turns, strays, step, most_line, late_rounds;
    uint32_t most_pool, first_pool;
    uint64_t most_bytes, least_bytes;
} limits = {
    .targets = 5,                      /* lines whose eviction is tried */
    .agreeing = 2,                     /* targets that must agree */
    .most_pool = UINT32_C(1) << 21,    /* lines that are read to evict one */
    .first_pool = UINT32_C(1) << 14,   /* lines, the first try */
    .most_bytes = UINT64_C(512) << 20, /* bytes from which lines are drawn */
    .least_bytes = UINT64_C(64) << 20, /* bytes, the same at least */
    .passes = 2, /* passes over a pool: on an H200 one does not always do, though its L2 is LRU */
    .turns = 5,  /* turns of a question */
    .sure_turns = 16,  /* turns of the test */
    .strays = 2,       /* turns of these that noise may change */
    .step = 32,        /* bytes that a target is moved by */
    .most_line = 4096, /* bytes: longer lines are not looked for */
    .late_rounds = 8,  /* rounds of the circle that tells lru_late */
};
#define MOST_WAYS 64

struct hunt {
    struct level *level;
    uint32_t seed, unit, units, target;
    uint32_t kept[MOST_WAYS + 1];
    size_t kept_count;
    uint32_t drawn; /* length of the first run */
    uint32_t line;
};

/* How many of `turns` the target was gone, after `pool` drawn lines and a list. */
static int count_gone(struct hunt *h, uint32_t *gone, uint32_t target, uint32_t pool,
                      const uint32_t *list, size_t count, uint32_t turns)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    size_t records = 0;
    trace_request_init(&request, "evict");
    request.ring = count ? list : NULL;
    request.ring_count = count;
    int rc = trace_request_set_u64(&request, "target", target);
    rc = rc ? rc : trace_request_set_u64(&request, "pool", pool);
    rc = rc ? rc : trace_request_set_u64(&request, "seed", h->seed);
    rc = rc ? rc : trace_request_set_u64(&request, "unit", h->unit);
    rc = rc ? rc : trace_request_set_u64(&request, "span", (uint64_t)h->units * h->unit);
    rc = rc ? rc : trace_request_set_u64(&request, "repeats", turns);
    rc = rc ? rc : trace_request_set_u64(&request, "passes", limits.passes);
    rc = rc ? rc : lab_measure(h->level->lab, &trace, &request);
    if (rc) {
        return rc;
    }
    const uint32_t *latency = trace_u32(trace, "latency", &records);
    if (!latency || records != turns) {
        return lab_undecided(h->level->lab, "an evict trace lacks records");
    }
    h->level->lab->loads += (uint64_t)turns * (pool + count + 1);
    *gone = 0;
    for (uint32_t i = 0; i < turns; i++) {
        *gone += latency[i] > h->level->timing.threshold;
    }
    return 0;
}

/* Do so many drawn lines, with those kept, drive the target out? */
static int drives_out(struct hunt *h, bool *out, uint32_t pool)
{
    uint32_t gone = 0;
    int rc = count_gone(h, &gone, h->target, pool, h->kept, h->kept_count, limits.turns);
    *out = 2 * gone > limits.turns;
    return rc;
}

static uint32_t drawn_line(const struct hunt *h, uint32_t i)
{
    return pool_unit(h->seed, i, h->units) * h->unit;
}

/* A run that does; 0 where none is long enough. */
static int find_long(struct hunt *h, uint32_t *pool)
{
    bool out = false;
    int rc = 0;
    *pool = 0;
    for (uint32_t n = limits.first_pool; rc == 0 && !out && n <= limits.most_pool; n *= 2) {
        rc = drives_out(h, &out, n);
        *pool = out ? n : 0;
    }
    return rc || *pool
               ? rc
               : lab_undecided(h->level->lab, "%u lines drawn at random do not drive one out",
                               limits.most_pool);
}

/* Keeps the last line of the shortest run of at most `high` lines, which do it. */
static int keep_next(struct hunt *h, uint32_t *high)
{
    uint32_t low = 0;
    int rc = 0;
    while (rc == 0 && *high - low > 1) {
        uint32_t middle = low + (*high - low) / 2;
        bool out = false;
        rc = drives_out(h, &out, middle);
        *(out ? high : &low) = middle;
    }
    h->drawn = h->kept_count == 0 ? *high : h->drawn;
    h->kept[h->kept_count++] = drawn_line(h, *high - 1);
    --*high;
    return rc;
}

static int find_set(struct hunt *h)
{
    uint32_t high;
    bool alone = false;
    h->kept_count = 0;
    int rc = find_long(h, &high);
    while (rc == 0 && !alone) {
        if (h->kept_count == MOST_WAYS || high == 0) {
            return lab_undecided(h->level->lab, "%zu lines of a set do not drive another out",
                                 h->kept_count);
        }
        rc = keep_next(h, &high);
        rc = rc ? rc : drives_out(h, &alone, 0);
    }
    return rc;
}

/* All of those kept do it, and without any one of them none does. */
static int test_set(struct hunt *h, bool *holds)
{
    uint32_t gone = 0, without[MOST_WAYS + 1];
    int rc = count_gone(h, &gone, h->target, 0, h->kept, h->kept_count, limits.sure_turns);
    *holds = gone + limits.strays >= limits.sure_turns;
    for (size_t left = 0; rc == 0 && *holds && left < h->kept_count; left++) {
        size_t count = 0;
        for (size_t i = 0; i < h->kept_count; i++) {
            without[count] = h->kept[i];
            count += i != left;
        }
        rc = count_gone(h, &gone, h->target, 0, without, count, limits.sure_turns);
        *holds = gone <= limits.strays;
    }
    return rc;
}

/* How far from the target, in one direction, the same lines still drive out. */
static int find_reach(struct hunt *h, uint32_t *reach, bool down)
{
    int rc = 0;
    *reach = 0;
    for (bool out = true; rc == 0 && out && *reach < limits.most_line;) {
        uint32_t next = *reach + limits.step, gone = 0;
        if (down && next > h->target) {
            break;
        }
        uint32_t moved = down ? h->target - next : h->target + next;
        rc = count_gone(h, &gone, moved, 0, h->kept, h->kept_count, limits.sure_turns);
        out = gone + limits.strays >= limits.sure_turns;
        *reach = out ? next : *reach;
    }
    return rc;
}

static int hunt_one(struct hunt *h, bool *found)
{
    uint32_t up = 0, down = 0;
    *found = false;
    int rc = find_set(h);
    rc = rc ? rc : test_set(h, found);
    if (rc || !*found) {
        return rc;
    }
    rc = find_reach(h, &up, false);
    rc = rc ? rc : find_reach(h, &down, true);
    h->line = up + down + limits.step;
    return rc;
}

static void report(struct level *level, const struct hunt *h, unsigned tried, uint32_t drawn)
{
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "evict: of lines drawn at random the %zu that drive a certain one out do so in "
                 "all turns, and no %zu of them; bytes up to %u B around it are driven out by the "
                 "same. Two of %u targets agree; the first were %u and %u lines long",
                 h->kept_count, h->kept_count - 1, h->line, tried, drawn, h->drawn);
    attribute_set(&level->result->ways, (double)h->kept_count, "1", 0.93, id);
    attribute_set(&level->result->line, h->line, "B", 0.93, id);
    level->line.bytes = h->line;
    char reason[160];
    snprintf(reason, sizeof reason,
             "too large to fill; by how many drawn lines hold those of a set they are some %u",
             (drawn + h->drawn) / 2 / (uint32_t)h->kept_count);
    attribute_refuse(&level->result->sets, "1", reason);
}

/* Takes one of the policies that could not be told apart out. */
static void drop_equivalent(struct policy_result *policy, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < policy->equivalent_count; i++) {
        if (strcmp(policy->equivalent[i], name) != 0) {
            memmove(policy->equivalent[kept++], policy->equivalent[i],
                    sizeof policy->equivalent[0]);
        }
    }
    policy->equivalent_count = kept;
}

static bool is_open_between(const struct policy_result *policy, const char *a, const char *b)
{
    bool found = false;
    for (size_t i = 0; i < policy->equivalent_count; i++) {
        found = found || strcmp(policy->equivalent[i], b) == 0;
    }
    return found && strcmp(policy->name, a) == 0;
}

/*
 * In large sets drawn orders hardly tell LRU from lru_late. A circle in which the first two lines
 * are read twice does: LRU gives all of them up before they come again; lru_late keeps those two,
 * or one of them in turn, for two hits of one line count as two.
 */
static int tell_late(struct level *level)
{
    struct policy_result *policy = &level->result->policy;
    size_t lines = level->conflict.count, count = lines + 2, first = 0, kept = 0;
    uint32_t *ring = malloc(count * sizeof *ring);
    if (!ring || !is_open_between(policy, "lru", "lru_late")) {
        free(ring);
        return ring ? 0 : error_memory();
    }
    for (size_t i = 0; i < count; i++) {
        ring[i] = level->conflict.offsets[i < 4 ? i / 2 : i - 2] +
                  (i < 4 && i % 2 ? CHASE_WORD_BYTES : 0);
    }
    struct walk walk;
    struct walk_plan plan = level_plan(level, (struct walk_shape){.ring = ring, .count = count});
    plan.warm = limits.late_rounds * count;
    plan.window =
        (uint32_t)(limits.late_rounds * count < level->max_window ? limits.late_rounds * count
                                                                  : level->max_window);
    int rc = walk_run(level->lab, &walk, &plan);
    for (size_t i = 0; rc == 0 && i < walk.count; i++) {
        size_t element = walk_element(&walk, i);
        first += element == 0 || element == 2;
        kept += (element == 0 || element == 2) && level_class(level, walk.latency[i]) == LOAD_HIT;
    }
    if (rc == 0) {
        walk_free(&walk);
    }
    free(ring);
    if (rc == 0 && (10 * kept <= first || 10 * kept >= 4 * first)) {
        bool late = 10 * kept > first;
        drop_equivalent(policy, "lru_late");
        snprintf(policy->name, sizeof policy->name, "%s", late ? "lru_late" : "lru");
    }
    return rc;
}

int large_policy(struct level *level)
{
    struct policy_result *policy = &level->result->policy;
    *policy = (struct policy_result){.confidence = 0};
    int rc = level_policy(level);
    rc = rc ? rc : tell_late(level);
    if (rc && lab_soft(rc)) {
        policy->refusal = lab_refusal(level->lab);
        rc = 0;
    }
    return rc;
}

/* A set is known, and a line more: that is all that the policy needs (policy.c). */
static int find_policy(struct level *level, const struct hunt *h)
{
    size_t count = h->kept_count + 1;
    uint32_t *conflict = malloc(count * sizeof *conflict);
    if (!conflict) {
        return error_memory();
    }
    memcpy(conflict, h->kept, h->kept_count * sizeof *conflict);
    conflict[count - 1] = h->target;
    for (size_t i = 0; i < count; i++) {
        conflict[i] -= conflict[i] % h->line; /* words of its first fetch unit are read */
    }
    sort_u32(conflict, count);
    level->conflict.offsets = conflict;
    level->conflict.count = count;
    int rc = large_policy(level);
    level->conflict.offsets = NULL;
    level->conflict.count = 0;
    free(conflict);
    return rc;
}

static bool prepare(struct hunt *h, struct level *level, unsigned i)
{
    uint64_t bytes = level->lab->options->max_footprint_bytes;
    bytes = bytes < limits.most_bytes ? bytes : limits.most_bytes;
    *h = (struct hunt){.level = level, .seed = 1 + i, .unit = 128};
    h->units = (uint32_t)(bytes / h->unit);
    h->target = drawn_line(h, UINT32_MAX - i); /* that no pool reaches */
    return bytes >= limits.least_bytes;
}

bool evict_applies(const struct level *level)
{
    bool applies = level->outermost && level->large && !level->taken_apart;
    if (!applies) {
        lab_absent(level->lab, NOT_APPLICABLE);
    }
    return applies;
}

int level_evict(struct level *level)
{
    struct hunt *first = calloc(2, sizeof *first);
    if (!first) {
        return error_memory();
    }
    struct hunt *h = first + 1;
    int rc = 0;
    bool agree = false;
    unsigned i = 0;
    for (; rc == 0 && !agree && i < limits.targets; i++) {
        bool found = false;
        rc = prepare(h, level, i)
                 ? hunt_one(h, &found)
                 : lab_undecided(level->lab, "too little memory to draw lines from");
        if (rc == 0 && found) {
            agree = first->kept_count == h->kept_count && first->line == h->line;
            if (agree) {
                report(level, h, i + 1, first->drawn);
            }
            *first = *h;
        }
    }
    if (rc == 0 && agree) {
        rc = find_policy(level, first);
    } else if (rc == 0) {
        rc = lab_undecided(level->lab,
                           "no two of %u lines are driven out by sets that are as large", i);
    }
    free(first);
    return rc;
}
