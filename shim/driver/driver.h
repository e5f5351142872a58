/*
 * libcuda's interface over what it shares with libcudart. Functions begin with driver_enter(): CUDA
 * wants cuInit() and a context before anything else.
 */
#ifndef SONDE_SHIM_DRIVER_DRIVER_H
#define SONDE_SHIM_DRIVER_DRIVER_H

#include "shim/abi.h"
#include "shim/core/shim.h"
#include "shim/core/streamed.h"

/* context.c */
bool driver_initialised(void);
/* A code: cuInit() has been called, and the thread has a context. */
int driver_enter(struct rt **rt);
int driver_stream(struct rt_stream **out, void *handle, bool own);
/* Counts the call. What the runtime calls a bad configuration is a bad argument here. */
int driver_result(int code);

#endif
