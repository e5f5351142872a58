/* The driver's descriptions of copies, as the queue wants them. */
#ifndef SONDE_SHIM_DRIVER_COPY_H
#define SONDE_SHIM_DRIVER_COPY_H

#include "shim/driver/driver.h"

int driver_copy2d(struct rt *rt, struct rt_copy *out, const struct abi_copy2d_driver *params);
int driver_copy3d(struct rt *rt, struct rt_copy *out, const struct abi_copy3d_driver *params);

#endif
