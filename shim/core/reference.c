/*
 * Texture and surface references: variables of a module that hold the handle of an object. Binding
 * makes an object and hands it to the module; the one before goes. Launches read the variable when
 * they run, so whatever is under way ends first.
 */
#include "rt/state.h"
#include "shim/core/image.h"

static int idle(struct rt **rt)
{
    int code = shim_device(rt);
    return code == SHIM_OK ? shim_code(rt_sync(*rt)) : code;
}

/* Puts `handle` in the place of what is bound, which it returns. */
static int exchange(struct rt_module *module, const char *name, uint64_t handle, uint64_t *before)
{
    struct rt *rt;
    int code = shim_enter(&rt);
    *before = 0;
    if (code == SHIM_OK) {
        code = shim_code(rt_reference_bound(module, name, before));
        code = code == SHIM_OK ? shim_code(rt_reference_bind(module, name, handle)) : code;
        shim_leave(rt);
    }
    return code;
}

int shim_reference_bind(struct rt_module *module, const char *name,
                        const struct shim_resource *resource, const struct texture_view *view)
{
    struct rt *rt;
    uint64_t handle = 0, before;
    int code = idle(&rt);
    if (code == SHIM_OK && resource) {
        code = shim_texture_create(&handle, resource, view);
    }
    if (code != SHIM_OK) {
        return code;
    }
    code = exchange(module, name, handle, &before);
    uint64_t unused = code == SHIM_OK ? before : handle;
    int gone = unused ? shim_texture_destroy(unused) : SHIM_OK;
    return code == SHIM_OK ? gone : code;
}

int shim_reference_bind_surface(struct rt_module *module, const char *name,
                                const struct shim_resource *resource)
{
    struct rt *rt;
    uint64_t handle = 0, before;
    int code = idle(&rt);
    code = code == SHIM_OK ? shim_surface_create(&handle, resource) : code;
    if (code != SHIM_OK) {
        return code;
    }
    code = exchange(module, name, handle, &before);
    uint64_t unused = code == SHIM_OK ? before : handle;
    int gone = unused ? shim_surface_destroy(unused) : SHIM_OK;
    return code == SHIM_OK ? gone : code;
}
