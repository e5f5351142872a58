/*
 * The cases of tests/textures: an image, what it holds, a view or a surface, an instruction, and
 * coordinates for many lanes. All follow from a seed.
 */
#ifndef SONDE_TESTS_TEXTURES_CASES_H
#define SONDE_TESTS_TEXTURES_CASES_H

#include <stddef.h>

#include "isa/image.h"

enum content {
    CONTENT_BITS,   /* any bits: floats of all classes too */
    CONTENT_SMOOTH, /* floats of moderate size, integers of any */
};
enum places { /* where coordinates lie */
              PLACES_INSIDE,
              PLACES_AROUND,     /* up to three sizes beyond either end, and far away */
              PLACES_INDICES,    /* integers, a little beyond either end */
              PLACES_BYTES,      /* the same, x in units of access_bytes bytes */
              PLACES_DIRECTIONS, /* of cubes, away from edges */
              PLACES_PERMUTED,   /* surfaces: each texel once, as indices; x in access_bytes */
};
enum detail_numbers { DETAIL_NONE, DETAIL_LEVELS, DETAIL_GRADIENTS, DETAIL_OFFSETS };

#define CASE_NAME 160
#define CASE_WORDS                                                                                 \
    16 /* a lane's input: coordinates 0 to 3, level or gradients 4 to 9, data 10..                 \
        */
#define CASE_RESULTS 4

struct texture_case {
    char name[CASE_NAME];
    const char *text; /* the instruction, of %r0 .. %r15, %rd3 (handle), to %o0 .. %o3 */
    struct image_spec spec;
    struct texture_view view;
    enum content content;
    enum places places;
    enum detail_numbers detail;
    uint32_t lanes, access_bytes;
    bool surface;     /* the handle is a surface's */
    bool reads_image; /* the result is the image afterwards */
};

struct case_list {
    struct texture_case *cases;
    size_t count;
};
int cases_make(struct case_list *out); /* free(out->cases) */

uint32_t case_texel_bytes(const struct image_spec *spec);
size_t case_level_bytes(const struct image_spec *spec, uint32_t level);
/* What the image holds at first (all levels in a row), and the lanes' words. */
void case_fill_image(uint8_t *texels, const struct texture_case *c, uint64_t seed);
void case_fill_words(uint32_t *words, const struct texture_case *c, uint64_t seed);

#endif
