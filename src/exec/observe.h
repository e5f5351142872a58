/*
 * The observer of a launch without timing: a checker (check/). It is called before memory
 * accesses, and at what orders them: barriers, fences, atomics. A launch has one observer or
 * none, from its begin to its end; without one it executes no code of this interface.
 *
 * A launch is observed in the order in which its instructions are executed, by one host thread.
 */
#ifndef SONDE_EXEC_OBSERVE_H
#define SONDE_EXEC_OBSERVE_H

#include "exec/exec.h"

struct direct_reach;

/* A barrier of asynchronous copies: where it lies in the block's shared memory, and the parity of
 * its phase. */
struct exec_phase {
    uint64_t place;
    uint32_t parity;
};

enum exec_barrier_use { BARRIER_INIT, BARRIER_INVALIDATE, BARRIER_USE };

/* What is counted in place of being told, by pc: each is as long as the program, and borrowed from
 * the observer until the end. */
struct exec_counts {
    uint64_t *heads; /* in place of issues(), which is not called: how often */
    const uint32_t
        *straight;         /* instructions from there up to the next that is watched, at least 1 */
    uint32_t *shared_left; /* accesses to its block's own shared memory to go by before one is
                              told; counted down, and set anew by the observer */
};

struct exec_observer {
    void *ctx;
    /* What the members below get as `launch`; NULL: no memory for it. `*watch` is one byte for each
     * pc of the program, borrowed until the end: not 0, where issues() is wanted. */
    void *(*begins)(void *ctx, const struct exec_launch *launch, const uint8_t **watch);
    void (*ends)(void *launch);
    /* Called after begins(): its instructions are counted, and loads of parameters and constants
     * not told, so that those between what is told are executed as without an observer. NULL: all
     * is told. */
    const struct exec_counts *(*counts)(void *launch);
    /* The CTA's warps are initialised. What is left in cta->observed is handed to the others. 0, or
     * a negative code with the error set. */
    int (*cta_begins)(void *launch, struct exec_cta *cta, struct exec_warp *const *warps,
                      uint32_t warp_count);
    void (*cta_ends)(void *launch, struct exec_cta *cta);
    /* The instruction at warp->pc is issued next, for the lanes of `mask`. */
    void (*issues)(struct exec_warp *warp, uint32_t mask);
    /* All lanes of the access may be served; it has not been made. */
    void (*accesses)(struct exec_warp *warp, const struct exec_access *access);
    /* Of an observer that counts, in place of accesses(): a load or store of device memory that the
     * direct way takes (exec/memory/direct.h). NULL: not wanted. */
    void (*reaches)(struct exec_warp *warp, bool stores, const struct direct_reach *reach);
    /* A lane that accesses what it must not: it is left out, the launch goes on. */
    void (*refused)(struct exec_warp *warp, const struct exec_access *access, uint32_t lane,
                    enum isa_space space, uint64_t bytes);
    /* An instruction that reaches memory without an access cannot do so there: `bytes` (0: it only
     * names the place) at `address`, which must be a multiple of `align`. The launch faults. NULL:
     * not wanted. */
    void (*stops)(struct exec_warp *warp, uint32_t lane, enum isa_space space, uint64_t address,
                  uint64_t bytes, uint64_t align);
    /* A lane's surface access of `bytes` at x, y, z and layer, as the program gives them, lies
     * outside of the image (.trap) or is misaligned: it is left out, the launch goes on. NULL: the
     * launch faults. */
    void (*leaves)(struct exec_warp *warp, uint32_t lane, const struct exec_image *image,
                   const int64_t at[4], uint64_t bytes, bool misaligned);
    /* A lane ends the launch by a fault, in words. NULL: not wanted. */
    void (*faults)(struct exec_warp *warp, uint32_t pc, uint32_t lane, const char *text);
    /* Bytes that an instruction reads or writes when it is issued, without an access. `address` is
     * a generic one. */
    void (*touches)(struct exec_warp *warp, uint32_t lane, uint64_t address, uint64_t bytes,
                    bool writes);
    /* A lane's bulk copy reads bytes of its block's shared memory, or (`barrier` not NULL) writes
     * them and has the barrier count them. NULL: not wanted. */
    void (*moves)(struct exec_warp *warp, uint32_t lane, uint64_t offset, uint64_t bytes,
                  const struct exec_phase *barrier);
    /* A product of wgmma reads bytes of its block's shared memory by a lane's descriptors. NULL:
     * not wanted. */
    void (*multiplies)(struct exec_warp *warp, uint32_t lane, uint64_t offset, uint64_t bytes);
    /* A lane's mbarrier instruction acts on a barrier there in its block's shared memory. NULL: not
     * wanted. */
    void (*acts)(struct exec_warp *warp, uint32_t lane, uint64_t offset, enum exec_barrier_use use);
    /* The warp has come to the barrier that it names; after that, these warps of its CTA have been
     * let go by it, or, `by_exit`, by the end of this warp. */
    void (*arrives)(struct exec_warp *warp);
    void (*released)(struct exec_warp *warp, uint64_t warps, bool by_exit);
};

/* The member masks of the lanes, of an instruction at warp->pc that acts on lanes which they name;
 * NULL: it has none. */
const uint32_t *exec_member_masks(const struct exec_warp *warp);

#endif
