/*
 * Traces and sets of traces in memory, and the source that answers from a set. A set keeps its
 * traces in the order in which they were measured, and finds them by their requests' keys.
 */
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/sha256.h"
#include "trace/source.h"
#include "util/error.h"
#include "util/container/map.h"
#include "util/container/vec.h"

size_t trace_type_bytes(enum trace_type type)
{
    return type == TRACE_U32 ? 4 : 8;
}

int trace_init(struct trace *trace, const struct trace_request *request)
{
    *trace = (struct trace){.request = *request};
    trace->request.ring = NULL;
    if (!request->ring) {
        trace->request.ring_count = 0;
        return SONDE_OK;
    }
    uint32_t *ring = malloc(request->ring_count * sizeof(*ring) + 1);
    if (!ring) {
        trace->request.ring_count = 0;
        return error_memory();
    }
    memcpy(ring, request->ring, request->ring_count * sizeof(*ring));
    trace->request.ring = ring;
    return SONDE_OK;
}

void trace_clear(struct trace *trace)
{
    for (size_t i = 0; i < trace->column_count; i++) {
        free(trace->columns[i].data);
    }
    free((void *)trace->request.ring);
    *trace = (struct trace){0};
}

const struct trace_column *trace_column(const struct trace *trace, const char *name)
{
    for (size_t i = 0; i < trace->column_count; i++) {
        if (strcmp(trace->columns[i].name, name) == 0) {
            return &trace->columns[i];
        }
    }
    return NULL;
}

static const void *column_of_type(const struct trace *trace, const char *name, enum trace_type type,
                                  size_t *count)
{
    const struct trace_column *column = trace_column(trace, name);
    bool fits = column && column->type == type;
    *count = fits ? column->count : 0;
    return fits ? column->data : NULL;
}

const uint32_t *trace_u32(const struct trace *trace, const char *name, size_t *count)
{
    return column_of_type(trace, name, TRACE_U32, count);
}

const double *trace_f64(const struct trace *trace, const char *name, size_t *count)
{
    return column_of_type(trace, name, TRACE_F64, count);
}

int trace_add_column(struct trace *trace, const char *name, enum trace_type type, const void *data,
                     size_t count)
{
    struct trace_column *column = &trace->columns[trace->column_count];
    if (strlen(name) == 0 || strlen(name) >= sizeof(column->name)) {
        return error_set(SONDE_EINPUT, "'%.40s' is no name of a column", name);
    }
    if (trace->column_count == TRACE_MAX_COLUMNS) {
        return error_set(SONDE_EINPUT, "more than %d columns", TRACE_MAX_COLUMNS);
    }
    if (trace_column(trace, name)) {
        return error_set(SONDE_EINPUT, "two columns '%s'", name);
    }
    size_t width = trace_type_bytes(type);
    if (count > SIZE_MAX / width - 1) {
        return error_memory();
    }
    void *copy = malloc(count * width + 1);
    if (!copy) {
        return error_memory();
    }
    if (count) {
        memcpy(copy, data, count * width);
    }
    *column = (struct trace_column){.type = type, .count = count, .data = copy};
    snprintf(column->name, sizeof(column->name), "%s", name);
    trace->column_count++;
    return SONDE_OK;
}

struct traceset {
    struct trace_device device;
    struct map traces; /* by key, in the order of adding */
    VEC(struct trace_kernel) kernels;
    VEC(struct trace_note) notes;
};

int traceset_create(struct traceset **out)
{
    *out = calloc(1, sizeof(**out));
    return *out ? SONDE_OK : error_memory();
}

void traceset_destroy(struct traceset *set)
{
    if (!set) {
        return;
    }
    for (size_t i = 0; i < set->traces.count; i++) {
        trace_clear(set->traces.entries[i].value);
        free(set->traces.entries[i].value);
    }
    map_free(&set->traces);
    vec_free(&set->kernels);
    vec_free(&set->notes);
    free(set);
}

int traceset_add(struct traceset *set, struct trace *trace, const struct trace **added)
{
    char key[TRACE_KEY_MAX];
    trace_request_key(&trace->request, key);
    if (traceset_find(set, key)) {
        trace_clear(trace);
        return error_set(SONDE_EINPUT, "measured twice: %s", key);
    }
    struct trace *kept = malloc(sizeof(*kept));
    if (!kept || map_put(&set->traces, key, kept) < 0) {
        free(kept);
        trace_clear(trace);
        return error_memory();
    }
    *kept = *trace;
    *trace = (struct trace){0};
    if (added) {
        *added = kept;
    }
    return SONDE_OK;
}

const struct trace *traceset_find(const struct traceset *set, const char *key)
{
    return map_get(&set->traces, key);
}

size_t traceset_count(const struct traceset *set)
{
    return set->traces.count;
}

const struct trace *traceset_at(const struct traceset *set, size_t i)
{
    return set->traces.entries[i].value;
}

struct trace_device *traceset_device(struct traceset *set)
{
    return &set->device;
}

const struct trace_device *traceset_device_info(const struct traceset *set)
{
    return &set->device;
}

int traceset_add_kernel_hash(struct traceset *set, const char *name, const char *hash)
{
    struct trace_kernel kernel = {0};
    if (strlen(name) >= sizeof(kernel.name) || strlen(hash) >= sizeof(kernel.hash)) {
        return error_set(SONDE_EINPUT, "kernel '%.64s': name or hash is too long", name);
    }
    memcpy(kernel.name, name, strlen(name));
    memcpy(kernel.hash, hash, strlen(hash));
    for (size_t i = 0; i < set->kernels.count; i++) {
        if (strcmp(set->kernels.data[i].name, name) == 0) {
            set->kernels.data[i] = kernel;
            return SONDE_OK;
        }
    }
    return vec_push(&set->kernels, kernel) < 0 ? error_memory() : SONDE_OK;
}

int traceset_add_kernel(struct traceset *set, const char *name, const char *ptx, size_t length)
{
    char hash[2 * SHA256_BYTES + 1];
    sha256_hex(hash, ptx, length);
    return traceset_add_kernel_hash(set, name, hash);
}

int traceset_add_note(struct traceset *set, const char *name, const char *text)
{
    struct trace_note note = {0};
    if (strlen(name) >= sizeof(note.name) || strlen(text) >= sizeof(note.text)) {
        return error_set(SONDE_EINPUT, "note '%.64s' is too long", name);
    }
    memcpy(note.name, name, strlen(name));
    memcpy(note.text, text, strlen(text));
    for (size_t i = 0; i < set->notes.count; i++) {
        if (strcmp(set->notes.data[i].name, name) == 0) {
            set->notes.data[i] = note;
            return SONDE_OK;
        }
    }
    return vec_push(&set->notes, note) < 0 ? error_memory() : SONDE_OK;
}

size_t traceset_kernel_count(const struct traceset *set)
{
    return set->kernels.count;
}

const struct trace_kernel *traceset_kernel_at(const struct traceset *set, size_t i)
{
    return &set->kernels.data[i];
}

size_t traceset_note_count(const struct traceset *set)
{
    return set->notes.count;
}

const struct trace_note *traceset_note_at(const struct traceset *set, size_t i)
{
    return &set->notes.data[i];
}

static int source_get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    char key[TRACE_KEY_MAX];
    trace_request_key(request, key);
    *out = traceset_find(ctx, key);
    return *out ? SONDE_OK : error_set(SONDE_ENOTRECORDED, "not recorded: %s", key);
}

struct trace_source traceset_source(const struct traceset *set)
{
    return (struct trace_source){.get = source_get, .ctx = (void *)set};
}
