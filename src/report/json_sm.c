/* What an SM does with instructions, as JSON: only where it was asked for. */
#include "report/parts.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

static int put_instructions(json_t *parent, const struct sm_result *sm)
{
    json_t *all = json_put_object(parent, "instructions");
    int rc = all ? 0 : error_memory();
    for (size_t i = 0; rc == 0 && i < sm->instruction_count; i++) {
        const struct instruction_result *of = &sm->instructions[i];
        json_t *object = json_put_object(all, of->op);
        rc = object ? json_put_string(object, "doc", of->doc) : error_memory();
        rc = rc < 0 ? rc : json_put_attribute(object, "latency", &of->latency);
        rc = rc < 0 ? rc : json_put_attribute(object, "lanes_per_cycle", &of->rate);
    }
    return rc;
}

static int put_curve(json_t *all, const struct sm_curve *curve)
{
    json_t *object = json_put_object(all, curve->name);
    int rc = object ? json_put_string(object, "over", curve->of) : error_memory();
    rc = rc < 0 ? rc : json_put_string(object, "evidence", curve->evidence);
    json_t *points = rc < 0 ? NULL : json_put_array(object, "points");
    rc = rc < 0 || points ? rc : error_memory();
    for (size_t i = 0; rc == 0 && i < curve->count; i++) {
        json_t *point = json_object();
        rc = json_append(points, point);
        rc = rc < 0 ? rc : json_put_number(point, "at", curve->points[i].x);
        rc = rc < 0 ? rc : json_put_double(point, "cycles", curve->points[i].cycles);
    }
    return rc;
}

int json_put_sm(json_t *root, const struct dissection *dissection)
{
    const struct sm_result *sm = &dissection->sm;
    if (!sm->asked) {
        return 0;
    }
    json_t *object = json_put_object(root, "sm");
    int rc = object ? 0 : error_memory();
    rc = rc < 0 ? rc : json_put_attribute(object, "sub_cores", &sm->sub_cores);
    rc = rc < 0 ? rc : json_put_attribute(object, "issue_per_sub_core", &sm->issue_per_sub_core);
    rc = rc < 0 ? rc : json_put_attribute(object, "issue", &sm->issue);
    rc = rc < 0 ? rc : json_put_attribute(object, "warps_to_saturate", &sm->warps_to_saturate);
    rc = rc < 0 ? rc : json_put_attribute(object, "divergence", &sm->divergence);
    rc = rc < 0 ? rc : json_put_attribute(object, "shared_bandwidth", &sm->shared_bandwidth);
    rc = rc < 0 ? rc : json_put_attribute(object, "l1_bandwidth", &sm->l1_bandwidth);
    rc = rc < 0 ? rc : put_instructions(object, sm);
    json_t *curves = rc < 0 ? NULL : json_put_object(object, "curves");
    rc = rc < 0 || curves ? rc : error_memory();
    for (size_t i = 0; rc == 0 && i < sm->curve_count; i++) {
        rc = put_curve(curves, &sm->curves[i]);
    }
    return rc;
}
