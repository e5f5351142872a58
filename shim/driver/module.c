/* Modules, libraries (the same under another name), linkers, functions. */
#include <stdlib.h>
#include <string.h>

#include "shim/driver/driver.h"
#include "util/error.h"

static int load(void **out, const void *image, bool lazy)
{
    struct rt *rt;
    int code = out && image ? driver_enter(&rt) : SHIM_INVALID;
    return code == SHIM_OK
               ? shim_module_create((struct shim_module **)out, "module", image, 0, lazy)
               : code;
}

static int load_file(void **out, const char *path, bool lazy)
{
    struct rt *rt;
    int code = out && path ? driver_enter(&rt) : SHIM_INVALID;
    return code == SHIM_OK ? shim_module_load_file((struct shim_module **)out, path, lazy) : code;
}

EXPORT int cuModuleLoad(void **out, const char *path)
{
    return driver_result(load_file(out, path, false));
}

EXPORT int cuModuleLoadData(void **out, const void *image)
{
    return driver_result(load(out, image, false));
}

/* Options are of the vendor's compiler, of which only the logs mean something here: texts of the
 * program's and, as the next option, the bytes that they have room for and then have. */
enum { LOG_INFO = 3, LOG_ERROR = 5 };

static struct shim_log log_of(int which, unsigned count, const int *options, void **values)
{
    struct shim_log log = {0};
    for (unsigned i = 0; options && values && i < count; i++) {
        if (options[i] == which) {
            log.text = values[i];
        } else if (options[i] == which + 1) {
            log.used = &values[i];
            log.room = (unsigned)(uintptr_t)values[i];
        }
    }
    return log;
}

static void log_put(const struct shim_log *log, const char *said)
{
    size_t used = 0;
    if (log->text && log->room > 0) {
        used = strlen(said) < log->room ? strlen(said) : log->room - 1;
        memcpy(log->text, said, used);
        log->text[used] = '\0';
    }
    if (log->used) {
        *log->used = (void *)(uintptr_t)used;
    }
}

/* The errors' log; none of it tells more than errors. */
static struct shim_log logs_begin(unsigned count, const int *options, void **values)
{
    struct shim_log info = log_of(LOG_INFO, count, options, values);
    struct shim_log errors = log_of(LOG_ERROR, count, options, values);
    log_put(&info, "");
    log_put(&errors, "");
    return errors;
}

static void log_result(const struct shim_log *errors, int code)
{
    if (code == SHIM_BAD_PTX || code == SHIM_BAD_IMAGE || code == SHIM_UNKNOWN) {
        log_put(errors, error_text());
    }
}

EXPORT int cuModuleLoadDataEx(void **out, const void *image, unsigned count, const int *options,
                              void **values)
{
    struct shim_log errors = logs_begin(count, options, values);
    int code = load(out, image, false);
    log_result(&errors, code);
    return driver_result(code);
}

EXPORT int cuModuleLoadFatBinary(void **out, const void *image)
{
    return driver_result(load(out, image, false));
}

EXPORT int cuModuleUnload(void *module)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return driver_result(code == SHIM_OK ? shim_module_destroy(module) : code);
}

EXPORT int cuModuleGetLoadingMode(int *mode)
{
    if (!mode) {
        return driver_result(SHIM_INVALID);
    }
    *mode = 2; /* lazy */
    return driver_result(SHIM_OK);
}

static int function_get(void **out, void *module, const char *name)
{
    struct rt *rt;
    struct rt_kernel *kernel;
    struct shim_function *function;
    int code = out && name ? driver_enter(&rt) : SHIM_INVALID;
    if (code == SHIM_OK && !shim_handle_is(module, SHIM_MODULE)) {
        code = SHIM_BAD_HANDLE;
    }
    code = code == SHIM_OK ? shim_function_get(&function, module, name) : code;
    code = code == SHIM_OK ? shim_function_need(function, &kernel) : code;
    if (code == SHIM_OK) {
        *out = function;
    }
    return code;
}

EXPORT int cuModuleGetFunction(void **out, void *module, const char *name)
{
    return driver_result(function_get(out, module, name));
}

