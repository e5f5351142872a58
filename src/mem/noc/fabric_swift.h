/*
 * What fabric_swift.c keeps of a network in place of inputs, outputs and sets of fabric_state.h,
 * with the same numbering of routers, ports and inputs: filled by fabric_swift_build.c from these.
 */
#ifndef SONDE_MEM_NOC_FABRIC_SWIFT_H
#define SONDE_MEM_NOC_FABRIC_SWIFT_H

#include "mem/noc/fabric_state.h"

/* Asks and ways begin with a port; behind it are an input of its router, or a group. */
enum { AT_ONCE = 4 /* of a word of a set that are listed without a branch */ };
enum { PORT_SHIFT = 8, MAX_PORTS = 1 << 24, MAX_DEPTH = 255, MAX_FLITS = 1 << 29 };

/* Of a flit: its packet's place among those inside, HEAD, TAIL; and the cycle from which on it
 * stands in the buffer, of which the lower half is kept. */
typedef uint64_t swift_flit;
enum { TAIL = 1, HEAD = 2, PACKET_SHIFT = 2, READY_SHIFT = 32 };

/* A virtual channel's buffer. */
struct swift_input {
    uint32_t front;     /* the place of its first flit */
    uint32_t credit_to; /* the output that sends here */
    uint32_t taken;     /* the output that its packet has */
    uint32_t prefers;   /* output to be preferred of its router's, of those that are granted */
    uint16_t count;
    uint16_t group; /* of the channels that its packet may take */
};

struct swift_output {
    uint32_t holder; /* the input whose packet has it, or had it last */
    uint16_t credits;
    uint8_t prefers; /* input of the router to be preferred, of those that ask for it */
};

/* Of a router, or behind all of these of a node. */
struct swift_port {
    uint64_t asking;              /* the router's inputs that ask for a channel */
    uint32_t untaken;             /* its channels that no packet has */
    uint32_t first, ways;         /* the router's first input, and ways */
    uint32_t behind, behind_ways; /* the first input behind it, or NOBODY; that router's ways */
    uint32_t prefers;             /* input to be preferred at the crossbar, and those behind it */
    uint32_t node;                /* the node behind it, or NOBODY */
    uint8_t behind_local;         /* the input's number at its router */
};

struct swift_move {
    swift_flit flit;
    uint32_t output, input; /* by which it leaves, and where it stood */
    uint32_t port, to;      /* the output's, and the input behind it */
};

/* What is due in each of some cycles to come: lists, of which the first word is the length. */
struct turns {
    uint32_t *list;
    uint32_t shift; /* of a list's number */
};

/* Outputs are numbered by port: those of a port begin at a power of 2, and lie in one word of a set
 * of outputs. */
struct swift {
    struct swift_input *input;
    swift_flit *flit; /* for each input a ring */
    struct swift_output *output;
    struct swift_port *port;
    uint32_t *way;                /* by router and node: port, group of channels */
    uint64_t *asked, *open;       /* ports for a channel of which some ask; with channels untaken */
    uint64_t *ready;              /* outputs whose packet has a flit that could go */
    uint64_t *credited;           /* with room behind */
    uint64_t *later;              /* by turn: that are ready then */
    struct turns asks;            /* by turn: ports and inputs that ask then */
    struct turns credits;         /* by turn: outputs */
    uint64_t *later_hop;          /* of the cycle when a flit that leaves now is in its buffer */
    uint32_t *asks_hop;           /* of that when it then asks */
    uint32_t *given_back;         /* those that are given back in this cycle */
    uint32_t ring_mask;           /* of a flit's place, in its ring */
    uint32_t ports, node_outputs; /* node_outputs: the first of them */
    uint32_t port_words, words;   /* words: of a set of outputs */
    uint32_t channels, channel_shift;
    uint32_t turn_mask; /* more than any delay */
    uint32_t groups[3]; /* channels of the first class, of the second, all */
    uint32_t routing_cycles, vc_cycles, hop_cycles, credit_cycles;
    bool nodes_share; /* a router has several nodes: what they get in a cycle goes by inputs */
    struct swift_move *move;                 /* flits that leave in this cycle */
    uint32_t *list;                          /* of ports or outputs */
    uint32_t *onward, *delivered, *going_on; /* of moves */
    struct fabric_packet **packet;           /* inside the network, by place */
    uint16_t *to;                            /* their nodes */
    uint32_t *free, free_count;              /* places */
    uint32_t *leaving;                       /* by node: of the packet that is leaving */
    uint16_t *passed;        /* by node and node: routers between them; 0: not counted yet */
    uint64_t *starved;       /* nodes that wait for a credit, and */
    uint64_t *wanted;        /* the outputs of which they do; */
    uint64_t *starved_since; /* the first tick of which that is not counted yet */
    uint64_t ticks;
};

#endif
