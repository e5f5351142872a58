/*
 * Which figures a dissection has: the hierarchy, of each cache latency over footprint, the address
 * bits of its set index and the victims of a policy that draws them, pages that miss in TLBs, bank
 * conflicts, latency under load. Caches that are one array behind several paths are drawn once.
 */
#include "page/figures.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/saved.h"
#include "page/box.h"
#include "page/page.h"
#include "page/svg.h"
#include "util/bits.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

enum { TITLE_BYTES = 120, SHOWN_BITS = 32 };

struct points VEC_FIELDS(struct chart_point);
struct numbers VEC_FIELDS(double);

static void add_figure(struct figures *out, const char *part, const char *what, struct strbuf *svg)
{
    struct figure figure = {.svg = svg->length ? strbuf_take(svg) : NULL};
    snprintf(figure.name, sizeof figure.name, "%s%s%s", part, *part ? "-" : "", what);
    for (char *c = figure.name; *c; c++) { /* an id of a document that somebody wrote */
        *c = *c == '_' || *c == '-' || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ? *c
                                                                                            : '-';
    }
    if (!figure.svg || vec_push(out, figure) != 0) {
        free(figure.svg);
    }
    strbuf_free(svg);
}

/* Points of an array of objects, by two of their members; those that are numbers in both. */
static void collect(struct points *out, const json_t *array, const char *x, const char *y)
{
    vec_clear(out);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *element = json_array_get(array, i);
        if (json_is_number(json_object_get(element, x)) &&
            json_is_number(json_object_get(element, y))) {
            (void)vec_push(
                out, (struct chart_point){json_number_of(element, x), json_number_of(element, y)});
        }
    }
}

static void add_footprint(struct figures *out, const json_t *cache)
{
    const char *id = saved_text(cache, "id", "");
    struct points points = {0};
    struct strbuf svg = {0};
    struct saved_value size;
    char title[TITLE_BYTES];
    bool known = saved_value(&size, cache, "size");
    collect(&points, json_object_get(cache, "steps"), "bytes", "median_cycles");
    snprintf(title, sizeof title, "%s: latency over footprint", id);
    svg_chart(&svg, &(struct chart){.title = title,
                                    .x_label = "bytes walked through",
                                    .y_label = "median latency (cycles)",
                                    .x_unit = "B",
                                    .y_unit = "cycles",
                                    .log_x = true,
                                    .series = {{.point = points.data, .count = points.count}},
                                    .mark = {known ? size.value : 0, known ? "size" : NULL}});
    add_figure(out, id, "footprint", &svg);
    vec_free(&points);
}

/* Address bits below the line's size; 0: not known, or no power of two. */
static unsigned line_bits(const json_t *cache)
{
    uint64_t line;
    unsigned bits = 0;
    if (!saved_u64(&line, cache, "line") || !is_power_of_two(line)) {
        return 0;
    }
    while (line > 1) {
        line /= 2;
        bits++;
    }
    return bits;
}

/* The set of each residue of the line's number. */
static void add_map(struct figures *out, const char *id, const char *title, const json_t *map)
{
    struct points points = {0};
    struct strbuf svg = {0};
    for (size_t i = 0; i < json_array_size(map); i++) {
        (void)vec_push(&points,
                       (struct chart_point){(double)i, json_number_value(json_array_get(map, i))});
    }
    svg_chart(&svg, &(struct chart){.title = title,
                                    .x_label = "number of the line, from which on it repeats",
                                    .y_label = "set",
                                    .x_unit = "",
                                    .y_unit = "",
                                    .dots_alone = true,
                                    .series = {{.point = points.data, .count = points.count}}});
    add_figure(out, id, "set-index", &svg);
    vec_free(&points);
}

