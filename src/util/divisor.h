/* The greatest common divisor. */
#ifndef SONDE_UTIL_DIVISOR_H
#define SONDE_UTIL_DIVISOR_H

#include <stdint.h>

/* The greatest common divisor; of 0 and another number, that number. */
static inline uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
