/*
 * Stretches and skips. The work X of a block is the sum of its terms. While the GPU is full, what
 * goes in goes out: a stretch's rate is its cycles by the mean of the work that was handed out and
 * of the work that ended meanwhile. With the rates r of n stretches, and skips of work X between
 * them,
 *
 *     cycles    sum of X * mean of r before and after the skip, less what settling took
 *     variance  d^2 * (sum over stretches of w^2  +  sum of X * U)
 *
 * d^2 is half the mean square of successive differences of r, w half the work of the skips beside a
 * stretch, U the work of a stretch: what was skipped would have spread as stretches do. A large
 * difference is a change of behaviour instead, which lies anywhere between the two. On top comes a
 * share of the cycles, for what is not random (caches).
 */
#include "sample/inside.h"

#include <math.h>
#include <stdlib.h>

#include "sample/student.h"
#include "util/container/vec.h"
#include "util/error.h"

static const struct {
    uint64_t least_rounds;  /* of resident blocks, for a launch to be sampled */
    uint64_t least_stretch; /* blocks */
    uint64_t stretch; /* rounds of resident blocks: those of one often begin and end together */
    double budget;    /* part of the error that is asked for, for skips */
    double settled;   /* by how much the first rates may differ, for a first skip */
    double changed;   /* by how much the rate after a skip differs where more is looked at */
    double mix;       /* share of their work in which blocks may differ, for a skip to go on */
    double alike;     /* by how much the work of blocks, and its spread, may differ likewise */
    double share_of_launch; /* of the blocks, that one skip takes at most */
    double unseen;          /* share of an estimate that is uncertain whatever was measured */
} rule = {.least_rounds = 16,
          .least_stretch = 16,
          .stretch = 2,
          .budget = 0.7,
          .settled = 0.05,
          .changed = 0.25,
          .mix = 0.1,
          .alike = 0.2,
          .share_of_launch = 0.1,
          .unseen = 0.05};

struct stretch {
    double rate, work;
};

struct skip {
    double work;           /* with that of the stretch in which the machine settles after it */
    double settled_cycles; /* of that stretch, which says nothing */
    size_t after;          /* stretches before it */
};

enum phase { SETTLES, MEASURES };

struct inside {
    struct inside_block *blocks;
    double *sum; /* of the work of the blocks before each */
    uint64_t count, unit;
    double error;
    enum phase phase;
    uint64_t phase_end, stretch_first;
    double begin_cycle, begin_ended, ended;
    uint64_t length; /* of the last skip, in units */
    VEC(struct stretch) stretches;
    VEC(struct skip) skips;
    uint64_t skipped, last_skip;
    bool refused;
};

static double work_of(const struct inside_block *block)
{
    double work = 0;
    for (int i = 0; i < TERM_COUNT; i++) {
        work += (double)block->term[i];
    }
    return work;
}

bool inside_may_be(double error)
{
    return error > rule.unseen;
}

int inside_create(struct inside **out, const struct inside_block *blocks, uint64_t count,
                  uint64_t resident, double error)
{
    *out = NULL;
    uint64_t unit = resident > rule.least_stretch ? resident : rule.least_stretch;
    if (count / unit < rule.least_rounds || !inside_may_be(error)) {
        return 0;
    }
    struct inside *in = calloc(1, sizeof *in);
    if (!in || !(in->blocks = malloc(count * sizeof *in->blocks)) ||
        !(in->sum = malloc((count + 1) * sizeof *in->sum))) {
        inside_destroy(in);
        return error_memory();
    }
    in->sum[0] = 0;
    for (uint64_t i = 0; i < count; i++) {
        in->blocks[i] = blocks[i];
        in->sum[i + 1] = in->sum[i] + work_of(&blocks[i]);
    }
    in->count = count;
    in->unit = unit;
    in->error = error;
    in->phase_end = 2 * unit; /* the first ones all begin at once */
    *out = in;
    return 0;
}

void inside_destroy(struct inside *in)
{
    if (!in) {
        return;
    }
    vec_free(&in->stretches);
    vec_free(&in->skips);
    free(in->blocks);
    free(in->sum);
    free(in);
}

/* ---- estimates ---- */

/* Between this stretch and the one before it the GPU has come to behave otherwise. */
static bool changes(const struct inside *in, size_t i)
{
    double rate = in->stretches.data[i].rate, before = in->stretches.data[i - 1].rate;
    return fabs(rate - before) > rule.changed * before;
}

