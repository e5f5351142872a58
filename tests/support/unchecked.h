/*
 * UNCHECKED: a loop of a toy that stands for hardware, no part of Sonde. The sanitizers, which make
 * it three times as long, leave it out.
 */
#ifndef SONDE_TESTS_SUPPORT_UNCHECKED_H
#define SONDE_TESTS_SUPPORT_UNCHECKED_H

#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

#endif
