/*
 * Which set a line belongs to, as far as it was found out, and how many ways each set has.
 *
 * Lines are numbered from the buffer's beginning, so that offset n * line_bytes lies in line n also
 * where lines begin elsewhere than the buffer does. A repeating index (modulo, map) is a list of
 * classes, one for each residue of the line's number modulo `period`; a linear one has a mask of
 * the number's bits for each bit of the class. Where nothing predicts the set, each of the first
 * lines has its class (index_each.c): then `period` is `limit`, and beyond it nothing is known.
 */
#ifndef SONDE_INFER_SETMAP_H
#define SONDE_INFER_SETMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETMAP_MAX_SETS 4096

struct set_map {
    size_t sets; /* 0: nothing is known */
    bool linear;
    uint32_t period, mask_count;
    bool untested;  /* by walks of drawn lines: a recording has none */
    uint32_t limit; /* lines from here on have bits that were not looked at; 0: none have */
    uint32_t masks[12];
    uint16_t class_of[SETMAP_MAX_SETS];
    uint16_t ways[SETMAP_MAX_SETS]; /* 0: not known */
};

static inline size_t set_map_class(const struct set_map *map, uint64_t line)
{
    if (!map->linear) {
        return map->period ? map->class_of[line % map->period] : 0;
    }
    size_t class = 0;
    for (uint32_t i = 0; i < map->mask_count; i++) {
        class |= (size_t)(__builtin_popcountll(line & map->masks[i]) & 1) << i;
    }
    return class;
}

#endif
