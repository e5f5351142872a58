/*
 * The dissection as a table for a terminal: attributes down, caches across, each value with its
 * confidence; below it the latency classes and, when asked for, the evidence.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/parts.h"
#include "report/report.h"
#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/text/printable.h"
#include "util/text/units.h"

#define LABEL_WIDTH 26
#define CELL_WIDTH 24
#define COLUMNS 3 /* caches beside each other */
#define SCREEN_COLUMNS 80

struct pen {
    struct strbuf out;
    const struct report_style *style;
};

static const char *paint(const struct pen *pen, const char *code)
{
    return pen->style->colour ? code : "";
}

static void heading(struct pen *pen, const char *text)
{
    strbuf_printf(&pen->out, "%s%s%s\n", paint(pen, "\033[1m"), text, paint(pen, "\033[0m"));
}

void report_value(char *text, size_t size, const struct attribute *attribute)
{
    double value = attribute->value;
    bool whole = value >= 0 && value < 1e18 && value == (double)(uint64_t)value;
    if (strcmp(attribute->unit, "B") == 0 && whole) {
        units_format(text, size, (uint64_t)value, UNIT_BYTES);
    } else if (strcmp(attribute->unit, "1") == 0) {
        snprintf(text, size, "%.6g", value);
    } else {
        snprintf(text, size, "%.6g %s", value, attribute->unit);
    }
}

void report_size(char *text, size_t size, const struct attribute *attribute)
{
    double kib = attribute->value / 1024;
    report_value(text, size, attribute);
    if (kib >= 10000 && fmod(kib, 1024) != 0) {
        snprintf(text, size, kib < 1048576 ? "%.4g MiB" : "%.4g GiB",
                 kib < 1048576 ? kib / 1024 : kib / 1048576);
    }
}

static void cell(struct pen *pen, const struct attribute *attribute)
{
    char text[64] = "-";
    char padded[96];
    if (attribute->status == ATTRIBUTE_MEASURED) {
        char value[48];
        report_value(value, sizeof(value), attribute);
        snprintf(text, sizeof(text), "%-14s %.2f", value, attribute->confidence);
    }
    snprintf(padded, sizeof(padded), "%-*s", CELL_WIDTH, text);
    const char *code = attribute->status != ATTRIBUTE_MEASURED ? "\033[2m"
                       : attribute->confidence < 0.9           ? "\033[33m"
                                                               : "\033[32m";
    strbuf_printf(&pen->out, "%s%s%s", paint(pen, code), padded, paint(pen, "\033[0m"));
}

/* A field's name as words. */
static void words(char *label, size_t size, const char *field)
{
    snprintf(label, size, "%s", field);
    for (char *c = label; *c; c++) {
        *c = *c == '_' ? ' ' : *c;
    }
}

static void row_label(struct pen *pen, const char *field)
{
    char label[LABEL_WIDTH];
    words(label, sizeof(label), field);
    strbuf_printf(&pen->out, "  %-*s", LABEL_WIDTH - 2, label);
}

void report_head(struct strbuf *out, const struct report_subject *subject,
                 const struct report_style *style)
{
    const struct trace_device *device = subject->device;
    struct pen pen = {.style = style};
    char clock[32], taken[48];
    units_format(clock, sizeof(clock), device->clock_hz, UNIT_HZ);
    int taken_length = snprintf(taken, sizeof taken, "dissected in %.1f s", subject->seconds);
    strbuf_append(out, paint(&pen, "\033[1m"));
    printable_append_name(out, subject->device_spec);
    strbuf_printf(out, "%s\n", paint(&pen, "\033[0m"));
    size_t line = out->length;
    strbuf_append(out, "  ");
    printable_append_name(out, device->name);
    strbuf_printf(out, ", %u SMs, %s, driver ", device->sms, clock);
    printable_append_name(out, device->driver);
    bool fits = out->length - line + 2 + (size_t)taken_length <= SCREEN_COLUMNS;
    strbuf_printf(out, "%s%s\n\n", fits ? "; " : "\n  ", taken);
}

/* A cell of what is no number; "" when it is not known. */
static void text_cell(struct pen *pen, const char *value, double confidence)
{
    char text[64] = "-", padded[96];
    if (value[0]) {
        snprintf(text, sizeof(text), "%-14s %.2f", value, confidence);
    }
    snprintf(padded, sizeof(padded), "%-*s", CELL_WIDTH, text);
    const char *code = !value[0] ? "\033[2m" : confidence < 0.9 ? "\033[33m" : "\033[32m";
    strbuf_printf(&pen->out, "%s%s%s", paint(pen, code), padded, paint(pen, "\033[0m"));
}

