/*
 * Where the warps of a launch are that was stopped, and what each waits for: grouped by place and
 * reason, so that a hang of any size is told on one screen.
 */
#ifndef SONDE_EXEC_POSITIONS_H
#define SONDE_EXEC_POSITIONS_H

#include "exec/exec.h"

#define POSITIONS_MAX 64
#define POSITION_WHY_MAX 64

struct position {
    const struct exec_program *program;
    uint32_t pc, warps;
    uint32_t ctaid[3], warp; /* one of them */
    char why[POSITION_WHY_MAX];
};

struct positions {
    struct position place[POSITIONS_MAX];
    uint32_t count;
    uint64_t others; /* warps at places beyond */
};

/* The warp, number `warp` of its CTA, stands at `pc`; `why` is what it waits for. */
void positions_add(struct positions *positions, const struct exec_warp *warp, uint32_t number,
                   uint32_t pc, const char *why);
/* The same of a warp that stands at a barrier: at the instruction before, which it waits in. */
void positions_add_waiting(struct positions *positions, const struct exec_warp *warp,
                           uint32_t number);
/* Puts them behind this thread's error, a line each, those with the most warps first; `code`. */
int positions_tell(struct positions *positions, int code);

#endif
