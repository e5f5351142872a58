/*
 * Names of what libcuda and libcudart export. Sources in folders named streamed/ are compiled twice
 * in each: with SHIM_PER_THREAD their functions are the variants whose default stream is the
 * calling thread's own (OWN_STREAM), _ptsz, of those that wait _ptds.
 */
#ifndef SONDE_SHIM_CORE_STREAMED_H
#define SONDE_SHIM_CORE_STREAMED_H

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

#endif
