/*
 * Instructions of a warp in a row, by a caller who knows which come and when each of them issues
 * (core/issue/rote.c): of the kinds that neither wait for anything nor act on anybody but their own
 * warp and, one lane alone, its shared memory. Nothing is described of them.
 */
#ifndef SONDE_EXEC_RUN_ROW_H
#define SONDE_EXEC_RUN_ROW_H

#include "exec/exec.h"

enum exec_row_kind {
    ROW_NO,        /* it does more, and comes alone */
    ROW_LANES,     /* a lane loop */
    ROW_REGISTERS, /* changes registers and nothing else, in another way */
    ROW_TIME,      /* the same, and reads env->clock or env->globaltimer_ns */
    ROW_CLOCK,     /* mov.u32 of %clock */
    ROW_SHARED,    /* a load or store of shared memory, when one lane alone is active */
    ROW_BRANCH,
    ROW_LOAD /* not of shared memory: for exec_issue(), which describes it; the last of a row */
};

enum exec_row_kind exec_row_kind(const struct exec_program *program, uint32_t pc);

struct exec_row_item {
    uint8_t kind;   /* enum exec_row_kind */
    uint32_t cycle; /* behind `clock` */
};

/* Where a ROW_BRANCH at `pc` would take the active lanes: it has not executed. */
enum exec_row_way { ROW_ON, ROW_TAKEN, ROW_SPLIT };
enum exec_row_way exec_row_way(const struct exec_warp *warp, uint32_t pc);

/* Whether the next `count` instructions follow each other as long as none of them is a branch: the
 * active lanes meet others behind the last, if at all. */
bool exec_row_is_straight(const struct exec_warp *warp, uint32_t count);

/* Executes the next `count` instructions, which are straight but for the last; `env` is the warp's,
 * `period_ps` that of the clock. Returns how many: fewer when shared memory has no such place,
 * which then is for exec_issue() to tell. */
uint32_t exec_row_run(struct exec_warp *warp, const struct exec_row_item *items, uint32_t count,
                      struct exec_env *env, uint64_t clock, uint64_t period_ps);

#endif
