/*
 * How far a measured rate may lie from what the specification says, fixed before the first
 * measurement. A saturated resource serves without gaps: what is left is the filling and draining
 * of pipelines, which long runs make small against 2 %. In Little's law the mean number in a queue,
 * the rate and the mean time are of one run and one interval, so that nothing but requests under
 * way at its ends may differ: 1 %.
 */
#ifndef SONDE_TESTS_SUPPORT_TOLERANCE_H
#define SONDE_TESTS_SUPPORT_TOLERANCE_H

#define TOLERANCE_SATURATION 0.02
#define TOLERANCE_LITTLE 0.01

#endif
