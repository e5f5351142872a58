/* The entry points that are not there (api.def). */
#include "shim/runtime/runtime.h"

#define RUNTIME(name, first, until)
#define DRIVER(name)
#define DRIVER_MISSING(name)
#define RUNTIME_MISSING(name, first, until)                                                        \
    EXPORT int name(void);                                                                         \
    EXPORT int name(void)                                                                          \
    {                                                                                              \
        return last(shim_missing(#name));                                                          \
    }
#include "missing.inc"
