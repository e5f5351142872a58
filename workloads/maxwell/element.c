/* The reference element's matrices, from monomials: of this order they are well enough conditioned
 * for double precision. */
#include "workloads/maxwell/element.h"

#include <math.h>
#include <string.h>

#include "util/error.h"

static const int axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static double factorial(int n)
{
    return n <= 1 ? 1 : n * factorial(n - 1);
}

/* All exponents of a sum up to ORDER; `dimensions` 2: the third is 0. How many. */
static int list_exponents(int (*out)[3], int dimensions)
{
    int count = 0;
    for (int c = 0; c <= (dimensions == 3 ? ORDER : 0); c++) {
        for (int b = 0; b + c <= ORDER; b++) {
            for (int a = 0; a + b + c <= ORDER; a++) {
                memcpy(out[count++], (int[3]){a, b, c}, sizeof *out);
            }
        }
    }
    return count;
}

static double monomial(const double at[3], const int e[3])
{
    return pow(at[0], e[0]) * pow(at[1], e[1]) * pow(at[2], e[2]);
}

/* Gauss and Jordan with pivots of columns; `a` is lost. */
static int invert(double *inverse, double *a, int n)
{
    for (int i = 0; i < n * n; i++) {
        inverse[i] = i / n == i % n;
    }
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c; r < n; r++) {
            pivot = fabs(a[r * n + c]) > fabs(a[pivot * n + c]) ? r : pivot;
        }
        if (!(fabs(a[pivot * n + c]) > 0)) {
            return error_set(SONDE_EINTERNAL, "a matrix of the element is singular");
        }
        for (int k = 0; k < n; k++) {
            double x = a[c * n + k], y = inverse[c * n + k];
            a[c * n + k] = a[pivot * n + k];
            a[pivot * n + k] = x;
            inverse[c * n + k] = inverse[pivot * n + k];
            inverse[pivot * n + k] = y;
        }
        double scale = 1 / a[c * n + c];
        for (int k = 0; k < n; k++) {
            a[c * n + k] *= scale;
            inverse[c * n + k] *= scale;
        }
        for (int r = 0; r < n; r++) {
            double share = r == c ? 0 : a[r * n + c];
            for (int k = 0; share != 0 && k < n; k++) {
                a[r * n + k] -= share * a[c * n + k];
                inverse[r * n + k] -= share * inverse[c * n + k];
            }
        }
    }
    return 0;
}

/* out = a b, or a b' */
static void multiply(double *out, const double *a, const double *b, int n, bool transposed)
{
    for (int i = 0; i < n * n; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++) {
            sum += a[i / n * n + k] * (transposed ? b[i % n * n + k] : b[k * n + i % n]);
        }
        out[i] = sum;
    }
}

/* Integrals of products of monomials over the unit simplex or triangle. */
static void products(double *out, int (*e)[3], int n, int dimensions)
{
    for (int i = 0; i < n * n; i++) {
        int sums[3], all = dimensions;
        double value = 1;
        for (int axis = 0; axis < 3; axis++) {
            sums[axis] = e[i / n][axis] + e[i % n][axis];
            all += sums[axis];
            value *= factorial(sums[axis]);
        }
        out[i] = value / factorial(all);
    }
}

static void differentiate(struct element *element, double *slopes, int (*e)[3],
                          const double *inverse)
{
    for (int axis = 0; axis < 3; axis++) {
        for (int i = 0; i < NODES * NODES; i++) {
            const int *exponents = e[i % NODES];
            int lower[3];
            for (int k = 0; k < 3; k++) {
                lower[k] = exponents[k] - axes[axis][k];
            }
            slopes[i] =
                lower[axis] < 0 ? 0 : exponents[axis] * monomial(element->at[i / NODES], lower);
        }
        multiply(&element->derivative[axis][0][0], slopes, inverse, NODES, false);
    }
}

