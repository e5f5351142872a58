/*
 * Recordings from hostile hands. Input that begins with the magic is taken as a file; anything else
 * as a decompressed payload, since no fuzzer gets past a SHA-256. What is accepted must be whole:
 * every column is read, printed and found again by its key.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/csv.h"
#include "trace/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct traceset *set)
{
    for (size_t i = 0; i < traceset_count(set); i++) {
        const struct trace *trace = traceset_at(set, i);
        char key[TRACE_KEY_MAX], *csv;
        trace_request_key(&trace->request, key);
        if (traceset_find(set, key) != trace) {
            abort();
        }
        if (trace_csv(&csv, trace) == 0) {
            free(csv);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct traceset *set = NULL;
    int rc = size >= 8 && memcmp(data, RECORDING_MAGIC, 8) == 0
                 ? traceset_parse(&set, "fuzz", data, size)
                 : recording_parse_payload(&set, "fuzz", data, size);
    if (rc == 0) {
        look_at(set);
    } else if (set) {
        abort();
    }
    traceset_destroy(set);
    return 0;
}
