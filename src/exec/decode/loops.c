/*
 * The lane loops of uops. Each program has its uops twice where the host has AVX-512: with timing
 * warps take turns at every instruction, and loops of 512 bits make that slower; without it they
 * are faster.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/decode/decode.h"
#include "util/error.h"

static int note(struct decoder *d, struct decode_loop loop)
{
    loop.pc = d->pc;
    return vec_push(&d->loops, loop) == 0 ? SONDE_OK : error_memory();
}

int decode_lane_loop(struct decoder *d, enum isa_op op, enum isa_type dt, enum isa_type st,
                     const struct lane_entry **found)
{
    d->uop->lanes = lanes_find(lanes_timed_table(), op, dt, st, found);
    return note(d, (struct decode_loop){.lanes = lanes_find(lanes_table(), op, dt, st, NULL)});
}

int decode_lane_compare(struct decoder *d, enum isa_mod cmp, enum isa_type type)
{
    d->uop->compare = lanes_find_compare(lanes_timed_table(), cmp, type);
    return note(d, (struct decode_loop){.compare = lanes_find_compare(lanes_table(), cmp, type)});
}

int decode_untimed(struct decoder *d)
{
    struct exec_program *program = d->program;
    program->untimed_uops = program->uops;
    if (lanes_table() == lanes_timed_table())
        return SONDE_OK;
    program->untimed_uops = malloc(program->length * sizeof *program->uops);
    if (!program->untimed_uops)
        return error_memory();
    memcpy(program->untimed_uops, program->uops, program->length * sizeof *program->uops);
    for (size_t i = 0; i < d->loops.count; i++) {
        const struct decode_loop *loop = &d->loops.data[i];
        if (loop->compare)
            program->untimed_uops[loop->pc].compare = loop->compare;
        else
            program->untimed_uops[loop->pc].lanes = loop->lanes;
    }
    return SONDE_OK;
}
