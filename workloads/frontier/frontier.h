/*
 * What the search's kernel is told, for both sides: device addresses are pointers there and numbers
 * on the host.
 */
#ifndef SONDE_WORKLOADS_FRONTIER_H
#define SONDE_WORKLOADS_FRONTIER_H

#ifdef __CUDACC__
#define AT(type) type *
#else
#include <stdint.h>
#define AT(type) uint64_t
#endif

struct vertex {
    unsigned first, count; /* of its edges */
};

/*
 * An address takes two registers, of which the machines of the time had few: the flags have one
 * address for all. flags[0]: there is a next frontier; flags[1 + v]: v has been visited; flags[now
 * + v] and flags[next + v]: v lies on the frontier and on the next one.
 */
struct frontier {
    AT(const struct vertex) vertices;
    AT(const unsigned) edges; /* where each leads */
    AT(unsigned) cost;
    AT(bool) flags;
    unsigned now, next, count;
};

#endif
