/*
 * The part of the CUDA driver interface that cuda.c calls, declared here because no toolkit is
 * needed to build or run Sonde. Names, argument types and numbers are the published ABI of the
 * driver API (64-bit; unchanged from CUDA 11.4 to 13). X(member, symbol, result, arguments).
 */
#ifndef SONDE_DEVICE_CUDA_API_H
#define SONDE_DEVICE_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef int cu_device;
typedef struct cu_context_s *cu_context;
typedef struct cu_module_s *cu_module;
typedef struct cu_function_s *cu_function;
typedef struct cu_stream_s *cu_stream;
typedef struct cu_event_s *cu_event;
typedef struct cu_array_s *cu_array;
typedef struct cu_mipmap_s *cu_mipmap;
typedef uint64_t cu_pointer;
struct cu_uuid {
    unsigned char bytes[16];
};

#define CUDA_CALLS(X)                                                                              \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(driver_version, "cuDriverGetVersion", (int *version))                                        \
    X(error_name, "cuGetErrorName", (cu_result error, const char **text))                          \
    X(error_string, "cuGetErrorString", (cu_result error, const char **text))                      \
    X(device_count, "cuDeviceGetCount", (int *count))                                              \
    X(device_get, "cuDeviceGet", (cu_device * device, int ordinal))                                \
    X(device_name, "cuDeviceGetName", (char *name, int length, cu_device device))                  \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, cu_device device))     \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, cu_device device))                    \
    X(context_retain, "cuDevicePrimaryCtxRetain", (cu_context * context, cu_device device))        \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (cu_device device))                         \
    X(context_set, "cuCtxSetCurrent", (cu_context context))                                        \
    X(context_synchronize, "cuCtxSynchronize", (void))                                             \
    X(module_load, "cuModuleLoadDataEx",                                                           \
      (cu_module * module, const void *image, unsigned count, int *options, void **values))        \
    X(module_unload, "cuModuleUnload", (cu_module module))                                         \
    X(module_function, "cuModuleGetFunction",                                                      \
      (cu_function * function, cu_module module, const char *name))                                \
    X(memory_alloc, "cuMemAlloc_v2", (cu_pointer * address, size_t bytes))                         \
    X(memory_free, "cuMemFree_v2", (cu_pointer address))                                           \
    X(copy_to, "cuMemcpyHtoD_v2", (cu_pointer target, const void *source, size_t bytes))           \
    X(copy_from, "cuMemcpyDtoH_v2", (void *target, cu_pointer source, size_t bytes))               \
    X(function_set, "cuFuncSetAttribute", (cu_function function, int attribute, int value))        \
    X(launch, "cuLaunchKernel",                                                                    \
      (cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, cu_stream stream,                \
       void **arguments, void **extra))

/* Missing in some drivers; the member is NULL then. */
#define CUDA_OPTIONAL_CALLS(X)                                                                     \
    X(device_uuid, "cuDeviceGetUuid_v2", (struct cu_uuid * uuid, cu_device device))                \
    X(module_global, "cuModuleGetGlobal_v2",                                                       \
      (cu_pointer * address, size_t * bytes, cu_module module, const char *name))                  \
    X(stream_create, "cuStreamCreate", (cu_stream * stream, unsigned flags))                       \
    X(stream_destroy, "cuStreamDestroy_v2", (cu_stream stream))                                    \
    X(event_create, "cuEventCreate", (cu_event * event, unsigned flags))                           \
    X(event_destroy, "cuEventDestroy_v2", (cu_event event))                                        \
    X(event_record, "cuEventRecord", (cu_event event, cu_stream stream))                           \
    X(event_elapsed, "cuEventElapsedTime", (float *ms, cu_event begin, cu_event end))              \
    X(bank_config, "cuFuncSetSharedMemConfig", (cu_function function, int config))                 \
    X(texture_create, "cuTexObjectCreate",                                                         \
      (uint64_t * handle, const struct cu_texture_resource *resource,                              \
       const struct cu_texture_view *view, const void *resource_view))                             \
    X(texture_destroy, "cuTexObjectDestroy", (uint64_t handle))                                    \
    X(array_create, "cuArray3DCreate_v2", (cu_array * array, const struct cu_array_spec *spec))    \
    X(array_destroy, "cuArrayDestroy", (cu_array array))                                           \
    X(mipmap_create, "cuMipmappedArrayCreate",                                                     \
      (cu_mipmap * mipmap, const struct cu_array_spec *spec, unsigned levels))                     \
    X(mipmap_level, "cuMipmappedArrayGetLevel",                                                    \
      (cu_array * array, cu_mipmap mipmap, unsigned level))                                        \
    X(mipmap_destroy, "cuMipmappedArrayDestroy", (cu_mipmap mipmap))                               \
    X(copy_box, "cuMemcpy3D_v2", (const struct cu_box *box))                                       \
    X(surface_create, "cuSurfObjectCreate",                                                        \
      (uint64_t * handle, const struct cu_texture_resource *resource))                             \
    X(surface_destroy, "cuSurfObjectDestroy", (uint64_t handle))                                   \
    X(granularity, "cuMemGetAllocationGranularity",                                                \
      (size_t * bytes, const struct cu_memory_kind *kind, int option))                             \
    X(range_reserve, "cuMemAddressReserve",                                                        \
      (cu_pointer * address, size_t bytes, size_t alignment, cu_pointer near, uint64_t flags))     \
    X(range_free, "cuMemAddressFree", (cu_pointer address, size_t bytes))                          \
    X(page_create, "cuMemCreate",                                                                  \
      (uint64_t * page, size_t bytes, const struct cu_memory_kind *kind, uint64_t flags))          \
    X(page_release, "cuMemRelease", (uint64_t page))                                               \
    X(page_map, "cuMemMap",                                                                        \
      (cu_pointer address, size_t bytes, size_t offset, uint64_t page, uint64_t flags))            \
    X(page_unmap, "cuMemUnmap", (cu_pointer address, size_t bytes))                                \
    X(page_access, "cuMemSetAccess",                                                               \
      (cu_pointer address, size_t bytes, const struct cu_access *access, size_t count))

