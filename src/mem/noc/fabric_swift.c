/*
 * One cycle of a network as most are: a router has at most 64 virtual channels, each with a
 * crossbar input for itself, iSLIP of one iteration allocates, and a virtual channel takes a cycle
 * or more. What happens is what fabric.c makes happen, to the cycle; what differs is who is looked
 * at.
 *
 *      due in a cycle ---> asks for a virtual channel ---> leaves ---> due, leaves again, or empty
 *         a list              port.asking                port.leaving
 *
 * Sets go by output port. An input is in one of them or in the list of a cycle, or its output is
 * starved, or it is empty. So each port's winner is one bit of a set, and an input that loses, or
 * waits for a channel, is not touched. A channel goes to inputs in two steps (grant, accept), but
 * inputs of different ports never contend. Channels that are given in a cycle are used in a later
 * one, and those that are given back are free in the next: so winners are chosen first, channels
 * given, and then flits move, routers in their order and inputs in theirs.
 */
#include "mem/noc/fabric_state.h"

static inline uint32_t lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

static inline uint64_t one(uint32_t i)
{
    return UINT64_C(1) << i;
}

/* Round robin: from `next` on, which may be the number behind the last. */
static inline uint32_t choose_from(uint64_t set, uint32_t next)
{
    return set & (set - 1) ? allocator_first_from(set, next) : lowest(set);
}

static inline uint64_t wanted(const struct input *in)
{
    return UINT64_MAX >> (WORD_BITS - in->way.count) << in->way.first;
}

static inline void look_in(struct fabric *fabric, struct input *in, uint64_t cycle)
{
    uint32_t *due = &fabric->due[cycle & fabric->due_mask];
    in->next_due = *due;
    *due = (uint32_t)(in - fabric->input);
}

static inline void may_leave(struct fabric *fabric, const struct input *in)
{
    fabric->port[in->way.at].leaving |= one(in->local);
    set_bit(fabric->leaving_ports, in->way.at);
}

/* It has a channel, and its flit could go. */
static inline void leaves_by_credit(struct fabric *fabric, const struct input *in,
                                    struct output *taken)
{
    if (taken->credits) {
        may_leave(fabric, in);
    } else {
        taken->starved = true;
    }
}

/* The input's next step may be taken. */
static inline void step(struct fabric *fabric, const struct input *in)
{
    assert(in->count && in->stage != STAGE_IDLE);
    if (in->stage == STAGE_ROUTED) {
        fabric->port[in->way.at].asking |= one(in->local);
        set_bit(fabric->asked_ports, in->way.at);
    } else {
        leaves_by_credit(fabric, in, &fabric->output[in->taken]);
    }
}

/* ---- what comes with a cycle ---- */

static inline void give_credits(struct fabric *fabric, struct output *output, uint32_t count)
{
    output->credits += count;
    if (output->starved) {
        output->starved = false;
        may_leave(fabric, &fabric->input[output->router * fabric->vcs + output->holder]);
    }
}

void fabric_swift_credits(struct fabric *fabric, struct output *output, uint32_t count)
{
    give_credits(fabric, output, count);
}

/* Those of routers. */
static inline void hop_credits_return(struct fabric *fabric, uint32_t turn)
{
    uint32_t head = fabric->credit_head, until = fabric->credit_until[turn];
    if ((int32_t)(until - head) > 0) { /* else it is of long ago */
        for (; head != until; head++) {
            give_credits(fabric, &fabric->output[fabric->credit[head & fabric->credit_mask]], 1);
        }
        fabric->credit_head = head;
    }
}

static inline void node_credits_return(struct fabric *fabric, uint64_t cycle)
{
    struct output *output;
    while ((output = node_credit_next(fabric, cycle)) != NULL) {
        give_credits(fabric, output, 1);
    }
}

static inline void look_at_due(struct fabric *fabric, uint32_t turn)
{
    uint32_t at = fabric->due[turn];
    fabric->due[turn] = NOBODY;
    while (at != NOBODY) {
        const struct input *in = &fabric->input[at];
        at = in->next_due;
        step(fabric, in);
    }
}

