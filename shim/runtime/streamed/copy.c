/* Copies and memsets of linear memory. */
#include "shim/runtime/copy.h"
#include "shim/runtime/runtime.h"

static int linear(void *dst, const void *src, size_t bytes, int kind, void *stream, bool waits)
{
    struct rt_stream *in;
    int code = stream_of(&in, stream, OWN_STREAM);
    if (code != SHIM_OK || bytes == 0) {
        return code;
    }
    code = copy_check(dst, src, bytes, kind);
    return code == SHIM_OK ? shim_copy_linear(in, dst, src, bytes, waits) : code;
}

EXPORT int STREAMED_BLOCKING(cudaMemcpy)(void *dst, const void *src, size_t bytes, int kind)
{
    return last(linear(dst, src, bytes, kind, NULL, true));
}

EXPORT int STREAMED(cudaMemcpyAsync)(void *dst, const void *src, size_t bytes, int kind,
                                     void *stream)
{
    return last(linear(dst, src, bytes, kind, stream, false));
}

static int symbol(const void *host, uint64_t offset, size_t bytes, uint64_t *address)
{
    struct variable variable;
    int code = variable_of(&variable, host);
    if (code == SHIM_OK && (offset > variable.bytes || bytes > variable.bytes - offset)) {
        struct rt *rt;
        if (shim_device(&rt) == SHIM_OK) {
            shim_check_copy_refused(rt, variable.address + offset, bytes);
        }
        return SHIM_INVALID;
    }
    *address = code == SHIM_OK ? variable.address + offset : 0;
    return code;
}

static int to_symbol(const void *host, const void *src, size_t bytes, size_t offset, int kind,
                     void *stream, bool waits)
{
    uint64_t address;
    int code = kind == ABI_DEVICE_TO_HOST || kind == ABI_HOST_TO_HOST
                   ? SHIM_BAD_DIRECTION
                   : symbol(host, offset, bytes, &address);
    return code == SHIM_OK ? linear((void *)(uintptr_t)address, src, bytes, kind, stream, waits)
                           : code;
}

static int from_symbol(void *dst, const void *host, size_t bytes, size_t offset, int kind,
                       void *stream, bool waits)
{
    uint64_t address;
    int code = kind == ABI_HOST_TO_DEVICE || kind == ABI_HOST_TO_HOST
                   ? SHIM_BAD_DIRECTION
                   : symbol(host, offset, bytes, &address);
    return code == SHIM_OK
               ? linear(dst, (const void *)(uintptr_t)address, bytes, kind, stream, waits)
               : code;
}

EXPORT int STREAMED_BLOCKING(cudaMemcpyToSymbol)(const void *host, const void *src, size_t bytes,
                                                 size_t offset, int kind)
{
    return last(to_symbol(host, src, bytes, offset, kind, NULL, true));
}

EXPORT int STREAMED(cudaMemcpyToSymbolAsync)(const void *host, const void *src, size_t bytes,
                                             size_t offset, int kind, void *stream)
{
    return last(to_symbol(host, src, bytes, offset, kind, stream, false));
}

EXPORT int STREAMED_BLOCKING(cudaMemcpyFromSymbol)(void *dst, const void *host, size_t bytes,
                                                   size_t offset, int kind)
{
    return last(from_symbol(dst, host, bytes, offset, kind, NULL, true));
}

EXPORT int STREAMED(cudaMemcpyFromSymbolAsync)(void *dst, const void *host, size_t bytes,
                                               size_t offset, int kind, void *stream)
{
    return last(from_symbol(dst, host, bytes, offset, kind, stream, false));
}

/* As a card answers with CUDA 13.0: rows that overlap have a bad pitch, a single one is a bad
 * value, unless nobody has said how far apart rows are. */
static int pitch_check(size_t pitch, size_t width, size_t height)
{
    if (pitch >= width || (height == 1 && pitch == 0)) {
        return SHIM_OK;
    }
    return height > 1 ? 12 : SHIM_INVALID;
}

