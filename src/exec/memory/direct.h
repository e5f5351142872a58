/*
 * Loads and stores of functional mode, issue and commit in one step: where nobody asks when an
 * access happens, nobody needs it described. Only what programs do most is done here, vectors
 * included: elements of 32 and 64 bits into registers of that width, in global, constant, shared
 * and kernel parameter memory. Everything else, and whatever is not allowed, goes the ordinary way
 * (ops/memory.c, commit.c), which also words the faults.
 */
#ifndef SONDE_EXEC_DIRECT_H
#define SONDE_EXEC_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct exec_access;
struct exec_warp;
struct uop;
struct uop_memory;

/*
 * Execute a uop whose run function is run_memory. False: it was left alone, nothing has changed.
 * True: it is done and the warp has advanced.
 */
typedef bool direct_fn(struct exec_warp *warp, const struct uop *uop, uint32_t mask);

/*
 * With timing: a load or store of shared memory by all 32 lanes, which takes effect when it is
 * issued, so that nothing of it need be kept but what the banks are asked for. `access` is filled
 * in, and done. False: it was left alone, nothing has changed.
 */
typedef bool direct_shared_fn(struct exec_warp *warp, const struct uop *uop,
                              struct exec_access *access);
extern direct_shared_fn *const direct_shared_portable, *const direct_shared_avx2,
                                                           *const direct_shared_avx512;
direct_shared_fn *direct_shared(void); /* the best for this host */

/*
 * What a load or store of device memory asks for, all of it allowed. Where lanes have an order,
 * spans of bytes in the order of lanes: each group of DIRECT_SPAN_LANES lanes has its elements in a
 * row or at one place; groups that go on where the one before ends are one span with it, and those
 * at the same place are left out. Else the lines, each where a lane's is not that of the lane
 * before, and how often a lane's sector is not. False: direct_fn would leave it alone. Nothing has
 * changed. warp->pc is the uop's.
 */
#define DIRECT_SPAN_LANES 8
#define DIRECT_SPANS (32 / DIRECT_SPAN_LANES)
#define DIRECT_SECTOR_BYTES 32
#define DIRECT_LINE_BYTES 128
struct direct_span {
    uint64_t first, bytes;
};
struct direct_reach {
    uint32_t spans; /* 0: they have no order */
    uint32_t sectors, lines;
    struct direct_span span[DIRECT_SPANS];
    uint64_t line[32 + DIRECT_SPAN_LANES]; /* numbers of lines; lists are written by groups */
};
typedef bool direct_reach_fn(struct direct_reach *reach, const struct exec_warp *warp,
                             const struct uop_memory *memory, uint32_t mask);
extern direct_reach_fn *const direct_reach_portable, *const direct_reach_avx2,
                                                         *const direct_reach_avx512;
direct_reach_fn *direct_reach(void); /* the best for this host */

/* The same source for any processor, for AVX2 and for AVX-512 (NULL where the compiler cannot). */
extern direct_fn *const direct_portable, *const direct_avx2, *const direct_avx512;
direct_fn *direct_access(void); /* the best for this host */

/*
 * A word of each of all 32 lanes, for a caller that moves the warp on itself: DIRECT_SHARED_WORD;
 * DIRECT_DEVICE_WORD, at warp->pc; a parameter of 4 or 8 bytes. False: nothing has changed, and
 * direct_access() is to be tried.
 */
struct direct_ways {
    bool (*shared)(const struct exec_warp *warp, const struct uop_memory *memory);
    bool (*device)(const struct exec_warp *warp, const struct uop_memory *memory);
    bool (*parameter)(const struct exec_warp *warp, const struct uop_memory *memory);
};
extern const struct direct_ways direct_ways_avx512; /* of NULLs where the compiler cannot */
const struct direct_ways *direct_ways(void);        /* NULL: none are worth it on this host */

#endif
