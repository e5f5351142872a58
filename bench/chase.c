/*
 * chase DEVICE OP BYTES: recorded loads a second of the fine-grained chase on a simulated device,
 * as the median of five measurements of 256 windows of 1024 records. Host time covers everything
 * that a dissection pays: layout, launches, the copies of the records.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/probe.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/glue/heap.h"

#define RUNS 5
#define WINDOW 1024
#define WINDOWS 256

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int make_request(struct trace_request *request, const char *op, uint64_t bytes, uint64_t run)
{
    trace_request_init(request, "chase");
    int rc = trace_request_set_text(request, "op", op);
    rc = rc < 0 ? rc : trace_request_set_u64(request, "bytes", bytes);
    rc = rc < 0 ? rc : trace_request_set_u64(request, "stride", 128);
    rc = rc < 0 ? rc : trace_request_set_u64(request, "window", WINDOW);
    rc = rc < 0 ? rc : trace_request_set_u64(request, "windows", WINDOWS);
    rc = rc < 0 ? rc : trace_request_set_u64(request, "persist", 1);
    rc = rc < 0 ? rc : trace_request_set_u64(request, "run", run);
    return rc < 0 ? rc : probe_request_complete(request);
}

/* Recorded loads a second of one measurement, negative on failure. */
static double measure(struct trace_source *source, const char *op, uint64_t bytes, uint64_t run)
{
    struct trace_request request;
    const struct trace *trace;
    if (make_request(&request, op, bytes, run) < 0) {
        return -1;
    }
    uint64_t start_ns = time_monotonic_ns();
    if (trace_get(source, &trace, &request) < 0 || trace->status < 0) {
        return -1;
    }
    uint64_t spent_ns = time_monotonic_ns() - start_ns;
    return (double)WINDOW * WINDOWS * 1e9 / (double)spent_ns;
}

static int measure_all(double *median, struct trace_source *source, const char *op, uint64_t bytes)
{
    double rates[RUNS];
    for (uint64_t run = 0; run < RUNS; run++) {
        rates[run] = measure(source, op, bytes, run);
        if (rates[run] < 0) {
            return error_prefix(SONDE_EINTERNAL, "the chase failed");
        }
    }
    qsort(rates, RUNS, sizeof(rates[0]), ascending);
    *median = rates[RUNS / 2];
    return 0;
}

int main(int argc, char **argv)
{
    heap_in_huge_pages();
    if (argc != 4) {
        fprintf(stderr, "usage: chase DEVICE OP BYTES\n");
        return 2;
    }
    struct device *device = NULL;
    struct traceset *set = NULL;
    struct probe_live *live = NULL;
    double median = 0;
    int rc = device_open(&device, argv[1]);
    rc = rc < 0 ? rc : traceset_create(&set);
    rc = rc < 0 ? rc : probe_live_create(&live, device, set);
    if (rc == 0) {
        struct trace_source source = probe_live_source(live);
        rc = measure_all(&median, &source, argv[2], strtoull(argv[3], NULL, 0));
    }
    if (rc < 0) {
        fprintf(stderr, "chase: %s\n", error_text());
    } else {
        printf("%.0f\n", median);
    }
    probe_live_destroy(live);
    traceset_destroy(set);
    device_close(device);
    return rc < 0 ? 1 : 0;
}
