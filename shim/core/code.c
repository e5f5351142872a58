/*
 * Modules and functions. A module is its PTX until one of its functions or variables is needed:
 * programs carry much code of which they use little, and a text that cannot be compiled is an error
 * of those who use it. What is loaded is forgotten with the device and loaded again.
 */
#define _GNU_SOURCE /* process_vm_readv() */
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fatbin/fatbin.h"
#include "model/model.h"
#include "ptx/ir.h"
#include "rt/state.h"
#include "shim/core/options.h"
#include "shim/core/shim.h"
#include "util/container/map.h"
#include "util/container/vec.h"
#include "util/error.h"
#include "util/fileio.h"

#define FILE_MAX_BYTES (1u << 30)

struct shim_module {
    struct shim_module *next, **link;
    char *name;
    VEC(struct shim_text) texts; /* several are linked */
    int code;                    /* why there is no text, or why it did not load */
    bool unknown;                /* not even the beginning of a text of PTX */
    char *reason;
    struct rt_module *rt; /* NULL: not loaded */
    unsigned generation;  /* of the device on which it is; set last, taken back first */
    struct map functions;
};

struct shim_function {
    struct shim_module *module;
    char *name;
    struct rt_kernel *kernel; /* NULL: not needed yet */
    unsigned generation;
    int settings[SHIM_SET_COUNT];
};

static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER; /* of the list and of modules' functions */
static struct shim_module *modules;
static struct u64_map by_kernel; /* the function of a kernel */

/* Memory of the program's, which may end before it says it does. */
static int read_program(void *to, const void *from, size_t bytes)
{
    struct iovec local = {.iov_base = to, .iov_len = bytes};
    struct iovec remote = {.iov_base = (void *)from, .iov_len = bytes};
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (got == (ssize_t)bytes) {
        return 0;
    }
    if (got >= 0) {
        return error_set(SONDE_EINPUT, "of %zu bytes of code at %p only %zd are there", bytes, from,
                         got);
    }
    /* The system may not allow to ask; then the program is trusted. */
    memcpy(to, from, bytes);
    return 0;
}

static int container_text(struct shim_text *text, const void *data, size_t bytes)
{
    const struct driver_spec *driver = &shim_model()->driver;
    struct fatbin_entry entry;
    int rc = fatbin_choose(&entry, data, bytes, 10 * driver->compute_major + driver->compute_minor);
    if (rc <= 0) {
        return rc;
    }
    rc = fatbin_text(&text->text, &text->length, &entry);
    return rc < 0 ? rc : 1;
}

/* 1: a text; 0: an empty container. */
static int container_read(struct shim_text *text, const void *container)
{
    uint8_t header[FATBIN_HEADER_BYTES];
    uint64_t bytes;
    int rc = read_program(header, container, sizeof header);
    rc = rc < 0 ? rc : fatbin_container_bytes(&bytes, header, sizeof header);
    if (rc < 0) {
        return rc;
    }
    if (bytes > FILE_MAX_BYTES) {
        return error_set(SONDE_EINPUT, "fat binary: a container of %llu bytes",
                         (unsigned long long)bytes);
    }
    uint8_t *copy = malloc(bytes);
    if (!copy) {
        return error_memory();
    }
    rc = read_program(copy, container, bytes);
    rc = rc < 0 ? rc : container_text(text, copy, bytes);
    free(copy);
    return rc;
}

static int text_add(struct shim_module *module, struct shim_text text)
{
    if (vec_push(&module->texts, text) < 0) {
        free(text.text);
        return error_memory();
    }
    return 0;
}

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *containers;
};

static int wrapper_read(struct shim_module *module, const struct wrapper *wrapper)
{
    struct shim_text text = {0};
    int rc = 0;
    if (wrapper->version != 1 && wrapper->version != 2) {
        return error_set(SONDE_EINPUT, "fat binary: a wrapper of version %u", wrapper->version);
    }
    if (wrapper->version == 1) {
        rc = container_read(&text, wrapper->data);
        return rc <= 0 ? rc : text_add(module, text);
    }
    for (size_t i = 0; rc >= 0; i++) {
        const void *container;
        rc = read_program(&container, &wrapper->containers[i], sizeof container);
        if (rc < 0 || !container) {
            break;
        }
        text = (struct shim_text){0};
        rc = container_read(&text, container);
        if (rc > 0) {
            rc = text_add(module, text);
        }
    }
    return rc;
}

