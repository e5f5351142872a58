/*
 * The code of a kernel, as launches of it are counted: where its basic blocks begin, how often each
 * was come to, and what its accesses to shared memory did. It lasts from launch to launch.
 */
#ifndef SONDE_SAMPLE_CODE_H
#define SONDE_SAMPLE_CODE_H

#include "exec/observe.h"
#include "sample/passes.h"

/* A basic block begins there. */
struct code_head {
    uint32_t pc, insns;
};

struct code {
    uint64_t id;        /* exec_program_code() */
    uint32_t length;    /* instructions */
    uint8_t *watch;     /* by pc: 1 where a basic block begins */
    uint64_t *blocks;   /* by pc: how often that was come to in this launch */
    uint32_t *straight; /* by pc: instructions up to the next basic block */
    VEC(struct code_head) heads;
    struct passes passes;
    struct exec_steering steering;
    struct exec_counts counts;
};

int code_create(struct code **out, const struct exec_program *program); /* SONDE_ENOMEM */
void code_destroy(struct code *code);                                   /* NULL is allowed */
bool code_is_of(const struct code *code, const struct exec_program *program);
/* A launch begins. */
void code_begin(struct code *code);
/* Warp instructions of the launch so far. */
uint64_t code_insns(const struct code *code);

#endif
