/*
 * The lowest of the decoder's services: where a function's text stands, the error of what cannot be
 * executed, and the state spaces without their sub-spaces.
 */
#include <stdarg.h>
#include <stdio.h>

#include "exec/decode/decode.h"
#include "util/error.h"

const char *decode_file(const struct ptx_module *module, const struct ptx_func *func)
{
    return func && func->file ? func->file : module->file;
}

int decode_refuse(const struct decoder *d, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return error_at(SONDE_EUNSUPPORTED,
                    decode_file(d->module, d->function ? d->function->func : NULL),
                    d->insn->loc.line, d->insn->loc.column, "%s", text);
}

enum isa_space decode_address_space(const struct ptx_insn *insn, const struct ptx_operand *address)
{
    enum isa_space space = isa_space_base(insn->space[0]);
    return space == SPACE_NONE && address->var ? isa_space_base(address->var->space) : space;
}
