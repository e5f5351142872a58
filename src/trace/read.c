/*
 * Reads a recording and trusts nothing in it: sizes are held against what is there before memory is
 * asked for, the decompressed payload grows with the data and never beyond its limit, names and
 * numbers pass the checks that requests and columns pass elsewhere. Messages tell the byte of
 * the file, or the trace and column, where the reading stopped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "trace/codec.h"
#include "trace/recording.h"
#include "trace/sha256.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/glue/json_glue.h"

uint64_t recording_get_u64(const unsigned char *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) {
        value |= (uint64_t)at[i] << 8 * i;
    }
    return value;
}

/* Where the reading stands: the rest of the binary part, and a name for messages. */
struct reader {
    const char *name;
    const unsigned char *at;
    size_t left;
};

static int member_text(const char **text, const json_t *object, const char *key, size_t limit)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value) || json_string_length(value) >= limit ||
        strlen(json_string_value(value)) != json_string_length(value)) {
        return error_set(SONDE_EINPUT, "'%s' is missing or is no text of at most %zu bytes", key,
                         limit - 1);
    }
    *text = json_string_value(value);
    return SONDE_OK;
}

static int member_number(uint64_t *number, const json_t *object, const char *key, uint64_t limit)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > limit) {
        return error_set(SONDE_EINPUT, "'%s' is missing or is no whole number up to %llu", key,
                         (unsigned long long)limit);
    }
    *number = (uint64_t)json_integer_value(value);
    return SONDE_OK;
}

static int member_choice(int *choice, const json_t *object, const char *key,
                         const char *const *names, int count)
{
    const char *text = "";
    int rc = member_text(&text, object, key, 40);
    if (rc < 0) {
        return rc;
    }
    for (*choice = 0; *choice < count; ++*choice) {
        if (strcmp(names[*choice], text) == 0) {
            return SONDE_OK;
        }
    }
    return error_set(SONDE_EINPUT, "'%s' is unknown: '%s'", key, text);
}

/* A text that was no UTF-8 is longer in the file, by up to three bytes a byte; it is cut again when
 * read. */
#define REPAIRED(member) (3 * sizeof(member))

/* The next block of the binary part, decoded into fresh memory. */
static int take_block(void **values, size_t *count, struct reader *reader, const json_t *entry,
                      size_t width)
{
    uint64_t number = 0;
    int delta = 0;
    int rc = member_number(&number, entry, "count", INT64_MAX);
    if (rc == 0) {
        rc = member_choice(&delta, entry, "coding", recording_coding_names, 2);
    }
    if (rc < 0) {
        return rc;
    }
    if (number > reader->left / width) {
        return error_set(SONDE_EINPUT, "needs %llu numbers of %zu bytes, %zu bytes are left",
                         (unsigned long long)number, width, reader->left);
    }
    *count = (size_t)number;
    *values = malloc(*count * width + 1);
    if (!*values) {
        return error_memory();
    }
    codec_decode(*values, reader->at, *count, width, delta);
    reader->at += *count * width;
    reader->left -= *count * width;
    return SONDE_OK;
}

static int take_column(struct trace *trace, struct reader *reader, const json_t *entry)
{
    const char *name = "";
    int type = 0;
    void *values = NULL;
    size_t count = 0;
    int rc = member_text(&name, entry, "name", sizeof(trace->columns[0].name));
    if (rc < 0) {
        return rc;
    }
    rc = member_choice(&type, entry, "type", recording_type_names, 3);
    if (rc == 0) {
        rc = take_block(&values, &count, reader, entry, trace_type_bytes((enum trace_type)type));
    }
    if (rc == 0) {
        rc = trace_add_column(trace, name, (enum trace_type)type, values, count);
    }
    free(values);
    return rc < 0 ? error_prefix(rc, "column '%s'", name) : SONDE_OK;
}

