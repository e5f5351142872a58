/* From a dissection to boxes. See box.h. What was not measured is said to be, or left out. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "export/saved.h"
#include "page/box.h"
#include "page/quantity.h"
#include "util/container/arena.h"

static void add_line(struct box *box, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add_line(struct box *box, const char *fmt, ...)
{
    va_list args;
    if (box->line_count == BOX_LINES) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(box->line[box->line_count++], BOX_TEXT, fmt, args);
    va_end(args);
}

static struct box *add_box(struct arena *arena, struct box *parent, const char *kind,
                           const char *title)
{
    struct box *box = parent ? arena_alloc(arena, sizeof *box) : NULL;
    if (!box) {
        return NULL;
    }
    box->kind = kind;
    snprintf(box->title, sizeof box->title, "%s", title);
    if (parent->last) {
        parent->last->next = box;
    } else {
        parent->first = box;
    }
    parent->last = box;
    return box;
}

/* "size 12 KiB", or that it was not measured. */
static void put_size(char text[BOX_TEXT], const json_t *owner, const char *key)
{
    struct saved_value value;
    char size[QUANTITY_BYTES];
    snprintf(text, BOX_TEXT, "%s",
             saved_value(&value, owner, key) ? quantity(size, value.value, "B")
                                             : "size not measured");
}

static void set_badge(struct box *box, const json_t *owner, const char *key)
{
    struct saved_value value;
    char text[QUANTITY_BYTES];
    if (saved_value(&value, owner, key)) {
        snprintf(box->badge, sizeof box->badge, "%s", quantity(text, value.value, "cycles"));
    }
}

static void add_geometry(struct box *box, const json_t *cache)
{
    char size[BOX_TEXT], line[QUANTITY_BYTES];
    struct saved_value value;
    uint64_t sets, ways;
    put_size(size, cache, "size");
    if (saved_value(&value, cache, "line")) {
        add_line(box, "%s, %s lines", size, quantity(line, value.value, "B"));
    } else {
        add_line(box, "%s", size);
    }
    const char *policy = saved_text(json_object_get(cache, "policy"), "name", "unknown");
    bool known = strcmp(policy, "unknown") != 0;
    if (saved_u64(&sets, cache, "sets") && saved_u64(&ways, cache, "ways")) {
        add_line(box, "%" PRIu64 " sets x %" PRIu64 " ways%s%s", sets, ways, known ? ", " : "",
                 known ? policy : "");
    } else if (known) {
        add_line(box, "policy %s", policy);
    }
    if (saved_value(&value, cache, "miss_penalty")) {
        add_line(box, "a miss takes %s %s", quantity(line, fabs(value.value), "cycles"),
                 value.value < 0 ? "less" : "more");
    }
}

static const struct {
    const char *id, *name;
} names[] = {
    {"l1_data", "L1 data"}, {"texture_l1", "texture"},      {"readonly_l1", "read-only"},
    {"local_l1", "local"},  {"constant_l1", "constant L1"}, {"constant_l15", "constant L1.5"},
    {"l2", "L2 cache"},     {"l1_tlb", "L1 TLB"},           {"l2_tlb", "L2 TLB"},
};

static const char *name_of(const char *id)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].id, id) == 0) {
            return names[i].name;
        }
    }
    return id;
}

static bool shares(const json_t *cache, const char *id)
{
    const json_t *with = json_object_get(cache, "shared_with");
    for (size_t i = 0; i < json_array_size(with); i++) {
        const char *other = json_string_value(json_array_get(with, i));
        if (other && strcmp(other, id) == 0) {
            return true;
        }
    }
    return false;
}

