/*
 * tests/ptx/forms.tsv: instruction forms with operands, and a minimal kernel around each.
 */
#ifndef SONDE_TESTS_PTX_FORMS_H
#define SONDE_TESTS_PTX_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "isa/isa.h"
#include "util/container/strbuf.h"

struct form {
    char opcode[160], operands[480];
    bool from_programs; /* compilers make it of public programs; else: of the manual alone */
};

/* All forms of the file, in its order; the caller frees the array. NULL if it cannot be read. */
struct form *forms_read(size_t *count, const char *path);

/* What a module begins with, and a kernel `form_<number>` that holds the form. */
void forms_put_header(struct strbuf *out);
void forms_put_kernel(struct strbuf *out, const struct form *form, size_t number);

/* decode.c: reads the form's kernel, and decodes it as for execution: 0 or the error. `op`: its
 * row, OP_NONE if it cannot be read. */
int form_decode(enum isa_op *op, const struct form *form, size_t number);

#endif
