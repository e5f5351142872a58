/*
 * The device's heap: segregated fits. Blocks tile the heap and are linked in the order of their
 * addresses; free ones are also in a list by the power of two of their size. An allocation takes
 * the first block that is large enough in the lists from its own size upward and gives back what it
 * does not need; a freed block joins its free neighbours. Both take a time that does not grow with
 * the number of allocations, but for blocks of nearly the same size. Deterministic. (Knuth, The Art
 * of Computer Programming, volume 1, section 2.5.) Left out: what CUDA's own allocator takes of the
 * heap for its records, and its limits on the size of one block; neither is documented.
 */
#include "rt/heap.h"

#include <stdlib.h>

#include "util/error.h"
#include "util/container/map.h"

#define UNIT_BYTES 16 /* CUDA's malloc aligns to so much */
#define CLASS_COUNT 64

struct block {
    uint64_t address, bytes;
    struct block *before, *after;           /* neighbours by address */
    struct block *free_before, *free_after; /* in the list of its class; of free blocks */
    bool is_free;
};

struct heap {
    struct block *first;
    struct block *free_lists[CLASS_COUNT]; /* of blocks of [2^i, 2^(i+1)) bytes */
    struct block *spare;                   /* records to use again, linked by `after` */
    struct u64_map blocks;                 /* address -> block in use, or NULL once freed */
    uint64_t bytes, used_bytes;
};

static int class_of(uint64_t bytes)
{
    return 63 - __builtin_clzll(bytes);
}

static void list_add(struct heap *heap, struct block *block)
{
    struct block **list = &heap->free_lists[class_of(block->bytes)];
    block->is_free = true;
    block->free_before = NULL;
    block->free_after = *list;
    if (*list) {
        (*list)->free_before = block;
    }
    *list = block;
}

static void list_remove(struct heap *heap, struct block *block)
{
    if (block->free_before) {
        block->free_before->free_after = block->free_after;
    } else {
        heap->free_lists[class_of(block->bytes)] = block->free_after;
    }
    if (block->free_after) {
        block->free_after->free_before = block->free_before;
    }
    block->is_free = false;
}

static struct block *record_take(struct heap *heap)
{
    struct block *block = heap->spare;
    if (block) {
        heap->spare = block->after;
    } else {
        block = malloc(sizeof *block);
    }
    return block;
}

/* Splits what lies behind the first `bytes` of a block off and frees it. False: no memory. */
static bool split(struct heap *heap, struct block *block, uint64_t bytes)
{
    if (block->bytes == bytes) {
        return true;
    }
    struct block *rest = record_take(heap);
    if (!rest) {
        return false;
    }
    *rest = (struct block){.address = block->address + bytes,
                           .bytes = block->bytes - bytes,
                           .before = block,
                           .after = block->after};
    if (rest->after) {
        rest->after->before = rest;
    }
    block->after = rest;
    block->bytes = bytes;
    list_add(heap, rest);
    return true;
}

/* Takes the block behind `block` into it. */
static void absorb(struct heap *heap, struct block *block)
{
    struct block *next = block->after;
    block->bytes += next->bytes;
    block->after = next->after;
    if (block->after) {
        block->after->before = block;
    }
    next->after = heap->spare;
    heap->spare = next;
}

/* A free block joins its free neighbours. */
static void release(struct heap *heap, struct block *block)
{
    if (block->after && block->after->is_free) {
        list_remove(heap, block->after);
        absorb(heap, block);
    }
    if (block->before && block->before->is_free) {
        block = block->before;
        list_remove(heap, block);
        absorb(heap, block);
    }
    list_add(heap, block);
}

/* Bytes before the first aligned address of a block. */
static uint64_t lead_of(const struct block *block, uint64_t align)
{
    return (align - block->address % align) % align;
}

static struct block *find(struct heap *heap, uint64_t bytes, uint64_t align)
{
    for (int i = class_of(bytes); i < CLASS_COUNT; i++) {
        for (struct block *block = heap->free_lists[i]; block; block = block->free_after) {
            uint64_t lead = lead_of(block, align);
            if (block->bytes >= lead && block->bytes - lead >= bytes) {
                return block;
            }
        }
    }
    return NULL;
}

uint64_t heap_take(struct heap *heap, uint64_t bytes, uint64_t align)
{
    if (bytes == 0 || bytes > heap->bytes) {
        return 0;
    }
    bytes = (bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
    struct block *block = find(heap, bytes, align);
    if (!block) {
        return 0;
    }
    uint64_t lead = lead_of(block, align);
    list_remove(heap, block);
    if (lead) {
        if (!split(heap, block, lead)) {
            list_add(heap, block);
            return 0;
        }
        struct block *aligned = block->after;
        list_remove(heap, aligned);
        list_add(heap, block);
        block = aligned;
    }
    if (!split(heap, block, bytes) ||
        u64_map_put_pointer(&heap->blocks, block->address, block) < 0) {
        release(heap, block);
        return 0;
    }
    heap->used_bytes += block->bytes;
    return block->address;
}

bool heap_give(struct heap *heap, uint64_t address)
{
    struct u64_map_entry *entry = u64_map_find(&heap->blocks, address);
    if (!entry || !entry->pointer) {
        return false;
    }
    struct block *block = entry->pointer;
    entry->pointer = NULL;
    heap->used_bytes -= block->bytes;
    release(heap, block);
    return true;
}

uint64_t heap_used_bytes(const struct heap *heap)
{
    return heap->used_bytes;
}

int heap_create(struct heap **out, uint64_t address, uint64_t bytes)
{
    *out = NULL;
    struct heap *heap = calloc(1, sizeof *heap);
    struct block *block = malloc(sizeof *block);
    if (!heap || !block || bytes < UNIT_BYTES) {
        free(heap);
        free(block);
        return bytes < UNIT_BYTES ? error_set(SONDE_EINPUT, "a heap of fewer than 16 bytes")
                                  : error_memory();
    }
    *block = (struct block){.address = address, .bytes = bytes / UNIT_BYTES * UNIT_BYTES};
    heap->first = block;
    heap->bytes = block->bytes;
    list_add(heap, block);
    *out = heap;
    return 0;
}

static void free_blocks(struct block *block)
{
    for (struct block *next; block; block = next) {
        next = block->after;
        free(block);
    }
}

void heap_destroy(struct heap *heap)
{
    if (!heap) {
        return;
    }
    free_blocks(heap->first);
    free_blocks(heap->spare);
    u64_map_free(&heap->blocks);
    free(heap);
}
