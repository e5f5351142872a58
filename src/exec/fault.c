/* Texts of faults. Nothing here is on a fast path. */
#include "exec/fault.h"

#include <stdarg.h>
#include <stdio.h>

#include "exec/observe.h"
#include "exec/program.h"
#include "exec/state.h"
#include "util/error.h"

#define FAULT_TEXT_MAX 640

/* Of the function that the instruction belongs to. */
const char *fault_file(const struct exec_program *program, uint32_t pc)
{
    const struct ptx_func *func = program->functions[0]->func;
    for (uint32_t i = 1; i < program->function_count; i++)
        if (pc >= program->functions[i]->first_pc && pc <= program->functions[i]->exit_pc)
            func = program->functions[i]->func;
    return func->file ? func->file : program->module->file;
}

static struct ptx_loc place_of(const struct exec_program *program, uint32_t pc)
{
    const struct ptx_insn *insn = pc < program->length ? program->insns[pc] : NULL;
    return insn ? insn->loc : program->functions[0]->func->loc;
}

void fault_thread(uint32_t tid[3], const struct exec_warp *warp, uint32_t lane)
{
    const uint32_t *block = warp->cta->launch->block;
    uint32_t linear = warp->state->first_thread + lane;
    tid[0] = linear % block[0];
    tid[1] = linear / block[0] % block[1];
    tid[2] = linear / block[0] / block[1];
}

int fault_set(struct exec_warp *warp, uint32_t pc, uint32_t lane, uint64_t address, const char *fmt,
              ...)
{
    char text[FAULT_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const struct exec_program *program = warp->state->program;
    const uint32_t *ctaid = warp->cta->ctaid;
    struct ptx_loc loc = place_of(program, pc);
    uint32_t tid[3];
    fault_thread(tid, warp, lane);
    warp->fault_lane = lane;
    warp->fault_address = address;
    const struct exec_observer *observer = warp->cta->launch->observer;
    if (observer && observer->faults)
        observer->faults(warp, pc, lane, text);
    return error_at(SONDE_EFAULT, fault_file(program, pc), loc.line, loc.column,
                    "kernel '%s': %s; lane %u, thread (%u,%u,%u) of CTA (%u,%u,%u)",
                    program->functions[0]->func->name, text, lane, tid[0], tid[1], tid[2], ctaid[0],
                    ctaid[1], ctaid[2]);
}

int fault_wrap(struct exec_warp *warp, uint32_t pc, int code)
{
    const struct exec_program *program = warp->state->program;
    struct ptx_loc loc = place_of(program, pc);
    return error_prefix(code, "%s:%d:%d: kernel '%s'", fault_file(program, pc), loc.line,
                        loc.column, program->functions[0]->func->name);
}
