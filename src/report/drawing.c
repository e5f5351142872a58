/*
 * The hierarchy as boxes of text, for the first screen: what an SM has, what a cluster of SMs
 * shares, what the GPU has once. Caches that are one and the same under several names stand once.
 * Only what was found is drawn. `sonde topology` draws the whole, with numbers.
 */
#include <stdio.h>
#include <string.h>

#include "report/parts.h"
#include "report/report.h"

#define INSIDE 73 /* columns between the walls */
#define ITEM_BYTES 160

struct box {
    struct strbuf *out;
    size_t column; /* of the line that is begun; 0: none is */
};

static void rule(struct strbuf *out, const char *title)
{
    strbuf_printf(out, "  +-%s%s%s", title[0] ? " " : "", title, title[0] ? " " : "");
    for (size_t i = strlen(title) + (title[0] ? 3 : 1); i < INSIDE + 2; i++) {
        strbuf_append_char(out, '-');
    }
    strbuf_append(out, "+\n");
}

static void end_line(struct box *box)
{
    if (box->column > 0) {
        int left = box->column < INSIDE ? (int)(INSIDE - box->column) : 0;
        strbuf_printf(box->out, "%*s |\n", left, "");
    }
    box->column = 0;
}

static void put(struct box *box, const char *item)
{
    size_t length = strlen(item) + 2;
    if (box->column > 0 && box->column + 1 + length > INSIDE) {
        end_line(box);
    }
    strbuf_append(box->out, box->column ? " " : "  | ");
    strbuf_printf(box->out, "[%s]", item);
    box->column += length + (box->column ? 1 : 0);
}

/* Is it the same as one that stands before it? */
static bool is_drawn(const struct dissection *d, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        for (size_t s = 0; d->caches[k].present && s < d->caches[i].shared_count; s++) {
            if (strcmp(d->caches[i].shared_with[s], d->caches[k].id) == 0 &&
                strcmp(d->caches[i].scope, d->caches[k].scope) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void put_cache(struct box *box, const struct dissection *d, size_t i)
{
    const struct cache_result *cache = &d->caches[i];
    char item[ITEM_BYTES], size[32];
    size_t used = (size_t)snprintf(item, sizeof item, "%s", cache->id);
    for (size_t s = 0; s < cache->shared_count && used < INSIDE / 2 + INSIDE / 3; s++) {
        used += (size_t)snprintf(item + used, sizeof item - used, " = %s", cache->shared_with[s]);
    }
    if (cache->size.status == ATTRIBUTE_MEASURED) {
        report_size(size, sizeof size, &cache->size);
        snprintf(item + used, sizeof item - used, " %s", size);
    }
    put(box, item);
}

static void put_scope(struct strbuf *out, const struct dissection *d, const char *scope,
                      const char *title)
{
    struct strbuf inside = {0};
    struct box box = {.out = &inside};
    for (size_t i = 0; i < d->cache_count; i++) {
        if (d->caches[i].present && strcmp(d->caches[i].scope, scope) == 0 && !is_drawn(d, i)) {
            put_cache(&box, d, i);
        }
    }
    if (strcmp(scope, "sm") == 0 && d->shared.banks.status == ATTRIBUTE_MEASURED) {
        put(&box, "shared memory");
    }
    for (size_t i = 0; i < d->tlb_count; i++) {
        if (d->tlbs[i].present && strcmp(d->tlbs[i].scope, scope) == 0) {
            put(&box, d->tlbs[i].id);
        }
    }
    if (strcmp(scope, "gpu") == 0 && d->memory_latency.status == ATTRIBUTE_MEASURED) {
        put(&box, "memory");
    }
    end_line(&box);
    if (inside.length > 0) {
        rule(out, title);
        strbuf_append(out, strbuf_text(&inside));
    }
    strbuf_free(&inside);
}

void report_drawing(struct strbuf *out, const struct dissection *dissection, uint32_t sms)
{
    char title[32];
    size_t before = out->length;
    snprintf(title, sizeof title, sms == 1 ? "%u SM" : "%u SMs, each", sms);
    put_scope(out, dissection, "sm", title);
    put_scope(out, dissection, "cluster", "SMs together");
    put_scope(out, dissection, "gpu", "GPU");
    if (out->length > before) {
        rule(out, "");
        strbuf_append_char(out, '\n');
    }
}
