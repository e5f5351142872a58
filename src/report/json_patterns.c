/* The kinds of access as JSON. What nobody asks (a TLB behind one that hits) is null. */
#include "report/parts.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

static int put_outcome(json_t *object, const char *key, const char *outcome)
{
    if (outcome[0]) {
        return json_put_string(object, key, outcome);
    }
    return json_object_set_new(object, key, json_null()) < 0 ? error_memory() : 0;
}

static int put_pattern(json_t *object, const struct latency_pattern *pattern)
{
    int rc = put_outcome(object, "pattern", pattern->name);
    rc = rc < 0 ? rc : json_put_string(object, "op", pattern->op);
    rc = rc < 0 ? rc : put_outcome(object, "cache", pattern->cache);
    rc = rc < 0 ? rc : put_outcome(object, "l1_tlb", pattern->l1_tlb);
    rc = rc < 0 ? rc : put_outcome(object, "l2_tlb", pattern->l2_tlb);
    rc = rc < 0 ? rc : put_outcome(object, "page_table", pattern->page_table);
    rc = rc < 0 ? rc : json_put_bool(object, "far_jump", pattern->jump);
    rc = rc < 0 ? rc : json_put_u64(object, "loads", pattern->loads);
    return rc < 0 ? rc : json_put_attribute(object, "latency", &pattern->latency);
}

int json_put_patterns(json_t *root, const struct dissection *dissection)
{
    json_t *array = json_put_array(root, "latency_patterns");
    int rc = array ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < dissection->pattern_count; i++) {
        json_t *object = json_object();
        rc = json_append(array, object);
        rc = rc < 0 ? rc : put_pattern(object, &dissection->patterns[i]);
    }
    if (rc < 0 || dissection->pattern_count) {
        return rc;
    }
    const struct refusal *why = &dissection->pattern_refusal;
    rc = json_put_string(root, "latency_patterns_status", json_status_word(why->status));
    return rc < 0 ? rc
                  : json_put_string(root, "latency_patterns_reason",
                                    why->reason[0] ? why->reason : REPORT_NO_EXPERIMENT);
}
