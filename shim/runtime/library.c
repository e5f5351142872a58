/* Libraries: modules that a program loads itself. Their code is read when it is needed. */
#include "shim/runtime/runtime.h"

EXPORT int cudaLibraryLoadData(void **out, const void *image, int *jit, void **jit_values,
                               unsigned jit_count, int *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return last(out ? shim_module_create((struct shim_module **)out, "library", image, 0, true)
                    : SHIM_INVALID);
}

EXPORT int cudaLibraryLoadFromFile(void **out, const char *path, int *jit, void **jit_values,
                                   unsigned jit_count, int *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return last(out && path ? shim_module_load_file((struct shim_module **)out, path, true)
                            : SHIM_INVALID);
}

EXPORT int cudaLibraryUnload(void *library)
{
    return last(shim_module_destroy(library));
}

EXPORT int cudaLibraryGetKernel(void **out, void *library, const char *name)
{
    struct shim_function *function;
    struct rt_kernel *kernel;
    if (!out || !name || !shim_handle_is(library, SHIM_MODULE)) {
        return last(out && name ? SHIM_BAD_HANDLE : SHIM_INVALID);
    }
    int code = shim_function_get(&function, library, name);
    code = code == SHIM_OK ? shim_function_need(function, &kernel) : code;
    if (code == SHIM_OK) {
        *out = function;
    }
    return last(code);
}

EXPORT int cudaLibraryGetGlobal(void **address, size_t *bytes, void *library, const char *name)
{
    uint64_t at, size;
    if (!name || !shim_handle_is(library, SHIM_MODULE)) {
        return last(name ? SHIM_BAD_HANDLE : SHIM_INVALID);
    }
    int code = shim_global_get(library, name, &at, &size);
    if (code == SHIM_OK && address) {
        *address = (void *)(uintptr_t)at;
    }
    if (code == SHIM_OK && bytes) {
        *bytes = size;
    }
    return last(code);
}

EXPORT int cudaLibraryGetManaged(void **address, size_t *bytes, void *library, const char *name)
{
    return cudaLibraryGetGlobal(address, bytes, library, name);
}
