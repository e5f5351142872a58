/*
 * The memory that is walked. One large buffer holds the elements of chase and average, so that
 * offsets of different requests mean the same places: it begins with all that may be asked for,
 * where the device has so much. A second one consists of pages that are mapped one by one.
 *
 * A chain at a fixed stride stays in place between requests of a sweep: element i points to i + 1,
 * and only the last one of the current footprint back to 0. The next size restores that element,
 * lets a kernel build what is missing, and turns the new last one:
 *
 *     0 -> 1 -> 2 -> 3 -> 0      4 -> 5 -> 6 ...
 *     0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 0                  two elements longer
 *
 * What this does to caches: kernels and copies write through L2 and leave their lines there, so L2
 * is never empty of the chain unless a request says cold=1 (or a simulator skips the time of a
 * set-up after which the walk warms the caches itself). L1 caches, which are not kept up to
 * date by others' writes, are invalid at a launch on real GPUs; that no stale element was read is
 * checked by the probe against the walk it laid out.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/live.h"
#include "util/error.h"
#include "util/sort.h"

enum { FILL_THREADS = 256, FILL_BLOCKS_MAX = 256 };

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
    sort_u32(sorted, walk->count);
    int rc = SONDE_OK;
    for (uint64_t i = 0; i < walk->count && rc == 0; i++) {
        if (sorted[i] * walk->scale % walk->width != 0) {
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
    const char *pages = trace_request_text(request, "pages");
    *walk = (struct walk){.width = width,
                          .turns = (unsigned)request_number(request, "turns", 1),
                          .base = request_number(request, "base", 0),
                          .stride = request_number(request, "stride", 0),
                          .scale = request_number(request, "scale", 1),
                          .bytes = bytes,
                          .ring = request->ring,
                          .ground =
                              pages && strcmp(pages, "mapped") == 0 ? GROUND_MAPPED : GROUND_PLAIN};
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
        return walk->turns > 1 ? turns_check(walk) : check_ring(walk);
    }
    walk->count = (bytes + walk->stride - 1) / walk->stride;
    if (walk->stride % walk->scale != 0) {
        return error_set(SONDE_EUSAGE, "probe %s: scale must divide stride", request->probe);
    }
    uint64_t last = (walk->count - 1) * (walk->stride / walk->scale);
    if (width == 4 && (last > UINT32_MAX || walk->count > UINT32_MAX)) {
        return error_set(SONDE_EUSAGE,
                         "probe %s: offsets up to %llu bytes need a larger scale or stride",
                         request->probe, (unsigned long long)bytes);
    }
    return SONDE_OK;
}

/*
 * A larger buffer is put elsewhere when it grows, on other frames: of an L2 whose slices are
 * hashed, what shared a set then shares none any more. So it begins with all that walks may ask
 * for.
 */
static int grow_ground(struct probe_live *live, struct ground *ground, uint64_t extent)
{
    if (extent <= ground->buffer.bytes) {
        return SONDE_OK;
    }
    ground->layout.width = 0;
    return buffer_reserve(live, &ground->buffer, extent, probe_live_max_footprint(live));
}