static int plane(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                 size_t height, int kind, void *stream, bool waits)
{
    struct rt_stream *in;
    struct rt_copy copy = {.width_bytes = width, .height = height, .depth = 1, .waits = waits};
    int code = stream_of(&in, stream, OWN_STREAM);
    if (code != SHIM_OK || width == 0 || height == 0) {
        return code;
    }
    code = pitch_check(dst_pitch, width, height);
    code = code == SHIM_OK ? pitch_check(src_pitch, width, height) : code;
    code = code == SHIM_OK ? copy_check(dst, src, width, kind) : code;
    if (code != SHIM_OK) {
        return code;
    }
    shim_end(rt_stream_rt(in), &copy.dst, dst);
    shim_end(rt_stream_rt(in), &copy.src, src);
    copy.dst.row_bytes = dst_pitch;
    copy.src.row_bytes = src_pitch;
    return shim_copy(in, &copy);
}

EXPORT int STREAMED_BLOCKING(cudaMemcpy2D)(void *dst, size_t dst_pitch, const void *src,
                                           size_t src_pitch, size_t width, size_t height, int kind)
{
    return last(plane(dst, dst_pitch, src, src_pitch, width, height, kind, NULL, true));
}

EXPORT int STREAMED(cudaMemcpy2DAsync)(void *dst, size_t dst_pitch, const void *src,
                                       size_t src_pitch, size_t width, size_t height, int kind,
                                       void *stream)
{
    return last(plane(dst, dst_pitch, src, src_pitch, width, height, kind, stream, false));
}

static int space(const struct abi_copy3d *params, void *stream, bool waits)
{
    struct rt_stream *in;
    struct rt_copy copy;
    int code = stream_of(&in, stream, OWN_STREAM);
    code = code == SHIM_OK ? copy3d_fill(rt_stream_rt(in), &copy, params) : code;
    copy.waits = waits;
    return code == SHIM_OK ? shim_copy(in, &copy) : code;
}

EXPORT int STREAMED_BLOCKING(cudaMemcpy3D)(const struct abi_copy3d *params)
{
    return last(space(params, NULL, true));
}

EXPORT int STREAMED(cudaMemcpy3DAsync)(const struct abi_copy3d *params, void *stream)
{
    return last(space(params, stream, false));
}

static int peer_space(const struct abi_copy3d_peer *peers, void *stream, bool waits)
{
    if (!peers || peers->src_device || peers->dst_device) {
        return peers ? SHIM_BAD_DEVICE : SHIM_INVALID;
    }
    struct abi_copy3d params = {.src_array = peers->src_array,
                                .src_pos = peers->src_pos,
                                .src = peers->src,
                                .dst_array = peers->dst_array,
                                .dst_pos = peers->dst_pos,
                                .dst = peers->dst,
                                .extent = peers->extent,
                                .kind = ABI_DEVICE_TO_DEVICE};
    return space(&params, stream, waits);
}

EXPORT int STREAMED_BLOCKING(cudaMemcpy3DPeer)(const struct abi_copy3d_peer *params)
{
    return last(peer_space(params, NULL, true));
}

EXPORT int STREAMED(cudaMemcpy3DPeerAsync)(const struct abi_copy3d_peer *params, void *stream)
{
    return last(peer_space(params, stream, false));
}

static int to_array(void *array, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                    size_t height, int kind, void *stream, bool waits)
{
    struct abi_copy3d params = {
        .src = {.ptr = (void *)src, .pitch = pitch, .xsize = width, .ysize = height},
        .dst_array = array,
        .dst_pos = {x, y, 0},
        .extent = {width, height, 1},
        .kind = kind};
    int code = array_bytes(&params);
    return code == SHIM_OK ? space(&params, stream, waits) : code;
}

static int from_array(void *dst, size_t pitch, const void *array, size_t x, size_t y, size_t width,
                      size_t height, int kind, void *stream, bool waits)
{
    struct abi_copy3d params = {
        .dst = {.ptr = dst, .pitch = pitch, .xsize = width, .ysize = height},
        .src_array = (void *)array,
        .src_pos = {x, y, 0},
        .extent = {width, height, 1},
        .kind = kind};
    int code = array_bytes(&params);
    return code == SHIM_OK ? space(&params, stream, waits) : code;
}

EXPORT int STREAMED_BLOCKING(cudaMemcpy2DToArray)(void *array, size_t x, size_t y, const void *src,
                                                  size_t pitch, size_t width, size_t height,
                                                  int kind)
{
    return last(to_array(array, x, y, src, pitch, width, height, kind, NULL, true));
}

