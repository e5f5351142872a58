/*
 * Launches that do again what one before did. A launch branches and reaches memory as one before it
 * where it is of the same kernel and shape and all that steers it is the same (exec/exec.h: struct
 * exec_steering): parameters, and the lines of device memory that loads which steer have read, byte
 * for byte. Its counts are then known before it is executed, and so are the lines that it touches.
 *
 * Where more is the same, all parameters and all lines that the launch touches, its results are,
 * too: then it need not be executed.
 *
 * What is kept of a launch ends at limits; a launch whose lines change again and again is given up,
 * and so is a kernel that reads, where that steers it, what the launch itself has written.
 */
#ifndef SONDE_SAMPLE_AGAIN_H
#define SONDE_SAMPLE_AGAIN_H

#include "exec/exec.h"
#include "sample/trail.h"
#include "util/container/vec.h"

/* A line that a launch touched. */
struct again_line {
    uint64_t line;
    uint32_t block; /* the last that did, counted from 1 in the order of their begins */
    bool wrote;
};

struct again {
    uint64_t hash;
    uint8_t *key;
    size_t key_bytes;
    uint64_t same, changed; /* launches whose lines were as they had been, and that were not */
    bool known;             /* all below is there */
    struct trail_counts counts;
    uint64_t warp_insns, thread_insns;
    VEC(struct again_line) lines;
    bool closed;        /* it reads and writes nothing but these lines and its parameters */
    VEC(uint64_t) read; /* lines that steered it, whose bytes lie in the same order in: */
    uint8_t *bytes;
    size_t bytes_capacity;
    struct again_results {
        bool known;
        uint64_t same, changed;  /* as above, of all lines and parameters */
        uint64_t changes;        /* exec_memory_changes() then */
        uint8_t *before, *after; /* of `lines` in their order; after: of those that it wrote */
        uint8_t *params;
    } results;
};

/* All launches that are remembered. */
struct again_all {
    VEC(struct again *) list;
    uint32_t *slot; /* a table of places in the list, plus 1; open addressing */
    size_t slots;
    size_t kept_bytes;
    uint8_t *key; /* of the launch that is asked for */
    size_t key_bytes, key_capacity;
};

void again_free(struct again_all *all);
/* The launch of this shape and with these parameters; `kernel` names its program. NULL: there is no
 * room for another, or no memory. */
struct again *again_of(struct again_all *all, const struct exec_launch *launch, uint64_t kernel,
                       const struct exec_steering *steering);
/* Whether all that steered it is as it was; `base`: where line 0 lies. */
bool again_is_same(struct again *again, uint64_t base);
/* Whether it is worth being written down. */
bool again_is_wanted(const struct again_all *all, const struct again *again);
/* A line that steers it, before the launch has written there; SONDE_ENOMEM. */
int again_read(struct again *again, uint64_t line, uint64_t base);
void again_clear(struct again_all *all, struct again *again); /* what is below `known` goes */
/* All has been written down. */
void again_keep(struct again_all *all, struct again *again);

/* The launch is one that again_is_same(). Whether its results are known; they are there then. */
bool again_redo(struct again *again, const struct exec_launch *launch);
/* They are not, and it is executed between these two. Whether they are wanted. */
bool again_results_begin(struct again_all *all, struct again *again,
                         const struct exec_launch *launch);
void again_results_end(struct again *again, const struct exec_launch *launch);

#endif
