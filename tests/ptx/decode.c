/* See forms.h. */
#include <string.h>

#include "exec/exec.h"
#include "forms.h"
#include "ptx/ir.h"

static uint64_t some_address(void *ctx, const struct ptx_var *var)
{
    (void)ctx;
    (void)var;
    return UINT64_C(0x700000000000);
}

int form_decode(enum isa_op *op, const struct form *form, size_t number)
{
    struct strbuf text = {0};
    struct ptx_module *module;
    struct exec_program *program = NULL;
    struct exec_resolver resolver = {.var_address = some_address};
    *op = OP_NONE;
    forms_put_header(&text);
    forms_put_kernel(&text, form, number);
    int code = ptx_parse(&module, "form.ptx", strbuf_text(&text), text.length);
    strbuf_free(&text);
    if (code != 0)
        return code;
    const struct ptx_func *kernel = module->funcs[module->func_count - 1];
    *op = kernel->insn_count > 0 ? kernel->insns[0].op : OP_NONE;
    code = exec_program_create(&program, module, kernel, &resolver);
    if (code == 0)
        exec_program_destroy(program);
    ptx_module_destroy(module);
    return code;
}
