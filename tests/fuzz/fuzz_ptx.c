/*
 * Fuzzes the PTX front end: any text is parsed or refused, and what is parsed prints as text that
 * parses to the same print again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ir.h"
#include "ptx/print/print.h"
#include "util/error.h"

static char *parse_and_print(const char *text, size_t length)
{
    struct ptx_module *module;
    struct strbuf printed = {0};
    if (ptx_parse(&module, "fuzz.ptx", text, length) < 0) {
        if (error_text()[0] == '\0')
            abort();
        return NULL;
    }
    ptx_print(&printed, module);
    ptx_module_destroy(module);
    return strbuf_take(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *first = parse_and_print((const char *)data, size);
    if (first == NULL)
        return 0;
    char *second = parse_and_print(first, strlen(first));
    if (second == NULL || strcmp(first, second) != 0)
        abort();
    free(first);
    free(second);
    return 0;
}
