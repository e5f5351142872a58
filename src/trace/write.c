/*
 * Writes a recording: index and columns are laid out in memory, compressed as one zstd frame, and
 * put into a file that appears whole or not at all. Equal sets give equal bytes (for one
 * version of zstd).
 */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "trace/codec.h"
#include "trace/recording.h"
#include "trace/sha256.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/glue/json_glue.h"
#include "util/container/strbuf.h"

/* Level 9 is where the size of measured recordings stops falling noticeably. */
enum { COMPRESSION_LEVEL = 9 };

const char *const recording_type_names[3] = {"u32", "u64", "f64"};
const char *const recording_coding_names[2] = {"planes", "delta-planes"};

void recording_put_u64(unsigned char *at, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        at[i] = (unsigned char)(value >> 8 * i);
    }
}

/* Describes a block of numbers in the index and appends it to the binary part. */
static int put_block(json_t *entry, struct strbuf *binary, const void *values, size_t count,
                     size_t width)
{
    if (count > RECORDING_PAYLOAD_MAX / width || binary->length > RECORDING_PAYLOAD_MAX) {
        return error_set(SONDE_EINPUT, "the recording is larger than %zu bytes",
                         RECORDING_PAYLOAD_MAX);
    }
    bool delta = codec_delta_pays(values, count, width);
    unsigned char *planes = malloc(count * width + 1);
    if (!planes) {
        return error_memory();
    }
    codec_encode(planes, values, count, width, delta);
    int rc = strbuf_append_n(binary, (const char *)planes, count * width);
    free(planes);
    if (rc == 0) {
        rc = json_put_u64(entry, "count", count);
    }
    return rc < 0 ? rc : json_put_string(entry, "coding", recording_coding_names[delta]);
}

static int put_columns(json_t *array, struct strbuf *binary, const struct trace *trace)
{
    for (size_t i = 0; i < trace->column_count; i++) {
        const struct trace_column *column = &trace->columns[i];
        json_t *entry = json_object();
        int rc = json_append(array, entry);
        if (rc == 0) {
            rc = json_put_string(entry, "name", column->name);
        }
        if (rc == 0) {
            rc = json_put_string(entry, "type", recording_type_names[column->type]);
        }
        if (rc == 0) {
            rc = put_block(entry, binary, column->data, column->count,
                           trace_type_bytes(column->type));
        }
        if (rc < 0) {
            return rc;
        }
    }
    return SONDE_OK;
}

static int put_request(json_t *entry, struct strbuf *binary, const struct trace_request *request)
{
    int rc = json_put_string(entry, "probe", request->probe);
    json_t *params = rc < 0 ? NULL : json_put_object(entry, "params");
    if (!params) {
        return rc < 0 ? rc : error_memory();
    }
    for (size_t i = 0; i < request->param_count && rc == 0; i++) {
        rc = json_put_string(params, request->params[i].name, request->params[i].text);
    }
    if (rc < 0 || !request->ring) {
        return rc;
    }
    json_t *ring = json_put_object(entry, "ring");
    return ring ? put_block(ring, binary, request->ring, request->ring_count, 4) : error_memory();
}

static int put_trace(json_t *array, struct strbuf *binary, const struct trace *trace)
{
    json_t *entry = json_object();
    int rc = json_append(array, entry);
    if (rc == 0) {
        rc = put_request(entry, binary, &trace->request);
    }
    if (rc == 0 && trace->status != 0) {
        rc = json_put_i64(entry, "status", trace->status);
        if (rc == 0) {
            rc = json_put_string(entry, "reason", trace->reason);
        }
    }
    json_t *columns = rc < 0 ? NULL : json_put_array(entry, "columns");
    if (!columns) {
        return rc < 0 ? rc : error_memory();
    }
    return put_columns(columns, binary, trace);
}

