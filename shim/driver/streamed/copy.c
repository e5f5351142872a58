/* Copies and memsets. */
#include "shim/core/image.h"
#include "shim/driver/copy.h"
#include "shim/driver/driver.h"

static int linear(void *dst, const void *src, size_t bytes, void *stream, bool waits)
{
    struct rt_stream *in;
    int code = driver_stream(&in, stream, OWN_STREAM);
    if (code != SHIM_OK || bytes == 0) {
        return code;
    }
    return dst && src ? shim_copy_linear(in, dst, src, bytes, waits) : SHIM_INVALID;
}

/* A device's address is one of the device's; else it would be read or written as the host's. */
static int device_side(uint64_t address, size_t bytes)
{
    struct shim_range range;
    struct rt *rt;
    int code = driver_enter(&rt);
    if (code != SHIM_OK || bytes == 0) {
        return code;
    }
    if (shim_memory_find(&range, address)) {
        return SHIM_OK;
    }
    shim_check_copy_refused(rt, address, bytes);
    return SHIM_INVALID;
}

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static int to_device(uint64_t dst, const void *src, size_t bytes, void *stream, bool waits)
{
    int code = device_side(dst, bytes);
    return code == SHIM_OK ? linear(at(dst), src, bytes, stream, waits) : code;
}

static int from_device(void *dst, uint64_t src, size_t bytes, void *stream, bool waits)
{
    int code = device_side(src, bytes);
    return code == SHIM_OK ? linear(dst, at(src), bytes, stream, waits) : code;
}

static int on_device(uint64_t dst, uint64_t src, size_t bytes, void *stream, bool waits)
{
    int code = device_side(dst, bytes);
    return code == SHIM_OK ? from_device(at(dst), src, bytes, stream, waits) : code;
}

EXPORT int STREAMED_BLOCKING(cuMemcpyHtoD_v2)(uint64_t dst, const void *src, size_t bytes)
{
    return driver_result(to_device(dst, src, bytes, NULL, true));
}

EXPORT int STREAMED(cuMemcpyHtoDAsync_v2)(uint64_t dst, const void *src, size_t bytes, void *stream)
{
    return driver_result(to_device(dst, src, bytes, stream, false));
}

EXPORT int STREAMED_BLOCKING(cuMemcpyDtoH_v2)(void *dst, uint64_t src, size_t bytes)
{
    return driver_result(from_device(dst, src, bytes, NULL, true));
}

EXPORT int STREAMED(cuMemcpyDtoHAsync_v2)(void *dst, uint64_t src, size_t bytes, void *stream)
{
    return driver_result(from_device(dst, src, bytes, stream, false));
}

EXPORT int STREAMED_BLOCKING(cuMemcpyDtoD_v2)(uint64_t dst, uint64_t src, size_t bytes)
{
    return driver_result(on_device(dst, src, bytes, NULL, false));
}

EXPORT int STREAMED(cuMemcpyDtoDAsync_v2)(uint64_t dst, uint64_t src, size_t bytes, void *stream)
{
    return driver_result(on_device(dst, src, bytes, stream, false));
}

EXPORT int STREAMED_BLOCKING(cuMemcpy)(uint64_t dst, uint64_t src, size_t bytes)
{
    return driver_result(linear(at(dst), at(src), bytes, NULL, true));
}

EXPORT int STREAMED(cuMemcpyAsync)(uint64_t dst, uint64_t src, size_t bytes, void *stream)
{
    return driver_result(linear(at(dst), at(src), bytes, stream, false));
}

EXPORT int STREAMED_BLOCKING(cuMemcpyPeer)(uint64_t dst, void *dst_context, uint64_t src,
                                           void *src_context, size_t bytes)
{
    (void)dst_context, (void)src_context;
    return driver_result(on_device(dst, src, bytes, NULL, false));
}

EXPORT int STREAMED(cuMemcpyPeerAsync)(uint64_t dst, void *dst_context, uint64_t src,
                                       void *src_context, size_t bytes, void *stream)
{
    (void)dst_context, (void)src_context;
    return driver_result(on_device(dst, src, bytes, stream, false));
}

static int plane(const struct abi_copy2d_driver *params, void *stream, bool waits)
{
    struct rt_stream *in;
    struct rt_copy copy;
    int code = params ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    code = code == SHIM_OK ? driver_copy2d(rt_stream_rt(in), &copy, params) : code;
    copy.waits = waits;
    return code == SHIM_OK ? shim_copy(in, &copy) : code;
}

EXPORT int STREAMED_BLOCKING(cuMemcpy2D_v2)(const struct abi_copy2d_driver *params)
{
    return driver_result(plane(params, NULL, true));
}

EXPORT int STREAMED_BLOCKING(cuMemcpy2DUnaligned_v2)(const struct abi_copy2d_driver *params)
{
    return driver_result(plane(params, NULL, true));
}

EXPORT int STREAMED(cuMemcpy2DAsync_v2)(const struct abi_copy2d_driver *params, void *stream)
{
    return driver_result(plane(params, stream, false));
}

