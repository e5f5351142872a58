/*
 * What depends on what among the instructions of a window: by registers, by memory, and by what
 * must stay in order for other reasons (the carry flag, votes and shuffles, which all lanes meet
 * in). Two accesses of memory are in order unless both only read, their state spaces differ, or
 * they lie behind the same base without a byte in common.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/analyse/analyse.h"
#include "ptx/schedule/schedule.h"
#include "util/error.h"

#define SHARED_LATENCY 22u
#define CONSTANT_LATENCY 12u
#define DEFAULT_LATENCY 4u

enum access_kind { ACCESS_NOT, ACCESS_CONSTANT, ACCESS_READ, ACCESS_WRITE, ACCESS_ORDERED };

/* A read or write of memory. `base`: the register, or -1; `version`: what had written it. */
struct access {
    enum access_kind kind;
    enum isa_space space; /* NONE: generic */
    bool non_coherent;
    const struct ptx_var *var;
    int32_t base;
    uint32_t version, node;
    int64_t offset;
    uint32_t bytes;
};

struct read {
    uint32_t node, next;
};

struct graph_builder {
    struct window *w;
    struct access *accesses;
    struct read *pool;
    uint32_t access_count, pool_count, pool_room;
    uint32_t node;
    uint32_t last_carry, last_convergent;
    bool failed;
};

static bool reads_clock(const struct ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        if (insn->operands[i].kind != OPERAND_SREG)
            continue;
        switch (insn->operands[i].sreg) {
        case SREG_CLOCK:
        case SREG_CLOCK64:
        case SREG_CLOCK_HI:
        case SREG_GLOBALTIMER:
        case SREG_GLOBALTIMER_LO:
        case SREG_GLOBALTIMER_HI:
            return true;
        default:
            break;
        }
    }
    return false;
}

bool schedule_is_wall(const struct ptx_insn *insn)
{
    switch (insn->op) {
    case OP_NANOSLEEP:
    case OP_ALLOCA:
    case OP_STACKSAVE:
    case OP_STACKRESTORE:
    case OP_WGMMA_FENCE: /* what it has in registers is touched from here on, .. */
    case OP_WGMMA_WAIT:  /* .. and here again */
        return true;
    default:
        return isa_row(insn->op)->unit == UNIT_BRANCH || reads_clock(insn);
    }
}

bool schedule_uses_carry(enum isa_op op)
{
    return op == OP_ADD_CC || op == OP_ADDC || op == OP_SUB_CC || op == OP_SUBC ||
           op == OP_MAD_LO_CC || op == OP_MAD_HI_CC || op == OP_MADC_LO || op == OP_MADC_HI;
}

static bool is_convergent(const struct ptx_insn *insn)
{
    switch (isa_row(insn->op)->unit) {
    case UNIT_VOTE:
    case UNIT_SHUFFLE:
    case UNIT_BARRIER:
    case UNIT_TENSOR:
        return true;
    default:
        return isa_row(insn->op)->at_issue;
    }
}

static bool is_fetch(enum isa_op op)
{
    return op >= OP_TEX_FETCH && op <= OP_TLD4;
}

static bool is_ordered_by_name(const struct ptx_insn *insn)
{
    enum isa_mod sem = insn->mods[MODC_SEM];
    return sem != MOD_NONE && sem != MOD_SEM_weak &&
           (sem != MOD_SEM_relaxed || !insn_is_atomic(insn->op));
}

static const struct ptx_operand *address_of(const struct ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (insn->operands[i].kind == OPERAND_ADDR)
            return &insn->operands[i];
    return NULL;
}

static enum access_kind kind_of(const struct ptx_insn *insn)
{
    const struct isa_row *row = isa_row(insn->op);
    if (row->unit == UNIT_BARRIER || row->unit == UNIT_FENCE || row->at_issue ||
        insn->op == OP_BAR_WARP_SYNC)
        return ACCESS_ORDERED;
    if (row->unit != UNIT_LSU && row->unit != UNIT_TEX)
        return ACCESS_NOT;
    if (is_fetch(insn->op))
        return ACCESS_READ;
    if (is_ordered_by_name(insn) || !address_of(insn))
        return ACCESS_ORDERED;
    if (insn_is_load(insn->op))
        return ACCESS_READ;
    return insn_is_store(insn->op) || insn_is_atomic(insn->op) ? ACCESS_WRITE : ACCESS_ORDERED;
}

