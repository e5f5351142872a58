/*
 * What a compiled program tells its runtime before main(): its fat binaries, and which function and
 * variable of the host stands for which of the device. Nothing is read yet; a fat binary becomes a
 * module when one of its functions or variables is asked for.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/runtime/register.h"
#include "util/container/map.h"
#include "util/container/vec.h"

struct binary {
    const void *image; /* NULL: taken back */
    struct shim_module *module;
    int code;        /* why it is no module */
    bool managed;    /* has managed variables */
    unsigned filled; /* generation of the device that these point into */
};

struct entry {
    const void *host;
    struct binary *binary; /* NULL: taken back */
    const char *name;
    uint64_t bytes;
    struct shim_function *function;
    enum entry_kind kind;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static VEC(struct binary *) binaries;
static VEC(struct entry *) entries;
static struct u64_map by_host;

EXPORT void **__cudaRegisterFatBinary(void *image)
{
    struct binary *binary = calloc(1, sizeof *binary);
    pthread_mutex_lock(&mutex);
    if (binary && vec_push(&binaries, binary) < 0) {
        free(binary);
        binary = NULL;
    }
    pthread_mutex_unlock(&mutex);
    if (binary) {
        binary->image = image;
    }
    return (void **)binary;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

/* At the end of the program, or when a library of it is closed. */
EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    struct binary *binary = (struct binary *)handle;
    if (!binary) {
        return;
    }
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < entries.count; i++) {
        struct entry *entry = entries.data[i];
        if (entry->binary == binary) {
            entry->binary = NULL;
            if (u64_map_get_pointer(&by_host, (uintptr_t)entry->host) == entry) {
                u64_map_put_pointer(&by_host, (uintptr_t)entry->host, NULL);
            }
        }
    }
    struct shim_module *module = binary->module;
    binary->module = NULL;
    binary->image = NULL;
    pthread_mutex_unlock(&mutex);
    if (module) {
        shim_module_destroy(module);
        shim_call_ends();
    }
}

void entry_register(void **handle, const void *host, const char *name, uint64_t bytes,
                    enum entry_kind kind)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry || !handle) {
        free(entry);
        return;
    }
    *entry = (struct entry){.host = host,
                            .binary = (struct binary *)handle,
                            .name = name,
                            .bytes = bytes,
                            .kind = kind};
    pthread_mutex_lock(&mutex);
    if (vec_push(&entries, entry) < 0) {
        free(entry);
    } else {
        u64_map_put_pointer(&by_host, (uintptr_t)host, entry);
    }
    pthread_mutex_unlock(&mutex);
}

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int limit, void *tid, void *bid, void *bdim, void *gdim,
                                   int *warp)
{
    (void)device, (void)limit, (void)tid, (void)bid, (void)bdim, (void)gdim, (void)warp;
    entry_register(handle, host, name, 0, ENTRY_FUNCTION);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                              size_t bytes, int constant, int global)
{
    (void)device, (void)ext, (void)constant, (void)global;
    entry_register(handle, host, name, bytes, ENTRY_VARIABLE);
}

EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    (void)handle, (void)name, (void)host, (void)bytes;
}

EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                     int ext, size_t bytes, int constant, int global)
{
    (void)device, (void)ext, (void)constant, (void)global;
    if (handle) {
        ((struct binary *)handle)->managed = true;
    }
    entry_register(handle, host, name, bytes, ENTRY_MANAGED);
}

EXPORT int __cudaRegisterUnifiedTable(void **handle, void *table, void *more)
{
    (void)handle, (void)table, (void)more;
    return shim_missing(__func__);
}

static int module_of(struct binary *binary, struct shim_module **out)
{
    pthread_mutex_lock(&mutex);
    if (!binary->module && binary->code == SHIM_OK) {
        binary->code =
            shim_module_create(&binary->module, "the program's code", binary->image, 0, true);
    }
    *out = binary->module;
    pthread_mutex_unlock(&mutex);
    return binary->code;
}

/* Managed variables live on the device; the host reaches them through pointers that are set here.
 */
static int managed_fill(struct binary *binary)
{
    struct rt *rt;
    struct shim_module *module;
    int code = binary->managed ? shim_enter(&rt) : SHIM_OK;
    if (code != SHIM_OK || !binary->managed) {
        return code;
    }
    bool filled = binary->filled == shim_generation();
    binary->filled = shim_generation();
    for (size_t i = 0; code == SHIM_OK && !filled && i < entries.count; i++) {
        struct entry *entry = entries.data[i];
        uint64_t address, bytes;
        if (entry->binary != binary || entry->kind != ENTRY_MANAGED) {
            continue;
        }
        code = module_of(binary, &module);
        code = code == SHIM_OK ? shim_global_get(module, entry->name, &address, &bytes) : code;
        if (code == SHIM_OK) {
            memcpy((void *)(uintptr_t)entry->host, &address, sizeof address);
            shim_memory_note(address, bytes, SHIM_MEMORY_MANAGED);
        }
    }
    shim_leave(rt);
    return code;
}

EXPORT char __cudaInitModule(void **handle)
{
    if (handle) {
        managed_fill((struct binary *)handle);
        shim_call_ends();
    }
    return 1;
}

static struct entry *entry_of(const void *host)
{
    pthread_mutex_lock(&mutex);
    struct entry *entry = u64_map_get_pointer(&by_host, (uintptr_t)host);
    pthread_mutex_unlock(&mutex);
    return entry && entry->binary ? entry : NULL;
}

int function_of(struct shim_function **out, const void *host)
{
    struct entry *entry = entry_of(host);
    struct shim_module *module;
    *out = NULL;
    if (!entry || entry->kind != ENTRY_FUNCTION) {
        if (shim_handle_is(host, SHIM_FUNCTION)) {
            *out = (struct shim_function *)host;
            return SHIM_OK;
        }
        return SHIM_BAD_FUNCTION;
    }
    if (!entry->function) {
        int code = module_of(entry->binary, &module);
        code = code == SHIM_OK ? shim_function_get(&entry->function, module, entry->name) : code;
        if (code != SHIM_OK) {
            return code;
        }
    }
    *out = entry->function;
    return managed_fill(entry->binary);
}

int variable_of(struct variable *out, const void *host)
{
    struct entry *entry = entry_of(host);
    struct shim_module *module;
    if (!entry || entry->kind == ENTRY_FUNCTION) {
        return SHIM_BAD_SYMBOL;
    }
    int code = module_of(entry->binary, &module);
    code =
        code == SHIM_OK ? shim_global_get(module, entry->name, &out->address, &out->bytes) : code;
    out->name = entry->name;
    return code == SHIM_NOT_FOUND ? SHIM_BAD_SYMBOL : code;
}

int entry_reference(struct rt_module **module, const char **name, const void *host)
{
    struct entry *entry = entry_of(host);
    struct shim_module *shim;
    if (!entry || entry->kind != ENTRY_REFERENCE) {
        return SHIM_INVALID;
    }
    int code = module_of(entry->binary, &shim);
    code = code == SHIM_OK ? shim_module_need(shim) : code;
    *module = code == SHIM_OK ? shim_module_rt(shim) : NULL;
    *name = entry->name;
    return code;
}

int entry_reads_normalised(const void *host)
{
    struct entry *entry = entry_of(host);
    return entry && entry->bytes != 0;
}
