/*
 * Host side of the breadth-first search. Size: vertices; block: threads of a CTA. The graph is
 * random, of out-degrees 0 to 2 * DEGREE, so that the lanes of a warp part; vertex 0 has neighbours
 * for certain.
 */
#include "workloads/workload.h"

#include <string.h>

#include "util/error.h"

#define BLOCK 256
#define BLOCK_MAX 1024
#define DEGREE 6
#define UNSEEN UINT32_MAX

struct graph {
    uint32_t vertices, edges;
    uint32_t *rows, *targets;
};

static int make_graph(struct graph *graph, struct workbench *bench)
{
    uint32_t vertices = bench->size;
    graph->vertices = vertices;
    graph->rows = workbench_array(bench, vertices + 1u, sizeof *graph->rows);
    graph->targets = workbench_array(bench, (size_t)vertices * 2 * DEGREE, sizeof *graph->targets);
    if (!graph->rows || !graph->targets) {
        return SONDE_ENOMEM;
    }
    graph->edges = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        uint32_t degree = v ? (uint32_t)rng_below(&bench->rng, 2 * DEGREE + 1) : 2 * DEGREE;
        for (uint32_t i = 0; i < degree; i++) {
            graph->targets[graph->edges++] = (uint32_t)rng_below(&bench->rng, vertices);
        }
        graph->rows[v + 1] = graph->edges;
    }
    return 0;
}

static int reference(struct workbench *bench, uint32_t *levels, const struct graph *graph)
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
            if (levels[target] == UNSEEN) {
                levels[target] = levels[v] + 1;
                queue[tail++] = target;
            }
        }
    }
    return 0;
}

static int search(struct workbench *bench, uint64_t at_levels, uint64_t at_rows,
                  uint64_t at_targets, uint32_t vertices)
{
    uint32_t block = bench->settings->block ? bench->settings->block : BLOCK;
    struct workbench_shape shape = {{(vertices + block - 1) / block, 1, 1}, {block, 1, 1}};
    uint64_t at_changed;
    uint32_t changed = 1, zero = 0;
    int rc = workbench_upload(bench, &at_changed, NULL, sizeof changed);
    for (uint32_t level = 0; rc == 0 && changed; level++) {
        rc = workbench_write(bench, at_changed, &zero, sizeof zero);
        rc = rc < 0 ? rc
                    : WORKBENCH_LAUNCH(bench, "bfs_level", shape, &at_levels, &at_changed, &at_rows,
                                       &at_targets, &level, &vertices);
        rc = rc < 0 ? rc : workbench_download(bench, &changed, at_changed, sizeof changed);
    }
    return rc;
}

int workload_bfs(struct workbench *bench)
{
    struct graph graph;
    uint32_t vertices = bench->size;
    uint64_t at_levels, at_rows, at_targets;
    if (bench->settings->block > BLOCK_MAX) {
        return error_set(SONDE_EINPUT, "a CTA of %u threads: %d at most", bench->settings->block,
                         BLOCK_MAX);
    }
    uint32_t *levels = workbench_array(bench, vertices, sizeof *levels);
    uint32_t *wanted = workbench_array(bench, vertices, sizeof *wanted);
    int rc = levels && wanted ? make_graph(&graph, bench) : SONDE_ENOMEM;
    rc = rc < 0 ? rc : reference(bench, wanted, &graph);
    if (rc < 0) {
        return rc;
    }
    memset(levels, 0xff, vertices * sizeof *levels);
    levels[0] = 0;
    rc = workbench_upload(bench, &at_levels, levels, vertices * sizeof *levels);
    rc = rc < 0 ? rc
                : workbench_upload(bench, &at_rows, graph.rows, (vertices + 1u) * sizeof *levels);
    rc = rc < 0 ? rc
                : workbench_upload(bench, &at_targets, graph.targets, graph.edges * sizeof *levels);
    rc = rc < 0 ? rc : search(bench, at_levels, at_rows, at_targets, vertices);
    rc = rc < 0 ? rc : workbench_download(bench, levels, at_levels, vertices * sizeof *levels);
    return rc < 0 ? rc : workbench_expect_words(levels, wanted, vertices);
}
