/*
 * From PTX IR to uops: the kernel first, then every function that it can reach, in the order in
 * which they are found. An instruction becomes exactly one uop, so a pc is the index of the
 * instruction counted from its function's first.
 * This file lies above the operations: it reaches them through the table of ops/table.h alone. The
 * other files of this folder lie below the operations and name none of them (decode.h).
 */
#include "exec/decode/decode.h"

#include <stdlib.h>
#include <string.h>

#include "exec/ops/table.h"
#include "util/error.h"

#define LOCAL_CALL_BYTES (64u << 10) /* room for calls above the kernel's own */

/* Where it names no scope it is the GPU's; an mbarrier's, the CTA's, and then it orders nothing. */
static enum exec_reach reach_of(const struct exec_uop_info *info, const struct ptx_insn *insn)
{
    enum isa_mod scope = insn->mods[MODC_SCOPE], level = insn->mods[MODC_MEMBAR];
    bool at_issue = isa_row(insn->op)->at_issue;
    if (insn->op == OP_MEMBAR)
        return level == MOD_MEMBAR_cta  ? REACH_CTA
               : level == MOD_MEMBAR_gl ? REACH_OTHERS
                                        : REACH_SYSTEM;
    if (insn->op == OP_FENCE_PROXY_ASYNC)
        return isa_space_base(insn->space[0]) == SPACE_SHARED ? REACH_SHARED_COPIES : REACH_COPIES;
    if (insn->op == OP_FENCE_MBARRIER)
        return REACH_INIT;
    if ((insn->op != OP_FENCE && !info->releases) || (at_issue && scope == MOD_NONE))
        return REACH_NOBODY;
    if (scope == MOD_SCOPE_cta)
        return at_issue ? REACH_NOBODY : REACH_CTA;
    return scope == MOD_SCOPE_sys ? REACH_SYSTEM : REACH_OTHERS;
}

/* Arrivals at an mbarrier release unless they say .relaxed. */
static bool orders_cta(const struct exec_uop_info *info, const struct ptx_insn *insn)
{
    switch (insn->op) {
    case OP_MBARRIER_ARRIVE:
    case OP_MBARRIER_ARRIVE_NOCOMPLETE:
    case OP_MBARRIER_ARRIVE_EXPECT_TX:
    case OP_MBARRIER_DROP:
    case OP_MBARRIER_DROP_NOCOMPLETE:
    case OP_MBARRIER_DROP_EXPECT_TX:
        return insn->mods[MODC_SEM] != MOD_SEM_relaxed;
    default:
        return info->is_barrier || info->reach == REACH_CTA;
    }
}

static void note_kind(struct exec_uop_info *info, const struct ptx_insn *insn)
{
    const struct isa_row *row = isa_row(insn->op);
    info->unit = row->unit;
    info->is_division =
        (row->unit == UNIT_FDIV || row->unit == UNIT_SFU) && strncmp(row->name, "div", 3) == 0;
    info->is_barrier = row->unit == UNIT_BARRIER;
    info->is_fence = row->unit == UNIT_FENCE;
    info->is_branch = row->unit == UNIT_BRANCH;
    info->is_exit = insn->op == OP_EXIT || insn->op == OP_RET;
    enum isa_mod sem = insn->mods[MODC_SEM];
    info->acquires = sem == MOD_SEM_acquire || sem == MOD_SEM_acq_rel;
    info->releases = sem == MOD_SEM_release || sem == MOD_SEM_acq_rel;
    info->reach = reach_of(info, insn);
    info->orders_cta = orders_cta(info, insn);
}

static int decode_guard(struct decoder *d)
{
    d->uop->guard = PRED_TRUE;
    if (d->insn->guard < 0)
        return SONDE_OK;
    struct ptx_operand guard = {.kind = OPERAND_REG,
                                .type = TYPE_pred,
                                .reg = d->insn->guard,
                                .negate = d->insn->guard_negate};
    int rc = decode_pred_source(d, 0, &guard);
    d->uop->guard = d->uop->pred_source[0];
    d->uop->guard_flip = d->uop->pred_flip ? UINT32_MAX : 0;
    d->uop->pred_source[0] = PRED_TRUE;
    d->uop->pred_flip = 0;
    return rc;
}

static int decode_insn(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    if (insn->op <= OP_NONE || insn->op >= OP_COUNT)
        return decode_refuse(d, "unknown instruction");
    note_kind(d->info, insn);
    int rc = decode_guard(d);
    if (rc != SONDE_OK)
        return rc;
    rc = ops_decoder(insn->op)(d);
    if (rc == SONDE_OK && !d->uop->run)
        rc = decode_refuse(d, "instruction '%s' is not implemented", isa_row(insn->op)->name);
    if (d->uop->specials || d->uop->whole) {
        d->uop->inner = d->uop->run;
        d->uop->run = d->uop->whole ? run_whole : run_special;
    }
    return rc;
}

