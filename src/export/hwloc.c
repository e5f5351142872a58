/*
 * An XML topology as hwloc 2 imports it (its DTD hwloc2.dtd; the manual's "Importing and exporting
 * topologies from/to XML files"). hwloc knows processors: the GPU is a package, an SM a core with
 * one processing unit, so that lstopo draws caches around the SMs that they serve. What hwloc has
 * no object for (caches of textures and constants, TLBs) becomes Misc objects of the SM or the
 * package, and every value that its attributes cannot hold an info. An OS device of subtype CUDA
 * carries what the driver says, as hwloc's own CUDA backend names it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/saved.h"
#include "export/writers.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/text/printable.h"
#include "util/text/units.h"

#define LARGEST_SMS 4096 /* an SM is five objects; a text beyond that is nobody's GPU */
#define MOST_TLBS 64     /* each is drawn in every SM */

struct topology {
    struct strbuf out;
    const json_t *root;
    uint64_t sms;
    uint64_t objects; /* so far: gp_index */
};

static void escaped(struct strbuf *out, const char *text)
{
    for (size_t bytes; *text; text += bytes) {
        bytes = printable_bytes(text);
        switch (*text) {
        case '&':
            strbuf_append(out, "&amp;");
            break;
        case '<':
            strbuf_append(out, "&lt;");
            break;
        case '>':
            strbuf_append(out, "&gt;");
            break;
        case '"':
            strbuf_append(out, "&quot;");
            break;
        default:
            strbuf_printf(out, "%.*s", bytes ? (int)bytes : 1, bytes ? text : "?");
            bytes = bytes ? bytes : 1;
            break;
        }
    }
}

/* A bitmap of bits [first, first + count): words of 32 bits, the highest first. */
static void bitmap(struct strbuf *out, uint64_t first, uint64_t count)
{
    for (uint64_t word = (first + count - 1) / 32 + 1; word-- > 0;) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < 32; i++) {
            uint64_t at = word * 32 + i;
            bits |= at >= first && at < first + count ? UINT32_C(1) << i : 0;
        }
        strbuf_printf(out, "0x%08" PRIx32 "%s", bits, word ? "," : "");
    }
}

static void info(struct topology *t, const char *name, const char *value)
{
    strbuf_printf(&t->out, "<info name=\"%s\" value=\"", name);
    escaped(&t->out, value);
    strbuf_append(&t->out, "\"/>\n");
}

static void info_u64(struct topology *t, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    info(t, name, text);
}

/* Begins an object; the caller adds its attributes and ">". */
static void begin(struct topology *t, const char *type)
{
    strbuf_printf(&t->out, "<object type=\"%s\" gp_index=\"%" PRIu64 "\"", type, ++t->objects);
}

static void begin_with_sms(struct topology *t, const char *type, uint64_t first, uint64_t count)
{
    static const char *const SETS[] = {"cpuset", "complete_cpuset"};
    begin(t, type);
    for (int i = 0; i < 2; i++) {
        strbuf_printf(&t->out, " %s=\"", SETS[i]);
        bitmap(&t->out, first, count);
        strbuf_append(&t->out, "\"");
    }
    strbuf_append(&t->out, " nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\"");
}

static void end(struct topology *t)
{
    strbuf_append(&t->out, "</object>\n");
}

/* Every value of a cache or TLB that was measured, as infos. */
static void measured_infos(struct topology *t, const json_t *owner)
{
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)owner, key, member)
    {
        struct saved_value value;
        if (!json_is_object(member) || !saved_value(&value, owner, key)) {
            continue;
        }
        struct strbuf text = {0};
        strbuf_printf(&text, "%.10g %s (confidence %.2f)", value.value,
                      saved_text(member, "unit", ""), value.confidence);
        info(t, key, strbuf_text(&text));
        strbuf_free(&text);
    }
    const char *policy = saved_text(json_object_get(owner, "policy"), "name", "unknown");
    if (strcmp(policy, "unknown") != 0) {
        info(t, "policy", policy);
    }
}

/* A cache that serves SMs [first, first + count); false, and nothing written, if its size is not
 * known: hwloc's caches have one. */
static bool begin_cache(struct topology *t, const char *id, unsigned depth, uint64_t first,
                        uint64_t count)
{
    const json_t *cache = saved_cache(t->root, id);
    uint64_t size, line = 0, ways = 0;
    if (!saved_u64(&size, cache, "size")) {
        return false;
    }
    saved_u64(&line, cache, "line");
    saved_u64(&ways, cache, "ways");
    char type[16];
    snprintf(type, sizeof(type), "L%uCache", depth);
    begin_with_sms(t, type, first, count);
    strbuf_printf(&t->out,
                  " cache_size=\"%" PRIu64 "\" depth=\"%u\" cache_linesize=\"%" PRIu64
                  "\" cache_associativity=\"%" PRIu64 "\" cache_type=\"%u\">\n",
                  size, depth, line, ways, depth == 1 ? 1 : 0);
    measured_infos(t, cache);
    return true;
}

/* What hwloc has no object for. */
static void misc(struct topology *t, const json_t *owner, const char *id)
{
    uint64_t size;
    char amount[32] = "";
    if (saved_u64(&size, owner, "size") || saved_u64(&size, owner, "coverage")) {
        units_format(amount, sizeof(amount), size, UNIT_BYTES);
    }
    begin(t, "Misc");
    strbuf_append(&t->out, " name=\"");
    escaped(&t->out, id);
    strbuf_printf(&t->out, " %s\">\n", amount);
    measured_infos(t, owner);
    end(t);
}

