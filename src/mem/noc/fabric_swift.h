/*
 * What fabric_swift.c keeps of a network in place of inputs, outputs and sets of fabric_state.h,
 * with the same numbering of routers, ports and inputs: filled by fabric_swift_build.c from these.
 */
#ifndef SONDE_MEM_NOC_FABRIC_SWIFT_H
#define SONDE_MEM_NOC_FABRIC_SWIFT_H

#include "mem/noc/fabric_state.h"

/* Steps and ways begin with a port; behind it are an input or a channel of it, or a group. */
enum { PORT_SHIFT = 8, MAX_PORTS = 1 << 24, MAX_DEPTH = 255, MAX_FLITS = 1 << 29 };

struct swift_flit {
    uint32_t word;        /* its packet's place among those inside, HEAD, TAIL */
    uint32_t ready_cycle; /* stands in the buffer from then on; its lower half */
};

enum { TAIL = 1, HEAD_SHIFT = 1, PACKET_SHIFT = 2 };

/* A virtual channel's buffer. */
struct swift_input {
    uint32_t credit_to; /* the output that sends here */
    uint32_t taken;     /* the step of a packet that has a channel: a flit of it could leave */
    uint16_t head, count;
    uint16_t prefers; /* channel of its router to be preferred, of those that are granted */
    uint16_t group;   /* of the channels that its packet may take */
};

struct swift_output {
    uint16_t credits;
    uint8_t holder;  /* the router's input whose packet has it, or had it last */
    uint8_t prefers; /* input to be preferred, of those that ask for it */
};

/* Of a router, or behind all of these of a node. */
struct swift_port {
    uint64_t asking; /* the router's inputs that ask for a channel */
    /* Its channels that no packet has; whose packet has a flit that could go; with room behind. */
    uint32_t untaken, ready, credited;
    uint32_t first, ways;         /* the router's first input, and ways */
    uint32_t behind, behind_ways; /* the first input behind it, or NOBODY; that router's ways */
    uint32_t node;                /* the node behind it, or NOBODY */
    uint8_t behind_local;         /* the input's number at its router */
    uint8_t base;                 /* its first channel's number at its router */
    uint8_t prefers;              /* input to be preferred at the crossbar, and those behind it */
};

/* What is due in each of some cycles to come: lists, of which the first word is the length. */
struct turns {
    uint32_t *list;
    uint32_t shift; /* of a list's number */
};

struct swift {
    struct swift_input *input;
    struct swift_flit *flit;     /* for each input a ring */
    struct swift_output *output; /* of a port, and so on: each begins at a power of 2 */
    struct swift_port *port;
    uint32_t *way;                         /* by router and node: port, group of channels */
    uint64_t *asked_ports, *leaving_ports; /* at which something can happen */
    struct turns steps;                    /* by turn: of those with a channel; of those that ask */
    struct turns credits;                  /* by turn: outputs */
    uint32_t *given_back;                  /* the list of those that are given back in this cycle */
    uint32_t channels, channel_shift, ring_shift, ports, port_words;
    uint32_t turn_mask; /* more than any delay */
    uint32_t groups[3]; /* channels of the first class, of the second, all */
    uint32_t routing_cycles, vc_cycles, hop_cycles, credit_cycles;
    bool nodes_share; /* a router has several nodes: what they get in a cycle goes by inputs */
    struct swift_winner {
        uint32_t input, at, channel;
    } * winner;
    struct fabric_packet **packet; /* inside the network, by place */
    uint16_t *to;                  /* their nodes */
    uint32_t *free, free_count;    /* places */
    uint32_t *leaving;             /* by node: of the packet that is leaving */
    uint16_t *passed;              /* by node and node: routers between them; 0: not counted yet */
};

#endif
