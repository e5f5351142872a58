/*
 * A parsed module as PTX text again. Names are kept where they are unique in their function and get
 * a number where they are not; scopes are flattened, labels renamed, initialisers written flat.
 * Parsing the result gives an equal module: printing that gives the same text.
 */
#ifndef SONDE_PTX_PRINT_H
#define SONDE_PTX_PRINT_H

#include "ptx/ir.h"
#include "util/container/strbuf.h"

/* Appends to `out`; 0 or SONDE_ENOMEM. */
int ptx_print(struct strbuf *out, const struct ptx_module *module);

/* An instruction's full opcode, e.g. "ld.global.nc.v4.f32". */
int ptx_print_opcode(struct strbuf *out, const struct ptx_insn *insn);

/* These instructions of a function, with operands, a line each. 0 or SONDE_ENOMEM. */
int ptx_print_insns(struct strbuf *out, const struct ptx_func *func,
                    const struct ptx_insn *const *insns, uint32_t count);

#endif