EXPORT int STREAMED(cudaMemcpy2DToArrayAsync)(void *array, size_t x, size_t y, const void *src,
                                              size_t pitch, size_t width, size_t height, int kind,
                                              void *stream)
{
    return last(to_array(array, x, y, src, pitch, width, height, kind, stream, false));
}

EXPORT int STREAMED_BLOCKING(cudaMemcpy2DFromArray)(void *dst, size_t pitch, const void *array,
                                                    size_t x, size_t y, size_t width, size_t height,
                                                    int kind)
{
    return last(from_array(dst, pitch, array, x, y, width, height, kind, NULL, true));
}

EXPORT int STREAMED(cudaMemcpy2DFromArrayAsync)(void *dst, size_t pitch, const void *array,
                                                size_t x, size_t y, size_t width, size_t height,
                                                int kind, void *stream)
{
    return last(from_array(dst, pitch, array, x, y, width, height, kind, stream, false));
}

/* Bytes in rows of the array: what the old calls count. */
static int rows(void *array, size_t x, size_t y, void *host, size_t bytes, int kind, void *stream,
                bool waits, bool to)
{
    uint64_t row;
    int code = array_row_bytes(&row, array);
    uint8_t *at = host;
    for (; code == SHIM_OK && bytes > 0; y++) {
        size_t part = x > row ? 0 : row - x < bytes ? row - x : bytes;
        if (part == 0) {
            return SHIM_INVALID;
        }
        code = to ? to_array(array, x, y, at, part, part, 1, kind, stream, waits)
                  : from_array(at, part, array, x, y, part, 1, kind, stream, waits);
        at += part;
        bytes -= part;
        x = 0;
    }
    return code;
}

EXPORT int STREAMED_BLOCKING(cudaMemcpyToArray)(void *array, size_t x, size_t y, const void *src,
                                                size_t bytes, int kind)
{
    return last(rows(array, x, y, (void *)src, bytes, kind, NULL, true, true));
}

EXPORT int STREAMED(cudaMemcpyToArrayAsync)(void *array, size_t x, size_t y, const void *src,
                                            size_t bytes, int kind, void *stream)
{
    return last(rows(array, x, y, (void *)src, bytes, kind, stream, false, true));
}

EXPORT int STREAMED_BLOCKING(cudaMemcpyFromArray)(void *dst, void *array, size_t x, size_t y,
                                                  size_t bytes, int kind)
{
    return last(rows(array, x, y, dst, bytes, kind, NULL, true, false));
}

EXPORT int STREAMED(cudaMemcpyFromArrayAsync)(void *dst, void *array, size_t x, size_t y,
                                              size_t bytes, int kind, void *stream)
{
    return last(rows(array, x, y, dst, bytes, kind, stream, false, false));
}

EXPORT int STREAMED_BLOCKING(cudaMemcpy2DArrayToArray)(void *dst, size_t dst_x, size_t dst_y,
                                                       void *src, size_t src_x, size_t src_y,
                                                       size_t width, size_t height, int kind)
{
    struct abi_copy3d params = {.src_array = src,
                                .src_pos = {src_x, src_y, 0},
                                .dst_array = dst,
                                .dst_pos = {dst_x, dst_y, 0},
                                .extent = {width, height, 1},
                                .kind = kind};
    int code = array_bytes(&params);
    return last(code == SHIM_OK ? space(&params, NULL, true) : code);
}

/* Bytes in rows of both arrays, which may be of different length. */
EXPORT int STREAMED_BLOCKING(cudaMemcpyArrayToArray)(void *dst, size_t dst_x, size_t dst_y,
                                                     void *src, size_t src_x, size_t src_y,
                                                     size_t bytes, int kind)
{
    uint64_t dst_row, src_row;
    int code = array_row_bytes(&dst_row, dst);
    code = code == SHIM_OK ? array_row_bytes(&src_row, src) : code;
    while (code == SHIM_OK && bytes > 0) {
        if (dst_x >= dst_row || src_x >= src_row) {
            return last(SHIM_INVALID);
        }
        size_t part = dst_row - dst_x < bytes ? dst_row - dst_x : bytes;
        part = src_row - src_x < part ? src_row - src_x : part;
        code = STREAMED_BLOCKING(cudaMemcpy2DArrayToArray)(dst, dst_x, dst_y, src, src_x, src_y,
                                                           part, 1, kind);
        dst_x += part;
        src_x += part;
        bytes -= part;
        if (dst_x == dst_row) {
            dst_x = 0;
            dst_y++;
        }
        if (src_x == src_row) {
            src_x = 0;
            src_y++;
        }
    }
    return last(code);
}