static void add_index(struct figures *out, const json_t *cache)
{
    const json_t *index = json_object_get(cache, "set_index"),
                 *masks = json_object_get(index, "masks"), *map = json_object_get(index, "map");
    const char *id = saved_text(cache, "id", "");
    char title[TITLE_BYTES], label[TITLE_BYTES] = "set bit";
    uint64_t mask[64], all = 0, modulus = saved_plain_u64(index, "modulus", 0);
    struct svg_bits bits = {
        .title = title, .row_label = label, .mask = mask, .low_bits = line_bits(cache)};
    struct strbuf svg = {0};
    snprintf(title, sizeof title, "%s: which set an address belongs to", id);
    if (json_array_size(map)) {
        add_map(out, id, title, map);
        return;
    }
    for (; bits.rows < json_array_size(masks) && bits.rows < 64; bits.rows++) {
        const char *text = json_string_value(json_array_get(masks, bits.rows));
        mask[bits.rows] = text ? strtoull(text, NULL, 16) : 0;
        all |= mask[bits.rows];
    }
    if (modulus && !bits.rows) { /* all bits of the line's number count */
        snprintf(label, sizeof label, "mod %" PRIu64, modulus);
        mask[bits.rows++] = all = (UINT64_C(1) << SHOWN_BITS) - (UINT64_C(1) << bits.low_bits);
    }
    while (bits.columns < 64 && all >> bits.columns) {
        bits.columns++;
    }
    svg_bits(&svg, &bits);
    add_figure(out, id, "set-index", &svg);
}

static void read_numbers(struct numbers *out, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        (void)vec_push(out, json_number_value(json_array_get(array, i)));
    }
}

/* Of a policy that draws: how often each way is the victim. */
static void add_policy(struct figures *out, const json_t *part)
{
    const json_t *policy = json_object_get(part, "policy");
    const char *id = saved_text(part, "id", "");
    struct numbers share = {0}, error = {0};
    struct strbuf svg = {0};
    char title[TITLE_BYTES];
    snprintf(title, sizeof title, "%s: which way is replaced", id);
    read_numbers(&share, json_object_get(policy, "victim_probability"));
    read_numbers(&error, json_object_get(policy, "victim_probability_error"));
    svg_shares(&svg, &(struct svg_shares){.title = title,
                                          .x_label = "way",
                                          .y_label = "share of the victims",
                                          .share = share.data,
                                          .error = error.count == share.count ? error.data : NULL,
                                          .count = share.count});
    add_figure(out, id, "policy", &svg);
    vec_free(&share);
    vec_free(&error);
}

static void add_tlb(struct figures *out, const json_t *tlb)
{
    const char *id = saved_text(tlb, "id", "tlb");
    struct points points = {0};
    struct strbuf svg = {0};
    struct saved_value entries;
    char title[TITLE_BYTES];
    snprintf(title, sizeof title, "%s: pages that miss", id);
    if (saved_value(&entries, tlb, "entries")) { /* so many fit: none misses */
        (void)vec_push(&points, (struct chart_point){entries.value, 0});
    }
    struct points more = {0};
    collect(&more, json_object_get(tlb, "steps"), "pages", "missed");
    for (size_t i = 0; i < more.count; i++) {
        (void)vec_push(&points, more.data[i]);
    }
    svg_chart(&svg, &(struct chart){.title = title,
                                    .x_label = "pages walked through",
                                    .y_label = "pages that miss",
                                    .x_unit = "",
                                    .y_unit = "",
                                    .series = {{.point = points.data, .count = points.count}}});
    add_figure(out, id, "steps", &svg);
    vec_free(&points);
    vec_free(&more);
}

static void add_conflicts(struct figures *out, const json_t *shared)
{
    const char *lanes;
    json_t *cycles;
    struct points points = {0};
    struct strbuf svg = {0};
    json_object_foreach(json_object_get(shared, "conflict_latency"), lanes, cycles)
    {
        struct chart_point point = {strtod(lanes, NULL), json_number_value(cycles)};
        (void)vec_push(&points, point);
    }
    svg_chart(&svg, &(struct chart){.title = "shared memory: bank conflicts",
                                    .x_label = "lanes that want one bank",
                                    .y_label = "latency (cycles)",
                                    .x_unit = "",
                                    .y_unit = "cycles",
                                    .log_x = true,
                                    .series = {{.point = points.data, .count = points.count}}});
    add_figure(out, "shared", "conflicts", &svg);
    vec_free(&points);
}

