/*
 * A thread's memory as its generic addresses name it, read without an access: no time, no cache.
 * For system calls, whose work a real driver's device code does by loads of its own.
 */
#include "exec/memory/peek.h"

#include <string.h>

#include "exec/memory/image.h"
#include "exec/observe.h"
#include "exec/ops.h"

static bool inside(uint64_t address, uint64_t bytes, uint64_t size)
{
    return address <= size && bytes <= size - address;
}

bool peek_bytes(const struct exec_warp *warp, uint32_t lane, uint64_t address, void *to,
                uint32_t bytes)
{
    const struct exec_cta *cta = warp->cta;
    const struct exec_state *state = warp->state;
    enum isa_space space = generic_space(address);
    uint64_t offset = address & (EXEC_WINDOW_BYTES - 1);
    uint8_t *out = to;
    switch (space) {
    case SPACE_SHARED:
        if (!inside(offset, bytes, cta->shared_bytes))
            return false;
        memcpy(out, cta->shared + offset, bytes);
        return true;
    case SPACE_LOCAL:
        if (!inside(offset, bytes, state->local_top))
            return false;
        for (uint32_t i = 0; i < bytes; i++)
            out[i] = *local_pointer(state, lane, offset + i);
        return true;
    case SPACE_PARAM:
        if (!inside(offset, bytes, cta->launch->param_bytes))
            return false;
        memcpy(out, cta->launch->params + offset, bytes);
        return true;
    default:
        if (!image_valid(cta->launch->memory, address, bytes))
            return false;
        memcpy(out, (const uint8_t *)(uintptr_t)address, bytes);
        return true;
    }
}

bool poke_bytes(const struct exec_warp *warp, uint32_t lane, uint64_t address, const void *from,
                uint32_t bytes)
{
    const struct exec_cta *cta = warp->cta;
    const struct exec_state *state = warp->state;
    uint64_t offset = address & (EXEC_WINDOW_BYTES - 1);
    if (cta->launch->observer)
        cta->launch->observer->touches((struct exec_warp *)(uintptr_t)warp, lane, address, bytes,
                                       true);
    switch (generic_space(address)) {
    case SPACE_SHARED:
        if (!inside(offset, bytes, cta->shared_bytes))
            return false;
        memcpy(cta->shared + offset, from, bytes);
        return true;
    case SPACE_LOCAL:
        if (!inside(offset, bytes, state->local_top))
            return false;
        for (uint32_t i = 0; i < bytes; i++)
            *local_pointer(state, lane, offset + i) = ((const uint8_t *)from)[i];
        return true;
    case SPACE_GLOBAL:
        if (!image_valid(cta->launch->memory, address, bytes))
            return false;
        memcpy((uint8_t *)(uintptr_t)address, from, bytes);
        return true;
    default:
        return false;
    }
}

enum peek_result peek_text(struct strbuf *out, const struct exec_warp *warp, uint32_t lane,
                           uint64_t address, uint32_t unit_bytes, uint64_t units_max,
                           uint64_t limit)
{
    for (uint64_t i = 0; i < units_max; i++) {
        uint32_t unit = 0;
        if (!peek_bytes(warp, lane, address + i * unit_bytes, &unit, unit_bytes))
            return PEEK_UNREADABLE;
        if (unit == 0)
            return PEEK_DONE;
        if (i == limit)
            return PEEK_TOO_LONG;
        if (strbuf_append_char(out, unit_bytes > 1 && unit > 0x7e ? '?' : (char)unit) < 0)
            return PEEK_NO_MEMORY;
    }
    return PEEK_DONE;
}
