/* Backward liveness over blocks, then over the instructions of each block. See liveness.h. */
#include "ptx/analyse/liveness.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/analyse/analyse.h"
#include "util/error.h"

#define NOT_GLOBAL UINT32_MAX

struct flow {
    const struct ptx_func *func;
    const uint8_t *weight; /* by register: its words; NULL: those of its type */
    uint32_t *global;      /* by register: its bit in the sets, or NOT_GLOBAL */
    uint32_t *reg_of;      /* by bit */
    uint32_t global_count;
    size_t words;             /* of one set */
    uint64_t *use, *def, *in; /* sets by block: read before written, written, live at the start */
    bool everywhere;          /* gave up: all global registers live everywhere */
    /* the pass over one block */
    uint32_t *written_in; /* by register: block + 1 that has written it */
    uint32_t block, pc;
    uint8_t *live; /* by register */
    uint32_t words_live, preds_live, dead_words, dead_preds;
    struct liveness *out;
};

uint32_t type_slots(enum isa_type type)
{
    uint32_t bytes = isa_type_info(type)->bytes;
    return type == TYPE_pred ? 0 : bytes <= 4 ? 1 : bytes / 4;
}

static uint32_t words_of(const struct flow *flow, int32_t reg)
{
    return flow->weight ? flow->weight[reg] : type_slots(flow->func->regs[reg].type);
}

/* Registers that some block reads before it writes them cross blocks. */
static void find_global(void *ctx, int32_t reg, enum reg_access access)
{
    struct flow *flow = ctx;
    if (access == REG_WRITE) {
        flow->written_in[reg] = flow->block + 1;
    } else if (flow->written_in[reg] != flow->block + 1 && flow->global[reg] == NOT_GLOBAL) {
        flow->global[reg] = flow->global_count;
        flow->reg_of[flow->global_count++] = (uint32_t)reg;
    }
}

static void fill_sets(void *ctx, int32_t reg, enum reg_access access)
{
    struct flow *flow = ctx;
    uint32_t bit = flow->global[reg];
    if (bit == NOT_GLOBAL)
        return;
    uint64_t *use = flow->use + flow->block * flow->words,
             *def = flow->def + flow->block * flow->words;
    uint64_t mask = UINT64_C(1) << bit % 64;
    if (access == REG_WRITE)
        def[bit / 64] |= mask;
    else if ((def[bit / 64] & mask) == 0)
        use[bit / 64] |= mask;
}

static void visit_blocks(struct flow *flow, reg_visitor *visit)
{
    for (flow->block = 0; flow->block < flow->func->block_count; flow->block++) {
        const struct ptx_block *b = &flow->func->blocks[flow->block];
        for (uint32_t pc = b->first; pc <= b->last; pc++)
            insn_visit_regs(flow->func, &flow->func->insns[pc], visit, flow);
    }
}

/* in = use | (out & ~def); true if it grew. */
static bool update_block(struct flow *flow, uint32_t b)
{
    const struct ptx_block *block = &flow->func->blocks[b];
    uint64_t *in = flow->in + b * flow->words;
    bool grew = false;
    for (size_t w = 0; w < flow->words; w++) {
        uint64_t out = 0;
        for (uint32_t i = 0; i < block->succ_count; i++)
            out |= flow->in[block->succ[i] * flow->words + w];
        uint64_t now = flow->use[b * flow->words + w] | (out & ~flow->def[b * flow->words + w]);
        grew = grew || now != in[w];
        in[w] = now;
    }
    return grew;
}

static void iterate(struct flow *flow)
{
    uint64_t work = 0;
    bool grew = flow->words > 0;
    while (grew && !flow->everywhere) {
        grew = false;
        for (uint32_t b = flow->func->block_count; b-- > 0;) {
            grew = update_block(flow, b) || grew;
            work += flow->words * (flow->func->blocks[b].succ_count + 1);
            if (work > LIVENESS_WORK) {
                flow->everywhere = true;
                return;
            }
        }
    }
}

