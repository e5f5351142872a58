/*
 * One cycle of the network. Nodes send first, then every router at which something can happen looks
 * at the inputs that may get on: those with a packet's first flit at the front ask for a virtual
 * channel, those that have one and a credit ask for the crossbar. When a step takes a known time,
 * the input is put down for the cycle of the next one, and nobody looks at it in between.
 *
 * Sets of a router's inputs are of fabric->words words. Functions that have `words` as an argument
 * are made twice by the compiler, for the one word that most networks need and for any number.
 */
#include "mem/noc/fabric_state.h"

static const uint64_t ALL_BITS = UINT64_MAX;

#define BY_WORDS static inline __attribute__((always_inline))
/* By themselves, so that each keeps what it works on in registers. */
#define APART static __attribute__((noinline))

/* ---- flits and credits ---- */

/* Of sets of a router's inputs, or outputs, the one of number `set`. */
BY_WORDS void add_local(uint64_t *sets, uint32_t set, uint32_t words, uint32_t local)
{
    if (words == 1) {
        sets[set] |= UINT64_C(1) << local;
    } else {
        set_bit(&sets[set * words], local);
    }
}

BY_WORDS void drop_local(uint64_t *sets, uint32_t set, uint32_t words, uint32_t local)
{
    if (words == 1) {
        sets[set] &= ~(UINT64_C(1) << local);
    } else {
        clear_bit(&sets[set * words], local);
    }
}

/* All of one set go over to another. */
BY_WORDS void move_locals(uint64_t *to, uint64_t *from, uint32_t words)
{
    for (uint32_t word = 0; word < words; word++) {
        if (from[word]) {
            to[word] |= from[word];
            from[word] = 0;
        }
    }
}

BY_WORDS bool none(const uint64_t *set, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) {
        if (set[i]) {
            return false;
        }
    }
    return true;
}

/* The input has something to look at from the next time on. */
BY_WORDS void wake(struct fabric *fabric, uint32_t router, uint32_t local, uint32_t words)
{
    add_local(fabric->eager, router, words, local);
    set_bit(fabric->busy_routers, router);
}

/* The input has something to look at in cycle `when`, which is to come, or is looked at in vain
 * before. */
BY_WORDS void wake_later(struct fabric *fabric, uint32_t router, uint32_t local, uint64_t when,
                         uint32_t words)
{
    uint64_t cycle = fabric->cycle;
    uint32_t turn = (uint32_t)(when < cycle + AHEAD ? when : cycle + AHEAD - 1) % AHEAD;
    assert(when > cycle);
    add_local(fabric->later, router * AHEAD + turn, words, local);
    set_bit(&fabric->due_routers[turn * fabric->router_words], router);
}

/* Those put down for one turn may get on. */
BY_WORDS void wake_due(struct fabric *fabric, uint32_t turn, uint32_t words)
{
    uint64_t *due = &fabric->due_routers[turn * fabric->router_words];
    for (uint32_t i = 0; i < fabric->router_words; i++) {
        fabric->busy_routers[i] |= due[i];
        for (; due[i]; due[i] &= due[i] - 1) {
            uint32_t router = i * WORD_BITS + (uint32_t)__builtin_ctzll(due[i]);
            move_locals(&fabric->eager[router * words],
                        &fabric->later[(router * AHEAD + turn) * words], words);
        }
    }
}

/* A new cycle. When some were left out, all are looked at: each is put down again if need be. */
BY_WORDS void begin_cycle(struct fabric *fabric, uint64_t cycle, uint32_t words)
{
    bool next = cycle == fabric->cycle + 1;
    fabric->cycle = cycle;
    for (uint32_t i = 0; !next && i < AHEAD; i++) {
        wake_due(fabric, i, words);
    }
    wake_due(fabric, cycle % AHEAD, words);
}

BY_WORDS void give_credits(struct fabric *fabric, struct output *output, uint32_t count,
                           uint32_t words)
{
    output->credits += count;
    if (output->starved) {
        output->starved = false;
        wake(fabric, output->router, output->holder, words);
    }
}

BY_WORDS void hop_credits_return(struct fabric *fabric, uint64_t cycle, uint32_t words)
{
    struct credit_line *line = &fabric->hop_credits;
    uint32_t head = line->head, count = line->count;
    for (; count && line->ring[head & line->mask].cycle <= cycle; head++, count--) {
        give_credits(fabric, &fabric->output[line->ring[head & line->mask].output], 1, words);
    }
    line->head = head;
    line->count = count;
}

