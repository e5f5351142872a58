/*
 * The decode functions of the operations, by file, and what operations share to decode. An
 * operation uses the decoder's services (exec/decode/decode.h) and operations below its own; the
 * table (table.c) names all.
 */
#ifndef SONDE_EXEC_OPS_DECODERS_H
#define SONDE_EXEC_OPS_DECODERS_H

#include "exec/decode/decode.h"

decode_fn decode_regular;                                                      /* regular.c */
decode_fn decode_value;                                                        /* value.c */
decode_fn decode_carry, decode_prmt_mode;                                      /* carry.c */
decode_fn decode_compare, decode_set;                                          /* compare.c */
decode_fn decode_mov, decode_move_wide;                                        /* move.c */
decode_fn decode_load, decode_store, decode_atomic, decode_reduction;          /* access.c */
decode_fn decode_prefetch, decode_fence;                                       /* access.c */
decode_fn decode_texture;                                                      /* tex.c */
decode_fn decode_texture_query, decode_istypep;                                /* tex_query.c */
decode_fn decode_surface;                                                      /* surface.c */
decode_fn decode_cvta, decode_isspacep;                                        /* address.c */
decode_fn decode_branch, decode_switch, decode_ret, decode_exit, decode_leave; /* control.c */
decode_fn decode_trap, decode_nop, decode_sleep;                               /* control.c */
decode_fn decode_call;                                                         /* call.c */
decode_fn decode_system;                                                       /* system.c */
decode_fn decode_stack;                                                        /* stack.c */
decode_fn decode_barrier, decode_warp_sync;                                    /* barrier.c */
decode_fn decode_cluster_barrier, decode_mapa, decode_rank;                    /* cluster.c */
decode_fn decode_activemask, decode_vote, decode_shfl, decode_match;           /* warp.c */
decode_fn decode_redux;                                                        /* redux.c */
decode_fn decode_product;                                                      /* matrix.c */
decode_fn decode_matrix_move;                                                  /* fragment_move.c */
decode_fn decode_small_matrix;                                                 /* small_matrix.c */
decode_fn decode_copy, decode_copy_group;                                      /* copy.c */
decode_fn decode_mbarrier, decode_pending;                                     /* async.c */
decode_fn decode_bulk, decode_store_async;                                     /* bulk.c */
decode_fn decode_tensor_copy, decode_map_field, decode_map_copy;               /* tensor.c */
decode_fn decode_elect, decode_policy, decode_policy_range;                    /* policy.c */
decode_fn decode_wgmma, decode_wgmma_group;                                    /* wgmma.c */

/* value.c: whether instructions of a row are a C function of one lane. */
bool decode_is_value(enum isa_op op);

/*
 * place.c: where an argument or result of a call lies in the caller's frame. `bytes` is the width
 * of a constant; `written`: it is a result. Returns 0, or SONDE_EUNSUPPORTED for what cannot be
 * passed.
 */
int decode_call_place(struct decoder *d, struct call_place *place,
                      const struct ptx_operand *operand, uint32_t bytes, bool written);

/* access.c: the new value of an atomic; NULL: there is none of that type. */
lane_atom *decode_find_atom(enum isa_mod op, enum isa_type type);
/* The same of copies that reduce; `global`: with the arithmetic of memory, which here keeps
 * subnormal numbers of f32. */
lane_atom *decode_find_bulk_atom(enum isa_mod op, enum isa_type type, bool global);

#endif
