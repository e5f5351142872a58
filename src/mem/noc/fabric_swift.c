/*
 * One cycle of a network as most are: a router has fewer than 64 virtual channels, each with a
 * crossbar input for itself, iSLIP of one iteration allocates, and a virtual channel takes a cycle
 * or more. What happens is what fabric.c makes happen, to the cycle; how it is kept differs. A busy
 * simulator finds little of a network in its nearest cache, and cannot foretell what comes next in
 * one: so what a flit meets on its way is small, and what can happen is computed from sets, for
 * all routers at once.
 *
 *      due in a cycle ---> asks for a virtual channel ---> has one ---> leaves ---> due, or empty
 *         a list              port.asking                  a set      ready, credited
 *
 * Sets go by output port: an input that loses, waits for a channel or has no credit is not touched,
 * nor is a node that waits for one. Of a port's virtual channels those may send that are both
 * `ready` and `credited`. A channel goes to inputs in two steps (grant, accept), but inputs of
 * different ports never contend. Channels that are given in a cycle are used in a later one, and
 * those that are given back are free in the next: so channels are given first, and then flits move,
 * routers in their order and inputs in theirs.
 */
#include "mem/noc/fabric_swift.h"

/* Functions that have `shift` as an argument are made twice by the compiler, for the two channels
 * of a port that most networks have and for any number: swift->channel_shift. */
#define EVEN UINT64_C(0x5555555555555555)
#define BY_SHIFT static inline __attribute__((always_inline))

static inline uint32_t lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

static inline uint64_t one(uint32_t i)
{
    return UINT64_C(1) << i;
}

/* Bits from the i-th on, which lie in one word. Where it is not foreseeable whether: no branch. */
static inline void add(uint64_t *set, uint32_t i, uint64_t bits)
{
    set[i / WORD_BITS] |= bits << i % WORD_BITS;
}

static inline void drop(uint64_t *set, uint32_t i, uint64_t bits)
{
    set[i / WORD_BITS] &= ~(bits << i % WORD_BITS);
}

/* Adds those of a word of a set to a list of `count`, of which AT_ONCE may be written more than
 * there are. How many there are is not foreseeable. Returns how many the list has. */
static inline uint32_t list_word(uint32_t *list, uint32_t count, uint64_t set, uint32_t first)
{
    if (set == 0) { /* often, where little is under way */
        return count;
    }
#pragma GCC unroll 8
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        list[count] = first + lowest(set | one(WORD_BITS - 1));
        count += set != 0;
        set &= set - 1;
    }
    for (; set; set &= set - 1) {
        list[count++] = first + lowest(set);
    }
    return count;
}

/* Round robin: from `next` on, which may be the number behind the last. */
static inline uint32_t choose_from(uint64_t set, uint32_t next)
{
    return set & (set - 1) ? allocator_first_from(set, next) : lowest(set);
}

/* ---- what is due ---- */

static inline uint32_t *list_of(const struct swift *swift, const struct turns *turns, uint64_t when)
{
    return &turns->list[((uint32_t)when & swift->turn_mask) << turns->shift];
}

static inline uint64_t *later_of(const struct swift *swift, uint32_t when)
{
    return &swift->later[(when & swift->turn_mask) * swift->words];
}

static inline void put_down(uint32_t *list, uint32_t entry)
{
    list[++*list] = entry;
}

static inline void asks_now(struct swift *swift, uint32_t word)
{
    uint32_t at = word >> PORT_SHIFT;
    swift->port[at].asking |= one(word % (1U << PORT_SHIFT));
    set_bit(swift->asked, at);
}

static inline void give_credits(struct swift *swift, uint32_t output, uint32_t count)
{
    struct swift_output *out = &swift->output[output];
    out->credits = (uint16_t)(out->credits + count);
    set_bit(swift->credited, output);
}

void fabric_swift_credits(struct fabric *fabric, uint32_t node, uint32_t channel, uint32_t count)
{
    struct swift *swift = fabric->swift;
    uint32_t at = fabric->node[node].first_ejection / swift->channels;
    give_credits(swift, (at << swift->channel_shift) + channel, count);
}

uint64_t fabric_swift_stalled(const struct fabric *fabric, uint32_t node)
{
    const struct swift *swift = fabric->swift;
    bool starved = swift->starved[node / WORD_BITS] >> node % WORD_BITS & 1;
    uint64_t since = starved ? swift->starved_since[node] : swift->ticks;
    return fabric->node[node].stalled + swift->ticks - since;
}

