/*
 * Special registers as operands: their values are fetched into vectors of the warp's state just
 * before the instruction itself runs. Source: PTX ISA 9.0, chapter 10.
 */
#include "exec/cluster.h"
#include "exec/ops.h"

#include "isa/isa.h"

/* clang-format off */
static uint64_t special_value(const struct exec_warp *warp, uint16_t id)
{
    const struct exec_env *env = warp->env;
    const struct exec_cta *cta = warp->cta;
    const struct exec_launch *launch = cta->launch;
    switch (id) {
    case SREG_NTID_X: case SREG_NTID_Y: case SREG_NTID_Z: return launch->block[id - SREG_NTID_X];
    case SREG_CTAID_X: case SREG_CTAID_Y: case SREG_CTAID_Z: return cta->ctaid[id - SREG_CTAID_X];
    case SREG_NCTAID_X: case SREG_NCTAID_Y: case SREG_NCTAID_Z:
        return launch->grid[id - SREG_NCTAID_X];
    case SREG_CLUSTERID_X: case SREG_CLUSTERID_Y: case SREG_CLUSTERID_Z:
        return cta->ctaid[id - SREG_CLUSTERID_X] / cluster_extent(launch, id - SREG_CLUSTERID_X);
    case SREG_NCLUSTERID_X: case SREG_NCLUSTERID_Y: case SREG_NCLUSTERID_Z:
        return launch->grid[id - SREG_NCLUSTERID_X] /
               cluster_extent(launch, id - SREG_NCLUSTERID_X);
    case SREG_CLUSTER_CTAID_X: case SREG_CLUSTER_CTAID_Y: case SREG_CLUSTER_CTAID_Z:
        return cta->ctaid[id - SREG_CLUSTER_CTAID_X] %
               cluster_extent(launch, id - SREG_CLUSTER_CTAID_X);
    case SREG_CLUSTER_NCTAID_X: case SREG_CLUSTER_NCTAID_Y: case SREG_CLUSTER_NCTAID_Z:
        return cluster_extent(launch, id - SREG_CLUSTER_NCTAID_X);
    case SREG_CLUSTER_CTARANK: return cluster_rank(launch, cta->ctaid);
    case SREG_CLUSTER_NCTARANK: return cluster_size(launch);
    case SREG_WARPID: return env->warpid;
    case SREG_NWARPID: return env->nwarpid;
    case SREG_SMID: return env->smid;
    case SREG_NSMID: return env->nsmid;
    case SREG_GRIDID: return launch->launch_id;
    case SREG_CLOCK: return (uint32_t)env->clock;
    case SREG_CLOCK_HI: return env->clock >> 32;
    case SREG_CLOCK64: return env->clock;
    case SREG_GLOBALTIMER: return env->globaltimer_ns;
    case SREG_GLOBALTIMER_LO: return (uint32_t)env->globaltimer_ns;
    case SREG_GLOBALTIMER_HI: return env->globaltimer_ns >> 32;
    case SREG_TOTAL_SMEM_SIZE: case SREG_AGGR_SMEM_SIZE: return cta->shared_bytes;
    case SREG_DYNAMIC_SMEM_SIZE: return launch->dynamic_shared_bytes;
    case SREG_RESERVED_SMEM_OFFSET_BEGIN: case SREG_RESERVED_SMEM_OFFSET_0:
        return launch->program->reserved_offset;
    case SREG_RESERVED_SMEM_OFFSET_1: return launch->program->reserved_offset + RESERVED_BYTES / 2;
    case SREG_RESERVED_SMEM_OFFSET_END: return launch->program->reserved_offset + RESERVED_BYTES;
    case SREG_RESERVED_SMEM_OFFSET_CAP: return RESERVED_BYTES;
    /* CUDA's driver hands the grid's workspace over here: upper and lower half of its address. */
    case SREG_ENVREG1: return launch->grid_workspace >> 32;
    case SREG_ENVREG2: return (uint32_t)launch->grid_workspace;
    /* Performance counters and other environment registers are the driver's; they read as 0. */
    default: return 0;
    }
}
/* clang-format on */

static bool is_wide(uint16_t id)
{
    return id == SPECIAL_LOCAL || isa_type_info(isa_sreg_type((enum isa_sreg)id))->bytes > 4;
}

static void fill(struct exec_warp *warp, const struct uop *uop)
{
    struct exec_state *state = warp->state;
    for (uint32_t rest = uop->specials; rest; rest &= rest - 1) {
        uint32_t slot = lowest_lane(rest);
        uint16_t id = uop->special_ids[slot];
        uint64_t value = id == SPECIAL_LOCAL ? state->local_base + (uint64_t)uop->special_offset
                                             : special_value(warp, id);
        lane_dword *wide = state->special[slot];
        lane_word *narrow = (lane_word *)state->special[slot];
        if (is_wide(id))
            for (int i = 0; i < WARP_LANES; i++)
                wide[i] = value;
        else
            for (int i = 0; i < WARP_LANES; i++)
                narrow[i] = (uint32_t)value;
    }
}

enum exec_event run_special(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                            struct exec_access *access)
{
    if (mask)
        fill(warp, uop);
    return uop->inner(warp, uop, mask, access);
}
