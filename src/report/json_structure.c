/*
 * The parts of a dissection that are no single number, as JSON: replacement policy, set index,
 * what published recipes give.
 */
#include <stdio.h>
#include <string.h>

#include "report/parts.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

static int put_numbers(json_t *parent, const char *key, const double *values, size_t count)
{
    json_t *array = json_put_array(parent, key);
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = json_append(array, json_real(values[i]));
    }
    return rc;
}

static int put_drawn(json_t *object, const struct policy_result *policy)
{
    int rc =
        put_numbers(object, "victim_probability", policy->probability, policy->probability_count);
    rc = rc < 0 ? rc
                : put_numbers(object, "victim_probability_error", policy->error,
                              policy->probability_count);
    rc = rc < 0 ? rc : json_put_u64(object, "victims", policy->victims);
    return rc < 0 || policy->serial == SERIAL_UNKNOWN
               ? rc
               : json_put_bool(object, "serial", policy->serial == SERIAL_YES);
}

int json_put_policy(json_t *parent, const struct policy_result *policy)
{
    json_t *object = json_put_object(parent, "policy");
    if (!object) {
        return error_memory();
    }
    if (!policy->name[0]) {
        int rc = json_put_string(object, "name", "unknown");
        return rc < 0 ? rc
                      : json_put_refusal(object, policy->refusal.status, policy->refusal.reason);
    }
    int rc = json_put_string(object, "name", policy->name);
    json_t *others = rc < 0 ? NULL : json_put_array(object, "equivalent_to");
    rc = rc < 0 || others ? rc : error_memory();
    for (size_t i = 0; rc == 0 && i < policy->equivalent_count; i++) {
        rc = json_append(others, json_string(policy->equivalent[i]));
    }
    rc = rc < 0 || policy->probability_count == 0 ? rc : put_drawn(object, policy);
    rc = rc < 0 ? rc : json_put_double(object, "confidence", policy->confidence);
    return rc < 0 ? rc : json_put_string(object, "evidence", policy->evidence);
}

/* Rows say which lines share a set where no index does. */
static int put_rows(json_t *object, const struct cache_result *cache)
{
    json_t *rows = cache->row_lines ? json_put_object(object, "rows") : NULL;
    if (!rows) {
        return cache->row_lines ? error_memory() : 0;
    }
    int rc = json_put_u64(rows, "lines", cache->row_lines);
    rc = rc < 0 ? rc : json_put_u64(rows, "period", cache->row_period);
    return rc < 0 || cache->row_apart < 2 ? rc : json_put_u64(rows, "apart", cache->row_apart);
}

int json_put_index(json_t *parent, const struct cache_result *cache)
{
    const struct index_result *index = &cache->index;
    json_t *object = json_put_object(parent, "set_index");
    if (!object) {
        return error_memory();
    }
    if (!index->kind[0]) {
        int rc = json_put_string(object, "kind", "unknown");
        rc = rc < 0 ? rc : put_rows(object, cache);
        return rc < 0 ? rc : json_put_refusal(object, index->refusal.status, index->refusal.reason);
    }
    int rc = json_put_string(object, "kind", index->kind);
    json_t *masks = rc < 0 ? NULL : json_put_array(object, "masks");
    rc = rc < 0 || masks ? rc : error_memory();
    for (size_t i = 0; rc == 0 && i < index->mask_count; i++) {
        char text[24];
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)index->masks[i]);
        rc = json_append(masks, json_string(text));
    }
    if (rc == 0 && index->modulus) {
        rc = json_put_u64(object, "modulus", index->modulus);
    }
    json_t *map = rc < 0 || index->map_count == 0 ? NULL : json_put_array(object, "map");
    for (size_t i = 0; rc == 0 && map && i < index->map_count; i++) {
        rc = json_append(map, json_integer(index->map[i]));
    }
    if (rc == 0 && index->bit_limit) {
        rc = json_put_u64(object, "bits_below", index->bit_limit);
    }
    rc = rc < 0 ? rc : json_put_double(object, "confidence", index->confidence);
    return rc < 0 ? rc : json_put_string(object, "evidence", index->evidence);
}

/* A word, or why there is none. */
static int put_scope(json_t *object, const struct tlb_result *tlb)
{
    if (tlb->scope[0]) {
        int rc = json_put_string(object, "scope", tlb->scope);
        return rc < 0 ? rc : json_put_string(object, "scope_evidence", tlb->scope_evidence);
    }
    struct attribute none = {.status = tlb->scope_refusal.status};
    memcpy(none.reason, tlb->scope_refusal.reason, sizeof none.reason);
    return json_put_attribute(object, "scope", &none);
}

