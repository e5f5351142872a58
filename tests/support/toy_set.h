/* A set of a toy's cache that evicts the line read longest ago. */
#ifndef SONDE_TESTS_SUPPORT_TOY_SET_H
#define SONDE_TESTS_SUPPORT_TOY_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Reads a line: true when it hit. `held`: of each way its line and one more, the last one read
 * first; 0: none. */
static inline bool toy_set_read(uint32_t *held, uint32_t ways, uint32_t line)
{
    uint32_t at = 0;
    while (at < ways && held[at] != line + 1) {
        at++;
    }
    bool hit = at < ways;
    memmove(held + 1, held, (hit ? at : ways - 1) * sizeof *held);
    held[0] = line + 1;
    return hit;
}

#endif