BY_WORDS void node_credits_return(struct fabric *fabric, uint64_t cycle, uint32_t words)
{
    struct output *output;
    while ((output = node_credit_next(fabric, cycle)) != NULL) {
        give_credits(fabric, output, 1, words);
    }
}

/* From when on the flit at the front of a buffer is to be looked at, if there is nothing before
 * `cycle`. The way of a packet depends on nothing, so that it is found at once; the time that takes
 * passes all the same. */
static inline uint64_t come_to_front(const struct fabric *fabric, struct input *in,
                                     const struct flit *flit, uint64_t cycle)
{
    uint64_t when = flit->ready_cycle > cycle ? flit->ready_cycle : cycle;
    if (in->stage == STAGE_IDLE) {
        in->way = in->ways[flit->to];
        in->stage = STAGE_ROUTED;
        when += fabric->spec->routing_cycles;
    }
    in->ready_cycle = when;
    return when;
}

/* Puts a flit into the buffer behind an output, where there is room: a credit was taken for it. */
BY_WORDS void buffer_push(struct fabric *fabric, const struct output *output, struct flit flit,
                          uint32_t words)
{
    struct input *in = &fabric->input[output->to];
    uint32_t size = fabric->spec->buffer_flits;
    uint32_t i = (uint32_t)in->head + in->count;
    assert(in->count < size);
    in->ring[i >= size ? i - size : i] = flit;
    if (in->count++ == 0) {
        uint64_t when = come_to_front(fabric, in, &flit, 0);
        if (when > fabric->cycle) {
            wake_later(fabric, output->to_router, output->to_local, when, words);
        } else {
            wake(fabric, output->to_router, output->to_local, words);
        }
    }
}

