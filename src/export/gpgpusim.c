/*
 * A `gpgpusim.config` of GPGPU-Sim 4: one option a line. Its caches have powers of two of sets and
 * lines, as many ways in every set, and LRU or FIFO; what was found beyond that is named in
 * comments, with the nearest that was written. An option that no measurement gives is left out: the
 * program has defaults.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/saved.h"
#include "export/writers.h"
#include "util/container/strbuf.h"
#include "util/error.h"

#define SECTORED_LINE 128 /* the only line that its sectored caches have, */
#define SECTORED_FETCH 32 /* and their sector */
#define MOST_PARTITIONS 64

/* How a cache option is filled in beside its geometry. */
struct letters {
    char write, allocate, write_miss;
    const char *misses; /* M:entries:merges,queue:fifo */
    unsigned port;      /* bytes a cycle; 0: a line, the program's default */
};

struct shape {
    uint64_t sets, line, ways;
    bool is_exact, is_sectored;
};

static uint64_t nearest_power(double n)
{
    double exponent = round(log2(n > 1 ? n : 1));
    return UINT64_C(1) << (exponent > 40 ? 40 : (unsigned)exponent);
}

/* False: the size is not known. `parts` divide the sets among them. */
static bool shape_read(struct shape *shape, const json_t *cache, uint64_t parts)
{
    uint64_t size, sets = 0, ways = 0, fetch = 0;
    if (!saved_u64(&size, cache, "size") || size == 0) {
        return false;
    }
    uint64_t line = SECTORED_LINE;
    bool has_line = saved_u64(&line, cache, "line") && line > 0;
    bool has_sets = saved_u64(&sets, cache, "sets"), has_ways = saved_u64(&ways, cache, "ways");
    ways = has_ways && ways ? ways : 4;
    double wanted = has_sets ? (double)sets : (double)size / (double)(line * ways);
    shape->sets = nearest_power(wanted / (double)parts);
    shape->line = nearest_power((double)line);
    shape->ways = ways;
    bool is_unequal = json_array_size(json_object_get(cache, "ways_per_set")) > 0;
    if (shape->sets * parts != sets || is_unequal || shape->line != line) {
        /* As near to the size as whole ways come. */
        double each = (double)size / (double)(parts * shape->sets * shape->line);
        shape->ways = each > 1 ? (uint64_t)llround(each) : 1;
    }
    shape->is_exact = has_line && has_sets && has_ways && !is_unequal && shape->line == line &&
                      shape->sets * parts == sets;
    saved_u64(&fetch, cache, "fetch_granularity");
    shape->is_sectored = shape->line == SECTORED_LINE && fetch == SECTORED_FETCH;
    return true;
}

/* 'L' or 'F'; 0: neither is what was found, and 'L' is the nearest. */
static char replacement(const json_t *cache)
{
    const char *name = saved_text(json_object_get(cache, "policy"), "name", "unknown");
    return strcmp(name, "lru") == 0 ? 'L' : strcmp(name, "fifo") == 0 ? 'F' : '\0';
}

static void what_is_lost(struct strbuf *out, const json_t *cache, const struct shape *shape,
                         uint64_t parts)
{
    uint64_t sets = 0, ways = 0;
    const char *policy = saved_text(json_object_get(cache, "policy"), "name", "unknown");
    const char *index = saved_text(json_object_get(cache, "set_index"), "kind", "unknown");
    if (!shape->is_exact) {
        bool known = saved_u64(&sets, cache, "sets") && saved_u64(&ways, cache, "ways");
        if (known) {
            strbuf_printf(out,
                          "#   found: %" PRIu64 " sets of %" PRIu64
                          " ways; written: the nearest powers of two\n",
                          sets, ways);
        } else {
            strbuf_append(out, "#   sets, ways or line were not measured: chosen for the size\n");
        }
    }
    if (!replacement(cache)) {
        strbuf_printf(out, "#   replacement found: %s; written: LRU\n", policy);
    }
    if (strcmp(index, "bits") != 0) {
        strbuf_printf(out, "#   set index found: %s; written: low bits\n", index);
    }
    if (parts > 1) {
        strbuf_printf(out, "#   the whole is divided among %" PRIu64 " partitions\n", parts);
    }
}

static void cache_option(struct strbuf *out, const json_t *cache, const char *option,
                         const struct letters *letters, uint64_t parts)
{
    struct shape shape;
    if (!cache || !shape_read(&shape, cache, parts)) {
        strbuf_printf(out, "# %s: not measured\n", option);
        return;
    }
    what_is_lost(out, cache, &shape, parts);
    char policy = replacement(cache);
    uint64_t port = letters->port ? letters->port : shape.line;
    strbuf_printf(out, "%s %c:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ",%c:%c:%c:%c:L,%s,%" PRIu64 "\n",
                  option, shape.is_sectored ? 'S' : 'N', shape.sets, shape.line, shape.ways,
                  policy ? policy : 'L', letters->write, letters->allocate, letters->write_miss,
                  letters->misses, port);
}

/* Partitions among which the sets divide into powers of two most nearly; the fewest. */
static uint64_t partitions(const json_t *l2)
{
    uint64_t sets, best = 1;
    double least = INFINITY;
    if (!saved_u64(&sets, l2, "sets") || sets == 0) {
        return 1;
    }
    for (uint64_t parts = 1; parts <= MOST_PARTITIONS && parts <= sets; parts++) {
        double each = (double)sets / (double)parts;
        double off = fabs(log2(each) - round(log2(each)));
        if (off < least - 1e-9) {
            least = off;
            best = parts;
        }
    }
    return best;
}

static void rounded(struct strbuf *out, const char *option, const json_t *owner, const char *key)
{
    struct saved_value value;
    if (saved_value(&value, owner, key)) {
        strbuf_printf(out, "%s %.0f\n", option, value.value);
    }
}