static int solve(struct flow *flow)
{
    const struct ptx_func *f = flow->func;
    visit_blocks(flow, find_global);
    flow->words = (flow->global_count + 63) / 64;
    uint64_t bytes = (uint64_t)flow->words * f->block_count * sizeof(uint64_t);
    if (bytes > LIVENESS_BYTES / 3) {
        flow->everywhere = true;
        return 0;
    }
    flow->use = calloc(bytes + 1, 1);
    flow->def = calloc(bytes + 1, 1);
    flow->in = calloc(bytes + 1, 1);
    if (flow->use == NULL || flow->def == NULL || flow->in == NULL)
        return SONDE_ENOMEM;
    visit_blocks(flow, fill_sets);
    iterate(flow);
    return 0;
}

static void touch(struct flow *flow, uint32_t reg, uint32_t pc)
{
    struct live_range *range = &flow->out->ranges[reg];
    if (pc < range->first)
        range->first = pc;
    if (pc > range->last || range->last == UINT32_MAX)
        range->last = pc;
}

static void set_live(struct flow *flow, uint32_t reg, bool live)
{
    uint32_t words = words_of(flow, (int32_t)reg);
    uint32_t preds = flow->func->regs[reg].type == TYPE_pred;
    if (flow->live[reg] == live || (flow->everywhere && flow->global[reg] != NOT_GLOBAL))
        return;
    flow->live[reg] = live;
    flow->words_live += live ? words : 0 - words;
    flow->preds_live += live ? preds : 0 - preds;
}

static void note_pressure(struct flow *flow)
{
    if (flow->words_live + flow->dead_words > flow->out->pressure)
        flow->out->pressure = flow->words_live + flow->dead_words;
    if (flow->preds_live + flow->dead_preds > flow->out->pred_pressure)
        flow->out->pred_pressure = flow->preds_live + flow->dead_preds;
}

/* A result that nobody reads still needs a place while it is written. */
static void count_dead_write(void *ctx, int32_t reg, enum reg_access access)
{
    struct flow *flow = ctx;
    if (access != REG_WRITE || flow->live[reg])
        return;
    flow->dead_words += words_of(flow, reg);
    flow->dead_preds += flow->func->regs[reg].type == TYPE_pred;
}

static void end_writes(void *ctx, int32_t reg, enum reg_access access)
{
    struct flow *flow = ctx;
    if (access != REG_WRITE)
        return;
    touch(flow, (uint32_t)reg, flow->pc);
    set_live(flow, (uint32_t)reg, false);
}

static void start_reads(void *ctx, int32_t reg, enum reg_access access)
{
    struct flow *flow = ctx;
    if (access != REG_READ)
        return;
    touch(flow, (uint32_t)reg, flow->pc);
    set_live(flow, (uint32_t)reg, true);
}

static bool live_into(const struct flow *flow, uint32_t block, uint32_t bit)
{
    return flow->everywhere || (flow->in[block * flow->words + bit / 64] >> bit % 64 & 1) != 0;
}

/* Makes live what any successor wants. */
static void start_at_end(struct flow *flow, const struct ptx_block *b)
{
    for (size_t w = 0; w < flow->words; w++) {
        uint64_t out = flow->everywhere ? UINT64_MAX : 0;
        for (uint32_t i = 0; i < b->succ_count && !flow->everywhere; i++)
            out |= flow->in[b->succ[i] * flow->words + w];
        for (; out != 0; out &= out - 1) {
            uint32_t bit = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(out);
            if (bit >= flow->global_count)
                break;
            touch(flow, flow->reg_of[bit], b->last);
            set_live(flow, flow->reg_of[bit], true);
        }
    }
    note_pressure(flow);
}

