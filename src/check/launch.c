/* A launch that is looked at: what its instructions are to the checker, and the blocks in flight.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/state.h"
#include "exec/cluster.h"
#include "exec/ops.h"
#include "exec/program.h"

#define TAGS 127 /* of launches in the words of device memory; 0 is no launch's */

/* The width of the narrowest access to shared memory is that of its granules. */
static uint32_t granule_shift(const struct exec_program *program)
{
    uint32_t least = 4;
    for (uint32_t pc = 0; pc < program->length; pc++) {
        const struct uop *uop = &program->uops[pc];
        if (uop->run != run_memory)
            continue;
        bool shared = uop->memory->space == SPACE_SHARED || uop->memory->space == SPACE_NONE;
        least = shared && uop->memory->bytes < least ? uop->memory->bytes : least;
    }
    return least == 4 ? 2 : least == 2 ? 1 : 0;
}

static uint8_t order_flags(const struct ptx_insn *insn)
{
    switch (insn->mods[MODC_SEM]) {
    case MOD_SEM_acquire:
        return INSN_STRONG | INSN_ACQUIRE;
    case MOD_SEM_release:
        return INSN_STRONG | INSN_RELEASE;
    case MOD_SEM_acq_rel:
    case MOD_SEM_sc:
        return INSN_STRONG | INSN_ACQUIRE | INSN_RELEASE;
    case MOD_SEM_relaxed:
    case MOD_SEM_volatile:
    case MOD_SEM_mmio:
        return INSN_STRONG;
    default:
        return 0;
    }
}

static uint8_t flags_of(const struct exec_program *program, uint32_t pc)
{
    const struct ptx_insn *insn = program->insns[pc];
    const struct exec_uop_info *info = &program->infos[pc];
    uint8_t flags = order_flags(insn);
    bool of_block =
        insn->mods[MODC_SCOPE] == MOD_SCOPE_cta || insn->mods[MODC_MEMBAR] == MOD_MEMBAR_cta;
    if (info->is_fence)
        flags |= of_block ? INSN_FENCE | INSN_ALIGNED : INSN_FENCE;
    if (info->is_barrier) {
        bool plain = insn->op >= OP_BARRIER_SYNC && insn->op <= OP_CLUSTER_WAIT &&
                     insn->op != OP_BAR_RED && insn->op != OP_BAR_RED_COUNT &&
                     insn->op != OP_BAR_RED_POPC && insn->op != OP_BAR_RED_POPC_COUNT;
        flags |= !plain || insn->mods[MODC_ALIGNED] != MOD_NONE ? INSN_ALIGNED : 0;
    }
    if (insn->op == OP_BAR_WARP_SYNC)
        flags |= INSN_WARP_SYNC;
    if (insn->op == OP_CALL && insn->operands[0].kind == OPERAND_FUNC &&
        exec_is_system_call(insn->operands[0].func->name))
        flags |= INSN_CALL;
    return flags;
}

static bool has_members(enum isa_op op)
{
    return op == OP_BAR_WARP_SYNC || isa_row(op)->unit == UNIT_VOTE || op == OP_SHFL ||
           isa_row(op)->unit == isa_row(OP_SHFL)->unit;
}

/* Writes shared memory, or orders accesses to it, of which nobody is told: stores that arrive
 * later, and, where clusters have several blocks, what blocks do to each other at issue. */
static bool is_untold(const struct check_launch *launch, uint32_t pc)
{
    const struct exec_program *program = launch->launch->program;
    enum isa_op op = program->insns[pc]->op;
    bool later = op == OP_ST_ASYNC || (op >= OP_RED_ASYNC_ADD && op <= OP_RED_ASYNC_BITS);
    bool several = exec_program_uses_clusters(program) && cluster_size(launch->launch) > 1;
    return later || (several && (program->infos[pc].is_mbarrier || program->infos[pc].is_bulk));
}

/* Local memory that is written by calls themselves, and programs with what is_untold(), are not
 * followed. */
