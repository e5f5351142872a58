/*
 * The network's state, in flat arrays. A router's input virtual channels are numbered port x
 * virtual_channels + channel, its output ones likewise; those of all routers follow one another.
 * Behind the outputs of the routers come those of the nodes, so that a node sends into its router
 * as routers do into each other. Made by fabric_build.c, moved by fabric.c.
 */
#ifndef SONDE_MEM_NOC_FABRIC_STATE_H
#define SONDE_MEM_NOC_FABRIC_STATE_H

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
    uint64_t ready_cycle : 63; /* stands in the buffer from then on */
    uint64_t tail : 1;
};

/* What the packet at the front of a buffer has got so far; IDLE: there is none. */
enum stage { STAGE_IDLE, STAGE_ROUTED, STAGE_ACTIVE };

/* Of a router to a node: the output port, and the outputs that a packet may take there. */
struct way {
    uint16_t port, first, count;
};

/* What is asked of one in a cycle is in one line of a cache. */
struct input {
    struct flit *ring;
    const struct way *ways;   /* of its router, by node */
    struct output *credit_to; /* the output that sends here */
    struct output *taken;     /* the output it has, once ACTIVE */
    uint64_t ready_cycle;     /* the next step may be taken */
    uint32_t head, count;
    uint16_t output; /* which of the router's it is */
    uint16_t slot;   /* crossbar input that serves it */
    struct way way;
    uint16_t channel; /* its number at its port */
    uint8_t stage;    /* enum stage */
};

struct output {
    uint32_t credits;
    uint32_t router;
    uint16_t holder; /* the router's input whose packet has it, or had it last */
    bool starved;    /* the holder sleeps until a credit comes */
    uint32_t node;   /* it leads there, or NOBODY: */
    uint32_t to_router, to_local;
    struct input *to;
};

struct credit {
    uint64_t cycle;
    struct output *output;
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
    struct allocator vc_allocator, switch_allocator;
    struct allocator_pointers *vc_pointers, *switch_pointers; /* by router */
    uint16_t *pointer_room, *turn; /* turn: by crossbar input, the channel to be preferred */
    uint16_t *chosen; /* by crossbar input and output of the router at work: who asks */
    uint16_t **asked; /* what is set of `chosen` */
    uint32_t asked_count;
    struct credit_line hop_credits, node_credits;
    uint64_t inside; /* packets sent and not wholly out */
    uint32_t *owed_room;
    struct fabric_stats stats;
};

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

#endif
