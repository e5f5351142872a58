/*
 * The device's heap: what kernels' malloc and free work on. Its records lie beside the heap's
 * memory, not in it, so that a kernel that writes beyond an allocation cannot damage them.
 */
#ifndef SONDE_RT_HEAP_H
#define SONDE_RT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap;

/* Over [address, address + bytes), which the caller has allocated, 256-byte aligned. */
int heap_create(struct heap **out, uint64_t address, uint64_t bytes);
void heap_destroy(struct heap *heap); /* NULL is allowed */

/* `align` is a power of two, 16 at least. 0: nothing of that size is free. */
uint64_t heap_take(struct heap *heap, uint64_t bytes, uint64_t align);
/* False: no allocation begins there. */
bool heap_give(struct heap *heap, uint64_t address);

uint64_t heap_used_bytes(const struct heap *heap);

#endif