/* Points an element of the chain in place to another. */
static int point(struct probe_live *live, const struct ground *ground, uint64_t element,
                 uint64_t target)
{
    const struct layout *layout = &ground->layout;
    uint64_t start = ground->buffer.address + layout->base;
    uint64_t step = layout->stride / layout->scale;
    uint64_t value = target * step + (layout->width == 8 ? start : 0);
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

static int extend_chain(struct probe_live *live, struct ground *ground, uint64_t count,
                        bool rewarmed)
{
    struct layout *layout = &ground->layout;
    struct device_kernel *kernel;
    int rc = kernel_find(live, &kernel, "layout",
                         layout->width == 8 ? "chain_pointers" : "chain_offsets", NULL);
    if (rc < 0) {
        return rc;
    }
    struct call call = call_begin(fill_blocks(count - layout->built), FILL_THREADS, 0);
    call_u64(&call, ground->buffer.address + layout->base);
    call_u32(&call, (uint32_t)layout->stride);
    if (layout->width == 4) {
        call_u32(&call, (uint32_t)(layout->stride / layout->scale));
    }
    call_u32(&call, (uint32_t)layout->built);
    call_u32(&call, (uint32_t)count);
    call.launch.untimed = rewarmed;
    rc = call_run(live, kernel, &call);
    if (rc == 0) {
        layout->built = count;
    }
    return rc;
}

static int build_chain(struct probe_live *live, struct ground *ground, const struct walk *walk,
                       bool rewarmed)
{
    struct layout *layout = &ground->layout;
    if (layout->width != walk->width || layout->base != walk->base ||
        layout->stride != walk->stride || layout->scale != walk->scale) {
        *layout = (struct layout){.width = walk->width,
                                  .base = walk->base,
                                  .stride = walk->stride,
                                  .scale = walk->scale,
                                  .wrap = NO_WRAP};
    }
    int rc = SONDE_OK;
    if (layout->wrap != NO_WRAP && layout->wrap != walk->count - 1) {
        rc = point(live, ground, layout->wrap, layout->wrap + 1);
        layout->wrap = rc == 0 ? NO_WRAP : layout->wrap;
    }
    if (rc == 0 && layout->built < walk->count) {
        rc = extend_chain(live, ground, walk->count, rewarmed);
    }
    if (rc == 0 && layout->wrap != walk->count - 1) {
        rc = point(live, ground, walk->count - 1, 0);
        layout->wrap = walk->count - 1;
    }
    if (rc < 0) {
        layout->width = 0;
    }
    return rc;
}

int walk_stage(struct probe_live *live, const struct walk *walk)
{
    uint32_t *made = NULL;
    if (!walk->ring) {
        made = malloc(walk->count * sizeof(*made));
        for (uint64_t i = 0; made && i < walk->count; i++) {
            made[i] = (uint32_t)walk_offset(walk, i);
        }
        if (!made) {
            return error_memory();
        }
    }
    int rc = buffer_reserve(live, &live->staging, walk->count * 4, 4096);
    if (rc == 0) {
        rc = device_copy_to(live->device, live->staging.address, made ? made : walk->ring,
                            walk->count * 4);
    }
    free(made);
    return rc;
}

static int build_ring(struct probe_live *live, struct ground *ground, const struct walk *walk,
                      bool rewarmed)
{
    struct device_kernel *kernel;
    ground->layout.width = 0;
    int rc = kernel_find(live, &kernel, "layout",
                         walk->width == 8 ? "ring_pointers" : "ring_offsets", NULL);
    if (rc == 0) {
        rc = walk_stage(live, walk);
    }
    if (rc < 0) {
        return rc;
    }
    struct call call = call_begin(fill_blocks(walk->count), FILL_THREADS, 0);
    call_u64(&call, ground->buffer.address + walk->base);
    call_u64(&call, live->staging.address);
    call_u32(&call, (uint32_t)walk->count);
    if (walk->width == 4) {
        call_u32(&call, (uint32_t)walk->scale);
    }
    call.launch.untimed = rewarmed;
    return call_run(live, kernel, &call);
}

int walk_build(struct probe_live *live, const struct walk *walk, bool rewarmed)
{
    struct ground *ground = &live->grounds[walk->ground];
    int rc = grow_ground(live, ground, walk_extent(walk));
    if (rc < 0) {
        return rc;
    }
    return walk->ring ? build_ring(live, ground, walk, rewarmed)
                      : build_chain(live, ground, walk, rewarmed);
}

int walk_fill_constants(struct probe_live *live, const struct walk *walk, const char *file,
                        const char *variant)
{
    struct buffer constants;
    uint64_t bytes = walk_extent(walk);
    int rc = kernel_variable(live, &constants, file, variant, "constants");
    if (rc < 0) {
        return rc;
    }
    if (bytes > constants.bytes || bytes > CONSTANT_BYTES) {
        return error_set(SONDE_EINPUT, "the device has %llu bytes of constants",
                         (unsigned long long)constants.bytes);
    }
    uint32_t *image = calloc(CONSTANT_BYTES / 4, sizeof(*image));
    if (!image) {
        return error_memory();
    }
    for (uint64_t i = 0; i < walk->count; i++) {
        image[(walk->base + walk_offset(walk, i)) / 4] = (uint32_t)walk_offset(walk, i + 1);
    }
    rc = device_copy_to(live->device, constants.address, image, bytes);
    free(image);
    return rc;
}

int walk_memory(struct probe_live *live, uint64_t *address, uint64_t bytes)
{
    struct ground *ground = &live->grounds[GROUND_PLAIN];
    int rc = grow_ground(live, ground, bytes);
    *address = ground->buffer.address;
    return rc;
}

uint64_t walk_address(const struct probe_live *live, const struct walk *walk)
{
    return live->grounds[walk->ground].buffer.address;
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

/* An assembler for older GPUs refuses the load; a simulated one need not. */
int walk_check_path(const struct probe_live *live, const char *op)
{
    const struct device_info *info = &live->device->info;
    if (strcmp(op, "nc") == 0 && info->compute_major * 10 + info->compute_minor < 32) {
        return error_set(SONDE_EUNSUPPORTED, "%s has compute capability %u.%u, op=nc needs 3.2",
                         info->name, info->compute_major, info->compute_minor);
    }
    return SONDE_OK;
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
