/*
 * Address translation as latencies tell it.
 *
 *   level    a TLB; the first one is in front of the second
 *   page     what one entry of a level translates
 *   excess   cycles that a load takes longer than where every translation is at hand
 *   fits     pages that a level holds together
 *   miss counts   misses of each page, where single records tell a miss
 *
 * Files, each using only those before it: in walk/, base.c (walks), reference.c (what four lines
 * take by now), lines.c (what all lines take where they hit), view.c (what a walk shows of its
 * elements); data.c (missing data), begin.c; miss_counts.c; page.c (the page), predict.c (whether
 * it holds elsewhere), fit.c (the entries), turns.c, counted.c and sets.c (the sets), scope.c;
 * visits.c (walks over a set's pages), rule.c and victims.c (its policy), policy.c; penalty.c,
 * refuse.c; search.c (the search for a level); tlb.c (one level after the other).
 */
#ifndef SONDE_INFER_TLB_H
#define SONDE_INFER_TLB_H

#include "infer/ask/lab.h"
#include "util/rng.h"

#define TLB_UNIT_BYTES 128   /* what an offset of a walk over pages counts */
#define TLB_MOST_PAGES 16384 /* of a walk */
/* Lines that are used of each 4 KiB: all but the first five, where tables begin. */
#define TLB_BLOCK_UNITS 32
#define TLB_FIRST_LINE 5
#define TLB_LINES (TLB_BLOCK_UNITS - TLB_FIRST_LINE)
#define TLB_LEAST_PAGE (UINT64_C(4) << 10)

#define TLB_MOST_KINDS 6 /* of a miss of L2: near and far, beside each other and alone */

/* What walks have in common. */
struct tlb_lab {
    struct lab *lab;
    bool mapped; /* pages that are mapped one by one; else plain memory */
    uint64_t limit_bytes;
    bool noisy;          /* repeats of a load do not take equally long */
    bool lines_differ;   /* nor do lines, of which some are nearer than others */
    bool rough;          /* lines differ, and what one takes is known but roughly */
    bool narrow;         /* lines of 64 KiB of a page are used, not of all of it */
    double record_noise; /* what a record lies above its line's median at most (98 %) */
    double noise;        /* what an excess is at most (95 %) where everything hits */
    double reference;    /* median of the reference lines when walks began */
    double soon;         /* the same of their soonest records */
    double usual;        /* what the median lies above these while other work rests */
    uint32_t waits;      /* requests for which walks waited, while it did not */
    uint32_t run;        /* of repeated requests */
    bool twice; /* pages are counted by two visits in a row: the level in front lets none go that is
                   new and not used again, and would keep some for good */
    bool few;   /* the first level has few entries: lines are measured among fewer */
    struct tlb_base *base; /* what lines take where all hits: a hash table, owned */
    size_t base_count, base_room;
    /* Excess of a line that L2 does not hold, from and to, as rows of memory are open or not; 0: L2
     * holds data_lines. */
    double data_cycles, data_most;
    size_t data_lines; /* as many as were tried */
    /* Without noise: all that such a line's excess is, where these are few. Otherwise none. */
    double data_kinds[TLB_MOST_KINDS];
    size_t data_kind_count;
};

int tlb_lab_begin(struct tlb_lab *tl, struct lab *lab);
void tlb_lab_end(struct tlb_lab *tl);
/* Ends walks whose requests are numbered apart, from `run` on, so that all others stay those of
 * recordings. An older recording *lacks them, or no time is left for them, which is no error.
 * `lacks` may be NULL. */
int tlb_end_apart(struct tlb_lab *tl, bool *lacks, uint32_t run, int rc);

/* Where the line of element i of a walk over pages lies, in units; `turn` gives others of its page.
 */
uint32_t tlb_place(const struct tlb_lab *tl, uint64_t stride, size_t i, size_t turn);
/* The line `further` lines on, in the same 4 KiB. */
uint32_t tlb_near(uint32_t unit, size_t further);
/* The place of line number `line` of a page, from the page's beginning, where lines are spread. */
uint64_t tlb_line(uint64_t stride, size_t line);

