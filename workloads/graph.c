/* Random graphs and their levels, on the host. See graph.h. */
#include "workloads/graph.h"

#include <string.h>

#include "util/error.h"

static int allocate(struct graph *graph, struct workbench *bench, uint32_t vertices, size_t edges)
{
    graph->vertices = vertices;
    graph->edges = 0;
    graph->rows = workbench_array(bench, vertices + 1u, sizeof *graph->rows);
    graph->targets = workbench_array(bench, edges, sizeof *graph->targets);
    return graph->rows && graph->targets ? 0 : SONDE_ENOMEM;
}

int graph_uniform(struct graph *out, struct workbench *bench, uint32_t vertices, uint32_t mean)
{
    int rc = allocate(out, bench, vertices, (size_t)vertices * 2 * mean);
    for (uint32_t v = 0; rc == 0 && v < vertices; v++) {
        uint32_t degree = v ? (uint32_t)rng_below(&bench->rng, 2 * mean + 1) : 2 * mean;
        for (uint32_t i = 0; i < degree; i++) {
            out->targets[out->edges++] = (uint32_t)rng_below(&bench->rng, vertices);
        }
        out->rows[v + 1] = out->edges;
    }
    return rc;
}

/* Both ends' entries of every edge, from pairs of ends; `next` is where a vertex' next one goes. */
static void fill_rows(struct graph *graph, uint32_t *next, const uint32_t *ends)
{
    for (uint32_t i = 0; i < graph->edges; i++) {
        graph->rows[ends[i] + 1]++;
    }
    for (uint32_t v = 0; v < graph->vertices; v++) {
        next[v] = graph->rows[v];
        graph->rows[v + 1] += graph->rows[v];
    }
    for (uint32_t i = 0; i < graph->edges; i++) {
        graph->targets[next[ends[i]]++] = ends[i ^ 1];
    }
}

int graph_random(struct graph *out, struct workbench *bench, uint32_t vertices, uint32_t mean)
{
    size_t entries = (size_t)vertices * (mean / 2) * 2;
    uint32_t *ends = workbench_array(bench, entries, sizeof *ends);
    uint32_t *next = workbench_array(bench, vertices, sizeof *next);
    int rc = ends && next ? allocate(out, bench, vertices, entries) : SONDE_ENOMEM;
    for (size_t i = 0; rc == 0 && i < entries; i++) {
        ends[i] = i ? (uint32_t)rng_below(&bench->rng, vertices) : 0;
    }
    if (rc == 0) {
        out->edges = (uint32_t)entries;
        fill_rows(out, next, ends);
    }
    return rc;
}

int graph_levels(uint32_t *levels, struct workbench *bench, const struct graph *graph)
{
    uint32_t *queue = workbench_array(bench, graph->vertices, sizeof *queue);
    uint32_t head = 0, tail = 0;
    if (!queue) {
        return SONDE_ENOMEM;
    }
    memset(levels, 0xff, graph->vertices * sizeof *levels);
    levels[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint32_t e = graph->rows[v]; e < graph->rows[v + 1]; e++) {
            uint32_t target = graph->targets[e];
            if (levels[target] == GRAPH_UNSEEN) {
                levels[target] = levels[v] + 1;
                queue[tail++] = target;
            }
        }
    }
    return 0;
}
