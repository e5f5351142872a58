/*
 * Functional execution of one warp, 32 lanes at once. Issue and commit are two calls: exec_issue()
 * executes arithmetic and control flow on the spot, and for everything that waits for memory it
 * computes addresses and store data and describes the access; exec_commit() performs that access on
 * the memory image and writes results back, when the timing model (or the functional loop, at once)
 * says so. exec knows no cycles: the caller writes `env->clock` before it issues.
 *
 * Registers are structure-of-arrays: 32-bit ones are uint32_t[32], 64-bit ones uint64_t[32]; a
 * predicate is one lane mask. All lanes are computed, results are committed under the active mask.
 *
 * Memory: device addresses are host addresses inside one reserved range (exec/memory/memory.h), so
 * a global access is a bounds check and a memcpy. Shared and local memory are per-CTA and
 * per-thread windows with their own address ranges for generic addressing.
 */
#ifndef SONDE_EXEC_EXEC_H
#define SONDE_EXEC_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/fragment.h"
#include "ptx/ir.h"
#include "ptx/lower.h"

#define WARP_LANES 32
#define EXEC_PIECES_MAX 16     /* a fragment of bytes, each in a row of its own */
#define EXEC_MAX_SLOTS_READ 32 /* a matrix product of f64 reads so many */
#define EXEC_MAX_PLACES (EXEC_MAX_SLOTS_READ + 8 + 4 + 2)

struct exec_program; /* a kernel decoded for execution; immutable, shared by all warps */
struct exec_memory;  /* the memory image of a device, see exec/memory/memory.h */
struct exec_transfers;
struct marks;
struct team; /* util/team.h */

/* What an instruction does with the groups of a warp's asynchronous operations. */
enum exec_groups {
    GROUPS_NOTHING,
    GROUPS_COMMIT,   /* the operations so far become a group */
    GROUPS_WAIT,     /* waits for all groups but the youngest N */
    GROUPS_WAIT_ALL, /* waits for all groups */
    GROUPS_ARRIVE    /* does not wait; a barrier gets an arrival when all earlier operations end */
};

/* The reach of a fence or a release: who is to see the accesses before it. */
enum exec_reach {
    REACH_NOBODY,        /* no fence and no release */
    REACH_INIT,          /* users of a new mbarrier: fence.mbarrier_init */
    REACH_SHARED_COPIES, /* bulk copies out of shared memory: fence.proxy.async.shared */
    REACH_CTA,           /* the threads of the CTA */
    REACH_COPIES,        /* bulk copies out of any memory: fence.proxy.async */
    REACH_OTHERS,        /* other CTAs of the GPU */
    REACH_SYSTEM         /* the host and other GPUs */
};

