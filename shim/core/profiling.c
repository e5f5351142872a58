/*
 * `sonde run --profile`: where the time of the process's kernels goes, written at the program's
 * end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "profile/profile.h"
#include "profile/timeline.h"
#include "shim/core/options.h"
#include "shim/core/shim.h"
#include "util/error.h"

static struct profile *profile;
static bool failed;
static struct timeline *timeline;
static pid_t process; /* whose time line it is: a child has a device of its own */

static void note_copy(void *ctx, const struct rt_copied *copy)
{
    (void)ctx;
    if (timeline) {
        timeline_slice(timeline, &(struct timeline_slice){.name = copy->way,
                                                          .category = "copy",
                                                          .stream_id = copy->stream_id,
                                                          .begin_ps = copy->begin_ps,
                                                          .end_ps = copy->end_ps,
                                                          .bytes = copy->bytes});
    }
}

static void note_launch(const struct rt_done *launch)
{
    timeline_slice(timeline,
                   &(struct timeline_slice){.name = rt_kernel_name(launch->kernel),
                                            .category = "kernel",
                                            .stream_id = launch->stream_id,
                                            .begin_ps = launch->begin_ps,
                                            .end_ps = launch->end_ps,
                                            .cycles = launch->cycles,
                                            .status = launch->status == 0 ? NULL : "failed"});
}

static int timeline_begin(struct rt *rt, const struct model *model)
{
    int rc = 0;
    if (!timeline && process == 0) {
        process = getpid();
        rc = timeline_open(&timeline, options()->timeline, model);
    }
    if (rc == 0 && timeline && process == getpid()) {
        timeline_attach(timeline, rt_gpu(rt));
        rt_set_copied(rt, note_copy, NULL);
    }
    return rc;
}

int profiling_begin(struct rt *rt, const struct model *model)
{
    if (options()->timeline) {
        int opened = timeline_begin(rt, model);
        if (opened < 0) {
            return opened;
        }
    }
    if (!options()->profile) {
        return 0;
    }
    int rc = profile ? 0 : profile_create(&profile, model);
    return rc < 0 ? rc : gpu_profile_enable(rt_gpu(rt));
}

void profiling_launched(const struct rt_done *launch, struct rt *rt)
{
    if (timeline && process == getpid() && !launch->functional) {
        note_launch(launch);
    }
    if (profile && !launch->functional && !launch->estimated && !failed) {
        failed =
            profile_launched(profile, rt_gpu(rt),
                             &(struct profile_launch){.program = rt_kernel_program(launch->kernel),
                                                      .grid = launch->grid,
                                                      .block = launch->block,
                                                      .stats = &launch->stats,
                                                      .faulted = launch->status < 0}) < 0;
    }
}

void profiling_reset(void)
{
    if (timeline && process == getpid()) {
        timeline_attach(timeline, NULL);
    }
}

static bool write_profile(void)
{
    const char *spec = options()->profile, *colon = strchr(spec, ':');
    enum profile_format format;
    char *text;
    size_t length = colon ? (size_t)(colon - spec) : strlen(spec);
    if (!profile_format_parse(&format, spec, length)) {
        format = PROFILE_TEXT;
    }
    if (failed || profile_write(&text, profile, format) < 0) {
        shim_say("%s", failed ? "the profile is not complete: memory is out" : error_text());
        return false;
    }
    return report_write(spec, text);
}

bool profiling_end(void)
{
    bool written = true;
    if (timeline && process == getpid() && timeline_close(timeline) < 0) {
        shim_say("%s", error_text());
        written = false;
    }
    timeline = NULL;
    return (!profile || !options()->profile || write_profile()) && written;
}
