/*
 * JSON with the keys of mt4g 1.2 (facts of its output, not of its code). Where it gives an
 * attribute that Sonde has not measured, the attribute is left out, as mt4g leaves out what it did
 * not run. "method" names Sonde's way, since none of them is mt4g's.
 */
#include <string.h>

#include "export/saved.h"
#include "export/writers.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

#define GIBIBYTE 1073741824.0
#define METHOD "sonde"

/* {"size" or "value": V, "unit": U, "confidence": C, "method": M} */
static int put_measured(json_t *parent, const char *key, const json_t *owner, const char *attribute,
                        const char *name, const char *unit, double scale)
{
    struct saved_value value;
    if (!saved_value(&value, owner, attribute)) {
        return 0;
    }
    json_t *object = json_put_object(parent, key);
    int rc = object ? 0 : error_memory();
    rc = rc < 0 ? rc : json_put_double(object, name, value.value * scale);
    rc = rc < 0 ? rc : json_put_string(object, "unit", unit);
    rc = rc < 0 ? rc : json_put_double(object, "confidence", value.confidence);
    return rc < 0 ? rc : json_put_string(object, "method", METHOD);
}

static int put_bytes(json_t *parent, const char *key, const json_t *owner, const char *attribute)
{
    return put_measured(parent, key, owner, attribute, "size", "bytes", 1);
}

static int put_latency(json_t *parent, const json_t *owner, const char *attribute)
{
    struct saved_value value;
    if (!saved_value(&value, owner, attribute)) {
        return 0;
    }
    json_t *object = json_put_object(parent, "latency");
    int rc = object ? 0 : error_memory();
    rc = rc < 0 ? rc : json_put_double(object, "p50", value.value);
    rc = rc < 0 ? rc : json_put_string(object, "unit", "cycles");
    return rc < 0 ? rc : json_put_string(object, "method", METHOD);
}

static int put_shared_with(json_t *parent, const json_t *cache)
{
    const json_t *ids = json_object_get(cache, "shared_with");
    return json_is_array(ids) && json_array_size(ids)
               ? json_put(parent, "sharedWith", json_deep_copy(ids))
               : 0;
}

static int put_cache(json_t *parent, const char *key, const json_t *root, const char *id)
{
    const json_t *cache = saved_cache(root, id);
    if (!cache) {
        return 0;
    }
    json_t *object = json_put_object(parent, key);
    int rc = object ? 0 : error_memory();
    rc = rc < 0 ? rc : put_bytes(object, "size", cache, "size");
    rc = rc < 0 ? rc : put_bytes(object, "lineSize", cache, "line");
    rc = rc < 0 ? rc : put_bytes(object, "fetchGranularity", cache, "fetch_granularity");
    rc = rc < 0 ? rc : put_latency(object, cache, "hit_latency");
    rc = rc < 0 ? rc
                : put_measured(object, "missPenalty", cache, "miss_penalty", "value", "cycles", 1);
    uint64_t count;
    if (rc == 0 && strcmp(id, "l2") == 0 && saved_u64(&count, cache, "count")) {
        rc = json_put_u64(object, "amountPerGPU", count);
    }
    return rc < 0 ? rc : put_shared_with(object, cache);
}

/* Of a GPU that does not tell it there is none. */
static int put_capability(json_t *general, const json_t *device)
{
    uint64_t major = saved_plain_u64(device, "compute_major", UINT64_MAX);
    uint64_t minor = saved_plain_u64(device, "compute_minor", UINT64_MAX);
    if (major == UINT64_MAX || minor == UINT64_MAX) {
        return 0;
    }
    json_t *capability = json_put_object(general, "computeCapability");
    int rc = capability ? 0 : error_memory();
    rc = rc < 0 ? rc : json_put_u64(capability, "major", major);
    return rc < 0 ? rc : json_put_u64(capability, "minor", minor);
}

static int put_general(json_t *document, const json_t *device)
{
    json_t *general = json_put_object(document, "general");
    json_t *clock = general ? json_put_object(general, "clockRate") : NULL;
    int rc = clock ? 0 : error_memory();
    rc = rc < 0 ? rc : json_put_string(general, "name", saved_text(device, "name", ""));
    rc = rc < 0 ? rc : json_put_string(general, "vendor", "NVIDIA");
    rc = rc < 0 ? rc : json_put_string(clock, "unit", "kHz");
    rc = rc < 0 ? rc : json_put_u64(clock, "value", saved_plain_u64(device, "clock_hz", 0) / 1000);
    return rc < 0 ? rc : put_capability(general, device);
}

