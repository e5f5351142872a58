/*
 * The kinds of access and their latencies (Table 3 of Mei et al., NPC 2014), from one
 * latency-spectrum walk (latency/spectrum.c), by loads past L1 and, where there is one, through it.
 *
 * Gaps between the latencies make classes. A class is named by what its loads hit and miss, which
 * the measured sizes of caches and TLBs predict. Where translation takes no time, the latency
 * itself tells whether L1 or L2 has the data. Names are the paper's P1 to P6; other kinds bear the
 * nearest of these and what differs: "P2-miss" misses L2's data, "P3-jump" comes from the other end
 * of the buffer, "P2-l1" finds the data in L1, "P3-table" takes longer than P3 because entries of
 * the page table had left L2. One kind may fall into several classes (near and far parts of L2).
 * Several kinds may fall into one (they take the same time). Each pair is listed. A class that no
 * kind explains is listed without a name.
 */
#include "infer/ask/follow.h"
#include "infer/experiments.h"
#include "infer/latency/patterns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/ask/stats.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Chosen; Table 3 of Mei et al. comes out with them (roundtrip.published). */
static const struct {
    unsigned skipped, fewest, fewest_pooled, flushed, dear_flushed;
    uint64_t dear_bytes;
    double least_share;
} limits = {
    .skipped = 2,         /* first records: their instructions are not cached */
    .fewest = 4,          /* loads that make a kind */
    .fewest_pooled = 200, /* loads of memory: of one in eleven that is late, 18; 9 or fewer of them
                             in one walk of fifty */
    .flushed = 4,         /* times what L2 holds that is read before */
    .dear_flushed = 2,    /* the same where loads are dear and that is more than */
    .dear_bytes = UINT64_C(16) << 20, /* so many bytes. Chosen */
    .least_share = 0.05,              /* share of a kind's loads */
};
enum { MAX_CLASSES = INFER_MAX_LATENCIES };

/* What one run shows. */
struct run {
    const char *op;
    struct spectrum spectrum;
    uint32_t *latency; /* owned */
    double l1_below;   /* up to here L1 answers; negative: it is passed by */
    double l2_below;   /* up to here L1 or L2 does */
    double cuts[MAX_CLASSES + 1];
    size_t classes; /* between the cuts */
    char evidence[24];
};

/* ---- the kind of a load ---- */

struct kind {
    bool in_l1, in_l2, jump;
    enum outcome tlb[2], page_table;
    bool late_table; /* it should have been hit, and the latency says that it was not */
};

/* The latency decides where it can. Behind a translation that misses, the prediction does. */
static struct kind kind_of(const struct run *run, size_t i)
{
    const struct spectrum_load *load = &run->spectrum.load[i];
    bool soon = run->latency[i] <= run->l2_below, translated = load->tlb[0] != OUTCOME_MISS;
    struct kind kind = {.in_l1 = run->latency[i] <= run->l1_below,
                        .in_l2 = soon || (!translated && load->l2 == OUTCOME_HIT),
                        .jump = load->jump && load->page_table != OUTCOME_OPEN,
                        .page_table = load->page_table};
    memcpy(kind.tlb, load->tlb, sizeof kind.tlb);
    return kind;
}

/* Is all known that its kind depends on? */
static bool is_told(const struct run *run, size_t i)
{
    const struct spectrum_load *load = &run->spectrum.load[i];
    return load->told && (load->l2 != OUTCOME_OPEN || load->tlb[0] != OUTCOME_MISS ||
                          run->latency[i] <= run->l2_below);
}

static bool same_kind(const struct kind *a, const struct kind *b)
{
    return a->in_l1 == b->in_l1 && a->in_l2 == b->in_l2 && a->jump == b->jump &&
           a->tlb[0] == b->tlb[0] && a->tlb[1] == b->tlb[1] && a->page_table == b->page_table;
}

