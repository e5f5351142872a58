/* Host side of softmax. Size: rows. The reference is in double precision. */
#include "workloads/modern.h"

#include <math.h>

static void reference(double *wanted, const float *row)
{
    double sum = 0;
    for (int i = 0; i < MODERN_ROW; i++) {
        sum += exp(row[i]);
    }
    for (int i = 0; i < MODERN_ROW; i++) {
        wanted[i] = exp(row[i]) / sum;
    }
}

int workload_softmax(struct workbench *bench)
{
    static const struct modern_rows rows = {"softmax", reference, 1e-6};
    return modern_rows(bench, &rows);
}
