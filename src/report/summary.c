/*
 * What a dissection found, on one screen of 80 columns: the hierarchy drawn, a line a cache and a
 * level of translation, the latencies, shared memory, what may be in flight. All else (the
 * confidence of each value, masks, reasons, distributions, evidence) is the table's, table.c. A
 * line's confidence is the least of its values'.
 */
#include <stdio.h>
#include <string.h>

#include "report/parts.h"
#include "report/report.h"
#include "util/container/strbuf.h"
#include "util/error.h"

#define WIDTH 79

/* A value as text, "-" where there is none; *least becomes the least confidence so far. */
static void take(char *text, size_t size, const struct attribute *attribute, double *least)
{
    snprintf(text, size, "-");
    if (attribute->status == ATTRIBUTE_MEASURED) {
        report_value(text, size, attribute);
        *least = attribute->confidence < *least ? attribute->confidence : *least;
    }
}

static void take_size(char *text, size_t size, const struct attribute *attribute, double *least)
{
    take(text, size, attribute, least);
    if (attribute->status == ATTRIBUTE_MEASURED) {
        report_size(text, size, attribute);
    }
}

static void take_cycles(char *text, size_t size, const struct attribute *attribute, double *least)
{
    take(text, size, attribute, least);
    if (attribute->status == ATTRIBUTE_MEASURED) {
        snprintf(text, size, "%.4g", attribute->value);
    }
}

static void cache_line(struct strbuf *out, const struct cache_result *cache)
{
    char size[32], line[32], sets[32], ways[32], shape[72], hit[32], miss[32], trust[16];
    double least = 2;
    take_size(size, sizeof(size), &cache->size, &least);
    take(line, sizeof(line), &cache->line, &least);
    take(sets, sizeof(sets), &cache->sets, &least);
    take(ways, sizeof(ways), &cache->ways, &least);
    take_cycles(hit, sizeof(hit), &cache->hit_latency, &least);
    take_cycles(miss, sizeof(miss), &cache->miss_penalty, &least);
    const struct policy_result *policy = &cache->policy;
    if (policy->name[0] && policy->confidence < least) {
        least = policy->confidence;
    }
    bool shaped =
        cache->sets.status == ATTRIBUTE_MEASURED || cache->ways.status == ATTRIBUTE_MEASURED;
    snprintf(shape, sizeof(shape), shaped ? "%s x %s" : "-", sets, ways);
    snprintf(trust, sizeof(trust), least > 1 ? "-" : "%.2f", least);
    strbuf_printf(out, "  %-12.12s %-9.9s %-5.5s %-11.11s %-10.10s %-6.6s %-6.6s %-4s %s\n",
                  cache->id, size, line, shape, policy->name[0] ? policy->name : "-", hit, miss,
                  trust, cache->scope);
}

static void cache_lines(struct strbuf *out, const struct dissection *d)
{
    strbuf_printf(out, "  %-12s %-9s %-5s %-11s %-10s %-6s %-6s %-4s %s\n", "cache", "size", "line",
                  "sets x ways", "policy", "hit", "miss +", "conf", "per");
    for (size_t i = 0; i < d->cache_count; i++) {
        if (d->caches[i].present) {
            cache_line(out, &d->caches[i]);
        }
    }
    if (d->memory_latency.status == ATTRIBUTE_MEASURED) {
        strbuf_printf(out, "  %-51s %-6.4g %-6s %.2f\n", "memory", d->memory_latency.value, "",
                      d->memory_latency.confidence);
    }
    for (size_t i = 0; i < d->cache_count; i++) {
        if (!d->caches[i].present && d->caches[i].absence.status == ATTRIBUTE_ABSENT) {
            strbuf_printf(out, "  %-12.12s not there\n", d->caches[i].id);
        }
    }
}

/* Items behind a name, with commas, as many in a line as there is room for. */
static void wrapped(struct strbuf *out, char items[][80], size_t count)
{
    size_t column = 15;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(items[i]);
        bool breaks = i > 0 && column + 2 + length > WIDTH;
        strbuf_append(out, i == 0 ? "" : breaks ? ",\n               " : ", ");
        strbuf_append(out, items[i]);
        column = (breaks || i == 0 ? 15 : column + 2) + length;
    }
    strbuf_append(out, "\n");
}

/* What was tried and told nothing: one line, as the screen of a large machine has no room for more.
 */
static void unmeasured_lines(struct strbuf *out, const struct dissection *d)
{
    char items[INFER_MAX_CACHES + 1][80];
    size_t count = 0;
    for (size_t i = 0; i < d->cache_count; i++) {
        if (!d->caches[i].present && d->caches[i].absence.status == ATTRIBUTE_NOT_MEASURED) {
            snprintf(items[count++], sizeof items[0], "%.24s", d->caches[i].id);
        }
    }
    if (d->memory_latency.status == ATTRIBUTE_NOT_MEASURED) {
        snprintf(items[count++], sizeof items[0], "memory");
    }
    if (count > 0) {
        strbuf_append(out, "  not measured ");
        wrapped(out, items, count);
    }
}