static int ptx_copy(struct shim_text *text, const char *image, size_t bytes)
{
    size_t length = bytes ? strnlen(image, bytes) : strlen(image);
    text->text = strndup(image, length);
    text->length = length;
    return text->text ? 0 : error_memory();
}

static int image_read(struct shim_module *module, const void *image, size_t bytes)
{
    uint32_t magic = 0;
    struct shim_text text = {0};
    int rc = read_program(&magic, image, bytes && bytes < 4 ? bytes : 4);
    if (rc < 0) {
        return rc;
    }
    if (magic == FATBIN_WRAPPER_MAGIC) {
        struct wrapper wrapper;
        rc = read_program(&wrapper, image, sizeof wrapper);
        return rc < 0 ? rc : wrapper_read(module, &wrapper);
    }
    if (magic == FATBIN_MAGIC) {
        rc = bytes ? container_text(&text, image, bytes) : container_read(&text, image);
        return rc <= 0 ? rc : text_add(module, text);
    }
    if (memcmp(&magic, ELFMAG, SELFMAG) == 0) {
        return error_set(SONDE_EUNSUPPORTED,
                         "machine code (a cubin): only PTX can be run; compile with "
                         "-gencode arch=compute_XX,code=compute_XX, ask NVRTC for PTX by "
                         "--gpu-architecture=compute_XX and nvrtcGetPTX()");
    }
    const struct shim_text *linked;
    size_t count = link_texts(&linked, image);
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = ptx_copy(&text, linked[i].text, linked[i].length);
        rc = rc < 0 ? rc : text_add(module, text);
    }
    if (count > 0) {
        return rc;
    }
    rc = ptx_copy(&text, image, bytes);
    module->unknown = rc == 0 && !strstr(text.text, ".version");
    return rc < 0 ? rc : text_add(module, text);
}

static void module_fail(struct shim_module *module, int code)
{
    free(module->reason);
    module->code = code;
    module->reason = strdup(error_text());
    shim_say("%s: %s", module->name, module->reason ? module->reason : "");
}

static void module_free(struct shim_module *module)
{
    for (size_t i = 0; i < module->texts.count; i++) {
        free(module->texts.data[i].text);
    }
    for (size_t i = 0; i < module->functions.count; i++) {
        struct shim_function *function = module->functions.entries[i].value;
        shim_handle_remove(function);
        free(function->name);
        free(function);
    }
    map_free(&module->functions);
    vec_free(&module->texts);
    free(module->reason);
    free(module->name);
    free(module);
}

static void module_link(struct shim_module *module)
{
    pthread_mutex_lock(&mutex);
    module->next = modules;
    module->link = &modules;
    if (modules) {
        modules->link = &module->next;
    }
    modules = module;
    pthread_mutex_unlock(&mutex);
    shim_handle_add(module, SHIM_MODULE);
}

static int image_code(int rc)
{
    return rc == SONDE_EUNSUPPORTED ? SHIM_NO_IMAGE
           : rc == SONDE_ENOMEM     ? SHIM_NO_MEMORY
                                    : SHIM_BAD_IMAGE;
}

static struct shim_module *module_new(const char *name)
{
    struct shim_module *module = calloc(1, sizeof *module);
    if (module && !(module->name = strdup(name))) {
        free(module);
        return NULL;
    }
    return module;
}

int shim_module_create(struct shim_module **out, const char *name, const void *image, size_t bytes,
                       bool lazy)
{
    *out = NULL;
    if (!image || !shim_model()) {
        return image ? SHIM_NO_DEVICE : SHIM_INVALID;
    }
    struct shim_module *module = module_new(name);
    if (!module) {
        return SHIM_NO_MEMORY;
    }
    int rc = image_read(module, image, bytes);
    if (rc < 0) {
        module_fail(module, image_code(rc));
    } else if (module->texts.count == 0) {
        module->code = SHIM_NO_IMAGE;
    }
    int code = lazy ? SHIM_OK : shim_module_need(module);
    if (code != SHIM_OK) {
        module_free(module);
        return code;
    }
    module_link(module);
    *out = module;
    return SHIM_OK;
}

