/*
 * Blind trials: a hierarchy is drawn at random as a model file, simulated, dissected by what `sonde
 * dissect` does, and the answer is scored against the file. What of a hierarchy can be told at all
 * follows from the file alone (judge.c, truth.c).
 */
#ifndef SONDE_TESTS_BLIND_H
#define SONDE_TESTS_BLIND_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "model/model.h"
#include "trace/source.h"
#include "util/rng.h"
#include "util/container/strbuf.h"

/* ---- draw.c, draw_caches.c: a random hierarchy ---- */

struct blind_hierarchy {
    char *yaml; /* free() it */
    struct model *model;
};

/* The same hierarchy for the same seed. False: the drawing was refused, with the error's text. */
bool blind_draw(struct blind_hierarchy *out, uint64_t seed);

/* The simulator takes models from files: `yaml` becomes one, which is the caller's to unlink; on
 * failure no path is left, or that of a part. NULL is a failure. */
int blind_write_model(char path[256], const char *yaml);
void blind_forget(struct blind_hierarchy *hierarchy);

struct geometry {
    uint32_t line, sector, sets, ways, slices;
    bool unequal;
};

uint32_t draw_below(struct rng *rng, uint32_t bound);
uint64_t geometry_bytes(const struct geometry *g);
/* Sets and ways of a cache between `least` and `most` bytes, whose line is known. */
void draw_counts(struct geometry *g, struct rng *rng, uint64_t least, uint64_t most);
/* The caches that plain loads see. */
void draw_l1(struct geometry *g, struct rng *rng);
void draw_l2(struct geometry *g, struct rng *rng, const struct geometry *l1);
/* Geometry, index and policy as lines of a model file. */
void put_cache(struct strbuf *out, struct rng *rng, struct geometry *g);
void put_policy(struct strbuf *out, struct rng *rng, const struct geometry *g);

/* ---- noise.c: noise like a real GPU's ---- */

struct blind_noise {
    double jitter_cycles; /* up to so many more, most often few */
    double outlier_share; /* of all loads */
    double drift;         /* slow change of all latencies, relative amplitude */
    /* Of the wider draw alone: a second hump, other work in bursts, and what a slow load's spread.
     */
    double hump_cycles, hump_share;
    double busy_cycles, busy_share; /* in bursts of some thousand loads */
    double row_cycles, row_from;    /* loads slower than row_from take up to so many more */
};
void blind_draw_noise(struct blind_noise *out, uint64_t seed);
/* What it adds to the median of loads that take so long, strays and drift aside. */
double blind_noise_median(const struct blind_noise *noise, double cycles);

/* A source that answers with noise what `inner` answers without. */
struct noise_source;
struct noise_source *noise_source_create(struct trace_source inner, const struct blind_noise *noise,
                                         uint64_t seed);
void noise_source_destroy(struct noise_source *source);
struct trace_source noise_source_get(struct noise_source *source);

/* ---- trial.c ---- */

struct blind_tally;

/* What is drawn, and how much of the dissection is made of it. */
struct blind_kind {
    const char *name, *skip, *only; /* NULL: none skipped; all */
    unsigned seconds;               /* of processor time that a dissection may take on any model */
    bool (*draw)(struct blind_hierarchy *out, uint64_t seed);
    void (*draw_noise)(struct blind_noise *out, uint64_t seed);
    void (*judge)(struct blind_tally *tally, const struct blind_hierarchy *hierarchy,
                  const struct blind_noise *noise, json_t *dissection, uint64_t seed, bool loud);
};
/* NULL: there is no such kind. */
const struct blind_kind *blind_kind_find(const char *name);

/* Returns the machine's size class (blind_wide.h). */
unsigned blind_trial(struct blind_tally *tally, const struct blind_kind *kind, uint64_t seed,
                     bool with_noise, bool loud);
/* Scores a trial whose process ended by a signal. */
void blind_trial_died(struct blind_tally *tally, const struct blind_kind *kind, uint64_t seed,
                      bool with_noise, int signal_number);

/* ---- tally.c: what was right, added up ---- */

enum {
#define OWNER(id) OWNER_##id,
#include "scored.def"
    OWNERS
};
enum {
#define SCORE(id) SCORE_##id,
#include "scored.def"
    SCORES
};

#define BLIND_BINS 8 /* of confidence */

/* Made of uint64_t alone: tallies are added as arrays. */
struct blind_tally {
    uint64_t trials, failed, died; /* failed: no dissection at all; died: by a signal */
    uint64_t undrawn;              /* the drawing was no valid model: a mistake in draw.c */
    /* Of attributes that can be told, by owner and name. */
    uint64_t right[OWNERS][SCORES], wrong[OWNERS][SCORES], missing[OWNERS][SCORES];
    uint64_t untold, told;                    /* of others: not measured, or given all the same */
    uint64_t sure, surely_wrong;              /* all values given with more than 0.9 */
    uint64_t whole_trials;                    /* everything that can be told was right */
    uint64_t square_all, square_right, cross; /* sums of n^2, r^2, n r over trials: the spread */
    uint64_t bin_given[BLIND_BINS], bin_right[BLIND_BINS]; /* the reliability curve */
};

