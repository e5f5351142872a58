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
    const char *owner; /* a cache or TLB; NULL: any other */
    const char *what;  /* an attribute; NULL: all others */
    double from, to;   /* confidence by the experiment: from <= it < to */
    unsigned given, right;
} outcomes[] = {
#define OUTCOME(owner, what, from, to, given, right) {owner, what, from, to, given, right},
#include "infer/outcomes.def"
};

/* What the experiments' own words are kept to: whoever is not sure is not told as one who is. */
static const struct {
    double sure, below, most, whole;
} limits = {
    .sure = 0.9,   /* an experiment that says so much is sure */
    .below = 0.89, /* the most that others are told */
    .most = 0.97,  /* nothing is raised further: drawn machines are no cards. Chosen */
    .whole = 0.99, /* nothing is told surer: some thousand values are what was seen */
};

static bool fits(const char *of_row, const char *name)
{
    return !of_row || strcmp(of_row, name) == 0;
}

/*
 * Few values leave some doubt: one more was wrong and one more right. No more is told than
 * hundredths.
 */
static double told(const char *owner, const char *what, double confidence)
{
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        if (fits(outcomes[i].owner, owner) && fits(outcomes[i].what, what) &&
            confidence >= outcomes[i].from && confidence < outcomes[i].to) {
            double share = (outcomes[i].right + 1.0) / (outcomes[i].given + 2.0);
            double sure = fmin(fmax(limits.most, confidence), limits.whole);
            double most = confidence < limits.sure ? limits.below : sure;
            return outcomes[i].given ? floor(100 * fmin(share, most) + 0.5) / 100 : confidence;
        }
    }
    return confidence;
}

static void tell(struct attribute *attribute, const char *owner, const char *what)
{
    /* Between bounds of its own; a median's say how near it is, not whether it is the right one. */
    bool is_estimate = attribute->high > attribute->low && strcmp(attribute->unit, "cycles") != 0;
    if (attribute->status == ATTRIBUTE_MEASURED && !is_estimate) {
        attribute->confidence = told(owner, what, attribute->confidence);
    }
}

static void tell_policy(struct policy_result *policy, const char *owner)
{
    if (policy->name[0]) {
        policy->confidence = told(owner, "policy", policy->confidence);
    }
}

static void tell_cache(struct cache_result *cache)
{
    tell(&cache->size, cache->id, "size");
    tell(&cache->line, cache->id, "line");
    tell(&cache->fetch_granularity, cache->id, "fetch_granularity");
    tell(&cache->sets, cache->id, "sets");
    tell(&cache->ways, cache->id, "ways");
    tell(&cache->hit_latency, cache->id, "hit_latency");
    tell(&cache->miss_penalty, cache->id, "miss_penalty");
    tell(&cache->count, cache->id, "count");
    tell_policy(&cache->policy, cache->id);
    if (cache->index.kind[0]) {
        cache->index.confidence = told(cache->id, "set_index", cache->index.confidence);
    }
}

static void tell_tlb(struct tlb_result *tlb)
{
    tell(&tlb->page, tlb->id, "page");
    tell(&tlb->coverage, tlb->id, "entries");
    tell(&tlb->entries, tlb->id, "entries");
    tell(&tlb->sets, tlb->id, "sets");
    tell(&tlb->miss_penalty, tlb->id, "miss_penalty");
    tell_policy(&tlb->policy, tlb->id);
}

static void tell_outstanding(struct outstanding_result *outstanding)
{
    tell(&outstanding->entries, "outstanding", "entries");
    tell(&outstanding->mergers, "outstanding", "mergers");
    tell(&outstanding->loads_per_warp, "outstanding", "loads_per_warp");
    if (outstanding->structure[0]) {
        outstanding->confidence = told("outstanding", "structure", outstanding->confidence);
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
    tell(&out->shared.banks, "shared_memory", "banks");
    tell(&out->shared.bank_width, "shared_memory", "bank_width");
    tell(&out->shared.latency, "shared_memory", "latency");
    tell(&out->memory_latency, "memory", "latency");
    tell_outstanding(&out->outstanding);
}
