/*
 * The order of instructions. The driver's compiler does not keep that of the PTX: within a basic
 * block it issues loads long before what needs them, as far as registers reach, so that several are
 * under way at a time. Where the model asks for it (`sm.reorder`), this pass gives a function the
 * order in which a list scheduler of the generation would put it. What is computed stays the same
 * to the bit: an instruction passes another only if neither can tell.
 *
 * What no instruction passes: branches, calls, guarded exits, reads of clocks, the stack, and
 * divisions and roots whose sequence branches (APART in isa/lowering.def). What
 * keeps its place among accesses: barriers, fences, all that is ordered, volatile or asynchronous.
 * A load passes a store of another state space, or behind the same base at other bytes; .nc loads
 * and constants pass all stores. Of a program that faults, another instruction may be the first
 * that does.
 *
 * Loops of one block that count are unrolled first, four times, as the compiler does
 * (ptx/schedule/unroll.c): the loads of four turns are then under way together. Then short
 * branches are predicated (ptx/schedule/predicate.c), so that what they skip is of the same block.
 * `register_count` becomes what the machine's code has in the new order.
 *
 * Left out: what the compiler moves from one block to another.
 */
#ifndef SONDE_PTX_SCHEDULE_H
#define SONDE_PTX_SCHEDULE_H

#include "ptx/ir.h"

/* All functions of a module, before anything is decoded. SONDE_ENOMEM. */
int ptx_schedule(struct ptx_module *module, enum lowering generation);

#endif
