/*
 * Writing a model over a base: the text, and what its parts share. A line is a parameter with, as a
 * comment, where its value comes from: what was measured with its confidence and evidence. What is
 * not written is the base's.
 */
#ifndef SONDE_EXPORT_SONDE_MODEL_TEXT_H
#define SONDE_EXPORT_SONDE_MODEL_TEXT_H

#include <jansson.h>

#include "export/saved.h"
#include "model/model.h"
#include "util/container/strbuf.h"

/* What a bandwidth that was measured or told changes of the base; 0, false: nothing. */
struct bandwidth_plan {
    bool has_clock;      /* DRAM's, and its times */
    bool is_cut;         /* DRAM has as many parts as bring about a rate, not the base's */
    bool is_slowed;      /* by what was measured, not the driver's word */
    bool has_spacing;    /* of DRAM's reads and writes, which move unlike much */
    bool has_rows;       /* whether DRAM's stay open */
    double other_row;    /* cycles that all lone loads of kinds of access take more for another */
    double mean_row;     /* the same in the mean, of which some find theirs open */
    double closed_share; /* of lines near one another, which find another row; 0: not told */
    uint32_t row_bytes;  /* how far one reaches, of whatever channel; 0: as the base's */
    bool has_bursts;     /* how fast they follow each other */
    double refreshed;    /* the share of time that these would take; 0: as the base */
    bool has_no_refresh; /* lone loads meet none, or find rows open that one would have closed */
    uint32_t request_width, reply_width;
    bool has_crossing;   /* from one part of L2 to another */
    bool has_one_part;   /* of L2, by loads that all take the same; the base has several */
    bool has_pace;       /* of the load/store unit */
    bool is_reply_paced; /* reply_width is by a warp's requests */
    bool is_open;        /* ports and L2 have no limit, and `lanes` accesses send at a time */
    uint32_t lanes;
};

struct model_text {
    struct strbuf out;
    const json_t *root;              /* the dissection */
    const struct model *base;        /* what was not measured */
    bool has_other_shape;            /* `base` has another line or ways of L2 than it had */
    struct bandwidth_plan bandwidth; /* of the base as it was; `base` has it */
    const char *struck;              /* lines that say what was not taken over; "": all was */
    const char *base_path;           /* of a base that is a file; NULL: a shipped model */
};

