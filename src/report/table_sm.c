/*
 * What an SM does with instructions, as lines of the table: two kinds beside each other, latency
 * and lanes a cycle of each; then the SM as a whole.
 */
#include <stdio.h>
#include <string.h>

#include "report/parts.h"

static void number(char *text, size_t size, const struct attribute *attribute)
{
    snprintf(text, size, "-");
    if (attribute->status == ATTRIBUTE_MEASURED) {
        snprintf(text, size, "%.*f", attribute->value < 9.95 ? 1 : 0, attribute->value);
    }
}

static bool has_value(const struct instruction_result *of)
{
    return of->latency.status == ATTRIBUTE_MEASURED || of->rate.status == ATTRIBUTE_MEASURED;
}

static void instruction_cells(struct strbuf *out, const struct sm_result *sm)
{
    enum { BESIDE = 3 };
    size_t shown = 0;
    for (size_t i = 0; i < sm->instruction_count; i++) {
        const struct instruction_result *of = &sm->instructions[i];
        char latency[16], rate[16];
        if (!has_value(of)) {
            continue;
        }
        if (shown == 0) {
            for (size_t k = 0; k < BESIDE; k++) {
                strbuf_printf(out, "  %-10s %6s %5s", k ? "" : "op", "cycles", "lanes");
            }
        }
        number(latency, sizeof latency, &of->latency);
        number(rate, sizeof rate, &of->rate);
        strbuf_printf(out, "%s  %-10.10s %6s %5s", shown % BESIDE ? "" : "\n", of->op, latency,
                      rate);
        shown++;
    }
    strbuf_append(out, shown ? "\n\n" : "");
}

static void value(struct strbuf *out, const char *name, const struct attribute *attribute,
                  const char *unit)
{
    if (attribute->status == ATTRIBUTE_MEASURED) {
        strbuf_printf(out, "  %-28s %.4g%s (%.2f)\n", name, attribute->value, unit,
                      attribute->confidence);
    }
}

void report_sm(struct strbuf *out, const struct sm_result *sm)
{
    instruction_cells(out, sm);
    value(out, "sub-cores", &sm->sub_cores, "");
    value(out, "issue of a sub-core", &sm->issue_per_sub_core, " a cycle");
    value(out, "issue of an SM", &sm->issue, " a cycle");
    value(out, "warps that fill it", &sm->warps_to_saturate, "");
    value(out, "parting a warp's lanes", &sm->divergence, " cycles");
    value(out, "shared memory", &sm->shared_bandwidth, " B/cycle");
    value(out, "L1", &sm->l1_bandwidth, " B/cycle");
    strbuf_append(out, "\n");
}

/* What has no value, and why. */
static void reason(struct strbuf *out, const char *name, const char *what,
                   const struct attribute *attribute)
{
    if (attribute->status != ATTRIBUTE_MEASURED && attribute->status != ATTRIBUTE_NOT_ASKED &&
        attribute->status != ATTRIBUTE_ABSENT) {
        strbuf_printf(out, "  %s %s: %s\n", name, what, attribute->reason);
    }
}

void report_sm_curves(struct strbuf *out, const struct sm_result *sm)
{
    for (size_t i = 0; i < sm->curve_count; i++) {
        const struct sm_curve *curve = &sm->curves[i];
        strbuf_printf(out, "  %s, cycles by %s:", curve->name, curve->of);
        for (size_t k = 0; k < curve->count; k++) {
            strbuf_printf(out, "%s %g: %.4g", k ? "," : "", curve->points[k].x,
                          curve->points[k].cycles);
        }
        strbuf_append(out, "\n");
    }
    strbuf_append(out, sm->curve_count ? "\n" : "");
    for (size_t i = 0; i < sm->instruction_count; i++) {
        reason(out, sm->instructions[i].op, "latency", &sm->instructions[i].latency);
        reason(out, sm->instructions[i].op, "rate", &sm->instructions[i].rate);
    }
    reason(out, "sm", "sub-cores", &sm->sub_cores);
    reason(out, "sm", "issue", &sm->issue);
    reason(out, "sm", "divergence", &sm->divergence);
    reason(out, "sm", "shared memory", &sm->shared_bandwidth);
    reason(out, "sm", "L1", &sm->l1_bandwidth);
}
