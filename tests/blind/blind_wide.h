/*
 * The wider draw (DRAW.md): machines of every size, one-parameter changes of the shipped models,
 * noise as an H200 has it, and scores of what the narrow draw has none of.
 */
#ifndef SONDE_TESTS_BLIND_WIDE_H
#define SONDE_TESTS_BLIND_WIDE_H

#include <sys/resource.h>

#include "blind.h"
#include "device/device.h"

/* ---- draw_wide.c, draw_wide_caches.c, draw_changed.c ---- */

bool blind_draw_wide(struct blind_hierarchy *out, uint64_t seed);
bool blind_draw_changed(struct blind_hierarchy *out, uint64_t seed);
void blind_draw_wide_noise(struct blind_noise *out, uint64_t seed);

/* A cache of a wide machine: what is asked for, then what was drawn. */
struct wide_cache {
    struct rng *rng;
    uint32_t line, sector, slices;
    bool hashed, modulo, keeps, large;
    uint32_t sets, ways;
    bool unequal;
};
/* Sets and ways of about so many bytes, never more. */
void wide_draw(struct wide_cache *c, uint64_t bytes);
void wide_put(struct strbuf *out, const struct wide_cache *c);
/* About so many entries; returns how many. */
uint32_t wide_put_tlb(struct strbuf *out, struct rng *rng, const char *name, uint32_t page_log2,
                      uint32_t entries, const char *scope, uint32_t hit);

/* ---- judge_wide.c ---- */

/* As blind_judge(), for any machine. */
void blind_judge_wide(struct blind_tally *tally, const struct blind_hierarchy *hierarchy,
                      const struct blind_noise *noise, json_t *dissection, uint64_t seed,
                      bool loud);

/* ---- cost.c ---- */

enum { BLIND_CLASSES = 4 };
/* By the size of L2: to 256 KiB, 2 MiB, 8 MiB, above. */
unsigned blind_class(const struct model *model);
const char *blind_class_name(unsigned which);

/* What each experiment took, told as it ends: infer_options' progress. */
struct blind_spending {
    const struct device *device;
    char what[64]; /* the experiment under way */
    uint64_t work; /* the device's before it */
    double seconds;
};
void blind_spend(void *spending, double fraction, const char *what);

/* What a trial left: all 0: not made. */
struct blind_score {
    uint32_t all, right, surely_wrong, failed;
    uint32_t class_of, milliseconds, kilobytes;
};
/* Of processor time, user and system; at least 1. */
uint32_t blind_milliseconds(const struct rusage *used);
/* Adds a trial up, and notes its score. */
void blind_add_trial(struct blind_tally *tally, struct blind_score *score,
                     const struct blind_tally *own);
void blind_print_cost(const struct blind_score *scores, uint64_t count, uint64_t stride);

#endif
