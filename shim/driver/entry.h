/* The table of entry points. */
#ifndef SONDE_SHIM_DRIVER_ENTRY_H
#define SONDE_SHIM_DRIVER_ENTRY_H

#include <stddef.h>

typedef int entry_point(void);

entry_point *entry_find(const char *name); /* NULL: there is none of that name */

#endif