/* Nodes by their four barycentric sixths: vertex 0 is the origin, the others lie on the axes. */
static void place_nodes(struct element *element, int (*e)[3])
{
    uint32_t counts[FACES] = {0};
    for (uint32_t n = 0; n < NODES; n++) {
        const int sixths[4] = {ORDER - e[n][0] - e[n][1] - e[n][2], e[n][0], e[n][1], e[n][2]};
        for (int axis = 0; axis < 3; axis++) {
            element->at[n][axis] = (double)e[n][axis] / ORDER;
        }
        for (int face = 0; face < FACES; face++) {
            if (sixths[face] == 0) {
                element->face_node[face][counts[face]++] = n;
            }
        }
    }
}

/* A face's mass matrix, by any two of its coordinates. */
static int face_mass(double *mass, double *work, const struct element *element, int face)
{
    int e[FACE_NODES][3];
    double *inverse = work, *values = work + FACE_NODES * FACE_NODES;
    list_exponents(e, 2);
    for (int i = 0; i < FACE_NODES * FACE_NODES; i++) {
        const double *at = element->at[element->face_node[face][i / FACE_NODES]];
        const double plane[3] = {at[face == 1 ? 1 : 0], at[face == 3 || face == 0 ? 1 : 2], 0};
        values[i] = monomial(plane, e[i % FACE_NODES]);
    }
    int rc = invert(inverse, values, FACE_NODES);
    products(values, e, FACE_NODES, 2);
    /* mass = inverse' values inverse */
    for (int i = 0; rc == 0 && i < FACE_NODES * FACE_NODES; i++) {
        double sum = 0;
        for (int k = 0; k < FACE_NODES * FACE_NODES; k++) {
            sum += inverse[k / FACE_NODES * FACE_NODES + i / FACE_NODES] * values[k] *
                   inverse[k % FACE_NODES * FACE_NODES + i % FACE_NODES];
        }
        mass[i] = sum;
    }
    return rc;
}

/* lift = (mass of the volume)^-1 (mass of each face) */
static int make_lift(struct element *element, double *work, const double *inverse_mass)
{
    double mass[FACE_NODES * FACE_NODES];
    int rc = 0;
    for (int face = 0; rc == 0 && face < FACES; face++) {
        rc = face_mass(mass, work, element, face);
        for (int i = 0; rc == 0 && i < NODES * FACE_NODES; i++) {
            int n = i / FACE_NODES, k = i % FACE_NODES;
            double sum = 0;
            for (int j = 0; j < FACE_NODES; j++) {
                sum += inverse_mass[n * NODES + (int)element->face_node[face][j]] *
                       mass[j * FACE_NODES + k];
            }
            element->lift[n][face * FACE_NODES + k] = sum;
        }
    }
    return rc;
}

int element_make(struct element *element, struct workbench *bench)
{
    enum { SQUARE = NODES * NODES };
    int e[NODES][3];
    double *work = workbench_array(bench, 4 * (size_t)SQUARE, sizeof *work);
    if (!work) {
        return SONDE_ENOMEM;
    }
    double *values = work, *inverse = work + SQUARE, *other = work + 2 * SQUARE,
           *mass = work + 3 * SQUARE;
    list_exponents(e, 3);
    place_nodes(element, e);
    for (int i = 0; i < SQUARE; i++) {
        values[i] = monomial(element->at[i / NODES], e[i % NODES]);
    }
    int rc = invert(inverse, values, NODES);
    if (rc < 0) {
        return rc;
    }
    differentiate(element, other, e, inverse);
    /* The inverse mass of the nodes: V (products)^-1 V'. */
    products(mass, e, NODES, 3);
    rc = invert(other, mass, NODES);
    for (int i = 0; i < SQUARE; i++) {
        values[i] = monomial(element->at[i / NODES], e[i % NODES]);
    }
    multiply(mass, values, other, NODES, false);
    multiply(other, mass, values, NODES, true);
    return rc < 0 ? rc : make_lift(element, values, other);
}
