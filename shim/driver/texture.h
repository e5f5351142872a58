/* Descriptions of textures. */
#ifndef SONDE_SHIM_DRIVER_TEXTURE_H
#define SONDE_SHIM_DRIVER_TEXTURE_H

#include "shim/core/image.h"
#include "shim/driver/driver.h"

void view_of(struct texture_view *out, const struct abi_texture_desc_driver *desc);

#endif
