/*
 * extend DEVICE RECORDING OUT: adds measurements to a recording. Requests come from standard input,
 * one a line, as they stand in a recording's index ("threads from=32 loads=2 op=cg"); those that
 * are there are kept. How the recordings in this folder got what no dissection asks for.
 */
#include <stdio.h>
#include <string.h>

#include "probe/probe.h"
#include "util/error.h"

static int parse(struct trace_request *request, char *line)
{
    char *rest = NULL, *word = strtok_r(line, " \n", &rest);
    trace_request_init(request, word ? word : "");
    int rc = 0;
    while (rc == 0 && (word = strtok_r(NULL, " \n", &rest)) != NULL) {
        char *equals = strchr(word, '=');
        if (!equals) {
            return error_set(SONDE_EUSAGE, "'%s' is no KEY=VALUE", word);
        }
        *equals = '\0';
        rc = trace_request_set_text(request, word, equals + 1);
    }
    return rc;
}

static int add_lines(struct trace_source *source)
{
    char line[1024];
    int rc = 0;
    while (rc == 0 && fgets(line, sizeof line, stdin)) {
        struct trace_request request;
        const struct trace *trace = NULL;
        rc = parse(&request, line);
        rc = rc ? rc : trace_get(source, &trace, &request);
        if (rc == 0 && trace->status != 0) {
            fprintf(stderr, "%s: %s\n", request.probe, trace->reason);
        }
    }
    return rc;
}

int main(int argc, char **argv)
{
    struct device *device = NULL;
    struct traceset *set = NULL;
    struct probe_live *live = NULL;
    if (argc != 4) {
        fprintf(stderr, "usage: extend DEVICE RECORDING OUT <REQUESTS\n");
        return 2;
    }
    int rc = device_open(&device, argv[1]);
    rc = rc ? rc : traceset_read(&set, argv[2]);
    rc = rc ? rc : probe_live_create(&live, device, set);
    if (rc == 0) {
        struct trace_source source = probe_live_source(live);
        rc = add_lines(&source);
    }
    rc = rc ? rc : traceset_write(set, argv[3]);
    if (rc) {
        fprintf(stderr, "extend: %s\n", error_text());
    }
    probe_live_destroy(live);
    traceset_destroy(set);
    if (device) {
        device_close(device);
    }
    return rc ? 1 : 0;
}
