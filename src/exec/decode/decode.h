/*
 * Decoding: what the decode functions of exec/ops/ share. decode.c calls one of them for each
 * instruction with a zeroed uop and info whose guard, unit and pc are set; it chooses the run
 * function, translates the operands and notes in the info what the scoreboard must know. Everything
 * that cannot be executed is refused here.
 */
#ifndef SONDE_EXEC_DECODE_H
#define SONDE_EXEC_DECODE_H

#include "exec/ops.h"
#include "util/container/arena.h"
#include "util/container/map.h"
#include "util/container/vec.h"

struct decoder {
    struct exec_program *program;
    struct arena *arena;
    const struct ptx_module *module;
    const struct exec_resolver *resolver;
    const struct lane_table *lanes;
    struct exec_function *function; /* being decoded */
    const struct ptx_insn *insn;
    struct uop *uop;
    struct exec_uop_info *info;
    uint32_t pc;
    VEC(uint8_t) pool;
    struct u64_map pool_32, pool_64; /* constant -> operand reference */
    struct u64_map shared_offsets;   /* struct ptx_var * -> offset in the CTA's shared memory */
    struct u64_map functions;        /* struct ptx_func * -> struct exec_function * */
};

typedef int decode_fn(struct decoder *d);

/* The table of irregular rows; NULL: the row is regular, or not implemented. */
decode_fn *decode_irregular(enum isa_op op);

/* "file:line:column: ..." with SONDE_EUNSUPPORTED, or SONDE_EINPUT. */
int decode_refuse(const struct decoder *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * A value operand of `bytes` (1 to 8; 0: as wide as the operand says) that is read: a register, a
 * constant, a special register, an address. `index` is its place among the uop's sources, where
 * the reference goes.
 */
int decode_source(struct decoder *d, int index, const struct ptx_operand *operand, uint32_t bytes);
int decode_source_ref(struct decoder *d, uint32_t *ref, const struct ptx_operand *operand,
                      uint32_t bytes);
int decode_dest(struct decoder *d, uint32_t *ref, const struct ptx_operand *operand,
                uint32_t bytes);
/* An element of a vector, or of a load or store: as wide as its register. */
int decode_source_element(struct decoder *d, struct element *out, const struct ptx_operand *operand,
                          uint32_t bytes);
int decode_dest_element(struct decoder *d, struct element *out, const struct ptx_operand *operand);
int decode_pred_source(struct decoder *d, int index, const struct ptx_operand *operand);
int decode_pred_dest(struct decoder *d, int index, const struct ptx_operand *operand);

/* Constants: the same value in all lanes, or a vector of 32 words. */
int decode_constant(struct decoder *d, uint32_t *ref, uint64_t value, uint32_t bytes);
int decode_vector_constant(struct decoder *d, uint32_t *ref, const uint32_t lanes[WARP_LANES]);

/* decode/layout.c: where the function's parameters lie (its local memory grows by those whose
 * address it takes), and the program's shared variables. */
#define LOCAL_MAX_BYTES (512u << 10) /* per thread, all calls together */
int decode_layout_params(struct decoder *d, struct exec_function *function);
int decode_layout_shared(struct decoder *d);

static inline uint64_t decode_align(uint64_t value, uint64_t align)
{
    return align > 1 ? (value + align - 1) / align * align : value;
}

/* The value of a variable's address in its own space. `*relative`: add the frame's local_base. */
int decode_var_address(struct decoder *d, uint64_t *value, bool *relative, struct ptx_var *var);
/* Does a .param variable live in the frame (of a call), and where? */
bool decode_frame_param(struct decoder *d, uint32_t *offset, const struct ptx_var *var);

uint32_t decode_register_bytes(const struct decoder *d, const struct ptx_operand *operand);
enum isa_space decode_plain_space(enum isa_space space);
/* The state space of the instruction's address; of a variable named without one, the variable's. */
enum isa_space decode_address_space(const struct ptx_insn *insn, const struct ptx_operand *address);
/* The file that a function's text stands in. */
const char *decode_file(const struct ptx_module *module, const struct ptx_func *func);
/* The function's record, made and queued for decoding on the first call. */
int decode_function(struct decoder *d, struct exec_function **out, struct ptx_func *func);

/* call.c: an argument or result of a call in the caller's frame. */
int decode_call_side(struct decoder *d, struct call_side *side, const struct ptx_operand *operand,
                     uint32_t bytes, bool written);
/* system.c: is it a function that the driver defines? */
bool decode_is_system(const struct ptx_func *func);

/* access.c: the new value of an atomic; NULL: there is none of that type. */
lane_atom *decode_find_atom(enum isa_mod op, enum isa_type type);

/* ops/ */
bool decode_is_value(enum isa_op op);
decode_fn decode_value, decode_redux, decode_product, decode_matrix_move;
decode_fn decode_small_matrix;
decode_fn decode_copy, decode_mbarrier;
decode_fn decode_regular, decode_carry, decode_prmt_mode, decode_compare, decode_set, decode_mov;
decode_fn decode_load, decode_store, decode_atomic, decode_reduction, decode_prefetch, decode_fence;
decode_fn decode_texture, decode_texture_query, decode_istypep, decode_surface;
decode_fn decode_cvta, decode_isspacep, decode_branch, decode_switch, decode_call, decode_ret;
decode_fn decode_system, decode_stack;
decode_fn decode_exit, decode_trap, decode_nop, decode_barrier;
decode_fn decode_warp_sync;
decode_fn decode_activemask, decode_vote, decode_shfl, decode_match;

#endif