static void policy_cell(struct pen *pen, const struct cache_result *cache)
{
    text_cell(pen, cache->policy.name, cache->policy.confidence);
}

static void index_cell(struct pen *pen, const struct cache_result *cache)
{
    text_cell(pen, cache->index.kind, cache->index.confidence);
}

/* Some of the caches, for which there is room beside each other. */
struct columns {
    const struct cache_result *cache[COLUMNS];
    size_t count;
};

static void structure_row(struct pen *pen, const struct columns *columns, const char *label,
                          void (*put)(struct pen *, const struct cache_result *))
{
    row_label(pen, label);
    for (size_t i = 0; i < columns->count; i++) {
        put(pen, columns->cache[i]);
    }
    strbuf_append(&pen->out, "\n");
}

static bool means_nothing(const struct attribute *attribute)
{
    return attribute->status != ATTRIBUTE_MEASURED &&
           strcmp(attribute->reason, NOT_APPLICABLE) == 0;
}

/* Rows that mean nothing for any of them are left out. */
static void cache_columns(struct pen *pen, const struct columns *columns)
{
    bool applies;
    strbuf_printf(&pen->out, "%-*s", LABEL_WIDTH, "  value, confidence");
    for (size_t i = 0; i < columns->count; i++) {
        char name[INFER_NAME_BYTES + 16];
        snprintf(name, sizeof(name), "%s (per %s)", columns->cache[i]->id,
                 columns->cache[i]->scope);
        strbuf_printf(&pen->out, "%s%-*s%s", paint(pen, "\033[1m"), CELL_WIDTH, name,
                      paint(pen, "\033[0m"));
    }
    strbuf_append(&pen->out, "\n");
#define ATTRIBUTE(field, unit)                                                                     \
    applies = false;                                                                               \
    for (size_t i = 0; i < columns->count; i++) {                                                  \
        applies = applies || !means_nothing(&columns->cache[i]->field);                            \
    }                                                                                              \
    if (applies) {                                                                                 \
        row_label(pen, #field);                                                                    \
        for (size_t i = 0; i < columns->count; i++) {                                              \
            cell(pen, &columns->cache[i]->field);                                                  \
        }                                                                                          \
        strbuf_append(&pen->out, "\n");                                                            \
    }
#include "infer/attributes.def"
    structure_row(pen, columns, "policy", policy_cell);
    structure_row(pen, columns, "set index", index_cell);
    strbuf_append(&pen->out, "\n");
}

/* The caches that show; of the others the reasons tell. */
static void cache_table(struct pen *pen, const struct dissection *d)
{
    struct columns columns = {.count = 0};
    for (size_t i = 0; i < d->cache_count; i++) {
        if (d->caches[i].present) {
            columns.cache[columns.count++] = &d->caches[i];
        }
        if (columns.count == COLUMNS || (columns.count && i + 1 == d->cache_count)) {
            cache_columns(pen, &columns);
            columns.count = 0;
        }
    }
    row_label(pen, "memory latency");
    cell(pen, &d->memory_latency);
    strbuf_append(&pen->out, "\n\n");
}

static void class_lines(struct pen *pen, const char *title, const struct latency_class *classes,
                        size_t count)
{
    if (count == 0) {
        return;
    }
    heading(pen, title);
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(&pen->out, "  %8.6g cycles   5 %% to 95 %%: %.6g to %.6g   share %.3f\n",
                      classes[i].cycles, classes[i].low, classes[i].high, classes[i].share);
    }
    strbuf_append(&pen->out, "\n");
}

/* A cache's attributes as a list, for what is said of several at once. */
struct field {
    const char *name;
    const struct attribute *attribute;
};

#define ATTRIBUTE(field, unit) +1
enum {
    FIELD_COUNT = 0
#include "infer/attributes.def"
};

static void list_fields(struct field fields[FIELD_COUNT], const struct cache_result *cache)
{
    size_t count = 0;
#define ATTRIBUTE(member, unit) fields[count++] = (struct field){#member, &cache->member};
#include "infer/attributes.def"
}

