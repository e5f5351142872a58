/*
 * The network's state, in flat arrays. A router's input virtual channels are numbered port x
 * virtual_channels + channel, its output ones likewise; those of all routers follow one another.
 * Behind the outputs of the routers come those of the nodes, so that a node sends into its router
 * as routers do into each other. Made by fabric_build.c, moved by fabric.c.
 */
#ifndef SONDE_MEM_NOC_FABRIC_STATE_H
#define SONDE_MEM_NOC_FABRIC_STATE_H

#include <assert.h>
#include <stddef.h>

#include "mem/noc/allocator.h"
#include "mem/noc/fabric.h"
#include "mem/noc/topology/topology.h"

enum {
    WORD_BITS = 64,
    AHEAD = 8 /* cycles for which inputs are put down; a power of 2 */,
    MAX_PORT_CHANNELS = 16384,
    MAX_PLACES = 65536
};

struct flit {
    struct fabric_packet *packet;
    uint64_t to : 16; /* node */
    uint64_t tail : 1;
    uint64_t ready_cycle : 47; /* stands in the buffer from then on */
};

/* What the packet at the front of a buffer has got so far; IDLE: there is none. */
enum stage { STAGE_IDLE, STAGE_ROUTED, STAGE_ACTIVE };

/* Of a router to a node: the output port, and the outputs that a packet may take there. */
struct way {
    uint16_t port, first, count;
};

struct input {
    struct flit *ring;
    const struct way *ways; /* of its router, by node */
    uint64_t ready_cycle;   /* the next step may be taken */
    uint32_t credit_to;     /* the output that sends here */
    uint32_t taken;         /* the output it has, once ACTIVE */
    struct way way;
    uint16_t head, count;
    uint16_t slot;    /* crossbar input that serves it */
    uint16_t channel; /* its number at its port */
    uint16_t local;   /* its number at its router */
    uint8_t stage;    /* enum stage */
};

struct output {
    uint32_t credits;
    uint32_t router;
    uint16_t holder; /* the router's input whose packet has it, or had it last */
    uint32_t node;   /* it leads there, or NOBODY: */
    uint32_t to;     /* input, or NOBODY */
    uint32_t to_router, to_local;
    bool starved; /* the holder sleeps until a credit comes */
};

struct credit {
    uint64_t cycle;
    uint32_t output;
};

enum { NOBODY = UINT32_MAX, NO_INPUT = UINT16_MAX };

/* Credits on their way, all with the same delay, so that they come back in order. */
struct credit_line {
    struct credit *ring;
    uint32_t head, count, mask; /* room for mask + 1, a power of 2 */
};

struct node {
    struct fabric_packet *first, *last;
    uint32_t waiting; /* packets of which no flit has left */
    uint32_t channel; /* virtual channel of the packet that is leaving */
    bool blocked;
    uint64_t stalled;
    struct topology_end entry;
    uint32_t *owed;          /* credits that a blocked node holds back, of each virtual channel */
    uint32_t first_ejection; /* outputs that lead here, among all */
};

struct fabric {
    const struct noc_flits_spec *spec;
    uint32_t nodes, routers, ports, channels; /* channels: virtual ones of a port */
    uint32_t classes, words, vcs;             /* vcs: virtual channels of a router's outputs */
    uint32_t hop_cycles, credit_cycles; /* of a flit into the next buffer, of its credit back */
    fabric_arrived *arrived;
    void *ctx;
    struct node *node;
    struct input *input;
    struct flit *flit; /* buffer_flits for each input */
    struct output *output;
    struct way *way; /* by router and node */
    uint64_t cycle;  /* the last that ran or is running */
    /* An input with a flit is in one of: `eager`, by router, `words` words of bits, it may get on;
     * `later`, by router and cycle mod AHEAD, it may from that cycle on; `waiting`, by router and
     * output port, for a virtual channel there; or its output is starved. */
    uint64_t *eager, *later, *waiting;
    uint64_t *untaken;     /* by router, `words` words: outputs that no packet has */
    uint64_t *due_routers; /* by cycle mod AHEAD: those with inputs in `later` */
    uint32_t router_words; /* of a set of routers */
    bool slot_each;        /* each virtual channel has a crossbar input for itself */
    bool alone_known; /* what an input gets that asks alone is known without running allocators */
    uint64_t *busy_routers, *busy_nodes;
    uint64_t *begun_nodes; /* see fabric_take_begun() */
    struct allocator vc_allocator, switch_allocator;
    struct allocator_pointers *vc_pointers, *switch_pointers; /* by router */
    uint16_t *pointer_room, *turn; /* turn: by crossbar input, the channel to be preferred */
    uint16_t *chosen; /* by crossbar input and output of the router at work: who asks */
    uint16_t **asked; /* what is set of `chosen` */
    uint32_t asked_count;
    struct credit_line hop_credits, node_credits;
    struct swift *swift; /* of networks of which fabric_swift.c runs the cycles; else NULL */
    uint32_t blocked_nodes;
    uint64_t inside; /* packets sent and not wholly out */
    uint32_t *owed_room;
    struct fabric_stats stats;
};

