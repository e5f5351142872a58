/*
 * A cache behind another, where no load passes the first by. The second cache of constants is one.
 *
 * Loads through twice what fits in front miss there. If they come back sooner than from L2, there
 * is a second cache. No threshold below their latency is the second one's.
 *
 * Walked lines must miss in front, or the second cache never sees them. Equally spaced ones miss in
 * front as soon as they are more than its ways, and a conflicting set of the second mostly is. A
 * single line in the place of another does not. So the line is measured with many addresses at
 * once: as a part of all that fits (behind/ways.c) or, where a set was found another way, by its
 * members. a0, a1, .. lie in one set of the second cache. Take k of them, more than half of its
 * ways and more than the ways of the first. A distance d stays in the line exactly if
 *
 *   - {a0 .. a(k-1), ak + d .. a(2k-1) + d} does not fit: d leads into no other set; and
 *   - {a0 .. a(k-1), a0 + d .. a(k-1) + d} fits: it needs no lines of its own.
 *
 * Lines are taken to be aligned to their length. Where the spacing varies, or the second cache has
 * no more ways than the first, the line stays unknown.
 */
#include <math.h>
#include <stdlib.h>

#include "infer/presence/presence.h"
#include "infer/geometry/geometry.h"
#include "infer/fit/fit.h"
#include "infer/experiments.h"
#include "infer/behind/behind.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Fixed by: blind trials of constants alone (tests/blind), where a member does not say
 * that it was chosen. */
static const struct {
    double hit_share, most_share, some_share, clearly, quiet, by_chance, sooner, drift, soon,
        nearer, nearest, within;
    unsigned clearly_cycles, quiet_cycles, first_reads, max_line_bytes, sooner_cycles;
} limits = {
    .hit_share = 0.98,   /* share of the loads that are hits for certain */
    .most_share = 0.9,   /* the same where some sets of the second cache are too full. Chosen */
    .some_share = 0.25,  /* share of what misses in front: more than noise and a few lines */
    .clearly = 1.03,     /* times a hit, and so many cycles more: no clock's drift, no port */
    .clearly_cycles = 8, /* cycles, the same */
    .quiet = 1.01,       /* times a hit, where all hits take the same: a clock's drift. Chosen */
    .quiet_cycles = 2,   /* cycles, the same, and by how much hits differ. Chosen */
    .nearer = 0.8,     /* share of a load from L2: few misses among hits are sooner, too, by 0.89 of
                          8600gts' memory. Chosen */
    .nearest = 0.9,    /* share of a load from L2: a hit that nothing else bears out. Chosen */
    .within = 0.5,     /* of what a miss takes more than a hit: hits spread less. Chosen */
    .drift = 0.02,     /* share of a load that clocks and noise put between two walks. Chosen */
    .soon = 0.1,       /* share of the first reads that are the soonest */
    .by_chance = 1e-6, /* chance: less likely is no accident */
    .first_reads = 256, /* records at least, in launches after the first. Chosen */
    .sooner = 0.75, /* share of a load from L2: the way there may be shorter than plain loads' */
    .sooner_cycles = 2,     /* cycles below next to all others: not the same place. Chosen */
    .max_line_bytes = 4096, /* bytes: longer lines are not looked for. Chosen */
};

/* From the first to the last of the elements that fit in front: more than the cache holds where
 * these are some lines apart. */
static uint64_t apart_in_front(const struct level_summary *front)
{
    return front->fit.count * front->fit.stride;
}

/* Twice what fits in front, or less. */
static struct walk_shape shape_behind(const struct level *level)
{
    const struct level_summary *front = level->front;
    uint64_t reach = level->lab->options->max_footprint_bytes, size = front->size_bytes;
    uint64_t stride = front->timing.fetch_bytes, bytes = apart_in_front(front);
    bytes = size && size < bytes && !level->behind_apart ? size : bytes;
    bytes = bytes * (level->behind_quarters ? level->behind_quarters : 8) / 4;
    bytes = bytes > reach ? reach : bytes;
    return (struct walk_shape){.stride = stride, .count = bytes / stride};
}

