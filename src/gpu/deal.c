/*
 * Which SM a grid's next CTA goes to: without cta_deal.by_cluster the one which has the fewest,
 * breadth first (Bakhoda et al. 2009, section 2).
 *
 * An H200 deals by clusters (docs/h200.md, "Who gets the next CTA"): one is visited, each of its
 * SMs gets a CTA, and the next one's turn comes; where a grid ends the next one goes on. Some SMs
 * are a group apart that is visited first and before every so many of the others. All SMs get
 * equally many while there are enough CTAs; the rest of a grid that fits the GPU at once goes to
 * the SMs apart and then by ones to the clusters, there first to one SM of each TPC. Only a grid
 * that comes to an empty GPU is dealt like this. The places of CTAs that end are not dealt: they
 * are filled as they become free.
 */
#include "gpu/state.h"

#define APART UINT32_MAX /* the group that is no cluster */

bool gpu_fits(const struct gpu *gpu, uint32_t sm, const struct gpu_grid *grid)
{
    return occupancy_fits(&gpu->model->sm, &gpu->room[sm], &grid->sm.needs, gpu->shared_bytes);
}

uint32_t gpu_emptiest_sm(const struct gpu *gpu, const struct gpu_grid *grid, uint32_t cluster)
{
    uint32_t best = GPU_NO_SM;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        bool is_in = cluster == GPU_ANY_CLUSTER || gpu_cluster_of(gpu->model, i) == cluster;
        if (is_in && (best == GPU_NO_SM || gpu->room[i].ctas < gpu->room[best].ctas) &&
            gpu_fits(gpu, i, grid)) {
            best = i;
        }
    }
    return best;
}

static bool is_empty(const struct gpu *gpu)
{
    uint32_t i = 0;
    while (i < gpu->model->sms && gpu->room[i].ctas == 0) {
        i++;
    }
    return i == gpu->model->sms;
}

static uint32_t apart_sms(const struct model *model)
{
    return model->cta_deal.apart_sms < model->sms ? model->cta_deal.apart_sms : 0;
}

static uint32_t group_of(const struct model *model, uint32_t sm)
{
    return sm + apart_sms(model) < model->sms ? gpu_cluster_of(model, sm) : APART;
}

/* The `nth` SM of the `rank`-th TPC of a cluster, both from 0. */
static uint32_t sm_of_tpc(const struct model *model, uint32_t cluster, uint32_t rank, uint32_t nth)
{
    uint32_t wanted = rank * model->cta_deal.tpc_sms + nth;
    for (uint32_t i = 0; i < model->sms; i++) {
        if (group_of(model, i) == cluster && wanted-- == 0) {
            return i;
        }
    }
    return GPU_NO_SM;
}

static uint32_t give_rest(struct gpu_deal *deal, uint32_t sm, uint32_t rest)
{
    if (rest == 0 || sm == GPU_NO_SM) {
        return rest;
    }
    deal->gets_rest[sm] = true;
    return rest - 1;
}

static void deal_rest(struct gpu *gpu, uint32_t rest)
{
    const struct model *model = gpu->model;
    struct gpu_deal *deal = &gpu->deal;
    for (uint32_t i = 0; i < model->sms; i++) {
        deal->gets_rest[i] = false;
    }
    for (uint32_t i = model->sms - apart_sms(model); i < model->sms; i++) {
        rest = give_rest(deal, i, rest);
    }
    for (uint32_t nth = 0; nth < model->cta_deal.tpc_sms; nth++) {
        for (uint32_t rank = 0; rest > 0 && rank * model->cta_deal.tpc_sms < model->sms; rank++) {
            for (uint32_t cluster = 0; cluster < model->clusters; cluster++) {
                rest = give_rest(deal, sm_of_tpc(model, cluster, rank, nth), rest);
            }
        }
    }
}

static void visit(struct gpu_deal *deal, uint32_t group)
{
    deal->group = group;
    deal->sm = 0;
}

static void visit_next(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    struct gpu_deal *deal = &gpu->deal;
    if (apart_sms(model) > 0 && deal->visits >= model->cta_deal.apart_every) {
        visit(deal, APART);
        deal->visits = 0;
    } else {
        visit(deal, deal->turn);
        deal->turn = (deal->turn + 1) % model->clusters;
        deal->visits++;
    }
}

static void begin(struct gpu *gpu, const struct gpu_grid *grid)
{
    const struct model *model = gpu->model;
    struct gpu_deal *deal = &gpu->deal;
    const char *limit = "";
    uint64_t fit = occupancy_ctas(&model->sm, &grid->sm.needs, gpu->shared_bytes, &limit),
             each = grid->cta_count / model->sms;
    bool all_fit = each < fit;
    deal->each = (uint32_t)(all_fit ? each : fit);
    deal->left = deal->each * model->sms;
    deal_rest(gpu, all_fit ? (uint32_t)(grid->cta_count % model->sms) : 0);
    deal->visits = model->cta_deal.apart_every;
    visit_next(gpu);
    deal->visits = 1; /* the second visit of the SMs apart comes one sooner than the others */
}

static bool wants(const struct gpu *gpu, const struct gpu_grid *grid, uint32_t sm)
{
    const struct gpu_deal *deal = &gpu->deal;
    uint32_t most = deal->each + (deal->left == 0 && deal->gets_rest[sm]);
    return group_of(gpu->model, sm) == deal->group && gpu->room[sm].ctas < most &&
           gpu_fits(gpu, sm, grid);
}

static uint32_t in_this_visit(struct gpu *gpu, const struct gpu_grid *grid)
{
    struct gpu_deal *deal = &gpu->deal;
    while (deal->sm < gpu->model->sms) {
        uint32_t sm = deal->sm++;
        if (wants(gpu, grid, sm)) {
            return sm;
        }
    }
    return GPU_NO_SM;
}

/* The rest begins with the SMs apart. */
static void count_dealt(struct gpu *gpu)
{
    struct gpu_deal *deal = &gpu->deal;
    if (deal->left > 0 && --deal->left == 0) {
        deal->visits = gpu->model->cta_deal.apart_every;
        deal->sm = gpu->model->sms;
    }
}

/* Some visits in a row may find nothing to do: those of the SMs apart that have all they get.
 * Where nobody wants a CTA more the turn stays whose it was. */
static uint32_t dealt_sm(struct gpu *gpu, const struct gpu_grid *grid)
{
    const uint32_t turn = gpu->deal.turn;
    uint32_t sm = in_this_visit(gpu, grid);
    for (uint32_t i = 0; sm == GPU_NO_SM && i < 2 * gpu->model->clusters + 2; i++) {
        visit_next(gpu);
        sm = in_this_visit(gpu, grid);
    }
    if (sm == GPU_NO_SM) {
        gpu->deal.turn = turn;
    } else {
        count_dealt(gpu);
    }
    return sm;
}

uint32_t gpu_deal_next(struct gpu *gpu, struct gpu_grid *grid)
{
    if (grid->cta_next == 0) {
        grid->is_dealt = gpu->model->cta_deal.by_cluster && is_empty(gpu);
        if (grid->is_dealt) {
            begin(gpu, grid);
        }
    }
    uint32_t sm = grid->is_dealt ? dealt_sm(gpu, grid) : GPU_NO_SM;
    return sm == GPU_NO_SM ? gpu_emptiest_sm(gpu, grid, GPU_ANY_CLUSTER) : sm;
}
