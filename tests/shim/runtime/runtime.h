/*
 * Programs in C that use the runtime of release 13 as a library, without its header and without its
 * compiler: what nvcc puts into a program is called here by hand.
 */
#ifndef SONDE_TESTS_SHIM_RUNTIME_RUNTIME_H
#define SONDE_TESTS_SHIM_RUNTIME_RUNTIME_H

#include <stddef.h>

#include "tests/shim/hosts/host.h"

int cudaGetLastError(void);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaDeviceSynchronize(void);
int cudaStreamCreate(void **);
int cudaStreamDestroy(void *);
int cudaStreamSynchronize(void *);

static inline void *memory_of(size_t bytes)
{
    void *memory = NULL;
    OK(cudaMalloc(&memory, bytes));
    OK(cudaMemset(memory, 0, bytes));
    return memory;
}

static inline uint32_t word_at(const void *memory, size_t i)
{
    uint32_t value;
    OK(cudaMemcpy(&value, (const uint32_t *)memory + i, 4, ABI_DEVICE_TO_HOST));
    return value;
}

#endif
