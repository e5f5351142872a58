/*
 * Compares the rules of policies.def with recorded orders. A rule fits when it predicts, record by
 * record, what hit and what missed. The prediction begins with an empty set where the walk does,
 * after a wash with each state that the wash may leave, and otherwise with states drawn at random.
 * Rules that predict the same are named together: a set of two ways cannot tell LRU from a tree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "infer/policy/policy.h"
#include "infer/policy/rule.h"
#include "util/error.h"

static const struct {
    unsigned states, most_states;
    unsigned least_states;
    uint64_t tried_reads, open_reads;
    uint32_t unseen;
    size_t impossible, clearly, far, few_records, few_misses, many_records;
    double thin;
    uint32_t few_ways, compared;
} limits = {
    .states = 48,             /* initial states tried where the true one is not known */
    .most_states = 400,       /* the same for a rule whose state lasts */
    .least_states = 4,        /* initial states tried, however long each takes. Chosen */
    .open_reads = 30000000,   /* reads of ways that these may cost. Chosen */
    .tried_reads = 150000000, /* reads of ways that trying states may cost, about 0.3 s */
    .unseen = 1000000,        /* first number of the lines that a set held before a walk */
    .impossible = 1000,       /* one record in so many may hit where the rule predicts a miss */
    .clearly = 3,             /* times the best misfit: another rule is ruled out */
    .far = 20,                /* times the best misfit: far too much for chance */
    .few_records = 200,       /* one record in so many may be noise not seen before */
    .many_records = 25, /* one record in so many that differs is no noise for certain. Chosen */
    .few_misses = 20,   /* one miss in so many, the same */
    .thin = 0.7,        /* confidence where the second best rule is not ruled out */
    .few_ways = 3,      /* ways that make rules alike. Blind trials of wide machines: of more
                           3 of 31 sets that left a choice had none to leave */
    .compared = 1000,   /* reads by which rules are held against each other. Chosen */
};

/*
 * Reads the walk's lines in the modelled `set` and counts the records that differ from the
 * prediction. `told` (or NULL) receives the prediction. Noise makes a hit slow, but no miss fast.
 * Where that holds (`one_sided`), more than a few predicted misses that were hits rule the policy
 * out. Counting stops at `most`.
 */
static size_t misfit(struct policy_set *set, const struct policy_order *order, bool *told,
                     bool one_sided, size_t most)
{
    if (order->count == 0) {
        return 0;
    }
    size_t at = (order->first + order->count - order->warm % order->count) % order->count;
    size_t differing = 0, impossible = 0;
    for (uint64_t i = 0; i < order->warm + order->records && differing < most; i++) {
        bool unheard = i >= order->warm && order->unheard && order->unheard[i - order->warm];
        uint32_t line = unheard ? POLICY_OTHER : order->line[at];
        bool hit = line != POLICY_OTHER && policy_set_read(set, line);
        if (i >= order->warm && line != POLICY_OTHER) {
            differing += hit != order->hit[i - order->warm];
            impossible += !hit && order->hit[i - order->warm];
            if (one_sided && impossible * limits.impossible > order->records) {
                return order->records;
            }
            if (told) {
                told[i - order->warm] = hit;
            }
        }
        at = at + 1 == order->count ? 0 : at + 1;
    }
    return differing;
}

/*
 * Sets the initial state number `number`; number 0 is an empty set. An empty set fills its ways in
 * order, and its past does not matter, unless the rule's state lasts. Then the last `number` ways
 * begin with state 1, so that the rule clears the states that much earlier.
 */
static void begin(struct policy_set *set, enum policy_kind kind, const struct policy_case *of,
                  unsigned number, struct rng *rng)
{
    const struct policy_rule *rule = policy_rule(kind);
    policy_set_init(set, kind, of->ways);
    if ((number > 0 || of->flushed) && !of->from_empty) {
        policy_set_scramble(set, limits.unseen, rng);
    }
    for (uint32_t way = 0; of->from_empty && way < number; way++) {
        set->state[of->ways - 1 - way] = 1;
    }
    for (uint32_t way = 0; of->flushed && way < of->ways; way++) {
        set->state[way] = rule->washed_state ? rule->washed_state(of->ways, way, number) : 0;
    }
}

/* The number of initial states to try. A rule whose state lasts needs more of them, within the
 * limit of time. */
static unsigned beginnings(enum policy_kind kind, const struct policy_case *of,
                           const struct policy_order *order)
{
    const struct policy_rule *rule = policy_rule(kind);
    if (of->from_empty) {
        return of->kept_state && rule->remembers ? of->ways : 1;
    }
    uint64_t reads = (order->warm + order->records + 1) * of->ways;
    if (of->flushed && rule->washed_states) {
        uint64_t states = rule->washed_states(of->ways), can = limits.tried_reads / reads + 1;
        return (unsigned)(states < can ? states : can);
    }
    uint64_t most = limits.tried_reads / reads, open = limits.open_reads / reads;
    bool more = rule->remembers && most > limits.states;
    if (open < limits.states) { /* large sets: their walks are long, and forget what was before */
        return open < limits.least_states ? limits.least_states : (unsigned)open;
    }
    return !more ? limits.states : most < limits.most_states ? (unsigned)most : limits.most_states;
}

