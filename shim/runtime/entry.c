/* Entry points of the driver, for programs that ask the runtime for them. */
#include "shim/runtime/runtime.h"

int cuGetProcAddress_v2(const char *name, void **out, int release, uint64_t flags, int *status);

static int entry_point(const char *name, void **out, int release, unsigned long long flags,
                       int *status)
{
    int found = 1;
    if (!name || !out) {
        return SHIM_INVALID;
    }
    int code = cuGetProcAddress_v2(name, out, release, flags, &found);
    if (status) {
        *status = found;
    }
    return code != SHIM_OK ? code : *out || status ? SHIM_OK : SHIM_NOT_FOUND;
}

EXPORT int cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags,
                                   int *status)
{
    static const int releases[] = {11080, 12080, 13000};
    return last(entry_point(name, out, releases[SHIM_RUNTIME - 11], flags, status));
}

EXPORT int cudaGetDriverEntryPoint_ptsz(const char *name, void **out, unsigned long long flags,
                                        int *status)
{
    return cudaGetDriverEntryPoint(name, out, flags | 2, status);
}

EXPORT int cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned release,
                                            unsigned long long flags, int *status)
{
    return last(entry_point(name, out, (int)release, flags, status));
}

EXPORT int cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **out, unsigned release,
                                                 unsigned long long flags, int *status)
{
    return last(entry_point(name, out, (int)release, flags | 2, status));
}

/* Private tables of the vendor's runtime: profilers ask for them. */
EXPORT int cudaGetExportTable(const void **table, const void *id)
{
    (void)id;
    if (table) {
        *table = NULL;
    }
    return last(SHIM_NOT_SUPPORTED);
}
