/*
 * Devices for users of the public interface: opening one, and listing what is here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/container/strbuf.h"
#include "util/text/units.h"

static const char *const kind_names[] = {
    [DEVICE_SIM] = "sim", [DEVICE_CUDA] = "cuda", [DEVICE_REPLAY] = "replay"};

void api_describe_device(struct trace_device *out, const struct device_info *info)
{
    *out = (struct trace_device){
        .sms = info->sms,
        .compute_major = info->compute_major,
        .compute_minor = info->compute_minor,
        .clock_hz = info->clock_hz,
        .memory_bytes = info->memory_bytes,
        .l2_bytes_reported = info->l2_bytes_reported,
        .memory_bandwidth_reported = info->memory_bandwidth_reported,
        .shared_per_sm_bytes = info->shared_per_sm_bytes,
        .shared_per_block_bytes = info->shared_per_block_bytes,
    };
    snprintf(out->name, sizeof(out->name), "%s", info->name);
    snprintf(out->driver, sizeof(out->driver), "%s", info->driver);
    snprintf(out->kind, sizeof(out->kind), "%s", kind_names[info->kind]);
}

int sonde_device_open(struct sonde_device **out, const char *spec)
{
    if (strlen(spec) >= API_SPEC_MAX) {
        return error_set(SONDE_EUSAGE, "a device name may have at most %d characters",
                         API_SPEC_MAX - 1);
    }
    struct sonde_device *device = calloc(1, sizeof(*device));
    if (!device) {
        return error_memory();
    }
    snprintf(device->spec, sizeof(device->spec), "%s", spec);
    int rc = device_open(&device->device, spec);
    if (rc < 0) {
        free(device);
        return api_read_result(rc);
    }
    *out = device;
    return 0;
}

void sonde_device_close(struct sonde_device *device)
{
    if (device) {
        device_close(device->device);
        free(device);
    }
}

static void table_row(struct strbuf *out, const struct device_listing *row)
{
    if (!row->available) {
        strbuf_printf(out, "%-16s not available: %s\n", row->spec, row->why);
        return;
    }
    char memory[32];
    char clock[32];
    units_format(memory, sizeof(memory), row->info.memory_bytes, UNIT_BYTES);
    units_format(clock, sizeof(clock), row->info.clock_hz, UNIT_HZ);
    strbuf_printf(out, "%-16s %-32s compute %u.%u  %3u SMs  %-12s %s\n", row->spec, row->info.name,
                  row->info.compute_major, row->info.compute_minor, row->info.sms, clock, memory);
}

int sonde_devices_table(char **text)
{
    struct device_listing *rows;
    size_t count;
    int rc = device_list(&rows, &count);
    if (rc < 0) {
        return rc;
    }
    struct strbuf out = {0};
    for (size_t i = 0; i < count; i++) {
        table_row(&out, &rows[i]);
    }
    free(rows);
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}

static int put_listing(json_t *array, const struct device_listing *row)
{
    json_t *object = json_object();
    int rc = json_append(array, object);
    rc = rc < 0 ? rc : json_put_string(object, "device", row->spec);
    rc = rc < 0 ? rc : json_put_string(object, "kind", kind_names[row->info.kind]);
    rc = rc < 0 ? rc : json_put_bool(object, "available", row->available);
    if (rc < 0 || !row->available) {
        return rc < 0 ? rc : json_put_string(object, "reason", row->why);
    }
    rc = json_put_string(object, "name", row->info.name);
    rc = rc < 0 ? rc : json_put_string(object, "driver", row->info.driver);
    rc = rc < 0 ? rc : json_put_u64(object, "compute_major", row->info.compute_major);
    rc = rc < 0 ? rc : json_put_u64(object, "compute_minor", row->info.compute_minor);
    rc = rc < 0 ? rc : json_put_u64(object, "sms", row->info.sms);
    rc = rc < 0 ? rc : json_put_u64(object, "clock_hz", row->info.clock_hz);
    return rc < 0 ? rc : json_put_u64(object, "memory_bytes", row->info.memory_bytes);
}

int sonde_devices_json(char **text)
{
    struct device_listing *rows;
    size_t count;
    int rc = device_list(&rows, &count);
    if (rc < 0) {
        return rc;
    }
    json_t *root = json_object();
    json_t *array = root ? json_put_array(root, "devices") : NULL;
    rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = put_listing(array, &rows[i]);
    }
    rc = rc < 0 ? rc : json_to_text(text, root);
    json_decref(root);
    free(rows);
    return rc;
}
