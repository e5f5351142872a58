/*
 * An allocator for LD_PRELOAD that refuses the EXHAUST_ATth request, and no other. At the end it
 * leaves how many there were in the file EXHAUST_COUNT. What is asked for before it has found the
 * allocator behind it comes from a small array.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(64) char early[1 << 16];
static size_t early_used;
static unsigned long refused;
static atomic_ulong asked;
static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static void (*next_free)(void *);

/* A function pointer from dlsym() is no conversion that ISO C knows. */
#define FIND(name)                                                                                 \
    do {                                                                                           \
        void *found = dlsym(RTLD_NEXT, #name);                                                     \
        memcpy(&next_##name, &found, sizeof found);                                                \
    } while (0)

__attribute__((constructor)) static void begin(void)
{
    FIND(free);
    FIND(calloc);
    FIND(realloc);
    FIND(aligned_alloc);
    FIND(malloc);
    const char *at = getenv("EXHAUST_AT");
    refused = at ? strtoul(at, NULL, 10) : 0;
    atomic_store(&asked, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("EXHAUST_COUNT");
    unsigned long count = atomic_load(&asked);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%lu\n", count);
        fclose(file);
    }
}

static bool refuse(void)
{
    bool this_one = atomic_fetch_add(&asked, 1) + 1 == refused;
    errno = this_one ? ENOMEM : errno;
    return this_one;
}

static void *take_early(size_t bytes)
{
    void *at = early + early_used;
    early_used += (bytes + 63) / 64 * 64;
    return early_used <= sizeof early ? at : NULL;
}

void *malloc(size_t bytes)
{
    if (!next_malloc) {
        return take_early(bytes);
    }
    return refuse() ? NULL : next_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    if (!next_malloc) {
        return take_early(count * bytes);
    }
    return refuse() ? NULL : next_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return refuse() ? NULL : next_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return refuse() ? NULL : next_aligned_alloc(alignment, bytes);
}

void free(void *memory)
{
    uintptr_t at = (uintptr_t)memory, first = (uintptr_t)early;
    if (at - first >= sizeof early) {
        next_free(memory);
    }
}
