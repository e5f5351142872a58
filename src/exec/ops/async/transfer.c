/* See transfer.h. */
#include "exec/ops/async/transfer.h"

#include "exec/ops/async/place.h"
#include "util/error.h"

void transfers_clear(struct exec_transfers *transfers)
{
    vec_clear(&transfers->list);
    vec_clear(&transfers->pieces);
    vec_clear(&transfers->arrivals);
}

void transfers_free(struct exec_transfers *transfers)
{
    vec_free(&transfers->list);
    vec_free(&transfers->pieces);
    vec_free(&transfers->arrivals);
}

void transfer_arrive(const struct transfer_arrival *arrival)
{
    if (arrival->threads > 0)
        mbarrier_come(arrival->barrier, arrival->threads);
    else
        mbarrier_count(arrival->barrier, arrival->bytes);
}

static bool pushed(int rc)
{
    return rc == 0 || error_memory() == 0;
}

bool transfer_begin(const struct exec_warp *warp, enum transfer_kind kind, bool is_tensor)
{
    struct exec_transfers *transfers = warp->env->transfers;
    struct transfer transfer = {.kind = kind, .is_tensor = is_tensor};
    return !transfers || pushed(vec_push(&transfers->list, transfer));
}

bool transfer_piece(const struct exec_warp *warp, uint64_t address, uint32_t bytes)
{
    struct exec_transfers *transfers = warp->env->transfers;
    struct transfer_piece piece = {.address = address, .bytes = bytes};
    if (!transfers || bytes == 0)
        return true;
    vec_last(&transfers->list).pieces++;
    vec_last(&transfers->list).bytes += bytes;
    return pushed(vec_push(&transfers->pieces, piece));
}

bool transfer_count(const struct exec_warp *warp, uint8_t *barrier, uint32_t bytes)
{
    struct exec_transfers *transfers = warp->env->transfers;
    struct transfer_arrival arrival = {.barrier = barrier, .bytes = bytes};
    if (!transfers) {
        transfer_arrive(&arrival);
        return true;
    }
    struct transfer *transfer = &vec_last(&transfers->list);
    transfer->arrivals++;
    if (transfer->kind == TRANSFER_ACROSS)
        transfer->bytes += bytes;
    return pushed(vec_push(&transfers->arrivals, arrival));
}

bool transfer_copies_arrive(const struct exec_warp *warp, uint8_t *barrier)
{
    struct exec_transfers *copies = warp->env->copies;
    struct transfer_arrival arrival = {.barrier = barrier, .threads = 1};
    if (!copies) {
        transfer_arrive(&arrival);
        return true;
    }
    if (copies->arrivals.count > 0 && vec_last(&copies->arrivals).barrier == barrier) {
        vec_last(&copies->arrivals).threads++;
        return true;
    }
    return pushed(vec_push(&copies->arrivals, arrival));
}
