/*
 * The reference element of order 6: the unit simplex with its nodes at sixths, the derivatives of
 * polynomials that are given by their values there, and what a flux through a face does to them.
 * And meshes of such elements.
 */
#ifndef SONDE_WORKLOADS_MAXWELL_ELEMENT_H
#define SONDE_WORKLOADS_MAXWELL_ELEMENT_H

#include "workloads/workload.h"

#define ORDER 6
#define NODES 84
#define FACES 4
#define FACE_NODES 28
#define SURFACE (FACES * FACE_NODES)
#define NOBODY UINT32_MAX

struct element {
    double at[NODES][3];
    double derivative[3][NODES][NODES]; /* by axis: of node n, from node m */
    double lift[NODES][SURFACE];        /* to node n, from a face's node */
    uint32_t face_node[FACES][FACE_NODES];
};

struct tetrahedron {
    uint32_t vertex[4];
    uint32_t neighbour[FACES]; /* beyond the face opposite to that vertex; NOBODY: a wall */
    double gradient[4][3];     /* of each vertex' barycentric coordinate */
    double origin[3];
};

struct mesh {
    double (*points)[3];
    struct tetrahedron *elements;
    uint32_t point_count, count;
};

/* SONDE_EINTERNAL where a matrix has no inverse. */
int element_make(struct element *element, struct workbench *bench);

/* `count` tetrahedra: cubes cut into six, in two rows of two where that comes out even, and
 * outer edges cut in halves until there are enough. */
int mesh_make(struct mesh *mesh, struct workbench *bench, uint32_t count);
void mesh_place(double out[3], const struct mesh *mesh, uint32_t element, const double at[3]);

#endif