/* An entry's parameters do not change. */
static bool is_entry_param(const struct ptx_func *func, const struct ptx_operand *o)
{
    return func->is_entry && o->var && o->var >= func->params &&
           o->var < func->params + func->param_count;
}

static struct access describe(const struct window *w, uint32_t node)
{
    const struct ptx_insn *insn = &w->func->insns[w->first + node];
    struct access a = {.kind = kind_of(insn), .node = node, .base = -1};
    const struct ptx_operand *o = address_of(insn);
    a.non_coherent = is_fetch(insn->op) || insn->op == OP_LD_NC || insn->op == OP_LD_NC_HINT ||
                     insn->op == OP_LDU;
    if (a.kind == ACCESS_NOT || a.kind == ACCESS_ORDERED || !o)
        return a;
    enum isa_space space = insn->space[0];
    if (space == SPACE_NONE && o->var)
        space = o->var->space;
    a.space = isa_space_base(space);
    if (a.kind == ACCESS_READ &&
        (a.space == SPACE_CONST || (a.space == SPACE_PARAM && is_entry_param(w->func, o))))
        a.kind = ACCESS_CONSTANT;
    a.var = o->var;
    a.base = o->has_reg ? o->reg : -1;
    a.version = o->has_reg ? w->last_write[o->reg] : NO_NODE;
    a.offset = (int64_t)o->imm;
    a.bytes = isa_type_info(insn->tuple.s)->bytes * (insn->vec ? insn->vec : 1);
    return a;
}

/* Behind the same base at bytes of their own, or in variables of their own. */
static bool are_apart(const struct access *a, const struct access *b)
{
    if (a->base != b->base || a->version != b->version)
        return false;
    if (a->base < 0 && a->var != b->var)
        return a->var && b->var && !a->var->unsized && !b->var->unsized;
    return a->var == b->var && (a->offset + (int64_t)a->bytes <= b->offset ||
                                b->offset + (int64_t)b->bytes <= a->offset);
}

static bool are_ordered(const struct access *a, const struct access *b)
{
    if (a->kind == ACCESS_CONSTANT || b->kind == ACCESS_CONSTANT)
        return false;
    if (a->kind == ACCESS_ORDERED || b->kind == ACCESS_ORDERED)
        return true;
    if ((a->kind == ACCESS_READ && b->kind == ACCESS_READ) || a->non_coherent || b->non_coherent)
        return false;
    if (a->space != b->space)
        return a->space == SPACE_NONE || b->space == SPACE_NONE;
    return !are_apart(a, b);
}

static bool grow_edges(struct window *w)
{
    if (w->edge_count < w->edge_room)
        return true;
    size_t room = w->edge_room ? 2 * w->edge_room : 256;
    struct edge *edges = realloc(w->edges, room * sizeof *edges);
    if (!edges)
        return false;
    w->edges = edges;
    w->edge_room = room;
    return true;
}

static void add_edge(struct graph_builder *b, uint32_t from, uint32_t cycles)
{
    struct window *w = b->w;
    if (from == NO_NODE || from == b->node || b->failed)
        return;
    if (!grow_edges(w)) {
        b->failed = true;
        return;
    }
    w->edges[w->edge_count] =
        (struct edge){.to = b->node, .next = w->nodes[from].edges, .cycles = cycles};
    w->nodes[from].edges = (uint32_t)w->edge_count++;
    w->nodes[b->node].blocked++;
}