/* One array behind several paths is one box: the paths' names, and what each takes. */
static void add_cache(struct arena *arena, struct box *parent, const json_t *caches, size_t index)
{
    const json_t *cache = json_array_get(caches, index);
    const char *id = saved_text(cache, "id", "");
    for (size_t i = 0; i < index; i++) {
        const json_t *before = json_array_get(caches, i);
        if (json_is_true(json_object_get(before, "present")) &&
            shares(cache, saved_text(before, "id", ""))) {
            return;
        }
    }
    struct box *box = add_box(arena, parent, "cache", name_of(id));
    char paths[BOX_TEXT] = "", text[QUANTITY_BYTES];
    struct saved_value value;
    for (size_t i = index + 1; box && i < json_array_size(caches); i++) {
        const json_t *other = json_array_get(caches, i);
        const char *other_id = saved_text(other, "id", "");
        if (!json_is_true(json_object_get(other, "present")) || !shares(cache, other_id)) {
            continue;
        }
        size_t title = strlen(box->title), length = strlen(paths);
        snprintf(box->title + title, sizeof box->title - title, " = %s", name_of(other_id));
        if (saved_value(&value, other, "hit_latency")) {
            snprintf(paths + length, sizeof paths - length, "%s%s %s", length ? ", " : "",
                     name_of(other_id), quantity(text, value.value, ""));
        }
    }
    if (box) {
        set_badge(box, cache, "hit_latency");
        add_geometry(box, cache);
        if (paths[0]) {
            add_line(box, "%s cycles", paths);
        }
    }
}

static bool has_scope(const json_t *part, const char *scope)
{
    return json_is_true(json_object_get(part, "present")) &&
           strcmp(saved_text(part, "scope", "sm"), scope) == 0;
}

static void add_tlb(struct arena *arena, struct box *parent, const json_t *tlb)
{
    struct box *box = add_box(arena, parent, "tlb", name_of(saved_text(tlb, "id", "TLB")));
    struct saved_value value;
    char text[QUANTITY_BYTES], coverage[BOX_TEXT];
    uint64_t entries, sets;
    if (!box) {
        return;
    }
    put_size(coverage, tlb, "coverage");
    if (saved_value(&value, tlb, "page")) {
        add_line(box, "%s of %s pages", coverage, quantity(text, value.value, "B"));
    } else {
        add_line(box, "%s", coverage);
    }
    if (saved_u64(&entries, tlb, "entries")) {
        if (saved_u64(&sets, tlb, "sets")) {
            add_line(box, "%" PRIu64 " entries in %" PRIu64 " set%s", entries, sets,
                     sets == 1 ? "" : "s");
        } else {
            add_line(box, "%" PRIu64 " entries", entries);
        }
    }
    if (saved_value(&value, tlb, "miss_penalty")) {
        add_line(box, "a miss takes %s more", quantity(text, value.value, "cycles"));
    }
}

static void add_shared(struct arena *arena, struct box *parent, const json_t *dissection)
{
    const json_t *shared = json_object_get(dissection, "shared_memory");
    struct saved_value banks, width;
    char text[QUANTITY_BYTES];
    struct box *box = saved_value(&banks, shared, "banks")
                          ? add_box(arena, parent, "shared", "shared memory")
                          : NULL;
    if (!box) {
        return;
    }
    set_badge(box, shared, "latency");
    if (saved_value(&width, shared, "bank_width")) {
        add_line(box, "%.0f banks of %s", banks.value, quantity(text, width.value, "B"));
    } else {
        add_line(box, "%.0f banks", banks.value);
    }
}

/* Caches but the L2, and TLBs, that serve a scope. */
static void add_parts(struct arena *arena, struct box *parent, const json_t *dissection,
                      const char *scope)
{
    const json_t *caches = json_object_get(dissection, "caches"),
                 *tlbs = json_object_get(dissection, "tlbs");
    for (size_t i = 0; i < json_array_size(caches); i++) {
        const json_t *cache = json_array_get(caches, i);
        if (has_scope(cache, scope) && strcmp(saved_text(cache, "id", ""), "l2") != 0) {
            add_cache(arena, parent, caches, i);
        }
    }
    for (size_t i = 0; i < json_array_size(tlbs); i++) {
        if (has_scope(json_array_get(tlbs, i), scope)) {
            add_tlb(arena, parent, json_array_get(tlbs, i));
        }
    }
}

