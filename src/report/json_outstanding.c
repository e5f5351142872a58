/*
 * What an SM may have outstanding, and memory under load, as JSON. A structure that never fills has
 * no size but a lower bound: those stand together in `at_least`.
 */
#include "report/parts.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

static int put_spike(json_t *array, const struct outstanding_spike *spike)
{
    json_t *object = json_object();
    const struct {
        const char *name;
        uint32_t value;
    } numbers[] = {{"threads", spike->threads},
                   {"loads", spike->loads},
                   {"more", spike->more},
                   {"lanes", spike->lanes},
                   {"merge", spike->merge},
                   {"share", spike->share},
                   {"instructions", spike->instructions},
                   {"requests", spike->requests}};
    int rc = json_append(array, object);
    for (size_t i = 0; rc == 0 && i < sizeof numbers / sizeof *numbers; i++) {
        rc = json_put_u64(object, numbers[i].name, numbers[i].value);
    }
    rc = rc < 0 ? rc : json_put_double(object, "before_cycles", spike->before_cycles);
    return rc < 0 ? rc : json_put_double(object, "after_cycles", spike->after_cycles);
}

static int put_structure(json_t *object, const struct outstanding_result *o)
{
    if (!o->structure[0]) {
        int rc = json_put_string(object, "structure", "unknown");
        return rc < 0 ? rc : json_put_refusal(object, o->refusal.status, o->refusal.reason);
    }
    int rc = json_put_string(object, "structure", o->structure);
    rc = rc < 0 ? rc : json_put_double(object, "confidence", o->confidence);
    return rc < 0 ? rc : json_put_string(object, "evidence", o->evidence);
}

static int put_bounds(json_t *parent, const struct outstanding_result *o)
{
    const struct {
        const char *name;
        double value;
    } bounds[] = {{"entries", o->entries_least},
                  {"mergers", o->mergers_least},
                  {"loads_per_warp", o->loads_per_warp_least},
                  {"max_requests_per_sm", o->max_requests_least},
                  {"instructions", o->instructions_least}};
    json_t *object = json_put_object(parent, "at_least");
    int rc = object ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < sizeof bounds / sizeof *bounds; i++) {
        if (bounds[i].value > 0) {
            rc = json_put_i64(object, bounds[i].name, (int64_t)bounds[i].value);
        }
    }
    return rc;
}

/* What instructions take that stand around a load; what was not measured is not there. */
static int put_paces(json_t *parent, const struct outstanding_result *o)
{
    json_t *all = o->pace_count ? json_put_object(parent, "around_loads") : NULL;
    int rc = all || o->pace_count == 0 ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < o->pace_count; i++) {
        const struct outstanding_pace *pace = &o->paces[i];
        json_t *object = json_put_object(all, pace->op);
        rc = object ? 0 : error_memory();
        if (rc == 0 && pace->cycles > 0) {
            rc = json_put_double(object, "cycles", pace->cycles);
        }
        if (rc == 0 && pace->lanes > 0) {
            rc = json_put_double(object, "lanes_per_cycle", pace->lanes);
            rc = rc < 0 ? rc : json_put_double(object, "at_least", pace->least_lanes);
        }
    }
    return rc;
}

/* What the curve has shown, where there is one. */
static int put_shown(json_t *object, const struct outstanding_result *o)
{
    int rc = put_bounds(object, o);
    if (rc == 0 && o->lanes_merge_known) {
        rc = json_put_bool(object, "lanes_count_as_mergers", o->lanes_merge_in_table);
    }
    rc = rc < 0 ? rc : json_put_double(object, "one_load_cycles", o->one_cycles);
    if (rc == 0 && o->request_cycles > 0) {
        rc = json_put_double(object, "request_cycles", o->request_cycles);
    }
    json_t *spikes = rc < 0 ? NULL : json_put_array(object, "spikes");
    rc = rc < 0 || spikes ? rc : error_memory();
    for (size_t i = 0; rc == 0 && i < o->spike_count; i++) {
        rc = put_spike(spikes, &o->spikes[i]);
    }
    return rc;
}

int json_put_outstanding(json_t *root, const struct dissection *dissection)
{
    const struct outstanding_result *o = &dissection->outstanding;
    json_t *object = json_put_object(root, "outstanding");
    int rc = object ? put_structure(object, o) : error_memory();
    rc = rc < 0 ? rc : json_put_attribute(object, "entries", &o->entries);
    rc = rc < 0 ? rc : json_put_attribute(object, "mergers", &o->mergers);
    rc = rc < 0 ? rc : json_put_attribute(object, "loads_per_warp", &o->loads_per_warp);
    rc = rc < 0 ? rc : json_put_attribute(object, "max_requests_per_sm", &o->max_requests);
    rc = rc < 0 || !o->measured ? rc : put_shown(object, o);
    return rc < 0 ? rc : put_paces(object, o);
}

int json_put_loaded(json_t *root, const struct memory_result *memory)
{
    json_t *array = json_put_array(root, "loaded_latency");
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < memory->loaded_count; i++) {
        const struct loaded_latency *point = &memory->loaded[i];
        json_t *object = json_object();
        rc = json_append(array, object);
        rc = rc < 0 ? rc : json_put_i64(object, "requests", (int64_t)point->requests);
        rc = rc < 0 ? rc : json_put_double(object, "cycles", point->cycles);
        rc = rc < 0 ? rc : json_put_double(object, "bytes_per_cycle", point->bytes_per_cycle);
        if (rc == 0 && point->bytes_per_second > 0) {
            rc = json_put_double(object, "bytes_per_second", point->bytes_per_second);
        }
    }
    return rc;
}
