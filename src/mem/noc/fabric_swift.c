/*
 * One cycle of a network as most are: a router has fewer than 64 virtual channels, each with a
 * crossbar input for itself, iSLIP of one iteration allocates, and a virtual channel takes a cycle
 * or more. What happens is what fabric.c makes happen, to the cycle; how it is kept differs. A busy
 * simulator finds little of a network in its nearest cache, and cannot foretell what comes next in
 * one: so what a flit meets on its way is small, and whether something can happen at a port is
 * computed from its sets, not asked.
 *
 *      due in a cycle ---> asks for a virtual channel ---> has one ---> leaves ---> due, or empty
 *         a list              port.asking                  a list     port.ready
 *
 * Sets go by output port: an input that loses, waits for a channel or has no credit is not touched.
 * Of a port's virtual channels those may send that are both `ready` and `credited`. A channel goes
 * to inputs in two steps (grant, accept), but inputs of different ports never contend. Channels
 * that are given in a cycle are used in a later one, and those that are given back are free in the
 * next: so channels are given first, and then flits move, routers in their order and inputs in
 * theirs.
 */
#include "mem/noc/fabric_swift.h"

/* Functions that have `shift` as an argument are made twice by the compiler, for the two channels
 * of a port that most networks have and for any number: swift->channel_shift. */
#define BY_SHIFT static inline __attribute__((always_inline))

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

/* ---- what is due ---- */

static inline uint32_t *list_at(const struct turns *turns, uint32_t number)
{
    return &turns->list[(size_t)number << turns->shift];
}

static inline void put_down(const struct turns *turns, uint32_t number, uint32_t entry)
{
    uint32_t *list = list_at(turns, number);
    assert(*list + 1 < 1U << turns->shift);
    list[++*list] = entry;
}

static inline uint32_t list_of(const struct swift *swift, uint32_t when, uint32_t asks)
{
    return (when & swift->turn_mask) << 1 | asks;
}

static inline void mark(uint64_t *ports, uint32_t at, uint64_t can)
{
    ports[at / WORD_BITS] |= can << at % WORD_BITS;
}

/* Of an input that has a channel: a flit could go. */
static inline void goes_now(struct swift *swift, uint32_t word)
{
    uint32_t at = word >> PORT_SHIFT, channel = word % (1U << PORT_SHIFT);
    struct swift_port *port = &swift->port[at];
    port->ready |= 1U << channel;
    mark(swift->leaving_ports, at, port->credited >> channel & 1);
}

static inline void asks_now(struct swift *swift, uint32_t word)
{
    uint32_t at = word >> PORT_SHIFT;
    struct swift_port *port = &swift->port[at];
    port->asking |= one(word % (1U << PORT_SHIFT));
    mark(swift->asked_ports, at, port->untaken != 0);
}

BY_SHIFT void give_credits(struct swift *swift, uint32_t output, uint32_t count, uint32_t shift)
{
    struct swift_output *out = &swift->output[output];
    uint32_t at = output >> shift, channel = output - (at << shift);
    struct swift_port *port = &swift->port[at];
    out->credits = (uint16_t)(out->credits + count);
    port->credited |= 1U << channel;
    mark(swift->leaving_ports, at, port->ready >> channel & 1);
}

void fabric_swift_credits(struct fabric *fabric, uint32_t node, uint32_t channel, uint32_t count)
{
    struct swift *swift = fabric->swift;
    uint32_t at = fabric->node[node].first_ejection / swift->channels;
    give_credits(swift, (at << swift->channel_shift) + channel, count, swift->channel_shift);
}

/* A node that is blocked holds its credits back. */
static inline bool held_back(struct fabric *fabric, uint32_t output)
{
    const struct swift *swift = fabric->swift;
    uint32_t at = output >> swift->channel_shift;
    const struct swift_port *port = &swift->port[at];
    if (port->node == NOBODY || !fabric->node[port->node].blocked) {
        return false;
    }
    fabric->node[port->node].owed[output - (at << swift->channel_shift)]++;
    return true;
}

