/*
 * Scores what is no single number: set index, policy, ways of unequal sets; and the parts of a GPU
 * that are no caches of data.
 *
 * Of a policy that draws its victims it is asked that the probabilities are right within 0.03, way
 * by way where the ways can be numbered (a cache that is empty when a kernel begins is filled in
 * order), else in any order. Whether draws depend on each other shows as the favourite following
 * itself, which it does in a share p^2 of the pairs if they do not: among some 4000 victims that
 * is seen for p of a ninth and more.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blind.h"
#include "support/expected_latency.h"
#include "util/glue/json_glue.h"

#define PROBABILITY_ERROR 0.03
#define SERIAL_LEAST (1.0 / 9)

static double confidence_of(json_t *object)
{
    return json_number_value(json_object_get(object, "confidence"));
}

static const char *reason_of(json_t *object)
{
    const char *reason = json_string_value(json_object_get(object, "reason"));
    return reason ? reason : "?";
}

/* ---- ways of each set ---- */

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool ways_agree(json_t *list, const struct cache_spec *spec)
{
    uint32_t *found = malloc(spec->sets * sizeof(*found));
    uint32_t *truth = malloc(spec->sets * sizeof(*truth));
    bool agree = found && truth && json_array_size(list) == spec->sets;
    for (uint32_t i = 0; agree && i < spec->sets; i++) {
        found[i] = (uint32_t)json_integer_value(json_array_get(list, i));
        truth[i] = spec->unequal_count ? spec->ways_per_set[i] : spec->ways;
    }
    if (agree) {
        qsort(found, spec->sets, sizeof(*found), compare_u32);
        qsort(truth, spec->sets, sizeof(*truth), compare_u32);
        agree = memcmp(found, truth, spec->sets * sizeof(*found)) == 0;
    }
    free(found);
    free(truth);
    return agree;
}

/* Either the list itself, which then has the confidence of the number of sets, or an attribute with
 * the list as its value. */
void judge_ways(struct judge *j, json_t *owner, unsigned score, const struct cache_spec *spec,
                bool can_be_told)
{
    json_t *list = json_object_get(owner, blind_score_name(score));
    json_t *from = json_is_object(list) ? list : json_object_get(owner, "sets");
    char truth[64];
    list = json_is_object(list) ? json_object_get(list, "value") : list;
    bool given = json_array_size(list) > 0;
    char *found = given ? json_dumps(list, JSON_COMPACT) : NULL;
    snprintf(truth, sizeof(truth), "up to %u ways in %u sets, %llu in all", spec->ways, spec->sets,
             (unsigned long long)truth_lines(spec));
    judge_other(j, score, given ? confidence_of(from) : -1, given && ways_agree(list, spec),
                can_be_told, truth, found ? found : reason_of(from));
    free(found);
}

/* ---- set index ---- */

void judge_index(struct judge *j, json_t *cache, const struct cache_spec *spec, uint32_t slices,
                 const struct index_spec *slice_index, bool can_be_told)
{
    static const char *const kinds[] = {
#define INDEXING(id, text, doc) text,
#include "mem/cache/indexing/indexing.def"
#undef INDEXING
    };
    bool is_constant = j->owner == OWNER_constant_l1 || j->owner == OWNER_constant_l15;
    json_t *index = json_object_get(cache, "set_index");
    const char *kind = json_string_value(json_object_get(index, "kind"));
    bool given = kind && strcmp(kind, "unknown") != 0;
    char truth[64];
    char *found = given ? json_dumps(index, JSON_COMPACT) : NULL;
    snprintf(truth, sizeof(truth), "%s, %u sets, %u slices", kinds[spec->index.kind], spec->sets,
             slices);
    judge_other(
        j, SCORE_set_index, given ? confidence_of(index) : -1,
        given && truth_index_agrees(index, spec, slices, slice_index, is_constant, j->page_bytes),
        can_be_told, truth, found ? found : reason_of(index));
    free(found);
}

/* ---- policy ---- */

static bool is_drawn(enum replacement_kind kind)
{
    return kind == REPLACE_RANDOM || kind == REPLACE_BIASED || kind == REPLACE_BIASED_ALTERNATING;
}

static double true_probability(const struct cache_spec *spec, uint32_t way)
{
    return spec->replacement.kind == REPLACE_RANDOM ? 1.0 / spec->ways
                                                    : spec->replacement.probability[way];
}

/* The word and all that it is said to equal are the policy, or cannot be told from it; and the
 * policy is among them. */
static bool rule_agrees(json_t *policy, const char *name, const struct cache_spec *spec)
{
    enum replacement_kind truth = spec->replacement.kind, kind;
    json_t *others = json_object_get(policy, "equivalent_to"), *other;
    size_t i;
    if (!truth_policy_named(&kind, name) || !truth_policies_alike(kind, truth, spec->ways)) {
        return false;
    }
    bool named = kind == truth;
    json_array_foreach(others, i, other)
    {
        if (!truth_policy_named(&kind, json_string_value(other)) ||
            !truth_policies_alike(kind, truth, spec->ways)) {
            return false;
        }
        named = named || kind == truth;
    }
    return named;
}