/* "key: value" at a depth (of two blanks each), and behind it the comment; "": none. */
void model_line(struct model_text *t, unsigned depth, const char *comment, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The comment of a measured value; in `text`, which it returns. */
#define MODEL_COMMENT_BYTES 160
const char *model_measured(char *text, const struct saved_value *value);
/* The same behind a sum that was measured as a whole: "230 cycles with the way there". */
const char *model_sum(char *text, const char *what, const struct saved_value *value);

/* ---- strike.c: what cannot stand beside the rest ---- */

/* Takes from the dissection what the loader's problem is about, whose parameter is left in `path`.
 * False: nothing is left to take. */
bool model_strike(json_t *root, char *path, size_t size, const char *problem);

/* The clusters that the model will have. */
uint64_t model_clusters(const struct model_text *t);

/* ---- ports.c: what the ports of SMs move ---- */

/* The memory's `key` in bytes a second, 0: not measured; the core's clock, the base's if none is
 * told. */
double ports_measured(const json_t *root, const char *key);
double ports_sms(const struct model *base, const json_t *root);
double ports_clock_hz(const struct model *base, const json_t *root);
/* Bytes a cycle that one SM gets by itself, with many loads under way, at least; 0: not told. */
double ports_alone(const json_t *root);
/* Of that, what each SM gets where all have as many loads under way; 1: not told. */
double ports_together(const struct model *base, const json_t *root);
/* Bytes a second through the ports of all SMs, in messages of a header and `bytes`; `cycles`: what
 * one takes. */
double ports_rate(const struct model *base, const json_t *root, uint32_t bytes, double cycles);
/* Cycles from one such message to the next at a rate of all SMs; 0: no rate was measured. */
double ports_cycles_at(double rate, const struct model *base, const json_t *root, uint32_t bytes);
/* A message that writes `bytes`, which are whole sectors: how long it is. */
uint32_t ports_written(const struct model *base, uint32_t bytes);
/* Cycles that it takes, and that a reply with `bytes` takes; 0: the base's ports have no limit. */
double ports_write_cycles(const struct model *base, uint32_t bytes);
double ports_read_cycles(const struct model *base, uint32_t bytes);
/* Whether `cycles` is a whole number of them as exactly as rates are measured. */
bool ports_are_whole(double cycles, double whole);
/* Whether what all SMs wrote, or read, passes their ports in lines of L2, and not in what a miss
 * fetches. */
bool ports_move_lines(uint32_t *line, const json_t *root, const struct model *base,
                      uint32_t fetched);
/* Whether ports pass what was written in messages of all of a warp's words, and not in the least
 * that were written at once. */
bool ports_write_words(const json_t *root, const struct model *base, uint32_t least,
                       uint32_t words);

/* How wide a port is through which a full warp's requests, of `bytes` each, were answered; 0: as
 * the base's, or not told. Streams ask for up to most_bytes. */
uint32_t ports_width_by_pace(const struct model *base, const json_t *root, uint32_t bytes,
                             uint32_t most_bytes);
/* A load/store unit that is no slower than loads in flight were seen to be. True: it has changed.
 */
bool ports_take_pace(struct lanes_spec *lanes, const json_t *root);

/* ---- way.c: what a lone read takes behind its cache, in core cycles ---- */

/* What a lone load of a word asks for. */
uint32_t way_load_bytes(const struct model *base);
/* What warps ask for at once, in bytes; whether that is the base's line, of which L1 fetches
 * sectors. */
uint32_t way_segment(const json_t *root, const struct model *base);
bool way_is_by_line(const json_t *root, const struct model *base);
/* What the network takes for a reply of so many bytes, and its request, beyond a cycle each. */
double way_network_extra(const struct model *base, uint32_t data_bytes);
/* Whether the model will have an L2: found, or the base's and not shown to be absent. */
bool way_has_l2(const struct model_text *t);
/* What a read of `bytes` takes more than a load's, through L2, or to memory where there is none;
 * by_port: its reply passes the SM's port. */
double way_more(const struct model_text *t, uint32_t bytes, bool by_port);
/* What the data port of L2 takes for so many bytes beyond their first cycle: its lines in turn. */
double way_l2_port(const json_t *root, const struct model *base, uint32_t bytes);
/* DRAM without what its controller adds. */
double way_dram(const struct model_text *t, uint32_t bytes);

/* ---- bandwidth.c: what the base's memory and network cannot move ---- */

/* Channels, each of so many subchannels. */
static inline uint32_t model_dram_parts(const struct dram_spec *dram)
{
    return dram->channels * (dram->subchannels ? dram->subchannels : 1);
}

/* Changes the base as far as the dissection's bandwidths need it, and says what was changed. */
void model_take_bandwidth(struct bandwidth_plan *plan, struct model *base, const json_t *root);
void model_port_lines(struct model_text *t);  /* of the section `noc` */
void model_open_l2(struct model_text *t);     /* of the section `l2` */
void model_clock_lines(struct model_text *t); /* of the section `dram` */

/* ---- crossing.c: the way between parts of L2 ---- */

/* Whether L2 has several parts, as it was told, else as the base. */
bool model_has_parts(const struct model *base, const json_t *root);
/* The same, unless lone loads have shown that it has one. */
bool model_is_in_parts(const struct bandwidth_plan *plan, const struct model *base,
                       const json_t *root);
/* What a load behind another part takes more, beside the way there: what L2 adds to a miss, what
 * copies take, and the data port for what a miss fetches beyond the base's sector. */
double model_taken_there(const struct model *base, const json_t *root, uint32_t copy_cycles);
/* Whether near loads of memory take one of two times, and far ones as well, as far apart: by how
 * many cycles, and the share of all loads that take the longer one. */
bool model_kinds_in_parts(double *more, double *share, const json_t *root);
/* Changes the base as far as lone loads of memory show how long that way is, or that there is none.
 */
void model_take_crossing(struct bandwidth_plan *plan, struct model *base, const json_t *root);
struct parts_plan;
/* l2.crossing, where it was measured and the model has parts. */
bool model_tells_crossing(const struct model_text *t, const struct parts_plan *parts);
void model_crossing_line(struct model_text *t, const struct parts_plan *parts);
/* Of L2's parts: what copies take; one, where the base has several; no distances of slices, where
 * it has some; several, where it has one. */
void model_copy_line(struct model_text *t, const struct parts_plan *parts);
void model_single_lines(struct model_text *t);
void model_level_lines(struct model_text *t);
void model_cut_lines(struct model_text *t, const struct parts_plan *parts);

/* ---- lone.c: what lone loads of memory show of its DRAM ---- */

/* Changes the base's rows, refreshes and bursts to those that loads one by one have shown. */
void model_take_lone(struct bandwidth_plan *plan, struct model *base, const json_t *root);
/* Of so many channels as few as let lines near one another find a row open, as often as they did,
 * and divide the slices. */
uint64_t model_channels_by_rows(const struct model_text *t, uint64_t slices, uint64_t channels);
/* Of the section `dram`, which may say already how wide a bus is. */
void model_lone_lines(struct model_text *t, bool has_width);

/* A sum that was measured, over two parameters: as the base has it divided, if it is the base's own
 * sum; else half and half, the first being the larger. */
struct halves {
    uint32_t first, second;
};
struct halves way_halves(uint32_t sum, uint32_t base_first, uint32_t base_second);

/* ---- latencies.c: how measured latencies divide over the parameters that add up to them ---- */

/*
 * How a scheduler issues. What the record of a timed load adds to it shows that: two issues, or
 * nothing, where the clock reads issue with the load and its use (models/README.md, ADR 0002).
 */
struct issue_plan {
    bool is_measured;
    uint32_t per_scheduler, interval;
    uint32_t record_cycles;
};

/* L2's parts that the model will have and the slices of each, what copies take, and the record of a
 * timed hit. */
struct parts_plan {
    uint32_t count, slices, copy_cycles, record_cycles;
    bool is_even;  /* its slices share the measured sets out evenly, unlike hashed ones */
    bool is_apart; /* they lie near and far: classes of hits */
};

struct latency_plan {
    struct issue_plan issue;
    struct parts_plan parts;
    uint32_t lsu, lsu_local, lsu_readonly; /* of local and read-only loads; 0: as others */
    uint32_t request, reply;               /* of the network */
    uint32_t l2_hit;                       /* less than the base's where that is too long */
    uint32_t l1_hit, l1_through;           /* on a miss: miss and fill together */
    uint32_t dram_fixed;
    const char *memory_of_kinds; /* how it follows from kinds of access; NULL: it does not */
    bool texture_by_l1;
    uint32_t texture_address, texture_filter, texture_fifo, texture_through;
    uint32_t constant_address, constant_l1_hit, constant_l1_through;
    uint32_t constant_l15_hit, constant_l15_through, constant_l15_return;
    bool constants_have_second; /* where none was shown: the base's, as misses come back so soon */
    uint32_t tlb_l1_miss, tlb_l1_fill, tlb_l2_hit;
    uint32_t walker, walker_levels, window_switch;
    uint64_t walker_span[WALKER_MAX_LEVELS]; /* of a level's entry; 0: as the base's */
};

/* Starts from the base's values; what was measured changes them. What no whole number of cycles
 * from 0 on can bring about stays as near as it can. */
void latencies_plan(struct latency_plan *plan, const struct model_text *t);

/* ---- walks.c: what a walk of the page table reads ---- */

void walks_plan(struct latency_plan *plan, const struct model_text *t);

/* ---- classes.c: L2's hits and memory's loads, where they are near and far ---- */

/* From the first class of a cache's hits to the last; 0: there are less than two. */
double class_span(const json_t *cache);
/* How far a single class spreads; 0: there are more, or none. */
double class_breadth(const json_t *cache);
/* Takes the classes of few late hits from L2's: no slice is as far. */
void model_leave_late_hits(json_t *root);
/* Whether hits may be copies of lines in another part, as often as not and so much later than those
 * at home. */
bool class_shows_copies(const json_t *l2, uint32_t copy_cycles);
/* Of timed hits as of untimed ones, which have no median: the mean of their classes, if told. */
double class_mean(const json_t *cache, double otherwise);
/* Makes exact what L2's misses take more than its hits, which is about `cycles`: behind each of
 * several classes of hits there is one of misses, and a median of either is in any of them. Where
 * there are no such classes it stays as it was. */
void class_beyond(double *cycles, const json_t *l2);
/* As few slices as classes of hits can be of, each at one distance; 0: they do not tell. */
uint64_t class_slices(const json_t *l2);
/* The hit of the nearest slice, with what its record adds. */
double class_nearest(const json_t *l2, const struct parts_plan *parts);
/* The line `slice_latency`: how far each slice of a part lies, from the classes of hits. */
void model_distances(struct model_text *t, const json_t *l2, const struct parts_plan *parts);
/* What memory takes beyond a hit in L2 where a row is open, from the kinds of access that go there;
 * `across`: what a line of another part takes more. Returns how they tell it; NULL: they do not,
 * and *cycles is as it was. */
const char *kinds_beyond_l2(double *cycles, const struct model_text *t,
                            const struct parts_plan *parts, double across);

/* ---- rows.c: slices that rows of lines show ---- */

struct row_plan {
    uint64_t slices; /* of a part, each with a set of every row; 0: no rows were told */
    uint64_t bytes;  /* of a row */
    bool is_turn;    /* its lines come to them in turn; else a hash shares them out */
};
/* Of a cache with so many sets. False: no rows were told, or other sets. */
bool rows_read(struct row_plan *rows, const json_t *cache, uint64_t line, uint64_t sets);

/* ---- index.c: which set a line is in ---- */

/* Of a cache of so many lines' sets, in slices that the lowest bits of a set's number choose. */
struct index_plan {
    uint64_t line, sets, slices;
    uint64_t row_bytes; /* of slices that rows have shown; 0: they have not */
    bool is_base_hash;
    bool is_hashed; /* whatever was told of the whole */
};
/* Whether bits, or sums of bits, were found that give just so many sets. */
bool index_has_masks(const json_t *cache, uint64_t sets);
/* The lowest of them, which choose a slice. */
void index_of_slices(struct strbuf *out, const json_t *cache, uint64_t slices);
/* False: what was found does not say it, and modulo stands for it, or a hash, where the base has
 * one. */
bool index_text(struct strbuf *out, const json_t *cache, const struct index_plan *plan);

/* ---- l1.c: an L1 of which local memory tells ---- */

/* Puts into the dissection what paths through L1 have told of it, where it was told nothing of. */
void model_tell_l1(json_t *root);

/* ---- hashed.c: sets that a hash numbers ---- */

/* So many sets of so many ways, over which chance shares lines out, that as likely as not one of
 * them is full when `fit` lines were read, and the next one is too many. */
uint64_t model_sets_by_chance(uint64_t ways, uint64_t fit);

/* The evidence of what stands for a value that was not told. */
#define MODEL_DRAWN "drawn, so that as much fits as was measured"
/* Of caches of constants with ways and no sets: sets and a map of lines to them, which are put into
 * the dissection with confidence 0. */
void model_draw_hashed(json_t *root);

/* ---- outstanding.c: what an SM may have outstanding ---- */

void model_outstanding(struct model_text *t); /* of the section `sm` */
void model_mshr(struct model_text *t);        /* of the section `l1_data` */

/* ---- units.c, caches.c and translation.c: sections, or what they end with ---- */

/* Of the section `sm`: schedulers, what they issue, units. */
void model_units(struct model_text *t, const struct latency_plan *plan);

/* The section `l2`; returns the slices that the model has then. */
uint64_t model_l2(struct model_text *t, const struct latency_plan *plan);
/* Of the base, with what was told of them. */
void model_parts(struct parts_plan *parts, const struct model_text *t);
/* Returns the slices of L2 that it has written, or the base has. */
uint64_t model_caches(struct model_text *t, const struct latency_plan *plan);
/* Where not all of L2's geometry was told, but its line was, or the ways of its parts, or a miss
 * fetches more than the base's line: gives the base such lines and ways, and as many sets as its
 * size has of them. True: the base has changed. */
bool model_take_shape(struct model *base, const json_t *root);
void model_carveout(struct model_text *t);
bool model_has_choices(const struct model_text *t); /* that it writes several divisions */
/* The policy that was found of a cache or a TLB with sets of so many ways. */
void model_replacement(struct model_text *t, const json_t *cache, uint64_t ways,
                       const struct replacement_spec *base);
/* A policy was found, of as many ways as the base has, whatever else of its geometry was not. */
bool tells_victims(const json_t *cache, const struct cache_spec *base);
/* No second TLB showed, and the base's, which translates all of the device's memory, would not
 * have. */
bool model_keeps_second_tlb(const struct model_text *t);
/* Whether the model will have a second TLB: found, or the base's, not shown to be absent. */
bool model_has_second_tlb(const struct model_text *t);
void model_translation(struct model_text *t, const struct latency_plan *plan);

#endif
