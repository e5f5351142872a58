/*
 * The device of the process and the handles of its program. It is made when it is first needed, so
 * that a program that only asks for a version pays nothing. A process that was forked off has none:
 * CUDA does not survive fork(), and says so. Nor does it go on after a kernel's fault: a reset
 * frees what there is, but gives no new device.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "shim/core/options.h"
#include "shim/core/shim.h"
#include "util/container/vec.h"
#include "util/error.h"

/* An open-addressing set of pointers: what a handle is. */
struct handle {
    const void *pointer; /* NULL: free */
    enum shim_kind kind; /* SHIM_NOTHING: was removed */
};

static struct {
    pthread_mutex_t mutex; /* of creation, and of the handles */
    struct model *model;
    struct rt *rt;
    atomic_uint generation;
    bool forked;
    bool lost; /* reset after a fault */
    struct handle *handles;
    size_t handle_slots, handles_used;
} shim = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    struct rt_stream *stream;
    unsigned generation;
} own_stream;

static void forked_off(void)
{
    shim.forked = true;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forked_off);
}

static int model_read(void)
{
    const char *device = options()->device;
    if (shim.model) {
        return SHIM_OK;
    }
    if (strncmp(device, "sim:", 4) != 0) {
        shim_say("'%s': programs are run on simulated devices, sim:NAME", device);
        return SHIM_NO_DEVICE;
    }
    if (model_load(&shim.model, device + 4) < 0) {
        shim_say("%s", error_text());
        return SHIM_NO_DEVICE;
    }
    return SHIM_OK;
}

const struct model *shim_model(void)
{
    pthread_mutex_lock(&shim.mutex);
    model_read();
    pthread_mutex_unlock(&shim.mutex);
    return shim.model;
}

static int device_create(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    int code = model_read();
    if (code != SHIM_OK) {
        return code;
    }
    int rc = rt_create(&shim.rt, shim.model);
    rc = rc < 0 ? rc : rt_set_threads(shim.rt, options()->threads);
    if (rc < 0) {
        shim_say("%s", error_text());
        rt_destroy(shim.rt);
        shim.rt = NULL;
        return SHIM_NO_DEVICE;
    }
    report_start(shim.rt);
    return SHIM_OK;
}

int shim_device(struct rt **rt)
{
    *rt = shim.rt;
    if (shim.forked) {
        return SHIM_NOT_INITIALISED;
    }
    if (*rt || shim.lost) {
        return *rt ? SHIM_OK : SHIM_UNAVAILABLE;
    }
    pthread_mutex_lock(&shim.mutex);
    int code = shim.rt ? SHIM_OK : device_create();
    *rt = shim.rt;
    pthread_mutex_unlock(&shim.mutex);
    return code;
}

int shim_enter(struct rt **rt)
{
    int code = shim_device(rt);
    if (code == SHIM_OK) {
        rt_lock(*rt);
    }
    return code;
}

void shim_leave(struct rt *rt)
{
    rt_unlock(rt);
}

unsigned shim_generation(void)
{
    return atomic_load(&shim.generation);
}

static size_t slot_of(const void *pointer, size_t slots)
{
    return (size_t)(((uintptr_t)pointer >> 4) * 0x9e3779b97f4a7c15u >> 20) & (slots - 1);
}

static struct handle *handle_find(const void *pointer)
{
    if (!pointer || shim.handle_slots == 0) {
        return NULL;
    }
    size_t slots = shim.handle_slots;
    for (size_t i = slot_of(pointer, slots);; i = (i + 1) & (slots - 1)) {
        if (!shim.handles[i].pointer) {
            return NULL;
        }
        if (shim.handles[i].pointer == pointer) {
            return &shim.handles[i];
        }
    }
}

static void handle_put(struct handle *table, size_t slots, const void *pointer, enum shim_kind kind)
{
    size_t i = slot_of(pointer, slots);
    while (table[i].pointer) {
        i = (i + 1) & (slots - 1);
    }
    table[i] = (struct handle){.pointer = pointer, .kind = kind};
}

