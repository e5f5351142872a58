/*
 * A dissection as a model for the simulator: `inherits:` a base, and every parameter that was
 * measured, each with its confidence and evidence. What the driver says of the device (its name,
 * SMs, clock, memory) is taken over, as a user would write it. The text is parsed before it is
 * handed out: a model that is refused is never written, but written again without what is refused
 * of it.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "export/writers.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

#define LANES_OF_A_WARP 32

/* Letters, digits and - _ . of the device's name; the model's name may have no others. */
static void model_name(char *name, size_t size, const char *device)
{
    size_t n = 0;
    device += strncmp(device, "NVIDIA ", 7) == 0 ? 7 : 0;
    for (; *device && n + 1 < size; device++) {
        bool plain = isalnum((unsigned char)*device) || strchr("-_.", *device);
        if (plain) {
            name[n++] = (char)tolower((unsigned char)*device);
        } else if (n && name[n - 1] != '-') {
            name[n++] = '-';
        }
    }
    name[n] = '\0';
}

/* A text in quotes, without what YAML would read as an escape. */
static void quoted(char *out, size_t size, const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++) {
        bool plain = (unsigned char)*text >= ' ' && *text != '"' && *text != '\\';
        out[n++] = plain ? *text : ' ';
    }
    out[n] = '\0';
}

static void head(struct model_text *t)
{
    const json_t *device = json_object_get(t->root, "device");
    char name[MODEL_NAME_MAX], doc[160];
    model_name(name, sizeof(name), saved_text(device, "name", "dissected"));
    quoted(doc, sizeof(doc), saved_text(device, "name", "a GPU"));
    /* A recording's dissection is made anew whenever it is asked for. */
    const char *spec = saved_text(device, "spec", "");
    bool is_recording = !strchr(spec, ':') || strncmp(spec, "replay:", 7) == 0;
    strbuf_printf(
        &t->out,
        "---\n"
        "# Written by `sonde export --format sonde` (version %s) from %s%s.\n"
        "# A parameter that is named here was measured, or follows from what was, or is the\n"
        "# driver's word, as its comment says. All others are those of the base model, %s.\n",
        saved_text(t->root, "sonde", "unknown"), is_recording ? "a recording" : "a dissection of ",
        is_recording ? "" : saved_text(t->root, "date", "an unknown day"), t->base->name);
    strbuf_append(&t->out, t->struck);
    model_line(t, 0, "what was not measured", t->base_path ? "inherits: \"%s\"" : "inherits: %s",
               t->base_path ? t->base_path : t->base->name);
    model_line(t, 0, "", "name: \"%s\"", *name ? name : "dissected");
    model_line(t, 0, "", "doc: \"%s, as dissected\"", doc);
    uint64_t sms = saved_plain_u64(device, "sms", t->base->sms);
    uint64_t clusters = model_clusters(t), told;
    const json_t *second = saved_cache(t->root, "constant_l15");
    bool is_told = saved_is_of_cluster(second) && saved_u64(&told, second, "count");
    model_line(t, 0, "the driver's word", "sms: %" PRIu64, sms);
    model_line(t, 0, is_told ? "as many as second constant caches" : "as the base, if so many fit",
               "clusters: %" PRIu64, clusters);
    if (t->base->cluster_of.count && (sms != t->base->sms || clusters != t->base->clusters)) {
        model_line(t, 0, "which SMs they have was not measured", "cluster_of: []");
    }
    uint64_t hz = saved_plain_u64(device, "clock_hz", 0);
    if (hz) {
        model_line(t, 0, "the driver's word", "clock: %" PRIu64 " Hz", hz);
    }
}

/* Which cache serves read-only loads: the one that shares with theirs, if it will be there. */
static void readonly_line(struct model_text *t, const struct latency_plan *plan)
{
    bool has_l1 = !saved_is_absent(t->root, "l1_data");
    bool has_texture = !plan->texture_by_l1 && !saved_is_absent(t->root, "texture_l1") &&
                       (saved_cache(t->root, "texture_l1") || t->base->texture_l1.enabled);
    bool is_base_gone = (t->base->sm.readonly == READONLY_TEXTURE && !has_texture) ||
                        (t->base->sm.readonly == READONLY_L1 && !has_l1);
    bool by_texture = saved_shares(t->root, "readonly_l1", "texture_l1");
    if (has_l1 &&
        (saved_shares(t->root, "readonly_l1", "l1_data") || (by_texture && plan->texture_by_l1))) {
        model_line(t, 1, "measured: they share it", "readonly: l1");
    } else if (has_texture && by_texture) {
        model_line(t, 1, "measured: they share it", "readonly: texture");
    } else if (saved_is_absent(t->root, "readonly_l1")) {
        model_line(t, 1, "measured: they show no cache", "readonly: none");
    } else if (is_base_gone) {
        model_line(t, 1, "not measured: the base's cache of theirs is not there", "readonly: none");
    }
}

