/* What is kept of each kernel, shared by the files of this room. */
#ifndef SONDE_PROFILE_STATE_H
#define SONDE_PROFILE_STATE_H

#include <jansson.h>

#include "core/profile.h"
#include "profile/profile.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/container/vec.h"

/* What an instruction computes: the ceilings of the roofline. */
enum operations { OPERATIONS_NONE, OPERATIONS_INT, OPERATIONS_FP32, OPERATIONS_FP64 };
#define OPERATIONS_COUNT 4

/* An instruction; text NULL: the end of a function. */
struct profile_insn {
    const char *function, *file, *source, *text;
    const char *source_text; /* that line of it; NULL: it cannot be read */
    uint32_t line, source_line;
    enum operations operations;
    uint32_t each; /* operations of a thread */
};

struct profile_shape {
    uint32_t grid[3], block[3];
    uint64_t launches;
};

struct profile_kernel {
    const char *name, *file;
    uint32_t length;
    uint64_t code;    /* a hash of the instructions */
    uint32_t variant; /* 1; 2 ..: other code of the same name */
    uint64_t faults;  /* launches among them that did not end by themselves */
    VEC(struct profile_shape) shapes;
    struct profile_insn *insns;
    struct profile_line *lines;
    uint64_t launches, resident;
    struct gpu_stats stats;
};

/* A file that .loc names, where it can be read from here. */
struct profile_source {
    const char *file;
    char *text; /* NULL: it cannot */
};

struct profile {
    const struct model *model;
    struct arena *arena;
    VEC(struct profile_kernel *) kernels;
    VEC(struct profile_source) sources;
};

uint64_t profile_line_cycles(const struct profile_line *line);
void profile_sum(struct profile_line *out, const struct profile_kernel *kernel);

/* roofline.c: ceilings of the model and the kernel's point, or NULL. */
json_t *profile_roofline(const struct model *model, const struct profile_kernel *kernel);
/* document.c */
int profile_document(json_t **out, const struct profile *profile);
/* table.c */
void profile_table(struct strbuf *out, const struct profile *profile);

#endif