/* How many pages miss in a pass of a circle of so many, beyond those that fit. */
static int put_steps(json_t *object, const struct tlb_result *tlb)
{
    json_t *steps = tlb->step_count ? json_put_array(object, "steps") : NULL;
    int rc = tlb->step_count && !steps ? error_memory() : 0;
    for (size_t i = 0; rc == 0 && i < tlb->step_count; i++) {
        json_t *step = json_object();
        rc = json_append(steps, step);
        rc = rc < 0 ? rc : json_put_u64(step, "pages", tlb->steps[i].pages);
        rc = rc < 0 ? rc : json_put_u64(step, "missed", tlb->steps[i].missed);
    }
    return rc;
}

static int put_tlb(json_t *object, const struct tlb_result *tlb)
{
    int rc = json_put_string(object, "id", tlb->id);
    rc = rc < 0 ? rc : json_put_bool(object, "present", tlb->present);
    if (rc == 0 && !tlb->present) {
        rc = json_put_refusal(object, tlb->absence.status, tlb->absence.reason);
    }
    rc = rc < 0 ? rc : put_scope(object, tlb);
    rc = rc < 0 ? rc : json_put_attribute(object, "page", &tlb->page);
    rc = rc < 0 ? rc : json_put_attribute(object, "coverage", &tlb->coverage);
    rc = rc < 0 ? rc : json_put_attribute(object, "entries", &tlb->entries);
    rc = rc < 0 ? rc : json_put_attribute(object, "sets", &tlb->sets);
    rc = rc < 0 ? rc : json_put_attribute(object, "miss_penalty", &tlb->miss_penalty);
    json_t *sets = rc < 0 || tlb->set_count == 0 ? NULL : json_put_array(object, "entries_per_set");
    for (size_t i = 0; rc == 0 && sets && i < tlb->set_count; i++) {
        rc = json_append(sets, json_integer(tlb->entries_per_set[i]));
    }
    rc = rc < 0 ? rc : put_steps(object, tlb);
    return rc < 0 ? rc : json_put_policy(object, &tlb->policy);
}

int json_put_tlbs(json_t *root, const struct dissection *dissection)
{
    json_t *array = json_put_array(root, "tlbs");
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < dissection->tlb_count; i++) {
        json_t *object = json_object();
        rc = json_append(array, object);
        rc = rc < 0 ? rc : put_tlb(object, &dissection->tlbs[i]);
    }
    return rc;
}

static int put_conflicts(json_t *object, const struct shared_result *shared)
{
    json_t *latencies = json_put_object(object, "conflict_latency");
    json_t *modes = json_put_array(object, "modes");
    int rc = latencies && modes ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < shared->conflict_count; i++) {
        char degree[16];
        snprintf(degree, sizeof degree, "%u", shared->conflicts[i].degree);
        rc = json_put_double(latencies, degree, shared->conflicts[i].cycles);
    }
    for (size_t i = 0; rc == 0 && i < shared->mode_count; i++) {
        rc = json_append(modes, json_integer(shared->modes[i]));
    }
    return rc;
}

int json_put_shared(json_t *root, const struct dissection *dissection)
{
    const struct shared_result *shared = &dissection->shared;
    json_t *object = json_put_object(root, "shared_memory");
    int rc = object ? json_put_attribute(object, "banks", &shared->banks) : error_memory();
    rc = rc < 0 ? rc : json_put_attribute(object, "bank_width", &shared->bank_width);
    rc = rc < 0 ? rc : json_put_attribute(object, "latency", &shared->latency);
    return rc < 0 || shared->conflict_count == 0 ? rc : put_conflicts(object, shared);
}

static int put_claim(json_t *object, const char *key, const struct dissection *dissection,
                     const struct method_result *method, const struct attribute *value)
{
    int rc = json_put_attribute(object, key, value);
    const struct attribute *here = report_contradiction(dissection, method, value);
    return rc == 0 && here
               ? json_put_number(json_object_get(object, key), "contradicts", here->value)
               : rc;
}

int json_put_methods(json_t *root, const struct dissection *dissection)
{
    json_t *array = json_put_array(root, "methods");
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < dissection->method_count; i++) {
        const struct method_result *method = &dissection->methods[i];
        json_t *object = json_object();
        rc = json_append(array, object);
        rc = rc < 0 ? rc : json_put_string(object, "method", method->name);
        rc = rc < 0 ? rc : json_put_string(object, "cache", method->cache);
        rc = rc < 0 ? rc : put_claim(object, "size", dissection, method, &method->size);
        rc = rc < 0 ? rc : put_claim(object, "line", dissection, method, &method->line);
        rc = rc < 0 ? rc : put_claim(object, "sets", dissection, method, &method->sets);
        rc = rc < 0 ? rc : put_claim(object, "ways", dissection, method, &method->ways);
        rc = rc < 0 ? rc : json_put_attribute(object, "periodic", &method->periodic);
    }
    return rc;
}