#ifndef SHIM_PER_THREAD
#if SHIM_RUNTIME >= 13
/* Several at once, each as if it stood alone. */
EXPORT int cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes,
                                size_t count, const void *attributes, const size_t *firsts,
                                size_t attribute_count, void *stream)
{
    int code = dsts && srcs && sizes && count && attributes && firsts && attribute_count && stream
                   ? SHIM_OK
                   : SHIM_INVALID;
    for (size_t i = 0; code == SHIM_OK && i < count; i++) {
        code = linear(dsts[i], srcs[i], sizes[i], 4, stream, false);
    }
    return last(code);
}
#endif
#endif

static int set(void *dst, size_t pitch, int value, size_t width, size_t height, void *stream)
{
    struct rt_stream *in;
    struct rt_memset request = {.address = (uintptr_t)dst,
                                .row_bytes = pitch,
                                .value = (uint8_t)value,
                                .element_bytes = 1,
                                .width = width,
                                .height = height};
    int code = stream_of(&in, stream, OWN_STREAM);
    return code == SHIM_OK ? shim_memset(in, &request, false) : code;
}

EXPORT int STREAMED_BLOCKING(cudaMemset)(void *dst, int value, size_t bytes)
{
    return last(set(dst, 0, value, bytes, 1, NULL));
}

EXPORT int STREAMED(cudaMemsetAsync)(void *dst, int value, size_t bytes, void *stream)
{
    return last(set(dst, 0, value, bytes, 1, stream));
}

EXPORT int STREAMED_BLOCKING(cudaMemset2D)(void *dst, size_t pitch, int value, size_t width,
                                           size_t height)
{
    return last(set(dst, pitch, value, width, height, NULL));
}

EXPORT int STREAMED(cudaMemset2DAsync)(void *dst, size_t pitch, int value, size_t width,
                                       size_t height, void *stream)
{
    return last(set(dst, pitch, value, width, height, stream));
}

static int set3d(struct abi_pitched to, int value, struct abi_extent extent, void *stream)
{
    int code = SHIM_OK;
    for (size_t z = 0; z < extent.depth && code == SHIM_OK; z++) {
        code = set((uint8_t *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width,
                   extent.height, stream);
    }
    return code;
}

EXPORT int STREAMED_BLOCKING(cudaMemset3D)(struct abi_pitched to, int value,
                                           struct abi_extent extent)
{
    return last(set3d(to, value, extent, NULL));
}

EXPORT int STREAMED(cudaMemset3DAsync)(struct abi_pitched to, int value, struct abi_extent extent,
                                       void *stream)
{
    return last(set3d(to, value, extent, stream));
}

/* Between devices, of which there is one. */
static int peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                void *stream, bool own)
{
    struct rt_stream *in;
    int code = dst_device || src_device ? SHIM_BAD_DEVICE : stream_of(&in, stream, own);
    code = code == SHIM_OK && bytes > 0 ? copy_check(dst, src, bytes, ABI_DEVICE_TO_DEVICE) : code;
    return code == SHIM_OK && bytes > 0 ? shim_copy_linear(in, dst, src, bytes, false) : code;
}

#ifndef SHIM_PER_THREAD
EXPORT int cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
    return last(peer(dst, dst_device, src, src_device, bytes, NULL, false));
}

EXPORT int cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                               size_t bytes, void *stream)
{
    return last(peer(dst, dst_device, src, src_device, bytes, stream, false));
}
#else
EXPORT int cudaMemcpyPeerAsync_ptsz(void *dst, int dst_device, const void *src, int src_device,
                                    size_t bytes, void *stream)
{
    return last(peer(dst, dst_device, src, src_device, bytes, stream, true));
}
#endif
