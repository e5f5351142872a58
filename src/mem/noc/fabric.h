/*
 * Routers and channels of one flit-level network, cycle by cycle. Packets go in at a node, whole,
 * and are cut into flits; they come out at their destination when the last flit is there. What a
 * packet means is the caller's business (flits.c), as is when a cycle happens.
 *
 * A router has virtual channels at each input, each with a buffer, and sends by credits. The head
 * flit of a packet at cycle t, with nothing in its way:
 *
 *      t                       route computed
 *      t + routing             virtual channel of the next buffer allocated
 *      t + routing + vc        crossbar allocated, flit leaves its buffer
 *      ... + switch + link     flit stands in the next buffer
 *
 * The others follow, one a cycle. From node to node over n routers a packet of f flits takes
 * n (routing + vc + switch) + (n + 1) link + f - 1 cycles: there is a channel before the first
 * router and one behind the last. (Dally and Towles, Principles and Practices of Interconnection
 * Networks, 2004, chapters 16 to 19.)
 *
 * Left out: speculation, lookahead routing, adaptive routing.
 */
#ifndef SONDE_MEM_NOC_FABRIC_H
#define SONDE_MEM_NOC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/spec.h"

struct fabric;

struct fabric_packet {
    uint32_t to;          /* node */
    uint32_t flits;       /* at least 1 */
    uint64_t enter_cycle; /* not before this cycle into the node's channel */
    void *owner;          /* the caller's */
    /* The fabric's while the packet is inside: */
    struct fabric_packet *next;
    uint32_t entered; /* flits that left the node */
    uint32_t routers; /* passed */
};

/* The packet's last flit reaches its node in cycle `cycle`, later than the one that is running. */
typedef void fabric_arrived(void *ctx, struct fabric_packet *packet, uint64_t cycle);

struct fabric_stats {
    uint64_t packets, flits, routers; /* arrived; of them; routers passed by packets */
};

/*
 * `place`: of each node, where the topology has it (borrowed; fabric_check() holds). SONDE_ENOMEM.
 */
int fabric_create(struct fabric **out, const struct noc_flits_spec *spec, const uint16_t *place,
                  uint32_t nodes, fabric_arrived *arrived, void *ctx);
void fabric_destroy(struct fabric *fabric);
/* SONDE_EINPUT with the reason, unless `nodes` nodes can be joined by such a network. */
int fabric_check(const struct noc_flits_spec *spec, uint32_t nodes);
/* Places that the topology has for `nodes` nodes; only of a specification that holds. */
uint32_t fabric_places(const struct noc_flits_spec *spec, uint32_t nodes);

/* The packet, the caller's until it arrives, waits at `node` behind those sent before. */
void fabric_send(struct fabric *fabric, uint32_t node, struct fabric_packet *packet);
/* A blocked node takes no flits but those that were sent before it was. */
void fabric_block(struct fabric *fabric, uint32_t node, bool blocked);
/* One cycle; cycles rise. False: nothing is inside, so none is needed before the next packet. */
bool fabric_tick(struct fabric *fabric, uint64_t cycle);
/* Packets at `node` whose first flit has not left it. */
uint32_t fabric_waiting(const struct fabric *fabric, uint32_t node);
/* Takes one of the nodes, the lowest, of which a packet has begun to leave since it was last taken.
 * False: there is none. */
bool fabric_take_begun(struct fabric *fabric, uint32_t *node);
/* Cycles in which a flit could not leave `node` for want of a buffer. */
uint64_t fabric_stalled(const struct fabric *fabric, uint32_t node);
const struct fabric_stats *fabric_stats(const struct fabric *fabric);

#endif