/* What the scoreboard and the issue logic need to know of the instruction at a pc. */
struct exec_uop_info {
    enum isa_unit unit;
    uint8_t issue_unit; /* that must be free for it to issue; `unit` where not lowered */
    bool is_simple;  /* one issue of its unit's, and its results are there after the unit's latency,
                        or an access has begun; it may be a branch or read the clock */
    bool is_lanes;   /* simple arithmetic of registers: for exec_issue_lanes() */
    bool is_plain;   /* likewise, of none or several machine instructions */
    bool is_lowered; /* `lowered` says what it issues; else one slot of `unit` */
    bool is_load, is_store, is_atomic, is_branch, is_barrier, is_exit, is_fence, reads_clock;
    bool is_fragment;        /* a load or store of a matrix fragment: ACCESS_FRAGMENT_LOAD, STORE */
    bool is_return;          /* from a function, to its caller */
    bool is_division;        /* of floating-point numbers */
    bool acquires, releases; /* of memory order: later accesses wait for it; it for earlier ones */
    enum exec_reach reach;   /* of a fence or release */
    bool orders_cta; /* others of the CTA see the warp's accesses behind it: a barrier, a fence or
                        release of the CTA, an arrival at an mbarrier */
    enum isa_space space; /* of a memory access, SPACE_NONE: generic */
    /* The slots below as places of the scoreboard: registers, then predicates. Each place stands
     * here once; places that are written come last. */
    uint8_t place_count, result_count;
    uint8_t late_cycles; /* its results are there so much later than its unit has them */
    uint16_t place[EXEC_MAX_PLACES];
    uint8_t src_count, dst_count;
    uint8_t src_pred_count, dst_pred_count;
    uint16_t src[EXEC_MAX_SLOTS_READ]; /* 32-bit slots read (a 64-bit value: both) */
    uint16_t dst[8];                   /* slots written */
    uint8_t src_pred[4], dst_pred[2];  /* predicate slots, guard included */
    uint16_t product_columns;          /* of an asynchronous matrix product; 0: it is none */
    uint16_t sum_count;                /* of its sums, which stand in neither src nor dst, .. */
    const uint16_t *sums;              /* .. the slots: no access may be about to write them */
    enum isa_step product;             /* the steps of a synchronous one, .. */
    uint8_t product_steps;             /* .. and how many; 0: it is none */
    bool is_outward; /* reaches memory or the driver at its issue, without an access */
    bool takes_turn; /* what it does at its issue others would see at once, or it calls the driver:
                        where SMs execute at the same time, it issues while no other SM does */
    bool is_async;   /* has one of the members below */
    enum exec_groups products, copies, bulk;
    /* GROUPS_WAIT: N, the youngest groups, which are not waited for. */
    uint8_t products_left, copies_left, bulk_left;
    bool is_bulk;      /* a copy that env->transfers is told of */
    bool is_bulk_copy; /* a bulk copy, which sees earlier stores only behind a proxy fence */
    bool is_mbarrier;
    bool is_remote; /* its mbarrier may lie in another CTA's shared memory */
    bool is_test;   /* only reads its mbarrier */
    struct lowered lowered;
};

enum exec_access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
    ACCESS_REDUCTION,
    ACCESS_TEXTURE,
    ACCESS_SURFACE,
    ACCESS_PREFETCH,
    ACCESS_FENCE,
    ACCESS_COPY,          /* cp.async: device memory is read, shared memory written */
    ACCESS_MATRIX_LOAD,   /* ldmatrix */
    ACCESS_MATRIX_STORE,  /* stmatrix */
    ACCESS_WAIT,          /* mbarrier.try_wait: see exec_wait_is_over() */
    ACCESS_FRAGMENT_LOAD, /* wmma.load, wmma.store: several accesses, see exec_access_piece() */
    ACCESS_FRAGMENT_STORE
};

/*
 * Generic addresses of what is not global memory. Shared, local and kernel parameters appear in
 * windows below device memory (exec/memory/memory.h); the address of global and constant memory is
 * the same with and without a state space.
 *
 *     window   0        1       2            16       17             31
 *              | shared | local | param | .. | rank 0 | rank 1 | .. | rank 15 |
 *
 * Window 0 begins at EXEC_SHARED_WINDOW.
 * The shared memory of the CTA of rank r in a cluster is in window 16 + r. An address of the state
 * space shared::cluster is the same without EXEC_SHARED_WINDOW, so that one below the window's size
 * is in the own CTA.
 */
#define EXEC_SHARED_WINDOW 0x010000000000u
#define EXEC_LOCAL_WINDOW (EXEC_SHARED_WINDOW + EXEC_WINDOW_BYTES)
#define EXEC_PARAM_WINDOW (EXEC_LOCAL_WINDOW + EXEC_WINDOW_BYTES)
#define EXEC_WINDOW_BYTES 0x1000000u
#define EXEC_WINDOWS 32
#define EXEC_CLUSTER_MAX 16
#define EXEC_CLUSTER_FIRST 16 /* the window of rank 0 */
/* Code addresses: the value of a function's name, by its place in module->funcs. */
#define EXEC_CODE_BASE 0x008000000000u
#define EXEC_CODE_STEP 16u
/* 0: `func` is no function of the module. */
uint64_t exec_function_address(const struct ptx_module *module, const struct ptx_func *func);

