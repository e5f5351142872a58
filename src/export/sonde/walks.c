/*
 * What a walk of the page table reads. A walk that finds nothing in L2 reads as often from memory
 * as there are levels whose entries are new to it: loads of pages that were never read (P5) show it
 * beside those whose walks hit L2 (P3). Of neighbouring pages one in so many brings a new line of
 * entries into L2, which says what an entry of the last level stands for.
 */
#include <math.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

/* Chosen, where a member does not say what fixed it. */
static const struct {
    double fewest, least_span, most_span, beside, whole_share;
} limits = {
    .fewest = 0.03,     /* share of new pages that is no accident: one in sixteen is seen by ten */
    .least_span = 4096, /* walker.level1.span's limits */
    .most_span = 1099511627776,
    .beside = 0.25,      /* of a read, that a class may lie beside a whole number of them */
    .whole_share = 0.75, /* of new pages, that each of them reads: few are refreshed or cross */
};

/* Whether loads that walked the page table were told, those from the other end of the buffer with
 * others. */
static bool shows_no_jump(const json_t *root)
{
    bool has_walks = false, has_jump = false;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(root, "latency_patterns"), i, row)
    {
        const char *name = saved_text(row, "pattern", "");
        has_walks = has_walks || strncmp(name, "P3", 2) == 0 || strcmp(name, "P5") == 0;
        has_jump = has_jump || strcmp(name, "P6") == 0 || strstr(name, "-jump");
    }
    return has_walks && !has_jump;
}

/* Loads past L1: of each number of reads from memory how many pages that were new, and how many
 * there were in all, which come again as those whose walks hit L2. */
struct reads {
    double loads[WALKER_MAX_LEVELS + 1], pages;
};

static void count_reads(struct reads *reads, const json_t *root, double near, double read)
{
    size_t i;
    json_t *row;
    double again = 0;
    *reads = (struct reads){0};
    json_array_foreach(json_object_get(root, "latency_patterns"), i, row)
    {
        struct saved_value value;
        const char *name = saved_text(row, "pattern", "");
        if (strcmp(saved_text(row, "op", ""), "cg") != 0 || !saved_value(&value, row, "latency")) {
            continue;
        }
        double loads = json_number_of(row, "loads");
        double exact = (value.value - near) / read - 1, whole = round(exact); /* one: the data's */
        bool is_told = fabs(exact - whole) <= limits.beside && whole <= WALKER_MAX_LEVELS;
        again += strcmp(name, "P3") == 0 ? loads : 0;
        if (strcmp(name, "P5") == 0 && is_told) {
            reads->pages += loads;
            reads->loads[(size_t)fmax(whole, 0)] += loads;
        }
    }
    reads->pages = fmax(reads->pages, again);
}

/* Of the new pages, those that read as often or more. */
static double share_of(const struct reads *reads, uint32_t times)
{
    double sum = 0;
    for (uint32_t i = times; i <= WALKER_MAX_LEVELS; i++) {
        sum += reads->loads[i];
    }
    return reads->pages > 0 ? sum / reads->pages : 0;
}

/* What an entry stands for where that share of the pages brings a line of them; 0: not told. */
static double span_of(const struct model_text *t, double share, uint32_t level)
{
    uint64_t page, fetched = t->base->l2.sector_bytes;
    saved_u64(&fetched, saved_cache(t->root, "l2"), "fetch_granularity");
    double entries = fmax(1, (double)fetched / t->base->walker.level[level].entry_bytes);
    if (!saved_u64(&page, saved_tlb(t->root, "l1_tlb"), "page") || page == 0) {
        return 0;
    }
    double span = exp2(round(log2((double)page / share / entries)));
    return fmin(fmax(span, limits.least_span), limits.most_span);
}

/* The last level's entries, and those of levels before it, which stand for more. */
static void plan_spans(struct latency_plan *plan, const struct model_text *t,
                       const struct reads *reads)
{
    for (uint32_t times = 1; times <= plan->walker_levels; times++) {
        double share = share_of(reads, times);
        uint32_t level = plan->walker_levels - times;
        double span = span_of(t, share, level);
        double own = (double)t->base->walker.level[level].span_bytes;
        bool is_base = share >= limits.whole_share && own <= span;
        plan->walker_span[level] = is_base ? 0 : (uint64_t)span;
    }
}

/* Of an L2 in parts loads cross, and so do reads: the soonest new pages say how often they read,
 * and none how far an entry reaches. */
static void plan_reads(struct latency_plan *plan, const struct model_text *t, double near,
                       double far, double read)
{
    struct reads reads;
    count_reads(&reads, t->root, near, read);
    if (model_is_in_parts(&t->bandwidth, t->base, t->root)) {
        double most = round((far - near) / read) - 1;
        if (most <= WALKER_MAX_LEVELS) {
            plan->walker_levels = (uint32_t)fmax(most, 0);
        }
        return;
    }
    plan->walker_levels = 0;
    for (uint32_t times = 1; times <= WALKER_MAX_LEVELS; times++) {
        plan->walker_levels =
            share_of(&reads, times) >= limits.fewest ? times : plan->walker_levels;
    }
    plan_spans(plan, t, &reads);
}

/* What a hit of L2 takes more whose translation was walked at the other end of the page table, than
 * the walk; negative: not told. */
static double more_of_jumps(const struct model_text *t)
{
    double hit, jumped;
    struct saved_value walk;
    if (model_has_second_tlb(t) || !saved_pattern(&hit, t->root, "P1") ||
        !saved_pattern(&jumped, t->root, "P3-jump") ||
        !saved_value(&walk, saved_tlb(t->root, "l1_tlb"), "miss_penalty")) {
        return -1;
    }
    return fmax(0, jumped - hit - walk.value);
}

void walks_plan(struct latency_plan *plan, const struct model_text *t)
{
    double near, far, l2_hit, memory, jump, more = more_of_jumps(t);
    if (shows_no_jump(t->root)) {
        plan->window_switch = 0;
    } else if (more >= 0) {
        plan->window_switch = (uint32_t)round(more);
    }
    if (!saved_pattern(&near, t->root, "P3") || !saved_pattern(&far, t->root, "P5") ||
        !saved_pattern(&l2_hit, t->root, "P1") || !saved_pattern(&memory, t->root, "P4") ||
        memory <= l2_hit) {
        /* Where no kinds of access were told, a walk takes what was measured, and its reads are a
         * guess that costs what L2 misses: it has none. */
        struct saved_value walk;
        const char *last = model_has_second_tlb(t) ? "l2_tlb" : "l1_tlb";
        bool is_told = saved_value(&walk, saved_tlb(t->root, last), "miss_penalty");
        plan->walker_levels = is_told ? 0 : plan->walker_levels;
        return;
    }
    plan_reads(plan, t, near, far, memory - l2_hit);
    if (saved_pattern(&jump, t->root, "P6")) {
        plan->window_switch = jump > far ? (uint32_t)round(jump - far) : 0;
    }
}
