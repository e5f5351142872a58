/*
 * Entry points by name, for programs that ask instead of linking. A name without suffix means the
 * newest form that the asked release has.
 */
#include <stdio.h>
#include <string.h>

#include "shim/driver/driver.h"
#include "shim/driver/entry.h"

/* Forms that came with a release; before it the form below is meant. */
static const struct {
    const char *name;
    int since;
} young[] = {
    {"cuCtxCreate_v4", 12050},
    {"cuCtxCreate_v3", 1000000}, /* only by its own name */
    {"cuGraphAddNode_v2", 12030},
    {"cuGraphAddDependencies_v2", 12030},
    {"cuGraphRemoveDependencies_v2", 12030},
    {"cuGraphGetEdges_v2", 12030},
    {"cuGraphNodeGetDependencies_v2", 12030},
    {"cuGraphNodeGetDependentNodes_v2", 12030},
    {"cuStreamGetCaptureInfo_v3", 12030},
    {"cuStreamUpdateCaptureDependencies_v2", 12030},
    {"cuMemPrefetchAsync_v2", 12020},
    {"cuMemAdvise_v2", 12020},
    {"cuEventElapsedTime_v2", 12080},
};

static bool is_there(const char *name, int release)
{
    for (size_t i = 0; i < sizeof young / sizeof *young; i++) {
        if (strncmp(name, young[i].name, strlen(young[i].name)) == 0) {
            return release >= young[i].since;
        }
    }
    return true;
}

#define FLAG_PER_THREAD 2

static entry_point *newest(const char *name, int release, bool per_thread)
{
    static const char *const forms[] = {"_v4", "_v3", "_v2", ""};
    static const char *const own[] = {"_ptsz", "_ptds", ""};
    for (size_t s = per_thread ? 0 : 2; s < 3; s++) {
        for (size_t i = 0; i < 4; i++) {
            char full[256];
            snprintf(full, sizeof full, "%s%s%s", name, forms[i], own[s]);
            entry_point *found = is_there(full, release) ? entry_find(full) : NULL;
            if (found) {
                return found;
            }
        }
    }
    return NULL;
}

EXPORT int cuGetProcAddress_v2(const char *name, void **out, int release, uint64_t flags,
                               int *status)
{
    if (!name || !out) {
        return driver_result(SHIM_INVALID);
    }
    union {
        entry_point *function;
        void *object;
    } found = {.function = newest(name, release, flags & FLAG_PER_THREAD)};
    *out = found.object;
    if (status) {
        *status = found.object ? 0 : 1; /* not found */
    }
    return driver_result(found.object || status ? SHIM_OK : SHIM_NOT_FOUND);
}

EXPORT int cuGetProcAddress(const char *name, void **out, int release, uint64_t flags)
{
    return cuGetProcAddress_v2(name, out, release, flags, NULL);
}