static int put_device(json_t *root, const struct trace_device *device)
{
    json_t *object = json_put_object(root, "device");
    int rc = object ? SONDE_OK : error_memory();
#define TEXT(member) rc = rc < 0 ? rc : json_put_string(object, #member, device->member);
#define NUMBER(member) rc = rc < 0 ? rc : json_put_u64(object, #member, device->member);
#define OPTIONAL(member)                                                                           \
    rc = rc < 0 || !device->member ? rc : json_put_u64(object, #member, device->member);
    RECORDING_DEVICE_FIELDS(TEXT, NUMBER, OPTIONAL)
#undef TEXT
#undef NUMBER
#undef OPTIONAL
    return rc;
}

static int put_names(json_t *root, const struct traceset *set)
{
    json_t *kernels = json_put_object(root, "kernels"), *notes = json_put_object(root, "notes");
    int rc = kernels && notes ? SONDE_OK : error_memory();
    for (size_t i = 0; i < traceset_kernel_count(set) && rc == 0; i++) {
        const struct trace_kernel *kernel = traceset_kernel_at(set, i);
        rc = json_put_string(kernels, kernel->name, kernel->hash);
    }
    for (size_t i = 0; i < traceset_note_count(set) && rc == 0; i++) {
        const struct trace_note *note = traceset_note_at(set, i);
        rc = json_put_string(notes, note->name, note->text);
    }
    return rc;
}

static int put_index(json_t *root, struct strbuf *binary, const struct traceset *set)
{
    int rc = put_device(root, traceset_device_info(set));
    if (rc == 0) {
        rc = put_names(root, set);
    }
    json_t *traces = rc < 0 ? NULL : json_put_array(root, "traces");
    if (!traces) {
        return rc < 0 ? rc : error_memory();
    }
    for (size_t i = 0; i < traceset_count(set) && rc == 0; i++) {
        rc = put_trace(traces, binary, traceset_at(set, i));
    }
    return rc;
}

/* The index as text (free() it), while the blocks that it describes gather in `binary`. */
static int build_index(char **text, struct strbuf *binary, const struct traceset *set)
{
    json_t *root = json_object();
    if (!root) {
        return error_memory();
    }
    int rc = put_index(root, binary, set);
    if (rc == 0) {
        *text = json_dumps(root, JSON_COMPACT);
        rc = *text ? SONDE_OK : error_memory();
    }
    json_decref(root);
    return rc;
}

static int join(struct strbuf *payload, const char *text, const struct strbuf *binary)
{
    unsigned char length[8];
    size_t index_bytes = strlen(text);
    if (index_bytes > RECORDING_INDEX_MAX ||
        8 + index_bytes + binary->length > RECORDING_PAYLOAD_MAX) {
        return error_set(SONDE_EINPUT, "the recording is larger than readers take: %zu + %zu bytes",
                         index_bytes, binary->length);
    }
    recording_put_u64(length, index_bytes);
    strbuf_append_n(payload, (const char *)length, sizeof(length));
    strbuf_append(payload, text);
    strbuf_append_n(payload, strbuf_text(binary), binary->length);
    return strbuf_failed(payload) ? error_memory() : SONDE_OK;
}

/* index bytes, index, binary part */
static int build_payload(struct strbuf *payload, const struct traceset *set)
{
    struct strbuf binary = {0};
    char *text = NULL;
    int rc = build_index(&text, &binary, set);
    if (text) {
        rc = join(payload, text, &binary);
    }
    free(text);
    strbuf_free(&binary);
    return rc;
}

static int compress(unsigned char **frame, size_t *frame_bytes, const struct strbuf *payload)
{
    size_t bound = ZSTD_compressBound(payload->length);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    *frame = malloc(bound);
    int rc = context && *frame ? SONDE_OK : error_memory();
    if (rc == 0) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        *frame_bytes = ZSTD_compress2(context, *frame, bound, payload->text, payload->length);
        if (ZSTD_isError(*frame_bytes)) {
            rc = error_set(SONDE_EINTERNAL, "zstd: %s", ZSTD_getErrorName(*frame_bytes));
        }
    }
    ZSTD_freeCCtx(context);
    return rc;
}

static void fill_header(unsigned char header[RECORDING_HEADER_BYTES], size_t payload_bytes,
                        const unsigned char *frame, size_t frame_bytes)
{
    static const char magic[8] = RECORDING_MAGIC;
    memcpy(header, magic, sizeof(magic));
    recording_put_u64(header + 8, RECORDING_VERSION);
    recording_put_u64(header + 16, payload_bytes);
    recording_put_u64(header + 24, frame_bytes);
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, header, RECORDING_HASHED_BYTES);
    sha256_add(&hash, frame, frame_bytes);
    sha256_end(&hash, header + RECORDING_HASHED_BYTES);
}

int traceset_write(const struct traceset *set, const char *path)
{
    struct strbuf payload = {0};
    unsigned char *frame = NULL, header[RECORDING_HEADER_BYTES];
    size_t frame_bytes = 0;
    struct file_writer writer;
    int rc = build_payload(&payload, set);
    if (rc == 0) {
        rc = compress(&frame, &frame_bytes, &payload);
    }
    if (rc == 0) {
        fill_header(header, payload.length, frame, frame_bytes);
        rc = file_writer_open(&writer, path);
    }
    if (rc == 0) {
        rc = file_writer_write(&writer, header, sizeof(header));
        if (rc == 0) {
            rc = file_writer_write(&writer, frame, frame_bytes);
        }
        if (rc == 0) {
            rc = file_writer_commit(&writer);
        } else {
            file_writer_abandon(&writer);
        }
    }
    free(frame);
    strbuf_free(&payload);
    return rc;
}