/* Nodes that are blocked hold their credits back. Returns how many others are in the list. */
static uint32_t keep_free(struct fabric *fabric, uint32_t *list, uint32_t count)
{
    const struct swift *swift = fabric->swift;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t output = list[i], at = output >> swift->channel_shift;
        uint32_t node = swift->port[at].node;
        if (node != NOBODY && fabric->node[node].blocked) {
            fabric->node[node].owed[output - (at << swift->channel_shift)]++;
        } else {
            list[kept++] = output;
        }
    }
    return kept;
}

static inline void take_turn(struct fabric *fabric, struct swift *swift, uint32_t turn)
{
    uint32_t *list = list_of(swift, &swift->credits, turn), count = *list;
    *list = 0;
    if (fabric->blocked_nodes) {
        count = keep_free(fabric, list + 1, count);
    }
    for (uint32_t i = 1; i <= count; i++) {
        give_credits(swift, list[i], 1);
    }
    uint64_t *later = later_of(swift, turn);
    for (uint32_t i = 0; i < swift->words; i++) {
        swift->ready[i] |= later[i];
        later[i] = 0;
    }
    list = list_of(swift, &swift->asks, turn);
    count = *list;
    *list = 0;
    for (uint32_t i = 1; i <= count; i++) {
        asks_now(swift, list[i]);
    }
}

/* Cycles may have been left out. */
static inline void begin_cycle(struct fabric *fabric, struct swift *swift, uint64_t cycle)
{
    uint64_t first = fabric->cycle + 1;
    if (cycle - fabric->cycle > swift->turn_mask) {
        first = cycle - swift->turn_mask;
    }
    fabric->cycle = cycle;
    for (; first <= cycle; first++) {
        take_turn(fabric, swift, (uint32_t)first & swift->turn_mask);
    }
    uint64_t there = cycle + swift->hop_cycles;
    swift->given_back = list_of(swift, &swift->credits, cycle + swift->credit_cycles);
    swift->later_hop = later_of(swift, (uint32_t)there);
    swift->asks_hop = list_of(swift, &swift->asks, there + swift->routing_cycles);
}

/* ---- flits ---- */

/*
 * What a packet asks for whose head comes to the front of an input. Its way depends on nothing, so
 * that it is found at once; the time that takes passes all the same.
 */
static inline uint32_t way_of(const struct swift *swift, struct swift_input *in, uint32_t ways,
                              uint32_t local, swift_flit flit)
{
    uint32_t way = swift->way[ways + swift->to[(uint32_t)flit >> PACKET_SHIFT]];
    in->group = (uint16_t)(way % (1U << PORT_SHIFT));
    return (way >> PORT_SHIFT << PORT_SHIFT) + local;
}

static inline uint32_t ready_cycle(swift_flit flit)
{
    return (uint32_t)(flit >> READY_SHIFT);
}

/* Puts a flit into a buffer, where there is room: a credit was taken for it. Returns whether it is
 * the first there. */
static inline bool put_in(struct swift *swift, struct swift_input *in, swift_flit flit)
{
    uint32_t mask = swift->ring_mask, front = in->front;
    swift->flit[(front & ~mask) + ((front + in->count) & mask)] = flit;
    return in->count++ == 0;
}

/* Of the flit that has come to the front of an input, or will be there, in a cycle to come. */
static inline void becomes_first(struct swift *swift, struct swift_input *in, uint32_t ways,
                                 uint32_t local, swift_flit flit, uint32_t when)
{
    if (flit & HEAD) {
        put_down(list_of(swift, &swift->asks, when + swift->routing_cycles),
                 way_of(swift, in, ways, local, flit));
    } else {
        set_bit(later_of(swift, when), in->taken);
    }
}

/* Of an input whose flit has left by this port, and which has others. */
static inline void go_on(struct swift *swift, const struct swift_port *port, struct swift_input *in,
                         uint32_t input, uint32_t now)
{
    swift_flit flit = swift->flit[in->front];
    uint32_t next = now + 1, ready = ready_cycle(flit);
    if ((int32_t)(ready - next) > 0) {
        next = ready;
    } else if (!(flit & HEAD)) { /* it may follow at once */
        set_bit(swift->ready, in->taken);
        return;
    }
    becomes_first(swift, in, port->ways, input - port->first, flit, next);
}

