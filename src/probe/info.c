/*
 * The table of probes, expanded from probes.def, and the check of a request against it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "probe/probe.h"
#include "util/error.h"
#include "util/text/suggest.h"

/* What a parameter may be: one of `choices`, or a number in a range, or (if that is the default)
 * auto. */
struct rule {
    const char *choices;
    uint64_t min, max;
};

/* "|iadd|imad...": the kinds of instructions, behind a separator. */
static const char instruction_kinds[] =
#define INSTRUCTION(op, group, sm, lines, stride, spread, x, y, start, other, init, first, second, \
                    doc)                                                                           \
    "|" #op
#include "trace/instructions.def"
    ;
#define PROBE_INSTRUCTIONS (instruction_kinds + 1)

/* clang-format off */
#define WORD(name, def, choices, doc) {#name, def, choices, doc},
#define UINT(name, def, min, max, doc) {#name, def, #min ".." #max, doc},
#define PROBE(name, doc) static const struct probe_param_info name##_params[] = {
#define PROBE_END(name) };
#include "probe/probes.def"

#define COLUMN(name, type, unit, count, doc) {#name, #type, unit, count, doc},
#define PROBE(name, doc) static const struct probe_column_info name##_columns[] = {
#define PROBE_END(name) };
#include "probe/probes.def"

#define WORD(name, def, choices, doc) {choices, 0, 0},
#define UINT(name, def, min, max, doc) {NULL, UINT64_C(min), UINT64_C(max)},
#define PROBE(name, doc) static const struct rule name##_rules[] = {
#define PROBE_END(name) };
#include "probe/probes.def"
/* clang-format on */

static const struct probe_info probes[] = {
#define PROBE(name, doc)                                                                           \
    {#name,          doc,                                                                          \
     name##_params,  sizeof(name##_params) / sizeof(name##_params[0]),                             \
     name##_columns, sizeof(name##_columns) / sizeof(name##_columns[0])},
#include "probe/probes.def"
};

static const struct rule *const rules[] = {
#define PROBE(name, doc) name##_rules,
#include "probe/probes.def"
};

size_t probe_count(void)
{
    return sizeof(probes) / sizeof(probes[0]);
}

const struct probe_info *probe_at(size_t i)
{
    return &probes[i];
}

const struct probe_info *probe_find(const char *name)
{
    for (size_t i = 0; i < probe_count(); i++) {
        if (strcmp(probes[i].name, name) == 0) {
            return &probes[i];
        }
    }
    return NULL;
}

int probe_unknown(const char *name)
{
    struct suggest suggest = suggest_begin(name);
    for (size_t i = 0; i < probe_count(); i++) {
        suggest_offer(&suggest, probes[i].name);
    }
    const char *near = suggest_best(&suggest);
    return error_set(SONDE_EUSAGE, "there is no probe '%s'%s%s%s", name,
                     near ? "; did you mean '" : "", near ? near : "",
                     near ? "'?" : "; sonde probe --list tells");
}

static int unknown_param(const struct probe_info *probe, const char *name)
{
    struct suggest suggest = suggest_begin(name);
    for (size_t i = 0; i < probe->param_count; i++) {
        suggest_offer(&suggest, probe->params[i].name);
    }
    const char *near = suggest_best(&suggest);
    return error_set(SONDE_EUSAGE, "probe %s has no parameter '%s'%s%s%s", probe->name, name,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    while (choices) {
        if (strncmp(choices, text, length) == 0 &&
            (choices[length] == '|' || choices[length] == '\0')) {
            return true;
        }
        choices = strchr(choices, '|');
        choices += choices != NULL;
    }
    return false;
}

static int check_value(const struct probe_info *probe, size_t i,
                       const struct trace_request *request)
{
    const struct probe_param_info *param = &probe->params[i];
    const struct rule *rule = &rules[probe - probes][i];
    const char *text = trace_request_text(request, param->name);
    bool may_be_auto = strcmp(param->def, "auto") == 0;
    uint64_t value;
    bool good = rule->choices ? is_choice(rule->choices, text)
                : trace_request_u64(request, param->name, &value)
                    ? value >= rule->min && value <= rule->max
                    : may_be_auto && strcmp(text, "auto") == 0;
    return good ? SONDE_OK
                : error_set(SONDE_EUSAGE, "probe %s: %s=%s, it may be %s%s", probe->name,
                            param->name, text, param->range, may_be_auto ? " or auto" : "");
}

static size_t param_index(const struct probe_info *probe, const char *name)
{
    size_t i = 0;
    while (i < probe->param_count && strcmp(probe->params[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* A ring says where elements lie, so that bytes and stride have no meaning beside it. */
static bool is_in_place_of_ring(const char *name)
{
    return strcmp(name, "bytes") == 0 || strcmp(name, "stride") == 0;
}

/* A walk, or a list of offsets beside a pool of drawn ones. */
static bool takes_ring(const struct probe_info *probe)
{
    return param_index(probe, "bytes") < probe->param_count ||
           param_index(probe, "pool") < probe->param_count;
}

static int check_names(const struct probe_info *probe, const struct trace_request *request)
{
    if (request->ring && !takes_ring(probe)) {
        return error_set(SONDE_EUSAGE, "probe %s takes no ring", probe->name);
    }
    for (size_t i = 0; i < request->param_count; i++) {
        const char *name = request->params[i].name;
        if (param_index(probe, name) == probe->param_count) {
            return unknown_param(probe, name);
        }
        if (request->ring && is_in_place_of_ring(name)) {
            return error_set(SONDE_EUSAGE, "probe %s: %s must not be set beside a ring",
                             probe->name, name);
        }
    }
    return SONDE_OK;
}

int probe_request_complete(struct trace_request *request)
{
    const struct probe_info *probe = probe_find(request->probe);
    if (!probe) {
        return probe_unknown(request->probe);
    }
    int rc = check_names(probe, request);
    for (size_t i = 0; rc == 0 && i < probe->param_count; i++) {
        const struct probe_param_info *param = &probe->params[i];
        if (request->ring && is_in_place_of_ring(param->name)) {
            continue;
        }
        if (!trace_request_text(request, param->name)) {
            rc = trace_request_set_text(request, param->name, param->def);
        }
        rc = rc < 0 ? rc : check_value(probe, i, request);
    }
    return rc;
}

/* The key with everything that a request leaves out. */
static int complete_key(char key[TRACE_KEY_MAX], const struct trace_request *request)
{
    struct trace_request complete = *request;
    int rc = probe_request_complete(&complete);
    if (rc == 0) {
        trace_request_key(&complete, key);
    }
    return rc;
}

int probe_find_recorded(const struct trace **out, const struct traceset *set,
                        const struct trace_request *request)
{
    char wanted[TRACE_KEY_MAX], key[TRACE_KEY_MAX];
    *out = NULL;
    int rc = complete_key(wanted, request);
    for (size_t i = 0; rc == 0 && !*out && i < traceset_count(set); i++) {
        const struct trace *trace = traceset_at(set, i);
        if (complete_key(key, &trace->request) == 0 && strcmp(key, wanted) == 0) {
            *out = trace;
        }
    }
    return rc == 0 && !*out ? error_set(SONDE_ENOTRECORDED, "not recorded: %s", wanted) : rc;
}
