/*
 * A memory hierarchy as boxes within boxes: memory holds the L2 cache, that holds clusters and SMs,
 * these hold what is theirs. A dissection says which are there (hierarchy.c); they are drawn as
 * text (topology.c) and as SVG (svg.c).
 */
#ifndef SONDE_PAGE_BOX_H
#define SONDE_PAGE_BOX_H

#include <stddef.h>

#include <jansson.h>

#define BOX_LINES 6
#define BOX_TEXT 160

struct arena;

struct box {
    const char *kind; /* "memory", "cache", "tlb", "shared", "group": how it is coloured */
    char title[BOX_TEXT];
    char badge[48]; /* what an access takes there; "": not measured */
    char line[BOX_LINES][BOX_TEXT];
    size_t line_count;
    struct box *first, *last, *next; /* children in order; next among siblings */
};

/* The tree of a dissection; boxes live in the arena. NULL: memory is out. */
struct box *box_hierarchy(struct arena *arena, const json_t *dissection);

#endif