/* Cycles may have been left out. */
static inline void begin_cycle(struct fabric *fabric, uint64_t cycle)
{
    uint64_t first = fabric->cycle + 1;
    if (cycle - fabric->cycle > fabric->due_mask) {
        first = cycle - fabric->due_mask;
    }
    fabric->cycle = cycle;
    for (; first <= cycle; first++) {
        hop_credits_return(fabric, (uint32_t)first & fabric->due_mask);
        look_at_due(fabric, (uint32_t)first & fabric->due_mask);
    }
    node_credits_return(fabric, cycle);
}

/* ---- flits ---- */

/* The way of a packet depends on nothing, so that it is found at once; the time that takes passes
 * all the same. */
static inline uint64_t find_way(const struct fabric *fabric, struct input *in, uint32_t to)
{
    in->way = in->ways[to];
    in->stage = STAGE_ROUTED;
    return fabric->routing_cycles;
}

/* Puts a flit into the buffer behind an output, where there is room: a credit was taken for it. */
static inline void buffer_push(struct fabric *fabric, const struct output *output, struct flit flit)
{
    struct input *in = &fabric->input[output->to];
    uint32_t size = fabric->buffer_flits, i = (uint32_t)in->head + in->count;
    assert(in->count < size);
    in->ring[i >= size ? i - size : i] = flit;
    if (in->count++ == 0) {
        uint64_t when = flit.ready_cycle;
        if (in->stage == STAGE_IDLE) {
            when += find_way(fabric, in, flit.to);
        }
        if (when > fabric->cycle) {
            look_in(fabric, in, when);
        } else {
            step(fabric, in);
        }
    }
}

/* Of an input whose flit has left, and which has others. */
static inline void go_on(struct fabric *fabric, struct input *in, struct output *taken)
{
    const struct flit *flit = front(in);
    uint64_t next = fabric->cycle + 1;
    uint64_t when = flit->ready_cycle > next ? flit->ready_cycle : next;
    if (in->stage == STAGE_IDLE) {
        when += find_way(fabric, in, flit->to);
    } else if (when == next) {
        leaves_by_credit(fabric, in, taken);
        return;
    }
    look_in(fabric, in, when);
}

/* The flit at the front of an input passes the crossbar. */
static inline void leave(struct fabric *fabric, struct input *in)
{
    struct flit flit = *front(in);
    struct output *output = &fabric->output[in->taken];
    output->credits--;
    fabric->credit[fabric->credit_end++ & fabric->credit_mask] = in->credit_to;
    in->head = (uint16_t)(in->head + 1U == fabric->buffer_flits ? 0 : in->head + 1);
    in->count--;
    if (flit.tail) {
        struct port *port = &fabric->port[in->way.at];
        flit.packet->routers++;
        in->stage = STAGE_IDLE;
        port->untaken |= one(in->taken - port->first);
        if (port->asking) {
            set_bit(fabric->asked_ports, in->way.at);
        }
    }
    if (in->count) {
        go_on(fabric, in, output);
    }
    if (output->to == NOBODY) {
        fabric_deliver(fabric, output, flit, fabric->cycle);
        return;
    }
    flit.ready_cycle = fabric->cycle + fabric->hop_cycles;
    buffer_push(fabric, output, flit);
}

/* ---- ports ---- */

static inline void hold_channel(struct fabric *fabric, struct port *port, struct input *in,
                                uint32_t channel)
{
    struct output *output = &fabric->output[port->first + channel];
    in->taken = port->first + channel;
    in->stage = STAGE_ACTIVE;
    in->prefers = (uint16_t)(channel + 1);
    output->holder = in->local;
    output->prefers = (uint16_t)(in->local + 1);
    port->untaken &= ~one(channel);
    if (fabric->vc_cycles == 1) { /* for the next cycle: of this one winners are chosen */
        leaves_by_credit(fabric, in, output);
    } else {
        look_in(fabric, in, fabric->cycle + fabric->vc_cycles);
    }
}

/* Of the inputs that ask for channels of a port, those that may take this one. */
static inline uint64_t askers_of(const struct fabric *fabric, const struct input *first,
                                 uint64_t asking, uint32_t channel)
{
    uint64_t may = asking;
    for (; fabric->classes > 1 && asking; asking &= asking - 1) {
        uint32_t local = lowest(asking);
        if (!(wanted(&first[local]) & one(channel))) {
            may &= ~one(local);
        }
    }
    return may;
}

