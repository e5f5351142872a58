/*
 * What libcudart and libcuda have alike, but for names: the sources of this folder are compiled
 * into both. NAME(StreamQuery) is cudaStreamQuery or cuStreamQuery; those of streamed/ are compiled
 * twice in each, as runtime.h and driver.h say.
 *
 * Some of the driver's functions have a context as their last parameter. There is one device, and a
 * callee does not see what it does not take: they are the same functions here.
 */
#ifndef SONDE_SHIM_BOTH_BOTH_H
#define SONDE_SHIM_BOTH_BOTH_H

#ifdef SHIM_RUNTIME
#include "shim/runtime/copy.h"
#include "shim/runtime/runtime.h"
#define BOTH_NAME(name) cuda##name
#define RESULT(code) last(code)
#define DEVICE_OF(rt) shim_device(rt)
#define STREAM_OF(out, handle) stream_of(out, handle, OWN_STREAM)
#define COPY3D struct abi_copy3d
#define COPY3D_FILL(rt, out, from) copy3d_fill(rt, out, from)
#else
#include "shim/driver/copy.h"
#include "shim/driver/driver.h"
#define BOTH_NAME(name) cu##name
#define RESULT(code) driver_result(code)
#define DEVICE_OF(rt) driver_enter(rt)
#define STREAM_OF(out, handle) driver_stream(out, handle, OWN_STREAM)
#define COPY3D struct abi_copy3d_driver
#define COPY3D_FILL(rt, out, from) driver_copy3d(rt, out, from)
#endif
#define NAME(name) BOTH_NAME(name)

/*
 * Functions that got data of edges: by that name in the runtime of 13, by one of their own before
 * and in the driver, where the old name has none. And those of which the driver has a second form.
 */
#if defined SHIM_RUNTIME && SHIM_RUNTIME >= 13
#define EDGED(name) NAME(name)
#else
#define EDGED(name) NAME(name##_v2)
#define HAS_UNEDGED 1
#endif
#ifdef SHIM_RUNTIME
#define SECOND(name) NAME(name)
#else
#define SECOND(name) NAME(name##_v2)
#endif

#endif
