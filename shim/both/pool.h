/* Memory of pools, for what takes and gives it in a stream. */
#ifndef SONDE_SHIM_BOTH_POOL_H
#define SONDE_SHIM_BOTH_POOL_H

#include "shim/both/both.h"

/* `pool` NULL: the device's current one. */
int pool_serve(void **out, size_t bytes, void *pool, struct rt_stream *stream);

#endif
