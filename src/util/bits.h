/* Bits of a number. */
#ifndef SONDE_UTIL_BITS_H
#define SONDE_UTIL_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* One bit alone is set; false of 0. */
static inline bool is_power_of_two(uint64_t value)
{
    return value && (value & (value - 1)) == 0;
}

#endif