static bool has_parts(const json_t *dissection, const char *scope)
{
    static const char *const lists[] = {"caches", "tlbs"};
    bool any = false;
    for (size_t l = 0; l < 2; l++) {
        const json_t *list = json_object_get(dissection, lists[l]);
        for (size_t i = 0; i < json_array_size(list); i++) {
            any = any || has_scope(json_array_get(list, i), scope);
        }
    }
    return any;
}

/* How many of a scope there are, as the caches' counts say; 0: not known. */
static uint64_t count_of(const json_t *dissection, const char *scope)
{
    const json_t *caches = json_object_get(dissection, "caches");
    uint64_t count = 0;
    for (size_t i = 0; i < json_array_size(caches) && count == 0; i++) {
        const json_t *cache = json_array_get(caches, i);
        if (has_scope(cache, scope) && !saved_u64(&count, cache, "count")) {
            count = 0;
        }
    }
    return count;
}

static struct box *add_group(struct arena *arena, struct box *parent, const char *name,
                             uint64_t count)
{
    char title[BOX_TEXT];
    if (count > 1) {
        snprintf(title, sizeof title, "%" PRIu64 " x %s", count, name);
    } else {
        snprintf(title, sizeof title, "%s", name);
    }
    return add_box(arena, parent, "group", title);
}

static void describe_memory(struct box *memory, const json_t *dissection)
{
    const json_t *part = json_object_get(dissection, "memory"),
                 *device = json_object_get(dissection, "device");
    static const struct {
        const char *key, *what;
    } rates[] = {{"read_bandwidth", "read"}, {"write_bandwidth", "written"}};
    char line[BOX_TEXT] = "", text[QUANTITY_BYTES];
    struct saved_value value;
    uint64_t bytes = saved_plain_u64(device, "memory_bytes", 0);
    snprintf(memory->title, sizeof memory->title, "memory%s%s", bytes ? ", " : "",
             bytes ? quantity(text, (double)bytes, "B") : "");
    set_badge(memory, part, "latency");
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(line);
        if (saved_value(&value, part, rates[i].key)) {
            snprintf(line + length, sizeof line - length, "%s%s %s", length ? ", " : "",
                     quantity(text, value.value, "B/s"), rates[i].what);
        }
    }
    if (line[0]) {
        add_line(memory, "%s", line);
    }
}

static struct box *add_l2(struct arena *arena, struct box *memory, const json_t *dissection)
{
    const json_t *l2 = saved_cache(dissection, "l2");
    uint64_t count;
    if (!l2) {
        return memory;
    }
    struct box *box =
        add_group(arena, memory, "L2 cache", saved_u64(&count, l2, "count") ? count : 1);
    if (box) {
        box->kind = "cache";
        set_badge(box, l2, "hit_latency");
        add_geometry(box, l2);
    }
    return box;
}

struct box *box_hierarchy(struct arena *arena, const json_t *dissection)
{
    struct box *memory = arena_alloc(arena, sizeof *memory);
    uint64_t sms = saved_plain_u64(json_object_get(dissection, "device"), "sms", 0);
    if (!memory) {
        return NULL;
    }
    memory->kind = "memory";
    describe_memory(memory, dissection);
    struct box *inner = add_l2(arena, memory, dissection);
    add_parts(arena, inner, dissection, "gpu");
    if (has_parts(dissection, "cluster")) {
        inner = add_group(arena, inner, "cluster of SMs", count_of(dissection, "cluster"));
        add_parts(arena, inner, dissection, "cluster");
        sms = 0; /* clusters may be of unequal size */
    }
    inner = add_group(arena, inner, sms ? "SM" : "SM, several a cluster", sms);
    add_shared(arena, inner, dissection);
    add_parts(arena, inner, dissection, "sm");
    return memory;
}