static size_t least_misfit(enum policy_kind kind, const struct policy_case *of,
                           const struct policy_order *order)
{
    const struct policy_rule *rule = policy_rule(kind);
    struct rng rng;
    struct policy_set set;
    rng_seed(&rng, 12345);
    bool open = !of->from_empty && !of->flushed;
    size_t least = open && rule->misses_out_of_turn ? rule->misses_out_of_turn(of->ways, order)
                                                    : order->records;
    for (unsigned i = 0; i < beginnings(kind, of, order) && least > 0; i++) {
        begin(&set, kind, of, i, &rng);
        size_t differing = misfit(&set, order, NULL, of->one_sided, least);
        least = differing < least ? differing : least;
    }
    return least;
}

/* True when two rules predict the same hits in these orders, from an empty set. */
static bool predict_alike(enum policy_kind a, enum policy_kind b, uint32_t ways,
                          const struct policy_order orders[POLICY_ORDERS])
{
    bool alike = true;
    for (size_t i = 0; i < POLICY_ORDERS && alike; i++) {
        struct policy_set set;
        struct policy_order copy = orders[i];
        copy.hit = calloc(copy.records, sizeof *copy.hit);
        if (!copy.hit) {
            return false;
        }
        policy_set_init(&set, a, ways);
        misfit(&set, &copy, copy.hit, false, SIZE_MAX);
        policy_set_init(&set, b, ways);
        alike = misfit(&set, &copy, NULL, false, 1) == 0;
        free(copy.hit);
    }
    return alike;
}

struct match {
    bool fits[POLICY_COUNT];
    /* Fits two orders only, or differs in a few records more than allowed. */
    bool by_exception[POLICY_COUNT];
    size_t misfit[POLICY_COUNT], records, misses;
};

/* Lists in `out` the rules that the orders cannot tell from the best. Returns the least misfit of
 * the others. */
static size_t find_alike(const struct policy_case *of, struct policy_result *out,
                         const struct match *match, const struct policy_order orders[POLICY_ORDERS],
                         enum policy_kind best)
{
    size_t second = match->records;
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        enum policy_kind other = (enum policy_kind)i;
        bool alike = i != best && match->fits[i] && predict_alike(best, other, of->ways, orders);
        if (alike && out->equivalent_count < INFER_MAX_EQUIVALENT) {
            snprintf(out->equivalent[out->equivalent_count++], sizeof out->equivalent[0], "%s",
                     policy_name(other));
        }
        second = i != best && !alike && match->misfit[i] < second ? match->misfit[i] : second;
    }
    return second;
}

static void report_match(const struct policy_case *of, struct policy_result *out,
                         const struct match *match, const struct policy_order orders[POLICY_ORDERS],
                         enum policy_kind best)
{
    snprintf(out->name, sizeof out->name, "%s", policy_name(best));
    size_t second = find_alike(of, out, match, orders, best);
    lab_evidence(of->lab, out->evidence, of->id,
                 "chase op=%s: %u places of one set, %s, in %d drawn orders: %s predicts all but "
                 "%zu of %zu records, the next best all but %zu",
                 of->op, of->ways,
                 of->flushed || of->twice ? "twice as many lines" : "one line more", POLICY_ORDERS,
                 out->name, match->misfit[best], match->records, second);
    bool thin = second < limits.clearly * (match->misfit[best] + 1) || match->by_exception[best] ||
                match->misfit[best] * limits.many_records > match->records;
    out->confidence = thin ? limits.thin : match->misfit[best] == 0 ? 0.97 : 0.92;
}

/* Counts the records that reached the set, and the misses among them. */
static size_t count_records(const struct policy_order *order, size_t *misses)
{
    size_t count = 0;
    *misses = 0;
    for (size_t i = 0; i < order->records; i++) {
        bool ours = order->line[(order->first + i) % order->count] != POLICY_OTHER &&
                    !(order->unheard && order->unheard[i]);
        count += ours;
        *misses += ours && !order->hit[i];
    }
    return count;
}

/* True when every possible initial state of the rule is tried. */
static bool is_known(const struct policy_case *of, const struct policy_rule *rule)
{
    return of->from_empty || of->kept_state || (of->flushed && !rule->outlasts_wash);
}

/*
 * Decides whether a rule predicts the orders. If its state lasts, the true initial state of an
 * order may not have been tried. Then the worst order is left out: chance does not make a rule
 * predict the two others.
 */