static int decode_body(struct decoder *d, struct exec_function *function)
{
    struct exec_program *program = d->program;
    const struct ptx_func *func = function->func;
    if (func->refusal)
        return error_set_lines(SONDE_EUNSUPPORTED, func->refusal);
    d->function = function;
    function->first_pc = program->length;
    function->exit_pc = function->first_pc + func->insn_count;
    int rc = SONDE_OK;
    for (uint32_t i = 0; rc == SONDE_OK && i <= func->insn_count; i++) {
        d->pc = function->first_pc + i;
        d->uop = &program->uops[d->pc];
        d->info = &program->infos[d->pc];
        if (i == func->insn_count) {
            rc = ops_decoder(OP_NONE)(d);
            break;
        }
        d->insn = program->insns[d->pc] = &func->insns[i];
        rc = decode_insn(d);
    }
    program->length += func->insn_count + 1;
    return rc;
}

/* Room for all functions that could be reached; what is not decoded costs nothing later. */
static int reserve_code(struct decoder *d)
{
    struct exec_program *program = d->program;
    uint64_t uops = 1;
    for (uint32_t i = 0; i < d->module->func_count; i++)
        uops += (uint64_t)d->module->funcs[i]->insn_count + 1;
    if (uops > UINT32_MAX / 2)
        return error_set(SONDE_EUNSUPPORTED, "%s: too many instructions", d->module->file);
    program->uops = calloc(uops, sizeof *program->uops);
    program->infos = calloc(uops, sizeof *program->infos);
    program->insns = calloc(uops, sizeof(void *));
    program->functions = arena_array(d->arena, d->module->func_count + 1, sizeof(void *));
    program->by_index = arena_array(d->arena, d->module->func_count + 1, sizeof(void *));
    if (!program->uops || !program->infos || !program->insns || !program->functions ||
        !program->by_index)
        return error_memory();
    return SONDE_OK;
}

static int finish_pool(struct decoder *d)
{
    size_t bytes = (size_t)decode_align(d->pool.count ? d->pool.count : 1, 64);
    d->program->pool = aligned_alloc(64, bytes);
    if (!d->program->pool)
        return error_memory();
    if (d->pool.count)
        memcpy(d->program->pool, d->pool.data, d->pool.count);
    return SONDE_OK;
}

/* Whether an address may lie elsewhere than in shared memory; a generic one may. */
static bool reaches_device_memory(const struct ptx_insn *insn)
{
    uint32_t written = 0;
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const struct ptx_operand *operand = &insn->operands[i];
        if (operand->kind == OPERAND_FETCH)
            return true; /* a tensor */
        if (operand->kind != OPERAND_ADDR)
            continue;
        enum isa_space space = written < 2 ? isa_space_base(insn->space[written++]) : SPACE_NONE;
        if (space == SPACE_NONE && operand->var)
            space = isa_space_base(operand->var->space);
        if (space != SPACE_SHARED)
            return true;
    }
    return false;
}

/* What reads or writes device memory when it issues, not when the load/store unit comes to it; or
 * calls the driver. */
static bool acts_at_issue(const struct ptx_insn *insn)
{
    const struct ptx_operand *target = &insn->operands[0];
    if (insn->op == OP_CALL)
        return target->kind == OPERAND_FUNC && decode_is_system(target->func);
    return isa_row(insn->op)->at_issue && reaches_device_memory(insn);
}

/* Copies read device memory below the SM's own stores, and what they write is among these. */
static bool goes_by_stores(const struct ptx_insn *insn)
{
    return insn->op == OP_BULK_IN || insn->op == OP_BULK_OUT || insn->op == OP_TENSOR_IN ||
           insn->op == OP_TENSOR_OUT;
}

/* Copies in bulk see what was stored before such a fence alone. */
static bool is_device_fence(const struct ptx_insn *insn)
{
    return insn->op == OP_FENCE_PROXY_ASYNC && isa_space_base(insn->space[0]) != SPACE_SHARED;
}

/*
 * In a program with such instructions they wait for the warp's earlier accesses, and barriers for
 * those of all that come to them, so that what was stored before is there; not so where only copies
 * in bulk act and no fence lets them see such stores.
 */