BY_SHIFT void take_turn(struct fabric *fabric, struct swift *swift, uint32_t turn, uint32_t shift)
{
    uint32_t *list = list_at(&swift->credits, turn), count = *list;
    *list = 0;
    for (uint32_t i = 1; i <= count; i++) {
        if (!fabric->blocked_nodes || !held_back(fabric, list[i])) {
            give_credits(swift, list[i], 1, shift);
        }
    }
    list = list_at(&swift->steps, list_of(swift, turn, 0));
    count = *list;
    *list = 0;
    for (uint32_t i = 1; i <= count; i++) {
        goes_now(swift, list[i]);
    }
    list = list_at(&swift->steps, list_of(swift, turn, 1));
    count = *list;
    *list = 0;
    for (uint32_t i = 1; i <= count; i++) {
        asks_now(swift, list[i]);
    }
}

/* Cycles may have been left out. */
BY_SHIFT void begin_cycle(struct fabric *fabric, struct swift *swift, uint64_t cycle,
                          uint32_t shift)
{
    uint64_t first = fabric->cycle + 1;
    if (cycle - fabric->cycle > swift->turn_mask) {
        first = cycle - swift->turn_mask;
    }
    fabric->cycle = cycle;
    for (; first <= cycle; first++) {
        take_turn(fabric, swift, (uint32_t)first & swift->turn_mask, shift);
    }
    swift->given_back =
        list_at(&swift->credits, (uint32_t)(cycle + swift->credit_cycles) & swift->turn_mask);
}

/* ---- flits ---- */

struct next_step {
    uint32_t word, when, asks;
};

/*
 * Of the flit at the front of an input, which stands there from `ready_cycle` on. The way of a
 * packet depends on nothing, so that it is found at once; the time that takes passes all the same.
 */
static inline struct next_step next_step(const struct swift *swift, struct swift_input *in,
                                         uint32_t ways, uint32_t local, struct swift_flit flit,
                                         uint32_t ready_cycle)
{
    uint32_t way = swift->way[ways + swift->to[flit.word >> PACKET_SHIFT]];
    uint32_t head = flit.word >> HEAD_SHIFT & 1;
    in->group = head ? way % (1U << PORT_SHIFT) : in->group;
    return (struct next_step){.word = head ? (way >> PORT_SHIFT << PORT_SHIFT) + local : in->taken,
                              .when = ready_cycle + (head ? swift->routing_cycles : 0),
                              .asks = head};
}

/* Puts a flit into a buffer behind a port, where there is room: a credit was taken for it. */
static inline void buffer_push(struct swift *swift, const struct swift_port *port, uint32_t channel,
                               struct swift_flit flit, uint32_t now)
{
    uint32_t input = port->behind + channel;
    struct swift_input *in = &swift->input[input];
    uint32_t i = ((uint32_t)in->head + in->count) & ((1U << swift->ring_shift) - 1);
    swift->flit[(input << swift->ring_shift) + i] = flit;
    if (in->count++ == 0) {
        struct next_step next = next_step(swift, in, port->behind_ways,
                                          port->behind_local + channel, flit, flit.ready_cycle);
        if (next.when != now) {
            put_down(&swift->steps, list_of(swift, next.when, next.asks), next.word);
        } else if (next.asks) {
            asks_now(swift, next.word);
        } else {
            goes_now(swift, next.word);
        }
    }
}

/* Of an input whose flit has left by this port, and which has others. */
static inline void go_on(struct swift *swift, struct swift_port *port, struct swift_input *in,
                         uint32_t input, uint32_t channel, uint32_t now)
{
    struct swift_flit flit = swift->flit[(input << swift->ring_shift) + in->head];
    bool waits = (int32_t)(flit.ready_cycle - (now + 1)) > 0;
    if (!waits && !(flit.word >> HEAD_SHIFT & 1)) { /* it may follow at once */
        port->ready |= 1U << channel;
        return;
    }
    uint32_t ready_cycle = waits ? flit.ready_cycle : now + 1;
    struct next_step next =
        next_step(swift, in, port->ways, input - port->first, flit, ready_cycle);
    put_down(&swift->steps, list_of(swift, next.when, next.asks), next.word);
}

