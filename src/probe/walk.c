/*
 * The memory that is walked. One large buffer holds the elements of chase and average, so that
 * offsets of different requests mean the same places, as long as it need not grow (it starts with
 * 64 MiB).
 *
 * A chain at a fixed stride stays in place between requests of a sweep: element i points to i + 1,
 * and only the last one of the current footprint back to 0. The next size restores that element,
 * lets a kernel build what is missing, and turns the new last one:
 *
 *     0 -> 1 -> 2 -> 3 -> 0      4 -> 5 -> 6 ...
 *     0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 0                  two elements longer
 *
 * What this does to caches: kernels and copies write through L2 and leave their lines there, so L2
 * is never empty of the chain unless a request says cold=1. L1 caches, which are not kept up to
 * date by others' writes, are invalid at a launch on real GPUs; that no stale element was read is
 * checked by the probe against the walk it laid out.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/live.h"
#include "util/error.h"

enum { FILL_THREADS = 256, FILL_BLOCKS_MAX = 256 };

#define WALK_START_BYTES (UINT64_C(64) << 20)
#define NO_WRAP UINT64_MAX

uint64_t request_number(const struct trace_request *request, const char *name, uint64_t otherwise)
{
    uint64_t value;
    return trace_request_u64(request, name, &value) ? value : otherwise;
}

bool request_flag(const struct trace_request *request, const char *name)
{
    return request_number(request, name, 0) != 0;
}

static int buffer_allocate(struct probe_live *live, struct buffer *buffer, uint64_t bytes)
{
    int rc = device_mem_alloc(live->device, &buffer->address, bytes);
    buffer->bytes = rc == 0 ? bytes : 0;
    return rc;
}

int buffer_reserve(struct probe_live *live, struct buffer *buffer, uint64_t bytes, uint64_t roomy)
{
    if (bytes <= buffer->bytes) {
        return SONDE_OK;
    }
    if (buffer->bytes > 0) {
        device_mem_free(live->device, buffer->address);
        buffer->bytes = 0;
    }
    if (roomy > bytes && buffer_allocate(live, buffer, roomy) == 0) {
        return SONDE_OK;
    }
    /* Too little memory on the device is the device's failure, not this program's. */
    int rc = buffer_allocate(live, buffer, bytes);
    return rc < 0 ? error_prefix(rc == SONDE_ENOMEM ? SONDE_EDEVICE : rc,
                                 "%llu bytes of device memory", (unsigned long long)bytes)
                  : SONDE_OK;
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Each offset once and aligned: else the walk would not visit what the ring says. */
static int check_ring(const struct walk *walk)
{
    if (walk->count == 0 || walk->count > UINT32_C(1) << 28) {
        return error_set(SONDE_EUSAGE, "a ring of %llu elements", (unsigned long long)walk->count);
    }
    uint32_t *sorted = malloc(walk->count * sizeof(*sorted));
    if (!sorted) {
        return error_memory();
    }
    memcpy(sorted, walk->ring, walk->count * sizeof(*sorted));
    qsort(sorted, walk->count, sizeof(*sorted), compare_u32);
    int rc = SONDE_OK;
    for (uint64_t i = 0; i < walk->count && rc == 0; i++) {
        if (sorted[i] % walk->width != 0) {
            rc = error_set(SONDE_EUSAGE, "ring: offset %u is no multiple of %u", sorted[i],
                           walk->width);
        } else if (i > 0 && sorted[i] == sorted[i - 1]) {
            rc = error_set(SONDE_EUSAGE, "ring: offset %u comes twice", sorted[i]);
        }
    }
    free(sorted);
    return rc;
}

int walk_read(struct walk *walk, const struct trace_request *request, uint32_t width)
{
    uint64_t touch_stride = request_number(request, "touch_stride", 0);
    uint64_t bytes = request_number(request, "bytes", 0);
    *walk = (struct walk){.width = width,
                          .base = request_number(request, "base", 0),
                          .stride = request_number(request, "stride", 0),
                          .bytes = bytes,
                          .ring = request->ring};
    if (walk->base % width != 0 || walk->stride % width != 0 || touch_stride % 4 != 0) {
        return error_set(SONDE_EUSAGE,
                         "probe %s: base and stride must be multiples of %u, touch_stride of 4",
                         request->probe, width);
    }
    if (request->ring) {
        walk->count = request->ring_count;
        if (request_flag(request, "touch")) {
            return error_set(SONDE_EUSAGE, "probe %s: touch=1 does not go with a ring",
                             request->probe);
        }
        return check_ring(walk);
    }
    walk->count = (bytes + walk->stride - 1) / walk->stride;
    return SONDE_OK;
}

uint64_t walk_offset(const struct walk *walk, uint64_t position)
{
    position %= walk->count;
    return walk->ring ? walk->ring[position] : position * walk->stride;
}

/* How far elements and touch reach, from the buffer's start. */
static uint64_t walk_extent(const struct walk *walk)
{
    uint64_t last = walk_offset(walk, walk->count - 1);
    for (uint64_t i = 0; walk->ring && i < walk->count; i++) {
        last = walk->ring[i] > last ? walk->ring[i] : last;
    }
    uint64_t reach = last + walk->width;
    return walk->base + (reach > walk->bytes ? reach : walk->bytes);
}

static int grow_walk(struct probe_live *live, uint64_t extent)
{
    uint64_t limit = probe_live_max_footprint(live), roomy = WALK_START_BYTES;
    if (extent <= live->walk.bytes) {
        return SONDE_OK;
    }
    while (roomy < extent) {
        roomy *= 2;
    }
    live->layout.width = 0;
    return buffer_reserve(live, &live->walk, extent, roomy < limit ? roomy : limit);
}

