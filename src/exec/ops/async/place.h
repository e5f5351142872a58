/*
 * What the asynchronous operations share: where their operands lie, and the word of an mbarrier.
 *
 *     63      62  61            40 39        20 19       0
 *     | phase | 0 | transactions | | expected | | pending |
 *
 * A barrier in shared memory is a word that only its own instructions read; the processor's layout
 * is not published. Transactions are bytes, counted modulo 2^22: the manual's range is +-(2^20 -
 * 1). The phase is over when neither arrivals nor transactions are pending.
 */
#ifndef SONDE_EXEC_ASYNC_PLACE_H
#define SONDE_EXEC_ASYNC_PLACE_H

#include "exec/ops/decoders.h"

struct async_place {
    enum isa_space space; /* SPACE_NONE: generic */
    bool has_base;
    struct element base;
    uint64_t offset;
};

int async_decode_place(struct decoder *d, struct async_place *place,
                       const struct ptx_operand *address, enum isa_space space);
/* The address as the program gives it. */
uint64_t async_address(const struct exec_warp *warp, const struct async_place *place,
                       uint32_t lane);
/* Where a lane's operand lies on the host; NULL with the fault set. */
uint8_t *async_find(struct exec_warp *warp, const struct async_place *place, uint32_t lane,
                    uint32_t bytes, uint32_t align);
/*
 * The same place in shared memory of CTA `rank` of the cluster; `rank` < 0: the one that the
 * address is in.
 */
uint8_t *async_find_in(struct exec_warp *warp, const struct async_place *place, uint32_t lane,
                       int rank, uint32_t bytes, uint32_t align);

/* Tells the observer, if there is one, of a bulk copy at `shared`, if that is in the lane's block:
 * it reads there, or writes what `barrier` counts (NULL: it reads). */
void async_tell(struct exec_warp *warp, uint32_t lane, const uint8_t *shared, uint64_t bytes,
                const uint8_t *barrier);

/* The same of an instruction of type `op` at a barrier. */
void async_tell_barrier(struct exec_warp *warp, uint32_t lane, const uint8_t *barrier, uint32_t op);

uint64_t mbarrier_init(uint32_t count);
uint64_t mbarrier_arrive(uint64_t word, uint32_t count, uint32_t drop);
uint64_t mbarrier_await(uint64_t word); /* one more arrival is pending in this phase */
uint64_t mbarrier_expect(uint64_t word, uint32_t bytes);
uint64_t mbarrier_complete(uint64_t word, uint32_t bytes);
uint32_t mbarrier_phase(uint64_t word);
uint32_t mbarrier_pending(uint64_t word);
/* Bytes have arrived for the barrier that lies there; threads have arrived at it. */
void mbarrier_count(uint8_t *barrier, uint32_t bytes);
void mbarrier_come(uint8_t *barrier, uint32_t threads);

#endif
