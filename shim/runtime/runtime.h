/*
 * libcudart over what it shares with libcuda (core/shim.h). A function of the interface returns its
 * code through last(), which keeps it for cudaGetLastError(). The sources are compiled for each
 * version of the library, SHIM_RUNTIME 11, 12 and 13; those of streamed/ a second time for the
 * names that mean the thread's own stream where others mean the null stream.
 */
#ifndef SONDE_SHIM_RUNTIME_RUNTIME_H
#define SONDE_SHIM_RUNTIME_RUNTIME_H

#include "shim/abi.h"
#include "shim/core/shim.h"
#include "shim/core/streamed.h"

/* error.c */
int last(int code);

/* register.c: what a program's pointer to a host function or variable means. */
int function_of(struct shim_function **out, const void *host);
struct variable {
    const char *name;
    uint64_t address, bytes;
};
int variable_of(struct variable *out, const void *host);

/* The stream and the device behind it; a code. */
int stream_of(struct rt_stream **out, void *handle, bool own);

/* launch.c */
int launch_of(struct shim_launch *out, const void *host, struct abi_dim3 grid,
              struct abi_dim3 block, void **args, size_t shared_bytes);

/* texture.c, memory.c: formats, arrays */
int format_of(struct texel_format *out, const struct abi_channel_desc *desc);

#endif