/*
 * One warp memory instruction between issue and commit. Addresses have been checked at issue:
 * aligned, and inside of an allocation. `space` is the one space of all lanes; a generic access
 * whose lanes disagree has SPACE_NONE and a space for each lane in `lane_space`. Only the lanes of
 * `mask` have valid entries in the arrays.
 */
struct exec_access {
    enum exec_access_kind kind;
    /* GLOBAL, SHARED, LOCAL, CONST, PARAM; SHARED_CLUSTER: of other CTAs too; NONE: see lane_space
     */
    enum isa_space space;
    uint32_t mask; /* lanes that access */
    /* COPY, MATRIX, WAIT: the lanes that execute, which need not all give an address. Of a copy
     * data[0] is where the lane's bytes go on the host, data[1] how many are read; of a wait
     * data[0] where the barrier lies, data[1] the phase that is to be over. */
    uint32_t lanes;
    uint32_t pc;
    uint8_t bytes;     /* per element */
    uint8_t vec;       /* elements per lane */
    uint16_t cache_op; /* enum isa_mod of class COP, MOD_NONE: default */
    bool is_volatile, non_coherent;
    bool done;                      /* on the memory image already: exec_commit() does nothing */
    uint64_t apart;                 /* of one that is done: the bits in which addresses differ */
    bool contiguous;                /* all 32 lanes, each element behind the one before */
    uint32_t frame_offset;          /* private: the call frame whose registers take the result */
    uint64_t address[WARP_LANES];   /* device virtual addresses; shared/local: window offset */
    uint64_t data[WARP_LANES][2];   /* store and atomic operands (up to 16 bytes a lane) */
    uint64_t data2[WARP_LANES];     /* second atomic operand (cas) */
    uint8_t lane_space[WARP_LANES]; /* enum isa_space, when space is NONE */
    /* FRAGMENT: how many accesses it is, of `bytes` a lane each, and how far behind `address` each
     * of them lies in all lanes; bytes from a row or column of the matrix to the next. Of a store
     * the registers are in data, data2 and data3. */
    uint8_t pieces;
    uint64_t piece_offset[EXEC_PIECES_MAX];
    uint64_t stride_bytes;
    uint64_t data3[WARP_LANES];
};

enum exec_event {
    EXEC_DONE,    /* executed and committed; warp->pc advanced */
    EXEC_ACCESS,  /* *access filled; the caller must exec_commit() it, once, later */
    EXEC_BARRIER, /* warp waits at barrier `barrier_id` for `barrier_threads` (0: all), see below */
    EXEC_EXIT,    /* the last lanes have left: the warp is done */
    EXEC_FAULT,   /* error text set; pc and lane in the warp's fault record */
};

/*
 * What a warp does at a barrier. ARRIVE does not wait: the warp goes on at once. The reductions
 * wait, and the caller hands the result to exec_barrier_result() before the warp issues again.
 * exec/barrier.h keeps a CTA's barriers and does all of this.
 */
enum exec_barrier_kind {
    BARRIER_SYNC,
    BARRIER_ARRIVE,
    BARRIER_POPC,
    BARRIER_AND,
    BARRIER_OR,
    BARRIER_PRODUCTS_ARRIVE, /* wgmma.commit_group: of a warpgroup, whose warps wait .. */
    BARRIER_PRODUCTS_WAIT,   /* .. for each other's groups but the youngest `barrier_id` */
    BARRIER_CLUSTER_ARRIVE,  /* the barrier of the cluster: exec/cluster.h */
    BARRIER_CLUSTER_WAIT
};

/* One CTA's shared state, owned by the caller. */
struct exec_cta {
    uint8_t *shared; /* shared_bytes, static + dynamic */
    uint32_t shared_bytes;
    uint32_t ctaid[3];
    uint32_t linear_id;
    const struct exec_launch *launch;
    struct exec_cluster *cluster; /* exec/cluster.h; NULL: its program has no use for it */
    uint32_t cluster_rank;
    void *observed; /* the observer's */
};

