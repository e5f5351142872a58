/*
 * Decoding of loads, stores, atomics, prefetches and fences. Also loads and stores of the .param
 * variables by which functions pass values: those lie in call frames, where the compiler of a real
 * GPU would have registers, so they are done at issue and never reach the memory system.
 * Source: PTX ISA 9.0, 9.7.9 and 9.7.13.
 */
#include <inttypes.h>
#include <string.h>

#include "exec/fault.h"
#include "exec/lane/float_format.h"
#include "exec/ops/decoders.h"
#include "isa/lane_math.h"
#include "util/error.h"

/* Parameters of calls: address and size have been checked at decode, unless a register adds to
 * them. */
enum exec_event run_frame_param(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    const struct uop_memory *memory = uop->memory;
    uint32_t stride = state->frames[state->depth].function->param_bytes;
    for (uint32_t k = 0; mask && k < memory->vec; k++) {
        const struct element *element = &memory->elements[k];
        uint32_t shift = memory->sign_extend ? 64 - 8 * memory->bytes : 0;
        for (uint32_t rest = mask; rest && element->register_bytes; rest &= rest - 1) {
            uint32_t lane = lowest_lane(rest);
            uint8_t *at = state->params + lane * stride + memory->offset + k * memory->bytes;
            uint64_t value = 0;
            if (memory->kind == ACCESS_STORE) {
                value = element_get(state, element, lane);
                memcpy(at, &value, memory->bytes);
                continue;
            }
            memcpy(&value, at, memory->bytes);
            element_set(state, element, lane, (uint64_t)((int64_t)(value << shift) >> shift));
        }
    }
    return advance(warp);
}

static int decode_address(struct decoder *d, struct uop_memory *memory,
                          const struct ptx_operand *address)
{
    uint64_t value = 0;
    bool relative = false;
    int rc = SONDE_OK;
    memory->offset = address->imm;
    if (address->var)
        rc = decode_var_address(d, &value, &relative, address->var);
    if (rc != SONDE_OK)
        return rc;
    memory->offset += value;
    memory->local_relative = relative;
    if (!address->has_reg)
        return SONDE_OK;
    struct ptx_operand base = {.kind = OPERAND_REG, .reg = address->reg, .type = address->type};
    memory->has_base = true;
    memory->base_is_64 = decode_register_bytes(d, &base) == 8;
    return decode_source_ref(d, &memory->base, &base, 0);
}

/* The uop's memory part, with what all accesses have; NULL when memory is out. */
static struct uop_memory *begin(struct decoder *d, enum exec_access_kind kind,
                                const struct ptx_operand *address)
{
    const struct ptx_insn *insn = d->insn;
    struct uop_memory *memory = arena_alloc(d->arena, sizeof *memory);
    if (!memory)
        return NULL;
    d->uop->run = run_memory;
    d->uop->memory = memory;
    memory->kind = kind;
    memory->space = decode_address_space(insn, address);
    memory->vec = insn->vec ? insn->vec : 1;
    memory->bytes = 1;
    memory->cache_op = insn->mods[MODC_COP];
    memory->is_volatile = insn->mods[MODC_SEM] != MOD_NONE &&
                          insn->mods[MODC_SEM] != MOD_SEM_weak &&
                          insn->mods[MODC_SCOPE] != MOD_SCOPE_cta;
    memory->non_coherent = insn->mods[MODC_NC] != MOD_NONE;
    d->info->space = memory->space;
    if (insn->space[0] == SPACE_SHARED_CLUSTER) {
        memory->space = SPACE_SHARED_CLUSTER;
        d->program->uses_clusters = true;
    }
    d->info->is_load = kind == ACCESS_LOAD;
    d->info->is_store = kind == ACCESS_STORE;
    d->info->is_atomic = kind == ACCESS_ATOMIC || kind == ACCESS_REDUCTION;
    return memory;
}

static int value_type(struct decoder *d, struct uop_memory *memory)
{
    const struct isa_type_info *type = isa_type_info(d->insn->types[0]);
    memory->is_pair = type->bytes == 16 && memory->vec == 1;
    if (memory->is_pair) {
        memory->bytes = 8;
        memory->vec = 2;
        return SONDE_OK;
    }
    if (type->bytes == 0 || type->bytes > 8 || memory->vec > UOP_VECTOR_MAX)
        return decode_refuse(d, "'%s' of .%s with %u elements is not implemented",
                             isa_row(d->insn->op)->name, type->text, memory->vec);
    memory->bytes = type->bytes;
    memory->sign_extend = type->kind == KIND_SIGNED;
    return SONDE_OK;
}