static const char *reason_of(const struct attribute *attribute)
{
    return attribute->reason[0] ? attribute->reason : "no experiment measured it";
}

static bool lacks_for(const struct field *field, const char *reason)
{
    return field->attribute->status != ATTRIBUTE_MEASURED &&
           strcmp(reason_of(field->attribute), reason) == 0;
}

/* "  l2 sets, ways: reason" for the first field and those behind it that have the same; the names
 * are left out when that is all of a cache. */
static void reason_line(struct pen *pen, const char *id, const struct field *fields, size_t count)
{
    const char *reason = reason_of(fields[0].attribute);
    size_t alike = 0;
    for (size_t i = 0; i < count; i++) {
        alike += lacks_for(&fields[i], reason);
    }
    strbuf_printf(&pen->out, "  %s", id);
    for (size_t i = 0; i < count && alike < FIELD_COUNT; i++) {
        if (lacks_for(&fields[i], reason)) {
            char label[LABEL_WIDTH];
            words(label, sizeof(label), fields[i].name);
            strbuf_printf(&pen->out, "%s %s", i ? "," : "", label);
        }
    }
    strbuf_printf(&pen->out, ": %s\n", reason);
}

/* One line a reason: a cache that is not there lacks everything for the same one. */
static void reason_lines(struct pen *pen, const char *id, const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool told =
            fields[i].attribute->status == ATTRIBUTE_MEASURED || means_nothing(fields[i].attribute);
        for (size_t k = 0; !told && k < i; k++) {
            told = lacks_for(&fields[k], reason_of(fields[i].attribute));
        }
        if (!told) {
            reason_line(pen, id, fields + i, count - i);
        }
    }
}

static bool was_asked_for(const struct cache_result *cache)
{
    return cache->present || cache->absence.status != ATTRIBUTE_NOT_ASKED;
}

static void reasons(struct pen *pen, const struct dissection *d)
{
    size_t before = pen->out.length;
    heading(pen, "not measured");
    size_t start = pen->out.length;
    for (size_t i = 0; i < d->cache_count; i++) {
        struct field fields[FIELD_COUNT];
        list_fields(fields, &d->caches[i]);
        if (was_asked_for(&d->caches[i])) {
            reason_lines(pen, d->caches[i].id, fields, FIELD_COUNT);
        }
    }
    const struct attribute *read = &d->memory.read_bandwidth;
    bool is_asked = d->memory.loaded_count == 0 && read->status != ATTRIBUTE_NOT_ASKED;
    struct field memory[] = {{"latency", &d->memory_latency},
                             {"read bandwidth", read},
                             {"write bandwidth", &d->memory.write_bandwidth}};
    reason_lines(pen, "memory", memory, is_asked ? 3 : 1);
    if (pen->out.length == start && pen->out.text) {
        pen->out.length = before;
        pen->out.text[before] = '\0';
    } else {
        strbuf_append(&pen->out, "\n");
    }
}

static void steps(struct pen *pen, const struct cache_result *cache)
{
    if (cache->step_count == 0) {
        return;
    }
    char title[96];
    snprintf(title, sizeof(title), "%s: latency against footprint", cache->id);
    heading(pen, title);
    for (size_t i = 0; i < cache->step_count; i++) {
        char bytes[32];
        units_format(bytes, sizeof(bytes), (uint64_t)cache->steps[i].bytes, UNIT_BYTES);
        strbuf_printf(&pen->out, "  %14s  median %8.6g cycles  misses %5.1f %%\n", bytes,
                      cache->steps[i].median_cycles, 100 * cache->steps[i].miss_share);
    }
    strbuf_append(&pen->out, "\n");
}