/* Each free channel grants one input, each of these accepts one channel. */
static void give_contended(struct fabric *fabric, struct port *port)
{
    struct input *first = &fabric->input[port->first];
    uint64_t granted[WORD_BITS], inputs = 0;
    for (uint64_t free = port->untaken; free; free &= free - 1) {
        uint32_t channel = lowest(free);
        uint64_t askers = askers_of(fabric, first, port->asking, channel);
        if (askers) {
            uint32_t local = choose_from(askers, fabric->output[port->first + channel].prefers);
            granted[local] = (inputs & one(local) ? granted[local] : 0) | one(channel);
            inputs |= one(local);
        }
    }
    port->asking &= ~inputs;
    for (; inputs; inputs &= inputs - 1) {
        struct input *in = &first[lowest(inputs)];
        hold_channel(fabric, port, in, choose_from(granted[in->local], in->prefers));
    }
}

/* Virtual channels of one port, for which some ask. */
static inline void give_channels(struct fabric *fabric, uint32_t at)
{
    struct port *port = &fabric->port[at];
    if (port->untaken && port->asking & (port->asking - 1)) {
        give_contended(fabric, port);
    } else if (port->untaken) {
        struct input *in = &fabric->input[port->first + lowest(port->asking)];
        uint64_t free = port->untaken & wanted(in);
        if (free) {
            port->asking = 0;
            hold_channel(fabric, port, in, choose_from(free, in->prefers));
        }
    }
    if (!port->untaken || !port->asking) { /* until one is */
        clear_bit(fabric->asked_ports, at);
    }
}

/* Who leaves by this port; it has to be asked to do so again. */
static inline uint32_t choose_leaving(struct port *port)
{
    uint32_t local = lowest(port->leaving);
    if (port->leaving & (port->leaving - 1)) {
        local = allocator_first_from(port->leaving, port->prefers);
        port->leaving &= ~one(local);
    } else {
        port->leaving = 0;
    }
    port->prefers = local + 1;
    return port->first + local;
}

/* One of each port by which some want to leave: returns how many. */
static inline uint32_t choose_winners(struct fabric *fabric)
{
    uint32_t winners = 0;
    for (uint32_t word = 0; word < fabric->port_words; word++) {
        uint64_t left = 0;
        for (uint64_t bits = fabric->leaving_ports[word]; bits; bits &= bits - 1) {
            struct port *port = &fabric->port[word * WORD_BITS + lowest(bits)];
            fabric->winner[winners++] = choose_leaving(port);
            left |= port->leaving ? bits & -bits : 0;
        }
        fabric->leaving_ports[word] = left;
    }
    return winners;
}

/* They are nearly in order. */
static void sort_winners(uint32_t *winner, uint32_t winners)
{
    for (uint32_t i = 1; i < winners; i++) {
        uint32_t input = winner[i], at = i;
        for (; at && winner[at - 1] > input; at--) {
            winner[at] = winner[at - 1];
        }
        winner[at] = input;
    }
}

static void nodes_tick(struct fabric *fabric, uint64_t cycle)
{
    for (uint32_t word = 0; word * WORD_BITS < fabric->nodes; word++) {
        for (uint64_t bits = fabric->busy_nodes[word]; bits; bits &= bits - 1) {
            struct flit flit;
            const struct output *output =
                node_sends(&flit, fabric, word * WORD_BITS + lowest(bits), cycle);
            if (output) {
                buffer_push(fabric, output, flit);
            }
        }
    }
}

void fabric_swift_tick(struct fabric *fabric, uint64_t cycle)
{
    begin_cycle(fabric, cycle);
    nodes_tick(fabric, cycle);
    uint32_t winners = choose_winners(fabric);
    if (fabric->nodes_share) {
        sort_winners(fabric->winner, winners);
    }
    for (uint32_t word = 0; word < fabric->port_words; word++) {
        for (uint64_t bits = fabric->asked_ports[word]; bits; bits &= bits - 1) {
            give_channels(fabric, word * WORD_BITS + lowest(bits));
        }
    }
    for (uint32_t i = 0; i < winners; i++) {
        leave(fabric, &fabric->input[fabric->winner[i]]);
    }
    fabric->credit_until[(cycle + fabric->credit_cycles) & fabric->due_mask] = fabric->credit_end;
}