static void lsu_line(struct model_text *t, const struct latency_plan *plan)
{
    const struct sm_spec *sm = &t->base->sm;
    char lanes[120] = "";
    if (t->bandwidth.is_open) {
        snprintf(lanes, sizeof(lanes), "parallel: %" PRIu32 ", ", t->bandwidth.lanes);
    } else if (t->bandwidth.has_pace) {
        snprintf(lanes, sizeof(lanes),
                 "request_interval: %" PRIu32 " cycles, instruction_interval: %" PRIu32 " cycles, ",
                 sm->lanes.request_cycles, sm->lanes.instruction_cycles);
    }
    if (!plan->lsu_local && !plan->lsu_readonly && !sm->lsu_local_cycles &&
        !sm->lsu_readonly_cycles) {
        model_line(t, 1, "", "lsu: {%slatency: %" PRIu32 " cycles}", lanes, plan->lsu);
        return;
    }
    model_line(t, 1, "with l1_data: hits of each kind of load",
               "lsu: {%slatency: %" PRIu32 " cycles, local_latency: %" PRIu32
               " cycles, readonly_latency: %" PRIu32 " cycles}",
               lanes, plan->lsu, plan->lsu_local, plan->lsu_readonly);
}

/* Banks, and what one serves at a time: a word, or the widest that may be chosen. Where fewer banks
 * than a warp has lanes serve all of their words at once, a bank's row holds several. */
static void bank_lines(struct model_text *t, const json_t *shared, bool all_at_once)
{
    const json_t *modes = json_object_get(shared, "modes");
    struct saved_value banks = {0}, value;
    char comment[MODEL_COMMENT_BYTES];
    if (saved_value(&banks, shared, "banks")) {
        model_line(t, 2, model_measured(comment, &banks), "banks: %.0f", banks.value);
    }
    if (!saved_value(&value, shared, "bank_width")) {
        return;
    }
    size_t widest = json_array_size(modes);
    double row = widest > 1 ? json_number_value(json_array_get(modes, widest - 1)) : value.value;
    double lanes = banks.value > 0 ? ceil(LANES_OF_A_WARP / banks.value) * value.value : row;
    if (all_at_once && lanes > row) {
        model_line(t, 2, "measured: the banks serve a warp's words at once", "bank_width: %.0f B",
                   lanes);
    } else {
        model_line(t, 2, model_measured(comment, &value), "bank_width: %.0f B", row);
    }
    model_line(t, 2, "", "word: %.0f B", value.value);
    model_line(t, 2, "", "word_selectable: %s", widest > 1 ? "true" : "false");
}

static void shared_lines(struct model_text *t)
{
    const json_t *shared = json_object_get(t->root, "shared_memory");
    const json_t *device = json_object_get(t->root, "device");
    struct saved_value value;
    char comment[MODEL_COMMENT_BYTES];
    model_line(t, 1, "", "shared:");
    uint64_t size = saved_plain_u64(device, "shared_per_sm_bytes", 0);
    if (size && !model_has_choices(t)) {
        model_line(t, 2, "the driver's word", "size: %" PRIu64 " B", size);
    }
    const json_t *conflicts = json_object_get(shared, "conflict_latency");
    bank_lines(t, shared, json_object_get(conflicts, "1") != NULL);
    double two = json_number_of(conflicts, "2");
    double one = saved_value(&value, shared, "latency") ? value.value : 0;
    double many = json_number_of(conflicts, "32");
    /* Where banks are fewer than lanes no access is without conflict: two ways are the least. */
    bool never_alone = two > 0 && !json_object_get(conflicts, "1");
    double each = many > one ? (many - one) / (never_alone ? 30 : 31) : two - one;
    if (one > 0) {
        /* Of many accesses in a row: nothing is added to them. */
        double alone = never_alone && many > one && one > each ? one - each : one;
        model_line(t, 2, model_measured(comment, &value), "latency: %.0f cycles", alone);
    }
    if (each > 0) {
        model_line(t, 2, "measured: the slope over the degree", "conflict_latency: %.0f cycles",
                   each);
    }
}

