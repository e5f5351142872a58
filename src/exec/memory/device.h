/*
 * Device memory as the warps of one SM see it: the image below the stores of the SM that nobody
 * else sees yet (stores.h), where there are such. For what is no access of exec_commit(); addresses
 * have been checked.
 */
#ifndef SONDE_EXEC_DEVICE_H
#define SONDE_EXEC_DEVICE_H

#include <string.h>

#include "exec/exec.h"
#include "exec/memory/stores.h"
#include "util/error.h"

static inline void device_read(const struct exec_warp *warp, uint64_t address, void *bytes,
                               uint32_t count)
{
    const struct exec_stores *stores = warp->env->stores;
    memmove(bytes, (const uint8_t *)(uintptr_t)address, count);
    if (stores && exec_stores_may_hold(stores, address, count))
        exec_stores_patch(stores, address, bytes, count);
}

/* SONDE_ENOMEM. */
static inline int device_write(const struct exec_warp *warp, uint64_t address, const void *bytes,
                               uint32_t count)
{
    if (warp->env->stores)
        return exec_stores_put(warp->env->stores, address, bytes, count);
    memmove((uint8_t *)(uintptr_t)address, bytes, count);
    return SONDE_OK;
}

#endif
