/* What texture and surface objects were made of. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/runtime/texture.h"
#include "util/container/map.h"

struct remembered {
    struct abi_resource_desc resource;
    struct abi_texture_desc texture;
    bool is_texture;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct u64_map objects;

void texture_remember(uint64_t handle, const struct abi_resource_desc *resource,
                      const struct abi_texture_desc *texture)
{
    struct remembered *object = calloc(1, sizeof *object);
    if (!object) {
        return;
    }
    /* The union's tail may be absent in older programs: only what is used is read. */
    object->resource.type = resource->type;
    memcpy(&object->resource.linear, &resource->linear,
           resource->type == 3   ? sizeof resource->pitched
           : resource->type == 2 ? sizeof resource->linear
                                 : sizeof resource->handle);
    object->is_texture = texture != NULL;
    if (texture) {
        object->texture = *texture;
    }
    pthread_mutex_lock(&mutex);
    free(u64_map_get_pointer(&objects, handle));
    u64_map_put_pointer(&objects, handle, object);
    pthread_mutex_unlock(&mutex);
}

void texture_forget(uint64_t handle)
{
    pthread_mutex_lock(&mutex);
    free(u64_map_get_pointer(&objects, handle));
    if (u64_map_find(&objects, handle)) {
        u64_map_put_pointer(&objects, handle, NULL);
    }
    pthread_mutex_unlock(&mutex);
}

static const struct remembered *remembered(uint64_t handle, bool is_texture)
{
    pthread_mutex_lock(&mutex);
    const struct remembered *object = u64_map_get_pointer(&objects, handle);
    pthread_mutex_unlock(&mutex);
    return object && object->is_texture == is_texture ? object : NULL;
}

static int resource_desc(struct abi_resource_desc *out, uint64_t handle, bool is_texture)
{
    const struct remembered *object = remembered(handle, is_texture);
    if (!out || !object) {
        return SHIM_INVALID;
    }
    out->type = object->resource.type;
    memcpy(&out->linear, &object->resource.linear, sizeof out->pitched);
    return SHIM_OK;
}

EXPORT int cudaGetTextureObjectResourceDesc(struct abi_resource_desc *out, uint64_t handle)
{
    return last(resource_desc(out, handle, true));
}

EXPORT int cudaGetSurfaceObjectResourceDesc(struct abi_resource_desc *out, uint64_t handle)
{
    return last(resource_desc(out, handle, false));
}

EXPORT int cudaGetTextureObjectTextureDesc(struct abi_texture_desc *out, uint64_t handle)
{
    const struct remembered *object = remembered(handle, true);
    if (!out || !object) {
        return last(SHIM_INVALID);
    }
    *out = object->texture;
    return last(SHIM_OK);
}