static int global_get(uint64_t *address, size_t *bytes, void *module, const char *name)
{
    struct rt *rt;
    uint64_t at, size;
    int code = name && (address || bytes) ? driver_enter(&rt) : SHIM_INVALID;
    if (code == SHIM_OK && !shim_handle_is(module, SHIM_MODULE)) {
        code = SHIM_BAD_HANDLE;
    }
    code = code == SHIM_OK ? shim_global_get(module, name, &at, &size) : code;
    if (code == SHIM_OK && address) {
        *address = at;
    }
    if (code == SHIM_OK && bytes) {
        *bytes = size;
    }
    return code;
}

EXPORT int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name)
{
    return driver_result(global_get(address, bytes, module, name));
}

EXPORT int cuLibraryLoadData(void **out, const void *image, int *jit, void **jit_values,
                             unsigned jit_count, int *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return driver_result(load(out, image, true));
}

EXPORT int cuLibraryLoadFromFile(void **out, const char *path, int *jit, void **jit_values,
                                 unsigned jit_count, int *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return driver_result(load_file(out, path, true));
}

EXPORT int cuLibraryUnload(void *library)
{
    return cuModuleUnload(library);
}

EXPORT int cuLibraryGetKernel(void **out, void *library, const char *name)
{
    return driver_result(function_get(out, library, name));
}

EXPORT int cuLibraryGetModule(void **out, void *library)
{
    if (!out || !shim_handle_is(library, SHIM_MODULE)) {
        return driver_result(out ? SHIM_BAD_HANDLE : SHIM_INVALID);
    }
    *out = library;
    return driver_result(SHIM_OK);
}

EXPORT int cuLibraryGetGlobal(uint64_t *address, size_t *bytes, void *library, const char *name)
{
    return driver_result(global_get(address, bytes, library, name));
}

EXPORT int cuLibraryGetManaged(uint64_t *address, size_t *bytes, void *library, const char *name)
{
    return driver_result(global_get(address, bytes, library, name));
}

EXPORT int cuKernelGetFunction(void **function, void *kernel)
{
    if (!function || !shim_handle_is(kernel, SHIM_FUNCTION)) {
        return driver_result(function ? SHIM_BAD_HANDLE : SHIM_INVALID);
    }
    *function = kernel;
    return driver_result(SHIM_OK);
}

static void linker_result(void *linker, int code)
{
    if (shim_handle_is(linker, SHIM_LINK)) {
        log_result(shim_link_log(linker), code);
    }
}

/* What is wrong with an input goes to its own log and to that of the linker. */
static int link_add(void *linker, const char *name, const void *data, size_t bytes,
                    const struct shim_log *errors)
{
    int code = shim_link_add(linker, name, data, bytes);
    log_result(errors, code);
    linker_result(linker, code);
    return code;
}

EXPORT int cuLinkCreate_v2(unsigned count, const int *options, void **values, void **out)
{
    struct rt *rt;
    int code = out ? driver_enter(&rt) : SHIM_INVALID;
    struct shim_log errors = logs_begin(count, options, values);
    code = code == SHIM_OK ? shim_link_create((struct shim_link **)out) : code;
    if (code == SHIM_OK) {
        *shim_link_log(*out) = errors;
    }
    return driver_result(code);
}

EXPORT int cuLinkAddData_v2(void *linker, int type, void *data, size_t bytes, const char *name,
                            unsigned count, const int *options, void **values)
{
    (void)type;
    struct shim_log errors = logs_begin(count, options, values);
    return driver_result(link_add(linker, name, data, bytes, &errors));
}

EXPORT int cuLinkAddFile_v2(void *linker, int type, const char *path, unsigned count,
                            const int *options, void **values)
{
    char *data = NULL;
    size_t bytes;
    (void)type;
    struct shim_log errors = logs_begin(count, options, values);
    int code = path ? shim_file_read(&data, &bytes, path) : SHIM_INVALID;
    code = code == SHIM_OK ? link_add(linker, path, data, bytes, &errors) : code;
    free(data);
    return driver_result(code);
}

EXPORT int cuLinkComplete(void *linker, void **image, size_t *bytes)
{
    int code = image ? shim_link_complete(linker, image, bytes) : SHIM_INVALID;
    linker_result(linker, code);
    return driver_result(code);
}

EXPORT int cuLinkDestroy(void *linker)
{
    return driver_result(shim_link_destroy(linker));
}
