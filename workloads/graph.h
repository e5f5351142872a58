/*
 * Directed graphs in compressed rows, for workloads: vertex v's neighbours are targets[rows[v]] up
 * to targets[rows[v + 1]]. Two kinds of random ones, and the levels of a breadth-first search.
 */
#ifndef SONDE_WORKLOADS_GRAPH_H
#define SONDE_WORKLOADS_GRAPH_H

#include "workloads/workload.h"

#define GRAPH_UNSEEN UINT32_MAX

struct graph {
    uint32_t vertices, edges;
    uint32_t *rows, *targets; /* the workbench's */
};

/*
 * Out-degrees are uniform from 0 to twice the mean, so that the lanes of a warp part; vertex 0 has
 * as many as there can be.
 */
int graph_uniform(struct graph *out, struct workbench *bench, uint32_t vertices, uint32_t mean);
/*
 * The random graph of Erdos and Renyi: `mean` / 2 edges for each vertex join any two, with the same
 * chance each, and both know of it. The first edge is vertex 0's.
 */
int graph_random(struct graph *out, struct workbench *bench, uint32_t vertices, uint32_t mean);
/* Of each vertex, how far it is from vertex 0, or GRAPH_UNSEEN. */
int graph_levels(uint32_t *levels, struct workbench *bench, const struct graph *graph);

#endif
