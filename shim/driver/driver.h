/*
 * libcuda's interface over what it shares with libcudart. Functions begin with driver_enter(): CUDA
 * wants cuInit() and a context before anything else.
 */
#ifndef SONDE_SHIM_DRIVER_DRIVER_H
#define SONDE_SHIM_DRIVER_DRIVER_H

#include "shim/abi.h"
#include "shim/core/shim.h"

#define EXPORT __attribute__((visibility("default")))

#ifdef SHIM_PER_THREAD
#define WITH_SUFFIX(name, suffix) name##suffix
#define STREAMED(name) WITH_SUFFIX(name, _ptsz)
#define STREAMED_BLOCKING(name) WITH_SUFFIX(name, _ptds)
#define OWN_STREAM true
#else
#define STREAMED(name) name
#define STREAMED_BLOCKING(name) name
#define OWN_STREAM false
#endif

/* context.c */
bool driver_initialised(void);
/* A code: cuInit() has been called, and the thread has a context. */
int driver_enter(struct rt **rt);
int driver_stream(struct rt_stream **out, void *handle, bool own);
/* Counts the call. What the runtime calls a bad configuration is a bad argument here. */
int driver_result(int code);

#endif