static void order_at_issue(struct exec_program *program)
{
    bool any = false, waits = false;
    for (uint32_t pc = 0; pc < program->length; pc++) {
        const struct ptx_insn *insn = program->insns[pc];
        struct exec_uop_info *info = &program->infos[pc];
        bool acts = insn && !info->is_fragment && acts_at_issue(insn);
        info->is_outward = acts || (insn && isa_row(insn->op)->at_issue);
        info->takes_turn = acts && !goes_by_stores(insn);
        info->releases |= acts;
        any |= acts;
        waits |= (acts && !info->is_bulk_copy) || (insn && is_device_fence(insn));
    }
    for (uint32_t pc = 0; any && waits && pc < program->length; pc++)
        if (program->infos[pc].is_barrier)
            program->infos[pc].releases = true;
    program->acts_at_issue = any;
}

/* What the instructions of each function issue, where the caller wants to know. */
static int lower_functions(struct exec_program *program, enum lowering lowering)
{
    for (uint32_t i = 0; i < program->function_count; i++) {
        const struct exec_function *function = program->functions[i];
        uint32_t count = function->func->insn_count;
        struct lowered *lowered = calloc((size_t)count + 1, sizeof *lowered);
        if (!lowered)
            return error_memory();
        int rc = ptx_lower(lowered, function->func, lowering);
        for (uint32_t k = 0; rc == 0 && k < count; k++) {
            struct exec_uop_info *info = &program->infos[function->first_pc + k];
            info->is_lowered = true;
            info->lowered = lowered[k];
            info->late_cycles = lowered[k].late_cycles;
            if (lowered[k].part_count > 0)
                info->issue_unit = lowered[k].part[0].unit;
        }
        free(lowered);
        if (rc < 0)
            return rc;
    }
    return SONDE_OK;
}

static bool is_among(uint32_t slot, const uint16_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == slot)
            return true;
    return false;
}

static void note_places(struct exec_uop_info *info, uint32_t registers)
{
    uint16_t written[sizeof info->dst / sizeof info->dst[0] + sizeof info->dst_pred];
    uint32_t results = 0, count = 0;
    for (uint32_t i = 0; i < info->dst_count; i++)
        written[results++] = info->dst[i];
    for (uint32_t i = 0; i < info->dst_pred_count; i++)
        written[results++] = (uint16_t)(registers + info->dst_pred[i]);
    for (uint32_t i = 0; i < (uint32_t)info->src_count + info->src_pred_count; i++) {
        uint32_t slot =
            i < info->src_count ? info->src[i] : registers + info->src_pred[i - info->src_count];
        if (!is_among(slot, written, results) && !is_among(slot, info->place, count))
            info->place[count++] = (uint16_t)slot;
    }
    memcpy(info->place + count, written, results * sizeof written[0]);
    info->place_count = (uint8_t)(count + results);
    info->result_count = (uint8_t)results;
}

/* One machine instruction of its own unit, and nothing else. */
static bool is_one_slot(const struct exec_uop_info *info)
{
    const struct lowered *lowered = &info->lowered;
    return lowered->slots == LOWER_ONE && lowered->part_count == 1 &&
           lowered->part[0].slots == LOWER_ONE && lowered->part[0].unit == info->unit &&
           !lowered->folded && !lowered->apart && lowered->stall_cycles == 0 && lowered->held == 0;
}

/* Decided once instead of at every issue. */
static void note_simple(struct exec_program *program)
{
    uint32_t registers = exec_program_slot_count(program);
    for (uint32_t pc = 0; pc < program->length; pc++) {
        struct exec_uop_info *info = &program->infos[pc];
        note_places(info, registers);
        bool is_usual = !info->is_async && info->product_steps == 0 &&
                        info->reach == REACH_NOBODY && !info->takes_turn;
        bool is_lane_loop = !info->is_branch && !info->reads_clock && !info->is_division &&
                            info->unit != UNIT_SPECIAL && program->uops[pc].run == run_lanes;
        info->is_simple = is_usual && (!info->is_lowered || is_one_slot(info));
        info->is_lanes = info->is_simple && is_lane_loop;
        info->is_plain = is_usual && !info->is_simple && is_lane_loop && !info->lowered.apart;
    }
}