static double difference_squared(const struct inside *in) /* d^2 */
{
    double sum = 0, count = 0;
    for (size_t i = 1; i < in->stretches.count; i++) {
        double by = in->stretches.data[i].rate - in->stretches.data[i - 1].rate;
        sum += changes(in, i) ? 0 : by * by;
        count += changes(in, i) ? 0 : 1;
    }
    return count > 0 ? sum / (2 * count) : 0;
}

/* How much of what was skipped is estimated by stretch `k`. */
static double weight_of(const struct inside *in, size_t k)
{
    double weight = 0;
    for (size_t i = 0; i < in->skips.count; i++) {
        const struct skip *skip = &in->skips.data[i];
        bool last = skip->after == in->stretches.count;
        if (skip->after == k + 1) {
            weight += last ? skip->work : skip->work / 2;
        } else if (skip->after == k) {
            weight += skip->work / 2;
        }
    }
    return weight;
}

/* A change within a skip was anywhere in it. */
static double change_squared(const struct inside *in)
{
    double sum = 0;
    for (size_t i = 0; i < in->skips.count; i++) {
        size_t after = in->skips.data[i].after;
        if (after < in->stretches.count && changes(in, after)) {
            double by = in->stretches.data[after].rate - in->stretches.data[after - 1].rate;
            sum += by * by * in->skips.data[i].work * in->skips.data[i].work / 12;
        }
    }
    return sum;
}

/* The square of half an interval, but for what is not random. */
static double estimate(const struct inside *in, double *cycles)
{
    double squares = 0, n = (double)in->stretches.count;
    *cycles = 0;
    for (size_t k = 0; k < in->stretches.count; k++) {
        double weight = weight_of(in, k);
        *cycles += weight * in->stretches.data[k].rate;
        squares += weight * weight;
    }
    for (size_t i = 0; i < in->skips.count; i++) {
        const struct skip *skip = &in->skips.data[i];
        squares += skip->work * in->stretches.data[skip->after - 1].work;
        *cycles -= skip->settled_cycles;
    }
    double t = student_95(n > 2 ? n - 1 : 1);
    return t * t * (difference_squared(in) * squares + change_squared(in));
}

/* ---- skips ---- */

static void mix_of(double mix[TERM_COUNT], const struct inside *in, uint64_t first, uint64_t end)
{
    double all = 0;
    for (int i = 0; i < TERM_COUNT; i++) {
        mix[i] = 0;
    }
    for (uint64_t b = first; b < end; b++) {
        for (int i = 0; i < TERM_COUNT; i++) {
            mix[i] += (double)in->blocks[b].term[i];
            all += (double)in->blocks[b].term[i];
        }
    }
    for (int i = 0; i < TERM_COUNT && all > 0; i++) {
        mix[i] /= all;
    }
}

/* How blocks are: the mix of their work, how much each does, and how unequal they are in it. */
struct character {
    double mix[TERM_COUNT], mean, spread;
};

static void character_of(struct character *out, const struct inside *in, uint64_t first,
                         uint64_t end)
{
    double squares = 0, count = (double)(end - first);
    mix_of(out->mix, in, first, end);
    out->mean = (in->sum[end] - in->sum[first]) / count;
    for (uint64_t b = first; b < end; b++) {
        double by = in->sum[b + 1] - in->sum[b] - out->mean;
        squares += by * by;
    }
    out->spread = out->mean > 0 ? sqrt(squares / count) / out->mean : 0;
}

static bool is_alike(const struct character *a, const struct character *b)
{
    double apart = 0;
    for (int i = 0; i < TERM_COUNT; i++) {
        apart += fabs(a->mix[i] - b->mix[i]);
    }
    return apart <= rule.mix && fabs(a->mean - b->mean) <= rule.alike * b->mean &&
           fabs(a->spread - b->spread) <= rule.alike;
}

/* The first block from `next` on that is not among blocks like those that were measured. */
static uint64_t mix_ends(const struct inside *in, uint64_t next, uint64_t most)
{
    struct character measured, here;
    character_of(&measured, in, in->stretch_first, next);
    for (uint64_t at = next; at < most; at += in->unit) {
        uint64_t end = at + in->unit < in->count ? at + in->unit : in->count;
        character_of(&here, in, at, end);
        if (!is_alike(&here, &measured)) {
            return at;
        }
    }
    return most;
}

