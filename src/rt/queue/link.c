/*
 * What copies take. Over the link to the host: its latency and the bytes at the bandwidth of their
 * way, or at what the host manages where memory is not page-locked. Inside of the device: the same
 * latency, and the bytes read and written at DRAM's peak. Leaves out what rows that do not lie
 * together cost, and that copies and kernels share DRAM.
 */
#include "rt/queue/state.h"

#define PS_PER_S 1000000000000u

enum link_way link_way(const struct rt_copy *copy)
{
    bool from_host = copy->src.kind == RT_END_HOST, to_host = copy->dst.kind == RT_END_HOST;
    return from_host == to_host ? LINK_NONE : from_host ? LINK_TO_DEVICE : LINK_FROM_DEVICE;
}

static uint64_t transfer_ps(uint64_t bytes, uint64_t bytes_per_s)
{
    return (uint64_t)((double)bytes * (double)PS_PER_S / (double)bytes_per_s + 0.5);
}

/* 0: the model's DRAM takes no time for its bytes. */
static uint64_t dram_bytes_per_s(const struct model *model)
{
    const struct dram_spec *dram = &model->dram;
    uint64_t a_cycle = (uint64_t)dram->channels * (dram->subchannels ? dram->subchannels : 1) *
                       dram->bytes_per_cycle;
    return dram->period_ps ? a_cycle * (PS_PER_S / dram->period_ps) : 0;
}

static uint64_t inside_ps(const struct model *model, uint64_t bytes)
{
    uint64_t bytes_per_s = dram_bytes_per_s(model);
    return model->link.latency_ps + (bytes_per_s ? transfer_ps(bytes, bytes_per_s) : 0);
}

uint64_t link_copy_ps(const struct model *model, const struct rt_copy *copy, bool staged)
{
    const struct link_spec *link = &model->link;
    uint64_t bytes = copy->width_bytes * copy->height * copy->depth;
    enum link_way way = link_way(copy);
    if (way == LINK_NONE && copy->src.kind != RT_END_HOST) {
        return inside_ps(model, 2 * bytes);
    }
    if (way == LINK_NONE) {
        return transfer_ps(bytes, link->pageable_bytes_per_s);
    }
    const struct rt_end *host = way == LINK_TO_DEVICE ? &copy->src : &copy->dst;
    uint64_t bytes_per_s =
        way == LINK_TO_DEVICE ? link->to_device_bytes_per_s : link->from_device_bytes_per_s;
    if ((staged || !host->pinned) && link->pageable_bytes_per_s < bytes_per_s) {
        bytes_per_s = link->pageable_bytes_per_s;
    }
    return link->latency_ps + transfer_ps(bytes, bytes_per_s);
}

uint64_t link_memset_ps(const struct model *model, const struct rt_memset *set)
{
    return inside_ps(model, set->width * set->element_bytes * set->height);
}
