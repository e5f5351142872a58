/*
 * What bulk copies move, told to whoever gives them time. A copy moves its bytes when it issues. If
 * the warp's env->transfers is not NULL, it notes there what it read or wrote of device memory, and
 * the barriers that will count its bytes: then these have to be told by transfer_arrive() when the
 * bytes have arrived. Else they are told at once.
 */
#ifndef SONDE_EXEC_ASYNC_TRANSFER_H
#define SONDE_EXEC_ASYNC_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/exec.h"
#include "util/container/vec.h"

/* To shared memory from device memory, the other way, or between shared memories. */
enum transfer_kind { TRANSFER_IN, TRANSFER_OUT, TRANSFER_ACROSS };

/* Bytes of device memory in a row. */
struct transfer_piece {
    uint64_t address;
    uint32_t bytes;
};

/* A barrier, and the bytes that it counts; threads, where copies of cp.async arrive. */
struct transfer_arrival {
    uint8_t *barrier;
    uint32_t bytes, threads;
};

/* One copy: so many of the pieces and arrivals, in order. */
struct transfer {
    enum transfer_kind kind;
    bool is_tensor;
    uint32_t bytes, pieces, arrivals;
};

struct exec_transfers {
    VEC(struct transfer) list;
    VEC(struct transfer_piece) pieces;
    VEC(struct transfer_arrival) arrivals;
};

void transfers_clear(struct exec_transfers *transfers);
void transfers_free(struct exec_transfers *transfers);

/* The barrier counts the bytes or the threads. */
void transfer_arrive(const struct transfer_arrival *arrival);

/*
 * For the copies: a copy begins, has read or written a piece, has bytes for a barrier. Where nobody
 * is told, the first two do nothing and the third counts at once. False: memory is out, the error
 * set.
 */
bool transfer_begin(const struct exec_warp *warp, enum transfer_kind kind, bool is_tensor);
bool transfer_piece(const struct exec_warp *warp, uint64_t address, uint32_t bytes);
bool transfer_count(const struct exec_warp *warp, uint8_t *barrier, uint32_t bytes);

/*
 * cp.async.mbarrier.arrive of one lane. If the warp's env->copies is not NULL the arrival is noted
 * among its arrivals, for whoever knows when the warp's copies are over; else the lane arrives at
 * once. False: memory is out, the error set.
 */
bool transfer_copies_arrive(const struct exec_warp *warp, uint8_t *barrier);

#endif
