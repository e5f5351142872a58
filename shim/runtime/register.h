/* What a program has registered with its runtime. */
#ifndef SONDE_SHIM_RUNTIME_REGISTER_H
#define SONDE_SHIM_RUNTIME_REGISTER_H

#include "shim/runtime/runtime.h"

enum entry_kind { ENTRY_FUNCTION, ENTRY_VARIABLE, ENTRY_MANAGED, ENTRY_REFERENCE };

void entry_register(void **handle, const void *host, const char *name, uint64_t bytes,
                    enum entry_kind kind);
/* A texture or surface reference of 11.x: where it stands in its module. */
int entry_reference(struct rt_module **module, const char **name, const void *host);
/* Does a texture reference turn texels into floats between 0 and 1? */
int entry_reads_normalised(const void *host);

#endif
