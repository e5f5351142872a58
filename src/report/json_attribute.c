/* An attribute as JSON: a value with unit, confidence and evidence, or the reason why there is
 * none. */
#include <math.h>
#include <stdbool.h>

#include <jansson.h>

#include "report/parts.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

/* Whole numbers without a point: bytes read as bytes. */
int json_put_number(json_t *object, const char *key, double value)
{
    bool whole = fabs(value) < 0x1p53 && value == floor(value);
    return whole ? json_put_i64(object, key, (int64_t)value) : json_put_double(object, key, value);
}

const char *json_status_word(enum attribute_status status)
{
    static const char *const words[] = {[ATTRIBUTE_NOT_MEASURED] = "not measured",
                                        [ATTRIBUTE_ABSENT] = "absent",
                                        [ATTRIBUTE_NOT_ASKED] = "not asked",
                                        [ATTRIBUTE_NOT_RECORDED] = "not recorded"};
    return words[status];
}

int json_put_refusal(json_t *object, enum attribute_status status, const char *reason)
{
    int rc = json_put_string(object, "status", json_status_word(status));
    return rc < 0 ? rc
                  : json_put_string(object, "reason", reason[0] ? reason : REPORT_NO_EXPERIMENT);
}

int json_put_refused(json_t *parent, const char *key, enum attribute_status status,
                     const char *reason)
{
    json_t *object = json_put_object(parent, key);
    return object ? json_put_refusal(object, status, reason) : error_memory();
}

int json_put_attribute(json_t *parent, const char *key, const struct attribute *attribute)
{
    if (attribute->status != ATTRIBUTE_MEASURED) {
        return json_put_refused(parent, key, attribute->status, attribute->reason);
    }
    json_t *object = json_put_object(parent, key);
    if (!object) {
        return error_memory();
    }
    int rc = json_put_number(object, "value", attribute->value);
    rc = rc < 0 ? rc : json_put_string(object, "unit", attribute->unit);
    if (attribute->high > 0) {
        rc = rc < 0 ? rc : json_put_number(object, "low", attribute->low);
        rc = rc < 0 ? rc : json_put_number(object, "high", attribute->high);
    }
    rc = rc < 0 ? rc : json_put_double(object, "confidence", attribute->confidence);
    return rc < 0 ? rc : json_put_string(object, "evidence", attribute->evidence);
}
