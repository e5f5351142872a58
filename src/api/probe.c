/*
 * One probe's raw measurements, for users who want to look for themselves.
 */
#include <stdio.h>
#include <string.h>

#include "api/handles.h"
#include "probe/probe.h"
#include "trace/csv.h"
#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/text/units.h"

static void write_probe(struct strbuf *out, const struct probe_info *probe)
{
    strbuf_printf(out, "%s\n    %s\n", probe->name, probe->doc);
    for (size_t i = 0; i < probe->param_count; i++) {
        const struct probe_param_info *param = &probe->params[i];
        strbuf_printf(out, "    %-12s default %-8s %-24s %s\n", param->name,
                      param->def[0] ? param->def : "-", param->range, param->doc);
    }
    strbuf_append(out, "    columns, their units, how many values:\n");
    for (size_t i = 0; i < probe->column_count; i++) {
        const struct probe_column_info *column = &probe->columns[i];
        strbuf_printf(out, "    %-12s %-9s [%s] %s\n", column->name, column->unit, column->count,
                      column->doc);
    }
}

int sonde_probe_list(char **text)
{
    return sonde_probe_describe(text, NULL);
}

int sonde_probe_describe(char **text, const char *name)
{
    struct strbuf out = {0};
    if (name && !probe_find(name)) {
        return probe_unknown(name);
    }
    for (size_t i = 0; i < probe_count(); i++) {
        if (!name || probe_at(i) == probe_find(name)) {
            strbuf_append(&out, i && !name ? "\n" : "");
            write_probe(&out, probe_at(i));
        }
    }
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}

/* "key=value" into the request; a value with a unit of bytes ("48 KiB") becomes the plain number.
 */
static int add_setting(struct trace_request *request, const char *setting)
{
    const char *equals = strchr(setting, '=');
    char name[sizeof(request->params[0].name)];
    if (!equals || equals == setting || (size_t)(equals - setting) >= sizeof(name)) {
        return error_set(SONDE_EUSAGE, "'%s' is not KEY=VALUE", setting);
    }
    memcpy(name, setting, (size_t)(equals - setting));
    name[equals - setting] = '\0';
    uint64_t bytes;
    if (units_parse_u64(&bytes, equals + 1, UNIT_BYTES) == 0) {
        return trace_request_set_u64(request, name, bytes);
    }
    error_clear();
    return trace_request_set_text(request, name, equals + 1);
}

static int columns(char **csv, const struct trace *trace)
{
    if (trace->status < 0) {
        return error_set(trace->status, "%s", trace->reason);
    }
    return trace_csv(csv, trace);
}

static int run_live(char **csv, struct sonde_device *device, const struct trace_request *request)
{
    struct traceset *set = NULL;
    struct probe_live *live = NULL;
    int rc = traceset_create(&set);
    if (rc < 0) {
        return rc;
    }
    const struct trace *trace;
    rc = probe_live_create(&live, device->device, set);
    if (rc == 0) {
        struct trace_source source = probe_live_source(live);
        rc = trace_get(&source, &trace, request);
        rc = rc < 0 ? rc : columns(csv, trace);
    }
    probe_live_destroy(live);
    traceset_destroy(set);
    return rc;
}

int sonde_probe(char **csv, struct sonde_device *device, const char *name,
                const char *const *settings, size_t setting_count, const struct sonde_watch *watch)
{
    struct trace_request request;
    trace_request_init(&request, name);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < setting_count; i++) {
        rc = add_setting(&request, settings[i]);
    }
    rc = rc < 0 ? rc : probe_request_complete(&request);
    if (rc < 0) {
        return rc;
    }
    if (device->device->recording) {
        const struct trace *trace;
        rc = probe_find_recorded(&trace, device->device->recording, &request);
        return rc < 0 ? rc : columns(csv, trace);
    }
    device->device->cancel = watch ? watch->cancel : NULL;
    rc = run_live(csv, device, &request);
    device->device->cancel = NULL;
    return rc;
}
