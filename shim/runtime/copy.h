/* What copies of all kinds check and fill. */
#ifndef SONDE_SHIM_RUNTIME_COPY_H
#define SONDE_SHIM_RUNTIME_COPY_H

#include "shim/runtime/runtime.h"

/* An address that the direction calls the device's is one of it. */
int copy_check(const void *dst, const void *src, uint64_t bytes, int kind);
int copy3d_fill(struct rt *rt, struct rt_copy *out, const struct abi_copy3d *params);
/* Widths and offsets in bytes become elements, as copies in space count where an array takes part.
 */
int array_bytes(struct abi_copy3d *params);
int array_row_bytes(uint64_t *bytes, const void *array);

#endif
