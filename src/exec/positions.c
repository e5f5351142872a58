/* Places of warps, grouped; see positions.h. */
#include "exec/positions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/barrier.h"
#include "exec/fault.h"
#include "exec/program.h"
#include "util/container/strbuf.h"
#include "util/error.h"

#define LINES_MAX 16

void positions_add(struct positions *positions, const struct exec_warp *warp, uint32_t number,
                   uint32_t pc, const char *why)
{
    const struct exec_program *program = warp->cta->launch->program;
    for (uint32_t i = 0; i < positions->count; i++) {
        struct position *p = &positions->place[i];
        if (p->program == program && p->pc == pc && strcmp(p->why, why) == 0) {
            p->warps++;
            return;
        }
    }
    if (positions->count == POSITIONS_MAX) {
        positions->others++;
        return;
    }
    struct position *p = &positions->place[positions->count++];
    *p = (struct position){.program = program, .pc = pc, .warps = 1, .warp = number};
    memcpy(p->ctaid, warp->cta->ctaid, sizeof p->ctaid);
    snprintf(p->why, sizeof p->why, "%s", why);
}

void positions_add_waiting(struct positions *positions, const struct exec_warp *warp,
                           uint32_t number)
{
    char why[POSITION_WHY_MAX], what[POSITION_WHY_MAX - sizeof "waits "];
    exec_barrier_text(what, sizeof what, warp);
    snprintf(why, sizeof why, "waits %s", what);
    positions_add(positions, warp, number, warp->pc > 0 ? warp->pc - 1 : 0, why);
}

static int by_warps(const void *a, const void *b)
{
    const struct position *x = a, *y = b;
    if (x->warps != y->warps)
        return x->warps < y->warps ? 1 : -1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void append(struct strbuf *out, const struct position *p)
{
    const struct ptx_insn *insn = p->pc < p->program->length ? p->program->insns[p->pc] : NULL;
    strbuf_printf(out, "\n  %" PRIu32 " warp%s at %s", p->warps, p->warps == 1 ? "" : "s",
                  fault_file(p->program, p->pc));
    if (insn)
        strbuf_printf(out, ":%d", insn->loc.line);
    else
        strbuf_append(out, ", at the end");
    if (insn && insn->source.file)
        strbuf_printf(out, " (%s:%" PRIu32 ")", insn->source.file, insn->source.line);
    strbuf_printf(out, ": %s; warp %" PRIu32 " of CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")",
                  p->why, p->warp, p->ctaid[0], p->ctaid[1], p->ctaid[2]);
}

int positions_tell(struct positions *positions, int code)
{
    struct strbuf text = {0};
    uint64_t others = positions->others;
    if (positions->count == 0)
        return code;
    qsort(positions->place, positions->count, sizeof *positions->place, by_warps);
    strbuf_append(&text, error_text());
    for (uint32_t i = 0; i < positions->count; i++) {
        if (i < LINES_MAX)
            append(&text, &positions->place[i]);
        else
            others += positions->place[i].warps;
    }
    if (others > 0)
        strbuf_printf(&text, "\n  %" PRIu64 " more at other places", others);
    if (!strbuf_failed(&text))
        error_set_lines(code, strbuf_text(&text));
    strbuf_free(&text);
    return code;
}