static void coalesce_line(struct model_text *t, const json_t *l1)
{
    uint64_t sector = t->base->sm.coalesce.sector_bytes;
    uint32_t segment = way_segment(t->root, t->base);
    uint64_t told = 0;
    if (way_is_by_line(t->root, t->base)) {
        told = saved_u64(&told, l1, "fetch_granularity") ? told : sector;
        sector = told && (told & (told - 1)) == 0 ? told : sector;
        model_line(t, 1, "the base's: a line, of which a miss fetches sectors",
                   "coalesce: {segment: %" PRIu32 " B, sector: %" PRIu64 " B}", segment, sector);
    } else if (saved_u64(&told, l1 ? l1 : saved_cache(t->root, "l2"), "fetch_granularity") &&
               told >= 32) {
        model_line(t, 1, "what a miss fetches",
                   "coalesce: {segment: %" PRIu32 " B, sector: %" PRIu64 " B}", segment,
                   sector < segment ? sector : segment);
    }
}

static void texture_and_constant_lines(struct model_text *t, const struct latency_plan *plan)
{
    const char *by_l1 = plan->texture_by_l1         ? ", l1: true"
                        : t->base->sm.texture.by_l1 ? ", l1: false"
                                                    : "";
    model_line(
        t, 1,
        plan->texture_by_l1 ? "measured: they share it" : "with texture_l1: what a fetch takes",
        "texture: {address_latency: %" PRIu32 " cycles, filter_latency: %" PRIu32 " cycles%s}",
        plan->texture_address, plan->texture_filter, by_l1);
    uint64_t interval = 0;
    if (saved_u64(&interval, saved_cache(t->root, "constant_l1"), "address_penalty") &&
        interval > 0 && interval != t->base->sm.constant.interval_cycles) {
        model_line(t, 1, "measured: each further address",
                   "constant: {address_latency: %" PRIu32 " cycles, address_interval: %" PRIu64
                   " cycles}",
                   plan->constant_address, interval);
    } else {
        model_line(t, 1, "", "constant: {address_latency: %" PRIu32 " cycles}",
                   plan->constant_address);
    }
}

static void sm_section(struct model_text *t, const struct latency_plan *plan)
{
    const json_t *l1 = saved_cache(t->root, "l1_data");
    model_line(t, 0, "", "sm:");
    if (l1 || saved_is_absent(t->root, "l1_data")) {
        model_line(t, 1, "measured", "l1_caches_global: %s", l1 ? "true" : "false");
    }
    if (plan->issue.is_measured) {
        const char *why = "measured: what timing a load adds to it";
        model_line(t, 1, why, "issue_per_scheduler: %" PRIu32, plan->issue.per_scheduler);
        model_line(t, 1, why, "issue_interval: %" PRIu32 " cycles", plan->issue.interval);
    }
    readonly_line(t, plan);
    lsu_line(t, plan);
    coalesce_line(t, l1);
    shared_lines(t);
    texture_and_constant_lines(t, plan);
    model_outstanding(t);
    model_units(t, plan);
}

static void network_section(struct model_text *t, const struct latency_plan *plan)
{
    struct saved_value value;
    char comment[MODEL_COMMENT_BYTES] = "";
    if (saved_value(&value, saved_cache(t->root, "l2"), "hit_latency")) {
        model_sum(comment, "a load that hits L2:", &value);
    }
    model_line(t, 0, "", "noc:");
    if (t->base->noc.kind == NOC_FLITS) {
        model_line(t, 1, "the base's routers have places for its own SMs alone", "kind: links");
    }
    model_line(t, 1, comment, "request_latency: %" PRIu32 " cycles", plan->request);
    model_line(t, 1, "the other half", "reply_latency: %" PRIu32 " cycles", plan->reply);
    model_port_lines(t);
}

/* The parts that the loader lets a channel have, and its banks. */
static uint64_t most_subchannels(const struct dram_spec *dram)
{
    static const uint64_t parts = 64, banks = 1024;
    uint64_t by_banks = dram->banks ? banks / dram->banks : parts;
    return by_banks < parts ? by_banks : parts;
}

/* Channels divide the slices; fewer of them have more subchannels, for the same bandwidth, and
 * where they cannot, wider ones: true. */