/*
 * Texture and surface objects (exec/texture/texture.h). Handle h of a kernel is the entry h -
 * EXEC_TEXTURE_HANDLE of the launch's textures, or h - EXEC_SURFACE_HANDLE of its surfaces. A
 * .texref or .surfref variable of the program holds a handle.
 */
#define EXEC_TEXTURE_HANDLE 0x00fe00000000u
#define EXEC_SURFACE_HANDLE 0x00fd00000000u
#define EXEC_OBJECTS_MAX (1u << 20)
struct exec_texture;
struct exec_image;

/* A call of the device's runtime by one thread: system.def. */
enum exec_device_call_kind {
#define SYSTEM(id, name, ...)
#define DEVICE(id, name, returns, stores, ...) EXEC_DEVICE_##id,
#include "exec/system.def"
#undef SYSTEM
    EXEC_DEVICE_CALLS
};
#define EXEC_DEVICE_ARGS 8
struct exec_device_call {
    enum exec_device_call_kind kind;
    const struct exec_launch *launch;
    uint32_t cta; /* linear */
    uint64_t arg[EXEC_DEVICE_ARGS];
    uint32_t grid[3], block[3]; /* PREPARE */
    union {                     /* out: what is returned or stored */
        uint64_t value;
        uint8_t bytes[48]; /* the head of cudaFuncAttributes */
    };
};

/*
 * What a kernel may ask of its driver by a system call. Calls come one at a time, in the order of
 * execution; the lanes of a warp in ascending order. A NULL member: there is no such service.
 */
struct exec_services {
    void *ctx;
    /* One call of printf: its text, and the bytes that it takes of the driver's buffer. False: it
     * can never fit. */
    bool (*print)(void *ctx, const char *text, size_t bytes, size_t record_bytes);
    uint64_t (*heap_take)(void *ctx, uint64_t bytes, uint64_t align); /* 0: none is left */
    bool (*heap_give)(void *ctx, uint64_t address); /* false: no allocation begins there */
    uint32_t (*device_call)(void *ctx, struct exec_device_call *call); /* 0, or cudaError_t */
};
/* Is it the name of a function that the driver defines (system.def)? */
bool exec_is_system_call(const char *name);

/* One launch's constant state. */
struct exec_launch {
    const struct exec_program *program;
    struct exec_memory *memory;
    const uint8_t *params; /* the kernel's .param space */
    uint32_t param_bytes;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint64_t launch_id;
    const struct exec_texture *textures;
    uint32_t texture_count;
    const struct exec_image *const *surfaces; /* NULL: a handle that was given back */
    uint32_t surface_count;
    const struct exec_services *services; /* NULL: none */
    /* Independent thread scheduling: backward branches after which a path yields to others of
     * its warp. 0: the SIMT stack, without forward progress between them. */
    uint32_t yield_after;
    /* All CTAs are resident together and may wait for each other. What their barrier works on lies
     * at grid_workspace (CUDA's cooperative groups: a counter at byte 4), 0: nowhere. */
    bool cooperative;
    uint64_t grid_workspace;
    /* How many CTAs the GPU holds at once, which a launch without timing that seems to wait for
     * others of its CTAs gets; 0: it runs them one after the other whatever they do. */
    uint64_t resident_ctas;
    /* CTAs of a cluster, at most EXEC_CLUSTER_MAX together, which divide the grid; 0: 1. Those of a
     * cluster are resident together. */
    uint32_t cluster[3];
    bool explicit_cluster; /* the launch, or the kernel, asked for clusters */
    /* Who looks at a launch without timing (exec/observe.h); NULL: nobody. */
    const struct exec_observer *observer;
};

/* Where a warp runs; its numbers are read through special registers. */
struct exec_env {
    uint64_t clock; /* core cycles, for %clock and %clock64 */
    uint64_t globaltimer_ns;
    uint32_t smid, nsmid, warpid, nwarpid;
    struct exec_transfers
        *transfers,             /* exec/ops/async/transfer.h; NULL: nobody gives copies time */
        *copies;                /* the same for arrivals of cp.async */
    struct marks *marks;        /* exec/memory/marks.h; NULL: no other thread runs CTAs */
    struct exec_stores *stores; /* exec/memory/stores.h: stores to device memory wait there. NULL:
                                   they are seen by all at once */
    bool untimed; /* nobody asks when its instructions happen: loops for that are chosen */
};

