/*
 * What a launch without timing leaves behind: counts that say what it did, the lines of device
 * memory that it has touched, and what was in those that it has written, so that the launch can be
 * taken back and done again with timing. It looks as an observer (exec/observe.h).
 *
 * Each line of device memory has the stamp of the block that touched it last. From stamps comes
 * what caches would hold, put there before a timed launch that follows others without timing
 * (Barr, Pan, Zhang and Asanovic, "Accelerating Multiprocessor Simulation with a Memory Timestamp
 * Record", ISPASS 2005).
 */
#ifndef SONDE_SAMPLE_TRAIL_H
#define SONDE_SAMPLE_TRAIL_H

#include "exec/observe.h"

#define TRAIL_LINE_BYTES 128

struct trail;
struct inside_block;

/* What a launch did. */
struct trail_counts {
    uint64_t ctas;
    uint64_t accesses;      /* warp instructions on device memory */
    uint64_t sectors;       /* of 32 bytes that they ask for */
    uint64_t lines;         /* of TRAIL_LINE_BYTES, all different */
    uint64_t missing;       /* of these: a last cache that held the latest would not have them */
    uint64_t visits;        /* lines of each block, added up */
    uint64_t passes;        /* of shared memory's banks, estimated */
    const uint64_t *blocks; /* how often each instruction was come to by a branch or behind one;
                               the trail's until the next begin */
    uint32_t length;        /* of blocks */
    const struct inside_block *each; /* what each of the ctas cost, in the order of their begins, if
                                        that was asked for */
};

/* `cache_bytes`: of the last cache before DRAM; `each`: blocks are to be told apart. SONDE_ENOMEM
 * where the address space for stamps cannot be had. */
int trail_create(struct trail **out, const struct exec_memory *memory, uint64_t cache_bytes,
                 bool each);
void trail_destroy(struct trail *trail); /* NULL is allowed */

/*
 * Whether the launch will do again what one before did (again.h), with the same counts: it is then
 * as if it had been observed, but for its results; one of keep and take_back follows. `kernel`
 * names its program: a number that no other has had.
 */
bool trail_again(struct trail *trail, const struct exec_launch *launch, uint64_t kernel,
                 uint64_t *warp_insns, uint64_t *thread_insns);
/* It was, and is now to happen. Whether its results were known as well, and are there; else it is
 * executed, and the trail told when it has ended without an error. */
bool trail_redo(struct trail *trail, const struct exec_launch *launch);
void trail_redone(struct trail *trail, const struct exec_launch *launch);
/* It was not so; all of the launch has been observed since, before keep or take_back. */
void trail_write_down(struct trail *trail, uint64_t warp_insns, uint64_t thread_insns);

/* A launch begins: to be its observer; then one of keep and take_back. */
const struct exec_observer *trail_begin(struct trail *trail);
/* Whether it did what cannot be followed; then it can only be taken back. */
bool trail_failed(const struct trail *trail);
/* The blocks that have begun so far. */
uint64_t trail_ctas(const struct trail *trail);
void trail_counts(const struct trail *trail, struct trail_counts *out);
void trail_keep(struct trail *trail);
/*
 * Memory is as it was, for the launch to be done with timing. touch() is called for the lines that
 * launches before it have touched and kept since the last time, those touched last at the end,
 * about as many as the cache holds.
 */
typedef void trail_touch(void *ctx, uint64_t address, bool dirty);
void trail_take_back(struct trail *trail, trail_touch *touch, void *ctx);
/* The same calls alone, of what was kept up to now. */
void trail_warm(struct trail *trail, trail_touch *touch, void *ctx);

#endif