/* Latencies of what misses the cache in front. */
static int sample_behind(struct level *level, struct sample *out)
{
    const struct level_summary *front = level->front;
    struct sample all;
    int rc = circle_sample(level, &all, level->info->op, shape_behind(level));
    if (rc) {
        return rc;
    }
    struct sample missed = sample_view(&all, front->timing.threshold, front->timing.ceiling);
    struct sample slow = sample_view(&all, front->timing.threshold, INFINITY);
    /* The front's misses may have been the second cache's hits alone: these are no strays then. */
    missed = missed.count < 32 && 2 * slow.count > all.count ? slow : missed;
    rc = missed.count >= 32
             ? sample_create(out, missed.values, missed.count)
             : lab_undecided(level->lab, "twice of what fits into %s does not miss there",
                             front->info->id);
    sample_free(&all);
    return rc;
}

/*
 * The same elements, each read the first time in a launch. L2 has them from launches before. Where
 * both caches begin a launch empty, this is the latency of L2 on this path.
 */
static int sample_first(struct level *level, struct sample *out, const char *op)
{
    struct walk_shape shape = shape_behind(level);
    struct walk_plan plan = level_plan(level, shape);
    struct walk walk;
    plan.op = op;
    plan.window = (uint32_t)(shape.count < level->max_window ? shape.count : level->max_window);
    plan.windows = 2 + limits.first_reads / plan.window;
    int rc = walk_run(level->lab, &walk, &plan);
    if (rc == 0) {
        rc = sample_create(out, walk.latency + walk.window, walk.count - walk.window);
        walk_free(&walk);
    }
    return rc;
}

/* No hit takes so long but by an accident of noise, of which there is little where hits are alike.
 */
static double clearly_above_share(const struct sample *hits, double share)
{
    double slowest = sample_quantile(hits, share);
    double spread = slowest - sample_quantile(hits, 1 - share);
    return fmin(limits.clearly * slowest + limits.clearly_cycles,
                limits.quiet * slowest + limits.quiet_cycles + spread);
}

static double clearly_above(const struct sample *hits)
{
    return clearly_above_share(hits, limits.hit_share);
}

/*
 * Twice what fits in front may be too much for some sets of a second cache whose index is hashed.
 * Where next to all first reads take clearly longer than most of what misses in front, the rest of
 * these missed both. Where first reads are far from hits, too, that is what is nearer to them:
 * noise delays hits.
 */
static void leave_out_misses(struct sample *missed, const struct sample *first)
{
    double clearly = clearly_above_share(missed, limits.most_share);
    if (sample_quantile(first, limits.soon) > clearly) {
        double soonest = sample_quantile(first, 1 - limits.hit_share);
        bool far = soonest > limits.clearly * clearly + limits.clearly_cycles;
        double most = far ? 0.5 * (clearly + soonest) : clearly;
        missed->count = sample_view(missed, -1, most).count; /* they are in order */
        return;
    }
    /* Where many sets are too full, some of the rest is sooner than next to all first reads, and
     * nothing takes a time between. */
    double soonest = sample_quantile(first, 1 - limits.hit_share);
    size_t few = sample_view(missed, -1, soonest / limits.clearly - limits.clearly_cycles).count;
    size_t all = sample_view(missed, -1, soonest - 1).count;
    if ((double)few >= limits.some_share * (double)missed->count &&
        (double)few >= limits.hit_share * (double)all) {
        missed->count = few;
    }
}

/*
 * All first reads may take hardly longer than all that miss in front alone, as L2 is hardly farther
 * than the second cache. What lies between the two is as good as clearly above.
 */
static double between(const struct sample *missed, const struct sample *first)
{
    double fastest = sample_quantile(missed, 1 - limits.hit_share),
           slowest = sample_quantile(missed, limits.hit_share),
           soonest = sample_quantile(first, limits.soon);
    double apart = slowest - fastest < limits.quiet_cycles ? 1 : limits.drift * slowest;
    double clearly = clearly_above(missed);
    return soonest >= slowest + apart ? fmin(clearly, 0.5 * (slowest + soonest)) : clearly;
}

