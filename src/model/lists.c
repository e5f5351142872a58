/*
 * Parameters that are lists. Each kind has its row in `lists`: how one item is read into its place,
 * how it is written, how many there may be. The carve-out choices are mappings and have functions
 * of their own, built from the same rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/param.h"
#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/text/suggest.h"
#include "util/glue/yaml_glue.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* An array inside the model with its length beside it. */
struct span {
    uint32_t *count;
    void *items;
    size_t item_bytes;
    uint32_t max;
};

static int whole_in(uint64_t *value, const char *text, enum unit unit, uint64_t min, uint64_t max)
{
    if (units_parse_u64(value, text, unit) < 0) {
        return SONDE_EINPUT;
    }
    if (*value < min || *value > max) {
        return error_set(SONDE_EINPUT, "'%.60s' is out of range: %llu to %llu", text,
                         (unsigned long long)min, (unsigned long long)max);
    }
    return SONDE_OK;
}

static int read_bit(void *item, const char *text)
{
    uint64_t bit;
    int rc = whole_in(&bit, text, UNIT_NONE, 0, 63);
    if (rc == SONDE_OK) {
        *(uint64_t *)item = UINT64_C(1) << bit;
    }
    return rc;
}

static int read_mask(void *item, const char *text)
{
    return whole_in(item, text, UNIT_NONE, 1, UINT64_MAX);
}

static int read_set(void *item, const char *text)
{
    uint64_t set;
    int rc = whole_in(&set, text, UNIT_NONE, 0, MEM_MAX_MAP - 1);
    *(uint16_t *)item = rc == SONDE_OK ? (uint16_t)set : 0;
    return rc;
}

static int read_ways(void *item, const char *text)
{
    uint64_t ways;
    int rc = whole_in(&ways, text, UNIT_COUNT, 1, MEM_MAX_WAYS);
    *(uint16_t *)item = rc == SONDE_OK ? (uint16_t)ways : 0;
    return rc;
}

/* A probability may be written as a fraction, because 1/6 has no end in decimals. */
static int read_probability(void *item, const char *text)
{
    double *value = item;
    const char *slash = strchr(text, '/');
    if (!slash) {
        return units_parse_double(value, text, UNIT_FRACTION);
    }
    char above[32];
    uint64_t numerator, denominator;
    if ((size_t)(slash - text) >= sizeof(above)) {
        return error_set(SONDE_EINPUT, "'%.60s' is not a fraction", text);
    }
    snprintf(above, sizeof(above), "%.*s", (int)(slash - text), text);
    if (whole_in(&numerator, above, UNIT_NONE, 0, 1000000) < 0 ||
        whole_in(&denominator, slash + 1, UNIT_NONE, 1, 1000000) < 0) {
        return SONDE_EINPUT;
    }
    if (numerator > denominator) {
        return error_set(SONDE_EINPUT, "'%.60s' is not between 0 and 1", text);
    }
    *value = (double)numerator / (double)denominator;
    return SONDE_OK;
}

static void write_bit(struct strbuf *out, const void *item)
{
    uint64_t mask = *(const uint64_t *)item;
    int bit = 0;
    while (mask >> bit > 1) {
        bit++;
    }
    strbuf_printf(out, "%d", bit);
}

static void write_mask(struct strbuf *out, const void *item)
{
    strbuf_printf(out, "0x%llx", (unsigned long long)*(const uint64_t *)item);
}

static void write_small(struct strbuf *out, const void *item)
{
    strbuf_printf(out, "%u", *(const uint16_t *)item);
}

/* The shortest decimal that reads back as the same number. */
static void write_probability(struct strbuf *out, const void *item)
{
    double value = *(const double *)item, again = -1;
    char text[40];
    for (int digits = 1; digits <= 17 && again != value; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        again = strtod(text, NULL);
    }
    strbuf_append(out, text);
}

