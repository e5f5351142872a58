/*
 * Fuzzes linking: the text is cut where a line begins with "//---", the parts that parse are
 * linked. Whatever is refused is refused with a text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ir.h"
#include "util/error.h"

#define CUT "//---"
#define PARTS_MAX 16

static bool provided(const char *name)
{
    return strcmp(name, "vprintf") == 0;
}

/* Nothing that is left refers to a declaration that has a definition elsewhere. */
static void check_operand(const struct ptx_operand *operand)
{
    if (operand->kind == OPERAND_FUNC && operand->func && !operand->func->has_body &&
        !operand->func->alias_of && !operand->func->is_prototype && !provided(operand->func->name))
        abort();
    if (operand->kind == OPERAND_VECTOR)
        for (uint32_t i = 0; i < operand->count; i++)
            check_operand(&operand->elems[i]);
}

static void check(const struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->func_count; i++) {
        const struct ptx_func *func = module->funcs[i];
        if (!func->file || ptx_find_func(module, func->name) == NULL)
            abort();
        for (uint32_t k = 0; k < func->insn_count; k++)
            for (uint32_t o = 0; o < func->insns[k].operand_count; o++)
                check_operand(&func->insns[k].operands[o]);
    }
    for (uint32_t i = 0; i < module->var_count; i++)
        if (!module->vars[i]->file)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct ptx_module *parts[PARTS_MAX], *whole;
    uint32_t count = 0;
    for (char *part = text; part != NULL && count < PARTS_MAX;) {
        char *cut = strstr(part, CUT);
        size_t length = cut ? (size_t)(cut - part) : strlen(part);
        if (ptx_parse(&parts[count], "part.ptx", part, length) == 0)
            count++;
        part = cut ? cut + strlen(CUT) : NULL;
    }
    if (count > 0) {
        if (ptx_link(&whole, parts, count, provided) == 0) {
            check(whole);
            ptx_module_destroy(whole);
        } else if (error_text()[0] == '\0') {
            abort();
        }
    }
    free(text);
    return 0;
}
