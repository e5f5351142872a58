/*
 * What is computed of a parsed function before it is handed on. Private to ptx/.
 *
 *     func_build_cfg       blocks and their successors
 *     func_find_ipdoms     immediate post-dominators; reconvergence pcs of branches
 *     func_assign_slots    liveness, register slots, register_count
 *
 * Each returns 0 or SONDE_ENOMEM. func_analyse() does the three in order.
 */
#ifndef SONDE_PTX_ANALYSE_H
#define SONDE_PTX_ANALYSE_H

#include "ptx/ir.h"

struct arena;

int func_analyse(struct ptx_func *func, struct arena *arena);
int func_build_cfg(struct ptx_func *func, struct arena *arena);
int func_find_ipdoms(struct ptx_func *func);
int func_assign_slots(struct ptx_func *func);

/* How control leaves an instruction. */
bool insn_is_branch(const struct ptx_insn *insn);   /* bra, brx.idx */
bool insn_ends_thread(const struct ptx_insn *insn); /* ret, exit, trap */

/* Of memory, in whichever space; what copies asynchronously or prefetches is none of them. */
bool insn_is_load(enum isa_op op);
bool insn_is_store(enum isa_op op);
bool insn_is_atomic(enum isa_op op); /* with or without a result */

/*
 * Calls `visit` for every register that an instruction reads (guard included) or writes; a register
 * written under a guard counts as read too, because its old value may survive, unless it is known
 * that nobody reads that (own_result). A ret reads the function's .reg results.
 */
enum reg_access { REG_READ, REG_WRITE };
typedef void reg_visitor(void *ctx, int32_t reg, enum reg_access access);
void insn_visit_regs(const struct ptx_func *func, const struct ptx_insn *insn, reg_visitor *visit,
                     void *ctx);

#endif