/* First the loads of one SM, then those of all: where the number under way falls, the second
 * series begins. Without a timer the rate is told by the clock of the SMs. */
static void add_loaded(struct figures *out, const json_t *loaded)
{
    bool timed = json_object_get(json_array_get(loaded, 0), "bytes_per_second");
    struct points points = {0};
    struct strbuf svg = {0};
    size_t split = 0;
    collect(&points, loaded, "requests", "cycles");
    while (split < points.count &&
           (split == 0 || points.data[split].x > points.data[split - 1].x)) {
        split++;
    }
    collect(&points, loaded, timed ? "bytes_per_second" : "bytes_per_cycle", "cycles");
    split = split < points.count ? split : points.count;
    svg_chart(&svg,
              &(struct chart){.title = "memory: latency under load",
                              .x_label = timed ? "read" : "read (bytes a cycle)",
                              .y_label = "latency (cycles)",
                              .x_unit = timed ? "B/s" : "",
                              .y_unit = "cycles",
                              .log_x = true,
                              .series = {{"one SM reads", points.data, split},
                                         {"all SMs read", points.data ? points.data + split : NULL,
                                          points.count - split}}});
    add_figure(out, "memory", "loaded", &svg);
    vec_free(&points);
}

/* Does an earlier cache that is there stand for this one? */
static bool is_drawn(const json_t *caches, size_t index)
{
    const json_t *with = json_object_get(json_array_get(caches, index), "shared_with");
    for (size_t i = 0; i < index; i++) {
        const json_t *before = json_array_get(caches, i);
        for (size_t k = 0; k < json_array_size(with); k++) {
            const char *id = json_string_value(json_array_get(with, k));
            if (id && json_is_true(json_object_get(before, "present")) &&
                strcmp(saved_text(before, "id", ""), id) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void add_hierarchy(struct figures *out, const json_t *document)
{
    struct arena *arena = arena_create();
    const struct box *root = arena ? box_hierarchy(arena, document) : NULL;
    struct strbuf svg = {0};
    if (root) {
        svg_hierarchy(&svg, root, "the memory hierarchy as boxes");
    }
    add_figure(out, "", "hierarchy", &svg);
    arena_destroy(arena);
}

void figures_collect(struct figures *out, const json_t *document)
{
    const json_t *caches = json_object_get(document, "caches"),
                 *tlbs = json_object_get(document, "tlbs");
    add_hierarchy(out, document);
    for (size_t i = 0; i < json_array_size(caches); i++) {
        const json_t *cache = json_array_get(caches, i);
        if (json_is_true(json_object_get(cache, "present")) && !is_drawn(caches, i)) {
            add_footprint(out, cache);
            add_index(out, cache);
            add_policy(out, cache);
        }
    }
    for (size_t i = 0; i < json_array_size(tlbs); i++) {
        add_tlb(out, json_array_get(tlbs, i));
        add_policy(out, json_array_get(tlbs, i));
    }
    add_conflicts(out, json_object_get(document, "shared_memory"));
    add_loaded(out, json_object_get(document, "loaded_latency"));
}

void figures_free(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) {
        free(figures->data[i].svg);
    }
    vec_free(figures);
}

int page_figure(char **svg, char name[PAGE_FIGURE_NAME], const json_t *dissection, size_t index)
{
    struct figures figures = {0};
    struct strbuf out = {0};
    *svg = NULL;
    figures_collect(&figures, dissection);
    if (index < figures.count) {
        snprintf(name, PAGE_FIGURE_NAME, "%s", figures.data[index].name);
        svg_file(&out, figures.data[index].svg);
        *svg = strbuf_take(&out);
    }
    bool failed = index < figures.count && !*svg;
    figures_free(&figures);
    return failed ? error_memory() : 0;
}
