/* The writers of formats.def, and what they share. */
#ifndef SONDE_EXPORT_WRITERS_H
#define SONDE_EXPORT_WRITERS_H

#include "export/export.h"

#define FORMAT(name, doc) export_writer export_##name;
#include "export/formats.def"
#undef FORMAT

/* The caches in the order of the paths through them, ended by NULL. */
extern const char *const EXPORT_CACHES[];

#endif