/* By chance rates of two stretches differ more often than the GPU has come to behave otherwise. */
static bool is_settled(const struct inside *in)
{
    size_t n = in->stretches.count;
    if (n < 3) {
        return false;
    }
    double last = in->stretches.data[n - 1].rate, before = in->stretches.data[n - 2].rate;
    return in->skips.count == 0 ? fabs(last - before) <= rule.settled * before
                                : !changes(in, n - 1);
}

/* Whether all skips, with one more of this work, leave the launch as certain as it has to be. */
static bool would_be_certain(const struct inside *in, double work)
{
    double cycles, rate = vec_last(&in->stretches).rate, unit = vec_last(&in->stretches).work;
    double t = student_95((double)in->stretches.count - 1);
    double more = t * t * difference_squared(in) * (work * work / 2 + work * unit);
    double all = in->sum[in->count] * rate;
    double least = in->error * in->error - rule.unseen * rule.unseen;
    return estimate(in, &cycles) + more <= rule.budget * rule.budget * least * all * all;
}

static uint64_t skip_length(struct inside *in, uint64_t next)
{
    uint64_t tail = in->count > 3 * in->unit ? in->count - 3 * in->unit : 0;
    uint64_t most = (uint64_t)(rule.share_of_launch * (double)in->count);
    if (next >= tail) {
        return 0;
    }
    in->length = is_settled(in) ? (in->length > 0 ? 2 * in->length : 2) : 0;
    uint64_t end = next + in->length * in->unit;
    end = end > next + most ? next + most : end;
    end = end > tail ? tail : end;
    end = mix_ends(in, next, end);
    while (end > next && !would_be_certain(in, in->sum[end] - in->sum[next])) {
        end = next + (end - next) / 2;
    }
    if (end < next + in->unit) {
        in->length = 0;
        return 0;
    }
    return end - next;
}

/* ---- stretches ---- */

static void begin_stretch(struct inside *in, uint64_t next, double cycle)
{
    in->phase = MEASURES;
    in->phase_end = next + rule.stretch * in->unit;
    in->stretch_first = next;
    in->begin_cycle = cycle;
    in->begin_ended = in->ended;
}

static double work_since_begin(const struct inside *in, uint64_t next)
{
    double out = in->ended - in->begin_ended, into = in->sum[next] - in->sum[in->stretch_first];
    return (out + into) / 2;
}

static void end_settling(struct inside *in, uint64_t next, double cycle)
{
    if (in->skips.count > 0) {
        struct skip *skip = &vec_last(&in->skips);
        skip->work += work_since_begin(in, next);
        skip->settled_cycles = cycle - in->begin_cycle;
    }
}

static bool end_stretch(struct inside *in, uint64_t next, double cycle)
{
    double work = work_since_begin(in, next);
    return work > 0 &&
           vec_push(&in->stretches, (struct stretch){(cycle - in->begin_cycle) / work, work}) == 0;
}

uint64_t inside_next(struct inside *in, uint64_t next, uint64_t cycle)
{
    if (in->refused || next < in->phase_end) {
        return 0;
    }
    if (in->phase == SETTLES) {
        end_settling(in, next, (double)cycle);
        begin_stretch(in, next, (double)cycle);
        return 0;
    }
    if (!end_stretch(in, next, (double)cycle)) {
        in->refused = true;
        return 0;
    }
    uint64_t length = skip_length(in, next);
    if (length == 0) {
        begin_stretch(in, next, (double)cycle);
        return 0;
    }
    if (vec_push(&in->skips, (struct skip){.work = in->sum[next + length] - in->sum[next],
                                           .after = in->stretches.count}) < 0) {
        in->refused = true;
        return 0;
    }
    in->phase = SETTLES;
    in->phase_end = next + length + in->unit;
    in->stretch_first = next + length;
    in->begin_cycle = (double)cycle;
    in->begin_ended = in->ended;
    in->skipped += length;
    in->last_skip = length;
    return length;
}

void inside_ended(struct inside *in, uint64_t block)
{
    in->ended += work_of(&in->blocks[block]);
}

void inside_refuse(struct inside *in)
{
    in->refused = true;
    in->skipped -= in->last_skip;
    in->last_skip = 0;
    if (in->skips.count > 0) {
        (void)vec_pop(&in->skips);
    }
}

void inside_result(const struct inside *in, double *cycles, double *half, uint64_t *skipped)
{
    *cycles = *half = 0;
    *skipped = in->skipped;
    if (in->skips.count > 0) {
        double squared = estimate(in, cycles), unseen = rule.unseen * fabs(*cycles);
        *half = sqrt(squared + unseen * unseen);
    }
}