/* fabric_swift.c: whether it can run the fabric's cycles, and what then is done there. The fabric
 * is wired before; it is not moved by fabric.c afterwards. SONDE_ENOMEM. */
bool fabric_swift_can(const struct fabric *fabric);
int fabric_swift_create(struct fabric *fabric);
void fabric_swift_destroy(struct swift *swift);
void fabric_swift_tick(struct fabric *fabric, uint64_t cycle);
/* Of a node that is no longer blocked: of one of its virtual channels. */
void fabric_swift_credits(struct fabric *fabric, uint32_t node, uint32_t channel, uint32_t count);
uint64_t fabric_swift_stalled(const struct fabric *fabric, uint32_t node);

static inline uint32_t crossbar_inputs(const struct fabric *fabric)
{
    return fabric->ports * fabric->spec->input_speedup;
}

static inline uint32_t output_index(const struct fabric *fabric, uint32_t router, uint32_t port)
{
    return (router * fabric->ports + port) * fabric->channels;
}

static inline uint32_t node_output(const struct fabric *fabric, uint32_t node)
{
    return (fabric->routers * fabric->ports + node) * fabric->channels;
}

static inline void set_bit(uint64_t *words, uint32_t i)
{
    words[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
}

static inline void clear_bit(uint64_t *words, uint32_t i)
{
    words[i / WORD_BITS] &= ~(UINT64_C(1) << i % WORD_BITS);
}

static inline void credit_push(struct credit_line *line, struct credit credit)
{
    assert(line->count <= line->mask);
    line->ring[(line->head + line->count++) & line->mask] = credit;
}

/* The next of the node outputs whose credits come back by `cycle`; NULL: there is none. A node that
 * is blocked holds its credits back. */
static inline struct output *node_credit_next(struct fabric *fabric, uint64_t cycle)
{
    struct credit_line *line = &fabric->node_credits;
    while (line->count && line->ring[line->head & line->mask].cycle <= cycle) {
        struct output *output = &fabric->output[line->ring[line->head++ & line->mask].output];
        struct node *node = &fabric->node[output->node];
        line->count--;
        if (!node->blocked) {
            return output;
        }
        node->owed[output - &fabric->output[node->first_ejection]]++;
    }
    return NULL;
}

/* Into the node behind an output. */
static inline void fabric_deliver(struct fabric *fabric, struct output *output, struct flit flit,
                                  uint64_t cycle)
{
    uint64_t there = cycle + fabric->hop_cycles;
    credit_push(&fabric->node_credits,
                (struct credit){.cycle = there + fabric->credit_cycles,
                                .output = (uint32_t)(output - fabric->output)});
    if (flit.tail) {
        fabric->inside--;
        fabric->stats.packets++;
        fabric->stats.flits += flit.packet->flits;
        fabric->stats.routers += flit.packet->routers;
        fabric->arrived(fabric->ctx, flit.packet, there);
    }
}

static inline const struct flit *front(const struct input *in)
{
    return &in->ring[in->head];
}

/* The virtual channel with most room that no packet has; NOBODY when there is none. */
static inline uint32_t free_channel(const struct fabric *fabric, uint32_t first_output)
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

/* A node sends one flit a cycle into its router, one packet after the other. Returns the output
 * that it leaves by, NULL when none does. */
static inline struct output *node_sends(struct flit *flit, struct fabric *fabric, uint32_t node,
                                        uint64_t cycle)
{
    struct node *n = &fabric->node[node];
    struct fabric_packet *packet = n->first;
    uint32_t first_output = node_output(fabric, node);
    if (packet->enter_cycle > cycle) {
        return NULL;
    }
    if (packet->entered == 0) {
        n->channel = free_channel(fabric, first_output);
    }
    if (n->channel == NOBODY || fabric->output[first_output + n->channel].credits == 0) {
        n->stalled++;
        return NULL;
    }
    struct output *output = &fabric->output[first_output + n->channel];
    output->credits--;
    if (packet->entered == 0) {
        n->waiting--;
        set_bit(fabric->begun_nodes, node);
    }
    packet->entered++;
    *flit = (struct flit){.ready_cycle = cycle + fabric->spec->link_cycles,
                          .packet = packet,
                          .to = (uint16_t)packet->to,
                          .tail = packet->entered == packet->flits};
    if (flit->tail) {
        n->first = packet->next;
        if (!n->first) {
            clear_bit(fabric->busy_nodes, node);
        }
    }
    return output;
}

#endif
