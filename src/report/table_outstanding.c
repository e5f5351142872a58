/* What an SM may have outstanding, and memory under load, as lines of the table. */
#include <stdio.h>

#include "report/parts.h"

/* "name 128 (0.95)", or "name at least 64", or nothing. */
static void value(struct strbuf *out, const char *name, const struct attribute *attribute,
                  double least)
{
    if (attribute->status == ATTRIBUTE_MEASURED) {
        strbuf_printf(out, ", %s %.0f (%.2f)", name, attribute->value, attribute->confidence);
    } else if (least > 0) {
        strbuf_printf(out, ", %s at least %.0f", name, least);
    }
}

void report_outstanding(struct strbuf *out, const struct outstanding_result *o)
{
    if (o->structure[0]) {
        strbuf_printf(out, "  structure %s (%.2f)", o->structure, o->confidence);
    } else {
        strbuf_append(out, "  structure unknown");
    }
    value(out, "entries", &o->entries, o->entries_least);
    value(out, "mergers", &o->mergers, o->mergers_least);
    value(out, "loads per warp", &o->loads_per_warp, o->loads_per_warp_least);
    value(out, "requests per SM", &o->max_requests, o->max_requests_least);
    if (!o->structure[0]) {
        strbuf_printf(out, "\n  %s", o->refusal.reason);
    }
    strbuf_append(out, "\n\n");
}

static void bandwidth(struct strbuf *out, const char *name, const struct attribute *attribute)
{
    if (attribute->status == ATTRIBUTE_MEASURED) {
        strbuf_printf(out, "  %s %.4g GB/s (%.2f)\n", name, attribute->value / 1e9,
                      attribute->confidence);
    } else {
        strbuf_printf(out, "  %s: %s\n", name, attribute->reason);
    }
}

void report_memory(struct strbuf *out, const struct memory_result *memory)
{
    bandwidth(out, "read", &memory->read_bandwidth);
    bandwidth(out, "write", &memory->write_bandwidth);
    strbuf_append(out, "  lines under way and cycles:");
    for (size_t i = 0; i < memory->loaded_count; i++) {
        strbuf_printf(out, "%s %.0f: %.0f", i ? "," : "", memory->loaded[i].requests,
                      memory->loaded[i].cycles);
    }
    strbuf_append(out, "\n\n");
}