static void see_program(struct check_launch *launch)
{
    const struct exec_program *program = launch->launch->program;
    launch->local_checked = true;
    launch->shared_checked = true;
    for (uint32_t i = 0; i < program->function_count; i++) {
        const struct exec_function *function = program->functions[i];
        launch->local_checked &= !function->stack_offset;
        for (uint32_t k = 0; function->param_locals && k < function->func->param_count; k++)
            launch->local_checked &= function->param_locals[k] == UINT32_MAX;
    }
    for (uint32_t pc = 0; pc < program->length; pc++) {
        const struct ptx_insn *insn = program->insns[pc];
        if (!insn)
            continue;
        launch->flags[pc] = flags_of(program, pc);
        launch->watch[pc] = program->infos[pc].is_barrier || launch->flags[pc] & INSN_CALL ||
                            has_members(insn->op) || copies_concern(program, pc);
        launch->copies |= program->infos[pc].is_mbarrier || insn->op == OP_CP_ASYNC ||
                          insn->op == OP_CP_ASYNC_HINT || insn->op == OP_CP_ASYNC_SIZE_HINT ||
                          program->infos[pc].is_bulk || program->infos[pc].product_columns > 0;
        launch->shared_checked &= !is_untold(launch, pc);
        launch->blocks_ordered |= program->infos[pc].is_mbarrier || program->infos[pc].is_fence ||
                                  launch->flags[pc] & (INSN_ACQUIRE | INSN_RELEASE);
    }
    launch->shift = granule_shift(program);
}

struct check_launch *launch_create(struct check *check, const struct exec_launch *launch)
{
    uint32_t length = launch->program->length;
    struct check_launch *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->check = check;
    l->launch = launch;
    l->flags = calloc(length, 1);
    l->watch = calloc(length, 1);
    if (!l->flags || !l->watch) {
        launch_destroy(l);
        return NULL;
    }
    l->blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (check->last_tag == TAGS) {
        madvise(check->words, check->range_bytes, MADV_DONTNEED);
        check->last_tag = 0;
    }
    l->tag = ++check->last_tag;
    see_program(l);
    if (!products_watch(l)) {
        launch_destroy(l);
        return NULL;
    }
    return l;
}

void launch_destroy(struct check_launch *launch)
{
    if (!launch)
        return;
    for (size_t i = 0; i < launch->ctas.count; i++)
        cta_destroy(launch->ctas.data[i]);
    vec_free(&launch->ctas);
    order_forget(&launch->places);
    u64_map_free(&launch->places);
    free(launch->flags);
    free(launch->watch);
    free(launch);
}

static bool reserve_granules(struct watched_cta *cta, uint32_t granules)
{
    if (granules > cta->capacity) {
        uint32_t **const arrays[] = {&cta->writes,   &cta->reads,     &cta->more_reads,
                                     &cta->atomics,  &cta->write_pcs, &cta->read_pcs,
                                     &cta->early_pcs};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
            free(*arrays[i]);
            if (!(*arrays[i] = calloc(granules, 4)))
                return false;
        }
        free(cta->early);
        if (!(cta->early = calloc(granules, 1)))
            return false;
        cta->capacity = granules;
    }
    cta->granules = granules;
    return true;
}

/* One that is no longer used, or a new one. */
static struct watched_cta *free_cta(struct check_launch *launch)
{
    for (size_t i = 0; i < launch->ctas.count; i++)
        if (!launch->ctas.data[i]->cta)
            return launch->ctas.data[i];
    struct watched_cta *cta = calloc(1, sizeof *cta);
    if (!cta || vec_push(&launch->ctas, cta) < 0) {
        free(cta);
        return NULL;
    }
    cta->launch = launch;
    return cta;
}

struct watched_cta *cta_create(struct check_launch *launch, struct exec_cta *cta,
                               struct exec_warp *const *warps, uint32_t count)
{
    struct watched_cta *w = free_cta(launch);
    uint32_t granules = ((cta->shared_bytes + 3) & ~3u) >> launch->shift;
    if (!w || !reserve_granules(w, granules))
        return NULL;
    w->cta = cta;
    w->warps = warps;
    w->warp_count = count;
    w->number = cta->linear_id;
    for (uint32_t i = 0; i < CHECK_WARPS; i++)
        if (w->local_bytes[i])
            memset(w->local[i], 0, (size_t)w->local_bytes[i] * 4);
    if ((launch->copies && !(copies_begin(w) && bulk_begin(w))) ||
        (launch->products && !products_begin(w)))
        return NULL;
    shared_begin(w);
    order_begin(w);
    return w;
}

void cta_destroy(struct watched_cta *cta)
{
    free(cta->writes);
    free(cta->reads);
    free(cta->more_reads);
    free(cta->atomics);
    free(cta->write_pcs);
    free(cta->read_pcs);
    free(cta->early);
    free(cta->early_pcs);
    vec_free(&cta->met);
    free(cta->seen_blocks);
    free(cta->seen_reads);
    copies_destroy(cta->copies);
    bulk_destroy(cta->bulk);
    products_destroy(cta->products);
    order_forget(&cta->places);
    u64_map_free(&cta->places);
    for (uint32_t i = 0; i < CHECK_WARPS; i++)
        free(cta->local[i]);
    free(cta);
}