static int space(const struct abi_copy3d_driver *params, void *stream, bool waits)
{
    struct rt_stream *in;
    struct rt_copy copy;
    int code = params ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    code = code == SHIM_OK ? driver_copy3d(rt_stream_rt(in), &copy, params) : code;
    copy.waits = waits;
    return code == SHIM_OK ? shim_copy(in, &copy) : code;
}

EXPORT int STREAMED_BLOCKING(cuMemcpy3D_v2)(const struct abi_copy3d_driver *params)
{
    return driver_result(space(params, NULL, true));
}

EXPORT int STREAMED(cuMemcpy3DAsync_v2)(const struct abi_copy3d_driver *params, void *stream)
{
    return driver_result(space(params, stream, false));
}

/* There is one device: whose contexts the ends are in makes no difference. */
EXPORT int STREAMED_BLOCKING(cuMemcpy3DPeer)(const struct abi_copy3d_driver *params)
{
    return driver_result(space(params, NULL, true));
}

EXPORT int STREAMED(cuMemcpy3DPeerAsync)(const struct abi_copy3d_driver *params, void *stream)
{
    return driver_result(space(params, stream, false));
}

static int array_linear(void *array, size_t offset, uint64_t address, size_t bytes, bool host,
                        bool to, void *stream, bool waits)
{
    struct abi_copy3d_driver params = {.width = bytes, .height = 1, .depth = 1};
    struct abi_copy3d_end *image = to ? &params.dst : &params.src;
    struct abi_copy3d_end *other = to ? &params.src : &params.dst;
    *image = (struct abi_copy3d_end){.x = offset, .type = 3, .array = array};
    *other = (struct abi_copy3d_end){
        .type = host ? 1 : 2, .host = at(address), .device = address, .pitch = bytes, .height = 1};
    return space(&params, stream, waits);
}

EXPORT int STREAMED_BLOCKING(cuMemcpyHtoA_v2)(void *dst, size_t offset, const void *src,
                                              size_t bytes)
{
    return driver_result(array_linear(dst, offset, (uintptr_t)src, bytes, true, true, NULL, true));
}

EXPORT int STREAMED(cuMemcpyHtoAAsync_v2)(void *dst, size_t offset, const void *src, size_t bytes,
                                          void *stream)
{
    return driver_result(
        array_linear(dst, offset, (uintptr_t)src, bytes, true, true, stream, false));
}

EXPORT int STREAMED_BLOCKING(cuMemcpyAtoH_v2)(void *dst, void *src, size_t offset, size_t bytes)
{
    return driver_result(array_linear(src, offset, (uintptr_t)dst, bytes, true, false, NULL, true));
}

EXPORT int STREAMED(cuMemcpyAtoHAsync_v2)(void *dst, void *src, size_t offset, size_t bytes,
                                          void *stream)
{
    return driver_result(
        array_linear(src, offset, (uintptr_t)dst, bytes, true, false, stream, false));
}

EXPORT int STREAMED_BLOCKING(cuMemcpyDtoA_v2)(void *dst, size_t offset, uint64_t src, size_t bytes)
{
    return driver_result(array_linear(dst, offset, src, bytes, false, true, NULL, true));
}

EXPORT int STREAMED_BLOCKING(cuMemcpyAtoD_v2)(uint64_t dst, void *src, size_t offset, size_t bytes)
{
    return driver_result(array_linear(src, offset, dst, bytes, false, false, NULL, true));
}

static int set(uint64_t dst, size_t pitch, unsigned value, unsigned element, size_t width,
               size_t height, void *stream)
{
    struct rt_stream *in;
    int code = driver_stream(&in, stream, OWN_STREAM);
    if (code == SHIM_OK && dst % element != 0) {
        code = SHIM_INVALID;
    }
    struct rt_memset request = {.address = dst,
                                .row_bytes = pitch,
                                .value = value,
                                .element_bytes = element,
                                .width = width,
                                .height = height};
    return code == SHIM_OK ? shim_memset(in, &request, false) : code;
}

#define SETS(bits, type)                                                                           \
    EXPORT int STREAMED_BLOCKING(cuMemsetD##bits##_v2)(uint64_t dst, type value, size_t count)     \
    {                                                                                              \
        return driver_result(set(dst, 0, value, (bits) / 8, count, 1, NULL));                      \
    }                                                                                              \
    EXPORT int STREAMED(cuMemsetD##bits##Async)(uint64_t dst, type value, size_t count,            \
                                                void *stream)                                      \
    {                                                                                              \
        return driver_result(set(dst, 0, value, (bits) / 8, count, 1, stream));                    \
    }                                                                                              \
    EXPORT int STREAMED_BLOCKING(cuMemsetD2D##bits##_v2)(uint64_t dst, size_t pitch, type value,   \
                                                         size_t width, size_t height)              \
    {                                                                                              \
        return driver_result(set(dst, pitch, value, (bits) / 8, width, height, NULL));             \
    }                                                                                              \
    EXPORT int STREAMED(cuMemsetD2D##bits##Async)(uint64_t dst, size_t pitch, type value,          \
                                                  size_t width, size_t height, void *stream)       \
    {                                                                                              \
        return driver_result(set(dst, pitch, value, (bits) / 8, width, height, stream));           \
    }
SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned)
