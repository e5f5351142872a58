/* Which instructions change the flow of control, and which access memory. */
#include "ptx/analyse/analyse.h"

bool insn_is_branch(const struct ptx_insn *insn)
{
    return insn->op == OP_BRA || insn->op == OP_BRX_IDX;
}

bool insn_ends_thread(const struct ptx_insn *insn)
{
    return insn->op == OP_RET || insn->op == OP_EXIT || insn->op == OP_TRAP;
}

bool insn_is_load(enum isa_op op)
{
    return op == OP_LD || op == OP_LD_HINT || op == OP_LD_NC || op == OP_LD_NC_HINT || op == OP_LDU;
}

bool insn_is_store(enum isa_op op)
{
    return op == OP_ST || op == OP_ST_HINT;
}

bool insn_is_atomic(enum isa_op op)
{
    return op >= OP_ATOM_BITS && op <= OP_RED_MINMAX;
}
