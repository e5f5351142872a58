/*
 * What stands for the vendor's runtime where it is linked into a program: functions of the
 * runtime's names, none of which may be reached under `sonde run`. linked_names.inc has those that
 * host.c calls (CMakeLists.txt).
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void *linked_function(const char *name);

static int reached(const char *name)
{
    dprintf(STDOUT_FILENO, "%s: the program's own runtime was reached\n", name);
    _exit(9);
}

#define LINKED(name)                                                                               \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return reached(#name);                                                                     \
    }
#include "linked_names.inc"
LINKED(cudaGetExportTable)
#if LINKED_RELEASE == 12
LINKED(cudaGetDeviceProperties_v2)
#elif LINKED_RELEASE == 11
LINKED(cudaBindTexture2D)
#endif
#undef LINKED

/* Like a runtime's by its name only, and the program's own. */
int cudaProgramsOwn(void);
int cudaProgramsOwn(void)
{
    return 4711;
}

void *linked_function(const char *name)
{
#define LINKED(known)                                                                              \
    if (strcmp(name, #known) == 0) {                                                               \
        return (void *)known;                                                                      \
    }
#include "linked_names.inc"
    return cudaProgramsOwn() == 4711 ? NULL : (void *)linked_function;
}