static bool channel_lines(struct model_text *t, uint64_t slices)
{
    const struct dram_spec *dram = &t->base->dram;
    uint64_t all = model_dram_parts(dram);
    uint64_t channels = slices < all ? slices : all;
    bool is_cut = t->bandwidth.is_cut; /* to just so many parts */
    while (slices % channels != 0 || (is_cut && all % channels != 0)) {
        channels--;
    }
    uint64_t few = model_channels_by_rows(t, slices, channels);
    const char *why = few < channels ? "as few as let near lines find a row open"
                      : is_cut       ? "as few as bring about what was read and written"
                                     : "a divisor of the slices";
    channels = few;
    uint64_t each = (all + channels - 1) / channels, most = most_subchannels(dram);
    model_line(t, 1, why, "channels: %" PRIu64, channels);
    model_line(t, 1, is_cut ? "the same" : "as much bandwidth as the base has",
               "subchannels: %" PRIu64, each < most ? each : most);
    uint64_t burst = dram->bytes_per_cycle ? dram->burst_bytes / dram->bytes_per_cycle : 0;
    if (is_cut && dram->bus == DRAM_BUS_SPLIT && each > burst) {
        model_line(t, 1, "one for all would not have as many reads", "command_bus: single");
    }
    if (each > most && dram->bytes_per_cycle) {
        model_line(t, 1, "the same, of as many as a channel may have", "width: %" PRIu64 " B/cycle",
                   (dram->bytes_per_cycle * each + most - 1) / most);
        return true;
    }
    return false;
}

static void memory_section(struct model_text *t, const struct latency_plan *plan, uint64_t slices)
{
    const struct dram_spec *dram = &t->base->dram;
    struct saved_value value;
    char comment[MODEL_COMMENT_BYTES] = "";
    if (saved_value(&value, json_object_get(t->root, "memory"), "latency")) {
        model_sum(comment, "a load that misses L2:", &value);
    }
    if (plan->memory_of_kinds) {
        snprintf(comment, sizeof(comment), "%s", plan->memory_of_kinds);
    }
    model_line(t, 0, "", "dram:");
    bool is_own = slices % dram->channels != 0 || t->bandwidth.is_cut ||
                  model_channels_by_rows(t, slices, dram->channels) < dram->channels;
    bool has_width = is_own && channel_lines(t, slices);
    model_lone_lines(t, has_width);
    model_clock_lines(t);
    model_line(t, 1, comment, "fixed_latency: %" PRIu32 " cycles", plan->dram_fixed);
}

static void driver_section(struct model_text *t)
{
    const json_t *device = json_object_get(t->root, "device");
    char name[128];
    quoted(name, sizeof(name), saved_text(device, "name", ""));
    model_line(t, 0, "", "driver:");
    model_line(t, 1, "", "device_name: \"%s\"", name);
    uint64_t hz = saved_plain_u64(device, "clock_hz", 0);
    if (hz && t->base->driver.clock_hz && hz != t->base->driver.clock_hz) {
        model_line(t, 1, "", "clock: %" PRIu64 " Hz", hz);
    }
    model_line(t, 1, "", "compute_major: %" PRIu64,
               saved_plain_u64(device, "compute_major", t->base->driver.compute_major));
    model_line(t, 1, "", "compute_minor: %" PRIu64,
               saved_plain_u64(device, "compute_minor", t->base->driver.compute_minor));
    model_line(t, 1, "", "l2_size: %" PRIu64 " B",
               saved_plain_u64(device, "l2_bytes_reported", t->base->driver.l2_bytes));
    model_line(t, 1, "", "shared_per_sm: %" PRIu64 " B",
               saved_plain_u64(device, "shared_per_sm_bytes", t->base->driver.shared_per_sm_bytes));
    model_line(
        t, 1, "", "shared_per_block: %" PRIu64 " B",
        saved_plain_u64(device, "shared_per_block_bytes", t->base->driver.shared_per_block_bytes));
}

static void write_model(struct model_text *t)
{
    struct latency_plan plan;
    latencies_plan(&plan, t);
    head(t);
    sm_section(t, &plan);
    model_carveout(t);
    uint64_t slices = model_caches(t, &plan);
    network_section(t, &plan);
    memory_section(t, &plan, slices);
    model_translation(t, &plan);
    driver_section(t);
    strbuf_append(&t->out, "...\n"); /* what is cut off is refused: models/README.md */
}