static void clear_at_start(struct flow *flow, const struct ptx_block *b, uint32_t index)
{
    for (size_t w = 0; w < flow->words; w++) {
        uint64_t in = flow->everywhere ? UINT64_MAX : flow->in[index * flow->words + w];
        for (; in != 0; in &= in - 1) {
            uint32_t bit = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(in);
            if (bit >= flow->global_count)
                break;
            if (live_into(flow, index, bit))
                touch(flow, flow->reg_of[bit], b->first);
            set_live(flow, flow->reg_of[bit], false);
        }
    }
}

static void scan_block(struct flow *flow, uint32_t index)
{
    const struct ptx_block *b = &flow->func->blocks[index];
    start_at_end(flow, b);
    for (flow->pc = b->last + 1; flow->pc-- > b->first;) {
        const struct ptx_insn *insn = &flow->func->insns[flow->pc];
        flow->dead_words = flow->dead_preds = 0;
        insn_visit_regs(flow->func, insn, count_dead_write, flow);
        note_pressure(flow);
        flow->dead_words = flow->dead_preds = 0;
        insn_visit_regs(flow->func, insn, end_writes, flow);
        insn_visit_regs(flow->func, insn, start_reads, flow);
        note_pressure(flow);
    }
    clear_at_start(flow, b, index);
}

static bool any_at_start(const struct flow *flow)
{
    bool any = flow->everywhere;
    for (size_t w = 0; w < flow->words && !any; w++)
        any = flow->in[w] != 0;
    return any;
}

/* Giving up on sets must not cost blocks x registers: every global register then spans the
 * function. */
static void scan_everywhere(struct flow *flow)
{
    uint32_t words = 0, preds = 0;
    for (uint32_t bit = 0; bit < flow->global_count; bit++) {
        uint32_t reg = flow->reg_of[bit];
        touch(flow, reg, 0);
        touch(flow, reg, flow->func->insn_count - 1);
        words += words_of(flow, (int32_t)reg);
        preds += flow->func->regs[reg].type == TYPE_pred;
    }
    flow->words = 0;
    for (uint32_t b = 0; b < flow->func->block_count; b++)
        scan_block(flow, b);
    flow->out->pressure += words;
    flow->out->pred_pressure += preds;
}

static int allocate(struct flow *flow)
{
    size_t regs = flow->func->reg_count + 1;
    flow->global = malloc(regs * sizeof *flow->global);
    flow->reg_of = calloc(regs, sizeof *flow->reg_of);
    flow->written_in = calloc(regs, sizeof *flow->written_in);
    flow->live = calloc(regs, 1);
    flow->out->ranges = malloc(regs * sizeof *flow->out->ranges);
    if (flow->global == NULL || flow->reg_of == NULL || flow->written_in == NULL ||
        flow->live == NULL || flow->out->ranges == NULL)
        return SONDE_ENOMEM;
    for (size_t i = 0; i < regs; i++) {
        flow->global[i] = NOT_GLOBAL;
        flow->out->ranges[i] = (struct live_range){UINT32_MAX, UINT32_MAX};
    }
    return 0;
}

int liveness_weighed(struct liveness *out, const struct ptx_func *func, const uint8_t *weight)
{
    struct flow flow = {.func = func, .weight = weight, .out = out};
    *out = (struct liveness){0};
    int code = allocate(&flow);
    if (code == 0)
        code = solve(&flow);
    if (code == 0)
        out->at_start = func->block_count > 0 && any_at_start(&flow);
    if (code == 0 && flow.everywhere)
        scan_everywhere(&flow);
    else if (code == 0)
        for (uint32_t b = 0; b < func->block_count; b++)
            scan_block(&flow, b);
    free(flow.global);
    free(flow.reg_of);
    free(flow.written_in);
    free(flow.live);
    free(flow.use);
    free(flow.def);
    free(flow.in);
    return code;
}

int liveness_compute(struct liveness *out, const struct ptx_func *func)
{
    return liveness_weighed(out, func, NULL);
}

void liveness_free(struct liveness *live)
{
    free(live->ranges);
    live->ranges = NULL;
}