static void name_kind(char name[24], const struct kind *kind, bool through_l1)
{
    bool first = kind->tlb[0] != OUTCOME_MISS;
    bool second = !first && kind->tlb[1] == OUTCOME_HIT;
    bool data = kind->in_l1 || kind->in_l2,
         table = kind->page_table == OUTCOME_HIT || kind->late_table;
    const char *base = first        ? (data ? "P1" : "P4")
                       : second     ? (data ? "P2" : "P2-miss")
                       : table      ? (data ? "P3" : "P3-miss")
                       : data       ? "P3-cold"
                       : kind->jump ? "P6"
                                    : "P5";
    bool jumps = kind->jump && strcmp(base, "P6") != 0;
    const char *cache = !through_l1 || !data    ? ""
                        : first && !kind->in_l1 ? "-l2"
                        : !first && kind->in_l1 ? "-l1"
                                                : "";
    snprintf(name, 24, "%s%s%s%s", base, kind->late_table ? "-table" : "", jumps ? "-jump" : "",
             cache);
}

/* ---- the walk ---- */

static struct spectrum_plan make_plan(const struct lab *lab, const char *op,
                                      const struct cache_result *l1, const struct cache_result *l2)
{
    struct spectrum_plan plan = {.op = op,
                                 .footprint_bytes = lab->options->max_footprint_bytes,
                                 .most_records = lab->options->max_window,
                                 .l2_bytes = (uint64_t)l2->size.value,
                                 .l2_line = (uint64_t)l2->line.value,
                                 .fetch_bytes = (uint64_t)l2->fetch_granularity.value};
    if (l1) {
        plan.l1_bytes = (uint64_t)l1->size.value;
        plan.l1_line = (uint64_t)l1->line.value;
    }
    const uint64_t most = UINT64_C(1) << 31; /* an offset is 32 bits */
    plan.footprint_bytes = plan.footprint_bytes < most ? plan.footprint_bytes : most;
    for (size_t t = 0; t < 2 && t < lab->out->tlb_count; t++) {
        const struct tlb_result *tlb = &lab->out->tlbs[t];
        bool known = tlb->coverage.status == ATTRIBUTE_MEASURED &&
                     tlb->page.status == ATTRIBUTE_MEASURED && tlb->page.value > 0;
        if (known && (t == 0 || plan.tlb_pages[0])) {
            plan.page_bytes = t ? plan.page_bytes : (uint64_t)tlb->page.value;
            plan.tlb_pages[t] = (size_t)(tlb->coverage.value / (double)plan.page_bytes);
        }
    }
    return plan;
}

/* L2 is emptied before, with some times what fits. */
static int build_request(struct trace_request *request, const struct lab *lab,
                         const struct run *run, uint32_t *ring, const struct spectrum_plan *plan)
{
    trace_request_init(request, "chase");
    for (size_t i = 0; i < run->spectrum.count; i++) {
        ring[i] = run->spectrum.load[i].offset;
    }
    request->ring = ring;
    request->ring_count = run->spectrum.count;
    int rc = trace_request_set_text(request, "op", run->op);
    rc = rc ? rc : trace_request_set_u64(request, "warm", 0);
    rc = rc ? rc : trace_request_set_u64(request, "cold", 1);
    rc = rc ? rc : trace_request_set_u64(request, "window", run->spectrum.count);
    uint64_t flush = limits.flushed * plan->l2_bytes;
    bool is_dear = lab->options->max_cache_loads && flush > limits.dear_bytes;
    flush = is_dear ? limits.dear_flushed * plan->l2_bytes : flush;
    return rc ? rc : trace_request_set_u64(request, "flush_bytes", flush < 65536 ? 65536 : flush);
}

static int measure(struct lab *lab, struct run *run, const struct spectrum_plan *plan)
{
    struct trace_request request;
    const struct trace *trace;
    size_t count = run->spectrum.count;
    uint32_t *ring = malloc(count * sizeof *ring);
    run->latency = calloc(count, sizeof *run->latency);
    if (!ring || !run->latency) {
        free(ring);
        return error_memory();
    }
    int rc = build_request(&request, lab, run, ring, plan);
    rc = rc ? rc : lab_measure(lab, &trace, &request);
    if (rc == 0) {
        struct chase_columns columns;
        const struct walk_shape shape = {.ring = ring, .count = count};
        if (chase_columns(&columns, trace, 1, count) && chase_follows(&columns, 0, &shape, 0)) {
            memcpy(run->latency, columns.latency, count * sizeof *run->latency);
        } else {
            rc = lab_undecided(lab, "a trace does not follow the walk with uneven strides");
        }
    }
    lab->loads += count;
    free(ring);
    return rc;
}

