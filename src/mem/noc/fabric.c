/*
 * One cycle of the network. Nodes send first, then every router that holds a flit looks at its
 * inputs: those with a packet's first flit at the front find its way and ask for a virtual channel,
 * those that have one and a credit ask for the crossbar.
 */
#include <assert.h>
#include <stddef.h>

#include "mem/noc/fabric_state.h"

/* ---- flits and credits ---- */

static void set_bit(uint64_t *words, uint32_t i)
{
    words[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
}

static void clear_bit(uint64_t *words, uint32_t i)
{
    words[i / WORD_BITS] &= ~(UINT64_C(1) << i % WORD_BITS);
}

static void credit_push(struct credit_line *line, struct credit credit)
{
    assert(line->count < line->capacity);
    uint32_t i = line->head + line->count++;
    line->ring[i >= line->capacity ? i - line->capacity : i] = credit;
}

static void credits_return(struct fabric *fabric, struct credit_line *line, uint64_t cycle)
{
    while (line->count && line->ring[line->head].cycle <= cycle) {
        const struct credit *credit = &line->ring[line->head];
        if (credit->node != NOBODY && fabric->node[credit->node].blocked) {
            fabric->node[credit->node].owed[credit->output % fabric->channels]++;
        } else {
            fabric->output[credit->output].credits++;
        }
        line->head = line->head + 1 == line->capacity ? 0 : line->head + 1;
        line->count--;
    }
}

static struct flit *front(const struct fabric *fabric, uint32_t input)
{
    return &fabric->flit[input * fabric->spec->buffer_flits + fabric->input[input].head];
}

/* Puts a flit into a router's buffer, where there is room: a credit was taken for it. */
static void buffer_push(struct fabric *fabric, uint32_t router, uint32_t input, struct flit flit)
{
    struct input *in = &fabric->input[input];
    uint32_t size = fabric->spec->buffer_flits;
    uint32_t i = in->head + in->count;
    assert(in->count < size);
    fabric->flit[input * size + (i >= size ? i - size : i)] = flit;
    if (in->count++ == 0) {
        set_bit(&fabric->occupied[router * fabric->words],
                input - router * fabric->ports * fabric->channels);
    }
    if (fabric->held[router]++ == 0) {
        set_bit(fabric->busy_routers, router);
    }
}

static void buffer_pop(struct fabric *fabric, uint32_t router, uint32_t input)
{
    struct input *in = &fabric->input[input];
    in->head = in->head + 1 == fabric->spec->buffer_flits ? 0 : in->head + 1;
    if (--in->count == 0) {
        clear_bit(&fabric->occupied[router * fabric->words],
                  input - router * fabric->ports * fabric->channels);
    }
    if (--fabric->held[router] == 0) {
        clear_bit(fabric->busy_routers, router);
    }
}

/* ---- nodes ---- */

void fabric_send(struct fabric *fabric, uint32_t node, struct fabric_packet *packet)
{
    struct node *n = &fabric->node[node];
    packet->next = NULL;
    packet->entered = 0;
    packet->routers = 0;
    if (n->first) {
        n->last->next = packet;
    } else {
        n->first = packet;
        set_bit(fabric->busy_nodes, node);
    }
    n->last = packet;
    n->waiting++;
    fabric->inside++;
}

void fabric_block(struct fabric *fabric, uint32_t node, bool blocked)
{
    struct node *n = &fabric->node[node];
    n->blocked = blocked;
    for (uint32_t i = 0; !blocked && i < fabric->channels; i++) {
        fabric->output[n->first_ejection + i].credits += n->owed[i];
        n->owed[i] = 0;
    }
}

/* The virtual channel with most room that no packet has; NOBODY when there is none. */
static uint32_t free_channel(const struct fabric *fabric, uint32_t first_output)
{
    uint32_t best = NOBODY;
    for (uint32_t i = 0; i < fabric->channels; i++) {
        const struct output *output = &fabric->output[first_output + i];
        if (output->credits &&
            (best == NOBODY || output->credits > fabric->output[first_output + best].credits)) {
            best = i;
        }
    }
    return best;
}

/* A node sends one flit a cycle into its router, one packet after the other. */
static void node_tick(struct fabric *fabric, uint32_t node, uint64_t cycle)
{
    struct node *n = &fabric->node[node];
    struct fabric_packet *packet = n->first;
    uint32_t first_output = node_output(fabric, node);
    if (packet->enter_cycle > cycle) {
        return;
    }
    if (packet->entered == 0) {
        n->channel = free_channel(fabric, first_output);
    }
    if (n->channel == NOBODY || fabric->output[first_output + n->channel].credits == 0) {
        n->stalled++;
        return;
    }
    fabric->output[first_output + n->channel].credits--;
    n->waiting -= packet->entered == 0;
    packet->entered++;
    struct flit flit = {.ready_cycle = cycle + fabric->spec->link_cycles,
                        .packet = packet,
                        .tail = packet->entered == packet->flits};
    buffer_push(fabric, n->entry.index,
                output_index(fabric, n->entry.index, n->entry.port) + n->channel, flit);
    if (flit.tail) {
        n->first = packet->next;
        if (!n->first) {
            clear_bit(fabric->busy_nodes, node);
        }
    }
}

/* ---- routers ---- */

/* The first flit of a packet stands at the front: where to. */
static void route(struct fabric *fabric, uint32_t router, struct input *in, const struct flit *flit)
{
    struct topology_way way = fabric->way[router * fabric->nodes + flit->packet->to];
    bool to_node = fabric->channel[router * fabric->ports + way.port].end.kind == END_NODE;
    uint32_t count = to_node ? fabric->channels : fabric->channels / fabric->classes;
    in->way_port = way.port;
    in->way_first = (uint16_t)(way.port * fabric->channels + (to_node ? 0 : way.class * count));
    in->way_count = (uint16_t)count;
}

static void request_channels(struct fabric *fabric, uint32_t first_output, uint32_t local,
                             const struct input *in)
{
    for (uint32_t i = in->way_first; i < in->way_first + (uint32_t)in->way_count; i++) {
        if (!fabric->output[first_output + i].taken) {
            allocator_request(&fabric->vc_allocator, local, i);
        }
    }
}

/* Routes, and asks for virtual channels. */
static void look_at_input(struct fabric *fabric, uint32_t router, uint32_t first, uint32_t local,
                          uint64_t cycle)
{
    struct input *in = &fabric->input[first + local];
    if (in->stage == STAGE_IDLE) {
        const struct flit *flit = front(fabric, first + local);
        if (flit->ready_cycle > cycle) {
            return;
        }
        route(fabric, router, in, flit);
        in->stage = STAGE_ROUTED;
        in->ready_cycle = cycle + fabric->spec->routing_cycles;
    }
    if (in->stage == STAGE_ROUTED && in->ready_cycle <= cycle) {
        request_channels(fabric, first, local, in);
    }
}

static void grant_channels(struct fabric *fabric, uint32_t first, uint64_t cycle)
{
    const struct allocator *allocator = &fabric->vc_allocator;
    for (uint32_t i = 0; i < allocator->matches; i++) {
        struct input *in = &fabric->input[first + allocator->match[i].input];
        in->output = allocator->match[i].output;
        in->stage = STAGE_ACTIVE;
        in->ready_cycle = cycle + fabric->spec->vc_cycles;
        fabric->output[first + in->output].taken = true;
    }
}

static bool may_leave(const struct fabric *fabric, uint32_t first, uint32_t local, uint64_t cycle)
{
    const struct input *in = &fabric->input[first + local];
    return in->stage == STAGE_ACTIVE && in->ready_cycle <= cycle &&
           front(fabric, first + local)->ready_cycle <= cycle &&
           fabric->output[first + in->output].credits > 0;
}

/*
 * A crossbar input serves the channels `channel mod input_speedup` of its port. For each output it
 * asks on behalf of one of them, in turn.
 */
static void ask_for_crossbar(struct fabric *fabric, uint32_t router, uint32_t first, uint32_t local)
{
    uint32_t channels = fabric->channels, speedup = fabric->spec->input_speedup;
    uint32_t channel = local % channels;
    uint32_t slot = local / channels * speedup + channel % speedup;
    uint32_t port = fabric->input[first + local].output / channels;
    uint32_t turn = fabric->turn[router * crossbar_inputs(fabric) + slot];
    uint16_t *chosen = &fabric->chosen[slot * fabric->ports + port];
    if (*chosen == NO_INPUT) {
        allocator_request(&fabric->switch_allocator, slot, port);
        fabric->asked[fabric->asked_count++] = chosen;
    } else {
        uint32_t mine = (channel + channels - turn) % channels;
        if ((*chosen % channels + channels - turn) % channels < mine) {
            return;
        }
    }
    *chosen = (uint16_t)local;
}

static void deliver(struct fabric *fabric, uint32_t node, uint32_t output, const struct flit *flit,
                    uint64_t cycle)
{
    uint64_t there = cycle + fabric->spec->switch_cycles + fabric->spec->link_cycles;
    credit_push(&fabric->node_credits,
                (struct credit){.cycle = there + fabric->spec->link_cycles + 1,
                                .output = output,
                                .node = node});
    if (flit->tail) {
        fabric->inside--;
        fabric->stats.packets++;
        fabric->stats.flits += flit->packet->flits;
        fabric->stats.routers += flit->packet->routers;
        fabric->arrived(fabric->ctx, flit->packet, there);
    }
}

/* The flit at the front of input `local` passes the crossbar. */
static void leave(struct fabric *fabric, uint32_t router, uint32_t first, uint32_t local,
                  uint64_t cycle)
{
    struct input *in = &fabric->input[first + local];
    struct flit flit = *front(fabric, first + local);
    struct output *output = &fabric->output[first + in->output];
    const struct channel *channel =
        &fabric->channel[router * fabric->ports + in->output / fabric->channels];
    output->credits--;
    buffer_pop(fabric, router, first + local);
    credit_push(&fabric->hop_credits,
                (struct credit){.cycle = cycle + fabric->spec->link_cycles + 1,
                                .output = in->credit_to,
                                .node = NOBODY});
    if (flit.tail) {
        flit.packet->routers++;
        in->stage = STAGE_IDLE;
        output->taken = false;
    }
    if (channel->end.kind == END_NODE) {
        deliver(fabric, channel->end.index, first + in->output, &flit, cycle);
        return;
    }
    flit.ready_cycle = cycle + fabric->spec->switch_cycles + fabric->spec->link_cycles;
    buffer_push(fabric, channel->end.index, channel->first_input + in->output % fabric->channels,
                flit);
}

static void allocate_crossbar(struct fabric *fabric, uint32_t router, uint32_t first,
                              uint64_t cycle)
{
    struct allocator *allocator = &fabric->switch_allocator;
    uint32_t inputs = crossbar_inputs(fabric);
    allocator_run(allocator, &fabric->switch_pointers[router]);
    for (uint32_t i = 0; i < allocator->matches; i++) {
        struct allocator_pair match = allocator->match[i];
        uint32_t local = fabric->chosen[match.input * fabric->ports + match.output];
        fabric->turn[router * inputs + match.input] =
            (uint16_t)((local % fabric->channels + 1) % fabric->channels);
        leave(fabric, router, first, local, cycle);
    }
    for (uint32_t i = 0; i < fabric->asked_count; i++) {
        *fabric->asked[i] = NO_INPUT;
    }
    fabric->asked_count = 0;
}

static void router_tick(struct fabric *fabric, uint32_t router, uint64_t cycle)
{
    uint32_t first = router * fabric->ports * fabric->channels;
    const uint64_t *occupied = &fabric->occupied[router * fabric->words];
    for (uint32_t word = 0; word < fabric->words; word++) {
        for (uint64_t bits = occupied[word]; bits; bits &= bits - 1) {
            uint32_t local = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            look_at_input(fabric, router, first, local, cycle);
        }
    }
    if (fabric->vc_allocator.requests) {
        allocator_run(&fabric->vc_allocator, &fabric->vc_pointers[router]);
        grant_channels(fabric, first, cycle);
    }
    for (uint32_t word = 0; word < fabric->words; word++) {
        for (uint64_t bits = occupied[word]; bits; bits &= bits - 1) {
            uint32_t local = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            if (may_leave(fabric, first, local, cycle)) {
                ask_for_crossbar(fabric, router, first, local);
            }
        }
    }
    if (fabric->switch_allocator.requests) {
        allocate_crossbar(fabric, router, first, cycle);
    }
}

/* Calls `tick` for each of `count` members of a set, in order; it may take members out and add
 * others, which wait for the next cycle or not as their number falls. */
static void each_busy(struct fabric *fabric, const uint64_t *set, uint32_t count, uint64_t cycle,
                      void (*tick)(struct fabric *, uint32_t, uint64_t))
{
    for (uint32_t word = 0; word * WORD_BITS < count; word++) {
        for (uint64_t bits = set[word]; bits; bits &= bits - 1) {
            tick(fabric, word * WORD_BITS + (uint32_t)__builtin_ctzll(bits), cycle);
        }
    }
}

bool fabric_tick(struct fabric *fabric, uint64_t cycle)
{
    credits_return(fabric, &fabric->hop_credits, cycle);
    credits_return(fabric, &fabric->node_credits, cycle);
    each_busy(fabric, fabric->busy_nodes, fabric->nodes, cycle, node_tick);
    each_busy(fabric, fabric->busy_routers, fabric->routers, cycle, router_tick);
    return fabric->inside > 0;
}

uint32_t fabric_waiting(const struct fabric *fabric, uint32_t node)
{
    return fabric->node[node].waiting;
}

uint64_t fabric_stalled(const struct fabric *fabric, uint32_t node)
{
    return fabric->node[node].stalled;
}

const struct fabric_stats *fabric_stats(const struct fabric *fabric)
{
    return &fabric->stats;
}