static int decode_program(struct decoder *d, struct ptx_func *kernel)
{
    struct exec_program *program = d->program;
    struct exec_function *function;
    int rc = reserve_code(d);
    if (rc == SONDE_OK)
        rc = decode_function(d, &function, kernel);
    for (uint32_t i = 0; rc == SONDE_OK && i < program->function_count; i++)
        rc = decode_reachable(d, program->functions[i]);
    if (rc == SONDE_OK)
        rc = decode_layout_shared(d);
    for (uint32_t i = 0; rc == SONDE_OK && i < program->function_count; i++)
        rc = decode_body(d, program->functions[i]);
    if (rc == SONDE_OK)
        rc = finish_pool(d);
    if (rc == SONDE_OK)
        decode_quick(program);
    if (rc == SONDE_OK)
        rc = decode_untimed(d);
    if (rc != SONDE_OK)
        return rc;
    order_at_issue(program);
    for (uint32_t pc = 0; pc < program->length; pc++)
        program->infos[pc].issue_unit = (uint8_t)program->infos[pc].unit;
    if (d->resolver && d->resolver->lowering != LOWERING_NONE)
        rc = lower_functions(program, d->resolver->lowering);
    if (rc != SONDE_OK)
        return rc;
    note_simple(program);
    program->needs_zero = decode_needs_zero(program);
    program->ctas_are_apart = decode_ctas_are_apart(program);
    rc = decode_waits(program);
    if (rc != SONDE_OK)
        return rc;
    program->local_limit_bytes = program->functions[0]->local_bytes + LOCAL_CALL_BYTES;
    for (uint32_t i = 1; i < program->function_count; i++)
        program->local_limit_bytes += program->functions[i]->local_bytes;
    return SONDE_OK;
}

int exec_program_create(struct exec_program **out, const struct ptx_module *module,
                        const struct ptx_func *kernel, const struct exec_resolver *resolver)
{
    *out = NULL;
    struct arena *arena = arena_create();
    struct exec_program *program = arena ? arena_alloc(arena, sizeof *program) : NULL;
    if (!program) {
        arena_destroy(arena);
        return error_memory();
    }
    program->arena = arena;
    program->module = module;
    program->direct_shared = direct_shared();
    program->direct = direct_access();
    program->was_refused = arena_alloc(arena, sizeof *program->was_refused);
    struct decoder d = {.program = program, .arena = arena, .module = module, .resolver = resolver};
    int rc = decode_program(&d, (struct ptx_func *)kernel);
    vec_free(&d.pool);
    vec_free(&d.loops);
    u64_map_free(&d.pool_32);
    u64_map_free(&d.pool_64);
    u64_map_free(&d.shared_offsets);
    u64_map_free(&d.functions);
    if (rc != SONDE_OK) {
        exec_program_destroy(program);
        return rc;
    }
    program->code = program_hash(program);
    *out = program;
    return SONDE_OK;
}

uint64_t exec_program_code(const struct exec_program *program)
{
    return program->code;
}

void exec_program_destroy(struct exec_program *program)
{
    if (!program)
        return;
    if (program->untimed_uops != program->uops)
        free(program->untimed_uops);
    free(program->uops);
    free(program->infos);
    free(program->waits);
    free(program->insns);
    free(program->pool);
    arena_destroy(program->arena);
}

/* A call chain needs at least the most registers of any function in it. */
uint32_t exec_program_register_count(const struct exec_program *program)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < program->function_count; i++)
        if (program->functions[i]->func->register_count > most)
            most = program->functions[i]->func->register_count;
    return most;
}

uint32_t exec_program_slot_count(const struct exec_program *program)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < program->function_count; i++)
        if (program->functions[i]->func->slot_count > most)
            most = program->functions[i]->func->slot_count;
    return most;
}

uint32_t exec_program_pred_count(const struct exec_program *program)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < program->function_count; i++)
        if (program->functions[i]->func->pred_count > most)
            most = program->functions[i]->func->pred_count;
    return most;
}

uint32_t exec_program_local_bytes(const struct exec_program *program)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < program->function_count; i++)
        bytes += program->functions[i]->local_bytes;
    return bytes;
}

uint32_t exec_program_shared_bytes(const struct exec_program *program)
{
    return program->shared_bytes;
}

bool exec_program_uses_heap(const struct exec_program *program)
{
    return program->uses_heap;
}

bool exec_program_acts_at_issue(const struct exec_program *program)
{
    return program->acts_at_issue;
}

bool exec_program_calls_runtime(const struct exec_program *program)
{
    return program->calls_runtime;
}

bool exec_program_ctas_are_apart(const struct exec_program *program)
{
    return program->ctas_are_apart;
}

bool exec_program_uses_clusters(const struct exec_program *program)
{
    return program->uses_clusters;
}

uint32_t exec_program_length(const struct exec_program *program)
{
    return program->length;
}

const struct exec_uop_info *exec_uop_info(const struct exec_program *program, uint32_t pc)
{
    return &program->infos[pc];
}
