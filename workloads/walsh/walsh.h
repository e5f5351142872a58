/* The Walsh transform, for those who make more of it. */
#ifndef SONDE_WORKLOADS_WALSH_WALSH_H
#define SONDE_WORKLOADS_WALSH_WALSH_H

#include "workloads/workload.h"

#define WALSH_LOG_MIN 10
#define WALSH_LOG_MAX 20

/* SONDE_EINPUT: the run's size is no logarithm that the kernels serve. */
int walsh_check_size(const struct workbench *bench);
/* Launches the transform, in place, of `count` floats; a power of two. */
int walsh_transform(struct workbench *bench, uint64_t at, uint32_t count);

#endif