extern const double blind_bin_edges[BLIND_BINS + 1];
const char *blind_owner_name(unsigned owner);
const char *blind_score_name(unsigned score);

void blind_add(struct blind_tally *sum, const struct blind_tally *more);
/* Every count with a name of its own, such as `right.l2.size`. */
void blind_each_count(struct blind_tally *tally,
                      void (*visit)(void *ctx, const char *name, uint64_t *count), void *ctx);
void blind_totals(const struct blind_tally *t, uint64_t *right, uint64_t *wrong, uint64_t *missing);
/* Right of what can be told; 0 when there is none. */
double blind_share(const struct blind_tally *t);
/* The share's standard deviation, over trials. */
double blind_share_error(const struct blind_tally *t);
/* A confidence in [0, 1], and whether the value was right. */
void blind_count_given(struct blind_tally *t, double confidence, bool right);
void blind_print(const char *name, const struct blind_tally *t);
void blind_print_curve(const struct blind_tally *t);
/* The curve as a picture, where gnuplot is installed. */
void blind_plot_curve(const struct blind_tally *t, const char *svg_path);

/* ---- truth.c: what follows from a specification ---- */

/* Caches: lines in all, and whether sets differ in their ways. */
uint64_t truth_lines(const struct cache_spec *spec);
bool truth_unequal(const struct cache_spec *spec);
/* Sets of all slices that any line falls into: of lines shorter than what a slice has in a row not
 * every set may be reached. */
uint64_t truth_reached_sets(const struct cache_spec *spec, uint32_t slices,
                            const struct index_spec *slice_index);
/* Would this index (an object of the JSON) divide lines into sets as the cache does? `slices` of
 * them, chosen by `slice_index` (NULL: one). Of constants a bank is seen; of others a buffer, which
 * is aligned to 256 pages of `page_bytes` at most. */
bool truth_index_agrees(json_t *index, const struct cache_spec *spec, uint32_t slices,
                        const struct index_spec *slice_index, bool is_constant,
                        uint64_t page_bytes);
/* The same for two policies in sets of so many ways, whatever is read. */
bool truth_policies_alike(enum replacement_kind a, enum replacement_kind b, uint32_t ways);
/* The policy that a dissection's word stands for; false: none of those that follow a rule. */
bool truth_policy_named(enum replacement_kind *kind, const char *name);
/* Shared memory: passes that a warp's load takes at a stride of words of 4 bytes; and whether any
 * other number or width of banks would look the same at all strides. */
#define TRUTH_STRIDES 65
uint32_t truth_bank_passes(const struct shared_spec *spec, uint32_t stride);
bool truth_banks_show(const struct shared_spec *spec);

/* ---- judge.c, judge_parts.c: scores ---- */

struct judge {
    struct blind_tally *tally;
    uint64_t seed;
    bool noisy, loud;
    double added_cycles;  /* what noise adds to the median of a load */
    double added_to_sums; /* and to the mean */
    unsigned owner;
    uint64_t page_bytes; /* the driver's */
    uint64_t all, right; /* of this trial */
};

/* An attribute that is one number. NaN: no number is right. */
void judge_value(struct judge *j, json_t *owner, unsigned score, double truth, double tolerance,
                 bool can_be_told);
/* Presence, scope and sharing are told without a number: they are right or wrong, and say nothing
 * of what confidence means. */
#define JUDGE_NO_NUMBER 2.0
/* Anything else: `confidence` below 0 when nothing was given. */
void judge_other(struct judge *j, unsigned score, double confidence, bool right, bool can_be_told,
                 const char *truth, const char *found);
double judge_tolerance(double cycles);
/* A list of whole numbers, in any order, against the ways of the sets. */
void judge_ways(struct judge *j, json_t *owner, unsigned score, const struct cache_spec *spec,
                bool can_be_told);
void judge_index(struct judge *j, json_t *cache, const struct cache_spec *spec, uint32_t slices,
                 const struct index_spec *slice_index, bool can_be_told);
void judge_policy(struct judge *j, json_t *owner, const struct cache_spec *spec, bool can_be_told);
void judge_tlbs(struct judge *j, const struct model *model, json_t *root);
void judge_shared(struct judge *j, const struct model *model, json_t *root);

/* Scores a dissection (NULL: there is none); what is not right is printed, or everything when
 * `loud`. */
void blind_judge(struct blind_tally *tally, const struct blind_hierarchy *hierarchy,
                 const struct blind_noise *noise, json_t *dissection, uint64_t seed, bool loud);

#endif
