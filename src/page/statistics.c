/* A report of statistics (docs/statistics.schema.json): what a program's launches did, in all and
 * by kernel. */
#include <math.h>
#include <stdio.h>

#include "page/html.h"
#include "page/svg.h"
#include "util/container/strbuf.h"
#include "util/glue/json_glue.h"

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* "12345678" as 12 345 678; what is no whole number with three digits behind the point. */
static void put_count(struct strbuf *out, double value)
{
    char text[64];
    if (value != floor(value) || fabs(value) >= 1e18) {
        strbuf_printf(out, "%.3f", value);
        return;
    }
    int length = snprintf(text, sizeof(text), "%.0f", value);
    for (int i = 0; i < length; i++) {
        bool group = i > 0 && (length - i) % 3 == 0 && text[i - 1] != '-';
        strbuf_printf(out, "%s%c", group ? "&#8239;" : "", text[i]);
    }
}

static void begin_table(struct strbuf *out, const char *title, const char *const *columns)
{
    strbuf_printf(out, "<h3>%s</h3><div class=\"scroll\"><table><thead><tr>", title);
    for (size_t i = 0; columns[i]; i++) {
        strbuf_printf(out, "<th scope=\"col\"%s>%s</th>", i ? " class=\"number\"" : "", columns[i]);
    }
    strbuf_append(out, "</tr></thead>\n");
}

static void end_table(struct strbuf *out)
{
    strbuf_append(out, "</table></div>\n");
}

static void put_cell(struct strbuf *out, double value)
{
    strbuf_append(out, "<td class=\"number\">");
    put_count(out, value);
    strbuf_append(out, "</td>");
}

/* A row's last two cells: a share as a number and as a bar. */
static void end_row(struct strbuf *out, double part)
{
    strbuf_printf(out, "<td class=\"number\">%.1f %%</td><td>", 100 * part);
    html_bar(out, part);
    strbuf_append(out, "</td></tr>\n");
}

/* A row of a table of shares: name, count, share, bar. */
static void put_share(struct strbuf *out, const char *name, double count, double all)
{
    strbuf_append(out, "<tr><th scope=\"row\">");
    svg_escape(out, name);
    strbuf_append(out, "</th>");
    put_cell(out, count);
    end_row(out, share(count, all));
}

static double sum_of(const json_t *counts)
{
    const char *name;
    json_t *count;
    double all = 0;
    json_object_foreach((json_t *)counts, name, count)
    {
        all += json_number_value(count);
    }
    return all;
}

/* Members of an object of counts that are not 0, each beside their sum. */
static void put_shares(struct strbuf *out, const char *title, const char *of, const json_t *counts)
{
    const char *const columns[] = {of, "count", "share", "", NULL};
    const char *name;
    json_t *count;
    double all = sum_of(counts);
    if (all > 0) {
        begin_table(out, title, columns);
        json_object_foreach((json_t *)counts, name, count)
        {
            if (json_number_value(count) > 0) {
                put_share(out, name, json_number_value(count), all);
            }
        }
        end_table(out);
    }
}

static void put_lanes(struct strbuf *out, const json_t *lanes)
{
    static const char *const columns[] = {"active lanes", "warp instructions", "share", "", NULL};
    double all = 0;
    for (size_t i = 0; i < json_array_size(lanes); i++) {
        all += json_number_value(json_array_get(lanes, i));
    }
    if (all > 0) {
        begin_table(out, "Active lanes", columns);
        for (size_t i = 0; i < json_array_size(lanes); i++) {
            char name[24];
            double count = json_number_value(json_array_get(lanes, i));
            snprintf(name, sizeof(name), "%zu", i);
            if (count > 0) {
                put_share(out, name, count, all);
            }
        }
        end_table(out);
    }
}

static void put_latencies(struct strbuf *out, const json_t *places)
{
    static const char *const columns[] = {"cycles", "loads", "share", "", NULL};
    double all = 0;
    for (size_t i = 0; i < json_array_size(places); i++) {
        all += json_number_of(json_array_get(places, i), "count");
    }
    if (all > 0) {
        begin_table(out, "Latency of loads", columns);
        for (size_t i = 0; i < json_array_size(places); i++) {
            const json_t *place = json_array_get(places, i);
            char name[64];
            snprintf(name, sizeof(name), "%.0f to %.0f", json_number_of(place, "from"),
                     json_number_of(place, "to"));
            put_share(out, name, json_number_of(place, "count"), all);
        }
        end_table(out);
    }
}

static void put_caches(struct strbuf *out, const json_t *caches)
{
    static const char *const columns[] = {"cache or TLB", "reads", "hits", "pending hits",
                                          "hit rate",     "",      NULL};
    const char *name;
    json_t *cache;
    begin_table(out, "Caches", columns);
    json_object_foreach((json_t *)caches, name, cache)
    {
        if (json_is_object(cache)) {
            double reads = json_number_of(cache, "reads"), hits = json_number_of(cache, "hits"),
                   pending = json_number_of(cache, "pending_hits");
            strbuf_append(out, "<tr><th scope=\"row\">");
            svg_escape(out, name);
            strbuf_append(out, "</th>");
            put_cell(out, reads);
            put_cell(out, hits);
            put_cell(out, pending);
            end_row(out, share(hits + pending, reads));
        }
    }
    end_table(out);
    strbuf_append(
        out, "<p>A pending hit found its line on its way already. The hit rate is that of both: of "
             "reads that needed nothing new from below.</p>\n");
}

