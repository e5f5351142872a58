/*
 * The parameter table, and scalar values between a model and their written form. Ranges are parsed
 * from the table each time: a model has some two hundred values, and a second copy of the
 * numbers would be one more thing to keep true.
 */
#include "model/param.h"
#include "model/read.h"

#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/text/printable.h"
#include "util/container/strbuf.h"
#include "util/text/suggest.h"

#define ENUM_BEGIN(table) static const struct param_word words_##table[] = {
#define ENUM_WORD(value, word, doc) {(int)(value), word, doc},
#define ENUM_END                                                                                   \
    {                                                                                              \
        0, NULL, NULL                                                                              \
    }                                                                                              \
    }                                                                                              \
    ;
#include "model/enums.def"
#undef ENUM_BEGIN
#undef ENUM_WORD
#undef ENUM_END

/* A member's offset; it does not compile when the member's size is not what the row's macro stores.
 */
#define MEMBER(field) (((struct model *)0)->field)
#define OFFSET(field, bytes)                                                                       \
    .offset = offsetof(struct model, field) +                                                      \
              0 * sizeof(char[sizeof(MEMBER(field)) == (bytes) ? 1 : -1]),                         \
    .size = (bytes)

static const struct param params[] = {
#define P_QUANTITY(path_, kind_, bytes, field, unit_, def_, min_, max_, doc_)                      \
    {.path = path_,                                                                                \
     .kind = kind_,                                                                                \
     .unit = UNIT_##unit_,                                                                         \
     OFFSET(field, bytes),                                                                         \
     .def = def_,                                                                                  \
     .min = min_,                                                                                  \
     .max = max_,                                                                                  \
     .doc = doc_},
#define P_U32(path_, field, unit_, def_, min_, max_, doc_)                                         \
    P_QUANTITY(path_, PARAM_U32, sizeof(uint32_t), field, unit_, def_, min_, max_, doc_)
#define P_U64(path_, field, unit_, def_, min_, max_, doc_)                                         \
    P_QUANTITY(path_, PARAM_U64, sizeof(uint64_t), field, unit_, def_, min_, max_, doc_)
#define P_CLOCK(path_, field, def_, min_, max_, doc_)                                              \
    P_QUANTITY(path_, PARAM_CLOCK, sizeof(uint64_t), field, HZ, def_, min_, max_, doc_)
#define P_BOOL(path_, field, def_, doc_)                                                           \
    {.path = path_, .kind = PARAM_BOOL, OFFSET(field, sizeof(bool)), .def = def_, .doc = doc_},
#define P_ENUM(path_, field, table, def_, doc_)                                                    \
    {.path = path_,                                                                                \
     .kind = PARAM_ENUM,                                                                           \
     .words = words_##table,                                                                       \
     OFFSET(field, sizeof(int)),                                                                   \
     .def = def_,                                                                                  \
     .doc = doc_},
#define P_TEXT(path_, field, def_, doc_)                                                           \
    {.path = path_,                                                                                \
     .kind = PARAM_TEXT,                                                                           \
     OFFSET(field, sizeof(MEMBER(field))),                                                         \
     .def = def_,                                                                                  \
     .doc = doc_},
#define P_LIST(path_, field, list_, doc_)                                                          \
    {.path = path_,                                                                                \
     .kind = PARAM_LIST,                                                                           \
     .list = LIST_##list_,                                                                         \
     OFFSET(field, sizeof(MEMBER(field))),                                                         \
     .doc = doc_},
#include "model/param.def"
};

#define PARAM_COUNT (sizeof(params) / sizeof(params[0]))

_Static_assert(PARAM_COUNT <= PARAMS_MAX, "files keep a place for each parameter");

size_t param_count(void)
{
    return PARAM_COUNT;
}

const struct param *param_at(size_t i)
{
    return &params[i];
}

size_t param_index(const struct param *param)
{
    return (size_t)(param - params);
}

const struct param *param_find(const char *path)
{
    for (size_t i = 0; i < PARAM_COUNT; i++) {
        if (strcmp(params[i].path, path) == 0) {
            return &params[i];
        }
    }
    return NULL;
}

