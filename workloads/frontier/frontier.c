/*
 * Host side of the breadth-first search by frontiers, of the kind that Bakhoda et al. (ISPASS 2009)
 * run: a random graph of six edges a vertex. Size: vertices; block: threads of a CTA. A launch
 * moves the frontier by an edge, until nothing new is found; costs are the host's levels.
 */
#include "workloads/frontier/frontier.h"

#include <string.h>

#include "util/error.h"
#include "workloads/graph.h"

#define BLOCK 256
#define BLOCK_MAX 1024
#define DEGREE 6
#define VERTICES_MAX (1u << 28)

static int upload_vertices(struct frontier *f, struct workbench *bench, const struct graph *graph)
{
    struct vertex *vertices = workbench_array(bench, graph->vertices, sizeof *vertices);
    if (!vertices) {
        return SONDE_ENOMEM;
    }
    for (uint32_t v = 0; v < graph->vertices; v++) {
        uint32_t first = graph->rows[v];
        vertices[v] = (struct vertex){.first = first, .count = graph->rows[v + 1] - first};
    }
    return workbench_upload(bench, &f->vertices, vertices, graph->vertices * sizeof *vertices);
}

/* The graph, and a frontier of vertex 0. */
static int upload(struct frontier *f, struct workbench *bench, const struct graph *graph)
{
    uint32_t count = graph->vertices;
    uint32_t *costs = workbench_array(bench, count, sizeof *costs);
    uint8_t *flags = workbench_array(bench, 1 + 3 * (size_t)count, sizeof *flags);
    if (!costs || !flags) {
        return SONDE_ENOMEM;
    }
    *f = (struct frontier){.now = 1 + count, .next = 1 + 2 * count, .count = count};
    memset(costs, 0xff, count * sizeof *costs);
    costs[0] = 0;
    flags[1] = flags[f->now] = 1;
    int rc = upload_vertices(f, bench, graph);
    rc = rc < 0
             ? rc
             : workbench_upload(bench, &f->edges, graph->targets, graph->edges * sizeof(uint32_t));
    rc = rc < 0 ? rc : workbench_upload(bench, &f->flags, flags, 1 + 3 * (size_t)count);
    return rc < 0 ? rc : workbench_upload(bench, &f->cost, costs, count * sizeof *costs);
}

static int search(struct workbench *bench, struct frontier *f)
{
    uint32_t block = bench->settings->block ? bench->settings->block : BLOCK;
    struct workbench_shape shape = {{(f->count + block - 1) / block, 1, 1}, {block, 1, 1}};
    uint8_t more = 1;
    int rc = 0;
    while (rc == 0 && more) {
        more = 0;
        rc = workbench_write(bench, f->flags, &more, 1);
        rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "frontier_step", shape, f);
        rc = rc < 0 ? rc : workbench_download(bench, &more, f->flags, 1);
        unsigned expanded = f->now;
        f->now = f->next;
        f->next = expanded;
    }
    return rc;
}

int workload_frontier(struct workbench *bench)
{
    struct graph graph;
    struct frontier f;
    uint32_t count = bench->size;
    if (count > VERTICES_MAX || bench->settings->block > BLOCK_MAX) {
        return error_set(SONDE_EINPUT, "%u vertices in CTAs of %u threads: %u and %d at most",
                         count, bench->settings->block, VERTICES_MAX, BLOCK_MAX);
    }
    uint32_t *costs = workbench_array(bench, count, sizeof *costs);
    uint32_t *wanted = workbench_array(bench, count, sizeof *wanted);
    int rc = costs && wanted ? graph_random(&graph, bench, count, DEGREE) : SONDE_ENOMEM;
    rc = rc < 0 ? rc : graph_levels(wanted, bench, &graph);
    rc = rc < 0 ? rc : upload(&f, bench, &graph);
    rc = rc < 0 ? rc : search(bench, &f);
    rc = rc < 0 ? rc : workbench_download(bench, costs, f.cost, count * sizeof *costs);
    return rc < 0 ? rc : workbench_expect_words(costs, wanted, count);
}
