/*
 * Host side of Maxwell's equations. Size: elements; depth: time steps, 2 where it is not said. The
 * fields begin as a mode of the box with something random added to each element, so that faces have
 * work to do. The reference goes element by element in double precision; of the kernels it has the
 * matrices alone.
 */
#include "workloads/workload.h"

#include <math.h>
#include <string.h>

#include "isa/image.h"
#include "util/error.h"
#include "workloads/maxwell/element.h"

#define PITCH 96
#define FIELDS 6
#define STRIDE (FIELDS * PITCH) /* of an element */
#define STAGES 5
#define STAGE_BLOCK 256
#define ELEMENTS_MAX 3000
#define STEPS_MAX 1000
#define TOLERANCE 2e-5 /* absolute, of fields up to 1: a float's sums of 84 and 112 products */

/* M. Carpenter, C. Kennedy, NASA TM 109112, 1994: five stages, two vectors. */
static const double stage_a[STAGES] = {
    0, -567301805773.0 / 1357537059087, -2404267990393.0 / 2016746695238,
    -3550918686646.0 / 2091501179385, -1275806237668.0 / 842570457699};
static const double stage_b[STAGES] = {
    1432997174477.0 / 9575080441755, 5161836677717.0 / 13612068292357,
    1720146321549.0 / 2090206949498, 3134564353537.0 / 4481467310338,
    2277821191437.0 / 14882151754819};

/* As the kernels have them. */
struct metric {
    float axes[3][3];
};

struct face {
    float normal[3], scale;
    uint32_t wall;
};

struct problem {
    struct element element;
    struct mesh mesh;
    uint32_t *inside,
        *outside; /* SURFACE of each element: where a face's node and its other side lie */
    double *fields, *change, *kept;
    double step;
    uint32_t steps, values;
};

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* The node of the neighbour that lies where this one does. */
static uint32_t twin(const struct problem *p, uint32_t neighbour, const double at[3])
{
    uint32_t best = 0;
    double nearest = INFINITY;
    for (uint32_t n = 0; n < NODES; n++) {
        double there[3];
        mesh_place(there, &p->mesh, neighbour, p->element.at[n]);
        const double apart[3] = {there[0] - at[0], there[1] - at[1], there[2] - at[2]};
        best = length(apart) < nearest ? n : best;
        nearest = fmin(nearest, length(apart));
    }
    return best;
}

static void connect(struct problem *p)
{
    for (uint32_t i = 0; i < p->mesh.count * SURFACE; i++) {
        uint32_t e = i / SURFACE, face = i % SURFACE / FACE_NODES;
        uint32_t node = p->element.face_node[face][i % FACE_NODES];
        uint32_t beyond = p->mesh.elements[e].neighbour[face];
        double at[3];
        mesh_place(at, &p->mesh, e, p->element.at[node]);
        p->inside[i] = p->outside[i] = e * STRIDE + node;
        if (beyond != NOBODY) {
            p->outside[i] = beyond * STRIDE + twin(p, beyond, at);
        }
    }
}

static void begin(struct problem *p, struct rng *rng)
{
    for (uint32_t e = 0; e < p->mesh.count; e++) {
        double more[FIELDS];
        for (int f = 0; f < FIELDS; f++) {
            more[f] = 0.2 * rng_double(rng) - 0.1;
        }
        for (uint32_t n = 0; n < NODES; n++) {
            double at[3], *out = p->fields + (size_t)e * STRIDE + n;
            mesh_place(at, &p->mesh, e, p->element.at[n]);
            const double mode[FIELDS] = {sin(at[0]) * cos(at[1]), -cos(at[0]) * sin(at[1]), 0, 0, 0,
                                         sin(at[0]) * sin(at[1])};
            for (int f = 0; f < FIELDS; f++) {
                out[f * PITCH] = (float)(0.5 * mode[f] + more[f] * (1 + at[f % 3] / 10));
            }
        }
    }
}

/* ---- the reference ---- */