/* A level of translation, as far as it is known. */
struct tlb_level {
    double before;      /* excess of accesses that hit it, cycles */
    double threshold;   /* excess above which an access misses it */
    double least, most; /* of a miss's excess: beyond these it is an accident */
    double penalty;     /* of a miss beside a hit */
    uint64_t reach;     /* bytes of the walk that showed it */
    double seen;    /* median of the excess in the last walk of so many bytes at most (page.c) */
    double alone;   /* least median of what was slow in such walks; 0: few were (page.c) */
    bool unchecked; /* other places of the pages were not walked */
    bool believed;  /* the penalty is of a walk that others do not repeat */
    bool like_data; /* a miss takes as long as missing data, and is no such thing */
    uint64_t page;
    size_t in_front;     /* entries of the level before this one; 0: there is none */
    uint64_t front_page; /* what one of these translates */
    size_t fits;         /* pages, `page` bytes apart */
    uint32_t *set;       /* of the fits + 1 first pages, those of one set that is too full; owned */
    size_t set_count;
    bool thrashes;    /* each of these misses in every pass */
    bool by_counting; /* that was no good: sets are sought by counting alone */
    bool by_turns;    /* and found by pages in turn */
    bool again;       /* it was the level before that showed */
};

/* A ring of lines: units, in the order of the walk. */
struct tlb_ring {
    uint32_t *unit;
    size_t count;
};

/*
 * What a walk in a circle shows of each element: the median of its excess, and whether it misses a
 * level. Owned.
 */
struct tlb_view {
    size_t count;
    double *excess;
    bool *slow; /* beyond the level's threshold in more than stray records */
    size_t slow_count;
    bool *ever;                 /* in a record or more */
    bool always;                /* what is slow is slow in every record */
    bool clean;                 /* a whole pass went by without a slow record */
    double miss_excess;         /* median of the slow records' excess */
    double miss_low, miss_high; /* their cheapest tenth, their dearest twentieth */
    double miss_share;          /* of the records */
    double far_share;           /* of the records, slower than noise makes them */
    bool far;          /* these, not all slow ones, are what miss_excess, _low and _high are of */
    double data_share; /* of the records, that took as long as missing data */
    double kinds[TLB_MOST_KINDS]; /* all that slow records took, where these are few */
    size_t kind_count;
};

/* `level` may be NULL: then nothing is slow. `patience`: 1, or more for more warming and more
 * records. */
int tlb_view(struct tlb_lab *tl, struct tlb_view *out, const struct tlb_ring *ring,
             const struct tlb_level *level, unsigned patience);
/* Is an excess that of missing data, and no miss of the level? */
bool tlb_is_data(const struct tlb_lab *tl, const struct tlb_level *level, double excess);
/* Can single records tell a miss of the level? */
bool tlb_is_reliable(const struct tlb_lab *tl, const struct tlb_level *level);
int tlb_doubt(struct tlb_lab *tl, const struct tlb_ring *ring, const struct tlb_view *view);
void tlb_view_free(struct tlb_view *view);
double tlb_view_quantile(const struct tlb_view *view, double q); /* of the excess */
int tlb_view_slow(const struct tlb_view *view, double *median);  /* of what is slow */
/*
 * Memory that grows may come to lie elsewhere, and its pages in other sets. So all that will be
 * walked to find sets is asked for beforehand.
 */
int tlb_view_stretch(struct tlb_lab *tl, const struct tlb_level *level);

uint32_t tlb_most_window(const struct tlb_lab *tl);

/* The excess of each record of the windows, in order; only the first is warmed. */
int tlb_records(struct tlb_lab *tl, double *excess, const struct tlb_ring *ring,
                uint64_t warm_passes, uint32_t window, uint32_t windows);

/*
 * A line in each of so many pages; with `distance`, at each page's turn a second line, so many
 * bytes farther; where these are less than 4 KiB, in the same 4 KiB. The ring's units are free()d
 * by its maker.
 */
int tlb_ring_of_pages(const struct tlb_lab *tl, struct tlb_ring *out, uint64_t stride, size_t pages,
                      uint64_t distance);

/* tlb/data.c: fills data_cycles. */
int tlb_measure_data(struct tlb_lab *tl, size_t lines);
/* What takes from `cycles` to `most` more than a hit is missing data from here on. */
void tlb_take_for_data(struct tlb_lab *tl, double cycles, double most);
/* Before a walk of so many lines: were fewer than twice as many tried and all held, tries these. */
int tlb_learn_data(struct tlb_lab *tl, size_t lines, bool *learnt);
/* In a walk that is slow: is it so too where another line of the same page came just before? */
int tlb_ask_second_lines(struct tlb_lab *tl, bool *data, const struct tlb_level *level,
                         uint64_t stride, size_t pages);