int shim_module_load_file(struct shim_module **out, const char *path, bool lazy)
{
    char *data;
    size_t size;
    *out = NULL;
    if (file_read_all(&data, &size, path, FILE_MAX_BYTES) < 0) {
        shim_say("%s", error_text());
        return SHIM_NO_FILE;
    }
    int code = size == 0 ? SHIM_BAD_IMAGE : shim_module_create(out, path, data, size, lazy);
    free(data);
    return code;
}

/* All that its functions call has to be there, as for a driver's compiler. */
static int text_load(struct shim_module *module, struct rt *rt, const struct shim_text *text)
{
    int rc = rt_module_load(rt, &module->rt, module->name, text->text, text->length);
    const char *undefined = rc == 0 ? rt_module_undefined(module->rt) : NULL;
    if (undefined) {
        rc = error_set(SONDE_EINPUT, "function '%s' is called but defined nowhere", undefined);
        rt_module_unload(rt, module->rt);
        module->rt = NULL;
    }
    return rc;
}

static int texts_load(struct shim_module *module, struct rt *rt)
{
    if (module->texts.count == 1) {
        return text_load(module, rt, &module->texts.data[0]);
    }
    struct rt_link *link;
    int rc = rt_link_create(rt, &link);
    if (rc < 0) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < module->texts.count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.40s:%zu", module->name, i + 1);
        rc = rt_link_add(link, name, module->texts.data[i].text, module->texts.data[i].length);
    }
    rc = rc < 0 ? rc : rt_link_complete(link, &module->rt);
    rt_link_destroy(link);
    return rc;
}

/* On the device of this call; what was made for one is not used on another. */
static bool is_loaded(const unsigned *generation)
{
    struct rt *rt;
    return shim_device(&rt) == SHIM_OK &&
           __atomic_load_n(generation, __ATOMIC_ACQUIRE) == shim_generation();
}

/* What a driver would refuse is run (ADR 0011), but the first such module is told, as a summary is.
 */
static void warn_target(const struct shim_module *module)
{
    static int told;
    if (options()->summary && rt_module_check_target(module->rt, NULL) < 0 &&
        !__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED)) {
        shim_say("warning: %s; a driver would refuse it, it is run all the same", error_text());
    }
}

int shim_module_need(struct shim_module *module)
{
    struct rt *rt;
    if (module->code != SHIM_OK || is_loaded(&module->generation)) {
        return module->code;
    }
    int code = shim_enter(&rt);
    if (code != SHIM_OK) {
        return code;
    }
    int rc = module->rt ? 0 : texts_load(module, rt);
    if (rc == SONDE_EFAULT) {
        code = shim_code(rc);
    } else if (rc < 0) {
        module_fail(module, rc == SONDE_ENOMEM ? SHIM_NO_MEMORY
                            : module->unknown  ? SHIM_BAD_IMAGE
                                               : SHIM_BAD_PTX);
        code = module->code;
    } else {
        warn_target(module);
        __atomic_store_n(&module->generation, shim_generation(), __ATOMIC_RELEASE);
    }
    shim_leave(rt);
    return code;
}

struct rt_module *shim_module_rt(struct shim_module *module)
{
    return module->rt;
}

static void function_unload(struct shim_function *function)
{
    if (function->kernel) {
        u64_map_put_pointer(&by_kernel, (uintptr_t)function->kernel, NULL);
        __atomic_store_n(&function->generation, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&function->kernel, NULL, __ATOMIC_RELEASE);
    }
}

/* With the mutex. */
static void functions_unload(struct shim_module *module)
{
    for (size_t i = 0; i < module->functions.count; i++) {
        function_unload(module->functions.entries[i].value);
    }
}