BY_WORDS void buffer_pop(struct fabric *fabric, uint32_t router, uint32_t local, struct input *in,
                         uint32_t words)
{
    in->head = (uint16_t)(in->head + 1U == fabric->spec->buffer_flits ? 0 : in->head + 1);
    in->count--;
    if (in->count && in->stage == STAGE_ACTIVE && front(in)->ready_cycle <= fabric->cycle + 1) {
        return; /* the packet's next flit may follow at once: the input stays eager */
    }
    drop_local(fabric->eager, router, words, local);
    if (in->count) {
        uint64_t when = come_to_front(fabric, in, front(in), fabric->cycle + 1);
        wake_later(fabric, router, local, when, words);
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
    fabric->blocked_nodes += (uint32_t)blocked - (uint32_t)n->blocked;
    n->blocked = blocked;
    for (uint32_t i = 0; !blocked && i < fabric->channels; i++) {
        if (n->owed[i]) {
            struct output *output = &fabric->output[n->first_ejection + i];
            if (fabric->swift) {
                fabric_swift_credits(fabric, node, i, n->owed[i]);
            } else {
                give_credits(fabric, output, n->owed[i], fabric->words);
            }
            n->owed[i] = 0;
        }
    }
}

BY_WORDS void node_tick(struct fabric *fabric, uint32_t node, uint64_t cycle, uint32_t words)
{
    struct flit flit;
    const struct output *output = node_sends(&flit, fabric, node, cycle);
    if (output) {
        buffer_push(fabric, output, flit, words);
    }
}

/* ---- routers ---- */

/* Asks for each virtual channel on its way that is free; false when there is none. */
BY_WORDS bool ask_for_channels(struct fabric *fabric, uint32_t router, uint32_t local,
                               const struct input *in, uint32_t words)
{
    const uint64_t *untaken = &fabric->untaken[router * words];
    struct allocator *allocator = &fabric->vc_allocator;
    if (allocator->masks) { /* `words` is 1 */
        uint64_t free = *untaken & ALL_BITS >> (WORD_BITS - in->way.count) << in->way.first;
        if (free) {
            allocator_request_all(allocator, local, free);
        }
        return free != 0;
    }
    uint32_t before = allocator->requests;
    for (uint32_t i = in->way.first; i < in->way.first + (uint32_t)in->way.count; i++) {
        if (untaken[i / WORD_BITS] >> i % WORD_BITS & 1) {
            allocator_request(allocator, local, i);
        }
    }
    return allocator->requests != before;
}

/* Asks for a virtual channel; sleeps when there is none. */
BY_WORDS void request_channels(struct fabric *fabric, uint32_t router, uint32_t local,
                               const struct input *in, uint32_t words)
{
    if (!ask_for_channels(fabric, router, local, in, words)) {
        drop_local(fabric->eager, router, words, local);
        add_local(fabric->waiting, router * fabric->ports + in->way.port, words, local);
    }
}

/* A virtual channel of the port is free: whoever waits for one may ask again. */
BY_WORDS void wake_waiting(struct fabric *fabric, uint32_t router, uint32_t port, uint32_t words)
{
    move_locals(&fabric->eager[router * words],
                &fabric->waiting[(router * fabric->ports + port) * words], words);
}

/*
 * On behalf of one of its channels, in turn, a crossbar input asks for each output that they want.
 */
static inline void ask_for_crossbar(struct fabric *fabric, uint32_t router, uint32_t local,
                                    const struct input *in)
{
    if (fabric->slot_each) {
        allocator_request(&fabric->switch_allocator, local, in->way.port);
        return;
    }
    uint16_t *chosen = &fabric->chosen[in->slot * fabric->ports + in->way.port];
    if (*chosen == NO_INPUT) {
        allocator_request(&fabric->switch_allocator, in->slot, in->way.port);
        fabric->asked[fabric->asked_count++] = chosen;
    } else {
        uint32_t turn = fabric->turn[router * crossbar_inputs(fabric) + in->slot];
        uint32_t other = *chosen % fabric->channels;
        uint32_t mine = in->channel + (in->channel < turn ? fabric->channels : 0);
        if (other + (other < turn ? fabric->channels : 0) < mine) {
            return;
        }
    }
    *chosen = (uint16_t)local;
}

/* A flit can go: asks for the crossbar, or sleeps when a credit is missing. */
BY_WORDS void ask_if_it_may_leave(struct fabric *fabric, uint32_t router, uint32_t local,
                                  const struct input *in, uint32_t words)
{
    struct output *taken = &fabric->output[in->taken];
    if (taken->credits == 0) {
        drop_local(fabric->eager, router, words, local);
        taken->starved = true;
    } else {
        ask_for_crossbar(fabric, router, local, in);
    }
}

/* What an input with a flit does in a cycle, but for what allocators decide. */
BY_WORDS void look_at_input(struct fabric *fabric, uint32_t router, uint32_t first, uint32_t local,
                            uint64_t cycle, uint32_t words)
{
    struct input *in = &fabric->input[first + local];
    assert(in->count && in->stage != STAGE_IDLE);
    if (in->ready_cycle > cycle) {
        drop_local(fabric->eager, router, words, local);
        wake_later(fabric, router, local, in->ready_cycle, words);
    } else if (in->stage == STAGE_ACTIVE) {
        ask_if_it_may_leave(fabric, router, local, in, words);
    } else {
        request_channels(fabric, router, local, in, words);
    }
}

/* The packet at the front of `local` has the virtual channel `output`. */
BY_WORDS void hold_channel(struct fabric *fabric, uint32_t router, uint32_t first, uint32_t local,
                           struct input *in, uint32_t output, uint32_t words)
{
    in->taken = first + output;
    in->stage = STAGE_ACTIVE;
    drop_local(fabric->untaken, router, words, output);
    fabric->output[in->taken].holder = (uint16_t)local;
}

/* Until the allocation of its virtual channel has taken its time. */
BY_WORDS void put_down(struct fabric *fabric, uint32_t router, uint32_t local, struct input *in,
                       uint64_t cycle, uint32_t words)
{
    in->ready_cycle = cycle + fabric->spec->vc_cycles;
    if (fabric->spec->vc_cycles > 1) { /* else it is looked at in time as it is */
        drop_local(fabric->eager, router, words, local);
        wake_later(fabric, router, local, in->ready_cycle, words);
    }
}

BY_WORDS void grant_channels(struct fabric *fabric, uint32_t router, uint32_t first, uint64_t cycle,
                             uint32_t words)
{
    const struct allocator *allocator = &fabric->vc_allocator;
    for (uint32_t i = 0; i < allocator->matches; i++) {
        uint32_t local = allocator->match[i].input;
        struct input *in = &fabric->input[first + local];
        hold_channel(fabric, router, first, local, in, allocator->match[i].output, words);
        if (fabric->spec->vc_cycles == 0) {
            ask_if_it_may_leave(fabric, router, local, in, words);
        } else {
            put_down(fabric, router, local, in, cycle, words);
        }
    }
}

/* The flit at the front of input `local` passes the crossbar. */
BY_WORDS void leave(struct fabric *fabric, uint32_t router, uint32_t local, struct input *in,
                    uint64_t cycle, uint32_t words)
{
    struct flit flit = *front(in);
    struct output *output = &fabric->output[in->taken];
    output->credits--;
    credit_push(&fabric->hop_credits,
                (struct credit){.cycle = cycle + fabric->credit_cycles, .output = in->credit_to});
    if (flit.tail) {
        flit.packet->routers++;
        in->stage = STAGE_IDLE;
        add_local(fabric->untaken, router, words, in->taken - router * fabric->vcs);
        wake_waiting(fabric, router, in->way.port, words);
    }
    buffer_pop(fabric, router, local, in, words);
    if (output->to == NOBODY) {
        fabric_deliver(fabric, output, flit, cycle);
        return;
    }
    flit.ready_cycle = cycle + fabric->hop_cycles;
    buffer_push(fabric, output, flit, words);
}

/* The turn at a crossbar input goes to the virtual channel behind this one. */
static inline void pass_turn(struct fabric *fabric, uint32_t router, const struct input *in)
{
    fabric->turn[router * crossbar_inputs(fabric) + in->slot] =
        (uint16_t)(in->channel + 1U == fabric->channels ? 0 : in->channel + 1);
}

/* The input on whose behalf a crossbar input was matched. */
static inline uint32_t chosen_input(struct fabric *fabric, uint32_t router, uint32_t first,
                                    struct allocator_pair match)
{
    uint32_t local = fabric->chosen[match.input * fabric->ports + match.output];
    pass_turn(fabric, router, &fabric->input[first + local]);
    return local;
}

BY_WORDS void allocate_crossbar(struct fabric *fabric, uint32_t router, uint32_t first,
                                uint64_t cycle, uint32_t words)
{
    struct allocator *allocator = &fabric->switch_allocator;
    allocator_run(allocator, &fabric->switch_pointers[router]);
    for (uint32_t i = 0; i < allocator->matches; i++) {
        struct allocator_pair match = allocator->match[i];
        uint32_t local =
            fabric->slot_each ? match.input : chosen_input(fabric, router, first, match);
        leave(fabric, router, local, &fabric->input[first + local], cycle, words);
    }
    for (uint32_t i = 0; i < fabric->asked_count; i++) {
        *fabric->asked[i] = NO_INPUT;
    }
    fabric->asked_count = 0;
}

/* Asks for a virtual channel where nobody else does. */
static inline void take_channel_alone(struct fabric *fabric, uint32_t router, uint32_t first,
                                      uint32_t local, struct input *in, uint64_t cycle)
{
    uint64_t free = fabric->untaken[router] & ALL_BITS >> (WORD_BITS - in->way.count)
                                                              << in->way.first;
    if (!free) {
        drop_local(fabric->eager, router, 1, local);
        add_local(fabric->waiting, router * fabric->ports + in->way.port, 1, local);
        return;
    }
    uint32_t output =
        allocator_give_alone(&fabric->vc_allocator, &fabric->vc_pointers[router], local, free);
    hold_channel(fabric, router, first, local, in, output, 1);
    put_down(fabric, router, local, in, cycle, 1);
}

/* Passes the crossbar where nobody else does. */
static inline void leave_alone(struct fabric *fabric, uint32_t router, uint32_t local,
                               struct input *in, uint64_t cycle)
{
    struct output *taken = &fabric->output[in->taken];
    if (taken->credits == 0) {
        drop_local(fabric->eager, router, 1, local);
        taken->starved = true;
        return;
    }
    if (!fabric->slot_each) {
        pass_turn(fabric, router, in);
    }
    allocator_pass(&fabric->switch_allocator, &fabric->switch_pointers[router],
                   fabric->slot_each ? local : in->slot, in->way.port);
    leave(fabric, router, local, in, cycle, 1);
}

/*
 * The only input of a router that may get on: nobody contends, and what the allocators would
 * decide is known. Sets are of one word, virtual channels are allocated by masks and that takes
 * time.
 */
APART void tick_alone(struct fabric *fabric, uint32_t router, uint32_t local, uint64_t cycle)
{
    uint32_t first = router * fabric->vcs;
    struct input *in = &fabric->input[first + local];
    if (in->ready_cycle > cycle) {
        drop_local(fabric->eager, router, 1, local);
        wake_later(fabric, router, local, in->ready_cycle, 1);
    } else if (in->stage == STAGE_ACTIVE) {
        leave_alone(fabric, router, local, in, cycle);
    } else {
        take_channel_alone(fabric, router, first, local, in, cycle);
    }
    if (fabric->eager[router] == 0) {
        clear_bit(fabric->busy_routers, router);
    }
}

BY_WORDS void router_tick(struct fabric *fabric, uint32_t router, uint64_t cycle, uint32_t words)
{
    uint32_t first = router * fabric->vcs;
    const uint64_t *eager = &fabric->eager[router * words];
    for (uint32_t word = 0; word < words; word++) {
        for (uint64_t bits = eager[word]; bits; bits &= bits - 1) {
            uint32_t local = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            look_at_input(fabric, router, first, local, cycle, words);
        }
    }
    if (allocator_asked(&fabric->vc_allocator)) {
        allocator_run(&fabric->vc_allocator, &fabric->vc_pointers[router]);
        grant_channels(fabric, router, first, cycle, words);
    }
    if (allocator_asked(&fabric->switch_allocator)) {
        allocate_crossbar(fabric, router, first, cycle, words);
    }
    if (none(eager, words)) {
        clear_bit(fabric->busy_routers, router);
    }
}

/* Calls `tick` for each of `count` members of a set, in order; it may take members out and add
 * others, which wait for the next cycle or not as their number falls. */
BY_WORDS void each_busy(struct fabric *fabric, const uint64_t *set, uint32_t count, uint64_t cycle,
                        uint32_t words, void (*tick)(struct fabric *, uint32_t, uint64_t, uint32_t))
{
    for (uint32_t word = 0; word * WORD_BITS < count; word++) {
        for (uint64_t bits = set[word]; bits; bits &= bits - 1) {
            tick(fabric, word * WORD_BITS + (uint32_t)__builtin_ctzll(bits), cycle, words);
        }
    }
}

APART void router_tick_of_one_word(struct fabric *fabric, uint32_t router, uint64_t cycle)
{
    router_tick(fabric, router, cycle, 1);
}

/* In most cycles no two inputs of a router contend. */
BY_WORDS void router_tick_by_words(struct fabric *fabric, uint32_t router, uint64_t cycle,
                                   uint32_t words)
{
    uint64_t eager = fabric->eager[router * words];
    if (words > 1) {
        router_tick(fabric, router, cycle, words);
    } else if (fabric->alone_known && eager && !(eager & (eager - 1))) {
        tick_alone(fabric, router, (uint32_t)__builtin_ctzll(eager), cycle);
    } else {
        router_tick_of_one_word(fabric, router, cycle);
    }
}

BY_WORDS void tick_by_words(struct fabric *fabric, uint64_t cycle, uint32_t words)
{
    begin_cycle(fabric, cycle, words);
    hop_credits_return(fabric, cycle, words);
    node_credits_return(fabric, cycle, words);
    each_busy(fabric, fabric->busy_nodes, fabric->nodes, cycle, words, node_tick);
    each_busy(fabric, fabric->busy_routers, fabric->routers, cycle, words, router_tick_by_words);
}

bool fabric_tick(struct fabric *fabric, uint64_t cycle)
{
    if (fabric->swift) {
        fabric_swift_tick(fabric, cycle);
    } else if (fabric->words == 1) {
        tick_by_words(fabric, cycle, 1);
    } else {
        tick_by_words(fabric, cycle, fabric->words);
    }
    return fabric->inside > 0;
}

uint32_t fabric_waiting(const struct fabric *fabric, uint32_t node)
{
    return fabric->node[node].waiting;
}

bool fabric_take_begun(struct fabric *fabric, uint32_t *node)
{
    for (uint32_t word = 0; word * WORD_BITS < fabric->nodes; word++) {
        if (fabric->begun_nodes[word]) {
            *node = word * WORD_BITS + (uint32_t)__builtin_ctzll(fabric->begun_nodes[word]);
            fabric->begun_nodes[word] &= fabric->begun_nodes[word] - 1;
            return true;
        }
    }
    return false;
}

uint64_t fabric_stalled(const struct fabric *fabric, uint32_t node)
{
    return fabric->swift ? fabric_swift_stalled(fabric, node) : fabric->node[node].stalled;
}

const struct fabric_stats *fabric_stats(const struct fabric *fabric)
{
    return &fabric->stats;
}
