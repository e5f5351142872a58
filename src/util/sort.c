/* See sort.h. */
#include "util/sort.h"

#include <stdlib.h>

static int compare_u32(const void *a, const void *b)
{
    return order_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_u32(uint32_t *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_u32);
}

void sort_double(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_double);
}