static const struct {
    const char *describe;
    int (*read)(void *item, const char *text);
    void (*write)(struct strbuf *out, const void *item);
} lists[] = {
    [LIST_BITS] = {"list of bit numbers", read_bit, write_bit},
    [LIST_MASKS] = {"list of masks", read_mask, write_mask},
    [LIST_MAP] = {"list of set numbers", read_set, write_small},
    [LIST_WAYS] = {"list of counts", read_ways, write_small},
    [LIST_PLACES] = {"list of places", read_set, write_small},
    [LIST_NUMBERS] = {"list of numbers", read_set, write_small},
    [LIST_PROBABILITIES] = {"list of probabilities", read_probability, write_probability},
    [LIST_CHOICES] = {"list of mappings", NULL, NULL},
};

const char *list_describe(enum param_list list)
{
    return lists[list].describe;
}

static struct span span_of(struct model *model, const struct param *param)
{
    void *field = (char *)model + param->offset;
    struct index_spec *index = field;
    struct cache_spec *cache = field;
    struct replacement_spec *replacement = field;
    struct noc_flits_spec *flits = field;
    struct number_list *numbers = field;
    switch (param->list) {
    case LIST_BITS:
    case LIST_MASKS:
        return (struct span){&index->mask_count, index->masks, sizeof(uint64_t),
                             MEM_MAX_INDEX_MASKS};
    case LIST_MAP:
        return (struct span){&index->map_count, index->map, sizeof(uint16_t), MEM_MAX_MAP};
    case LIST_PLACES:
        return (struct span){&flits->memory_place_count, flits->memory_places, sizeof(uint16_t),
                             MEM_MAX_MAP};
    case LIST_NUMBERS:
        return (struct span){&numbers->count, numbers->number, sizeof(uint16_t), MODEL_MAX_SMS};
    case LIST_WAYS:
        return (struct span){&cache->unequal_count, cache->ways_per_set, sizeof(uint16_t),
                             MEM_MAX_MAP};
    default: /* LIST_PROBABILITIES */
        return (struct span){&replacement->probability_count, replacement->probability,
                             sizeof(double), MEM_MAX_WAYS};
    }
}

static void span_clear(struct span span)
{
    memset(span.items, 0, span.item_bytes * span.max);
    *span.count = 0;
}

static int read_items(struct span span, enum param_list list, const struct yaml_node *node,
                      const struct yaml_node **bad)
{
    span_clear(span);
    *bad = node;
    if (node->kind != YAML_SEQUENCE) {
        return error_set(SONDE_EINPUT, "expected a %s, e.g. [1, 2]", lists[list].describe);
    }
    if (node->child_count > span.max) {
        return error_set(SONDE_EINPUT, "has %zu items; %u are the most", node->child_count,
                         span.max);
    }
    for (const struct yaml_node *item = node->first; item; item = item->next) {
        *bad = item;
        if (item->kind != YAML_SCALAR) {
            return error_set(SONDE_EINPUT, "expected a number");
        }
        int rc = lists[list].read((char *)span.items + span.item_bytes * *span.count, item->text);
        if (rc < 0) {
            return rc;
        }
        (*span.count)++;
    }
    return SONDE_OK;
}

/* A flow sequence, broken into lines where it gets long. */
static void write_items(struct strbuf *out, struct span span, enum param_list list)
{
    strbuf_append(out, "[");
    for (uint32_t i = 0; i < *span.count; i++) {
        strbuf_append(out, i == 0 ? "" : i % 16 == 0 ? ",\n        " : ", ");
        lists[list].write(out, (const char *)span.items + span.item_bytes * i);
    }
    strbuf_append(out, "]");
}

/* ---- carve-out choices ---- */

/* The keys of a choice. A quantity has a unit; the others are lists. */
static const struct {
    const char *key;
    enum param_list list;
    enum unit unit;
    size_t offset, bytes;
    uint64_t min, max;
} choice_keys[] = {
#define CHOICE_NUMBER(key, field, unit, min, max)                                                  \
    {                                                                                              \
        key, LIST_NONE, unit, offsetof(struct carveout_choice, field),                             \
            sizeof(((struct carveout_choice *)0)->field), min, max                                 \
    }
    CHOICE_NUMBER("shared", shared_bytes, UNIT_BYTES, 0, UINT64_C(16) << 20),
    CHOICE_NUMBER("l1", l1_bytes, UNIT_BYTES, 4, UINT64_C(16) << 20),
    CHOICE_NUMBER("sets", l1_sets, UNIT_COUNT, 1, 1048576),
    CHOICE_NUMBER("ways", l1_ways, UNIT_COUNT, 1, MEM_MAX_WAYS),
    CHOICE_NUMBER("data", data_bytes, UNIT_BYTES, 0, UINT64_C(16) << 20),
#undef CHOICE_NUMBER
    {.key = "index_bits", .list = LIST_BITS},
    {.key = "index_masks", .list = LIST_MASKS},
    {.key = "victim_probability", .list = LIST_PROBABILITIES},
};

