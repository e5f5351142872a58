/* Numbers in ascending order, for all who sort some or look for one. */
#ifndef SONDE_UTIL_SORT_H
#define SONDE_UTIL_SORT_H

#include <stddef.h>
#include <stdint.h>

/* As memcmp() does: negative, 0, positive. */
static inline int order_u64(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

void sort_u32(uint32_t *values, size_t count);
void sort_double(double *values, size_t count);
/* The first of ascending values that is not below another; count: none. */
size_t first_from_u32(const uint32_t *values, size_t count, uint32_t value);

#endif