/* The driver's descriptions of memory and textures: published layouts, the unused parts as bytes.
 */
struct cu_location {
    int type, id;
};
struct cu_memory_kind {
    int type, handle_types;
    struct cu_location location;
    void *handle_data;
    unsigned char flags[8];
};
struct cu_access {
    struct cu_location location;
    int flags;
};
struct cu_texture_resource {
    int type;
    union {
        struct {
            cu_pointer address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            cu_pointer address;
            int format;
            unsigned channels;
            size_t width, height, pitch_bytes;
        } pitch;
        cu_array array;
        cu_mipmap mipmap;
        int reserved[32];
    } as;
    unsigned flags;
};
struct cu_array_spec {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
/* One side of a copy of a box of bytes, and the copy. */
struct cu_box_side {
    size_t x_bytes, y, z, level;
    int memory_type;
    void *host;
    cu_pointer device;
    cu_array array;
    void *reserved;
    size_t pitch_bytes, height;
};
struct cu_box {
    struct cu_box_side from, to;
    size_t width_bytes, height, depth;
};
struct cu_texture_view {
    int address_mode[3], filter_mode;
    unsigned flags, anisotropy;
    int mipmap_filter_mode;
    float mipmap[3], border[4];
    int reserved[12];
};
_Static_assert(sizeof(struct cu_memory_kind) == 32, "as the driver's");
_Static_assert(sizeof(struct cu_access) == 12, "as the driver's");
_Static_assert(sizeof(struct cu_texture_resource) == 144, "as the driver's");
_Static_assert(sizeof(struct cu_texture_view) == 104, "as the driver's");
_Static_assert(sizeof(struct cu_array_spec) == 40, "as the driver's");
_Static_assert(sizeof(struct cu_box) == 200, "as the driver's");

struct cuda_api {
#define CUDA_MEMBER(member, symbol, arguments) cu_result(*member) arguments;
    CUDA_CALLS(CUDA_MEMBER)
    CUDA_OPTIONAL_CALLS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/* Results that mean something to us; the driver names the others. */
enum {
    CU_SUCCESS = 0,
    CU_OUT_OF_MEMORY = 2,
    CU_INVALID_DEVICE = 101,
    CU_INVALID_IMAGE = 200,
    CU_INVALID_PTX = 218,
    CU_UNSUPPORTED_PTX_VERSION = 222,
    CU_NOT_FOUND = 500,
    CU_ILLEGAL_ADDRESS = 700,
    CU_LAUNCH_OUT_OF_RESOURCES = 701,
    CU_LAUNCH_TIMEOUT = 702,
    CU_ASSERT = 710,
    CU_HARDWARE_STACK_ERROR = 714,
    CU_LAUNCH_FAILED = 719, /* 714 to 719 are faults of a kernel */
};

enum {
    CU_MAX_THREADS_PER_BLOCK = 1,
    CU_MAX_SHARED_PER_BLOCK = 8,
    CU_CLOCK_RATE = 13, /* kHz */
    CU_MULTIPROCESSOR_COUNT = 16,
    CU_MEMORY_CLOCK_RATE = 36,       /* kHz */
    CU_GLOBAL_MEMORY_BUS_WIDTH = 37, /* bits */
    CU_L2_CACHE_SIZE = 38,
    CU_COMPUTE_MAJOR = 75,
    CU_COMPUTE_MINOR = 76,
    CU_MAX_SHARED_PER_SM = 81,
    CU_MAX_SHARED_PER_BLOCK_OPTIN = 97,
    CU_RESERVED_SHARED_PER_BLOCK = 111,
};

enum { CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_BYTES = 6 };
enum { CU_FUNCTION_MAX_DYNAMIC_SHARED = 8, CU_FUNCTION_CARVEOUT = 9 /* percent */ };

/* What the descriptions above are filled with. */
enum { CU_MEMORY_PINNED = 1, CU_LOCATION_DEVICE = 1, CU_ACCESS_READ_WRITE = 3 };
enum {
    CU_RESOURCE_ARRAY = 0,
    CU_RESOURCE_MIPMAP = 1,
    CU_RESOURCE_LINEAR = 2,
    CU_RESOURCE_PITCH = 3
};
enum {
    CU_FORMAT_UNSIGNED_8 = 1,
    CU_FORMAT_UNSIGNED_16 = 2,
    CU_FORMAT_UNSIGNED_32 = 3,
    CU_FORMAT_SIGNED_8 = 8,
    CU_FORMAT_SIGNED_16 = 9,
    CU_FORMAT_SIGNED_32 = 10,
    CU_FORMAT_HALF = 16,
    CU_FORMAT_FLOAT = 32
};
enum { CU_READ_AS_INTEGER = 1, CU_NORMALIZED_COORDINATES = 2, CU_SRGB = 0x10 };
enum { CU_ARRAY_LAYERED = 1, CU_ARRAY_SURFACE = 2, CU_ARRAY_CUBE = 4, CU_ARRAY_GATHER = 8 };
enum { CU_SIDE_HOST = 1, CU_SIDE_ARRAY = 3 };
enum { CU_BANKS_DEFAULT = 0, CU_BANKS_FOUR_BYTES = 1, CU_BANKS_EIGHT_BYTES = 2 };

#endif
