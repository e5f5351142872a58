/* The entry points that are not there (api.def). */
#include "shim/driver/driver.h"

#define RUNTIME(name, first, until)
#define RUNTIME_MISSING(name, first, until)
#define DRIVER(name)
#define DRIVER_MISSING(name)                                                                       \
    EXPORT int name(void);                                                                         \
    EXPORT int name(void)                                                                          \
    {                                                                                              \
        return shim_missing(#name);                                                                \
    }
#include "shim/api.def"
