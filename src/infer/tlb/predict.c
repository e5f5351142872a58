/*
 * What a level that was found predicts of walks that it was not found by. Lines at other places of
 * the same pages miss as the first ones did: where they do not, the page is shorter, and the
 * distance of the walk left out some of the sets. A line read just behind another one of its page
 * finds its translation: where it is as slow, L2 did not have it, and no level is behind.
 */
#include <math.h>
#include <stdlib.h>

#include "infer/tlb/tlb.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Chosen. */
static const struct {
    double share, second_share, on_top, table_share, row_share, like_miss, far;
    unsigned table_cycles, table_reads, most_elements, second_lines, own_run, drawn_run, held_times,
        front_times, front_beside;
} limits = {
    .like_miss = 0.05, /* share by which a miss of L2 may differ from the median one. Chosen */
    .far = 0.25,       /* share of a miss of L2 by which a near one and a far one differ. Chosen */
    .share = 0.5,      /* of what missed at one place of each page: fewer do at others */
    .second_share = 0.5,   /* of the slow elements: so many lines are slow for their own sake */
    .table_cycles = 2,     /* cycles by which a multiple of a miss of L2 is met */
    .table_share = 0.005,  /* the same as a share */
    .table_reads = 4,      /* levels of a page table */
    .row_share = 0.125,    /* of a miss of L2: so much sooner it is where its row is open. Chosen */
    .on_top = 0.25,        /* of what the level's miss seems to take: so much is its own */
    .most_elements = 4096, /* pages of a walk */
    .second_lines = 3,     /* lines from an element to the one before it */
    .own_run = 700000,     /* requests: apart from those of all other walks */
    .drawn_run = 800000,   /* the same, of the walk over drawn places */
    .front_times = 2,      /* times the entries in front, that a walk has pages. Chosen */
    .front_beside = 8,     /* and so many more. Chosen */
    .held_times = 8,       /* times a walk's lines and tables, which L2 has: sets are uneven */
};

int tlb_ring_drawn(const struct tlb_lab *tl, struct tlb_ring *out, const struct tlb_level *level,
                   size_t pages, bool drawn)
{
    struct rng rng;
    uint64_t places = level->page / TLB_LEAST_PAGE;
    rng_seed(&rng, pages);
    out->count = pages;
    out->unit = malloc(pages * sizeof *out->unit);
    if (!out->unit) {
        return error_memory();
    }
    for (size_t i = 0; i < pages; i++) {
        if (!drawn && !tl->narrow) {
            out->unit[i] = tlb_place(tl, level->page, i, 0);
            continue;
        }
        uint64_t place = drawn ? rng_below(&rng, places) : 0;
        uint64_t line = tl->narrow ? i % TLB_LINES : rng_below(&rng, TLB_LINES);
        out->unit[i] = (uint32_t)((uint64_t)i * (level->page / TLB_UNIT_BYTES) +
                                  place * TLB_BLOCK_UNITS + TLB_FIRST_LINE + line);
    }
    return 0;
}

static int count_slow(struct tlb_lab *tl, size_t *slow, const struct tlb_level *level, size_t pages,
                      bool drawn)
{
    struct tlb_ring ring;
    struct tlb_view view;
    int rc = tlb_ring_drawn(tl, &ring, level, pages, drawn);
    rc = rc ? rc : tlb_view(tl, &view, &ring, level, 1);
    if (rc == 0) {
        *slow = view.slow_count;
        tlb_view_free(&view);
    }
    free(ring.unit);
    return rc;
}

/* Pages of a walk of `reach` bytes, of the last of which it may have a part; more, if memory has
 * them, where the level in front would hold so few: of what it holds this level is never asked. */
static size_t pages_of(const struct tlb_lab *tl, const struct tlb_level *level, uint64_t reach)
{
    size_t pages = (size_t)((reach + level->page - 1) / level->page);
    size_t most = (size_t)(tl->limit_bytes / level->page);
    size_t least = level->in_front ? limits.front_times * level->in_front + limits.front_beside : 2;
    least = pages > least ? pages : least;
    return least < most ? least : most;
}

