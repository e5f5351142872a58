/* The table of operations: what decodes each row of isa/insn.def. */
#ifndef SONDE_EXEC_OPS_TABLE_H
#define SONDE_EXEC_OPS_TABLE_H

#include "exec/decode/decode.h"

/*
 * The function that decodes instructions of the row `op`, below OP_COUNT; never NULL. That of
 * OP_NONE decodes the uop behind a function's last instruction, which leaves the function.
 */
decode_fn *ops_decoder(enum isa_op op);

#endif