/* ---- classes ---- */

static int cut_classes(struct run *run)
{
    struct sample all;
    int rc =
        sample_create(&all, run->latency + limits.skipped, run->spectrum.count - limits.skipped);
    if (rc == 0) {
        run->cuts[0] = -1;
        run->classes = 1 + sample_thresholds(run->cuts + 1, MAX_CLASSES - 1, &all);
        run->cuts[run->classes] = INFINITY;
        sample_free(&all);
    }
    return rc;
}

static size_t class_of(const struct run *run, uint32_t cycles)
{
    size_t class = 0;
    while (class + 1 < run->classes && cycles > run->cuts[class + 1]) {
        class ++;
    }
    return class;
}

static const char *outcome_name(enum outcome outcome)
{
    return outcome == OUTCOME_HIT ? "hit" : outcome == OUTCOME_MISS ? "miss" : "";
}

static void add_pattern(struct lab *lab, const struct run *run, const struct kind *kind,
                        uint32_t *cycles, size_t count, double share)
{
    struct dissection *d = lab->out;
    if (d->pattern_count == INFER_MAX_PATTERNS) {
        return;
    }
    struct latency_pattern *p = &d->patterns[d->pattern_count++];
    *p = (struct latency_pattern){.loads = count};
    sort_u32(cycles, count);
    snprintf(p->op, sizeof p->op, "%s", run->op);
    if (kind) {
        name_kind(p->name, kind, run->l1_below >= 0);
        snprintf(p->cache, sizeof p->cache, "%s",
                 kind->in_l1   ? "l1_data"
                 : kind->in_l2 ? "l2"
                               : "memory");
        snprintf(p->l1_tlb, sizeof p->l1_tlb, "%s", outcome_name(kind->tlb[0]));
        snprintf(p->l2_tlb, sizeof p->l2_tlb, "%s", outcome_name(kind->tlb[1]));
        snprintf(p->page_table, sizeof p->page_table, "%s", outcome_name(kind->page_table));
        p->jump = kind->jump;
    }
    size_t below = (count - 1) / 2, above = count / 2;
    double median = 0.5 * ((double)cycles[below] + (double)cycles[above]);
    double confidence = !kind ? 0.5 : share > 0.9 && count >= 8 ? 0.94 : 0.6 * share;
    attribute_set(&p->latency, median, "cycles", confidence, run->evidence);
    const struct sample loads = {.values = cycles, .count = count};
    sample_bound_median(&p->latency, &loads);
}

/* The loads of one kind, class by class. `taken` marks what has a name now. */
static int add_kind(struct lab *lab, const struct run *run, size_t first, bool *taken)
{
    struct kind kind = kind_of(run, first);
    size_t count = run->spectrum.count, all = 0, in[MAX_CLASSES + 1] = {0};
    uint32_t *cycles = malloc(count * sizeof *cycles);
    if (!cycles) {
        return error_memory();
    }
    for (size_t i = limits.skipped; i < count; i++) {
        struct kind other = kind_of(run, i);
        if (is_told(run, i) && same_kind(&kind, &other)) {
            in[class_of(run, run->latency[i])]++;
            all++;
        }
    }
    for (size_t class = 0; class < run->classes; class ++) {
        size_t found = 0;
        bool lowest = true;
        for (size_t k = 0; k < class; k++) {
            lowest = lowest && in[k] < limits.fewest;
        }
        struct kind own = kind;
        own.late_table = !lowest && kind.page_table == OUTCOME_HIT && !kind.in_l1;
        own.page_table = own.late_table ? OUTCOME_MISS : own.page_table;
        bool named =
            in[class] >= limits.fewest && (double)in[class] >= limits.least_share * (double)all;
        for (size_t i = limits.skipped; i < count; i++) {
            struct kind other = kind_of(run, i);
            if (is_told(run, i) && same_kind(&kind, &other) &&
                class_of(run, run->latency[i]) == class) {
                taken[i] = true;
                cycles[found++] = run->latency[i];
            }
        }
        if (named) {
            add_pattern(lab, run, &own, cycles, found, (double)found / (double)all);
        }
    }
    free(cycles);
    return 0;
}

