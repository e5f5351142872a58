/*
 * Why averages mislead (section 3.2 of Mei et al., NPC 2014): the texture L1's line as two methods
 * see it that know only the average latency of a chase.
 *
 *   Saavedra (1992)   an array larger than the cache, the stride varied: a stride below the line
 * hits the line that the load before fetched; from the line's length on every load misses, and the
 * average stays. Wong (2010)       a fixed stride, the array grown from the cache's size: the
 * average jumps where a further set begins to thrash, and the distance of jumps is taken for the
 * line.
 *
 * Where neighbouring lines share a set (four on Fermi and Kepler: set bits 7 and 8 above lines of
 * 32 B), the second sees 128 B. The averages are taken over the records of chases, so that all
 * methods see the same loads.
 */
#include <math.h>
#include <string.h>

#include "study/bench.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

#define CACHE_BYTES 12288 /* Table 4; where the dissection does not tell */
#define WORD_BYTES 4
#define SAAVEDRA_STRIDES 11 /* 4 B to 4 KiB */
#define WONG_STEP 32
#define WONG_STEPS 24
#define FULL_SHARE 0.98 /* of the greatest average */
#define JUMP_SHARE 0.5  /* of the greatest jump */

int measure_average(struct study_bench *bench, struct study_value *value, size_t role,
                    uint64_t bytes, uint64_t stride)
{
    const uint32_t *latency;
    size_t count;
    uint64_t elements = (bytes + stride - 1) / stride;
    struct study_chase chase = {.op = "tex",
                                .bytes = bytes,
                                .stride = stride,
                                .warm = 2 * elements,
                                .window = 2048,
                                .windows = 1};
    if (elements < chase.window) {
        chase.window = (uint32_t)elements;
    }
    int rc = study_bench_chase(bench, &latency, &count, role, &chase, value);
    double sum = 0;
    for (size_t i = 0; latency && i < count; i++) {
        sum += latency[i];
    }
    if (latency) {
        value_number(value, sum / (double)count);
    }
    return rc;
}

static int saavedra(struct study_bench *bench, struct study_value *value, size_t role,
                    uint64_t cache_bytes)
{
    double average[SAAVEDRA_STRIDES], most = 0;
    for (int i = 0; i < SAAVEDRA_STRIDES; i++) {
        int rc = measure_average(bench, value, role, cache_bytes * 8, (uint64_t)WORD_BYTES << i);
        if (rc < 0 || value->kind != STUDY_NUMBER) {
            return rc;
        }
        average[i] = value->number;
        most = fmax(most, average[i]);
    }
    int i = 0;
    while (average[i] < FULL_SHARE * most) {
        i++;
    }
    value_number(value, WORD_BYTES << i);
    return 0;
}

static int wong(struct study_bench *bench, struct study_value *value, size_t role,
                uint64_t cache_bytes)
{
    double jump[WONG_STEPS], most = 0, before = 0;
    for (int i = 0; i < WONG_STEPS; i++) {
        int rc =
            measure_average(bench, value, role, cache_bytes + (uint64_t)i * WONG_STEP, WONG_STEP);
        if (rc < 0 || value->kind != STUDY_NUMBER) {
            return rc;
        }
        jump[i] = i ? value->number - before : 0;
        before = value->number;
        most = fmax(most, jump[i]);
    }
    int first = -1, second = -1;
    for (int i = 0; i < WONG_STEPS && second < 0; i++) {
        if (most > 0 && jump[i] > JUMP_SHARE * most) {
            second = first < 0 ? second : i;
            first = first < 0 ? i : first;
        }
    }
    if (second < 0) {
        value_nothing(value, "the average has no two jumps beyond %llu B",
                      (unsigned long long)cache_bytes);
    } else {
        value_number(value, (second - first) * WONG_STEP);
    }
    return 0;
}

/* Wong's method begins at the cache's size, which it takes as known. */
static int cache_size(struct study_bench *bench, uint64_t *bytes, size_t role)
{
    struct study_value size;
    int rc = measure_path(bench, &size, role, "caches.texture_l1.size");
    *bytes = size.kind == STUDY_NUMBER && size.number > 0 ? (uint64_t)size.number : CACHE_BYTES;
    return rc;
}

int measure_averages(struct study_bench *bench, struct study_value *value, size_t role,
                     const struct yaml_node *node)
{
    struct study_value by_saavedra, by_wong;
    (void)node;
    uint64_t bytes;
    int rc = cache_size(bench, &bytes, role);
    rc = rc < 0 ? rc : saavedra(bench, &by_saavedra, role, bytes);
    rc = rc < 0 ? rc : wong(bench, &by_wong, role, bytes);
    if (rc < 0) {
        return rc;
    }
    if (by_saavedra.kind != STUDY_NUMBER || by_wong.kind != STUDY_NUMBER) {
        *value = by_saavedra.kind != STUDY_NUMBER ? by_saavedra : by_wong;
        return 0;
    }
    value_word(value, by_saavedra.number == by_wong.number ? "agree" : "differ");
    return 0;
}