static void store(struct model *model, const struct param *param, uint64_t value)
{
    char *field = (char *)model + param->offset;
    if (param->size == sizeof(uint32_t)) {
        uint32_t narrow = (uint32_t)value;
        memcpy(field, &narrow, sizeof(narrow));
    } else {
        memcpy(field, &value, sizeof(value));
    }
}

static uint64_t fetch(const struct model *model, const struct param *param)
{
    const char *field = (const char *)model + param->offset;
    if (param->size == sizeof(uint32_t)) {
        uint32_t narrow;
        memcpy(&narrow, field, sizeof(narrow));
        return narrow;
    }
    uint64_t value;
    memcpy(&value, field, sizeof(value));
    return value;
}

static int set_quantity(struct model *model, const struct param *param, const char *text)
{
    uint64_t value, min, max;
    if (units_parse_u64(&min, param->min, param->unit) < 0 ||
        units_parse_u64(&max, param->max, param->unit) < 0) {
        return error_prefix(SONDE_EINTERNAL, "range of %s", param->path);
    }
    if (units_parse_u64(&value, text, param->unit) < 0) {
        return SONDE_EINPUT;
    }
    if (value < min || value > max) {
        return error_set(SONDE_EINPUT, "'%.60s' is out of range: %s to %s", text, param->min,
                         param->max);
    }
    store(model, param, value);
    return SONDE_OK;
}

/* A picosecond count is the whole truth about a clock; frequencies are rounded to it. */
static uint64_t period_of_hz(uint64_t hz)
{
    return (UINT64_C(1000000000000) + hz / 2) / hz;
}

static int set_clock(struct model *model, const struct param *param, const char *text)
{
    uint64_t value, slowest, fastest;
    if (units_parse_u64(&slowest, param->min, UNIT_HZ) < 0 ||
        units_parse_u64(&fastest, param->max, UNIT_HZ) < 0) {
        return error_prefix(SONDE_EINTERNAL, "range of %s", param->path);
    }
    if (units_parse_u64(&value, text, UNIT_PS) < 0) {
        if (units_parse_u64(&value, text, UNIT_HZ) < 0) {
            return SONDE_EINPUT;
        }
        value = value ? period_of_hz(value) : UINT64_MAX;
    }
    if (value < period_of_hz(fastest) || value > period_of_hz(slowest)) {
        return error_set(SONDE_EINPUT, "'%.60s' is out of range: %s to %s", text, param->min,
                         param->max);
    }
    store(model, param, value);
    return SONDE_OK;
}

