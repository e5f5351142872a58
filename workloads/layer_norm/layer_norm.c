/* Host side of layer norm. Size: rows. The reference is in double precision. */
#include "workloads/modern.h"

#include <math.h>

static void reference(double *wanted, const float *row)
{
    double mean = 0, variance = 0;
    for (int i = 0; i < MODERN_ROW; i++) {
        mean += (double)row[i] / MODERN_ROW;
    }
    for (int i = 0; i < MODERN_ROW; i++) {
        variance += (row[i] - mean) * (row[i] - mean) / MODERN_ROW;
    }
    for (int i = 0; i < MODERN_ROW; i++) {
        wanted[i] = (row[i] - mean) / sqrt(variance + 1e-5);
    }
}

int workload_layer_norm(struct workbench *bench)
{
    static const struct modern_rows rows = {"layer_norm", reference, 1e-4};
    return modern_rows(bench, &rows);
}