#define CHOICE_KEYS COUNT_OF(choice_keys)
#define CHOICE_NEEDS 4   /* the first four keys must be there */
#define CHOICE_NUMBERS 5 /* and the first five are numbers */

static struct span choice_span(struct carveout_choice *choice, enum param_list list)
{
    if (list == LIST_PROBABILITIES) {
        return (struct span){&choice->probability_count, choice->probability, sizeof(double),
                             MEM_MAX_WAYS};
    }
    return (struct span){&choice->index_mask_count, choice->index_masks, sizeof(uint64_t),
                         MEM_MAX_INDEX_MASKS};
}

static int read_choice_value(struct carveout_choice *choice, size_t key,
                             const struct yaml_node *node, const struct yaml_node **bad)
{
    *bad = node;
    if (choice_keys[key].list != LIST_NONE) {
        struct span span = choice_span(choice, choice_keys[key].list);
        if (*span.count > 0) {
            return error_set(SONDE_EINPUT, "give index_bits or index_masks, not both");
        }
        return read_items(span, choice_keys[key].list, node, bad);
    }
    if (node->kind != YAML_SCALAR) {
        return error_set(SONDE_EINPUT, "expected %s", units_name(choice_keys[key].unit));
    }
    uint64_t value;
    int rc = units_parse_u64(&value, node->text, choice_keys[key].unit);
    if (rc == SONDE_OK && (value < choice_keys[key].min || value > choice_keys[key].max)) {
        rc = error_set(SONDE_EINPUT, "'%.60s' is out of range", node->text);
    }
    if (rc == SONDE_OK) {
        uint32_t narrow = (uint32_t)value;
        void *field = (char *)choice + choice_keys[key].offset;
        memcpy(field, choice_keys[key].bytes == 4 ? (void *)&narrow : &value,
               choice_keys[key].bytes);
    }
    return rc < 0 ? error_prefix(rc, "%s", choice_keys[key].key) : SONDE_OK;
}

static int unknown_choice_key(const char *key)
{
    struct suggest suggest = suggest_begin(key);
    for (size_t i = 0; i < CHOICE_KEYS; i++) {
        suggest_offer(&suggest, choice_keys[i].key);
    }
    const char *near = suggest_best(&suggest);
    return error_set(SONDE_EINPUT, "unknown key '%.60s'%s%s%s", key, near ? "; did you mean '" : "",
                     near ? near : "", near ? "'?" : "");
}

static int read_choice(struct carveout_choice *choice, const struct yaml_node *node,
                       const struct yaml_node **bad)
{
    *bad = node;
    if (node->kind != YAML_MAPPING) {
        return error_set(
            SONDE_EINPUT,
            "expected a mapping, e.g. {shared: 16 KiB, l1: 48 KiB, sets: 64, ways: 6}");
    }
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        size_t key = 0;
        while (key < CHOICE_KEYS && strcmp(choice_keys[key].key, child->key) != 0) {
            key++;
        }
        *bad = child;
        int rc = key == CHOICE_KEYS ? unknown_choice_key(child->key)
                                    : read_choice_value(choice, key, child, bad);
        if (rc < 0) {
            return rc;
        }
    }
    *bad = node;
    for (size_t key = 0; key < CHOICE_NEEDS; key++) {
        if (!yaml_get(node, choice_keys[key].key)) {
            return error_set(SONDE_EINPUT, "a choice needs the key '%s'", choice_keys[key].key);
        }
    }
    return SONDE_OK;
}