static int handles_grow(void)
{
    size_t live = 0;
    for (size_t i = 0; i < shim.handle_slots; i++) {
        live += shim.handles[i].kind != SHIM_NOTHING;
    }
    size_t slots = 64;
    while (slots < 4 * (live + 1)) {
        slots *= 2;
    }
    struct handle *table = calloc(slots, sizeof *table);
    if (!table) {
        return SHIM_NO_MEMORY;
    }
    for (size_t i = 0; i < shim.handle_slots; i++) {
        if (shim.handles[i].kind != SHIM_NOTHING) {
            handle_put(table, slots, shim.handles[i].pointer, shim.handles[i].kind);
        }
    }
    free(shim.handles);
    shim.handles = table;
    shim.handle_slots = slots;
    shim.handles_used = live;
    return SHIM_OK;
}

int shim_handle_add(const void *pointer, enum shim_kind kind)
{
    pthread_mutex_lock(&shim.mutex);
    int code = SHIM_OK;
    struct handle *old = handle_find(pointer);
    if (old) {
        old->kind = kind;
    } else if (2 * (shim.handles_used + 1) <= shim.handle_slots ||
               (code = handles_grow()) == SHIM_OK) {
        handle_put(shim.handles, shim.handle_slots, pointer, kind);
        shim.handles_used++;
    }
    pthread_mutex_unlock(&shim.mutex);
    return code;
}

bool shim_handle_is(const void *pointer, enum shim_kind kind)
{
    pthread_mutex_lock(&shim.mutex);
    const struct handle *handle = handle_find(pointer);
    bool is = handle && handle->kind == kind;
    pthread_mutex_unlock(&shim.mutex);
    return is;
}

void shim_handle_remove(const void *pointer)
{
    pthread_mutex_lock(&shim.mutex);
    struct handle *handle = handle_find(pointer);
    if (handle) {
        handle->kind = SHIM_NOTHING;
    }
    pthread_mutex_unlock(&shim.mutex);
}

void shim_handles_each(enum shim_kind kind, void (*fn)(void *handle))
{
    VEC(void *) found = {0};
    pthread_mutex_lock(&shim.mutex);
    for (size_t i = 0; i < shim.handle_slots; i++) {
        if (shim.handles[i].kind == kind) {
            (void)vec_push(&found, (void *)shim.handles[i].pointer);
        }
    }
    pthread_mutex_unlock(&shim.mutex);
    for (size_t i = 0; i < found.count; i++) {
        fn(found.data[i]);
    }
    vec_free(&found);
}

struct rt_stream *shim_stream(struct rt *rt, void *handle, bool per_thread)
{
    uintptr_t number = (uintptr_t)handle;
    if (number > 2) {
        return shim_handle_is(handle, SHIM_STREAM) ? handle : NULL;
    }
    if (number == 1 || (number == 0 && !per_thread)) {
        return rt_stream_default(rt);
    }
    if (!own_stream.stream || own_stream.generation != shim_generation()) {
        own_stream.generation = shim_generation();
        if (rt_stream_create(rt, &own_stream.stream, 0, 0) < 0) {
            own_stream.stream = NULL;
        }
    }
    return own_stream.stream;
}

/* What lies on the device goes with it; modules remain and are loaded anew when they are needed. */
void shim_handles_clear(void)
{
    pthread_mutex_lock(&shim.mutex);
    for (size_t i = 0; i < shim.handle_slots; i++) {
        enum shim_kind kind = shim.handles[i].kind;
        if (kind != SHIM_MODULE && kind != SHIM_FUNCTION && kind != SHIM_CONTEXT) {
            shim.handles[i].kind = SHIM_NOTHING;
        }
    }
    pthread_mutex_unlock(&shim.mutex);
}

int shim_reset(void)
{
    struct rt *rt = shim.rt;
    if (!rt || shim.forked) {
        return shim.forked ? SHIM_NOT_INITIALISED : SHIM_OK;
    }
    int rc = rt_sync(rt);
    int code = shim_code(rc);
    code_forget_all();
    memory_forget_all();
    shim_handles_clear();
    pthread_mutex_lock(&shim.mutex);
    atomic_fetch_add(&shim.generation, 1);
    shim.rt = NULL;
    shim.lost = rc == SONDE_EFAULT;
    pthread_mutex_unlock(&shim.mutex);
    rt_destroy(rt);
    return code;
}