static bool drawn_agrees(json_t *policy, const char *name, const struct cache_spec *spec)
{
    enum replacement_kind kind = spec->replacement.kind;
    double favourite = 0;
    for (uint32_t i = 0; kind != REPLACE_RANDOM && i < spec->ways; i++) {
        favourite = fmax(favourite, spec->replacement.probability[i]);
    }
    bool serial = json_is_true(json_object_get(policy, "serial"));
    bool serial_fits = (kind == REPLACE_BIASED_ALTERNATING) == serial || favourite < SERIAL_LEAST;
    return strcmp(name, kind == REPLACE_RANDOM ? "random" : "biased") == 0 && serial_fits;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double largest_error(json_t *list, const struct cache_spec *spec)
{
    double found[MEM_MAX_WAYS], truth[MEM_MAX_WAYS], worst = 0;
    if (json_array_size(list) != spec->ways) {
        return INFINITY;
    }
    for (uint32_t i = 0; i < spec->ways; i++) {
        found[i] = json_number_value(json_array_get(list, i));
        truth[i] = true_probability(spec, i);
    }
    if (!spec->invalidate_on_launch) { /* nobody can number the ways */
        qsort(found, spec->ways, sizeof(*found), compare_doubles);
        qsort(truth, spec->ways, sizeof(*truth), compare_doubles);
    }
    for (uint32_t i = 0; i < spec->ways; i++) {
        worst = fmax(worst, fabs(found[i] - truth[i]));
    }
    return worst;
}

static void judge_victims(struct judge *j, json_t *policy, const struct cache_spec *spec,
                          bool can_be_told)
{
    json_t *list = json_object_get(policy, "victim_probability");
    bool given = json_array_size(list) > 0;
    double error = given ? largest_error(list, spec) : INFINITY;
    char text[64];
    snprintf(text, sizeof(text), "wrong by up to %.3f", error);
    judge_other(j, SCORE_victims, given ? confidence_of(policy) : -1, error <= PROBABILITY_ERROR,
                can_be_told, "a probability of each way", given ? text : reason_of(policy));
}

void judge_policy(struct judge *j, json_t *owner, const struct cache_spec *spec, bool can_be_told)
{
    static const char *const kinds[] = {
#define REPLACEMENT(id, text, doc) text,
#include "mem/cache/replacement/replacement.def"
#undef REPLACEMENT
    };
    json_t *policy = json_object_get(owner, "policy");
    const char *name = json_string_value(json_object_get(policy, "name"));
    bool given = name && strcmp(name, "unknown") != 0;
    bool drawn = is_drawn(spec->replacement.kind) && spec->ways > 1, right = false;
    char truth[64];
    if (given) {
        right = spec->ways == 1 ? strcmp(name, "none") == 0
                : drawn         ? drawn_agrees(policy, name, spec)
                                : rule_agrees(policy, name, spec);
    }
    char *found = given ? json_dumps(policy, JSON_COMPACT) : NULL;
    snprintf(truth, sizeof(truth), "%s of %u ways", kinds[spec->replacement.kind], spec->ways);
    judge_other(j, SCORE_policy, given ? confidence_of(policy) : -1, right, can_be_told, truth,
                found ? found : reason_of(policy));
    if (drawn && !truth_unequal(spec)) {
        judge_victims(j, policy, spec, can_be_told);
    }
    free(found);
}

/* ---- translation ---- */

static void judge_tlb(struct judge *j, json_t *root, const char *id, unsigned owner,
                      const struct cache_spec *spec, double penalty, double hit)
{
    json_t *tlb = json_find_id(json_object_get(root, "tlbs"), id);
    bool there = spec->enabled, said = json_is_true(json_object_get(tlb, "present"));
    double entries = (double)truth_lines(spec);
    j->owner = owner;
    judge_other(j, SCORE_present, -1, root && said == there, true, there ? "true" : "false",
                !root  ? "nothing is said"
                : said ? "present"
                       : "absent");
    if (!there && !said) {
        return;
    }
    judge_value(j, tlb, SCORE_page, spec->line_bytes, 0, there);
    judge_value(j, tlb, SCORE_entries, entries, 0, there);
    judge_value(j, tlb, SCORE_coverage, entries * spec->line_bytes, 0, there);
    judge_value(j, tlb, SCORE_sets, spec->sets, 0, there);
    judge_ways(j, tlb, SCORE_entries_per_set, spec, there);
    judge_value(j, tlb, SCORE_miss_penalty, penalty, judge_tolerance(hit + penalty), there);
    judge_policy(j, tlb, spec, there);
}

/* Both levels are seen by loads that hit L2. A miss of the second costs that much more than a hit
 * there. */
void judge_tlbs(struct judge *j, const struct model *model, json_t *root)
{
    const struct cache_spec *first = &model->tlb_l1.entries, *second = &model->tlb_l2.entries;
    double walk = model->walker.latency_cycles, l2 = l2_hit_cycles(model);
    double one =
        first->miss_cycles + first->fill_cycles + (second->enabled ? second->hit_cycles : walk);
    double two = second->miss_cycles + walk + second->fill_cycles - second->hit_cycles;
    judge_tlb(j, root, "l1_tlb", OWNER_l1_tlb, first, one, l2);
    judge_tlb(j, root, "l2_tlb", OWNER_l2_tlb, second, two, l2 + one);
}

/* ---- shared memory ---- */

void judge_shared(struct judge *j, const struct model *model, json_t *root)
{
    const struct shared_spec *spec = &model->sm.shared;
    json_t *found = json_object_get(root, "shared_memory");
    bool show = truth_banks_show(spec);
    double passes = truth_bank_passes(spec, 0);
    double cycles = spec->latency_cycles + (passes - 1) * spec->conflict_cycles;
    j->owner = OWNER_shared_memory;
    judge_value(j, found, SCORE_banks, spec->banks, 0, show);
    judge_value(j, found, SCORE_bank_width, spec->word_bytes ? spec->word_bytes : spec->bank_bytes,
                0, show);
    judge_value(j, found, SCORE_latency, cycles + j->added_to_sums, judge_tolerance(cycles), true);
}
