/*
 * What the files of this folder share: facts of a function (facts.c, graph.c), and what has been
 * decided of its instructions. Private to ptx/lower/.
 *
 * The order: facts, then which instructions vanish (fold.c), then their slots (table.c), then
 * flow.c and place.c, which add slots and move them to where they are issued; last what is late
 * (late.c).
 */
#ifndef SONDE_PTX_LOWER_LOWER_H
#define SONDE_PTX_LOWER_LOWER_H

#include "ptx/analyse/analyse.h"
#include "ptx/lower.h"

#define NOWHERE UINT32_MAX

struct reg_fact {
    uint32_t defs, uses; /* uses by instructions that count */
    uint32_t def;        /* the last one's pc */
    uint32_t first;      /* of its uses in `use` */
    bool divergent;      /* lanes may hold different values */
};

struct block_fact {
    uint32_t idom;    /* NOWHERE: the entry, or not reached */
    uint32_t header;  /* of the innermost loop around it; NOWHERE: none */
    uint32_t before;  /* a header: the only block that the loop is entered from, else NOWHERE */
    uint32_t outer;   /* a header: that of the loop around the loop */
    uint32_t latch;   /* a header: the last block that goes back to it */
    bool barred;      /* a header: of several blocks, with a barrier */
    uint32_t order;   /* in reverse postorder */
    uint32_t number;  /* in the tree of dominators: those that it dominates follow it */
    uint32_t below;   /* how many it dominates, itself among them */
    uint32_t entries; /* edges that lead to it */
    bool reached;
};

struct lower {
    struct arena *arena;
    const struct ptx_func *func;
    enum lowering generation;
    struct lowered *out;
    struct reg_fact *regs;
    uint32_t *use;      /* pcs, register after register */
    uint32_t *block_of; /* by pc */
    struct block_fact *blocks;
    bool *dead;   /* by pc: nothing needs the result */
    bool *folded; /* by pc: part of the instructions that use the result */
};

/* facts.c */
int lower_facts(struct lower *l);
/* The only instruction that gives a register operand its value; NULL: none, or several. */
const struct ptx_insn *lower_def(const struct lower *l, const struct ptx_operand *operand);
uint32_t lower_pc(const struct lower *l, const struct ptx_insn *insn);
/* The register that it writes first, -1: none. */
int32_t lower_result(const struct ptx_insn *insn);
/* True if `insn` has a result that only this instruction gives, and all that use it please `test`.
 */
typedef bool use_test(const struct lower *l, const struct ptx_insn *user, int32_t reg);
bool lower_all_uses(const struct lower *l, const struct ptx_insn *insn, use_test *test);
bool lower_used_once(const struct lower *l, const struct ptx_insn *insn);
/* A constant: an immediate, or a register that a mov gives one. */
bool lower_constant(const struct lower *l, const struct ptx_operand *operand, uint64_t *value);
/* A load of constant memory at an address that is the same in all lanes: the uniform datapath's. */
bool lower_is_uniform_constant(const struct lower *l, const struct ptx_insn *insn);

/* graph.c */
int lower_graph(struct lower *l);
bool lower_dominates(const struct lower *l, uint32_t above, uint32_t below);
/* The pc before whose end something invariant is issued that is needed in `block`: the last of the
 * block before its outermost loop, or NOWHERE: it is in none, or issued in each turn. The compiler
 * leaves it in a loop that has barriers between its blocks, and in what not every turn comes to. */
uint32_t lower_hoist(const struct lower *l, uint32_t block);

/* fold.c */
void lower_fold(struct lower *l);

/* merge.c: loads of neighbouring words vanish into the first. */
int lower_merge(struct lower *l);

/* table.c */
void lower_table(struct lower *l);
/* An instruction holds its scheduler as the machine instruction of `insn` does. */
void lower_hold(struct lower *l, uint32_t pc, const struct ptx_insn *insn);

/* Adds slots of `unit` to an instruction; ISA_UNIT_COUNT: issue slots alone. */
void lower_add(struct lower *l, uint32_t pc, uint32_t unit, uint32_t slots);

/* late.c: the cycles from when its unit has a result to when it is where it is needed; those that
 * marking takes where lanes meet, and waiting there, beside their slots. */
uint8_t lower_late(const struct lower *l, uint32_t pc);
uint32_t lower_meeting_cycles(const struct lower *l);
/* So many cycles before its unit says a barrier is over. */
uint8_t lower_early(const struct lower *l, uint32_t pc);

/* balance.c */
void lower_balance(struct lower *l);

/* unroll.c */
void lower_unroll(struct lower *l);

/* flow.c, place.c */
int lower_flow(struct lower *l);
int lower_place(struct lower *l);

#endif
