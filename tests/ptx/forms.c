/* See forms.h. */
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_line(struct form *form, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *tab = strchr(line, '\t');
    if (tab != NULL)
        *tab = '\0';
    snprintf(form->opcode, sizeof form->opcode, "%.159s", line);
    snprintf(form->operands, sizeof form->operands, "%.479s", tab != NULL ? tab + 1 : "");
}

struct form *forms_read(size_t *count, const char *path)
{
    enum { MOST = 2000 };
    char line[640];
    bool from_programs = true;
    FILE *file = fopen(path, "r");
    struct form *forms = calloc(MOST, sizeof *forms);
    *count = 0;
    while (file != NULL && forms != NULL && *count < MOST && fgets(line, sizeof line, file)) {
        if (line[0] == '\n')
            from_programs = false;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        forms[*count].from_programs = from_programs;
        read_line(&forms[(*count)++], line);
    }
    if (file == NULL) {
        free(forms);
        return NULL;
    }
    fclose(file);
    return forms;
}

void forms_put_header(struct strbuf *out)
{
    strbuf_append(out, ".version 9.0\n.target sm_90a\n.address_size 64\n\n"
                       ".global .align 16 .b8 global_data[256];\n"
                       ".const .align 16 .b8 const_data[256];\n"
                       ".func (.reg .u32 result) callee(.reg .u32 value)\n"
                       "{\n    add.u32 result, value, 1;\n    ret;\n}\n");
}

/* Only the registers that the operands name, so that a kernel stays as small as its form. */
static void put_registers(struct strbuf *out, const char *operands)
{
    static const char *const types[] = {"b8",  "b16",   "b32", "b64", "u8",   "u16",
                                        "u32", "u64",   "s8",  "s16", "s32",  "s64",
                                        "f16", "f16x2", "f32", "f64", "b128", "pred"};
    char prefix[16];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        snprintf(prefix, sizeof prefix, "%%%s_", types[i]);
        if (strstr(operands, prefix) != NULL)
            strbuf_printf(out, "    .reg .%s %s<16>;\n", types[i], prefix);
    }
}

void forms_put_kernel(struct strbuf *out, const struct form *form, size_t number)
{
    strbuf_printf(out, "\n.visible .entry form_%zu(.param .align 16 .b8 kernel_param[64])\n{\n",
                  number);
    put_registers(out, form->operands);
    strbuf_append(out, "    .shared .align 16 .b8 shared_data[256];\n"
                       "    .local .align 16 .b8 local_data[256];\n");
    if (strstr(form->operands, "call_param") != NULL)
        strbuf_append(out, "    .param .b64 call_param;\n");
    if (strncmp(form->opcode, "brx.", 4) == 0)
        strbuf_append(out, "TARGETS: .branchtargets DONE, DONE;\n");
    strbuf_printf(out, "    %s%s%s;\nDONE:\n    ret;\n}\n", form->opcode,
                  form->operands[0] != '\0' ? " " : "", form->operands);
}
