/* Properties of the device, as far as a model has them. */
#include <string.h>

#include "model/model.h"
#include "shim/core/shim.h"

/* What a block may have without asking for more, cudaFuncSetAttribute(). */
static uint64_t shared_default(const struct model *m)
{
    uint64_t most = m->driver.shared_per_block_bytes;
    return most > 48u << 10 ? 48u << 10 : most;
}

static uint64_t clock_hz(const struct model *m)
{
    return m->driver.clock_hz ? m->driver.clock_hz : 1000000000000u / m->core_period_ps;
}

int shim_attribute(int *value, int attribute)
{
    const struct model *m = shim_model();
    if (!value || !m) {
        return m ? SHIM_INVALID : SHIM_NO_DEVICE;
    }
    switch (attribute) {
#define ATTRIBUTE(number, expression)                                                              \
    case number: {                                                                                 \
        uint64_t wide = (uint64_t)(expression);                                                    \
        *value = wide > INT32_MAX ? INT32_MAX : (int)wide;                                         \
        return SHIM_OK;                                                                            \
    }
#include "shim/core/attributes.def"
#undef ATTRIBUTE
    default:
        *value = 0;
        return attribute > 0 && attribute < 200 ? SHIM_OK : SHIM_INVALID;
    }
}

/* The same for the same model, so that programs may compare it. */
void shim_uuid(unsigned char uuid[16])
{
    static const unsigned char maker[8] = {'s', 'o', 'n', 'd', 'e'};
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *at = shim_model() ? shim_model()->name : ""; *at; at++) {
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    }
    memcpy(uuid, maker, sizeof maker);
    memcpy(uuid + 8, &hash, 8);
}