int shim_module_destroy(struct shim_module *module)
{
    struct rt *rt;
    if (!shim_handle_is(module, SHIM_MODULE)) {
        return SHIM_BAD_HANDLE;
    }
    if (module->rt && shim_device(&rt) == SHIM_OK) {
        shim_settle(rt); /* its kernels may still be on their way */
    }
    if (module->rt && shim_enter(&rt) == SHIM_OK) {
        pthread_mutex_lock(&mutex);
        functions_unload(module);
        pthread_mutex_unlock(&mutex);
        if (module->rt) {
            rt_module_unload(rt, module->rt);
        }
        shim_leave(rt);
    }
    shim_handle_remove(module);
    pthread_mutex_lock(&mutex);
    *module->link = module->next;
    if (module->next) {
        module->next->link = module->link;
    }
    pthread_mutex_unlock(&mutex);
    module_free(module);
    return SHIM_OK;
}

void code_forget_all(void)
{
    pthread_mutex_lock(&mutex);
    for (struct shim_module *module = modules; module; module = module->next) {
        functions_unload(module);
        __atomic_store_n(&module->generation, 0, __ATOMIC_RELEASE);
        module->rt = NULL;
    }
    u64_map_clear(&by_kernel);
    pthread_mutex_unlock(&mutex);
}

static struct shim_function *function_new(struct shim_module *module, const char *name)
{
    struct shim_function *function = calloc(1, sizeof *function);
    if (function && !(function->name = strdup(name))) {
        free(function);
        return NULL;
    }
    if (function) {
        function->module = module;
        function->settings[SHIM_SET_CARVEOUT] = -1;
    }
    return function;
}

int shim_function_get(struct shim_function **out, struct shim_module *module, const char *name)
{
    pthread_mutex_lock(&mutex);
    *out = map_get(&module->functions, name);
    struct shim_function *function = *out ? NULL : function_new(module, name);
    if (function && map_put(&module->functions, name, function) < 0) {
        free(function->name);
        free(function);
        function = NULL;
    }
    if (function) {
        *out = function;
        shim_handle_add(function, SHIM_FUNCTION);
    }
    pthread_mutex_unlock(&mutex);
    return *out ? SHIM_OK : SHIM_NO_MEMORY;
}

int shim_function_need(struct shim_function *function, struct rt_kernel **kernel)
{
    struct rt *rt;
    /* Not of another device, if it is of this one afterwards. */
    *kernel = __atomic_load_n(&function->kernel, __ATOMIC_ACQUIRE);
    if (*kernel && is_loaded(&function->generation)) {
        return SHIM_OK;
    }
    int code = shim_module_need(function->module);
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code != SHIM_OK) {
        return code;
    }
    struct rt_kernel *found = NULL;
    int rc = rt_kernel_get(function->module->rt, &found, function->name);
    if (rc < 0) {
        shim_say("%s", error_text());
        code = rc == SONDE_EUNSUPPORTED ? SHIM_BAD_PTX : SHIM_NOT_FOUND;
    } else if (u64_map_put_pointer(&by_kernel, (uintptr_t)found, function) < 0) {
        code = SHIM_NO_MEMORY;
    } else {
        __atomic_store_n(&function->kernel, found, __ATOMIC_RELEASE);
        __atomic_store_n(&function->generation, shim_generation(), __ATOMIC_RELEASE);
    }
    *kernel = found;
    shim_leave(rt);
    return code;
}

struct shim_function *shim_function_of(const struct rt_kernel *kernel)
{
    return u64_map_get_pointer(&by_kernel, (uintptr_t)kernel);
}

int shim_module_kernels(struct shim_module *module, struct shim_function **out, size_t room,
                        size_t *count)
{
    int code = shim_module_need(module);
    const struct ptx_module *ptx = code == SHIM_OK ? module->rt->ptx : NULL;
    *count = 0;
    for (uint32_t i = 0; code == SHIM_OK && i < ptx->func_count; i++) {
        if (!ptx->funcs[i]->is_entry) {
            continue;
        }
        if (*count < room) {
            code = shim_function_get(&out[*count], module, ptx->funcs[i]->name);
        }
        ++*count;
    }
    return code;
}

const char *shim_function_name(const struct shim_function *function)
{
    return function->name;
}

struct shim_module *shim_function_module(const struct shim_function *function)
{
    return function->module;
}