/* Classes in which no load has a name. */
static int add_unnamed(struct lab *lab, const struct run *run, size_t before)
{
    size_t count = run->spectrum.count;
    uint32_t *cycles = malloc(count * sizeof *cycles);
    if (!cycles) {
        return error_memory();
    }
    for (size_t class = 0; class < run->classes; class ++) {
        bool named = false;
        size_t found = 0;
        for (size_t i = before; i < lab->out->pattern_count; i++) {
            named = named || class_of(run, (uint32_t)lab->out->patterns[i].latency.value) == class;
        }
        for (size_t i = limits.skipped; i < count; i++) {
            if (class_of(run, run->latency[i]) == class) {
                cycles[found++] = run->latency[i];
            }
        }
        if (!named && found >= limits.fewest) {
            add_pattern(lab, run, NULL, cycles, found, 0);
        }
    }
    free(cycles);
    return 0;
}

/* Does `p` name a miss or a jump that `q` lacks, and take no longer? Then that costs nothing. */
static bool is_vain(const struct run *run, const struct latency_pattern *p,
                    const struct latency_pattern *q)
{
    bool same_tlb = strcmp(p->l2_tlb, q->l2_tlb) == 0;
    bool jump = same_tlb && p->jump && !q->jump && strcmp(p->page_table, q->page_table) == 0;
    bool table =
        same_tlb && strcmp(p->page_table, "miss") == 0 && strcmp(q->page_table, "hit") == 0;
    bool tlb = strcmp(p->l2_tlb, "miss") == 0 && strcmp(q->l2_tlb, "hit") == 0;
    return (jump || table || tlb) && strcmp(p->cache, q->cache) == 0 &&
           strcmp(p->l1_tlb, q->l1_tlb) == 0 &&
           class_of(run, (uint32_t)p->latency.value) <= class_of(run, (uint32_t)q->latency.value);
}

/* What was late beside `vain` alone is not. */
static void promote(struct dissection *d, const struct latency_pattern *vain, size_t before)
{
    char late[32];
    snprintf(late, sizeof late, "%s-table", vain->name);
    for (size_t i = before; i < d->pattern_count; i++) {
        if (strcmp(d->patterns[i].name, late) == 0) {
            snprintf(d->patterns[i].name, sizeof d->patterns[i].name, "%s", vain->name);
            snprintf(d->patterns[i].page_table, sizeof d->patterns[i].page_table, "hit");
            return;
        }
    }
}

static void drop_vain(struct dissection *d, const struct run *run, size_t before)
{
    bool vain[INFER_MAX_PATTERNS] = {false};
    size_t kept = before;
    for (size_t i = before; i < d->pattern_count; i++) {
        for (size_t k = before; k < d->pattern_count; k++) {
            vain[i] = vain[i] || is_vain(run, &d->patterns[i], &d->patterns[k]);
        }
    }
    for (size_t i = before; i < d->pattern_count; i++) {
        if (vain[i]) {
            promote(d, &d->patterns[i], before);
        }
    }
    for (size_t i = before; i < d->pattern_count; i++) {
        if (!vain[i]) {
            d->patterns[kept++] = d->patterns[i];
        }
    }
    d->pattern_count = kept;
}

/* Is there no kind without a jump to compare a jump with? Then the distance tells nothing. */
static void settle_jumps(struct dissection *d, size_t before)
{
    for (size_t i = before; i < d->pattern_count; i++) {
        struct latency_pattern *p = &d->patterns[i];
        bool compared = false;
        for (size_t k = before; k < d->pattern_count; k++) {
            const struct latency_pattern *q = &d->patterns[k];
            compared =
                compared || (!q->jump && strcmp(p->page_table, q->page_table) == 0 &&
                             strcmp(p->cache, q->cache) == 0 && strcmp(p->l1_tlb, q->l1_tlb) == 0 &&
                             strcmp(p->l2_tlb, q->l2_tlb) == 0);
        }
        if (p->jump && !compared) {
            char *suffix = strstr(p->name, "-jump");
            p->jump = false;
            if (suffix) {
                memmove(suffix, suffix + 5, strlen(suffix + 5) + 1);
            } else if (strcmp(p->name, "P6") == 0) {
                snprintf(p->name, sizeof p->name, "P5");
            }
        }
    }
}

