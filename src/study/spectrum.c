/*
 * Table 3's classes of accesses (Mei et al., NPC 2014, section 3.2: "a special array initialization
 * with non-uniform strides"), each by the ring that makes it on the paper's GPUs. All of a window's
 * records belong to the class; that they do is checked: latencies that do not agree are no class.
 *
 *     P1       64 lines of one page                 data hit (L1, or L2 with op cg), L1 TLB hit
 *     P2       64 pages (128 MB), a line of each    L1 TLB's 16 entries thrash, L2 TLB's 65 suffice
 *     P3       80 pages (160 MB)                    every set of the L2 TLB thrashes; the page
 * table's entries stay in L2 P4       4 MB in sequence                     more than any L2 of
 * them, two pages P5       80 pages, then 4 MB in sequence      data and page table's entries are
 * displaced from L2 P6       the same, every other page 512 MB    each access finds the other
 * page-table window active farther P2_L1    64 pages, 64 lines spread over L1    L1 keeps the data,
 * the L1 TLB not the pages L1_MISS  64 lines of one page and one L1 set  L1 thrashes, L2 keeps the
 * data
 *
 * One line of each page must stay in L2 in P2 and P3, and must not in L1: element i lies at 640 +
 * 4096 * (i % 8) in its page, in one set of a 16 KB L1 but in eight sets and more of an L2; 640
 * keeps the data out of the sets of page tables, which begin at multiples of 4 KiB.
 */
#include <stdlib.h>
#include <string.h>

#include "study/bench.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"
#include "util/sort.h"

#define PAGE_BYTES (UINT32_C(2) << 20)
#define WINDOW_PAGES 256 /* Kepler's page-table window of 512 MB */
#define SWEEP_BYTES (UINT32_C(4) << 20)
#define LINE_BYTES 128
#define CLASS_SPREAD 0.1 /* between the deciles, of the median */

struct pattern {
    const char *name, *op; /* op NULL: the row's */
    uint32_t elements;
    uint32_t element_bytes; /* distance of elements within pages */
    bool pages;             /* each element in its own page */
    bool windows;           /* every other element in the other page-table window */
    bool sweep;             /* then 4 MB in sequence */
};

static const struct pattern patterns[] = {
    {.name = "P1", .elements = 64, .element_bytes = LINE_BYTES},
    {.name = "P2", .elements = 64, .element_bytes = 4096, .pages = true},
    {.name = "P3", .elements = 80, .element_bytes = 4096, .pages = true},
    {.name = "P4", .elements = 0, .sweep = true},
    {.name = "P5", .elements = 80, .element_bytes = 4096, .pages = true, .sweep = true},
    {.name = "P6",
     .elements = 80,
     .element_bytes = 4096,
     .pages = true,
     .windows = true,
     .sweep = true},
    {.name = "P2_L1", .elements = 64, .element_bytes = LINE_BYTES, .pages = true},
    {.name = "L1_MISS", .elements = 64, .element_bytes = 4096},
    {.name = "TEX_L1", .op = "tex", .elements = 64, .element_bytes = 32},
    {.name = "TEX_L2", .op = "tex", .elements = 2048, .element_bytes = 32},
};

static uint32_t element_offset(const struct pattern *p, uint32_t i)
{
    if (!p->pages) {
        return i * p->element_bytes;
    }
    uint32_t page = !p->windows ? i : i / 2 + (i % 2) * WINDOW_PAGES;
    uint32_t steps = p->element_bytes == LINE_BYTES ? i : i % 8;
    return page * PAGE_BYTES + 640 + steps * p->element_bytes;
}

/* The pattern's elements, then the sweep in pages of its own. free() the ring. */
static uint32_t *make_ring(const struct pattern *p, size_t *count)
{
    uint32_t swept = p->sweep ? SWEEP_BYTES / LINE_BYTES : 0;
    uint32_t sweep_at = p->elements * PAGE_BYTES;
    uint32_t *ring = malloc((p->elements + swept) * sizeof(*ring));
    for (uint32_t i = 0; ring && i < p->elements; i++) {
        ring[i] = element_offset(p, i);
    }
    for (uint32_t i = 0; ring && i < swept; i++) {
        ring[p->elements + i] = sweep_at + i * LINE_BYTES;
    }
    *count = p->elements + swept;
    return ring;
}

static const struct pattern *find_pattern(const char *name)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        if (strcmp(patterns[i].name, name) == 0) {
            return &patterns[i];
        }
    }
    return NULL;
}

/* The median, if nine tenths of the latencies stay near it. */
static int class_latency(struct study_value *value, const uint32_t *latency, size_t count)
{
    uint32_t *sorted = malloc(count * sizeof(*sorted));
    if (!sorted) {
        return error_memory();
    }
    memcpy(sorted, latency, count * sizeof(*sorted));
    sort_u32(sorted, count);
    size_t below = (count - 1) / 2, above = count / 2;
    double median = 0.5 * ((double)sorted[below] + (double)sorted[above]);
    uint32_t low = sorted[count / 10], high = sorted[count - 1 - count / 10];
    if (high - low > CLASS_SPREAD * median) {
        value_nothing(value, "latencies from %u to %u are not one class", low, high);
    } else {
        value_number(value, median);
    }
    free(sorted);
    return 0;
}

int measure_pattern(struct study_bench *bench, struct study_value *value, const uint32_t **latency,
                    size_t *count, size_t role, const char *name, const char *op)
{
    const struct pattern *p = find_pattern(name);
    *latency = NULL;
    if (!p) {
        return error_set(SONDE_EINPUT, "there is no pattern '%s'", name);
    }
    size_t elements;
    uint32_t *ring = make_ring(p, &elements);
    if (!ring) {
        return error_memory();
    }
    /* Caches that are not LRU settle in a few passes. */
    struct study_chase chase = {
        .op = p->op ? p->op : op,
        .ring = ring,
        .count = elements,
        .warm = elements * (p->sweep ? 1 : 4),
        .window = p->elements && p->elements < 512 ? p->elements : 512,
        .windows = 1,
    };
    int rc = study_bench_chase(bench, latency, count, role, &chase, value);
    free(ring);
    return rc < 0 || !*latency ? rc : class_latency(value, *latency, *count);
}

int measure_spectrum(struct study_bench *bench, struct study_value *value, size_t role,
                     const struct yaml_node *node)
{
    const uint32_t *latency;
    size_t count;
    const char *op = measure_word(node, "op");
    const char *less = measure_word(node, "less");
    struct study_value other = {.kind = STUDY_NOTHING};
    int rc = measure_pattern(bench, value, &latency, &count, role, measure_word(node, "spectrum"),
                             op ? op : "ca");
    if (rc < 0 || !less || value->kind != STUDY_NUMBER) {
        return rc;
    }
    rc = measure_pattern(bench, &other, &latency, &count, role, less, op ? op : "ca");
    if (other.kind == STUDY_NUMBER) {
        value_number(value, value->number - other.number);
    } else {
        *value = other;
    }
    return rc;
}
