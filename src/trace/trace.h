/*
 * The measurement record. A request names a probe and its parameters; a trace is a request with the
 * raw columns it yielded; a traceset is what a dissection measured, with a description of the
 * device and of the kernels that ran. A request has a canonical text ("chase bytes=16384 op=ca
 * stride=128", names sorted, and " ring=COUNT:HASH" at the end where it has a ring): the key under
 * which a recording finds it again. What a request leaves out is not in its key; the defaults that
 * stood when it ran are in the set's notes.
 *
 * A chase trace has the columns `latency` (u32, cycles, one per recorded load) and `next` (u32, the
 * byte offset that the load returned: the element visited next), windows one after the other:
 * parameter `window` records each, column `start` (u32) with each window's first offset. Windows
 * are independent samples and are never stitched into one sequence.
 */
#ifndef SONDE_TRACE_TRACE_H
#define SONDE_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_MAX_PARAMS 24
#define TRACE_KEY_MAX 2048
#define TRACE_MAX_COLUMNS 8

struct trace_param {
    char name[24];
    char text[40];
};

struct trace_request {
    char probe[24];
    struct trace_param params[TRACE_MAX_PARAMS];
    size_t param_count;
    /* A ring of byte offsets to visit in order, for probes that take one; its hash is part of the
     * key. Borrowed by a request, owned by a trace. */
    const uint32_t *ring;
    size_t ring_count;
};

/* The probe's name is cut at 23 bytes (and then is no probe's). */
void trace_request_init(struct trace_request *request, const char *probe);

/* Sets or replaces a parameter. Names are [a-z][a-z0-9_]*, not "ring"; values have no spaces,
 * control characters or '='. SONDE_EUSAGE for others and for more than TRACE_MAX_PARAMS. */
int trace_request_set_u64(struct trace_request *request, const char *name, uint64_t value);
int trace_request_set_text(struct trace_request *request, const char *name, const char *text);

/* Canonical text; always fits TRACE_KEY_MAX. */
void trace_request_key(const struct trace_request *request, char key[TRACE_KEY_MAX]);

/* True when the parameter is there and is a decimal number that fits. */
bool trace_request_u64(const struct trace_request *request, const char *name, uint64_t *value);
/* NULL when it is not there. */
const char *trace_request_text(const struct trace_request *request, const char *name);

enum trace_type { TRACE_U32, TRACE_U64, TRACE_F64 };

struct trace_column {
    char name[24];
    enum trace_type type;
    size_t count;
    void *data;
};

struct trace {
    struct trace_request request; /* owns a copy of its ring */
    struct trace_column columns[TRACE_MAX_COLUMNS];
    size_t column_count;
    int status; /* 0, or why the device could not (SONDE_E...) */
    char reason[160];
};

/* An empty trace of a request, whose ring is copied. */
int trace_init(struct trace *trace, const struct trace_request *request);
void trace_clear(struct trace *trace); /* frees columns and ring; harmless on {0} */

const struct trace_column *trace_column(const struct trace *trace, const char *name);
/* The column's data and its length, or NULL (and *count 0) when there is none of that name and
 * type. */
const uint32_t *trace_u32(const struct trace *trace, const char *name, size_t *count);
const double *trace_f64(const struct trace *trace, const char *name, size_t *count);

/* Copies the data. A name that is there already, a ninth column: SONDE_EINPUT. */
int trace_add_column(struct trace *trace, const char *name, enum trace_type type, const void *data,
                     size_t count);
size_t trace_type_bytes(enum trace_type type);

/*
 * The frequency of the cycle counter while a trace was measured, from its columns cycles and ns
 * (chase, clock), and how far that may be off. Traces whose frequencies differ by more were
 * measured under different clocks: latencies in cycles of what lies outside of the cores do not
 * compare. False when the trace does not tell.
 */
bool trace_clock_hz(const struct trace *trace, double *hz, double *error_hz);

struct trace_device { /* printed with a recording; infer has no access to it */
    char name[128], driver[64], kind[8];
    uint32_t sms, compute_major, compute_minor;
    uint64_t clock_hz, memory_bytes, l2_bytes_reported;
    uint64_t shared_per_sm_bytes, shared_per_block_bytes;
    uint64_t memory_bandwidth_reported; /* bytes a second; 0: not told, as of older recordings */
};

struct trace_kernel {
    char name[64];
    char hash[65]; /* SHA-256 of the PTX text, in hexadecimal */
};

struct trace_note {
    char name[64];
    char text[2048];
};

struct traceset;

int traceset_create(struct traceset **out);
void traceset_destroy(struct traceset *set); /* NULL is allowed */

/* Takes over the trace's memory, also on failure, and leaves *trace empty. SONDE_EINPUT when the
 * key is there already. The result is borrowed from the set. `added` may be NULL. */
int traceset_add(struct traceset *set, struct trace *trace, const struct trace **added);

/* NULL when it is not there. */
const struct trace *traceset_find(const struct traceset *set, const char *key);
size_t traceset_count(const struct traceset *set);
const struct trace *traceset_at(const struct traceset *set, size_t i); /* in order of adding */
struct trace_device *traceset_device(struct traceset *set);
const struct trace_device *traceset_device_info(const struct traceset *set);

/* A kernel or note of a name that is there already replaces it. */
int traceset_add_kernel(struct traceset *set, const char *name, const char *ptx, size_t length);
int traceset_add_kernel_hash(struct traceset *set, const char *name, const char *hash);
int traceset_add_note(struct traceset *set, const char *name, const char *text);
size_t traceset_kernel_count(const struct traceset *set);
const struct trace_kernel *traceset_kernel_at(const struct traceset *set, size_t i);
size_t traceset_note_count(const struct traceset *set);
const struct trace_note *traceset_note_at(const struct traceset *set, size_t i);

/* Files (docs/recording.md): whole or not at all when written; one cut short or changed is
 * SONDE_EINPUT with what and where when read. `name` stands in messages as the file. */
int traceset_write(const struct traceset *set, const char *path);
int traceset_read(struct traceset **out, const char *path);
int traceset_parse(struct traceset **out, const char *name, const void *data, size_t size);

#endif
