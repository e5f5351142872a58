/*
 * What one dissection carries along: where measurements come from, what they have cost, and the
 * result.
 *
 *   undecided   the measurements do not decide; the reason is in lab->why
 *   soft        an error that costs only the attributes concerned; others end the dissection
 *   loads       all that were asked for, warm-up included
 *
 * The function of an experiment returns 0, INFER_UNDECIDED, or a negative error.
 */
#ifndef SONDE_INFER_LAB_H
#define SONDE_INFER_LAB_H

#include "infer/infer.h"

enum { INFER_UNDECIDED = 1 };

struct level_summary; /* level.h */

struct lab {
    struct trace_source *source;
    const struct infer_options *options;
    struct dissection *out;
    uint64_t loads;       /* asked for so far, warm-up included */
    uint64_t level_loads; /* for the structure of the cache under examination; 0: no limit */
    uint64_t most_loads;  /* from which on nothing more is measured; 0: no limit */
    uint64_t requests;
    double allowed;     /* share of the source's work by which what is under way ends */
    struct refusal why; /* of the last measurement that did not decide; no reason: none told */
    const char *doing;
    double done;                  /* share of the work, for the progress line */
    double share, device_share;   /* of it, each experiment's on a cache, on the device */
    struct level_summary *levels; /* in the order of levels.def, as far as examined */
    size_t level_count;
};

/* A trace of a measurement that worked; why it did not is in lab->why (soft) or the error text. */
int lab_measure(struct lab *lab, const struct trace **out, const struct trace_request *request);

/* What follows ends by this share of all that the source may do. */
void lab_allow(struct lab *lab, double share);
/* The same by a part of what is left. Returns what was allowed before, for lab_allow(). */
double lab_allow_part(struct lab *lab, double part);

/* Leaves the reason and returns INFER_UNDECIDED. */
int lab_undecided(struct lab *lab, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for what the measurements show not to exist. */
int lab_absent(struct lab *lab, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What was left last, or that the measurements do not decide. */
struct refusal lab_refusal(const struct lab *lab);
/* The error concerns only one measurement. */
bool lab_soft(int code);

/* Adds an entry "PREFIX.N" with the text, and writes its id to `id`. */
void lab_evidence(struct lab *lab, char id[24], const char *prefix, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

void attribute_set(struct attribute *attribute, double value, const char *unit, double confidence,
                   const char *evidence);
/* Not measured, for that reason. */
void attribute_refuse(struct attribute *attribute, const char *unit, const char *reason);
void attribute_refuse_as(struct attribute *attribute, const char *unit, const struct refusal *why);
/* The same only where there is neither a value nor a reason yet. */
void attribute_refuse_open(struct attribute *attribute, const char *unit,
                           const struct refusal *why);

#endif
