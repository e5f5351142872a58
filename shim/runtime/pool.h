/* Memory of pools, for what takes and gives it in a stream. */
#ifndef SONDE_SHIM_RUNTIME_POOL_H
#define SONDE_SHIM_RUNTIME_POOL_H

#include "shim/runtime/runtime.h"

/* `pool` NULL: the device's current one. */
int pool_take(void **out, size_t bytes, void *pool, struct rt_stream *stream);

#endif
