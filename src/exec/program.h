/*
 * A decoded kernel: one uop for each instruction of the kernel and of every function it can reach,
 * laid end to end, each function followed by one uop that leaves it. A branch whose paths meet only
 * at the end of their function reconverges at that last uop.
 *
 * A uop holds everything that does not change: the function that runs it, where its operands lie,
 * its guard. Operands are offsets from one of a few bases of the warp's state, so that lane loops
 * read registers, constants and special registers in the same way:
 *
 *     31 30 29                              0
 *     | base |   byte offset from that base  |
 */
#ifndef SONDE_EXEC_PROGRAM_H
#define SONDE_EXEC_PROGRAM_H

#include <stdatomic.h>

#include "exec/exec.h"
#include "exec/lane/lanes.h"
#include "exec/memory/direct.h"
#include "exec/state.h"

#define REF_BASE_SHIFT 30
#define REF_OFFSET_MASK ((1u << REF_BASE_SHIFT) - 1)
#define UOP_SOURCES 4
#define UOP_VECTOR_MAX 8
#define RESERVED_BYTES 1024u /* CUDA C++ Programming Guide, compute capability 8.x and later */
#define RESERVED_ALIGN 128u

typedef enum exec_event uop_run(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                struct exec_access *access);

/* How a loaded or moved value of `bytes` becomes the contents of a register. */
struct element {
    uint32_t ref;           /* register, or constant when it is a source */
    uint8_t register_bytes; /* 4 or 8: stride of its lanes; 0: a sink */
};

struct uop_value;  /* ops/value.h */
struct uop_matrix; /* ops/matrix/matrix.c */
struct uop_async;  /* ops/async/: each file's own */
struct uop_tensor; /* ops/async/tensor.c */
struct uop_wgmma;  /* ops/matrix/wgmma.c */

/* What memory/direct.h does with an access: nothing, or of loads and stores of whole words of 4 or
 * 8 bytes: one address for all lanes, words of shared memory by addresses of 32 bits, words of
 * device memory by addresses of 64, any other. */
enum direct_shape {
    DIRECT_NEVER,
    DIRECT_FIXED,
    DIRECT_SHARED_WORD,
    DIRECT_DEVICE_WORD,
    DIRECT_ANY
};

/* The rest of a memory access. */
struct uop_memory {
    enum exec_access_kind kind;
    enum isa_space space; /* GLOBAL, SHARED, LOCAL, CONST, PARAM; NONE: generic */
    uint8_t bytes, vec;
    bool sign_extend, is_volatile, non_coherent;
    bool has_base, base_is_64;
    bool is_pair, swaps; /* of 128 bits, as two elements; an atomic that swaps if it is equal */
    uint8_t shape;       /* enum direct_shape */
    uint16_t cache_op;
    uint32_t base;       /* operand of the address */
    uint64_t offset;     /* added to it, or the address itself */
    bool local_relative; /* a local variable: counted from the frame's local_base */
    struct element elements[UOP_VECTOR_MAX]; /* destinations, or store data */
    struct element atom[2];                  /* operands of an atomic */
    lane_atom *combine;                      /* new value of an atomic */
    struct element operands[UOP_VECTOR_MAX]; /* of one on a vector */
};

/*
 * A call: what is copied between the two frames. A place is a register (stride 4 or 8), a constant
 * of the pool, a predicate, or a place in the .param area (stride 0). A vector register counts as
 * its elements.
 */
struct call_place {
    uint32_t offset;
    uint8_t stride;
    bool pool, is_pred; /* is_pred: a mask of lanes at `offset` of the frame */
    bool flip;          /* of a predicate: its negation is passed */
};
struct call_value {
    struct call_place from, to;
    uint32_t bytes;
};
struct uop_call {
    const struct exec_function *callee; /* NULL: by the address in source 0 */
    uint32_t arg_count, return_count;
    struct call_value *args, *returns;
};

/* A system call (ops/system.c): where each value lies in the caller's frame. */
#define SYSTEM_ARGS_MAX EXEC_DEVICE_ARGS
struct uop_system {
    struct call_value args[SYSTEM_ARGS_MAX], result;
};

struct uop_switch {
    uint32_t count;
    const uint32_t *targets;
};

/*
 * How a launch without timing executes a uop in a row with others (run/quick.c): a lane loop, or
 * one without a guard of at most so many sources; a comparison into one predicate without a guard;
 * a load or store, or without a guard one that struct direct_ways has; another instruction that
 * changes registers of its warp and nothing else; a branch. NO: it does more, and comes alone.
 */
enum uop_quick {
    QUICK_NO,
    QUICK_LANES,
    QUICK_LANES_2,
    QUICK_LANES_3,
    QUICK_COMPARE,
    QUICK_ACCESS,
    QUICK_SHARED,
    QUICK_DEVICE,
    QUICK_PARAMETER,
    QUICK_REGISTERS,
    QUICK_BRANCH
};