/* The same of a level behind another, whose pages do not miss at other places, where L2 was not
 * seen to miss any line so far. */
int tlb_is_missing_lines(struct tlb_lab *tl, bool *data, const struct tlb_level *level,
                         uint64_t reach);

/*
 * In a walk that showed `shown` slow elements in front of all levels: are these slow though their
 * translation is at hand, and the lines that wait for translation, just before them, no slower?
 * Then it is L2 that misses them, and no level, whatever it costs; what such a level's miss takes
 * comes on top of what its line does.
 */
int tlb_is_lines_alone(struct tlb_lab *tl, bool *data, const struct tlb_level *level,
                       uint64_t stride, uint64_t reach, size_t shown);

/* Pages from the first on that memory holds while a level's sets and policy are sought. */
size_t tlb_pages_held(const struct tlb_lab *tl, const struct tlb_level *level);

/* ---- tlb/miss_counts.c: records one by one, where these can be told apart ---- */

/* Can so many pages be counted? */
bool tlb_can_count(const struct tlb_lab *tl, const struct tlb_level *level, size_t pages);

/*
 * A level in front of smaller pages holds parts of this level's. Rounds that ask for other parts of
 * the same pages in turn make more of them than it holds: so many parts, a power of two (1: there
 * is no need), and where the line of a page is that is visited in a round.
 */
size_t tlb_parts(const struct tlb_level *level, size_t pages);
uint32_t tlb_place_in_part(const struct tlb_lab *tl, const struct tlb_level *level, size_t parts,
                           size_t page, size_t round);

/* HIDDEN: the level in front had it; DOUBT: neither a hit nor a miss takes that long. */
#define TLB_COUNT_ROUNDS 5 /* in a window, at least */
enum tlb_sight { TLB_HIT, TLB_HIDDEN, TLB_MISS, TLB_DOUBT };
enum tlb_sight tlb_see(const struct tlb_lab *tl, const struct tlb_level *level, double excess);

/* Miss counts of some pages, over all walks taken. */
struct tlb_miss_counts {
    const struct tlb_lab *tl;
    size_t count;
    uint32_t *misses; /* per page; owned */
    bool *heard;      /* the level was asked for it in the last walk; owned */
    uint64_t slow;    /* misses in all */
    double rounds;    /* recorded, in all */
    double rate;      /* misses a round in the last window */
    bool kept;        /* it had, but some pages were never asked for */
    bool clean;       /* the last walk had rounds without a miss, as many as prove that all fit */
    struct rng rng;
};

/* In rounds of all pages: before the first window, of each window, and left out at its beginning.
 */
struct tlb_count_plan {
    uint32_t warm, passes, skip;
    uint32_t rounds; /* orders in turn */
    uint32_t windows;
};

int tlb_miss_counts_create(struct tlb_miss_counts *out, const struct tlb_lab *tl, size_t count);
void tlb_miss_counts_free(struct tlb_miss_counts *counts);
/* `page` may be NULL: the first pages. A window must hold a few rounds of them. */
int tlb_count_misses(struct tlb_lab *tl, struct tlb_miss_counts *counts,
                     const struct tlb_level *level, const uint32_t *page,
                     const struct tlb_count_plan *plan);
double tlb_miss_counts_members(const struct tlb_miss_counts *counts);
int tlb_count_fits(struct tlb_lab *tl, bool *fits, const struct tlb_level *level,
                   const uint32_t *page, size_t count);

/* tlb/counted.c: the sets by who misses at times; how many entries they have together. */
int tlb_counted_sets(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                     size_t *entries);

/* tlb/turns.c: the sets, if pages are dealt to them in turn; `found` says whether they are. */
int tlb_sets_in_turn(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                     size_t *entries, bool *found);

/* tlb/victims.c: the policy of a set whose pages are known. */
int tlb_visits_policy(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level);

/* ---- tlb/penalty.c ---- */

#define TLB_PENALTIES 3 /* walks that say what a miss takes, where there is noise */

/* What a miss takes by several walks, some time apart. */
struct tlb_penalties {
    double of[TLB_PENALTIES];
    size_t count;
};