static int set_word(struct model *model, const struct param *param, const char *text)
{
    struct suggest suggest = suggest_begin(text);
    for (const struct param_word *word = param->words; word->word; word++) {
        if (strcmp(word->word, text) == 0) {
            store(model, param, (uint64_t)word->value);
            return SONDE_OK;
        }
        suggest_offer(&suggest, word->word);
    }
    struct strbuf list = {0};
    for (const struct param_word *word = param->words; word->word; word++) {
        strbuf_printf(&list, "%s%s", list.length ? ", " : "", word->word);
    }
    const char *near = suggest_best(&suggest);
    error_set(SONDE_EINPUT, "'%.60s' is not one of %s%s%s%s", text, strbuf_text(&list),
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    strbuf_free(&list);
    return SONDE_EINPUT;
}

static int set_bool(struct model *model, const struct param *param, const char *text)
{
    bool value = strcmp(text, "true") == 0;
    if (!value && strcmp(text, "false") != 0) {
        return error_set(SONDE_EINPUT, "'%.60s' is neither true nor false", text);
    }
    memcpy((char *)model + param->offset, &value, sizeof(value));
    return SONDE_OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Text is one line: runs of white space become one space, those at the ends go. */
static int set_text(struct model *model, const struct param *param, const char *text)
{
    char *field = (char *)model + param->offset;
    size_t length = 0;
    char line[1024] = "";
    for (const char *p = text; *p;) {
        if (is_space(*p)) {
            p++;
            continue;
        }
        size_t bytes = printable_bytes(p);
        bool gap = length > 0 && p > text && is_space(p[-1]);
        if (bytes == 0) {
            return error_set(SONDE_EINPUT, "the text holds a character that is not printable");
        }
        if (length + gap + bytes >= param->size) {
            return error_set(SONDE_EINPUT, "the text is longer than %zu bytes", param->size - 1);
        }
        if (gap) {
            line[length++] = ' ';
        }
        memcpy(line + length, p, bytes);
        length += bytes;
        p += bytes;
    }
    memset(field, 0, param->size);
    memcpy(field, line, length);
    return SONDE_OK;
}

int param_set(struct model *model, const struct param *param, const char *text)
{
    switch (param->kind) {
    case PARAM_U32:
    case PARAM_U64:
        return set_quantity(model, param, text);
    case PARAM_CLOCK:
        return set_clock(model, param, text);
    case PARAM_BOOL:
        return set_bool(model, param, text);
    case PARAM_ENUM:
        return set_word(model, param, text);
    case PARAM_TEXT:
        return set_text(model, param, text);
    case PARAM_LIST:
        break;
    }
    return error_set(SONDE_EINTERNAL, "%s is a list", param->path);
}

int param_set_defaults(struct model *model)
{
    for (size_t i = 0; i < PARAM_COUNT; i++) {
        if (params[i].kind == PARAM_LIST) {
            list_clear(model, &params[i]);
            continue;
        }
        int rc = param_set(model, &params[i], params[i].def);
        if (rc < 0) {
            return error_prefix(SONDE_EINTERNAL, "default of %s", params[i].path);
        }
    }
    return SONDE_OK;
}

/* The roundest frequency that means this period; the period itself where none does. */
static int write_clock(struct strbuf *out, uint64_t period_ps)
{
    static const uint64_t scales[] = {1000000000, 1000000, 1000, 1};
    char text[64];
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        uint64_t hz = (UINT64_C(1000000000000) / scales[i] + period_ps / 2) / period_ps * scales[i];
        if (hz > 0 && period_of_hz(hz) == period_ps) {
            return strbuf_append(out, units_format(text, sizeof(text), hz, UNIT_HZ));
        }
    }
    return strbuf_append(out, units_format(text, sizeof(text), period_ps, UNIT_PS));
}

int param_quote(struct strbuf *out, const char *text)
{
    strbuf_append_char(out, '"');
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\') {
            strbuf_append_char(out, '\\');
        }
        strbuf_append_char(out, *p);
    }
    return strbuf_append_char(out, '"');
}

static const char *word_of(const struct param *param, int value)
{
    for (const struct param_word *word = param->words; word->word; word++) {
        if (word->value == value) {
            return word->word;
        }
    }
    return "?";
}

int param_write(struct strbuf *out, const struct model *model, const struct param *param)
{
    char text[64];
    switch (param->kind) {
    case PARAM_U32:
    case PARAM_U64:
        return strbuf_append(out,
                             units_format(text, sizeof(text), fetch(model, param), param->unit));
    case PARAM_CLOCK:
        return write_clock(out, fetch(model, param));
    case PARAM_BOOL:
        return strbuf_append(out, *((const char *)model + param->offset) ? "true" : "false");
    case PARAM_ENUM:
        return strbuf_append(out, word_of(param, (int)fetch(model, param)));
    case PARAM_TEXT:
        return param_quote(out, (const char *)model + param->offset);
    case PARAM_LIST:
        break;
    }
    return list_write(out, model, param);
}

static bool of_flits(const struct param *param)
{
    size_t first = offsetof(struct model, noc.flits);
    return param->offset >= first && param->offset < first + sizeof(struct noc_flits_spec);
}

bool param_applies(const struct model *model, const struct param *param)
{
    if (of_flits(param) && model->noc.kind != NOC_FLITS) {
        return false;
    }
    return param->kind != PARAM_LIST || list_applies(model, param);
}
