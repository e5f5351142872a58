/*
 * The backends of device.c: how each opens a device, and lists the devices that it offers. A
 * backend's own structure begins with a struct device.
 */
#ifndef SONDE_DEVICE_BACKEND_H
#define SONDE_DEVICE_BACKEND_H

#include "device/device.h"
#include "util/container/vec.h"

struct listing_vec VEC_FIELDS(struct device_listing);

/* The simulated device's name behind "sim:" that a user meant by `name`: a model's file, a shipped
 * model or the nearest to it; NULL: none. Borrowed. */
const char *sim_meant(const char *name);
int sim_open(struct device **out, const char *model);
int sim_list(struct listing_vec *rows);

/* `library`: what to load as the driver; CUDA_LIBRARY but in tests. */
#define CUDA_LIBRARY "libcuda.so.1"
int cuda_open(struct device **out, unsigned ordinal, const char *library);
/* The same, where the library may be the simulator's own, of `sonde run`. */
int cuda_open_any(struct device **out, unsigned ordinal, const char *library);
/* Adds a row for each GPU, or one that tells why there is none. */
int cuda_list(struct listing_vec *rows, const char *library);

int replay_open(struct device **out, const char *path);

#endif