static void general(struct strbuf *out, const json_t *root, uint64_t parts)
{
    const json_t *device = json_object_get(root, "device");
    const json_t *shared = json_object_get(root, "shared_memory");
    double mhz = (double)saved_plain_u64(device, "clock_hz", 0) / 1e6;
    strbuf_printf(out, "-gpgpu_compute_capability_major %" PRIu64 "\n",
                  saved_plain_u64(device, "compute_major", 0));
    strbuf_printf(out, "-gpgpu_compute_capability_minor %" PRIu64 "\n",
                  saved_plain_u64(device, "compute_minor", 0));
    strbuf_printf(out, "-gpgpu_n_clusters %" PRIu64 "\n", saved_plain_u64(device, "sms", 1));
    strbuf_append(out, "-gpgpu_n_cores_per_cluster 1\n");
    strbuf_printf(out, "-gpgpu_n_mem %" PRIu64 "\n", parts);
    strbuf_append(out, "-gpgpu_n_sub_partition_per_mchannel 1\n");
    strbuf_append(out, "# the clocks of network, L2 and memory were not measured: the core's\n");
    strbuf_printf(out, "-gpgpu_clock_domains %.1f:%.1f:%.1f:%.1f\n", mhz, mhz, mhz, mhz);
    rounded(out, "-gpgpu_shmem_num_banks", shared, "banks");
    rounded(out, "-gpgpu_smem_latency", shared, "latency");
}

/* The network's share of L2's latency is its own; what is left is the slice's pipeline. */
static void latencies(struct strbuf *out, const json_t *root)
{
    struct saved_value l2, memory;
    const json_t *l1 = saved_cache(root, "l1_data");
    rounded(out, "-gpgpu_l1_latency", l1 ? l1 : saved_cache(root, "local_l1"), "hit_latency");
    strbuf_printf(out, "-gpgpu_gmem_skip_L1D %d\n", l1 ? 0 : 1);
    if (saved_value(&l2, saved_cache(root, "l2"), "hit_latency")) {
        strbuf_append(out, "# from an SM, the network's own time with it: too high by that\n");
        strbuf_printf(out, "-gpgpu_l2_rop_latency %.0f\n", l2.value);
        if (saved_value(&memory, json_object_get(root, "memory"), "latency")) {
            strbuf_append(out, "# what a load takes that L2 misses, above one that hits\n");
            strbuf_printf(out, "-dram_latency %.0f\n", memory.value - l2.value);
        }
    }
}

static void caches(struct strbuf *out, const json_t *root, uint64_t parts)
{
    const json_t *outstanding = json_object_get(root, "outstanding");
    uint64_t entries = 0, mergers = 8;
    char misses[64] = "A:64:8,8:0";
    if (strcmp(saved_text(outstanding, "structure", ""), "mshr") == 0 &&
        saved_u64(&entries, outstanding, "entries")) {
        saved_u64(&mergers, outstanding, "mergers");
        snprintf(misses, sizeof(misses), "A:%" PRIu64 ":%" PRIu64 ",8:0", entries,
                 mergers ? mergers : 1);
    } else {
        strbuf_append(out, "# miss tables were not measured: 64 entries of 8\n");
    }
    const json_t *l1 = saved_cache(root, "l1_data");
    const struct letters first = {'L', 'm', 'N', misses, 0},
                         second = {'B', 'm', 'W', "A:64:8,8:0", 32},
                         texture = {'R', 'm', 'N', "F:128:4,128:2", 0},
                         constant = {'R', 'f', 'N', "A:2:64,4:0", 0};
    cache_option(out, l1 ? l1 : saved_cache(root, "local_l1"), "-gpgpu_cache:dl1", &first, 1);
    cache_option(out, saved_cache(root, "l2"), "-gpgpu_cache:dl2", &second, parts);
    cache_option(out, saved_cache(root, "texture_l1"), "-gpgpu_tex_cache:l1", &texture, 1);
    cache_option(out, saved_cache(root, "constant_l1"), "-gpgpu_const_cache:l1", &constant, 1);
}

/* What was found and has no option there. */
static void unsaid(struct strbuf *out, const json_t *root)
{
    size_t i;
    json_t *tlb;
    json_array_foreach(json_object_get(root, "tlbs"), i, tlb)
    {
        uint64_t entries, page;
        if (json_is_true(json_object_get(tlb, "present")) && saved_u64(&entries, tlb, "entries") &&
            saved_u64(&page, tlb, "page")) {
            strbuf_printf(out, "# %s, %" PRIu64 " entries of %" PRIu64 " B: it has no TLBs\n",
                          saved_text(tlb, "id", "a TLB"), entries, page);
        }
    }
    if (saved_cache(root, "constant_l15")) {
        strbuf_append(out, "# constant_l15: it has one level of constant caches\n");
    }
    const char *structure = saved_text(json_object_get(root, "outstanding"), "structure", "");
    if (strcmp(structure, "prt") == 0 || strcmp(structure, "request_limit") == 0) {
        strbuf_printf(out, "# outstanding: a %s, which it has not\n", structure);
    }
}

int export_gpgpusim(char **text, const json_t *root, const char *source,
                    const struct export_options *options)
{
    (void)options;
    struct strbuf out = {0};
    uint64_t parts = partitions(saved_cache(root, "l2"));
    strbuf_printf(&out, "# GPGPU-Sim 4, from a dissection of %s: what was measured.\n",
                  saved_text(root, "date", "an unknown day"));
    (void)source;
    general(&out, root, parts);
    latencies(&out, root);
    caches(&out, root, parts);
    unsaid(&out, root);
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}