/* The ring's memory becomes the trace's; the caller clears the trace on failure. */
static int take_ring(struct trace *trace, struct reader *reader, const json_t *entry)
{
    void *values = NULL;
    size_t count = 0;
    int rc = take_block(&values, &count, reader, entry, 4);
    if (rc < 0) {
        return error_prefix(rc, "ring");
    }
    trace->request.ring = values;
    trace->request.ring_count = count;
    return SONDE_OK;
}

static int take_request(struct trace *trace, struct reader *reader, const json_t *entry)
{
    const char *probe = "", *key;
    json_t *value;
    int rc = member_text(&probe, entry, "probe", sizeof(trace->request.probe));
    if (rc < 0) {
        return rc;
    }
    trace_request_init(&trace->request, probe);
    json_t *params = json_object_get(entry, "params");
    if (!json_is_object(params)) {
        return error_set(SONDE_EINPUT, "'params' is missing");
    }
    json_object_foreach(params, key, value)
    {
        const char *text = "";
        rc = member_text(&text, params, key, sizeof(trace->request.params[0].text));
        if (rc == 0 && trace_request_set_text(&trace->request, key, text) < 0) {
            rc = error_prefix(SONDE_EINPUT, "'params'");
        }
        if (rc < 0) {
            return rc;
        }
    }
    const json_t *ring = json_object_get(entry, "ring");
    return ring ? take_ring(trace, reader, ring) : SONDE_OK;
}

static int take_status(struct trace *trace, const json_t *entry)
{
    const json_t *status = json_object_get(entry, "status");
    if (!status) {
        return SONDE_OK;
    }
    const char *reason = "";
    int rc = member_text(&reason, entry, "reason", REPAIRED(trace->reason));
    if (rc < 0) {
        return rc;
    }
    if (!json_is_integer(status) || json_integer_value(status) >= 0 ||
        json_integer_value(status) < SONDE_EINTERNAL) {
        return error_set(SONDE_EINPUT, "'status' is no error code");
    }
    trace->status = (int)json_integer_value(status);
    snprintf(trace->reason, sizeof(trace->reason), "%s", reason);
    return SONDE_OK;
}

static int take_trace(struct traceset *set, struct reader *reader, const json_t *entry)
{
    struct trace trace = {0};
    int rc = take_request(&trace, reader, entry);
    if (rc == 0) {
        rc = take_status(&trace, entry);
    }
    const json_t *columns = json_object_get(entry, "columns");
    if (rc == 0 && !json_is_array(columns)) {
        rc = error_set(SONDE_EINPUT, "'columns' is missing");
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(columns); i++) {
        rc = take_column(&trace, reader, json_array_get(columns, i));
    }
    if (rc == 0) {
        return traceset_add(set, &trace, NULL);
    }
    trace_clear(&trace);
    return rc;
}