/* More slow ones among the first reads than by noise? */
static bool differ(const struct sample *slow, const struct sample *first)
{
    double by_noise = 2 * (1 - limits.hit_share) * (double)first->count;
    return poisson_tail(by_noise, slow->count) < limits.by_chance;
}

/* Does L2 keep from launch to launch what is as large? Then plain loads of it take as long the
 * first time in a launch as when they circle. */
static int plain_is_kept(struct level *level, bool *kept)
{
    struct sample circling, first;
    int rc = circle_sample(level, &circling, level->info->beneath, shape_behind(level));
    if (rc) {
        return rc;
    }
    double clearly = clearly_above(&circling);
    sample_free(&circling);
    rc = sample_first(level, &first, level->info->beneath);
    if (rc == 0) {
        struct sample slow = sample_view(&first, clearly, INFINITY);
        *kept = !differ(&slow, &first);
        sample_free(&first);
    }
    return rc;
}

/*
 * Are the slow loads from L2, or from memory, because launches evicted them from a small L2? Plain
 * loads from L2 take about as long as the one or the other; where they do not say which, they are
 * seen to be kept in L2.
 */
static int check_slow(struct level *level, const struct sample *missed, double slow, double soonest)
{
    int rc = circle_check_sooner(level, missed, limits.sooner);
    double own = sample_quantile(missed, 0.5), plain = level->timing.beneath_cycles;
    bool near = fabs(slow - plain) < fabs(own - plain);
    /* A path that has its own stages in front of L2 takes no longer there than a hit and a plain
     * load together. */
    if (!near && (rc == INFER_UNDECIDED || (rc == 0 && slow < own + plain))) {
        int asked = plain_is_kept(level, &near);
        rc = asked == SONDE_ENOTRECORDED || asked == 0 ? rc : asked;
    }
    if (rc == INFER_UNDECIDED && near) {
        level->result->present = true;
        rc = 0;
    }
    if (level->result->present && near) {
        level->timing.beneath_cycles = soonest;
    }
    return rc != INFER_UNDECIDED
               ? rc
               : lab_undecided(level->lab,
                               "loads that miss in front take %.0f cycles, others %.0f: of a "
                               "second cache and L2, or of L2 and memory",
                               own, slow);
}

/* The median latency of plain loads that circle so. */
static int sample_plain(struct level *level, double *median, struct walk_shape shape)
{
    struct sample plain;
    int rc = circle_sample(level, &plain, level->info->beneath, shape);
    *median = rc ? 0 : sample_quantile(&plain, 0.5);
    if (rc == 0) {
        sample_free(&plain);
    }
    return rc;
}

static void set_front_threshold(struct level *level, double cycles)
{
    for (size_t i = 0; i < level->lab->level_count; i++) {
        struct level_summary *front = &level->lab->levels[i];
        front->timing.threshold = front == level->front ? cycles : front->timing.threshold;
    }
}

/*
 * Misses in front were seen to take what the second cache takes. What lies behind it and is far
 * sooner passed for a hit in front, or noise makes it one: these end halfway before it.
 */
static void lower_front(struct level *level, double farther)
{
    double hit = level->front->timing.hit_cycles;
    if (hit < farther) {
        set_front_threshold(level, fmin(level->front->timing.threshold, 0.5 * (hit + farther)));
    }
}

/*
 * What misses in front takes longer than nearly all loads of a walk that no second cache can hold
 * alike: a cache answers them, and later than L2 would. From here on latencies are in the mirror.
 */