/* Into the node behind an output. */
static inline void deliver(struct fabric *fabric, struct swift *swift, uint32_t output,
                           struct swift_flit flit)
{
    uint64_t there = fabric->cycle + swift->hop_cycles;
    put_down(&swift->credits, (uint32_t)(there + swift->credit_cycles) & swift->turn_mask, output);
    if (flit.word & TAIL) {
        uint32_t place = flit.word >> PACKET_SHIFT;
        struct fabric_packet *packet = swift->packet[place];
        swift->free[swift->free_count++] = place;
        fabric->inside--;
        fabric->stats.packets++;
        fabric->stats.flits += packet->flits;
        fabric->stats.routers += packet->routers;
        fabric->arrived(fabric->ctx, packet, there);
    }
}

/* A flit passes the crossbar to a port and leaves by a channel of it. */
BY_SHIFT void leave(struct fabric *fabric, struct swift *swift, uint32_t at,
                    struct swift_port *port, uint32_t channel, uint32_t shift)
{
    uint32_t output = (at << shift) + channel, now = (uint32_t)fabric->cycle;
    struct swift_output *out = &swift->output[output];
    uint32_t input = port->first + out->holder;
    struct swift_input *in = &swift->input[input];
    struct swift_flit flit = swift->flit[(input << swift->ring_shift) + in->head];
    uint32_t tail = flit.word & TAIL;
    out->credits--;
    port->credited &= ~((uint32_t)(out->credits == 0) << channel);
    port->untaken |= tail << channel;
    mark(swift->asked_ports, at, tail & (port->asking != 0));
    swift->given_back[++*swift->given_back] = in->credit_to;
    in->head = (in->head + 1U) & ((1U << swift->ring_shift) - 1);
    if (--in->count) {
        go_on(swift, port, in, input, channel, now);
    }
    if (port->behind == NOBODY) {
        deliver(fabric, swift, output, flit);
        return;
    }
    flit.ready_cycle = now + swift->hop_cycles;
    buffer_push(swift, port, channel, flit, now);
}

/* ---- ports ---- */

BY_SHIFT void hold_channel(struct fabric *fabric, struct swift *swift, uint32_t at,
                           struct swift_port *port, uint32_t local, uint32_t channel,
                           uint32_t shift)
{
    struct swift_output *out = &swift->output[(at << shift) + channel];
    struct swift_input *in = &swift->input[port->first + local];
    uint32_t when = (uint32_t)fabric->cycle + swift->vc_cycles;
    in->taken = at << PORT_SHIFT | channel;
    in->prefers = (uint16_t)(port->base + channel + 1);
    out->holder = (uint8_t)local;
    out->prefers = (uint8_t)(local + 1);
    port->untaken &= ~(1U << channel);
    put_down(&swift->steps, list_of(swift, when, 0), in->taken);
}

/* An input's preference among channels of one port. */
static inline uint32_t accept(const struct swift_port *port, const struct swift_input *in,
                              uint64_t channels)
{
    return choose_from(channels << port->base, in->prefers) - port->base;
}

/* Of the inputs that ask for channels of a port, those that may take this one. */
static inline uint64_t askers_of(const struct swift *swift, const struct swift_port *port,
                                 uint32_t channel)
{
    uint64_t may = 0;
    for (uint64_t asking = port->asking; asking; asking &= asking - 1) {
        uint32_t local = lowest(asking);
        uint64_t wanted = swift->groups[swift->input[port->first + local].group];
        may |= (wanted >> channel & 1) << local;
    }
    return may;
}

/* Each free channel grants one input, each of these accepts one channel. */
static void give_contended(struct fabric *fabric, struct swift *swift, uint32_t at,
                           struct swift_port *port)
{
    uint64_t inputs = 0;
    uint32_t granted[WORD_BITS];
    for (uint32_t free = port->untaken; free; free &= free - 1) {
        uint32_t channel = lowest(free);
        uint64_t askers = fabric->classes > 1 ? askers_of(swift, port, channel) : port->asking;
        if (askers) {
            uint32_t output = (at << swift->channel_shift) + channel;
            uint32_t local = choose_from(askers, swift->output[output].prefers);
            granted[local] = (inputs & one(local) ? granted[local] : 0) | 1U << channel;
            inputs |= one(local);
        }
    }
    port->asking &= ~inputs;
    for (; inputs; inputs &= inputs - 1) {
        uint32_t local = lowest(inputs);
        hold_channel(fabric, swift, at, port, local,
                     accept(port, &swift->input[port->first + local], granted[local]),
                     swift->channel_shift);
    }
}

