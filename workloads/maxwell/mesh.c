/* Meshes of tetrahedra: cubes, each cut into the six that have a diagonal in common. */
#include <math.h>
#include <string.h>

#include "util/error.h"
#include "workloads/maxwell/element.h"

#define PER_CUBE 6

static uint32_t lattice(const uint32_t cubes[3], const uint32_t at[3])
{
    return (at[2] * (cubes[1] + 1) + at[1]) * (cubes[0] + 1) + at[0];
}

static void add_points(struct mesh *mesh, const uint32_t cubes[3])
{
    uint32_t at[3];
    for (at[2] = 0; at[2] <= cubes[2]; at[2]++) {
        for (at[1] = 0; at[1] <= cubes[1]; at[1]++) {
            for (at[0] = 0; at[0] <= cubes[0]; at[0]++, mesh->point_count++) {
                for (int axis = 0; axis < 3; axis++) {
                    mesh->points[mesh->point_count][axis] = at[axis];
                }
            }
        }
    }
}

/* From one corner to the other, by each order of the axes. */
static void add_cube(struct mesh *mesh, const uint32_t cubes[3], const uint32_t corner[3])
{
    static const uint8_t orders[PER_CUBE][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                                {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int i = 0; i < PER_CUBE; i++) {
        struct tetrahedron *tet = &mesh->elements[mesh->count++];
        uint32_t at[3];
        memcpy(at, corner, sizeof at);
        for (int k = 0; k < 4; k++) {
            /* The last three turn the other way: two vertices change places. */
            int to = i >= 3 && k >= 2 ? 5 - k : k;
            tet->vertex[to] = lattice(cubes, at);
            if (k < 3) {
                at[orders[i][k]]++;
            }
        }
    }
}

/* Do two elements have the face opposite to a's vertex in common? Then b's vertex opposite to it.
 */
static int common_face(const struct tetrahedron *a, int face, const struct tetrahedron *b)
{
    int missing = -1, found = 0;
    for (int k = 0; k < 4; k++) {
        bool has = false;
        for (int i = 0; i < 4; i++) {
            has |= i != face && a->vertex[i] == b->vertex[k];
        }
        found += has;
        missing = has ? missing : k;
    }
    return found == 3 ? missing : -1;
}

static void find_neighbours(struct mesh *mesh)
{
    for (uint32_t a = 0; a < mesh->count; a++) {
        for (int face = 0; face < FACES; face++) {
            struct tetrahedron *tet = &mesh->elements[a];
            tet->neighbour[face] = NOBODY;
            for (uint32_t b = 0; b < mesh->count && tet->neighbour[face] == NOBODY; b++) {
                bool meets = b != a && common_face(tet, face, &mesh->elements[b]) >= 0;
                tet->neighbour[face] = meets ? b : NOBODY;
            }
        }
    }
}

/* An edge between two walls of one element belongs to no other: it is cut, and the element with
 * it. */
static bool split_one(struct mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->count; i++) {
        struct tetrahedron *tet = &mesh->elements[i];
        uint32_t walls[FACES], count = 0;
        for (uint32_t face = 0; face < FACES; face++) {
            if (tet->neighbour[face] == NOBODY) {
                walls[count++] = face;
            }
        }
        if (count < 2) {
            continue;
        }
        /* The edge's ends are the vertices opposite to the other two faces. */
        uint32_t ends[2] = {0, 0}, found = 0;
        for (uint32_t k = 0; k < 4; k++) {
            if (k != walls[0] && k != walls[1]) {
                ends[found++] = k;
            }
        }
        uint32_t middle = mesh->point_count++;
        for (int axis = 0; axis < 3; axis++) {
            mesh->points[middle][axis] = (mesh->points[tet->vertex[ends[0]]][axis] +
                                          mesh->points[tet->vertex[ends[1]]][axis]) /
                                         2;
        }
        mesh->elements[mesh->count] = *tet;
        mesh->elements[mesh->count++].vertex[ends[0]] = middle;
        tet->vertex[ends[1]] = middle;
        return true;
    }
    return false;
}

/* Rows of the inverse of the map from the unit simplex. */
static void find_gradients(struct mesh *mesh, struct tetrahedron *tet)
{
    double edge[3][3], volume = 0;
    memcpy(tet->origin, mesh->points[tet->vertex[0]], sizeof tet->origin);
    for (int k = 0; k < 3; k++) {
        for (int axis = 0; axis < 3; axis++) {
            edge[k][axis] = mesh->points[tet->vertex[k + 1]][axis] - tet->origin[axis];
        }
    }
    for (int k = 0; k < 3; k++) {
        const double *a = edge[(k + 1) % 3], *b = edge[(k + 2) % 3];
        for (int axis = 0; axis < 3; axis++) {
            int y = (axis + 1) % 3, z = (axis + 2) % 3;
            tet->gradient[k + 1][axis] = a[y] * b[z] - a[z] * b[y];
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        volume += edge[0][axis] * tet->gradient[1][axis];
    }
    for (int axis = 0; axis < 3; axis++) {
        tet->gradient[0][axis] = 0;
        for (int k = 1; k < 4; k++) {
            tet->gradient[k][axis] /= volume;
            tet->gradient[0][axis] -= tet->gradient[k][axis];
        }
    }
}

void mesh_place(double out[3], const struct mesh *mesh, uint32_t element, const double at[3])
{
    const struct tetrahedron *tet = &mesh->elements[element];
    for (int axis = 0; axis < 3; axis++) {
        out[axis] = tet->origin[axis];
        for (int k = 0; k < 3; k++) {
            out[axis] += at[k] * (mesh->points[tet->vertex[k + 1]][axis] - tet->origin[axis]);
        }
    }
}

int mesh_make(struct mesh *mesh, struct workbench *bench, uint32_t count)
{
    uint32_t boxes = count < PER_CUBE ? 1 : count / PER_CUBE, wide = boxes % 4 == 0 ? 2 : 1;
    const uint32_t cubes[3] = {boxes / (wide * wide), wide, wide};
    uint32_t at[3], points = (cubes[0] + 1) * (wide + 1) * (wide + 1) + PER_CUBE;
    *mesh = (struct mesh){
        .points = workbench_array(bench, points, sizeof *mesh->points),
        .elements = workbench_array(bench, (size_t)(boxes + 1) * PER_CUBE, sizeof *mesh->elements)};
    if (!mesh->points || !mesh->elements) {
        return SONDE_ENOMEM;
    }
    add_points(mesh, cubes);
    for (at[2] = 0; at[2] < cubes[2]; at[2]++) {
        for (at[1] = 0; at[1] < cubes[1]; at[1]++) {
            for (at[0] = 0; at[0] < cubes[0]; at[0]++) {
                add_cube(mesh, cubes, at);
            }
        }
    }
    mesh->count = mesh->count < count ? mesh->count : count;
    find_neighbours(mesh);
    while (mesh->count < count && split_one(mesh)) {
        find_neighbours(mesh);
    }
    for (uint32_t i = 0; i < mesh->count; i++) {
        find_gradients(mesh, &mesh->elements[i]);
    }
    return mesh->count == count ? 0 : error_set(SONDE_EINTERNAL, "no edge is left to be cut");
}