static void look_in_mirror(struct level *level, const struct sample *missed, double farther)
{
    struct level_timing *t = &level->timing;
    double own = sample_quantile(missed, 0.5);
    char id[24];
    lower_front(level, farther);
    t->mirror = (struct walk_mirror){.above = (uint32_t)level->front->timing.threshold,
                                     .upto = (uint32_t)clearly_above(missed),
                                     .sum = (uint32_t)(own + farther + 0.5)};
    /* Of a hit and of the next level, as all that follows sees them. */
    t->floor_cycles = limits.quiet * farther + limits.quiet_cycles +
                      sample_quantile(missed, limits.hit_share) -
                      sample_quantile(missed, 1 - limits.hit_share);
    t->floor_cycles = fmin(t->floor_cycles, 0.5 * (own + farther));
    t->beneath_cycles = own;
    level->result->present = true;
    lab_evidence(
        level->lab, id, level->info->id,
        "chase op=%s: loads that miss in front take %.0f cycles, and %.0f through all that "
        "the path reaches: the cache answers later than what lies behind it. In the walks "
        "below, cycles between %u and %u are %u less what the clock said",
        level->info->op, own, farther, t->mirror.above, t->mirror.upto, t->mirror.sum);
}

/* Do hits take the same, but for few? Then no clock drifts, and two cycles tell; what lies behind
 * may be slices of which some are farther. */
static bool is_quiet(const struct sample *s)
{
    return sample_quantile(s, 1 - limits.soon) == sample_quantile(s, limits.soon);
}

/*
 * A second cache that keeps its lines from launch to launch, and is as far as L2, shows where loads
 * circle through all that the path reaches: they take longer, though L2 holds as much. One that is
 * farther than L2 makes them take less.
 */
static int check_all(struct level *level, const struct sample *missed)
{
    struct sample all;
    const struct path_info *path = path_find(level->info->op);
    uint64_t stride = level->front->timing.fetch_bytes, bytes = path->reach_bytes;
    struct walk_shape shape = {.stride = stride, .count = stride ? bytes / stride : 0};
    double plain = 0, near = level->timing.beneath_cycles;
    if (shape.count < 2) {
        return INFER_UNDECIDED;
    }
    int rc = circle_sample(level, &all, level->info->op, shape);
    if (rc) {
        return rc;
    }
    struct sample slow = sample_view(&all, clearly_above(missed), INFINITY);
    bool longer = 2 * slow.count > all.count;
    double soonest = sample_quantile(&slow, 0.1), median = sample_quantile(&all, 0.5);
    double fastest = sample_quantile(missed, 1 - limits.hit_share);
    double drift = is_quiet(missed) ? 0 : limits.drift;
    sample_free(&all);
    if (median < (1 - drift) * fastest - limits.sooner_cycles) {
        look_in_mirror(level, missed, median);
        return 0;
    }
    if (median < fastest - limits.sooner_cycles) {
        return lab_undecided(level->lab,
                             "loads that miss in front take %.0f cycles, and %.0f through all that "
                             "the path reaches: something answers them later than L2",
                             sample_quantile(missed, 0.5), median);
    }
    rc = longer ? sample_plain(level, &plain, shape) : INFER_UNDECIDED;
    if (rc) {
        return rc;
    }
    if (plain > limits.clearly * near + limits.clearly_cycles) {
        return lab_undecided(level->lab,
                             "loads of %llu B take %.0f cycles, fewer %.0f: of a second cache and "
                             "L2, or of L2 and memory",
                             (unsigned long long)bytes, soonest, sample_quantile(missed, 0.5));
    }
    level->result->present = true;
    level->timing.beneath_cycles = soonest;
    return 0;
}

/*
 * Is there a second cache? Then some loads that are read the first time take clearly longer than
 * all loads that miss only the first one: the first words of the second one's fetch units. Where
 * the second cache keeps its lines from launch to launch, its loads come back sooner than plain
 * ones from L2.
 */
