/*
 * A recording as a device. It launches nothing: who measures takes its traces from `recording`.
 * What it tells about itself is what the recorded device told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/backend.h"
#include "trace/trace.h"
#include "util/error.h"

struct replay {
    struct device device;
    struct traceset *set;
};

static void replay_close(struct device *device)
{
    struct replay *replay = (struct replay *)device;
    traceset_destroy(replay->set);
    free(replay);
}

static const struct device_ops replay_ops = {.close = replay_close};

static void describe(struct device_info *info, const struct trace_device *from)
{
    *info = (struct device_info){
        .kind = DEVICE_REPLAY,
        .compute_major = from->compute_major,
        .compute_minor = from->compute_minor,
        .sms = from->sms,
        .clock_hz = from->clock_hz,
        .memory_bytes = from->memory_bytes,
        .l2_bytes_reported = from->l2_bytes_reported,
        .memory_bandwidth_reported = from->memory_bandwidth_reported,
        .shared_per_sm_bytes = from->shared_per_sm_bytes,
        .shared_per_block_bytes = from->shared_per_block_bytes,
    };
    snprintf(info->name, sizeof(info->name), "%s", from->name);
    snprintf(info->driver, sizeof(info->driver), "%s", from->driver);
}

int replay_open(struct device **out, const char *path)
{
    struct replay *replay = calloc(1, sizeof(*replay));
    if (!replay) {
        return error_memory();
    }
    replay->device.ops = &replay_ops;
    int rc = traceset_read(&replay->set, path);
    if (rc < 0) {
        free(replay);
        return rc;
    }
    replay->device.recording = replay->set;
    describe(&replay->device.info, traceset_device(replay->set));
    *out = &replay->device;
    return SONDE_OK;
}