static int read_choices(struct carveout_spec *carveout, const struct yaml_node *node,
                        const struct yaml_node **bad)
{
    carveout->count = 0;
    memset(carveout->choice, 0, sizeof(carveout->choice));
    *bad = node;
    if (node->kind != YAML_SEQUENCE) {
        return error_set(SONDE_EINPUT, "expected a %s", lists[LIST_CHOICES].describe);
    }
    if (node->child_count > MODEL_MAX_CARVEOUTS) {
        return error_set(SONDE_EINPUT, "has %zu items; %d are the most", node->child_count,
                         MODEL_MAX_CARVEOUTS);
    }
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        int rc = read_choice(&carveout->choice[carveout->count], child, bad);
        if (rc < 0) {
            return rc;
        }
        carveout->count++;
    }
    return SONDE_OK;
}

static void write_choice(struct strbuf *out, const struct carveout_choice *choice, bool bits)
{
    struct carveout_choice copy = *choice;
    char text[64];
    strbuf_append(out, "{");
    for (size_t key = 0; key < CHOICE_NUMBERS; key++) {
        uint64_t value = 0;
        uint32_t narrow;
        const void *field = (const char *)choice + choice_keys[key].offset;
        if (choice_keys[key].bytes == 4) {
            memcpy(&narrow, field, 4);
            value = narrow;
        } else {
            memcpy(&value, field, 8);
        }
        if (key >= CHOICE_NEEDS && value == 0) {
            continue;
        }
        strbuf_printf(out, "%s%s: %s", key ? ", " : "", choice_keys[key].key,
                      units_format(text, sizeof(text), value, choice_keys[key].unit));
    }
    if (copy.index_mask_count > 0) {
        enum param_list list = bits ? LIST_BITS : LIST_MASKS;
        strbuf_printf(out, ",\n     index_%s: ", bits ? "bits" : "masks");
        write_items(out, choice_span(&copy, list), list);
    }
    if (copy.probability_count > 0) {
        strbuf_append(out, ",\n     victim_probability: ");
        write_items(out, choice_span(&copy, LIST_PROBABILITIES), LIST_PROBABILITIES);
    }
    strbuf_append(out, "}");
}

/* ---- what param.c and read.c call ---- */

int list_set(struct model *model, const struct param *param, const struct yaml_node *node,
             const struct yaml_node **bad)
{
    if (param->list == LIST_CHOICES) {
        return read_choices(&model->carveout, node, bad);
    }
    return read_items(span_of(model, param), param->list, node, bad);
}

void list_clear(struct model *model, const struct param *param)
{
    if (param->list == LIST_CHOICES) {
        memset(model->carveout.choice, 0, sizeof(model->carveout.choice));
        model->carveout.count = 0;
    } else {
        span_clear(span_of(model, param));
    }
}

int list_write(struct strbuf *out, const struct model *model, const struct param *param)
{
    if (param->list != LIST_CHOICES) {
        /* Read only from here on: span_of() serves reading and writing. */
        write_items(out, span_of((struct model *)(uintptr_t)model, param), param->list);
        return strbuf_failed(out) ? SONDE_ENOMEM : SONDE_OK;
    }
    bool bits = model->l1_data.index.kind == INDEX_BITS;
    strbuf_append(out, "[");
    for (uint32_t i = 0; i < model->carveout.count; i++) {
        strbuf_append(out, i ? ",\n    " : "\n    ");
        write_choice(out, &model->carveout.choice[i], bits);
    }
    strbuf_append(out, "]");
    return strbuf_failed(out) ? SONDE_ENOMEM : SONDE_OK;
}

bool list_applies(const struct model *model, const struct param *param)
{
    const void *field = (const char *)model + param->offset;
    const struct index_spec *index = field;
    const struct replacement_spec *replacement = field;
    switch (param->list) {
    case LIST_BITS:
        return index->kind == INDEX_BITS;
    case LIST_MASKS:
        return index->kind == INDEX_XOR;
    case LIST_MAP:
        return index->kind == INDEX_MAP;
    case LIST_PROBABILITIES:
        return replacement->kind == REPLACE_BIASED ||
               replacement->kind == REPLACE_BIASED_ALTERNATING;
    default:
        return true;
    }
}