/* Into the node behind an output. */
static inline void deliver(struct fabric *fabric, struct swift *swift, uint32_t output,
                           swift_flit flit)
{
    uint64_t there = fabric->cycle + swift->hop_cycles;
    put_down(list_of(swift, &swift->credits, there + swift->credit_cycles), output);
    if (flit & TAIL) {
        uint32_t place = (uint32_t)flit >> PACKET_SHIFT;
        struct fabric_packet *packet = swift->packet[place];
        swift->free[swift->free_count++] = place;
        fabric->inside--;
        fabric->stats.packets++;
        fabric->stats.flits += packet->flits;
        fabric->stats.routers += packet->routers;
        fabric->arrived(fabric->ctx, packet, there);
    }
}

/* Of what leaves in a cycle: into a router, into a node, and from buffers in which others are. */
struct move_counts {
    uint32_t onward, delivered, going_on;
};

/*
 * What leaves in a cycle does so in steps, each with all flits: what a flit needs is not
 * foreseeable, but lists of those that need it are written without a branch.
 */

/* Flits pass the crossbar and leave their buffers, by the outputs that are listed. */
BY_SHIFT struct move_counts take_out(struct swift *swift, uint32_t moves, uint32_t shift)
{
    uint32_t *back = swift->given_back + *swift->given_back + 1;
    struct move_counts counts = {0, 0, 0};
    for (uint32_t i = 0; i < moves; i++) {
        uint32_t output = swift->list[i], at = output >> shift, channel = output - (at << shift);
        struct swift_port *port = &swift->port[at];
        struct swift_output *out = &swift->output[output];
        uint32_t input = out->holder;
        struct swift_input *in = &swift->input[input];
        uint32_t front = in->front;
        swift_flit flit = swift->flit[front];
        swift->move[i] = (struct swift_move){flit, output, input, at, port->behind + channel};
        port->prefers = input + 1;
        drop(swift->credited, output, --out->credits == 0);
        port->untaken |= (uint32_t)(flit & TAIL) << channel;
        add(swift->open, at, flit & TAIL);
        back[i] = in->credit_to;
        in->front = front ^ ((front ^ (front + 1)) & swift->ring_mask);
        swift->going_on[counts.going_on] = swift->onward[counts.onward] =
            swift->delivered[counts.delivered] = i;
        counts.going_on += --in->count != 0;
        counts.onward += port->behind != NOBODY;
        counts.delivered += port->behind == NOBODY;
    }
    *swift->given_back += moves;
    return counts;
}

/* Into the buffers of the next routers. */
static inline void put_in_all(struct fabric *fabric, struct swift *swift, uint32_t onward)
{
    uint64_t ready = (uint64_t)((uint32_t)fabric->cycle + swift->hop_cycles) << READY_SHIFT;
    uint32_t first = 0, *list = swift->onward;
    for (uint32_t i = 0; i < onward; i++) {
        uint32_t number = list[i];
        const struct swift_move *move = &swift->move[number];
        list[first] = number;
        first += put_in(swift, &swift->input[move->to], (uint32_t)move->flit | ready);
    }
    for (uint32_t i = 0; i < first; i++) {
        const struct swift_move *move = &swift->move[list[i]];
        const struct swift_port *port = &swift->port[move->port];
        struct swift_input *in = &swift->input[move->to];
        if (move->flit & HEAD) {
            uint32_t local = port->behind_local + move->to - port->behind;
            put_down(swift->asks_hop, way_of(swift, in, port->behind_ways, local, move->flit));
        } else {
            set_bit(swift->later_hop, in->taken);
        }
    }
}

BY_SHIFT void move_all(struct fabric *fabric, struct swift *swift, uint32_t moves, uint32_t shift)
{
    struct move_counts counts = take_out(swift, moves, shift);
    for (uint32_t i = 0; i < counts.going_on; i++) {
        const struct swift_move *move = &swift->move[swift->going_on[i]];
        go_on(swift, &swift->port[move->port], &swift->input[move->input], move->input,
              (uint32_t)fabric->cycle);
    }
    for (uint32_t i = 0; i < counts.delivered; i++) {
        const struct swift_move *move = &swift->move[swift->delivered[i]];
        deliver(fabric, swift, move->output, move->flit);
    }
    put_in_all(fabric, swift, counts.onward);
}

/* ---- ports ---- */