struct exec_warp {
    uint32_t pc;     /* of the next instruction, valid while not done */
    uint32_t active; /* lanes that execute at pc */
    uint32_t live;   /* lanes that have not exited */
    bool done;
    uint32_t barrier_id, barrier_threads; /* after EXEC_BARRIER */
    enum exec_barrier_kind barrier_kind;
    uint32_t barrier_value; /* BARRIER_POPC, AND, OR: the lanes whose predicate holds */
    uint32_t barrier_lanes; /* the lanes that executed the instruction */
    uint32_t slept_ns;      /* by nanosleep, since the caller last set it to 0 */
    uint32_t fault_lane;
    uint64_t fault_address;
    struct exec_cta *cta;
    const struct exec_env *env;
    struct exec_state *state; /* registers, predicates, divergence stack, local memory: private */
};

/*
 * Decode entry `kernel` and every function it can call. Refuses by name (SONDE_EUNSUPPORTED, with
 * file:line:column) whatever it cannot execute, at load time and never later. Addresses of module
 * variables come from `resolver`, which must have placed them before; a NULL resolver knows none.
 * The module must outlive the program.
 */
struct exec_resolver {
    /* The device address of a module-scope .global/.const variable, or 0 with the error set. */
    uint64_t (*var_address)(void *ctx, const struct ptx_var *var);
    void *ctx;
    enum lowering lowering; /* for timing: what the instructions become, see ptx/lower.h */
};
int exec_program_create(struct exec_program **out, const struct ptx_module *module,
                        const struct ptx_func *kernel, const struct exec_resolver *resolver);
void exec_program_destroy(struct exec_program *program);
/* The most 32-bit registers of a thread in any function that is reached. */
uint32_t exec_program_register_count(const struct exec_program *program);
uint32_t exec_program_shared_bytes(const struct exec_program *program); /* static, of a CTA */
uint32_t exec_program_local_bytes(const struct exec_program *program);  /* per thread */
uint32_t exec_program_length(const struct exec_program *program);       /* uops */
/* Whether a system call of the program allocates device memory. */
bool exec_program_uses_heap(const struct exec_program *program);
/* Whether it has instructions that reach device memory, or the driver, when they are issued. */
bool exec_program_acts_at_issue(const struct exec_program *program);
/* Whether it calls the device's runtime, which may launch grids: no SM may run apart from memory.
 */
bool exec_program_calls_runtime(const struct exec_program *program);
/* Whether its CTAs may be tried on several host threads: no instruction orders them or tells of
 * their order (atomics of device memory, fences and accesses that order others, clocks, what takes
 * a turn), and all are of kinds that exec/memory/marks.h knows. */
bool exec_program_ctas_are_apart(const struct exec_program *program);
/* Whether it has instructions that other CTAs of the cluster see, or that wait for them. */
bool exec_program_uses_clusters(const struct exec_program *program);
/*
 * What decides where a launch of the program branches, and which bytes and banks it reaches, beside
 * its shape: parameters, and what some loads of device memory find. Where all of these are the same
 * as in another launch, it branches and reaches the same.
 */
struct exec_steering {
    bool known;      /* else nothing is said */
    uint8_t *loads;  /* by pc: 1, a load of device memory whose value steers */
    uint8_t *params; /* by byte of the parameters: likewise */
    uint32_t param_bytes;
    bool reads_constants; /* with any load, which then does not steer */
};
int exec_steering_create(struct exec_steering *out,
                         const struct exec_program *program); /* SONDE_ENOMEM; to be freed */
void exec_steering_free(struct exec_steering *steering);
/* The most register slots of 4 bytes a lane in any function that is reached. */
uint32_t exec_program_slot_count(const struct exec_program *program);
/* The most predicates of a lane, likewise. */
uint32_t exec_program_pred_count(const struct exec_program *program);
/* A hash of the instructions with their operands and lines: modules may have kernels of one name.
 */
