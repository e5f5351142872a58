/*
 * Host side of the breadth-first search by levels. Size: vertices; block: threads of a CTA.
 */
#include "workloads/graph.h"

#include <string.h>

#include "util/error.h"

#define BLOCK 256
#define BLOCK_MAX 1024
#define DEGREE 6

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
    int rc = levels && wanted ? graph_uniform(&graph, bench, vertices, DEGREE) : SONDE_ENOMEM;
    rc = rc < 0 ? rc : graph_levels(wanted, bench, &graph);
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
