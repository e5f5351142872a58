/*
 * Building, writing and reading JSON over jansson. jansson prints a real with a fixed number of
 * digits, so 0.1 would read 0.10000000000000001; the writer here walks the tree itself, prints the
 * shortest form that reads back, and leaves the escaping of strings to jansson.
 */
#include "util/glue/json_glue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/fileio.h"
#include "util/container/strbuf.h"
#include "util/text/plain.h"

#define JSON_DEPTH_MAX 64

/* As the thread's error: whether it has built less than it was to, of a document that is still to
 * be written. A builder that goes on after a member was lost need not say so. */
static _Thread_local bool is_member_lost;

static int lost(void)
{
    is_member_lost = true;
    return error_memory();
}

int json_put(json_t *object, const char *key, json_t *value)
{
    if (!object || !value) {
        json_decref(value);
        return lost();
    }
    return json_object_set_new(object, key, value) < 0 ? lost() : SONDE_OK;
}

int json_append(json_t *array, json_t *value)
{
    if (!array || !value) {
        json_decref(value);
        return lost();
    }
    return json_array_append_new(array, value) < 0 ? lost() : SONDE_OK;
}

int json_check_whole(void)
{
    bool was_lost = is_member_lost;
    is_member_lost = false;
    return was_lost ? error_memory() : SONDE_OK;
}

double json_number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

json_t *json_find_id(const json_t *array, const char *id)
{
    size_t i;
    json_t *element;
    json_array_foreach(array, i, element)
    {
        const char *its = json_string_value(json_object_get(element, "id"));
        if (its && strcmp(its, id) == 0) {
            return element;
        }
    }
    return NULL;
}

/*
 * The length of the valid UTF-8 sequence at `p`, 0 when there is none. Overlong forms, surrogates
 * and values beyond U+10FFFF are not valid (RFC 3629, section 4).
 */
static size_t utf8_length(const unsigned char *p)
{
    if (p[0] < 0x80) {
        return 1;
    }
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90)) {
        return 0;
    }
    return length;
}

/* A JSON string in which every byte that is no UTF-8 became U+FFFD. NULL when memory is out. */
static json_t *string_repaired(const char *text)
{
    struct strbuf buf = {0};
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        size_t length = utf8_length(p);
        if (length > 0) {
            strbuf_append_n(&buf, (const char *)p, length);
        } else {
            strbuf_append(&buf, "\xef\xbf\xbd");
            length = 1;
        }
        p += length;
    }
    json_t *value = strbuf_failed(&buf) ? NULL : json_string(strbuf_text(&buf));
    strbuf_free(&buf);
    return value;
}

int json_put_string(json_t *object, const char *key, const char *text)
{
    return json_put(object, key, text ? string_repaired(text) : json_null());
}

int json_put_u64(json_t *object, const char *key, uint64_t value)
{
    if (value > (uint64_t)INT64_MAX) {
        return error_set(SONDE_EINPUT, "%s: %llu is beyond what JSON integers hold here", key,
                         (unsigned long long)value);
    }
    return json_put(object, key, json_integer((json_int_t)value));
}

int json_put_i64(json_t *object, const char *key, int64_t value)
{
    return json_put(object, key, json_integer((json_int_t)value));
}

int json_put_double(json_t *object, const char *key, double value)
{
    if (!isfinite(value)) {
        return error_set(SONDE_EINPUT, "%s: JSON holds no infinity and no NaN", key);
    }
    return json_put(object, key, json_real(value));
}

int json_put_bool(json_t *object, const char *key, bool value)
{
    return json_put(object, key, json_boolean(value));
}

int json_put_null(json_t *object, const char *key)
{
    return json_put(object, key, json_null());
}

json_t *json_put_object(json_t *object, const char *key)
{
    json_t *child = json_object();
    return json_put(object, key, child) < 0 ? NULL : child;
}

json_t *json_put_array(json_t *object, const char *key)
{
    json_t *child = json_array();
    return json_put(object, key, child) < 0 ? NULL : child;
}

/* Jansson escapes strings well; a string alone is a document to it. */
static void write_string(struct strbuf *buf, const char *text)
{
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (quoted) {
        strbuf_append(buf, quoted);
    } else {
        buf->failed = true;
    }
    free(quoted);
    json_decref(value);
}

