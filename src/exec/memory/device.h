/*
 * Device memory for what is neither a plain load nor a plain store; addresses have been checked.
 * Where SMs execute at the same time, it is the image below the SM's stores that nobody else sees
 * yet (stores.h). Where host threads run CTAs without timing, each is asked for (marks.h): what is
 * refused is not written, and reads as zeros. `pc`: of the instruction.
 */
#ifndef SONDE_EXEC_DEVICE_H
#define SONDE_EXEC_DEVICE_H

#include <string.h>

#include "exec/exec.h"
#include "exec/memory/marks.h"
#include "exec/memory/stores.h"
#include "util/error.h"

static inline void device_read(const struct exec_warp *warp, uint32_t pc, uint64_t address,
                               void *bytes, uint32_t count)
{
    const struct exec_stores *stores = warp->env->stores;
    if (warp->env->marks && !marks_bytes(warp, pc, address, count, false)) {
        memset(bytes, 0, count);
        return;
    }
    memmove(bytes, (const uint8_t *)(uintptr_t)address, count);
    if (stores && exec_stores_may_hold(stores, address, count))
        exec_stores_patch(stores, address, bytes, count);
}

/* SONDE_ENOMEM. */
static inline int device_write(const struct exec_warp *warp, uint32_t pc, uint64_t address,
                               const void *bytes, uint32_t count)
{
    if (warp->env->marks && !marks_bytes(warp, pc, address, count, true))
        return SONDE_OK;
    if (warp->env->stores)
        return exec_stores_put(warp->env->stores, address, bytes, count);
    memmove((uint8_t *)(uintptr_t)address, bytes, count);
    return SONDE_OK;
}

#endif
