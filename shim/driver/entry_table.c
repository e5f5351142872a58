/* Every entry point by its name; that they have parameters is not seen here. */
#include "shim/driver/entry.h"

#include <string.h>

#define RUNTIME(name, first, until)
#define RUNTIME_MISSING(name, first, until)
#define DRIVER(name) entry_point name;
#define DRIVER_MISSING(name) entry_point name;
#include "shim/api.def"
#undef DRIVER
#undef DRIVER_MISSING

static const struct {
    const char *name;
    entry_point *function;
} entries[] = {
#define DRIVER(name) {#name, name},
#define DRIVER_MISSING(name) {#name, name},
#include "shim/api.def"
#undef DRIVER
#undef DRIVER_MISSING
};

entry_point *entry_find(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].name, name) == 0) {
            return entries[i].function;
        }
    }
    return NULL;
}
