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
#define MOST_WHOLE 9007199254740992.0 /* 2^53: up to here a double is every integer */

/* Bytes are integers there, as far as a double tells them. */
static int put_number(json_t *object, const char *name, double value, const char *unit)
{
    bool is_whole = strcmp(unit, "bytes") == 0 && value >= 0 && value < MOST_WHOLE;
    return is_whole ? json_put_u64(object, name, (uint64_t)value)
                    : json_put_double(object, name, value);
}

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
    rc = rc < 0 ? rc : put_number(object, name, value.value * scale, unit);
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

/* {"value": V, "unit": U}: what the driver says; nothing where it does not. */
static int put_told(json_t *parent, const char *key, uint64_t value, const char *unit)
{
    if (value == 0) {
        return 0;
    }
    json_t *object = json_put_object(parent, key);
    int rc = object ? 0 : error_memory();
    rc = rc < 0 ? rc : json_put_string(object, "unit", unit);
    return rc < 0 ? rc : json_put_u64(object, "value", value);
}

/* An L2's size is the driver's word there, of all parts; what was measured is a segment's, one
 * part. */
static int put_l2(json_t *l2, const json_t *root, const json_t *cache)
{
    const json_t *device = json_object_get(root, "device");
    uint64_t size, count = 1, told = saved_plain_u64(device, "l2_bytes_reported", 0);
    bool is_counted = saved_u64(&count, cache, "count");
    if (told == 0 && saved_u64(&size, cache, "size") && count <= INT64_MAX / (size + 1)) {
        told = size * count;
    }
    int rc = put_told(l2, "size", told, "bytes");
    rc = rc < 0 ? rc : put_bytes(l2, "segmentSize", cache, "size");
    return rc < 0 || !is_counted ? rc : json_put_u64(l2, "amountPerGPU", count);
}

/* Of a cache that an SM has to itself. */
static int put_amount(json_t *parent, const json_t *root, const json_t *cache)
{
    uint64_t sms = saved_plain_u64(json_object_get(root, "device"), "sms", 0), count;
    bool is_told = sms > 0 && strcmp(saved_text(cache, "scope", ""), "sm") == 0 &&
                   saved_u64(&count, cache, "count") && count > 0 && count % sms == 0;
    return is_told ? json_put_u64(parent, "amountPerMultiprocessor", count / sms) : 0;
}

static int put_cache(json_t *parent, const char *key, const json_t *root, const char *id)
{
    const json_t *cache = saved_cache(root, id);
    if (!cache) {
        return 0;
    }
    json_t *object = json_put_object(parent, key);
    int rc = object ? 0 : error_memory();
    rc = rc < 0                  ? rc
         : strcmp(id, "l2") == 0 ? put_l2(object, root, cache)
                                 : put_bytes(object, "size", cache, "size");
    rc = rc < 0 ? rc : put_bytes(object, "lineSize", cache, "line");
    rc = rc < 0 ? rc : put_bytes(object, "fetchGranularity", cache, "fetch_granularity");
    rc = rc < 0 ? rc : put_latency(object, cache, "hit_latency");
    rc = rc < 0 ? rc
                : put_measured(object, "missPenalty", cache, "miss_penalty", "value", "cycles", 1);
    rc = rc < 0 ? rc : put_amount(object, root, cache);
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
    int rc = general ? 0 : error_memory();
    rc = rc < 0 ? rc : json_put_string(general, "name", saved_text(device, "name", ""));
    rc = rc < 0 ? rc : json_put_string(general, "vendor", "NVIDIA");
    uint64_t khz = saved_plain_u64(device, "clock_hz", 0) / 1000;
    rc = rc < 0 ? rc : put_told(general, "clockRate", khz, "kHz");
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
    const json_t *device = json_object_get(root, "device");
    json_t *shared = json_put_object(memory, "shared");
    int rc = shared ? 0 : error_memory();
    rc = rc < 0 ? rc : put_latency(shared, json_object_get(root, "shared_memory"), "latency");
    return rc < 0 ? rc
                  : put_told(shared, "sharedMemPerMultiProcessor",
                             saved_plain_u64(device, "shared_per_sm_bytes", 0), "bytes");
}

static int put_main(json_t *memory, const json_t *root)
{
    const json_t *measured = json_object_get(root, "memory");
    json_t *object = json_put_object(memory, "main");
    int rc = object ? 0 : error_memory();
    rc = rc < 0 ? rc : put_latency(object, measured, "latency");
    rc = rc < 0 ? rc
                : put_measured(object, "readBandwidth", measured, "read_bandwidth", "value",
                               "GiB/s", 1 / GIBIBYTE);
    rc = rc < 0 ? rc
                : put_measured(object, "writeBandwidth", measured, "write_bandwidth", "value",
                               "GiB/s", 1 / GIBIBYTE);
    return rc < 0 ? rc
                  : put_told(object, "totalGlobalMem",
                             saved_plain_u64(json_object_get(root, "device"), "memory_bytes", 0),
                             "bytes");
}

/* Whether loads hit a first level: not written where that was not told. */
static int put_supported(json_t *memory, const json_t *root)
{
    static const struct {
        const char *key, *id;
    } kinds[] = {{"globalL1CacheSupported", "l1_data"}, {"localL1CacheSupported", "local_l1"}};
    json_t *l1 = json_object_get(memory, "l1");
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(*kinds); i++) {
        bool is_there = saved_cache(root, kinds[i].id) != NULL;
        if (l1 && (is_there || saved_is_absent(root, kinds[i].id))) {
            rc = json_put(l1, kinds[i].key, json_boolean(is_there));
        }
    }
    return rc;
}

static int put_memory(json_t *document, const json_t *root)
{
    json_t *memory = json_put_object(document, "memory");
    json_t *constant = memory ? json_put_object(memory, "constant") : NULL;
    int rc = constant ? 0 : error_memory();
    rc = rc < 0 ? rc : put_cache(memory, "l1", root, "l1_data");
    rc = rc < 0 ? rc : put_supported(memory, root);
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
