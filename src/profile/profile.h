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

#include "gpu/gpu.h"

struct profile;
struct exec_program;

/* The model is borrowed. */
int profile_create(struct profile **out, const struct model *model);
void profile_destroy(struct profile *profile); /* NULL is allowed */

/* A launch of the program has ended, which has counted `stats`. Launches of a kernel are added. */
int profile_launched(struct profile *profile, struct gpu *gpu, const struct exec_program *program,
                     const struct gpu_stats *stats);

enum profile_format { PROFILE_TEXT, PROFILE_JSON, PROFILE_HTML };
/* "text", "json" or "html", `length` bytes of `name`. */
bool profile_format_parse(enum profile_format *out, const char *name, size_t length);

/* free() the text. */
int profile_write(char **text, const struct profile *profile, enum profile_format format);

#endif
