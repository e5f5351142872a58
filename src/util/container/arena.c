/*
 * Arena allocation: a list of blocks, the newest first, each handed out from its start. The first
 * is small, since many arenas hold little, and each next one twice as large, up to a limit. A
 * request larger than a quarter of that gets a block of its own behind the newest, so that the rest
 * of the newest stays usable.
 */
#include "util/container/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGN 16
#define ARENA_FIRST_BYTES ((size_t)2 << 10)
#define ARENA_BLOCK_BYTES ((size_t)64 << 10) /* the most */

struct arena_block {
    struct arena_block *next;
    size_t size_bytes, used_bytes;
    _Alignas(ARENA_ALIGN) unsigned char data[];
};

struct arena {
    struct arena_block *newest;
    size_t used_bytes;
    size_t block_bytes; /* of the last block that is not of one request; 0: there is none */
};

struct arena *arena_create(void)
{
    return calloc(1, sizeof(struct arena));
}

void arena_destroy(struct arena *arena)
{
    if (!arena) {
        return;
    }
    for (struct arena_block *block = arena->newest; block;) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

/* calloc gives zeroed pages without touching them, so a large sparse array costs nothing. */
static struct arena_block *block_create(size_t size_bytes)
{
    if (size_bytes > SIZE_MAX - sizeof(struct arena_block)) {
        return NULL;
    }
    struct arena_block *block = calloc(1, sizeof(*block) + size_bytes);
    if (block) {
        block->size_bytes = size_bytes;
    }
    return block;
}

static void *alloc_own_block(struct arena *arena, size_t size_bytes)
{
    struct arena_block *block = block_create(size_bytes);
    if (!block) {
        return NULL;
    }
    block->used_bytes = size_bytes;
    if (arena->newest) {
        block->next = arena->newest->next;
        arena->newest->next = block;
    } else {
        arena->newest = block;
    }
    arena->used_bytes += size_bytes;
    return block->data;
}

/* The size of the next block, which has to hold so many bytes. */
static size_t next_bytes(const struct arena *arena, size_t least)
{
    size_t bytes = arena->block_bytes ? 2 * arena->block_bytes : ARENA_FIRST_BYTES;
    while (bytes < least) {
        bytes *= 2;
    }
    return bytes < ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
    if (size_bytes > SIZE_MAX - ARENA_ALIGN) {
        return NULL;
    }
    size_t rounded = (size_bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (rounded == 0) {
        rounded = ARENA_ALIGN;
    }
    if (rounded > ARENA_BLOCK_BYTES / 4) {
        return alloc_own_block(arena, rounded);
    }
    struct arena_block *block = arena->newest;
    if (!block || block->size_bytes - block->used_bytes < rounded) {
        block = block_create(next_bytes(arena, rounded));
        if (!block) {
            return NULL;
        }
        arena->block_bytes = block->size_bytes;
        block->next = arena->newest;
        arena->newest = block;
    }
    void *memory = block->data + block->used_bytes;
    block->used_bytes += rounded;
    arena->used_bytes += rounded;
    return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t element_bytes)
{
    if (element_bytes != 0 && count > SIZE_MAX / element_bytes) {
        return NULL;
    }
    return arena_alloc(arena, count * element_bytes);
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    length = strnlen(text, length);
    char *copy = arena_alloc(arena, length + 1);
    if (copy) {
        memcpy(copy, text, length);
    }
    return copy;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (length < 0) {
        return NULL;
    }
    char *text = arena_alloc(arena, (size_t)length + 1);
    if (text) {
        va_start(args, fmt);
        vsnprintf(text, (size_t)length + 1, fmt, args);
        va_end(args);
    }
    return text;
}

size_t arena_used(const struct arena *arena)
{
    return arena->used_bytes;
}