static int by_name(const void *a, const void *b)
{
    const struct latency_pattern *p = a, *q = b;
    int order = strcmp(q->op, p->op); /* cg before ca */
    order = order ? order : (p->name[0] == '\0') - (q->name[0] == '\0');
    order = order ? order : strcmp(p->name, q->name);
    return order ? order
                 : (p->latency.value > q->latency.value) - (p->latency.value < q->latency.value);
}

static int report(struct lab *lab, struct run *run, const struct spectrum_plan *plan)
{
    struct dissection *d = lab->out;
    size_t before = d->pattern_count;
    bool *taken = calloc(run->spectrum.count, sizeof *taken);
    if (!taken) {
        return error_memory();
    }
    int rc = cut_classes(run);
    for (size_t i = 0; i < run->spectrum.count; i++) {
        taken[i] = run->latency[i] <= run->l1_below;
    }
    rc = rc || run->l1_below < 0 ? rc : spectrum_settle(&run->spectrum, plan, taken);
    memset(taken, 0, run->spectrum.count * sizeof *taken);
    if (rc == 0) {
        lab_evidence(lab, run->evidence, "patterns",
                     "chase op=%s with uneven strides over %u pages, once, from cold caches: %zu "
                     "loads fall into %zu classes; kinds by how far back line and page were read",
                     run->op, run->spectrum.pages, run->spectrum.count, run->classes);
        for (size_t i = limits.skipped; rc == 0 && i < run->spectrum.count; i++) {
            if (!taken[i] && is_told(run, i)) {
                rc = add_kind(lab, run, i, taken);
            }
        }
        settle_jumps(d, before);
        drop_vain(d, run, before);
        rc = rc ? rc : add_unnamed(lab, run, before);
        qsort(d->patterns + before, d->pattern_count - before, sizeof *d->patterns, by_name);
    }
    free(taken);
    return rc;
}

static struct cache_result *find_cache(const struct lab *lab, const char *id)
{
    for (size_t i = 0; i < lab->out->cache_count; i++) {
        if (strcmp(lab->out->caches[i].id, id) == 0) {
            return &lab->out->caches[i];
        }
    }
    return NULL;
}

static const struct level_summary *find_summary(const struct lab *lab, const char *id)
{
    for (size_t i = 0; i < lab->level_count; i++) {
        if (strcmp(lab->levels[i].info->id, id) == 0) {
            return lab->levels[i].known ? &lab->levels[i] : NULL;
        }
    }
    return NULL;
}

/* What loads take that this cache answers; those that miss it take `more`. */
static double hit_of(const struct cache_result *cache, const struct level_summary *summary,
                     double *more)
{
    bool measured = cache->hit_latency.status == ATTRIBUTE_MEASURED &&
                    cache->miss_penalty.status == ATTRIBUTE_MEASURED;
    *more = measured ? cache->miss_penalty.value
                     : summary->timing.miss_cycles - summary->timing.hit_cycles;
    return measured ? cache->hit_latency.value : summary->timing.hit_cycles;
}

/* ---- how loads of memory are distributed ---- */

/* Of both runs, as if all were past L1 and hit the first TLB: each by what it takes more than the
 * soonest of its kind. */
struct pool {
    uint32_t *values; /* owned */
    size_t count;
    uint32_t soonest; /* of the first kind; 0: none yet */
};

/* Loads of memory whose translation a TLB has: the first or the second. */
static bool is_pooled(const struct run *run, size_t i, bool by_second)
{
    const struct kind kind = kind_of(run, i);
    bool first = kind.tlb[0] != OUTCOME_MISS;
    bool is_of_kind = by_second ? !first && kind.tlb[1] == OUTCOME_HIT : first;
    return is_told(run, i) && !kind.in_l1 && !kind.in_l2 && is_of_kind;
}