/* What the table's words leave out: masks, shares of the ways, other paths. */
static void structure_lines(struct pen *pen, const struct cache_result *cache)
{
    for (size_t i = 0; i < cache->shared_count; i++) {
        strbuf_printf(&pen->out, "%s%s%s", i ? ", " : "  ", i ? "" : cache->id,
                      i ? "" : " is the same cache as ");
        strbuf_printf(&pen->out, "%s%s", cache->shared_with[i],
                      i + 1 == cache->shared_count ? "\n" : "");
    }
    if (cache->index.mask_count) {
        strbuf_printf(&pen->out, "  %s set index: address bits under the masks", cache->id);
        for (size_t i = 0; i < cache->index.mask_count; i++) {
            strbuf_printf(&pen->out, " 0x%llx", (unsigned long long)cache->index.masks[i]);
        }
        strbuf_append(&pen->out, "\n");
    } else if (cache->index.modulus) {
        strbuf_printf(&pen->out, "  %s set index: line modulo %llu\n", cache->id,
                      (unsigned long long)cache->index.modulus);
    }
    const struct policy_result *policy = &cache->policy;
    for (size_t i = 0; i < policy->equivalent_count; i++) {
        strbuf_printf(&pen->out, "  %s policy: %s or, alike with so few ways, %s\n", cache->id,
                      policy->name, policy->equivalent[i]);
    }
    if (policy->probability_count && policy->probability_count <= 16) {
        strbuf_printf(&pen->out, "  %s policy: victims by way", cache->id);
        for (size_t i = 0; i < policy->probability_count; i++) {
            strbuf_printf(&pen->out, " %.3f+-%.3f", policy->probability[i], policy->error[i]);
        }
        strbuf_printf(&pen->out, "%s\n",
                      policy->serial == SERIAL_YES ? ", not independent of each other" : "");
    }
}

static void structures(struct pen *pen, const struct dissection *d)
{
    size_t start = pen->out.length;
    for (size_t i = 0; i < d->cache_count; i++) {
        structure_lines(pen, &d->caches[i]);
    }
    if (pen->out.length != start) {
        strbuf_append(&pen->out, "\n");
    }
}

static void tlb_line(struct pen *pen, const struct tlb_result *tlb)
{
    const struct field fields[] = {{"page", &tlb->page},
                                   {"coverage", &tlb->coverage},
                                   {"entries", &tlb->entries},
                                   {"sets", &tlb->sets},
                                   {"miss penalty", &tlb->miss_penalty}};
    strbuf_printf(&pen->out, "  %-10s", tlb->id);
    for (size_t k = 0; tlb->present && k < sizeof(fields) / sizeof(*fields); k++) {
        char value[48] = "-";
        if (fields[k].attribute->status == ATTRIBUTE_MEASURED) {
            report_value(value, sizeof(value), fields[k].attribute);
        }
        strbuf_printf(&pen->out, "%s %s %s", k ? "," : "", fields[k].name, value);
    }
    bool alike = true;
    for (size_t i = 1; i < tlb->set_count; i++) {
        alike = alike && tlb->entries_per_set[i] == tlb->entries_per_set[0];
    }
    for (size_t i = 0; i < tlb->set_count && !alike; i++) {
        strbuf_printf(&pen->out, "%s%u", i ? "+" : ", entries by set ", tlb->entries_per_set[i]);
    }
    if (tlb->scope[0]) {
        strbuf_printf(&pen->out, ", one per %s", tlb->scope);
    }
    if (tlb->policy.name[0]) {
        strbuf_printf(&pen->out, ", policy %s", tlb->policy.name);
    }
    strbuf_append(&pen->out, tlb->present                              ? "\n"
                             : tlb->absence.status == ATTRIBUTE_ABSENT ? " does not show\n"
                                                                       : " not measured\n");
}

static void tlb_lines(struct pen *pen, const struct dissection *d)
{
    if (d->tlb_count == 0) {
        return;
    }
    heading(pen, "address translation");
    for (size_t i = 0; i < d->tlb_count; i++) {
        tlb_line(pen, &d->tlbs[i]);
    }
    strbuf_append(&pen->out, "\n");
}

static void pattern_line(struct pen *pen, const struct latency_pattern *p)
{
    const char *const outcomes[] = {p->l1_tlb, p->l2_tlb, p->page_table};
    static const char *const names[] = {"L1 TLB", "L2 TLB", "page table"};
    strbuf_printf(&pen->out, "  %-4s %-14s %6.6g cycles", p->op, p->name[0] ? p->name : "?",
                  p->latency.value);
    if (p->name[0]) {
        strbuf_printf(&pen->out, "  data in %s", p->cache);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (outcomes[i][0]) {
            strbuf_printf(&pen->out, ", %s %s", names[i], outcomes[i]);
        }
    }
    strbuf_printf(&pen->out, "%s\n", p->jump ? ", from far away" : "");
}

