/*
 * The handles of the program: a pointer is what it is taken for only if it has been given out as
 * that. An open-addressing set; what was removed leaves its place to its successor.
 */
#include <pthread.h>
#include <stdlib.h>

#include "shim/core/shim.h"

struct handle {
    const void *pointer; /* NULL: free */
    enum shim_kind kind; /* SHIM_NOTHING: was removed */
};

static struct {
    pthread_mutex_t mutex;
    struct handle *handles;
    size_t slots, used;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static size_t slot_of(const void *pointer, size_t slots)
{
    return (size_t)(((uintptr_t)pointer >> 4) * 0x9e3779b97f4a7c15u >> 20) & (slots - 1);
}

static struct handle *handle_find(const void *pointer)
{
    if (!pointer || table.slots == 0) {
        return NULL;
    }
    size_t slots = table.slots;
    for (size_t i = slot_of(pointer, slots);; i = (i + 1) & (slots - 1)) {
        if (!table.handles[i].pointer) {
            return NULL;
        }
        if (table.handles[i].pointer == pointer) {
            return &table.handles[i];
        }
    }
}

static void handle_put(struct handle *handles, size_t slots, const void *pointer,
                       enum shim_kind kind)
{
    size_t i = slot_of(pointer, slots);
    while (handles[i].pointer) {
        i = (i + 1) & (slots - 1);
    }
    handles[i] = (struct handle){.pointer = pointer, .kind = kind};
}

static int handles_grow(void)
{
    size_t live = 0;
    for (size_t i = 0; i < table.slots; i++) {
        live += table.handles[i].kind != SHIM_NOTHING;
    }
    size_t slots = 64;
    while (slots < 4 * (live + 1)) {
        slots *= 2;
    }
    struct handle *handles = calloc(slots, sizeof *handles);
    if (!handles) {
        return SHIM_NO_MEMORY;
    }
    for (size_t i = 0; i < table.slots; i++) {
        if (table.handles[i].kind != SHIM_NOTHING) {
            handle_put(handles, slots, table.handles[i].pointer, table.handles[i].kind);
        }
    }
    free(table.handles);
    table.handles = handles;
    table.slots = slots;
    table.used = live;
    return SHIM_OK;
}

/* Modules remain and are loaded anew when they are needed. */
static bool goes_with_device(enum shim_kind kind)
{
    return kind != SHIM_MODULE && kind != SHIM_FUNCTION && kind != SHIM_CONTEXT;
}

int shim_handle_add(const void *pointer, enum shim_kind kind)
{
    pthread_mutex_lock(&table.mutex);
    int code = SHIM_OK;
    struct handle *old = handle_find(pointer);
    if (device_is_gone() && goes_with_device(kind)) {
        code = SHIM_CONTEXT_DESTROYED; /* the others have been cleared */
    } else if (old) {
        old->kind = kind;
    } else if (2 * (table.used + 1) <= table.slots || (code = handles_grow()) == SHIM_OK) {
        handle_put(table.handles, table.slots, pointer, kind);
        table.used++;
    }
    pthread_mutex_unlock(&table.mutex);
    return code;
}

bool shim_handle_is(const void *pointer, enum shim_kind kind)
{
    pthread_mutex_lock(&table.mutex);
    const struct handle *handle = handle_find(pointer);
    bool is = handle && handle->kind == kind;
    pthread_mutex_unlock(&table.mutex);
    return is;
}

void shim_handle_remove(const void *pointer)
{
    pthread_mutex_lock(&table.mutex);
    struct handle *handle = handle_find(pointer);
    if (handle) {
        handle->kind = SHIM_NOTHING;
    }
    pthread_mutex_unlock(&table.mutex);
}

void handles_clear(void)
{
    pthread_mutex_lock(&table.mutex);
    for (size_t i = 0; i < table.slots; i++) {
        if (goes_with_device(table.handles[i].kind)) {
            table.handles[i].kind = SHIM_NOTHING;
        }
    }
    pthread_mutex_unlock(&table.mutex);
}
