/* Which instructions change the flow of control. */
#include "ptx/analyse/analyse.h"

bool insn_is_branch(const struct ptx_insn *insn)
{
    return insn->op == OP_BRA || insn->op == OP_BRX_IDX;
}

bool insn_ends_thread(const struct ptx_insn *insn)
{
    return insn->op == OP_RET || insn->op == OP_EXIT || insn->op == OP_TRAP;
}