/* Points an element of the chain in place to another. */
static int point(struct probe_live *live, uint64_t element, uint64_t target)
{
    const struct layout *layout = &live->layout;
    uint64_t start = live->walk.address + layout->base;
    uint64_t value = target * layout->stride + (layout->width == 8 ? start : 0);
    uint32_t narrow = (uint32_t)value;
    return device_copy_to(live->device, start + element * layout->stride,
                          layout->width == 8 ? (const void *)&value : (const void *)&narrow,
                          layout->width);
}

static uint32_t fill_blocks(uint64_t elements)
{
    uint64_t blocks = (elements + FILL_THREADS - 1) / FILL_THREADS;
    return blocks < FILL_BLOCKS_MAX ? (uint32_t)blocks : FILL_BLOCKS_MAX;
}

static int extend_chain(struct probe_live *live, uint64_t count)
{
    struct layout *layout = &live->layout;
    struct device_kernel *kernel;
    int rc = kernel_find(live, &kernel, "layout",
                         layout->width == 8 ? "chain_pointers" : "chain_offsets", NULL);
    if (rc < 0) {
        return rc;
    }
    struct call call = call_begin(fill_blocks(count - layout->built), FILL_THREADS, 0);
    call_u64(&call, live->walk.address + layout->base);
    call_u32(&call, (uint32_t)layout->stride);
    call_u32(&call, (uint32_t)layout->built);
    call_u32(&call, (uint32_t)count);
    rc = call_run(live, kernel, &call);
    if (rc == 0) {
        layout->built = count;
    }
    return rc;
}

static int build_chain(struct probe_live *live, const struct walk *walk)
{
    struct layout *layout = &live->layout;
    if (layout->width != walk->width || layout->base != walk->base ||
        layout->stride != walk->stride) {
        *layout = (struct layout){
            .width = walk->width, .base = walk->base, .stride = walk->stride, .wrap = NO_WRAP};
    }
    int rc = SONDE_OK;
    if (layout->wrap != NO_WRAP && layout->wrap != walk->count - 1) {
        rc = point(live, layout->wrap, layout->wrap + 1);
        layout->wrap = rc == 0 ? NO_WRAP : layout->wrap;
    }
    if (rc == 0 && layout->built < walk->count) {
        rc = extend_chain(live, walk->count);
    }
    if (rc == 0 && layout->wrap != walk->count - 1) {
        rc = point(live, walk->count - 1, 0);
        layout->wrap = walk->count - 1;
    }
    if (rc < 0) {
        layout->width = 0;
    }
    return rc;
}

static int build_ring(struct probe_live *live, const struct walk *walk)
{
    struct device_kernel *kernel;
    live->layout.width = 0;
    int rc = kernel_find(live, &kernel, "layout",
                         walk->width == 8 ? "ring_pointers" : "ring_offsets", NULL);
    if (rc == 0) {
        rc = buffer_reserve(live, &live->staging, walk->count * 4, 4096);
    }
    if (rc == 0) {
        rc = device_copy_to(live->device, live->staging.address, walk->ring, walk->count * 4);
    }
    if (rc < 0) {
        return rc;
    }
    struct call call = call_begin(fill_blocks(walk->count), FILL_THREADS, 0);
    call_u64(&call, live->walk.address + walk->base);
    call_u64(&call, live->staging.address);
    call_u32(&call, (uint32_t)walk->count);
    return call_run(live, kernel, &call);
}

int walk_build(struct probe_live *live, const struct walk *walk)
{
    int rc = grow_walk(live, walk_extent(walk));
    if (rc < 0) {
        return rc;
    }
    return walk->ring ? build_ring(live, walk) : build_chain(live, walk);
}

int walk_flush(struct probe_live *live, uint64_t flush_bytes)
{
    struct device_kernel *kernel;
    int rc = kernel_find(live, &kernel, "layout", "flush", NULL);
    if (rc == 0) {
        rc = buffer_reserve(live, &live->flush, flush_bytes, 0);
    }
    if (rc < 0) {
        return rc;
    }
    struct call call = call_begin(FILL_BLOCKS_MAX, FILL_THREADS, 0);
    call_u64(&call, live->flush.address);
    call_u64(&call, flush_bytes & ~UINT64_C(15));
    call_u32(&call, 0x5bd1e995); /* a value that memory hardly sums up to; harmless if it does */
    return call_run(live, kernel, &call);
}

int walk_carveout(struct probe_live *live, struct device_kernel *kernel,
                  const struct trace_request *request, uint64_t least)
{
    uint64_t asked;
    bool is_asked = trace_request_u64(request, "shared", &asked);
    if (is_asked && asked < least) {
        return error_set(SONDE_EUSAGE,
                         "probe %s: shared=%llu holds less than the window's %llu bytes",
                         request->probe, (unsigned long long)asked, (unsigned long long)least);
    }
    int rc = device_set_carveout(live->device, kernel, is_asked ? asked : least);
    return rc == SONDE_EUNSUPPORTED && !is_asked ? SONDE_OK : rc;
}

uint32_t walk_threads(const struct probe_live *live, bool touch)
{
    uint32_t most = live->device->info.max_threads_per_block;
    if (!touch) {
        return 32;
    }
    return most >= 32 && most < 1024 ? most / 32 * 32 : 1024;
}
