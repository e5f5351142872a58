/* How many sets a cache has that is too large to fill (large/occupancy.c). */
#ifndef SONDE_INFER_OCCUPANCY_H
#define SONDE_INFER_OCCUPANCY_H

#include "infer/ask/lab.h"

/*
 * What share of `lines` lines drawn at random, read last of all, a cache of so many sets of `ways`
 * still holds, each set as likely for a line as another: the mean of min(n, ways) over Poisson's n,
 * divided by its mean.
 */
double occupancy_share(double lines, double sets, unsigned ways);

#endif