static void match_policy(struct match *match, enum policy_kind kind, const struct policy_case *of,
                         const struct policy_order orders[POLICY_ORDERS])
{
    size_t sum = 0, worst = 0, worst_records = 0, misses;
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        size_t misfit = least_misfit(kind, of, &orders[i]);
        sum += misfit;
        worst_records = misfit >= worst ? count_records(&orders[i], &misses) : worst_records;
        worst = misfit > worst ? misfit : worst;
    }
    match->misfit[kind] = sum;
    match->fits[kind] = (double)sum <= of->allowed * (double)match->records;
    const struct policy_rule *rule = policy_rule(kind);
    bool lasts = rule->remembers || rule->outlasts_wash;
    if (!match->fits[kind] && lasts && !is_known(of, rule)) {
        double rest = (double)(match->records - worst_records);
        match->fits[kind] = rest > 0 && (double)(sum - worst) <= of->allowed * rest;
        match->by_exception[kind] = match->fits[kind];
    }
}

/*
 * Returns the rule that predicts all but a few records where every other rule fails on many;
 * POLICY_COUNT if there is none. Noise that no walk has shown before may have made the few slow.
 */
static enum policy_kind nearly_all(struct match *match, size_t ways)
{
    size_t best = 0;
    bool clear = true;
    for (size_t k = 1; k < POLICY_COUNT; k++) {
        best = match->misfit[k] < match->misfit[best] ? k : best;
    }
    size_t misfit = match->misfit[best];
    for (size_t k = 0; k < POLICY_COUNT; k++) {
        match->fits[k] = match->misfit[k] < limits.clearly * (misfit + 1);
        clear = clear && (match->fits[k] || match->misfit[k] >= limits.far * (misfit + 1));
    }
    match->by_exception[best] = true;
    bool few = misfit * limits.few_records <= match->records &&
               misfit * limits.few_misses <= match->misses && match->misses > ways;
    return clear && few ? (enum policy_kind)best : POLICY_COUNT;
}

/* True when every rule that does not fit differs in far more records than the best. */
static bool is_alone(const struct match *match, enum policy_kind best)
{
    bool alone = true;
    for (size_t k = 0; k < POLICY_COUNT; k++) {
        alone = alone &&
                (match->fits[k] || match->misfit[k] >= limits.clearly * (match->misfit[best] + 1));
    }
    return alone;
}

bool policy_match(const struct policy_case *of, struct policy_result *out,
                  const struct policy_order orders[POLICY_ORDERS])
{
    struct match match = {0};
    enum policy_kind best = POLICY_COUNT;
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        size_t misses;
        match.records += count_records(&orders[i], &misses);
        match.misses += misses;
    }
    if (match.misses < of->least_misses) { /* too few evictions to tell anything */
        return false;
    }
    for (size_t k = 0; k < POLICY_COUNT; k++) {
        match_policy(&match, (enum policy_kind)k, of, orders);
        if (match.fits[k] && (best == POLICY_COUNT || match.misfit[k] < match.misfit[best])) {
            best = (enum policy_kind)k;
        }
    }
    if (best == POLICY_COUNT || (match.by_exception[best] && !is_alone(&match, best))) {
        best = nearly_all(&match, of->ways);
    }
    if (best != POLICY_COUNT) {
        report_match(of, out, &match, orders, best);
    }
    return best != POLICY_COUNT;
}

/* Do both rules hit and miss alike with so few ways, whatever is read? */
static bool are_one(enum policy_kind a, enum policy_kind b, uint32_t ways)
{
    struct policy_set one, other;
    struct rng rng;
    rng_seed(&rng, ways);
    policy_set_init(&one, a, ways);
    policy_set_init(&other, b, ways);
    for (uint32_t i = 0; i < limits.compared; i++) {
        uint32_t line = (uint32_t)rng_below(&rng, ways + 1 + i / 50 % 3);
        if (policy_set_read(&one, line) != policy_set_read(&other, line)) {
            return false;
        }
    }
    return true;
}

/* Those that follow no rule are left out. */
static bool are_all_one(const struct policy_result *out, uint32_t ways)
{
    enum policy_kind named = policy_named(out->name);
    bool one = true;
    for (size_t i = 0; one && named != POLICY_COUNT && i < out->equivalent_count; i++) {
        enum policy_kind other = policy_named(out->equivalent[i]);
        one = other == POLICY_COUNT || are_one(named, other, ways);
    }
    return one;
}

void policy_doubt_choice(struct policy_result *out, size_t ways, bool alike)
{
    bool may_differ =
        ways == 0 || ways > limits.few_ways || !alike || !are_all_one(out, (uint32_t)ways);
    if (out->equivalent_count > 0 && may_differ && out->confidence > limits.thin) {
        out->confidence = limits.thin;
    }
}
