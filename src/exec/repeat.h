/*
 * Whether a warp does the same again. While memory does not change, what a warp does next depends
 * on its own state alone, as long as it reads no clock: once it has come back to a state in which
 * it was, without having changed memory in between, it goes round for ever.
 */
#ifndef SONDE_EXEC_REPEAT_H
#define SONDE_EXEC_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/exec.h"

/* What is told of a launch all of whose warps do; with blocks (uint64_t) that wait, and all. */
#define REPEAT_NO_PROGRESS                                                                         \
    "no progress: the kernel's warps repeat what they did, and nobody is left who could change "   \
    "the memory that they read"
#define REPEAT_NO_ROOM                                                                             \
    "; %" PRIu64 " of %" PRIu64 " blocks wait for room, which none of those on the GPU will give"

/*
 * Is it worth a comparison? Independent paths count their branches backwards until they give way,
 * so no state comes again before that. Every round has a state that is.
 */
bool exec_warp_is_comparable(const struct exec_warp *warp);

/*
 * 64 bits of everything that decides what the warp does next: pc, lanes, calls, registers,
 * predicates, local memory, divergence. The warp has no access between issue and commit. Two states
 * that differ have the same one by a chance of 2^-64.
 */
uint64_t exec_warp_fingerprint(const struct exec_warp *warp);
/* Of pc, lanes, registers and local memory alone: alike where a loop has nothing new, whatever its
 * divergence counts. No proof of anything. */
uint64_t exec_warp_values(const struct exec_warp *warp);

/*
 * Would exec_commit() now change memory that others see? Local memory is the warp's own. True where
 * that cannot be told: what was done at issue, copies, surfaces.
 */
bool exec_access_changes(const struct exec_warp *warp, const struct exec_access *access);

#endif
