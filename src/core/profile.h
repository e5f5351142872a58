/*
 * Where the time of an SM's warps goes, instruction by instruction: an SM that is profiled counts
 * for each of its resident warps what it does in each cycle (stall.def), so that the sum over
 * reasons and instructions is the number of cycles for which warps were resident. A wait counts at
 * the instruction that waits; that a barrier, a branch or a sleep takes, at the one that caused it.
 *
 * An SM that is not profiled has none of this.
 */
#ifndef SONDE_CORE_PROFILE_H
#define SONDE_CORE_PROFILE_H

#include <stdint.h>

#include "exec/exec.h"

struct sm;

enum stall {
#define STALL(id, text, doc) STALL_##id,
#include "core/stall.def"
#undef STALL
    STALL_COUNT
};

const char *stall_name(enum stall reason);
const char *stall_doc(enum stall reason);

/* Counters of 64 bits and nothing else. */
struct profile_line {
    uint64_t stall[STALL_COUNT]; /* warp cycles */
    uint64_t caused;             /* warp cycles that others waited for this one's result */
    uint64_t warp_insns, thread_insns;
    uint64_t requests, l1_hits, l2_hits, dram; /* to memory, and where they were served */
    uint64_t l1_pending_hits; /* of those that L1 did not serve: it had asked for them before */
    uint64_t bytes;           /* of the requests */
    uint64_t l2_bytes;        /* of whole sectors, that went to L2 for them */
};

/* From the next launch on; SONDE_ENOMEM. */
int sm_profile_enable(struct sm *sm);
/*
 * Adds what was counted of the program since the last time to `lines`, one for each of its
 * instructions, and the cycles for which its warps were resident to *resident. Only blocks that
 * have ended are counted in full.
 */
void sm_profile_take(struct sm *sm, const struct exec_program *program, struct profile_line *lines,
                     uint64_t *resident);

#endif