static void tlb_lines(struct strbuf *out, const struct dissection *d)
{
    bool any = false;
    for (size_t i = 0; i < d->tlb_count; i++) {
        const struct tlb_result *tlb = &d->tlbs[i];
        char page[32], coverage[32], entries[32], sets[32], miss[32];
        double least = 2;
        if (!tlb->present) {
            continue;
        }
        take(page, sizeof(page), &tlb->page, &least);
        take_size(coverage, sizeof(coverage), &tlb->coverage, &least);
        take_cycles(entries, sizeof(entries), &tlb->entries, &least);
        take_cycles(sets, sizeof(sets), &tlb->sets, &least);
        take_cycles(miss, sizeof(miss), &tlb->miss_penalty, &least);
        char items[5][80] = {"", "", "", "", ""};
        snprintf(items[0], sizeof(items[0]), "%s of %s pages", coverage, page);
        snprintf(items[1], sizeof(items[1]), "%s entries", entries);
        snprintf(items[2], sizeof(items[2]),
                 tlb->sets.status != ATTRIBUTE_MEASURED ? "sets unknown"
                 : strcmp(sets, "1") == 0               ? "%s set"
                                                        : "%s sets",
                 sets);
        snprintf(items[3], sizeof(items[3]), "%.48s",
                 tlb->policy.name[0] ? tlb->policy.name : "policy unknown");
        snprintf(items[4], sizeof(items[4]), tlb->scope[0] ? "+%s, per %.24s" : "+%s", miss,
                 tlb->scope);
        strbuf_printf(out, "  %-12.12s ", tlb->id);
        wrapped(out, items, 5);
        any = true;
    }
    strbuf_append(out, any ? "\n" : "");
}

/* "name cycles" of each kind of access, as many in a line as there is room for. */
static void pattern_lines(struct strbuf *out, const struct dissection *d)
{
    size_t column = 0;
    for (size_t i = 0; i < d->pattern_count; i++) {
        const struct latency_pattern *pattern = &d->patterns[i];
        char item[80];
        int length = snprintf(item, sizeof(item), "%s %s %.6g", pattern->op,
                              pattern->name[0] ? pattern->name : "?", pattern->latency.value);
        if (column > 0 && column + 2 + (size_t)length > WIDTH) {
            strbuf_append(out, ",\n");
            column = 0;
        }
        strbuf_printf(out, "%s%s", column ? ", " : i ? "               " : "  accesses     ", item);
        column += (size_t)length + (column ? 2 : 15);
    }
    strbuf_append(out, d->pattern_count ? "\n" : "");
}

static void other_lines(struct strbuf *out, const struct dissection *d)
{
    if (d->shared.banks.status == ATTRIBUTE_MEASURED) {
        strbuf_printf(out, "  shared       %.0f banks of %.0f B, latency %.4g cycles\n",
                      d->shared.banks.value, d->shared.bank_width.value, d->shared.latency.value);
    }
    if (d->outstanding.measured && d->outstanding.structure[0]) {
        strbuf_printf(out, "  in flight    %s (%.2f)", d->outstanding.structure,
                      d->outstanding.confidence);
        if (d->outstanding.entries.status == ATTRIBUTE_MEASURED) {
            strbuf_printf(out, " of %.0f entries", d->outstanding.entries.value);
        }
        strbuf_append(out, "\n");
    }
}

static bool lacks_records(const struct cache_result *cache)
{
    const struct attribute *of_cache[] = {
#define ATTRIBUTE(field, unit) &cache->field,
#include "infer/attributes.def"
    };
    bool lacks = !cache->present && cache->absence.status == ATTRIBUTE_NOT_RECORDED;
    for (size_t i = 0; cache->present && i < sizeof of_cache / sizeof *of_cache; i++) {
        lacks |= of_cache[i]->status == ATTRIBUTE_NOT_RECORDED;
    }
    return lacks;
}

/* Of a recording that another version has made, or only in part. */
static void unrecorded_lines(struct strbuf *out, const struct dissection *d)
{
    char items[INFER_MAX_CACHES][80];
    size_t count = 0;
    for (size_t i = 0; i < d->cache_count; i++) {
        if (lacks_records(&d->caches[i])) {
            snprintf(items[count++], sizeof items[0], "%.24s", d->caches[i].id);
        }
    }
    if (count > 0) {
        strbuf_append(out, "  not recorded ");
        wrapped(out, items, count);
        strbuf_append(out, "               (or in part: this version asks for more than the "
                           "recording has)\n");
    }
}

int report_summary(char **text, const struct dissection *dissection,
                   const struct report_subject *subject, const struct report_style *style)
{
    struct strbuf out = {0};
    report_head(&out, subject, style);
    report_drawing(&out, dissection, subject->device->sms);
    cache_lines(&out, dissection);
    unmeasured_lines(&out, dissection);
    unrecorded_lines(&out, dissection);
    strbuf_append(&out, "\n");
    tlb_lines(&out, dissection);
    pattern_lines(&out, dissection);
    other_lines(&out, dissection);
    if (dissection->sm.asked) {
        strbuf_append(&out, "\n");
        report_sm(&out, &dissection->sm);
    }
    strbuf_append(&out, "\nLatencies in cycles. With -v: each value's confidence, reasons, "
                        "evidence.\n");
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}
