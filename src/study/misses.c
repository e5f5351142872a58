/*
 * Miss rates, by counting: Figure 9's lines of the L1 and Figure 11's pages of the L2 TLB. A load
 * has missed when its latency is nearer to that of a miss than to that of a hit; both are measured
 * first.
 *
 * Figure 11 as printed counts "missed entries", 17 and 8 more a step. Under LRU a set of n entries
 * that one page too many visits misses all n + 1 of them, so the entries that thrash are one fewer
 * a set: both are told.
 */
#include <stdlib.h>

#include "study/bench.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

#define LINE_BYTES 128
#define PAGE_BYTES (UINT32_C(2) << 20)
#define PASSES 4 /* to settle; a policy with dice needs some */
#define LINE_WINDOWS 4
#define LINE_WINDOW 1024
#define SWEEP_FROM 16384 /* Figure 9 */
#define SWEEP_STEP 512
#define PAGES_FIT_MIB 130 /* Figure 11: up to here nothing misses */

/* The latency halfway between two classes, a number, or nothing. */
static int threshold(struct study_bench *bench, struct study_value *value, size_t role,
                     const char *hit, const char *miss, const char *op)
{
    const uint32_t *latency;
    size_t count;
    struct study_value high;
    int rc = measure_pattern(bench, value, &latency, &count, role, hit, op);
    if (rc < 0 || value->kind != STUDY_NUMBER) {
        return rc;
    }
    rc = measure_pattern(bench, &high, &latency, &count, role, miss, op);
    if (rc < 0 || high.kind != STUDY_NUMBER) {
        *value = high;
    } else if (high.number < value->number * 1.05) {
        value_nothing(value, "hits (%.0f cycles) and misses (%.0f) look alike", value->number,
                      high.number);
    } else {
        value->number = (value->number + high.number) / 2;
    }
    return rc;
}

static size_t count_above(const uint32_t *latency, size_t count, double bound)
{
    size_t above = 0;
    for (size_t i = 0; i < count; i++) {
        above += latency[i] > bound;
    }
    return above;
}

int measure_missed_pages(struct study_bench *bench, struct study_value *value, size_t role,
                         uint64_t mib)
{
    const uint32_t *latency;
    size_t count;
    struct study_value bound;
    uint32_t pages = (uint32_t)(mib / 2);
    int rc = threshold(bench, &bound, role, "P2", "P3", "cg");
    if (rc < 0 || bound.kind != STUDY_NUMBER) {
        *value = bound;
        return rc;
    }
    uint32_t *ring = malloc(pages * sizeof(*ring));
    if (!ring) {
        return error_memory();
    }
    for (uint32_t i = 0; i < pages; i++) {
        ring[i] = i * PAGE_BYTES + 640 + i % 8 * 4096; /* as spectrum.c */
    }
    struct study_chase chase = {.op = "cg",
                                .ring = ring,
                                .count = pages,
                                .warm = PASSES * pages,
                                .window = pages,
                                .windows = 1};
    rc = study_bench_chase(bench, &latency, &count, role, &chase, value);
    free(ring);
    if (latency) {
        value_number(value, (double)count_above(latency, count, bound.number));
    }
    return rc;
}

static int read_mib(uint64_t *mib, const struct yaml_node *node, const char *key)
{
    int rc = yaml_u64(mib, yaml_get(node, key), UNIT_NONE);
    return rc < 0 || (*mib >= 2 && *mib <= 1024)
               ? rc
               : yaml_error(SONDE_EINPUT, node, "%s: 2 to 1024", key);
}

int measure_page_misses(struct study_bench *bench, struct study_value *value, size_t role,
                        const struct yaml_node *node)
{
    uint64_t mib = 0;
    int rc = read_mib(&mib, node, "page_misses");
    return rc < 0 ? rc : measure_missed_pages(bench, value, role, mib);
}

/* A page more in a set that thrashes already misses alone and adds no entry. */
double measure_new_entries(double more_pages)
{
    return more_pages > 1 ? more_pages - 1 : 0;
}

int measure_page_entries(struct study_bench *bench, struct study_value *value, size_t role,
                         const struct yaml_node *node)
{
    uint64_t mib = 0;
    double entries = 0, before = 0;
    int rc = read_mib(&mib, node, "page_entries");
    for (uint64_t at = PAGES_FIT_MIB; rc == 0 && at <= mib; at += 2) {
        rc = measure_missed_pages(bench, value, role, at);
        if (rc < 0 || value->kind != STUDY_NUMBER) {
            return rc;
        }
        entries += measure_new_entries(value->number - before);
        before = value->number;
    }
    if (rc == 0) {
        value_number(value, entries);
    }
    return rc;
}

int measure_missed_lines(struct study_bench *bench, struct study_value *value, size_t role,
                         uint64_t bytes)
{
    const uint32_t *latency;
    size_t count;
    struct study_value bound;
    int rc = threshold(bench, &bound, role, "P1", "L1_MISS", "ca");
    if (rc < 0 || bound.kind != STUDY_NUMBER) {
        *value = bound;
        return rc;
    }
    struct study_chase chase = {.op = "ca",
                                .bytes = bytes,
                                .stride = LINE_BYTES,
                                .warm = 2 * PASSES * (bytes / LINE_BYTES),
                                .window = LINE_WINDOW,
                                .windows = LINE_WINDOWS};
    rc = study_bench_chase(bench, &latency, &count, role, &chase, value);
    if (latency) {
        value_number(value, (double)count_above(latency, count, bound.number) / (double)count);
    }
    return rc;
}

int measure_miss_rate(struct study_bench *bench, struct study_value *value, size_t role,
                      const struct yaml_node *node)
{
    uint64_t bytes = 0;
    int rc = yaml_u64(&bytes, yaml_get(node, "miss_rate"), UNIT_NONE);
    if (rc < 0 || !measure_word(node, "value")) {
        return rc < 0 ? rc : measure_missed_lines(bench, value, role, bytes);
    }
    double most = 0;
    for (uint64_t at = SWEEP_FROM; rc == 0 && at <= bytes; at += SWEEP_STEP) {
        rc = measure_missed_lines(bench, value, role, at);
        if (rc < 0 || value->kind != STUDY_NUMBER) {
            return rc;
        }
        most = value->number > most ? value->number : most;
    }
    value_number(value, most);
    return rc;
}
