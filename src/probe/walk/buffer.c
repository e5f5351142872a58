/*
 * Device memory that probes keep between requests. It grows, by and by; where the device has no
 * more, what another ground holds is given back.
 */
#include "probe/live.h"
#include "util/error.h"

void buffer_release(struct probe_live *live, struct buffer *buffer)
{
    if (buffer->bytes > 0 && buffer->is_mapped) {
        device_mem_unmap(live->device, buffer->address);
    } else if (buffer->bytes > 0) {
        device_mem_free(live->device, buffer->address);
    }
    buffer->bytes = 0;
}

/* Mapped memory grows in place and is taken exactly; other memory is taken anew. */
static int buffer_allocate(struct probe_live *live, struct buffer *buffer, uint64_t bytes)
{
    if (buffer->is_mapped) {
        uint64_t address = buffer->bytes > 0 ? buffer->address : 0;
        int rc = device_mem_map(live->device, &address, bytes, &buffer->page_bytes);
        buffer->address = address;
        buffer->bytes = rc == 0 ? bytes : address != 0 ? buffer->bytes : 0;
        return rc;
    }
    buffer_release(live, buffer);
    int rc = device_mem_alloc(live->device, &buffer->address, bytes);
    buffer->bytes = rc == 0 ? bytes : 0;
    return rc;
}

/* Where the memory is full, the other ground gives way, which no request uses beside this one. */
static bool give_way(struct probe_live *live, const struct buffer *buffer)
{
    struct ground *other = NULL;
    _Static_assert(GROUND_COUNT == 2, "there is one other ground");
    for (size_t i = 0; i < GROUND_COUNT; i++) {
        other = buffer == &live->grounds[i].buffer ? &live->grounds[GROUND_COUNT - 1 - i] : other;
    }
    if (!other || other->buffer.bytes == 0) {
        return false;
    }
    buffer_release(live, &other->buffer);
    other->layout.width = 0;
    return true;
}

int buffer_reserve(struct probe_live *live, struct buffer *buffer, uint64_t bytes, uint64_t roomy)
{
    if (bytes <= buffer->bytes) {
        return SONDE_OK;
    }
    if (!buffer->is_mapped && roomy > bytes && buffer_allocate(live, buffer, roomy) == 0) {
        return SONDE_OK;
    }
    /* More than the device has is a request that it cannot serve; this program goes on. */
    int rc = buffer_allocate(live, buffer, bytes);
    if (rc == SONDE_ENOMEM && give_way(live, buffer)) {
        rc = buffer_allocate(live, buffer, bytes);
    }
    return rc < 0 ? error_prefix(rc == SONDE_ENOMEM ? SONDE_EINPUT : rc,
                                 "%llu bytes of device memory", (unsigned long long)bytes)
                  : SONDE_OK;
}