static void pattern_lines(struct pen *pen, const struct dissection *d)
{
    if (d->pattern_count == 0) {
        return;
    }
    heading(pen, "kinds of access");
    for (size_t i = 0; i < d->pattern_count; i++) {
        pattern_line(pen, &d->patterns[i]);
    }
    strbuf_append(&pen->out, "\n");
}

static void shared_lines(struct pen *pen, const struct dissection *d)
{
    const struct shared_result *shared = &d->shared;
    if (shared->banks.status != ATTRIBUTE_MEASURED) {
        return;
    }
    heading(pen, "shared memory");
    strbuf_printf(&pen->out, "  %.0f banks of %.0f B, latency %.4g cycles; by degree of conflict",
                  shared->banks.value, shared->bank_width.value, shared->latency.value);
    for (size_t i = 0; i < shared->conflict_count; i++) {
        strbuf_printf(&pen->out, "%s %u: %.4g", i ? "," : "", shared->conflicts[i].degree,
                      shared->conflicts[i].cycles);
    }
    strbuf_append(&pen->out, "\n\n");
}

/* "128 B (not 32 B)" where the dissection has another value. */
static void claim_text(char *text, size_t size, const struct dissection *d,
                       const struct method_result *m, const struct attribute *value)
{
    char said[48] = "-", found[48];
    const struct attribute *here = report_contradiction(d, m, value);
    if (value->status == ATTRIBUTE_MEASURED) {
        report_value(said, sizeof said, value);
    }
    if (here) {
        report_value(found, sizeof found, here);
    }
    snprintf(text, size, "%s%s%s%s", said, here ? " (not " : "", here ? found : "",
             here ? ")" : "");
}

/* What published recipes make of the same caches, one line each, and where it contradicts. */
static void method_lines(struct pen *pen, const struct dissection *d)
{
    if (d->method_count == 0) {
        return;
    }
    heading(pen, "published methods");
    for (size_t i = 0; i < d->method_count; i++) {
        const struct method_result *m = &d->methods[i];
        const struct field fields[] = {
            {"size", &m->size}, {"line", &m->line}, {"sets", &m->sets}, {"ways", &m->ways}};
        strbuf_printf(&pen->out, "  %-10s %-12s", m->name, m->cache);
        for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++) {
            char value[112];
            claim_text(value, sizeof value, d, m, fields[k].attribute);
            strbuf_printf(&pen->out, " %s %-12s", fields[k].name, value);
        }
        strbuf_append(&pen->out, "\n");
    }
    strbuf_append(&pen->out, "\n");
}

static void evidence(struct pen *pen, const struct dissection *d)
{
    heading(pen, "evidence");
    for (size_t i = 0; i < d->evidence_count; i++) {
        strbuf_printf(&pen->out, "  %-6s %s\n", d->evidence[i].id, d->evidence[i].text);
    }
}

int report_table(char **text, const struct dissection *dissection,
                 const struct report_subject *subject, const struct report_style *style)
{
    struct pen pen = {.style = style};
    report_head(&pen.out, subject, style);
    cache_table(&pen, dissection);
    structures(&pen, dissection);
    tlb_lines(&pen, dissection);
    pattern_lines(&pen, dissection);
    shared_lines(&pen, dissection);
    if (dissection->outstanding.measured) {
        heading(&pen, "loads in flight");
        report_outstanding(&pen.out, &dissection->outstanding);
    }
    if (dissection->memory.loaded_count > 0) {
        heading(&pen, "memory under load");
        report_memory(&pen.out, &dissection->memory);
    }
    if (dissection->sm.asked) {
        heading(&pen, "instructions");
        report_sm(&pen.out, &dissection->sm);
        report_sm_curves(&pen.out, &dissection->sm);
        strbuf_append(&pen.out, "\n");
    }
    method_lines(&pen, dissection);
    reasons(&pen, dissection);
    class_lines(&pen, "latency classes", dissection->classes, dissection->class_count);
    for (size_t i = 0; i < dissection->cache_count; i++) {
        char title[96];
        snprintf(title, sizeof(title), "%s: hit latencies", dissection->caches[i].id);
        class_lines(&pen, title, dissection->caches[i].latencies,
                    dissection->caches[i].latency_count);
    }
    if (style->evidence) {
        for (size_t i = 0; i < dissection->cache_count; i++) {
            steps(&pen, &dissection->caches[i]);
        }
        evidence(&pen, dissection);
    }
    *text = strbuf_take(&pen.out);
    return *text ? 0 : error_memory();
}