static bool is_of_sm(const json_t *owner)
{
    return strcmp(saved_text(owner, "scope", ""), "sm") == 0;
}

/* The caches and TLBs beside the main path: of an SM, or of what is larger. */
static void others(struct topology *t, bool of_sm, const char *drawn)
{
    for (size_t i = 0; EXPORT_CACHES[i]; i++) {
        const json_t *cache = saved_cache(t->root, EXPORT_CACHES[i]);
        bool is_drawn =
            strcmp(EXPORT_CACHES[i], "l2") == 0 || (drawn && strcmp(EXPORT_CACHES[i], drawn) == 0);
        if (cache && !is_drawn && is_of_sm(cache) == of_sm) {
            misc(t, cache, EXPORT_CACHES[i]);
        }
    }
    size_t i;
    json_t *tlb;
    json_array_foreach(json_object_get(t->root, "tlbs"), i, tlb)
    {
        if (json_is_true(json_object_get(tlb, "present")) && is_of_sm(tlb) == of_sm) {
            misc(t, tlb, saved_text(tlb, "id", "tlb"));
        }
    }
}

static void sm(struct topology *t, uint64_t number)
{
    /* The first level that has a size is drawn around the SM. */
    const char *drawn = NULL;
    for (size_t i = 0; !drawn && i < 2; i++) {
        static const char *const FIRST[] = {"l1_data", "local_l1"};
        drawn = begin_cache(t, FIRST[i], 1, number, 1) ? FIRST[i] : NULL;
    }
    begin_with_sms(t, "Core", number, 1);
    strbuf_printf(&t->out, " os_index=\"%" PRIu64 "\" subtype=\"SM\">\n", number);
    begin_with_sms(t, "PU", number, 1);
    strbuf_printf(&t->out, " os_index=\"%" PRIu64 "\"/>\n", number);
    others(t, true, drawn);
    end(t);
    if (drawn) {
        end(t);
    }
}

static void memory_node(struct topology *t, const json_t *device)
{
    begin_with_sms(t, "NUMANode", 0, t->sms);
    strbuf_printf(&t->out, " os_index=\"0\" local_memory=\"%" PRIu64 "\">\n",
                  saved_plain_u64(device, "memory_bytes", 0));
    measured_infos(t, json_object_get(t->root, "memory"));
    end(t);
}

static void cuda_device(struct topology *t, const json_t *device)
{
    begin(t, "OSDev");
    strbuf_append(&t->out, " name=\"cuda0\" subtype=\"CUDA\" osdev_type=\"5\">\n");
    info(t, "Backend", "CUDA");
    info(t, "GPUVendor", "NVIDIA Corporation");
    info(t, "GPUModel", saved_text(device, "name", ""));
    info_u64(t, "CUDAGlobalMemorySize", saved_plain_u64(device, "memory_bytes", 0) / 1024);
    info_u64(t, "CUDAMultiProcessors", t->sms);
    info_u64(t, "CUDASharedMemorySizePerMP",
             saved_plain_u64(device, "shared_per_sm_bytes", 0) / 1024);
    end(t);
}

static void package(struct topology *t, const char *source)
{
    const json_t *device = json_object_get(t->root, "device");
    begin_with_sms(t, "Machine", 0, t->sms);
    strbuf_append(&t->out, " os_index=\"0\" allowed_cpuset=\"");
    bitmap(&t->out, 0, t->sms);
    strbuf_append(&t->out, "\" allowed_nodeset=\"0x00000001\">\n");
    info(t, "Backend", "Sonde");
    info(t, "Dissection", source);
    begin_with_sms(t, "Package", 0, t->sms);
    strbuf_append(&t->out, " os_index=\"0\" subtype=\"GPU\">\n");
    info(t, "CPUModel", saved_text(device, "name", ""));
    memory_node(t, device);
    bool has_l2 = begin_cache(t, "l2", 2, 0, t->sms);
    for (uint64_t i = 0; i < t->sms; i++) {
        sm(t, i);
    }
    if (has_l2) {
        end(t);
    }
    cuda_device(t, device);
    others(t, false, NULL);
    end(t);
    end(t);
}

int export_hwloc(char **text, const json_t *root, const char *source,
                 const struct export_options *options)
{
    (void)options;
    struct topology t = {.root = root};
    t.sms = saved_plain_u64(json_object_get(root, "device"), "sms", 1);
    if (t.sms == 0 || t.sms > LARGEST_SMS) {
        return error_set(SONDE_EINPUT, "%s: a GPU of %" PRIu64 " SMs", source, t.sms);
    }
    size_t tlbs = json_array_size(json_object_get(root, "tlbs"));
    if (tlbs > MOST_TLBS) {
        return error_set(SONDE_EINPUT, "%s: a GPU of %zu TLBs", source, tlbs);
    }
    strbuf_append(&t.out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n");
    package(&t, source);
    strbuf_append(&t.out, "<support name=\"discovery.pu\"/>\n</topology>\n");
    *text = strbuf_take(&t.out);
    return *text ? 0 : error_memory();
}
