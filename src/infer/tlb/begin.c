/*
 * What is learnt before any level is sought: whether pages are mapped one by one, whether records
 * agree, whether some lines are nearer than others, and what noise makes of an excess.
 */
#include "infer/tlb/walk/base.h"

#include <math.h>

#define SAMPLED 24 /* places looked at to see whether lines differ */

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs), and an H200 (lines that
 * differ by 60 cycles). */
static const struct {
    unsigned stray_windows, stray_cycles, different_cycles;
    double noise_quantile;
    uint32_t again_run;
} limits = {
    .stray_windows = 4,     /* windows in which strays are looked for */
    .stray_cycles = 12,     /* cycles above the reference: a stray */
    .different_cycles = 6,  /* cycles: lines that differ by more are nearer and farther */
    .noise_quantile = 0.95, /* quantile of the excess that counts as noise */
    .again_run = 970000,    /* requests: apart from those of all other walks. Chosen */
};

/* Places in the first pages, 68 KiB apart. */
static uint32_t sampled_unit(size_t i)
{
    return (uint32_t)(i * (17 * TLB_BLOCK_UNITS) + TLB_FIRST_LINE);
}

/* Pairs of lines here and there, each pair in one page: are some nearer than others? */
static int compare_lines(struct tlb_lab *tl)
{
    double of[2 * SAMPLED];
    for (size_t i = 0; i < SAMPLED; i++) {
        uint32_t at = sampled_unit(i), units[2] = {at, at + 3};
        const uint32_t *latency;
        struct tlb_plan plan = {units, 2, 8, 2 * TLB_GROUP_RECORDS, 1, false};
        int rc = tlb_measure(tl, &latency, &plan);
        if (rc) {
            return rc;
        }
        tlb_medians(&of[2 * i], latency, plan.window, 2);
    }
    double low = tlb_quantile(of, 2 * SAMPLED, 0.1), high = tlb_quantile(of, 2 * SAMPLED, 0.9);
    tl->lines_differ = high - low > limits.different_cycles;
    return 0;
}

/* Other work that went on for a while makes lines differ; those that do, do so again. */
static int compare_again(struct tlb_lab *tl)
{
    const uint32_t run = tl->run;
    tl->run += limits.again_run;
    return tlb_end_apart(tl, NULL, run, compare_lines(tl));
}

/* What elements exceed hits by, but for a few; and but for those that L2 has no room for, where
 * most are no such: lines beside each other may be too many for one of its sets. */
static double noise_of(const struct tlb_lab *tl, const struct tlb_view *view)
{
    const double most = limits.stray_cycles + 2 * tl->record_noise;
    struct tlb_view kept = *view;
    double excess[SAMPLED];
    kept.excess = excess;
    kept.count = 0;
    for (size_t i = 0; i < view->count; i++) {
        if (view->excess[i] <= most) {
            excess[kept.count++] = view->excess[i];
        }
    }
    return tlb_view_quantile(2 * kept.count > view->count ? &kept : view, limits.noise_quantile);
}

/*
 * What an excess is where everything hits: lines of one page in rings of several lengths, for what
 * a load takes may also depend on when it comes.
 */
static int measure_noise(struct tlb_lab *tl)
{
    static const size_t lengths[] = {SAMPLED, SAMPLED - 1, SAMPLED - 5, 7};
    uint32_t units[SAMPLED];
    tl->noise = 0;
    for (size_t i = 0; i < SAMPLED; i++) {
        units[i] = TLB_FIRST_LINE + (uint32_t)i;
    }
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        struct tlb_view view;
        int rc = tlb_view(tl, &view, &(struct tlb_ring){units, lengths[k]}, NULL, 1);
        if (rc) {
            return rc;
        }
        tl->noise = fmax(tl->noise, noise_of(tl, &view));
        tlb_view_free(&view);
    }
    return 0;
}

/*
 * A device whose records agree may still have a load now and then that takes long for no reason:
 * too few for a short record, enough to be taken for misses in a long one.
 */
static int look_for_strays(struct tlb_lab *tl)
{
    const uint32_t *latency;
    uint32_t window = tlb_most_window(tl) - tlb_most_window(tl) % TLB_REFERENCE_LINES;
    int rc =
        window ? tlb_read_reference(tl, &latency, window, limits.stray_windows) : INFER_UNDECIDED;
    for (size_t i = 0; rc == 0 && i < (size_t)window * limits.stray_windows; i++) {
        tl->noisy = tl->noisy || latency[i] > tl->reference + limits.stray_cycles;
    }
    if (rc && lab_soft(rc)) { /* an older recording */
        tl->lab->why.reason[0] = '\0';
        rc = 0;
    }
    return rc;
}

/* Was an L2 asked for, and shows none? Lines farther apart are then of more rows of memory. */
static bool lacks_l2(const struct dissection *out)
{
    const struct cache_result *last = out->cache_count ? &out->caches[out->cache_count - 1] : NULL;
    return last && !last->present && last->size.status != ATTRIBUTE_NOT_ASKED;
}

int tlb_lab_begin(struct tlb_lab *tl, struct lab *lab)
{
    *tl = (struct tlb_lab){.lab = lab,
                           .mapped = lab->options->max_mapped_bytes > 0,
                           .limit_bytes = lab->options->max_mapped_bytes};
    struct tlb_reference reference = {0};
    int rc = tl->mapped ? tlb_measure_reference(tl, &reference) : INFER_UNDECIDED;
    if (rc == INFER_UNDECIDED) { /* a device whose memory is not mapped page by page */
        tl->mapped = false;
        tl->limit_bytes = lab->options->max_footprint_bytes;
        rc = tlb_measure_reference(tl, &reference);
    }
    tlb_take_reference(tl, &reference);
    tl->noisy = tl->record_noise > 1;
    rc = rc ? rc : compare_lines(tl);
    rc = rc || tl->noisy ? rc : look_for_strays(tl);
    rc = rc || !tl->noisy ? rc : tlb_settle_reference(tl);
    rc = rc || !tl->noisy || !tl->lines_differ ? rc : compare_again(tl);
    bool lacks = lacks_l2(lab->out);
    tl->rough = tl->lines_differ && (tl->noisy || lacks);
    tl->narrow = tl->rough || lacks;
    rc = rc ? rc : measure_noise(tl);
    return rc ? rc : tlb_measure_data(tl, 0);
}

void tlb_lab_end(struct tlb_lab *tl)
{
    tlb_forget_lines(tl);
}
