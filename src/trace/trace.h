/*
 * The measurement record. A request names a probe and its parameters; a trace is a request with
 * the raw columns it yielded; a traceset is what a dissection measured, with a description of the device and
 * of the kernels that ran. Requests have a canonical text ("chase bytes=16384 op=ca stride=128 ...", keys
 * sorted), which is the key under which a recording finds them again.
 *
 * A chase trace has the columns `latency` (u32, cycles, one per recorded load) and `next` (u32, the
 * byte offset that the load returned: the element visited next), windows one after the other:
 * parameter `window` records each, column `start` (u32) with each window's first offset. Windows are
 * independent samples and are never stitched into one sequence.
 */
#ifndef SONDE_TRACE_TRACE_H
#define SONDE_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_MAX_PARAMS 16
#define TRACE_KEY_MAX 1280
#define TRACE_MAX_COLUMNS 8

struct trace_param { char name[24]; char text[40]; };

struct trace_request {
    char probe[24];
    struct trace_param params[TRACE_MAX_PARAMS];
    size_t param_count;
    /* A ring of byte offsets to visit in order, for probes that take one; its hash is part of the key. */
    const uint32_t *ring;
    size_t ring_count;
};

void trace_request_init(struct trace_request *request, const char *probe);
int trace_request_set_u64(struct trace_request *request, const char *name, uint64_t value);
int trace_request_set_text(struct trace_request *request, const char *name, const char *text);
/* Canonical text; always fits TRACE_KEY_MAX. */
void trace_request_key(const struct trace_request *request, char key[TRACE_KEY_MAX]);
bool trace_request_u64(const struct trace_request *request, const char *name, uint64_t *value);
const char *trace_request_text(const struct trace_request *request, const char *name);

enum trace_type { TRACE_U32, TRACE_U64, TRACE_F64 };

struct trace_column { char name[24]; enum trace_type type; size_t count; void *data; };

struct trace {
    struct trace_request request;       /* owns a copy of its ring */
    struct trace_column columns[TRACE_MAX_COLUMNS];
    size_t column_count;
    int status;                         /* 0, or why the device could not (SONDE_E...) */
    char reason[160];
};

const struct trace_column *trace_column(const struct trace *trace, const char *name);
const uint32_t *trace_u32(const struct trace *trace, const char *name, size_t *count);
const double *trace_f64(const struct trace *trace, const char *name, size_t *count);
int trace_add_column(struct trace *trace, const char *name, enum trace_type type, const void *data, size_t count);

struct trace_device {                   /* printed with a recording; infer has no access to it */
    char name[128], driver[64], kind[8];
    uint32_t sms, compute_major, compute_minor;
    uint64_t clock_hz, memory_bytes, l2_bytes_reported, shared_per_sm_bytes, shared_per_block_bytes;
};

struct trace_kernel { char name[64]; char hash[65]; };      /* of the PTX text */

struct traceset;
int traceset_create(struct traceset **out);
void traceset_destroy(struct traceset *set);
/* Takes over the trace's memory. SONDE_EINPUT when the key is there already. The result is borrowed. */
int traceset_add(struct traceset *set, struct trace *trace, const struct trace **added);
const struct trace *traceset_find(const struct traceset *set, const char *key);
size_t traceset_count(const struct traceset *set);
const struct trace *traceset_at(const struct traceset *set, size_t i);
struct trace_device *traceset_device(struct traceset *set);
int traceset_add_kernel(struct traceset *set, const char *name, const char *ptx, size_t length);

/* File: format version, zstd-compressed, checksummed; a file cut short or changed is SONDE_EINPUT with what and where. */
int traceset_write(const struct traceset *set, const char *path);
int traceset_read(struct traceset **out, const char *path);
int traceset_parse(struct traceset **out, const char *name, const void *data, size_t size);

#endif
