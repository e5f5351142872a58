/*
 * What a miss of a level takes, and how sure that is. The walk that shows a level says it first.
 * Where there is noise, other work may have gone on just then, or while the lines were timed that
 * it is held against: so the same walk comes twice more, some time later, and the middle one of the
 * three is told. Where there is none, and L2 may have missed the lines as well, a walk over drawn
 * places tells the level's part.
 */
#include <math.h>
#include <stdlib.h>

#include "infer/tlb/tlb.h"
#include "util/sort.h"

/* Thresholds. Chosen. */
static const struct {
    uint32_t again_run, again_apart;
    double alone, apart_cycles, within, agree, agree_cycles, disagree;
} limits = {
    .again_run = 900000,  /* requests: apart from those of all other walks */
    .again_apart = 10000, /* the same, from one such walk to the next */
    .apart_cycles = 2,    /* cycles by which what misses of both take is the sum of both */
    .alone = 0.95,        /* confidence of a penalty that is told apart from missing data */
    .within = 2,          /* times the noise of a record: misses that medians alone can tell */
    .agree = 0.05,        /* share of a penalty by which walks of it differ that agree */
    .agree_cycles = 2,    /* cycles, beside that */
    .disagree = 0.75,     /* confidence of the middle one, where they do not */
};

/*
 * Where L2 is too small for the lines of a walk (tlb/data.c), a load that takes longer than missing
 * data alone may have missed both: the two add up, and what is left for the translation is open;
 * so it is of the level behind, whose penalty comes on top.
 * Behind noise the second level's penalty is the difference of two medians among loads that miss
 * the first level, and some miss no more than that: three in four were right in blind trials.
 */
double tlb_penalty_confidence(const struct tlb_lab *tl, const struct tlb_level *level,
                              size_t in_front)
{
    bool both = level->penalty > tl->data_cycles || level->before > tl->data_cycles;
    if (tl->data_cycles > 0 && both) {
        return 0.6;
    }
    return !tl->noisy ? 0.95 : in_front ? 0.75 : 0.9;
}

/* Of what is slow: all records, or, where noise is as long as a miss, the elements' medians. */
static int excess_of(const struct tlb_lab *tl, double *excess, const struct tlb_level *level,
                     const struct tlb_view *view)
{
    bool within = tl->noisy && !tl->lines_differ &&
                  view->miss_excess - level->before < limits.within * tl->record_noise;
    *excess = view->miss_excess;
    return within ? tlb_view_slow(view, excess) : 0;
}

int tlb_penalty_again(struct tlb_lab *tl, struct tlb_penalties *out, const struct tlb_level *level,
                      uint64_t stride, uint64_t reach)
{
    struct tlb_ring ring;
    struct tlb_view view = {0};
    const uint32_t run = tl->run;
    if (!tl->noisy || level->believed) {
        return 0;
    }
    tl->run += limits.again_run + (uint32_t)out->count * limits.again_apart;
    int rc = tlb_ring_of_pages(tl, &ring, stride, (size_t)(reach / stride), 0);
    rc = rc ? rc : tlb_view(tl, &view, &ring, level, 1);
    free(ring.unit);
    if (rc == 0 && view.slow_count > 0) {
        double excess;
        rc = excess_of(tl, &excess, level, &view);
        if (rc == 0) {
            out->of[out->count++] = excess - level->before;
        }
    }
    tlb_view_free(&view);
    return tlb_end_apart(tl, NULL, run, rc);
}

/* What takes so much more than a miss of the level alone missed data, too. */
static bool has_data(const struct tlb_lab *tl, double more)
{
    return more >= tl->data_cycles - limits.apart_cycles &&
           more <= tl->data_most + limits.apart_cycles;
}

/* Where there is no noise, and L2 may have missed the lines as well: a walk over drawn places, of
 * which it has most. Both penalties are that of the level alone, if what is left is missing data.
 */
static int penalty_apart(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                         uint64_t reach)
{
    struct tlb_ring ring;
    struct tlb_view view = {0};
    const uint32_t run = tl->run;
    if (tl->noisy || tl->data_cycles <= 0 || level->penalty <= tl->data_cycles) {
        return 0;
    }
    tl->run += limits.again_run;
    int rc = tlb_ring_drawn(tl, &ring, level, (size_t)(reach / level->page), true);
    rc = rc ? rc : tlb_view(tl, &view, &ring, level, 1);
    free(ring.unit);
    double alone = view.miss_low - level->before;
    if (rc == 0 && view.slow_count > 0 && has_data(tl, level->penalty - alone)) {
        char id[24];
        lab_evidence(tl->lab, id, out->id,
                     "chase op=cg over one line a page, at drawn places, few of which L2 lacks: "
                     "pages that miss take %.1f cycles more at least",
                     view.miss_low);
        level->penalty = alone;
        attribute_set(&out->miss_penalty, alone, "cycles", limits.alone, id);
    }
    tlb_view_free(&view);
    return tlb_end_apart(tl, NULL, run, rc);
}

int tlb_penalty_settle(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                       struct tlb_penalties *penalties, uint64_t reach)
{
    const size_t count = penalties->count;
    int rc = penalty_apart(tl, out, level, reach);
    sort_double(penalties->of, count);
    if (count == TLB_PENALTIES) {
        level->penalty = out->miss_penalty.value = penalties->of[count / 2];
    }
    if (penalties->of[count - 1] - penalties->of[0] >
        limits.agree_cycles + limits.agree * level->penalty) {
        out->miss_penalty.confidence = fmin(out->miss_penalty.confidence, limits.disagree);
    }
    return rc;
}
