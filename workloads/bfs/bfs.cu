// Breadth-first search, one launch a level: threads whose vertex lies on the current level give the
// next level to neighbours that have none. Several threads may write the same vertex, but all write
// the same value, and likewise the flag that something changed. The graph is in compressed rows:
// vertex v's neighbours are targets[rows[v]] up to targets[rows[v + 1]].

extern "C" __global__ void bfs_level(unsigned *levels, unsigned *changed, const unsigned *rows,
                                     const unsigned *targets, unsigned level, unsigned vertices)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices || levels[v] != level)
        return;
    for (unsigned e = rows[v]; e < rows[v + 1]; e++) {
        unsigned target = targets[e];
        if (levels[target] == 0xffffffff) {
            levels[target] = level + 1;
            *changed = 1;
        }
    }
}
