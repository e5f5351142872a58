/* How what was found is told. */
#include "infer/outstanding/outstanding.h"

#include <stdio.h>

static void list_jump(struct outstanding_result *out, const struct ray_result *r)
{
    if (!r->jumped || out->spike_count == INFER_MAX_SPIKES) {
        return;
    }
    struct ray_shape shape = ray_shape(&r->ray, r->fits);
    out->spikes[out->spike_count++] = (struct outstanding_spike){
        .threads = shape.threads,
        .loads = shape.loads,
        .more = shape.more,
        .lanes = shape.lanes,
        .merge = shape.merge,
        .share = shape.share,
        .instructions = ray_instructions(&r->ray, r->fits),
        .requests = ray_requests(&r->ray, r->fits),
        .before_cycles = r->before_cycles,
        .after_cycles = r->after_cycles,
    };
}

int tell_ray(struct lab *lab, struct ray_result *out, const struct yardstick *yard,
             const struct ray *ray)
{
    int rc = ray_follow(lab, out, yard, ray);
    if (rc == 0) {
        list_jump(&lab->out->outstanding, out);
    }
    return rc;
}

void tell_least(struct attribute *attribute, double *least, double value, const char *unit,
                const char *why)
{
    char reason[160];
    *least = value;
    snprintf(reason, sizeof reason, "at least %.0f: %s", value, why);
    attribute_refuse(attribute, unit, reason);
}
