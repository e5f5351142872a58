/* The caches of a dissection, in the order in which formats tell them. */
#include <stddef.h>

#include "export/writers.h"

const char *const EXPORT_CACHES[] = {"l1_data",     "texture_l1",   "readonly_l1", "local_l1",
                                     "constant_l1", "constant_l15", "l2",          NULL};