static uint32_t latency_of_unit(enum lowering generation, enum isa_unit unit)
{
    static const struct {
        enum lowering generation;
        enum isa_unit unit;
        uint32_t cycles;
    } rows[] = {
#define LATENCY(g, u, c) {LOWERING_##g, UNIT_##u, c},
#include "isa/lowering.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].generation == lowering_rows(generation) && rows[i].unit == unit)
            return rows[i].cycles;
    return DEFAULT_LATENCY;
}

uint32_t schedule_latency(const struct window *w, uint32_t pc)
{
    const struct ptx_insn *insn = &w->func->insns[pc];
    const struct lowered *lowered = &w->lowered[pc];
    if (lowered->folded)
        return 0;
    if (isa_row(insn->op)->unit == UNIT_LSU) {
        enum isa_space space = isa_space_base(insn->space[0]);
        bool is_generic = insn->space[0] == SPACE_SHARED_CLUSTER; /* it becomes a generic load */
        if (space == SPACE_SHARED && !is_generic)
            return SHARED_LATENCY;
        if (space == SPACE_PARAM || space == SPACE_CONST)
            return CONSTANT_LATENCY;
    }
    uint32_t slots = lowered->slots / LOWER_ONE;
    return latency_of_unit(w->generation, isa_row(insn->op)->unit) + lowered->late_cycles +
           (slots > 1 ? slots - 1 : 0);
}

static void depend_on_writer(void *ctx, int32_t reg, enum reg_access access)
{
    struct graph_builder *b = ctx;
    struct window *w = b->w;
    uint32_t writer = w->last_write[reg];
    if (writer == NO_NODE)
        return;
    add_edge(b, writer, access == REG_READ ? schedule_latency(w, w->first + writer) : 1);
}

static void depend_on_readers(void *ctx, int32_t reg, enum reg_access access)
{
    struct graph_builder *b = ctx;
    if (access != REG_WRITE)
        return;
    for (uint32_t i = b->w->reads[reg]; i != NO_NODE; i = b->pool[i].next)
        add_edge(b, b->pool[i].node, 0);
}

static void note_write(void *ctx, int32_t reg, enum reg_access access)
{
    struct graph_builder *b = ctx;
    if (access == REG_WRITE) {
        b->w->last_write[reg] = b->node;
        b->w->reads[reg] = NO_NODE;
    }
}

static void note_read(void *ctx, int32_t reg, enum reg_access access)
{
    struct graph_builder *b = ctx;
    if (access != REG_READ || b->failed)
        return;
    if (b->pool_count == b->pool_room) {
        uint32_t room = b->pool_room ? 2 * b->pool_room : 256;
        struct read *pool = realloc(b->pool, room * sizeof *pool);
        if (!pool) {
            b->failed = true;
            return;
        }
        b->pool = pool;
        b->pool_room = room;
    }
    b->pool[b->pool_count] = (struct read){.node = b->node, .next = b->w->reads[reg]};
    b->w->reads[reg] = b->pool_count++;
}

static void forget(void *ctx, int32_t reg, enum reg_access access)
{
    struct graph_builder *b = ctx;
    (void)access;
    b->w->last_write[reg] = b->w->reads[reg] = NO_NODE;
}

static void depend_on_memory(struct graph_builder *b)
{
    struct access a = describe(b->w, b->node);
    if (a.kind == ACCESS_NOT || a.kind == ACCESS_CONSTANT)
        return;
    for (uint32_t i = 0; i < b->access_count; i++)
        if (are_ordered(&b->accesses[i], &a))
            add_edge(b, b->accesses[i].node, 1);
    b->accesses[b->access_count++] = a;
}

static void depend_on_order(struct graph_builder *b, const struct ptx_insn *insn)
{
    if (schedule_uses_carry(insn->op)) {
        add_edge(b, b->last_carry, DEFAULT_LATENCY);
        b->last_carry = b->node;
    }
    if (is_convergent(insn)) {
        add_edge(b, b->last_convergent, 1);
        b->last_convergent = b->node;
    }
}

int schedule_depend(struct window *w)
{
    const struct ptx_insn *insns = &w->func->insns[w->first];
    struct graph_builder b = {.w = w, .last_carry = NO_NODE, .last_convergent = NO_NODE};
    b.accesses = calloc(w->count, sizeof *b.accesses);
    b.failed = !b.accesses;
    w->edge_count = 0;
    memset(w->nodes, 0, w->count * sizeof *w->nodes);
    for (uint32_t i = 0; i < w->count; i++)
        w->nodes[i].edges = NO_NODE;
    for (b.node = 0; b.node < w->count && !b.failed; b.node++) {
        const struct ptx_insn *insn = &insns[b.node];
        insn_visit_regs(w->func, insn, depend_on_writer, &b);
        insn_visit_regs(w->func, insn, depend_on_readers, &b);
        depend_on_memory(&b);
        depend_on_order(&b, insn);
        insn_visit_regs(w->func, insn, note_write, &b);
        insn_visit_regs(w->func, insn, note_read, &b);
    }
    for (b.node = 0; b.node < w->count; b.node++)
        insn_visit_regs(w->func, &insns[b.node], forget, &b);
    free(b.accesses);
    free(b.pool);
    return b.failed ? error_memory() : 0;
}
