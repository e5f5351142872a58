/* Names as C++ writes them. See symbol.h. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "util/text/symbol.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

char *symbol_readable(const char *name)
{
    typedef char *demangle(const char *, char *, size_t *, int *);
    /* C++ programs bring the function that reads their names; the others have none to read. A name
     * that does not begin so could be read as a type's: `f` as float. */
    union {
        void *object;
        demangle *function;
    } found = {.object =
                   strncmp(name, "_Z", 2) == 0 ? dlsym(RTLD_DEFAULT, "__cxa_demangle") : NULL};
    int status = -1;
    char *text = found.object ? found.function(name, NULL, NULL, &status) : NULL;
    return text ? text : strdup(name);
}
