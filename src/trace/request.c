/*
 * Requests and their canonical text. A ring enters the text as its length and the 64-bit FNV-1a
 * hash of its offsets (Fowler, Noll, Vo; draft-eastlake-fnv): enough to tell the rings of one
 * recording apart, no defence against forgery.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"
#include "util/error.h"

void trace_request_init(struct trace_request *request, const char *probe)
{
    *request = (struct trace_request){0};
    snprintf(request->probe, sizeof(request->probe), "%s", probe);
}

static bool name_is_good(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return name[length] == '\0' && length > 0 && length < sizeof(((struct trace_param *)0)->name) &&
           islower((unsigned char)name[0]) && strcmp(name, "ring") != 0;
}

static bool text_is_good(const char *text)
{
    size_t length = 0;
    for (; text[length]; length++) {
        if (!isgraph((unsigned char)text[length]) || text[length] == '=') {
            return false;
        }
    }
    return length > 0 && length < sizeof(((struct trace_param *)0)->text);
}

static struct trace_param *param_find(const struct trace_request *request, const char *name)
{
    for (size_t i = 0; i < request->param_count; i++) {
        if (strcmp(request->params[i].name, name) == 0) {
            return (struct trace_param *)&request->params[i];
        }
    }
    return NULL;
}

int trace_request_set_text(struct trace_request *request, const char *name, const char *text)
{
    if (!name_is_good(name)) {
        return error_set(SONDE_EUSAGE, "'%.40s' is no name of a parameter", name);
    }
    if (!text_is_good(text)) {
        return error_set(SONDE_EUSAGE, "parameter %s: bad value '%.60s'", name, text);
    }
    struct trace_param *param = param_find(request, name);
    if (!param) {
        if (request->param_count == TRACE_MAX_PARAMS) {
            return error_set(SONDE_EUSAGE, "parameter %s: a request has at most %d", name,
                             TRACE_MAX_PARAMS);
        }
        param = &request->params[request->param_count++];
    }
    snprintf(param->name, sizeof(param->name), "%s", name);
    snprintf(param->text, sizeof(param->text), "%s", text);
    return SONDE_OK;
}

int trace_request_set_u64(struct trace_request *request, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return trace_request_set_text(request, name, text);
}

const char *trace_request_text(const struct trace_request *request, const char *name)
{
    const struct trace_param *param = param_find(request, name);
    return param ? param->text : NULL;
}

bool trace_request_u64(const struct trace_request *request, const char *name, uint64_t *value)
{
    const char *text = trace_request_text(request, name);
    if (!text || !*text) {
        return false;
    }
    uint64_t number = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        uint64_t digit = (uint64_t)(*text - '0');
        if (number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *value = number;
    return true;
}

static uint64_t ring_hash(const uint32_t *ring, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) {
        for (int shift = 0; shift < 32; shift += 8) {
            hash = (hash ^ ((ring[i] >> shift) & 0xff)) * UINT64_C(0x100000001b3);
        }
    }
    return hash;
}

static int param_compare(const void *a, const void *b)
{
    return strcmp(((const struct trace_param *)a)->name, ((const struct trace_param *)b)->name);
}

void trace_request_key(const struct trace_request *request, char key[TRACE_KEY_MAX])
{
    struct trace_param sorted[TRACE_MAX_PARAMS];
    memcpy(sorted, request->params, sizeof(sorted));
    qsort(sorted, request->param_count, sizeof(sorted[0]), param_compare);
    size_t used = (size_t)snprintf(key, TRACE_KEY_MAX, "%s", request->probe);
    for (size_t i = 0; i < request->param_count; i++) {
        used += (size_t)snprintf(key + used, TRACE_KEY_MAX - used, " %s=%s", sorted[i].name,
                                 sorted[i].text);
    }
    if (request->ring) {
        snprintf(key + used, TRACE_KEY_MAX - used, " ring=%zu:%016" PRIx64, request->ring_count,
                 ring_hash(request->ring, request->ring_count));
    }
}
