/* What the parts of async.c share: operands by type and mode, the tables of kernels, the recording.
 */
#ifndef SONDE_TESTS_VECTORS_ASYNC_H
#define SONDE_TESTS_VECTORS_ASYNC_H

#include <stdbool.h>

#include "shim/hosts/host.h"

int cuFuncSetAttribute(handle, int, int);
int cuTensorMapEncodeTiled(uint32_t *, int, unsigned, address, const uint64_t *, const uint64_t *,
                           const uint32_t *, const uint32_t *, int, int, int, int);
int cuTensorMapEncodeIm2col(uint32_t *, int, unsigned, address, const uint64_t *, const uint64_t *,
                            const int *, const int *, unsigned, unsigned, const uint32_t *, int,
                            int, int, int);

uint64_t draw(void);
void draw_from(uint64_t seed);

/* operands.c: numbers of a type; mode 0: any bits, 1, 2: near one, 3: at the small end, 4: many
 * zeros, 5: short ones whose sums are exact. */
int type_bytes(const char *type);
void fill(uint8_t *to, size_t bytes, const char *type, int mode);

/* A kernel with one wgmma; what it is on. */
struct product {
    const char *name, *d, *a;
    bool sparse;
    int registers; /* of d */
};
/* Descriptors of a and b: start, the two offsets, base offset, swizzle. */
struct layout {
    unsigned a[5], b[5];
};
extern const struct product all_products[];
extern const struct layout layouts[];
extern const char *const all_reductions[], *const all_atomics[];
extern const size_t product_count, layout_count, reduction_count, atomic_count;

/* operands.c: a recording, by lines. */
struct lines {
    char *text; /* NULL: lines are printed */
    int judged, different;
};
bool lines_read(struct lines *lines, const char *path);
void lines_judge(struct lines *lines, const char *line);
int lines_end(struct lines *lines); /* the exit status */

#endif