static int put_compute(json_t *document, const json_t *device)
{
    json_t *compute = json_put_object(document, "compute");
    int rc = compute ? 0 : error_memory();
    rc = rc < 0 ? rc
                : json_put_u64(compute, "multiProcessorCount", saved_plain_u64(device, "sms", 0));
    return rc < 0 ? rc : json_put_u64(compute, "warpSize", 32);
}

static int put_shared(json_t *memory, const json_t *root)
{
    json_t *shared = json_put_object(memory, "shared");
    json_t *per_sm = shared ? json_put_object(shared, "sharedMemPerMultiProcessor") : NULL;
    int rc = per_sm ? 0 : error_memory();
    rc = rc < 0 ? rc : put_latency(shared, json_object_get(root, "shared_memory"), "latency");
    rc = rc < 0 ? rc : json_put_string(per_sm, "unit", "bytes");
    return rc < 0 ? rc
                  : json_put_u64(
                        per_sm, "value",
                        saved_plain_u64(json_object_get(root, "device"), "shared_per_sm_bytes", 0));
}

static int put_main(json_t *memory, const json_t *root)
{
    const json_t *measured = json_object_get(root, "memory");
    json_t *object = json_put_object(memory, "main");
    json_t *total = object ? json_put_object(object, "totalGlobalMem") : NULL;
    int rc = total ? 0 : error_memory();
    rc = rc < 0 ? rc : put_latency(object, measured, "latency");
    rc = rc < 0 ? rc
                : put_measured(object, "readBandwidth", measured, "read_bandwidth", "value",
                               "GiB/s", 1 / GIBIBYTE);
    rc = rc < 0 ? rc
                : put_measured(object, "writeBandwidth", measured, "write_bandwidth", "value",
                               "GiB/s", 1 / GIBIBYTE);
    rc = rc < 0 ? rc : json_put_string(total, "unit", "bytes");
    return rc < 0
               ? rc
               : json_put_u64(total, "value",
                              saved_plain_u64(json_object_get(root, "device"), "memory_bytes", 0));
}

static int put_memory(json_t *document, const json_t *root)
{
    json_t *memory = json_put_object(document, "memory");
    json_t *constant = memory ? json_put_object(memory, "constant") : NULL;
    int rc = constant ? 0 : error_memory();
    rc = rc < 0 ? rc : put_cache(memory, "l1", root, "l1_data");
    rc = rc < 0 ? rc : put_cache(memory, "l2", root, "l2");
    rc = rc < 0 ? rc : put_cache(memory, "texture", root, "texture_l1");
    rc = rc < 0 ? rc : put_cache(memory, "readOnly", root, "readonly_l1");
    rc = rc < 0 ? rc : put_cache(constant, "l1", root, "constant_l1");
    rc = rc < 0 ? rc : put_cache(constant, "l1.5", root, "constant_l15");
    rc = rc < 0 ? rc : put_shared(memory, root);
    return rc < 0 ? rc : put_main(memory, root);
}

int export_mt4g(char **text, const json_t *root, const char *source,
                const struct export_options *options)
{
    (void)options;
    json_t *document = json_object();
    json_t *meta = document ? json_put_object(document, "meta") : NULL;
    const json_t *device = json_object_get(root, "device");
    int rc = meta ? 0 : error_memory();
    rc = rc < 0 ? rc : put_general(document, device);
    rc = rc < 0 ? rc : put_compute(document, device);
    rc = rc < 0 ? rc : put_memory(document, root);
    rc = rc < 0 ? rc : json_put_string(meta, "dissection", source);
    rc = rc < 0 ? rc : json_put_string(meta, "sonde", saved_text(root, "sonde", ""));
    rc = rc < 0 ? rc : json_put_string(meta, "timestamp", saved_text(root, "date", ""));
    rc = rc < 0 ? rc : json_to_text(text, document);
    json_decref(document);
    return rc;
}