static void put_named(struct strbuf *out, const char *name, double value, const char *unit)
{
    strbuf_printf(out, "<tr><th scope=\"row\">%s</th>", name);
    put_cell(out, value);
    strbuf_printf(out, "<td>%s</td></tr>\n", unit);
}

static void put_counts(struct strbuf *out, const json_t *stats)
{
    const json_t *dram = json_object_get(stats, "dram");
    strbuf_append(out, "<div class=\"scroll\"><table>\n");
    put_named(out, "cycles", json_number_of(stats, "cycles"), "of the core clock");
    put_named(out, "IPC", json_number_of(stats, "ipc"),
              "thread instructions a cycle, of the whole GPU");
    put_named(out, "launches", json_number_of(stats, "launches"), "");
    put_named(out, "blocks", json_number_of(stats, "cta_count"), "");
    put_named(out, "warp instructions", json_number_of(stats, "warp_instructions"), "of PTX");
    put_named(out, "machine instructions", json_number_of(stats, "machine_instructions"),
              "that they become");
    put_named(out, "transactions", json_number_of(stats, "transactions"), "to L1 or the network");
    put_named(out, "bank conflicts", json_number_of(stats, "shared_conflicts"),
              "further passes of shared-memory accesses");
    put_named(out, "DRAM reads", json_number_of(dram, "reads"), "requests");
    put_named(out, "DRAM writes", json_number_of(dram, "writes"), "requests");
    if (json_object_get(dram, "read_bytes")) { /* not in older files */
        put_named(out, "DRAM read", json_number_of(dram, "read_bytes"), "bytes");
        put_named(out, "DRAM written", json_number_of(dram, "written_bytes"), "bytes");
    }
    put_named(out, "DRAM utilization", 100 * json_number_of(dram, "utilization"),
              "% of the time with data on the pins");
    put_named(out, "DRAM efficiency", 100 * json_number_of(dram, "efficiency"),
              "% of the time with a request waiting");
    strbuf_append(out, "</table></div>\n");
}

/* Of all launches, or of a kernel's. */
static void put_run(struct strbuf *out, const json_t *stats)
{
    put_counts(out, stats);
    put_shares(out, "What SMs did", "an SM's cycle", json_object_get(stats, "sm_cycles"));
    put_shares(out, "Warp instructions by unit", "unit",
               json_object_get(stats, "warp_instructions_by_unit"));
    put_shares(out, "Memory instructions by space", "space",
               json_object_get(stats, "accesses_by_space"));
    put_lanes(out, json_object_get(stats, "warp_instructions_by_active_lanes"));
    put_caches(out, json_object_get(stats, "caches"));
    put_latencies(out, json_object_get(stats, "access_latency_cycles"));
}

static void put_kernels(struct strbuf *out, const json_t *kernels, double cycles)
{
    static const char *const columns[] = {"kernel", "launches", "IPC", "warp instructions",
                                          "cycles", "share",    "",    NULL};
    begin_table(out, "Kernels", columns);
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *kernel = json_array_get(kernels, i);
        strbuf_append(out, "<tr><th scope=\"row\">");
        html_kernel_name(out, kernel);
        strbuf_append(out, "</th>");
        put_cell(out, json_number_of(kernel, "launches"));
        put_cell(out, json_number_of(kernel, "ipc"));
        put_cell(out, json_number_of(kernel, "warp_instructions"));
        put_cell(out, json_number_of(kernel, "cycles"));
        end_row(out, share(json_number_of(kernel, "cycles"), cycles));
    }
    end_table(out);
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        strbuf_append(out, "<details><summary>");
        html_kernel_name(out, json_array_get(kernels, i));
        strbuf_append(out, "</summary>\n");
        put_run(out, json_array_get(kernels, i));
        strbuf_append(out, "</details>\n");
    }
}

void html_statistics(struct strbuf *out, const json_t *document)
{
    const json_t *kernels = json_object_get(document, "kernels");
    bool sampled = json_is_true(json_object_get(document, "sampled"));
    if (sampled) {
        strbuf_append(out, "<section><h2>Sampling: of all launches</h2><div class=\"scroll\">\n");
        html_value(out, json_object_get(document, "sampling"), NULL);
        strbuf_append(out, "</div></section>\n");
    }
    strbuf_printf(out, "<section><h2>%s</h2>\n",
                  sampled ? "Launches that were simulated" : "All launches");
    put_run(out, document);
    if (json_array_size(kernels) > 0) {
        put_kernels(out, kernels, json_number_of(document, "cycles"));
    }
    strbuf_append(out, "</section>\n<section><h2>Every value</h2><details><summary>as in the "
                       "file</summary><div class=\"scroll\">\n");
    html_value(out, document, NULL);
    strbuf_append(out, "</div></details></section>\n");
}