/* [param] where param belongs to a call: a place in the frame. */
static int decode_param_access(struct decoder *d, struct uop_memory *memory, bool *done,
                               const struct ptx_operand *address)
{
    uint32_t offset;
    *done = false;
    if (memory->space != SPACE_PARAM || !address->var ||
        !decode_frame_param(d, &offset, address->var)) {
        if (memory->space == SPACE_PARAM &&
            (memory->kind == ACCESS_STORE || !d->function->func->is_entry))
            return decode_refuse(d, "this access of .param memory is not implemented");
        return SONDE_OK;
    }
    uint64_t bytes = (uint64_t)memory->bytes * memory->vec;
    if (address->has_reg)
        return decode_refuse(d, "a register in the address of parameter '%s' is not implemented",
                             address->var->name);
    if (address->imm > address->var->size || bytes > address->var->size - address->imm)
        return error_at(SONDE_EINPUT, decode_file(d->module, d->function->func), d->insn->loc.line,
                        d->insn->loc.column,
                        "access of %" PRIu64 " bytes at offset %" PRId64
                        " is outside of '%s' of %" PRIu64 " bytes",
                        bytes, (int64_t)address->imm, address->var->name, address->var->size);
    memory->offset = offset + address->imm;
    d->uop->run = run_frame_param;
    d->info->is_load = d->info->is_store = false;
    d->info->unit = UNIT_ALU;
    *done = true;
    return SONDE_OK;
}

static int decode_values(struct decoder *d, struct uop_memory *memory,
                         const struct ptx_operand *value)
{
    bool load = memory->kind == ACCESS_LOAD;
    bool vector = value->kind == OPERAND_VECTOR;
    int rc = SONDE_OK;
    for (uint32_t k = 0; memory->is_pair && rc == SONDE_OK && k < 2; k++)
        rc = load ? decode_dest_half(d, &memory->elements[k], value, k)
                  : decode_source_half(d, &memory->elements[k], value, k);
    if (memory->is_pair)
        return rc;
    if ((vector ? value->count : 1) != memory->vec)
        return decode_refuse(d, "%u elements where .v%u says otherwise", vector ? value->count : 1,
                             memory->vec);
    for (uint32_t k = 0; rc == SONDE_OK && k < memory->vec; k++) {
        const struct ptx_operand *element = vector ? &value->elems[k] : value;
        rc = load ? decode_dest_element(d, &memory->elements[k], element)
                  : decode_source_element(d, &memory->elements[k], element, memory->bytes);
    }
    return rc;
}

/* Plain words between registers of their width and memory. */
static bool is_direct(const struct uop_memory *memory)
{
    if (memory->kind == ACCESS_STORE &&
        (memory->space == SPACE_PARAM || memory->space == SPACE_CONST))
        return false;
    if (memory->bytes < 4)
        return false;
    for (uint32_t k = 0; k < memory->vec; k++)
        if (memory->elements[k].register_bytes != memory->bytes)
            return false;
    return true;
}

static enum direct_shape shape_of(const struct uop_memory *memory)
{
    if (!is_direct(memory))
        return DIRECT_NEVER;
    if (!memory->has_base)
        return DIRECT_FIXED;
    if (memory->bytes != 4 || memory->vec > 1)
        return DIRECT_ANY;
    if (memory->space == SPACE_SHARED && !memory->base_is_64)
        return DIRECT_SHARED_WORD;
    bool device = memory->space == SPACE_GLOBAL || memory->space == SPACE_NONE;
    return device && memory->base_is_64 ? DIRECT_DEVICE_WORD : DIRECT_ANY;
}

static int decode_transfer(struct decoder *d, enum exec_access_kind kind,
                           const struct ptx_operand *address, const struct ptx_operand *value)
{
    bool done = false;
    struct uop_memory *memory = begin(d, kind, address);
    if (!memory)
        return error_memory();
    int rc = value_type(d, memory);
    if (rc == SONDE_OK && kind == ACCESS_STORE && memory->bytes * memory->vec > 16)
        rc = decode_refuse(d, "stores of more than 16 bytes are not implemented");
    if (rc == SONDE_OK)
        rc = decode_values(d, memory, value);
    if (rc == SONDE_OK)
        rc = decode_param_access(d, memory, &done, address);
    if (rc == SONDE_OK && !done)
        rc = decode_address(d, memory, address);
    memory->shape = rc == SONDE_OK && !done ? shape_of(memory) : DIRECT_NEVER;
    return rc;
}

