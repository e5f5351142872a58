/*
 * Asking for measurements and keeping the result: cancel checks, the count of what was spent, the
 * line between an error that ends everything and one that costs an attribute.
 */
#include "infer/ask/lab.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

bool lab_soft(int code)
{
    return code == INFER_UNDECIDED || code == SONDE_ENOTRECORDED || code == SONDE_EUNSUPPORTED;
}

int lab_undecided(struct lab *lab, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab->why.status = ATTRIBUTE_NOT_MEASURED;
    vsnprintf(lab->why.reason, sizeof lab->why.reason, fmt, args);
    va_end(args);
    return INFER_UNDECIDED;
}

int lab_absent(struct lab *lab, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab->why.status = ATTRIBUTE_ABSENT;
    vsnprintf(lab->why.reason, sizeof lab->why.reason, fmt, args);
    va_end(args);
    return INFER_UNDECIDED;
}

struct refusal lab_refusal(const struct lab *lab)
{
    return lab->why.reason[0] ? lab->why
                              : (struct refusal){.reason = "the measurements do not decide"};
}

void lab_allow(struct lab *lab, double share)
{
    lab->allowed = share;
    trace_allow(lab->source, share);
}

double lab_allow_part(struct lab *lab, double part)
{
    double before = lab->allowed, spent = trace_spent(lab->source);
    lab_allow(lab, spent < before ? spent + part * (before - spent) : before);
    return before;
}

int lab_measure(struct lab *lab, const struct trace **out, const struct trace_request *request)
{
    if (lab->options->cancel && *lab->options->cancel) {
        return error_set(SONDE_EINTERRUPTED, "the dissection was interrupted");
    }
    if (lab->most_loads && lab->loads > lab->most_loads) {
        return lab_undecided(lab, "it takes more loads than are left to it");
    }
    lab->requests++;
    int rc = trace_get(lab->source, out, request);
    if (rc == SONDE_EUSAGE) { /* whoever asked is wrong: that must not cost all that is known */
        return lab_undecided(lab, "a request that its probe does not take: %s", error_text());
    }
    if (rc < 0) {
        if (lab_soft(rc)) {
            lab->why.status =
                rc == SONDE_ENOTRECORDED ? ATTRIBUTE_NOT_RECORDED : ATTRIBUTE_NOT_MEASURED;
            snprintf(lab->why.reason, sizeof lab->why.reason, "%s", error_text());
        }
        return rc;
    }
    if ((*out)->status != 0) {
        return lab_undecided(lab, "the device refused a measurement: %s",
                             (*out)->reason[0] ? (*out)->reason : error_name((*out)->status));
    }
    return 0;
}

void lab_evidence(struct lab *lab, char id[24], const char *prefix, const char *fmt, ...)
{
    struct dissection *d = lab->out;
    /* The table has room for every experiment of every cache; should it ever be full, the last
     * entry is shared. */
    size_t at =
        d->evidence_count < INFER_MAX_EVIDENCE ? d->evidence_count++ : INFER_MAX_EVIDENCE - 1;
    struct evidence_entry *entry = &d->evidence[at];
    snprintf(entry->id, sizeof entry->id, "%.18s.%zu", prefix, at + 1);
    va_list args;
    va_start(args, fmt);
    vsnprintf(entry->text, sizeof entry->text, fmt, args);
    va_end(args);
    memcpy(id, entry->id, sizeof entry->id);
}

void attribute_set(struct attribute *attribute, double value, const char *unit, double confidence,
                   const char *evidence)
{
    *attribute = (struct attribute){
        .status = ATTRIBUTE_MEASURED, .value = value, .unit = unit, .confidence = confidence};
    snprintf(attribute->evidence, sizeof attribute->evidence, "%s", evidence);
}

void attribute_refuse(struct attribute *attribute, const char *unit, const char *reason)
{
    *attribute = (struct attribute){.status = ATTRIBUTE_NOT_MEASURED, .unit = unit};
    snprintf(attribute->reason, sizeof attribute->reason, "%s", reason);
}

void attribute_refuse_as(struct attribute *attribute, const char *unit, const struct refusal *why)
{
    attribute_refuse(attribute, unit, why->reason);
    attribute->status = why->status;
}

void attribute_refuse_open(struct attribute *attribute, const char *unit, const struct refusal *why)
{
    if (attribute->status != ATTRIBUTE_MEASURED && !attribute->reason[0]) {
        attribute_refuse_as(attribute, unit, why);
    }
}
