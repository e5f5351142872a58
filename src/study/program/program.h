/*
 * Whole programs (workloads/) on the simulated devices of a study's roles: what a run has counted,
 * in the terms of Bakhoda et al. (ISPASS 2009). A program is run on a role once, when it is first
 * asked for. Its result is held against the host's; one that differs has not been measured.
 */
#ifndef SONDE_STUDY_PROGRAM_H
#define SONDE_STUDY_PROGRAM_H

#include "study/bench.h"

struct gpu_stats;
struct model;

#define PROGRAM_LANES 32

/*
 * Instructions by class (Fig. 4). An instruction of the paper is a thread's: its IPC is of scalar
 * instructions, and so are Table 1's counts. The classes are all there is: barriers and fences go
 * with control flow, divisions with the special functions that they are made of.
 */
enum program_class { PROGRAM_ALU, PROGRAM_SFU, PROGRAM_MEMORY, PROGRAM_CONTROL, PROGRAM_CLASSES };

/* Accesses of memory by space (Fig. 5), likewise a thread's. */
enum program_space {
    PROGRAM_GLOBAL,
    PROGRAM_LOCAL,
    PROGRAM_SHARED,
    PROGRAM_CONSTANT,
    PROGRAM_PARAM,
    PROGRAM_TEXTURE,
    PROGRAM_SPACES
};

struct program_result {
    uint64_t launches, ctas, cycles, warp_insns, thread_insns;
    uint64_t classes[PROGRAM_CLASSES], spaces[PROGRAM_SPACES];
    uint64_t lanes[PROGRAM_LANES + 1]; /* warp instructions by active lanes (Fig. 7) */
    uint64_t sm_cycles;                /* in which an SM held a CTA, of all SMs */
    uint32_t most_ctas;                /* that an SM held at a time */
    double dram_utilization, dram_efficiency;
    double latency; /* mean cycles of an access that waits for memory */
    double
        reply_stalls; /* share of the time in which a memory's port into the network is stalled */
};

/* What launches have counted on a model, but for most_ctas. */
void program_read(struct program_result *out, const struct gpu_stats *total,
                  const struct model *model);

/* `*out` NULL with *why: the program could not be run there. Negative: the work cannot go on. */
int program_run(struct study_bench *bench, const struct program_result **out, size_t role,
                size_t program, struct study_value *why);
/* While the bench lists (study_bench_set_lists), program_run() only notes what it is asked for:
 * those that have not run, one after the other. */
int program_wanted(struct study_bench *bench, int (*visit)(void *ctx, size_t role, size_t program),
                   void *ctx);
/* Results of those that others have run; the rest is forgotten, and run where it is asked for. */
void program_settle(struct study_bench *bench,
                    bool (*find)(void *ctx, struct program_result *result, size_t role,
                                 size_t program),
                    void *ctx);
/* SONDE_EINPUT with the node's place: the study has no such program. */
int program_find(size_t *index, const struct study *study, const struct yaml_node *node);

/*
 * How much faster a program is on `role` than on `over`: the ratio of cycles; `resident`: of the
 * cycles in which an SM holds a CTA, so that when the last CTAs end does not matter.
 */
int program_speed(struct study_bench *bench, struct study_value *value, size_t role, size_t over,
                  size_t program, bool resident);
/* What a program contains (workload_hash()); 0: there is no such workload, as its run will say. */
uint64_t program_contents(const struct study_program *program);
/* The model of a role that is simulated. */
int program_model(struct model **out, const struct study_role *role);
double program_ipc(const struct program_result *result);

/* alike.c: what bounds the blocks of an SM, and all else that a role's model says. */
enum { PROGRAM_BOUNDS = 5 };
struct program_room {
    uint64_t rest; /* 0: not known */
    uint64_t most[PROGRAM_BOUNDS];
    char model[128]; /* its name */
};
int program_room(struct program_room *out, const struct study_role *role);
/* Where no block waits for room on `small`, a program does the same on `large`. */
bool program_room_is_less(const struct program_room *small, const struct program_room *large);

#endif