int decode_load(struct decoder *d)
{
    return decode_transfer(d, ACCESS_LOAD, &d->insn->operands[1], &d->insn->operands[0]);
}

int decode_store(struct decoder *d)
{
    return decode_transfer(d, ACCESS_STORE, &d->insn->operands[0], &d->insn->operands[1]);
}

/* prefetch and discard name a line, whose size is the model's: one byte is enough to find it. */
int decode_prefetch(struct decoder *d)
{
    struct uop_memory *memory = begin(d, ACCESS_PREFETCH, &d->insn->operands[0]);
    return memory ? decode_address(d, memory, &d->insn->operands[0]) : error_memory();
}

int decode_fence(struct decoder *d)
{
    d->uop->run = run_fence;
    return SONDE_OK;
}

/* Atomics: the new contents of memory. Values arrive zero-extended to 64 bits. */

#define ATOM(name, expr)                                                                           \
    static uint64_t atom_##name(uint64_t old, uint64_t b, uint64_t c)                              \
    {                                                                                              \
        (void)old, (void)b, (void)c;                                                               \
        return (expr);                                                                             \
    }
ATOM(and, old &b)
ATOM(or, old | b)
ATOM(xor, old ^ b)
ATOM(exch, b)
ATOM(cas_16, (uint16_t)old == (uint16_t)b ? c : old)
ATOM(cas_32, (uint32_t)old == (uint32_t)b ? c : old)
ATOM(cas_64, old == b ? c : old)
ATOM(add, old + b)
ATOM(inc, (uint32_t)old >= (uint32_t)b ? 0 : old + 1)
ATOM(dec, (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1)
ATOM(min_u32, (uint32_t)old < (uint32_t)b ? old : b)
ATOM(max_u32, (uint32_t)old > (uint32_t)b ? old : b)
ATOM(min_s32, (int32_t)old < (int32_t)b ? old : b)
ATOM(max_s32, (int32_t)old > (int32_t)b ? old : b)
ATOM(min_u64, old < b ? old : b)
ATOM(max_u64, old > b ? old : b)
ATOM(min_s64, (int64_t)old < (int64_t)b ? old : b)
ATOM(max_s64, (int64_t)old > (int64_t)b ? old : b)

/* red.add.f32 and atom.add.f32 round to nearest; at L2 denormals become zero. */
static uint64_t atom_add_f32(uint64_t old, uint64_t b, uint64_t c)
{
    (void)c;
    uint32_t bits[2] = {(uint32_t)old, (uint32_t)b};
    float value[2];
    memcpy(value, bits, sizeof value);
    value[0] += value[1];
    memcpy(bits, value, sizeof bits);
    return value[0] == value[0] ? bits[0] : 0x7fffffff;
}

static uint64_t flush_f32(uint64_t v)
{
    return v & 0x7f800000 ? v : v & 0x80000000;
}

static uint64_t atom_add_f32_global(uint64_t old, uint64_t b, uint64_t c)
{
    return flush_f32(atom_add_f32(flush_f32(old), flush_f32(b), c));
}

/* In shared memory a loop of the processor's additions: the old value's NaN, made quiet, wins. */
static uint64_t atom_add_f64(uint64_t old, uint64_t b, uint64_t c)
{
    (void)c;
    double x = lane_double(old), y = lane_double(b);
    return lane_bits_f64(lane_nan_f64(x + y, y, x));
}

/* At L2 NaNs pass as they are, the operand's before the old value's. */
static uint64_t atom_add_f64_global(uint64_t old, uint64_t b, uint64_t c)
{
    (void)c;
    double x = lane_double(old), y = lane_double(b);
    if (y != y)
        return b;
    return x != x ? old : lane_bits_f64(lane_nan_f64(x + y, x, y));
}

/* Halves, alone or in pairs; subnormal ones are kept (.noftz). */
static uint64_t add_halves(const struct float_format *format, uint64_t old, uint64_t b, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        double x = format_widen(format, old >> 16 * i & 0xffff);
        double y = format_widen(format, b >> 16 * i & 0xffff);
        sum |= (uint64_t)format_narrow(format, odd_add(x, y), ROUND_NEAREST, false) << 16 * i;
    }
    return sum;
}

