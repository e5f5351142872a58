/* Descriptions of textures and what remembers them. */
#ifndef SONDE_SHIM_RUNTIME_TEXTURE_H
#define SONDE_SHIM_RUNTIME_TEXTURE_H

#include "shim/core/image.h"
#include "shim/runtime/runtime.h"

int resource_of(struct shim_resource *out, const struct abi_resource_desc *desc);
void view_of(struct texture_view *out, const struct abi_texture_desc *desc);
/* What an object was made of, for those who ask; `texture` NULL: a surface. */
void texture_remember(uint64_t handle, const struct abi_resource_desc *resource,
                      const struct abi_texture_desc *texture);
void texture_forget(uint64_t handle);

#endif