static int pool_loads(struct pool *pool, const struct run *run)
{
    size_t count = run->spectrum.count;
    uint32_t *values = realloc(pool->values, (pool->count + count) * sizeof *values);
    if (!values) {
        return error_memory();
    }
    pool->values = values;
    for (int by_second = 0; by_second < 2; by_second++) {
        uint32_t soonest = UINT32_MAX;
        for (size_t i = limits.skipped; i < count; i++) {
            bool is_soonest = is_pooled(run, i, by_second) && run->latency[i] < soonest;
            soonest = is_soonest ? run->latency[i] : soonest;
        }
        pool->soonest = pool->soonest == 0 && soonest < UINT32_MAX ? soonest : pool->soonest;
        for (size_t i = limits.skipped; i < count; i++) {
            if (is_pooled(run, i, by_second)) {
                values[pool->count++] = run->latency[i] - soonest + pool->soonest;
            }
        }
    }
    return 0;
}

/* Where the last cache's misses were too few to tell it. */
static int keep_pool(struct cache_result *l2, const struct pool *pool)
{
    struct sample loads;
    if (l2->miss_count || pool->count < limits.fewest_pooled) {
        return 0;
    }
    int rc = sample_create(&loads, pool->values, pool->count);
    if (rc == 0) {
        l2->miss_count = sample_classes(l2->misses, INFER_MAX_LATENCIES, &loads);
        sample_free(&loads);
    }
    return rc;
}

/* Through L1 when there is one to go through, else past it. */
static int run_op(struct lab *lab, struct pool *pool, const struct level_summary *l1,
                  const struct level_summary *l2)
{
    const struct cache_result *l1_result = find_cache(lab, "l1_data");
    const struct cache_result *l2_result = find_cache(lab, "l2");
    double more, l1_more, l2_hit = hit_of(l2_result, l2, &more);
    struct run run = {.op = l1 ? l1->info->op : l2->info->op,
                      .l1_below = l1 ? l1->timing.threshold : -1,
                      .l2_below = l2_hit + 0.5 * more};
    if (l2->timing.mirror.sum == 0 && l2->timing.threshold > l2_hit) {
        /* Memory may be near and far, and the median of both of them is farther than the near. */
        run.l2_below = fmin(run.l2_below, l2->timing.threshold);
    }
    if (l1) {
        double l1_hit = hit_of(l1_result, l1, &l1_more);
        run.l2_below += fmax(0, l1_hit + l1_more - l2_hit);
    }
    struct spectrum_plan plan = make_plan(lab, run.op, l1 ? l1_result : NULL, l2_result);
    int rc = spectrum_create(&run.spectrum, lab, &plan);
    rc = rc ? rc : measure(lab, &run, &plan);
    rc = rc ? rc : report(lab, &run, &plan);
    rc = rc ? rc : pool_loads(pool, &run);
    free(run.latency);
    spectrum_free(&run.spectrum);
    return rc;
}

int patterns_dissect(struct lab *lab)
{
    const struct level_summary *l1 = find_summary(lab, "l1_data"), *l2 = find_summary(lab, "l2");
    struct cache_result *l2_result = find_cache(lab, "l2");
    struct pool pool = {0};
    if (!l2 || l2_result->size.status != ATTRIBUTE_MEASURED ||
        l2_result->fetch_granularity.status != ATTRIBUTE_MEASURED) {
        return lab_undecided(lab, "the size of L2, or what it fetches, is not known");
    }
    int rc = run_op(lab, &pool, NULL, l2);
    bool through = l1 && find_cache(lab, "l1_data")->size.status == ATTRIBUTE_MEASURED;
    rc = rc || !through ? rc : run_op(lab, &pool, l1, l2);
    rc = rc ? rc : keep_pool(l2_result, &pool);
    free(pool.values);
    return rc;
}

void patterns_refuse(struct dissection *out, const struct refusal *why)
{
    if (out->pattern_count == 0) {
        out->pattern_refusal = *why;
    }
}