/* The smaller or the larger; a NaN only of two, and -0 is below +0. */
static uint64_t pick_halves(const struct float_format *format, uint64_t old, uint64_t b, int count,
                            bool larger)
{
    uint64_t picked = 0;
    for (int i = 0; i < count; i++) {
        uint32_t one = old >> 16 * i & 0xffff, other = b >> 16 * i & 0xffff, nan = 0x7fff;
        double x = format_widen(format, one), y = format_widen(format, other);
        uint32_t low = x < y || (x == y && one & 0x8000) ? one : other;
        uint32_t high = low == one ? other : one, result = larger ? high : low;
        result = x != x ? (y != y ? nan : other) : y != y ? one : result;
        picked |= (uint64_t)result << 16 * i;
    }
    return picked;
}
ATOM(min_f16, pick_halves(&format_f16, old, b, 1, false))
ATOM(max_f16, pick_halves(&format_f16, old, b, 1, true))
ATOM(min_f16x2, pick_halves(&format_f16, old, b, 2, false))
ATOM(max_f16x2, pick_halves(&format_f16, old, b, 2, true))
ATOM(min_bf16, pick_halves(&format_bf16, old, b, 1, false))
ATOM(max_bf16, pick_halves(&format_bf16, old, b, 1, true))
ATOM(min_bf16x2, pick_halves(&format_bf16, old, b, 2, false))
ATOM(max_bf16x2, pick_halves(&format_bf16, old, b, 2, true))
ATOM(add_f16, add_halves(&format_f16, old, b, 1))
ATOM(add_f16x2, add_halves(&format_f16, old, b, 2))
ATOM(add_bf16, add_halves(&format_bf16, old, b, 1))
ATOM(add_bf16x2, add_halves(&format_bf16, old, b, 2))

/* Rows with TYPE_NONE serve every type that the instruction allows; the first that fits counts. */
/* clang-format off */
static const struct { enum isa_mod op; enum isa_type type; lane_atom *fn; } atoms[] = {
    { MOD_ATOM_and, TYPE_NONE, atom_and },      { MOD_ATOM_or, TYPE_NONE, atom_or },
    { MOD_ATOM_xor, TYPE_NONE, atom_xor },      { MOD_ATOM_exch, TYPE_NONE, atom_exch },
    { MOD_ATOM_cas, TYPE_b16, atom_cas_16 },    { MOD_ATOM_cas, TYPE_b32, atom_cas_32 },
    { MOD_ATOM_cas, TYPE_b64, atom_cas_64 },    { MOD_ATOM_add, TYPE_f32, atom_add_f32 },
    { MOD_ATOM_add, TYPE_f64, atom_add_f64 },   { MOD_ATOM_add, TYPE_NONE, atom_add },
    { MOD_ATOM_add, TYPE_f16, atom_add_f16 },   { MOD_ATOM_add, TYPE_f16x2, atom_add_f16x2 },
    { MOD_ATOM_add, TYPE_bf16, atom_add_bf16 }, { MOD_ATOM_add, TYPE_bf16x2, atom_add_bf16x2 },
    { MOD_ATOM_inc, TYPE_u32, atom_inc },       { MOD_ATOM_dec, TYPE_u32, atom_dec },
    { MOD_ATOM_min, TYPE_u32, atom_min_u32 },   { MOD_ATOM_max, TYPE_u32, atom_max_u32 },
    { MOD_ATOM_min, TYPE_s32, atom_min_s32 },   { MOD_ATOM_max, TYPE_s32, atom_max_s32 },
    { MOD_ATOM_min, TYPE_u64, atom_min_u64 },   { MOD_ATOM_max, TYPE_u64, atom_max_u64 },
    { MOD_ATOM_min, TYPE_s64, atom_min_s64 },   { MOD_ATOM_max, TYPE_s64, atom_max_s64 },
    { MOD_ATOM_min, TYPE_f16, atom_min_f16 },   { MOD_ATOM_max, TYPE_f16, atom_max_f16 },
    { MOD_ATOM_min, TYPE_f16x2, atom_min_f16x2 }, { MOD_ATOM_max, TYPE_f16x2, atom_max_f16x2 },
    { MOD_ATOM_min, TYPE_bf16, atom_min_bf16 }, { MOD_ATOM_max, TYPE_bf16, atom_max_bf16 },
    { MOD_ATOM_min, TYPE_bf16x2, atom_min_bf16x2 }, { MOD_ATOM_max, TYPE_bf16x2, atom_max_bf16x2 },
};
/* clang-format on */

