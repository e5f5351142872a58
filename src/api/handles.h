/*
 * What the public interface's opaque handles hold.
 */
#ifndef SONDE_API_HANDLES_H
#define SONDE_API_HANDLES_H

#include "device/device.h"
#include "infer/dissection.h"
#include "sonde/sonde.h"
#include "trace/trace.h"

#define API_SPEC_MAX 4200

struct sonde_device {
    struct device *device;
    char spec[API_SPEC_MAX]; /* as the user named it */
};

struct sonde_dissection {
    struct dissection result;
    struct trace_device device; /* what its driver said */
    char spec[API_SPEC_MAX];
    char date[32];
    double seconds;
};

/* The result of reading an input file: one that cannot be read is bad input, not failed output. */
int api_read_result(int rc);
/* The same of a JSON document at `path`: that it is a recording is told with what makes one of it.
 */
int api_read_document_result(int rc, const char *path);

/* What a report and a recording say of a device. */
void api_describe_device(struct trace_device *out, const struct device_info *info);

#endif
