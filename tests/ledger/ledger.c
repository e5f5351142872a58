/*
 * ledger MACHINE [--all]: dissects a toy or a recording (machines.c) and writes the whole course
 * and its end:
 *
 *   of each experiment, in order, what it asked for: requests, the toy's loads, a hash of all
 * requests in their order the tables for people with all evidence, and a hash of the report for
 * programs
 *
 * --all also writes each request and the report for programs. ledger --list: names of machines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/machines.h"
#include "probe/probe.h"
#include "report/report.h"
#include "util/error.h"

/* FNV-1a */
static const uint64_t HASH_BEGIN = UINT64_C(0xcbf29ce484222325),
                      HASH_FACTOR = UINT64_C(0x100000001b3);

struct ledger {
    struct toy_gpu *toy; /* NULL: another source */
    struct trace_source source;
    bool each;      /* write each request */
    char doing[64]; /* the experiment whose requests are counted */
    uint64_t requests, loads, hash;
};

static uint64_t hash_of(const char *text)
{
    uint64_t hash = HASH_BEGIN;
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * HASH_FACTOR;
    }
    return hash;
}

static void flush(struct ledger *l)
{
    uint64_t loads = l->toy ? toy_loads(l->toy) : 0;
    if (l->requests) {
        printf("%s: %" PRIu64 " requests, %" PRIu64 " loads, %016" PRIx64 "\n", l->doing,
               l->requests, loads - l->loads, l->hash);
    } else if (l->doing[0]) {
        printf("%s: nothing was asked\n", l->doing);
    }
    l->requests = 0;
    l->loads = loads;
    l->hash = HASH_BEGIN;
}

static void begin(void *ctx, double fraction, const char *what)
{
    struct ledger *l = ctx;
    (void)fraction;
    flush(l);
    snprintf(l->doing, sizeof l->doing, "%s", what);
}

static int count(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct ledger *l = ctx;
    char key[TRACE_KEY_MAX];
    trace_request_key(request, key);
    l->hash = (l->hash ^ hash_of(key)) * HASH_FACTOR;
    l->requests++;
    if (l->each) {
        printf("  %s\n", key);
    }
    return trace_get(&l->source, out, request);
}

/* The evidence and the tables for people; of the report for programs, in which is all, a hash, or
 * all of it. */
static int print_report(const struct dissection *found, bool whole)
{
    static const struct trace_device device = {
        .name = "toy", .driver = "1", .kind = "sim", .sms = 1};
    const struct report_subject subject = {
        .version = "0", .device_spec = "toy", .device = &device, .date = "2000-01-01T00:00:00Z"};
    const struct report_style style = {.evidence = true};
    char *json = NULL, *table = NULL, *summary = NULL;
    int rc = report_json(&json, found, &subject);
    rc = rc ? rc : report_table(&table, found, &subject, &style);
    rc = rc ? rc : report_summary(&summary, found, &subject, &style);
    if (rc == 0) {
        printf("%s%sreport for programs: %016" PRIx64 "\n%s", table, summary, hash_of(json),
               whole ? json : "");
    }
    free(json);
    free(table);
    free(summary);
    return rc;
}

static int dissect(struct ledger *ledger, const struct infer_options *options)
{
    static struct dissection found;
    struct trace_source source = {.get = count, .ctx = ledger};
    struct infer_options all = *options;
    all.progress = begin;
    all.progress_ctx = ledger;
    int rc = infer_dissect(&found, &source, &all);
    flush(ledger);
    return rc ? rc : print_report(&found, ledger->each);
}

static int keep_toy(struct ledger *ledger, const struct machine *machine)
{
    ledger->toy = toy_create(&machine->config);
    ledger->source = toy_source(ledger->toy);
    int rc = dissect(ledger, &machine->options);
    toy_destroy(ledger->toy);
    return rc;
}

static int keep_sm(struct ledger *ledger, const struct machine *machine)
{
    struct toy_sm *toy = toy_sm_create(machine->sm);
    ledger->source = toy_sm_source(toy);
    int rc = dissect(ledger, &machine->options);
    toy_sm_destroy(toy);
    return rc;
}

/* With the limits that the program takes from the recorded device. */
static int keep_recording(struct ledger *ledger, const struct machine *machine)
{
    struct traceset *set;
    char path[512];
    snprintf(path, sizeof path, LEDGER_RECORDINGS "/%s", machine->recording);
    int rc = traceset_read(&set, path);
    if (rc == 0) {
        const struct trace_device *device = traceset_device_info(set);
        struct infer_options options = machine->options;
        options.max_window = probe_window_limit(device->shared_per_block_bytes);
        options.max_footprint_bytes = probe_footprint_limit(device->memory_bytes);
        options.max_mapped_bytes = probe_mapped_limit(device->memory_bytes);
        ledger->source = traceset_source(set);
        rc = dissect(ledger, &options);
        traceset_destroy(set);
    }
    return rc;
}

static int keep(const struct machine *machine, bool all)
{
    struct ledger ledger = {.each = all, .hash = HASH_BEGIN};
    int rc = machine->recording ? keep_recording(&ledger, machine)
             : machine->sm      ? keep_sm(&ledger, machine)
                                : keep_toy(&ledger, machine);
    if (rc) {
        fprintf(stderr, "%s: %s\n", machine->name, error_text());
    }
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct machine machine;
    bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
    bool all = argc == 3 && strcmp(argv[2], "--all") == 0;
    for (size_t i = 0; (argc == 2 || all) && machine_at(&machine, i); i++) {
        if (list) {
            printf("%s\n", machine.name);
        } else if (strcmp(machine.name, argv[1]) == 0) {
            return keep(&machine, all);
        }
    }
    if (!list) {
        fprintf(stderr, "usage: ledger --list, or ledger MACHINE [--all] with one of these\n");
    }
    return list ? EXIT_SUCCESS : 2;
}