static inline void hold_channel(struct fabric *fabric, struct swift *swift, uint32_t at,
                                uint32_t local, uint32_t output, uint32_t shift)
{
    struct swift_port *port = &swift->port[at];
    struct swift_output *out = &swift->output[output];
    struct swift_input *in = &swift->input[port->first + local];
    in->taken = output;
    in->prefers = output + 1;
    out->holder = port->first + local;
    out->prefers = (uint8_t)(local + 1);
    port->untaken &= ~(1U << (output - (at << shift)));
    drop(swift->open, at, port->untaken == 0);
    drop(swift->asked, at, port->asking == 0);
    set_bit(later_of(swift, (uint32_t)fabric->cycle + swift->vc_cycles), output);
}

/* An input's preference among channels of one port, whose first output is told. */
static inline uint32_t accept(const struct swift_input *in, uint32_t first, uint32_t channels)
{
    uint32_t next = in->prefers - first;
    uint64_t behind = next < 32 ? (uint64_t)channels >> next << next : 0;
    return first + lowest(behind | (uint64_t)channels << 32) % 32;
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
    uint32_t granted[WORD_BITS], first = at << swift->channel_shift;
    for (uint32_t free = port->untaken; free; free &= free - 1) {
        uint32_t channel = lowest(free);
        uint64_t askers = fabric->classes > 1 ? askers_of(swift, port, channel) : port->asking;
        if (askers) {
            uint32_t local = choose_from(askers, swift->output[first + channel].prefers);
            granted[local] = (inputs & one(local) ? granted[local] : 0) | 1U << channel;
            inputs |= one(local);
        }
    }
    port->asking &= ~inputs;
    for (; inputs; inputs &= inputs - 1) {
        uint32_t local = lowest(inputs);
        uint32_t output = accept(&swift->input[port->first + local], first, granted[local]);
        hold_channel(fabric, swift, at, local, output, swift->channel_shift);
    }
}

/* Virtual channels of one port, for which some ask and of which some are free. */
BY_SHIFT void give_channels(struct fabric *fabric, struct swift *swift, uint32_t at, uint32_t shift)
{
    struct swift_port *port = &swift->port[at];
    uint64_t asking = port->asking;
    if (asking & (asking - 1)) {
        give_contended(fabric, swift, at, port);
        return;
    }
    uint32_t local = lowest(asking);
    const struct swift_input *in = &swift->input[port->first + local];
    uint32_t free = port->untaken & swift->groups[in->group];
    if (free) {
        port->asking = 0;
        hold_channel(fabric, swift, at, local, accept(in, at << shift, free), shift);
    }
}

/* Which of several outputs of a port sends: that of the input whose turn it is. `can`: of those
 * from `first` on. */
static uint32_t choose_leaving(const struct swift *swift, uint32_t first, uint64_t can)
{
    uint32_t best = UINT32_MAX, chosen = 0;
    uint32_t prefers = swift->port[first >> swift->channel_shift].prefers;
    for (; can; can &= can - 1) {
        uint32_t output = first + lowest(can), distance = swift->output[output].holder - prefers;
        chosen = distance < best ? output : chosen;
        best = distance < best ? distance : best;
    }
    return chosen;
}

/* Of outputs of one word that could send, those that do: one of each port. */
BY_SHIFT uint64_t choose_all(const struct swift *swift, uint32_t word, uint64_t can, uint32_t shift)
{
    uint64_t all = shift == 1 ? 3 : (one(swift->channels - 1) << 1) - 1;
    uint64_t left = shift == 1 ? can & can >> 1 & EVEN : can;
    while (left) {
        uint32_t first = lowest(left) >> shift << shift;
        uint64_t here = can >> first & all;
        if (here & (here - 1)) {
            uint32_t chosen = choose_leaving(swift, word * WORD_BITS + first, here);
            can = (can & ~(all << first)) | one(chosen % WORD_BITS);
        }
        left &= ~(all << first);
    }
    return can;
}

/* They are nearly in order. */
static void sort_by_inputs(const struct swift *swift, uint32_t *list, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t moved = list[i], input = swift->output[moved].holder, at = i;
        for (; at && swift->output[list[at - 1]].holder > input; at--) {
            list[at] = list[at - 1];
        }
        list[at] = moved;
    }
}

