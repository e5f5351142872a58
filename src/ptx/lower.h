/*
 * From PTX to what the machine issues, for timing alone. PTX is not machine code: the driver's
 * compiler folds address arithmetic into loads and multiply-adds, makes two of a 64-bit add, puts a
 * sequence for a division, predicates short branches, and reads parameters and special registers
 * with instructions that PTX does not show. This pass says for every PTX instruction how many issue
 * slots of which unit it stands for. What it executes does not change.
 *
 * What an instruction costs by itself are rows of isa/lowering.def; what vanishes because of the
 * instructions around it is found from definitions and uses (lower/fold.c), what is added or moved
 * by the flow of control and by places where values are first needed (lower/flow.c, lower/place.c).
 * Left out: the order of instructions, registers that are spilled, and what the compiler's own
 * optimiser finds that the PTX's did not. docs/lowering.md holds the result against real code.
 */
#ifndef SONDE_PTX_LOWER_H
#define SONDE_PTX_LOWER_H

#include "ptx/ir.h"

/* Slots are counted in parts of one: of a loop that is unrolled four times, what counts its turns
 * issues once in four. */
#define LOWER_ONE 16u
#define LOWER_PARTS 5

/* Operands for which an instruction runs a subroutine besides: zeros, infinities, NaNs and, of
 * roots, negative numbers; numbers so small that they are scaled first. */
enum lower_operands { LOWER_USUAL, LOWER_SPECIAL, LOWER_SMALL, LOWER_OPERANDS };

struct lowered_rare {
    uint16_t slots;  /* machine instructions; 0: nothing is known of such operands */
    uint16_t stalls; /* cycles that the warp waits between them */
    uint8_t jumps;   /* that are taken among them */
};

struct lowered {
    uint16_t slots;  /* of all units, in LOWER_ONE-ths */
    uint16_t held;   /* cycles that its scheduler issues nothing beside them, in LOWER_ONE-ths */
    bool folded;     /* part of the instructions that use its result: it takes no time either */
    bool predicated; /* a branch that is none: what it skips issues under its predicate */
    bool aggregated; /* an atomic of one lane for the whole warp */
    bool apart;      /* its warp issues nothing until it is over */
    uint16_t stall_cycles; /* apart: beside its unit's latency; else until its warp issues again */
    uint8_t early_cycles;  /* a barrier is over so long before its unit says */
    uint8_t late_cycles; /* so much later than its unit has it, its result is where it is needed */
    struct lowered_rare rare[LOWER_OPERANDS];
    uint8_t turns; /* the last branch of a loop that is unrolled: times, of any number of turns */
    uint8_t part_count; /* what goes to a unit; the rest takes issue slots alone */
    struct {
        uint8_t unit; /* enum isa_unit */
        uint16_t slots;
    } part[LOWER_PARTS];
};

/* Fills out[0 .. func->insn_count). Of functions with more than 65536 instructions each is one of
 * the machine. SONDE_ENOMEM. */
int ptx_lower(struct lowered *out, const struct ptx_func *func, enum lowering generation);

#endif
