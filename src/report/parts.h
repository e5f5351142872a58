/* What the files of this room share: pieces of the JSON. */
#ifndef SONDE_REPORT_PARTS_H
#define SONDE_REPORT_PARTS_H

#include <jansson.h>

#include "infer/dissection.h"
#include "util/container/strbuf.h"

#define REPORT_NO_EXPERIMENT "no experiment measures this yet"

/* json_attribute.c */
int json_put_number(json_t *object, const char *key, double value);
const char *json_status_word(enum attribute_status status);
/* Status and reason of what has no value, into the object that would have it; and an object with
 * these alone. */
int json_put_refusal(json_t *object, enum attribute_status status, const char *reason);
int json_put_refused(json_t *parent, const char *key, enum attribute_status status,
                     const char *reason);
int json_put_attribute(json_t *parent, const char *key, const struct attribute *attribute);

/* json_structure.c */
int json_put_policy(json_t *parent, const struct policy_result *policy);
int json_put_index(json_t *parent, const struct cache_result *cache);
int json_put_tlbs(json_t *root, const struct dissection *dissection);
int json_put_shared(json_t *root, const struct dissection *dissection);
int json_put_methods(json_t *root, const struct dissection *dissection);

/* methods.c: what the dissection has of the same cache, if `value`, a member of `method`,
 * contradicts it; else NULL. Sizes may differ by a line, and within the bounds of an estimate. */
const struct attribute *report_contradiction(const struct dissection *d,
                                             const struct method_result *method,
                                             const struct attribute *value);

/* json_patterns.c */
int json_put_patterns(json_t *root, const struct dissection *dissection);

/* json_outstanding.c */
int json_put_outstanding(json_t *root, const struct dissection *dissection);
int json_put_loaded(json_t *root, const struct memory_result *memory);

/* json_sm.c */
int json_put_sm(json_t *root, const struct dissection *dissection);

struct report_subject;
struct report_style;
/* table.c: the first two lines; a value with its unit, "16 KiB" */
void report_head(struct strbuf *out, const struct report_subject *subject,
                 const struct report_style *style);
void report_value(char *text, size_t size, const struct attribute *attribute);

/* table.c: bytes, of which no one reads five digits: 29.42 MiB, not 30122 KiB */
void report_size(char *text, size_t size, const struct attribute *attribute);

/* drawing.c: boxes, in at most 80 columns; nothing where nothing was found */
void report_drawing(struct strbuf *out, const struct dissection *dissection, uint32_t sms);

/* table_sm.c: the numbers; what is varied, and what has no value */
void report_sm(struct strbuf *out, const struct sm_result *sm);
void report_sm_curves(struct strbuf *out, const struct sm_result *sm);

/* table_outstanding.c */
void report_outstanding(struct strbuf *out, const struct outstanding_result *outstanding);
void report_memory(struct strbuf *out, const struct memory_result *memory);

#endif