static int ask_places(struct tlb_lab *tl, bool *holds, const struct tlb_level *level,
                      uint64_t reach)
{
    size_t pages = pages_of(tl, level, reach), slow = 0, drawn = 0;
    pages = pages < limits.most_elements ? pages : limits.most_elements;
    int rc = count_slow(tl, &slow, level, pages, false);
    rc = rc || slow == 0 ? rc : count_slow(tl, &drawn, level, pages, true);
    *holds = (double)drawn >= limits.share * (double)slow;
    return rc;
}

bool tlb_is_multiple(const struct tlb_lab *tl, double cycles, double each)
{
    double reads = each > 0 ? floor(cycles / each + 0.5) : 0;
    double allowed = fmax(limits.table_cycles, limits.table_share * cycles);
    return reads >= 1 && reads <= limits.table_reads &&
           fabs(cycles - reads * each) <= allowed + tl->record_noise;
}

/* Of an L2 in parts some misses are near and others far: what is told is between, and none is. */
static bool is_multiple_of_miss(const struct tlb_lab *tl, double cycles)
{
    const struct dissection *out = tl->lab->out;
    const struct attribute *miss = &out->caches[out->cache_count - 1].miss_penalty;
    if (miss->status != ATTRIBUTE_MEASURED) {
        return false;
    }
    bool apart = miss->high - miss->low > limits.far * miss->value;
    return apart ? tlb_is_multiple(tl, cycles, miss->low) || tlb_is_multiple(tl, cycles, miss->high)
                 : tlb_is_multiple(tl, cycles, miss->value);
}

/*
 * Beyond the last level a load that is slow may have missed L2 with a read of a page table. That
 * costs just as much more as a miss of L2 does, once for each such read. A level's own miss may
 * cost the same by accident: drawn places tell, where L2 holds so few lines for certain.
 */
bool tlb_costs_as_tables(const struct tlb_lab *tl, const struct tlb_level *level)
{
    return tlb_is_multiple(tl, level->penalty, tl->data_cycles) ||
           is_multiple_of_miss(tl, level->penalty);
}

/* What a line and a read of a table cost that both miss L2, one of them where its row is open? */
bool tlb_costs_as_line_and_table(const struct tlb_lab *tl, const struct tlb_level *level)
{
    double both = 2 * tl->data_cycles;
    return both > 0 && level->penalty <= both &&
           level->penalty >= both - limits.row_share * tl->data_cycles;
}

/* About what a miss of L2 costs: rows of memory make some lines' dearer than others'. */
bool tlb_costs_as_data(const struct tlb_lab *tl, const struct tlb_level *level)
{
    const struct dissection *out = tl->lab->out;
    const struct attribute *miss = &out->caches[out->cache_count - 1].miss_penalty;
    bool about = miss->status == ATTRIBUTE_MEASURED &&
                 fabs(level->penalty - miss->value) <= limits.like_miss * miss->value;
    return about || tlb_costs_as_tables(tl, level);
}

/* By how much more the first of two lines of a page is slow, where it is slow at all: the median.
 */
static int first_over_second(double *median, const struct tlb_view *view, double threshold)
{
    double *more = malloc((view->count + 1) * sizeof *more);
    size_t count = 0;
    if (!more) {
        return error_memory();
    }
    for (size_t i = 0; i + 1 < view->count; i += 2) {
        if (view->excess[i] > threshold) {
            more[count++] = view->excess[i] - view->excess[i + 1];
        }
    }
    sort_double(more, count);
    *median = count ? more[count / 2] : 0;
    free(more);
    return 0;
}

static int ask_data(struct tlb_lab *tl, bool *holds, const struct tlb_level *level, uint64_t reach)
{
    size_t pages = pages_of(tl, level, reach);
    struct tlb_ring ring = {.count = 2 * pages};
    struct tlb_view view;
    size_t first = 0, second = 0;
    ring.unit = malloc(ring.count * sizeof *ring.unit);
    if (!ring.unit) {
        return error_memory();
    }
    for (size_t i = 0; i < ring.count; i++) {
        uint32_t unit = tlb_place(tl, level->page, i / 2, 0);
        ring.unit[i] = i % 2 ? unit : tlb_near(unit, limits.second_lines);
    }
    int rc = tlb_view(tl, &view, &ring, level, 1);
    free(ring.unit);
    if (rc) {
        return rc;
    }
    for (size_t i = 0; i < view.count; i++) {
        first += i % 2 == 0 && view.excess[i] > level->threshold;
        /* What the level in front takes is not in it. */
        second += i % 2 == 1 && view.excess[i] > level->threshold - level->before;
    }
    double over = 0;
    rc = first_over_second(&over, &view, level->threshold);
    tlb_view_free(&view);
    /* Data of both may be missing, and the level's miss be on top of the first's; reads of tables
     * that L2 misses are, too. */
    double own = over - level->before;
    *holds = (double)second < limits.second_share * (double)first ||
             (own > limits.on_top * level->penalty && !tlb_is_multiple(tl, own, tl->data_cycles));
    return rc;
}

