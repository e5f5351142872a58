/*
 * Kernels drawn from a seed: valid PTX for sm_90 whose result is one value, whatever the order of
 * its warps. Arithmetic is drawn from the forms of tests/vectors/forms.txt; around it are branches,
 * loops, switches, functions, memory of every space, barriers, atomics whose order makes no
 * difference, and textures.
 */
#ifndef SONDE_TESTS_DRAWN_DRAWN_H
#define SONDE_TESTS_DRAWN_DRAWN_H

#include <stdbool.h>
#include <stdint.h>

#include "util/container/strbuf.h"
#include "util/rng.h"
#include "vectors/forms.h"

#define DRAWN_IN_WORDS 4096    /* of the array that all threads read */
#define DRAWN_OUT_BYTES 256    /* of each thread's results */
#define DRAWN_TOTALS_BYTES 512 /* what all threads add to */
#define DRAWN_MOST_THREADS 128 /* of a CTA */

struct drawn_forms {
    struct form_list all;
    struct {
        size_t first, count; /* forms that begin alike */
    } families[256];
    size_t family_count;
};

/* What one kernel is made of while it is written. */
struct drawn {
    struct strbuf *out;
    struct rng rng;
    const struct drawn_forms *forms;
    uint32_t depth, labels;
    bool together;    /* all threads of the CTA come here, or none */
    bool in_function; /* nothing but registers */
};

struct drawn_size {
    uint32_t grid, block;
};

/* Reads the forms at `path` whose results are exact; SONDE_E... */
int drawn_forms_read(struct drawn_forms *forms, const char *path);
void drawn_forms_free(struct drawn_forms *forms);

/*
 * The module of a seed: entry `k`, whose parameters are u64 in, out, scratch (FORM_SCRATCH_BYTES a
 * thread), totals, filtered (a texture of floats, linear, 16 x 8) and texels (one of four bytes as
 * integers, 16 x 8).
 */
struct drawn_size drawn_module(struct strbuf *out, const struct drawn_forms *forms, uint64_t seed,
                               uint32_t most_statements);

/*
 * Statements: an instruction of the forms; loads and stores, atomics and textures, anywhere in the
 * kernel; shared memory and barriers, where all threads come.
 */
void drawn_form(struct drawn *d);
void drawn_memory(struct drawn *d);
void drawn_exchange(struct drawn *d);
/* A number below `bound`. */
uint32_t drawn_below(struct drawn *d, uint32_t bound);

#endif