double tlb_penalty_confidence(const struct tlb_lab *tl, const struct tlb_level *level,
                              size_t in_front);
/* Where there is noise: the walk that showed the level, once more. A walk that cannot be had adds
 * nothing. */
int tlb_penalty_again(struct tlb_lab *tl, struct tlb_penalties *out, const struct tlb_level *level,
                      uint64_t stride, uint64_t reach);
/* The middle one, where all were had; where they disagree it is not sure. Where there is no noise,
 * what L2 missed beside is taken off. `reach`: bytes of the walk. */
int tlb_penalty_settle(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                       struct tlb_penalties *penalties, uint64_t reach);

/* ---- the steps; each returns 0, INFER_UNDECIDED or an error ---- */

/* tlb/page.c: fills page. `reach` bytes are more than the level holds. */
int tlb_page(struct tlb_lab *tl, struct tlb_level *level, uint64_t reach);

/*
 * tlb/predict.c. Do other places of the pages of a walk of `reach` bytes miss as the first ones do?
 * And are lines that miss found sooner, by more than missing tables take, where another line of
 * their page came just before? Both hold where a recording has no such walk; INFER_UNDECIDED where
 * the device refused it.
 */
int tlb_page_holds(struct tlb_lab *tl, bool *holds, const struct tlb_level *level, uint64_t reach);
int tlb_is_translation(struct tlb_lab *tl, bool *holds, const struct tlb_level *level,
                       uint64_t reach);

/* tlb/predict.c. A line of each page at a place of 4 KiB that is drawn, or at the first one. */
int tlb_ring_drawn(const struct tlb_lab *tl, struct tlb_ring *out, const struct tlb_level *level,
                   size_t pages, bool drawn);
/*
 * tlb/predict.c. A walk over drawn places of the level's pages, where L2 is known to hold these
 * lines and those of their tables many times over: what is slow then misses the level alone.
 * `slow`: elements that were slow in the walk that found it.
 */
struct tlb_drawn {
    bool asked, misses;       /* there was such a walk; its loads missed */
    double low, middle, high; /* of their excess: a tenth, the median, all but a twentieth */
};
int tlb_ask_drawn(struct tlb_lab *tl, struct tlb_drawn *out, const struct tlb_level *level,
                  uint64_t reach, size_t slow);

/* tlb/predict.c. Are so many cycles what a few reads of `each` take? */
bool tlb_is_multiple(const struct tlb_lab *tl, double cycles, double each);

/* tlb/predict.c. Does a miss of the level cost a few reads of tables that miss L2? Or about what
 * missing data do? */
bool tlb_costs_as_tables(const struct tlb_lab *tl, const struct tlb_level *level);
bool tlb_costs_as_data(const struct tlb_lab *tl, const struct tlb_level *level);
bool tlb_costs_as_line_and_table(const struct tlb_lab *tl, const struct tlb_level *level);
/* tlb/refuse.c. INFER_UNDECIDED: a level that costs what reads of tables do. */
int tlb_refuse_tables(struct tlb_lab *tl, const struct tlb_level *level);
/* tlb/refuse.c. Takes back a level behind another that may be no such thing: INFER_UNDECIDED. */
int tlb_withdraw_unconfirmed(struct tlb_lab *tl, struct tlb_result *out,
                             const struct tlb_level *level);

/* tlb/fit.c */
int tlb_fits(struct tlb_lab *tl, bool *fits, const struct tlb_ring *ring,
             const struct tlb_level *level);
int tlb_find_fits(struct tlb_lab *tl, struct tlb_level *level, size_t guess);
/*
 * May the level in front, of smaller pages, have held some of what was walked? Then a line a page
 * does not tell how many fit. Several lines of each page do, as many as the level in front does not
 * hold: how many of the pages that seemed to fit do so then.
 */
bool tlb_may_hide(const struct tlb_lab *tl, const struct tlb_level *level);
int tlb_find_spread_fits(struct tlb_lab *tl, const struct tlb_level *level, size_t *entries);

/* tlb/sets.c: sets, entries_per_set, steps of `out`; the set of `level`. A level with `in_front`
 * entries is before this one. */
int tlb_sets(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level, size_t in_front);

/* tlb/policy.c: fills policy. */
int tlb_policy(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level,
               size_t in_front);

/* tlb/scope.c: fills scope, or the reason why it is not known. */
int tlb_scope(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level);

#endif