/* The shortest decimal that reads back as the same double; always with a point or an exponent. */
static void write_real(struct strbuf *buf, double value)
{
    char text[40];
    locale_t before = plain_begin();
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    plain_end(before);
    strbuf_append(buf, text);
    if (!strpbrk(text, ".e")) {
        strbuf_append(buf, ".0");
    }
}

static void write_value(struct strbuf *buf, const json_t *value, int depth);

static void write_newline(struct strbuf *buf, int depth)
{
    strbuf_printf(buf, "\n%*s", 2 * depth, "");
}

/* An array of plain values stays on one line: sweeps have thousands of numbers. */
static bool array_is_flat(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        if (json_is_array(item) || json_is_object(item)) {
            return false;
        }
    }
    return true;
}

static void write_array(struct strbuf *buf, const json_t *array, int depth)
{
    bool flat = array_is_flat(array);
    strbuf_append(buf, "[");
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0) {
            strbuf_append(buf, flat ? ", " : ",");
        }
        if (!flat) {
            write_newline(buf, depth + 1);
        }
        write_value(buf, json_array_get(array, i), depth + 1);
    }
    if (!flat) {
        write_newline(buf, depth);
    }
    strbuf_append(buf, "]");
}

static void write_object(struct strbuf *buf, const json_t *object, int depth)
{
    /* jansson's iteration takes no const object, but changes nothing. */
    json_t *iterated = (json_t *)(uintptr_t)object;
    bool first = true;
    strbuf_append(buf, "{");
    for (void *it = json_object_iter(iterated); it; it = json_object_iter_next(iterated, it)) {
        strbuf_append(buf, first ? "" : ",");
        write_newline(buf, depth + 1);
        write_string(buf, json_object_iter_key(it));
        strbuf_append(buf, ": ");
        write_value(buf, json_object_iter_value(it), depth + 1);
        first = false;
    }
    if (!first) {
        write_newline(buf, depth);
    }
    strbuf_append(buf, "}");
}

static void write_value(struct strbuf *buf, const json_t *value, int depth)
{
    if (depth > JSON_DEPTH_MAX) {
        buf->failed = true;
        return;
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(buf, value, depth);
        break;
    case JSON_ARRAY:
        write_array(buf, value, depth);
        break;
    case JSON_STRING:
        write_string(buf, json_string_value(value));
        break;
    case JSON_INTEGER:
        strbuf_printf(buf, "%lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        write_real(buf, json_real_value(value));
        break;
    case JSON_TRUE:
        strbuf_append(buf, "true");
        break;
    case JSON_FALSE:
        strbuf_append(buf, "false");
        break;
    case JSON_NULL:
        strbuf_append(buf, "null");
        break;
    }
}

int json_to_text(char **text, const json_t *value)
{
    struct strbuf buf = {0};
    *text = NULL;
    if (!value) { /* there was no memory for it */
        return error_memory();
    }
    write_value(&buf, value, 0);
    strbuf_append(&buf, "\n");
    *text = strbuf_take(&buf);
    return *text ? SONDE_OK : error_memory();
}

int json_to_file(const char *path, const json_t *value)
{
    char *text;
    struct file_writer writer;
    int rc = json_to_text(&text, value);
    if (!text) {
        return rc;
    }
    rc = file_writer_open(&writer, path);
    if (rc == SONDE_OK) {
        rc = file_writer_write(&writer, text, strlen(text));
        if (rc == SONDE_OK) {
            rc = file_writer_commit(&writer);
        } else {
            file_writer_abandon(&writer);
        }
    }
    free(text);
    return rc;
}

int json_from_text(json_t **value, const char *text, size_t length, const char *name)
{
    json_error_t error;
    *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!*value) {
        if (json_error_code(&error) == json_error_out_of_memory) {
            return error_memory();
        }
        return error_at(SONDE_EINPUT, name, error.line, error.column, "%s", error.text);
    }
    return SONDE_OK;
}

int json_from_file(json_t **value, const char *path, size_t limit_bytes)
{
    char *text;
    size_t length;
    int rc = file_read_all(&text, &length, path, limit_bytes);
    if (rc < 0) {
        return rc;
    }
    rc = json_from_text(value, text, length, strcmp(path, "-") == 0 ? "standard input" : path);
    free(text);
    return rc;
}