static int check_behind(struct level *level, struct sample *missed)
{
    struct sample first;
    int rc = sample_first(level, &first, level->info->op);
    if (rc && !lab_soft(rc)) {
        return rc;
    }
    if (rc == 0) {
        leave_out_misses(missed, &first);
        level->timing.floor_cycles = between(missed, &first);
        struct sample slow = sample_view(&first, level->timing.floor_cycles, INFINITY);
        double median = sample_quantile(&slow, 0.5), soonest = sample_quantile(&slow, 0.1);
        bool differs = differ(&slow, &first);
        sample_free(&first);
        if (differs) {
            return check_slow(level, missed, median, soonest);
        }
    }
    rc = circle_check_sooner(level, missed, limits.sooner);
    const struct refusal absence = level->lab->why;
    rc = rc == INFER_UNDECIDED ? check_all(level, missed) : rc;
    if (rc == SONDE_ENOTRECORDED) { /* nobody walked so far */
        level->lab->why = absence;
        rc = INFER_UNDECIDED;
    }
    return rc;
}

/*
 * Noise of the path was seen before, in many more hits than the reference has; but these were the
 * front's, which noise may never carry past the threshold of what takes longer. Of the hits that
 * the front missed noise leaves more below the threshold than above.
 */
static void know_noise(struct level *level, const struct sample *missed)
{
    struct level_timing *t = &level->timing;
    double median = sample_quantile(missed, 0.5);
    size_t below = sample_view(missed, median + limits.quiet_cycles, t->threshold).count;
    size_t slow = sample_view(missed, t->threshold, INFINITY).count;
    t->false_misses += level->front->timing.false_misses;
    t->false_slow += level->front->timing.false_slow;
    t->hit_records += level->front->timing.hit_records;
    if (slow < below &&
        (double)slow * (double)t->hit_records > (double)t->false_slow * (double)missed->count) {
        t->false_misses = sample_view(missed, t->threshold, t->ceiling).count;
        t->false_slow = slow;
        t->hit_records = missed->count;
    }
}

/* What misses in front comes from the second cache, or there is none. Recordings may have been made
 * by the elements that fit in front. */
static int look_behind(struct level *level, struct sample *missed)
{
    int rc = sample_behind(level, missed);
    if (rc == SONDE_ENOTRECORDED) {
        level->behind_apart = true;
        level->lab->why = (struct refusal){0};
        rc = sample_behind(level, missed);
    }
    if (rc == 0) {
        level->timing.floor_cycles = clearly_above(missed);
        rc = check_behind(level, missed);
    }
    return rc;
}

/*
 * Next to all of what is missed now comes sooner than next to all that was before. Memory, too, may
 * answer few lines sooner than many: plain loads of the same lines say so.
 */
static int is_nearer(struct level *level, bool *nearer, const struct sample *missed, double before)
{
    struct walk_shape now = shape_behind(level);
    double few = 0, many = 0, slowest = sample_quantile(missed, limits.hit_share);
    *nearer = slowest < (1 - limits.drift) * before - limits.sooner_cycles;
    if (!*nearer) {
        return 0;
    }
    const unsigned quarters = level->behind_quarters;
    level->behind_quarters = 0;
    struct walk_shape all = shape_behind(level);
    level->behind_quarters = quarters;
    int rc = sample_plain(level, &few, now);
    rc = rc ? rc : sample_plain(level, &many, all);
    *nearer = rc == 0 && few >= many - limits.quiet_cycles;
    return lab_soft(rc) ? 0 : rc;
}

/*
 * A second cache that holds hardly more than the first misses most of twice that. Then what is a
 * quarter or two more than the first holds comes back sooner.
 */
static int look_nearer(struct level *level, struct sample *missed)
{
    const struct refusal absence = level->lab->why;
    const double all = sample_quantile(missed, 0.5);
    const double soonest = sample_quantile(missed, 1 - limits.hit_share);
    int rc = INFER_UNDECIDED;
    for (unsigned quarters = 6; rc == INFER_UNDECIDED && quarters > 4; quarters--) {
        level->behind_quarters = quarters;
        sample_free(missed);
        *missed = (struct sample){0};
        level->lab->why = (struct refusal){0};
        rc = sample_behind(level, missed);
        bool sooner = rc == 0 && sample_quantile(missed, 0.5) < limits.nearer * all;
        if (rc == 0 && !sooner) {
            rc = is_nearer(level, &sooner, missed, soonest);
        }
        if (sooner) {
            level->result->present = true;
            level->timing.floor_cycles = clearly_above(missed);
            level->timing.beneath_cycles = all;
        }
        rc = rc == 0 && !sooner ? INFER_UNDECIDED : rc;
    }
    if (rc && lab_soft(rc)) {
        level->lab->why = absence;
        rc = INFER_UNDECIDED;
    }
    return rc;
}

