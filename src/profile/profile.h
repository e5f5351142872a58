/*
 * Where the time of a program's kernels goes: gathered launch by launch from the SMs
 * (core/profile.h), told as a table for a terminal, as JSON with everything ("sonde.profile/1"),
 * and as a page with the annotated listing and the roofline.
 *
 * Call order: profile_create(), gpu_profile_enable() before the first launch, profile_launched()
 * after each, while its kernel is there.
 */
#ifndef SONDE_PROFILE_PROFILE_H
#define SONDE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/gpu.h"

struct profile;
struct exec_program;

/* The model is borrowed. */
int profile_create(struct profile **out, const struct model *model);
void profile_destroy(struct profile *profile); /* NULL is allowed */

struct profile_launch {
    const struct exec_program *program;
    const uint32_t *grid, *block; /* three each */
    const struct gpu_stats *stats;
    bool faulted; /* or was stopped: the profile is that up to there */
};

/* A launch has ended. Launches of the same code under the same name are added; other code of that
 * name, of another module, stands by itself. */
int profile_launched(struct profile *profile, struct gpu *gpu, const struct profile_launch *launch);

enum profile_format { PROFILE_TEXT, PROFILE_JSON, PROFILE_HTML };
/* "text", "json" or "html", `length` bytes of `name`. */
bool profile_format_parse(enum profile_format *out, const char *name, size_t length);

/* free() the text. */
int profile_write(char **text, const struct profile *profile, enum profile_format format);

#endif