/* Virtual channels of one port, for which some ask and of which some are free. Returns whether that
 * is so afterwards. */
BY_SHIFT bool give_channels(struct fabric *fabric, struct swift *swift, uint32_t at, uint32_t shift)
{
    struct swift_port *port = &swift->port[at];
    if (port->asking & (port->asking - 1)) {
        give_contended(fabric, swift, at, port);
    } else {
        uint32_t local = lowest(port->asking);
        const struct swift_input *in = &swift->input[port->first + local];
        uint32_t free = port->untaken & swift->groups[in->group];
        if (free) {
            port->asking = 0;
            hold_channel(fabric, swift, at, port, local, accept(port, in, free), shift);
        }
    }
    return port->untaken && port->asking;
}

/* Which channel of this port sends: that of the input whose turn it is. */
BY_SHIFT uint32_t choose_leaving(const struct swift *swift, uint32_t at, struct swift_port *port,
                                 uint32_t shift)
{
    const struct swift_output *out = &swift->output[at << shift];
    uint32_t can = port->ready & port->credited, channel = lowest(can);
    if (can & (can - 1)) {
        uint32_t best = UINT32_MAX;
        for (; can; can &= can - 1) {
            uint32_t i = lowest(can), local = out[i].holder;
            uint32_t distance = local + (local < port->prefers ? WORD_BITS : 0);
            channel = distance < best ? i : channel;
            best = distance < best ? distance : best;
        }
    }
    port->prefers = (uint8_t)(out[channel].holder + 1);
    port->ready &= ~(1U << channel);
    return channel;
}

/* One flit of each port by which some can leave. */
BY_SHIFT void move_flits(struct fabric *fabric, struct swift *swift, uint32_t shift)
{
    for (uint32_t word = 0; word < swift->port_words; word++) {
        uint64_t left = 0;
        for (uint64_t bits = swift->leaving_ports[word]; bits; bits &= bits - 1) {
            uint32_t at = word * WORD_BITS + lowest(bits);
            struct swift_port *port = &swift->port[at];
            leave(fabric, swift, at, port, choose_leaving(swift, at, port, shift), shift);
            left |= (uint64_t)((port->ready & port->credited) != 0) << at % WORD_BITS;
        }
        swift->leaving_ports[word] = left;
    }
}

/* They are nearly in order. */
static void sort_winners(struct swift_winner *winner, uint32_t winners)
{
    for (uint32_t i = 1; i < winners; i++) {
        struct swift_winner moved = winner[i];
        uint32_t at = i;
        for (; at && winner[at - 1].input > moved.input; at--) {
            winner[at] = winner[at - 1];
        }
        winner[at] = moved;
    }
}

static void move_flits_by_inputs(struct fabric *fabric, struct swift *swift)
{
    uint32_t winners = 0;
    for (uint32_t word = 0; word < swift->port_words; word++) {
        for (uint64_t bits = swift->leaving_ports[word]; bits; bits &= bits - 1) {
            uint32_t at = word * WORD_BITS + lowest(bits);
            struct swift_port *port = &swift->port[at];
            uint32_t channel = choose_leaving(swift, at, port, swift->channel_shift);
            uint32_t local = swift->output[(at << swift->channel_shift) + channel].holder;
            swift->winner[winners++] = (struct swift_winner){port->first + local, at, channel};
        }
        swift->leaving_ports[word] = 0;
    }
    sort_winners(swift->winner, winners);
    for (uint32_t i = 0; i < winners; i++) {
        uint32_t at = swift->winner[i].at;
        struct swift_port *port = &swift->port[at];
        leave(fabric, swift, at, port, swift->winner[i].channel, swift->channel_shift);
        mark(swift->leaving_ports, at, (port->ready & port->credited) != 0);
    }
}

