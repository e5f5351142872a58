/* What libraries, and modules, have in them. */
#include "shim/both/both.h"

static int kernels(void **out, size_t room, size_t *count, void *module)
{
    if ((!out && room > 0) || !count || !shim_handle_is(module, SHIM_MODULE)) {
        return count && (out || room == 0) ? SHIM_BAD_HANDLE : SHIM_INVALID;
    }
    return shim_module_kernels(module, (struct shim_function **)out, room, count);
}

static int kernel_count(unsigned *out, void *module)
{
    size_t count = 0;
    int code = out ? kernels(NULL, 0, &count, module) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = (unsigned)count;
    }
    return code;
}

EXPORT int NAME(LibraryGetKernelCount)(unsigned *out, void *library)
{
    return RESULT(kernel_count(out, library));
}

EXPORT int NAME(LibraryEnumerateKernels)(void **out, unsigned room, void *library)
{
    size_t count;
    return RESULT(kernels(out, room, &count, library));
}

#ifndef SHIM_RUNTIME
EXPORT int cuModuleGetFunctionCount(unsigned *out, void *module)
{
    return RESULT(kernel_count(out, module));
}

EXPORT int cuModuleEnumerateFunctions(void **out, unsigned room, void *module)
{
    size_t count;
    return RESULT(kernels(out, room, &count, module));
}

EXPORT int cuKernelGetLibrary(void **out, void *kernel)
{
    bool known = out && shim_handle_is(kernel, SHIM_FUNCTION);
    if (known) {
        *out = shim_function_module(kernel);
    }
    return RESULT(known ? SHIM_OK : out ? SHIM_BAD_HANDLE : SHIM_INVALID);
}

EXPORT int cuKernelGetParamInfo(void *kernel, size_t i, size_t *offset, size_t *bytes)
{
    size_t unused;
    bool known = offset && shim_handle_is(kernel, SHIM_FUNCTION);
    return RESULT(known    ? shim_function_param(kernel, i, offset, bytes ? bytes : &unused)
                  : offset ? SHIM_BAD_HANDLE
                           : SHIM_INVALID);
}
#endif
