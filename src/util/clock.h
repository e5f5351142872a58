/*
 * The host's clock, for measuring how long Sonde itself takes. Simulated time never reads it.
 */
#ifndef SONDE_UTIL_CLOCK_H
#define SONDE_UTIL_CLOCK_H

#include <stdint.h>

/* Nanoseconds since an arbitrary moment; never goes back. */
uint64_t time_monotonic_ns(void);

#endif
