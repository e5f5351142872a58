/*
 * The quantile by the Cornish-Fisher expansion in powers of 1 / degrees (Abramowitz and Stegun,
 * 26.7.5), which is within 0.1 % from 4 degrees on; below that the distribution's own numbers, with
 * straight lines in 1 / degrees between them.
 */
#include "sample/student.h"

static const double few[] = {12.7062, 4.3027, 3.1824, 2.7764}; /* of 1 to 4 degrees */

double student_95(double degrees)
{
    const double x = 1.959964, x3 = x * x * x, x5 = x3 * x * x, x7 = x5 * x * x, x9 = x7 * x * x;
    if (degrees < 4) {
        int below = degrees < 2 ? 0 : degrees < 3 ? 1 : 2;
        double low = 1.0 / (below + 1), high = 1.0 / (below + 2);
        double share = degrees > 1 ? (low - 1 / degrees) / (low - high) : 0;
        return few[below] + share * (few[below + 1] - few[below]);
    }
    double n = degrees;
    return x + (x3 + x) / (4 * n) + (5 * x5 + 16 * x3 + 3 * x) / (96 * n * n) +
           (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / (384 * n * n * n) +
           (79 * x9 + 776 * x7 + 1482 * x5 - 1920 * x3 - 945 * x) / (92160 * n * n * n * n);
}