/* ---- nodes ---- */

/* Routers on the way from one node to another. */
static uint32_t count_passed(const struct fabric *fabric, uint32_t node, uint32_t to)
{
    uint16_t *passed = &fabric->swift->passed[node * fabric->nodes + to];
    uint32_t router = fabric->node[node].entry.index;
    for (uint32_t routers = 0; *passed == 0; routers++) {
        uint32_t at = fabric->swift->way[router * fabric->nodes + to] >> PORT_SHIFT;
        const struct swift_port *port = &fabric->swift->port[at];
        if (port->behind == NOBODY) {
            *passed = (uint16_t)(routers + 1);
        } else {
            router = port->behind / fabric->vcs;
        }
    }
    return *passed;
}

/* The packet gets the virtual channel with most room, and a place among those inside. */
static inline bool begin_packet(struct fabric *fabric, struct swift *swift, struct node *n,
                                const struct swift_output *out, struct fabric_packet *packet)
{
    uint32_t best = 0, node = (uint32_t)(n - fabric->node);
    for (uint32_t i = 1; i < swift->channels; i++) {
        best = out[i].credits > out[best].credits ? i : best;
    }
    if (out[best].credits == 0) {
        return false;
    }
    n->channel = best;
    n->waiting--;
    packet->routers = count_passed(fabric, node, packet->to);
    uint32_t place = swift->free[--swift->free_count];
    swift->leaving[node] = place;
    swift->packet[place] = packet;
    swift->to[place] = (uint16_t)packet->to;
    return true;
}

/* A node sends one flit a cycle into its router, one packet after the other. */
static inline void node_tick(struct fabric *fabric, struct swift *swift, uint32_t node)
{
    struct node *n = &fabric->node[node];
    struct fabric_packet *packet = n->first;
    uint32_t at = swift->ports + node, now = (uint32_t)fabric->cycle;
    struct swift_output *out = &swift->output[at << swift->channel_shift];
    if (packet->enter_cycle > fabric->cycle) {
        return;
    }
    uint32_t head = packet->entered == 0;
    if (head ? !begin_packet(fabric, swift, n, out, packet) : out[n->channel].credits == 0) {
        n->stalled++;
        return;
    }
    out[n->channel].credits--;
    packet->entered++;
    bool tail = packet->entered == packet->flits;
    struct swift_flit flit = {.word = swift->leaving[node] << PACKET_SHIFT | head << HEAD_SHIFT |
                                      (tail ? TAIL : 0),
                              .ready_cycle = now + fabric->spec->link_cycles};
    if (tail) {
        n->first = packet->next;
        if (!n->first) {
            clear_bit(fabric->busy_nodes, node);
        }
    }
    buffer_push(swift, &swift->port[at], n->channel, flit, now);
}

BY_SHIFT void tick(struct fabric *fabric, struct swift *swift, uint64_t cycle, uint32_t shift)
{
    begin_cycle(fabric, swift, cycle, shift);
    for (uint32_t word = 0; word * WORD_BITS < fabric->nodes; word++) {
        for (uint64_t bits = fabric->busy_nodes[word]; bits; bits &= bits - 1) {
            node_tick(fabric, swift, word * WORD_BITS + lowest(bits));
        }
    }
    for (uint32_t word = 0; word < swift->port_words; word++) {
        for (uint64_t bits = swift->asked_ports[word]; bits; bits &= bits - 1) {
            if (!give_channels(fabric, swift, word * WORD_BITS + lowest(bits), shift)) {
                swift->asked_ports[word] &= ~(bits & -bits);
            }
        }
    }
    if (swift->nodes_share) {
        move_flits_by_inputs(fabric, swift);
    } else {
        move_flits(fabric, swift, shift);
    }
}

void fabric_swift_tick(struct fabric *fabric, uint64_t cycle)
{
    struct swift *swift = fabric->swift;
    if (swift->channel_shift == 1) {
        tick(fabric, swift, cycle, 1);
    } else {
        tick(fabric, swift, cycle, swift->channel_shift);
    }
}
