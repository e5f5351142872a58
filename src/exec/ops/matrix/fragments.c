/* Fragments of matrices: which registers an instruction names. */
#include "exec/ops/matrix/matrix.h"
#include "util/error.h"

int matrix_decode_fragment(struct decoder *d, struct fragment *f, char matrix, enum isa_type type,
                           const struct ptx_operand *operand, bool result)
{
    uint32_t count = operand->kind == OPERAND_VECTOR ? operand->count : 1;
    int rc = SONDE_OK;
    f->matrix = matrix;
    f->type = type;
    f->count = count;
    if (count > MATRIX_REGISTERS)
        return decode_refuse(d, "'%s' with a fragment of %u registers is not implemented",
                             isa_row(d->insn->op)->name, count);
    for (uint32_t i = 0; rc == SONDE_OK && i < count; i++) {
        const struct ptx_operand *one =
            operand->kind == OPERAND_VECTOR ? &operand->elems[i] : operand;
        rc = result ? decode_dest_element(d, &f->registers[i], one)
                    : decode_source_element(d, &f->registers[i], one, type == TYPE_f64 ? 8 : 4);
    }
    return rc;
}

struct uop_matrix *matrix_begin(struct decoder *d)
{
    struct uop_matrix *m = arena_alloc(d->arena, sizeof *m);
    if (!m)
        return NULL;
    d->uop->matrix = m;
    d->uop->whole = true;
    m->mnk = isa_mnk((enum isa_mod)d->insn->mods[MODC_MNK]);
    return m;
}
