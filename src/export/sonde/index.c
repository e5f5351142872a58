/*
 * Which set a line is in, as a model's text: what was found, or what stands for it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/bits.h"

/* A list of set bits' masks; bits where each mask is one bit. */
static void write_masks(struct strbuf *out, const json_t *masks, size_t skip)
{
    bool is_bits = true;
    for (size_t i = 0; i < json_array_size(masks); i++) {
        uint64_t mask = strtoull(json_string_value(json_array_get(masks, i)), NULL, 0);
        is_bits = is_bits && is_power_of_two(mask);
    }
    strbuf_printf(out, "{kind: %s, %s: [", is_bits ? "bits" : "xor", is_bits ? "bits" : "masks");
    for (size_t i = skip; i < json_array_size(masks); i++) {
        uint64_t mask = strtoull(json_string_value(json_array_get(masks, i)), NULL, 0);
        strbuf_append(out, i > skip ? ", " : "");
        if (is_bits) {
            strbuf_printf(out, "%d", __builtin_ctzll(mask));
        } else {
            strbuf_printf(out, "0x%" PRIx64, mask);
        }
    }
    strbuf_append(out, "]}");
}

static bool are_masks(const json_t *masks)
{
    for (size_t i = 0; i < json_array_size(masks); i++) {
        const char *text = json_string_value(json_array_get(masks, i));
        if (!text || strtoull(text, NULL, 0) == 0) {
            return false;
        }
    }
    return json_array_size(masks) > 0;
}

/* A map by which every set has lines. */
static bool is_map(const json_t *map, uint64_t sets)
{
    size_t length = json_array_size(map);
    bool *seen = sets > 0 && sets <= length ? calloc(sets, sizeof(*seen)) : NULL;
    uint64_t used = 0;
    bool is_sound = seen;
    for (size_t i = 0; i < length && is_sound; i++) {
        json_int_t set = json_integer_value(json_array_get(map, i));
        is_sound = set >= 0 && (uint64_t)set < sets;
        used += is_sound && !seen[set];
        seen[is_sound ? set : 0] = true;
    }
    free(seen);
    return is_sound && used == sets;
}

bool index_has_masks(const json_t *cache, uint64_t sets)
{
    const json_t *index = json_object_get(cache, "set_index");
    const json_t *masks = json_object_get(index, "masks");
    const char *kind = saved_text(index, "kind", "unknown");
    return (strcmp(kind, "bits") == 0 || strcmp(kind, "xor") == 0) && are_masks(masks) &&
           json_array_size(masks) < 24 && UINT64_C(1) << json_array_size(masks) == sets;
}

void index_of_slices(struct strbuf *out, const json_t *cache, uint64_t slices)
{
    const json_t *masks = json_object_get(json_object_get(cache, "set_index"), "masks");
    json_t *lowest = json_array();
    for (size_t i = 0; UINT64_C(1) << i < slices; i++) {
        json_array_append(lowest, json_array_get(masks, i));
    }
    write_masks(out, lowest, 0);
    json_decref(lowest);
}

bool index_text(struct strbuf *out, const json_t *cache, const struct index_plan *plan)
{
    const json_t *index = json_object_get(cache, "set_index");
    const char *kind = saved_text(index, "kind", "unknown");
    const json_t *masks = json_object_get(index, "masks"), *map = json_object_get(index, "map");
    uint64_t slices = plan->slices, line = plan->line;
    if (plan->is_hashed) {
        strbuf_append(out, "{kind: hash}");
        return false;
    }
    if (index_has_masks(cache, plan->sets)) {
        write_masks(out, masks, slices > 1 ? (size_t)__builtin_ctzll(slices) : 0);
        return true;
    }
    if (strcmp(kind, "map") == 0 && is_map(map, plan->sets)) {
        char *text = json_dumps(map, 0);
        strbuf_printf(out, "{kind: map, unit: %" PRIu64 " B, map: %s}", line, text ? text : "[]");
        free(text);
        return true;
    }
    if (plan->row_bytes) {
        strbuf_printf(out, "{kind: modulo, unit: %" PRIu64 " B}", plan->row_bytes);
        return true;
    }
    if (plan->is_base_hash && strcmp(kind, "unknown") == 0) {
        strbuf_append(out, "{kind: hash}");
        return false;
    }
    strbuf_printf(out, "{kind: modulo, unit: %" PRIu64 " B}", line * slices);
    return strcmp(kind, "modulo") == 0 || strcmp(kind, "none") == 0 || plan->sets == 1;
}
