/*
 * The binary interface that compiled programs use: structures by their layout, constants by their
 * numbers. Written from the published reference manuals; no header of the vendor's is needed.
 * Enumerations are ints, handles are pointers.
 */
#ifndef SONDE_SHIM_ABI_H
#define SONDE_SHIM_ABI_H

#include <stddef.h>
#include <stdint.h>

struct abi_dim3 {
    unsigned x, y, z;
};

enum {
    ABI_HOST_TO_HOST,
    ABI_HOST_TO_DEVICE,
    ABI_DEVICE_TO_HOST,
    ABI_DEVICE_TO_DEVICE,
    ABI_DEFAULT
};

struct abi_extent {
    size_t width, height, depth;
};
struct abi_pos {
    size_t x, y, z;
};
struct abi_pitched {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct abi_channel_desc {
    int x, y, z, w, f;
};
enum { ABI_SIGNED, ABI_UNSIGNED, ABI_FLOAT };

struct abi_copy3d { /* cudaMemcpy3DParms */
    void *src_array;
    struct abi_pos src_pos;
    struct abi_pitched src;
    void *dst_array;
    struct abi_pos dst_pos;
    struct abi_pitched dst;
    struct abi_extent extent;
    int kind;
};
struct abi_copy3d_peer { /* cudaMemcpy3DPeerParms */
    void *src_array;
    struct abi_pos src_pos;
    struct abi_pitched src;
    int src_device;
    void *dst_array;
    struct abi_pos dst_pos;
    struct abi_pitched dst;
    int dst_device;
    struct abi_extent extent;
};

struct abi_resource_desc { /* cudaResourceDesc */
    int type;              /* 0 array, 1 mipmap, 2 linear, 3 pitched */
    union {
        void *handle;
        struct {
            void *ptr;
            struct abi_channel_desc desc;
            size_t bytes;
        } linear;
        struct {
            void *ptr;
            struct abi_channel_desc desc;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    };
};
struct abi_texture_desc { /* cudaTextureDesc */
    int address[3], filter, read, srgb;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int mipmap_filter;
    float bias, least, most;
    int no_trilinear, seamless;
};
struct abi_view_desc { /* cudaResourceViewDesc, CUDA_RESOURCE_VIEW_DESC */
    int format;
    size_t width, height, depth;
    unsigned first_level, last_level, first_layer, last_layer, reserved[16];
};
struct abi_resource_desc_driver { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        void *handle;
        struct {
            uint64_t ptr;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            uint64_t ptr;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    };
    unsigned flags;
};
struct abi_texture_desc_driver { /* CUDA_TEXTURE_DESC */
    int address[3], filter;
    unsigned flags; /* ABI_TEXTURE_... */
    unsigned anisotropy;
    int mipmap_filter;
    float bias, least, most, border[4];
    int reserved[12];
};
enum { /* CU_TRSF_... */
       ABI_TEXTURE_INTEGERS = 1,
       ABI_TEXTURE_NORMALIZED = 2,
       ABI_TEXTURE_SRGB = 0x10,
       ABI_TEXTURE_SEAMLESS = 0x40
};
struct abi_array_desc { /* CUDA_ARRAY_DESCRIPTOR */
    size_t width, height;
    int format;
    unsigned channels;
};
struct abi_array3d_desc { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
enum { ABI_ARRAY_LAYERED = 1, ABI_ARRAY_SURFACE = 2, ABI_ARRAY_CUBE = 4, ABI_ARRAY_GATHER = 8 };

struct abi_copy2d_driver { /* CUDA_MEMCPY2D */
    size_t src_x, src_y;
    int src_type; /* 1 host, 2 device, 3 array, 4 unified */
    const void *src_host;
    uint64_t src_device;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_type;
    void *dst_host;
    uint64_t dst_device;
    void *dst_array;
    size_t dst_pitch;
    size_t width, height;
};
struct abi_copy3d_end { /* a half of CUDA_MEMCPY3D */
    size_t x, y, z, level;
    int type;
    void *host;
    uint64_t device;
    void *array;
    void *reserved;
    size_t pitch, height;
};
struct abi_copy3d_driver { /* CUDA_MEMCPY3D */
    struct abi_copy3d_end src, dst;
    size_t width, height, depth;
};

union abi_attribute_value {
    char bytes[64];
    struct abi_dim3 cluster;
    int number;
    void *event; /* what follows it says how early it may be over */
};
struct abi_attribute { /* cudaLaunchAttribute, CUlaunchAttribute */
    int id;
    char pad[4];
    union abi_attribute_value value;
};
enum {
    ABI_ATTRIBUTE_COOPERATIVE = 2,
    ABI_ATTRIBUTE_CLUSTER = 4,
    ABI_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
    ABI_ATTRIBUTE_PRIORITY = 8,
    ABI_ATTRIBUTE_COMPLETION_EVENT = 12,
};
struct abi_launch_config { /* cudaLaunchConfig_t */
    struct abi_dim3 grid, block;
    size_t shared_bytes;
    void *stream;
    struct abi_attribute *attributes;
    unsigned attribute_count;
};
struct abi_launch_config_driver { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    struct abi_attribute *attributes;
    unsigned attribute_count;
};

struct abi_func_attributes { /* cudaFuncAttributes; 11.0 ends with the carve-out */
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared;
    int carveout;
    int cluster_required, cluster[3], cluster_policy, cluster_non_portable, reserved[16];
};
struct abi_pointer_attributes { /* cudaPointerAttributes; later ones have more behind it */
    int type;                   /* 0 unregistered, 1 host, 2 device, 3 managed */
    int device;
    void *device_pointer, *host_pointer;
};

struct abi_location {
    int type, id; /* type 1: a device */
};
struct abi_pool_props { /* cudaMemPoolProps */
    int allocation, handles;
    struct abi_location location;
    void *security;
    size_t max_bytes;
    unsigned short usage;
    unsigned char reserved[54];
};
struct abi_access { /* cudaMemAccessDesc */
    struct abi_location location;
    int flags; /* 0, 1 read, 3 read and write */
};

struct abi_kernel_node { /* cudaKernelNodeParams; the driver's has two more pointers behind it */
    void *function;
    struct abi_dim3 grid, block;
    unsigned shared_bytes;
    void **args, **extra;
};
struct abi_kernel_node_v2 { /* CUDA_KERNEL_NODE_PARAMS_v2, cudaKernelNodeParamsV2 */
    void *function;
    unsigned grid[3], block[3], shared_bytes;
    void **args, **extra;
    void *kernel, *context;
};
struct abi_memset_node { /* cudaMemsetParams */
    void *dst;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};
struct abi_host_node {
    void (*fn)(void *ctx);
    void *ctx;
};
struct abi_alloc_node { /* cudaMemAllocNodeParams */
    struct abi_pool_props props;
    const struct abi_access *access;
    size_t access_count, bytes;
    void *ptr;
};
struct abi_conditional_node {
    uint64_t handle;
    int kind;
    unsigned size;
    void **graphs;
    void *context;
};
struct abi_copy_node {
    int flags, reserved;
    void *context;
    struct abi_copy3d copy;
};
struct abi_node { /* cudaGraphNodeParams */
    int type, reserved0[3];
    union {
        long long reserved1[29];
        struct abi_kernel_node_v2 kernel;
        struct abi_copy_node copy;
        struct abi_memset_node memset;
        struct abi_host_node host;
        struct {
            void *graph;
        } child;
        struct {
            void *event;
        } event;
        struct abi_alloc_node alloc;
        struct {
            void *ptr;
        } release;
        struct abi_conditional_node conditional;
    };
    long long reserved2;
};

#define ABI_PARAM_END ((void *)0)
#define ABI_PARAM_POINTER ((void *)1)
#define ABI_PARAM_SIZE ((void *)2)

#endif
