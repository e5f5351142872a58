/*
 * Files that the build puts into the binary (sonde_embed() in cmake/SondeEmbed.cmake). A table ends
 * with a row whose name is NULL; a zero byte that is not counted follows every file's data.
 */
#ifndef SONDE_UTIL_EMBED_H
#define SONDE_UTIL_EMBED_H

#include <stddef.h>

struct embedded_file {
    const char *name; /* base name, e.g. "gtx780.yaml" */
    const unsigned char *data;
    size_t size_bytes;
};

/* The row of that name, or NULL. */
const struct embedded_file *embed_find(const struct embedded_file *table, const char *name);

#endif
