/*
 * The dissection as JSON, by docs/dissection.schema.json ("sonde.dissection/1"). An attribute is
 * an object with value, unit, confidence and evidence, or with a status (absent, not asked, not
 * recorded, not measured) and the reason. What no experiment looks at yet is present and says so,
 * so that readers need no special case.
 */
#include <math.h>
#include <stdbool.h>

#include <jansson.h>

#include "report/parts.h"
#include "report/report.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

static int put_latency_classes(json_t *parent, const char *key, const struct latency_class *classes,
                               size_t count)
{
    json_t *array = json_put_array(parent, key);
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < count; i++) {
        json_t *object = json_object();
        rc = json_append(array, object);
        rc = rc < 0 ? rc : json_put_number(object, "cycles", classes[i].cycles);
        rc = rc < 0 ? rc : json_put_number(object, "low", classes[i].low);
        rc = rc < 0 ? rc : json_put_number(object, "high", classes[i].high);
        rc = rc < 0 ? rc : json_put_double(object, "share", classes[i].share);
    }
    return rc;
}

static int put_steps(json_t *parent, const struct cache_result *cache)
{
    json_t *array = json_put_array(parent, "steps");
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < cache->step_count; i++) {
        json_t *object = json_object();
        rc = json_append(array, object);
        rc = rc < 0 ? rc : json_put_number(object, "bytes", cache->steps[i].bytes);
        rc = rc < 0 ? rc : json_put_number(object, "median_cycles", cache->steps[i].median_cycles);
        rc = rc < 0 ? rc : json_put_double(object, "miss_share", cache->steps[i].miss_share);
    }
    return rc;
}

/* Caches by their ids, or why it is not known. */
static int put_sharing(json_t *object, const struct cache_result *cache)
{
    if (!cache->sharing_known) {
        return json_put_refused(object, "shared_with", cache->sharing_refusal.status,
                                cache->sharing_refusal.reason);
    }
    json_t *list = json_put_array(object, "shared_with");
    int rc = list ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < cache->shared_count; i++) {
        rc = json_append(list, json_string(cache->shared_with[i]));
    }
    return rc;
}

static int put_cache(json_t *array, const struct cache_result *cache)
{
    json_t *object = json_object();
    int rc = json_append(array, object);
    rc = rc < 0 ? rc : json_put_string(object, "id", cache->id);
    rc = rc < 0 ? rc : json_put_string(object, "scope", cache->scope);
    rc = rc < 0 ? rc : json_put_bool(object, "present", cache->present);
    if (rc == 0 && !cache->present) {
        rc = json_put_refusal(object, cache->absence.status, cache->absence.reason);
    }
    if (rc == 0 && cache->path_interleave) {
        rc = json_put_u64(object, "path_interleave", cache->path_interleave);
    }
#define ATTRIBUTE(field, unit) rc = rc < 0 ? rc : json_put_attribute(object, #field, &cache->field);
#include "infer/attributes.def"
    json_t *ways =
        rc < 0 || cache->ways_per_set_count == 0 ? NULL : json_put_array(object, "ways_per_set");
    for (size_t i = 0; rc == 0 && ways && i < cache->ways_per_set_count; i++) {
        rc = json_append(ways, json_integer(cache->ways_per_set[i]));
    }
    rc = rc < 0 ? rc : json_put_index(object, cache);
    rc = rc < 0 ? rc : json_put_policy(object, &cache->policy);
    rc = rc < 0 ? rc : put_sharing(object, cache);
    rc = rc < 0
             ? rc
             : put_latency_classes(object, "hit_latencies", cache->latencies, cache->latency_count);
    if (rc == 0 && cache->miss_count) {
        rc = put_latency_classes(object, "miss_latencies", cache->misses, cache->miss_count);
    }
    return rc < 0 ? rc : put_steps(object, cache);
}