static int take_device(struct trace_device *device, const json_t *root)
{
    const json_t *object = json_object_get(root, "device");
    if (!json_is_object(object)) {
        return error_set(SONDE_EINPUT, "'device' is missing");
    }
    const char *text = "";
    uint64_t number = 0;
    int rc = SONDE_OK;
#define TEXT(member)                                                                               \
    rc = rc < 0 ? rc : member_text(&text, object, #member, REPAIRED(device->member));              \
    if (rc == 0) {                                                                                 \
        snprintf(device->member, sizeof(device->member), "%s", text);                              \
    }
#define NUMBER(member)                                                                             \
    rc = rc < 0 ? rc                                                                               \
                : member_number(&number, object, #member,                                          \
                                sizeof(device->member) == 4 ? UINT32_MAX : INT64_MAX);             \
    device->member = number;
#define OPTIONAL(member)                                                                           \
    number = 0;                                                                                    \
    rc = rc < 0 || !json_object_get(object, #member)                                               \
             ? rc                                                                                  \
             : member_number(&number, object, #member, INT64_MAX);                                 \
    device->member = number;
    RECORDING_DEVICE_FIELDS(TEXT, NUMBER, OPTIONAL)
#undef TEXT
#undef NUMBER
#undef OPTIONAL
    return rc < 0 ? error_prefix(rc, "device") : SONDE_OK;
}

static int take_names(struct traceset *set, const json_t *root)
{
    json_t *kernels = json_object_get(root, "kernels"), *notes = json_object_get(root, "notes");
    const char *key, *text = "";
    json_t *value;
    if (!json_is_object(kernels) || !json_is_object(notes)) {
        return error_set(SONDE_EINPUT, "'kernels' or 'notes' is missing");
    }
    json_object_foreach(kernels, key, value)
    {
        int rc = member_text(&text, kernels, key, sizeof(((struct trace_kernel *)0)->hash));
        if (rc == 0) {
            rc = traceset_add_kernel_hash(set, key, text);
        }
        if (rc < 0) {
            return error_prefix(rc, "kernels");
        }
    }
    json_object_foreach(notes, key, value)
    {
        int rc = member_text(&text, notes, key, sizeof(((struct trace_note *)0)->text));
        if (rc == 0) {
            rc = traceset_add_note(set, key, text);
        }
        if (rc < 0) {
            return error_prefix(rc, "notes");
        }
    }
    return SONDE_OK;
}

static int take_index(struct traceset *set, struct reader *reader, const json_t *root)
{
    int rc = take_device(traceset_device(set), root);
    if (rc == 0) {
        rc = take_names(set, root);
    }
    const json_t *traces = json_object_get(root, "traces");
    if (rc == 0 && !json_is_array(traces)) {
        rc = error_set(SONDE_EINPUT, "'traces' is missing");
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(traces); i++) {
        rc = take_trace(set, reader, json_array_get(traces, i));
        if (rc < 0) {
            rc = error_prefix(rc, "trace %zu", i);
        }
    }
    if (rc == 0 && reader->left > 0) {
        rc = error_set(SONDE_EINPUT, "%zu bytes after the last column", reader->left);
    }
    return rc;
}

int recording_parse_payload(struct traceset **out, const char *name, const unsigned char *payload,
                            size_t size)
{
    *out = NULL;
    uint64_t index_bytes = size < 8 ? 0 : recording_get_u64(payload);
    if (size < 8 || index_bytes > size - 8 || index_bytes > RECORDING_INDEX_MAX) {
        return error_set(SONDE_EINPUT, "%s: the index does not fit the payload of %zu bytes", name,
                         size);
    }
    json_t *root = NULL;
    int rc = json_from_text(&root, (const char *)payload + 8, (size_t)index_bytes, name);
    if (rc < 0) {
        return rc;
    }
    struct traceset *set = NULL;
    struct reader reader = {name, payload + 8 + index_bytes, size - 8 - (size_t)index_bytes};
    rc = traceset_create(&set);
    if (rc == 0) {
        rc = take_index(set, &reader, root);
    }
    json_decref(root);
    if (rc < 0) {
        traceset_destroy(set);
        return error_prefix(rc, "%s", name);
    }
    *out = set;
    return SONDE_OK;
}

/* Decompresses piece by piece into memory that doubles as data come, so that a header's claim costs
 * nothing. */
static int decompress_into(unsigned char **payload, size_t *used, ZSTD_DStream *stream,
                           const unsigned char *frame, size_t frame_bytes, size_t payload_bytes)
{
    ZSTD_inBuffer in = {frame, frame_bytes, 0};
    size_t capacity = 0;
    for (size_t rest = 1; rest != 0;) {
        if (*used == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            capacity = capacity < payload_bytes + 1 ? capacity : payload_bytes + 1;
            unsigned char *grown = *used < capacity ? realloc(*payload, capacity) : NULL;
            if (!grown) {
                return *used < capacity
                           ? error_memory()
                           : error_set(SONDE_EINPUT, "the payload is longer than said");
            }
            *payload = grown;
        }
        ZSTD_outBuffer buffer = {*payload, capacity, *used};
        rest = ZSTD_decompressStream(stream, &buffer, &in);
        bool stuck = buffer.pos == *used && in.pos == in.size;
        *used = buffer.pos;
        if (ZSTD_isError(rest) || (stuck && rest != 0)) {
            return error_set(SONDE_EINPUT, "byte %zu: zstd: %s", RECORDING_HEADER_BYTES + in.pos,
                             ZSTD_isError(rest) ? ZSTD_getErrorName(rest) : "the frame has no end");
        }
    }
    if (in.pos != frame_bytes || *used != payload_bytes) {
        return error_set(SONDE_EINPUT, "byte %zu: the frame holds %zu bytes, said are %zu",
                         RECORDING_HEADER_BYTES + in.pos, *used, payload_bytes);
    }
    return SONDE_OK;
}

static int check_header(const unsigned char *bytes, size_t size)
{
    if (size < RECORDING_HEADER_BYTES) {
        return error_set(SONDE_EINPUT, "byte %zu: cut short, the header has %d bytes", size,
                         RECORDING_HEADER_BYTES);
    }
    if (memcmp(bytes, RECORDING_MAGIC, 8) != 0) {
        return error_set(SONDE_EINPUT, "byte 0: no recording of Sonde%s",
                         bytes[0] == '{' ? "; of a dissection's JSON nothing is inferred" : "");
    }
    uint64_t version = recording_get_u64(bytes + 8), payload_bytes = recording_get_u64(bytes + 16);
    uint64_t frame_bytes = recording_get_u64(bytes + 24);
    if (version != RECORDING_VERSION) {
        return error_set(SONDE_EINPUT, "byte 8: version %llu, this Sonde reads %d",
                         (unsigned long long)version, RECORDING_VERSION);
    }
    if (payload_bytes > RECORDING_PAYLOAD_MAX) {
        return error_set(SONDE_EINPUT, "byte 16: a payload of %llu bytes, the limit is %zu",
                         (unsigned long long)payload_bytes, RECORDING_PAYLOAD_MAX);
    }
    if (frame_bytes != size - RECORDING_HEADER_BYTES) {
        return error_set(SONDE_EINPUT, "byte %zu: %s, the header says %llu bytes of data", size,
                         frame_bytes > size - RECORDING_HEADER_BYTES ? "cut short" : "too long",
                         (unsigned long long)frame_bytes);
    }
    struct sha256 hash;
    unsigned char digest[SHA256_BYTES];
    sha256_start(&hash);
    sha256_add(&hash, bytes, RECORDING_HASHED_BYTES);
    sha256_add(&hash, bytes + RECORDING_HEADER_BYTES, (size_t)frame_bytes);
    sha256_end(&hash, digest);
    if (memcmp(digest, bytes + RECORDING_HASHED_BYTES, sizeof(digest)) != 0) {
        return error_set(SONDE_EINPUT, "byte %d: the checksum does not match, the file was changed",
                         RECORDING_HASHED_BYTES);
    }
    return SONDE_OK;
}

int traceset_parse(struct traceset **out, const char *name, const void *data, size_t size)
{
    *out = NULL;
    const unsigned char *bytes = data;
    int rc = check_header(bytes, size);
    if (rc < 0) {
        return error_prefix(rc, "%s", name);
    }
    unsigned char *payload = NULL;
    size_t used = 0;
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream) {
        return error_memory();
    }
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 27);
    rc = decompress_into(&payload, &used, stream, bytes + RECORDING_HEADER_BYTES,
                         size - RECORDING_HEADER_BYTES, (size_t)recording_get_u64(bytes + 16));
    ZSTD_freeDStream(stream);
    rc = rc < 0 ? error_prefix(rc, "%s", name) : recording_parse_payload(out, name, payload, used);
    free(payload);
    return rc;
}

int traceset_read(struct traceset **out, const char *path)
{
    *out = NULL;
    char *data;
    size_t size;
    int rc = file_read_all(&data, &size, path, RECORDING_FILE_MAX);
    if (rc < 0) {
        return rc;
    }
    rc = traceset_parse(out, path, data, size);
    free(data);
    return rc;
}
