/*
 * `sonde run --profile`: where the time of the process's kernels goes, written at the program's
 * end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "shim/core/options.h"
#include "shim/core/shim.h"
#include "util/error.h"
#include "util/fileio.h"

static struct profile *profile;
static bool failed;

int profiling_begin(struct rt *rt, const struct model *model)
{
    if (!options()->profile) {
        return 0;
    }
    int rc = profile ? 0 : profile_create(&profile, model);
    return rc < 0 ? rc : gpu_profile_enable(rt_gpu(rt));
}

void profiling_launched(const struct rt_done *launch, struct rt *rt)
{
    if (profile && !launch->functional && launch->status == 0 && !failed) {
        failed = profile_launched(profile, rt_gpu(rt), rt_kernel_program(launch->kernel),
                                  &launch->stats) < 0;
    }
}

void profiling_end(void)
{
    const char *spec = options()->profile;
    enum profile_format format;
    char *text;
    if (!profile || !spec) {
        return;
    }
    const char *colon = strchr(spec, ':');
    size_t length = colon ? (size_t)(colon - spec) : strlen(spec);
    if (!profile_format_parse(&format, spec, length)) {
        format = PROFILE_TEXT;
    }
    if (failed || profile_write(&text, profile, format) < 0) {
        shim_say("%s", failed ? "the profile is not complete: memory is out" : error_text());
        return;
    }
    if (!colon) {
        fputs(text, stderr);
    } else if (file_write_all(colon + 1, text, strlen(text)) < 0) {
        shim_say("%s", error_text());
    }
    free(text);
}
