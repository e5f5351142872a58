// Breadth-first search by frontiers, the algorithm of Harish and Narayanan (HiPC 2007): each vertex is a
// thread, with flags that say whether it lies on the frontier and whether it has been visited, and a
// launch moves the frontier by one edge. Theirs has one frontier and marks a vertex as visited when it
// is expanded: CTAs that begin late in a launch go on from what others have just found, and a vertex of
// the frontier may be found again, so that costs are no levels (of 65536 vertices of a random graph four
// of five got a wrong one, simulated). Here two frontiers take turns and a vertex is visited when it is
// found; what remains are stores of the same value by several threads.
//
// The parameters stay where they are and are loaded where they are used, as compilers of 2008 did. At 16
// registers, a core of 16384 takes two CTAs of 512 threads.

#include "frontier.h"

extern "C" __global__ void frontier_step(const __grid_constant__ struct frontier f)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= f.count || !f.flags[f.now + v])
        return;
    f.flags[f.now + v] = false;
    // Left as a loop: the compilers of the paper's time unrolled none of unknown length.
#pragma unroll 1
    for (unsigned e = f.vertices[v].first; e < f.vertices[v].first + f.vertices[v].count; e++) {
        unsigned to = f.edges[e];
        if (!f.flags[1 + to]) {
            f.flags[1 + to] = true;
            f.flags[f.next + to] = true;
            f.flags[0] = true;
            f.cost[to] = f.cost[v] + 1;
        }
    }
}
