/*
 * Decoding, in three layers:
 *
 *   services    this header. They name no operation. Each file uses only those before it: refuse.c
 *               (errors), loops.c (loops over lanes), layout.c (where variables lie), function.c
 *               (functions), operand.c (operands and constants)
 *   operations  exec/ops/
 *   decode.c    the loop over instructions, above the operations' table
 *
 * decode.c calls one decode function for each instruction, with a zeroed uop and info whose guard,
 * unit and pc are set. That function chooses the run function, translates the operands and notes in
 * the info what the scoreboard must know.
 *
 * Every service that returns int returns 0, or a negative SONDE_E... after it has written the
 * error's text: SONDE_EUNSUPPORTED for what cannot be executed, with file, line and column;
 * SONDE_EINPUT for what is not defined; SONDE_ENOMEM.
 */
#ifndef SONDE_EXEC_DECODE_H
#define SONDE_EXEC_DECODE_H

#include "exec/ops.h"
#include "util/container/arena.h"
#include "util/container/map.h"
#include "util/container/vec.h"

/* The loop of the uop at pc without timing; one of the two. */
struct decode_loop {
    uint32_t pc;
    lane_fn *lanes;
    lane_compare *compare;
};

struct decoder {
    struct exec_program *program;
    struct arena *arena;
    const struct ptx_module *module;
    const struct exec_resolver *resolver;
    struct exec_function *function; /* being decoded */
    const struct ptx_insn *insn;
    struct uop *uop;
    struct exec_uop_info *info;
    uint32_t pc;
    VEC(uint8_t) pool;
    VEC(struct decode_loop) loops;
    struct u64_map pool_32, pool_64; /* constant -> operand reference */
    struct u64_map shared_offsets;   /* struct ptx_var * -> offset in the CTA's shared memory */
    struct u64_map functions;        /* struct ptx_func * -> struct exec_function * */
};

typedef int decode_fn(struct decoder *d);

/* refuse.c */

/* Always SONDE_EUNSUPPORTED: "file:line:column: ..." with the place of the instruction. */
int decode_refuse(const struct decoder *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The file that a function's text stands in; of no function (NULL), the module's. */
const char *decode_file(const struct ptx_module *module, const struct ptx_func *func);
/* The state space of the instruction's address; of a variable named without one, the variable's. */
enum isa_space decode_address_space(const struct ptx_insn *insn, const struct ptx_operand *address);

/* loops.c */

/* The uop's loop, NULL if there is none: lanes_find(), lanes_find_compare(). */
int decode_lane_loop(struct decoder *d, enum isa_op op, enum isa_type dt, enum isa_type st,
                     const struct lane_entry **found);
int decode_lane_compare(struct decoder *d, enum isa_mod cmp, enum isa_type type);
/* The uops without timing, once all are decoded. */
int decode_untimed(struct decoder *d);

/* quick.c: uop->quick of all, before decode_untimed() */
void decode_quick(struct exec_program *program);

/* The same file: whether a run function changes registers of its warp and nothing else, each lane
 * its own. */
bool decode_changes_registers(uop_run *run);

/* The same file: program->needs_zero. */
bool decode_needs_zero(const struct exec_program *program);

/* layout.c */

#define LOCAL_MAX_BYTES (512u << 10) /* per thread, all calls together */
/* Where the function's parameters lie. Its local memory grows by those whose address it takes. */
int decode_layout_params(struct decoder *d, struct exec_function *function);
/* Where the program's shared variables lie; all its functions must be known. */
int decode_layout_shared(struct decoder *d);
/* A variable's address in its own space, in bytes. `*relative`: add the frame's local_base. */
int decode_var_address(struct decoder *d, uint64_t *value, bool *relative, struct ptx_var *var);
/* Whether a .param variable lies in the function's frame, and at which byte of its parameters. */
bool decode_frame_param(struct decoder *d, uint32_t *offset, const struct ptx_var *var);

/* `value` rounded up to a multiple of `align`; 0 and 1 align nothing. */
static inline uint64_t decode_align(uint64_t value, uint64_t align)
{
    return align > 1 ? (value + align - 1) / align * align : value;
}

/* function.c */

/* The functions that the driver defines (exec/system.def); SYSTEM_COUNT: none of them. */
enum system_call {
#define SYSTEM(id, name, ...) SYSTEM_##id,
#include "exec/system.def"
#undef SYSTEM
    SYSTEM_COUNT
};
enum system_call decode_system_call(const struct ptx_func *func);
bool decode_is_system(const struct ptx_func *func);
/* The function's record. The first call makes it and queues the function for decoding. */
int decode_function(struct decoder *d, struct exec_function **out, struct ptx_func *func);
/*
 * Queues the functions that `function` calls or takes the address of. An indirect call may reach
 * any function of the module, so it queues all.
 */
int decode_reachable(struct decoder *d, const struct exec_function *function);

/* apart.c: of a program that is decoded */
bool decode_ctas_are_apart(const struct exec_program *program);

/* waits.c: of a program that is decoded. SONDE_ENOMEM */
int decode_waits(struct exec_program *program);

/* operand.c */

/*
 * A value operand that is read: a register, a constant, a special register, an address. `bytes` is
 * its width, 1 to 8; 0: as wide as the operand says. `index`, below UOP_SOURCES, is its place among
 * the uop's sources, where the reference goes.
 */
int decode_source(struct decoder *d, int index, const struct ptx_operand *operand, uint32_t bytes);
int decode_source_ref(struct decoder *d, uint32_t *ref, const struct ptx_operand *operand,
                      uint32_t bytes);
/* A register that is written, or the sink `_`. */
int decode_dest(struct decoder *d, uint32_t *ref, const struct ptx_operand *operand,
                uint32_t bytes);
/* An element of a vector, or of a load or store: as wide as its register; a constant `bytes`. */
int decode_source_element(struct decoder *d, struct element *out, const struct ptx_operand *operand,
                          uint32_t bytes);
int decode_dest_element(struct decoder *d, struct element *out, const struct ptx_operand *operand);
/* The lower (half 0) or upper 64 bits of a register of 128. */
int decode_source_half(struct decoder *d, struct element *out, const struct ptx_operand *operand,
                       uint32_t half);
int decode_dest_half(struct decoder *d, struct element *out, const struct ptx_operand *operand,
                     uint32_t half);
/* A predicate, or its negation, as predicate source 0 to 2 or destination 0 to 1 of the uop. */
int decode_pred_source(struct decoder *d, int index, const struct ptx_operand *operand);
int decode_pred_dest(struct decoder *d, int index, const struct ptx_operand *operand);
/* A constant of 4 or 8 bytes, the same in all lanes; or one word for each lane. */
int decode_constant(struct decoder *d, uint32_t *ref, uint64_t value, uint32_t bytes);
int decode_vector_constant(struct decoder *d, uint32_t *ref, const uint32_t lanes[WARP_LANES]);
/* The stride of an operand's lanes: 4 or 8 bytes. */
uint32_t decode_register_bytes(const struct decoder *d, const struct ptx_operand *operand);

#endif