struct uop {
    uop_run *run;
    union {
        lane_fn *lanes;
        lane_compare *compare;
        const struct uop_memory *memory;
        const struct uop_call *call;
        const struct uop_system *system;
        const struct uop_switch *table;
        const struct element *elements;
        const struct uop_value *value;
        const struct uop_matrix *matrix;
        const struct uop_async *async;
        const struct uop_tensor *tensor;
        const struct uop_wgmma *wgmma;
        uint64_t number;
    };
    uint32_t guard;      /* byte offset of its mask in preds; slot 0 is always true */
    uint32_t guard_flip; /* ~0 for @!p */
    uint32_t dst;
    uint32_t source[UOP_SOURCES];
    uint16_t pred_dst[2];
    uint16_t pred_source[3];
    uint16_t option;   /* of the operation: a modifier, a count */
    uint8_t pred_flip; /* bit i: predicate source i negated */
    uint8_t narrow;    /* run_float: which operands are f32 */
    uint8_t dst_bytes; /* 4 or 8: stride of the destination's lanes */
    uint8_t specials;  /* bit i: special register special_ids[i] goes to slot i */
    uint8_t quick;     /* enum uop_quick */
    uint8_t sources;   /* of a lane loop: how many it has; 0: up to UOP_SOURCES */
    bool whole;        /* all lanes of the warp that live execute it together (.aligned) */
    uint16_t special_ids[SPECIAL_VECTORS];
    uop_run *inner; /* what runs once special registers are fetched and a whole warp is there */
    uint32_t special_offset; /* SPECIAL_LOCAL: added to the frame's local_base */
    uint32_t target, reconverge;
};

/* A special_ids value beyond the special registers: the address of a local variable. */
#define SPECIAL_LOCAL SREG_COUNT

/* Option bits of run_float; the rounding mode is 0 (nearest), toward zero, down, up. */
enum {
    FLOAT_ROUND = 3,
    FLOAT_FTZ = 4,
    FLOAT_SAT = 8,
    FLOAT_NAN = 16,
    FLOAT_XORSIGN = 32,
    FLOAT_TINY_PRODUCT = 64,
    FLOAT_TINY_SUM = 128,
    FLOAT_TINY_QUOTIENT = 256,
    FLOAT_TINY_RECIPROCAL = 512,
    FLOAT_TINY_APPROX = 1024 /* by the approximate reciprocal */
};

/* Option bits of run_convert. */
enum { CONVERT_SOURCE_WIDE = 1, CONVERT_DEST_WIDE = 2, CONVERT_SIGNED = 4 };

struct exec_function {
    const struct ptx_func *func;
    uint32_t first_pc, exit_pc; /* exit_pc: its last uop, RETURN or EXIT */
    uint32_t regs_bytes, preds_bytes, param_bytes, frame_bytes;
    uint32_t wide_offset; /* of the 64-bit slots among the registers */
    uint32_t sink_ref;    /* a register of either width that nobody reads */
    uint32_t local_bytes;
    /* Where in the frame each lane's bytes of alloca are counted (uint32_t[32]); 0: it has none. */
    uint32_t stack_offset;
    /* Parameters whose address is taken are copied to local memory by the call: where, in the
     * function's own; UINT32_MAX: this one is not. */
    uint32_t *param_locals;
    uint32_t *param_offsets; /* in the frame: params, returns, then locals of .param space */
};

struct exec_program {
    struct arena *arena;
    const struct ptx_module *module;
    struct uop *uops;
    struct uop
        *untimed_uops; /* the same with the loops that are best without timing; may be uops */
    const struct ptx_insn **insns; /* of each pc; NULL for the uop that leaves */
    struct exec_uop_info *infos;
    bool *waits; /* by pc: a loop begins there in which lanes may wait for others */
    uint32_t length;
    direct_shared_fn *direct_shared;  /* the best for this host */
    direct_fn *direct;                /* likewise */
    struct exec_function **functions; /* [0] is the kernel */
    uint32_t function_count;
    struct exec_function **by_index; /* of the module's functions: what a code address means */
    uint8_t *pool;                   /* constants, 32 lanes each */
    uint32_t shared_bytes;
    uint32_t reserved_offset;   /* of the shared memory that is the system's, see decode/layout.c */
    uint32_t local_limit_bytes; /* per thread, for recursion */
    uint64_t code;              /* program_hash() */
    bool uses_heap;             /* a system call takes memory */
    bool acts_at_issue;         /* see exec_program_acts_at_issue() */
    bool calls_runtime;         /* see exec_program_calls_runtime() */
    bool uses_clusters;         /* see exec_program_uses_clusters() */
    bool ctas_are_apart;        /* see exec_program_ctas_are_apart() */
    bool needs_zero;            /* registers must begin as zero: one may be read before it is
                                   written, by its own lane or by others */
    atomic_bool *was_refused;   /* a launch of it could not be shared out to host threads */
};

uint64_t program_hash(const struct exec_program *program); /* code.c */

#endif