static int put_device(json_t *root, const struct report_subject *subject)
{
    const struct trace_device *device = subject->device;
    json_t *object = json_put_object(root, "device");
    int rc = object ? json_put_string(object, "spec", subject->device_spec) : error_memory();
    rc = rc < 0 ? rc : json_put_string(object, "name", device->name);
    rc = rc < 0 ? rc : json_put_string(object, "kind", device->kind);
    rc = rc < 0 ? rc : json_put_string(object, "driver", device->driver);
    rc = rc < 0 ? rc : json_put_u64(object, "sms", device->sms);
    rc = rc < 0 ? rc : json_put_u64(object, "clock_hz", device->clock_hz);
    rc = rc < 0 ? rc : json_put_u64(object, "compute_major", device->compute_major);
    rc = rc < 0 ? rc : json_put_u64(object, "compute_minor", device->compute_minor);
    rc = rc < 0 ? rc : json_put_u64(object, "memory_bytes", device->memory_bytes);
    rc = rc < 0 ? rc : json_put_u64(object, "l2_bytes_reported", device->l2_bytes_reported);
    rc = rc < 0 ? rc : json_put_u64(object, "shared_per_sm_bytes", device->shared_per_sm_bytes);
    rc = rc < 0 ? rc
                : json_put_u64(object, "shared_per_block_bytes", device->shared_per_block_bytes);
    return rc < 0 || !device->memory_bandwidth_reported
               ? rc
               : json_put_u64(object, "memory_bandwidth_reported",
                              device->memory_bandwidth_reported);
}

static int put_memory(json_t *root, const struct dissection *dissection)
{
    json_t *memory = json_put_object(root, "memory");
    int rc = memory ? json_put_attribute(memory, "latency", &dissection->memory_latency)
                    : error_memory();
    const struct memory_result *m = &dissection->memory;
    rc = rc < 0 ? rc : json_put_attribute(memory, "read_bandwidth", &m->read_bandwidth);
    rc = rc < 0 ? rc : json_put_attribute(memory, "write_bandwidth", &m->write_bandwidth);
    return rc < 0 ? rc : json_put_loaded(root, m);
}

static int put_evidence(json_t *root, const struct dissection *dissection)
{
    json_t *object = json_put_object(root, "evidence");
    int rc = object ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < dissection->evidence_count; i++) {
        rc = json_put_string(object, dissection->evidence[i].id, dissection->evidence[i].text);
    }
    return rc;
}

static int put_caches(json_t *root, const struct dissection *dissection)
{
    json_t *caches = json_put_array(root, "caches");
    int rc = caches ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < dissection->cache_count; i++) {
        rc = put_cache(caches, &dissection->caches[i]);
    }
    return rc;
}

static int build(json_t *root, const struct dissection *dissection,
                 const struct report_subject *subject)
{
    int rc = json_put_string(root, "schema", "sonde.dissection/1");
    rc = rc < 0 ? rc : json_put_string(root, "sonde", subject->version);
    rc = rc < 0 ? rc : json_put_string(root, "date", subject->date);
    rc = rc < 0 ? rc : json_put_double(root, "seconds", subject->seconds);
    rc = rc < 0 ? rc : put_device(root, subject);
    rc = rc < 0 ? rc : put_caches(root, dissection);
    rc = rc < 0 ? rc : json_put_methods(root, dissection);
    rc = rc < 0 ? rc : json_put_tlbs(root, dissection);
    rc = rc < 0 ? rc : json_put_shared(root, dissection);
    rc = rc < 0 ? rc : json_put_patterns(root, dissection);
    rc = rc < 0 ? rc : json_put_outstanding(root, dissection);
    rc = rc < 0 ? rc : put_memory(root, dissection);
    rc = rc < 0 ? rc : json_put_sm(root, dissection);
    rc = rc < 0 ? rc
                : put_latency_classes(root, "latency_classes", dissection->classes,
                                      dissection->class_count);
    return rc < 0 ? rc : put_evidence(root, dissection);
}

int report_json(char **text, const struct dissection *dissection,
                const struct report_subject *subject)
{
    json_t *root = json_object();
    int rc = root ? build(root, dissection, subject) : error_memory();
    rc = rc < 0 ? rc : json_to_text(text, root);
    json_decref(root);
    return rc;
}
