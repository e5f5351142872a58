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

size_t first_from_u32(const uint32_t *values, size_t count, uint32_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (values[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