/* What many loads in turn told: a miss takes `more` than a hit. No noise of hits is as much. */
static bool is_apart(const struct sample *hits, double more)
{
    double spread =
        sample_quantile(hits, limits.hit_share) - sample_quantile(hits, 1 - limits.hit_share);
    return fabs(more) >= limits.quiet_cycles &&
           (is_quiet(hits) || spread < limits.within * fabs(more));
}

/*
 * What many loads in turn tell of a cache that hardly one of them shows: INFER_UNDECIDED. Where its
 * hits are all but alike, each load shows it; in the mirror, where it answers later than what lies
 * behind: then 0.
 */
static int look_in_turn(struct level *level, struct sample *missed)
{
    level->behind_quarters = 0;
    int rc = behind_in_turn(level, shape_behind(level));
    double more = level->result->miss_penalty.value;
    if (rc != INFER_UNDECIDED || !level->result->present) {
        return rc;
    }
    const struct refusal why = level->lab->why;
    sample_free(missed);
    *missed = (struct sample){0};
    rc = sample_behind(level, missed);
    double own = rc ? 0 : sample_quantile(missed, 0.5);
    if (rc == 0 && is_apart(missed, more)) {
        if (more < 0) {
            look_in_mirror(level, missed, own + more);
        } else {
            level->timing.floor_cycles = own + more / 2;
            level->timing.beneath_cycles = own + more;
        }
        return 0;
    }
    level->lab->why = why;
    return rc && !lab_soft(rc) ? rc : INFER_UNDECIDED;
}

int behind_begin(struct level *level)
{
    const struct level_summary *front = level->front;
    if (!front || !front->known || !front->fit.count) {
        return lab_undecided(level->lab, "how much fits into %s, in front of it, is not known",
                             level->info->behind);
    }
    struct sample missed = {0};
    double threshold = front->timing.threshold;
    int rc = look_behind(level, &missed);
    if (rc == INFER_UNDECIDED && level->lab->why.status == ATTRIBUTE_ABSENT) {
        rc = look_nearer(level, &missed);
    }
    struct cache_result told = {.present = false};
    if (rc == INFER_UNDECIDED) {
        rc = look_in_turn(level, &missed);
        told = *level->result;
    }
    if (rc == INFER_UNDECIDED) {
        sample_free(&missed);
        return rc;
    }
    if (rc == 0) {
        char id[24];
        lab_evidence(level->lab, id, level->info->id,
                     "chase op=%s through twice what fits into %s: %zu loads that miss there take "
                     "%.0f cycles (median)",
                     level->info->op, front->info->id, missed.count, sample_quantile(&missed, 0.5));
        attribute_set(&level->result->hit_latency, sample_quantile(&missed, 0.5), "cycles", 0.9,
                      id);
    }
    double beneath = level->timing.beneath_cycles;
    rc = rc ? rc : reference_by_words(level);
    const struct attribute *hit = &level->result->hit_latency;
    if (rc && lab_soft(rc) &&
        (hit->value >= limits.nearest * beneath ||
         front->timing.miss_cycles < limits.nearest * hit->value)) {
        level->result->hit_latency = (struct attribute){0}; /* as well what L2 takes */
    }
    if (rc && level->timing.mirror.sum) { /* then the mirror was for something else */
        set_front_threshold(level, threshold);
        level->timing.mirror = (struct walk_mirror){0};
        level->timing.threshold = 0;
        level->result->present = told.present;
        level->result->hit_latency = told.hit_latency;
        level->result->miss_penalty = told.miss_penalty;
    }
    if (rc == 0) {
        /* What L2 answers is a miss as well, though the walk above may have had none. */
        level->timing.threshold =
            fmin(level->timing.threshold, 0.5 * (level->timing.floor_cycles + beneath));
        know_noise(level, &missed);
    }
    sample_free(&missed);
    return rc;
}

