/*
 * Arguments from their specifications: scalars, and buffers from files.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/exec/spec.h"
#include "api/exec/elements.h"
#include "api/handles.h"
#include "sonde/sonde.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/text/units.h"

#define BUFFER_LIMIT_BYTES ((size_t)4 << 30)
#define KIND_MAX 10

static int parse_value(struct exec_arg *arg, const char *text)
{
    arg->bytes = isa_type_info(arg->type)->bytes;
    arg->data = calloc(1, ELEMENT_BYTES_MAX);
    if (!arg->data) {
        return error_memory();
    }
    const char *wrong = element_parse(arg->data, arg->type, text);
    return wrong ? bad_argument(arg->spec, wrong) : 0;
}

static int parse_size(struct exec_arg *arg, const char *text)
{
    char *end;
    errno = 0;
    arg->bytes = strtoull(text, &end, 0);
    if (end != text && !*end && !isdigit((unsigned char)*text)) {
        return bad_argument(arg->spec, "not a number of bytes");
    }
    if (end == text || *end || errno) {
        int rc = units_parse_u64(&arg->bytes, text, UNIT_BYTES);
        if (rc < 0) {
            return error_prefix(SONDE_EUSAGE, "--arg %s", arg->spec);
        }
    }
    return arg->bytes > 0 ? 0 : bad_argument(arg->spec, "the buffer would be empty");
}

static int parse_file(struct exec_arg *arg, const char *path)
{
    char *data;
    size_t size;
    int rc = file_read_all(&data, &size, path, BUFFER_LIMIT_BYTES);
    if (rc < 0) {
        return api_read_result(rc);
    }
    arg->data = (unsigned char *)data;
    arg->bytes = size;
    return size > 0 ? 0 : bad_argument(arg->spec, "the file is empty");
}

static int parse_out(struct exec_arg *arg, const char *rest)
{
    const char *colon = strrchr(rest, ':');
    if (!colon || colon == rest) {
        return bad_argument(arg->spec, "expected out:PATH:BYTES");
    }
    int rc = parse_size(arg, colon + 1);
    if (rc < 0) {
        return rc;
    }
    arg->out_path = strndup(rest, (size_t)(colon - rest));
    return arg->out_path ? 0 : error_memory();
}

static int parse_inout(struct exec_arg *arg, const char *path)
{
    arg->out_path = strdup(path);
    return arg->out_path ? parse_file(arg, path) : error_memory();
}

static int parse_same(struct exec_arg *arg, const char *rest)
{
    arg->form = ARG_SAME;
    arg->same = rest;
    return *rest ? 0 : bad_argument(arg->spec, "expected same:NAME or same:NUMBER");
}

static int parse_kind(struct exec_arg *arg, const char *kind, const char *rest)
{
    static const struct {
        const char *name;
        int (*parse)(struct exec_arg *arg, const char *rest);
    } kinds[] = {{"zero", parse_size},
                 {"file", parse_file},
                 {"out", parse_out},
                 {"inout", parse_inout},
                 {"same", parse_same}};
    if (element_type_find(&arg->type, kind, strlen(kind))) {
        arg->form = ARG_VALUE;
        return parse_value(arg, rest);
    }
    arg->form = ARG_BUFFER;
    arg->type = TYPE_b8;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kind, kinds[i].name) == 0) {
            return kinds[i].parse(arg, rest);
        }
    }
    if (exec_fill_is(kind)) {
        return exec_fill_parse(arg, kind, rest);
    }
    if (strcmp(kind, "hex") == 0 || strcmp(kind, "bytes") == 0) {
        return exec_bytes_parse(arg, kind, rest);
    }
    if (strcmp(kind, "texture") == 0 || strcmp(kind, "surface") == 0) {
        return exec_image_parse(arg, kind, rest);
    }
    return bad_argument(arg->spec, "there is no such kind; sonde exec --help lists them");
}

/* The length of the name that `text` begins with: a letter or _, then also digits. */
static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalpha((unsigned char)text[length]) || text[length] == '_' ||
           (length > 0 && isdigit((unsigned char)text[length]))) {
        length++;
    }
    return length;
}

int exec_arg_parse(struct exec_arg *arg, const char *text)
{
    *arg = (struct exec_arg){.spec = text};
    size_t named = name_length(text);
    if (named > 0 && text[named] == '=') {
        if (named >= sizeof(arg->name)) {
            return bad_argument(text, "the name is too long");
        }
        memcpy(arg->name, text, named);
        arg->spec = text + named + 1;
    }
    const char *colon = strchr(arg->spec, ':');
    char kind[KIND_MAX];
    if (!colon || (size_t)(colon - arg->spec) >= sizeof(kind)) {
        return bad_argument(text, "expected KIND:VALUE");
    }
    memcpy(kind, arg->spec, (size_t)(colon - arg->spec));
    kind[colon - arg->spec] = '\0';
    int rc = parse_kind(arg, kind, colon + 1);
    if (rc == 0 && arg->name[0] && arg->form != ARG_BUFFER) {
        rc = bad_argument(text, "only buffers have names");
    }
    if (rc < 0) {
        exec_arg_free(arg);
    }
    return rc;
}

void exec_arg_free(struct exec_arg *arg)
{
    free(arg->data);
    free(arg->out_path);
    *arg = (struct exec_arg){0};
}

int exec_print_parse(struct exec_print *print, const char *text)
{
    *print = (struct exec_print){.type = TYPE_b8};
    size_t length = strcspn(text, ":");
    if (length == 0 || length >= sizeof(print->name)) {
        return error_set(SONDE_EUSAGE, "--print %s: expected NAME[:TYPE[:COUNT]]", text);
    }
    memcpy(print->name, text, length);
    if (text[length] == '\0') {
        return 0;
    }
    const char *type = text + length + 1;
    length = strcspn(type, ":");
    if (!element_type_find(&print->type, type, length)) {
        return error_set(SONDE_EUSAGE, "--print %s: '%.*s' is no type", text, (int)length, type);
    }
    print->typed = true;
    if (type[length] == '\0') {
        return 0;
    }
    const char *wrong = element_parse(&print->count, TYPE_u64, type + length + 1);
    wrong = wrong || print->count > 0 ? wrong : "nothing would be printed";
    return wrong ? error_set(SONDE_EUSAGE, "--print %s: %s", text, wrong) : 0;
}
