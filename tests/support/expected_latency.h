/*
 * A lone load's latencies as they follow from a model file, part by part along its way, in core
 * cycles; nothing here was measured. Translation is left out: its hits take no time of their own.
 */
#ifndef SONDE_TESTS_SUPPORT_EXPECTED_LATENCY_H
#define SONDE_TESTS_SUPPORT_EXPECTED_LATENCY_H

#include "model/model.h"

#define SECTOR_BYTES 32 /* what a lone load asks of a cache */

static inline uint32_t further_cycles(uint64_t bytes, uint32_t width)
{
    return width && bytes > width ? (uint32_t)((bytes + width - 1) / width - 1) : 0;
}

/* What a reply of so many bytes occupies an SM's port for after its first cycle. */
static inline uint32_t reply_port_cycles(const struct model *model, uint32_t bytes)
{
    return further_cycles(model->noc.header_bytes + bytes, model->noc.reply_bytes_per_cycle);
}

static inline uint32_t network_cycles(const struct model *model, uint32_t bytes)
{
    const struct noc_spec *noc = &model->noc;
    return noc->request_cycles + noc->reply_cycles +
           further_cycles(noc->header_bytes, noc->request_bytes_per_cycle) +
           reply_port_cycles(model, bytes);
}

static inline double dram_cycles(const struct model *model, uint32_t bytes)
{
    const struct dram_spec *dram = &model->dram;
    uint32_t burst = 1 + further_cycles(dram->burst_bytes, dram->bytes_per_cycle);
    uint32_t further = (bytes - 1) / dram->burst_bytes, apart = burst;
    apart = dram->t_ccd_s > apart ? dram->t_ccd_s : apart;
    apart = dram->t_ccd_l > apart ? dram->t_ccd_l : apart;
    uint32_t clocks = dram->t_rcd + dram->t_cl + further * apart + burst;
    return dram->fixed_cycles +
           (double)clocks * (double)dram->period_ps / (double)model->core_period_ps;
}

static inline double l1_hit_cycles(const struct model *model)
{
    return model->sm.lsu_cycles + model->l1_data.hit_cycles;
}

/* From the network's near side: what lies between a request's sending and its data. */
static inline double l2_way_cycles(const struct model *model, uint32_t bytes)
{
    return network_cycles(model, bytes) + model->l2.hit_cycles +
           further_cycles(bytes, model->l2.data_bytes_per_cycle);
}

static inline double l2_hit_cycles(const struct model *model)
{
    return model->sm.lsu_cycles + l2_way_cycles(model, SECTOR_BYTES);
}

static inline double l1_miss_cycles(const struct model *model)
{
    const struct cache_spec *l1 = &model->l1_data;
    return model->sm.lsu_cycles + l1->miss_cycles + l2_way_cycles(model, l1->sector_bytes) +
           l1->fill_cycles;
}

static inline double memory_cycles(const struct model *model)
{
    const struct cache_spec *l2 = &model->l2;
    return model->sm.lsu_cycles + network_cycles(model, SECTOR_BYTES) + l2->miss_cycles +
           dram_cycles(model, l2->sector_bytes) + l2->fill_cycles;
}

static inline double texture_hit_cycles(const struct model *model)
{
    return model->sm.texture.address_cycles + model->texture_l1.hit_cycles +
           model->sm.texture.filter_cycles;
}

static inline double texture_miss_cycles(const struct model *model)
{
    const struct cache_spec *l1 = &model->texture_l1;
    return model->sm.texture.address_cycles + l1->miss_cycles +
           l2_way_cycles(model, l1->sector_bytes) + l1->fill_cycles +
           model->sm.texture.filter_cycles;
}

static inline double constant_hit_cycles(const struct model *model)
{
    return model->sm.constant.address_cycles + model->constant_l1.hit_cycles;
}

/* A miss of the first cache of constants that hits the second. */
static inline double constant_l15_hit_cycles(const struct model *model)
{
    const struct cache_spec *l1 = &model->constant_l1;
    return model->sm.constant.address_cycles + l1->miss_cycles + model->constant_l15.hit_cycles +
           l1->fill_cycles;
}

static inline double constant_l15_miss_cycles(const struct model *model)
{
    const struct cache_spec *l1 = &model->constant_l1, *l15 = &model->constant_l15;
    return model->sm.constant.address_cycles + l1->miss_cycles + l15->miss_cycles +
           l2_way_cycles(model, l15->sector_bytes) + l15->fill_cycles + l1->fill_cycles;
}

#endif