/* The shipped model of the nearest compute capability, the first of several. */
static int nearest_base(struct model **out, const json_t *root)
{
    const json_t *device = json_object_get(root, "device");
    int64_t wanted = 10 * (int64_t)saved_plain_u64(device, "compute_major", 0) +
                     (int64_t)saved_plain_u64(device, "compute_minor", 0);
    int64_t least = INT64_MAX;
    *out = NULL;
    for (size_t i = 0; i < model_builtin_count(); i++) {
        struct model *model;
        int rc = model_load(&model, model_builtin_name(i));
        if (rc < 0) {
            model_destroy(*out);
            return rc;
        }
        int64_t has = 10 * (int64_t)model->driver.compute_major + model->driver.compute_minor;
        int64_t away = has > wanted ? has - wanted : wanted - has;
        if (away < least) {
            least = away;
            model_destroy(*out);
            *out = model;
        } else {
            model_destroy(model);
        }
    }
    return *out ? 0 : error_set(SONDE_EINTERNAL, "no model is shipped");
}

/* The text over a base, which is changed; a text that the loader refuses is there all the same. */
static int write_over(char **text, json_t *root, struct model *base, const char *struck,
                      const char *base_path)
{
    struct model *model = NULL;
    struct model_text t = {.root = root, .base = base, .struck = struck};
    t.has_other_shape = model_take_shape(base, root);
    model_take_bandwidth(&t.bandwidth, base, root);
    t.base_path = base_path;
    write_model(&t);
    *text = strbuf_take(&t.out);
    if (!*text) {
        return error_memory();
    }
    int rc = model_parse_heir(&model, "the model", *text, strlen(*text));
    model_destroy(model);
    return rc;
}

static int base_of(struct model **out, const json_t *root, const struct export_options *options)
{
    int rc = options->base ? model_load(out, options->base) : nearest_base(out, root);
    if (rc < 0) {
        *out = NULL; /* the caller destroys what is there */
        return error_prefix(rc, "the base");
    }
    return 0;
}

/* Bytes that are none were not measured by anybody: what says so is no dissection. */
static int check_bytes(const json_t *root, const char *source)
{
    static const struct {
        const char *list, *key;
    } bytes[] = {{"caches", "size"}, {"caches", "line"}, {"tlbs", "page"}};
    for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
        size_t k;
        json_t *item;
        json_array_foreach(json_object_get(root, bytes[i].list), k, item)
        {
            struct saved_value value;
            if (saved_value(&value, item, bytes[i].key) && value.value <= 0) {
                return error_set(SONDE_EINPUT, "%s: no dissection: %s.%s is %g B", source,
                                 saved_text(item, "id", ""), bytes[i].key, value.value);
            }
        }
    }
    return 0;
}

int export_sonde(char **text, const json_t *root, const char *source,
                 const struct export_options *options)
{
    struct model *base = NULL;
    struct strbuf struck = {0};
    json_t *told = json_deep_copy(root);
    char path[64], *base_path = NULL;
    int rc = told ? check_bytes(root, source) : error_memory();
    rc = rc == 0 ? base_of(&base, root, options) : rc;
    if (base && options->base && strcmp(options->base, base->name) != 0) {
        base_path = realpath(options->base, NULL); /* holds wherever the model is put */
    }
    *text = NULL;
    json_check_whole(); /* what was lost before is others' */
    model_tell_l1(told);
    model_draw_hashed(told);
    model_leave_late_hits(told);
    rc = rc == 0 ? json_check_whole() : rc;
    bool is_again = rc == 0;
    while (is_again) {
        free(*text);
        rc = write_over(text, told, base, strbuf_text(&struck), base_path);
        is_again = rc == SONDE_EINPUT && model_strike(told, path, sizeof(path), error_text());
        if (is_again && json_check_whole() < 0) {
            rc = SONDE_ENOMEM;
            is_again = false;
        } else if (is_again) {
            int length = (int)strcspn(error_text(), "\n"); /* the first of several */
            strbuf_printf(&struck, "# Not taken over: %.*s\n", length, error_text());
            model_destroy(base); /* the text has changed it */
            rc = base_of(&base, root, options);
            is_again = rc == 0;
        }
    }
    if (rc < 0) {
        rc = *text ? error_prefix(rc, "%s cannot be a model", source) : rc;
        free(*text);
        *text = NULL;
    }
    free(base_path);
    strbuf_free(&struck);
    json_decref(told);
    model_destroy(base);
    return rc;
}