lane_atom *decode_find_atom(enum isa_mod op, enum isa_type type)
{
    enum isa_type_kind kind = isa_type_info(type)->kind;
    for (size_t i = 0; i < sizeof atoms / sizeof *atoms; i++) {
        if (atoms[i].op != op)
            continue;
        if (atoms[i].type == type)
            return atoms[i].fn;
        if (atoms[i].type == TYPE_NONE && (kind != KIND_FLOAT || op == MOD_ATOM_exch))
            return atoms[i].fn;
    }
    return NULL;
}

/* Memory's own arithmetic differs from shared memory's in how it treats denormals and NaNs. */
static lane_atom *at_memory(lane_atom *combine)
{
    return combine == atom_add_f64   ? atom_add_f64_global
           : combine == atom_add_f32 ? atom_add_f32_global
                                     : combine;
}

lane_atom *decode_find_bulk_atom(enum isa_mod op, enum isa_type type, bool global)
{
    lane_atom *combine = decode_find_atom(op, type);
    return global && combine != atom_add_f32 ? at_memory(combine) : combine;
}

static int decode_vector_atom(struct decoder *d, struct uop_memory *memory,
                              const struct ptx_operand *operand, const struct ptx_operand *result)
{
    int rc = SONDE_OK;
    for (uint32_t k = 0; rc == SONDE_OK && k < memory->vec; k++) {
        rc = decode_source_element(d, &memory->operands[k], &operand->elems[k], memory->bytes);
        if (rc == SONDE_OK && result && result->kind == OPERAND_VECTOR)
            rc = decode_dest_element(d, &memory->elements[k], &result->elems[k]);
    }
    return rc;
}

/* Of 128 bits: exch and cas, the latter with its new value in `atom`. */
static int decode_pair_atom(struct decoder *d, struct uop_memory *memory,
                            const struct ptx_operand *operands, uint32_t count,
                            const struct ptx_operand *result)
{
    int rc = SONDE_OK;
    memory->swaps = count > 1;
    for (uint32_t k = 0; rc == SONDE_OK && k < 2; k++) {
        rc = decode_source_half(d, &memory->operands[k], &operands[0], k);
        if (rc == SONDE_OK && memory->swaps)
            rc = decode_source_half(d, &memory->atom[k], &operands[1], k);
        if (rc == SONDE_OK && result)
            rc = decode_dest_half(d, &memory->elements[k], result, k);
    }
    return rc;
}

static int decode_combine(struct decoder *d, enum exec_access_kind kind,
                          const struct ptx_operand *address, const struct ptx_operand *operands,
                          uint32_t count, const struct ptx_operand *result)
{
    enum isa_type type = d->insn->types[0];
    struct uop_memory *memory = begin(d, kind, address);
    if (!memory)
        return error_memory();
    int rc = value_type(d, memory);
    if (rc != SONDE_OK)
        return rc;
    memory->sign_extend = false;
    memory->combine = decode_find_atom(
        memory->is_pair ? MOD_ATOM_exch : (enum isa_mod)d->insn->mods[MODC_ATOM], type);
    if (d->info->space != SPACE_SHARED)
        memory->combine = at_memory(memory->combine);
    if (!memory->combine || memory->bytes * memory->vec > 16)
        return decode_refuse(d, "'%s%s.%s' is not implemented", isa_row(d->insn->op)->name,
                             isa_mod_text((enum isa_mod)d->insn->mods[MODC_ATOM]),
                             isa_type_info(type)->text);
    rc = decode_address(d, memory, address);
    if (memory->is_pair)
        return rc == SONDE_OK ? decode_pair_atom(d, memory, operands, count, result) : rc;
    if (memory->vec > 1)
        return rc == SONDE_OK ? decode_vector_atom(d, memory, operands, result) : rc;
    for (uint32_t k = 0; rc == SONDE_OK && k < count && k < 2; k++)
        rc = decode_source_element(d, &memory->atom[k], &operands[k], memory->bytes);
    if (rc == SONDE_OK && result)
        rc = decode_dest_element(d, &memory->elements[0], result);
    return rc;
}

int decode_atomic(struct decoder *d)
{
    const struct ptx_operand *operands = d->insn->operands;
    uint32_t policy = d->insn->mods[MODC_HINT] != MOD_NONE;
    return decode_combine(d, ACCESS_ATOMIC, &operands[1], &operands[2],
                          d->insn->operand_count - 2u - policy, &operands[0]);
}

int decode_reduction(struct decoder *d)
{
    const struct ptx_operand *operands = d->insn->operands;
    return decode_combine(d, ACCESS_REDUCTION, &operands[0], &operands[1], 1, NULL);
}
