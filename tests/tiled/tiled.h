/* What the two programs share: calls of the driver, numbers drawn from a seed, and which kernels
 * the command line asks for. */
#ifndef SONDE_TESTS_TILED_TILED_H
#define SONDE_TESTS_TILED_TILED_H

#include <stdbool.h>
#include <string.h>

#include "shim/hosts/host.h"

int cuFuncSetAttribute(handle, int, int);
int cuTensorMapEncodeTiled(uint32_t *, int, unsigned, address, const uint64_t *, const uint64_t *,
                           const uint32_t *, const uint32_t *, int, int, int, int);

#define DYNAMIC_SHARED 8 /* an attribute of functions */

struct map {
    _Alignas(64) uint32_t words[32];
};

static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

static uint32_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 24);
}

/* `PROGRAM FOLDER [NAME...]`: all kernels, or those that are named. */
static bool is_wanted(const char *name, int argc, char **argv)
{
    bool wanted = argc < 3;
    for (int i = 2; i < argc; i++) {
        wanted |= strcmp(argv[i], name) == 0;
    }
    return wanted;
}

#endif