int shim_global_get(struct shim_module *module, const char *name, uint64_t *address,
                    uint64_t *bytes)
{
    struct rt *rt;
    int code = shim_module_need(module);
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code != SHIM_OK) {
        return code;
    }
    int rc = rt_global_get(module->rt, name, address, bytes);
    shim_leave(rt);
    return rc < 0 ? SHIM_NOT_FOUND : SHIM_OK;
}

int shim_image_text(char **text, size_t *length, const void *image, size_t bytes)
{
    struct shim_module module = {.name = "input of a linker"};
    int rc = image_read(&module, image, bytes);
    int code = rc < 0 ? image_code(rc) : module.texts.count == 1 ? SHIM_OK : SHIM_NO_IMAGE;
    if (rc < 0) {
        shim_say("%s", error_text());
    }
    if (code == SHIM_OK) {
        *text = module.texts.data[0].text;
        *length = module.texts.data[0].length;
    } else {
        for (size_t i = 0; i < module.texts.count; i++) {
            free(module.texts.data[i].text);
        }
    }
    vec_free(&module.texts);
    return code;
}

int shim_function_set(struct shim_function *function, enum shim_setting what, int value)
{
    if (what == SHIM_SET_DYNAMIC_SHARED) {
        uint64_t most = shim_model()->driver.shared_per_block_bytes;
        struct shim_function_info info;
        int code = shim_function_info(function, &info);
        if (code != SHIM_OK) {
            return code;
        }
        if (value < 0 || (most > 0 && (uint64_t)value + info.shared_bytes > most)) {
            return SHIM_INVALID;
        }
    }
    if (what == SHIM_SET_CARVEOUT && (value < -1 || value > 100)) {
        return SHIM_INVALID; /* of a hundred */
    }
    function->settings[what] = value;
    return SHIM_OK;
}

int shim_function_setting(const struct shim_function *function, enum shim_setting what)
{
    return function->settings[what];
}

/* What constants a module has counts for each of its functions. */
static uint32_t const_bytes(const struct ptx_module *ptx)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < ptx->var_count; i++) {
        bytes += ptx->vars[i]->space == SPACE_CONST ? ptx->vars[i]->size : 0;
    }
    return (uint32_t)bytes;
}

int shim_function_info(struct shim_function *function, struct shim_function_info *info)
{
    struct rt *rt;
    struct rt_kernel *kernel;
    int code = shim_function_need(function, &kernel);
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code != SHIM_OK) {
        return code;
    }
    const struct ptx_func *func = kernel->func;
    rt_kernel_info(kernel, &info->registers, &info->shared_bytes, &info->local_bytes);
    info->const_bytes = const_bytes(function->module->rt->ptx);
    info->params = rt_kernel_param_count(kernel);
    uint64_t threads = 1024;
    if (func->reqntid[0] || func->maxntid[0]) {
        const uint32_t *size = func->reqntid[0] ? func->reqntid : func->maxntid;
        threads = (uint64_t)size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1);
    }
    uint32_t by_registers =
        info->registers ? shim_model()->sm.registers / info->registers / 32 * 32 : 1024;
    info->max_threads = (uint32_t)(threads < by_registers ? threads : by_registers);
    const struct driver_spec *driver = &shim_model()->driver;
    info->target = 10 * driver->compute_major + driver->compute_minor;
    info->ptx_version = (uint32_t)function->module->rt->ptx->target_sm;
    shim_leave(rt);
    return SHIM_OK;
}

int shim_function_param(struct shim_function *function, size_t i, size_t *offset, size_t *bytes)
{
    struct rt_kernel *kernel;
    int code = shim_function_need(function, &kernel);
    if (code != SHIM_OK) {
        return code;
    }
    const struct ptx_var *param = i < UINT32_MAX ? rt_kernel_param(kernel, (uint32_t)i) : NULL;
    if (!param) {
        return SHIM_INVALID;
    }
    *offset = param->offset;
    *bytes = param->size;
    return SHIM_OK;
}

int shim_file_read(char **data, size_t *bytes, const char *path)
{
    int rc = file_read_all(data, bytes, path, FILE_MAX_BYTES);
    if (rc < 0) {
        shim_say("%s", error_text());
    }
    return rc < 0 ? SHIM_NO_FILE : SHIM_OK;
}
