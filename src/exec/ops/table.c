/*
 * Which file of ops/ decodes a row of isa/insn.def: what is neither listed here nor a C function of
 * one lane (value.c) is regular. mov is regular except for vectors.
 */
#include "exec/ops/table.h"

#include "exec/ops/decoders.h"

/* clang-format off */
static decode_fn *const table[OP_COUNT] = {
    [OP_NONE] = decode_leave,
    [OP_ADD_CC] = decode_carry, [OP_ADDC] = decode_carry, [OP_SUB_CC] = decode_carry,
    [OP_SUBC] = decode_carry, [OP_MAD_LO_CC] = decode_carry, [OP_MAD_HI_CC] = decode_carry,
    [OP_MADC_LO] = decode_carry, [OP_MADC_HI] = decode_carry,
    [OP_PRMT_MODE] = decode_prmt_mode,
    [OP_SETP] = decode_compare, [OP_SETP_BOOL] = decode_compare,
    [OP_SETP_FLOAT] = decode_compare, [OP_SETP_FLOAT_BOOL] = decode_compare,
    [OP_SET] = decode_set, [OP_SET_BOOL] = decode_set,
    [OP_MOV] = decode_mov,
    [OP_CVTA] = decode_cvta, [OP_CVTA_TO] = decode_cvta, [OP_ISSPACEP] = decode_isspacep,
    [OP_LD] = decode_load, [OP_LD_HINT] = decode_load, [OP_LD_NC] = decode_load,
    [OP_LD_NC_HINT] = decode_load, [OP_LDU] = decode_load,
    [OP_TEX_FETCH] = decode_texture, [OP_TEX_FETCH_PAIR] = decode_texture,
    [OP_TEX_BASE] = decode_texture, [OP_TEX_BASE_PAIR] = decode_texture,
    [OP_TEX_LEVEL] = decode_texture, [OP_TEX_LEVEL_PAIR] = decode_texture,
    [OP_TEX_GRAD] = decode_texture, [OP_TEX_GRAD_PAIR] = decode_texture,
    [OP_TLD4] = decode_texture, [OP_TXQ] = decode_texture_query,
    [OP_TXQ_LEVEL] = decode_texture_query, [OP_SUQ] = decode_texture_query,
    [OP_ISTYPEP] = decode_istypep, [OP_SULD] = decode_surface, [OP_SUST] = decode_surface,
    [OP_SUST_P] = decode_surface, [OP_SURED] = decode_surface, [OP_SURED_P] = decode_surface,
    [OP_ST] = decode_store, [OP_ST_HINT] = decode_store,
    [OP_PREFETCH] = decode_prefetch, [OP_PREFETCH_EVICT] = decode_prefetch,
    [OP_PREFETCHU] = decode_prefetch, [OP_DISCARD] = decode_prefetch,
    [OP_ATOM_BITS] = decode_atomic, [OP_ATOM_EXCH] = decode_atomic, [OP_ATOM_CAS] = decode_atomic,
    [OP_ATOM_ADD] = decode_atomic, [OP_ATOM_INC] = decode_atomic,
    [OP_ATOM_MINMAX] = decode_atomic,
    [OP_RED_BITS] = decode_reduction, [OP_RED_ADD] = decode_reduction,
    [OP_RED_INC] = decode_reduction, [OP_RED_MINMAX] = decode_reduction,
    [OP_ATOM_HALF] = decode_atomic, [OP_RED_HALF] = decode_reduction,
    [OP_LD_MMIO] = decode_load, [OP_ST_MMIO] = decode_store,
    [OP_BARRIER_RED] = decode_barrier, [OP_BARRIER_RED_COUNT] = decode_barrier,
    [OP_BARRIER_RED_POPC] = decode_barrier, [OP_BARRIER_RED_POPC_COUNT] = decode_barrier,
    [OP_BRA] = decode_branch, [OP_BRX_IDX] = decode_switch, [OP_CALL] = decode_call,
    [OP_RET] = decode_ret, [OP_EXIT] = decode_exit, [OP_TRAP] = decode_trap,
    [OP_BRKPT] = decode_nop,
    [OP_BAR_SYNC] = decode_barrier, [OP_BAR_ARRIVE] = decode_barrier,
    [OP_BAR_CTA_ARRIVE] = decode_barrier, [OP_BARRIER_SYNC] = decode_barrier,
    [OP_BARRIER_ARRIVE] = decode_barrier, [OP_BARRIER_CTA_ARRIVE] = decode_barrier,
    [OP_BAR_RED] = decode_barrier, [OP_BAR_RED_COUNT] = decode_barrier,
    [OP_BAR_RED_POPC] = decode_barrier, [OP_BAR_RED_POPC_COUNT] = decode_barrier,
    [OP_CLUSTER_ARRIVE] = decode_cluster_barrier, [OP_CLUSTER_WAIT] = decode_cluster_barrier,
    [OP_MAPA] = decode_mapa, [OP_GETCTARANK] = decode_rank,
    [OP_BAR_WARP_SYNC] = decode_warp_sync,
    [OP_MEMBAR] = decode_fence, [OP_FENCE] = decode_fence, [OP_FENCE_PROXY_ALIAS] = decode_fence,
    [OP_ACTIVEMASK] = decode_activemask, [OP_VOTE] = decode_vote, [OP_VOTE_BALLOT] = decode_vote,
    [OP_VOTE_ACTIVE] = decode_vote, [OP_VOTE_BALLOT_ACTIVE] = decode_vote,
    [OP_SHFL_ACTIVE] = decode_shfl,
    [OP_SHFL] = decode_shfl, [OP_MATCH_ANY] = decode_match, [OP_MATCH_ALL] = decode_match,
    [OP_WMMA_MMA_F16] = decode_product, [OP_WMMA_MMA] = decode_product, [OP_MMA] = decode_product,
    [OP_WMMA_LOAD_A] = decode_matrix_move, [OP_WMMA_LOAD_B] = decode_matrix_move,
    [OP_WMMA_LOAD_C] = decode_matrix_move, [OP_WMMA_STORE] = decode_matrix_move,
    [OP_LDMATRIX] = decode_small_matrix, [OP_STMATRIX] = decode_small_matrix,
    [OP_MOVMATRIX] = decode_small_matrix,
    [OP_CP_ASYNC] = decode_copy, [OP_CP_ASYNC_HINT] = decode_copy,
    [OP_CP_ASYNC_SIZE_HINT] = decode_copy, [OP_CP_ASYNC_COMMIT] = decode_nop,
    [OP_CP_ASYNC_WAIT] = decode_nop, [OP_CP_ASYNC_WAIT_ALL] = decode_nop,
    [OP_CP_ASYNC_ARRIVE] = decode_mbarrier, [OP_CP_ASYNC_ARRIVE_NOINC] = decode_mbarrier,
    [OP_MBARRIER_INIT] = decode_mbarrier, [OP_MBARRIER_INVAL] = decode_mbarrier,
    [OP_MBARRIER_ARRIVE] = decode_mbarrier, [OP_MBARRIER_ARRIVE_NOCOMPLETE] = decode_mbarrier,
    [OP_MBARRIER_DROP] = decode_mbarrier, [OP_MBARRIER_DROP_NOCOMPLETE] = decode_mbarrier,
    [OP_MBARRIER_TEST] = decode_mbarrier, [OP_MBARRIER_TEST_PARITY] = decode_mbarrier,
    [OP_MBARRIER_TRY] = decode_mbarrier, [OP_MBARRIER_TRY_PARITY] = decode_mbarrier,
    [OP_REDUX] = decode_redux, [OP_REDUX_BITS] = decode_redux,
    [OP_NANOSLEEP] = decode_nop,
    [OP_ALLOCA] = decode_stack, [OP_STACKSAVE] = decode_stack,
    [OP_STACKRESTORE] = decode_stack,
};
/* clang-format on */

decode_fn *ops_decoder(enum isa_op op)
{
    if (table[op])
        return table[op];
    return decode_is_value(op) ? decode_value : decode_regular;
}