/* ---- the line ---- */

struct lattice {
    uint64_t origin, spacing;
    size_t half; /* k */
};

/* Do k members from the first on, and k from `from` on moved by d, fit together? */
static int fit_moved(struct level *level, enum fit_verdict *out, const struct lattice *lattice,
                     size_t from, uint64_t d)
{
    size_t k = lattice->half;
    uint32_t *ring = malloc((2 * k + 1) * sizeof *ring);
    if (!ring) {
        return error_memory();
    }
    for (size_t i = 0; i < k; i++) {
        ring[i] = (uint32_t)(lattice->origin + i * lattice->spacing);
        ring[k + i] = (uint32_t)(lattice->origin + (from + i) * lattice->spacing + d);
    }
    sort_u32(ring, 2 * k);
    int rc = fit_verdict(level, out, &(struct walk_shape){.ring = ring, .count = 2 * k});
    free(ring);
    return rc;
}

static int stays_in_line(struct level *level, bool *stays, const struct lattice *lattice,
                         uint64_t d)
{
    enum fit_verdict apart = FIT_UNKNOWN, beside = FIT_UNKNOWN;
    int rc = fit_moved(level, &apart, lattice, lattice->half, d);
    if (rc == 0 && apart == FIT_NO) {
        rc = fit_moved(level, &beside, lattice, 0, d);
    }
    *stays = apart == FIT_NO && beside == FIT_YES;
    return rc;
}

/* The members' lattice, if the conflicting set is one and reaches far enough. */
static int find_lattice(struct level *level, struct lattice *out)
{
    const uint32_t *at = level->conflict.offsets;
    size_t ways = level->conflict.count - 1;
    *out = (struct lattice){.origin = at[0], .spacing = at[1] - at[0], .half = ways / 2 + 1};
    for (size_t i = 1; i < level->conflict.count; i++) {
        if (at[i] - at[i - 1] != out->spacing) {
            return lab_undecided(level->lab, "the conflicting lines are not equally spaced, and "
                                             "the cache in front keeps single ones");
        }
    }
    size_t front = level->front->ways;
    out->half = out->half > front ? out->half : front + 1;
    if (!front || out->half > ways) {
        return lab_undecided(level->lab, "the cache in front keeps as many lines as a set of this");
    }
    return 0;
}

static int line_behind(struct level *level)
{
    struct lattice lattice;
    if (level->line.bytes) {
        return 0; /* measured before: behind/ways.c */
    }
    int rc = find_lattice(level, &lattice);
    if (rc == INFER_UNDECIDED) { /* some of the addresses may be there to miss in front alone */
        attribute_refuse_as(&level->result->ways, "1", &level->lab->why);
    }
    uint64_t line = level->timing.fetch_bytes;
    for (bool stays = true; rc == 0 && stays && line <= limits.max_line_bytes;) {
        rc = stays_in_line(level, &stays, &lattice, line);
        line *= stays ? 2 : 1;
    }
    if (rc) {
        return rc;
    }
    if (line > limits.max_line_bytes) {
        return lab_undecided(level->lab, "no line of up to %u B ends", limits.max_line_bytes);
    }
    level->line.bytes = line;
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: %zu addresses %llu B apart, and as many %llu B beside them: up to "
                 "there they need no more room than alone, from there on they do or lie elsewhere",
                 level->info->op, lattice.half, (unsigned long long)lattice.spacing,
                 (unsigned long long)line);
    attribute_set(&level->result->line, (double)line, "B", 0.94, id);
    return 0;
}

int level_find_line(struct level *level)
{
    return level->front ? line_behind(level) : level_line(level);
}