/* What a recording lacks holds. What the device refuses is not known: INFER_UNDECIDED. */
static int ask(struct tlb_lab *tl, bool *holds, const struct tlb_level *level, uint64_t reach,
               int (*question)(struct tlb_lab *, bool *, const struct tlb_level *, uint64_t))
{
    const uint32_t run = tl->run;
    *holds = true;
    tl->run += limits.own_run;
    int rc = question(tl, holds, level, reach);
    tl->run = run;
    if (rc == SONDE_ENOTRECORDED) {
        tl->lab->why = (struct refusal){0};
        *holds = true;
        rc = 0;
    }
    return rc;
}

int tlb_page_holds(struct tlb_lab *tl, bool *holds, const struct tlb_level *level, uint64_t reach)
{
    *holds = true;
    return level->page > TLB_LEAST_PAGE ? ask(tl, holds, level, reach, ask_places) : 0;
}

int tlb_is_translation(struct tlb_lab *tl, bool *holds, const struct tlb_level *level,
                       uint64_t reach)
{
    *holds = true;
    return tl->data_cycles > 0 || tl->lines_differ ? ask(tl, holds, level, reach, ask_data) : 0;
}

/*
 * Has L2 room for the lines of so many pages, and for a line of a table each? Where its size is not
 * known, as many times more lines beside each other are walked: it holds these or not.
 */
static int holds_lines(struct tlb_lab *tl, bool *holds, size_t pages)
{
    const struct dissection *out = tl->lab->out;
    const struct cache_result *last = &out->caches[out->cache_count - 1];
    const uint32_t run = tl->run;
    const size_t data_lines = tl->data_lines;
    size_t lines = 2 * pages * limits.held_times;
    bool lacks;
    *holds = last->size.status == ATTRIBUTE_MEASURED &&
             (double)(lines * TLB_UNIT_BYTES) <= last->size.value;
    if (last->size.status == ATTRIBUTE_MEASURED || tl->rough || tl->data_cycles > 0) {
        return 0;
    }
    tl->run += limits.drawn_run;
    int rc = tlb_end_apart(tl, &lacks, run, tlb_measure_data(tl, lines));
    *holds = rc == 0 && !lacks && tl->data_cycles <= 0;
    tl->data_cycles = tl->data_most = 0;
    tl->data_lines = *holds ? tl->data_lines : data_lines;
    return rc;
}

int tlb_ask_drawn(struct tlb_lab *tl, struct tlb_drawn *out, const struct tlb_level *level,
                  uint64_t reach, size_t slow)
{
    size_t pages = (size_t)(reach / level->page);
    size_t expected = slow < pages ? slow : pages; /* a page that misses does so once */
    const uint32_t run = tl->run;
    struct tlb_ring ring;
    struct tlb_view view = {0};
    *out = (struct tlb_drawn){0};
    bool lacks, holds = false;
    int rc = pages < 2 || pages > limits.most_elements ? 0 : holds_lines(tl, &holds, pages);
    if (rc || !holds) {
        return rc;
    }
    rc = tlb_ring_drawn(tl, &ring, level, pages, true);
    tl->run += limits.drawn_run;
    rc = tlb_end_apart(tl, &lacks, run, rc ? rc : tlb_view(tl, &view, &ring, level, 1));
    free(ring.unit);
    if (rc || lacks) {
        return rc;
    }
    *out = (struct tlb_drawn){
        .asked = true,
        .misses = (double)view.slow_count >= limits.share * (double)expected,
        .low = view.miss_low,
        .middle = view.miss_excess,
        .high = view.miss_high,
    };
    tlb_view_free(&view);
    return 0;
}
