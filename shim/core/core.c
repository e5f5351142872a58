/*
 * The device of the process. It is made when it is first needed, so that a program that only asks
 * for a version pays nothing. A process that was forked off has none: CUDA does not survive fork(),
 * and says so. Nor does it go on after a kernel's fault: a reset frees what there is, but gives no
 * new device.
 *
 * CUDA leaves it to the program that no thread uses a device that another one resets. Here those
 * that do get an error: a device goes when the last call that has begun with it has ended.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "shim/core/options.h"
#include "shim/core/shim.h"
#include "util/error.h"

struct device {
    struct rt *rt;
    unsigned generation;
    unsigned users;   /* threads in a call that uses it, and one while it is the process's */
    atomic_bool gone; /* was reset; set with its lock held */
};

static struct {
    pthread_mutex_t mutex;
    struct model *model;
    struct device *now; /* NULL: none yet */
    unsigned generation;
    bool forked;
    bool lost; /* reset after a fault */
} shim = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct device *in_use; /* by this thread's call */

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

static int device_create(struct device **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    int code = model_read();
    if (code != SHIM_OK) {
        return code;
    }
    struct device *device = calloc(1, sizeof *device);
    if (!device) {
        return SHIM_NO_MEMORY;
    }
    int rc = rt_create(&device->rt, shim.model);
    rc = rc < 0 ? rc : rt_set_threads(device->rt, options()->threads);
    rc = rc < 0 ? rc : checking_begin(device->rt);
    rc = rc < 0 ? rc : profiling_begin(device->rt, shim.model);
    if (rc < 0) {
        shim_say("%s", error_text());
        rt_destroy(device->rt);
        free(device);
        return SHIM_NO_DEVICE;
    }
    device->generation = ++shim.generation;
    device->users = 1;
    rt_provide_attributes(device->rt, shim_attribute);
    report_start(device->rt);
    *out = device;
    return SHIM_OK;
}

/* With the mutex. Whoever is the last to leave ends it. */
static struct device *leave(struct device *device)
{
    return --device->users == 0 ? device : NULL;
}

static void device_end(struct device *device)
{
    if (device) {
        rt_destroy(device->rt);
        free(device);
    }
}

int shim_device(struct rt **rt)
{
    *rt = NULL;
    if (shim.forked) {
        return SHIM_NOT_INITIALISED;
    }
    if (in_use) {
        *rt = in_use->rt;
        return SHIM_OK;
    }
    pthread_mutex_lock(&shim.mutex);
    int code = shim.now ? SHIM_OK : shim.lost ? SHIM_UNAVAILABLE : device_create(&shim.now);
    if (code == SHIM_OK) {
        *rt = shim.now->rt;
        /* A host function is part of the call that runs it, and may do next to nothing. */
        if (!rt_in_host_function()) {
            in_use = shim.now;
            in_use->users++;
        }
    }
    pthread_mutex_unlock(&shim.mutex);
    return code;
}

void shim_call_ends(void)
{
    if (!in_use || rt_in_host_function() || shim.forked) {
        return;
    }
    pthread_mutex_lock(&shim.mutex);
    struct device *last = leave(in_use);
    pthread_mutex_unlock(&shim.mutex);
    in_use = NULL;
    device_end(last);
}

bool device_is_there(void)
{
    pthread_mutex_lock(&shim.mutex);
    bool there = shim.now != NULL;
    pthread_mutex_unlock(&shim.mutex);
    return there;
}

bool device_is_gone(void)
{
    return in_use && atomic_load(&in_use->gone);
}

int shim_enter(struct rt **rt)
{
    int code = shim_device(rt);
    if (code != SHIM_OK) {
        return code;
    }
    rt_lock(*rt);
    if (device_is_gone()) {
        rt_unlock(*rt);
        return SHIM_CONTEXT_DESTROYED;
    }
    return SHIM_OK;
}

void shim_leave(struct rt *rt)
{
    rt_unlock(rt);
}

unsigned shim_generation(void)
{
    return in_use ? in_use->generation : 0;
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

int shim_reset(void)
{
    struct rt *rt;
    if (shim.forked || rt_in_host_function()) {
        return shim.forked ? SHIM_NOT_INITIALISED : SHIM_NOT_PERMITTED;
    }
    if (!device_is_there() || shim_device(&rt) != SHIM_OK) {
        return SHIM_OK;
    }
    rt_lock(rt);
    int rc = rt_sync(rt);
    int code = shim_code(rc);
    if (device_is_gone()) { /* another thread was faster */
        rt_unlock(rt);
        return SHIM_OK;
    }
    rt_close(rt);
    checking_reset(rt);
    profiling_reset();
    atomic_store(&in_use->gone, true);
    handles_clear();
    code_forget_all();
    memory_forget_all();
    pthread_mutex_lock(&shim.mutex);
    shim.now = NULL;
    shim.lost = rc == SONDE_EFAULT;
    leave(in_use); /* this call still uses it */
    pthread_mutex_unlock(&shim.mutex);
    rt_unlock(rt);
    return code;
}