static void cross(double out[3], const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++) {
        int y = (i + 1) % 3, z = (i + 2) % 3;
        out[i] = a[y] * b[z] - a[z] * b[y];
    }
}

/* dH/dt = -curl E, dE/dt = curl H at a node. */
static void add_curls(struct problem *p, uint32_t e, uint32_t n)
{
    const struct tetrahedron *tet = &p->mesh.elements[e];
    double curls[2][3] = {{0}};
    for (uint32_t m = 0; m < NODES; m++) {
        const double *from = p->fields + (size_t)e * STRIDE + m;
        double slope[3], part[3];
        for (int axis = 0; axis < 3; axis++) {
            slope[axis] = 0;
            for (int k = 0; k < 3; k++) {
                slope[axis] += tet->gradient[k + 1][axis] * p->element.derivative[k][n][m];
            }
        }
        for (int which = 0; which < 2; which++) {
            const double v[3] = {from[3 * which * PITCH], from[(3 * which + 1) * PITCH],
                                 from[(3 * which + 2) * PITCH]};
            cross(part, slope, v);
            for (int i = 0; i < 3; i++) {
                curls[which][i] += part[i];
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        p->change[(size_t)e * STRIDE + i * PITCH + n] = -curls[1][i];
        p->change[(size_t)e * STRIDE + (3 + i) * PITCH + n] = curls[0][i];
    }
}

/* What flows through one point of a face: of H and E. */
static void find_flux(double flux[FIELDS], const struct problem *p, uint32_t e, uint32_t point)
{
    uint32_t face = point / FACE_NODES;
    const struct tetrahedron *tet = &p->mesh.elements[e];
    const double *in = p->fields + p->inside[e * SURFACE + point];
    const double *out = p->fields + p->outside[e * SURFACE + point];
    double scale = length(tet->gradient[face]), normal[3], jump[2][3], turned[2][3];
    for (int i = 0; i < 3; i++) {
        bool wall = tet->neighbour[face] == NOBODY;
        normal[i] = -tet->gradient[face][i] / scale;
        jump[0][i] = wall ? 0 : out[i * PITCH] - in[i * PITCH];
        jump[1][i] = wall ? -2 * in[(3 + i) * PITCH] : out[(3 + i) * PITCH] - in[(3 + i) * PITCH];
    }
    for (int which = 0; which < 2; which++) {
        cross(turned[which], normal, jump[1 - which]);
        double along = 0;
        for (int i = 0; i < 3; i++) {
            along += normal[i] * jump[which][i];
        }
        for (int i = 0; i < 3; i++) {
            double central = which == 0 ? -turned[0][i] : turned[1][i];
            flux[3 * which + i] = scale / 2 * (central + jump[which][i] - along * normal[i]);
        }
    }
}

static void add_fluxes(struct problem *p, uint32_t e)
{
    for (uint32_t point = 0; point < SURFACE; point++) {
        double flux[FIELDS];
        find_flux(flux, p, e, point);
        for (uint32_t i = 0; i < FIELDS * NODES; i++) {
            p->change[(size_t)e * STRIDE + i / NODES * PITCH + i % NODES] +=
                p->element.lift[i % NODES][point] * flux[i / NODES];
        }
    }
}

static void advance(struct problem *p)
{
    for (uint32_t stage = 0; stage < p->steps * STAGES; stage++) {
        for (uint32_t i = 0; i < p->mesh.count * NODES; i++) {
            add_curls(p, i / NODES, i % NODES);
        }
        for (uint32_t e = 0; e < p->mesh.count; e++) {
            add_fluxes(p, e);
        }
        for (uint32_t i = 0; i < p->values; i++) {
            p->kept[i] = stage_a[stage % STAGES] * p->kept[i] + p->step * p->change[i];
            p->fields[i] += stage_b[stage % STAGES] * p->kept[i];
        }
    }
}

/* ---- the device ---- */

struct memory {
    uint64_t fields, kept, change, metrics, faces, inside, outside, derivatives, lift;
    uint64_t textures[3]; /* fields, derivatives, lift */
};

static int send_matrices(struct workbench *bench, struct memory *m, const struct element *element)
{
    float *d = workbench_array(bench, (size_t)4 * NODES * NODES, sizeof *d);
    float *l = workbench_array(bench, (size_t)NODES * SURFACE, sizeof *l);
    if (!d || !l) {
        return SONDE_ENOMEM;
    }
    for (int i = 0; i < NODES * NODES; i++) {
        for (int k = 0; k < 3; k++) { /* four words a texel, the last unused */
            d[4 * i + k] = (float)element->derivative[k][i % NODES][i / NODES];
        }
    }
    for (int i = 0; i < NODES * SURFACE; i++) {
        l[i] = (float)element->lift[i / 4 % NODES][i / (4 * NODES) * 4 + i % 4];
    }
    int rc = workbench_upload(bench, &m->derivatives, d, (size_t)4 * NODES * NODES * sizeof *d);
    return rc < 0 ? rc : workbench_upload(bench, &m->lift, l, (size_t)NODES * SURFACE * sizeof *l);
}

static int send_geometry(struct workbench *bench, struct memory *m, const struct problem *p)
{
    uint32_t count = p->mesh.count;
    struct metric *metrics = workbench_array(bench, count, sizeof *metrics);
    struct face *faces = workbench_array(bench, (size_t)count * FACES, sizeof *faces);
    if (!metrics || !faces) {
        return SONDE_ENOMEM;
    }
    for (uint32_t e = 0; e < count; e++) {
        const struct tetrahedron *tet = &p->mesh.elements[e];
        for (int k = 0; k < 9; k++) {
            metrics[e].axes[k / 3][k % 3] = (float)tet->gradient[k / 3 + 1][k % 3];
        }
        for (int f = 0; f < FACES; f++) {
            struct face *face = &faces[e * FACES + f];
            face->scale = (float)length(tet->gradient[f]);
            face->wall = tet->neighbour[f] == NOBODY;
            for (int i = 0; i < 3; i++) {
                face->normal[i] = (float)(-tet->gradient[f][i] / length(tet->gradient[f]));
            }
        }
    }
    size_t bytes = (size_t)count * SURFACE * sizeof *p->inside;
    int rc = workbench_upload(bench, &m->metrics, metrics, count * sizeof *metrics);
    rc = rc < 0 ? rc
                : workbench_upload(bench, &m->faces, faces, (size_t)count * FACES * sizeof *faces);
    rc = rc < 0 ? rc : workbench_upload(bench, &m->inside, p->inside, bytes);
    return rc < 0 ? rc : workbench_upload(bench, &m->outside, p->outside, bytes);
}

static int send_fields(struct workbench *bench, struct memory *m, const struct problem *p)
{
    float *fields = workbench_array(bench, p->values, sizeof *fields);
    if (!fields) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < p->values; i++) {
        fields[i] = (float)p->fields[i];
    }
    int rc = workbench_upload(bench, &m->fields, fields, p->values * sizeof *fields);
    rc = rc < 0 ? rc : workbench_upload(bench, &m->kept, NULL, p->values * sizeof *fields);
    rc = rc < 0 ? rc : workbench_upload(bench, &m->change, NULL, p->values * sizeof *fields);
    const struct image_spec specs[3] = {{.shape = IMAGE_BUFFER,
                                         .format = {TEXEL_FLOAT, 32, 1},
                                         .width = p->values,
                                         .address = m->fields},
                                        {.shape = IMAGE_BUFFER,
                                         .format = {TEXEL_FLOAT, 32, 4},
                                         .width = NODES * NODES,
                                         .address = m->derivatives},
                                        {.shape = IMAGE_BUFFER,
                                         .format = {TEXEL_FLOAT, 32, 4},
                                         .width = NODES * SURFACE / 4,
                                         .address = m->lift}};
    for (int i = 0; rc == 0 && i < 3; i++) {
        rc = workbench_texture(bench, &m->textures[i], &specs[i], NULL);
    }
    return rc;
}

static int launch(struct workbench *bench, struct memory *m, const struct problem *p)
{
    struct workbench_shape volume = {{p->mesh.count, 1, 1}, {NODES, 1, 1}};
    struct workbench_shape surface = {{p->mesh.count, 1, 1}, {SURFACE, 1, 1}};
    struct workbench_shape all = {{(p->values + STAGE_BLOCK - 1) / STAGE_BLOCK, 1, 1},
                                  {STAGE_BLOCK, 1, 1}};
    int rc = 0;
    for (uint32_t stage = 0; rc == 0 && stage < p->steps * STAGES; stage++) {
        float a = (float)stage_a[stage % STAGES], b = (float)stage_b[stage % STAGES],
              step = (float)p->step;
        rc = WORKBENCH_LAUNCH(bench, "maxwell_volume", volume, &m->change, &m->textures[0],
                              &m->textures[1], &m->metrics);
        rc = rc < 0
                 ? rc
                 : WORKBENCH_LAUNCH(bench, "maxwell_surface", surface, &m->change, &m->textures[0],
                                    &m->textures[2], &m->inside, &m->outside, &m->faces);
        rc = rc < 0 ? rc
                    : WORKBENCH_LAUNCH(bench, "maxwell_stage", all, &m->fields, &m->kept,
                                       &m->change, &a, &b, &step, &p->values);
    }
    return rc;
}

static int make_problem(struct problem *p, struct workbench *bench)
{
    double steepest = 0;
    p->steps = bench->settings->depth ? bench->settings->depth : 2;
    if (bench->size > ELEMENTS_MAX || p->steps > STEPS_MAX) {
        return error_set(SONDE_EINPUT, "%u elements and %u steps: %d and %d at most", bench->size,
                         p->steps, ELEMENTS_MAX, STEPS_MAX);
    }
    int rc = element_make(&p->element, bench);
    rc = rc < 0 ? rc : mesh_make(&p->mesh, bench, bench->size);
    p->values = bench->size * STRIDE;
    p->inside = workbench_array(bench, (size_t)bench->size * SURFACE, sizeof *p->inside);
    p->outside = workbench_array(bench, (size_t)bench->size * SURFACE, sizeof *p->outside);
    p->fields = workbench_array(bench, p->values, sizeof *p->fields);
    p->change = workbench_array(bench, p->values, sizeof *p->change);
    p->kept = workbench_array(bench, p->values, sizeof *p->kept);
    if (rc < 0 || !p->inside || !p->outside || !p->fields || !p->change || !p->kept) {
        return rc < 0 ? rc : SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < p->mesh.count * FACES; i++) {
        steepest = fmax(steepest, length(p->mesh.elements[i / FACES].gradient[i % FACES]));
    }
    p->step = 0.5 / (ORDER * ORDER *
                     steepest); /* of the time that light takes through the flattest element */
    connect(p);
    begin(p, &bench->rng);
    return 0;
}

int workload_maxwell(struct workbench *bench)
{
    struct memory memory;
    struct problem *p = workbench_array(bench, 1, sizeof *p);
    int rc = p ? make_problem(p, bench) : SONDE_ENOMEM;
    rc = rc < 0 ? rc : send_matrices(bench, &memory, &p->element);
    rc = rc < 0 ? rc : send_geometry(bench, &memory, p);
    rc = rc < 0 ? rc : send_fields(bench, &memory, p);
    rc = rc < 0 ? rc : launch(bench, &memory, p);
    float *got = rc < 0 ? NULL : workbench_array(bench, p->values, sizeof *got);
    if (!got) {
        return rc < 0 ? rc : SONDE_ENOMEM;
    }
    rc = workbench_download(bench, got, memory.fields, p->values * sizeof *got);
    if (rc == 0) {
        advance(p);
    }
    return rc < 0 ? rc : workbench_expect_floats(got, p->fields, p->values, 0, TOLERANCE);
}