/* One flit of each port by which some can leave. */
BY_SHIFT void move_flits(struct fabric *fabric, struct swift *swift, uint32_t shift)
{
    uint32_t moves = 0;
    for (uint32_t word = 0; word < swift->words; word++) {
        uint64_t can = swift->ready[word] & swift->credited[word];
        uint64_t chosen = choose_all(swift, word, can, shift);
        swift->ready[word] &= ~chosen;
        moves = list_word(swift->list, moves, chosen, word * WORD_BITS);
    }
    if (moves == 0) {
        return;
    }
    if (swift->nodes_share) {
        sort_by_inputs(swift, swift->list, moves);
    }
    move_all(fabric, swift, moves, shift);
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
    uint32_t channel = 0, most = out->credits, node = (uint32_t)(n - fabric->node);
    for (uint32_t i = 1; i < swift->channels; i++) {
        uint32_t credits = out[i].credits;
        channel = credits > most ? i : channel;
        most = credits > most ? credits : most;
    }
    if (most == 0) {
        return false;
    }
    n->channel = channel;
    n->waiting--;
    set_bit(fabric->begun_nodes, node);
    packet->routers = count_passed(fabric, node, packet->to);
    uint32_t place = swift->free[--swift->free_count];
    swift->leaving[node] = place;
    swift->packet[place] = packet;
    swift->to[place] = (uint16_t)packet->to;
    return true;
}

/* Into its router; that may take no time. */
static inline void enter(struct swift *swift, const struct swift_port *port, uint32_t channel,
                         swift_flit flit, uint32_t now)
{
    struct swift_input *in = &swift->input[port->behind + channel];
    uint32_t local = port->behind_local + channel, when = ready_cycle(flit);
    if (!put_in(swift, in, flit)) {
        return;
    }
    bool head = flit & HEAD;
    if (when + (head ? swift->routing_cycles : 0) != now) {
        becomes_first(swift, in, port->behind_ways, local, flit, when);
    } else if (head) {
        asks_now(swift, way_of(swift, in, port->behind_ways, local, flit));
    } else {
        set_bit(swift->ready, in->taken);
    }
}

/* A node waits for a credit, of one of these channels. */
static void starve(struct swift *swift, uint32_t node, uint64_t channels)
{
    uint32_t first = (swift->ports + node) << swift->channel_shift;
    set_bit(swift->starved, node);
    add(swift->wanted, first, channels);
    swift->starved_since[node] = swift->ticks;
}

/* Credits have come for nodes that waited in all ticks before this. */
static inline void feed_nodes(struct fabric *fabric, struct swift *swift)
{
    for (uint32_t word = swift->node_outputs / WORD_BITS; word < swift->words; word++) {
        uint64_t come = swift->wanted[word] & swift->credited[word];
        for (; come; come &= swift->wanted[word]) {
            uint32_t first = (word * WORD_BITS + lowest(come)) >> swift->channel_shift;
            uint32_t node = first - swift->ports;
            fabric->node[node].stalled += swift->ticks - swift->starved_since[node];
            clear_bit(swift->starved, node);
            drop(swift->wanted, first << swift->channel_shift, swift->groups[2]);
        }
    }
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
    bool head = packet->entered == 0;
    if (head ? !begin_packet(fabric, swift, n, out, packet) : out[n->channel].credits == 0) {
        starve(swift, node, head ? swift->groups[2] : 1U << n->channel);
        return;
    }
    drop(swift->credited, (at << swift->channel_shift) + n->channel,
         --out[n->channel].credits == 0);
    packet->entered++;
    bool tail = packet->entered == packet->flits;
    if (tail) {
        n->first = packet->next;
        if (!n->first) {
            clear_bit(fabric->busy_nodes, node);
        }
    }
    uint32_t word = swift->leaving[node] << PACKET_SHIFT | (head ? HEAD : 0) | (tail ? TAIL : 0);
    uint64_t ready = now + fabric->spec->link_cycles;
    enter(swift, &swift->port[at], n->channel, word | ready << READY_SHIFT, now);
}

BY_SHIFT void tick(struct fabric *fabric, struct swift *swift, uint64_t cycle, uint32_t shift)
{
    begin_cycle(fabric, swift, cycle);
    if (fabric->inside == 0) {
        return;
    }
    feed_nodes(fabric, swift);
    for (uint32_t word = 0; word * WORD_BITS < fabric->nodes; word++) {
        uint64_t bits = fabric->busy_nodes[word] & ~swift->starved[word];
        for (; bits; bits &= bits - 1) {
            node_tick(fabric, swift, word * WORD_BITS + lowest(bits));
        }
    }
    swift->ticks++;
    uint32_t ports = 0;
    for (uint32_t word = 0; word < swift->port_words; word++) {
        ports =
            list_word(swift->list, ports, swift->asked[word] & swift->open[word], word * WORD_BITS);
    }
    for (uint32_t i = 0; i < ports; i++) {
        give_channels(fabric, swift, swift->list[i], shift);
    }
    move_flits(fabric, swift, shift);
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
