/*
 * Confidence from outcomes. Experiments say by their own rules how sure a value is; drawn machines
 * say how often values told so are right (outcomes.def). What is told in the end is the latter.
 * Of values that no blind trial scores (bandwidths, times of a chain, instructions) nothing is
 * known: they keep what their experiment says.
 */
#include "infer/outcomes.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "infer/dissection.h"

static const struct {
    const char *what; /* an attribute; NULL: all others */
    double from, to;  /* confidence by the experiment: from <= it < to */
    unsigned given, right;
} outcomes[] = {
#define OUTCOME(what, from, to, given, right) {what, from, to, given, right},
#include "infer/outcomes.def"
};

static size_t find_row(const char *what, double confidence)
{
    size_t i = 0;
    while (i < sizeof outcomes / sizeof *outcomes &&
           ((outcomes[i].what && strcmp(outcomes[i].what, what) != 0) ||
            confidence < outcomes[i].from || confidence >= outcomes[i].to)) {
        i++;
    }
    return i;
}

/*
 * Rows of an attribute come before those of all. Few values leave some doubt: one more was wrong
 * and one more right. No more is told than of the values above the row, so that the order is kept;
 * and no more than hundredths.
 */
static double told(const char *what, double confidence)
{
    size_t end = sizeof outcomes / sizeof *outcomes, row = find_row(what, confidence);
    if (row == end) {
        return confidence;
    }
    double share = (outcomes[row].right + 1.0) / (outcomes[row].given + 2.0), most = 1;
    for (size_t i = row; i < end; i = find_row(what, most)) {
        most = outcomes[i].to;
    }
    return floor(100 * fmin(share, most) + 0.5) / 100;
}

static void tell(struct attribute *attribute, const char *what)
{
    bool is_estimate = attribute->high > attribute->low; /* between bounds of its own */
    if (attribute->status == ATTRIBUTE_MEASURED && !is_estimate) {
        attribute->confidence = told(what, attribute->confidence);
    }
}

static void tell_policy(struct policy_result *policy)
{
    if (policy->name[0]) {
        policy->confidence = told("policy", policy->confidence);
    }
}

static void tell_cache(struct cache_result *cache)
{
    tell(&cache->size, "size");
    tell(&cache->line, "line");
    tell(&cache->fetch_granularity, "fetch_granularity");
    tell(&cache->sets, "sets");
    tell(&cache->ways, "ways");
    tell(&cache->hit_latency, "hit_latency");
    tell(&cache->miss_penalty, "miss_penalty");
    tell(&cache->count, "count");
    tell_policy(&cache->policy);
    if (cache->index.kind[0]) {
        cache->index.confidence = told("set_index", cache->index.confidence);
    }
}

static void tell_tlb(struct tlb_result *tlb)
{
    tell(&tlb->page, "page");
    tell(&tlb->coverage, "entries");
    tell(&tlb->entries, "entries");
    tell(&tlb->sets, "sets");
    tell(&tlb->miss_penalty, "miss_penalty");
    tell_policy(&tlb->policy);
}

static void tell_outstanding(struct outstanding_result *outstanding)
{
    tell(&outstanding->entries, "entries");
    tell(&outstanding->mergers, "mergers");
    tell(&outstanding->loads_per_warp, "loads_per_warp");
    if (outstanding->structure[0]) {
        outstanding->confidence = told("structure", outstanding->confidence);
    }
}

void outcomes_apply(struct dissection *out)
{
    for (size_t i = 0; i < out->cache_count; i++) {
        tell_cache(&out->caches[i]);
    }
    for (size_t i = 0; i < out->tlb_count; i++) {
        tell_tlb(&out->tlbs[i]);
    }
    tell(&out->shared.banks, "banks");
    tell(&out->shared.bank_width, "bank_width");
    tell(&out->shared.latency, "latency");
    tell(&out->memory_latency, "latency");
    tell_outstanding(&out->outstanding);
}