uint64_t exec_program_code(const struct exec_program *program);
/* One array for the whole program: the entry of `pc` lies pc entries behind that of 0. */
const struct exec_uop_info *exec_uop_info(const struct exec_program *program, uint32_t pc);

/* Prepare a warp of `cta` whose lane 0 is thread `first_thread` (linear); reuses warp->state's
 * storage. SONDE_EINPUT: the CTA has no such thread; SONDE_ENOMEM. */
int exec_warp_init(struct exec_warp *warp, struct exec_cta *cta, uint32_t first_thread,
                   const struct exec_env *env);
void exec_warp_free(struct exec_warp *warp);

/*
 * Of the division or root at the warp's pc: the kind of operands, over the lanes that execute it,
 * for which the machine takes longest. LOWER_USUAL for any other instruction.
 */
enum lower_operands exec_operands(const struct exec_warp *warp);

/* Executes one instruction of a warp that is not done. EXEC_ACCESS alone fills `access`. */
enum exec_event exec_issue(struct exec_warp *warp, struct exec_access *access);
/* The same, with the effect of every access left to its commit: exec_issue() does what all lanes do
 * to shared memory at once. */
enum exec_event exec_issue_apart(struct exec_warp *warp, struct exec_access *access);
/* exec_issue() of an instruction that is_lanes: EXEC_DONE. */
void exec_issue_lanes(struct exec_warp *warp);
/* No lane's guard holds: the next instruction does nothing. */
bool exec_is_guarded_off(const struct exec_warp *warp);

/* The accesses that a matrix fragment is moved by: piece k < access->pieces as an ordinary load or
 * store, but for its data, which it has none of. */
void exec_access_piece(struct exec_access *piece, const struct exec_access *access, uint32_t k);

/* Perform the access on memory and write results to registers. SONDE_EFAULT on a bad address. */
int exec_commit(struct exec_warp *warp, const struct exec_access *access);

/* Whether all lanes of an ACCESS_WAIT would find their phase over. A commit gives each what it
 * finds then, over or not. */
bool exec_wait_is_over(const struct exec_access *access);

/* The warp's lanes at an ACCESS_WAIT that is not over wait apart: others of the warp can go on. A
 * commit at once lets them. */
bool exec_others_go_on(struct exec_warp *warp);

/* The result of a barrier reduction: the count, or 0 and 1. */
void exec_barrier_result(struct exec_warp *warp, uint32_t value);

/* Functional mode: run a whole launch, CTA after CTA, without timing. SONDE_EFAULT: the program
 * faulted; the error text names the thread. */
int exec_run_launch(const struct exec_launch *launch);

/* The same with limits and counts; all fields may be zero. */
struct exec_run_options {
    uint64_t max_warp_insns;         /* SONDE_EFAULT after so many; 0: no limit */
    const volatile int *interrupt;   /* SONDE_EINTERRUPTED soon after it becomes true */
    bool tells;                      /* an interrupt's error says where the warps are */
    const struct progress *progress; /* told of now and then; NULL: nobody listens */
    uint64_t first, count;           /* of the launch's blocks only these; count 0: all */
    struct team *team;               /* host threads that may run CTAs; NULL: the caller alone */
    /* Whether nobody but the launch could change memory now; so it is told when it will never end.
     * NULL: somebody could. */
    bool (*alone)(const void *ctx);
    const void *alone_ctx;
    uint64_t warp_insns, thread_insns; /* out: executed so far */
    bool stopped;                      /* out: by one of the limits */
};
int exec_run_launch_with(const struct exec_launch *launch, struct exec_run_options *options);
/* The same a little at a time; both are borrowed until the end. */
#define EXEC_RUN_MORE 1
struct exec_run;
int exec_run_begin(struct exec_run **out, const struct exec_launch *launch,
                   struct exec_run_options *options);
/* About so many warp instructions; EXEC_RUN_MORE: it is not over. */
int exec_run_some(struct exec_run *run, uint64_t warp_insns);
void exec_run_end(struct exec_run *run); /* NULL is allowed */

#endif
